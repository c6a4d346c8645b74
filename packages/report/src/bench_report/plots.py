"""Charts of a report, for a page or a paper: speed over the baseline, and throughput, of every library and transform.

Each chart is drawn on a figure of its own, without pyplot: nothing is shared with a program that draws as well.
"""

import math
import textwrap
import warnings
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from bench_core import policy, suggest
from bench_core.errors import BenchError, ExitCode

from bench_report.captions import caption, percent_exact
from bench_report.conditions import notices
from bench_report.figures import Unit
from bench_report.report import Part, Report
from bench_report.rows import Cell, Row
from bench_report.styles import Style, plain, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")
FOLDER = "plots"
DOTS_PER_INCH = 160
WIDTH_INCH = 7.5
MAX_AXES_INCH = 11.0  # a taller chart is continued in a further file
ROW_INCH, LIBRARY_INCH = 0.11, 0.085  # a row's height: the first, and the second for every library
AROUND_INCH = 1.5  # title, legend, axis
CAPTION_CHARACTERS, CAPTION_INCH = 165, 0.1
# PDF: TrueType, which journals ask for (not Type 3). SVG: outlines, so that no reader needs the font. A name from a
# result file is never taken for a formula. The salt makes the same chart the same file.
SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "bench",
    "text.parse_math": False,
}
# No date in a file: the same results give the same bytes.
METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None},
    "png": {},
    "pdf": {"CreationDate": None},
}


class Point(msgspec.Struct, frozen=True):
    """One library and one transform on a chart."""

    value: float
    low: float
    high: float
    unstable: bool


class Chart(msgspec.Struct, frozen=True):
    """What is drawn: `point` says where a library stands in a row, None where it has nothing to show there."""

    name: str
    title: str
    axis: str
    rows: tuple[Row, ...]
    point: Callable[[Row, str], Point | None]
    suffix: str = ""  # after the numbers of the axis
    line: float | None = None  # where a line stands for the baseline


def write_plots(report: Report, formats: Collection[str], folder: Path) -> list[Path]:
    """Draw every chart of a report into `folder`, a file per format; what is there under these names is replaced.

    Raises:
        BenchError: an unknown format, or a folder that cannot be written.
    """
    check_formats(formats)
    import matplotlib as mpl

    looks = styles(column.library for part in report.parts for column in part.section.columns)
    paths = []
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a name in a script the font lacks shows as boxes
        for part in report.parts:
            for chart in charts(part, report.options.unit, report.options.baseline):
                for name, rows in _pages(chart, len(part.section.columns)):
                    figure = draw(part, msgspec.structs.replace(chart, rows=rows), looks)
                    first = stem(part.section.scenario, part.section.mode, part.section.device)
                    paths += [save(figure, folder / f"{first}-{name}.{f}", f) for f in dict.fromkeys(formats)]
    return paths


def check_formats(formats: Collection[str]) -> None:
    """
    Raises:
        BenchError: one of them is not known.
    """
    for name in formats:
        if name not in FORMATS:
            raise suggest.unknown("kind of plot", name, FORMATS, source="--plots")


def charts(part: Part, unit: Unit, baseline: str | None) -> list[Chart]:
    """The charts of a section that have something to show."""
    comparable = tuple(row for row in part.rows if row.comparable and row.baseline)
    measured = tuple(row for row in part.rows if row.measured)
    over = plain(baseline) if baseline else "the fastest of the row"
    found = [
        Chart(
            "speed",
            f"Speed over {over}: {plain(part.sheet.title)}",
            f"speed over {over}, log scale (right is faster)",
            comparable,
            lambda row, library: _ratio(row.cells[library], is_baseline=library == row.baseline),
            suffix="×",
            line=1,
        ),
        Chart(
            "throughput" if unit.rate else "time",
            f"{'Throughput' if unit.rate else 'Time'}: {plain(part.sheet.title)}",
            f"{unit.name}, log scale ({'right' if unit.rate else 'left'} is faster)",
            measured,
            lambda row, library: _timing(row.cells[library], unit),
        ),
    ]
    return [chart for chart in found if chart.rows]


def draw(part: Part, chart: Chart, looks: dict[str, Style]) -> "Figure":
    """One chart: a band per transform, in it a mark per library with its interval."""
    from matplotlib.figure import Figure

    libraries = [column.library for column in part.section.columns]
    told = _caption(part)
    axes_inch = len(chart.rows) * _row_inch(len(libraries))
    height_inch = axes_inch + AROUND_INCH + CAPTION_INCH * (told.count("\n") + 1)
    figure = Figure(figsize=(WIDTH_INCH, height_inch), layout="constrained")
    axes = figure.add_subplot()
    _bands(axes, chart.rows)
    for place, library in enumerate(libraries):
        _marks(axes, chart, library, looks[library], (place + 0.5) / len(libraries) - 0.5)
    if chart.line is not None:
        axes.axvline(chart.line, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    _axis(axes, chart, libraries)
    _legend(figure, chart, part, looks)
    axes.set_title(textwrap.shorten(chart.title, 110), fontsize=9, fontweight="bold", loc="left")
    figure.supxlabel(told, fontsize=5.5, color="0.3", ha="left", x=0.01)
    return figure


def _bands(axes: "Axes", rows: Sequence[Row]) -> None:
    for i in range(0, len(rows), 2):
        axes.axhspan(i - 0.5, i + 0.5, color="0.95", linewidth=0, zorder=0)
    axes.set_yticks(range(len(rows)), [plain(row.transform) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_ylabel("transform")
    axes.tick_params(axis="y", length=0)


def _marks(axes: "Axes", chart: Chart, library: str, look: Style, offset: float) -> None:
    """Filled marks, and hollow ones for what is unstable; `offset` from the middle of the band, -0.5 to 0.5."""
    found = [(i, point) for i, row in enumerate(chart.rows) if (point := chart.point(row, library))]
    for unstable in (False, True):
        points = [(i + 0.86 * offset, point) for i, point in found if point.unstable is unstable]
        if not points:
            continue
        axes.errorbar(
            [point.value for _, point in points],
            [y for y, _ in points],
            xerr=[[p.value - p.low for _, p in points], [p.high - p.value for _, p in points]],
            linestyle="none",
            marker=look.marker,
            markersize=4.2,
            markeredgewidth=0.9,
            markerfacecolor="white" if unstable else look.color,
            color=look.color,
            elinewidth=1.1,
            zorder=3,
        )


def _axis(axes: "Axes", chart: Chart, libraries: Sequence[str]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    points = [point for row in chart.rows for library in libraries if (point := chart.point(row, library))]
    ends = [end for point in points for end in (point.low, point.high)] + ([chart.line] if chart.line else [])
    low, high = min(ends), max(ends)
    room = max((high / low) ** 0.03, 1.05)
    axes.set_xscale("log")
    axes.set_xlim(low / room, high * room)
    decades = math.log10(high * room**2 / low)
    subs = (1.0, 2.0, 5.0) if decades < 2.6 else (1.0,)
    # Within a part of a decade round numbers are too far apart: even steps then, which a logarithm hardly bends.
    axes.xaxis.set_major_locator(MaxNLocator(6) if decades < 0.5 else LogLocator(subs=subs))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}{chart.suffix}".replace(",", " ")))
    axes.xaxis.set_minor_formatter(NullFormatter())
    if decades < 0.5:
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(chart.axis)
    axes.grid(axis="x", which="major", color="0.8", linewidth=0.6, zorder=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _legend(figure: "Figure", chart: Chart, part: Part, looks: dict[str, Style]) -> None:
    """Above the chart, in as many columns as fit; only libraries that are drawn."""
    from matplotlib.lines import Line2D

    drawn = {c.library: f"{plain(c.library, 28)} {plain(c.version or '', 16)}" for c in part.section.columns}
    shown = {name: text for name, text in drawn.items() if any(chart.point(row, name) for row in chart.rows)}
    handles = [
        Line2D([], [], color=looks[name].color, marker=looks[name].marker, markersize=5, label=text.strip())
        for name, text in shown.items()
    ]
    if any(p.unstable for row in chart.rows for name in shown if (p := chart.point(row, name))):
        hollow = Line2D([], [], color="0.4", marker="o", markersize=5, markerfacecolor="white", linestyle="none")
        hollow.set_label("hollow: unstable")
        handles.append(hollow)
    widest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(1, min(len(handles), 132 // (widest + 5)))
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, frameon=False, fontsize=7.5)


def _ratio(cell: Cell, *, is_baseline: bool) -> Point | None:
    summary, ratio = cell.summary, cell.ratio
    if summary is None:
        return None
    if ratio is None:
        return Point(1, 1, 1, summary.unstable) if is_baseline else None
    return Point(ratio.ratio, ratio.low or ratio.ratio, ratio.high or ratio.ratio, summary.unstable)


def _timing(cell: Cell, unit: Unit) -> Point | None:
    summary = cell.summary
    if summary is None:
        return None
    ends = [unit.of_sec(end or summary.median_sec) for end in (summary.low_sec, summary.high_sec)]
    return Point(unit.of_sec(summary.median_sec), min(ends), max(ends), summary.unstable)


def _caption(part: Part) -> str:
    """What was measured and what to beware of, in the words of the tables."""
    told = [f"Note. {text}." for text in notices(part.section)] + [f"{text}." for text in caption(part.section)]
    sure = percent_exact(policy.CONFIDENCE)
    told.append(f"Lines are {sure} intervals. A library without a mark has no number there; the tables say why.")
    return "\n".join(line for text in told for line in textwrap.wrap(plain(text, 900), CAPTION_CHARACTERS))


def _row_inch(num_libraries: int) -> float:
    return ROW_INCH + LIBRARY_INCH * num_libraries


def _pages(chart: Chart, num_libraries: int) -> list[tuple[str, tuple[Row, ...]]]:
    """(name, rows) of each file of a chart; pages are about equally long."""
    per_page = max(1, int(MAX_AXES_INCH / _row_inch(num_libraries)))
    num_pages = math.ceil(len(chart.rows) / per_page)
    if num_pages == 1:
        return [(chart.name, chart.rows)]
    size = math.ceil(len(chart.rows) / num_pages)
    return [(f"{chart.name}-{i + 1}", chart.rows[i * size : (i + 1) * size]) for i in range(num_pages)]


def stem(*names: str) -> str:
    """The start of a file's name: letters, digits, dots and dashes only."""
    text = "-".join(names)
    return "".join(c if c.isascii() and (c.isalnum() or c in ".-_") else "_" for c in text).lstrip(".")[:100]


def save(figure: "Figure", path: Path, kind: str) -> Path:
    """Write a figure as one kind of file.

    Raises:
        BenchError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format=kind, dpi=DOTS_PER_INCH, metadata=METADATA[kind])
    except OSError as error:
        raise BenchError(f"cannot write {path}: {error.strerror}", ExitCode.OUTPUT) from error
    return path
