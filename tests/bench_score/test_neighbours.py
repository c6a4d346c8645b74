"""Neighbour lists: against ASE's own, and from a file that may be there, damaged, foreign or written by two at once."""

import os
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, fcc111, molecule
from ase.neighborlist import neighbor_list
from bench_core.errors import BenchError, ExitCode
from bench_score import neighbours as module
from bench_score.dataset import Dataset
from bench_score.neighbours import neighbour_lists, neighbours
from bench_score.structure import Neighbours, Structure


def structure(atoms: Atoms, name: str = "some") -> Structure:
    return Structure(
        name, np.array(atoms.numbers, dtype=np.int64), atoms.positions.copy(), np.array(atoms.cell), atoms.pbc.copy()
    )


def shown(found: Neighbours) -> list[tuple[int, ...]]:
    return [tuple(row) for row in np.column_stack([found.first, found.second, found.shifts]).tolist()]


def of_ase(atoms: Atoms, cutoff: float) -> list[tuple[int, ...]]:
    first, second, shifts = neighbor_list("ijS", atoms, cutoff)
    return sorted(tuple(row) for row in np.column_stack([first, second, shifts]).tolist())


def check(atoms: Atoms, cutoff: float) -> Neighbours:
    """Compare with ASE, and the vectors and distances with their definition."""
    found = neighbours(structure(atoms), cutoff)
    assert shown(found) == of_ase(atoms, cutoff)
    vectors = atoms.positions[found.second] - atoms.positions[found.first] + found.shifts @ np.array(atoms.cell)
    assert np.allclose(found.vectors, vectors, atol=1e-12)
    assert np.allclose(found.distances, np.linalg.norm(vectors, axis=1), atol=1e-12)
    assert (found.distances < cutoff).all()
    assert [part.dtype for part in (found.first, found.second, found.shifts)] == [np.int64] * 3
    return found


def random_atoms(seed: int) -> tuple[Atoms, float]:
    """Few atoms, some far outside a skewed cell that is periodic along any of its axes, and a cutoff beyond it."""
    rng = np.random.default_rng(seed)
    cell = np.diag(rng.uniform(2.5, 8, 3)) + rng.uniform(-1.2, 1.2, (3, 3))
    count = int(rng.integers(1, 15))
    positions = rng.uniform(-2, 3, (count, 3)) @ cell
    return Atoms(f"Cu{count}", positions=positions, cell=cell, pbc=rng.random(3) < 0.6), rng.uniform(1, 9)


@pytest.mark.parametrize("seed", range(40))
def test_random_cells_have_the_neighbours_that_ase_finds(seed: int) -> None:
    check(*random_atoms(seed))


@pytest.mark.parametrize("pbc", list(np.ndindex(2, 2, 2)))
def test_every_mixture_of_periodic_axes_is_that_of_ase(pbc: tuple[int, int, int]) -> None:
    atoms = bulk("Cu", cubic=True)
    atoms.pbc = pbc
    found = check(atoms, 5.0)
    assert not found.shifts[:, ~atoms.pbc].any()


def test_a_slab_has_no_neighbours_across_its_vacuum() -> None:
    slab = fcc111("Al", (2, 2, 3), vacuum=1.0)
    assert not check(slab, 6.0).shifts[:, 2].any()
    flat = fcc111("Al", (2, 2, 3))  # along z there is no lattice vector at all
    assert not flat.cell[2].any()
    assert len(check(flat, 6.0).first) > 0


def test_a_molecule_needs_no_cell() -> None:
    water = molecule("H2O")
    assert shown(check(water, 2.0)) == [(a, b, 0, 0, 0) for a in range(3) for b in range(3) if a != b]


def test_an_atom_alone_has_no_neighbours_but_its_own_images() -> None:
    assert len(check(Atoms("He"), 50.0).first) == 0
    found = check(Atoms("He", cell=[3, 3, 3], pbc=True), 3.1)
    assert (len(found.first), found.distances.tolist()) == (6, [3.0] * 6)
    assert len(check(Atoms("He", cell=[3, 3, 3], pbc=True), 2.9).first) == 0


def test_moving_an_atom_by_a_lattice_vector_changes_shifts_alone() -> None:
    atoms = bulk("Cu", cubic=True)
    moved = atoms.copy()
    moved.positions[1] += 7 * atoms.cell[0] - 3 * atoms.cell[2]
    one, other = check(atoms, 4.0), check(moved, 4.0)
    assert np.allclose(np.sort(one.distances), np.sort(other.distances))


def test_every_pair_is_there_in_both_directions() -> None:
    found = check(random_atoms(3)[0], 6.0)
    pairs = set(shown(found))
    assert len(pairs) == len(found.first) > 0
    assert {(b, a, -x, -y, -z) for a, b, x, y, z in pairs} == pairs


def test_pairs_are_sorted_however_far_apart_atoms_are() -> None:
    atoms = Atoms("H3", positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], cell=[3, 3, 3], pbc=True)
    atoms.positions[1] += [6e6, -6e6, 6e6]  # one number per pair would not hold these shifts
    found = neighbours(structure(atoms), 3.5)
    assert np.abs(found.shifts).max() >= 2_000_000
    assert shown(found) == sorted(shown(found))
    assert len(found.first) == len(neighbours(structure(Atoms(atoms, positions=atoms.positions % 3)), 3.5).first)


def test_a_periodic_axis_without_a_lattice_vector_is_refused() -> None:
    for cell in ([3, 3, 0], [[3, 0, 0], [6, 0, 0], [0, 0, 3]]):
        with pytest.raises(
            BenchError, match="structure some is periodic along a lattice vector that is missing"
        ) as caught:
            neighbours(structure(Atoms("Cu", cell=cell, pbc=True)), 5.0)
        assert caught.value.code == ExitCode.DATA


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return Dataset("some", tuple(structure(random_atoms(seed)[0], f"some[{seed}]") for seed in range(12)))


def same(one: Neighbours, other: Neighbours) -> bool:
    """To the last bit."""
    parts = ("first", "second", "shifts", "vectors", "distances")
    return one.cutoff_angstrom == other.cutoff_angstrom and all(
        np.array_equal(getattr(one, part), getattr(other, part)) for part in parts
    )


def fresh(dataset: Dataset, cutoff: float) -> list[Neighbours]:
    return [neighbours(each, cutoff) for each in dataset.structures]


def the_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names of the structures whose lists are built, one after the other."""
    names: list[str] = []

    def counted(each: Structure, cutoff: float) -> Neighbours:
        names.append(each.name)
        return neighbours(each, cutoff)

    monkeypatch.setattr(module, "neighbours", counted)
    yield names


def test_lists_of_a_dataset_are_built_once_and_read_to_the_last_bit(
    tmp_path: Path, dataset: Dataset, builds: list[str]
) -> None:
    seen: list[tuple[int, int]] = []
    first = neighbour_lists(dataset, 5.0, tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert len(builds) == 12
    assert seen == [(done, 12) for done in range(1, 13)]
    again = neighbour_lists(dataset, 5.0, tmp_path, progress=lambda done, total: seen.append((done, total)))
    for lists in (first, again):
        assert len(lists) == 12
        assert all(same(one, other) for one, other in zip(lists, fresh(dataset, 5.0), strict=True))
        assert same(lists[-1], neighbours(dataset.structures[-1], 5.0))
        assert [len(each.first) for each in lists[2:4]] == [len(lists[2].first), len(lists[3].first)]
        with pytest.raises(IndexError):
            lists[12]
    assert (len(builds), len(seen)) == (12, 12)


def test_without_a_folder_lists_are_built_when_asked_for(dataset: Dataset, builds: list[str]) -> None:
    lists = neighbour_lists(dataset, 5.0, None)
    assert builds == []
    assert same(lists[3], neighbours(dataset.structures[3], 5.0))
    assert builds == ["some[3]"]


def test_another_cutoff_or_content_or_version_has_a_file_of_its_own(
    tmp_path: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    neighbour_lists(dataset, 5.0, tmp_path)
    neighbour_lists(dataset, np.nextafter(5.0, 6), tmp_path)
    neighbour_lists(Dataset("some", dataset.structures[:-1]), 5.0, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    neighbour_lists(Dataset("other name", dataset.structures), 5.0, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    monkeypatch.setattr(module, "FORMAT", 0)
    neighbour_lists(dataset, 5.0, tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_threads_write_the_same_file(tmp_path: Path, dataset: Dataset) -> None:
    for workers in (1, 3):
        neighbour_lists(dataset, 5.0, tmp_path / str(workers), workers=workers)
    one, other = (zipfile.ZipFile(the_file(tmp_path / str(workers))) for workers in (1, 3))
    with one, other:
        assert one.namelist() == other.namelist()
        assert all(one.read(name) == other.read(name) for name in one.namelist())


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "other content", "gone"])
def test_a_file_that_is_not_what_its_name_says_is_built_again(
    tmp_path: Path, dataset: Dataset, builds: list[str], damage: str
) -> None:
    neighbour_lists(dataset, 5.0, tmp_path)
    path = the_file(tmp_path)
    data = path.read_bytes()
    if damage == "other content":
        neighbour_lists(dataset, 4.0, tmp_path / "other")
        the_file(tmp_path / "other").replace(path)
        (tmp_path / "other").rmdir()
    elif damage == "gone":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "cut": data[: len(data) // 2], "text": b"lists"}[damage])
    builds.clear()
    lists = neighbour_lists(dataset, 5.0, tmp_path)
    assert len(builds) == 12
    assert all(same(one, other) for one, other in zip(lists, fresh(dataset, 5.0), strict=True))
    assert the_file(tmp_path).read_bytes() == data


@pytest.mark.parametrize("what", ["a number", "how many there are"])
def test_a_damaged_list_is_built_again_alone(tmp_path: Path, dataset: Dataset, builds: list[str], what: str) -> None:
    neighbour_lists(dataset, 5.0, tmp_path)
    path = the_file(tmp_path)
    with zipfile.ZipFile(path) as archive:
        longest = max(range(12), key=lambda index: archive.getinfo(f"{index}.npy").file_size)
        offset = archive.getinfo(f"{longest}.npy").header_offset
    data = bytearray(path.read_bytes())
    if what == "a number":
        data[offset + 400] ^= 1
    else:
        begin = data.index(b"'shape': (", offset) + len(b"'shape': (")
        end = data.index(b",", begin)
        data[begin:end] = b"1" + b"0" * (end - begin - 1)
    assert data != path.read_bytes()
    path.write_bytes(data)
    builds.clear()
    lists = neighbour_lists(dataset, 5.0, tmp_path)
    assert all(same(one, other) for one, other in zip(lists, fresh(dataset, 5.0), strict=True))
    assert builds == [f"some[{longest}]"]


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((3, 4), dtype=np.int16),
        np.zeros((3, 5)),
        np.full((3, 5), 99, dtype=np.int32),
        np.full((3, 5), -1, dtype=np.int32),
        np.zeros(5, dtype=np.int32),
        np.array([[{}] * 5]),
    ],
)
def test_a_table_that_cannot_be_of_the_structure_is_not_believed(
    tmp_path: Path, dataset: Dataset, table: np.ndarray[Any, Any]
) -> None:
    neighbour_lists(dataset, 5.0, tmp_path)
    path = the_file(tmp_path)
    with zipfile.ZipFile(path) as archive:
        comment, names = archive.comment, archive.namelist()
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = comment
        for name in names:
            with archive.open(name, "w") as member:
                np.lib.format.write_array(member, table, allow_pickle=True)
    lists = neighbour_lists(dataset, 5.0, tmp_path)
    assert all(same(one, other) for one, other in zip(lists, fresh(dataset, 5.0), strict=True))


def test_the_file_holds_atoms_and_shifts_of_any_size(tmp_path: Path) -> None:
    many = bulk("Cu", cubic=True) * (4, 4, 4)
    far = [bulk("Cu"), bulk("Cu", cubic=True), bulk("Cu", cubic=True)]
    far[1].positions[1] += 200 * far[1].cell[0]
    far[2].positions[1] += 200_000 * far[2].cell[0]
    data = Dataset("far", tuple(structure(atoms) for atoms in (many, *far)))
    lists = neighbour_lists(data, 4.0, tmp_path)
    assert np.abs(lists[3].shifts).max() >= 199_999
    assert all(same(one, other) for one, other in zip(lists, fresh(data, 4.0), strict=True))
    with np.load(the_file(tmp_path), allow_pickle=False) as arrays:
        assert [arrays[str(index)].itemsize for index in range(4)] == [2, 1, 2, 4]


def test_two_at_once_leave_one_whole_file(tmp_path: Path, dataset: Dataset) -> None:
    barrier = threading.Barrier(4)

    def build(_: int) -> bool:
        barrier.wait()
        lists = neighbour_lists(dataset, 5.0, tmp_path)
        return all(same(one, other) for one, other in zip(lists, fresh(dataset, 5.0), strict=True))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(build, range(4)))
    assert the_file(tmp_path).suffix == ".npz"


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_two_processes_read_at_once_after_a_fork(tmp_path: Path, dataset: Dataset, builds: list[str]) -> None:
    lists = neighbour_lists(dataset, 5.0, tmp_path)
    assert same(lists[0], neighbours(dataset.structures[0], 5.0))
    builds.clear()

    def read_often() -> bool:
        """What does not come from the file whole is built."""
        return sum(len(each.first) for _ in range(100) for each in lists) > 0 and not builds

    child = os.fork()
    if child == 0:
        os._exit(0 if read_often() else 1)
    right = read_often()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert right


def test_a_file_that_vanishes_in_between_costs_time_alone(tmp_path: Path, dataset: Dataset) -> None:
    lists = neighbour_lists(dataset, 5.0, tmp_path)
    the_file(tmp_path).unlink()
    assert same(lists[5], neighbours(dataset.structures[5], 5.0))


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path, dataset: Dataset) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BenchError, match="cannot write") as caught:
        neighbour_lists(dataset, 5.0, tmp_path / "file" / "cache")
    assert caught.value.code == ExitCode.OUTPUT


def test_numpy_reads_the_file_by_itself(tmp_path: Path, dataset: Dataset) -> None:
    neighbour_lists(dataset, 5.0, tmp_path)
    with np.load(the_file(tmp_path), allow_pickle=False) as arrays:
        assert [tuple(row) for row in arrays["4"].tolist()] == shown(neighbours(dataset.structures[4], 5.0))
