"""The formats of a report."""

import csv
import io
import json
from pathlib import Path

import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Result, Status
from bench_report.report import Options, Report, build_report
from bench_report.writers import WRITERS, to_csv, to_json, write_report

from tests.bench_report.factory import commit_bundle, make_bundle, make_result, not_measured


def a_report(*results: Result) -> Report:
    return build_report(
        [make_bundle(results or [make_result("ant", {"Resize": 1e-3}), make_result("mole", {"Resize": 2e-3})])],
        Options(),
    )


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_csv_is_tidy() -> None:
    found = read_csv(to_csv(a_report()))
    assert [(row["library"], row["transform"]) for row in found][:2] == [("ant", "Resize"), ("mole", "Resize")]
    assert float(found[0]["items_per_sec"]) > float(found[1]["items_per_sec"])
    assert found[0]["winner"] == "True"
    assert found[0]["ratio"] == ""


def test_the_json_holds_the_same_numbers_as_the_csv() -> None:
    report = a_report()
    (table,) = json.loads(to_json(report))["tables"]
    lines = read_csv(to_csv(report))
    assert len(table["records"]) == len(lines)
    for record, line in zip(table["records"], lines, strict=True):
        assert {key: "" if value is None else str(value) for key, value in record.items()} == line


def test_the_json_carries_runs_conditions_and_highlights() -> None:
    found = json.loads(to_json(a_report()))
    assert found["json_version"] == 1
    assert found["runs"] == ["run-a"]
    (table,) = found["tables"]
    assert table["libraries"] == {"ant": "1.2.3", "mole": "1.2.3"}
    assert table["differences"] == []
    assert "ant in 1, mole in 0" in table["highlights"][0]


@pytest.mark.parametrize("text", ['a,b"c"\nd', "=HYPERLINK(1)", "+1", "-1", "@x", "\t=1"])
def test_text_of_a_result_is_no_new_line_and_no_formula_of_the_csv(text: str) -> None:
    report = a_report(make_result("ant", {"Resize": not_measured(Status.ERROR, text), text: 1e-3}))
    rows = read_csv(to_csv(report))
    assert len(rows) == 4
    for cell in (rows[0]["reason"], rows[1]["transform"]):
        assert cell.removeprefix("'") == text
        assert not cell.startswith(("=", "+", "-", "@", "\t"))


def test_one_file_per_format_is_written_and_replaced(tmp_path: Path) -> None:
    for _ in range(2):
        paths = write_report(a_report(), list(WRITERS), tmp_path / "out")
        assert [path.name for path in paths] == [f"results.{ending}" for ending in ("md", "csv", "json", "html", "tex")]
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(path.name for path in paths)


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"--format.*'jsn'.*'json'"):
        write_report(a_report(), ["md", "jsn"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("below", [".", "report", "image-rgb/report"])
def test_nothing_is_written_into_a_committed_run(tmp_path: Path, below: str) -> None:
    run = commit_bundle(make_bundle([make_result("ant", {"Resize": 1e-3})]), tmp_path / "run")
    before = sorted(run.rglob("*"))
    with pytest.raises(BenchError, match="committed run") as caught:
        write_report(a_report(), ["md"], run / below)
    assert caught.value.code == ExitCode.OUTPUT
    assert sorted(run.rglob("*")) == before


def a_package(root: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """Somebody's installed package that offers the format `lines`."""
    (root / "somebodys_writers.py").write_text(
        "def lines(report):\n    return b'\\n'.join(p.section.name.encode() for p in report.parts)\n"
        "def list_(report):\n    return 'text'\n"
        "list_.suffix = 'txt'\n"
    )
    metadata = root / "somebody-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[bench.writers]\nlines = {target}\nmd = {target}\n")
    monkeypatch.syspath_prepend(str(root))


def test_a_format_of_somebody_elses_package_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_package(tmp_path, monkeypatch, "somebodys_writers:lines")
    ours, theirs = write_report(a_report(), ["md", "lines"], tmp_path / "out")
    assert ours.read_text().startswith("# Results")
    assert theirs.name == "results.lines"
    assert theirs.read_text() == "image-rgb, micro, cpu"


def test_a_format_may_say_its_files_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_package(tmp_path, monkeypatch, "somebodys_writers:list_")
    assert [path.name for path in write_report(a_report(), ["lines"], tmp_path / "out")] == ["results.txt"]


def test_a_format_that_cannot_be_loaded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_package(tmp_path, monkeypatch, "somebodys_missing:lines")
    with pytest.raises(BenchError, match=r"format 'lines' \(somebodys_missing:lines\)") as caught:
        write_report(a_report(), ["lines"], tmp_path / "out")
    assert caught.value.code == ExitCode.ENVIRONMENT
