"""Two models on the structures that both scored: by how much a metric differs, and whether chance alone would do it.

The unit is the group of structures, as for every interval of a score (see `metrics`): groups are drawn again, the
same ones for both models, and the difference of the metric is taken in each draw. That is the paired percentile
bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 10 and 13).

The test flips signs. Were the two models alike, then in each group either could have made either's errors, and the
group's difference of loss d_g would be as likely as -d_g. The statistic is |sum of d_g|; its distribution under
flips of every group's sign gives the p-value (Fisher, The Design of Experiments, 1935, section 21). Where few groups
allow it all 2^G flips are taken, and the p-value is exact; else policy.PERMUTATIONS random ones, with the observed
one counted among them: p = (1 + as extreme) / (1 + all), which never is 0 (Phipson and Smyth 2010, Permutation
P-values Should Never Be Zero, equation 2). The loss is |error| for mae and error^2 for mse. For rmse the test is that
of mse: a flip keeps the sum of both models' mse, so the difference of roots grows with the difference of squares.

Several comparisons are several chances to be wrong. Of changes that are named before anybody looks, `holm` adjusts the
p-values (Holm 1979). In a table the model that the others are compared with is the one whose value came out best, so
any pair could have been shown: of k models that are alike, the best and the worst differ by more than two that were
named before. There the signs of a group are flipped for all pairs at once, and a p-value is the share of flips in which
the largest of all pairs' sums reaches what was observed, each sum divided by the root of its sum of squares (the
single-step maximum of Westfall and Young, Resampling-Based Multiple Testing, 1993, chapter 2). One pair alone keeps
the p-value it has.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench_core import policy
from bench_core.draws import Draws
from bench_core.metrics import Floats, Ints, Metric, Values, interval_around, num_groups, value_of
from bench_core.scores import Predictions

TESTED = frozenset({"mae", "mse", "rmse"})
SAME_LABEL = 1e-6  # of the largest label, or of 1 eV: fits of the same labels on two machines agree far better
_CHUNK = 2_000_000  # signs held at once


class Difference(msgspec.Struct, frozen=True):
    """A metric of one model minus that of another, in the unit of the values. Absent ends: too few groups."""

    value: float
    low: float | None
    high: float | None
    p_value: float | None  # not adjusted; None for a metric that is not tested, or too few groups
    num_structures: int
    num_groups: int


def align(one: Predictions, other: Predictions, target: str, groups: Ints) -> tuple[Values, Values, int]:
    """The values of a target on the structures that both have, with the same dense group numbers, and their number.

    Args:
        groups: (num_structures,) the group of every structure of the dataset.
    """
    structures = [predictions.structures[target] for predictions in (one, other)]
    common = np.intersect1d(structures[0], structures[1])
    kept = [np.isin(found, common) for found in structures]
    _, dense = np.unique(groups[structures[0][kept[0]]], return_inverse=True)
    values = [
        Values(predictions.values[target][0][mask], predictions.values[target][1][mask], dense.astype(np.int64))
        for predictions, mask in zip((one, other), kept, strict=True)
    ]
    return values[0], values[1], len(common)


def why_not_comparable(one: Values, other: Values) -> str | None:
    """Why two aligned models were not compared with the same labels; None where they were.

    A zero of energy that is fitted to what a model scored, or is a mean over it, is another for models that scored
    different structures: labels that both have then differ, and errors are left over from different fits.
    """
    if len(one.reference) != len(other.reference):
        return "they were not compared with the same values"
    size = np.abs(one.reference).max(initial=0.0)
    if not np.allclose(one.reference, other.reference, rtol=0, atol=SAME_LABEL * max(size, 1.0)):
        return "their zeros differ, as each is taken from the structures that the model itself scored"
    return None


def difference(name: str, metric: Metric, one: Values, other: Values, num_structures: int, draws: Draws) -> Difference:
    """Metric of `one` minus metric of `other`, which are aligned, with interval and p-value.

    Args:
        name: of the metric, which decides whether and how it is tested.
        draws: of the run's seed.
    """
    count = num_groups(one)
    value = value_of(metric, one) - value_of(metric, other)
    between = None
    p_value = None
    if count >= policy.BOOTSTRAP_LEAST_GROUPS:
        weights = draws.weights(count)
        between = interval_around(value, metric(one, weights) - metric(other, weights), policy.CONFIDENCE)
        if name in TESTED:
            p_value = sign_flip_p(loss_by_group(name, one) - loss_by_group(name, other), draws.flips)
    low, high = between or (None, None)
    return Difference(value, low, high, p_value, num_structures, count)


def scaled(found: Difference, factor: float) -> Difference:
    """The same in another unit."""
    low, high = (None if end is None else end * factor for end in (found.low, found.high))
    return msgspec.structs.replace(found, value=found.value * factor, low=low, high=high)


def loss_by_group(metric: str, values: Values) -> Floats:
    """(groups,) sums of what `metric` averages: absolute errors for mae, squares for mse and rmse."""
    error = values.predicted - values.reference
    loss = np.abs(error) if metric == "mae" else error**2
    return np.bincount(values.group, weights=loss, minlength=num_groups(values)).astype(np.float64)


def loss_by_structure(metric: str, predictions: Predictions, target: str, num_structures: int) -> Floats:
    """(num_structures,) the same sums by structure, NaN where there is no prediction of it."""
    reference, predicted = predictions.values[target]
    structure = predictions.structures[target]
    values = Values(reference, predicted, structure)
    loss = np.full(num_structures, np.nan)
    there = np.unique(structure)
    loss[there] = loss_by_group(metric, values)[there]
    return loss


def difference_by_group(one: Floats, other: Floats, groups: Ints) -> Floats:
    """(groups,) sums of the differences of two losses by structure, over the structures that both have."""
    between = one - other
    sums: Floats = np.bincount(groups, weights=np.where(np.isfinite(between), between, 0.0)).astype(np.float64)
    return sums


def sign_flip_p(differences: Floats, seed: int) -> float:
    """Two-sided p-value of the sum of `differences`, (groups,), under flips of their signs."""
    return float(max_flip_p(differences[:, np.newaxis], seed)[0])


def max_flip_p(differences: Floats, seed: int) -> Floats:
    """(pairs,) two-sided p-values of the sums of `differences`, (groups, pairs), adjusted for looking at all of them.

    A group that a pair does not have is 0. A sum counts in units of the root of its sum of squares, which flips keep.
    """
    differences = differences[(differences != 0).any(axis=1)]  # a flip of zero changes nothing
    groups, pairs = differences.shape
    if not groups:
        return np.ones(pairs)
    size = np.sqrt((differences**2).sum(axis=0))
    scaled_down = np.divide(differences, size, out=np.zeros_like(differences), where=size > 0)
    rounding = 1e-12 * np.abs(scaled_down).sum(axis=0)  # sums of flips may round
    observed = np.abs(scaled_down.sum(axis=0)) - rounding
    if 2**groups <= policy.PERMUTATIONS:
        flips = (np.arange(2**groups)[:, None] >> np.arange(groups)) & 1
        exact: Floats = _num_extreme(flips, scaled_down, observed) / 2**groups
        return exact
    generator = np.random.default_rng(seed)
    extreme = np.zeros(pairs)
    left = policy.PERMUTATIONS
    while left:
        rows = min(left, max(1, _CHUNK // groups))
        flips = generator.integers(0, 2, (rows, groups), dtype=np.int8)
        extreme += _num_extreme(flips, scaled_down, observed)
        left -= rows
    return (1 + extreme) / (1 + policy.PERMUTATIONS)


def _num_extreme(flips: NDArray[np.integer], differences: Floats, observed: Floats) -> Floats:
    """(pairs,) in how many flips the pair that is then farthest from zero is as far as each was observed to be."""
    farthest = np.abs(differences.sum(axis=0) - 2 * (flips @ differences)).max(axis=1)
    reached: Floats = (farthest[:, np.newaxis] >= observed).sum(axis=0).astype(np.float64)
    return reached


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number, in the same order: the k-th smallest of m times m - k + 1, never falling."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = largest
    return adjusted
