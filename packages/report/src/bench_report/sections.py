"""Which results stand in one table: every library of a scenario, mode and device, from one run or several."""

from collections.abc import Iterable
from typing import Protocol

import msgspec
from bench_core.bundle import Bundle, Known
from bench_core.errors import BenchError
from bench_core.results import Block, Measurement, Result, Status
from bench_core.statistics import Sample


class Column(msgspec.Struct, frozen=True):
    """One library of a table: its result and the run it comes from."""

    bundle: Bundle
    result: Result

    @property
    def library(self) -> str:
        return self.result.library

    @property
    def version(self) -> str | None:
        """The library's own version, from its package metadata; None when it could not be imported."""
        return next(iter(self.result.versions.values()), None)

    @property
    def measured(self) -> bool:
        """Whether there is any number of it."""
        return any(True for _ in self.result.ok())

    def measurement(self, transform: str) -> Measurement | None:
        return self.result.measurements.get(transform)

    def blocks(self, transform: str) -> tuple[Block, ...]:
        """The timed blocks of a transform; empty unless its status is ok."""
        found = self.measurement(transform)
        return found.blocks if found and found.status is Status.OK else ()

    def samples(self, transform: str) -> list[Sample]:
        """What the transform took."""
        return [block.sample() for block in self.blocks(transform)]

    def copy_samples(self, transform: str) -> list[Sample]:
        """What a plain copy of the same items took in the same processes."""
        return [Sample(block.round, block.block, (block.yardstick_sec,)) for block in self.blocks(transform)]


class Section(msgspec.Struct, frozen=True):
    """One table: columns in alphabetical order, transforms in the order of the result files."""

    scenario: str
    media: str
    mode: str
    device: str
    columns: tuple[Column, ...]

    @property
    def name(self) -> str:
        return f"{self.scenario}, {self.mode}, {self.device}"

    @property
    def transforms(self) -> tuple[str, ...]:
        names = (name for column in self.columns for name in column.result.measurements)
        return tuple(dict.fromkeys(names))

    @property
    def excluded(self) -> dict[str, str]:
        """Libraries that were asked for and have no column, because of a rule that the run names."""
        found: dict[str, str] = {}
        for bundle in self.bundles:
            for job, reason in msgspec.convert(bundle.environment, Known).excluded_jobs.items():
                library, _, table = job.partition(", ")
                if table == self.name:
                    found[library] = reason
        return {library: found[library] for library in sorted(found.keys() - {c.library for c in self.columns})}

    @property
    def bundles(self) -> tuple[Bundle, ...]:
        """The runs it comes from, oldest first."""
        found = {column.bundle.run_id: column.bundle for column in self.columns}
        return tuple(sorted(found.values(), key=lambda bundle: (bundle.created_at, bundle.run_id)))


def sections(bundles: Iterable[Bundle]) -> tuple[Section, ...]:
    """Put the results of all runs into tables.

    Raises:
        BenchError: a library was measured twice for the same table; both runs are named.
    """
    tables: dict[tuple[str, str, str, str], dict[str, Column]] = {}
    for bundle in bundles:
        for result in bundle.results.values():
            key = (result.scenario, result.media, result.mode, result.device)
            columns = tables.setdefault(key, {})
            if result.library in columns:
                raise _twice(columns[result.library], Column(bundle, result))
            columns[result.library] = Column(bundle, result)
    return tuple(Section(*key, columns=_sorted(columns.values())) for key, columns in tables.items())


def _sorted(columns: Iterable[Column]) -> tuple[Column, ...]:
    """By name: the order favours nobody, and does not change with what was measured first."""
    return tuple(sorted(columns, key=lambda column: column.library))


def _twice(one: Column, other: Column) -> BenchError:
    result = one.result
    return BenchError(
        f"{result.library} ({result.scenario}, {result.mode}, {result.device}) is in two of the runs: "
        f"{one.bundle.path} and {other.bundle.path}; a table holds one measurement of each library. "
        "Leave one of the runs out, or report them apart with two --output folders"
    )


class OfRuns(Protocol):
    """A table, of speeds or of scores, that knows its runs."""

    @property
    def bundles(self) -> tuple[Bundle, ...]: ...


def run_ids(found: Iterable[OfRuns]) -> tuple[str, ...]:
    """Every run behind these tables, oldest first."""
    bundles = {bundle.run_id: bundle for section in found for bundle in section.bundles}
    return tuple(sorted(bundles, key=lambda run_id: (bundles[run_id].created_at, run_id)))
