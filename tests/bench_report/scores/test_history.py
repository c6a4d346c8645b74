"""The same scores over many runs."""

import csv
import io
from pathlib import Path

import pytest
from bench_core.bundle import load_bundle
from bench_core.cli import main
from bench_core.errors import BenchError, ExitCode
from bench_report.scores.compare import Rules
from bench_report.scores.history import ScoreHistory, build_score_history, to_csv, to_markdown

from tests.bench_report.factory import commit_bundle, make_bundle, make_result
from tests.bench_report.score_factory import Scored, commit_scores, make_scored, not_scored, with_data


def history(tmp_path: Path, *runs: list[Scored]) -> ScoreHistory:
    bundles = [
        load_bundle(
            commit_scores(tmp_path / f"r{day}", found, run_id=f"r{day}", created_at=f"2026-12-{day:02d}T05:00:00+00:00")
        )
        for day, found in enumerate(runs, 1)
    ]
    return build_score_history(reversed(bundles), Rules())


def test_steps_are_marked_against_the_run_before_that_has_the_score(tmp_path: Path) -> None:
    found = history(
        tmp_path, [make_scored("a", 0.1)], [make_scored("b", 0.1)], [make_scored("a", 0.5)], [make_scored("a", 0.1)]
    )
    text = to_markdown(found, Rules(), last=8)
    (row,) = (line for line in text.splitlines() if line.startswith("| a energy\\_mae"))
    first, second, third, fourth = (cell.strip() for cell in row.split("|")[2:6])
    assert "▲" not in first + second
    assert second == "–"
    assert third.endswith("▲")
    assert fourth.endswith("▼")
    assert "a energy\\_mae, run 3: worse than run 1 by +" in text
    assert "better than run 3" in text


def test_only_the_newest_runs_are_columns_and_the_csv_has_all(tmp_path: Path) -> None:
    found = history(tmp_path, *([make_scored("a", 0.1 * (i + 1))] for i in range(3)))
    head = next(line for line in to_markdown(found, Rules(), last=2).splitlines() if line.startswith("| model"))
    assert [cell.strip() for cell in head.split("|")[2:-1]] == ["run 2", "run 3"]
    lines = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert [(line["run_id"], line["metric"]) for line in lines[:3]] == [(f"r{i}", "energy_mae") for i in (1, 2, 3)]
    assert lines[1]["previous_run_id"] == "r1"
    assert lines[1]["verdict"] == "worse"


def test_other_conditions_are_told_and_not_judged(tmp_path: Path) -> None:
    found = history(tmp_path, [make_scored("a", 0.1)], [with_data(make_scored("a", 0.5), zero="a table")])
    text = to_markdown(found, Rules(), last=8)
    assert "≠" in next(line for line in text.splitlines() if line.startswith("| a energy"))
    assert "zero of energies: nothing added (run r1), a table (run r2)" in text


def test_a_model_that_failed_shows_its_status(tmp_path: Path) -> None:
    text = to_markdown(history(tmp_path, [make_scored("a")], [not_scored("a")]), Rules(), last=8)
    assert "| error |" in " ".join(next(line for line in text.splitlines() if line.startswith("| a energy")).split())


def test_one_run_is_no_history(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="two runs or more") as error:
        history(tmp_path, [make_scored("a")])
    assert error.value.code == ExitCode.NOTHING_COMPARABLE


def test_the_command_takes_a_folder_of_score_runs_and_refuses_both_kinds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        commit_scores(tmp_path / "runs" / name, [make_scored("a")], run_id=name)
    assert main(["history", str(tmp_path / "runs")]) == 0
    assert "# History of scores" in capsys.readouterr().out
    commit_bundle(make_bundle([make_result("ant", {"Resize": 1e-3})], "speeds"), tmp_path / "runs/speeds")
    assert main(["history", str(tmp_path / "runs")]) == ExitCode.USAGE
    assert "histories of their own" in capsys.readouterr().err
