"""Scores compared between runs as a reader sees them: Markdown fit for a pull request, and JSON."""

from collections.abc import Callable, Iterable, Iterator

import msgspec
from bench_core import policy
from bench_core.bundle import Bundle

from bench_report.captions import date, percent_exact
from bench_report.markdown import escape, table_lines
from bench_report.scores.compare import ComparedScores, Key, Rules, ScoreChange, Verdict
from bench_report.scores.figures import probability, scored, signed
from bench_report.scores.views import machine
from bench_report.table import Cell, Table, short

JSON_VERSION = 1


def to_markdown(compared: ComparedScores) -> str:
    lines = ["## Scores compared", "", *_bullets([headline(compared)])]
    lines += _bullets(
        f"{name}: {run_text(bundle)}"
        for name, bundles in (("BASE", compared.base), ("NEW", compared.new))
        for bundle in bundles
    )
    lines += _bullets(compared.versions)
    for told in compared.mixed:
        lines += [f"> Scored under different conditions: {escape(told)}.", ""]
    for table in dict.fromkeys(change.key.table for change in compared.changes):
        lines += _table(table, [change for change in compared.changes if change.key.table == table])
    lines += _list("Changed otherwise", (_turned(turn.key, turn.told, turn.fails) for turn in compared.turned))
    lines += _list("No longer there", map(_name, compared.missing))
    lines += _list("New", map(_name, compared.added))
    return "\n".join([*lines, escape(how_judged(compared.rules))]) + "\n"


def to_json(compared: ComparedScores) -> str:
    """Everything, with the rules; a difference is NEW minus BASE."""
    document = {
        "json_version": JSON_VERSION,
        "kind": "scores",
        "base": [bundle.run_id for bundle in compared.base],
        "new": [bundle.run_id for bundle in compared.new],
        "rules": compared.rules,
        "regressed": compared.regressed,
        "mixed": compared.mixed,
        "versions": compared.versions,
        "changes": compared.changes,
        "turned": compared.turned,
        "missing": compared.missing,
        "added": compared.added,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


WRITERS: dict[str, Callable[[ComparedScores], str]] = {"md": to_markdown, "json": to_json}


def headline(compared: ComparedScores) -> str:
    counts = ", ".join(f"{len(compared.called(verdict))} {verdict}" for verdict in Verdict)
    return f"{counts}, of {len(compared.changes)} scores compared."


def how_judged(rules: Rules) -> str:
    """The rule in words."""
    return (
        "A difference is new minus base, on the structures that both scored, with the interval of the paired bootstrap "
        f"over groups ({percent_exact(policy.CONFIDENCE)}). A score is called worse or better when it changed by at "
        f"least {percent_exact(rules.min_effect)} of what it was, its interval excludes zero and, for mae, mse and "
        f"rmse, the sign-flip p-value is at most {percent_exact(rules.false_calls)} after adjusting for all that were "
        "tested (Holm)."
    )


def run_text(bundle: Bundle) -> str:
    return f"run {short(bundle.run_id)}, {date(bundle.created_at)}: {machine(bundle, list(bundle.scores.values()))}"


def change_cell(change: ScoreChange) -> Cell:
    """The difference with its interval and p-value."""
    found = change.found
    if found is None:
        return Cell("not compared")
    text, interval = signed(found.value, found.low, found.high)
    told = [interval] if interval else []
    if change.p_adjusted is not None:
        told.append(f"p {probability(change.p_adjusted)}")
    return Cell(text, ", ".join(told) or None)


def _table(name: str, found: Iterable[ScoreChange]) -> Iterator[str]:
    heads = ("model and metric", "base", "new", "new minus base", "structures", "verdict")
    rows = tuple((f"{short(change.key.model)} {change.metric.head}", _cells(change)) for change in found)
    yield from (f"**{escape(name)}**", "", *table_lines(Table(name, heads, rows)), "")


def _cells(change: ScoreChange) -> tuple[Cell, ...]:
    base, new = (scored(score.value or 0.0, score.low, score.high) for score in (change.base, change.new))
    called = change.verdict in (Verdict.WORSE, Verdict.BETTER)
    verdict = f"{change.verdict}: {change.why}" if change.why else change.verdict.value
    return (
        Cell(*base),
        Cell(*new),
        change_cell(change),
        Cell(str(change.found.num_structures) if change.found else "–"),
        Cell(verdict, strong=called),
    )


def _turned(key: Key, told: str, fails: bool) -> str:
    return f"{_name(key)}: {told}{' (a regression)' if fails else ''}"


def _name(key: Key) -> str:
    return f"{short(key.model)} ({key.table})"


def _list(title: str, texts: Iterable[str]) -> Iterator[str]:
    lines = list(_bullets(texts))
    if lines:
        yield from (f"**{title}**", "", *lines)


def _bullets(texts: Iterable[str]) -> Iterator[str]:
    lines = [f"- {escape(text)}" for text in texts]
    yield from (*lines, "") if lines else ()
