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

Several models against one are several chances to be wrong: `holm` adjusts their p-values (Holm 1979).
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench_core import policy
from bench_core.metrics import Floats, Ints, Metric, Values, interval, num_groups, resample_weights, value_of
from bench_core.scores import Predictions
from bench_core.seeds import derive_seed

TESTED = frozenset({"mae", "mse", "rmse"})
_CHUNK = 2_000_000  # signs held at once


class Difference(msgspec.Struct, frozen=True):
    """A metric of one model minus that of another, in the unit of the values. Absent ends: too few groups."""

    value: float
    low: float | None
    high: float | None
    p_value: float | None  # not adjusted; None for a metric that is not tested, or too few groups
    num_structures: int
    num_groups: int


class Draws:
    """The resamples and flips of a run's seed. Resamples are kept: over many groups drawing them takes longest."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._weights: dict[int, Ints] = {}

    def weights(self, groups: int) -> Ints:
        """How often each of so many groups is drawn, in each resample: the same as behind the scores' own intervals."""
        if groups not in self._weights:
            self._weights = {groups: resample_weights(groups, derive_seed(self._seed, "bootstrap"))}  # one at a time
        return self._weights[groups]

    @property
    def flips(self) -> int:
        """The seed of flips."""
        return derive_seed(self._seed, "flips")


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


def difference(name: str, metric: Metric, one: Values, other: Values, num_structures: int, draws: Draws) -> Difference:
    """Metric of `one` minus metric of `other`, which are aligned, with interval and p-value.

    Args:
        name: of the metric, which decides whether and how it is tested.
        draws: of the run's seed.
    """
    count = num_groups(one)
    between = None
    p_value = None
    if count >= policy.BOOTSTRAP_LEAST_GROUPS:
        weights = draws.weights(count)
        between = interval(metric(one, weights) - metric(other, weights), policy.CONFIDENCE)
        if name in TESTED:
            p_value = sign_flip_p(loss_by_group(name, one) - loss_by_group(name, other), draws.flips)
    value = value_of(metric, one) - value_of(metric, other)
    low, high = (None, None) if between is None else (min(between[0], value), max(between[1], value))
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


def sign_flip_p(differences: Floats, seed: int) -> float:
    """Two-sided p-value of the sum of `differences`, (groups,), under flips of their signs."""
    differences = differences[differences != 0]  # a flip of zero changes nothing
    groups = len(differences)
    if not groups:
        return 1.0
    observed = abs(float(differences.sum())) - 1e-12 * float(np.abs(differences).sum())  # sums of flips may round
    if 2**groups <= policy.PERMUTATIONS:
        flips = (np.arange(2**groups)[:, None] >> np.arange(groups)) & 1
        return float(np.mean(_extreme(flips, differences, observed)))
    generator = np.random.default_rng(seed)
    extreme = 0
    left = policy.PERMUTATIONS
    while left:
        rows = min(left, max(1, _CHUNK // groups))
        flips = generator.integers(0, 2, (rows, groups), dtype=np.int8)
        extreme += int(_extreme(flips, differences, observed).sum())
        left -= rows
    return (1 + extreme) / (1 + policy.PERMUTATIONS)


def _extreme(flips: NDArray[np.integer], differences: Floats, observed: float) -> NDArray[np.bool_]:
    """(flips,) whether each is as far from zero as what was observed."""
    sums = differences.sum() - 2 * (flips @ differences)
    return np.asarray(np.abs(sums) >= observed)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number, in the same order: the k-th smallest of m times m - k + 1, never falling."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = largest
    return adjusted
