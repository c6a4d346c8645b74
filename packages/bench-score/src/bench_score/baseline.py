"""The zero of energy: what is subtracted from labels and predictions before their energies are compared.

- A table of atomic energies, by element, or one number for all: the sum over a structure's atoms is subtracted from
  label and prediction alike. No error changes; r2 and parity plots then show binding and not the number of atoms.
- "average": atomic energies by least squares, of the labels from labels and of a model from its own predictions, both
  over the structures that have both. Models whose energies have different zeros become comparable. Where the elements
  cannot be told apart (always one O to two H), the solution of least norm is taken: the fit is the same.
- "group": energies relative to the group's reference structure where the dataset names one, and else to the mean over
  the group's scored structures; per atom in both cases, times the structure's atoms. A group whose reference a model
  did not predict has no energies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from ase.data import atomic_numbers, chemical_symbols
from bench_core.errors import BenchError, ExitCode
from numpy.typing import NDArray

from bench_score.dataset import Dataset
from bench_score.structure import Floats

Flags = NDArray[np.bool_]

AVERAGE = "average"
GROUP = "group"
# A structure whose own weight in the fit is this near to 1 is reproduced whatever its energy is.
DETERMINED = 1e-9


class Zero(Protocol):
    """What energies are relative to."""

    def apply(self, energies: Floats, ok: Flags) -> Floats:
        """Energies relative to the zero, in eV: (n,) total energies in, (n,) out.

        `ok` says where the label and this model's prediction are both there and finite. It is the same for both, so
        that both lose the same thing. The result is NaN where it is not `ok`, and where there is no zero.
        """

    def scored(self, ok: Flags) -> Flags:
        """Where an error says something: `ok`, a zero is there, and it does not make the error zero by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class NoZero:
    """Energies as they are."""

    def apply(self, energies: Floats, ok: Flags) -> Floats:
        return np.where(ok, energies, np.nan)

    def scored(self, ok: Flags) -> Flags:
        return ok.copy()


@dataclass(frozen=True, slots=True, eq=False)
class TableZero:
    """A sum of given atomic energies per structure."""

    sums: Floats  # (n,)

    def apply(self, energies: Floats, ok: Flags) -> Floats:
        return np.where(ok, energies - self.sums, np.nan)

    def scored(self, ok: Flags) -> Flags:
        return ok.copy()


@dataclass(frozen=True, slots=True, eq=False)
class AverageZero:
    """Atomic energies fitted to the energies themselves."""

    counts: Floats  # (n, elements): how many atoms of each element

    def apply(self, energies: Floats, ok: Flags) -> Floats:
        relative = np.full(len(energies), np.nan)
        if ok.any():
            # Per atom, or large structures decide what an atom is worth.
            share, target = self._shares(ok), energies[ok] / self._num_atoms(ok)
            atomic = np.linalg.lstsq(share, target, rcond=None)[0]
            relative[ok] = (target - share @ atomic) * self._num_atoms(ok)
        return relative

    def scored(self, ok: Flags) -> Flags:
        scored = ok.copy()
        if ok.any():
            left, singular, _ = np.linalg.svd(self._shares(ok), full_matrices=False)
            basis = left[:, singular > singular[0] * max(self.counts.shape) * np.finfo(np.float64).eps]
            scored[ok] = (basis**2).sum(axis=1) < 1 - DETERMINED
        return scored

    def _num_atoms(self, ok: Flags) -> Floats:
        total: Floats = self.counts[ok].sum(axis=1)
        return total

    def _shares(self, ok: Flags) -> Floats:
        return self.counts[ok] / self._num_atoms(ok)[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class GroupZero:
    """The energy per atom of each group's reference structure, or of its mean."""

    num_atoms: Floats  # (n,)
    groups: NDArray[np.int64]  # (n,) 0, 1, ...
    references: NDArray[np.int64]  # (groups,) index of a structure; -1 for the mean

    def apply(self, energies: Floats, ok: Flags) -> Floats:
        per_atom = np.where(ok, energies, 0.0) / self.num_atoms
        count = np.bincount(self.groups, weights=ok, minlength=len(self.references))
        total = np.bincount(self.groups, weights=per_atom, minlength=len(self.references))
        mean = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
        at_reference = np.where(ok, per_atom, np.nan)[self.references]
        zero = np.where(self.references < 0, mean, at_reference)
        return np.where(ok, energies - zero[self.groups] * self.num_atoms, np.nan)

    def scored(self, ok: Flags) -> Flags:
        count = np.bincount(self.groups, weights=ok, minlength=len(self.references))
        usable = np.where(self.references < 0, count > 1, ok[self.references])
        scored: Flags = ok & usable[self.groups]
        scored[self.references[self.references >= 0]] = False
        return scored


def make_zero(atomic_energies: Mapping[str, float] | float | str | None, dataset: Dataset) -> Zero:
    """The zero that a configuration asks for: a table {"H": -13.6}, a number, "average", "group", or None.

    Raises:
        BenchError: an unknown word or element, an element of the dataset that the table lacks, "group" for a dataset
            where a structure has no group.
    """
    if atomic_energies is None:
        return NoZero()
    if isinstance(atomic_energies, str):
        return _by_word(atomic_energies, dataset)
    if isinstance(atomic_energies, int | float):
        if not np.isfinite(atomic_energies):
            raise BenchError(f"atomic_energies: {atomic_energies} is not finite")
        return TableZero(float(atomic_energies) * _num_atoms(dataset))
    return _from_table(atomic_energies, dataset)


def _by_word(word: str, dataset: Dataset) -> Zero:
    if word == AVERAGE:
        return AverageZero(_counts(dataset)[1])
    if word == GROUP:
        return _group_zero(dataset)
    raise BenchError(f'atomic_energies: {word!r} is neither "average" nor "group", nor a table of energies by element')


def _from_table(table: Mapping[str, float], dataset: Dataset) -> TableZero:
    strange = [symbol for symbol in table if symbol not in atomic_numbers]
    if strange:
        raise BenchError(f"atomic_energies: {strange[0]!r} is no chemical element")
    infinite = [symbol for symbol, energy in table.items() if not np.isfinite(energy)]
    if infinite:
        raise BenchError(f"atomic_energies: the energy of {infinite[0]} is not finite")
    elements, counts = _counts(dataset)
    symbols = [chemical_symbols[number] for number in elements]
    missing = [symbol for symbol in symbols if symbol not in table]
    if missing:
        raise BenchError(
            f"atomic_energies: no energy for {', '.join(missing)}, which {dataset.name} has; add it, "
            'or write "average" to fit all of them'
        )
    return TableZero(counts @ np.array([table[symbol] for symbol in symbols], dtype=np.float64))


def _group_zero(dataset: Dataset) -> GroupZero:
    index_of: dict[str, int] = {}
    groups = []
    for structure in dataset.structures:
        if structure.group is None:
            raise BenchError(
                f'atomic_energies: "group" needs a group for every structure, and {structure.name} has none; '
                "name the key that holds it, or choose another zero",
                ExitCode.DATA,
            )
        groups.append(index_of.setdefault(structure.group, len(index_of)))
    references = [dataset.references.get(group, -1) for group in index_of]
    return GroupZero(_num_atoms(dataset), np.array(groups), np.array(references))


def _num_atoms(dataset: Dataset) -> Floats:
    return np.array([structure.num_atoms for structure in dataset.structures], dtype=np.float64)


def _counts(dataset: Dataset) -> tuple[list[int], Floats]:
    """The elements of a dataset in order, and how many atoms of each every structure has."""
    elements = np.unique(np.concatenate([np.unique(structure.numbers) for structure in dataset.structures]))
    counts = [(structure.numbers[:, None] == elements).sum(axis=0) for structure in dataset.structures]
    return elements.tolist(), np.array(counts, dtype=np.float64)
