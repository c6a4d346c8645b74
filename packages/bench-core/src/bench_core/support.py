"""Which transforms a library offers in a scenario: what the catalog lists, and what matrix.toml says of others."""

from bench_core import suggest
from bench_core.catalog import Catalog
from bench_core.errors import BenchError
from bench_core.invocation import command
from bench_core.matrix import Matrix


def offered(matrix: Matrix, catalog: Catalog, library: str, scenario: str) -> frozenset[str]:
    """Names of the transforms that `library` offers in `scenario`.

    A library that neither the catalog nor a block `libraries` of the matrix describes is taken to offer everything;
    its worker answers `unsupported` for what it does not.

    Raises:
        BenchError: the catalog has no such scenario, or the matrix lists a transform that the catalog does not have.
    """
    listed = _listed(catalog, library, scenario)
    note = matrix.libraries.get(library)
    if note is None:
        return listed if library in catalog.libraries() else frozenset(catalog.transforms)
    noted = note.transforms.get(scenario, ())
    for name in noted:
        if name not in catalog.transforms:
            source = f"matrix.toml, libraries.{library}"
            hint = command("list", "transforms")
            raise suggest.unknown("transform", name, catalog.transforms, source=source, hint=hint)
    return listed | frozenset(noted)


def _listed(catalog: Catalog, library: str, scenario: str) -> frozenset[str]:
    try:
        return frozenset(name for name, found in catalog.transforms.items() if library in found.supporters(scenario))
    except KeyError:
        raise BenchError(f"the catalog says nothing about scenario {scenario!r} of matrix.toml") from None
