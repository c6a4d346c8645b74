"""Scores of one set of runs against another: which models became worse or better, on the structures both scored.

A model's two sets of predictions are compared as two models of one table are: in pairs (`bench_core.paired`).
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec
from bench_core import metrics, paired, policy
from bench_core.bundle import Bundle
from bench_core.draws import Draws
from bench_core.errors import BenchError, ExitCode
from bench_core.paired import Difference
from bench_core.ranking import sign_of
from bench_core.results import Status
from bench_core.scores import Score

from bench_report.scores.conditions import OF_ERRORS
from bench_report.scores.sections import Entry, Metric, ScoreSection, score_sections
from bench_report.table import short

FINGERPRINT_DIGITS = 12


class Verdict(StrEnum):
    WORSE = "worse"
    BETTER = "better"
    SAME = "the same"  # to the last digit
    INCONCLUSIVE = "inconclusive"


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """When a change of a score is called one."""

    min_effect: float = policy.RUN_MIN_EFFECT  # of the score in BASE
    false_calls: float = policy.RUN_FALSE_CALLS  # what an adjusted p-value may be


class Key(msgspec.Struct, frozen=True, order=True):
    """What is compared with itself, run after run."""

    dataset: str
    device: str
    fingerprint: str
    model: str

    @property
    def table(self) -> str:
        return f"{self.dataset}, scores, {self.device}, fingerprint {self.fingerprint[:FINGERPRINT_DIGITS]}"


class ScoreChange(msgspec.Struct, frozen=True, kw_only=True):
    """One score on both sides. `found` is NEW minus BASE in the metric's unit, None where there is no pair."""

    key: Key
    metric: Metric
    base: Score
    new: Score
    found: Difference | None
    p_adjusted: float | None = None
    verdict: Verdict = Verdict.INCONCLUSIVE
    why: str | None = None  # of what is inconclusive


class ScoreTurn(msgspec.Struct, frozen=True):
    """A model, or one of its scores, that is not what it was. `fails` is whether a gate calls that a regression."""

    key: Key
    told: str
    fails: bool


class ComparedScores(msgspec.Struct, frozen=True, kw_only=True):
    base: tuple[Bundle, ...]
    new: tuple[Bundle, ...]
    rules: Rules
    changes: tuple[ScoreChange, ...]
    turned: tuple[ScoreTurn, ...]
    missing: tuple[Key, ...]  # in BASE only
    added: tuple[Key, ...]  # in NEW only
    mixed: tuple[str, ...]  # conditions that differ and were allowed to
    versions: tuple[str, ...]  # of each model's package and checkpoint, before and after

    def called(self, verdict: Verdict) -> list[ScoreChange]:
        return [change for change in self.changes if change.verdict is verdict]

    @property
    def regressed(self) -> bool:
        return bool(self.called(Verdict.WORSE)) or any(turn.fails for turn in self.turned)


def compare_scores(
    base: Sequence[Bundle], new: Sequence[Bundle], rules: Rules, *, allow_mixed: bool = False
) -> ComparedScores:
    """Compare every score that both sides have.

    Raises:
        BenchError: the runs share no dataset, or scored it under different conditions and that is not allowed.
    """
    before, after = _entries(base), _entries(new)
    both = [key for key in before if key in after]
    if not both:
        raise BenchError(_nothing(before, after), ExitCode.NOTHING_COMPARABLE)
    mixed = tuple(told for key in both for told in conditions_differ(before[key][1], after[key][1]))
    if mixed and not allow_mixed:
        raise BenchError(
            f"the runs were scored under different conditions, so a change cannot be put down to a model: "
            f"{'. '.join(mixed)}. Score again under the same conditions, or let --allow-mixed compare them",
            ExitCode.NOTHING_COMPARABLE,
        )
    found = [change for key in both for change in changes(key, before[key], after[key])]
    return ComparedScores(
        base=tuple(base),
        new=tuple(new),
        rules=rules,
        changes=judge(found, rules),
        turned=tuple(turn for key in both for turn in _turns(key, before[key][1], after[key][1])),
        missing=tuple(key for key in before if key not in after),
        added=tuple(key for key in after if key not in before),
        mixed=mixed,
        versions=tuple(_version(key, before[key][1], after[key][1]) for key in both),
    )


def _entries(bundles: Sequence[Bundle]) -> dict[Key, tuple[ScoreSection, Entry]]:
    return {key_of(entry): (section, entry) for section in score_sections(bundles) for entry in section.entries}


def key_of(entry: Entry) -> Key:
    result = entry.result
    return Key(result.data.name, result.device, result.data.fingerprint, result.label)


def conditions_differ(base: Entry, new: Entry) -> tuple[str, ...]:
    """Conditions of the errors that two results of a model do not share, in words."""
    asked = ((name, of_result(base.result), of_result(new.result)) for name, of_result in OF_ERRORS.items())
    return tuple(
        f"{name}: {short(str(one))} (run {base.bundle.run_id}), {short(str(other))} (run {new.bundle.run_id})"
        f"; of {short(base.label)}"
        for name, one, other in asked
        if one != other
    )


def changes(key: Key, base: tuple[ScoreSection, Entry], new: tuple[ScoreSection, Entry]) -> Iterator[ScoreChange]:
    """Every metric with a value on both sides, not judged yet.

    Raises:
        BenchError: predictions of a run are damaged or not what was committed.
    """
    (section, before), (_, after) = base, new
    shared = [metric for metric in section.metrics if _value(before, metric) and _value(after, metric)]
    if not shared:
        return
    groups = section.structures().groups
    old, now = before.predictions(), after.predictions()
    draws = Draws(after.result.seed)
    for metric in shared:
        score = before.result.scores[metric.column]
        found, why = None, None
        if metrics.is_built_in(metric.name):
            one, other, count = paired.align(now, old, metric.target, groups)
            why = paired.why_not_comparable(one, other)
            if count and not why:
                found = paired.difference(metric.name, metrics.built_in(metric.name), one, other, count, draws)
                found = paired.scaled(found, score.factor)
        new_score = after.result.scores[metric.column]
        yield ScoreChange(key=key, metric=metric, base=score, new=new_score, found=found, why=why)


def judge(found: Sequence[ScoreChange], rules: Rules) -> tuple[ScoreChange, ...]:
    """Verdicts over all changes together: p-values are adjusted for their number (Holm 1979)."""
    tested = [(i, c.found.p_value) for i, c in enumerate(found) if c.found and c.found.p_value is not None]
    adjusted = dict(zip([i for i, _ in tested], paired.holm([p for _, p in tested]), strict=True))
    return tuple(_judged(change, adjusted.get(i), rules) for i, change in enumerate(found))


def _judged(change: ScoreChange, p_adjusted: float | None, rules: Rules) -> ScoreChange:
    verdict, why = _verdict(change, p_adjusted, rules)
    return msgspec.structs.replace(change, p_adjusted=p_adjusted, verdict=verdict, why=why)


def _verdict(change: ScoreChange, p_adjusted: float | None, rules: Rules) -> tuple[Verdict, str | None]:
    found = change.found
    if found is None:
        why = change.why or "a metric of one's own, or nothing in common"
        return Verdict.INCONCLUSIVE, f"{why}: not compared in pairs"
    if found.value == 0 and found.low in (None, 0.0) and found.high in (None, 0.0):
        return Verdict.SAME, None
    if found.low is None or found.high is None:
        return Verdict.INCONCLUSIVE, f"fewer than {policy.BOOTSTRAP_LEAST_GROUPS} groups: no interval"
    if abs(found.value) < rules.min_effect * abs(change.base.value or 0.0):
        return Verdict.INCONCLUSIVE, "smaller than what is called a change"
    if found.low <= 0 <= found.high or (p_adjusted is not None and p_adjusted > rules.false_calls):
        return Verdict.INCONCLUSIVE, "not sure enough"
    worse = found.value * sign_of(change.metric.name) > 0
    return (Verdict.WORSE if worse else Verdict.BETTER), None


def _value(entry: Entry, metric: Metric) -> bool:
    score = entry.score(metric)
    return score is not None and score.value is not None


def _turns(key: Key, base: Entry, new: Entry) -> Iterator[ScoreTurn]:
    before, after = base.result, new.result
    if before.status is not after.status:
        reason = f": {short(after.reason, 300)}" if after.reason else ""
        fails = before.status is Status.OK
        yield ScoreTurn(key, f"status {before.status} → {after.status}{reason}", fails)
        return
    for column, score in before.scores.items():
        now = after.scores.get(column)
        if score.value is not None and now is not None and now.value is None:
            yield ScoreTurn(key, f"{column} has no value any more: {short(now.reason or '', 300)}", fails=True)
        elif now is not None and score.unit != now.unit:
            yield ScoreTurn(key, f"{column} is in {now.unit} and was in {score.unit}: not compared", fails=False)
    if before.coverage and after.coverage and before.coverage.num_scored != after.coverage.num_scored:
        told = (
            f"{before.coverage.num_scored} → {after.coverage.num_scored} structures scored; compared on those of both"
        )
        yield ScoreTurn(key, told, fails=after.coverage.num_scored < before.coverage.num_scored)


def _version(key: Key, base: Entry, new: Entry) -> str:
    one, other = (
        f"{entry.version or 'version unknown'}, checkpoint {short(entry.result.checkpoint or 'none')}"
        + (f" ({entry.result.checkpoint_sha256[:8]})" if entry.result.checkpoint_sha256 else "")
        for entry in (base, new)
    )
    return f"{short(key.model)}: {one}, the same in both" if one == other else f"{short(key.model)}: {one} → {other}"


def _nothing(before: Mapping[Key, object], after: Mapping[Key, object]) -> str:
    sides = [", ".join(dict.fromkeys(f"{key.table} ({short(key.model)})" for key in side)) for side in (before, after)]
    return f"the runs share no model on the same dataset and device: BASE scored {sides[0]}; NEW scored {sides[1]}"
