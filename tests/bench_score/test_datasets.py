"""The datasets that come with the tool, against numbers of their sources."""

import itertools
import math

import numpy as np
import pytest
from ase.collections import dcdft as crystals
from ase.eos import birchmurnaghan
from ase.units import GPa
from bench_core.errors import BenchError
from bench_score.baseline import make_zero
from bench_score.dataset import Dataset
from bench_score.datasets import DATASETS, named
from bench_score.datasets.dcdft import SCALES, energy, pressure
from bench_score.neighbours import neighbours
from bench_score.structure import Structure


@pytest.fixture(scope="module")
def dcdft() -> Dataset:
    return named("dcdft")


@pytest.fixture(scope="module")
def molecules() -> Dataset:
    return named("molecules-wb97x")


def volume(structure: Structure) -> float:
    return float(abs(np.linalg.det(structure.cell)))


def by_name(dataset: Dataset, name: str) -> Structure:
    (found,) = [structure for structure in dataset.structures if structure.name == name]
    return found


def test_dcdft_has_71_elements_at_seven_volumes(dcdft: Dataset) -> None:
    assert len(dcdft) == 497
    assert [structure.group for structure in dcdft.structures] == [name for name in crystals.names for _ in SCALES]
    assert (dcdft.level_of_theory, dcdft.energy_zero) == ("PBE (WIEN2k)", "the same crystal at its volume V0")
    for structure, scale in zip(dcdft.structures, SCALES * 71, strict=True):
        expected = scale * crystals.data[structure.group]["wien2k_volume"] * structure.num_atoms
        assert volume(structure) == pytest.approx(expected, rel=1e-12)


def test_dcdft_keeps_fractional_coordinates_and_the_shape_of_the_cell(dcdft: Dataset) -> None:
    for structure in dcdft.structures:
        atoms = crystals[structure.group]
        fractional = np.linalg.solve(structure.cell.T, structure.positions.T).T
        assert np.allclose(fractional, atoms.get_scaled_positions(wrap=False), atol=1e-12)
        assert np.allclose(structure.cell / math.cbrt(volume(structure)), atoms.cell / math.cbrt(atoms.get_volume()))


def test_silicon_is_what_the_equation_gives_by_hand(dcdft: Dataset) -> None:
    # V0 = 20.453 A^3 an atom, eight atoms, B = 88.545 GPa = 0.552654 eV/A^3, B' = 4.31; at 0.94 V0:
    # x = (1 / 0.94)^(2/3) = 1.0421129; E = 9/16 * 163.624 * 0.552654 * (x - 1)^2 * (2 + 0.31 (x - 1)) = 0.181597 eV;
    # P = 3/2 * 0.552654 * (x^3.5 - x^2.5) * (1 + 3/4 * 0.31 * (x - 1)) = 0.0390821 eV/A^3.
    silicon = by_name(dcdft, "Si 0.94 V0")
    assert (silicon.num_atoms, volume(silicon)) == (8, pytest.approx(0.94 * 163.624))
    assert silicon.energy == pytest.approx(0.181597, abs=1e-6)
    assert silicon.stress == pytest.approx([-0.0390821] * 3 + [0.0] * 3, abs=1e-7)
    assert silicon.forces is None


def test_the_equation_is_that_of_ase_and_pressure_its_derivative(dcdft: Dataset) -> None:
    for structure in dcdft.structures:
        constants = crystals.data[structure.group]
        volume0 = constants["wien2k_volume"] * structure.num_atoms
        equation = (volume0, constants["wien2k_B"] * GPa, constants["wien2k_Bp"])
        at, step = volume(structure), 1e-4 * volume0
        assert structure.energy == pytest.approx(birchmurnaghan(at, 0.0, *equation[1:], volume0), abs=1e-12)
        slope = (energy(at + step, *equation) - energy(at - step, *equation)) / (2 * step)
        assert pressure(at, *equation) == pytest.approx(-slope, rel=1e-6, abs=1e-7 * equation[1])
        assert structure.stress is not None
        assert structure.stress[:3] == pytest.approx(np.full(3, slope), rel=1e-6, abs=1e-7 * equation[1])
        assert not structure.stress[3:].any()


def test_compression_pushes_and_tension_pulls(dcdft: Dataset) -> None:
    for structure in dcdft.structures:
        assert structure.stress is not None
        scale = float(structure.name.split()[1])
        assert np.sign(round(structure.stress[0], 12)) == np.sign(scale - 1)


def test_the_reference_of_a_crystal_is_its_v0_with_energy_and_pressure_zero(dcdft: Dataset) -> None:
    assert len(dcdft.references) == 71
    for group, index in dcdft.references.items():
        structure = dcdft.structures[index]
        assert structure.name == f"{group} 1.00 V0"
        assert structure.stress is not None
        assert (structure.energy, *structure.stress) == pytest.approx((0.0,) * 7, abs=1e-12)


def test_a_model_with_any_zero_of_its_own_is_perfect_on_dcdft_by_group(dcdft: Dataset) -> None:
    labels = np.array([structure.energy for structure in dcdft.structures])
    per_atom = {group: 100.0 * index for index, group in enumerate(crystals.names)}
    shifts = np.array([per_atom[str(each.group)] * each.num_atoms for each in dcdft.structures])
    ok = np.ones(len(dcdft), dtype=np.bool_)
    zero = make_zero("group", dcdft)
    assert zero.apply(labels + shifts, ok) == pytest.approx(labels, abs=1e-9)
    assert zero.scored(ok).sum() == 71 * 6


def test_only_the_mean_of_a_pressure_is_a_label(dcdft: Dataset, molecules: Dataset) -> None:
    assert dcdft.pressure_only and not molecules.pressure_only


def test_the_molecules_are_labelled_small_and_apart(molecules: Dataset) -> None:
    assert molecules.level_of_theory == "wB97X/6-31G*"
    assert len(molecules) == 90
    groups = {structure.group for structure in molecules.structures}
    assert len(groups) == 18
    for structure in molecules.structures:
        assert set(structure.numbers.tolist()) <= {1, 6, 7, 8}
        assert structure.energy is not None and structure.forces is not None and structure.stress is None
        assert np.abs(structure.forces.sum(axis=0)).max() < 1e-6
        assert neighbours(structure, 3.0).distances.min() > 0.5


def test_the_molecules_have_energies_of_their_level_of_theory(molecules: Dataset) -> None:
    # At rest wB97X/6-31G* gives about -1.17 hartree for hydrogen, -76.39 for water and -40.49 for methane.
    for group, hartree in (("H2", -1.17), ("H2O", -76.39), ("CH4", -40.49)):
        energies = [each.energy for each in molecules.structures if each.group == group and each.energy is not None]
        assert len(set(energies)) == 5
        assert 0 < min(energies) - hartree * 27.2114 < 0.4


def test_forces_of_the_molecules_are_the_slope_of_their_energies(molecules: Dataset) -> None:
    """Two rattles of one molecule differ by the work of the mean force between them, but for third derivatives."""
    wrong, differences = [], []
    for one, other in itertools.combinations(molecules.structures, 2):
        if one.group == other.group:
            assert one.energy is not None and other.energy is not None
            assert one.forces is not None and other.forces is not None
            work = -((one.forces + other.forces) / 2 * (other.positions - one.positions)).sum()
            differences.append(abs(other.energy - one.energy))
            wrong.append(abs(other.energy - one.energy - work))
    assert len(wrong) == 18 * 10
    assert np.median(wrong) < 0.25 * np.median(differences)


def test_an_unknown_dataset_is_refused_with_the_nearest() -> None:
    with pytest.raises(BenchError, match="unknown dataset 'dcdtf'; did you mean 'dcdft'"):
        named("dcdtf")


@pytest.mark.parametrize("name", DATASETS)
def test_every_dataset_is_there_under_its_name_with_energies(name: str) -> None:
    dataset = named(name)
    assert dataset.name == name
    assert dataset.level_of_theory and dataset.energy_zero
    assert all(each.energy is not None for each in dataset.structures)
    assert named(name).fingerprint == dataset.fingerprint


@pytest.mark.parametrize("name", ["dcdft", "molecules-wb97x"])
def test_structures_that_err_together_are_of_one_group(name: str) -> None:
    assert all(each.group is not None for each in named(name).structures)
