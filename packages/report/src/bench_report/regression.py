"""Did a cell change between runs? Its speed before and after, how far the machine itself moved, and a verdict.

Nothing is interleaved between two runs, so what the machine did to one of them alone is in every ratio, and the
variation between the processes of a run does not show it. The reference rows do, in part: the no-op and the plain copy
are the same work in both runs, timed in the very processes that timed the cell. How far they moved is therefore a third
source of variance beside those of the two runs (Welch-Satterthwaite with three terms), and a cell that moved no further
than its own reference rows is called neither faster nor slower. What the variation between processes explains of the
references' move is not taken off: where they are noisy nobody knows how far the machine moved, and what is not known is
not assumed to be nothing.

A correction they are not: a copy follows the operation beside it with a correlation of 0.4 to 0.6 only, so dividing by
it would add as much noise as it takes away. And blind they are to one thing: on a machine with more work than
processors, operations take twice the time in one run and not in the next, while the short reference rows slip through
between two interruptions. Such a machine shows in the processes of a run, which then differ; so a cell that is unstable
in either run is not called. Where several libraries were measured, what they all did is the machine's as well.

A control does better: a library that is known not to have changed and took turns with the others in both runs. Then
every value is divided by that of the control in the same turn, as a table of one run does, and so are the reference
rows; what the machine did to both cancels, so an unstable cell is judged as well.
"""

import math
import statistics
from collections.abc import Callable, Collection, Iterator, Sequence
from enum import StrEnum
from itertools import chain, pairwise, zip_longest

import msgspec
from bench_core import policy
from bench_core.results import Block
from bench_core.statistics import Sample, Verdict, process_medians, t_quantile, variance

Runs = Sequence[Sequence[Block]]  # the blocks of one cell, by run
Values = Callable[[Block], tuple[float, ...]]  # which of a block's times


class CellKey(msgspec.Struct, frozen=True, order=True):
    """What is compared with itself, run after run."""

    scenario: str
    mode: str
    device: str
    library: str
    transform: str

    @property
    def table(self) -> str:
        return f"{self.scenario}, {self.mode}, {self.device}"


class Pair(msgspec.Struct, frozen=True):
    """A cell with a number on both sides."""

    key: CellKey
    base: Runs
    new: Runs
    control: str | None = None  # what times are relative to
    base_control: Runs = ()  # the same cell of the control in the same runs
    new_control: Runs = ()


class Why(StrEnum):
    """What an inconclusive cell lacks; the first that applies."""

    CONTROL = "a control, not judged"
    SMALL = "smaller than what is called a change"
    MACHINE = "the machine moved as far"
    UNSTABLE = "unstable: its processes differ too much"
    UNSURE = "not sure enough"
    FEW_PROCESSES = "too few processes: no interval"


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """When a change is called one. `control` is a library that is known not to have changed."""

    min_effect: float = policy.RUN_MIN_EFFECT
    false_calls: float = policy.RUN_FALSE_CALLS
    control: str | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One cell before and after. Ratios are of speed, new over base; the interval includes the machine's movement.

    With a control every ratio is relative to it; the two medians are as measured.
    """

    key: CellKey
    control: str | None
    base_sec: float  # median of process medians, seconds per item
    new_sec: float
    ratio: float
    low: float | None
    high: float | None
    noop: float  # the same ratio of the reference rows in the same processes
    yardstick: float
    moved: float  # how far the machine moved in this cell, as a factor of 1 or more
    cv: float | None  # of process medians, the larger of all runs
    p_slower: float  # one-sided, not yet corrected for the number of cells
    p_faster: float
    verdict: Verdict = Verdict.INCONCLUSIVE
    why: Why | None = None


class Movement(msgspec.Struct, frozen=True):
    """How far the machine moved between two sets of runs, over the cells of a table; factors of 1 or more."""

    typical: float  # root mean square over the cells
    largest: float
    shared: float  # what every library did at least, by the median of its cells
    noop: float  # median ratio of speed, new over base
    yardstick: float
    num_cells: int


class _Shift(msgspec.Struct, frozen=True):
    """Difference of two sides' mean logarithms: positive is faster. `parts` are (variance, degrees of freedom)."""

    log_ratio: float
    parts: tuple[tuple[float, float], ...] | None


def changes(pairs: Sequence[Pair], rules: Rules) -> tuple[list[Change], Movement]:
    """Compare the cells of one table between the same two sets of runs. Verdicts come from `judge`.

    Raises:
        ValueError: there is no pair.
    """
    shifts = [_shift(pair, _operation) for pair in pairs]
    references = [{name: _shift(pair, of) for name, of in _REFERENCES.items()} for pair in pairs]
    still = [_still(*each, rules) for each in zip(pairs, shifts, references, strict=True)]
    shared = _shared(pairs, shifts)
    moved = [max(shared, *(abs(stood.log_ratio) for stood in each)) for each in still]
    machine = max(0.0, statistics.fmean(map(_machine_variance, pairs, still, moved)))
    found = [
        _change(pair, shift, reference, move, (machine, len(pairs)))
        for pair, shift, reference, move in zip(pairs, shifts, references, moved, strict=True)
    ]
    movement = Movement(
        typical=math.exp(math.sqrt(machine)),
        largest=max(change.moved for change in found),
        shared=math.exp(shared),
        noop=statistics.median(change.noop for change in found),
        yardstick=statistics.median(change.yardstick for change in found),
        num_cells=len(pairs),
    )
    return found, movement


def judge(found: Sequence[Change], rules: Rules) -> list[Change]:
    """Call changes slower or faster, with the number of cells accounted for.

    Benjamini-Hochberg, once over the p-values of "slower" and once over those of "faster". Where nothing became slower
    the first is the chance of any false alarm at all, which is what a gate needs; where much did, it loses less power
    than Holm's procedure. Kept apart, many true improvements do not make a false regression more likely.
    """
    judged = [change for change in found if change.key.library != rules.control]
    slower = _adjusted([change.p_slower for change in judged])
    faster = _adjusted([change.p_faster for change in judged])
    p_values = iter(map(min, slower, faster))
    return [
        _called(change, Verdict.INCONCLUSIVE, Why.CONTROL)
        if change.key.library == rules.control
        else _called(change, *_verdict(change, next(p_values), rules))
        for change in found
    ]


def _verdict(change: Change, p_value: float, rules: Rules) -> tuple[Verdict, Why | None]:
    effect = max(change.ratio, 1 / change.ratio)
    if effect < 1 + rules.min_effect:
        return Verdict.INCONCLUSIVE, Why.SMALL
    if change.low is None:
        return Verdict.INCONCLUSIVE, Why.FEW_PROCESSES
    if effect <= change.moved:
        return Verdict.INCONCLUSIVE, Why.MACHINE
    if change.control is None and change.cv is not None and change.cv > policy.UNSTABLE_CV:
        return Verdict.INCONCLUSIVE, Why.UNSTABLE
    if p_value >= rules.false_calls:
        return Verdict.INCONCLUSIVE, Why.UNSURE
    return (Verdict.SLOWER if change.ratio < 1 else Verdict.FASTER), None


def _called(change: Change, verdict: Verdict, why: Why | None) -> Change:
    return msgspec.structs.replace(change, verdict=verdict, why=why)


def _adjusted(p_values: Collection[float]) -> list[float]:
    if not p_values:
        return []
    from scipy.stats import false_discovery_control

    adjusted: list[float] = false_discovery_control(list(p_values), method="bh").tolist()
    return adjusted


def _operation(block: Block) -> tuple[float, ...]:
    return block.values_sec


_REFERENCES: dict[str, Values] = {
    "noop": lambda block: (block.noop_sec,),
    "yardstick": lambda block: (block.yardstick_sec,),
}


def _logs(blocks: Sequence[Block], values_of: Values, control: Sequence[Block] = ()) -> list[float]:
    """Logarithm of the time of each process; with a control, of the ratio of times of the same turns."""
    if not control:
        return [math.log(sec) for sec in process_medians(_samples(blocks, values_of)).values()]
    beside = {(block.round, block.block): values_of(block) for block in control}
    by_round: dict[int, list[float]] = {}
    for block in blocks:
        base = beside.get((block.round, block.block), ())
        by_round.setdefault(block.round, []).extend(
            math.log(ours / theirs) for ours, theirs in zip(values_of(block), base, strict=False)
        )
    return [statistics.median(found) for found in by_round.values() if found]


def _samples(blocks: Sequence[Block], values_of: Values) -> Iterator[Sample]:
    return (Sample(block.round, block.block, values_of(block)) for block in blocks)


def _by_run(runs: Runs, values_of: Values, controls: Runs) -> list[list[float]]:
    return [_logs(blocks, values_of, control) for blocks, control in zip_longest(runs, controls, fillvalue=())]


def _shift(pair: Pair, values_of: Values) -> _Shift:
    base = list(chain.from_iterable(_by_run(pair.base, values_of, pair.base_control)))
    new = list(chain.from_iterable(_by_run(pair.new, values_of, pair.new_control)))
    return _difference(base, new)


def _difference(base: Sequence[float], new: Sequence[float]) -> _Shift:
    enough = min(len(base), len(new)) >= policy.INTERVAL_PROCESSES
    parts = tuple((variance(logs) / len(logs), len(logs) - 1.0) for logs in (base, new)) if enough else None
    return _Shift(statistics.fmean(base) - statistics.fmean(new), parts)


def _still(pair: Pair, shift: _Shift, references: dict[str, _Shift], rules: Rules) -> list[_Shift]:
    """What should not have moved in a cell: its reference rows, the cell between repeats of a side, and a control."""
    found = list(references.values())
    for runs, controls in ((pair.base, pair.base_control), (pair.new, pair.new_control)):
        found += [_difference(*both) for both in pairwise(_by_run(runs, _operation, controls))]
    if pair.key.library == rules.control:
        found.append(shift)
    return found


def _machine_variance(pair: Pair, still: Sequence[_Shift], moved: float) -> float:
    """What a cell says of the machine's movement, as a variance.

    Beside a control, what the variation between processes explains is taken off: turns alternated, so a slow process
    was slow for both, and what is left between processes is chance.
    """
    if pair.control is None:
        return moved**2
    return max(shift.log_ratio**2 - sum(part for part, _ in shift.parts or ()) for shift in still)


def _shared(pairs: Sequence[Pair], shifts: Sequence[_Shift]) -> float:
    """The least that any library moved, by the median of its cells; of one library alone nobody knows whose it is."""
    by_library: dict[str, list[float]] = {}
    for pair, shift in zip(pairs, shifts, strict=True):
        by_library.setdefault(pair.key.library, []).append(shift.log_ratio)
    medians = [statistics.median(moves) for moves in by_library.values()]
    if len(medians) < 2 or min(medians) < 0 < max(medians):
        return 0.0
    return min(map(abs, medians))


def _largest_cv(pair: Pair) -> float | None:
    """Coefficient of variation of what the processes of a run say, of the most unstable run."""
    sides = ((pair.base, pair.base_control), (pair.new, pair.new_control))
    runs = chain.from_iterable(_by_run(runs, _operation, controls) for runs, controls in sides)
    values = [[math.exp(log) for log in logs] for logs in runs if len(logs) > 1]
    return max((math.sqrt(variance(found)) / statistics.fmean(found) for found in values), default=None)


def _change(
    pair: Pair, shift: _Shift, references: dict[str, _Shift], moved: float, machine: tuple[float, float]
) -> Change:
    error, degrees = _error((*shift.parts, machine)) if shift.parts else (None, 1.0)
    half = None if error is None else t_quantile(policy.CONFIDENCE, degrees) * error
    return Change(
        key=pair.key,
        control=pair.control,
        base_sec=_median(pair.base),
        new_sec=_median(pair.new),
        ratio=math.exp(shift.log_ratio),
        low=None if half is None else math.exp(shift.log_ratio - half),
        high=None if half is None else math.exp(shift.log_ratio + half),
        noop=math.exp(references["noop"].log_ratio),
        yardstick=math.exp(references["yardstick"].log_ratio),
        moved=math.exp(moved),
        cv=_largest_cv(pair),
        p_slower=_p_value(-shift.log_ratio, error, degrees),
        p_faster=_p_value(shift.log_ratio, error, degrees),
    )


def _error(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Standard error and degrees of freedom of a sum of independent terms (Welch-Satterthwaite)."""
    total = sum(part for part, _ in parts)
    spread = sum(part**2 / degrees for part, degrees in parts)
    return math.sqrt(total), total**2 / spread if spread else 1.0


def _p_value(log_ratio: float, error: float | None, degrees: float) -> float:
    """How likely a change at least this far in this direction is when there was none; 1 where that is unknown."""
    if error is None:
        return 1.0
    if error == 0:
        return 0.0 if log_ratio > 0 else 1.0
    from scipy.special import stdtr

    return float(stdtr(degrees, -log_ratio / error))


def _median(runs: Runs) -> float:
    """The median of process medians, as a table of one run has it."""
    medians = (process_medians(_samples(blocks, _operation)).values() for blocks in runs)
    return statistics.median(chain.from_iterable(medians))
