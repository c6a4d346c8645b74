"""A structure: atoms, cell and labels, as every family of models gets them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Row and column, in a (3, 3) tensor, of the six components of a stress: xx, yy, zz, yz, xz, xy.
VOIGT = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """One labelled structure. Lengths in angstrom, energies in eV.

    Stress is in eV/angstrom^3, in Voigt order xx, yy, zz, yz, xz, xy, positive where the cell is under tension (the
    sign of ASE: minus the pressure on the diagonal). A label that is None is absent and is not scored.
    """

    name: str
    numbers: NDArray[np.int64]  # (n,) atomic numbers
    positions: Floats  # (n, 3)
    cell: Floats  # (3, 3), rows are lattice vectors; a row is zero where there is none
    pbc: NDArray[np.bool_]  # (3,)
    energy: float | None = None  # of the whole structure
    forces: Floats | None = None  # (n, 3)
    stress: Floats | None = None  # (6,)
    group: str | None = None  # structures that belong together: volumes of one crystal, conformations of one molecule

    @property
    def num_atoms(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Every pair of atoms within a cutoff, in both directions, periodic images included.

    `vectors[k]` goes from atom `first[k]` to the image of atom `second[k]` that lies `shifts[k]` cells away:
    positions[second] - positions[first] + shifts @ cell. Sorted by first, second and shifts.
    """

    cutoff_angstrom: float
    first: NDArray[np.int64]  # (m,)
    second: NDArray[np.int64]  # (m,)
    shifts: NDArray[np.int64]  # (m, 3)
    vectors: Floats  # (m, 3)
    distances: Floats  # (m,)
