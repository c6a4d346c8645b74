"""Errors of predictions against reference values, and their bootstrap over groups of structures.

Values are flat: one number per structure for energies, per component for forces and stress. Each value belongs to a
group (a molecule with its conformations, a crystal with its volumes): groups are what is drawn again, because values
of one group err together. A metric with its resamples comes from the same function, so the two cannot drift apart.
"""

import re
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bench_core import policy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOMENTS = ("mae", "mse", "rmse", "r2")
LARGEST = "max_abs"
ROUNDING = 1e-12  # a spread that is a smaller share of the square it is left of says nothing
BUILT_IN = (*MOMENTS, LARGEST)
_QUANTILE = re.compile(r"q(\d{1,2}(?:\.\d+)?)")


class Values(NamedTuple):
    """What one model said about one target."""

    reference: Floats  # (m,)
    predicted: Floats  # (m,)
    group: Ints  # (m,) index of the group, from 0


class Function(Protocol):
    """A metric of the user's own: one number from reference and predicted values, both of shape (m,)."""

    def __call__(self, reference: Floats, predicted: Floats, /) -> float: ...


Metric = Callable[[Values, Ints], Floats]  # weights (B, groups) -> (B,) values


def is_built_in(name: str) -> bool:
    """Whether `name` is one of BUILT_IN or a quantile of the absolute error, such as q95."""
    return name in BUILT_IN or _share(name) is not None


def built_in(name: str) -> Metric:
    """The metric called `name`.

    Raises:
        KeyError: there is none.
    """
    if name in MOMENTS:
        return _moment(name)
    if name == LARGEST:
        return _largest
    share = _share(name)
    if share is None:
        raise KeyError(name)
    return _quantile(share)


def _share(name: str) -> float | None:
    """0.95 of q95; None for what is no quantile above 0."""
    match = _QUANTILE.fullmatch(name)
    return float(match[1]) / 100 if match is not None and float(match[1]) > 0 else None


def custom(function: Function) -> Metric:
    """A metric of the user's own: every resample is written out, so fewer are made."""

    def metric(values: Values, weights: Ints) -> Floats:
        return np.array([_custom_once(function, values, row) for row in _affordable(values, weights)])

    return metric


def value_of(metric: Metric, values: Values) -> float:
    """The metric itself: every group counts once."""
    return float(metric(values, np.ones((1, num_groups(values)), np.int64))[0])


def num_groups(values: Values) -> int:
    return int(values.group.max()) + 1 if len(values.group) else 0


def resample_weights(groups: int, seed: int) -> Ints:
    """How often each group is drawn in each resample: (policy.BOOTSTRAP_RESAMPLES, groups).

    The same seed gives the same draws, so that two models scored on the same groups are compared in pairs.
    """
    if not groups:
        return np.zeros((policy.BOOTSTRAP_RESAMPLES, 0), np.int64)
    generator = np.random.default_rng(seed)
    return generator.multinomial(groups, np.full(groups, 1 / groups), size=policy.BOOTSTRAP_RESAMPLES)


def interval(resampled: Floats, confidence: float) -> tuple[float, float] | None:
    """Percentile interval of resampled values; None where one of them is not a number (Efron 1979)."""
    if not len(resampled) or not np.isfinite(resampled).all():
        return None
    low, high = np.quantile(resampled, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def interval_around(value: float, resampled: Floats, confidence: float) -> tuple[float, float] | None:
    """The same, and at least as wide as to hold `value`, which few resamples may reach."""
    found = interval(resampled, confidence)
    return None if found is None else (min(found[0], value), max(found[1], value))


def what_intervals_cover(*, grouped: bool) -> str:
    """The sentence that stands with every interval. `grouped` is whether a group may hold several structures."""
    drawn = "groups of structures" if grouped else "structures"
    return (
        f"Intervals ({policy.CONFIDENCE:.0%}) are bootstrap percentiles over {drawn}: what another sample of the same "
        "kind of structures might give. They do not cover errors of the labels, the choice of the data, or training "
        "seeds."
    )


def _moment(name: str) -> Metric:
    """Metrics that follow from sums over groups: resampling them costs a product of matrices."""

    def metric(values: Values, weights: Ints) -> Floats:
        error = values.predicted - values.reference
        count, absolute, square = (_sums(values, of) for of in (np.ones_like(error), np.abs(error), error**2))
        n = weights @ count
        if name == "mae":
            return np.asarray(weights @ absolute / n)
        mse = weights @ square / n
        if name == "r2":
            # About the median of all values: sums of squares of large energies would cancel, and equal ones give 0.
            centred = values.reference - np.median(values.reference)
            first, second = (weights @ _sums(values, of) / n for of in (centred, centred**2))
            spread = second - first**2
            # What rounding alone would spread values of this size by is no spread.
            rounding = (8 * np.finfo(np.float64).eps * np.abs(values.reference).max()) ** 2
            return 1 - mse / np.where(spread > np.maximum(ROUNDING * second, rounding), spread, np.nan)
        return np.asarray(mse if name == "mse" else np.sqrt(mse))

    return metric


def _sums(values: Values, of: Floats) -> Floats:
    sums: Floats = np.bincount(values.group, weights=of, minlength=num_groups(values)).astype(np.float64)
    return sums


def _largest(values: Values, weights: Ints) -> Floats:
    """Largest absolute error. Its interval only reaches down: no resample holds more than the sample does."""
    largest = np.zeros(num_groups(values))
    np.maximum.at(largest, values.group, np.abs(values.predicted - values.reference))
    order = np.argsort(-largest)
    drawn: Floats = largest[order][np.argmax(weights[:, order] > 0, axis=1)]
    return drawn


def _quantile(share: float) -> Metric:
    """The smallest absolute error that at least `share` of the values do not exceed."""

    def metric(values: Values, weights: Ints) -> Floats:
        error = np.abs(values.predicted - values.reference)
        order = np.argsort(error)
        error, group = error[order], values.group[order]

        def once(row: Ints) -> float:
            reached = np.cumsum(row[group])
            # A little less, or 7 % of 100 values would be 7.000000000000001 of them.
            return float(error[np.searchsorted(reached, share * reached[-1] * (1 - ROUNDING))])

        return np.array([once(row) for row in _affordable(values, weights)])

    return metric


def _custom_once(function: Function, values: Values, row: Ints) -> float:
    drawn = np.repeat(np.arange(len(values.group)), row[values.group])
    return float(function(values.reference[drawn], values.predicted[drawn]))


def _affordable(values: Values, weights: Ints) -> Ints:
    """As many resamples as stay within policy.BOOTSTRAP_VALUES values looked at."""
    return weights[: max(policy.BOOTSTRAP_LEAST, policy.BOOTSTRAP_VALUES // max(1, len(values.group)))]
