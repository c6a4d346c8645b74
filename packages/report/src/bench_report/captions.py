"""What was measured, on what and when: the lines over a table, and how to read it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec
from bench_core import policy
from bench_core.bundle import Bundle, Known
from bench_core.machine import is_busy
from bench_core.results import Result

from bench_report.figures import SPACE, Unit, number
from bench_report.sections import Section
from bench_report.table import short

FINGERPRINT_DIGITS = 12


def caption(section: Section) -> tuple[str, ...]:
    """One line per run: who, when, machine, shape of the run, items. Differences between columns are notices."""
    return tuple(_of_run(section, bundle) for bundle in section.bundles)


def _of_run(section: Section, bundle: Bundle) -> str:
    results = [column.result for column in section.columns if column.bundle.run_id == bundle.run_id]
    libraries = ", ".join(result.library for result in results)
    head = results[0]
    parts = [
        f"Run {bundle.run_id}, {date(bundle.created_at)}: {libraries}",
        machine(bundle, results),
        shape(head),
        items(head),
    ]
    return ". ".join(part for part in parts if part)


def date(created_at: str) -> str:
    """To the minute, UTC. What is no date is shown as it is."""
    try:
        return f"{datetime.fromisoformat(created_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):  # no date, or one at an end of the calendar
        return created_at


def machine(bundle: Bundle, results: Iterable[Result]) -> str:
    """The machine as the measuring processes saw it, and the commit of bench that measured."""
    found = next((result.conditions for result in results if result.conditions), None)
    if found is None:
        return "Nothing was measured"
    versions = [f"{package} {version}" for package, version in sorted(found.shared_versions.items())]
    told = [
        found.cpu if found.device == "cpu" else f"{found.device}, {found.cpu}",
        _count(len(found.affinity), "processor") + " usable",
        found.platform,
        found.python,
        *versions,
        _count(found.threads_asked, "thread"),
        f"isolation by {found.isolation}",
    ]
    commit = bundle.environment.get("git_commit")
    if commit:
        changed = " with uncommitted changes" if bundle.environment.get("git_dirty") else ""
        told.append(f"bench at {str(commit)[:12]}{changed}")
    return ", ".join(map(short, [*told, *_disturbances(bundle)]))


def _disturbances(bundle: Bundle) -> Iterator[str]:
    """What else worked on the machine when the run began; nothing where it was quiet."""
    known = msgspec.convert(bundle.environment, Known)
    processors = len(known.cpus_usable)
    if processors and is_busy(known.load_average, processors):
        yield f"busy when it began (load {known.load_average[0]:.2f} on {_count(processors, 'processor')})"
    if known.other_runs:
        yield f"beside {_count(known.other_runs, 'other run')} on the machine"


def shape(result: Result) -> str:
    """How often each transform is measured."""
    parts = [
        _count(result.num_processes, "process", "es"),
        _count(result.num_blocks, "block"),
        _count(result.num_runs / result.num_blocks, "value"),
    ]
    return f"{' × '.join(parts)} per cell, seed {result.seed}"


def items(result: Result) -> str:
    data = result.dataset
    fingerprint = data.fingerprint[:FINGERPRINT_DIGITS]
    text = f"{_count(data.num_items, result.media)} of {short(data.name)} (fingerprint {fingerprint})"
    return f"{text}, {_count(len(data.left_out), 'unreadable file')} left out for all" if data.left_out else text


def how_to_read(unit: Unit | None, baseline: str | None) -> tuple[str, ...]:
    """The same for every table of a report; without a unit, where a reader chooses it."""
    shown = "the unit over the table"
    if unit:
        shown = f"{unit.name} ({'more' if unit.rate else 'less'} is better)"
    base = f"over that of {baseline}" if baseline else "over that of the row's fastest library"
    return (
        f"A cell is the median of the process medians in {shown} with its "
        f"{percent_exact(policy.CONFIDENCE)} interval, which comes from the variation between processes.",
        "Bold is a winner: faster than every other library of the row, each time by at least "
        f"{percent_exact(policy.MIN_EFFECT)} and with a {percent_exact(policy.VERDICT_CONFIDENCE)} interval of the "
        "ratio that excludes 1. A row without bold has no winner.",
        f"A ratio is a library's speed {base}, computed from pairs of values that were timed side by side and not from "
        "the medians.",
    )


def percent_exact(share: float) -> str:
    return f"{share * 100:g}{SPACE}%"


def _count(count: float, noun: str, plural: str = "s") -> str:
    return f"{number(count, 0 if count == int(count) else 1)}{SPACE}{noun}{'' if count == 1 else plural}"
