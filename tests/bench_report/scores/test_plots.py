"""Files of charts of scores."""

from pathlib import Path

import pytest
from bench_core.bundle import load_bundle
from bench_core.errors import BenchError
from bench_report.report import Options, Report, build_report
from bench_report.scores.charts import dots, panels, tradeoffs
from bench_report.scores.plots import write_score_plots
from PIL import Image

from tests.bench_report.score_factory import Scored, commit_scores, make_scored, not_scored


def a_report(tmp_path: Path, *found: Scored) -> Report:
    return build_report([load_bundle(commit_scores(tmp_path / "run", found))], Options())


def test_every_kind_of_chart_is_drawn_for_every_target(tmp_path: Path) -> None:
    targets = ("energy", "forces")
    report = a_report(tmp_path, make_scored("a", targets=targets), make_scored("b", 0.5, targets=targets, sec=0.1))
    paths = write_score_plots(report.score_parts, ["png", "pdf"], tmp_path / "plots")
    assert sorted(path.name for path in paths if path.suffix == ".png") == [
        "set-scores-cpu-elements.png",
        "set-scores-cpu-errors-energy.png",
        "set-scores-cpu-errors-forces.png",
        "set-scores-cpu-parity-energy.png",
        "set-scores-cpu-parity-forces.png",
        "set-scores-cpu-speed-energy_mae.png",
        "set-scores-cpu-speed-forces_mae.png",
    ]
    for path in paths:
        if path.suffix == ".png":
            with Image.open(path) as picture:
                assert len(picture.convert("L").getcolors(100_000) or ()) > 10  # something is drawn
        else:
            assert path.read_bytes().startswith(b"%PDF")


def test_the_same_scores_give_the_same_bytes(tmp_path: Path) -> None:
    report = a_report(tmp_path, make_scored("a"), make_scored("b"))
    one, other = (write_score_plots(report.score_parts, ["svg"], tmp_path / name) for name in ("one", "two"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]


def test_many_values_are_a_small_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench_report.scores.evidence.MAX_POINTS", 10)
    report = a_report(tmp_path, make_scored("a"))
    (path,) = (
        path
        for path in write_score_plots(report.score_parts, ["svg"], tmp_path / "plots")
        if path.name.startswith("set-scores-cpu-parity")
    )
    text = path.read_text()
    assert "data:image/png;base64," in text  # counted in cells, drawn as pixels
    assert next(panels(report.score_parts[0], "parity")).told == "40 values; darker is more, log scale"


def test_many_models_are_continued_in_a_further_file(tmp_path: Path) -> None:
    report = a_report(tmp_path, *(make_scored(f"m{i:02d}", seed=i) for i in range(14)))
    names = [path.name for path in write_score_plots(report.score_parts, ["png"], tmp_path / "plots")]
    assert "set-scores-cpu-parity-energy-1.png" in names
    assert "set-scores-cpu-parity-energy-2.png" in names


def test_a_panel_says_what_it_does_not_show(tmp_path: Path) -> None:
    report = a_report(tmp_path, make_scored("a", 0.1), make_scored("b", 50.0, nonfinite=[0]))
    told = {panel.label: panel.told for panel in panels(report.score_parts[0], "parity")}
    assert told["a"] == "40 values"
    assert "beyond the frame and 1 that are no finite number" in told["b"]


def test_accuracy_against_speed_needs_two_models_with_both(tmp_path: Path) -> None:
    (part,) = a_report(tmp_path, make_scored("a"), not_scored("b")).score_parts
    assert tradeoffs(part) == ()
    (part,) = a_report(tmp_path / "two", make_scored("a", sec=0.002), make_scored("b", 1.0)).score_parts
    ((metric, found),) = tradeoffs(part)
    assert [dot.milliseconds for dot in found] == [2.0, 10.0]
    assert found == dots(part, metric)
    assert all(dot.low <= dot.value <= dot.high for dot in found)


def test_a_hostile_name_stays_a_name_in_the_folder(tmp_path: Path) -> None:
    names = ["../../../evil"]
    found = [make_scored("../../evil $x^2$ " + "n" * 60, names=names), make_scored("b", names=names)]
    paths = write_score_plots(a_report(tmp_path, *found).score_parts, ["png"], tmp_path / "plots")
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == sorted(path.name for path in paths)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plots", "run"]
    assert "set-scores-cpu-speed-energy_.._.._.._evil.png" in [path.name for path in paths]


def test_a_folder_that_cannot_be_written_is_an_error_of_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "plots").write_text("in the way")
    report = a_report(tmp_path, make_scored("a"))
    with pytest.raises(BenchError, match="cannot write"):
        write_score_plots(report.score_parts, ["png"], tmp_path / "plots")
