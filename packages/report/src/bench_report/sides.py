"""The two sides of a comparison between runs: what each says of every cell, and whether conditions allow comparing."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from bench_core.bundle import Bundle, load_bundle
from bench_core.errors import BenchError
from bench_core.results import Block, Result, Status

from bench_report.conditions import differences
from bench_report.regression import CellKey, Pair
from bench_report.sections import Column, Section


class Entry(msgspec.Struct, frozen=True):
    """What the newest run of a side says of a cell, and the blocks of every run that has a number of it, by run."""

    status: Status
    reason: str | None
    preflight_sec: float | None
    runs: dict[str, tuple[Block, ...]]


class Side(msgspec.Struct, frozen=True):
    """One or several runs, oldest first."""

    name: str
    bundles: tuple[Bundle, ...]

    def entries(self) -> dict[CellKey, Entry]:
        """Every cell. One whose newest status is not ok has no blocks, whatever older runs say."""
        found: dict[CellKey, Entry] = {}
        for run_id, result in ((run.run_id, result) for run in self.bundles for result in run.results.values()):
            for transform, measured in result.measurements.items():
                key = CellKey(result.scenario, result.mode, result.device, result.library, transform)
                earlier = found[key].runs if key in found else {}
                runs = {**earlier, run_id: measured.blocks} if measured.status is Status.OK else {}
                found[key] = Entry(measured.status, measured.reason, measured.preflight_sec, runs)
        return found

    def results(self, key: CellKey) -> list[tuple[Bundle, Result]]:
        """The results of a cell's library in its table."""
        asked = (key.scenario, key.mode, key.device, key.library)
        return [
            (bundle, result)
            for bundle in self.bundles
            for result in bundle.results.values()
            if (result.scenario, result.mode, result.device, result.library) == asked
        ]

    def versions(self) -> dict[str, dict[str, str]]:
        """By library, the versions it names as its own; of the newest run that could import it."""
        found: dict[str, dict[str, str]] = {}
        for result in (result for bundle in self.bundles for result in bundle.results.values()):
            if result.versions:
                found[result.library] = result.versions
        return found


def load_side(name: str, text: str) -> Side:
    """Read the runs of a side.

    Args:
        name: how messages call it, such as BASE.
        text: run directories, joined by commas.

    Raises:
        BenchError: none is named, one twice, or one that is no committed run.
    """
    paths = [Path(part.strip()) for part in text.split(",") if part.strip()]
    if not paths:
        raise BenchError(f"{name} names no run; give a run directory, or several joined by commas")
    return make_side(name, [load_bundle(path) for path in paths])


def make_side(name: str, bundles: Iterable[Bundle]) -> Side:
    """The same from bundles.

    Raises:
        BenchError: a run is there twice.
    """
    ordered = tuple(sorted(bundles, key=lambda bundle: (bundle.created_at, bundle.run_id)))
    refuse_repeats(ordered)
    return Side(name, ordered)


def refuse_repeats(bundles: Iterable[Bundle]) -> None:
    """Stop when a run is compared with itself.

    Raises:
        BenchError: naming the run and both folders.
    """
    seen: dict[str, Bundle] = {}
    for bundle in bundles:
        if bundle.run_id in seen:
            raise BenchError(
                f"run {bundle.run_id} is named twice ({seen[bundle.run_id].path} and {bundle.path}); "
                "a run is not compared with itself"
            )
        seen[bundle.run_id] = bundle


def pairs_of(base: Side, new: Side, control: str | None = None) -> list[Pair]:
    """The cells that have a number on both sides, in the order of BASE; beside the control where it has one too."""
    before, after = base.entries(), new.entries()
    found = []
    for key, entry in before.items():
        if entry.runs and key in after and after[key].runs:
            pair = Pair(key, tuple(entry.runs.values()), tuple(after[key].runs.values()))
            found.append(_relative(pair, before, after, control) if control else pair)
    return found


def _relative(pair: Pair, before: dict[CellKey, Entry], after: dict[CellKey, Entry], control: str) -> Pair:
    """The same pair with the control's blocks of the same runs; as it was where there are not all of them."""
    key = msgspec.structs.replace(pair.key, library=control)
    beside = [_beside(entries[pair.key], entries.get(key)) for entries in (before, after)]
    if key == pair.key or not all(beside):
        return pair
    return msgspec.structs.replace(pair, control=control, base_control=beside[0], new_control=beside[1])


def _beside(ours: Entry, control: Entry | None) -> tuple[tuple[Block, ...], ...]:
    """The control's blocks, run by run; empty when a run of ours has none in the same rounds."""
    found = tuple(control.runs.get(run_id, ()) for run_id in ours.runs) if control else ()
    for mine, theirs in zip(ours.runs.values(), found, strict=False):
        if not {(b.round, b.block) for b in mine} & {(b.round, b.block) for b in theirs}:
            return ()
    return found


def conditions_differ(base: Side, new: Side, pairs: Sequence[Pair]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Conditions that the runs of compared cells do not share: (what forbids a comparison, what is only told).

    Versions that a library names as its own are the point of a comparison. The lock of its group changes with them, and
    says nothing beyond the versions that are compared one by one.
    """
    libraries = {(pair.key.table, pair.key.library): pair.key for pair in pairs}
    forbidding: dict[str, list[str]] = {}
    told: dict[str, list[str]] = {}
    for key in libraries.values():
        own = {f"version of {package}" for package in _own_packages(base, new, key)}
        for found in differences(_between_runs(key, base, new)):
            if found.condition in own:
                continue
            kind = told if found.condition.startswith("lock of ") else forbidding
            kind.setdefault(str(found), []).append(key.library)
    return _sentences(forbidding), _sentences(told)


def _own_packages(base: Side, new: Side, key: CellKey) -> set[str]:
    return {package for side in (base, new) for _, result in side.results(key) for package in result.versions}


def _between_runs(key: CellKey, base: Side, new: Side) -> Section:
    """One library of a table as if its runs were libraries, so that its conditions are compared between them."""
    found = [*base.results(key), *new.results(key)]
    columns = [Column(bundle, msgspec.structs.replace(r, library=f"run {bundle.run_id}")) for bundle, r in found]
    return Section(key.scenario, found[0][1].media, key.mode, key.device, tuple(columns))


def _sentences(found: dict[str, list[str]]) -> tuple[str, ...]:
    return tuple(f"{difference}; of {', '.join(dict.fromkeys(libraries))}" for difference, libraries in found.items())
