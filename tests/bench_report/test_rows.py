"""Rows as data: what every library did with one transform."""

import pytest
from bench_core.results import Result, Status
from bench_report.rows import NOT_RUN, Row, build_rows
from bench_report.sections import sections

from tests.bench_report.factory import make_bundle, make_measurement, make_result, not_measured, with_conditions


def rows_of(*results: Result, baseline: str | None = None) -> dict[str, Row]:
    (section,) = sections([make_bundle(results)])
    return {row.transform: row for row in build_rows(section, baseline)}


def test_by_default_a_ratio_refers_to_the_rows_fastest_library() -> None:
    rows = rows_of(
        make_result("ant", {"Resize": 2e-3, "Pad": 1e-3}),
        make_result("mole", {"Resize": 1e-3, "Pad": 3e-3}),
    )
    assert (rows["Resize"].baseline, rows["Pad"].baseline) == ("mole", "ant")
    assert rows["Resize"].cells["mole"].ratio is None
    assert rows["Resize"].cells["ant"].ratio is not None
    assert rows["Resize"].cells["ant"].ratio.ratio == pytest.approx(0.5, rel=0.1)


def test_a_chosen_baseline_is_the_same_in_every_row() -> None:
    rows = rows_of(
        make_result("ant", {"Resize": 2e-3, "Pad": 1e-3}),
        make_result("mole", {"Resize": 1e-3, "Pad": 3e-3}),
        baseline="ant",
    )
    assert {row.baseline for row in rows.values()} == {"ant"}
    assert rows["Resize"].cells["mole"].ratio is not None
    assert rows["Resize"].cells["mole"].ratio.ratio == pytest.approx(2.0, rel=0.1)
    assert rows["Resize"].winner == "mole"


def test_a_baseline_without_a_number_is_no_baseline_of_that_row() -> None:
    rows = rows_of(
        make_result("ant", {"Resize": not_measured(Status.SLOW, "slow")}),
        make_result("mole", {"Resize": 1e-3}),
        baseline="ant",
    )
    assert rows["Resize"].baseline is None
    assert rows["Resize"].cells["mole"].ratio is None


def test_every_cell_has_a_number_or_a_reason() -> None:
    statuses = [status for status in Status if status is not Status.OK]
    rows = rows_of(
        make_result("ant", {status.value: not_measured(status, f"because {status}") for status in statuses}),
        make_result("mole", {"only here": 1e-3}),
    )
    for row in rows.values():
        for cell in row.cells.values():
            assert cell.summary is not None or cell.reason
    assert rows["only here"].cells["ant"].status == NOT_RUN
    assert "run-a" in str(rows["only here"].cells["ant"].reason)
    assert {rows[status].cells["ant"].reason for status in statuses} == {f"because {status}" for status in statuses}


def test_a_row_is_comparable_when_two_libraries_have_a_number() -> None:
    rows = rows_of(make_result("ant", {"Resize": 1e-3, "Pad": 1e-3}), make_result("mole", {"Resize": 1e-3}))
    assert rows["Resize"].comparable
    assert not rows["Pad"].comparable
    assert rows["Pad"].measured == ("ant",)


def test_the_share_of_copy_speed_is_that_of_the_same_blocks() -> None:
    rows = rows_of(make_result("ant", {"Resize": make_measurement(6e-4)}))
    share = rows["Resize"].cells["ant"].copy_share
    assert share is not None
    assert share.ratio == pytest.approx(0.1, rel=0.1)  # a copy takes 6e-5 s there
    assert share.paired


def test_mixed_conditions_have_no_winner() -> None:
    other = with_conditions(make_result("mole", {"Resize": 9e-3}), threads_asked=2)
    rows = rows_of(make_result("ant", {"Resize": 1e-3}), other)
    assert rows["Resize"].winner is None
    assert rows["Resize"].baseline == "ant"
