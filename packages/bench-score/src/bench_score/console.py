"""The table of a run for a terminal: no intervals, which the files have, and what has to be known below it."""

from collections.abc import Iterator, Sequence

from bench_core import terminal
from bench_core.scores import ScoreResult
from bench_core.tables import aligned, wrapped
from bench_core.theory import compared_across

from bench_score.config import ScoreConfig
from bench_score.table import FACTS, Table, build_table


def shown(config: ScoreConfig, rows: Sequence[ScoreResult]) -> str:
    """Units stand under the names of columns."""
    table = build_table(config, rows)
    kept = [i for i, name in enumerate(table.heads) if name not in FACTS[1:4]]
    heads = [table.heads[i] for i in kept]
    body = [[f"{row[i].text}{'*' if row[i].best else ''}" for i in kept] for row in table.rows]
    names, units = zip(*(head.partition(" [")[::2] for head in heads), strict=True)
    under = [f"[{unit}" if unit else "" for unit in units]
    lines = aligned(names, [under, *body], right=names[1:])
    return terminal.visible("\n".join([*lines, *_below(table, rows)]))


def _below(table: Table, rows: Sequence[ScoreResult]) -> Iterator[str]:
    if any(cell.best for row in table.rows for cell in row):
        yield "* best, its interval apart from all others"
    across = compared_across(rows)
    if rows:
        theory = rows[0].data.level_of_theory or "an unknown level of theory"
        yield from wrapped(f"Labelled at {theory}; the intervals are in the files and in the report.", "")
    if across:
        yield from wrapped(f"{across}.", "")
    for told, labels in _on_fewer(rows).items():
        yield from wrapped(f"{told}: {', '.join(labels)}", "")


def _on_fewer(rows: Sequence[ScoreResult]) -> dict[str, list[str]]:
    """Models that were compared on fewer structures than are labelled, by the sentence that says so."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for told in dict.fromkeys(score.told for score in row.scores.values() if score.told):
            found.setdefault(told, []).append(row.label)
    return found
