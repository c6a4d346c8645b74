"""Who is faster in a row: ratios between libraries, the fastest one, and a winner where there is one."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from bench_core.statistics import Ratio, Sample, Verdict, independent_ratio, speed_ratio

from bench_report.sections import Column

# Samples by what is equal for blocks whose values were timed in turns: run, round, block and when it began.
Timed = Mapping[tuple[str, int, int, str], Sample]


def compare(column: Column, other: Column, transform: str) -> Ratio:
    """Speed of `column` over `other`: from the blocks they took turns in, or else between independent processes.

    In one run blocks stand apart where a library was lost and measured later, when the run was resumed.

    Raises:
        ValueError: one of them has no number.
    """
    return _compare(_timed(column, transform), _timed(other, transform))


def compare_all(columns: Sequence[Column], transform: str) -> dict[tuple[str, str], Ratio]:
    """(library, other library) -> speed of the first over the second, for all that have a number."""
    ratios: dict[tuple[str, str], Ratio] = {}
    having = [(column.library, timed) for column in columns if (timed := _timed(column, transform))]
    for (library, ours), (other, base) in combinations(having, 2):
        found = _compare(ours, base)
        ratios[library, other] = found
        ratios[other, library] = found.inverse()
    return ratios


def fastest(ratios: Mapping[tuple[str, str], Ratio]) -> str | None:
    """The library whose ratio to the nearest other is largest. Its lead may be within the intervals."""
    least: dict[str, float] = {}
    for (library, _), found in ratios.items():
        least[library] = min(found.ratio, least.get(library, found.ratio))
    return max(least, key=lambda library: least[library], default=None)


def winner(ratios: dict[tuple[str, str], Ratio]) -> str | None:
    """The library that is called faster than every other of the row; None when there is no such."""
    libraries = {library for library, _ in ratios}
    for library in libraries:
        verdicts = {found.verdict for (one, _), found in ratios.items() if one == library}
        if verdicts == {Verdict.FASTER}:
            return library
    return None


def _timed(column: Column, transform: str) -> Timed:
    run_id = column.bundle.run_id
    return {(run_id, b.round, b.block, b.started_at): b.sample() for b in column.blocks(transform)}


def _compare(ours: Timed, base: Timed) -> Ratio:
    together = ours.keys() & base.keys()
    if together:
        return speed_ratio([ours[turns] for turns in together], [base[turns] for turns in together])
    return independent_ratio(list(ours.values()), list(base.values()))
