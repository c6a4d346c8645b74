"""What stands in the tables of scores."""

from pathlib import Path

import msgspec
from bench_report.report import Options, build_report
from bench_report.scores.part import ScorePart
from bench_report.table import Cell, Table

from tests.bench_report.score_factory import Scored, make_scored, not_scored, score_bundle, with_data


def part(tmp_path: Path, *found: Scored, allow_mixed: bool = False) -> ScorePart:
    report = build_report([score_bundle(tmp_path / "run", found)], Options(allow_mixed=allow_mixed))
    return report.score_parts[0]


def cell(table: Table, label: str, head: str) -> Cell:
    cells = dict(table.rows)[label]
    return cells[table.heads.index(head) - 1]


def test_a_score_stands_with_its_interval_and_the_best_is_strong_when_apart(tmp_path: Path) -> None:
    errors = part(tmp_path, make_scored("good", 0.1), make_scored("bad", 1.0)).sheet.tables[0]
    good = cell(errors, "good", "energy_mae [meV/atom]")
    assert good.strong
    assert good.interval is not None
    assert " to " in good.interval
    assert not cell(errors, "bad", "energy_mae [meV/atom]").strong


def test_nobody_is_best_among_models_alike(tmp_path: Path) -> None:
    errors = part(tmp_path, make_scored("a", 0.1), make_scored("b", 0.1, seed=1)).sheet.tables[0]
    assert not any(cell.strong for _, cells in errors.rows for cell in cells)


def test_models_that_lack_the_same_share_one_footnote(tmp_path: Path) -> None:
    found = part(
        tmp_path, make_scored("a", left_out=[1]), make_scored("b", left_out=[1], seed=1), make_scored("c", seed=2)
    )
    errors = found.sheet.tables[0]
    assert [cell(errors, label, "scored").text for label in "abc"] == ["39 of 40", "39 of 40", "40 of 40"]
    assert cell(errors, "a", "scored").notes == cell(errors, "b", "scored").notes
    assert found.sheet.notes == (
        "energy: 39 of 40 structures in 20 groups",
        "does not know O (1) (structures with it)",
    )


def joined(one: Scored, other: Scored) -> Scored:
    """A model with the targets of both."""
    assert one.predictions
    assert other.predictions
    predictions = msgspec.structs.replace(
        one.predictions,
        values={**one.predictions.values, **other.predictions.values},
        structures={**one.predictions.structures, **other.predictions.structures},
    )
    scores = {**one.result.scores, **other.result.scores}
    return Scored(msgspec.structs.replace(one.result, scores=scores), predictions)


def test_a_column_that_compares_fewer_structures_than_are_labelled_has_a_footnote(tmp_path: Path) -> None:
    found = part(tmp_path, make_scored("a"), make_scored("b", left_out=range(10), seed=1))
    errors = found.sheet.tables[0]
    (number,) = cell(errors, "b", "energy_mae [meV/atom]").notes
    assert found.sheet.notes[number - 1] == "energy: 30 of 40 structures in 20 groups"
    assert cell(errors, "b", "energy_rmse [meV/atom]").notes == (number,)
    assert cell(errors, "a", "energy_mae [meV/atom]").notes == ()


def test_models_with_as_many_but_other_structures_have_no_best_and_a_sentence_says_why(tmp_path: Path) -> None:
    """The energies have no leader; forces do, so there is a table of differences."""
    forces = [make_scored(label, error, targets=("forces",)) for label, error in (("a", 0.1), ("b", 1.0))]
    energies = [make_scored("a", 0.1, left_out=range(20)), make_scored("b", 1.0, left_out=range(20, 40))]
    found = part(tmp_path, *map(joined, energies, forces))
    errors, differences = found.sheet.tables[:2]
    assert not any(cell.strong for cell in (cell(errors, label, "energy_mae [meV/atom]") for label in "ab"))
    assert cell(differences, "b", "energy_mae [meV/atom]").text == "not compared"
    told = "energy_mae: models were scored on as many structures, but not the same ones, so none of them leads"
    assert told in found.sheet.notes
    assert told in found.highlights


def test_of_a_metric_of_ones_own_nothing_is_said_about_structures(tmp_path: Path) -> None:
    found = part(tmp_path, make_scored("a", names=["mine"]), make_scored("b", names=["mine"]))
    assert found.highlights == ()


def test_time_and_memory_stand_in_their_units(tmp_path: Path) -> None:
    errors = part(tmp_path, make_scored("a", sec=0.0123)).sheet.tables[0]
    assert cell(errors, "a", "ms per structure").text == "12.3"
    assert cell(errors, "a", "peak memory, MB").text == "500"


def test_what_was_not_scored_says_why_in_every_cell(tmp_path: Path) -> None:
    found = part(tmp_path, make_scored("a"), not_scored("b", "the checkpoint is broken"))
    errors, models = found.sheet.tables[0], found.sheet.tables[-1]
    assert cell(errors, "b", "energy_mae [meV/atom]").text == "error"
    assert cell(errors, "b", "scored").text == "0 of 40"
    assert cell(errors, "b", "ms per structure").text == "–"
    assert cell(models, "b", "status").text == "error"
    assert "error: the checkpoint is broken" in found.sheet.notes


def test_a_prediction_that_is_no_number_leaves_no_value_and_a_reason(tmp_path: Path) -> None:
    found = part(tmp_path, make_scored("a"), make_scored("b", nonfinite=[0, 1]))
    assert cell(found.sheet.tables[0], "b", "energy_mae [meV/atom]").text == "none"
    assert any("no finite numbers" in note for note in found.sheet.notes)


def test_a_metric_that_a_model_was_not_scored_by_says_so(tmp_path: Path) -> None:
    found = part(tmp_path, make_scored("a", names=["mae"]), make_scored("b", names=["rmse"]))
    assert cell(found.sheet.tables[0], "a", "energy_rmse [meV/atom]").text == "not scored"


def test_differences_to_the_best_have_interval_p_value_and_mark(tmp_path: Path) -> None:
    found = part(tmp_path, make_scored("good", 0.1), make_scored("bad", 1.0))
    differences = found.sheet.tables[1]
    assert cell(differences, "good", "energy_mae [meV/atom]").text == "best value"
    bad = cell(differences, "bad", "energy_mae [meV/atom]")
    assert bad.text.startswith("+")
    assert "p\u00a00.0001" in (bad.interval or "")
    assert bad.mark == "≠"
    assert found.sheet.legend[0][0] == "≠"
    assert found.highlights[0].startswith("energy_mae: good has the best value")
    assert "told apart from it in pairs: bad" in found.highlights[0]


def test_one_model_alone_has_no_table_of_differences(tmp_path: Path) -> None:
    assert [table.title for table in part(tmp_path, make_scored("a")).sheet.tables] == ["Errors", "Models"]


def test_a_mixture_that_is_allowed_has_no_best_no_pairs_and_a_notice(tmp_path: Path) -> None:
    found = part(
        tmp_path, make_scored("good", 0.1), with_data(make_scored("bad", 1.0), zero="another"), allow_mixed=True
    )
    assert found.pairs == {}
    assert found.highlights == ()
    assert not any(cell.strong for table in found.sheet.tables for _, cells in table.rows for cell in cells)
    assert "zero of energies" in found.sheet.notices[0]


def test_what_models_are_stands_in_a_table_of_its_own(tmp_path: Path) -> None:
    models = part(tmp_path, make_scored("a")).sheet.tables[-1]
    assert [cell.text for cell in models.rows[0][1]] == [
        "mlip_toy",
        "toy 1.2.3",
        "v1",
        "PBE",
        "PBE",
        "1\u00a0234",
        "5\u00a0Å",
        "ok",
    ]


def test_the_caption_says_what_was_scored_and_what_intervals_cover(tmp_path: Path) -> None:
    caption = " ".join(part(tmp_path, with_data(make_scored("a"), pressure_only=True)).sheet.caption)
    assert "of stresses the pressure alone is labelled" in caption
    assert "40 structures in 20 groups of set, labelled at PBE" in caption
    assert "bootstrap percentiles over groups of structures" in caption
