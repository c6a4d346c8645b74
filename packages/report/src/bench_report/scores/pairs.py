"""Every model of a table against the best of each metric, on the structures that both scored."""

from collections.abc import Mapping

import msgspec
import numpy as np
from bench_core import metrics, paired, policy
from bench_core.metrics import Ints, Values
from bench_core.paired import Difference, Draws
from bench_core.ranking import leader
from bench_core.scores import Predictions

from bench_report.scores.sections import Entry, Metric, ScoreSection


class Pair(msgspec.Struct, frozen=True):
    """One model and one metric: the model minus the best, in the column's unit; or the reason why there is none."""

    best: str
    found: Difference | None
    p_adjusted: float | None = None  # by Holm, over the models of the column
    reason: str | None = None

    @property
    def differs(self) -> bool:
        """Whether chance alone would seldom do it."""
        return self.p_adjusted is not None and self.p_adjusted <= 1 - policy.CONFIDENCE


Pairs = Mapping[tuple[str, Metric], Pair]  # by label and metric; the best itself is not in it


def compare_pairs(section: ScoreSection) -> Pairs:
    """Compare every model that has a value with the best of its column.

    Raises:
        BenchError: predictions of a run are damaged or not what was committed.
    """
    leaders = {metric: first for metric in section.metrics if (first := leader(section.having(metric), metric.column))}
    best = {entry.label: entry.predictions() for entry in section.entries if entry.label in leaders.values()}
    if not best:
        return {}
    groups = section.structures().groups
    draws = Draws(section.entries[0].result.seed)
    found: dict[tuple[str, Metric], Pair] = {}
    for entry in section.entries:  # one model's predictions at a time: they may be large
        own = best.get(entry.label) or (entry.predictions() if entry.result.scores else None)
        for metric, label in leaders.items():
            score = entry.score(metric)
            if own is not None and label != entry.label and score and score.value is not None:
                found[entry.label, metric] = _pair(entry, metric, own, label, best[label], groups, draws)
    return _adjusted(found)


def _pair(
    entry: Entry, metric: Metric, own: Predictions, label: str, best: Predictions, groups: Ints, draws: Draws
) -> Pair:
    score = entry.result.scores[metric.column]
    if not metrics.is_built_in(metric.name):
        return Pair(label, None, reason="a metric of one's own is not compared in pairs: its function is not here")
    one, other, num_structures = paired.align(own, best, metric.target, groups)
    if not num_structures:
        return Pair(label, None, reason=f"{entry.label} and {label} scored no structure in common")
    if not _alike(one, other):
        return Pair(label, None, reason=f"{entry.label} and {label} were not compared with the same values")
    found = paired.difference(metric.name, metrics.built_in(metric.name), one, other, num_structures, draws)
    return Pair(label, paired.scaled(found, score.factor))


def _alike(one: Values, other: Values) -> bool:
    """Whether they are as many. References may differ: a zero that is fitted depends on what a model scored."""
    return len(one.reference) == len(other.reference) and bool(np.isfinite(other.predicted).all())


def _adjusted(found: Mapping[tuple[str, Metric], Pair]) -> Pairs:
    """The same with p-values adjusted within each column."""
    adjusted = dict(found)
    for metric in dict.fromkeys(metric for _, metric in found):
        tested = {
            key: pair.found.p_value
            for key, pair in found.items()
            if key[1] == metric and pair.found and pair.found.p_value is not None
        }
        for key, p_value in zip(tested, paired.holm(list(tested.values())), strict=True):
            adjusted[key] = msgspec.structs.replace(found[key], p_adjusted=p_value)
    return adjusted
