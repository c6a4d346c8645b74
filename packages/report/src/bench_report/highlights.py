"""The result of a table in a few sentences: who wins how many rows, and in how many nobody does."""

from collections.abc import Sequence

import msgspec

from bench_report.rows import Row
from bench_report.sections import Section


class Highlights(msgspec.Struct, frozen=True):
    """Counts over the rows that at least two libraries have a number in."""

    num_comparable: int
    wins: dict[str, int]  # by library, in the order of the columns
    chances: dict[str, int]  # comparable rows the library has a number in
    no_winner: int
    single: int  # rows only one library has a number in
    none: int  # rows without any number


def highlights(section: Section, rows: Sequence[Row]) -> Highlights:
    comparable = [row for row in rows if row.comparable]
    libraries = [column.library for column in section.columns]
    return Highlights(
        num_comparable=len(comparable),
        wins={library: sum(row.winner == library for row in comparable) for library in libraries},
        chances={library: sum(library in row.measured for row in comparable) for library in libraries},
        no_winner=sum(row.winner is None for row in comparable),
        single=sum(len(row.measured) == 1 for row in rows),
        none=sum(not row.measured for row in rows),
    )


def sentences(found: Highlights) -> tuple[str, ...]:
    """The counts in words."""
    if not found.num_comparable:
        return ("No transform was measured in two libraries, so nothing is compared.",)
    wins = ", ".join(
        f"{library} in {wins}{_of_fewer(found, library)}"
        for library, wins in sorted(found.wins.items(), key=lambda item: (-item[1], item[0]))
    )
    told = [
        f"{_transforms(found.num_comparable)} compared. Clear winners: {wins}. "
        f"Without a clear winner: {found.no_winner}."
    ]
    if found.single:
        told.append(f"{_transforms(found.single)} measured in one library only.")
    if found.none:
        told.append(f"{_transforms(found.none)} measured in none.")
    return tuple(told)


def _of_fewer(found: Highlights, library: str) -> str:
    """Of how many, for a library that has not a number in every compared row."""
    chances = found.chances[library]
    return "" if chances == found.num_comparable else f" (of the {chances} it has)"


def _transforms(count: int) -> str:
    return f"{count} transform{'' if count == 1 else 's'}"
