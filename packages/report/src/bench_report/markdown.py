"""Markdown of a report. Whatever comes out of a result file is escaped: it can break no cell and no page."""

from collections.abc import Iterator, Sequence

import msgspec

from bench_report.environments import environment_table
from bench_report.figures import SPACE
from bench_report.report import Part, Report, compact_sheet
from bench_report.scores.part import ScorePart
from bench_report.scores.sections import ScoreSection
from bench_report.sections import Section
from bench_report.table import Cell, Sheet, Table, visible

JOINER = "\u2060"  # has no width, and no line is broken at it
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]|~$#"})
_HTML = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;"})


def render(report: Report) -> str:
    """The whole report as a document."""
    return f"# Results\n\n{tables(report)}"


def tables(report: Report) -> str:
    """How to read, every section with its highlights, tables and footnotes, then what the runs were made on."""
    speeds = _sections(report.how_to_read, report.parts)
    scores = _sections(report.how_to_read_scores, report.score_parts)
    return _joined([*speeds, *scores, *_environment(report.sections)])


def speed_tables(report: Report) -> str:
    """The same of speeds alone."""
    sections = [part.section for part in report.parts]
    return _joined([*_sections(report.how_to_read, report.parts), *_environment(sections)])


def score_tables(report: Report) -> str:
    """The same of scores alone."""
    sections = [part.section for part in report.score_parts]
    return _joined([*_sections(report.how_to_read_scores, report.score_parts), *_environment(sections)])


def summary(report: Report, more: str) -> str:
    """Highlights and the rows that compare something. `more` is the path of the document that has the rest."""
    lines: list[str] = []
    for part in report.parts:
        lines += _part_of_summary(part, compact_sheet(part, report.options))
    lines += _paragraphs(report.how_to_read[:2])  # its table shows no ratios
    return _joined([*lines, f"All rows, the ratios and what could not be measured: [{more}]({more})."])


def score_summary(report: Report, more: str) -> str:
    """What scored best, and the table of scores; `more` has the comparison in pairs and the rest."""
    lines: list[str] = []
    for part in report.score_parts:
        lines += (f"**{escape(part.sheet.title)}**", "", *_bullets(part.highlights))
        first = part.sheet.tables[0]
        marks = {cell.mark for _, cells in first.rows for cell in cells}
        legend = tuple((mark, meaning) for mark, meaning in part.sheet.legend if mark in marks)
        lines += _sheet(msgspec.structs.replace(part.sheet, tables=(first,), legend=legend))
    return _joined([*lines, f"How to read it, models in pairs and where they ran: [{more}]({more})."])


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line, without characters that cannot be seen."""
    return visible(text).translate(_HTML).translate(_SPECIAL)


def table_lines(table: Table) -> list[str]:
    """A table whose columns are as wide as their widest cell, figures flush right."""
    grid = [[escape(head) for head in table.heads]]
    grid += [[escape(label), *(_cell(cell) for cell in cells)] for label, cells in table.rows]
    widths = [max(3, *(_width(row[i]) for row in grid)) for i in range(len(table.heads))]
    head, *lines = [_line(row, widths) for row in grid]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [head, f"| {' | '.join(rule)} |", *lines]


def _sections(how_to_read: Sequence[str], parts: Sequence[Part | ScorePart]) -> Iterator[str]:
    yield from _paragraphs(how_to_read)
    for part in parts:
        yield from (f"## {escape(part.sheet.title)}", "", *_bullets(part.highlights), *_sheet(part.sheet))


def _environment(sections: Sequence[Section | ScoreSection]) -> Iterator[str]:
    environment = environment_table(sections)
    yield from (f"## {environment.title}", "", *table_lines(environment), "")


def _part_of_summary(part: Part, sheet: Sheet) -> Iterator[str]:
    yield from (f"**{escape(sheet.title)}**", "")
    yield from _bullets(part.highlights)
    yield from _sheet(sheet)


def _sheet(sheet: Sheet) -> Iterator[str]:
    yield from _paragraphs(sheet.caption)
    for notice in sheet.notices:
        yield from (f"> **Note.** {escape(notice)}.", "")
    for table in sheet.tables:
        yield from (f"**{escape(table.title)}**", "", *table_lines(table), "")
    marks = [f"{escape(mark)} {escape(meaning)}" for mark, meaning in sheet.legend]
    notes = [f"{_superscript(number)} {escape(note)}" for number, note in enumerate(sheet.notes, 1)]
    if marks or notes:
        yield from (*(f"- {line}" for line in (*marks, *notes)), "")


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    label, *cells = row
    gaps = [" " * (width - _width(cell)) for cell, width in zip(cells, widths[1:], strict=True)]
    padded = [label.ljust(widths[0]), *(gap + cell for gap, cell in zip(gaps, cells, strict=True))]
    return f"| {' | '.join(padded)} |"


def _width(text: str) -> int:
    return len(text) - text.count(JOINER)


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    parts = [f"**{text}**" if cell.strong else text]
    if cell.interval:
        # A line may be broken after a dash, and then a column of a page is as narrow as half an interval.
        parts.append(f"({escape(cell.interval)})".replace("–", f"{JOINER}–{JOINER}"))
    if cell.mark:
        parts.append(escape(cell.mark))
    parts += [_superscript(number) for number in cell.notes]
    return SPACE.join(parts)


def _superscript(number: int) -> str:
    return str(number).translate(_SUPERSCRIPT)


def _paragraphs(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield from (escape(text), "")


def _bullets(texts: Sequence[str]) -> Iterator[str]:
    yield from (*(f"- {escape(text)}" for text in texts), "")


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"
