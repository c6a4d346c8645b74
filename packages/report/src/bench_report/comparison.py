"""Who is faster in a row: ratios between libraries, the fastest one, and a winner where there is one."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from bench_core.statistics import Ratio, Sample, Verdict, independent_ratio, speed_ratio

from bench_report.sections import Column


def compare(column: Column, other: Column, transform: str) -> Ratio:
    """Speed of `column` over `other`: in pairs of neighbouring blocks in one run, else between independent processes.

    Raises:
        ValueError: one of them has no number.
    """
    return _compare(column, other, column.samples(transform), other.samples(transform))


def compare_all(columns: Sequence[Column], transform: str) -> dict[tuple[str, str], Ratio]:
    """(library, other library) -> speed of the first over the second, for all that have a number."""
    ratios: dict[tuple[str, str], Ratio] = {}
    having = [(column, samples) for column in columns if (samples := column.samples(transform))]
    for (column, ours), (other, base) in combinations(having, 2):
        found = _compare(column, other, ours, base)
        ratios[column.library, other.library] = found
        ratios[other.library, column.library] = found.inverse()
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


def _compare(column: Column, other: Column, ours: Sequence[Sample], base: Sequence[Sample]) -> Ratio:
    if column.bundle.run_id == other.bundle.run_id and _places(ours) & _places(base):
        return speed_ratio(ours, base)
    return independent_ratio(ours, base)


def _places(samples: Sequence[Sample]) -> set[tuple[int, int]]:
    return {(sample.round, sample.block) for sample in samples}
