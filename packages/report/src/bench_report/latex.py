"""LaTeX of a report: one longtable for each table, for \\input into a paper. Needs booktabs, longtable, and UTF-8.

Whatever comes out of a result file is escaped: it can run no command. Characters that plain LaTeX has no glyph for
become a question mark.
"""

import unicodedata
from collections.abc import Iterator, Sequence

from bench_report.report import Part, Report
from bench_report.scores.part import ScorePart
from bench_report.table import Cell, Table, visible

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "-": "-{}",  # two of them would make a dash
    "\u00a0": "~",
    "×": r"\ensuremath{\times}",
    "≈": r"\ensuremath{\approx}",
    "≠": r"\ensuremath{\neq}",
    "Å": r"\AA{}",
    "µ": r"\textmu{}",
    "–": r"\textendash{}",
    "…": r"\ldots{}",
}
HEAD = "% From bench report. Preamble: \\usepackage{booktabs,longtable,textcomp}, \\usepackage[T1]{fontenc}"


def render(report: Report) -> str:
    """Every section: its tables, what was measured, and the footnotes."""
    lines = [HEAD, ""]
    for part in report.all_parts:
        lines += _part(part)
    lines += [f"\\noindent {escape(text)}\\par" for text in (*report.how_to_read, *report.how_to_read_scores)]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX sets as it is, on one line."""
    return "".join(_ESCAPES.get(character) or _plain(character) for character in visible(text))


def _plain(character: str) -> str:
    if character.isascii():
        return character
    reduced = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return "".join(_ESCAPES.get(one, one) for one in reduced) or "?"


def _part(part: Part | ScorePart) -> Iterator[str]:
    sheet = part.sheet
    for notice in sheet.notices:
        yield f"\\noindent \\textbf{{Note.}} {escape(notice)}.\\par"
    for table in sheet.tables:
        yield from (*_table(table, f"{sheet.title}: {table.title}"), "")
    yield "{\\footnotesize"
    yield from (f"\\noindent {escape(text)}\\par" for text in (*sheet.caption, *part.highlights))
    yield from (f"\\noindent {escape(mark)} {escape(meaning)}\\par" for mark, meaning in sheet.legend)
    yield from (
        f"\\noindent \\textsuperscript{{{number}}} {escape(note)}\\par" for number, note in enumerate(sheet.notes, 1)
    )
    yield from ("}", "")


def _table(table: Table, title: str) -> Iterator[str]:
    head = f"{_line([escape(text) for text in table.heads])} \\midrule"
    yield f"\\begin{{longtable}}{{l{'r' * (len(table.heads) - 1)}}}"
    yield f"\\caption{{{escape(title)}}} \\\\ \\toprule"
    yield f"{head} \\endfirsthead"
    yield f"\\toprule {head} \\endhead"
    yield "\\bottomrule \\endlastfoot"
    yield from (_line([escape(label), *map(_cell, cells)]) for label, cells in table.rows)
    yield "\\end{longtable}"


def _line(cells: Sequence[str]) -> str:
    # A cell that begins with a bracket would be taken for an option of the line before.
    return " & ".join(f"{{}}{cell}" if cell.startswith(("[", "*")) else cell for cell in cells) + " \\\\"


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    parts = [f"\\textbf{{{text}}}" if cell.strong else text]
    if cell.interval:
        parts.append(f"({escape(cell.interval)})")
    if cell.mark:
        parts.append(escape(cell.mark))
    notes = "".join(f"\\textsuperscript{{{number}}}" for number in cell.notes)
    return "~".join(parts) + notes
