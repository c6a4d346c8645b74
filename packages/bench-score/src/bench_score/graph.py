"""A batch of structures as tensors: atoms, cells and the edges between neighbours.

Geometry is in double precision whatever the model computes in: distances are differences of positions, and a model in
single precision rounds them once, at its door.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from bench_score.model import Item

GEOMETRY = torch.float64


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Structures one after the other: b structures, n atoms and m edges in all. Lengths in angstrom.

    An edge goes from atom `edge_index[0]` to the image of atom `edge_index[1]` that lies `shifts` cells away. Every
    pair has two, one in each direction. Distances are differentiable functions of `positions` and `cells`.
    """

    numbers: Tensor  # (n,) int64, atomic numbers
    positions: Tensor  # (n, 3)
    cells: Tensor  # (b, 3, 3), rows are lattice vectors
    batch: Tensor  # (n,) int64, the structure an atom belongs to
    edge_index: Tensor  # (2, m) int64
    shifts: Tensor  # (m, 3), whole numbers

    @property
    def num_structures(self) -> int:
        return len(self.cells)

    def vectors(self) -> Tensor:
        """From the first atom of each edge to the image of the second; (m, 3)."""
        first, second = self.edge_index
        cells = self.cells[self.batch[first]]
        return self.positions[second] - self.positions[first] + torch.einsum("ma,mab->mb", self.shifts, cells)

    def distances(self) -> Tensor:
        """Lengths of the edges; (m,)."""
        return torch.linalg.vector_norm(self.vectors(), dim=1)

    def strained(self, strain: Tensor) -> "Graph":
        """Deformed by `strain` (b, 3, 3), dimensionless: every vector v, a cell's too, becomes v + v @ strain.

        Only the symmetric part counts, so that a derivative by `strain` is symmetric and rotates nothing.
        """
        symmetric = (strain + strain.transpose(1, 2)) / 2
        moved = torch.einsum("na,nab->nb", self.positions, symmetric[self.batch])
        return replace(self, positions=self.positions + moved, cells=self.cells + self.cells @ symmetric)


def make_graph(items: Sequence[Item], device: str = "cpu") -> Graph:
    """One graph of all `items`, which have neighbour lists.

    Raises:
        ValueError: there is no item, or one has no neighbour list.
    """
    if not items:
        raise ValueError("a graph needs at least one structure")
    structures = [item.structure for item in items]
    lists = [item.neighbours for item in items if item.neighbours is not None]
    if len(lists) != len(items):
        raise ValueError("a graph needs the neighbour list of every structure")
    sizes = np.array([structure.num_atoms for structure in structures])
    offsets = np.cumsum(sizes) - sizes
    edges = [np.stack([found.first, found.second]) + offset for found, offset in zip(lists, offsets, strict=True)]

    def tensor(array: np.ndarray, dtype: torch.dtype) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device, dtype)

    return Graph(
        numbers=tensor(np.concatenate([structure.numbers for structure in structures]), torch.int64),
        positions=tensor(np.concatenate([structure.positions for structure in structures]), GEOMETRY),
        cells=tensor(np.stack([structure.cell for structure in structures]), GEOMETRY),
        batch=tensor(np.repeat(np.arange(len(items)), sizes), torch.int64),
        edge_index=tensor(np.concatenate(edges, axis=1), torch.int64),
        shifts=tensor(np.concatenate([found.shifts for found in lists]), GEOMETRY),
    )
