"""Pictures of scores on matplotlib's axes: drawn once, for files in a grid and for the page one by one."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bench_report.figures import number
from bench_report.scores.evidence import ABSURD, ERROR_BINS, Elements, Parity, Scale, main_metrics
from bench_report.scores.figures import scored
from bench_report.scores.part import ScorePart
from bench_report.scores.sections import Entry, Metric
from bench_report.styles import Style, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TICK_POINTS, LABEL_POINTS, TITLE_POINTS = 6.5, 7.5, 8
DENSITY = "viridis_r"  # few values pale, many dark; the same order in grey and for every colour vision
BAR_COLOR = "#0072B2"
ELEMENT_INCH = 0.13


class Panel(msgspec.Struct, frozen=True):
    """One picture of one model: what it shows, in words, and how it is drawn."""

    label: str
    target: str
    kind: str  # parity or errors
    told: str
    draw: Callable[["Axes"], None]


class Dot(msgspec.Struct, frozen=True):
    """One model between speed and error."""

    label: str
    milliseconds: float
    value: float
    low: float
    high: float


def panels(part: ScorePart, kind: str) -> Iterator[Panel]:
    """Every model's picture of a kind, target by target."""
    for scale in part.evidence.scales:
        for entry in part.section.entries:
            parity = part.evidence.parity.get((entry.label, scale.target))
            if parity is not None:
                yield _panel(kind, entry, scale, parity)


def dots(part: ScorePart, metric: Metric) -> tuple[Dot, ...]:
    """The models that have both a score and a time."""
    found = []
    for entry in part.section.entries:
        score, timing = entry.score(metric), entry.result.timing
        if score and score.value is not None and timing and timing.median_sec_per_structure > 0:
            ends = [score.value if end is None else end for end in (score.low, score.high)]
            if max(map(abs, (score.value, *ends))) < ABSURD:
                found.append(Dot(entry.label, timing.median_sec_per_structure * 1e3, score.value, *ends))
    return tuple(found)


def tradeoffs(part: ScorePart) -> tuple[tuple[Metric, tuple[Dot, ...]], ...]:
    """The main metric of each target, where at least two models can be compared."""
    found = ((metric, dots(part, metric)) for metric in main_metrics(part.section))
    return tuple((metric, there) for metric, there in found if len(there) > 1)


def draw_tradeoff(figure: "Figure", metric: Metric, found: Sequence[Dot], looks: dict[str, Style]) -> None:
    """Error against time, with intervals; names stand in a column beside the plot, led to their dots by lines."""
    axes = figure.add_subplot()
    axes.set_xscale("log")
    ends = [end for dot in found for end in (dot.low, dot.high)]
    low, high = min(ends), max(ends)
    if low > 0 and high / low > 20:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.15, high * 1.15)
    else:
        room = 0.06 * ((high - low) or abs(high) or 1.0)
        axes.set_ylim(low - room, high + room)
    times = [dot.milliseconds for dot in found]
    axes.set_xlim(min(times) / 1.35, max(times) * 1.35)
    for dot in found:
        look = looks[dot.label]
        axes.errorbar(
            dot.milliseconds,
            dot.value,
            yerr=[[dot.value - dot.low], [dot.high - dot.value]],
            marker=look.marker,
            color=look.color,
            markersize=6,
            elinewidth=1.1,
            linestyle="none",
            zorder=3,
        )
    _names(axes, found, looks)
    _time_axis(axes)
    better = "more" if metric.name == "r2" else "less"
    axes.set_ylabel(f"{metric.head}, {better} is better", fontsize=LABEL_POINTS)
    axes.set_xlabel("time per structure [ms], log scale, left is faster", fontsize=LABEL_POINTS)
    _calm(axes)


def draw_elements(axes: "Axes", elements: Elements) -> None:
    """A line of cells for every element, a column for every model; the figure in a cell, its shade on a log scale."""
    labels = list(elements.errors)
    grid = np.array([[np.nan if v is None else v for v in elements.errors[label]] for label in labels]).T
    shown = np.ma.masked_invalid(np.log10(np.maximum(grid, 1e-12)))
    floor = np.nanmax(shown) - 3 if shown.count() else -1.0  # three decades are told apart
    axes.pcolormesh(shown, cmap=DENSITY, vmin=floor, rasterized=True)
    top = floor + 3
    for (row, column), value in np.ndenumerate(grid):
        shade = (math.log10(max(value, 1e-12)) - floor) / (top - floor) if np.isfinite(value) else 0
        text = scored(value, None, None)[0] if np.isfinite(value) else "–"
        color = "white" if shade > 0.6 else "black"
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=5, color=color)
    axes.set_yticks(np.arange(len(elements.symbols)) + 0.5, elements.symbols, fontsize=5.5)
    axes.set_xticks(
        np.arange(len(labels)) + 0.5, [plain(label, 24) for label in labels], fontsize=6, rotation=30, ha="left"
    )
    axes.xaxis.tick_top()
    axes.set_ylim(len(elements.symbols), 0)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(
        f"mean absolute error of the energy over structures with the element [{elements.unit}]", fontsize=LABEL_POINTS
    )
    axes.set_ylabel("element", fontsize=LABEL_POINTS)


def beyond(parity: Parity, num: int) -> str:
    """What a picture does not show."""
    told = [f"{number(num, 0)} beyond the frame"] if num else []
    if parity.num_nonfinite:
        told.append(f"{number(parity.num_nonfinite, 0)} that are no finite number")
    return " and ".join(told)


def _panel(kind: str, entry: Entry, scale: Scale, parity: Parity) -> Panel:
    if kind == "parity":
        told = _told(parity, beyond(parity, parity.num_beyond))
        if parity.points is None:
            told += "; darker is more, log scale"
        return Panel(entry.label, scale.target, kind, told, lambda axes: _parity(axes, scale, parity))
    missing = beyond(parity, parity.num_errors_beyond)
    return Panel(entry.label, scale.target, kind, _told(parity, missing), lambda axes: _errors(axes, scale, parity))


def _told(parity: Parity, missing: str) -> str:
    count = parity.num_values + parity.num_nonfinite
    return f"{number(count, 0)} value{'' if count == 1 else 's'}" + (f", {missing}" if missing else "")


def _parity(axes: "Axes", scale: Scale, parity: Parity) -> None:
    """Predictions over labels, with the line where they are equal. Many values are counted in cells."""
    ends = (scale.low, scale.high)
    axes.plot(ends, ends, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    if parity.points is not None:
        axes.plot(*parity.points, linestyle="none", marker="o", markersize=2.2, markeredgewidth=0, color=BAR_COLOR,
                  alpha=0.55, rasterized=True)  # fmt: skip
    else:
        from matplotlib.colors import LogNorm

        edges = np.linspace(scale.low, scale.high, len(parity.counts) + 1)
        shown = np.ma.masked_equal(parity.counts.T, 0)
        axes.pcolormesh(
            edges, edges, shown, cmap=DENSITY, norm=LogNorm(1, max(2, parity.counts.max())), rasterized=True
        )
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    axes.set_aspect("equal")
    unit = f" [{scale.unit.name}]"
    axes.set_xlabel(f"label{unit}", fontsize=LABEL_POINTS)
    axes.set_ylabel(f"predicted{unit}", fontsize=LABEL_POINTS)
    _calm(axes)


def _errors(axes: "Axes", scale: Scale, parity: Parity) -> None:
    """How many values err by how much, predicted minus label."""
    half = scale.error * ERROR_BINS / (ERROR_BINS - 1)
    axes.stairs(parity.errors, np.linspace(-half, half, ERROR_BINS + 1), fill=True, color=BAR_COLOR)
    axes.axvline(0, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)))
    axes.set_xlim(-half, half)
    axes.set_ylim(0, max(1, parity.errors.max()) * 1.05)
    axes.set_xlabel(f"predicted - label [{scale.unit.name}]", fontsize=LABEL_POINTS)
    axes.set_ylabel("values", fontsize=LABEL_POINTS)
    _calm(axes)


def _names(axes: "Axes", found: Sequence[Dot], looks: dict[str, Style]) -> None:
    """Names in a column right of the plot in the order of their dots, evenly apart: none covers another."""
    to_axes = axes.transLimits.transform
    height = {dot.label: float(to_axes(axes.transScale.transform((dot.milliseconds, dot.value)))[1]) for dot in found}
    ordered = sorted(found, key=lambda dot: height[dot.label])
    gap = min(0.075, 1 / max(len(ordered), 1))
    places: list[float] = []
    for dot in ordered:
        wanted = min(max(height[dot.label], 0.0), 1.0)
        places.append(max(wanted, places[-1] + gap) if places else wanted)
    over = max(0.0, places[-1] - 1.0)  # the column moves down as a whole, and closes up from the top
    places[-1] -= over
    for i in range(len(places) - 2, -1, -1):
        places[i] = min(places[i], places[i + 1] - gap)
    for dot, place in zip(ordered, places, strict=True):
        axes.annotate(
            plain(dot.label, 28),
            xy=(dot.milliseconds, dot.value),
            xytext=(1.04, place),
            textcoords="axes fraction",
            va="center",
            fontsize=LABEL_POINTS,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": looks[dot.label].color,
                "linewidth": 0.5,
                "alpha": 0.8,
                "shrinkB": 4,
            },
        )


def _time_axis(axes: "Axes") -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 300 else (1.0,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _calm(axes: "Axes") -> None:
    axes.tick_params(labelsize=TICK_POINTS, length=2.5)
    axes.grid(color="0.9", linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
