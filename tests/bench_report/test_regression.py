"""Changes between runs: what is called slower or faster, and what the machine's own movement takes away."""

import math
from typing import Any

import msgspec
import pytest
from bench_core.results import Block
from bench_core.statistics import Verdict, independent_ratio, summarize
from bench_report.regression import CellKey, Change, Pair, Rules, Why, changes, judge

from tests.bench_report.factory import make_measurement

STEADY = {"noop_sec": 3e-7, "yardstick_sec": 6e-5}


def blocks(sec: float, seed: object, *, references: float | None = None, **options: Any) -> tuple[Block, ...]:
    """One run of a cell; `references` multiplies the time of its reference rows, which do not vary then."""
    found = make_measurement(sec, seed=seed, **options).blocks
    if references is None:
        return found
    fixed = {name: sec * references for name, sec in STEADY.items()}
    return tuple(msgspec.structs.replace(block, **fixed) for block in found)


def key(transform: str = "Resize", library: str = "ant") -> CellKey:
    return CellKey("image-rgb", "micro", "cpu", library, transform)


def pair(slower: float = 1.0, *, transform: str = "Resize", references: float = 1.0, **options: Any) -> Pair:
    base = blocks(1e-3, f"base {transform}", references=1.0, **options)
    new = blocks(1e-3 * slower, f"new {transform}", references=references, **options)
    return Pair(key(transform), (base,), (new,))


def judged(*pairs: Pair, rules: Rules | None = None) -> list[Change]:
    rules = rules or Rules()
    found, _ = changes(pairs, rules)
    return judge(found, rules)


def only(*pairs: Pair, rules: Rules | None = None) -> Change:
    return judged(*pairs, rules=rules)[0]


def test_a_large_change_on_a_machine_that_stood_still_is_called_in_both_directions() -> None:
    assert only(pair(1.3)).verdict is Verdict.SLOWER
    assert only(pair(1 / 1.3)).verdict is Verdict.FASTER
    assert only(pair(1.3)).ratio == pytest.approx(1 / 1.3, rel=0.05)


def test_on_a_machine_that_stood_still_the_interval_is_that_of_welch() -> None:
    found = pair(1.3)
    expected = independent_ratio([b.sample() for b in found.new[0]], [b.sample() for b in found.base[0]])
    change = only(found)
    assert (change.ratio, change.low, change.high) == pytest.approx((expected.ratio, expected.low, expected.high))


def test_a_change_under_the_least_effect_is_not_called_however_sure() -> None:
    change = only(pair(1.04, noise=0.001))
    assert (change.verdict, change.why) == (Verdict.INCONCLUSIVE, Why.SMALL)
    assert only(pair(1.04, noise=0.001), rules=Rules(min_effect=0.02)).verdict is Verdict.SLOWER


def test_a_cell_that_moved_no_further_than_its_reference_rows_is_not_called() -> None:
    change = only(pair(1.3, references=1.4))
    assert (change.verdict, change.why) == (Verdict.INCONCLUSIVE, Why.MACHINE)
    assert change.moved == pytest.approx(1.4)
    assert change.yardstick == pytest.approx(1 / 1.4)


def test_reference_rows_that_moved_the_other_way_count_as_well() -> None:
    assert only(pair(1.3, references=1 / 1.4)).why is Why.MACHINE


def test_what_the_machine_did_to_other_cells_widens_the_interval_of_all() -> None:
    still = [pair(1.3), *(pair(transform=f"T{i}") for i in range(9))]
    moving = [pair(1.3), *(pair(transform=f"T{i}", references=1.25) for i in range(9))]
    calm, moved = only(*still), only(*moving)
    assert calm.verdict is Verdict.SLOWER
    assert (moved.verdict, moved.why) == (Verdict.INCONCLUSIVE, Why.UNSURE)
    assert calm.low is not None
    assert moved.low is not None
    assert moved.low < calm.low


def test_the_movement_of_the_machine_is_told() -> None:
    _, movement = changes([pair(references=1.1), pair(transform="Pad", references=1.2)], Rules())
    assert movement.typical == pytest.approx(math.exp(math.sqrt((math.log(1.1) ** 2 + math.log(1.2) ** 2) / 2)))
    assert movement.largest == pytest.approx(1.2)
    assert movement.noop == pytest.approx((1 / 1.1 + 1 / 1.2) / 2)
    assert movement.num_cells == 2


def test_speeds_before_and_after_are_those_of_the_tables() -> None:
    found = pair(1.3, noise=0.2)
    change = only(found)
    assert change.base_sec == summarize([block.sample() for block in found.base[0]]).median_sec
    assert change.new_sec == summarize([block.sample() for block in found.new[0]]).median_sec


@pytest.mark.parametrize("processes", [1, 2])
def test_too_few_processes_have_no_interval_and_no_verdict(processes: int) -> None:
    change = only(pair(3.0, processes=processes))
    assert (change.low, change.high, change.why) == (None, None, Why.FEW_PROCESSES)


def test_an_unstable_cell_is_not_called_however_large_the_change() -> None:
    change = only(pair(4.0, noise=0.2, processes=10))
    assert change.why is Why.UNSTABLE
    assert change.cv is not None
    assert change.cv > 0.1


def test_what_every_library_did_is_the_machine_and_what_one_did_is_not() -> None:
    other = msgspec.structs.replace(pair(1.3), key=key(library="mole"))
    still = msgspec.structs.replace(pair(1.0, transform="Pad"), key=key("Pad", library="mole"))
    assert only(pair(1.3), other).verdict is Verdict.INCONCLUSIVE
    assert only(pair(1.3), still).verdict is Verdict.SLOWER
    away = msgspec.structs.replace(pair(1 / 1.3), key=key(library="mole"))
    assert only(pair(1.3), away).verdict is Verdict.SLOWER
    _, movement = changes([pair(1.3), other], Rules())
    assert movement.shared == pytest.approx(1.3, rel=0.05)


def test_the_number_of_cells_is_accounted_for() -> None:
    one, many = pair(1.09, noise=0.05, processes=10), [pair(transform=f"T{i}", noise=0.05) for i in range(60)]
    rules = Rules(false_calls=0.04)
    assert only(one, rules=rules).verdict is Verdict.SLOWER
    assert only(one, *many, rules=rules).why is Why.UNSURE


def test_many_true_improvements_do_not_make_a_regression_more_likely() -> None:
    one, better = pair(1.09, noise=0.05, processes=10), [pair(1 / 2, transform=f"T{i}") for i in range(60)]
    found = judged(one, *better, rules=Rules(false_calls=0.04))
    assert found[0].why is Why.UNSURE
    assert all(change.verdict is Verdict.FASTER for change in found[1:])


def beside(found: Pair, base: float, new: float) -> Pair:
    """The same with a control, whose times are those of the cell times these factors."""

    def times(factor: float) -> tuple[tuple[Block, ...], ...]:
        return (tuple(scaled(block, factor) for block in blocks(1e-3, "control", references=1.0, noise=0.01)),)

    return msgspec.structs.replace(found, control="mole", base_control=times(base), new_control=times(new))


def scaled(block: Block, factor: float) -> Block:
    return msgspec.structs.replace(block, values_sec=tuple(sec * factor for sec in block.values_sec))


def test_a_control_takes_out_what_the_machine_did_to_both() -> None:
    rules = Rules(control="mole")
    assert only(pair(1.5), rules=rules).verdict is Verdict.SLOWER
    change = only(beside(pair(1.5), 1.0, 1.5), rules=rules)
    assert (change.verdict, change.why) == (Verdict.INCONCLUSIVE, Why.SMALL)
    assert change.ratio == pytest.approx(1.0, abs=0.03)
    assert change.new_sec / change.base_sec == pytest.approx(1.5, rel=0.05)


def test_a_change_that_the_machine_hid_is_seen_beside_a_control() -> None:
    assert only(pair(1.0)).why is Why.SMALL
    change = only(beside(pair(1.0), 1.0, 1 / 1.3), rules=Rules(control="mole"))
    assert change.verdict is Verdict.SLOWER
    assert change.ratio == pytest.approx(1 / 1.3, rel=0.03)


def test_an_unstable_cell_is_judged_beside_a_control() -> None:
    base, new = blocks(1e-3, "b", noise=0.2, processes=10), blocks(3e-3, "n", noise=0.2, processes=10)
    steady = blocks(1e-3, "c", noise=0.001, processes=10)
    alone = Pair(key(), (base,), (new,))
    control = msgspec.structs.replace(alone, control="mole", base_control=(steady,), new_control=(steady,))
    assert only(alone).why is Why.UNSTABLE
    assert only(control).verdict is Verdict.SLOWER


def test_a_burst_that_hits_whole_rounds_of_both_makes_nothing_unstable_beside_a_control() -> None:
    base, new = pair().base[0], pair().new[0]
    bursts = [tuple(scaled(block, 1.0 + block.round) for block in found) for found in (base, new)]
    wild = Pair(key(), (bursts[0],), (bursts[1],))
    assert only(wild).cv == pytest.approx(0.5, abs=0.1)
    calm = msgspec.structs.replace(wild, control="mole", base_control=(bursts[0],), new_control=(bursts[1],))
    assert only(calm).cv == pytest.approx(0.0, abs=1e-9)


def test_the_control_itself_is_not_judged() -> None:
    change = only(pair(2.0), rules=Rules(control="ant"))
    assert (change.verdict, change.why) == (Verdict.INCONCLUSIVE, Why.CONTROL)


def test_repeated_runs_of_one_side_that_differ_show_the_movement_too() -> None:
    base = (blocks(1e-3, 1, references=1.0), blocks(1.5e-3, 2, references=1.0))
    new = (blocks(1.6e-3, 3, references=1.0), blocks(1.6e-3, 4, references=1.0))
    change = only(Pair(key(), base, new))
    assert change.moved == pytest.approx(1.5, rel=0.05)
    assert change.why is Why.MACHINE


def test_nothing_to_judge_is_no_error() -> None:
    assert judge([], Rules()) == []
