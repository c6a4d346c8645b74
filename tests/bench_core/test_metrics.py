"""Metrics by hand, and what their intervals cover."""

import numpy as np
import pytest
from bench_core import metrics, policy
from bench_core.metrics import Values


def values(reference: list[float], predicted: list[float], group: list[int] | None = None) -> Values:
    number = np.arange(len(reference)) if group is None else np.array(group)
    return Values(np.array(reference), np.array(predicted), number.astype(np.int64))


SMALL = values([0.0, 1.0, 2.0, 5.0], [0.5, 1.0, 1.0, 7.0])  # errors 0.5, 0, -1, 2


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mae", 3.5 / 4),
        ("mse", 5.25 / 4),
        ("rmse", (5.25 / 4) ** 0.5),
        ("r2", 1 - 5.25 / (4 + 1 + 0 + 9)),  # about the mean, 2
        ("max_abs", 2.0),
        ("q25", 0.0),
        ("q26", 0.5),
        ("q50", 0.5),
        ("q75", 1.0),
        ("q99.9", 2.0),
    ],
)
def test_a_metric_is_what_one_finds_by_hand(name: str, expected: float) -> None:
    assert metrics.value_of(metrics.built_in(name), SMALL) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("name", "expected"), [("mae", 0), ("mse", 0), ("rmse", 0), ("r2", 1), ("max_abs", 0)])
def test_a_perfect_prediction_has_no_error(name: str, expected: float) -> None:
    same = values([-3.0, 0.25, 9.0], [-3.0, 0.25, 9.0])
    assert metrics.value_of(metrics.built_in(name), same) == expected


@pytest.mark.parametrize("name", ["mae", "mse", "rmse", "r2", "max_abs", "q60"])
def test_a_group_drawn_twice_counts_as_its_values_written_twice(name: str) -> None:
    grouped = values([0.0, 1.0, 2.0, 5.0], [0.5, 1.0, 1.0, 7.0], [0, 0, 1, 2])
    drawn = metrics.built_in(name)(grouped, np.array([[2, 1, 0]]))
    written = values([0.0, 1.0, 0.0, 1.0, 2.0], [0.5, 1.0, 0.5, 1.0, 1.0])
    assert drawn[0] == pytest.approx(metrics.value_of(metrics.built_in(name), written), rel=1e-12)


@pytest.mark.parametrize("name", ["mae", "mse", "rmse", "r2", "max_abs", "q90"])
def test_a_metric_of_ones_own_and_the_built_in_one_agree_in_every_resample(name: str) -> None:
    generator = np.random.default_rng(3)
    some = Values(generator.normal(size=60), generator.normal(size=60), np.repeat(np.arange(12), 5))
    weights = metrics.resample_weights(12, 5)[:200]
    by_hand = {
        "mae": lambda r, p: np.abs(p - r).mean(),
        "mse": lambda r, p: ((p - r) ** 2).mean(),
        "rmse": lambda r, p: ((p - r) ** 2).mean() ** 0.5,
        "r2": lambda r, p: 1 - ((p - r) ** 2).sum() / ((r - r.mean()) ** 2).sum(),
        "max_abs": lambda r, p: np.abs(p - r).max(),
        "q90": lambda r, p: np.quantile(np.abs(p - r), 0.9, method="inverted_cdf"),
    }
    own = metrics.custom(by_hand[name])(some, weights)
    assert metrics.built_in(name)(some, weights) == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize("share", range(1, 100))
def test_a_quantile_of_a_hundred_values_is_the_one_of_its_number(share: int) -> None:
    errors = [float(number) for number in range(1, 101)]
    assert metrics.value_of(metrics.built_in(f"q{share}"), values([0.0] * 100, errors)) == share


@pytest.mark.parametrize("shift", [0.0, 1e7])
def test_r2_of_large_energies_is_that_of_small_ones(shift: float) -> None:
    moved = values([value + shift for value in SMALL.reference], [value + shift for value in SMALL.predicted])
    assert metrics.value_of(metrics.built_in("r2"), moved) == pytest.approx(1 - 5.25 / 14, rel=1e-6)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 / 7])
def test_r2_of_values_that_are_all_equal_is_none_whatever_their_rounding(value: float) -> None:
    for divided in (1, 3):
        reference = [value, divided * value / divided, 7 * value / 7]
        assert not np.isfinite(metrics.value_of(metrics.built_in("r2"), values(reference, [1.0, 2.0, 3.0])))


def test_no_groups_are_drawn_from_none() -> None:
    assert metrics.resample_weights(0, 1).shape == (policy.BOOTSTRAP_RESAMPLES, 0)


@pytest.mark.parametrize("name", ["q0", "q00", "q0.0", "q100", "q-5", "q", "qq", "MAE", "mae ", "", "median"])
def test_a_name_that_is_no_metric_is_none(name: str) -> None:
    assert not metrics.is_built_in(name)
    with pytest.raises(KeyError):
        metrics.built_in(name)


def test_order_changes_nothing() -> None:
    generator = np.random.default_rng(4)
    some = Values(generator.normal(size=50), generator.normal(size=50), np.repeat(np.arange(10), 5))
    order = generator.permutation(50)
    other = Values(some.reference[order], some.predicted[order], some.group[order])
    weights = metrics.resample_weights(10, 0)[:50]
    for name in ("mae", "rmse", "r2", "max_abs", "q75"):
        metric = metrics.built_in(name)
        assert metric(some, weights) == pytest.approx(metric(other, weights), rel=1e-12)


def test_the_same_seed_draws_the_same_groups_and_another_seed_others() -> None:
    first = metrics.resample_weights(7, 1)
    assert np.array_equal(first, metrics.resample_weights(7, 1))
    assert not np.array_equal(first, metrics.resample_weights(7, 2))
    assert first.shape == (policy.BOOTSTRAP_RESAMPLES, 7)
    assert (first.sum(axis=1) == 7).all()


def test_an_interval_covers_the_truth_as_often_as_it_says_though_values_of_a_group_err_together() -> None:
    """Groups of ten values with a common error: the mean absolute error of the population is 2/sqrt(pi)."""
    generator = np.random.default_rng(2026)
    truth, metric, inside, alone = 2 / np.pi**0.5, metrics.built_in("mae"), 0, 0
    group = np.repeat(np.arange(60), 10)
    weights, one_by_one = metrics.resample_weights(60, 0), metrics.resample_weights(600, 0)[:200]
    for _ in range(300):
        error = generator.normal(size=60)[group] + generator.normal(size=600)
        found = metrics.interval(metric(Values(np.zeros(600), error, group), weights), 0.95)
        each = metrics.interval(metric(Values(np.zeros(600), error, np.arange(600)), one_by_one), 0.95)
        assert found is not None
        assert each is not None
        inside += found[0] <= truth <= found[1]
        alone += each[0] <= truth <= each[1]
    assert 0.90 <= inside / 300 <= 0.98
    assert alone / 300 < 0.85  # what values drawn one by one would promise, and not keep


def test_an_interval_of_what_is_not_always_a_number_is_none() -> None:
    assert metrics.interval(np.array([1.0, np.nan, 2.0]), 0.95) is None
    assert metrics.interval(np.array([]), 0.95) is None
    assert metrics.interval(np.arange(101.0), 0.9) == pytest.approx((5, 95))


def test_many_values_get_fewer_resamples_and_never_fewer_than_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = metrics.resample_weights(4, 0)
    assert len(metrics.built_in("q50")(SMALL, weights)) == policy.BOOTSTRAP_RESAMPLES
    monkeypatch.setattr(policy, "BOOTSTRAP_VALUES", 4)
    assert len(metrics.built_in("q50")(SMALL, weights)) == policy.BOOTSTRAP_LEAST
    assert len(metrics.built_in("mae")(SMALL, weights)) == policy.BOOTSTRAP_RESAMPLES
