"""Cells over many runs: their order, their steps, and what is not compared."""

import csv
import io
from pathlib import Path

import pytest
from bench_core.bundle import Bundle
from bench_core.cli import main
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Measurement, Status
from bench_core.statistics import Verdict
from bench_report.history import History, build_history, find_runs
from bench_report.history_views import to_csv, to_markdown
from bench_report.regression import CellKey, Rules

from tests.bench_report.factory import commit_bundle, make_bundle, make_result, not_measured, with_conditions

RESIZE = CellKey("image-rgb", "micro", "cpu", "ant", "Resize")
Cells = dict[str, Measurement | float]


def a_run(day: int, cells: Cells, version: str = "1.0", **conditions: object) -> Bundle:
    result = make_result("ant", cells, versions={"ant": version})
    if conditions:
        result = with_conditions(result, **conditions)
    return make_bundle([result], f"run-{day}", created_at=f"2026-12-{day:02}T05:00:00+00:00")


def history(*bundles: Bundle) -> History:
    return build_history(bundles, Rules())


def steps(found: History, key: CellKey = RESIZE) -> list[Verdict | None]:
    return [point.step for point in found.cells[key]]


def test_runs_are_ordered_by_time_and_a_step_is_marked_where_it_happened() -> None:
    found = history(a_run(3, {"Resize": 2e-3}, "2.0"), a_run(1, {"Resize": 1e-3}), a_run(2, {"Resize": 1e-3}))
    assert [bundle.run_id for bundle in found.bundles] == ["run-1", "run-2", "run-3"]
    assert steps(found) == [None, None, Verdict.SLOWER]
    assert [point.version for point in found.cells[RESIZE]] == ["1.0", "1.0", "2.0"]


def test_a_run_without_the_cell_is_passed_over() -> None:
    found = history(a_run(1, {"Resize": 1e-3}), a_run(2, {"Pad": 1e-3}), a_run(3, {"Resize": 0.4e-3}))
    assert steps(found) == [None, Verdict.FASTER]
    assert found.cells[RESIZE][1].previous == 0


def test_a_run_in_which_the_cell_failed_is_shown_and_passed_over() -> None:
    failed = a_run(2, {"Resize": not_measured(Status.ERROR, "ValueError")})
    found = history(a_run(1, {"Resize": 1e-3}), failed, a_run(3, {"Resize": 2e-3}))
    assert steps(found) == [None, None, Verdict.SLOWER]
    assert "| error |" in to_markdown(found, Rules(), 8)


def both(day: int, machine: float, sec: float) -> Bundle:
    """Two libraries in turns on a machine that takes `machine` times as long; the first `sec` times the second."""
    changing = make_result("ant", {"Resize": 1e-3 * machine * sec})
    steady = make_result("owl", {"Resize": 1e-3 * machine})
    return make_bundle([changing, steady], f"run-{day}", created_at=f"2026-12-{day:02}T05:00:00+00:00")


def test_a_control_takes_the_machine_out_of_a_step() -> None:
    runs = both(1, 1.0, 1.0), both(2, 3.0, 1.0), both(3, 3.0, 2.0)
    found = build_history(runs, Rules(control="owl"))
    assert steps(found) == [None, None, Verdict.SLOWER]
    change = found.cells[RESIZE][2].change
    assert change is not None and change.control == "owl"
    assert steps(found, CellKey("image-rgb", "micro", "cpu", "owl", "Resize")) == [None, None, None]
    assert "both relative to owl" in to_markdown(found, Rules(control="owl"), 8)


def test_a_control_that_is_nowhere_is_refused_with_the_nearest() -> None:
    with pytest.raises(BenchError, match="--control: unknown library 'ow'; did you mean 'owl'"):
        build_history([both(1, 1.0, 1.0), both(2, 1.0, 1.0)], Rules(control="ow"))


def test_other_conditions_are_not_compared_and_named() -> None:
    found = history(a_run(1, {"Resize": 1e-3}), a_run(2, {"Resize": 3e-3}, cpu="Other CPU"))
    assert steps(found) == [None, None]
    text = to_markdown(found, Rules(), 8)
    assert "≠" in text
    assert "Run 2 was not compared with run 1: processor: Example CPU @ 2.60GHz (run run-1), Other CPU" in text


def test_markdown_marks_steps_and_shows_the_newest_runs_only() -> None:
    found = history(*(a_run(day, {"Resize": 1e-3 if day < 4 else 2e-3}, f"{day}.0") for day in range(1, 6)))
    text = to_markdown(found, Rules(), 2)
    assert "| version in run |   4 |   5 |" in text
    assert "▼" in text
    assert "- run 4: ant Resize ▼\u00a0slower than in run 3" in text


def test_csv_has_a_line_per_cell_and_run_with_its_step() -> None:
    found = history(a_run(1, {"Resize": 1e-3}), a_run(2, {"Resize": 2e-3}, "=cmd()"))
    first, second = csv.DictReader(io.StringIO(to_csv(found)))
    assert (first["run_id"], first["verdict"], first["previous_run_id"]) == ("run-1", "", "")
    assert (second["verdict"], second["previous_run_id"], second["version"]) == ("slower", "run-1", "'=cmd()")
    assert float(first["items_per_sec"]) == pytest.approx(1000, rel=0.1)


def test_one_run_is_no_history_and_the_same_run_twice_is_refused() -> None:
    with pytest.raises(BenchError, match="two runs"):
        history(a_run(1, {"Resize": 1e-3}))
    with pytest.raises(BenchError, match="run-1 is named twice"):
        history(a_run(1, {"Resize": 1e-3}), a_run(1, {"Resize": 1e-3}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for day in (1, 2):
        bundle = a_run(day, {"Resize": day * 1e-3})
        commit_bundle(bundle, tmp_path / "runs" / bundle.run_id)
    (tmp_path / "runs" / "unfinished").mkdir()
    return tmp_path / "runs"


def test_a_folder_of_runs_stands_for_the_committed_ones_in_it(folder: Path) -> None:
    assert len(find_runs([folder])) == 2
    assert len(find_runs([folder, folder / "run-1"])) == 2
    with pytest.raises(BenchError, match="neither"):
        find_runs([folder / "unfinished"])


def test_the_command_prints_and_writes(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "history.md"
    assert main(["history", str(folder), "--format", "md,csv", "--output", str(out)]) == ExitCode.OK
    assert out.read_text() == capsys.readouterr().out
    assert out.with_suffix(".csv").read_text().count("\n") == 3
    assert main(["history", str(folder), "--last", "0"]) == ExitCode.USAGE
    assert main(["history", str(folder / "run-1")]) == ExitCode.NOTHING_COMPARABLE
