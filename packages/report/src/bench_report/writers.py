"""The formats of a report: each turns it into the text of one file."""

import csv
import io
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import msgspec
from bench_core import suggest
from bench_core.bundle import COMMITTED
from bench_core.errors import BenchError, ExitCode
from bench_core.files import write_atomically

from bench_report import markdown
from bench_report.conditions import differences
from bench_report.records import Record, records
from bench_report.report import Part, Report
from bench_report.sections import run_ids

FILE_NAME = "results"
JSON_VERSION = 1
# A spreadsheet takes a text that begins like this for a formula, and would run what a result file says.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(report: Report) -> str:
    """Tidy: a line per library and transform, every number, the reference rows last."""
    names = Record.__struct_fields__
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for part in report.parts:
        for record in records(part.section, part.rows):
            writer.writerow([_csv_value(getattr(record, name)) for name in names])
    return text.getvalue()


def to_json(report: Report) -> str:
    """The same records by table, with what was said over and under each."""
    document = {
        "json_version": JSON_VERSION,
        "runs": run_ids([part.section for part in report.parts]),
        "how_to_read": report.how_to_read,
        "tables": [_json_table(part) for part in report.parts],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


WRITERS: dict[str, Callable[[Report], str]] = {"md": markdown.render, "csv": to_csv, "json": to_json}


def write_report(report: Report, formats: Collection[str], folder: Path) -> list[Path]:
    """Write one file per format into `folder`; what is there under these names is replaced.

    Raises:
        BenchError: an unknown format, a folder inside a committed run, or one that cannot be written.
    """
    for name in formats:
        if name not in WRITERS:
            raise suggest.unknown("format", name, list(WRITERS), source="--format")
    _refuse_bundle(folder)
    paths = []
    for name in dict.fromkeys(formats):
        path = folder / f"{FILE_NAME}.{name}"
        write_atomically(path, WRITERS[name](report).encode("utf-8"))
        paths.append(path)
    return paths


def _refuse_bundle(folder: Path) -> None:
    for place in (folder.absolute(), *folder.absolute().parents):
        if (place / COMMITTED).exists():
            raise BenchError(
                f"--output {folder}: {place} is a committed run, which is never changed; choose a folder outside it",
                ExitCode.OUTPUT,
            )


def _json_table(part: Part) -> dict[str, Any]:
    section, sheet = part.section, part.sheet
    return {
        "scenario": section.scenario,
        "media": section.media,
        "mode": section.mode,
        "device": section.device,
        "runs": run_ids([section]),
        "libraries": {column.library: column.version for column in section.columns},
        "caption": sheet.caption,
        "notices": sheet.notices,
        "differences": differences(section),
        "highlights": part.highlights,
        "records": list(records(section, part.rows)),
    }


def _csv_value(value: object) -> object:
    """None is empty; a text that a spreadsheet would run is quoted with an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
