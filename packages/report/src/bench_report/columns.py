"""Which columns are shown: libraries and models of the tables, and fields of the CSV and the JSON records."""

from collections.abc import Sequence

import msgspec
from bench_core import suggest

from bench_report.records import Record
from bench_report.scores.records import FIELDS as SCORE_FIELDS
from bench_report.scores.sections import ScoreSection
from bench_report.sections import Section

FIELDS = Record.__struct_fields__


class Columns(msgspec.Struct, frozen=True):
    """What is shown; all of a kind of which none is named."""

    fields: tuple[str, ...]  # of speeds, in the order they were named
    score_fields: tuple[str, ...]
    libraries: tuple[str, ...]
    models: tuple[str, ...]


def choose_columns(found: Sequence[Section], scored: Sequence[ScoreSection], names: Sequence[str]) -> Columns:
    """What of these tables was named.

    Raises:
        BenchError: a name is nothing of them.
    """
    libraries = dict.fromkeys(column.library for section in found for column in section.columns)
    models = dict.fromkeys(entry.label for section in scored for entry in section.entries)
    known = [*(FIELDS if found else ()), *(SCORE_FIELDS if scored else ())]
    for name in names:
        if name not in known and name not in libraries and name not in models:
            hint = "docs/publishing.md"
            raise suggest.unknown("column", name, [*libraries, *models, *known], source="--columns", hint=hint)
    wanted = dict.fromkeys(names)
    shown = [name for name in wanted if name not in known]
    return Columns(
        fields=tuple(name for name in wanted if name in FIELDS) or FIELDS,
        score_fields=tuple(name for name in wanted if name in SCORE_FIELDS) or SCORE_FIELDS,
        libraries=tuple(name for name in libraries if name in shown) or tuple(libraries),
        models=tuple(name for name in models if name in shown) or tuple(models),
    )


def of_libraries(found: Sequence[Section], libraries: Sequence[str]) -> tuple[Section, ...]:
    """Tables of these libraries alone: winners and ratios are among those that are shown."""
    kept = (
        msgspec.structs.replace(section, columns=tuple(c for c in section.columns if c.library in libraries))
        for section in found
    )
    return tuple(section for section in kept if section.columns)
