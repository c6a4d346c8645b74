"""Make the dataset molecules-wb97x: rattled small molecules of C, H, N and O with energies and forces of wB97X/6-31G*.

    python molecules_wb97x.py OUTPUT.extxyz [--check]

Needs pyscf 2.14 and ASE 3.29, in an environment of their own. Eighteen closed-shell molecules of two to seven atoms are
taken from ASE's G2 collection (geometries of MP2/6-31G*) and rattled five times each: every coordinate moves by a
normal deviate of RATTLE_ANGSTROM, from the seed that stands in the file. The basis has six Cartesian d functions, as
Pople's 6-31G* is defined and as the ANI data sets use it. Energies are total energies in eV, without atoms subtracted.

`--check` labels nothing: it recomputes a few of the file's forces as central differences of energies.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import ase
import ase.io
import numpy as np
import pyscf
from ase.calculators.singlepoint import SinglePointCalculator
from ase.collections import g2
from ase.units import Bohr, Hartree
from pyscf import dft, gto

MOLECULES = (
    *("H2", "N2", "CO", "HCN", "H2O", "CO2", "N2O", "NH3", "H2CO", "H2O2"),
    *("C2H2", "NCCN", "CH4", "H2CCO", "HCOOH", "C2H4", "CH3OH", "H3CNH2"),
)
SEEDS = (0, 1, 2, 3, 4)
RATTLE_ANGSTROM = 0.05
LEVEL_OF_THEORY = "wB97X/6-31G*"
# Of Hartree. Tighter than the defaults, so that what is left is far below any model's error.
ENERGY_TOLERANCE = 1e-10
GRID_LEVEL = 5  # of 9
DECIMALS_ANGSTROM = 8  # of what the file holds; the labels belong to exactly these positions


def rattled(name: str, seed: int) -> ase.Atoms:
    """A molecule of G2, moved off its minimum."""
    atoms = g2[name]
    atoms.calc = None
    rng = np.random.default_rng([seed, *name.encode()])
    positions = atoms.positions + rng.normal(scale=RATTLE_ANGSTROM, size=(len(atoms), 3))
    return ase.Atoms(atoms.get_chemical_symbols(), positions=np.round(positions, DECIMALS_ANGSTROM))


def ground_state(atoms: ase.Atoms) -> dft.rks.RKS:
    """The converged Kohn-Sham calculation of a structure.

    Raises:
        RuntimeError: the self-consistent field does not converge; such a structure is not labelled.
    """
    geometry = list(zip(atoms.get_chemical_symbols(), atoms.positions.tolist(), strict=True))
    molecule = gto.M(atom=geometry, basis="6-31g*", cart=True, unit="Angstrom", verbose=0)
    field = dft.RKS(molecule, xc="wb97x")
    field.grids.level = GRID_LEVEL
    field.conv_tol = ENERGY_TOLERANCE
    field.kernel()
    if not field.converged:
        raise RuntimeError(f"the field of {atoms.get_chemical_formula()} did not converge")
    return field


def label(atoms: ase.Atoms) -> None:
    """Give a structure its energy in eV and its forces in eV/angstrom."""
    field = ground_state(atoms)
    gradient = field.nuc_grad_method()
    gradient.grid_response = True  # the grid moves with the atoms: without its share forces are no derivative
    forces = -gradient.kernel() * (Hartree / Bohr)
    atoms.calc = SinglePointCalculator(atoms, energy=field.e_tot * Hartree, forces=forces)


def labelled() -> Iterator[ase.Atoms]:
    for name in MOLECULES:
        for seed in SEEDS:
            atoms = rattled(name, seed)
            label(atoms)
            atoms.info.update(
                group=name,
                seed=seed,
                rattle_angstrom=RATTLE_ANGSTROM,
                level_of_theory=LEVEL_OF_THEORY,
                code=f"pyscf {pyscf.__version__}",
            )
            print(f"{name} {seed}: {atoms.get_potential_energy():.6f} eV", file=sys.stderr, flush=True)
            yield atoms


def largest_difference(atoms: ase.Atoms, step_angstrom: float = 5e-4) -> float:
    """Of a structure's forces and the central differences of its energy, in eV/angstrom."""
    differences = np.empty_like(atoms.positions)
    for index in np.ndindex(*differences.shape):
        energies = []
        for sign in (1, -1):
            moved = atoms.copy()
            moved.positions[index] += sign * step_angstrom
            energies.append(ground_state(moved).e_tot * Hartree)
        differences[index] = -(energies[0] - energies[1]) / (2 * step_angstrom)
    return float(np.abs(differences - atoms.get_forces()).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--check", action="store_true", help="compare forces of the file with differences of energies")
    arguments = parser.parse_args()
    if arguments.check:
        for atoms in ase.io.read(arguments.output, ":"):
            if atoms.info["group"] in {"H2O", "HCN", "H2CO"} and atoms.info["seed"] == 0:
                print(f"{atoms.info['group']}: forces differ by {largest_difference(atoms):.1e} eV/angstrom at most")
    else:
        ase.io.write(arguments.output, list(labelled()), format="extxyz")


if __name__ == "__main__":
    main()
