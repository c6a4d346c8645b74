"""Scores in Markdown, LaTeX, formats of others, and the environment table."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from bench_core.bundle import load_bundle
from bench_report import latex, markdown, writers
from bench_report.environments import environment_table
from bench_report.report import Options, Report, build_report
from markdown_it import MarkdownIt

from tests.bench_report.factory import make_bundle, make_result
from tests.bench_report.score_factory import commit_scores, make_scored, not_scored

HOSTILE = r"<b>|x*_\evil{}$ \input{/etc/passwd}"


def a_report(tmp_path: Path) -> Report:
    found = [make_scored("good", 0.1), make_scored(HOSTILE, 1.0), not_scored("broken", HOSTILE)]
    return build_report([load_bundle(commit_scores(tmp_path / "run", found))], Options())


def test_markdown_has_the_three_tables_the_footnotes_and_the_environment(tmp_path: Path) -> None:
    text = markdown.render(a_report(tmp_path))
    for title in (
        "## set, scores, cpu",
        "**Errors**",
        "**Difference to the best of the column, in pairs**",
        "**Models**",
    ):
        assert title in text
    assert "| packages of mlip\\_toy" in text
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert page.count("<table>") == 4
    assert "<b>|" not in page
    assert {row.count("<td") for row in page.split("<tr>") if "broken" in row} == {6, 3, 9}


def test_latex_escapes_what_would_run(tmp_path: Path) -> None:
    text = latex.render(a_report(tmp_path))
    assert r"\input{/etc" not in text
    assert text.count(r"\begin{longtable}") == 3
    assert r"\ensuremath{\neq}" in text


def test_a_format_of_others_gets_the_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = EntryPoint("models", "tests.bench_report.scores.test_formats:list_models", "bench.writers")
    monkeypatch.setattr(writers, "entry_points", lambda group: [offered])
    (path,) = writers.write_report(a_report(tmp_path), ["models"], tmp_path / "out")
    assert path.read_text() == f"good,{HOSTILE},broken"


def list_models(report: Report) -> str:
    return ",".join(entry.label for part in report.score_parts for entry in part.section.entries)


def test_the_environment_table_holds_runs_of_both_kinds(tmp_path: Path) -> None:
    scored = load_bundle(commit_scores(tmp_path / "run", [make_scored("a")]))
    report = build_report([make_bundle([make_result("ant", {"Resize": 1e-3})]), scored], Options())
    table = environment_table(report.sections)
    rows = {label: [cell.text for cell in cells] for label, cells in table.rows}
    assert table.heads == ("property", "run-a", "run-s")
    assert rows["packages of mlip_toy"] == ["–", "toy 1.2.3, torch 2.15.0"]
    assert rows["structures"] == ["–", "40 of set, fingerprint 0123456789ab"]
    assert rows["items"][1] == "–"
    assert rows["lock of mlip_toy"] == ["–", "1" * 12]
