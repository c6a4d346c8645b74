"""A history as a reader sees it: Markdown with steps marked, and tidy CSV."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench_core.bundle import Bundle
from bench_core.statistics import Verdict
from bench_core.tables import csv_value

from bench_report.compare_views import how_judged, ratio_text, run_text
from bench_report.figures import SPACE, UNITS, timing
from bench_report.history import History, Point
from bench_report.markdown import escape, table_lines
from bench_report.regression import CellKey, Rules
from bench_report.table import Cell, Table, short

MARKS = {Verdict.FASTER: "▲", Verdict.SLOWER: "▼"}
DIFFER = "≠"
NO_NUMBER = "–"
FIELDS = (
    "scenario",
    "mode",
    "device",
    "library",
    "transform",
    "run_id",
    "created_at",
    "version",
    "status",
    "items_per_sec",
    "items_per_sec_low",
    "items_per_sec_high",
    "previous_run_id",
    "ratio",
    "ratio_low",
    "ratio_high",
    "verdict",
    "why",
    "conditions_differ",
)


def to_markdown(history: History, rules: Rules, last: int) -> str:
    """The newest `last` runs as columns. Steps into older ones are listed all the same."""
    lines = ["# History", "", *_runs(history)]
    shown = range(max(0, len(history.bundles) - last), len(history.bundles))
    tables = dict.fromkeys(key.table for key in history.cells)
    for name in tables:
        cells = {key: points for key, points in history.cells.items() if key.table == name}
        lines += [f"## {escape(name)}", ""]
        lines += [*table_lines(_versions(history, cells, shown)), ""]
        lines += [*table_lines(_speeds(cells, shown)), ""]
        lines += _steps(history, cells)
    marks = f"{MARKS[Verdict.FASTER]} faster and {MARKS[Verdict.SLOWER]} slower than the cell's number before"
    lines += [f"{marks}; {DIFFER} measured under other conditions, so not compared; {NO_NUMBER} no number.", ""]
    return "\n".join([*lines, escape(how_judged(rules))]) + "\n"


def to_csv(history: History) -> str:
    """A line per cell and run, with every run."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for key, points in history.cells.items():
        for point in points:
            found = _record(history.bundles, key, point)
            writer.writerow([csv_value(found.get(name)) for name in FIELDS])
    return text.getvalue()


def writers(rules: Rules, last: int) -> dict[str, Callable[[History], str]]:
    return {"md": lambda history: to_markdown(history, rules, last), "csv": to_csv}


def _runs(history: History) -> list[str]:
    return [*(f"{number}. {escape(run_text(bundle))}" for number, bundle in enumerate(history.bundles, 1)), ""]


def _versions(history: History, cells: dict[CellKey, tuple[Point, ...]], shown: range) -> Table:
    found = {run: history.versions(run) for run in shown}
    libraries = dict.fromkeys(key.library for key in cells)
    rows = tuple(
        (short(library), tuple(Cell(short(found[run].get(library) or NO_NUMBER)) for run in shown))
        for library in libraries
    )
    return Table("", ("version in run", *(str(run + 1) for run in shown)), rows)


def _speeds(cells: dict[CellKey, tuple[Point, ...]], shown: range) -> Table:
    rows = []
    for key, points in cells.items():
        by_run = {point.run: point for point in points}
        rows.append((f"{short(key.library)} {short(key.transform)}", tuple(_cell(by_run.get(run)) for run in shown)))
    return Table("", ("img/s in run", *(str(run + 1) for run in shown)), tuple(rows))


def _cell(point: Point | None) -> Cell:
    if point is None:
        return Cell(NO_NUMBER)
    if point.summary is None:
        return Cell(point.status.value)
    text, _ = timing(UNITS["img/s"], point.summary.median_sec, None, None)
    if point.differ:
        return Cell(text, mark=DIFFER)
    return Cell(text, strong=point.step is not None, mark=MARKS[point.step] if point.step else None)


def _steps(history: History, cells: dict[CellKey, tuple[Point, ...]]) -> Iterator[str]:
    """Every step in words, oldest first; then what was not compared, and why."""
    points = sorted(((point.run, key, point) for key, found in cells.items() for point in found), key=lambda x: x[:2])
    told = [f"- {escape(_step(key, point))}" for _, key, point in points if point.step and point.change]
    yield from (*(told or ["No step."]), "")
    differ = {(point.previous, point.run, text) for _, _, point in points for text in point.differ}
    for before, after, text in sorted(differ, key=str):
        yield from (f"> {escape(f'Run {after + 1} was not compared with run {(before or 0) + 1}: {text}')}.", "")


def _step(key: CellKey, point: Point) -> str:
    change, step, previous = point.change, point.step, point.previous
    if change is None or step is None or previous is None:
        raise ValueError(f"{key} has no step in run {point.run}")
    text, interval = ratio_text(change)
    spread = f" ({interval})" if interval else ""
    return (
        f"run {point.run + 1}: {short(key.library)} {short(key.transform)} {MARKS[step]}{SPACE}{step} than in run "
        f"{previous + 1}, {text}{spread}"
    )


def _record(bundles: Sequence[Bundle], key: CellKey, point: Point) -> dict[str, Any]:
    bundle, summary, change = bundles[point.run], point.summary, point.change
    found: dict[str, Any] = {
        "scenario": key.scenario,
        "mode": key.mode,
        "device": key.device,
        "library": key.library,
        "transform": key.transform,
        "run_id": bundle.run_id,
        "created_at": bundle.created_at,
        "version": point.version,
        "status": point.status.value,
        "conditions_differ": "; ".join(point.differ) or None,
    }
    if summary:
        found |= {
            "items_per_sec": 1 / summary.median_sec,
            "items_per_sec_low": 1 / summary.high_sec if summary.high_sec else None,
            "items_per_sec_high": 1 / summary.low_sec if summary.low_sec else None,
        }
    if point.previous is not None:
        found["previous_run_id"] = bundles[point.previous].run_id
    if change:
        found |= {"ratio": change.ratio, "ratio_low": change.low, "ratio_high": change.high}
        found |= {"verdict": change.verdict.value, "why": change.why}
    return found
