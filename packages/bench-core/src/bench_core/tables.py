"""Plain text for an 80-column terminal, aligned tables and wrapped sentences, and values for a spreadsheet."""

import textwrap
from collections.abc import Collection, Sequence

WIDTH = 80
# A spreadsheet takes a text that begins like this for a formula, and would run what a result file says.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> list[str]:
    """Lines of a table whose columns are as wide as their widest cell; those named in `right` are flush right."""
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    return [
        "  ".join(
            cell.rjust(width) if head in right else cell.ljust(width)
            for head, cell, width in zip(heads, row, widths, strict=True)
        ).rstrip()
        for row in (heads, *rows)
    ]


def wrapped(text: str, indent: str, hanging: str | None = None) -> list[str]:
    """`text` in lines of at most WIDTH characters; a word that is longer, such as a path, keeps a line of its own."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  " if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def csv_value(value: object) -> object:
    """None is empty; a text that a spreadsheet would run is quoted with an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
