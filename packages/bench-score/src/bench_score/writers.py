"""Formats of a run's table: csv, json and md, and those that others register."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from bench_core import suggest
from bench_core.files import write_atomically
from bench_core.metrics import what_intervals_cover
from bench_core.scores import ScoreResult
from bench_core.tables import csv_value
from bench_core.theory import compared_across

from bench_score.config import ScoreConfig
from bench_score.parts import output_folder
from bench_score.table import Cell, build_table, column_units, head

PRESSURE_ONLY = "Of stress, the data know the pressure alone: the mean of the first three components is compared. "
Writer = Callable[[ScoreConfig, Sequence[ScoreResult]], str]
_writers: dict[str, Writer] = {}


def register_writer(name: str) -> Callable[[Writer], Writer]:
    """Offer a format: a function of the configuration and its rows that returns the file's text."""

    def register(writer: Writer) -> Writer:
        _writers[name] = writer
        return writer

    return register


def write_report(cfg: ScoreConfig, rows: Sequence[ScoreResult]) -> list[Path]:
    """Write the table in every format of the configuration; returns the files.

    Raises:
        BenchError: an unknown format, or a file that cannot be written.
    """
    chosen = {name: find_writer(name) for name in cfg.output.formats}
    paths = []
    for name, writer in chosen.items():
        path = output_folder(cfg) / f"{cfg.output.filename}.{name}"
        write_atomically(path, writer(cfg, rows).encode())
        paths.append(path)
    return paths


def find_writer(name: str) -> Writer:
    """The writer of a format.

    Raises:
        BenchError: nobody registered it.
    """
    if name not in _writers:
        raise suggest.unknown("format", name, list(_writers), source="output.formats")
    return _writers[name]


def records(cfg: ScoreConfig, rows: Sequence[ScoreResult]) -> list[dict[str, Any]]:
    """A flat record per model: every number with its unit in the name, and None where there is none."""
    units = column_units(cfg, rows)
    return [_record(row, units) for row in rows]


@register_writer("csv")
def _csv(cfg: ScoreConfig, rows: Sequence[ScoreResult]) -> str:
    found = records(cfg, rows)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(found[0]) if found else ["label"], lineterminator="\n")
    writer.writeheader()
    writer.writerows([{name: csv_value(value) for name, value in record.items()} for record in found])
    return stream.getvalue()


@register_writer("json")
def _json(cfg: ScoreConfig, rows: Sequence[ScoreResult]) -> str:
    said = {"name": cfg.name, "interval": _intervals(rows), "records": records(cfg, rows)}
    return msgspec.json.format(msgspec.json.encode(said), indent=1).decode() + "\n"


@register_writer("md")
def _markdown(cfg: ScoreConfig, rows: Sequence[ScoreResult]) -> str:
    table = build_table(cfg, rows)
    notes: dict[str, int] = {}
    lines = [f"# {_escaped(cfg.name)}", "", *_caption(rows), ""]
    lines += [_line(table.heads), _line(["---"] * len(table.heads))]
    lines += [_line([_cell(cell, notes) for cell in row]) for row in table.rows]
    lines += ["", *(f"{number}. {_escaped(note)}" for note, number in notes.items())]
    return "\n".join(lines).rstrip() + "\n"


def _intervals(rows: Sequence[ScoreResult]) -> str:
    return what_intervals_cover(grouped=any(row.data.num_groups < row.data.num_structures for row in rows))


def _caption(rows: Sequence[ScoreResult]) -> list[str]:
    if not rows:
        return ["No model was scored."]
    data = rows[0].data
    groups = "" if data.num_groups == data.num_structures else f" in {data.num_groups} groups"
    theory = _escaped(data.level_of_theory or "an unknown level of theory")
    return [
        f"{data.num_structures} structures{groups} of {_escaped(data.name)}, labelled at {theory}. "
        f"Energies are relative to: {_escaped(data.zero)}. {PRESSURE_ONLY if data.pressure_only else ''}"
        "**Bold**: best, its interval apart from all others.",
        *(["", f"**{_escaped(across)}.**"] if (across := compared_across(rows)) else []),
        "",
        _intervals(rows),
    ]


def _cell(cell: Cell, notes: dict[str, int]) -> str:
    text = _escaped(cell.text)
    if cell.best:
        text = f"**{text}**"
    if cell.interval:
        text += f" ({cell.interval})"
    if cell.note:
        text += f"<sup>{notes.setdefault(cell.note, len(notes) + 1)}</sup>"
    return text


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    one_line = " ".join(text.split())
    return "".join(f"\\{character}" if character in "\\`*_[]<>|#~" else character for character in one_line)


def _record(row: ScoreResult, units: dict[str, str]) -> dict[str, Any]:
    cover, timing = row.coverage, row.timing
    record: dict[str, Any] = {
        "label": row.label,
        "family": row.family,
        "status": str(row.status),
        "reason": row.reason,
        "model_level_of_theory": row.level_of_theory,
        "data_level_of_theory": row.data.level_of_theory,
        "n_params": row.num_parameters,
        "num_structures": row.data.num_structures,
        "num_scored": cover.num_scored if cover else 0,
        "num_nonfinite": cover.num_nonfinite if cover else 0,
        "num_failed": cover.num_failed if cover else 0,
        "missing_elements": " ".join(cover.missing_elements) if cover else "",
    }
    for column, unit in units.items():
        score = row.scores.get(column)
        record[head(column, unit)] = score.value if score else None
        record[head(f"{column}_low", unit)] = score.low if score else None
        record[head(f"{column}_high", unit)] = score.high if score else None
        record[f"{column}_num_structures"] = score.num_structures if score else 0
        record[f"{column}_num_labelled"] = score.num_labelled if score else 0
    record["sec_per_structure"] = timing.median_sec_per_structure if timing else None
    record["peak_rss_bytes"] = timing.peak_rss_bytes if timing else None
    record["checkpoint_sha256"] = row.checkpoint_sha256
    record["trusted_checkpoint"] = row.trusted
    return record
