"""The table that people read: digits, who is best, and footnotes."""

from pathlib import Path
from typing import Any

import pytest
from bench_core.results import Conditions, Status
from bench_core.scores import Coverage, ModelTiming, Score, ScoredData, ScoreResult
from bench_score.config import parse_config
from bench_score.table import build_table, column_units, digits

from tests.bench_score.score_run import model, raw_config

DATA = ScoredData("some", 12, 6, "0" * 64, "PBE", "as in the data")


def config(**changes: Any) -> Any:
    said = {"metrics": {"energy": ["mae", "r2"]}} | changes
    return parse_config(raw_config([model("a")], **said), base=Path("/nowhere"))


def score(value: float | None, low: float | None = None, high: float | None = None, **changes: Any) -> Score:
    said = {"target": "energy", "metric": "mae", "unit": "eV/atom", "factor": 1.0, "num_structures": 12} | changes
    return Score(value=value, low=low, high=high, reason=None if value is not None else "there is none", **said)


def row(label: str, *scores: Score, **changes: Any) -> ScoreResult:
    said: dict[str, Any] = {
        "schema_version": 1,
        "kind": "score",
        "run_id": "run",
        "created_at": "now",
        "label": label,
        "family": "mock_family",
        "device": "cpu",
        "checkpoint": None,
        "checkpoint_sha256": None,
        "trusted": False,
        "status": Status.OK,
        "data": DATA,
        "config_sha256": "0" * 64,
        "seed": 1,
        "level_of_theory": "r2SCAN",
        "num_parameters": 1234567,
        "coverage": Coverage(12, 12),
        "timing": ModelTiming(0.0123, 0.1, 0.1, 0.1, 1, 250_000_000),
    }
    named = {f"{one.target}_{one.metric}": one for one in scores}
    return ScoreResult(**(said | {"scores": named} | changes))


def cells(rows: list[ScoreResult], **changes: Any) -> list[dict[str, Any]]:
    table = build_table(config(**changes), rows)
    return [dict(zip(table.heads, found, strict=True)) for found in table.rows]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (4.6, "4.600"),
        (4.60049, "4.600"),
        (-4.6, "-4.600"),
        (9.9996, "10.00"),
        (0.00046, "0.0004600"),
        (0.099999, "0.1000"),
        (123.4, "123.4"),
        (1234.5, "1234"),
        (12345.6, "12346"),
        (999999.4, "999999"),
        (1234567.0, "1.235e+06"),
        (0.00001234, "1.234e-05"),
        (1.0, "1.000"),
    ],
)
def test_a_number_has_four_digits_zeros_at_the_end_too(value: float, text: str) -> None:
    assert digits(value) == text


def test_a_row_says_the_model_its_theory_and_how_much_it_scored() -> None:
    (found,) = cells([row("one", score(0.5, 0.4, 0.6))])
    assert {name: cell.text for name, cell in found.items()} == {
        "model": "one",
        "family": "mock_family",
        "level of theory": "r2SCAN",
        "parameters": "1,234,567",
        "scored": "12 of 12",
        "energy_mae [eV/atom]": "0.5000",
        "energy_r2": "not scored",
        "time [ms/structure]": "12.30",
        "peak memory [MB]": "250",
    }
    assert found["energy_mae [eV/atom]"].interval == "0.4000 to 0.6000"


@pytest.mark.parametrize(
    ("one", "other", "best"),
    [
        (score(1.0, 0.9, 1.1), score(2.0, 1.8, 2.2), "one"),
        (score(1.0, 0.9, 1.1), score(1.2, 1.05, 1.3), None),  # intervals meet
        (score(1.0, 0.9, 1.1), score(2.0), None),  # the other has none
        (score(1.0), score(2.0, 1.8, 2.2), None),
        (score(1.0, 0.9, 1.1), score(None), None),
        (score(1.0, 0.9, 1.1, num_structures=6), score(2.0, 1.8, 2.2), None),  # on half of the structures
        (score(2.0, 1.8, 2.2, num_structures=6), score(1.0, 0.9, 1.1), "other"),
    ],
)
def test_the_best_is_the_one_whose_interval_is_apart_on_as_many_structures(
    one: Score, other: Score, best: str | None
) -> None:
    found = cells([row("one", one), row("other", other)])
    marked = [line["model"].text for line in found if line["energy_mae [eV/atom]"].best]
    assert marked == ([best] if best else [])


def test_of_r2_the_higher_is_better() -> None:
    high, low = (score(v, v - 0.01, v + 0.01, metric="r2", unit="") for v in (0.99, 0.5))
    assert [line["energy_r2"].best for line in cells([row("low", low), row("high", high)])] == [False, True]


def test_a_model_that_failed_shows_its_status_and_why() -> None:
    failed = row("bad", status=Status.CRASHED, reason="it was killed by SIGSEGV", coverage=None, timing=None)
    (found,) = cells([failed])
    assert found["energy_mae [eV/atom]"].text == "crashed"
    assert found["energy_mae [eV/atom]"].note == "crashed: it was killed by SIGSEGV"
    assert found["scored"].text == "0 of 12"
    assert found["time [ms/structure]"].text == ""


def test_a_value_that_cannot_be_had_says_why() -> None:
    (found,) = cells([row("one", score(None))])
    assert found["energy_mae [eV/atom]"].text == "none"
    assert found["energy_mae [eV/atom]"].note == "energy_mae: there is none"


def test_a_column_that_compares_fewer_structures_than_are_labelled_says_how_many() -> None:
    (found,) = cells([row("one", score(0.5, num_structures=7, num_labelled=12, num_groups=3))])
    assert found["energy_mae [eV/atom]"].note == "energy: 7 of 12 structures in 3 groups"
    (found,) = cells([row("one", score(0.5, num_structures=12, num_labelled=12, num_groups=12))])
    assert found["energy_mae [eV/atom]"].note == ""


def test_what_was_not_scored_is_told_beside_how_much_was() -> None:
    cover = Coverage(12, 7, 2, {"O": 3, "Xe": 1}, 1, ("some[3]: RuntimeError: no",))
    (found,) = cells([row("one", score(0.5), coverage=cover)])
    assert found["scored"].text == "7 of 12"
    assert found["scored"].note == (
        "does not know O (3), Xe (1) (structures with it); 1 failed: some[3]: RuntimeError: no; "
        "2 predicted with values that are no finite numbers"
    )


def test_the_same_reason_is_the_same_note_whichever_model_it_is_of() -> None:
    cover = Coverage(12, 9, 0, {"O": 3})
    one, other = cells([row(label, score(0.5), coverage=cover) for label in ("one", "other")])
    assert one["scored"].note == other["scored"].note != ""


def test_times_beside_others_are_marked() -> None:
    (found,) = cells([row("one", score(0.5), timing=ModelTiming(0.1, 0.1, 0.1, 0.1, 3))])
    assert found["time [ms/structure]"].note == "3 models were scored at once"
    assert found["peak memory [MB]"].text == ""


def test_threads_that_were_not_as_asked_are_told_beside_the_time() -> None:
    conditions = Conditions(
        python="3.11",
        platform="Linux",
        cpu="some",
        device="cpu",
        threads_asked=1,
        threads_read={"blas.0": 2, "openmp.1": 1},
        affinity=(0, 1),
        isolation="spawn",
        lock_sha256=None,
        shared_versions={},
    )
    (found,) = cells([row("one", score(0.5), conditions=conditions)])
    assert found["time [ms/structure]"].note == "asked for 1 threads, and blas.0 answers 2"


def test_units_are_the_rows_where_there_are_any_and_else_what_they_would_be() -> None:
    assert column_units(config()) == {"energy_mae": "eV/atom", "energy_r2": ""}
    assert column_units(config(units={"energy": "meV"}))["energy_mae"] == "meV/atom"
    assert column_units(config(), [row("one", score(0.5, unit="kcal/mol"))])["energy_mae"] == "kcal/mol"
