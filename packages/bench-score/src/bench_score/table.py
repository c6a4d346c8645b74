"""The table of a run: a row per model, a column per metric with its unit, and what has to be known beside it."""

from collections.abc import Sequence
from typing import NamedTuple

from bench_core.ranking import best_label
from bench_core.results import Status
from bench_core.scores import ScoreResult
from bench_core.threads import disagreements

from bench_score.config import ScoreConfig
from bench_score.units import unit_of_column

FACTS = ("model", "family", "level of theory", "parameters", "scored")
COSTS = ("time [ms/structure]", "peak memory [MB]")
DIGITS = 4


class Cell(NamedTuple):
    text: str
    interval: str = ""
    best: bool = False
    note: str = ""


class Table(NamedTuple):
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def column_units(cfg: ScoreConfig, rows: Sequence[ScoreResult] = ()) -> dict[str, str]:
    """Unit of each metric's column, `energy_mae` -> "eV/atom"; empty for a pure number.

    What stands in `rows` counts; a configuration without rows yet says what it would be.
    """
    units = {}
    for target, metric in cfg.metrics:
        own = {one.name: one.unit for one in cfg.custom_metrics}
        said = cfg.units.get(target)
        units[f"{target}_{metric}"] = unit_of_column(target, metric, said, own, per_atom=cfg.energy_per_atom)[0]
    for row in rows:
        units.update({column: score.unit for column, score in row.scores.items()})
    return units


def head(column: str, unit: str) -> str:
    return f"{column} [{unit}]" if unit else column


def build_table(cfg: ScoreConfig, rows: Sequence[ScoreResult]) -> Table:
    """What people read; `records` is for programs."""
    units = column_units(cfg, rows)
    best = {column: best_label(rows, column) for column in units}
    heads = (*FACTS, *(head(column, unit) for column, unit in units.items()), *COSTS)
    return Table(heads, tuple(_row(row, list(units), best) for row in rows))


def _row(row: ScoreResult, columns: Sequence[str], best: dict[str, str | None]) -> tuple[Cell, ...]:
    facts = (
        Cell(row.label),
        Cell(row.family),
        Cell(row.level_of_theory or "unknown"),
        Cell("" if row.num_parameters is None else f"{row.num_parameters:,}"),
        Cell(_scored(row), note=_why_not_all(row)),
    )
    if row.status is not Status.OK:
        cells = tuple(Cell(row.status, note=f"{row.status}: {row.reason}") for _ in columns)
        return (*facts, *cells, Cell(""), Cell(""))
    cells = tuple(_score(row, column, best[column] == row.label) for column in columns)
    timing = row.timing
    assert timing is not None
    sec = Cell(digits(timing.median_sec_per_structure * 1000), note="; ".join(_what_bears_on_time(row)))
    peak = "" if timing.peak_rss_bytes is None else f"{timing.peak_rss_bytes / 1e6:.0f}"
    return (*facts, *cells, sec, Cell(peak))


def _what_bears_on_time(row: ScoreResult) -> list[str]:
    found = []
    if row.timing and row.timing.at_once > 1:
        found.append(f"{row.timing.at_once} models were scored at once")
    if row.conditions:
        wrong = disagreements(row.conditions.threads_asked, row.conditions.threads_read)
        found += [f"asked for {row.conditions.threads_asked} threads, and {', '.join(wrong)}"] if wrong else []
    return found


def _score(row: ScoreResult, column: str, best: bool) -> Cell:
    score = row.scores.get(column)
    if score is None:
        return Cell("not scored")
    if score.value is None:
        return Cell("none", note=f"{column}: {score.reason}")
    interval = "" if score.low is None or score.high is None else f"{digits(score.low)} to {digits(score.high)}"
    return Cell(digits(score.value), interval, best, score.told or "")


def _scored(row: ScoreResult) -> str:
    if row.coverage is None:
        return f"0 of {row.data.num_structures}"
    return f"{row.coverage.num_scored} of {row.coverage.num_structures}"


def _why_not_all(row: ScoreResult) -> str:
    return "; ".join(row.coverage.told) if row.coverage else ""


def digits(value: float) -> str:
    """Four digits, zeros at the end too, without an exponent where a person reads it as well without."""
    if value == 0:
        return "0"
    scientific = f"{value:.{DIGITS - 1}e}"
    if not 1e-4 <= abs(value) < 1e6:
        return scientific
    exponent = int(scientific.partition("e")[2])  # of the rounded number: 9.9996 is 10.00
    return f"{value:.{max(0, DIGITS - 1 - exponent)}f}"
