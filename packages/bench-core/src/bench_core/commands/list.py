"""`bench list`: what can be named in a configuration."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from bench_core import suggest
from bench_core.catalog import load_catalog
from bench_core.matrix import Matrix, find_root, load_matrix
from bench_core.profiles import describe_profile, profile_names
from bench_core.support import offered
from bench_core.tables import aligned

HELP = "list libraries, transforms, sets, scenarios or profiles"

# One row per name: column -> a text, a number or a list of names.
Row = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(args: argparse.Namespace) -> int:
    if args.kind not in KINDS:
        raise suggest.unknown("kind", args.kind, KINDS)
    root = find_root()
    rows = KINDS[args.kind](root, load_matrix(root))
    print(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode() if args.json else _as_text(rows))
    return 0


def _libraries(_root: Path, matrix: Matrix) -> list[Row]:
    catalog = load_catalog()
    return [
        {
            "library": library,
            "group": name,
            "media": group.media,
            "devices": [d for d in group.devices if not matrix.exclusion_reason(library=library, device=d)],
            "transforms": {
                scenario: len(offered(matrix, catalog, library, scenario))
                for scenario, found in matrix.scenarios.items()
                if found.media in group.media
            },
        }
        for name, group in matrix.groups.items()
        for library in group.libraries
    ]


def _transforms(_root: Path, matrix: Matrix) -> list[Row]:
    catalog = load_catalog()
    offers = {
        (library, scenario): offered(matrix, catalog, library, scenario)
        for library in matrix.all_libraries()
        for scenario in matrix.scenarios
    }
    return [
        {
            "transform": name,
            **{
                scenario: [library for library in matrix.all_libraries() if name in offers[library, scenario]]
                for scenario in matrix.scenarios
            },
        }
        for name in catalog.transforms
    ]


def _sets(_root: Path, _matrix: Matrix) -> list[Row]:
    return [
        {"set": name, "scenario": scenario, "transforms": len(names), "names": names}
        for name, by_scenario in load_catalog().sets.items()
        for scenario, names in by_scenario.items()
    ]


def _scenarios(_root: Path, matrix: Matrix) -> list[Row]:
    return [
        {"scenario": name, "media": found.media, "channels": found.channels, "modes": found.modes}
        for name, found in matrix.scenarios.items()
    ]


def _profiles(root: Path, _matrix: Matrix) -> list[Row]:
    return [{"profile": name, "what": describe_profile(root, name)} for name in profile_names(root)]


KINDS: Mapping[str, Callable[[Path, Matrix], list[Row]]] = {
    "libraries": _libraries,
    "transforms": _transforms,
    "sets": _sets,
    "scenarios": _scenarios,
    "profiles": _profiles,
}


def _as_text(rows: list[Row]) -> str:
    if not rows:
        return "none"
    heads = [head for head in rows[0] if head != "names"]  # a set's names are for --json: hundreds to a line
    return "\n".join(aligned(heads, [[_cell(row[head]) for head in heads] for row in rows]))


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return ", ".join(value) if isinstance(value, list | tuple) else str(value)
