"""The statistics: what a summary, a ratio and a verdict follow from. benchmarks/aa_simulation.py shows how often."""

import math
import random
from collections.abc import Iterable, Sequence

import pytest
from bench_core import policy
from bench_core.statistics import (
    Sample,
    SummaryRules,
    Verdict,
    independent_ratio,
    process_medians,
    speed_ratio,
    summarize,
    t_interval,
    t_quantile,
    welch_interval,
)
from scipy.stats import ttest_ind


def samples(*rounds: tuple[float, ...], blocks: int = 2) -> list[Sample]:
    """One process per argument, its values dealt out to its blocks."""
    return [
        Sample(round_, block, values[block::blocks])
        for round_, values in enumerate(rounds)
        for block in range(blocks)
        if values[block::blocks]
    ]


def around(sec: float, *factors: float) -> list[Sample]:
    """One process per factor, two blocks of one value each."""
    return samples(*[(sec * factor, sec * factor) for factor in factors])


def turns(processes: Iterable[float], factors: Sequence[float]) -> list[Sample]:
    """One process per seconds, in one block each, with a value for every factor."""
    return [Sample(round_, 0, tuple(sec * factor for factor in factors)) for round_, sec in enumerate(processes)]


def drifting(slots: Sequence[Sequence[int]], drift: float, sec: float) -> list[Sample]:
    """Values of 1 % noise on a machine that slows down by `drift` over 4000 slots, standing where `slots` says."""
    noise = random.Random(f"{sec} {slots}")
    return [
        Sample(round_, 0, tuple(sec * noise.lognormvariate(0, 0.01) * (1 + drift * slot / 4000) for slot in found))
        for round_, found in enumerate(slots)
    ]


FIVE = (0.99, 1.01, 1.0, 0.98, 1.02)


def test_values_of_one_process_are_summarised_by_their_median() -> None:
    assert process_medians(samples((1.0, 2.0, 9.0), (4.0, 4.0))) == {0: 2.0, 1: 4.0}


def test_one_wild_value_in_a_process_does_not_move_its_median() -> None:
    calm, wild = samples((1.0, 1.1, 1.2)), samples((1.0, 1.1, 50.0))
    assert summarize(calm).median_sec == summarize(wild).median_sec


def test_the_median_is_that_of_process_medians_and_not_of_all_values() -> None:
    many_of_one_process = samples((1.0,) * 9, (2.0,), (3.0,))
    assert summarize(many_of_one_process).median_sec == 2.0


def test_the_interval_comes_from_processes_and_more_values_of_the_same_ones_do_not_narrow_it() -> None:
    few, many = samples((1.0,), (1.1,), (1.2,)), samples((1.0,) * 50, (1.1,) * 50, (1.2,) * 50)
    assert summarize(few).low_sec == summarize(many).low_sec
    assert summarize(few).high_sec == summarize(many).high_sec


def test_an_interval_is_students_t_on_logarithms() -> None:
    found = summarize(around(1.0, 0.9, 1.0, 1.1))
    logs = [math.log(0.9), 0.0, math.log(1.1)]
    mean = sum(logs) / 3
    sd = math.sqrt(sum((log - mean) ** 2 for log in logs) / 2)
    assert found.low_sec == pytest.approx(math.exp(mean - 4.302653 * sd / math.sqrt(3)), rel=1e-6)
    assert found.high_sec == pytest.approx(math.exp(mean + 4.302653 * sd / math.sqrt(3)), rel=1e-6)


def test_the_interval_always_holds_the_median() -> None:
    for few, many in ((2.0, 1.0), (0.5, 1.0)):
        lopsided = summarize(around(1.0, *[many] * 5, *[few] * 4))
        assert lopsided.low_sec is not None
        assert lopsided.high_sec is not None
        assert lopsided.low_sec <= lopsided.median_sec <= lopsided.high_sec


def test_one_process_has_a_median_and_no_interval() -> None:
    found = summarize(samples((1.0, 2.0, 3.0)))
    assert (found.median_sec, found.low_sec, found.high_sec, found.cv) == (2.0, None, None, None)
    assert (found.num_processes, found.num_values) == (1, 3)


def test_two_processes_have_no_interval_unless_the_rules_of_their_time_gave_one() -> None:
    two = samples((1.0,), (1.1,))
    assert (summarize(two).low_sec, summarize(two).high_sec) == (None, None)
    then = summarize(two, SummaryRules(confidence=0.9, unstable_cv=0.01, interval_processes=2))
    assert then.low_sec is not None and then.low_sec < 0.9
    assert then.confidence == 0.9
    assert then.unstable
    assert speed_ratio(two, samples((2.0,), (2.1,))).low is None


def test_nothing_measured_is_nothing_to_summarise() -> None:
    with pytest.raises(ValueError, match="no values"):
        summarize([])


def test_processes_that_disagree_are_unstable_and_the_reason_carries_the_numbers() -> None:
    found = summarize(around(1.0, 0.8, 1.0, 1.2))
    assert found.unstable
    assert found.unstable_reason is not None
    assert "20.0%" in found.unstable_reason
    assert "3 processes" in found.unstable_reason


def test_processes_that_agree_are_not_unstable() -> None:
    assert not summarize(around(1.0, *FIVE)).unstable


def test_half_the_time_is_twice_the_speed() -> None:
    assert speed_ratio(around(1.0, *FIVE), around(2.0, *FIVE)).ratio == pytest.approx(2.0)


def test_a_ratio_and_its_inverse_agree() -> None:
    one, other = around(1.0, *FIVE), around(1.3, *reversed(FIVE))
    there, back = speed_ratio(one, other), speed_ratio(other, one)
    assert (there.verdict, back.verdict) == (Verdict.FASTER, Verdict.SLOWER)
    inverse = back.inverse()
    assert (inverse.ratio, inverse.low, inverse.high) == pytest.approx((there.ratio, there.low, there.high))
    assert (inverse.verdict, inverse.paired) == (there.verdict, there.paired)


def test_the_inverse_of_an_undecided_ratio_is_undecided() -> None:
    alone = speed_ratio(around(1.0, 1.0), around(2.0, 1.0)).inverse()
    assert (alone.ratio, alone.low, alone.high) == (0.5, None, None)
    assert alone.verdict is Verdict.INCONCLUSIVE


def test_noise_that_hits_both_libraries_of_a_pair_cancels() -> None:
    shaken = (0.7, 1.3, 1.0, 0.8, 1.5)
    found = speed_ratio(around(1.0, *shaken), around(1.1, *shaken))
    assert found.ratio == pytest.approx(1.1)
    assert found.low == pytest.approx(1.1)
    assert found.verdict is Verdict.FASTER


def test_blocks_that_stand_alone_are_left_out_of_a_paired_ratio() -> None:
    ours = [*around(1.0, *FIVE), Sample(99, 0, (1000.0,))]
    assert speed_ratio(ours, around(2.0, *FIVE)).ratio == pytest.approx(2.0)


def test_values_are_paired_by_turn() -> None:
    ours, base = [Sample(0, 0, (1.0, 4.0, 2.0))], [Sample(0, 0, (1.5, 4.0, 9.0))]
    assert speed_ratio(ours, base).ratio == pytest.approx(1.5)  # of 1.5, 1 and 4.5; medians would make 4 / 2


def test_a_slow_turn_is_slow_for_both_and_cancels() -> None:
    state = (1.0, 1.0, 1.9, 1.9, 1.4)
    found = speed_ratio(turns([1.0] * 4, state), turns([1.1] * 4, state))
    assert (found.ratio, found.low, found.high) == pytest.approx((1.1, 1.1, 1.1))
    assert found.verdict is Verdict.FASTER


@pytest.mark.parametrize("hit", range(5))
def test_a_burst_that_hits_one_value_of_a_pair_does_not_move_the_ratio(hit: int) -> None:
    ours, base = turns(FIVE, (1.0,) * 5), turns(reversed(FIVE), (1.0,) * 5)
    burst = tuple(3.0 if turn == hit else 1.0 for turn in range(5))
    assert speed_ratio(turns(FIVE, burst), base) == speed_ratio(ours, base)
    assert speed_ratio(ours, turns(reversed(FIVE), burst)) == speed_ratio(ours, base)


def test_a_round_counts_once_however_many_turns_it_has() -> None:
    ours = [Sample(0, 0, (1.0,) * 9), Sample(1, 0, (1.0,))]
    base = [Sample(0, 0, (4.0,) * 9), Sample(1, 0, (1.0,))]
    assert speed_ratio(ours, base).ratio == pytest.approx(2.0)


def test_blocks_of_unequal_length_meet_by_their_medians() -> None:
    many, one = [Sample(0, 0, (1.0, 2.0, 50.0))], [Sample(0, 0, (6.0,))]
    assert speed_ratio(many, one).ratio == pytest.approx(3.0)
    assert speed_ratio(one, many).ratio == pytest.approx(1 / 3)


def test_a_linear_drift_flips_no_verdict_where_libraries_take_turns() -> None:
    order = random.Random(1)
    places = [order.sample(range(4), 2) for _ in range(10)]  # of two libraries among four, constant within a round
    firsts = [400 * round_ + 20 * order.randrange(20) for round_ in range(10)]  # 20 transforms of 5 turns of 4

    def slots(library: int) -> list[list[int]]:
        starts = [first + place[library] for first, place in zip(firsts, places, strict=True)]
        return [[start + 4 * turn for turn in range(5)] for start in starts]

    for slowdown, verdict in ((1.0, Verdict.INCONCLUSIVE), (1.1, Verdict.FASTER), (1 / 1.1, Verdict.SLOWER)):
        for drift in (0.0, 0.2):
            found = speed_ratio(drifting(slots(0), drift, 1.0), drifting(slots(1), drift, slowdown))
            assert found.verdict is verdict
            assert found.ratio == pytest.approx(slowdown, rel=0.01)

    one_by_one = [[5 * round_ + turn for turn in range(5)] for round_ in range(10)]
    later = [[slot + 2000 for slot in found] for found in one_by_one]
    assert speed_ratio(drifting(one_by_one, 0.2, 1.0), drifting(later, 0.2, 1.0)).verdict is Verdict.FASTER


def test_a_library_against_itself_is_inconclusive() -> None:
    one, other = around(1.0, *FIVE), around(1.0, 1.01, 0.99, 1.02, 1.0, 0.98)
    assert speed_ratio(one, other).verdict is Verdict.INCONCLUSIVE


def test_a_difference_smaller_than_matters_is_inconclusive_however_sure() -> None:
    tiny = 1 + policy.MIN_EFFECT / 2
    assert speed_ratio(around(1.0, *FIVE), around(tiny, *FIVE)).verdict is Verdict.INCONCLUSIVE


def test_one_process_gives_no_verdict() -> None:
    found = speed_ratio(around(1.0, 1.0), around(9.0, 1.0))
    assert (found.ratio, found.low, found.high) == (pytest.approx(9.0), None, None)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_a_verdict_needs_more_certainty_than_the_printed_interval() -> None:
    differing = (1.0, 1.1, 1.2, 1.1, 1.3)
    found = speed_ratio(around(1.0, 1, 1, 1, 1, 1), around(1.0, *differing))
    assert found.low is not None
    assert found.low > 1
    assert policy.VERDICT_CONFIDENCE > policy.CONFIDENCE
    assert found.verdict is Verdict.INCONCLUSIVE


def test_libraries_without_a_common_block_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="beside"):
        speed_ratio([Sample(0, 0, (1.0,))], [Sample(1, 0, (1.0,))])


def test_independent_processes_are_compared_by_welchs_t() -> None:
    one, other = [0.0, 0.1, 0.2], [1.0, 1.4, 1.8, 2.2]
    expected = ttest_ind(other, one, equal_var=False).confidence_interval(0.95)
    assert welch_interval(other, one, 0.95) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_independent_ratios_do_not_depend_on_the_order_of_processes() -> None:
    one, other = around(1.0, *FIVE), around(3.0, *FIVE)
    shuffled = around(3.0, *reversed(FIVE))
    assert independent_ratio(one, other) == independent_ratio(one, shuffled)
    assert independent_ratio(one, other).ratio == pytest.approx(3.0)
    assert not independent_ratio(one, other).paired


def test_between_runs_only_a_factor_beyond_their_scatter_is_a_verdict() -> None:
    ours = around(1.0, *FIVE)
    assert speed_ratio(ours, around(1.5, *FIVE)).verdict is Verdict.FASTER
    assert independent_ratio(ours, around(1.5, *FIVE)).verdict is Verdict.INCONCLUSIVE
    beyond = 1.1 * (1 + policy.UNPAIRED_MIN_EFFECT)
    assert independent_ratio(ours, around(beyond, *FIVE)).verdict is Verdict.FASTER
    assert independent_ratio(around(beyond, *FIVE), ours).verdict is Verdict.SLOWER


def test_independent_ratios_of_one_process_have_no_interval() -> None:
    found = independent_ratio(around(1.0, 1.0), around(5.0, *FIVE))
    assert (found.low, found.high, found.verdict) == (None, None, Verdict.INCONCLUSIVE)


def test_independent_ratios_need_values_on_both_sides() -> None:
    with pytest.raises(ValueError, match="no values"):
        independent_ratio(around(1.0, *FIVE), [])


def test_equal_processes_give_an_interval_without_width() -> None:
    assert welch_interval([1.0] * 3, [0.5] * 3, 0.95) == (0.5, 0.5)
    assert t_interval([0.5, 0.5, 0.5], 0.95) == (0.5, 0.5)


def test_the_quantile_is_students() -> None:
    assert t_quantile(0.95, 4) == pytest.approx(2.776445, rel=1e-6)
    assert t_quantile(0.99, 4) == pytest.approx(4.604095, rel=1e-6)
