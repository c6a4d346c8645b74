"""What must be the same for every cell of a table, and what is not: each difference by its name, with the values."""

from collections.abc import Callable, Iterator, Sequence

import msgspec
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Conditions, Result

from bench_report.sections import Column, Section
from bench_report.table import short

# What a configuration says about which cells are measured, not how; where the items are, which the fingerprint of
# their content says better; and what each result says itself.
ELSEWHERE = {"profile", "groups", "libraries", "scenarios", "modes", "transforms", "device", "data_dir"} | {
    "num_items",
    "num_runs",
    "blocks",
    "processes",
    "threads",
    "seed",
    "isolation",
}

_OF_CONDITIONS: dict[str, Callable[[Conditions], object]] = {
    "Python": lambda found: found.python,
    "platform": lambda found: found.platform,
    "processor": lambda found: found.cpu,
    "device": lambda found: found.device,
    "threads asked for": lambda found: found.threads_asked,
    "processors it may run on": lambda found: ", ".join(map(str, found.affinity)),
    "isolation": lambda found: found.isolation,
}
_OF_RESULT: dict[str, Callable[[Result], object]] = {
    "dataset": lambda found: found.dataset.name,
    "number of items": lambda found: found.dataset.num_items,
    "dataset fingerprint": lambda found: found.dataset.fingerprint,
    "files left out": lambda found: ", ".join(found.dataset.left_out) or "none",
    "seed": lambda found: found.seed,
    "values per process": lambda found: found.num_runs,
    "blocks per process": lambda found: found.num_blocks,
    "processes": lambda found: found.num_processes,
}


class Difference(msgspec.Struct, frozen=True):
    """One condition that the cells of a table do not share: value -> who was measured under it."""

    condition: str
    values: dict[str, tuple[str, ...]]

    def __str__(self) -> str:
        return f"{self.condition}: " + ", ".join(
            f"{short(value)} ({', '.join(libraries)})" for value, libraries in self.values.items()
        )


def differences(section: Section) -> tuple[Difference, ...]:
    """Every condition that measured cells of a table do not share. A library without a number has none to compare."""
    columns = [column for column in section.columns if column.measured]
    found = (_difference(name, values) for name, values in _asked(section, columns))
    return tuple(difference for difference in found if difference is not None)


def refuse_mixtures(found: Sequence[Section]) -> None:
    """Stop when a table's cells were measured under different conditions.

    Raises:
        BenchError: naming each condition and its values.
    """
    mixed = {section.name: differences(section) for section in found}
    told = [f"{name}: {difference}" for name, different in mixed.items() for difference in different]
    if told:
        raise BenchError(
            "cells measured under different conditions do not belong in one table. "
            f"{'; '.join(told)}. Measure them again under the same conditions, report the runs apart, "
            "or let --allow-mixed print the table with these differences over it and no winner",
            ExitCode.FAILED,
        )


def notices(section: Section) -> tuple[str, ...]:
    """Sentences that stand over a table: what its reader has to know before comparing."""
    told = [f"Measured under different conditions, so no winner is named. {found}" for found in differences(section)]
    told += [f"Threads: {text}" for column in section.columns for text in _wrong_threads(column)]
    if len({column.bundle.run_id for column in section.columns if column.measured}) > 1:
        told.append(
            "The columns come from different runs, which were not interleaved: what the machine did to one run alone "
            "is in the ratios and not in their intervals, so only a factor of two or more makes a winner between runs"
        )
    return (*told, *_speed_variables(section), *_different_commits(section), *_uncommitted(section))


def _asked(section: Section, columns: Sequence[Column]) -> Iterator[tuple[str, dict[str, object]]]:
    """Each condition, and what each library says to it."""
    for name, of_conditions in _OF_CONDITIONS.items():
        yield name, {c.library: of_conditions(c.result.conditions) for c in columns if c.result.conditions}
    for name, of_result in _OF_RESULT.items():
        yield name, {column.library: of_result(column.result) for column in columns}
    yield from _shared_versions(columns)
    yield from _configurations(columns)
    yield from _locks(columns)
    yield from _params(section, columns)


def _shared_versions(columns: Sequence[Column]) -> Iterator[tuple[str, dict[str, object]]]:
    versions = {c.library: c.result.conditions.shared_versions for c in columns if c.result.conditions}
    for package in sorted({package for found in versions.values() for package in found}):
        having = {library: found[package] for library, found in versions.items() if package in found}
        yield f"version of {package}", dict(having)


def _configurations(columns: Sequence[Column]) -> Iterator[tuple[str, dict[str, object]]]:
    """The configuration as a whole inside a run; between runs, each key that says how things are measured."""
    for run_id in {column.bundle.run_id for column in columns}:
        ours = [column for column in columns if column.bundle.run_id == run_id]
        yield f"configuration of run {run_id}", {c.library: c.result.config_sha256 for c in ours}
    for key in sorted({key for column in columns for key in column.bundle.config} - ELSEWHERE):
        yield f"configuration {key}", {c.library: c.bundle.config.get(key, "not set") for c in columns}


def _locks(columns: Sequence[Column]) -> Iterator[tuple[str, dict[str, object]]]:
    """Groups have different locks; the libraries of one group have the same."""
    for group in sorted({column.result.group for column in columns}):
        ours = [column for column in columns if column.result.group == group]
        locks = {c.library: c.result.conditions.lock_sha256 for c in ours if c.result.conditions}
        yield f"lock of {group}", {library: lock or "none" for library, lock in locks.items()}


def _params(section: Section, columns: Sequence[Column]) -> Iterator[tuple[str, dict[str, object]]]:
    for transform in section.transforms:
        params = {c.library: c.result.measurements[transform].params for c in columns if c.samples(transform)}
        for key in sorted({key for found in params.values() for key in found}):
            yield (
                f"parameter {key} of {transform}",
                {library: found.get(key, "not set") for library, found in params.items()},
            )


def _difference(condition: str, values: dict[str, object]) -> Difference | None:
    by_value: dict[str, list[str]] = {}
    for library, value in values.items():
        by_value.setdefault(str(value), []).append(library)
    if len(by_value) < 2:
        return None
    return Difference(condition, {value: tuple(libraries) for value, libraries in by_value.items()})


def _wrong_threads(column: Column) -> Iterator[str]:
    conditions = column.result.conditions
    if conditions is None:
        return
    for pool, threads in conditions.threads_read.items():
        if threads != conditions.threads_asked:
            yield f"{column.library} was asked to use {conditions.threads_asked}, its pool {pool} uses {threads}"


def _speed_variables(section: Section) -> Iterator[str]:
    for bundle in section.bundles:
        names = bundle.environment.get("speed_variables")
        if isinstance(names, list) and names:
            told = short(", ".join(map(str, names)))
            yield f"Run {bundle.run_id} was measured with {told} set, which can change the speed of one library alone"


def _different_commits(section: Section) -> Iterator[str]:
    commits = {bundle.run_id: bundle.environment.get("git_commit") for bundle in section.bundles}
    if len(set(commits.values())) > 1:
        told = ", ".join(f"{str(commit or 'unknown')[:12]} (run {run_id})" for run_id, commit in commits.items())
        yield f"The runs were made with different commits of bench: {told}"


def _uncommitted(section: Section) -> Iterator[str]:
    for bundle in section.bundles:
        if bundle.environment.get("git_dirty"):
            yield f"Run {bundle.run_id} was made by bench with uncommitted changes: no commit says what measured"
