"""The formats of a report: each turns it into the text of one file.

Others add formats by an entry point of the group `bench.writers`: its name is the format's, its object a function from
`bench_report.report.Report` to text or bytes. A `suffix` on the function names the file's ending, else the format does.
"""

import csv
import io
from collections.abc import Callable, Collection, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import msgspec
from bench_core import suggest
from bench_core.errors import BenchError, ExitCode
from bench_core.files import write_atomically
from bench_core.tables import csv_value

from bench_report import html, latex, markdown
from bench_report.conditions import differences
from bench_report.outputs import refuse_bundle
from bench_report.records import records
from bench_report.report import Part, Report
from bench_report.scores.conditions import differences as score_differences
from bench_report.scores.part import ScorePart
from bench_report.scores.records import score_records
from bench_report.sections import run_ids

FILE_NAME = "results"
JSON_VERSION = 1


def to_csv(report: Report) -> str:
    """Tidy: a line per library and transform, every number, the reference rows last; then one per model and metric."""
    names = dict.fromkeys(
        (*(report.fields if report.parts else ()), *(report.score_fields if report.score_parts else ()))
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for part in report.parts:
        for record in records(part.section, part.rows):
            writer.writerow([csv_value(getattr(record, name, None)) for name in names])
    for scored in report.score_parts:
        for score in score_records(scored.section, scored.pairs):
            writer.writerow([csv_value(getattr(score, name, None)) for name in names])
    return text.getvalue()


def to_json(report: Report) -> str:
    """The same records by table, with what was said over and under each."""
    document = {
        "json_version": JSON_VERSION,
        "runs": run_ids(report.sections),
        "how_to_read": (*report.how_to_read, *report.how_to_read_scores),
        "tables": [_json_table(part, report.fields) for part in report.parts],
        "scores": [_json_scores(part, report.score_fields) for part in report.score_parts],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


Writer = Callable[[Report], str | bytes]
WRITERS: dict[str, Writer] = {
    "md": markdown.render,
    "csv": to_csv,
    "json": to_json,
    "html": html.render,
    "latex": latex.render,
}
SUFFIXES = {"latex": "tex"}
WITHOUT_FIELDS = {"md", "html", "latex"}  # their columns are libraries
ENTRY_POINT_GROUP = "bench.writers"


def write_report(report: Report, formats: Collection[str], folder: Path) -> list[Path]:
    """Write one file per format into `folder`; what is there under these names is replaced.

    Raises:
        BenchError: an unknown format, a folder inside a committed run, or one that cannot be written.
    """
    writers = {name: find_writer(name) for name in formats}
    fields = {*(report.fields if report.parts else ()), *(report.score_fields if report.score_parts else ())}
    named = [name for name in report.options.columns if name in fields]
    if named and WITHOUT_FIELDS.issuperset(formats):
        raise BenchError(f"--columns {named[0]}: a column of the CSV and JSON records; --format asks for neither")
    refuse_bundle(folder)
    paths = []
    for name, writer in writers.items():
        path = folder / f"{FILE_NAME}.{SUFFIXES.get(name) or getattr(writer, 'suffix', name)}"
        content = writer(report)
        write_atomically(path, content.encode("utf-8") if isinstance(content, str) else content)
        paths.append(path)
    return paths


def find_writer(name: str) -> Writer:
    """Ours, or an installed package's.

    Raises:
        BenchError: nobody offers it, or what offers it cannot be imported.
    """
    if name in WRITERS:
        return WRITERS[name]
    offered = {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in offered:
        raise suggest.unknown("format", name, [*WRITERS, *offered], source="--format")
    try:
        writer: Writer = offered[name].load()
    except (ImportError, AttributeError) as error:
        raise BenchError(
            f"format {name!r} ({offered[name].value}) cannot be loaded: {error}", ExitCode.ENVIRONMENT
        ) from error
    return writer


def _json_table(part: Part, fields: Sequence[str]) -> dict[str, Any]:
    section, sheet = part.section, part.sheet
    return {
        "scenario": section.scenario,
        "media": section.media,
        "mode": section.mode,
        "device": section.device,
        "runs": run_ids([section]),
        "libraries": {column.library: column.version for column in section.columns},
        "excluded": section.excluded,
        "caption": sheet.caption,
        "notices": sheet.notices,
        "differences": differences(section),
        "highlights": part.highlights,
        "geometric_means": part.means,
        "records": [{name: getattr(record, name) for name in fields} for record in records(section, part.rows)],
    }


def _json_scores(part: ScorePart, fields: Sequence[str]) -> dict[str, Any]:
    section, sheet = part.section, part.sheet
    return {
        "dataset": section.dataset,
        "device": section.device,
        "runs": run_ids([section]),
        "models": {entry.label: entry.version for entry in section.entries},
        "caption": sheet.caption,
        "notices": sheet.notices,
        "differences": score_differences(section),
        "highlights": part.highlights,
        "by_element": part.evidence.elements,
        "records": [{name: getattr(record, name) for name in fields} for record in score_records(section, part.pairs)],
    }
