"""A table as every format sees it: columns, rows, and cells with their mark and footnotes. No format's syntax."""

import re
import unicodedata

import msgspec

NAME_LENGTH = 60  # of one name or version from a result file
TEXT_LENGTH = 300  # of one sentence from it
# Control, format (such as a change of writing direction), surrogate, private and unassigned characters, line ends.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


class Cell(msgspec.Struct, frozen=True):
    """What stands in one cell: a figure with its interval, or words. `notes` are numbers of the sheet's footnotes."""

    text: str
    interval: str | None = None
    strong: bool = False
    mark: str | None = None  # of the sheet's legend
    notes: tuple[int, ...] = ()


class Table(msgspec.Struct, frozen=True):
    """One grid. The first head is of the row labels; every row has a cell for each of the others."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


class Sheet(msgspec.Struct, frozen=True):
    """Tables over the same cells, with what is said over and under them."""

    title: str
    caption: tuple[str, ...]  # what was measured, on what, when
    notices: tuple[str, ...]  # warnings, to be seen before the tables
    tables: tuple[Table, ...]
    legend: tuple[tuple[str, str], ...]  # mark -> its meaning
    notes: tuple[str, ...]  # footnotes, numbered from 1


def short(text: str, length: int = NAME_LENGTH) -> str:
    """Text from a result file, cut so that one value cannot flood the page."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def visible(text: str) -> str:
    """`text` on one line, without characters that cannot be seen."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip(" ")
    seen = "".join(" " if unicodedata.category(character) in _UNSEEN else character for character in text)
    return re.sub(" +", " ", seen).strip(" ")


class Notes:
    """Collects footnotes: the same text gets the same number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(short(text, TEXT_LENGTH), len(self._numbers) + 1)

    def texts(self) -> tuple[str, ...]:
        return tuple(self._numbers)
