"""How steady a run was: values by round, the same plain copy all through it, and what the harness itself costs."""

import statistics
from collections import defaultdict
from collections.abc import Sequence

import msgspec
from bench_core import policy
from bench_core.bundle import Bundle
from bench_core.journal import FILE_NAME as JOURNAL
from bench_core.results import NOOP, YARDSTICK
from bench_core.statistics import Sample, process_medians

from bench_report.captions import percent_exact
from bench_report.figures import microseconds, milliseconds, percent, variation
from bench_report.rows import Row
from bench_report.sections import Column, Section
from bench_report.table import short


class Steadiness(msgspec.Struct, frozen=True, kw_only=True):
    """One library in one run, as texts for people. `copies` is the plain copy by round, relative to its median."""

    library: str
    typical_cv: str
    unstable: str  # how many of how many cells
    copy: str
    copy_drift: str  # slowest over fastest round
    copies: tuple[float, ...]
    noop: str
    noop_share: str  # of the library's fastest transform
    harness: str  # per measuring process, untimed


def steadiness(section: Section) -> tuple[Steadiness, ...]:
    """A line per library that has a number."""
    costs = {bundle.run_id: harness_sec(bundle) for bundle in section.bundles}
    return tuple(_of_library(column, costs[column.bundle.run_id]) for column in section.columns if column.measured)


def summary(section: Section, rows: Sequence[Row]) -> str:
    """One sentence for the head of a page: how much values vary, and how much the machine drifted."""
    found = [cell.summary for row in rows for cell in row.cells.values() if cell.summary]
    cvs = [summary.cv for summary in found if summary.cv is not None]
    if not cvs:
        return "Measured in one process each, so how much values vary is not known."
    unstable = sum(summary.unstable for summary in found)
    drifts = [drift for column in section.columns if (drift := _drift(copy_by_round(column))) is not None]
    told = (
        f"Process medians vary by {variation(statistics.median(cvs))} in a typical cell (coefficient of variation); "
        f"{unstable} of {len(found)} cells vary by more than {percent_exact(policy.UNSTABLE_CV)} "
        "and are marked unstable."
    )
    if drifts:
        told += f" A plain copy of the same items drifted by up to {percent(max(drifts))} between rounds."
    return told


def by_round(samples: Sequence[Sample]) -> tuple[float, ...]:
    """Median of each process, in the order of rounds, relative to the median of them all: 0.02 is 2 % slower."""
    medians = list(process_medians(samples).values())
    middle = statistics.median(medians) if medians else 1.0
    return tuple(value / middle - 1 for value in medians)


def copy_by_round(column: Column) -> tuple[float, ...]:
    """The plain copy, which stands beside every transform: one relative time per round."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for transform in column.result.measurements:
        for sample in column.copy_samples(transform):
            found[sample.round].extend(sample.values_sec)
    return by_round([Sample(round_, 0, tuple(values)) for round_, values in found.items()])


def harness_sec(bundle: Bundle) -> dict[str, list[float]]:
    """Seconds each measuring process took beyond what it timed, by job; empty when the run has no journal.

    A library's job is its result file. Lines are read one by one and only these numbers are kept: a journal is long.
    """
    costs: defaultdict[str, list[float]] = defaultdict(list)
    if JOURNAL not in bundle.files:
        return costs
    decoder = msgspec.json.Decoder(_Cost)
    with (bundle.path / JOURNAL).open("rb") as lines:
        for line in lines:
            try:
                cost = decoder.decode(line)
            except msgspec.DecodeError:  # the bundle is as it was committed; a line cut off by a crash stays in it
                continue
            if cost.kind == "timed":
                costs[cost.job].append(cost.harness_sec)
    return costs


class _Cost(msgspec.Struct, frozen=True):
    """What is read of a journal's line."""

    kind: str
    job: str = ""
    harness_sec: float = 0.0


def _of_library(column: Column, costs: dict[str, list[float]]) -> Steadiness:
    result = column.result
    summaries = [measurement.summary for _, measurement in result.ok() if measurement.summary]
    cvs = [summary.cv for summary in summaries if summary.cv is not None]
    noop, copy = result.references[NOOP].median_sec, result.references[YARDSTICK].median_sec
    copies = copy_by_round(column)
    drift = _drift(copies)
    jobs = [name for name, found in column.bundle.results.items() if found is result]
    spent = [sec for job in jobs for sec in costs.get(job, ())]
    return Steadiness(
        library=short(column.library),
        typical_cv=variation(statistics.median(cvs)) if cvs else "one process",
        unstable=f"{sum(summary.unstable for summary in summaries)} of {len(summaries)}",
        copy=microseconds(copy),
        copy_drift="one round" if drift is None else percent(drift),
        copies=copies,
        noop=microseconds(noop),
        noop_share=percent(noop / min(summary.median_sec for summary in summaries)),
        harness=milliseconds(statistics.median(spent)) if spent else "not recorded",
    )


def _drift(relative: Sequence[float]) -> float | None:
    return (1 + max(relative)) / (1 + min(relative)) - 1 if len(relative) > 1 else None
