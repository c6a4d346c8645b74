"""Every model of a table against the best of each metric, on the structures that both scored."""

from collections.abc import Mapping
from itertools import combinations

import msgspec
import numpy as np
from bench_core import metrics, paired, policy
from bench_core.draws import Draws
from bench_core.metrics import Floats, Ints
from bench_core.paired import Difference
from bench_core.ranking import contenders, leader
from bench_core.scores import Predictions

from bench_report.scores.sections import Entry, Metric, ScoreSection


class Pair(msgspec.Struct, frozen=True):
    """One model and one metric: the model minus the best, in the column's unit; or the reason why there is none."""

    best: str
    found: Difference | None
    p_adjusted: float | None = None  # for every pair of the column that could have been shown, see `paired`
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
    losses: dict[Metric, dict[str, Floats]] = {metric: {} for metric in leaders if metric.name in paired.TESTED}
    for entry in section.entries:  # one model's predictions at a time: they may be large
        own = best.get(entry.label) or (entry.predictions() if entry.result.scores else None)
        for metric, label in leaders.items():
            score = entry.score(metric)
            if own is None or score is None or score.value is None:
                continue
            if metric in losses:
                losses[metric][entry.label] = paired.loss_by_structure(metric.name, own, metric.target, len(groups))
            if label != entry.label:
                found[entry.label, metric] = _pair(entry, metric, own, label, best[label], groups, draws)
    for metric, of_models in losses.items():
        found |= _adjusted(section, metric, found, of_models, groups, draws)
    return found


def _pair(
    entry: Entry, metric: Metric, own: Predictions, label: str, best: Predictions, groups: Ints, draws: Draws
) -> Pair:
    score = entry.result.scores[metric.column]
    one, other, num_structures = paired.align(own, best, metric.target, groups)
    if not num_structures:
        return Pair(label, None, reason=f"{entry.label} and {label} scored no structure in common")
    why = paired.why_not_comparable(one, other)
    if why:
        return Pair(label, None, reason=f"{entry.label} and {label} cannot be compared in pairs: {why}")
    found = paired.difference(metric.name, metrics.built_in(metric.name), one, other, num_structures, draws)
    return Pair(label, paired.scaled(found, score.factor))


def _adjusted(
    section: ScoreSection, metric: Metric, found: Pairs, losses: Mapping[str, Floats], groups: Ints, draws: Draws
) -> Pairs:
    """The tested pairs of a column, with p-values adjusted for every pair that could have been shown."""
    tested = {
        label: pair
        for (label, of), pair in found.items()
        if of == metric and pair.found and pair.found.p_value is not None
    }
    if not tested:
        return {}
    best = next(iter(tested.values())).best
    able = set(contenders(section.having(metric), metric.column))
    asked = [pair for pair in combinations((best, *tested), 2) if able & set(pair)]
    differences = [paired.difference_by_group(losses[one], losses[other], groups) for one, other in asked]
    adjusted = dict(zip(asked, paired.max_flip_p(np.stack(differences, axis=1), draws.flips).tolist(), strict=True))
    return {
        (label, metric): msgspec.structs.replace(pair, p_adjusted=adjusted[best, label])
        for label, pair in tested.items()
    }
