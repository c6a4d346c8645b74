"""The data of the smoke model: ethanol at GFN2-xTB, made by tblite. Energies in eV, forces in eV/angstrom, both total.

    python packages/bench-score/training/ethanol_xtb.py --train .data/ethanol-xtb-train.extxyz

Needs ase and tblite (0.8), which no environment of the project has: make one for it. Takes about ten seconds. The test
set goes into the package, the training set where `--train` says; its neighbour train_schnet.py reads it.

Six parts in ten are snapshots of Langevin dynamics at 500 K from the relaxed molecule, 25 fs apart; four in ten are
the relaxed molecule with normal displacements of 0.05 angstrom in every coordinate. The two sets share no trajectory
and no seed. Every structure says its seed, its origin, the level of theory and the units.
"""

import argparse
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import ase.units
import numpy as np
from ase import Atoms
from ase.build import molecule
from ase.calculators.singlepoint import SinglePointCalculator
from ase.io import write
from ase.md.langevin import Langevin
from ase.md.velocitydistribution import thermalize_momenta
from ase.optimize import BFGS
from bench_core.files import write_atomically
from tblite.ase import TBLite

METHOD = "GFN2-xTB"
TEST_FILE = Path(__file__).parents[1] / "src" / "bench_score" / "data" / "ethanol-xtb.extxyz"
# How many structures, and the seed of dynamics and displacements alike.
TRAIN = (250, 20261201)
TEST = (100, 20261202)
FRACTION_OF_DYNAMICS = 0.6
TEMPERATURE_K = 500
TIME_STEP_FS = 0.5
STEPS_BETWEEN = 50
RATTLE_ANGSTROM = 0.05
INFO = {"level_of_theory": METHOD, "energy_unit": "eV", "force_unit": "eV/Angstrom"}


def calculator() -> TBLite:
    return TBLite(method=METHOD, accuracy=0.01, verbosity=0)


def relaxed() -> Atoms:
    atoms: Atoms = molecule("CH3CH2OH")
    atoms.calc = calculator()
    if not BFGS(atoms, logfile=None).run(fmax=0.005, steps=500):
        raise SystemExit("ethanol did not relax")
    return atoms


def labelled(atoms: Atoms, origin: str, seed: int) -> Atoms:
    """A copy that holds numbers instead of a calculator, centred at the origin and rounded to what is written."""
    copy = Atoms(numbers=atoms.numbers, positions=np.round(atoms.positions - atoms.get_center_of_mass(), 8))
    copy.calc = calculator()
    energy_ev, forces = copy.get_potential_energy(), copy.get_forces()
    copy.calc = SinglePointCalculator(copy, energy=energy_ev, forces=forces)
    copy.info = INFO | {"origin": origin, "seed": seed}
    return copy


def dynamics(start: Atoms, number: int, seed: int) -> Iterator[Atoms]:
    generator = np.random.default_rng(seed)
    atoms = start.copy()
    atoms.calc = calculator()
    thermalize_momenta(atoms, temperature_K=TEMPERATURE_K, rng=generator)
    moving = Langevin(
        atoms,
        timestep=TIME_STEP_FS * ase.units.fs,
        temperature_K=TEMPERATURE_K,
        friction=0.01 / ase.units.fs,
        fixcm=False,  # ase's own way of holding the centre of mass is deprecated; a copy is centred when it is taken
        rng=generator,
    )
    for _ in range(number):
        moving.run(STEPS_BETWEEN)
        yield labelled(atoms, "dynamics", seed)


def rattled(start: Atoms, number: int, seed: int) -> Iterator[Atoms]:
    generator = np.random.default_rng((seed, 1))
    for _ in range(number):
        atoms = start.copy()
        atoms.positions += generator.normal(0.0, RATTLE_ANGSTROM, atoms.positions.shape)
        yield labelled(atoms, "displaced", seed)


def make(path: Path, number: int, seed: int) -> None:
    start = relaxed()
    moved = round(number * FRACTION_OF_DYNAMICS)
    structures = [*dynamics(start, moved, seed), *rattled(start, number - moved, seed)]
    energies = np.array([atoms.get_potential_energy() for atoms in structures])
    forces = np.concatenate([atoms.get_forces() for atoms in structures])
    text = StringIO()
    write(text, structures, format="extxyz")
    write_atomically(path, text.getvalue().encode())
    print(
        f"{path}: {number} structures, energy {energies.mean():.3f} eV, standard deviation {energies.std():.3f} eV; "
        f"force components, standard deviation {forces.std():.3f} eV/angstrom; {path.stat().st_size / 1000:.0f} kB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True, help="where the training set goes")
    parser.add_argument("--test", type=Path, default=TEST_FILE, help="where the test set goes (the package)")
    asked = parser.parse_args()
    make(asked.train, *TRAIN)
    make(asked.test, *TEST)


if __name__ == "__main__":
    main()
