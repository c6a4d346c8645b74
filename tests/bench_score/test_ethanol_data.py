"""The test set of the smoke model: what comes with the package, and that it says what it is."""

from pathlib import Path

import bench_score
import numpy as np
from ase.io import iread
from bench_score.dataset import read_dataset

PATH = Path(bench_score.__file__).with_name("data") / "ethanol-xtb.extxyz"


def test_it_holds_a_hundred_ethanols_with_energies_and_forces() -> None:
    dataset = read_dataset(PATH)
    assert len(dataset) == 100
    assert dataset.level_of_theory == "GFN2-xTB"
    for structure in dataset.structures:
        assert sorted(structure.numbers) == [1] * 6 + [6, 6, 8]
        assert structure.energy is not None
        assert structure.forces is not None
        assert structure.stress is None
        assert structure.group is None  # each is drawn for itself: intervals run over structures
        np.testing.assert_allclose(structure.forces.sum(axis=0), 0.0, atol=1e-5)
    assert PATH.stat().st_size < 300_000


def test_every_structure_says_its_seed_its_origin_and_its_units() -> None:
    said = [atoms.info for atoms in iread(PATH)]
    assert [info["origin"] for info in said] == ["dynamics"] * 60 + ["displaced"] * 40
    for info in said:
        assert (info["seed"], info["energy_unit"], info["force_unit"]) == (20261202, "eV", "eV/Angstrom")


def test_no_two_structures_are_the_same() -> None:
    energies = [structure.energy for structure in read_dataset(PATH).structures]
    assert len(set(energies)) == 100
