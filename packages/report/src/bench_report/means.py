"""How fast libraries are over all transforms together: geometric means of the ratios of single rows."""

import math
import statistics
from collections.abc import Sequence

import msgspec
from bench_core import policy
from bench_core.statistics import t_interval

from bench_report.captions import percent_exact
from bench_report.conditions import differences
from bench_report.figures import with_interval
from bench_report.rows import Row
from bench_report.sections import Section


class Mean(msgspec.Struct, frozen=True):
    """Speed of `library` over `reference`, over the transforms that both have a number in.

    The interval is Student's t over transforms, on logarithms: how much the mean depends on which transforms were
    chosen. It is absent where there are too few of them. The noise of single ratios is in it as far as it spreads them.
    """

    library: str
    reference: str
    ratio: float
    low: float | None
    high: float | None
    num_transforms: int


def geometric_means(section: Section, rows: Sequence[Row], baseline: str | None = None) -> tuple[Mean, ...]:
    """Every other library over the baseline, fastest first; empty for cells that were measured differently.

    Args:
        baseline: None is the library that is ahead of every other by the most, or behind the nearest by the least.
    """
    if differences(section):
        return ()
    means = _all_means(rows)
    reference = baseline or _ahead(means)
    return tuple(sorted((mean for mean in means if mean.reference == reference), key=lambda mean: -mean.ratio))


def sentence(means: Sequence[Mean]) -> str:
    """The means in words.

    Raises:
        IndexError: there are none.
    """
    told = ", ".join(f"{mean.library} {_figure(mean)}" for mean in means)
    sure = percent_exact(policy.CONFIDENCE)
    interval = f" ({sure} interval over transforms: another choice of transforms, not another machine)"
    shown = interval if any(mean.low is not None for mean in means) else ""
    reference = means[0].reference
    return f"Geometric mean of speed over {reference}, each over the transforms the two have in common{shown}: {told}."


def _all_means(rows: Sequence[Row]) -> list[Mean]:
    """Every library over every other."""
    logs: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        for pair, found in row.ratios.items():
            logs.setdefault(pair, []).append(math.log(found.ratio))
    return [_mean(*pair, found) for pair, found in logs.items()]


def _mean(library: str, reference: str, logs: Sequence[float]) -> Mean:
    interval = t_interval(logs, policy.CONFIDENCE)
    return Mean(
        library=library,
        reference=reference,
        ratio=math.exp(statistics.fmean(logs)),
        low=math.exp(interval[0]) if interval else None,
        high=math.exp(interval[1]) if interval else None,
        num_transforms=len(logs),
    )


def _ahead(means: Sequence[Mean]) -> str | None:
    least: dict[str, float] = {}
    for mean in means:
        least[mean.library] = min(mean.ratio, least.get(mean.library, mean.ratio))
    return max(sorted(least), key=lambda library: least[library], default=None)


def _figure(mean: Mean) -> str:
    text, interval = with_interval(mean.ratio, mean.low, mean.high)
    count = f"{mean.num_transforms} transform{'' if mean.num_transforms == 1 else 's'}"
    return f"{text}× ({interval}; {count})" if interval else f"{text}× ({count})"
