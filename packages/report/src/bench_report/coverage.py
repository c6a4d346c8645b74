"""Which transforms of a published set some results still lack, and the documents that list the sets.

A set asks for the transforms that at least two of the chosen libraries offer: one library compares nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from bench_core import policy, suggest
from bench_core.bundle import Bundle
from bench_core.catalog import Catalog, Transform
from bench_core.files import write_atomically
from bench_core.matrix import Matrix
from bench_core.results import Measurement, Status
from bench_core.support import offered

from bench_report import markdown
from bench_report.rows import NOT_RUN
from bench_report.sections import Section, sections
from bench_report.table import Cell, Table

SET = "paper"
FOLDER = "docs/paper_transform_sets"
# What answers the question of a cell: a number, or that there is none for a reason that measuring again cannot change.
ANSWERED = {Status.OK, Status.SLOW, Status.EXCLUDED, Status.UNSUPPORTED}


class Coverage(msgspec.Struct, frozen=True):
    """One scenario, mode and device of a set."""

    name: str
    num_asked: int
    lacking: dict[str, dict[str, str]]  # transform -> library -> its status, or "not run"

    @property
    def complete(self) -> bool:
        return not self.lacking


def coverage(
    bundles: Iterable[Bundle], matrix: Matrix, catalog: Catalog, set_name: str, libraries: Collection[str]
) -> tuple[Coverage, ...]:
    """Compare results with what a set asks for, table by table; a scenario without any results lacks everything.

    Raises:
        BenchError: no such set, or no such library.
    """
    if set_name not in catalog.sets:
        raise suggest.unknown("transform set", set_name, catalog.sets, source="--set")
    for library in libraries:
        if library not in matrix.all_libraries():
            raise suggest.unknown("library", library, matrix.all_libraries(), source="--library")
    found = sections(bundles)
    return tuple(
        _of_table(matrix, asked(matrix, catalog, set_name, place, libraries), place, section)
        for place, section in _places(found, matrix, catalog.sets[set_name])
    )


def asked(
    matrix: Matrix, catalog: Catalog, set_name: str, place: tuple[str, str, str], libraries: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Transform -> the chosen libraries that offer it, in the set's order, where there are at least two."""
    scenario, mode, device = place
    offers = {
        library: offered(matrix, catalog, library, scenario)
        for library in matrix.all_libraries()
        if library in libraries and device in matrix.groups[matrix.group_of(library)].devices
    }

    def excluded(library: str, transform: str) -> bool:
        group = matrix.group_of(library)
        what = {"group": group, "library": library, "scenario": scenario, "mode": mode, "device": device}
        return matrix.exclusion_reason(**what, transform=transform) is not None

    having = {
        name: tuple(library for library, names in offers.items() if name in names and not excluded(library, name))
        for name in catalog.sets[set_name].get(scenario, ())
    }
    return {name: found for name, found in having.items() if len(found) > 1}


def sentences(found: Sequence[Coverage]) -> list[str]:
    """One line per table, then one per transform it lacks."""
    lines = []
    for each in found:
        there = each.num_asked - len(each.lacking)
        lines.append(f"{each.name}: {there} of {each.num_asked} transforms are complete")
        for name, reasons in each.lacking.items():
            lines.append(f"  {name} lacks {', '.join(f'{library} ({why})' for library, why in reasons.items())}")
    return lines


def documents(matrix: Matrix, catalog: Catalog) -> dict[str, str]:
    """The lists of the set SET: file name -> Markdown, one for each scenario."""
    return {f"{scenario}.md": _document(matrix, catalog, scenario) for scenario in catalog.sets[SET]}


def write_documents(root: Path) -> list[Path]:
    """Write the lists below a checkout; return those that changed.

    Raises:
        BenchError: one cannot be written.
    """
    from bench_core.catalog import load_catalog
    from bench_core.matrix import load_matrix

    changed = []
    for name, text in documents(load_matrix(root), load_catalog()).items():
        path = root / FOLDER / name
        if not path.is_file() or path.read_bytes() != text.encode():
            write_atomically(path, text.encode())
            changed.append(path)
    return changed


def _places(
    found: Sequence[Section], matrix: Matrix, of_scenario: Mapping[str, Sequence[str]]
) -> Iterator[tuple[tuple[str, str, str], Section | None]]:
    """Every (scenario, mode, device) of a set: those with results, and each mode's usual device without any."""
    for scenario in of_scenario:
        for mode in matrix.scenarios[scenario].modes if scenario in matrix.scenarios else ():
            there = [section for section in found if (section.scenario, section.mode) == (scenario, mode)]
            yield from (((scenario, mode, section.device), section) for section in there)
            if not there:
                yield (scenario, mode, policy.DEVICE), None


def _of_table(
    matrix: Matrix, wanted: Mapping[str, Sequence[str]], place: tuple[str, str, str], section: Section | None
) -> Coverage:
    columns = {column.library: column for column in section.columns} if section else {}
    lacking: dict[str, dict[str, str]] = {}
    for name, libraries in wanted.items():
        for library in libraries:
            why = _lacks(columns[library].measurement(name) if library in columns else None)
            if why:
                lacking.setdefault(name, {})[library] = why
    return Coverage(", ".join(place), len(wanted), lacking)


def _lacks(found: Measurement | None) -> str | None:
    if found is None:
        return NOT_RUN
    return None if found.status in ANSWERED else found.status.value


def _document(matrix: Matrix, catalog: Catalog, scenario: str) -> str:
    libraries = matrix.all_libraries()
    offers = {library: offered(matrix, catalog, library, scenario) for library in libraries}
    rows = tuple(
        (name, _described(catalog.transforms[name], [name in offers[library] for library in libraries]))
        for name in catalog.sets[SET][scenario]
    )
    table = Table(scenario, ("transform", *libraries, "parameters"), rows)
    num_compared = sum(sum(cell.text == "yes" for cell in cells[:-1]) > 1 for _, cells in rows)
    head = (
        f"# Transforms of the published tables: {scenario}\n\n"
        "Made from the catalog by `bench coverage --write-docs`; edits are lost. What each transform means: "
        "[methodology-transforms.md](../methodology-transforms.md). `bench coverage` says which of them results "
        "still lack.\n\n"
        f"{len(rows)} transforms, {num_compared} of them offered by at least two of the {len(libraries)} libraries.\n\n"
    )
    return head + "\n".join(markdown.table_lines(table)) + "\n"


def _described(transform: Transform, offers: Sequence[bool]) -> tuple[Cell, ...]:
    params = ", ".join(f"{name} {_value(value)}" for name, value in transform.params.items()) or "none"
    return (*(Cell("yes" if offer else "–") for offer in offers), Cell(params))


def _value(value: object) -> str:
    if isinstance(value, list):
        return " to ".join(map(_value, value)) if len(value) == 2 else ", ".join(map(_value, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
