"""What a configuration may write in several ways, in the one way it is kept."""

from collections.abc import Mapping
from typing import Any

from bench_core.errors import BenchError
from bench_core.scores import TARGETS

DEFAULT_METRICS: dict[str, list[str]] = {"energy": ["mae", "rmse"], "forces": ["mae", "rmse"], "stress": ["mae"]}


def metric_pairs(said: Any, targets: Any, source: str) -> list[tuple[str, str]]:
    """Pairs of target and metric, from a table, from pairs, or from flat lists of both.

    Raises:
        BenchError: it is none of these.
    """
    if targets is not None and not _is_names(targets):
        raise BenchError(f"{source}: targets: write a list of names, such as targets = ['energy', 'forces']")
    if said is None:
        said = {target: DEFAULT_METRICS.get(target, ["mae"]) for target in targets or DEFAULT_METRICS}
        targets = None
    if isinstance(said, str):
        said = [said]
    if isinstance(said, Mapping):
        if targets is not None:
            raise BenchError(f"{source}: metrics says its targets itself; leave targets out")
        table = {str(target): [names] if isinstance(names, str) else names for target, names in said.items()}
        if table and all(_is_names(names) for names in table.values()):
            return [(target, name) for target, names in table.items() for name in names]
    elif _is_names(said):
        return [(target, name) for target in targets or TARGETS for name in said]
    elif said and isinstance(said, list | tuple) and all(_is_names(pair) and len(pair) == 2 for pair in said):
        if targets is not None:
            raise BenchError(f"{source}: metrics says its targets itself; leave targets out")
        return [(pair[0], pair[1]) for pair in said]
    raise BenchError(
        f"{source}: metrics: write a table (metrics = {{energy = ['mae']}}), pairs (metrics = [['energy', 'mae']]) "
        "or a list of names (metrics = ['mae'], with targets = ['energy'])"
    )


def _is_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(name, str) for name in value)


def energies(said: Any, species: Any) -> Any:
    """What was said, as a table by element where it was a list in the order of `species`.

    Raises:
        ValueError: the list and the species do not fit, or an element does not exist.
    """
    from ase.data import chemical_symbols

    if isinstance(said, list):
        if not _is_names(species) or not len(species) == len(said) == len(set(species)):
            raise ValueError(
                f"atomic_energies is a list of {len(said)}; species has to name its {len(said)} elements, in order"
            )
        said = dict(zip(species, said, strict=True))
    elif species is not None:
        raise ValueError("species belongs to a list of atomic_energies; leave it out")
    if isinstance(said, Mapping):
        for element in said:
            if element not in chemical_symbols[1:]:
                raise ValueError(f"atomic_energies: {element!r} is no element")
    return said
