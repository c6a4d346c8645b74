"""The sides of a comparison: their cells, and conditions that must be the same."""

from pathlib import Path

import msgspec
import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Result, Status
from bench_report.compare import Compared, compare_sides
from bench_report.regression import CellKey, Rules
from bench_report.sides import load_side, make_side, pairs_of

from tests.bench_report.factory import (
    CONDITIONS,
    commit_bundle,
    make_bundle,
    make_result,
    not_measured,
    with_conditions,
)

ANT = make_result("ant", {"Resize": 1e-3, "Pad": 1e-3})
RESIZE = CellKey("image-rgb", "micro", "cpu", "ant", "Resize")


def compared(base: Result, new: Result, *, allow_mixed: bool = False) -> Compared:
    sides = make_side("BASE", [make_bundle([base], "a")]), make_side("NEW", [make_bundle([new], "b")])
    return compare_sides(*sides, Rules(), allow_mixed=allow_mixed)


def test_a_different_condition_is_refused_by_its_name_with_the_runs() -> None:
    with pytest.raises(BenchError) as caught:
        compared(ANT, with_conditions(ANT, threads_asked=2))
    assert caught.value.code == ExitCode.NOTHING_COMPARABLE
    assert "threads asked for: 1 (run a), 2 (run b); of ant" in str(caught.value)
    assert "--allow-mixed" in str(caught.value)


def test_a_different_condition_that_is_allowed_is_kept_to_be_told() -> None:
    found = compared(ANT, with_conditions(ANT, python="CPython 3.12.1"), allow_mixed=True)
    assert found.mixed == ("Python: CPython 3.11.7 (run a), CPython 3.12.1 (run b); of ant",)
    assert len(found.changes) == 2


def test_the_version_of_the_measured_library_may_change_and_that_of_another_package_may_not() -> None:
    new = with_conditions(ANT, shared_versions={**CONDITIONS.shared_versions, "pillow": "14.0.0"})
    own = msgspec.structs.replace(new, versions={"pillow": "14.0.0"})
    assert compared(msgspec.structs.replace(ANT, versions={"pillow": "13.0.0"}), own).mixed == ()
    with pytest.raises(BenchError, match=r"version of pillow: 13\.0\.0 \(run a\), 14\.0\.0 \(run b\)"):
        compared(ANT, new)


def test_a_different_lock_is_told_and_not_refused() -> None:
    found = compared(ANT, with_conditions(ANT, lock_sha256="2" * 64))
    assert found.mixed == ()
    assert ["lock of torch_stack" in text for text in found.told] == [True]


def test_conditions_of_a_library_that_only_one_side_has_do_not_matter() -> None:
    base = make_side("BASE", [make_bundle([ANT, with_conditions(make_result("mole", {"Resize": 1e-3}), cpu="x")], "a")])
    found = compare_sides(base, make_side("NEW", [make_bundle([ANT], "b")]), Rules())
    assert [key.library for key, _ in found.missing] == ["mole"]


def test_several_runs_of_a_side_are_put_together_oldest_first() -> None:
    late = make_bundle([ANT], "a", created_at="2026-12-02T05:00:00+00:00")
    side = make_side("BASE", [late, make_bundle([ANT, make_result("mole", {"Resize": 1e-3})], "b")])
    assert [bundle.run_id for bundle in side.bundles] == ["b", "a"]
    assert len(side.entries()[RESIZE].runs) == 2


def test_a_cell_whose_newest_status_is_not_ok_has_no_number() -> None:
    broken = make_result("ant", {"Resize": not_measured(Status.ERROR, "ValueError")})
    late = make_bundle([broken], "b", created_at="2026-12-02T05:00:00+00:00")
    entry = make_side("BASE", [make_bundle([ANT], "a"), late]).entries()[RESIZE]
    assert (entry.status, entry.runs) == (Status.ERROR, {})


def test_a_run_is_not_compared_with_itself() -> None:
    side = make_side("BASE", [make_bundle([ANT], "a")])
    with pytest.raises(BenchError, match="run a is named twice"):
        compare_sides(side, side, Rules())
    with pytest.raises(BenchError, match="run a is named twice"):
        make_side("BASE", [make_bundle([ANT], "a"), make_bundle([ANT], "a")])


def test_runs_joined_by_commas_are_read_and_an_empty_side_is_refused(tmp_path: Path) -> None:
    paths = [commit_bundle(make_bundle([ANT], name), tmp_path / name) for name in ("a", "b")]
    assert len(load_side("BASE", f"{paths[0]}, {paths[1]}").bundles) == 2
    with pytest.raises(BenchError, match="NEW names no run"):
        load_side("NEW", " ,")


def test_a_control_stands_beside_the_cells_it_has_in_all_the_same_runs() -> None:
    mole = make_result("mole", {"Resize": 1e-3})
    base, new = (make_side(name, [make_bundle([ANT, mole], name)]) for name in ("a", "b"))
    assert {pair.key: pair.control for pair in pairs_of(base, new, "mole") if pair.key.library == "ant"} == {
        RESIZE: "mole",
        msgspec.structs.replace(RESIZE, transform="Pad"): None,
    }
    apart = make_side("NEW", [make_bundle([ANT], "c"), make_bundle([mole], "d")])
    assert all(pair.control is None for pair in pairs_of(base, apart, "mole"))
