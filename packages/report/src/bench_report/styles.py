"""How a library looks on every chart of a report: a colour and a mark, so that neither is needed to tell it apart."""

from collections.abc import Iterable

import msgspec

from bench_report.table import NAME_LENGTH, short, visible

# Okabe and Ito's colours, which people with any colour vision tell apart; without their yellow, too pale on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# As many as have no common divisor with the colours: 77 libraries differ.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")


class Style(msgspec.Struct, frozen=True):
    color: str
    marker: str


def styles(libraries: Iterable[str]) -> dict[str, Style]:
    """The same library looks the same in every section; by name, as columns are."""
    names = sorted(set(libraries))
    return {name: Style(COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]) for i, name in enumerate(names)}


def plain(text: str, length: int = NAME_LENGTH) -> str:
    """Text from a result file on one line, of a bounded length, without characters that cannot be seen."""
    return short(visible(text), length)
