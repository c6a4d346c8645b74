"""`bench compare`, from runs on disk to exit codes, Markdown and JSON."""

import json
from pathlib import Path

import pytest
from bench_core.cli import main
from bench_core.errors import ExitCode
from bench_core.results import Measurement, Result, Status
from markdown_it import MarkdownIt

from tests.bench_report.factory import commit_bundle, make_bundle, make_result, not_measured, with_conditions


def a_run(folder: Path, name: str, cells: dict[str, Measurement | float], version: str = "1.2.3") -> str:
    return write(folder, name, make_result("ant", cells, versions={"ant": version, "numpy": "2.4.6"}))


def write(folder: Path, name: str, *results: Result) -> str:
    return str(commit_bundle(make_bundle(results, name), folder / name))


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """Resize takes twice the time in the second."""
    return a_run(tmp_path, "a", {"Resize": 1e-3, "Pad": 1e-3}), a_run(tmp_path, "b", {"Resize": 2e-3, "Pad": 1e-3})


def test_a_regression_is_printed_and_fails_only_when_asked_to(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *runs]) == ExitCode.OK
    printed = capsys.readouterr().out
    assert "1 slower, 0 faster, 1 inconclusive, of 2 cells compared" in printed
    assert "**slower**" in printed
    assert main(["compare", *runs, "--fail-on-regression"]) == ExitCode.FAILED
    assert main(["compare", *reversed(runs), "--fail-on-regression"]) == ExitCode.OK


def test_nothing_comparable_ends_with_its_own_code_and_still_lists_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = a_run(tmp_path, "a", {"Resize": 1e-3}), a_run(tmp_path, "b", {"Pad": 1e-3})
    assert main(["compare", *runs, "--fail-on-regression"]) == 10
    printed = capsys.readouterr()
    assert "**No longer there**" in printed.out
    assert "no cell has a number on both sides" in printed.err


def test_different_conditions_end_with_the_same_code_unless_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = make_result("ant", {"Resize": 1e-3})
    runs = write(tmp_path, "a", one), write(tmp_path, "b", with_conditions(one, isolation="spawn"))
    assert main(["compare", *runs]) == ExitCode.NOTHING_COMPARABLE
    assert "isolation: fork (run a), spawn (run b)" in capsys.readouterr().err
    assert main(["compare", *runs, "--allow-mixed"]) == ExitCode.OK
    assert "> Measured under different conditions: isolation: fork" in capsys.readouterr().out


def test_versions_are_in_the_heading_and_the_unchanged_library_is_offered_as_a_control(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mole = make_result("mole", {"Resize": 1e-3})
    runs = [
        write(tmp_path, version, make_result("ant", {"Resize": 1e-3}, versions={"ant": version}), mole)
        for version in ("1.0", "2.0")
    ]
    assert main(["compare", *runs]) == ExitCode.OK
    printed = capsys.readouterr().out
    assert "ant: ant 1.0 → ant 2.0" in printed
    assert "Of the same version in both: mole." in printed
    assert main(["compare", *runs, "--control", "mole"]) == ExitCode.OK
    printed = capsys.readouterr().out
    assert "of 1 cells compared" in printed
    assert "Relative to mole" in printed
    assert "a control, not judged" in printed


def test_output_is_written_in_every_format_and_is_what_was_printed(
    runs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out" / "change.md"
    assert main(["compare", *runs, "--format", "md,json", "--output", str(out)]) == ExitCode.OK
    assert out.read_text() == capsys.readouterr().out
    document = json.loads(out.with_suffix(".json").read_text())
    assert document["regressed"] is True
    assert [change["verdict"] for change in document["changes"]] == ["slower", "inconclusive"]
    assert document["base"]["versions"] == {"ant": {"ant": "1.2.3", "numpy": "2.4.6"}}


def test_what_became_slow_is_told_with_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = not_measured(Status.SLOW, "too slow", preflight_sec=0.12)
    runs = a_run(tmp_path, "a", {"Resize": 1e-3, "Pad": 1e-3}), a_run(tmp_path, "b", {"Resize": 1e-3, "Pad": slow})
    assert main(["compare", *runs, "--fail-on-regression"]) == ExitCode.FAILED
    shown = capsys.readouterr().out
    assert "1 became slow, by their preflight: measure with --disable-slow-skip" in shown
    assert "ant Pad (image-rgb, micro, cpu): ok → slow: too slow (a regression)" in shown


def test_json_alone_is_printed(runs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *runs, "--format", "json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["rules"]["min_effect"] == pytest.approx(0.05)


def test_a_larger_least_effect_is_heard(runs: tuple[str, str]) -> None:
    assert main(["compare", *runs, "--fail-on-regression", "--min-effect", "99"]) == ExitCode.FAILED
    a, b = runs
    assert main(["compare", b, a, "--fail-on-regression", "--min-effect", "99"]) == ExitCode.OK


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--format", "mdd"], "'md'"),
        (["--format", ","], "no format"),
        (["--min-effect", "0"], "--min-effect 0"),
        (["--false-calls", "100"], "--false-calls 100"),
        (["--control", "antt"], "'ant'"),
    ],
)
def test_a_wrong_option_is_refused_with_what_was_meant(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str], flags: list[str], said: str
) -> None:
    assert main(["compare", *runs, *flags]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_nothing_is_written_into_a_committed_run(runs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *runs, "--output", f"{runs[0]}/x.md"]) == ExitCode.OUTPUT
    assert main(["compare", *runs, "--output", str(Path(runs[0]).parent)]) == ExitCode.OUTPUT
    assert "is a folder" in capsys.readouterr().err


def test_what_a_result_file_says_can_break_no_table_and_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "<script>alert(1)</script>|x\n</details>"
    runs = (
        a_run(tmp_path, "a", {evil: 1e-3, "Pad": 1e-3}, version=evil),
        a_run(tmp_path, "b", {evil: 2e-3, "Pad": not_measured(Status.ERROR, evil)}, version="2"),
    )
    assert main(["compare", *runs]) == ExitCode.OK
    tokens = MarkdownIt("commonmark").enable("table").parse(capsys.readouterr().out)
    assert [t for t in tokens if t.type == "html_block"] == []
    assert not [c for t in tokens for c in t.children or () if c.type == "html_inline"]
    assert sum(t.type == "tr_open" for t in tokens) == 2
