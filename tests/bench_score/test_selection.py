"""Which models one process scores."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from bench_core.errors import BenchError
from bench_score.config import ScoreConfig, parse_config
from bench_score.selection import select_entries

LABELS = ("alpha", "beta", "1", "gamma", "delta")


@pytest.fixture
def config() -> ScoreConfig:
    models = [{"label": label, "family": "mock_family"} for label in LABELS]
    return parse_config({"name": "some", "models": models, "data": {"name": "dcdft"}}, base=Path())


def labels(config: ScoreConfig, models: list[str | int] | None = None, shard: str | None = None) -> list[str]:
    return [entry.label for entry in select_entries(config, models, shard)]


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        (None, list(LABELS)),
        (["beta"], ["beta"]),
        (["0"], ["alpha"]),
        ([0, 4], ["alpha", "delta"]),
        (["gamma", "alpha"], ["alpha", "gamma"]),  # in the configuration's order
        (["1"], ["1"]),  # a label comes before a place
        (["alpha", "0"], ["alpha"]),
    ],
)
def test_models_are_named_by_label_or_place(
    config: ScoreConfig, models: list[str | int] | None, expected: list[str]
) -> None:
    assert labels(config, models) == expected


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (["bet"], "--models: unknown model 'bet'; did you mean 'beta'?"),
        (["5"], "--models 5: there are 5 models, numbered from 0"),
        (["-1"], "unknown model '-1'"),
        ([""], "unknown model ''"),
    ],
)
def test_a_model_that_is_not_there_is_refused(config: ScoreConfig, models: list[str | int], words: str) -> None:
    with pytest.raises(BenchError) as caught:
        labels(config, models)
    assert words in str(caught.value)


@pytest.mark.parametrize("count", range(1, 6))
def test_shards_are_disjoint_and_together_everything(config: ScoreConfig, count: int) -> None:
    shards = [labels(config, shard=f"{number}/{count}") for number in range(1, count + 1)]
    found = [label for shard in shards for label in shard]
    assert sorted(found) == sorted(LABELS)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_a_shard_is_one_of_the_models_that_are_named(config: ScoreConfig) -> None:
    assert labels(config, ["alpha", "gamma", "delta"], "2/2") == ["gamma"]


@pytest.mark.parametrize(
    "shard", ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2", "", "1.0/2", "1/ 2", "Slurm", "9999999/9999999"]
)
def test_a_shard_that_is_none_is_refused(config: ScoreConfig, shard: str) -> None:
    with pytest.raises(BenchError, match="write I/N, such as 1/4"):
        labels(config, shard=shard)


def test_a_shard_for_which_no_model_is_left_is_refused(config: ScoreConfig) -> None:
    with pytest.raises(BenchError, match="fewer models than shards"):
        labels(config, shard="6/6")


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("ID", "MIN", "MAX", "STEP", "COUNT"):
        monkeypatch.delenv(f"SLURM_ARRAY_TASK_{name}", raising=False)
    return monkeypatch


def say(slurm: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        slurm.setenv(f"SLURM_ARRAY_TASK_{name}", value)


@pytest.mark.parametrize(
    ("first", "last", "step"), [(1, 2, 1), (0, 1, 1), (10, 14, 2), (1, 5, 1), (0, 0, 1), (3, 7, 4), (1, 6, 4)]
)
def test_a_job_array_takes_every_model_once_from_wherever_it_counts(
    config: ScoreConfig, slurm: pytest.MonkeyPatch, first: int, last: int, step: int
) -> None:
    tasks = list(range(first, last + 1, step))
    found = []
    for task in tasks:
        say(slurm, ID=str(task), MIN=str(first), MAX=str(last), STEP=str(step), COUNT=str(len(tasks)))
        found += labels(config, shard="slurm")
    assert sorted(found) == sorted(LABELS)


@pytest.mark.parametrize(
    "variables",
    [
        {"ID": "5", "MIN": "1", "MAX": "7", "STEP": "1", "COUNT": "3"},  # --array=1,5,7
        {"ID": "2", "MIN": "1", "MAX": "5", "STEP": "2", "COUNT": "3"},
        {"ID": "1", "MIN": "1", "MAX": "1", "STEP": "0", "COUNT": "1"},
    ],
)
def test_a_job_array_with_gaps_is_refused(
    config: ScoreConfig, slurm: pytest.MonkeyPatch, variables: Mapping[str, str]
) -> None:
    say(slurm, **variables)
    with pytest.raises(BenchError, match="--array=1-N"):
        labels(config, shard="slurm")


@pytest.mark.parametrize("missing", ["ID", "MIN", "MAX", "STEP", "COUNT"])
def test_outside_a_job_array_there_is_no_such_shard(
    config: ScoreConfig, slurm: pytest.MonkeyPatch, missing: str
) -> None:
    say(slurm, **{name: "1" for name in ("ID", "MIN", "MAX", "STEP", "COUNT") if name != missing})
    with pytest.raises(BenchError, match=f"SLURM_ARRAY_TASK_{missing} is not set"):
        labels(config, shard="slurm")
