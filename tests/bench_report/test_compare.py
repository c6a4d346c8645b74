"""One run against another: what changed its status, what is missing, and what a gate says."""

import pytest
from bench_core.errors import BenchError
from bench_core.results import Measurement, Status
from bench_core.statistics import Verdict
from bench_report.compare import Compared, compare_sides
from bench_report.regression import Rules
from bench_report.sides import make_side

from tests.bench_report.factory import make_bundle, make_measurement, make_result, not_measured

Cells = dict[str, Measurement | float]


def compared(base: Cells, new: Cells, rules: Rules | None = None) -> Compared:
    before, after = make_bundle([make_result("ant", base)], "a"), make_bundle([make_result("ant", new)], "b")
    return compare_sides(make_side("BASE", [before]), make_side("NEW", [after]), rules or Rules())


def test_a_slower_cell_fails_the_gate_and_a_faster_one_does_not() -> None:
    slower = compared({"Resize": 1e-3, "Pad": 1e-3}, {"Resize": 2e-3, "Pad": 1e-3})
    assert [change.key.transform for change in slower.called(Verdict.SLOWER)] == ["Resize"]
    assert slower.regressed
    faster = compared({"Resize": 1e-3, "Pad": 1e-3}, {"Resize": 0.5e-3, "Pad": 1e-3})
    assert [change.key.transform for change in faster.called(Verdict.FASTER)] == ["Resize"]
    assert not faster.regressed


def test_missing_and_new_cells_are_listed_and_fail_nothing() -> None:
    found = compared({"Resize": 1e-3, "Pad": 1e-3}, {"Resize": 1e-3, "Blur": 1e-3})
    assert [(key.transform, status) for key, status in found.missing] == [("Pad", Status.OK)]
    assert [(key.transform, status) for key, status in found.added] == [("Blur", Status.OK)]
    assert not found.regressed


@pytest.mark.parametrize("status", [Status.ERROR, Status.CRASHED, Status.TIMEOUT, Status.UNAVAILABLE])
def test_a_cell_that_worked_and_does_not_any_more_is_a_regression(status: Status) -> None:
    found = compared({"Resize": 1e-3}, {"Resize": not_measured(status, "ValueError: no")})
    (turn,) = found.turned
    assert (turn.base, turn.new, turn.reason, turn.fails) == ("ok", status.value, "ValueError: no", True)
    assert found.regressed
    assert found.judged == []


@pytest.mark.parametrize("status", [Status.UNSUPPORTED, Status.EXCLUDED])
def test_a_cell_that_is_not_offered_any_more_is_listed_and_no_regression(status: Status) -> None:
    found = compared({"Resize": 1e-3}, {"Resize": not_measured(status, "not there")})
    assert [turn.fails for turn in found.turned] == [False]


def test_a_cell_that_became_slow_is_listed_and_a_regression() -> None:
    slow = not_measured(Status.SLOW, "too slow", preflight_sec=0.12)
    found = compared({"Elastic": 0.049}, {"Elastic": slow})
    (turn,) = found.turned
    assert (turn.base, turn.new, turn.reason, turn.fails) == ("ok", "slow", "too slow", True)
    assert found.regressed


def test_a_cell_that_only_crossed_the_threshold_of_the_slow_is_listed_and_no_regression() -> None:
    slow = not_measured(Status.SLOW, "too slow", preflight_sec=0.0502)
    before = {"Elastic": make_measurement(0.049, preflight_sec=0.0495)}
    found = compared({**before}, {"Elastic": slow})
    assert [turn.fails for turn in found.turned] == [False]
    assert compared({**before}, {"Elastic": slow}, Rules(min_effect=0.01)).regressed


def test_a_cell_that_was_slow_before_is_not_a_regression() -> None:
    slow = not_measured(Status.SLOW, "too slow", preflight_sec=0.12)
    assert not compared({"Elastic": slow}, {"Elastic": slow}).regressed
    (turn,) = compared({"Elastic": slow}, {"Elastic": 0.049}).turned
    assert not turn.fails


def test_an_error_that_was_one_before_is_neither_listed_nor_counted_as_compared() -> None:
    error = not_measured(Status.ERROR, "ValueError")
    found = compared({"Resize": 1e-3, "Pad": error}, {"Resize": 1e-3, "Pad": error})
    assert found.turned == ()
    assert (len(found.judged), found.without) == (1, 1)


def test_an_error_that_works_now_is_listed_with_what_it_was() -> None:
    (turn,) = compared({"Resize": not_measured(Status.ERROR, "ValueError")}, {"Resize": 1e-3}).turned
    assert (turn.base, turn.new, turn.fails) == ("error", "ok", False)


def test_the_same_transform_in_two_scenarios_is_compared_apart() -> None:
    results = [make_result("ant", {"Resize": make_measurement(1e-3)}, scenario=name) for name in ("image-rgb", "other")]
    sides = [make_side(name, [make_bundle(results, name)]) for name in ("BASE", "NEW")]
    found = compare_sides(sides[0], sides[1], Rules())
    assert len(found.changes) == 2
    assert set(found.movements) == {"image-rgb, micro, cpu", "other, micro, cpu"}


def test_a_control_that_is_nowhere_is_refused_with_what_was_meant() -> None:
    with pytest.raises(BenchError, match="did you mean 'ant'"):
        compared({"Resize": 1e-3}, {"Resize": 1e-3}, Rules(control="antt"))
