"""71 elemental crystals at seven volumes, by the equations of state of the DFT comparison of K. Lejaeghere et al.

Crystals, and the volume V0, bulk modulus B and its derivative B' of each that WIEN2k finds with PBE, are those of
`ase.collections.dcdft` (Critical Reviews in Solid State and Materials Sciences 39, 1 (2014)). Labels are no
calculations of single structures: they are the third-order Birch-Murnaghan equation through those three numbers
(F. Birch, Physical Review 71, 809 (1947)), which is what the comparison publishes.

- A crystal's cell is scaled alike in all directions, to 0.94, 0.96, ... 1.06 V0; fractional coordinates stay, so the
  bonds of molecular crystals (H, N, O, halogens) are scaled too.
- Energies are of the cell, relative to the crystal at V0: the reference structure of its group.
- An equation of state knows the pressure and not the stress: the label is minus the pressure on the diagonal, and
  for crystals that are not cubic the single components are not known. So only their mean may be scored.
- Forces have no labels. O, Cr, Mn, Fe, Co and Ni are magnetic in the reference (O, Cr and Mn antiferromagnetic);
  models are given no magnetic moments.
"""

import math

import numpy as np
from ase import Atoms, units

from bench_score.dataset import Dataset
from bench_score.structure import Structure

SCALES = (0.94, 0.96, 0.98, 1.00, 1.02, 1.04, 1.06)


def dcdft() -> Dataset:
    from ase.collections import dcdft as crystals  # here, for it opens a file

    structures: list[Structure] = []
    references: dict[str, int] = {}
    for element in crystals.names:
        references[element] = len(structures) + SCALES.index(1.00)
        atoms = crystals[element]
        constants = crystals.data[element]
        structures += [_structure(element, atoms, constants, scale) for scale in SCALES]
    return Dataset(
        name="dcdft",
        structures=tuple(structures),
        level_of_theory="PBE (WIEN2k)",
        energy_zero="the same crystal at its volume V0",
        references=references,
        pressure_only=True,
    )


def energy(volume: float, volume0: float, bulk_modulus: float, derivative: float) -> float:
    """Birch-Murnaghan energy relative to that at `volume0`, in the unit of volume times that of the bulk modulus."""
    strain = math.pow(volume0 / volume, 2 / 3) - 1
    return 9 / 16 * volume0 * bulk_modulus * strain**2 * (2 + (derivative - 4) * strain)


def pressure(volume: float, volume0: float, bulk_modulus: float, derivative: float) -> float:
    """Birch-Murnaghan pressure, in the unit of the bulk modulus: minus the derivative of the energy by volume."""
    ratio = math.cbrt(volume0 / volume)
    return 3 / 2 * bulk_modulus * (ratio**7 - ratio**5) * (1 + 3 / 4 * (derivative - 4) * (ratio**2 - 1))


def _structure(element: str, atoms: Atoms, constants: dict[str, float], scale: float) -> Structure:
    volume0 = constants["wien2k_volume"] * len(atoms)  # theirs is of one atom
    equation = (volume0, constants["wien2k_B"] * units.GPa, constants["wien2k_Bp"])
    stretch = math.cbrt(scale * volume0 / atoms.get_volume())
    minus_pressure = -pressure(scale * volume0, *equation)
    return Structure(
        name=f"{element} {scale:.2f} V0",
        numbers=np.array(atoms.numbers, dtype=np.int64),
        positions=atoms.positions * stretch,
        cell=np.array(atoms.cell) * stretch,
        pbc=np.ones(3, dtype=np.bool_),
        energy=energy(scale * volume0, *equation),
        stress=np.array([minus_pressure] * 3 + [0.0] * 3),
        group=element,
    )
