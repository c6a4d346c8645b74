"""Neighbour lists by vesin: of one structure, and of a dataset, built once per cutoff and kept on disk.

The file of a dataset's lists is an uncompressed .npz, one array per structure, named by what the lists depend on: the
dataset's fingerprint, the cutoff, the version of vesin and of this format. It holds the pairs and the cells between
them; vectors follow from those, so a list read is the list that was built, to the last bit. A file that says something
else, or is damaged, is built again; a damaged list in it is built again alone.
"""

import hashlib
import importlib.metadata
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, NamedTuple, overload

import numpy as np
from bench_core.errors import BenchError, ExitCode
from bench_core.files import open_atomically
from numpy.typing import NDArray
from vesin import NeighborList

from bench_score.dataset import Dataset
from bench_score.structure import Neighbours, Structure

FORMAT = 1
Progress = Callable[[int, int], None]  # structures done, of how many


class Pairs(NamedTuple):
    """What vesin finds; vectors follow from it and the structure."""

    first: NDArray[np.int64]  # (m,)
    second: NDArray[np.int64]  # (m,)
    shifts: NDArray[np.int64]  # (m, 3)


def neighbours(structure: Structure, cutoff_angstrom: float) -> Neighbours:
    """Every pair within a cutoff, in both directions, also of an atom with its own images.

    Axes are periodic one by one. Atoms may lie outside the cell; a structure without one has no images. The same
    structure has the same list whichever way vesin went about it: one thread, and sorted.

    Raises:
        BenchError: the structure's cell is of no use along a periodic axis.
    """
    if cutoff_angstrom <= 0:
        raise ValueError(f"a cutoff of {cutoff_angstrom} angstrom")
    if np.linalg.matrix_rank(structure.cell[structure.pbc]) < structure.pbc.sum():
        raise BenchError(
            f"structure {structure.name} is periodic along a lattice vector that is missing or parallel to the others",
            ExitCode.DATA,
        )
    finder = NeighborList(cutoff=cutoff_angstrom, full_list=True, n_threads=1)
    # Not copied: these arrays live no longer than `finder`, and what is made of them are copies.
    first, second, shifts = finder.compute(
        points=structure.positions, box=structure.cell, periodic=structure.pbc, quantities="ijS", copy=False
    )
    order = _order(first.astype(np.int64), second.astype(np.int64), shifts, structure.num_atoms)
    sorted_ = [np.take(part, order, axis=0).astype(np.int64) for part in (first, second, shifts)]
    return _with_vectors(structure, cutoff_angstrom, Pairs(*sorted_))


class NeighbourLists(Sequence[Neighbours]):
    """Neighbour lists of a dataset, by index; each is read (or built, where there is no file) when asked for.

    May be used after a fork: every process opens the file itself.
    """

    def __init__(self, dataset: Dataset, cutoff_angstrom: float, path: Path | None) -> None:
        self._dataset = dataset
        self._cutoff_angstrom = cutoff_angstrom
        self._path = path
        self._archive: zipfile.ZipFile | None = None
        self._pid = -1

    def __len__(self) -> int:
        return len(self._dataset)

    @overload
    def __getitem__(self, index: int) -> Neighbours: ...

    @overload
    def __getitem__(self, index: slice) -> list[Neighbours]: ...

    def __getitem__(self, index: int | slice) -> Neighbours | list[Neighbours]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        structure = self._dataset.structures[index]
        pairs = self._read(index % len(self), structure)
        if pairs is None:
            return neighbours(structure, self._cutoff_angstrom)
        return _with_vectors(structure, self._cutoff_angstrom, pairs)

    def _read(self, index: int, structure: Structure) -> Pairs | None:
        """A structure's pairs as they are in the file; None where they are not, or not whole."""
        if self._path is None:
            return None
        try:
            if self._archive is None or self._pid != os.getpid():
                self._archive, self._pid = zipfile.ZipFile(self._path), os.getpid()
            with self._archive.open(_member(index)) as stream:
                table = np.lib.format.read_array(stream, allow_pickle=False)
                stream.read()  # to its end, where zipfile compares the checksum
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, NotImplementedError):
            return None
        if not _fits(table, structure):
            return None
        return Pairs(*(np.ascontiguousarray(part, dtype=np.int64) for part in (table[:, 0], table[:, 1], table[:, 2:])))


def neighbour_lists(
    dataset: Dataset,
    cutoff_angstrom: float,
    cache_dir: Path | None,
    progress: Progress | None = None,
    workers: int = 1,
) -> NeighbourLists:
    """The lists of a dataset, from the file in `cache_dir` or, where there is no such file yet, after writing it.

    Two processes may do so at once: each writes a file of its own, and one replaces the other. Without `cache_dir`
    every list is built when it is asked for. `workers` threads build; the file is the same.

    Raises:
        BenchError: the file cannot be written, or a structure has an unusable cell.
    """
    if cache_dir is None:
        return NeighbourLists(dataset, cutoff_angstrom, None)
    identity = _identity(dataset, cutoff_angstrom)
    path = cache_dir / f"neighbours-{hashlib.sha256(identity).hexdigest()[:32]}.npz"
    if not _is_whole(path, identity, len(dataset)):
        with open_atomically(path) as stream:
            _write(stream, dataset, cutoff_angstrom, identity, progress, workers)
    return NeighbourLists(dataset, cutoff_angstrom, path)


def _identity(dataset: Dataset, cutoff_angstrom: float) -> bytes:
    return (
        f"neighbour lists {FORMAT}\nfingerprint {dataset.fingerprint}\ncutoff_angstrom {float(cutoff_angstrom)!r}\n"
        f"vesin {importlib.metadata.version('vesin')}\n"
    ).encode()


def _is_whole(path: Path, identity: bytes, count: int) -> bool:
    """Whether a file is what its name says, with a list for each structure."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.comment == identity and archive.namelist() == [_member(index) for index in range(count)]
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False


def _write(
    stream: IO[bytes],
    dataset: Dataset,
    cutoff_angstrom: float,
    identity: bytes,
    progress: Progress | None,
    workers: int,
) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = identity
        for index, found in enumerate(_built(dataset, cutoff_angstrom, workers)):
            table = _smallest(np.column_stack([found.first, found.second, found.shifts]))
            with archive.open(_member(index), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, table, allow_pickle=False)
            if progress is not None:
                progress(index + 1, len(dataset))


def _built(dataset: Dataset, cutoff_angstrom: float, workers: int) -> Iterator[Neighbours]:
    """The lists in order. No more than a few per thread are held: together they may be larger than memory."""
    structures = dataset.structures
    with ThreadPoolExecutor(workers) as pool:
        for start in range(0, len(structures), 4 * workers):
            yield from pool.map(
                lambda structure: neighbours(structure, cutoff_angstrom), structures[start : start + 4 * workers]
            )


def _member(index: int) -> str:
    return f"{index}.npy"


def _smallest(table: NDArray[np.int64]) -> NDArray[np.signedinteger]:
    """In the smallest type that holds its numbers: a large dataset's file is a quarter then, or less."""
    largest = int(np.abs(table).max(initial=0))
    return table.astype(next(kind for kind in (np.int8, np.int16, np.int32) if largest <= np.iinfo(kind).max))


def _fits(table: NDArray[Any], structure: Structure) -> bool:
    """Whether it can be a table of this structure's pairs, one a row: first, second and shifts."""
    if table.ndim != 2 or table.shape[1] != 5 or table.dtype.kind != "i":
        return False
    atoms = table[:, :2]
    return table.size == 0 or bool(atoms.min() >= 0 and atoms.max() < structure.num_atoms)


def _order(
    first: NDArray[np.int64], second: NDArray[np.int64], shifts: NDArray[np.int32], num_atoms: int
) -> NDArray[np.intp]:
    """What sorts pairs by first, second and shifts."""
    if len(first) == 0:
        return np.arange(0)
    x, y, z = shifts.T
    span = int(shifts.max()) - int(shifts.min()) + 1
    if num_atoms**2 * span**3 > np.iinfo(np.int64).max:
        return np.lexsort((z, y, x, second, first))
    # One number per pair is sorted thirty times as fast as five.
    key = first * num_atoms
    key += second
    for shift in (x, y, z):
        key *= span
        key += shift
    return np.argsort(key)


def _with_vectors(structure: Structure, cutoff_angstrom: float, pairs: Pairs) -> Neighbours:
    vectors = pairs.shifts.astype(np.float64) @ structure.cell
    vectors += np.take(structure.positions, pairs.second, axis=0)
    vectors -= np.take(structure.positions, pairs.first, axis=0)
    distances = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return Neighbours(cutoff_angstrom, pairs.first, pairs.second, pairs.shifts, vectors, distances)
