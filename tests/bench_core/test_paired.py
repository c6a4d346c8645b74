from itertools import combinations

import numpy as np
import pytest
from bench_core import policy
from bench_core.draws import Draws
from bench_core.metrics import Values, built_in
from bench_core.paired import (
    align,
    difference,
    difference_by_group,
    holm,
    loss_by_group,
    loss_by_structure,
    max_flip_p,
    sign_flip_p,
    why_not_comparable,
)
from bench_core.scores import Predictions


def values(errors: list[float], groups: list[int]) -> Values:
    reference = np.arange(len(errors), dtype=float)
    return Values(reference, reference + np.array(errors), np.array(groups))


def predictions(structures: list[int], predicted: list[float]) -> Predictions:
    reference = np.array(structures, dtype=float)
    return Predictions(
        {"energy": (reference, np.array(predicted))}, {"energy": np.array(structures)}, np.zeros(9), np.zeros(9)
    )


def test_of_three_groups_that_agree_two_flips_in_eight_are_as_extreme() -> None:
    assert sign_flip_p(np.array([1.0, 2.0, 3.0]), seed=0) == 2 / 8


def test_flips_are_counted_by_hand_where_groups_disagree() -> None:
    # 3 + 1 - 2 = 2; of the eight sums ±3 ±1 ±2 (6, 4, 2, 2, 0, 0 up to sign: 6 4 2 0, -0 -2 -4 -6) six reach 2.
    assert sign_flip_p(np.array([3.0, 1.0, -2.0]), seed=0) == 6 / 8


def test_models_that_err_alike_are_not_told_apart() -> None:
    assert sign_flip_p(np.zeros(20), seed=0) == 1.0
    one = values([1, -1, 1, -1, 1, -1], [0, 1, 2, 3, 4, 5])
    found = difference("mae", built_in("mae"), one, values([-1, 1, 1, 1, -1, 1], [0, 1, 2, 3, 4, 5]), 6, Draws(1))
    assert (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1.0)


def test_rounding_of_sums_takes_no_flip_for_less_extreme() -> None:
    assert sign_flip_p(np.array([0.1, 0.2, 0.3]), seed=0) == 2 / 8


def test_with_many_groups_the_p_value_is_never_zero_and_the_same_again() -> None:
    differences = np.full(40, 1.0)
    assert sign_flip_p(differences, seed=3) == 1 / (1 + policy.PERMUTATIONS)
    mixed = np.where(np.arange(40) % 3 == 0, -1.0, 1.0) * np.arange(1, 41)
    assert sign_flip_p(mixed, seed=3) == sign_flip_p(mixed, seed=3)


def test_random_flips_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.array([3.0, 1.0, -2.0, 5.0, -1.5, 2.5, 4.0, -0.5, 1.2, 0.3])
    exact = sign_flip_p(differences, seed=0)
    monkeypatch.setattr(policy, "PERMUTATIONS", 1000)  # fewer than 2^10
    assert abs(sign_flip_p(differences, seed=0) - exact) < 0.06  # four standard errors at most


def test_a_difference_of_mean_errors_is_that_of_the_metric_with_its_test() -> None:
    groups = [0, 1, 2, 3, 4]
    found = difference("mae", built_in("mae"), values([3] * 5, groups), values([1] * 5, groups), 5, Draws(1))
    assert (found.value, found.low, found.high) == (2, 2, 2)
    assert found.p_value == 2 / 32
    assert (found.num_structures, found.num_groups) == (5, 5)


def test_the_root_mean_square_is_tested_as_the_mean_square_is() -> None:
    groups = [0, 1, 2, 3, 4, 5]
    one, other = values([4, 1, 1, 1, 1, 1], groups), values([1, 2, 2, 2, 2, 2], groups)
    found = [difference(name, built_in(name), one, other, 6, Draws(1)).p_value for name in ("rmse", "mse", "mae")]
    # Squares differ by 15 and five times -3, which is 0: every flip is as extreme. Absolute errors by 3 and five times
    # -1, which is 2; flips give 0 where one of five stays: 5 of 32.
    assert found == [1.0, 1.0, 27 / 32]


def test_a_metric_without_a_test_has_an_interval_alone() -> None:
    groups = list(range(6))
    found = difference("r2", built_in("r2"), values([0.3] * 6, groups), values([0.1] * 6, groups), 6, Draws(1))
    assert found.p_value is None
    assert found.low is not None


def test_too_few_groups_have_a_difference_without_interval_and_test() -> None:
    found = difference("mae", built_in("mae"), values([3, 3], [0, 1]), values([1, 1], [0, 1]), 2, Draws(1))
    assert (found.value, found.low, found.p_value) == (2, None, None)


def test_losses_are_summed_within_a_group() -> None:
    one = values([1, -2, 3], [0, 0, 1])
    assert loss_by_group("mae", one).tolist() == [3, 3]
    assert loss_by_group("rmse", one).tolist() == [5, 9]


def test_only_structures_that_both_scored_are_compared() -> None:
    groups = np.array([7, 7, 8, 9])
    one, other, count = align(predictions([0, 1, 3], [1, 2, 3]), predictions([1, 2, 3], [4, 5, 6]), "energy", groups)
    assert count == 2
    assert (one.predicted.tolist(), other.predicted.tolist()) == ([2, 3], [4, 6])
    assert one.group.tolist() == other.group.tolist() == [0, 1]


def test_models_without_a_structure_in_common_align_to_nothing() -> None:
    one, _, count = align(predictions([0], [1]), predictions([1], [4]), "energy", np.array([0, 0]))
    assert (count, len(one.reference)) == (0, 0)


def test_labels_that_both_have_and_that_differ_are_not_of_the_same_zero() -> None:
    one, other = values([1, 1, 1], [0, 1, 2]), values([2, 2, 2], [0, 1, 2])
    assert why_not_comparable(one, other) is None
    assert "zeros differ" in (why_not_comparable(one, other._replace(reference=other.reference + 0.001)) or "")
    assert "the same values" in (why_not_comparable(one, values([2, 2], [0, 1])) or "")


def test_holm_multiplies_the_smallest_most_and_never_falls() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_models_that_are_alike_are_called_different_as_rarely_as_promised() -> None:
    """300 pairs of models whose errors have the same distribution, alike within a group: at the 5 % level."""
    draw = np.random.default_rng(20261201)
    groups = np.repeat(np.arange(25), 4)
    called = uncovered = 0
    for _ in range(300):
        one, other = (
            values((draw.normal(size=25)[groups] + 0.3 * draw.normal(size=100)).tolist(), groups.tolist())
            for _ in range(2)
        )
        found = difference("mae", built_in("mae"), one, other, 100, Draws(1))
        assert found.p_value is not None
        assert found.low is not None
        assert found.high is not None
        called += found.p_value <= 0.05
        uncovered += not found.low <= 0 <= found.high
    assert 3 <= called <= 28  # 15 expected; beyond three standard deviations of 3.8 something is wrong
    assert uncovered <= 36  # the percentile bootstrap over 25 groups is known to miss somewhat more than 5 %


def test_pairs_are_adjusted_by_the_largest_sum_of_all_in_each_flip() -> None:
    first, second = np.array([1.0, 1.0, 1.0]), np.array([3.0, 1.0, -2.0])
    assert [sign_flip_p(one, seed=0) for one in (first, second)] == [2 / 8, 6 / 8]
    # The second's sum is 2 over the root of 14: 0.53. In the two flips where it would be 0, with the middle group
    # alone turned, the first's is 1 over the root of 3: 0.58. The first's 1.73 is reached by nothing else.
    assert max_flip_p(np.stack([first, second], axis=1), seed=0).tolist() == [2 / 8, 8 / 8]


def test_a_pair_that_is_equal_everywhere_changes_no_other() -> None:
    mixed = np.array([3.0, 1.0, -2.0])
    found = max_flip_p(np.stack([mixed, np.zeros(3)], axis=1), seed=0)
    assert found.tolist() == [6 / 8, 1.0]


def test_losses_by_structure_are_those_of_its_values_and_none_where_it_has_none() -> None:
    reference = np.zeros(3)
    found = Predictions(
        {"forces": (reference, np.array([1.0, -2.0, 3.0]))}, {"forces": np.array([0, 0, 2])}, np.zeros(3), np.zeros(3)
    )
    assert np.array_equal(loss_by_structure("mae", found, "forces", 4), [3, np.nan, 3, np.nan], equal_nan=True)
    assert np.array_equal(loss_by_structure("mse", found, "forces", 3), [5, np.nan, 9], equal_nan=True)


def test_differences_of_groups_are_over_the_structures_that_both_have() -> None:
    one, other = np.array([1.0, np.nan, 5.0, 7.0]), np.array([0.5, 2.0, np.nan, 4.0])
    assert difference_by_group(one, other, np.array([0, 0, 1, 2])).tolist() == [0.5, 0, 3]


@pytest.mark.parametrize("models", [2, 8])
def test_among_models_that_are_alike_the_best_differs_from_any_as_rarely_as_promised(models: int) -> None:
    """300 columns; the model that the others are compared with is the one with the smallest error."""
    draw = np.random.default_rng(20261201)
    called = 0
    for _ in range(300):
        losses = np.abs(draw.normal(size=(models, 25)))
        best = int(losses.sum(axis=1).argmin())
        pairs = list(combinations(range(models), 2))
        found = max_flip_p(np.stack([losses[one] - losses[other] for one, other in pairs], axis=1), seed=1)
        called += any(p <= 0.05 for p, pair in zip(found, pairs, strict=True) if best in pair)
    assert 3 <= called <= 15 + 3.8 * 2  # 15 expected, with a standard error of 3.8


def test_a_model_that_is_better_is_told_apart_from_seven_others() -> None:
    losses = np.abs(np.random.default_rng(20261201).normal(size=(8, 40)))
    losses[0] *= 0.3
    found = max_flip_p(np.stack([losses[0] - other for other in losses[1:]], axis=1), seed=1)
    assert (found <= 0.05).all()
