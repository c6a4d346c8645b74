"""What pictures of scores are drawn from."""

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from bench_core.scores import Structures
from bench_report.html import render
from bench_report.report import Options, build_report
from bench_report.scores.charts import dots
from bench_report.scores.evidence import BINS, MAX_POINTS, Evidence, gather, main_metrics, unit_of
from bench_report.scores.plots import write_score_plots
from bench_report.scores.sections import ScoreSection, score_sections

from tests.bench_report.score_factory import GROUPS, MADE_OF, Scored, make_scored, not_scored, score_bundle, scores_of


def section(tmp_path: Path, found: Iterable[Scored], **changes: object) -> ScoreSection:
    return score_sections([score_bundle(tmp_path / "run", found, **changes)])[0]  # type: ignore[arg-type]


def evidence(tmp_path: Path, *found: Scored) -> Evidence:
    return gather(section(tmp_path, found))


def test_models_share_their_axes_in_the_unit_of_the_table(tmp_path: Path) -> None:
    found = evidence(tmp_path, make_scored("a", 0.01), make_scored("b", 0.02, seed=1))
    (scale,) = found.scales
    assert scale.unit.name == "meV/atom"
    label = 1000 * np.random.default_rng(7).normal(size=40)
    assert scale.low < label.min() < label.max() < scale.high
    parity = found.parity["a", "energy"]
    assert parity.counts.shape == (BINS, BINS)
    assert parity.counts.sum() == parity.num_values == 40
    assert parity.points is not None
    assert parity.points[0] == pytest.approx(label)


def test_what_runs_out_of_the_frame_is_counted_and_nothing_is_lost(tmp_path: Path) -> None:
    wild = evidence(tmp_path, make_scored("a", 0.1), make_scored("wild", 100.0)).parity["wild", "energy"]
    assert wild.num_beyond > 20
    assert wild.num_beyond + wild.counts.sum() == 40
    assert wild.num_errors_beyond + wild.errors.sum() == 40


def test_predictions_that_are_no_numbers_are_counted_apart(tmp_path: Path) -> None:
    parity = evidence(tmp_path, make_scored("a"), make_scored("b", nonfinite=[0, 5])).parity["b", "energy"]
    assert (parity.num_values, parity.num_nonfinite) == (38, 2)


def test_many_values_are_counts_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench_report.scores.evidence.MAX_POINTS", 10)
    assert MAX_POINTS > 10
    assert evidence(tmp_path, make_scored("a")).parity["a", "energy"].points is None


def test_errors_by_element_are_means_over_the_structures_that_contain_it(tmp_path: Path) -> None:
    scored = make_scored("a", left_out=range(1, 40, 2))  # all that hold H and O
    elements = evidence(tmp_path, scored, make_scored("b", seed=3)).elements
    assert elements is not None
    assert elements.symbols == ("H", "C", "O")
    assert elements.num_structures == (20, 20, 20)
    assert elements.unit == "meV/atom"
    assert scored.predictions is not None
    reference, predicted = scored.predictions.values["energy"]
    hydrogen, carbon, oxygen = elements.errors["a"]
    assert hydrogen is oxygen is None
    assert carbon == pytest.approx(1000 * np.abs(predicted - reference).mean())
    hydrogen, carbon, oxygen = elements.errors["b"]
    assert hydrogen == oxygen != carbon


def test_energies_of_whole_structures_are_divided_by_their_atoms_for_elements(tmp_path: Path) -> None:
    scored = make_scored("a")
    found = gather(section(tmp_path, [scored], config={"energy_per_atom": False}))
    assert scored.predictions is not None
    assert found.elements is not None
    reference, predicted = scored.predictions.values["energy"]
    errors = 1000 * np.abs(predicted - reference) / 2  # atoms
    assert found.elements.errors["a"] == pytest.approx((errors[1::2].mean(), errors[::2].mean(), errors[1::2].mean()))


@pytest.mark.parametrize(
    ("names", "unit", "factor"),
    [(["mse", "mae"], "meV/atom", 1000.0), (["mse"], "meV/atom", 1000.0), (["r2"], "eV/atom", 1.0)],
)
def test_the_unit_of_values_is_found_behind_that_of_a_metric(
    tmp_path: Path, names: list[str], unit: str, factor: float
) -> None:
    found = unit_of(section(tmp_path, [make_scored("a", names=names)]), "energy")
    assert found.name == unit
    assert math.isclose(found.factor, factor)


def test_every_target_has_a_main_metric(tmp_path: Path) -> None:
    found = main_metrics(section(tmp_path, [make_scored("a", targets=("energy", "forces"))]))
    assert [metric.column for metric in found] == ["energy_mae", "forces_mae"]


def test_an_element_beyond_the_table_is_shown_by_its_number(tmp_path: Path) -> None:
    numbers = np.where(MADE_OF.numbers == 8, 200, MADE_OF.numbers)
    strange = Structures(MADE_OF.names, MADE_OF.groups, MADE_OF.num_atoms, numbers)
    elements = gather(section(tmp_path, [make_scored("a")], structures=strange)).elements
    assert elements is not None
    assert elements.symbols == ("H", "C", "Z=200")


def test_where_nothing_was_scored_there_is_nothing_to_draw(tmp_path: Path) -> None:
    assert evidence(tmp_path, not_scored("a")) == Evidence((), {}, None)


@pytest.mark.filterwarnings("ignore:overflow")  # of its own score, which is not what is tested
def test_absurd_predictions_decide_about_no_axis_and_are_counted_as_beyond(tmp_path: Path) -> None:
    scored = make_scored("absurd", 0.1, names=["mae"])
    assert scored.predictions is not None
    scored.predictions.values["energy"][1][:2] = [1e300, -1e300]
    scored.result.scores.update(scores_of(scored.predictions, GROUPS, ["mae"]))
    report = build_report([score_bundle(tmp_path / "run", [make_scored("a"), scored])], Options())
    part = report.score_parts[0]
    assert part.evidence.scales[0].high < 1e5
    assert part.evidence.parity["absurd", "energy"].num_beyond == 2
    assert "e+" in dict(part.sheet.tables[0].rows)["absurd"][0].text
    assert [dot.label for dot in dots(part, part.section.metrics[0])] == ["a"]
    assert "2 beyond the frame" in render(report)
    assert write_score_plots(report.score_parts, ["png"], tmp_path / "plots")
