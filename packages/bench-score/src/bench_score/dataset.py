"""A dataset: labelled structures in order, read from any file that ASE reads, and their fingerprint.

No format of ASE 3.29 that reads files unpickles anything: .traj and .db hold JSON and plain arrays, and what is left of
its old pickled trajectories is reached by a conversion command alone. Names that promise a pickle are refused here.
"""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from ase import Atoms
from bench_core.errors import BenchError, ExitCode
from bench_core.names import name_to_text
from numpy.typing import ArrayLike, NDArray

from bench_score.label_units import EV_ANGSTROM, LabelUnits
from bench_score.structure import VOIGT, Floats, Structure

PICKLES = frozenset({".pkl", ".pickle", ".pckl", ".p", ".joblib", ".dill", ".pt", ".pth"})
DATABASES = frozenset({".db", ".json", ".aselmdb"})  # of ASE: their rows have keys beside the atoms
FARTHEST_ANGSTROM = 1e8  # a centimetre; beyond, vesin loses count of the cells without a word
SYMMETRIC = 1e-3  # of the largest component: by how much a 3x3 stress may differ from its transpose


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Structures to score on. Its energies may be relative to anything; `energy_zero` says to what.

    `references` holds, for a group whose energies are relative to one of its structures, the index of that structure.
    `pressure_only` says that of a stress only the mean of its first three components is a label: the source knows the
    pressure and nothing else.
    """

    name: str
    structures: tuple[Structure, ...]
    level_of_theory: str | None = None
    energy_zero: str | None = None
    references: Mapping[str, int] = field(default_factory=dict)
    pressure_only: bool = False
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        if not self.structures:
            raise BenchError(f"{self.name}: there is no structure in it; name another file", ExitCode.DATA)
        for group, index in self.references.items():
            if self.structures[index].group != group:
                raise ValueError(f"structure {index} is the reference of group {group!r} and not in it")
        object.__setattr__(self, "fingerprint", _fingerprint(self))

    def __len__(self) -> int:
        return len(self.structures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Under which names a file holds its labels, in what ASE calls info, arrays, or results of a calculator.

    None stands for what ASE attaches as results, then for the label's own name. A name that is given has to be in the
    file, though not with every structure.
    """

    energy: str | None = None
    forces: str | None = None
    stress: str | None = None
    group: str | None = None
    reference: str | None = None  # true for the one structure of a group that its energies are relative to


def read_dataset(
    source: Path | str,
    keys: Keys = Keys(),
    units: LabelUnits = EV_ANGSTROM,
    *,
    name: str | None = None,
    level_of_theory: str | None = None,
    energy_zero: str | None = None,
) -> Dataset:
    """Read a file of labelled structures: extended XYZ, ASE database, trajectory, whatever ASE recognises.

    One structure at a time is held as ASE has it, and only its arrays are kept. A structure without a label is kept
    too, and not scored on that. Without `level_of_theory`, the file's own word (an info of that name) is taken.

    Raises:
        BenchError: the file is missing, empty, unreadable or may hold a pickle; a given key is in no structure; a
            label is not finite or has a wrong shape; an unusable cell.
    """
    path = Path(source)
    _check_file(path)
    title = name or path.name
    seen: set[str] = set()
    found: set[str] = set()
    theories: dict[str, None] = {}
    references: dict[str, int] = {}
    structures = []
    for index, atoms in enumerate(_frames(path)):
        frame = _Frame(f"{title}[{index}]", atoms, keys)
        structures.append(frame.structure(units))
        seen |= frame.names
        found |= {key for key in _given(keys).values() if frame.get(key) is not None}
        if frame.get("level_of_theory") is not None:
            theories[str(frame.get("level_of_theory"))] = None
        if frame.is_reference:
            _refer(references, structures[-1], index)
    _check_keys(path, keys, found, seen)
    return Dataset(
        name=title,
        structures=tuple(structures),
        level_of_theory=level_of_theory or ", ".join(theories) or None,
        energy_zero=energy_zero,
        references=references,
    )


def _check_file(path: Path) -> None:
    shown = name_to_text(str(path))
    if not path.is_file():
        raise BenchError(f"{shown}: there is no such file; give the path of a file of structures", ExitCode.DATA)
    pickled = PICKLES.intersection(suffix.lower() for suffix in path.suffixes)
    if pickled:
        raise BenchError(
            f"{shown}: {min(pickled)} may hold a pickle, which can run code when opened, so it is refused; "
            "convert it to extended XYZ",
            ExitCode.DATA,
        )
    try:
        empty = path.stat().st_size == 0
        with path.open("rb"):
            pass
    except OSError as error:
        raise BenchError(f"{shown}: cannot be read ({error.strerror})", ExitCode.DATA) from error
    if empty:
        raise BenchError(f"{shown}: the file is empty; there is nothing to score on", ExitCode.DATA)


def _frames(path: Path) -> Iterator[Atoms]:
    """The structures of a file, one after the other; keys of a database's rows come as info."""
    from ase.io.formats import filetype, iread  # here, for it loads a hundred formats' names

    index = -1
    try:
        # Absolute: a name such as postgresql:// would be taken for an address. An @ is part of a name, not a slice.
        name = str(path.absolute())
        form = filetype(name)
        rows = path.suffix in DATABASES and form in {"db", "json"}
        frames = _rows(name) if rows else iread(name, format=form, do_not_split_by_at_sign=True)
        for index, atoms in enumerate(frames):  # noqa: B007 - the message needs it
            yield atoms
    except BenchError:
        raise
    except Exception as error:  # ASE's hundred readers raise whatever they meet
        where = "at its beginning" if index < 0 else f"after structure [{index}]"
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise BenchError(
            f"{name_to_text(str(path))}: ASE cannot read it {where} ({reason}); "
            "check the file, or write it as extended XYZ",
            ExitCode.DATA,
        ) from error


def _rows(name: str) -> Iterator[Atoms]:
    """Structures of a database of ASE; reading it as other files would lose the keys of its rows."""
    import ase.db

    if name.endswith(".db"):
        _check_tables(name)
    with ase.db.connect(name, serial=True, use_lock_file=False) as database:
        for row in database.select():
            atoms = row.toatoms()
            atoms.info = {**row.data, **row.key_value_pairs}
            yield atoms


def _check_tables(name: str) -> None:
    """ASE would make its tables in a database that lacks them, and so write to somebody's file.

    Raises:
        sqlite3.Error: it is no SQLite file.
        ValueError: it is one, and not of ASE.
    """
    with closing(sqlite3.connect(f"{Path(name).as_uri()}?mode=ro", uri=True)) as connection:
        found = connection.execute("SELECT COUNT(*) FROM sqlite_master WHERE name = 'systems'").fetchone()[0]
    if not found:
        raise ValueError("a SQLite file without the tables of ASE")


class _Frame:
    """A structure as ASE has it, and what it holds by name."""

    def __init__(self, name: str, atoms: Atoms, keys: Keys) -> None:
        self.name = name
        self.atoms = atoms
        self.keys = keys
        self.results: Mapping[str, Any] = atoms.calc.results if atoms.calc is not None else {}

    @property
    def names(self) -> set[str]:
        return {*self.results, *self.atoms.info, *self.atoms.arrays} - {"numbers", "positions"}

    def get(self, key: str) -> Any:
        """What is held under a name; None where nothing is. Forces are the calculator's, whatever is constrained."""
        for place in (self.results, self.atoms.info, self.atoms.arrays):
            if place.get(key) is not None:
                return place[key]
        return None

    @property
    def is_reference(self) -> bool:
        value = self.get(self.keys.reference) if self.keys.reference else None
        return value is not None and str(value) in {"True", "1"}

    def structure(self, units: LabelUnits) -> Structure:
        atoms = self.atoms
        if len(atoms) == 0:
            raise self._error("has no atoms; remove it from the file")
        group = self.get(self.keys.group or "group")
        return Structure(
            name=self.name,
            numbers=np.array(atoms.numbers, dtype=np.int64),
            positions=self._positions(),
            cell=self._cell(),
            pbc=np.array(atoms.pbc, dtype=np.bool_),
            energy=self._energy(units.to_ev),
            forces=self._forces(units.to_ev_per_angstrom),
            stress=self._stress(units.to_ev_per_angstrom3),
            group=None if group is None else str(group),
        )

    def _positions(self) -> Floats:
        positions = self._array("positions", self.atoms.positions, ((len(self.atoms), 3),))
        if np.abs(positions).max() > FARTHEST_ANGSTROM:
            raise self._error(f"has an atom {np.abs(positions).max():.0e} angstrom away; check the file")
        return positions

    def _cell(self) -> Floats:
        cell = self._array("cell", np.asarray(self.atoms.cell), ((3, 3),))
        periodic = cell[self.atoms.pbc]
        if np.linalg.matrix_rank(periodic) < len(periodic):
            raise self._error("is periodic along a lattice vector that is missing or parallel to the others")
        return cell

    def _energy(self, factor: float) -> float | None:
        value = self.get(self.keys.energy or "energy")
        return None if value is None else float(self._array("energy", value, ((), (1,))).item()) * factor

    def _forces(self, factor: float) -> Floats | None:
        value = self.get(self.keys.forces or "forces")
        return None if value is None else self._array("forces", value, ((len(self.atoms), 3),)) * factor

    def _stress(self, factor: float) -> Floats | None:
        value = self.get(self.keys.stress or "stress")
        if value is None:
            return None
        stress = self._array("stress", value, ((6,), (3, 3), (9,)))
        return (stress if stress.shape == (6,) else self._voigt(stress.reshape(3, 3))) * factor

    def _voigt(self, stress: Floats) -> Floats:
        if np.abs(stress - stress.T).max() > SYMMETRIC * np.abs(stress).max():
            raise self._error("has a stress that is not symmetric; check its order and unit")
        return np.array([(stress[i, j] + stress[j, i]) / 2 for i, j in VOIGT])

    def _array(self, what: str, value: ArrayLike, shapes: tuple[tuple[int, ...], ...]) -> Floats:
        """A copy as numbers: it keeps nothing of ASE's alive."""
        try:
            array: NDArray[np.float64] = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._error(f"has something else than numbers as {what}") from None
        if array.shape not in shapes:
            wanted = " or ".join(str(shape) for shape in shapes)
            raise self._error(f"has {what} of shape {array.shape} where {wanted} is due")
        if not np.isfinite(array).all():
            raise self._error(f"has a value of {what} that is not finite; remove the structure or that label")
        return array

    def _error(self, what: str) -> BenchError:
        return BenchError(f"structure {self.name} {what}", ExitCode.DATA)


def _given(keys: Keys) -> dict[str, str]:
    """The keys that somebody named, by what they are for."""
    every = {label: getattr(keys, label) for label in ("energy", "forces", "stress", "group", "reference")}
    return {label: key for label, key in every.items() if key is not None}


def _check_keys(path: Path, keys: Keys, found: set[str], seen: set[str]) -> None:
    for label, key in _given(keys).items():
        if key not in found:
            there = ", ".join(sorted(seen)) or "none"
            raise BenchError(
                f"{name_to_text(str(path))}: no structure has the key {key!r} for {label}; there are: {there}",
                ExitCode.DATA,
            )


def _refer(references: dict[str, int], structure: Structure, index: int) -> None:
    if structure.group is None:
        raise BenchError(f"structure {structure.name} is a reference without a group", ExitCode.DATA)
    if structure.group in references:
        raise BenchError(
            f"structure {structure.name} is a second reference of group {structure.group!r}; mark one",
            ExitCode.DATA,
        )
    references[structure.group] = index


def _fingerprint(dataset: Dataset) -> str:
    """SHA-256 over what a score depends on: atoms, cells, labels and groups, in order; no names."""
    digest = hashlib.sha256()
    for structure in dataset.structures:
        digest.update(f"{structure.num_atoms} {structure.group!r}\n".encode())
        arrays = (structure.numbers, structure.positions, structure.cell, structure.pbc)
        for array in (*arrays, structure.energy, structure.forces, structure.stress):
            digest.update(b"-" if array is None else b"+" + np.ascontiguousarray(array).tobytes())
    digest.update(f"{sorted(dataset.references.items())!r} {dataset.pressure_only}\n".encode())
    return digest.hexdigest()
