"""Datasets from files: what is read, what is converted, what is refused, and what the fingerprint sees."""

import os
import pickle
import sqlite3
import tracemalloc
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import ase.db
import ase.io
import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, fcc111, molecule
from ase.calculators.singlepoint import SinglePointCalculator
from ase.constraints import FixAtoms
from bench_core.errors import BenchError, ExitCode
from bench_score.dataset import Dataset, Keys, read_dataset
from bench_score.label_units import LabelUnits
from bench_score.structure import Structure

STRESS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


def labelled(atoms: Atoms, **results: Any) -> Atoms:
    atoms.calc = SinglePointCalculator(atoms, **results)
    return atoms


def crystal(**results: Any) -> Atoms:
    return labelled(bulk("Cu"), energy=-3.5, forces=np.full((1, 3), 0.25), stress=STRESS, **results)


def refused(path: Path, *arguments: Any, **options: Any) -> str:
    with pytest.raises(BenchError) as caught:
        read_dataset(path, *arguments, **options)
    assert caught.value.code == ExitCode.DATA
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("suffix", ["extxyz", "xyz", "traj", "db", "json", "extxyz.gz"])
def test_every_format_of_ase_gives_the_same_structures(tmp_path: Path, suffix: str) -> None:
    slab = labelled(fcc111("Al", (1, 1, 2), vacuum=5), energy=-7.0)
    slab.info.clear()
    path = tmp_path / f"some.{suffix}"
    ase.io.write(path, [crystal(), slab, molecule("H2O")], format="extxyz" if "xyz" in suffix else None)
    dataset = read_dataset(path)
    first, second, third = dataset.structures
    assert (first.name, first.energy, first.num_atoms) == (f"{path.name}[0]", -3.5, 1)
    assert first.forces is not None and first.forces.tolist() == [[0.25] * 3]
    assert first.stress is not None and first.stress.tolist() == STRESS.tolist()
    assert (second.energy, second.forces, second.stress, second.pbc.tolist()) == (-7.0, None, None, [True, True, False])
    assert (third.energy, third.numbers.tolist(), third.pbc.any(), third.cell.any()) == (None, [8, 1, 1], False, False)
    assert np.allclose(third.positions, molecule("H2O").positions, atol=1e-8)


def test_labels_under_other_names_are_found_in_a_file_and_in_a_database(tmp_path: Path) -> None:
    water = molecule("H2O")
    water.info |= {"REF_energy": -14.0, "REF_stress": STRESS, "config_type": "gas", "level_of_theory": "CCSD(T)"}
    water.arrays["REF_forces"] = np.arange(9.0).reshape(3, 3)
    ase.io.write(tmp_path / "water.extxyz", water)
    with ase.db.connect(tmp_path / "water.db") as database:
        database.write(
            molecule("H2O"),
            key_value_pairs={"REF_energy": -14.0, "config_type": "gas", "level_of_theory": "CCSD(T)"},
            data={"REF_forces": water.arrays["REF_forces"], "REF_stress": STRESS},
        )
    keys = Keys(energy="REF_energy", forces="REF_forces", stress="REF_stress", group="config_type")
    for name in ("water.extxyz", "water.db"):
        dataset = read_dataset(tmp_path / name, keys)
        (structure,) = dataset.structures
        assert (structure.energy, structure.group, dataset.level_of_theory) == (-14.0, "gas", "CCSD(T)")
        assert structure.forces is not None and structure.forces[2, 2] == 8
        assert structure.stress is not None and structure.stress.tolist() == STRESS.tolist()


def test_a_named_key_is_preferred_to_what_ase_attaches(tmp_path: Path) -> None:
    atoms = crystal()
    atoms.info["dft_energy"] = -99.0
    ase.io.write(tmp_path / "two.extxyz", atoms)
    assert read_dataset(tmp_path / "two.extxyz").structures[0].energy == -3.5
    assert read_dataset(tmp_path / "two.extxyz", Keys(energy="dft_energy")).structures[0].energy == -99


def test_forces_of_constrained_atoms_are_read_as_they_were_computed(tmp_path: Path) -> None:
    atoms = crystal()
    atoms.set_constraint(FixAtoms([0]))
    assert not atoms.get_forces().any()
    ase.io.write(tmp_path / "fixed.traj", atoms)
    forces = read_dataset(tmp_path / "fixed.traj").structures[0].forces
    assert forces is not None and forces.tolist() == [[0.25] * 3]


def test_a_key_that_is_nowhere_is_refused_with_the_keys_that_are_there(tmp_path: Path) -> None:
    ase.io.write(tmp_path / "some.extxyz", crystal())
    message = refused(tmp_path / "some.extxyz", Keys(energy="REF_energy"))
    assert message.endswith("no structure has the key 'REF_energy' for energy; there are: energy, forces, stress")


def test_a_key_that_only_some_structures_have_leaves_the_others_unlabelled(tmp_path: Path) -> None:
    one = bulk("Cu")
    one.info["mine"] = 2.0
    ase.io.write(tmp_path / "some.extxyz", [one, bulk("Al")])
    energies = [each.energy for each in read_dataset(tmp_path / "some.extxyz", Keys(energy="mine")).structures]
    assert energies == [2.0, None]


@pytest.mark.parametrize("shape", [(6,), (3, 3), (9,)])
def test_stress_may_be_voigt_or_a_matrix_or_nine_numbers(tmp_path: Path, shape: tuple[int, ...]) -> None:
    matrix = np.array([[1.0, 6.0, 5.0], [6.0, 2.0, 4.0], [5.0, 4.0, 3.0]])
    atoms = bulk("Cu")
    atoms.info["dft_stress"] = STRESS if shape == (6,) else matrix.reshape(shape)
    ase.io.write(tmp_path / "some.extxyz", atoms)
    stress = read_dataset(tmp_path / "some.extxyz", Keys(stress="dft_stress")).structures[0].stress
    assert stress is not None and stress.tolist() == STRESS.tolist()


def test_a_stress_that_is_not_symmetric_is_refused(tmp_path: Path) -> None:
    atoms = bulk("Cu")
    atoms.info["dft_stress"] = np.arange(9.0)
    ase.io.write(tmp_path / "some.extxyz", atoms)
    assert "not symmetric" in refused(tmp_path / "some.extxyz", Keys(stress="dft_stress"))


@pytest.mark.parametrize(
    ("units", "energy", "force", "stress"),
    [
        (LabelUnits(), 1.0, 1.0, 1.0),
        (LabelUnits(stress="GPa", stress_sign=-1), 1.0, 1.0, -0.006241509),
        (LabelUnits(energy="meV", stress="kbar"), 1e-3, 1.0, 0.0006241509),
        (LabelUnits(energy="hartree", forces="hartree/bohr", stress="bar"), 27.211386, 51.422067, 6.241509e-7),
        (LabelUnits(energy="kcal/mol", forces="kcal/mol/A", stress="hartree/bohr^3"), 0.04336410, 0.04336410, 183.631),
    ],
)
def test_units_and_sign_are_converted(
    tmp_path: Path, units: LabelUnits, energy: float, force: float, stress: float
) -> None:
    ase.io.write(tmp_path / "some.extxyz", crystal())
    (structure,) = read_dataset(tmp_path / "some.extxyz", units=units).structures
    assert structure.energy == pytest.approx(-3.5 * energy, rel=1e-5)
    assert structure.forces == pytest.approx(np.full((1, 3), 0.25 * force), rel=1e-5)
    assert structure.stress == pytest.approx(STRESS * stress, rel=1e-5)


def test_an_unknown_unit_is_refused_with_the_nearest() -> None:
    with pytest.raises(BenchError, match="unknown unit of stress 'gpa'; did you mean 'GPa'"):
        LabelUnits(stress="gpa")
    with pytest.raises(BenchError, match="stress_sign is 0"):
        LabelUnits(stress_sign=0)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"energy": float("nan")}, "structure some.traj[1] has a value of energy that is not finite"),
        ({"forces": np.full((1, 3), np.inf)}, "structure some.traj[1] has a value of forces that is not finite"),
        ({"stress": np.array([np.nan] * 6)}, "structure some.traj[1] has a value of stress that is not finite"),
    ],
)
def test_a_label_that_is_not_finite_is_refused_by_structure(tmp_path: Path, results: Any, message: str) -> None:
    ase.io.write(tmp_path / "some.traj", [bulk("Cu"), labelled(bulk("Cu"), **results)])
    assert refused(tmp_path / "some.traj").startswith(message)


def test_forces_of_a_wrong_shape_are_refused_by_structure(tmp_path: Path) -> None:
    atoms = molecule("H2O")
    atoms.info["mine"] = np.zeros(6)
    ase.io.write(tmp_path / "some.extxyz", atoms)
    message = refused(tmp_path / "some.extxyz", Keys(forces="mine"))
    assert message == "structure some.extxyz[0] has forces of shape (6,) where (3, 3) is due"
    atoms.info["mine"] = "many"
    ase.io.write(tmp_path / "some.extxyz", atoms)
    assert "something else than numbers as energy" in refused(tmp_path / "some.extxyz", Keys(energy="mine"))


@pytest.mark.parametrize("name", ["a.extxyz", "a.db", "a.traj", "a"])
def test_an_empty_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert "the file is empty" in refused(tmp_path / name)


def test_files_without_structures_are_refused(tmp_path: Path) -> None:
    ase.db.connect(tmp_path / "none.db").write(Atoms("H"))
    ase.db.connect(tmp_path / "none.db").delete([1])
    assert refused(tmp_path / "none.db") == "none.db: there is no structure in it; name another file"
    (tmp_path / "blank.extxyz").write_text("\n\n")
    assert "blank.extxyz: " in refused(tmp_path / "blank.extxyz")
    ase.io.write(tmp_path / "atomless.extxyz", Atoms())
    assert "atomless.extxyz[0] has no atoms" in refused(tmp_path / "atomless.extxyz")


@pytest.mark.parametrize(
    ("name", "data", "where"),
    [
        ("text", b"nothing of the kind", "at its beginning"),
        ("broken.db", b"no database", "at its beginning"),
        ("broken.traj", b"- of UlmASE-Trajectory", "at its beginning"),
        ("cut.extxyz", b"1\n\nCu 0 0 0\n2\n\nCu 0 0 0\n", "after structure [0]"),
        ("words.extxyz", b"1\n\nCu 0 0 0\n1\n\nCu 0 zero 0\n", "after structure [0]"),
        ("bytes.xyz", bytes(range(256)), "at its beginning"),
    ],
)
def test_an_unreadable_file_is_one_sentence(tmp_path: Path, name: str, data: bytes, where: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert f"ASE cannot read it {where} (" in refused(tmp_path / name)


def test_a_database_of_somebody_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "foreign.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (id INTEGER)")
    before = path.read_bytes()
    assert "a SQLite file without the tables of ASE" in refused(path)
    assert path.read_bytes() == before


def test_reading_changes_no_database(tmp_path: Path) -> None:
    for name in ("a.db", "a.json"):
        ase.io.write(tmp_path / name, [crystal(), crystal()])
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        assert len(read_dataset(tmp_path / name)) == 2
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_a_missing_file_and_an_address_are_no_files(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.xyz", Path("postgresql://localhost/structures")):
        assert "there is no such file" in refused(path)


def test_an_at_sign_in_a_name_is_part_of_it(tmp_path: Path) -> None:
    ase.io.write(tmp_path / "plain.extxyz", [crystal(), crystal()])
    (tmp_path / "plain.extxyz").rename(tmp_path / "some@0.extxyz")
    assert len(read_dataset(tmp_path / "some@0.extxyz")) == 2


class Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("name", ["a.pkl", "a.PICKLE", "a.pckl.gz", "a.pt", "a.traj", "a.db", "a.json", "a"])
def test_no_pickle_is_ever_run(tmp_path: Path, name: str) -> None:
    pickled = pickle.dumps(Evil(tmp_path / "ran"))
    (tmp_path / name).write_bytes(b"PickleTrajectory" + pickled if name == "a.traj" else pickled)
    message = refused(tmp_path / name)
    assert not (tmp_path / "ran").exists()
    assert ("may hold a pickle" in message) == (name not in {"a.traj", "a.db", "a.json", "a"})


def test_atoms_outside_the_cell_stay_where_they_are(tmp_path: Path) -> None:
    atoms = bulk("Cu", cubic=True)
    atoms.positions += [20, -30, 40]
    ase.io.write(tmp_path / "out.extxyz", atoms)
    assert np.allclose(read_dataset(tmp_path / "out.extxyz").structures[0].positions, atoms.positions, atol=1e-8)


@pytest.mark.parametrize(
    ("place", "what"), [(1e9, "an atom 1e+09 angstrom away"), (np.nan, "a value of positions that is not finite")]
)
def test_an_atom_at_an_absurd_place_is_refused(tmp_path: Path, place: float, what: str) -> None:
    ase.io.write(tmp_path / "far.traj", Atoms("H", positions=[[0, place, 0]]))
    assert f"structure far.traj[0] has {what}" in refused(tmp_path / "far.traj")


def test_a_crystal_without_a_lattice_vector_is_refused(tmp_path: Path) -> None:
    flat = Atoms("Cu", cell=[3, 3, 0], pbc=True)
    ase.io.write(tmp_path / "flat.traj", flat)
    assert "flat.traj[0] is periodic along a lattice vector that is missing" in refused(tmp_path / "flat.traj")
    flat.pbc[2] = False
    ase.io.write(tmp_path / "flat.traj", flat)
    assert len(read_dataset(tmp_path / "flat.traj")) == 1


def test_references_are_those_that_the_file_marks_one_for_a_group(tmp_path: Path) -> None:
    volumes = [bulk("Cu", a=a) for a in (3.5, 3.6, 3.7)]
    for atoms in volumes:
        atoms.info |= {"group": "Cu", "is_v0": False}
    volumes[1].info["is_v0"] = True
    ase.io.write(tmp_path / "eos.extxyz", volumes)
    assert read_dataset(tmp_path / "eos.extxyz", Keys(reference="is_v0")).references == {"Cu": 1}
    volumes[2].info["is_v0"] = True
    ase.io.write(tmp_path / "eos.extxyz", volumes)
    assert "eos.extxyz[2] is a second reference" in refused(tmp_path / "eos.extxyz", Keys(reference="is_v0"))
    for atoms in volumes:
        del atoms.info["group"]
    ase.io.write(tmp_path / "eos.extxyz", volumes)
    assert "a reference without a group" in refused(tmp_path / "eos.extxyz", Keys(reference="is_v0"))


def test_levels_of_theory_of_a_file_are_named_all_unless_the_caller_knows_better(tmp_path: Path) -> None:
    one, two = bulk("Cu"), bulk("Al")
    one.info["level_of_theory"], two.info["level_of_theory"] = "PBE", "r2SCAN"
    ase.io.write(tmp_path / "some.extxyz", [one, two])
    assert read_dataset(tmp_path / "some.extxyz").level_of_theory == "PBE, r2SCAN"
    assert read_dataset(tmp_path / "some.extxyz", level_of_theory="PBEsol").level_of_theory == "PBEsol"


def structure(**changes: Any) -> Structure:
    plain = Structure(
        "a", np.array([1, 1]), np.zeros((2, 3)), np.eye(3), np.ones(3, dtype=np.bool_), energy=1.0, group="g"
    )
    return replace(plain, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"numbers": np.array([1, 2])},
        {"positions": np.full((2, 3), 1e-12)},
        {"cell": 2 * np.eye(3)},
        {"pbc": np.array([True, True, False])},
        {"energy": np.nextafter(1.0, 2)},
        {"energy": None},
        {"forces": np.zeros((2, 3))},
        {"stress": np.zeros(6)},
        {"group": None},
        {"group": "h"},
    ],
)
def test_the_fingerprint_sees_every_change_of_content(changes: Any) -> None:
    plain, changed = (Dataset("d", (each, structure())) for each in (structure(), structure(**changes)))
    assert plain.fingerprint != changed.fingerprint


def test_the_fingerprint_sees_order_and_references_but_no_names() -> None:
    one, other = structure(), structure(energy=2.0)
    fingerprint = Dataset("d", (one, other)).fingerprint
    assert Dataset("other", (replace(one, name="b"), other), level_of_theory="PBE").fingerprint == fingerprint
    assert Dataset("d", (other, one)).fingerprint != fingerprint
    assert Dataset("d", (one, other), references={"g": 0}).fingerprint != fingerprint
    assert Dataset("d", (one, other), pressure_only=True).fingerprint != fingerprint


def test_a_dataset_needs_structures_and_references_that_are_in_their_group() -> None:
    with pytest.raises(BenchError, match="there is no structure in it"):
        Dataset("d", ())
    with pytest.raises(ValueError, match="not in it"):
        Dataset("d", (structure(),), references={"h": 0})


def test_reading_keeps_arrays_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    with (tmp_path / "many.extxyz").open("w") as file:
        for _ in range(300):
            rows = "".join(f"Cu {x:.6f} {y:.6f} {z:.6f} {x:.6f} {y:.6f} {z:.6f}\n" for x, y, z in rng.random((133, 3)))
            file.write(f'133\nProperties=species:S:1:pos:R:3:forces:R:3 energy=-1.0 pbc="F F F"\n{rows}')
    read_dataset(tmp_path / "many.extxyz")  # what ASE imports is not counted
    tracemalloc.start()
    try:
        dataset = read_dataset(tmp_path / "many.extxyz")
        kept_bytes, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    data_bytes = len(dataset) * 133 * (1 + 3 + 3) * 8
    assert data_bytes < kept_bytes < data_bytes + 4000 * len(dataset)
    assert peak_bytes < kept_bytes + 1_000_000  # structures as ASE has them, until the collector comes by
