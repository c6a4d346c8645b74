"""The file of one model's scores, and the arrays beside it: what is refused, and that nothing in them can run."""

import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Status
from bench_core.scores import (
    Coverage,
    ModelTiming,
    Predictions,
    Score,
    ScoredData,
    ScoreResult,
    Structures,
    check_score,
    digest_of,
    read_arrays,
    read_predictions,
    read_score,
    read_structures,
    write_arrays,
    write_predictions,
    write_score,
    write_structures,
)

GROUPS = np.array([0, 0, 1])
PREDICTIONS = Predictions(
    values={"energy": (np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.0, 4.0]))},
    structures={"energy": np.array([0, 1, 2])},
    raw_energy=np.array([0.5, 1.0, 4.0]),
    seconds=np.array([0.1, 0.1, 0.1]),
)
STRUCTURES = Structures(("a", "b", "c"), GROUPS, np.array([1, 2, 1]), np.array([1, 6, 8, 1]))
RESULT = ScoreResult(
    schema_version=1,
    kind="score",
    run_id="run",
    created_at="2026-12-01T00:00:00+00:00",
    label="model",
    family="mock_family",
    device="cpu",
    checkpoint=None,
    checkpoint_sha256=None,
    trusted=False,
    status=Status.OK,
    data=ScoredData("some", 3, 2, "0" * 64, "PBE", "as in the data"),
    config_sha256="0" * 64,
    seed=1,
    coverage=Coverage(3, 3),
    scores={
        "energy_mae": Score(
            "energy",
            "mae",
            "meV",
            1000.0,
            2500 / 3,
            num_values=3,
            num_structures=3,
            num_groups=2,
            structures_sha256=digest_of(np.array([0, 1, 2])),
        )
    },
    timing=ModelTiming(0.1, 0.3, 0.0, 1.0, 1),
)


def changed(**changes: Any) -> ScoreResult:
    return msgspec.structs.replace(RESULT, **changes)


def with_score(**changes: Any) -> ScoreResult:
    return changed(scores={"energy_mae": msgspec.structs.replace(RESULT.scores["energy_mae"], **changes)})


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(BenchError) as caught:
        act()
    assert caught.value.code is ExitCode.BUNDLE
    return str(caught.value)


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_score(tmp_path / "a.json", RESULT)
    assert read_score(tmp_path / "a.json") == RESULT


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (changed(status=Status.ERROR), "status error without a reason"),
        (changed(scores={}), "status ok without coverage, time or scores"),
        (changed(coverage=None), "status ok without coverage"),
        (changed(timing=None), "status ok without coverage"),
        (with_score(value=None), "energy_mae: no value and no reason"),
        (with_score(low=1.0), "energy_mae: has one end of an interval without the other"),
        (with_score(num_labelled=4), "energy_mae: more structures are labelled than there are"),
        (with_score(value=float("nan")), "energy_mae: no value and no reason"),
        (with_score(metric="rmse"), "energy_mae: holds energy_rmse"),
        (with_score(low=900.0, high=1000.0), "lies outside its interval"),
        (with_score(low=700.0, high=800.0), "lies outside its interval"),
        (changed(schema_version=2), "schema version 2 is not known here"),
        (changed(num_parameters=-1), "num_parameters"),
        (changed(timing=ModelTiming(-0.1, 0.3, 0.0, 1.0, 1)), "timing"),
    ],
)
def test_a_result_that_says_what_cannot_be_is_not_written(tmp_path: Path, result: ScoreResult, words: str) -> None:
    assert words in refusal(lambda: write_score(tmp_path / "a.json", result))
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.update(kind="micro"), "kind"),
        (lambda data: data.update(status="great"), "status"),
        (lambda data: data.update(more=1), "more"),
        (lambda data: data.pop("label"), "label"),
        (lambda data: data.pop("schema_version"), "schema version None"),
        (lambda data: data["coverage"].update(num_scored=-1), "num_scored"),
        (lambda data: data["scores"]["energy_mae"].update(value="0.1"), "value"),
    ],
)
def test_a_result_that_somebody_changed_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    data = msgspec.to_builtins(RESULT)
    change(data)
    (tmp_path / "a.json").write_text(json.dumps(data))
    assert words in refusal(lambda: read_score(tmp_path / "a.json"))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '{"schema_version": 1}', "NaN"])
def test_a_file_that_is_no_result_is_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    assert str(tmp_path / "a.json") in refusal(lambda: read_score(tmp_path / "a.json"))


def test_predictions_and_structures_are_read_as_they_were_written(tmp_path: Path) -> None:
    write_predictions(tmp_path / "p.npz", PREDICTIONS)
    found = read_predictions(tmp_path / "p.npz")
    for one, other in zip(found.values["energy"], PREDICTIONS.values["energy"], strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(found.structures["energy"], PREDICTIONS.structures["energy"])
    assert found.values.keys() == {"energy"}
    write_structures(tmp_path / "s.npz", STRUCTURES)
    assert read_structures(tmp_path / "s.npz").names == STRUCTURES.names
    assert np.array_equal(read_structures(tmp_path / "s.npz").numbers, STRUCTURES.numbers)


def test_a_score_follows_from_its_predictions(tmp_path: Path) -> None:
    check_score(RESULT, PREDICTIONS, GROUPS, tmp_path)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (with_score(value=2500 / 3 * (1 + 1e-8)), "does not follow from the predictions"),
        (with_score(factor=1.0), "does not follow from the predictions"),
        (with_score(low=800.0, high=900.0), "does not follow from the predictions and the seed"),  # of two groups
        (with_score(num_values=4), "counts other values or groups"),
        (with_score(num_groups=3), "counts other values or groups"),
        (with_score(num_structures=2), "counts other structures"),
        (with_score(structures_sha256=digest_of(np.array([0, 1, 3]))), "counts other structures"),
        (with_score(structures_sha256=None), "counts other structures"),
        (changed(scores={"forces_mae": Score("forces", "mae", "", 1.0, 0.0)}), "there is no prediction of it"),
    ],
)
def test_a_score_that_does_not_follow_is_refused(tmp_path: Path, result: ScoreResult, words: str) -> None:
    assert words in refusal(lambda: check_score(result, PREDICTIONS, GROUPS, tmp_path))


def test_predictions_of_a_structure_that_is_not_there_are_refused(tmp_path: Path) -> None:
    assert "not among those beside" in refusal(lambda: check_score(RESULT, PREDICTIONS, GROUPS[:2], tmp_path))


def test_a_digest_of_structures_says_which_and_not_how_often_or_in_which_order() -> None:
    assert digest_of(np.array([0, 0, 2, 1])) == digest_of(np.array([2, 1, 0]))
    assert digest_of(np.array([0, 1])) != digest_of(np.array([0, 2]))


class Evil:
    """What a pickle may do: make a file when it is read."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (self.path, "w")


def test_arrays_of_objects_are_refused_and_nothing_in_them_runs(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    np.savez(tmp_path / "p.npz", energy_predicted=np.array([Evil(str(touched))], dtype=object))
    assert "not an npz file of numbers" in refusal(lambda: read_predictions(tmp_path / "p.npz"))
    (tmp_path / "q.npz").write_bytes(pickle.dumps(Evil(str(touched))))
    assert "not an npz file of numbers" in refusal(lambda: read_predictions(tmp_path / "q.npz"))
    assert not touched.exists()


@pytest.mark.parametrize("at", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_arrays_are_refused(tmp_path: Path, at: float) -> None:
    write_predictions(tmp_path / "p.npz", PREDICTIONS)
    data = (tmp_path / "p.npz").read_bytes()
    (tmp_path / "p.npz").write_bytes(data[: int(at * len(data))])
    assert str(tmp_path / "p.npz") in refusal(lambda: read_predictions(tmp_path / "p.npz"))


def test_a_byte_that_flipped_is_found_or_changes_nothing(tmp_path: Path) -> None:
    write_arrays(tmp_path / "p.npz", {"numbers": np.arange(50)})
    data = (tmp_path / "p.npz").read_bytes()
    refused = 0
    for place in range(len(data)):
        (tmp_path / "p.npz").write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        try:
            found = read_arrays(tmp_path / "p.npz")
        except BenchError:
            refused += 1
        else:  # a date, or an attribute, in the archive's directory
            assert all(np.array_equal(array, np.arange(50)) for array in found.values())
    assert refused > 0.5 * len(data)


def test_an_array_that_says_it_is_larger_than_memory_is_refused(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }"
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive:
        archive.writestr("seconds.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    assert "not an npz file of numbers" in refusal(lambda: read_arrays(tmp_path / "p.npz"))


def test_what_unpacks_to_more_than_we_write_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "p.npz", zeros=np.zeros(1_000_000))
    monkeypatch.setattr("bench_core.scores.MAX_ARRAYS_BYTES", 1_000_000)
    assert "unpacks to more than" in refusal(lambda: read_arrays(tmp_path / "p.npz"))


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("energy_predicted", np.zeros(2), "differ in length"),
        ("energy_predicted", np.zeros((3, 1)), "of 2 dimensions"),
        ("energy_predicted", np.array(["a", "b", "c"]), "energy_predicted is <U1"),
        ("energy_structure", np.array([0, 1, -1]), "below 0"),
        ("energy_structure", np.zeros(3), "energy_structure is float64"),
        ("seconds", None, "there is no array seconds"),
        ("energy_reference", None, "there is no array energy_reference"),
    ],
)
def test_arrays_that_are_no_predictions_are_refused(tmp_path: Path, name: str, array: Any, words: str) -> None:
    write_predictions(tmp_path / "p.npz", PREDICTIONS)
    arrays = read_arrays(tmp_path / "p.npz")
    arrays[name] = array
    write_arrays(tmp_path / "p.npz", {key: found for key, found in arrays.items() if found is not None})
    assert words in refusal(lambda: read_predictions(tmp_path / "p.npz"))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("names", np.array(["a"])),
        ("groups", np.zeros(3)),
        ("num_atoms", np.array([1, 2, 2])),
        ("numbers", np.zeros((4, 1), np.int64)),
        ("names", None),
    ],
)
def test_arrays_that_are_no_structures_are_refused(tmp_path: Path, name: str, array: Any) -> None:
    write_structures(tmp_path / "s.npz", STRUCTURES)
    arrays = read_arrays(tmp_path / "s.npz")
    arrays[name] = array
    write_arrays(tmp_path / "s.npz", {key: found for key, found in arrays.items() if found is not None})
    assert str(tmp_path / "s.npz") in refusal(lambda: read_structures(tmp_path / "s.npz"))


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    assert "No such file" in refusal(lambda: read_predictions(tmp_path / "p.npz"))


def test_nothing_is_pickled_into_arrays(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        write_arrays(tmp_path / "p.npz", {"objects": np.array([object()])})
    assert not list(tmp_path.iterdir())
