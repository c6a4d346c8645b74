"""Every model against the best of each metric."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from bench_report.scores.pairs import compare_pairs
from bench_report.scores.sections import Metric, ScoreSection, score_sections

from tests.bench_report.score_factory import Scored, make_scored, not_scored, score_bundle

MAE = Metric("energy_mae", "energy", "mae", "meV/atom")


def section(tmp_path: Path, found: Sequence[Scored]) -> ScoreSection:
    return score_sections([score_bundle(tmp_path / "run", found)])[0]


def test_a_model_that_errs_ten_times_as_much_differs_and_one_that_errs_alike_does_not(tmp_path: Path) -> None:
    pairs = compare_pairs(
        section(
            tmp_path, [make_scored("good", 0.1), make_scored("alike", 0.101, seed=1), make_scored("bad", 1.0, seed=2)]
        )
    )
    assert pairs["bad", MAE].differs
    (alike,) = (pair for (label, metric), pair in pairs.items() if metric == MAE and label != "bad")
    assert not alike.differs
    found = pairs["bad", MAE].found
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.value < found.high
    assert (found.num_structures, found.num_groups) == (40, 20)


def test_the_difference_is_in_the_unit_of_the_column(tmp_path: Path) -> None:
    one, other = make_scored("good", 0.1), make_scored("bad", 0.5)
    found = compare_pairs(section(tmp_path, [one, other]))["bad", MAE].found
    values = [scored.result.scores["energy_mae"].value or 0 for scored in (one, other)]
    assert found is not None
    assert found.value == pytest.approx(values[1] - values[0])


def test_of_one_pair_the_p_value_is_its_own(tmp_path: Path) -> None:
    pair = compare_pairs(section(tmp_path, [make_scored("good", 0.1), make_scored("bad", 0.2, seed=1)]))["bad", MAE]
    assert pair.found is not None
    assert pair.p_adjusted == pair.found.p_value


def test_more_models_make_a_difference_harder_to_find(tmp_path: Path) -> None:
    models = [make_scored(f"m{i}", 0.1 + 0.01 * i, seed=i) for i in range(6)]
    few = compare_pairs(section(tmp_path / "few", models[:2]))
    many = compare_pairs(section(tmp_path / "many", models))
    best = next(pair.best for (_, metric), pair in many.items() if metric == MAE)
    (alone,) = (pair for (_, metric), pair in few.items() if metric == MAE)
    assert alone.p_adjusted is not None
    for (label, metric), pair in many.items():
        if metric == MAE:
            assert pair.p_adjusted is not None
            assert pair.found is not None
            assert pair.found.p_value is not None
            assert pair.p_adjusted >= pair.found.p_value, f"{label} against {best}"


@pytest.mark.parametrize("models", [2, 16])
def test_among_models_that_are_alike_few_tables_mark_one_as_different(tmp_path: Path, models: int) -> None:
    """60 tables of one column: the best is chosen by the data that are tested."""
    marked = 0
    for table in range(60):
        alike = [make_scored(f"m{i}", names=["mae"], seed=1000 * table + i + 1) for i in range(models)]
        pairs = compare_pairs(section(tmp_path / str(table), alike))
        marked += any(pair.differs for pair in pairs.values())
    assert marked <= 3 + 1.7 * 2  # 3 expected, with a standard error of 1.7


def test_models_are_compared_on_what_both_scored(tmp_path: Path) -> None:
    pairs = compare_pairs(section(tmp_path, [make_scored("all", 0.1), make_scored("few", 0.05, left_out=range(10))]))
    pair = pairs["few", MAE]
    assert pair.best == "all"  # fewer structures cannot lead
    assert pair.found is not None
    assert pair.found.num_structures == 30


def test_models_without_a_structure_in_common_say_so(tmp_path: Path) -> None:
    pairs = compare_pairs(
        section(tmp_path, [make_scored("a", left_out=range(20)), make_scored("b", 0.2, left_out=range(19, 40))])
    )
    (pair,) = (pair for (_, metric), pair in pairs.items() if metric == MAE)
    assert "no structure in common" in (pair.reason or "")


def test_models_with_as_many_but_other_structures_are_compared_with_none(tmp_path: Path) -> None:
    found = [make_scored("a", left_out=range(10)), make_scored("b", 1.0, left_out=range(10, 20))]
    assert compare_pairs(section(tmp_path, found)) == {}


def test_models_whose_energies_have_other_zeros_are_not_compared(tmp_path: Path) -> None:
    """A fit over fewer structures leaves other residuals; those that scored the same have the same fit."""
    found = [
        make_scored("all", 0.1, average=True),
        make_scored("few", 0.1, seed=1, left_out=range(10), average=True),
        make_scored("bad", 1.0, seed=2, average=True),
    ]
    pairs = compare_pairs(section(tmp_path, found))
    assert pairs["few", MAE].found is None
    assert "zeros differ" in (pairs["few", MAE].reason or "")
    assert pairs["bad", MAE].differs


def test_a_metric_of_ones_own_is_not_compared_in_pairs(tmp_path: Path) -> None:
    assert compare_pairs(section(tmp_path, [make_scored("a", names=["mine"]), make_scored("b", names=["mine"])])) == {}


def test_what_has_no_value_and_what_was_not_scored_is_in_no_pair(tmp_path: Path) -> None:
    assert compare_pairs(section(tmp_path, [make_scored("a"), make_scored("b", nonfinite=[3]), not_scored("c")])) == {}


def test_where_nothing_was_scored_there_is_nothing_to_compare(tmp_path: Path) -> None:
    assert compare_pairs(section(tmp_path, [not_scored("a"), not_scored("b")])) == {}
