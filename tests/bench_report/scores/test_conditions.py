"""What rows of a table must share, and what a reader has to know."""

from pathlib import Path

import msgspec
import pytest
from bench_core.errors import BenchError, ExitCode
from bench_report.scores.conditions import differences, notices, refuse_mixtures
from bench_report.scores.sections import Entry, ScoreSection, score_sections

from tests.bench_report.factory import CONDITIONS, ENVIRONMENT
from tests.bench_report.score_factory import Scored, make_scored, not_scored, score_bundle, with_data


def section(tmp_path: Path, *found: Scored, **changes: object) -> ScoreSection:
    return score_sections([score_bundle(tmp_path / "run", found, **changes)])[0]  # type: ignore[arg-type]


def test_rows_alike_have_no_difference_and_no_notice(tmp_path: Path) -> None:
    found = section(tmp_path, make_scored("a"), make_scored("b"), not_scored("c"))
    assert differences(found) == ()
    assert notices(found) == ()
    refuse_mixtures([found])


def test_another_zero_of_energies_is_refused_and_named(tmp_path: Path) -> None:
    found = section(tmp_path, make_scored("a"), with_data(make_scored("b"), zero="a table of atoms"))
    with pytest.raises(BenchError, match=r"zero of energies: nothing added \(a\), a table of atoms \(b\)") as error:
        refuse_mixtures([found])
    assert error.value.code == ExitCode.FAILED
    assert "no model is called best" in notices(found)[0]


def test_a_model_of_another_level_of_theory_is_told_over_the_table(tmp_path: Path) -> None:
    found = section(tmp_path, make_scored("a"), make_scored("b", seed=1, level_of_theory="r2SCAN (MP-r2SCAN)"))
    (told,) = notices(found)
    assert "labels of PBE, and charged for the difference between the two: b (r2SCAN (MP-r2SCAN))" in told


def test_costs_under_other_conditions_are_a_notice_and_no_refusal(tmp_path: Path) -> None:
    slow = make_scored("b", conditions=msgspec.structs.replace(CONDITIONS, threads_asked=2))
    found = section(tmp_path, make_scored("a"), slow)
    refuse_mixtures([found])
    assert notices(found) == ("Times and memory are not comparable. threads: 1 (a), 2 (b)",)


def test_a_trusted_checkpoint_and_uncommitted_code_are_told(tmp_path: Path) -> None:
    found = section(tmp_path, make_scored("a", trusted=True), environment={**ENVIRONMENT, "git_dirty": True})
    told = " ".join(notices(found))
    assert "allowed to run code of their own: a" in told
    assert "uncommitted changes" in told


def test_different_commits_are_told(tmp_path: Path) -> None:
    one = score_bundle(tmp_path / "a", [make_scored("a")], run_id="a")
    other = score_bundle(tmp_path / "b", [make_scored("b")], run_id="b", environment={"git_commit": "beef" * 10})
    (found,) = score_sections([one, other])
    assert any("different commits of bench" in told for told in notices(found))


def test_an_entry_names_the_package_of_its_family(tmp_path: Path) -> None:
    entry: Entry = section(tmp_path, make_scored("a")).entries[0]
    assert entry.version == "toy 1.2.3"
