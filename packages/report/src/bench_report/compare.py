"""One set of runs against another, as data: what changed, what cannot be compared, what fails a gate."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from bench_core import suggest
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Status
from bench_core.statistics import Verdict

from bench_report.regression import CellKey, Change, Movement, Pair, Rules, changes, judge
from bench_report.sides import Entry, Side, conditions_differ, pairs_of, refuse_repeats

# A cell that worked and ends like this is a regression.
BROKEN = {Status.ERROR, Status.CRASHED, Status.TIMEOUT, Status.UNAVAILABLE}


class Turn(msgspec.Struct, frozen=True):
    """A cell whose status is not what it was. `fails` is whether a gate calls that a regression."""

    key: CellKey
    base: str
    new: str
    reason: str | None
    fails: bool


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    base: Side
    new: Side
    rules: Rules
    changes: tuple[Change, ...]
    movements: Mapping[str, Movement]  # by table
    turned: tuple[Turn, ...]
    missing: tuple[tuple[CellKey, Status], ...]  # in BASE only, with their status there
    added: tuple[tuple[CellKey, Status], ...]  # in NEW only
    without: int  # cells that have a number on neither side
    mixed: tuple[str, ...]  # conditions that differ and were allowed to
    told: tuple[str, ...]

    def called(self, verdict: Verdict) -> list[Change]:
        return [change for change in self.changes if change.verdict is verdict]

    @property
    def judged(self) -> list[Change]:
        return [change for change in self.changes if change.key.library != self.rules.control]

    @property
    def regressed(self) -> bool:
        """What `--fail-on-regression` asks."""
        return bool(self.called(Verdict.SLOWER)) or any(turn.fails for turn in self.turned)


def compare_sides(base: Side, new: Side, rules: Rules, *, allow_mixed: bool = False) -> Compared:
    """Compare every cell that both sides have.

    Raises:
        BenchError: a run is on both sides, a control is nowhere, or the cells were measured under different conditions
            and that is not allowed.
    """
    refuse_repeats([*base.bundles, *new.bundles])
    before, after = base.entries(), new.entries()
    pairs = pairs_of(base, new, rules.control)
    check_control(rules, [pair.key.library for pair in pairs])
    mixed, told = conditions_differ(base, new, pairs)
    if mixed and not allow_mixed:
        raise BenchError(
            f"the runs were made under different conditions, so a change cannot be put down to a library: "
            f"{'. '.join(mixed)}. Measure again under the same conditions, or let --allow-mixed compare them, "
            "with these differences over the result",
            ExitCode.NOTHING_COMPARABLE,
        )
    found, movements = compare_tables(pairs, rules)
    return Compared(
        base=base,
        new=new,
        rules=rules,
        changes=tuple(judge(found, rules)),
        movements=movements,
        turned=tuple(_turns(before, after, rules)),
        missing=tuple((key, entry.status) for key, entry in before.items() if key not in after),
        added=tuple((key, entry.status) for key, entry in after.items() if key not in before),
        without=sum(not entry.runs and key in after and not after[key].runs for key, entry in before.items()),
        mixed=mixed,
        told=told,
    )


def compare_tables(pairs: Sequence[Pair], rules: Rules) -> tuple[list[Change], dict[str, Movement]]:
    """Changes, not judged yet. The machine has a movement in each table, and one beside a control."""
    tables: dict[str, list[Pair]] = {}
    for pair in pairs:
        name = f"{pair.key.table}, relative to {pair.control}" if pair.control else pair.key.table
        tables.setdefault(name, []).append(pair)
    found: list[Change] = []
    movements = {}
    for name, ours in tables.items():
        changed, movements[name] = changes(ours, rules)
        found += changed
    return found, movements


def _turns(before: Mapping[CellKey, Entry], after: Mapping[CellKey, Entry], rules: Rules) -> Iterator[Turn]:
    for key, entry in before.items():
        now = after.get(key)
        if now is None or now.status is entry.status:
            continue
        yield Turn(
            key,
            entry.status.value,
            now.status.value,
            now.reason or entry.reason,
            fails=entry.status is Status.OK and (now.status in BROKEN or _became_slow(entry, now, rules)),
        )


def _became_slow(entry: Entry, now: Entry, rules: Rules) -> bool:
    """Whether a cell is over the threshold of the slow now, and not because it was just under it before.

    A preflight is the faster of two passes, and no verdict. But a cell that lost its number over it must not pass
    unseen; its last numbers are these.
    """
    if now.status is not Status.SLOW:
        return False
    if not (entry.preflight_sec and now.preflight_sec):
        return True
    return now.preflight_sec >= entry.preflight_sec * (1 + rules.min_effect)


def check_control(rules: Rules, libraries: Sequence[str]) -> None:
    """Refuse a control that is nowhere.

    Raises:
        BenchError: with the nearest name.
    """
    known = sorted(set(libraries))
    if rules.control is not None and rules.control not in known:
        raise suggest.unknown("library", rules.control, known, source="--control")
