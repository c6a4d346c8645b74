"""Which columns are shown: libraries of the tables, and fields of the CSV and the JSON records."""

from collections.abc import Sequence

import msgspec
from bench_core import suggest

from bench_report.records import Record
from bench_report.sections import Section

FIELDS = Record.__struct_fields__


def choose_columns(found: Sequence[Section], names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(fields in the order they were named, libraries); all of a kind of which none is named.

    Raises:
        BenchError: a name is neither.
    """
    libraries = tuple(dict.fromkeys(column.library for section in found for column in section.columns))
    for name in names:
        if name not in FIELDS and name not in libraries:
            hint = "docs/publishing.md"
            raise suggest.unknown("column", name, [*libraries, *FIELDS], source="--columns", hint=hint)
    fields = tuple(dict.fromkeys(name for name in names if name in FIELDS))
    return fields or FIELDS, tuple(name for name in libraries if name in names and name not in FIELDS) or libraries


def of_libraries(found: Sequence[Section], libraries: Sequence[str]) -> tuple[Section, ...]:
    """Tables of these libraries alone: winners and ratios are among those that are shown."""
    kept = (
        msgspec.structs.replace(section, columns=tuple(c for c in section.columns if c.library in libraries))
        for section in found
    )
    return tuple(section for section in kept if section.columns)
