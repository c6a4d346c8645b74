"""`bench report`, from committed runs on disk to files."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from bench_core.bundle import COMMITTED, commit
from bench_core.cli import main
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Result
from bench_report.command import newest_run
from bench_report.documents import DETAILS

from tests.bench_report.factory import commit_bundle, make_bundle, make_result, with_conditions
from tests.bench_report.score_factory import commit_scores, make_scored

RESULTS = (make_result("ant", {"Resize": 1e-3}), make_result("mole", {"Resize": 2e-3}))


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a matrix, documents and no run; the current folder."""
    (tmp_path / "matrix.toml").touch()
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("<!-- results:begin summary -->\n<!-- results:end summary -->\n")
    (tmp_path / DETAILS).write_text("<!-- results:begin tables -->\n<!-- results:end tables -->\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def a_run(root: Path, name: str, *results: Result, day: int = 1) -> Path:
    bundle = make_bundle(results or RESULTS, name, created_at=f"2026-12-{day:02d}T05:00:00+00:00")
    return commit_bundle(bundle, root / "results/runs" / name)


def test_a_run_becomes_tables_in_every_format(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(checkout, "one")
    assert main(["report", str(run)]) == 0
    out = capsys.readouterr().out
    for name in ("results.md", "results.csv", "results.json"):
        path = checkout / "results/report" / name
        assert path.is_file()
        assert str(path) in out
    assert "ant in 1, mole in 0" in out
    assert "run one" in out


def test_without_a_folder_the_run_made_last_is_reported_whenever_it_was_copied(checkout: Path) -> None:
    a_run(checkout, "a-newer", day=2)
    older = a_run(checkout, "z-older", day=1)
    os.utime(older / COMMITTED)
    unfinished = checkout / "results/runs/unfinished"
    unfinished.mkdir()
    assert main(["report", "--format", "json"]) == 0
    assert json.loads((checkout / "results/report/results.json").read_text())["runs"] == ["a-newer"]
    assert not (checkout / "results/report/results.md").exists()


RESULT = "image-rgb/ant_micro_results.json"


def wrong_type(path: Path) -> None:
    data = json.loads(path.read_text())
    data["measurements"]["Resize"]["preflight_sec"] = "<b>soon</b>"
    path.write_text(json.dumps(data))


def a_hundred_megabytes(path: Path) -> None:
    with path.open("ab") as stream:
        stream.truncate(100_000_000)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (wrong_type, "Expected `float | null`, got `str` - at `$.measurements[...].preflight_sec`"),
        (a_hundred_megabytes, "100 MB is larger than any result we write (67 MB); it was not read"),
        (cut_off, "not valid JSON"),
    ],
)
def test_a_result_that_is_none_of_ours_is_one_sentence_and_no_page_however_its_hashes_agree(
    checkout: Path, capsys: pytest.CaptureFixture[str], harm: Callable[[Path], None], said: str
) -> None:
    run = a_run(checkout, "one")
    assert main(["report"]) == 0
    page = (checkout / "results/report/results.html").read_bytes()
    harm(run / RESULT)
    commit(run, "one", "2026-12-02T05:00:00+00:00")
    capsys.readouterr()
    assert main(["report"]) == ExitCode.BUNDLE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"bench: {run / RESULT}: ") and shown.err.count("\n") == 1
    assert said in shown.err
    assert (checkout / "results/report/results.html").read_bytes() == page


def test_without_any_run_there_is_a_remedy(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == ExitCode.BUNDLE
    assert "make bench" in capsys.readouterr().err
    with pytest.raises(BenchError, match="no committed run"):
        newest_run(checkout / "results/runs")


def test_two_runs_are_put_into_one_table(checkout: Path) -> None:
    one, other = a_run(checkout, "one", RESULTS[0]), a_run(checkout, "two", RESULTS[1])
    assert main(["report", str(one), str(other), "--output", "out", "--format", "md"]) == 0
    assert "The columns come from different runs" in (checkout / "out/results.md").read_text()


def test_a_chosen_baseline_unit_and_copy_share_reach_the_table(checkout: Path) -> None:
    a_run(checkout, "one")
    assert main(["report", "--baseline", "mole", "--unit", "ms", "--copy-share", "--format", "md"]) == 0
    text = (checkout / "results/report/results.md").read_text()
    for title in ("Time, ms per image", "Speed over mole", "Speed over that of a plain copy"):
        assert title in text


def test_documents_are_replaced_when_asked_and_the_second_time_are_the_same(checkout: Path) -> None:
    a_run(checkout, "one")
    main(["report"])
    assert "Resize" not in (checkout / "README.md").read_text()
    main(["report", "--docs"])
    texts = [(checkout / name).read_text() for name in ("README.md", DETAILS)]
    assert all("| Resize" in text for text in texts)
    main(["report", "--docs"])
    assert texts == [(checkout / name).read_text() for name in ("README.md", DETAILS)]


def test_a_missing_marker_is_named_and_ends_with_usage(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_run(checkout, "one")
    (checkout / "README.md").write_text("no marker")
    assert main(["report", "--docs"]) == ExitCode.USAGE
    error = capsys.readouterr().err
    assert "README.md" in error
    assert "results:begin summary" in error


def test_a_mixture_ends_with_failed_unless_allowed(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(checkout, "one", RESULTS[0], with_conditions(RESULTS[1], threads_asked=2))
    assert main(["report", str(run)]) == ExitCode.FAILED
    assert "threads asked for: 1 (ant), 2 (mole)" in capsys.readouterr().err
    assert not (checkout / "results/report").exists()
    assert main(["report", str(run), "--allow-mixed"]) == 0
    assert "threads asked for: 1 (ant), 2 (mole)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--unit", "img"], "img/s"),
        (["--format", "mdd"], "'md'"),
        (["--baseline", "antt"], "'ant'"),
        (["--docs", "--allow-mixed"], "--allow-mixed"),
        (["--check", "--allow-mixed"], "--allow-mixed"),
        (["--check", "--docs"], "--check only looks"),
        (["--check", "--output", "x"], "--output"),
        (["--docs", "--columns", "ant"], "--columns"),
        (["--columns", "antt"], "--columns"),
        (["--columns", "median_sec", "--format", "md"], "neither"),
        (["--plots", "pgn"], "'png'"),
        (["--outputs", "x"], "--output"),
    ],
)
def test_a_wrong_option_is_refused_with_what_was_meant(
    checkout: Path, capsys: pytest.CaptureFixture[str], flags: list[str], said: str
) -> None:
    a_run(checkout, "one")
    assert main(["report", *flags]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_a_tampered_run_is_refused(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(checkout, "one")
    (path,) = run.glob("image-rgb/ant_*_results.json")
    path.write_text(path.read_text().replace("1.2.3", "9.9.9"))
    assert main(["report", str(run)]) == ExitCode.BUNDLE
    assert path.name in capsys.readouterr().err


def test_a_report_leaves_the_run_as_it_was(checkout: Path) -> None:
    run = a_run(checkout, "one")
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    main(["report", str(run)])
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_check_ends_with_one_and_names_what_is_outdated_until_it_is_replaced(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_run(checkout, "one")
    assert main(["report", "--check"]) == ExitCode.FAILED
    error = capsys.readouterr().err
    for part in ("run one", "README.md: <!-- results:begin summary -->", f"{DETAILS}: <!-- results:begin tables -->"):
        assert part in error
    assert not (checkout / "results/report").exists()
    main(["report", "--docs", "--plots", "none"])
    assert main(["report", "--check"]) == 0
    a_run(checkout, "two", RESULTS[0], make_result("mole", {"Resize": 9e-3}), day=2)
    assert main(["report", "--check"]) == ExitCode.FAILED
    assert main(["report", "--check", str(checkout / "results/runs/one")]) == 0


def test_charts_are_written_unless_none_are_asked_for(checkout: Path) -> None:
    a_run(checkout, "one")
    main(["report", "--plots", "none", "--format", "csv"])
    assert not (checkout / "results/report/plots").exists()
    main(["report", "--format", "csv", "--plots", "svg"])
    assert sorted(path.name for path in (checkout / "results/report/plots").iterdir()) == [
        "image-rgb-micro-cpu-speed.svg",
        "image-rgb-micro-cpu-throughput.svg",
    ]


def test_chosen_columns_reach_the_files(checkout: Path) -> None:
    a_run(checkout, "one")
    assert main(["report", "--columns", "mole,transform", "--format", "csv,latex", "--plots", "none"]) == 0
    assert (checkout / "results/report/results.csv").read_text().splitlines()[:2] == ["transform", "Resize"]
    assert "ant" not in (checkout / "results/report/results.tex").read_text().split("longtable}", 2)[1]


def a_scored_run(root: Path, name: str, *, day: int = 1) -> Path:
    created = f"2026-12-{day:02d}T05:00:00+00:00"
    return commit_scores(root / "results/scores" / name, [make_scored("m")], run_id=name, created_at=created)


def test_the_newest_run_is_of_either_kind(checkout: Path) -> None:
    def reported() -> list[str]:
        assert main(["report", "--format", "json", "--plots", "none"]) == 0
        found: list[str] = json.loads((checkout / "results/report/results.json").read_text())["runs"]
        return found

    a_run(checkout, "speeds", day=1)
    a_scored_run(checkout, "scores", day=2)
    assert reported() == ["scores"]
    a_run(checkout, "newer", day=3)
    assert reported() == ["newer"]


def test_documents_hold_speeds_and_scores_each_in_their_own_blocks(checkout: Path) -> None:
    speeds, scores = a_run(checkout, "speeds", day=1), a_scored_run(checkout, "scores", day=2)
    for name in ("README.md", DETAILS):
        path = checkout / name
        path.write_text(path.read_text() + "<!-- results:begin scores -->\n<!-- results:end scores -->\n")
    assert main(["report", "--docs", "--plots", "none", str(speeds), str(scores)]) == 0
    for name in ("README.md", DETAILS):
        before, _, after = (checkout / name).read_text().partition("<!-- results:begin scores -->")
        assert "| Resize" in before
        assert "meV/atom" not in before
        assert "meV/atom" in after
        assert "| Resize" not in after
    assert main(["report", "--check", str(speeds), str(scores)]) == 0


def test_runs_of_one_kind_leave_the_other_kinds_blocks_as_they_are(checkout: Path) -> None:
    speeds = a_run(checkout, "speeds")
    readme = checkout / "README.md"
    kept = "<!-- results:begin scores -->\n\nkept\n\n<!-- results:end scores -->\n"
    readme.write_text(readme.read_text() + kept)
    assert main(["report", "--docs", "--plots", "none", str(speeds)]) == 0
    assert readme.read_text().endswith(kept)
    assert main(["report", "--check", str(speeds)]) == 0


def test_a_report_of_scores_is_written_with_charts_and_printed(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = a_scored_run(checkout, "scores")
    assert main(["report", str(scores), "--plots", "svg"]) == 0
    out = capsys.readouterr().out
    assert "set, scores, cpu (run scores)" in out
    assert "energy_mae: m has the best value" in out
    assert (checkout / "results/report/plots/set-scores-cpu-parity-energy.svg").is_file()


@pytest.mark.parametrize("flags", [["--unit", "ms"], ["--baseline", "m"], ["--copy-share"]])
def test_options_about_speeds_are_refused_where_there_are_none(
    checkout: Path, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(a_scored_run(checkout, "scores")), *flags]) == ExitCode.USAGE
    assert f"{flags[0]} does not apply" in capsys.readouterr().err


def test_validate_counts_models_and_scores(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(a_scored_run(checkout, "scores"))]) == 0
    out = capsys.readouterr().out
    assert "models: 1 (1 ok); scores: 2" in out
    assert "measurements" not in out
    assert "derived numbers follow from the predictions" in out
