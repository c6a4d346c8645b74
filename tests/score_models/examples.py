"""Structures with neighbour lists, and models small enough to check by hand or by finite differences."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from ase import Atoms
from ase.build import bulk, fcc111, molecule
from bench_core.errors import BenchError, ExitCode
from bench_score.force_stress import ForceStressOutput
from bench_score.model import Item, Prediction, Want
from bench_score.neighbours import neighbours
from bench_score.schnet import SchNetEnergy, build
from bench_score.structure import Floats, Structure
from torch import Tensor, nn

CUTOFF_ANGSTROM = 4.0
ALL = Want(forces=True, stress=True)
ELEMENTS = ["H", "C", "O", "Na", "Cl", "Al"]
SMALL = {"hidden_channels": 16, "num_filters": 12, "num_interactions": 2, "num_gaussians": 20}


def to_structure(atoms: Atoms, name: str = "example") -> Structure:
    numbers = np.asarray(atoms.numbers, dtype=np.int64)
    return Structure(name, numbers, atoms.positions.copy(), atoms.cell.array.copy(), np.asarray(atoms.pbc))


def to_item(structure: Structure, cutoff_angstrom: float = CUTOFF_ANGSTROM) -> Item:
    return Item(structure, neighbours(structure, cutoff_angstrom))


def ethanol() -> Structure:
    return to_structure(_rattled(molecule("CH3CH2OH"), 1))


def salt() -> Structure:
    """A skewed primitive cell of two atoms, smaller than the cutoff, neither of them where symmetry puts it."""
    return to_structure(_rattled(bulk("NaCl", "rocksalt", a=5.5), 2))


def slab() -> Structure:
    return to_structure(_rattled(fcc111("Al", (1, 2, 2), vacuum=6.0), 3))


def one_atom() -> Structure:
    return to_structure(Atoms("O", positions=[[0.1, 0.2, 0.3]]))


def examples() -> list[Structure]:
    return [ethanol(), salt(), one_atom(), slab()]


def small_schnet(dtype: str = "float64") -> SchNetEnergy:
    """With random weights, and offsets that are not zero."""
    torch.manual_seed(7)
    module = build({"elements": ELEMENTS, "cutoff_angstrom": CUTOFF_ANGSTROM, "dtype": dtype, **SMALL})
    module.offsets_ev.copy_(-torch.arange(len(module.offsets_ev)) * 13.6)
    return module


def small_model(dtype: str = "float64") -> ForceStressOutput:
    return ForceStressOutput(small_schnet(dtype), cutoff_angstrom=CUTOFF_ANGSTROM)


def predict(model: ForceStressOutput, structure: Structure, want: Want = ALL) -> Prediction:
    return model.predict([to_item(structure, model.cutoff_angstrom)], want)[0]


def energy_ev(model: ForceStressOutput, structure: Structure) -> float:
    return predict(model, structure, Want(forces=False, stress=False)).energy


def moved(structure: Structure, positions: Floats) -> Structure:
    return replace(structure, positions=positions)


def deformed(structure: Structure, matrix: Floats) -> Structure:
    """Every vector v of the structure becomes v @ matrix."""
    return replace(structure, positions=structure.positions @ matrix, cell=structure.cell @ matrix)


class LennardJones(nn.Module):
    """As ase.calculators.lj has it with smooth=False: the pair energy is shifted to zero at the cutoff."""

    def __init__(self, sigma_angstrom: float, epsilon_ev: float, cutoff_angstrom: float) -> None:
        super().__init__()
        self.sigma, self.epsilon, self.cutoff_angstrom = sigma_angstrom, epsilon_ev, cutoff_angstrom

    def forward(self, graph: object) -> Tensor:
        distances = graph.distances()
        pairs = self._pair(distances) - self._pair(torch.tensor(self.cutoff_angstrom, dtype=distances.dtype))
        zeros = torch.zeros(graph.num_structures, dtype=distances.dtype)
        return zeros.index_add(0, graph.batch[graph.edge_index[0]], pairs / 2)

    def _pair(self, distances: Tensor) -> Tensor:
        sixth = (self.sigma / distances) ** 6
        return 4 * self.epsilon * (sixth**2 - sixth)


def refusal(call: Callable[[], object], code: ExitCode) -> str:
    """The message of the BenchError that `call` must end with."""
    try:
        call()
    except BenchError as error:
        assert error.code is code, (error.code, str(error))
        return str(error)
    raise AssertionError("nothing was refused")


def _rattled(atoms: Atoms, seed: int) -> Atoms:
    atoms.positions += np.random.default_rng(seed).normal(0.0, 0.1, atoms.positions.shape)
    return atoms
