"""The same cells over many runs, oldest first, and where their speed changed in a step."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
from bench_core.bundle import Bundle, is_committed, load_bundle
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Result, Status
from bench_core.statistics import Summary, Verdict

from bench_report.compare import check_control, compare_tables
from bench_report.regression import CellKey, Change, Pair, Rules, judge
from bench_report.sides import Side, conditions_differ, make_side, pairs_of, refuse_repeats


class Point(msgspec.Struct, frozen=True):
    """One cell in one run. `change` is from the cell's previous number; `differ` says why there is none to judge."""

    run: int  # index into the history's bundles
    status: Status
    version: str | None
    summary: Summary | None
    previous: int | None = None  # the run of the previous number
    change: Change | None = None
    differ: tuple[str, ...] = ()

    @property
    def step(self) -> Verdict | None:
        """FASTER or SLOWER where the speed changed in a step; None where it did not, or nothing was compared."""
        found = self.change.verdict if self.change else Verdict.INCONCLUSIVE
        return None if found is Verdict.INCONCLUSIVE else found


class History(msgspec.Struct, frozen=True):
    bundles: tuple[Bundle, ...]  # oldest first
    cells: dict[CellKey, tuple[Point, ...]]  # in the order of the runs

    def versions(self, run: int) -> dict[str, str | None]:
        """By library, its own version in one run."""
        return {result.library: _version(result) for result in self.bundles[run].results.values()}


def find_runs(folders: Iterable[Path]) -> list[Bundle]:
    """Read runs, and every committed run directly inside a folder of runs.

    Raises:
        BenchError: a folder holds no committed run, or a run is damaged.
    """
    paths: list[Path] = []
    for folder in folders:
        inside = [folder] if is_committed(folder) else sorted(path for path in folder.glob("*") if is_committed(path))
        if not inside:
            raise BenchError(f"{folder}: neither a committed run nor a folder of such", ExitCode.BUNDLE)
        paths += inside
    return [load_bundle(path) for path in dict.fromkeys(path.resolve() for path in paths)]


def build_history(found: Iterable[Bundle], rules: Rules) -> History:
    """Put every cell's runs in order and compare each number with the one before.

    Raises:
        BenchError: a run is there twice, fewer than two are, or the control is nowhere.
    """
    bundles = tuple(sorted(found, key=lambda bundle: (bundle.created_at, bundle.run_id)))
    refuse_repeats(bundles)
    if len(bundles) < 2:
        raise BenchError("a history needs two runs or more", ExitCode.NOTHING_COMPARABLE)
    cells: dict[CellKey, list[Point]] = {}
    for run, bundle in enumerate(bundles):
        for result in bundle.results.values():
            for transform, measured in result.measurements.items():
                key = CellKey(result.scenario, result.mode, result.device, result.library, transform)
                summary = measured.summary if measured.status is Status.OK else None
                cells.setdefault(key, []).append(Point(run, measured.status, _version(result), summary))
    check_control(rules, [key.library for key in cells])
    steps = _steps(bundles, cells, rules)
    return History(bundles, {key: _with_steps(key, points, steps) for key, points in cells.items()})


class Step(msgspec.Struct, frozen=True):
    """What the comparison of a number with the one before said."""

    previous: int
    change: Change | None
    differ: tuple[str, ...]


def _steps(
    bundles: Sequence[Bundle], cells: Mapping[CellKey, Sequence[Point]], rules: Rules
) -> dict[tuple[CellKey, int], Step]:
    """(cell, run) -> its step. All changes of a history are judged together."""
    sides = [make_side(bundle.run_id, [bundle]) for bundle in bundles]
    asked: dict[tuple[int, int], list[CellKey]] = {}
    for key, points in cells.items():
        for before, after in pairwise(point.run for point in points if point.summary):
            asked.setdefault((before, after), []).append(key)
    found: list[Change] = []
    runs: list[tuple[int, int]] = []
    steps: dict[tuple[CellKey, int], Step] = {}
    for (before, after), keys in asked.items():
        pairs, forbidden = _comparable(sides[before], sides[after], keys, rules.control)
        steps |= {(key, after): Step(before, None, why) for key, why in forbidden.items()}
        changed, _ = compare_tables(pairs, rules)
        found += changed
        runs += [(before, after)] * len(changed)
    for change, (before, after) in zip(judge(found, rules), runs, strict=True):
        steps[change.key, after] = Step(before, change, ())
    return steps


def _comparable(
    before: Side, after: Side, keys: Sequence[CellKey], control: str | None
) -> tuple[list[Pair], dict[CellKey, tuple[str, ...]]]:
    """The cells measured under the same conditions in both runs; and why the others were not."""
    asked = set(keys)
    libraries: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs_of(before, after, control):
        if pair.key in asked:
            libraries.setdefault((pair.key.table, pair.key.library), []).append(pair)
    allowed: list[Pair] = []
    forbidden: dict[CellKey, tuple[str, ...]] = {}
    for pairs in libraries.values():
        differ, _ = conditions_differ(before, after, pairs)
        if differ:
            forbidden |= {pair.key: differ for pair in pairs}
        else:
            allowed += pairs
    return allowed, forbidden


def _with_steps(key: CellKey, points: Sequence[Point], steps: Mapping[tuple[CellKey, int], Step]) -> tuple[Point, ...]:
    return tuple(_with_step(point, steps.get((key, point.run))) for point in points)


def _with_step(point: Point, step: Step | None) -> Point:
    if step is None:
        return point
    return msgspec.structs.replace(point, previous=step.previous, change=step.change, differ=step.differ)


def _version(result: Result) -> str | None:
    return next(iter(result.versions.values()), None)
