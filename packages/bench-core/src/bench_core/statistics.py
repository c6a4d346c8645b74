"""Statistics of timed values: a summary per transform, a ratio with an interval, a verdict of three.

The unit of replication is the worker process: memory placement alone moves a value by 10 % between processes, so
values of one process are summarised by their median first, and intervals come from the variation between processes.
With the three to ten processes of a run a percentile bootstrap covers too seldom (benchmarks/aa.py prints both), so
intervals are Student's t on the logarithm of process medians, or of ratios where libraries were measured in pairs.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from bench_core import policy


class Sample(msgspec.Struct, frozen=True):
    """Values of one block: where it stood and its seconds per item."""

    round: int
    block: int
    values_sec: tuple[float, ...]


class Summary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A transform's seconds per item. The interval is absent when there is only one process."""

    median_sec: float
    low_sec: float | None
    high_sec: float | None
    confidence: float
    cv: float | None
    num_processes: int
    num_values: int
    unstable_reason: str | None

    @property
    def unstable(self) -> bool:
        return self.unstable_reason is not None


class Verdict(StrEnum):
    FASTER = "faster"
    SLOWER = "slower"
    INCONCLUSIVE = "inconclusive"


class Ratio(msgspec.Struct, frozen=True):
    """Speed of one library over a baseline: 2.0 is twice as fast. The interval is absent with one process."""

    ratio: float
    low: float | None
    high: float | None
    verdict: Verdict
    paired: bool


def process_medians(samples: Iterable[Sample]) -> dict[int, float]:
    """Median seconds per item of each process, by round."""
    values: defaultdict[int, list[float]] = defaultdict(list)
    for sample in samples:
        values[sample.round].extend(sample.values_sec)
    return {round_: statistics.median(found) for round_, found in sorted(values.items())}


def t_interval(logs: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Student's t interval of the mean of independent logarithms; None for fewer than two."""
    if len(logs) < 2:
        return None
    from scipy.stats import t  # 0.4 s to import: only when a statistic is asked for

    half = float(t.ppf(0.5 + confidence / 2, len(logs) - 1)) * statistics.stdev(logs) / math.sqrt(len(logs))
    mean = statistics.fmean(logs)
    return mean - half, mean + half


def summarize(samples: Sequence[Sample]) -> Summary:
    """Summarise the blocks of one transform.

    The median is the median of process medians; the interval is widened to hold it where it would not.

    Raises:
        ValueError: there are no values.
    """
    medians = list(process_medians(samples).values())
    if not medians:
        raise ValueError("no values to summarise")
    median = statistics.median(medians)
    cv = statistics.stdev(medians) / statistics.fmean(medians) if len(medians) > 1 else None
    interval = t_interval([math.log(value) for value in medians], policy.CONFIDENCE)
    reason = None
    if cv is not None and cv > policy.UNSTABLE_CV:
        reason = (
            f"process medians vary by {cv:.0%} (coefficient of variation over {len(medians)} processes), "
            f"more than {policy.UNSTABLE_CV:.0%}"
        )
    return Summary(
        median_sec=median,
        low_sec=min(median, math.exp(interval[0])) if interval else None,
        high_sec=max(median, math.exp(interval[1])) if interval else None,
        confidence=policy.CONFIDENCE,
        cv=cv,
        num_processes=len(medians),
        num_values=sum(len(sample.values_sec) for sample in samples),
        unstable_reason=reason,
    )


def speed_ratio(samples: Sequence[Sample], baseline: Sequence[Sample]) -> Ratio:
    """Speed over a baseline measured in the same run: blocks that stood side by side are compared in pairs.

    Raises:
        ValueError: the two share no block.
    """
    ours = {(sample.round, sample.block): statistics.median(sample.values_sec) for sample in samples}
    base = {(sample.round, sample.block): statistics.median(sample.values_sec) for sample in baseline}
    by_round: defaultdict[int, list[float]] = defaultdict(list)
    for key in sorted(ours.keys() & base.keys()):
        by_round[key[0]].append(math.log(base[key] / ours[key]))
    if not by_round:
        raise ValueError("no block of the one stands beside a block of the other")
    logs = [statistics.fmean(found) for found in by_round.values()]
    return _ratio(
        statistics.fmean(logs),
        t_interval(logs, policy.CONFIDENCE),
        t_interval(logs, policy.VERDICT_CONFIDENCE),
        paired=True,
    )


def _ratio(
    log_ratio: float, interval: tuple[float, float] | None, strict: tuple[float, float] | None, *, paired: bool
) -> Ratio:
    ratio = math.exp(log_ratio)
    verdict = Verdict.INCONCLUSIVE
    if strict and strict[0] > 0 and ratio >= 1 + policy.MIN_EFFECT:
        verdict = Verdict.FASTER
    elif strict and strict[1] < 0 and ratio <= 1 / (1 + policy.MIN_EFFECT):
        verdict = Verdict.SLOWER
    return Ratio(
        ratio=ratio,
        low=math.exp(interval[0]) if interval else None,
        high=math.exp(interval[1]) if interval else None,
        verdict=verdict,
        paired=paired,
    )
