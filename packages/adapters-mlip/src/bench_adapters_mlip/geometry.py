"""What all families need of a structure's cell, and of a batch of structures."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from ase.geometry import complete_cell
from bench_score.model import Item
from bench_score.structure import VOIGT, Floats, Neighbours, Structure
from numpy.typing import NDArray


def full_cell(structure: Structure) -> Floats:
    """The cell, with unit vectors at right angles in place of those that are missing, rows as vectors, (3, 3).

    Models that work with fractional coordinates need three vectors even for a molecule. Its neighbours are found
    without periodic images, so the added vectors change nothing.
    """
    return np.asarray(complete_cell(structure.cell), dtype=np.float64)


def has_stress(structure: Structure) -> bool:
    """Whether a stress means anything: only a structure that is periodic in three directions has a volume."""
    return bool(structure.pbc.all())


def fractional(structure: Structure, cell: Floats) -> Floats:
    """Positions in units of the cell's vectors, not wrapped into it, (n, 3)."""
    return np.asarray(np.linalg.solve(cell.T, structure.positions.T).T, np.float64)


def stress_of(virial: NDArray[Any], cell: Floats) -> Floats:
    """Stress in eV/angstrom^3, Voigt, from dE/dstrain in eV, (3, 3), and the cell."""
    return voigt(np.asarray(virial, dtype=np.float64) / abs(np.linalg.det(cell)))


def voigt(tensor: NDArray[Any]) -> Floats:
    """xx, yy, zz, yz, xz, xy of a (3, 3) tensor that is symmetric but for rounding."""
    full = np.asarray(tensor, dtype=np.float64)
    symmetric: Floats = (full + full.T) / 2
    rows, columns = zip(*VOIGT, strict=True)
    return symmetric[rows, columns]


def neighbours_of(item: Item) -> Neighbours:
    """The neighbour list of an item, which the engine made because the model has a cutoff."""
    if item.neighbours is None:
        raise ValueError(f"{item.structure.name}: no neighbour list")
    return item.neighbours


def owners(sizes: Sequence[int]) -> NDArray[np.int64]:
    """For each of the atoms (or edges) of a batch, laid end to end, the number of its structure."""
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)


def joined_edges(batch: Sequence[Item]) -> NDArray[np.int64]:
    """The (first, second) atoms of all neighbour pairs of a batch, numbered through the batch, (2, m)."""
    starts = np.cumsum([0, *(item.structure.num_atoms for item in batch)])[:-1]
    pairs = [
        np.stack([neighbours.first, neighbours.second]) + start
        for neighbours, start in zip(map(neighbours_of, batch), starts, strict=True)
    ]
    return np.concatenate(pairs, axis=1, dtype=np.int64)


def split(values: NDArray[Any], sizes: Iterable[int]) -> list[Floats]:
    """Per-atom values of a batch, cut into those of its structures, as float64."""
    return np.split(np.asarray(values, dtype=np.float64), np.cumsum(list(sizes))[:-1])
