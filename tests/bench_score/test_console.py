"""What a terminal shows of a run."""

from bench_score.console import shown

from tests.bench_score.test_table import config, row, score


def test_units_stand_under_the_columns_and_a_star_marks_the_best() -> None:
    lines = shown(config(), [row("one", score(1.0, 0.9, 1.1)), row("other", score(2.0, 1.8, 2.2))]).splitlines()
    assert lines[0].split()[:3] == ["model", "scored", "energy_mae"]
    assert "[eV/atom]" in lines[1]
    assert "1.000*" in lines[2]
    assert lines[4] == "* best, its interval apart from all others"


def test_models_that_a_column_compares_on_fewer_structures_are_named_below() -> None:
    few = {"num_structures": 7, "num_labelled": 12, "num_groups": 7}
    text = shown(config(), [row(label, score(1.0, **few)) for label in ("one", "other")])
    assert "energy: 7 of 12 structures: one, other" in text.splitlines()
    assert "structures" not in shown(config(), [row("one", score(1.0))]).partition("[eV/atom]")[2]


def test_the_theory_of_the_labels_stands_below_and_who_learned_from_another() -> None:
    text = " ".join(shown(config(), [row("one", score(1.0)), row("same", score(1.0), level_of_theory="PBE")]).split())
    assert "Labelled at PBE; the intervals are in the files and in the report." in text
    assert "labels of PBE, and charged for the difference between the two: one (r2SCAN)." in text
