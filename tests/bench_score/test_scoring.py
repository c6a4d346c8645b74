"""From predictions to scores: what a model errs by, and what changes nothing of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_core import policy
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Status
from bench_core.scores import ScoreResult, read_predictions, read_structures
from bench_mock.family import MockModel
from bench_score import scoring
from bench_score.dataset import Dataset
from bench_score.model import Want
from bench_score.prediction import Predicted, predict
from bench_score.structure import Structure
from bench_score.world import World

from tests.bench_score.score_run import GROUP_SIZE, dataset_in, make_config, model, row_of, rows_of, values_of

WATER, METHANE = 12 / 3 * 3, 12 / 3 * 5
ALL = {"energy": ["mae", "rmse", "r2", "max_abs", "q90", "mse"], "forces": ["mae", "r2"], "stress": ["mae", "mse"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scoring")


def scored(folder: Path, checkpoint: str, options: Mapping[str, Any] | None = None, **changes: Any) -> ScoreResult:
    return row_of(folder, checkpoint, changes, **(options or {}))


def numbers(row: ScoreResult) -> dict[str, tuple[float | None, float | None, float | None]]:
    return {column: (score.value, score.low, score.high) for column, score in row.scores.items()}


# By hand


def test_a_perfect_model_has_no_error_and_explains_everything(folder: Path) -> None:
    row = scored(folder, "perfect", metrics=ALL)
    assert row.status is Status.OK
    assert values_of(row) == {
        **{"energy_mae": 0, "energy_rmse": 0, "energy_r2": 1, "energy_max_abs": 0, "energy_q90": 0, "energy_mse": 0},
        **{"forces_mae": 0, "forces_r2": 1, "stress_mae": 0, "stress_mse": 0},
    }
    assert {(score.low, score.high) for score in row.scores.values()} == {(0, 0), (1, 1)}


def test_an_offset_is_found_as_it_was_made(folder: Path) -> None:
    row = scored(folder, "offset", {"offset": 0.25}, metrics=ALL)
    found = values_of(row)
    r2 = {column: found.pop(column) for column in ("energy_r2", "forces_r2")}
    assert found == pytest.approx(dict.fromkeys(found, 0.25) | {"energy_mse": 0.0625, "stress_mse": 0.0625}, rel=1e-12)
    assert all(value is not None and value < 1 for value in r2.values())


def test_an_energy_of_the_whole_structure_errs_by_its_atoms(folder: Path) -> None:
    row = scored(folder, "offset", {"offset": 0.5}, metrics={"energy": ["mae", "max_abs"]}, energy_per_atom=False)
    assert values_of(row) == pytest.approx({"energy_mae": 0.5 * (3 + 5 + 3) / 3, "energy_max_abs": 2.5}, rel=1e-12)
    assert row.scores["energy_mae"].unit == "eV"


def test_units_multiply_what_is_shown_and_nothing_else(folder: Path) -> None:
    plain = scored(folder, "noisy", metrics=ALL)
    units = {"energy": "meV", "forces": "meV/A", "stress": "GPa"}
    other = scored(folder, "noisy", metrics=ALL, units=units)
    factors = dict.fromkeys(plain.scores, 1000.0) | {
        **{"energy_r2": 1.0, "forces_r2": 1.0, "energy_mse": 1e6},
        **{"stress_mae": 160.21766, "stress_mse": 160.21766**2},
    }
    for column, score in plain.scores.items():
        assert other.scores[column].value == pytest.approx(score.value * factors[column], rel=1e-6)
        assert other.scores[column].high == pytest.approx(score.high * factors[column], rel=1e-6)
    assert other.scores["energy_mae"].unit == "meV/atom"
    assert other.scores["energy_mse"].unit == "(meV/atom)^2"
    assert other.scores["energy_r2"].unit == ""


def test_counts_are_of_values_structures_and_groups(folder: Path) -> None:
    scores = scored(folder, "perfect").scores
    assert {(s.num_structures, s.num_groups) for s in scores.values()} == {(12, 12 // GROUP_SIZE)}
    assert scores["energy_mae"].num_values == 12
    assert scores["forces_mae"].num_values == 3 * 4 * (3 + 5 + 3)
    assert scores["stress_mae"].num_values == 6 * 12


# What changes nothing


@pytest.mark.parametrize("zero", [5.0, -1e3, {"H": -13.6, "C": -1030.0, "O": -2041.0}, {"H": 0, "C": 0, "O": 0}])
def test_a_shift_of_atomic_energies_changes_no_error(folder: Path, zero: Any) -> None:
    metrics = {"energy": ["mae", "rmse", "max_abs", "q90"], "forces": ["mae"]}
    plain = numbers(scored(folder, "noisy", metrics=metrics))
    shifted = numbers(scored(folder, "noisy", metrics=metrics, atomic_energies=zero))
    for column, expected in plain.items():
        assert shifted[column] == pytest.approx(expected, rel=1e-9)


def test_r2_sees_the_shift_that_errors_do_not(folder: Path) -> None:
    plain, shifted = (scored(folder, "noisy", atomic_energies=zero) for zero in (None, {"H": -90, "C": 0, "O": 5}))
    assert values_of(plain)["energy_r2"] != pytest.approx(values_of(shifted)["energy_r2"], rel=1e-3)


@pytest.mark.parametrize("batch_size", [1, 7, 100])
def test_the_size_of_batches_changes_nothing(folder: Path, batch_size: int) -> None:
    plain = scored(folder, "noisy")
    data = {"test": "some.xyz", "group": "family", "batch_size": batch_size}
    assert numbers(scored(folder, "noisy", data=data)) == numbers(plain)


def test_the_order_of_structures_changes_nothing(folder: Path) -> None:
    dataset = dataset_in(folder)
    order = np.random.default_rng(0).permutation(len(dataset))
    turned = Dataset("turned", tuple(dataset.structures[index] for index in order))
    config = make_config(folder, [model("noisy")])
    (one,), (other,) = (rows_of(config, folder, dataset=data) for data in (dataset, turned))
    for column, score in one.scores.items():
        assert other.scores[column].value == pytest.approx(score.value, rel=1e-12)


def test_shards_of_the_structures_change_nothing_to_the_last_bit(folder: Path) -> None:
    dataset = dataset_in(folder)
    config = make_config(folder, [model("noisy")], metrics=ALL)
    groups = scoring.structures_of(dataset).groups
    alone = score_of(config, dataset, share(dataset, 1), groups)
    for size in (2, 3, 7, 30):
        assert score_of(config, dataset, share(dataset, size), groups) == alone


class Recorded(World):
    """A process that keeps what it found, or says what all found."""

    def __init__(self, rank: int, size: int, of_all: Mapping[str, Any] | None = None) -> None:
        self.rank, self.size, self.of_all = rank, size, of_all
        self.bits: dict[str, Any] = {}

    def merge(self, step: str, arrays: Mapping[str, Any], mine: Mapping[str, Any]) -> dict[str, Any]:
        for name, array in arrays.items():
            self.bits[name] = np.zeros(array.shape, np.int64)
            self.bits[name][mine[name]] = array.view(np.int64)[mine[name]]
        if self.of_all is None:
            return dict(arrays)
        return {name: self.of_all[name].view(array.dtype) for name, array in arrays.items()}


def share(dataset: Dataset, size: int) -> Predicted:
    """What several processes say together, by the sums of bits that torch.distributed would make of theirs."""

    def ask(world: World) -> Predicted:
        return predict(MockModel("noisy", {}), dataset, None, Want(True, True), 5, world, lambda done, total: None)

    worlds = [Recorded(rank, size) for rank in range(size)]
    for world in worlds:
        ask(world)
    return ask(Recorded(0, size, {name: sum(world.bits[name] for world in worlds) for name in worlds[0].bits}))


def score_of(config: Any, dataset: Dataset, predicted: Predicted, groups: Any) -> Any:
    return scoring.score(config, dataset, scoring.compare(config, dataset, predicted), groups)


# Intervals


def test_the_same_seed_gives_the_same_intervals_and_another_one_others(folder: Path) -> None:
    one, same, other = (numbers(scored(folder, "noisy", seed=seed)) for seed in (1, 1, 2))
    assert one == same
    assert one["energy_mae"][0] == other["energy_mae"][0]
    assert one["energy_mae"][1:] != other["energy_mae"][1:]


def test_an_interval_says_its_confidence_and_holds_the_value(folder: Path) -> None:
    for score in scored(folder, "noisy", metrics=ALL).scores.values():
        assert score.confidence == policy.CONFIDENCE
        assert score.low <= score.value <= score.high  # type: ignore[operator]
        assert score.low < score.high  # type: ignore[operator]


@pytest.mark.parametrize(("groups", "given"), [(policy.BOOTSTRAP_LEAST_GROUPS - 1, False), (6, True)])
def test_over_few_groups_no_interval_is_given(tmp_path: Path, groups: int, given: bool) -> None:
    dataset_in(tmp_path, groups * GROUP_SIZE)
    score = scored(tmp_path, "noisy").scores["energy_mae"]
    assert score.num_groups == groups
    assert score.value is not None
    assert (score.low is not None, score.high is not None, score.confidence is not None) == (given,) * 3


def test_a_structure_without_a_group_is_one_of_its_own(folder: Path) -> None:
    row = scored(folder, "noisy", data={"test": "some.xyz"})
    assert row.data.num_groups == row.scores["energy_mae"].num_groups == 12


# What is no number, and what was not scored


def test_predictions_that_are_no_numbers_are_counted_and_never_dropped(folder: Path) -> None:
    row = scored(folder, "nan", {"every": 4})
    assert row.status is Status.OK
    for column, score in row.scores.items():
        if column.startswith("energy"):
            assert score.value is score.low is score.high is None
            assert score.reason == "3 of 12 predicted values are no finite numbers"
            assert score.num_values == 12
        else:
            assert score.value == 0
    assert row.coverage is not None
    assert (row.coverage.num_scored, row.coverage.num_nonfinite, row.coverage.num_failed) == (12, 3, 0)
    found = read_predictions(folder / "out" / "some" / "nan_predictions.npz")
    assert np.isnan(found.values["energy"][1]).sum() == 3
    assert np.isnan(found.raw_energy).sum() == 3


@pytest.mark.parametrize("zero", ["average", "group"])
def test_a_fitted_zero_does_not_hide_what_is_no_number(folder: Path, zero: str) -> None:
    score = scored(folder, "nan", {"every": 4}, atomic_energies=zero).scores["energy_mae"]
    assert score.value is None
    assert str(score.reason).startswith("3 of ")


def test_failures_are_counted_and_the_first_three_told(folder: Path) -> None:
    row = scored(folder, "raises", {"every": 3})
    assert row.status is Status.OK
    assert row.coverage is not None
    assert (row.coverage.num_scored, row.coverage.num_failed) == (8, 4)
    assert [failure.partition(":")[0] for failure in row.coverage.failures] == ["some[0]", "some[3]", "some[6]"]
    assert row.scores["energy_mae"].num_structures == 8
    assert row.scores["energy_mae"].value == 0
    assert row.scores["energy_mae"].told == "energy: 8 of 12 structures in 6 groups"


def test_elements_that_a_model_does_not_know_are_counted_by_structure(folder: Path) -> None:
    row = scored(folder, "offset", {"elements": ["H", "C"], "offset": 0.5})
    assert row.coverage is not None
    assert row.coverage.missing_elements == {"O": 8}
    assert (row.coverage.num_structures, row.coverage.num_scored, row.coverage.num_failed) == (12, 4, 0)
    assert row.scores["energy_mae"].value == pytest.approx(0.5)
    assert row.scores["energy_mae"].num_structures == 4


def test_a_structure_that_costs_its_whole_group_the_energies_is_counted_in_the_column(folder: Path) -> None:
    """Of a group of two, one that fails leaves the other without a mean: of 12, 8 scored and 4 compared."""
    row = scored(folder, "raises", {"every": 3}, atomic_energies="group")
    assert row.coverage is not None
    assert row.coverage.num_scored == 8
    assert row.scores["energy_mae"].told == "energy: 4 of 12 structures in 2 groups"
    assert row.scores["forces_mae"].told == "forces: 8 of 12 structures in 6 groups"


@pytest.mark.parametrize(
    ("checkpoint", "options", "words"),
    [
        ("perfect", {"elements": ["Xe"]}, "it knows the elements of no structure"),
        ("raises", {"every": 1}, "some[0]: RuntimeError: mock_family cannot do some[0]"),
        (
            "wrong_shape",
            {},
            "some[0]: ValueError: forces is to be numbers of shape (3, 3), not float64 of shape (4, 3)",
        ),
        ("no_energy", {}, "some[0]: ValueError: an energy was asked for"),
    ],
)
def test_a_model_that_scored_nothing_is_an_error_with_its_reason(
    folder: Path, checkpoint: str, options: dict[str, Any], words: str
) -> None:
    row = scored(folder, checkpoint, options)
    assert row.status is Status.ERROR
    assert row.reason is not None
    assert row.reason.startswith("scored no structure: ")
    assert words in row.reason
    assert row.coverage is not None
    assert row.coverage.num_scored == 0


def test_a_model_that_answers_too_little_in_a_batch_is_asked_one_by_one_and_fails(folder: Path) -> None:
    row = scored(folder, "too_few")
    assert row.status is Status.ERROR
    assert "the model returned 0 predictions for 1 structures" in str(row.reason)


@pytest.mark.parametrize(
    ("checkpoint", "status", "words"),
    [
        ("fails", Status.ERROR, "RuntimeError: size mismatch"),
        ("absent", Status.UNAVAILABLE, "the package mock_weights is not installed"),
        ("quits", Status.ERROR, "SystemExit: the model has had enough"),
        ("panics", Status.ERROR, "Panic: called `Option::unwrap()`"),
        ("prefect", Status.ERROR, "unknown checkpoint 'prefect'; did you mean 'perfect'?"),
    ],
)
def test_a_model_that_cannot_be_scored_is_one_row_and_the_others_finish(
    folder: Path, checkpoint: str, status: Status, words: str
) -> None:
    config = make_config(folder, [model("perfect"), model(checkpoint), model("offset")])
    first, bad, last = rows_of(config, folder)
    assert first.status is last.status is Status.OK
    assert bad.status is status
    assert words in str(bad.reason)
    assert bad.scores == {}


def test_an_interrupt_is_no_models_fault(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(MockModel, "predict", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scored(folder, "perfect")


# What the data lack


def test_only_what_is_labelled_is_compared_and_only_that_is_asked_for(folder: Path) -> None:
    dataset = dataset_in(folder)
    half = tuple(without(s, "forces", "stress") if i % 2 else s for i, s in enumerate(dataset.structures))
    config = make_config(folder, [model("offset", offset=0.5)])
    (row,) = rows_of(config, folder, dataset=Dataset("half", half))
    assert row.scores["energy_mae"].num_structures == 12
    assert row.scores["forces_mae"].num_structures == row.scores["stress_mae"].num_structures == 6
    assert {score.target: score.num_labelled for score in row.scores.values()} == {
        "energy": 12,
        "forces": 6,
        "stress": 6,
    }
    assert not any(score.told for score in row.scores.values())
    assert values_of(row)["forces_mae"] == pytest.approx(0.5)
    (row,) = rows_of(config, folder, dataset=Dataset("none", tuple(without(s, "forces") for s in dataset.structures)))
    assert row.scores["forces_mae"].value is None
    assert "nothing to compare" in str(row.scores["forces_mae"].reason)
    assert row.scores["forces_mae"].num_values == 0


def test_a_pressure_is_compared_as_one_number(folder: Path) -> None:
    dataset = dataset_in(folder)
    pressures = Dataset("pressures", dataset.structures, pressure_only=True)
    (row,) = rows_of(make_config(folder, [model("offset", offset=0.5)]), folder, dataset=pressures)
    assert row.data.pressure_only
    assert row.scores["stress_mae"].num_values == 12
    assert row.scores["stress_mae"].value == pytest.approx(0.5)


def without(structure: Structure, *labels: str) -> Structure:
    from dataclasses import replace

    return replace(structure, **dict.fromkeys(labels))


def test_data_without_any_label_that_is_scored_are_refused_before_a_model_is_loaded(folder: Path) -> None:
    from dataclasses import replace

    bare = tuple(replace(s, energy=None, forces=None, stress=None) for s in dataset_in(folder).structures)
    with pytest.raises(BenchError, match="no structure has a label of energy") as caught:
        rows_of(make_config(folder, [model("hangs_at_once")]), folder, dataset=Dataset("bare", bare))
    assert caught.value.code is ExitCode.DATA


def test_equal_labels_have_no_r2(folder: Path) -> None:
    from dataclasses import replace

    dataset = dataset_in(folder)
    equal = tuple(replace(s, energy=0.1 * s.num_atoms) for s in dataset.structures)
    (row,) = rows_of(make_config(folder, [model("noisy")]), folder, dataset=Dataset("equal", equal))
    assert row.scores["energy_r2"].value is None
    assert "not defined" in str(row.scores["energy_r2"].reason)
    assert row.scores["energy_mae"].value is not None


# Metrics of one's own, and mistakes


def test_a_metric_of_ones_own_stands_beside_the_others_in_the_columns_unit(folder: Path) -> None:
    (folder / "own_metric.py").write_text(
        "def bias(reference, predicted):\n    return (predicted - reference).mean()\n"
    )
    row = scored(
        folder,
        "offset",
        {"offset": 0.25},
        metrics={"energy": ["bias", "mae"]},
        custom_metrics=[{"name": "bias", "function": "own_metric:bias"}],
        units={"energy": "meV"},
    )
    assert row.scores["energy_bias"].value == pytest.approx(250)
    assert row.scores["energy_bias"].unit == "meV/atom"
    assert row.scores["energy_bias"].low == pytest.approx(250)
    assert row.scores["energy_mae"].value == pytest.approx(250)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError('too few')", "the metric raised ValueError: too few"),
        ("return 'much'", "the metric raised ValueError"),
        ("return None", "the metric raised TypeError"),
        ("return float('nan')", "not defined"),
        ("return float('inf')", "not defined"),
    ],
)
def test_a_metric_of_ones_own_that_fails_costs_its_column_alone(folder: Path, body: str, reason: str) -> None:
    name = f"failing_{abs(hash(body))}"
    (folder / f"{name}.py").write_text(f"def f(reference, predicted):\n    {body}\n")
    metrics = {"energy": ["mae", "own"]}
    custom = [{"name": "own", "function": f"{name}:f"}]
    row = scored(folder, "noisy", metrics=metrics, custom_metrics=custom)
    assert row.status is Status.OK
    assert row.scores["energy_own"].value is None
    assert str(row.scores["energy_own"].reason).startswith(reason)
    assert row.scores["energy_mae"].value is not None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"atomic_energies": {"H": 1.0}}, "no energy for C, O"),
        ({"atomic_energies": "group", "data": {"test": "some.xyz"}}, "needs a group for every structure"),
        (
            {"custom_metrics": [{"name": "own", "function": "nowhere:f"}], "metrics": {"energy": ["own"]}},
            "No module named 'nowhere'",
        ),
    ],
)
def test_a_mistake_of_the_configuration_is_found_before_a_model_is_loaded(
    folder: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(BenchError) as caught:
        rows_of(make_config(folder, [model("hangs_at_once")], **changes), folder)
    assert words in str(caught.value)


# What a row says


def test_a_row_says_what_it_is_of(folder: Path) -> None:
    config = make_config(
        folder,
        [model("perfect", level_of_theory="PBE", cutoff_angstrom=4.0)],
        data={"test": "some.xyz", "group": "family", "level_of_theory": "GFN2-xTB"},
        trust_checkpoint=True,
        atomic_energies="average",
    )
    (row,) = rows_of(config, folder)
    assert (row.label, row.family, row.checkpoint, row.device) == ("perfect", "mock_family", "perfect", "cpu")
    assert (row.level_of_theory, row.data.level_of_theory) == ("PBE", "GFN2-xTB")
    assert row.trusted
    assert row.num_parameters == 1234
    assert row.cutoff_angstrom == 4.0
    assert next(iter(row.versions)) == "bench-mock"
    assert "least squares" in row.data.zero
    assert row.conditions is not None
    assert row.timing is not None
    assert row.timing.median_sec_per_structure > 0
    assert row.timing.peak_rss_bytes


@pytest.mark.parametrize(("said", "status"), [("cpu", Status.OK), ("cuda:0", Status.UNAVAILABLE)])
def test_a_model_that_is_elsewhere_than_asked_has_no_score(folder: Path, said: str, status: Status) -> None:
    row = scored(folder, "perfect", {"device": said})
    assert row.status is status
    assert row.reason == (None if said == "cpu" else "model 'perfect': asked for cpu, and its parameters are on cuda:0")


@pytest.mark.parametrize("count", [1, 2])
def test_threads_are_asked_for_in_a_process_whose_environment_did_not(folder: Path, count: int) -> None:
    conditions = scored(folder, "perfect", threads=count).conditions
    assert conditions is not None
    assert conditions.threads_asked == count
    assert conditions.threads_read
    assert set(conditions.threads_read.values()) == {count}


def test_what_the_configuration_says_of_a_models_theory_counts_more_than_its_own_word(folder: Path) -> None:
    config = make_config(folder, [model("perfect", level_of_theory="PBE") | {"level_of_theory": "r2SCAN"}])
    assert rows_of(config, folder)[0].level_of_theory == "r2SCAN"


def test_the_structures_beside_the_scores_are_the_datasets(folder: Path) -> None:
    scored(folder, "perfect")
    found = read_structures(folder / "out" / "some" / "structures.npz")
    dataset = dataset_in(folder)
    assert found.names == tuple(f"some[{index}]" for index in range(12))
    assert found.groups.tolist() == [index // GROUP_SIZE for index in range(12)]
    assert found.num_atoms.tolist() == [structure.num_atoms for structure in dataset.structures]
    assert found.numbers.tolist() == [number for structure in dataset.structures for number in structure.numbers]
