"""Which scores stand in one table."""

from pathlib import Path

import pytest
from bench_core.errors import BenchError
from bench_report.scores.sections import of_models, score_sections

from tests.bench_report.score_factory import commit_scores, in_ev, make_scored, not_scored, score_bundle, with_data


def test_models_stand_in_the_order_of_their_configuration_and_runs_by_age(tmp_path: Path) -> None:
    newer = score_bundle(tmp_path / "b", [make_scored("c")], run_id="b", created_at="2026-12-02T05:00:00+00:00")
    older = score_bundle(tmp_path / "a", [make_scored("z"), make_scored("a")], run_id="a")
    (section,) = score_sections([newer, older])
    assert [entry.label for entry in section.entries] == ["z", "a", "c"]
    assert section.title == "set, scores, cpu"


def test_data_of_another_content_are_another_table_and_say_so(tmp_path: Path) -> None:
    one = score_bundle(tmp_path / "a", [make_scored("a")], run_id="a")
    other = score_bundle(tmp_path / "b", [with_data(make_scored("a"), fingerprint="f" * 64)], run_id="b")
    titles = [section.title for section in score_sections([one, other])]
    assert titles == ["set, scores, cpu, fingerprint 01234567", "set, scores, cpu, fingerprint ffffffff"]


def test_a_device_is_a_table(tmp_path: Path) -> None:
    bundle = score_bundle(tmp_path / "a", [make_scored("a"), make_scored("b", device="gpu")])
    assert [section.device for section in score_sections([bundle])] == ["cpu", "gpu"]


def test_a_model_in_two_runs_is_refused_by_both_names(tmp_path: Path) -> None:
    bundles = [score_bundle(tmp_path / name, [make_scored("a")], run_id=name) for name in ("one", "two")]
    with pytest.raises(BenchError, match=r"model a .*one and .*two"):
        score_sections(bundles)


def test_a_metric_in_two_units_is_two_columns(tmp_path: Path) -> None:
    plain, other = make_scored("a"), in_ev(make_scored("b"))
    (section,) = score_sections([score_bundle(tmp_path / "a", [plain, other])])
    heads = [metric.head for metric in section.metrics]
    assert heads == ["energy_mae [meV/atom]", "energy_rmse [meV/atom]", "energy_mae [eV/atom]"]
    assert [len(section.having(metric)) for metric in section.metrics] == [1, 1, 1]


def test_predictions_that_were_changed_after_loading_are_refused(tmp_path: Path) -> None:
    (section,) = score_sections([score_bundle(tmp_path / "a", [make_scored("a")])])
    path = next((tmp_path / "a/set").glob("*_predictions.npz"))
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(BenchError, match="was changed after the run"):
        section.entries[0].predictions()


def test_only_models_that_are_wanted_are_shown(tmp_path: Path) -> None:
    found = score_sections([score_bundle(tmp_path / "a", [make_scored("a"), make_scored("b")])])
    assert [entry.label for entry in of_models(found, ["b"])[0].entries] == ["b"]
    assert of_models(found, []) == ()


def test_a_run_in_which_nothing_was_scored_has_a_table_without_structures(tmp_path: Path) -> None:
    (section,) = score_sections([score_bundle(tmp_path / "a", [not_scored("a")])])
    assert section.metrics == ()
    with pytest.raises(BenchError, match="no model was scored"):
        section.structures()


def test_a_folder_without_models_in_its_configuration_is_read_in_the_order_of_files(tmp_path: Path) -> None:
    run = commit_scores(tmp_path / "a", [make_scored("b"), make_scored("a")], config={"models": "none"})
    from bench_core.bundle import load_bundle

    assert [e.label for e in score_sections([load_bundle(run)])[0].entries] == ["b", "a"]
