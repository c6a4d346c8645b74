"""Statistics of timed values: a summary per transform, a ratio with an interval, a verdict of three.

The unit of replication is the worker process: memory placement alone moves a value by 10 % between processes, so
values of one process are summarised by their median first, and intervals come from the variation between processes.
They are Student's t on the logarithm of process medians, or of a round's ratio where libraries took turns, and cover
as often as they say (94.6 to 97 %). A 95 % percentile bootstrap over processes covers 86 to 90 % with ten of them and
73 % with three; one that draws turns within processes as well covers 85 to 100 %, depending on which of the two varies
more (benchmarks/aa_simulation.py prints all three, and what follows).

What the constants of `policy` buy. Where processes differ by 5 to 10 % a verdict at 99 % is false in 1 % of comparisons
of a library with itself, which is the most we allow, with nothing to spare; at 99.5 % it is 0.5 %. What that costs is
sensitivity. A 10 % slowdown of a compute-bound transform (the ratio of a round scatters by 2 %) is still called slower
in 99 % of cases, with five processes as with ten. Of a memory-bound one, as a flip (11 %), it is in 10 % with six
processes, 21 % with eight and 31 % with ten, and otherwise the table says inconclusive: only more processes help. Where
others use the machine too, a compute-bound ratio scatters by 10 % as well (55 % found by ten processes), and more
turns help more: 86 % for twice as many.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache
from typing import Annotated

import msgspec

from bench_core import policy


class Sample(msgspec.Struct, frozen=True):
    """Values of one block: where it stood and its seconds per item."""

    round: int
    block: int
    values_sec: tuple[float, ...]


class SummaryRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a summary is computed by. Kept with it, so that it can be checked when these have changed."""

    confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)] = policy.CONFIDENCE
    unstable_cv: Annotated[float, msgspec.Meta(gt=0)] = policy.UNSTABLE_CV
    interval_processes: Annotated[int, msgspec.Meta(ge=2)] = policy.INTERVAL_PROCESSES


class Summary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A transform's seconds per item. The interval is absent where there are too few processes for one."""

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
    """Speed of one library over a baseline: 2.0 is twice as fast. The interval is absent with too few processes."""

    ratio: float
    low: float | None
    high: float | None
    verdict: Verdict
    paired: bool

    def inverse(self) -> "Ratio":
        """The same comparison seen from the other side."""
        opposite = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
        return Ratio(
            ratio=1 / self.ratio,
            low=1 / self.high if self.high else None,
            high=1 / self.low if self.low else None,
            verdict=opposite.get(self.verdict, self.verdict),
            paired=self.paired,
        )


def process_medians(samples: Iterable[Sample]) -> dict[int, float]:
    """Median seconds per item of each process, by round."""
    values: defaultdict[int, list[float]] = defaultdict(list)
    for sample in samples:
        values[sample.round].extend(sample.values_sec)
    return {round_: statistics.median(found) for round_, found in sorted(values.items())}


@cache
def t_quantile(confidence: float, degrees: float) -> float:
    """How many standard errors a two-sided interval reaches to each side."""
    from scipy.special import stdtrit  # the quantile alone: importing scipy.stats takes a second

    return float(stdtrit(degrees, 0.5 + confidence / 2))


def variance(values: Sequence[float]) -> float:
    """Sample variance in floating point; the library's exact one takes most of a report's time."""
    mean = statistics.fmean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def t_interval(
    logs: Sequence[float], confidence: float, least: int = policy.INTERVAL_PROCESSES
) -> tuple[float, float] | None:
    """Student's t interval of the mean of independent logarithms; None for fewer than `least`, which is 2 or more."""
    if len(logs) < least:
        return None
    half = t_quantile(confidence, len(logs) - 1) * math.sqrt(variance(logs) / len(logs))
    mean = statistics.fmean(logs)
    return mean - half, mean + half


TODAY = SummaryRules()


def summarize(samples: Sequence[Sample], rules: SummaryRules = TODAY) -> Summary:
    """Summarise the blocks of one transform.

    The median is the median of process medians; the interval is widened to hold it where it would not.

    Raises:
        ValueError: there are no values.
    """
    medians = list(process_medians(samples).values())
    if not medians:
        raise ValueError("no values to summarise")
    median = statistics.median(medians)
    cv = math.sqrt(variance(medians)) / statistics.fmean(medians) if len(medians) > 1 else None
    interval = t_interval([math.log(value) for value in medians], rules.confidence, rules.interval_processes)
    reason = None
    if cv is not None and cv > rules.unstable_cv:
        reason = (
            f"process medians vary by {cv:.1%} (coefficient of variation over {len(medians)} processes), "
            f"more than {rules.unstable_cv:.1%}"
        )
    return Summary(
        median_sec=median,
        low_sec=min(median, math.exp(interval[0])) if interval else None,
        high_sec=max(median, math.exp(interval[1])) if interval else None,
        confidence=rules.confidence,
        cv=cv,
        num_processes=len(medians),
        num_values=sum(len(sample.values_sec) for sample in samples),
        unstable_reason=reason,
    )


def speed_ratio(samples: Sequence[Sample], baseline: Sequence[Sample]) -> Ratio:
    """Speed over a baseline measured in the same run: values that stood side by side are compared in pairs.

    A round's ratio is the median over its pairs: a burst of somebody else's work, which hits one value of a pair and
    not the other, does not move it. The interval is over rounds.

    Raises:
        ValueError: the two share no block.
    """
    ours = {(sample.round, sample.block): sample.values_sec for sample in samples}
    base = {(sample.round, sample.block): sample.values_sec for sample in baseline}
    by_round: defaultdict[int, list[float]] = defaultdict(list)
    for key in sorted(ours.keys() & base.keys()):
        by_round[key[0]].extend(math.log(there / here) for here, there in _pairs(ours[key], base[key]))
    if not by_round:
        raise ValueError("no block of the one stands beside a block of the other")
    logs = [statistics.median(found) for found in by_round.values()]
    return _ratio(
        statistics.fmean(logs),
        t_interval(logs, policy.CONFIDENCE),
        t_interval(logs, policy.VERDICT_CONFIDENCE),
        paired=True,
    )


def _pairs(ours: Sequence[float], base: Sequence[float]) -> list[tuple[float, float]]:
    """Values of one turn each; blocks of different length (a reference row has one value) meet by their medians."""
    if len(ours) == len(base):
        return list(zip(ours, base, strict=True))
    return [(statistics.median(ours), statistics.median(base))]


def independent_ratio(samples: Sequence[Sample], baseline: Sequence[Sample]) -> Ratio:
    """Speed over a baseline measured in another run: Welch's t on the logarithms of process medians.

    The interval knows the variation between processes, not that between runs: nothing was interleaved, so whatever
    the machine did to one run alone is in the ratio. That is why a verdict needs policy.UNPAIRED_MIN_EFFECT.

    Raises:
        ValueError: one of the two has no values.
    """
    ours = [math.log(value) for value in process_medians(samples).values()]
    base = [math.log(value) for value in process_medians(baseline).values()]
    if not ours or not base:
        raise ValueError("no values to compare")
    return _ratio(
        statistics.fmean(base) - statistics.fmean(ours),
        welch_interval(base, ours, policy.CONFIDENCE),
        welch_interval(base, ours, policy.VERDICT_CONFIDENCE),
        paired=False,
    )


def welch_interval(one: Sequence[float], other: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Interval of the difference of two means whose variances may differ; None when either has too few."""
    if min(len(one), len(other)) < policy.INTERVAL_PROCESSES:
        return None
    parts = [variance(logs) / len(logs) for logs in (one, other)]
    difference, total = statistics.fmean(one) - statistics.fmean(other), sum(parts)
    if total == 0:
        return difference, difference
    degrees = total**2 / sum(part**2 / (len(logs) - 1) for part, logs in zip(parts, (one, other), strict=True))
    half = t_quantile(confidence, degrees) * math.sqrt(total)
    return difference - half, difference + half


def _ratio(
    log_ratio: float, interval: tuple[float, float] | None, strict: tuple[float, float] | None, *, paired: bool
) -> Ratio:
    ratio = math.exp(log_ratio)
    least = 1 + (policy.MIN_EFFECT if paired else policy.UNPAIRED_MIN_EFFECT)
    verdict = Verdict.INCONCLUSIVE
    if strict and strict[0] > 0 and ratio >= least:
        verdict = Verdict.FASTER
    elif strict and strict[1] < 0 and ratio <= 1 / least:
        verdict = Verdict.SLOWER
    return Ratio(
        ratio=ratio,
        low=math.exp(interval[0]) if interval else None,
        high=math.exp(interval[1]) if interval else None,
        verdict=verdict,
        paired=paired,
    )
