"""What can be named: architectures, registered by a decorator, and families, found by entry point. Needs no torch."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, TypeVar

from bench_core.errors import BenchError, ExitCode
from bench_core.suggest import unknown

from bench_score.model import Family

if TYPE_CHECKING:
    from torch import nn

FAMILIES = "bench.families"

Builder = Callable[[Mapping[str, Any]], "nn.Module"]
Registered = TypeVar("Registered", bound=Builder)

_builders: dict[str, Builder] = {}


def register_model(name: str) -> Callable[[Registered], Registered]:
    """Offer an architecture under `name`, as a decorator on what builds it.

    The builder takes a mapping of arguments and returns a `torch.nn.Module` that maps a `bench_score.graph.Graph` of b
    structures to their total energies in eV, shape (b,). The module says the radius of its neighbour lists as
    `cutoff_angstrom`, and may say the atomic numbers it knows as `elements`, a frozenset.

    Raises:
        ValueError: the name is taken.
    """

    def register(builder: Registered) -> Registered:
        if name in _builders:
            raise ValueError(f"architecture {name!r} is registered twice")
        _builders[name] = builder
        return builder

    return register


def find_architecture(name: str, source: str = "") -> Builder:
    """What builds the architecture called `name`; `source` says where that name was given.

    Raises:
        BenchError: nothing is registered under it, with the nearest name that is.
    """
    if name not in _builders:
        raise unknown("architecture", name, sorted(_builders), source=source)
    return _builders[name]


def find_family(name: str) -> Family:
    """The family of models that an installed package offers under `name`.

    Raises:
        BenchError: no package offers it, with the nearest name; or what it needs is not in this environment.
    """
    found = {entry.name: entry for entry in entry_points(group=FAMILIES)}
    if name not in found:
        raise unknown("family", name, sorted(found))
    try:
        made = found[name].load()
    except (ImportError, AttributeError) as error:
        raise BenchError(
            f"family {name!r} cannot be imported in this environment ({error}); it has one of its own: "
            f"bench env {name} builds it",
            ExitCode.ENVIRONMENT,
        ) from error
    family: Family = made()
    return family
