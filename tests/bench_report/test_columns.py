"""Which columns a report shows."""

import csv
import io
import json

import pytest
from bench_core.errors import BenchError
from bench_report.report import Options, build_report
from bench_report.writers import to_csv, to_json

from tests.bench_report.factory import make_bundle, make_result

RESULTS = [make_result(name, {"Resize": sec}) for name, sec in (("ant", 1e-3), ("bee", 2e-3), ("cat", 3e-3))]


def test_libraries_that_are_named_stand_alone_and_are_compared_among_themselves() -> None:
    report = build_report([make_bundle(RESULTS)], Options(columns=("cat", "bee")))
    assert [column.library for column in report.parts[0].section.columns] == ["bee", "cat"]
    assert report.parts[0].rows[0].winner == "bee"


def test_fields_that_are_named_are_the_columns_of_the_csv_and_of_the_json_records() -> None:
    report = build_report([make_bundle(RESULTS)], Options(columns=("median_sec", "library", "ant")))
    lines = list(csv.reader(io.StringIO(to_csv(report))))
    assert lines[0] == ["median_sec", "library"]
    assert {line[1] for line in lines[1:]} == {"ant"}
    (table,) = json.loads(to_json(report))["tables"]
    assert {tuple(record) for record in table["records"]} == {("median_sec", "library")}


def test_an_unknown_column_is_refused_with_what_was_meant() -> None:
    with pytest.raises(BenchError, match=r"--columns.*'median'.*'median_sec'"):
        build_report([make_bundle(RESULTS)], Options(columns=("median",)))


def test_a_baseline_that_is_not_shown_is_refused() -> None:
    with pytest.raises(BenchError, match="--baseline"):
        build_report([make_bundle(RESULTS)], Options(columns=("ant", "bee"), baseline="cat"))
