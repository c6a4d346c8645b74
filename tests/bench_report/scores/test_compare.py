"""Scores of one run against another."""

import json
from pathlib import Path

import pytest
from bench_core.bundle import load_bundle
from bench_core.cli import main
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Status
from bench_report.scores.compare import ComparedScores, Rules, Verdict, compare_scores
from markdown_it import MarkdownIt

from tests.bench_report.factory import commit_bundle, make_bundle, make_result
from tests.bench_report.score_factory import Scored, commit_scores, in_ev, make_scored, not_scored, with_data


def run(tmp_path: Path, name: str, *found: Scored) -> str:
    return str(commit_scores(tmp_path / name, found, run_id=name))


def compared(tmp_path: Path, base: list[Scored], new: list[Scored], *, allow_mixed: bool = False) -> ComparedScores:
    sides = [[load_bundle(Path(run(tmp_path, name, *found)))] for name, found in (("base", base), ("new", new))]
    return compare_scores(*sides, Rules(), allow_mixed=allow_mixed)


def verdicts(found: ComparedScores) -> dict[str, Verdict]:
    return {f"{change.key.model} {change.metric.column}": change.verdict for change in found.changes}


def test_a_model_that_errs_more_is_worse_and_seen_from_the_other_side_better(tmp_path: Path) -> None:
    small, large = [make_scored("a", 0.1)], [make_scored("a", 0.5)]
    worse = compared(tmp_path / "one", small, large)
    assert set(verdicts(worse).values()) == {Verdict.WORSE}
    assert worse.regressed
    better = compared(tmp_path / "two", large, small)
    assert set(verdicts(better).values()) == {Verdict.BETTER}
    assert not better.regressed


def test_more_of_a_share_explained_is_better(tmp_path: Path) -> None:
    found = compared(tmp_path, [make_scored("a", 0.9, names=["r2"])], [make_scored("a", 0.1, names=["r2"])])
    assert verdicts(found) == {"a energy_r2": Verdict.BETTER}


def test_the_same_predictions_are_the_same(tmp_path: Path) -> None:
    found = compared(tmp_path, [make_scored("a")], [make_scored("a")])
    assert set(verdicts(found).values()) == {Verdict.SAME}
    assert not found.regressed


def test_a_change_that_is_small_or_unsure_is_not_called_one(tmp_path: Path) -> None:
    small = compared(tmp_path / "one", [make_scored("a", 0.100)], [make_scored("a", 0.103)])
    assert {change.why for change in small.changes} == {"smaller than what is called a change"}
    unsure = compared(tmp_path / "two", [make_scored("a", 0.1, seed=0)], [make_scored("a", 0.112, seed=5)])
    assert Verdict.WORSE not in verdicts(unsure).values()
    assert Verdict.INCONCLUSIVE in verdicts(unsure).values()


def test_energies_of_another_zero_are_not_compared(tmp_path: Path) -> None:
    found = compared(
        tmp_path, [make_scored("a", average=True)], [make_scored("a", 1.0, average=True, left_out=range(10))]
    )
    assert set(verdicts(found).values()) == {Verdict.INCONCLUSIVE}
    assert all("zeros differ" in (change.why or "") for change in found.changes)


def test_other_data_of_the_same_name_are_not_compared(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"fingerprint 0123456789ab .*fingerprint ffffffffffff") as error:
        compared(tmp_path, [make_scored("a")], [with_data(make_scored("a"), fingerprint="f" * 64)])
    assert error.value.code == ExitCode.NOTHING_COMPARABLE


def test_another_zero_of_energies_is_refused_unless_allowed(tmp_path: Path) -> None:
    new = [with_data(make_scored("a", 0.5), zero="a table")]
    with pytest.raises(BenchError, match=r"zero of energies: nothing added \(run base\), a table \(run new\)"):
        compared(tmp_path / "one", [make_scored("a")], new)
    assert "zero of energies" in compared(tmp_path / "two", [make_scored("a")], new, allow_mixed=True).mixed[0]


def test_a_model_that_broke_or_lost_structures_or_a_value_fails_the_gate(tmp_path: Path) -> None:
    base = [make_scored(name) for name in ("breaks", "fewer", "nan", "gone")]
    new = [
        not_scored("breaks"),
        make_scored("fewer", left_out=[1]),
        make_scored("nan", nonfinite=[2]),
        make_scored("new"),
    ]
    found = compared(tmp_path, base, new)
    assert {turn.key.model: turn.fails for turn in found.turned} == {"breaks": True, "fewer": True, "nan": True}
    assert [key.model for key in found.missing] == ["gone"]
    assert [key.model for key in found.added] == ["new"]
    assert found.regressed
    back = compared(tmp_path / "back", new[:1], base[:1])
    assert [turn.fails for turn in back.turned] == [False]


def test_a_score_in_another_unit_is_told_and_not_compared(tmp_path: Path) -> None:
    found = compared(tmp_path, [make_scored("a", names=["mae"])], [in_ev(make_scored("a"))])
    assert found.changes == ()
    assert "was in meV/atom" in found.turned[0].told


def test_the_command_prints_markdown_and_fails_only_when_asked_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = run(tmp_path, "base", make_scored("a", 0.1)), run(tmp_path, "new", make_scored("a", 0.5))
    assert main(["compare", *runs]) == ExitCode.OK
    printed = capsys.readouterr().out
    assert "2 worse, 0 better, 0 the same, 0 inconclusive, of 2 scores compared." in printed
    page = MarkdownIt("commonmark").enable("table").render(printed)
    assert "<strong>worse</strong>" in page
    assert "toy 1.2.3, checkpoint v1, the same in both" in page
    assert main(["compare", *runs, "--fail-on-regression"]) == ExitCode.FAILED
    assert main(["compare", *reversed(runs), "--fail-on-regression"]) == ExitCode.OK


def test_the_command_writes_json(tmp_path: Path) -> None:
    runs = run(tmp_path, "base", make_scored("a", 0.1)), run(tmp_path, "new", make_scored("a", 0.5))
    assert main(["compare", *runs, "--format", "json", "--output", str(tmp_path / "out.json")]) == ExitCode.OK
    document = json.loads((tmp_path / "out.json").read_text())
    assert (document["kind"], document["regressed"]) == ("scores", True)
    assert document["changes"][0]["verdict"] == "worse"


def test_speeds_and_scores_have_nothing_to_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = run(tmp_path, "scores", make_scored("a"))
    speeds = str(commit_bundle(make_bundle([make_result("ant", {"Resize": 1e-3})], "speeds"), tmp_path / "speeds"))
    assert main(["compare", scores, speeds]) == ExitCode.NOTHING_COMPARABLE
    assert "BASE holds scores and NEW holds speeds" in capsys.readouterr().err
    assert main(["compare", f"{scores},{speeds}", scores]) == ExitCode.USAGE
    assert "compared apart" in capsys.readouterr().err


def test_a_control_does_not_apply_to_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = run(tmp_path, "base", make_scored("a")), run(tmp_path, "new", make_scored("a"))
    assert main(["compare", *runs, "--control", "a"]) == ExitCode.USAGE
    assert "--control does not apply" in capsys.readouterr().err


def test_nothing_with_a_value_on_both_sides_ends_with_its_own_code(tmp_path: Path) -> None:
    runs = run(tmp_path, "base", not_scored("a")), run(tmp_path, "new", not_scored("a", status=Status.CRASHED))
    assert main(["compare", *runs]) == ExitCode.NOTHING_COMPARABLE


def test_a_run_is_not_compared_with_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = run(tmp_path, "base", make_scored("a"))
    assert main(["compare", one, one]) == ExitCode.USAGE
    assert "is named twice" in capsys.readouterr().err
