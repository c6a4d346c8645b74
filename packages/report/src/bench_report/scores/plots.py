"""Files of charts of scores: parity and errors of every model, accuracy against speed, errors by element."""

import math
import textwrap
import warnings
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench_report.plots import CAPTION_CHARACTERS, CAPTION_INCH, SETTINGS, WIDTH_INCH, save, stem
from bench_report.scores.charts import (
    ELEMENT_INCH,
    LABEL_POINTS,
    TITLE_POINTS,
    Panel,
    draw_elements,
    draw_tradeoff,
    panels,
    tradeoffs,
)
from bench_report.scores.part import ScorePart
from bench_report.styles import plain, styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {"parity": "Predicted against label", "errors": "Errors"}
COLUMNS, ROWS = 3, 4  # panels of a page
PANEL_INCH = {"parity": 2.45, "errors": 1.75}
TRADEOFF_INCH = 3.6


def write_score_plots(parts: Collection[ScorePart], formats: Collection[str], folder: Path) -> list[Path]:
    """Draw every chart of some tables into `folder`, a file per format; what is there under these names is replaced.

    Raises:
        BenchError: the folder cannot be written.
    """
    import matplotlib as mpl

    paths = []
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a name in a script the font lacks shows as boxes
        for part in parts:
            for name, figure in _figures(part):
                first = stem(*part.section.title.split(", "))
                paths += [
                    save(figure, folder / f"{first}-{stem(name)}.{kind}", kind) for kind in dict.fromkeys(formats)
                ]
    return paths


def _figures(part: ScorePart) -> Iterator[tuple[str, "Figure"]]:
    for kind, title in KINDS.items():
        found = list(panels(part, kind))
        for target in dict.fromkeys(panel.target for panel in found):
            ours = [panel for panel in found if panel.target == target]
            named = part.section.named(target)
            for name, page in _pages(f"{kind}-{named}", ours):
                yield (
                    name,
                    _grid(part, f"{title}: {named}, {plain(part.section.title)}", kind, page),
                )
    for metric, found_dots in tradeoffs(part):
        figure = _figure(part, TRADEOFF_INCH)
        draw_tradeoff(figure, metric, found_dots, styles(entry.label for entry in part.section.entries))
        _title(figure, f"Accuracy against speed: {plain(part.section.title)}")
        yield f"speed-{metric.column}", figure
    if part.evidence.elements:
        figure = _figure(part, ELEMENT_INCH * len(part.evidence.elements.symbols) + 1.2)
        draw_elements(figure.add_subplot(), part.evidence.elements)
        _title(figure, f"Errors by element: {plain(part.section.title)}")
        yield "elements", figure


def _grid(part: ScorePart, title: str, kind: str, page: Sequence[Panel]) -> "Figure":
    rows = math.ceil(len(page) / COLUMNS)
    figure = _figure(part, PANEL_INCH[kind] * rows + 0.3)
    for place, panel in enumerate(page):
        axes = figure.add_subplot(rows, COLUMNS, place + 1)
        panel.draw(axes)
        axes.set_title(f"{plain(panel.label, 30)}\n{panel.told}", fontsize=LABEL_POINTS, loc="left")
    _title(figure, title)
    return figure


def _figure(part: ScorePart, height_inch: float) -> "Figure":
    """An empty figure with what was scored under it."""
    from matplotlib.figure import Figure

    told = "\n".join(
        line for text in part.sheet.caption for line in textwrap.wrap(plain(text, 900), CAPTION_CHARACTERS)
    )
    around = 0.35 + CAPTION_INCH * (told.count("\n") + 1)
    figure = Figure(figsize=(WIDTH_INCH, height_inch + around), layout="constrained")
    figure.supxlabel(told, fontsize=5.5, color="0.3", ha="left", x=0.01)
    return figure


def _title(figure: "Figure", text: str) -> None:
    figure.suptitle(textwrap.shorten(text, 110), fontsize=TITLE_POINTS + 1, fontweight="bold", ha="left", x=0.01)


def _pages(name: str, found: Sequence[Panel]) -> list[tuple[str, Sequence[Panel]]]:
    """(name, panels) of each file."""
    size = COLUMNS * ROWS
    if len(found) <= size:
        return [(name, found)]
    return [(f"{name}-{i // size + 1}", found[i : i + size]) for i in range(0, len(found), size)]
