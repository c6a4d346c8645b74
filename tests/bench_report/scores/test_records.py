"""Scores in the CSV and the JSON."""

import csv
import io
import json
from pathlib import Path

import pytest
from bench_core.bundle import load_bundle
from bench_report.report import Options, build_report
from bench_report.writers import to_csv, to_json

from tests.bench_report.factory import make_bundle, make_result
from tests.bench_report.score_factory import commit_scores, make_scored, not_scored


def test_a_line_per_model_and_metric_with_every_number(tmp_path: Path) -> None:
    run = commit_scores(tmp_path / "run", [make_scored("good", 0.1, left_out=[]), make_scored("bad", 1.0)])
    lines = list(csv.DictReader(io.StringIO(to_csv(build_report([load_bundle(run)], Options())))))
    assert [(line["model"], line["metric"]) for line in lines] == [
        ("good", "mae"),
        ("good", "rmse"),
        ("bad", "mae"),
        ("bad", "rmse"),
    ]
    good, bad = lines[0], lines[2]
    assert (good["best"], bad["best"], good["unit"]) == ("True", "False", "meV/atom")
    assert bad["compared_with"] == "good"
    assert float(bad["difference"]) == pytest.approx(float(bad["value"]) - float(good["value"]))
    assert float(bad["p_value_adjusted"]) <= 0.05
    assert (good["sec_per_structure"], good["num_scored"], good["peak_rss_bytes"]) == ("0.01", "40", "500000000")


def test_a_model_that_was_not_scored_has_a_line_with_its_reason(tmp_path: Path) -> None:
    run = commit_scores(tmp_path / "run", [not_scored("broken", "=1+1")])
    (line,) = csv.DictReader(io.StringIO(to_csv(build_report([load_bundle(run)], Options()))))
    assert (line["status"], line["value"], line["metric"]) == ("error", "", "")
    assert line["reason"] == "'=1+1"  # no formula for a spreadsheet


def test_speeds_and_scores_stand_in_one_file_under_the_columns_of_both(tmp_path: Path) -> None:
    run = commit_scores(tmp_path / "run", [make_scored("a")])
    report = build_report([make_bundle([make_result("ant", {"Resize": 1e-3})]), load_bundle(run)], Options())
    lines = list(csv.DictReader(io.StringIO(to_csv(report))))
    assert {line["kind"] for line in lines} == {"transform", "reference", "score"}
    assert {(line["library"], line["model"]) for line in lines} == {("ant", ""), ("", "a")}


def test_fields_and_models_that_are_named_are_shown_alone(tmp_path: Path) -> None:
    run = commit_scores(tmp_path / "run", [make_scored("a"), make_scored("b")])
    report = build_report([load_bundle(run)], Options(columns=("b", "value", "model")))
    lines = list(csv.reader(io.StringIO(to_csv(report))))
    assert lines[0] == ["value", "model"]
    assert {line[1] for line in lines[1:]} == {"b"}


def test_the_json_has_tables_of_scores_with_errors_by_element(tmp_path: Path) -> None:
    run = commit_scores(tmp_path / "run", [make_scored("a"), make_scored("b", 1.0)])
    document = json.loads(to_json(build_report([load_bundle(run)], Options())))
    assert document["tables"] == []
    (table,) = document["scores"]
    assert (table["dataset"], table["device"], table["runs"]) == ("set", "cpu", ["run-s"])
    assert table["by_element"]["symbols"] == ["H", "C", "O"]
    assert len(table["records"]) == 4
    assert any("sign of each group" in text for text in document["how_to_read"])
