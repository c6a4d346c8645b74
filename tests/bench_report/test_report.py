"""A report as a whole."""

import pytest
from bench_core.errors import BenchError, ExitCode
from bench_report.report import Options, build_report, compact_sheet

from tests.bench_report.factory import make_bundle, make_result, with_conditions


def test_a_report_has_a_part_per_table() -> None:
    bundle = make_bundle(
        [make_result("ant", {"Resize": 1e-3}), make_result("ant", {"Resize": 1e-3}, scenario="image-9ch")]
    )
    report = build_report([bundle], Options())
    assert [part.sheet.title for part in report.parts] == ["image-rgb, micro, cpu", "image-9ch, micro, cpu"]


def test_runs_without_results_are_refused() -> None:
    with pytest.raises(BenchError, match="no result"):
        build_report([make_bundle([])], Options())


def test_an_unknown_baseline_is_refused_with_the_nearest_name() -> None:
    bundle = make_bundle([make_result("kornia", {"Resize": 1e-3}), make_result("pillow", {"Resize": 1e-3})])
    with pytest.raises(BenchError, match=r"--baseline.*'korniaa'.*'kornia'"):
        build_report([bundle], Options(baseline="korniaa"))


def test_a_mixture_is_refused_and_with_leave_it_is_shown_without_a_winner() -> None:
    bundle = make_bundle(
        [make_result("ant", {"Resize": 1e-3}), with_conditions(make_result("mole", {"Resize": 9e-3}), threads_asked=2)]
    )
    with pytest.raises(BenchError, match="threads asked for") as caught:
        build_report([bundle], Options())
    assert caught.value.code == ExitCode.FAILED
    (part,) = build_report([bundle], Options(allow_mixed=True)).parts
    assert any("threads asked for" in notice for notice in part.sheet.notices)
    assert "Without a clear winner: 1." in part.highlights[0]


def test_a_compact_sheet_is_one_table() -> None:
    bundle = make_bundle([make_result("ant", {"A": 1e-3, "B": 1e-3}), make_result("mole", {"B": 1e-3})])
    report = build_report([bundle], Options(copy_share=True))
    sheet = compact_sheet(report.parts[0], report.options)
    assert len(sheet.tables) == 1
    assert sheet.tables[0].rows[0][0] == "B"
