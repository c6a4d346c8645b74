"""The dataset that a configuration names, read once; and the copy of it that other processes read."""

from pathlib import Path

import numpy as np
from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_bytes
from bench_core.scores import Arrays, read_arrays, write_arrays

from bench_score.config import DataConfig
from bench_score.dataset import Dataset, Keys, read_dataset
from bench_score.prediction import atom_offsets
from bench_score.structure import Structure

_LABELS = ("energy", "forces", "stress", "group")


def load_dataset(data: DataConfig) -> Dataset:
    """The dataset by its name, or from the file of `test`, else `val`, else `train`.

    Raises:
        BenchError: no such dataset or file, or one that cannot be scored on.
    """
    if data.name is not None:
        from bench_score.datasets import named

        return named(data.name)
    assert data.path is not None
    keys = Keys(energy=data.energy, forces=data.forces, stress=data.stress, group=data.group, reference=data.reference)
    path = Path(data.path)
    return read_dataset(path, keys, data.label_units(), name=path.stem, level_of_theory=data.level_of_theory)


def store(dataset: Dataset, cache: Path) -> Path:
    """Keep a dataset in `cache` by its content and names, for the environments that score it.

    Nothing is written where it is there; what is damaged is written anew.
    """
    path = cache / f"dataset-{_identity(dataset)}.npz"
    if _is_whole(path, dataset):
        return path
    structures = dataset.structures
    offsets = atom_offsets(dataset)
    forces = np.full((offsets[-1], 3), np.nan)
    for index, structure in enumerate(structures):
        if structure.forces is not None:
            forces[offsets[index] : offsets[index + 1]] = structure.forces
    absent = np.full(6, np.nan)
    arrays = {
        "dataset": np.array([dataset.name, dataset.level_of_theory or "", dataset.energy_zero or ""]),
        "names": np.array([structure.name for structure in structures]),
        "groups": np.array(["" if structure.group is None else structure.group for structure in structures]),
        "offsets": offsets,
        "pressure_only": np.array(dataset.pressure_only),
        "numbers": np.concatenate([structure.numbers for structure in structures]),
        "positions": np.concatenate([structure.positions for structure in structures]),
        "cells": np.array([structure.cell for structure in structures]),
        "pbc": np.array([structure.pbc for structure in structures]),
        "energy": np.array([np.nan if structure.energy is None else structure.energy for structure in structures]),
        "forces": forces,
        "stress": np.array([absent if structure.stress is None else structure.stress for structure in structures]),
        "has": np.array([[getattr(structure, label) is not None for label in _LABELS] for structure in structures]),
        "referred": np.array(list(dataset.references), dtype=str),
        "references": np.array(list(dataset.references.values()), np.int64),
    }
    write_arrays(path, arrays)
    return path


def _identity(dataset: Dataset) -> str:
    """The fingerprint says nothing of names, and two files of other names may hold the same structures."""
    words = [dataset.name, dataset.level_of_theory, dataset.energy_zero, dataset.fingerprint]
    return sha256_bytes(repr([*words, *(structure.name for structure in dataset.structures)]).encode())[:32]


def _is_whole(path: Path, dataset: Dataset) -> bool:
    try:
        return path.is_file() and _identity(restore(path, dataset.fingerprint)) == _identity(dataset)
    except BenchError:
        return False


def restore(path: Path, fingerprint: str) -> Dataset:
    """What `store` kept, checked against the fingerprint it is expected to have.

    Raises:
        BenchError: it is missing, damaged, or another dataset.
    """
    arrays = read_arrays(path)
    try:
        dataset = _restored(arrays)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise BenchError(f"{path}: is no dataset of ours ({error}); delete it and try again", ExitCode.DATA) from error
    if dataset.fingerprint != fingerprint:
        raise BenchError(f"{path}: is not the dataset that was to be scored; delete it and try again", ExitCode.DATA)
    return dataset


def _restored(arrays: Arrays) -> Dataset:
    name, theory, zero = (str(text) for text in arrays["dataset"])
    offsets, structures = arrays["offsets"], []
    for index in range(len(arrays["names"])):
        atoms = slice(offsets[index], offsets[index + 1])
        energy, forces, stress, group = (bool(there) for there in arrays["has"][index])
        structures.append(
            Structure(
                name=str(arrays["names"][index]),
                numbers=arrays["numbers"][atoms],
                positions=arrays["positions"][atoms],
                cell=arrays["cells"][index],
                pbc=arrays["pbc"][index],
                energy=float(arrays["energy"][index]) if energy else None,
                forces=arrays["forces"][atoms] if forces else None,
                stress=arrays["stress"][index] if stress else None,
                group=str(arrays["groups"][index]) if group else None,
            )
        )
    references = {str(group): int(index) for group, index in zip(arrays["referred"], arrays["references"], strict=True)}
    return Dataset(
        name=name,
        structures=tuple(structures),
        level_of_theory=theory or None,
        energy_zero=zero or None,
        references=references,
        pressure_only=bool(arrays["pressure_only"]),
    )
