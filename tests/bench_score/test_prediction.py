"""What a model says of every structure: batches, failures one by one, and what is no prediction."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_mock.family import MockModel
from bench_score.dataset import Dataset
from bench_score.model import Item, Prediction, Want
from bench_score.neighbours import neighbour_lists
from bench_score.prediction import Predicted, atom_offsets, known_to, message_of, predict
from bench_score.world import World

from tests.bench_score.score_run import dataset_in

WANT = Want(forces=True, stress=True)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return dataset_in(tmp_path_factory.mktemp("data"))


class Told:
    """What progress was told."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        self.lines.append((done, total))


class Part(World):
    """One of several processes, alone: what the others found is not known to it."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size


def asked(dataset: Dataset, model: Any, batch_size: int = 5, want: Want = WANT, **options: Any) -> Predicted:
    options = {"lists": None, "world": World(), "progress": lambda done, total: None} | options
    return predict(model, dataset, want=want, batch_size=batch_size, **options)


def test_a_perfect_model_predicts_the_labels(dataset: Dataset) -> None:
    found = asked(dataset, MockModel("perfect", {}))
    assert found.scored.all()
    assert found.energy.tolist() == [structure.energy for structure in dataset.structures]
    offsets = atom_offsets(dataset)
    for index, structure in enumerate(dataset.structures):
        assert np.array_equal(found.forces[offsets[index] : offsets[index + 1]], structure.forces)
        assert np.array_equal(found.stress[index], structure.stress)
    assert (found.seconds > 0).all()
    assert found.failures == ()


@pytest.mark.parametrize("batch_size", [1, 2, 5, 12, 1000])
def test_the_size_of_batches_changes_no_prediction(dataset: Dataset, batch_size: int) -> None:
    one = asked(dataset, MockModel("noisy", {}))
    other = asked(dataset, MockModel("noisy", {}), batch_size)
    assert np.array_equal(one.energy, other.energy)
    assert np.array_equal(one.forces, other.forces)
    assert np.array_equal(one.stress, other.stress)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_processes_that_share_take_every_structure_once_and_say_the_same(dataset: Dataset, size: int) -> None:
    alone = asked(dataset, MockModel("noisy", {}))
    parts = [asked(dataset, MockModel("noisy", {}), world=Part(rank, size)) for rank in range(size)]
    assert np.array_equal(sum(part.scored.astype(int) for part in parts), np.ones(len(dataset)))
    for name in ("energy", "forces", "stress"):
        whole = np.nansum([getattr(part, name) for part in parts], axis=0)
        assert np.array_equal(whole, getattr(alone, name))


@pytest.mark.parametrize("batch_size", [1, 5, 12])
def test_a_structure_that_fails_takes_none_of_its_batch_with_it(dataset: Dataset, batch_size: int) -> None:
    found = asked(dataset, MockModel("raises", {"every": 2}), batch_size)
    assert found.scored.tolist() == [False, True] * 6
    assert np.isnan(found.energy[::2]).all()
    assert np.isnan(found.seconds[::2]).all()
    assert found.energy[1::2].tolist() == [structure.energy for structure in dataset.structures[1::2]]
    assert found.failures == tuple(
        f"some[{index}]: RuntimeError: mock_family cannot do some[{index}]" for index in (0, 2, 4)
    )


def test_what_is_no_number_is_a_prediction(dataset: Dataset) -> None:
    found = asked(dataset, MockModel("nan", {"every": 4}))
    assert found.scored.all()
    assert np.isnan(found.energy).tolist() == [True, False, False, False] * 3
    assert np.isfinite(found.forces).all()


def test_only_structures_of_known_elements_are_asked_for(dataset: Dataset, tmp_path: Path) -> None:
    model = MockModel("perfect", {"elements": ["H", "O"], "calls": str(tmp_path / "calls")})
    assert known_to(model, dataset).tolist() == [0, 3, 6, 9]  # water
    found = asked(dataset, model)
    assert np.flatnonzero(found.scored).tolist() == [0, 3, 6, 9]
    assert (tmp_path / "calls").read_text().split() == ["some[0]", "some[3]", "some[6]", "some[9]"]
    assert np.isnan(found.energy[1])


def test_a_model_that_knows_nothing_is_not_asked(dataset: Dataset) -> None:
    found = asked(dataset, MockModel("perfect", {"elements": ["Xe"]}))
    assert not found.scored.any()


@pytest.mark.parametrize("want", [Want(False, False), Want(True, False), Want(False, True)])
def test_what_nobody_wants_is_absent(dataset: Dataset, want: Want) -> None:
    found = asked(dataset, MockModel("perfect", {}), want=want)
    assert np.isfinite(found.forces).all() == want.forces == found.has_forces
    assert found.has_stress.all() == want.stress
    assert np.isnan(found.stress).all() != want.stress


class Says:
    """A model that returns what it was given."""

    num_parameters, cutoff_angstrom, elements, level_of_theory, checkpoint_sha256 = 0, None, None, None, None

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def predict(self, batch: Sequence[Item], want: Want) -> Any:
        return self._answer(batch)


def say(**changes: Any) -> Any:
    def answer(batch: Sequence[Item]) -> list[Prediction]:
        good = {"energy": 1.0, "stress": np.zeros(6)}
        return [Prediction(**({"forces": np.zeros((item.structure.num_atoms, 3))} | good | changes)) for item in batch]

    return answer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (say(energy=None), "an energy was asked for and not returned"),
        (say(energy=np.zeros(1)), "an energy is to be numbers of shape ()"),
        (say(energy="1.0"), "an energy is to be numbers"),
        (say(energy=1j), "an energy is to be numbers"),
        (say(energy=True), "an energy is to be numbers"),
        (say(forces=None), "forces was asked for and not returned"),
        (say(forces=0.0), "forces is to be numbers of shape (3, 3)"),
        (say(forces=np.zeros(3)), "forces is to be numbers of shape (3, 3)"),
        (say(forces=[["a"] * 3] * 3), "forces is to be numbers"),
        (say(stress=np.zeros((3, 3))), "a stress is to be numbers of shape (6,)"),
        (say(stress=0.0), "a stress is to be numbers of shape (6,)"),
        (lambda batch: None, "TypeError"),
        (lambda batch: [], "the model returned 0 predictions for 1 structures"),
        (lambda batch: [None] * len(batch), "AttributeError"),
        (lambda batch: 3, "TypeError"),
    ],
)
def test_what_is_no_prediction_is_a_failure_of_the_structure(dataset: Dataset, answer: Any, words: str) -> None:
    found = asked(dataset, Says(answer))
    assert not found.scored.any()
    assert len(found.failures) == 3
    assert found.failures[0].startswith("some[0]: ")
    assert words in found.failures[0]


def test_numbers_of_another_precision_and_plain_lists_are_predictions(dataset: Dataset) -> None:
    answer = say(energy=np.float32(1.5), stress=[0.0, 1, 2, 3, 4, 5])
    found = asked(dataset, Says(answer))
    assert found.scored.all()
    assert (found.energy == 1.5).all()
    assert found.stress[0].tolist() == [0, 1, 2, 3, 4, 5]


def test_progress_counts_structures_up_to_those_that_are_asked_for(dataset: Dataset) -> None:
    told = Told()
    asked(dataset, MockModel("perfect", {}), progress=told)
    assert told.lines == [(5, 12), (10, 12), (12, 12)]
    told = Told()
    asked(dataset, MockModel("raises", {"every": 1}), progress=told)
    assert told.lines[-1] == (12, 12)


def test_a_model_with_a_cutoff_gets_the_list_of_each_structure(dataset: Dataset) -> None:
    lists = neighbour_lists(dataset, 3.0, None)
    seen: list[int] = []

    def answer(batch: Sequence[Item]) -> list[Prediction]:
        for item in batch:
            assert item.neighbours is not None
            assert item.neighbours.cutoff_angstrom == 3.0
            assert item.neighbours.first.max(initial=0) < item.structure.num_atoms
            seen.append(len(item.neighbours.first))
        return say()(batch)  # type: ignore[no-any-return]

    assert asked(dataset, Says(answer), lists=lists).scored.all()
    assert seen == [len(found.first) for found in lists]


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("two\nlines"), "ValueError: two lines"),
        (Mute(), "Mute"),
        (ValueError("\udcff"), "ValueError: \\udcff"),
    ],
)
def test_a_message_is_one_line_of_text(error: Exception, text: str) -> None:
    assert message_of(error) == text


def test_a_long_message_is_cut() -> None:
    assert len(message_of(ValueError("x" * 10_000))) == 200
