"""One page that works from a file: tables, pictures and noise, with their style and script inside.

Everything that comes out of a result reaches the page through a template that escapes it, or as a number. The
page forbids itself, by its content policy, to load anything and to run any script but its own.
"""

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any

import msgspec
from bench_core import policy
from bench_core.results import YARDSTICK
from bench_core.statistics import Summary
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bench_report import captions, noise
from bench_report.captions import percent_exact
from bench_report.comparison import fastest
from bench_report.figures import UNITS, variation
from bench_report.pictures import GALLERY_BYTES, NOTABLE_LEVELS, Room, galleries, inputs
from bench_report.report import Options, Part, Report
from bench_report.rows import Row
from bench_report.scores import page as scores
from bench_report.sections import Section, run_ids
from bench_report.table import Cell, short, visible

PAGE_BYTES = 3_000_000  # a page larger than this is slow to open on a phone
SPARE_BYTES = 50_000  # for what frames the panels


def render(report: Report) -> str:
    """The whole page. Pictures get the room that tables and noise leave; those of scores half of it, beside others."""
    parts = [_part(number, part, report.options) for number, part in enumerate(report.parts)]
    shared = {"parts": parts, "units": [(key, unit.name, unit.title) for key, unit in UNITS.items()]}
    data = _data(report)
    room = PAGE_BYTES - SPARE_BYTES - len(data)
    panels = []
    if parts:
        speed, steady = _panel("speed.html", shared), _panel("noise.html", shared)
        num_rows = sum(len(part.rows) for part in report.parts)
        room -= num_rows * GALLERY_BYTES + sum(len(text.encode()) for text in (speed, steady))
        panels = [("speed", "Speed", speed), ("noise", "Noise", steady)]
    if report.score_parts:
        scored = _scores(report, room // 2 if parts else room)
        room -= len(scored.encode())
        panels.append(("scores", "Scores", scored))
    if parts:
        panels.insert(1, ("pictures", "Pictures", _panel("pictures.html", shared | _pictures(report, Room(room)))))
    script = _resource("page.js")
    spoken = captions.how_to_read(None, report.options.baseline) if parts else ()
    return (
        _environment()
        .get_template("page.html")
        .render(
            title=_title(report),
            runs=[*_runs(report), *scores.score_runs(report)],
            parts=parts,
            score_parts=report.score_parts,
            panels=panels,
            how_to_read=(*spoken, *report.how_to_read_scores),
            style=_ours(_resource("page.css") + _resource("scores.css")),
            script=_ours(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            data=_ours(data),
        )
    )


def _panel(name: str, values: dict[str, Any]) -> Markup:
    return _ours(_environment().get_template(name).render(values))


def _scores(report: Report, num_bytes: int) -> Markup:
    """The panel of scores; its pictures get the room that its tables leave."""
    tables = _panel("scores.html", scores.score_parts(report, scores.Room(0)))
    return _panel("scores.html", scores.score_parts(report, scores.Room(num_bytes - len(tables.encode()))))


def _ours(text: str) -> Markup:
    """Text that is not escaped again: a file of this package, what a template escaped, or JSON of numbers."""
    return Markup(text)  # noqa: S704


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("bench_report", "page"),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _resource(name: str) -> str:
    return files("bench_report").joinpath("page", name).read_text(encoding="utf-8")


def _title(report: Report) -> str:
    speeds = ", ".join(dict.fromkeys(short(part.section.scenario) for part in report.parts))
    datasets = ", ".join(dict.fromkeys(short(part.section.dataset) for part in report.score_parts))
    told = {"Augmentation speed": speeds, "Model scores": datasets}
    return "; ".join(f"{what}: {names}" for what, names in told.items() if names)


def _runs(report: Report) -> Iterator[dict[str, Any]]:
    """What was measured, on what, when: one list of facts for each run."""
    for run_id in run_ids([part.section for part in report.parts]):
        columns = [c for part in report.parts for c in part.section.columns if c.bundle.run_id == run_id]
        bundle, head = columns[0].bundle, columns[0].result
        versions = {column.library: column.version or "(version unknown)" for column in columns}
        yield {
            "Run": f"{short(run_id)}, {captions.date(bundle.created_at)}",
            "Libraries": ", ".join(short(f"{library} {version}") for library, version in versions.items()),
            "Machine": captions.machine(bundle, [column.result for column in columns]),
            "Items": captions.items(head),
            "Measured": captions.shape(head),
        }


def _part(number: int, part: Part, options: Options) -> dict[str, Any]:
    """One table as the templates see it."""
    table = part.sheet.tables[0]
    count = len(part.rows)
    rows = zip(part.rows, table.rows[:count], strict=True)
    return {
        "id": f"part-{number}",
        "title": part.sheet.title,
        "libraries": [short(column.library) for column in part.section.columns],
        "baseline": _place(part.section, options.baseline),
        "unit": options.unit,
        "heads": table.heads,
        "rows": [(row.comparable, label, _cells(row, cells)) for row, (label, cells) in rows],
        "references": table.rows[count:],
        "highlights": part.highlights,
        "notices": part.sheet.notices,
        "legend": part.sheet.legend,
        "marks": dict(part.sheet.legend),
        "notes": part.sheet.notes,
        "noise": noise.summary(part.section, part.rows),
        "steadiness": noise.steadiness(part.section),
        "unstable_cv": percent_exact(policy.UNSTABLE_CV),
        "spreads": [(short(row.transform), list(_spreads(row))) for row in part.rows],
    }


def _cells(row: Row, cells: tuple[Cell, ...]) -> list[tuple[Cell, str, str]]:
    """Each cell with its bar (speed and interval as percentages of the row's furthest end) and why it is marked."""
    summaries = [row.cells[library].summary for library in row.cells]
    ends = [1 / (s.low_sec or s.median_sec) for s in summaries if s]
    longest = max(ends, default=1.0)

    def bar(index: int) -> str:
        found = summaries[index]
        if found is None:
            return ""
        low, high = found.high_sec or found.median_sec, found.low_sec or found.median_sec
        shares = (100 / sec / longest for sec in (found.median_sec, low, high))
        return "--v:{:.0f}%;--l:{:.1f}%;--h:{:.1f}%".format(*shares)

    def varies(index: int) -> str:
        found = summaries[index]
        return f"CV {variation(found.cv)}" if found and found.unstable and found.cv is not None else ""

    return [(cell, bar(index), varies(index)) for index, cell in enumerate(cells)]


def _spreads(row: Row) -> Iterator[tuple[str, bool]]:
    """Each cell's coefficient of variation, and whether that makes it unstable."""
    for cell in row.cells.values():
        summary = cell.summary
        yield (variation(summary.cv), summary.unstable) if summary and summary.cv is not None else ("", False)


def _place(section: Section, library: str | None) -> int | None:
    """A library's column; None when it has none here."""
    return next((place for place, column in enumerate(section.columns) if column.library == library), None)


def _pictures(report: Report, room: Room) -> dict[str, Any]:
    shown = [
        (f"part-{number}", part.sheet.title, inputs(part.section, room), list(galleries(part.section, part.rows, room)))
        for number, part in enumerate(report.parts)
    ]
    return {"shown": shown, "num_left_out": room.num_left_out, "notable": f"{NOTABLE_LEVELS:g}"}


def _data(report: Report) -> str:
    """The numbers the script works with, as JSON that cannot end the element it stands in."""
    parts = [
        {
            "rows": [_numbers(part.section, row) for row in part.rows],
            "copies": [_thousandths(s.copies) for s in noise.steadiness(part.section)],
            "copy": [_timed(column.result.references.get(YARDSTICK)) for column in part.section.columns],
        }
        for part in report.parts
    ]
    text = msgspec.json.encode(parts).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _numbers(section: Section, row: Row) -> dict[str, Any]:
    """One row: times, ratios of each pair of columns, values by round; libraries by their column's place.

    Lists are flat, since there are thousands. Of each pair: speed of the earlier column over the later, low, high, and
    1 where the verdict is not inconclusive. Of each column in `ends`: see `_ends`.
    """
    libraries = list(row.cells)
    summaries = [cell.summary for cell in row.cells.values()]
    return {
        "sec": [_rounded(summary.median_sec) if summary else None for summary in summaries],
        "ends": [end for summary in summaries for end in _ends(summary)],
        "cv": [round(summary.cv, 4) if summary and summary.cv is not None else None for summary in summaries],
        "ratios": [number for pair in combinations(libraries, 2) for number in _ratio(row, pair)],
        "fastest": libraries.index(first) if (first := fastest(row.ratios)) else None,
        "rounds": [_thousandths(noise.by_round(column.samples(row.transform))) for column in section.columns],
    }


def _timed(summary: Summary | None) -> list[float | int | None] | None:
    """Seconds of a reference row, with its ends."""
    return [_rounded(summary.median_sec), *_ends(summary)] if summary else None


def _ends(summary: Summary | None) -> tuple[int | None, int | None]:
    """How far an interval reaches below and above its median, in hundred-thousandths of it."""
    if summary is None or summary.low_sec is None or summary.high_sec is None:
        return None, None
    return round((1 - summary.low_sec / summary.median_sec) * 1e5), round(
        (summary.high_sec / summary.median_sec - 1) * 1e5
    )


def _ratio(row: Row, pair: tuple[str, str]) -> list[float | int | None]:
    found = row.ratios.get(pair)
    if found is None:
        return [None] * 4
    ends = [None if end is None else _rounded(end) for end in (found.low, found.high)]
    return [_rounded(found.ratio), *ends, int(found.verdict != "inconclusive")]


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def _thousandths(relative: tuple[float, ...]) -> list[int]:
    return [round(value * 1000) for value in relative]
