"""The Scores tab of the page: what its template is given, with pictures as data URIs of SVG.

A picture is an image and not part of the page: nothing in it can run, and its names are its own.
"""

import base64
import io
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from bench_core.ranking import sign_of

from bench_report import captions
from bench_report.figures import number
from bench_report.plots import METADATA, SETTINGS
from bench_report.report import Report
from bench_report.scores.charts import Dot, Panel, draw_tradeoff, panels, tradeoffs
from bench_report.scores.evidence import Elements
from bench_report.scores.figures import scored
from bench_report.scores.part import ScorePart
from bench_report.scores.sections import Entry, Metric
from bench_report.scores.views import data, machine
from bench_report.sections import run_ids
from bench_report.styles import Style, styles
from bench_report.table import Cell, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL_INCH = {"parity": (2.5, 2.3), "errors": (2.5, 1.7)}
TRADEOFF_INCH = (6.4, 3.4)
TITLES = {"parity": "Predicted against label", "errors": "Errors, predicted minus label"}
CAPTION_BYTES = 400  # of the page, under one picture


class Image(msgspec.Struct, frozen=True):
    """One picture on the page. `address` is a data URI."""

    address: str
    alt: str
    name: str
    told: str
    width: int
    height: int


class Column(msgspec.Struct, frozen=True):
    """The head of a sortable column: -1 sorts names; `less` is whether the smallest value comes first."""

    label: str
    place: int
    less: bool = True


class Room:
    """How many bytes of pictures the page may still take."""

    def __init__(self, num_bytes: int) -> None:
        self._left = num_bytes
        self.num_left_out = 0

    def take(self, make: Callable[[], Image]) -> Iterator[Image]:
        """The picture, if there is room for it; once there is none, no more are drawn."""
        image = make() if self._left > 0 and not self.num_left_out else None
        needed = len(image.address) + CAPTION_BYTES if image else 0
        if image and needed <= self._left:
            self._left -= needed
            yield image
        else:
            self.num_left_out += 1


def score_parts(report: Report, room: Room) -> dict[str, Any]:
    """Every table of scores as the template sees it."""
    import matplotlib as mpl

    with mpl.rc_context({**SETTINGS, "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        shown = [_part(number, part, room) for number, part in enumerate(report.score_parts)]
    return {"shown": shown, "num_left_out": room.num_left_out}


def score_runs(report: Report) -> Iterator[dict[str, Any]]:
    """What was scored, on what, when: one list of facts for each run."""
    for run_id in run_ids([part.section for part in report.score_parts]):
        entries = [e for part in report.score_parts for e in part.section.entries if e.bundle.run_id == run_id]
        bundle = entries[0].bundle
        packages = dict.fromkeys(f"{e.result.family} ({e.version or 'version unknown'})" for e in entries)
        yield {
            "Run": f"{short(run_id)}, {captions.date(bundle.created_at)}",
            "Models": ", ".join(dict.fromkeys(short(entry.label) for entry in entries)),
            "Families": ", ".join(map(short, packages)),
            "Machine": machine(bundle, [entry.result for entry in entries]),
            "Data": "; ".join(dict.fromkeys(data(entry.result) for entry in entries)),
        }


def _part(place: int, part: ScorePart, room: Room) -> dict[str, Any]:
    section, sheet = part.section, part.sheet
    errors, *differences, models = sheet.tables
    return {
        "id": f"scores-{place}",
        "title": sheet.title,
        "errors": {"heads": list(_heads(part, errors.heads)), "rows": list(_error_rows(part, errors.rows))},
        "differences": [
            {"title": t.title, "heads": list(_heads(part, t.heads)), "rows": list(_difference_rows(part, t.rows))}
            for t in differences
        ],
        "models": models,
        "galleries": list(_galleries(part, room)),
        "tradeoffs": list(_tradeoffs(part, room)),
        "elements": _elements(part.evidence.elements) if part.evidence.elements else None,
        "legend": sheet.legend,
        "notes": sheet.notes,
        "num_models": len(section.entries),
    }


def _heads(part: ScorePart, heads: Sequence[str]) -> Iterator[Column]:
    """Metrics sort best first; what stands before and behind them sorts least first, coverage most first."""
    best_first = {metric.head: sign_of(metric.name) == 1 for metric in part.section.metrics}
    for place, head in enumerate(heads):
        yield Column(short(head), place - 1, less=best_first.get(head, head != "scored"))


def _error_rows(
    part: ScorePart, rows: Sequence[tuple[str, tuple[Cell, ...]]]
) -> Iterator[tuple[str, list[tuple[Cell, float | None, str]]]]:
    """Each cell with its number, by which the column sorts, and its bar."""
    metrics = part.section.metrics
    longest = {
        metric: max(
            (abs(s.high or s.value) for e in part.section.entries if (s := e.score(metric)) and s.value), default=0.0
        )
        for metric in metrics
    }
    for entry, (label, cells) in zip(part.section.entries, rows, strict=True):
        timing, cover = entry.result.timing, entry.result.coverage
        keys = [_value(entry, metric.column) if entry.score(metric) else None for metric in metrics]
        keys += [
            float(cover.num_scored) if cover else 0.0,
            timing.median_sec_per_structure if timing else None,
            float(timing.peak_rss_bytes) if timing and timing.peak_rss_bytes is not None else None,
        ]
        bars = [_bar(entry, metric.column, longest[metric]) if entry.score(metric) else "" for metric in metrics]
        yield label, list(zip(cells, keys, [*bars, "", "", ""], strict=True))


def _difference_rows(
    part: ScorePart, rows: Sequence[tuple[str, tuple[Cell, ...]]]
) -> Iterator[tuple[str, list[tuple[Cell, float | None, str]]]]:
    for entry, (label, cells) in zip(part.section.entries, rows, strict=True):
        keys = []
        for metric, cell in zip(part.section.metrics, cells, strict=True):
            pair = part.pairs.get((entry.label, metric))
            found = pair.found.value if pair and pair.found else None
            keys.append(0.0 if cell.text == "best value" else found)
        yield label, [(cell, key, "") for cell, key in zip(cells, keys, strict=True)]


def _value(entry: Entry, column: str) -> float | None:
    return entry.result.scores[column].value


def _bar(entry: Entry, column: str, longest: float) -> str:
    """The value and its interval as percentages of the column's furthest end; none for what can be negative."""
    score = entry.result.scores[column]
    if score.value is None or score.metric == "r2" or score.value < 0 or longest <= 0:
        return ""
    ends = (score.value, score.low if score.low is not None else score.value, score.high or score.value)
    shares = (min(100.0, max(0.0, 100 * end / longest)) for end in ends)
    return "--v:{:.0f}%;--l:{:.1f}%;--h:{:.1f}%".format(*shares)


def _elements(elements: Elements) -> dict[str, Any]:
    """Lines by element, each cell shaded by its place on a log scale of three decades."""
    labels = list(elements.errors)
    largest = max((v for errors in elements.errors.values() for v in errors if v), default=1.0)
    rows = []
    for place, symbol in enumerate(elements.symbols):
        values = [elements.errors[label][place] for label in labels]
        cells = [(_figure(value), value, _shade(value, largest)) for value in values]
        rows.append((symbol, elements.num_structures[place], cells))
    return {"unit": elements.unit, "labels": [short(label) for label in labels], "rows": rows}


def _figure(value: float | None) -> str:
    return "–" if value is None else scored(value, None, None)[0]


def _shade(value: float | None, largest: float) -> str:
    if not value:
        return ""
    share = 1 + math.log10(value / largest) / 3
    return f"--v:{100 * max(0.0, share):.0f}%"


def _galleries(part: ScorePart, room: Room) -> Iterator[dict[str, Any]]:
    for target in dict.fromkeys(scale.target for scale in part.evidence.scales):
        named = part.section.named(target)
        for kind, title in TITLES.items():
            ours = [panel for panel in panels(part, kind) if panel.target == target]
            images = [image for panel in ours for image in room.take(partial(_of_panel, panel, named))]
            yield {"title": f"{title}: {named}", "images": images}


def _of_panel(panel: Panel, target: str) -> Image:
    return _image(
        lambda figure: panel.draw(figure.add_subplot()),
        PANEL_INCH[panel.kind],
        alt=f"{TITLES[panel.kind]}, {target}, {panel.label}: {panel.told}",
        name=short(panel.label),
        told=panel.told,
    )


def _tradeoffs(part: ScorePart, room: Room) -> Iterator[Image]:
    looks = styles(entry.label for entry in part.section.entries)
    for metric, found in tradeoffs(part):
        yield from room.take(partial(_of_tradeoff, metric, found, looks))


def _of_tradeoff(metric: Metric, found: Sequence[Dot], looks: dict[str, Style]) -> Image:
    told = f"{number(len(found), 0)} models; the numbers are in the table"
    return _image(
        lambda figure: draw_tradeoff(figure, metric, found, looks),
        TRADEOFF_INCH,
        alt=f"Accuracy against speed, {metric.head}: {told}",
        name=metric.head,
        told=told,
    )


def _image(draw: Callable[["Figure"], None], inch: tuple[float, float], *, alt: str, name: str, told: str) -> Image:
    from matplotlib.figure import Figure

    figure = Figure(figsize=inch, layout="constrained")
    draw(figure)
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", dpi=144, metadata=METADATA["svg"])
    address = "data:image/svg+xml;base64," + base64.b64encode(_compact(stream.getvalue())).decode()
    return Image(address, alt, name, told, width=round(inch[0] * 96), height=round(inch[1] * 96))


def _compact(svg: bytes) -> bytes:
    """Without what no viewer needs: comments' worth of white space between elements."""
    return b"\n".join(line.strip() for line in svg.splitlines() if line.strip())
