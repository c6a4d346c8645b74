"""The dataset as other environments read it: kept by content and names, and never trusted blindly."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.scores import read_arrays, write_arrays
from bench_score.config import DataConfig
from bench_score.dataset import Dataset
from bench_score.sources import load_dataset, restore, store

from tests.bench_score.score_run import dataset_in, write_file


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    structures = list(dataset_in(tmp_path).structures)
    structures[1] = replace(structures[1], energy=None, forces=None)
    structures[2] = replace(structures[2], stress=None, group=None)
    structures[3] = replace(structures[3], pbc=np.array([True, True, False]), cell=np.diag([8.0, 8.0, 0.0]))
    return Dataset(
        "some",
        tuple(structures),
        level_of_theory="PBE",
        energy_zero="the first of a group",
        references={"g2": 4},
        pressure_only=True,
    )


def assert_same(one: Dataset, other: Dataset) -> None:
    for name in ("name", "level_of_theory", "energy_zero", "references", "pressure_only", "fingerprint"):
        assert getattr(one, name) == getattr(other, name)
    for here, there in zip(one.structures, other.structures, strict=True):
        for name in ("name", "energy", "group"):
            assert getattr(here, name) == getattr(there, name)
        for name in ("numbers", "positions", "cell", "pbc", "forces", "stress"):
            assert (getattr(here, name) is None) == (getattr(there, name) is None)
            assert getattr(here, name) is None or np.array_equal(getattr(here, name), getattr(there, name))


def test_a_dataset_is_restored_as_it_was_stored(dataset: Dataset, tmp_path: Path) -> None:
    assert_same(restore(store(dataset, tmp_path), dataset.fingerprint), dataset)


@pytest.mark.parametrize("bare", [True, False])
def test_what_a_dataset_does_not_say_stays_unsaid(tmp_path: Path, bare: bool) -> None:
    dataset = Dataset("bare", dataset_in(tmp_path).structures[: 1 if bare else 5])
    assert_same(restore(store(dataset, tmp_path), dataset.fingerprint), dataset)


def test_what_is_there_is_not_written_again(dataset: Dataset, tmp_path: Path) -> None:
    path = store(dataset, tmp_path)
    before = path.stat()
    assert store(dataset, tmp_path) == path
    assert path.stat().st_ino == before.st_ino


@pytest.mark.parametrize("change", [{"name": "other"}, {"level_of_theory": "HF"}, {"energy_zero": None}])
def test_the_same_structures_under_other_words_are_kept_apart(
    dataset: Dataset, tmp_path: Path, change: dict[str, Any]
) -> None:
    words = {"name": "some", "level_of_theory": "PBE", "energy_zero": "the first of a group"} | change
    other = Dataset(structures=dataset.structures, references=dataset.references, pressure_only=True, **words)
    assert other.fingerprint == dataset.fingerprint
    one, two = store(dataset, tmp_path), store(other, tmp_path)
    assert_same(restore(one, dataset.fingerprint), dataset)
    assert_same(restore(two, dataset.fingerprint), other)


@pytest.mark.parametrize("damage", ["truncated", "empty", "text", "another", "member"])
def test_what_is_damaged_is_written_anew(dataset: Dataset, tmp_path: Path, damage: str) -> None:
    path = store(dataset, tmp_path)
    match damage:
        case "truncated":
            path.write_bytes(path.read_bytes()[:1000])
        case "empty":
            path.write_bytes(b"")
        case "text":
            path.write_text("no archive")
        case "another":
            shutil.copy(store(Dataset("another", dataset.structures[:3]), tmp_path), path)
        case "member":
            arrays = read_arrays(path)
            del arrays["cells"]
            write_arrays(path, arrays)
    assert_same(restore(store(dataset, tmp_path), dataset.fingerprint), dataset)


def test_another_dataset_is_not_restored(dataset: Dataset, tmp_path: Path) -> None:
    path = store(dataset, tmp_path)
    with pytest.raises(BenchError, match="not the dataset that was to be scored") as caught:
        restore(path, "0" * 64)
    assert caught.value.code is ExitCode.DATA


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("offsets", np.zeros(1, np.int64)),
        ("has", np.zeros((12, 2), np.bool_)),
        ("dataset", np.array(["one"])),
        ("referred", np.array(["g2", "g3"])),
        ("energy", np.zeros(3)),
        ("referred", np.array(["nobody"])),
    ],
)
def test_arrays_that_are_no_dataset_are_a_sentence(dataset: Dataset, tmp_path: Path, name: str, array: Any) -> None:
    path = store(dataset, tmp_path)
    write_arrays(path, read_arrays(path) | {name: array})
    with pytest.raises(BenchError, match="delete it and try again"):
        restore(path, dataset.fingerprint)


def test_a_dataset_is_loaded_by_its_name() -> None:
    assert load_dataset(DataConfig(name="ethanol-xtb")).name == "ethanol-xtb"
    with pytest.raises(BenchError, match="did you mean 'dcdft'"):
        load_dataset(DataConfig(name="dcfdt"))


def test_a_file_is_a_dataset_called_like_it_with_what_the_configuration_says_of_it(tmp_path: Path) -> None:
    path = write_file(tmp_path / "my.test.xyz", 3)
    said = DataConfig(test=str(path), group="family", level_of_theory="PBE", energy_unit="meV", stress_sign=-1)
    found, plain = load_dataset(said), load_dataset(DataConfig(test=str(path)))
    assert (found.name, found.level_of_theory, found.structures[0].group) == ("my.test", "PBE", "g0")
    assert found.structures[0].energy == pytest.approx(plain.structures[0].energy / 1000)  # type: ignore[operator]
    assert found.structures[0].stress == pytest.approx(-plain.structures[0].stress)  # type: ignore[operator]
