"""The same scores over many runs, oldest first, and where they became worse or better; as Markdown and CSV."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

import msgspec
from bench_core.bundle import Bundle
from bench_core.errors import BenchError, ExitCode
from bench_core.scores import Score
from bench_core.tables import csv_value

from bench_report.markdown import escape, table_lines
from bench_report.scores.compare import (
    Key,
    Rules,
    ScoreChange,
    Verdict,
    changes,
    conditions_differ,
    judge,
    key_of,
)
from bench_report.scores.compare_views import change_cell, how_judged, run_text
from bench_report.scores.figures import scored
from bench_report.scores.sections import Entry, Metric, ScoreSection, score_sections
from bench_report.sides import refuse_repeats
from bench_report.table import Cell, Table, short

MARKS = {Verdict.WORSE: "▲", Verdict.BETTER: "▼"}
DIFFER = "≠"
NO_NUMBER = "–"
FIELDS = (
    "dataset",
    "dataset_fingerprint",
    "device",
    "model",
    "metric",
    "unit",
    "run_id",
    "created_at",
    "version",
    "status",
    "value",
    "value_low",
    "value_high",
    "previous_run_id",
    "difference",
    "difference_low",
    "difference_high",
    "p_value_holm",
    "verdict",
    "why",
    "conditions_differ",
)


class ScorePoint(msgspec.Struct, frozen=True):
    """One score in one run. `change` is from the run before that has it; `differ` says why it is not judged."""

    entry: Entry
    score: Score | None
    previous: str | None = None  # run_id
    change: ScoreChange | None = None
    differ: tuple[str, ...] = ()


class ScoreHistory(msgspec.Struct, frozen=True):
    bundles: tuple[Bundle, ...]  # oldest first
    rows: Mapping[tuple[Key, Metric], Mapping[str, ScorePoint]]  # by run_id


def build_score_history(found: Iterable[Bundle], rules: Rules) -> ScoreHistory:
    """Put every score's runs in order and compare each with the one before.

    Raises:
        BenchError: a run is there twice, fewer than two are, or predictions are damaged.
    """
    bundles = tuple(sorted(found, key=lambda bundle: (bundle.created_at, bundle.run_id)))
    refuse_repeats(bundles)
    if len(bundles) < 2:
        raise BenchError("a history needs two runs or more", ExitCode.NOTHING_COMPARABLE)
    runs: dict[Key, list[tuple[ScoreSection, Entry]]] = {}
    for bundle in bundles:
        for section in score_sections([bundle]):
            for entry in section.entries:
                runs.setdefault(key_of(entry), []).append((section, entry))
    steps = _steps(runs, rules)
    rows: dict[tuple[Key, Metric], dict[str, ScorePoint]] = {}
    for key, entries in runs.items():
        for metric in dict.fromkeys(metric for section, _ in entries for metric in section.metrics):
            rows[key, metric] = {
                entry.bundle.run_id: _point(entry, metric, steps.get((key, entry.bundle.run_id)))
                for _, entry in entries
            }
    return ScoreHistory(bundles, rows)


class Step(msgspec.Struct, frozen=True):
    """A model's result after another: the changes of its metrics, or why they are not judged."""

    previous: str
    changes: tuple[ScoreChange, ...] = ()
    differ: tuple[str, ...] = ()


def _steps(runs: Mapping[Key, list[tuple[ScoreSection, Entry]]], rules: Rules) -> dict[tuple[Key, str], Step]:
    """By model and run; all changes of a history are judged together."""
    steps: dict[tuple[Key, str], Step] = {}
    found: list[ScoreChange] = []
    places: list[tuple[Key, str]] = []
    for key, entries in runs.items():
        for before, after in pairwise(entries):
            place = (key, after[1].bundle.run_id)
            differ = conditions_differ(before[1], after[1])
            steps[place] = Step(before[1].bundle.run_id, differ=differ)
            ours = [] if differ else list(changes(key, before, after))
            found += ours
            places += [place] * len(ours)
    for place, change in zip(places, judge(found, rules), strict=True):
        steps[place] = msgspec.structs.replace(steps[place], changes=(*steps[place].changes, change))
    return steps


def _point(entry: Entry, metric: Metric, step: Step | None) -> ScorePoint:
    score = entry.score(metric)
    if step is None or score is None:
        return ScorePoint(entry, score)
    change = next((change for change in step.changes if change.metric == metric), None)
    return ScorePoint(entry, score, step.previous, change, step.differ)


def to_markdown(history: ScoreHistory, rules: Rules, last: int) -> str:
    """The newest `last` runs as columns. Steps into older ones are listed all the same."""
    lines = ["# History of scores", ""]
    lines += [*(f"{number}. {escape(run_text(bundle))}" for number, bundle in enumerate(history.bundles, 1)), ""]
    shown = list(enumerate(history.bundles, 1))[-last:]
    for table in dict.fromkeys(key.table for key, _ in history.rows):
        ours = {place: points for place, points in history.rows.items() if place[0].table == table}
        heads = ("model and metric", *(f"run {number}" for number, _ in shown))
        rows = tuple(
            (f"{short(key.model)} {metric.head}", tuple(_cell(points.get(bundle.run_id)) for _, bundle in shown))
            for (key, metric), points in ours.items()
        )
        lines += [f"## {escape(table)}", "", *table_lines(Table(table, heads, rows)), ""]
        steps = [escape(text) for (_, metric), points in ours.items() for text in _told(history, metric, points)]
        lines += [*(f"- {text}" for text in steps), ""] if steps else []
    marks = f"{MARKS[Verdict.WORSE]} worse and {MARKS[Verdict.BETTER]} better than the run before that has the score"
    lines += [f"{marks}; {DIFFER} scored under other conditions, so not compared; {NO_NUMBER} no number.", ""]
    return "\n".join([*lines, escape(how_judged(rules))]) + "\n"


def to_csv(history: ScoreHistory) -> str:
    """A line per score and run."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for (key, metric), points in history.rows.items():
        for point in points.values():
            record = _record(key, metric, point)
            writer.writerow([csv_value(record.get(name)) for name in FIELDS])
    return text.getvalue()


def writers(rules: Rules, last: int) -> dict[str, Callable[[ScoreHistory], str]]:
    return {"md": lambda history: to_markdown(history, rules, last), "csv": to_csv}


def _cell(point: ScorePoint | None) -> Cell:
    if point is None:
        return Cell(NO_NUMBER)
    if point.score is None or point.score.value is None:
        return Cell(point.entry.result.status.value if not point.entry.ok else NO_NUMBER)
    text, interval = scored(point.score.value, point.score.low, point.score.high)
    mark = MARKS.get(point.change.verdict) if point.change else DIFFER if point.differ else None
    return Cell(text, interval, mark=mark)


def _told(history: ScoreHistory, metric: Metric, points: Mapping[str, ScorePoint]) -> Iterable[str]:
    """The steps of a row, and conditions that kept it from being compared, in words."""
    numbers = {bundle.run_id: number for number, bundle in enumerate(history.bundles, 1)}
    for run_id, point in points.items():
        name = f"{short(point.entry.label)} {metric.column}, run {numbers[run_id]}"
        if point.differ:
            yield f"{name}: not compared: {'; '.join(point.differ)}"
        elif point.change and point.change.verdict in MARKS and point.previous:
            cell = change_cell(point.change)
            yield (
                f"{name}: {point.change.verdict} than run {numbers[point.previous]} by {cell.text} {metric.unit} "
                f"({cell.interval})"
            )


def _record(key: Key, metric: Metric, point: ScorePoint) -> dict[str, object]:
    entry, score, change = point.entry, point.score, point.change
    record: dict[str, object] = {
        "dataset": key.dataset,
        "dataset_fingerprint": key.fingerprint,
        "device": key.device,
        "model": key.model,
        "metric": metric.column,
        "unit": metric.unit,
        "run_id": entry.bundle.run_id,
        "created_at": entry.bundle.created_at,
        "version": entry.version,
        "status": entry.result.status.value,
        "previous_run_id": point.previous,
        "conditions_differ": "; ".join(point.differ) or None,
    }
    if score:
        record |= {"value": score.value, "value_low": score.low, "value_high": score.high}
    if change:
        record |= {"p_value_holm": change.p_adjusted, "verdict": change.verdict.value, "why": change.why}
    if change and change.found:
        found = change.found
        record |= {"difference": found.value, "difference_low": found.low, "difference_high": found.high}
    return record
