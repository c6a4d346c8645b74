"""Which figure, mark and footnote stands in which cell."""

import msgspec
import pytest
from bench_core.results import Result, Status
from bench_report.figures import UNITS
from bench_report.rows import build_rows
from bench_report.sections import sections
from bench_report.table import Cell, Sheet, Table
from bench_report.views import NOT_OFFERED, UNSTABLE, build_sheet

from tests.bench_report.factory import ENVIRONMENT, make_bundle, make_measurement, make_result, not_measured


def sheet_of(
    *results: Result, unit: str = "img/s", baseline: str | None = None, copy_share: bool = False, **bundle: object
) -> Sheet:
    (section,) = sections([make_bundle(results, **bundle)])
    rows = build_rows(section, baseline)
    return build_sheet(section, rows, UNITS[unit], baseline=baseline, copy_share=copy_share)


def cell_of(table: Table, label: str, column: int = 0) -> Cell:
    return dict(table.rows)[label][column]


def test_a_head_carries_the_librarys_version() -> None:
    sheet = sheet_of(make_result("kornia", {"Resize": 1e-3}, versions={"kornia": "0.9.0", "torch": "2.15.0"}))
    assert sheet.tables[0].heads == ("transform", "kornia 0.9.0")


def test_a_measured_cell_has_its_median_and_interval() -> None:
    cell = cell_of(sheet_of(make_result("kornia", {"Resize": 1e-3})).tables[0], "Resize")
    assert cell == Cell("1\u00a0000", "990–1\u00a0010")


def test_only_the_winner_is_strong_and_in_every_table() -> None:
    sheet = sheet_of(make_result("ant", {"Resize": 1e-3}), make_result("mole", {"Resize": 2e-3}))
    for table in sheet.tables:
        assert [cell_of(table, "Resize", column).strong for column in (0, 1)] == [True, False]


def test_a_lead_within_the_intervals_is_not_strong() -> None:
    one, other = (make_measurement(sec, noise=0.08, seed=sec) for sec in (1e-3, 1.02e-3))
    sheet = sheet_of(make_result("ant", {"Resize": one}), make_result("mole", {"Resize": other}))
    assert not any(cell.strong for table in sheet.tables for _, cells in table.rows for cell in cells)


@pytest.mark.parametrize("status", [s for s in Status if s not in (Status.OK, Status.SLOW, Status.UNSUPPORTED)])
def test_a_cell_without_a_number_says_its_status_and_a_footnote_the_reason(status: Status) -> None:
    sheet = sheet_of(make_result("kornia", {"Resize": not_measured(status, "what happened"), "Pad": 1e-3}))
    cell = cell_of(sheet.tables[0], "Resize")
    assert cell.text == status.value
    assert sheet.notes[cell.notes[0] - 1] == f"kornia: {status.value}: what happened"


def test_a_slow_cell_shows_its_preflight_figure() -> None:
    slow = not_measured(Status.SLOW, "at or over the threshold of 50 ms", preflight_sec=0.1264)
    cell = cell_of(sheet_of(make_result("kornia", {"Resize": slow})).tables[0], "Resize")
    assert cell.text.replace("\u00a0", " ") == "slow 126 ms"
    assert cell.notes


def test_an_unsupported_cell_is_explained_once_for_all_in_the_legend() -> None:
    measurements = {name: not_measured(Status.UNSUPPORTED, f"kornia does not offer {name} directly") for name in "ABC"}
    sheet = sheet_of(make_result("kornia", measurements))
    assert {cell_of(sheet.tables[0], name) for name in "ABC"} == {Cell(NOT_OFFERED)}
    assert [mark for mark, _ in sheet.legend] == [NOT_OFFERED]
    assert not any("does not offer" in note for note in sheet.notes)


def test_the_same_reason_is_one_footnote() -> None:
    lost = not_measured(Status.UNAVAILABLE, "ImportError: no module named torch")
    sheet = sheet_of(make_result("kornia", {"A": lost, "B": lost}, conditions=None, versions={}))
    assert cell_of(sheet.tables[0], "A").notes == cell_of(sheet.tables[0], "B").notes == (1,)
    assert sheet.tables[0].heads[1] == "kornia (version unknown)"


def test_a_library_that_was_left_out_as_a_whole_is_told_under_its_table_and_no_other() -> None:
    left_out = {"pillow, image-rgb, micro, cpu": "it cannot", "pillow, image-rgb, micro, gpu": "elsewhere"}
    sheet = sheet_of(make_result("kornia", {"A": 1e-3}), environment={**ENVIRONMENT, "excluded_jobs": left_out})
    assert sheet.legend == (("not in the table", "pillow: it cannot"),)


def test_an_unstable_cell_is_marked_and_the_legend_has_its_figure() -> None:
    sheet = sheet_of(make_result("kornia", {"Flip": make_measurement(1e-4, noise=0.5), "Pad": 1e-3}))
    assert cell_of(sheet.tables[0], "Flip").mark == UNSTABLE
    assert cell_of(sheet.tables[0], "Pad").mark is None
    ((mark, meaning),) = sheet.legend
    assert mark == UNSTABLE
    assert "1 of 2 cells of kornia (up to " in meaning


def test_one_process_has_no_interval_and_says_so() -> None:
    sheet = sheet_of(make_result("kornia", {"Resize": make_measurement(1e-3, processes=2)}))
    cell = cell_of(sheet.tables[0], "Resize")
    assert cell.interval is None
    assert "fewer than 3 processes" in sheet.notes[cell.notes[0] - 1]


def test_a_number_of_a_transform_that_changed_nothing_says_so() -> None:
    measured = make_measurement(1e-3)
    output = msgspec.structs.replace(measured.output, changed=False)
    sheet = sheet_of(make_result("kornia", {"Resize": msgspec.structs.replace(measured, output=output), "Pad": 1e-3}))
    cell = cell_of(sheet.tables[0], "Resize")
    assert [sheet.notes[number - 1] for number in cell.notes] == [
        "kornia: changed nothing in the image that was looked at"
    ]
    assert cell_of(sheet.tables[0], "Pad").notes == ()


def test_reference_rows_stand_last() -> None:
    rows = sheet_of(make_result("kornia", {"Resize": 1e-3})).tables[0].rows
    assert [label for label, _ in rows] == ["Resize", "no-op: the harness's own cost", "a plain copy of the item"]
    assert rows[1][1][0].text.endswith("µs")
    assert rows[2][1][0].interval


def test_a_reference_row_of_a_library_without_numbers_has_a_reason() -> None:
    lost = not_measured(Status.UNAVAILABLE, "ImportError")
    sheet = sheet_of(make_result("kornia", {"A": lost}, conditions=None, versions={}))
    cell = cell_of(sheet.tables[0], "no-op: the harness's own cost")
    assert "nothing was timed" in sheet.notes[cell.notes[0] - 1]


def test_a_ratio_stands_beside_its_baseline() -> None:
    sheet = sheet_of(make_result("ant", {"Resize": 1e-3}), make_result("mole", {"Resize": 2e-3}), baseline="mole")
    table = sheet.tables[1]
    assert "mole" in table.title
    assert cell_of(table, "Resize", 1).text == "1×"
    assert cell_of(table, "Resize", 0).text.endswith("×")
    assert cell_of(table, "Resize", 0).interval


def test_a_ratio_between_two_runs_says_that_nobody_took_turns() -> None:
    bundles = [make_bundle([make_result(name, {"Resize": 1e-3})], f"run-{name}") for name in ("ant", "mole")]
    (section,) = sections(bundles)
    sheet = build_sheet(section, build_rows(section, "ant"), UNITS["img/s"], baseline="ant")
    assert sheet.notes == ("not measured in turns with what it is compared with",)
    assert [cell_of(sheet.tables[1], "Resize", column).notes for column in (0, 1)] == [(), (1,)]


def test_a_row_without_its_baseline_says_so() -> None:
    sheet = sheet_of(
        make_result("ant", {"Resize": 1e-3}),
        make_result("mole", {"Resize": not_measured(Status.CRASHED, "signal 11")}),
        make_result("owl", {"Resize": 1e-3}),
        baseline="mole",
    )
    cell = cell_of(sheet.tables[1], "Resize", 0)
    assert cell.text == "no baseline"
    assert "mole" in sheet.notes[cell.notes[0] - 1]


def test_a_number_that_stands_alone_is_not_compared() -> None:
    sheet = sheet_of(make_result("ant", {"Resize": 1e-3, "Pad": 1e-3}), make_result("mole", {"Pad": 1e-3}))
    assert cell_of(sheet.tables[1], "Resize", 0).text == "alone"
    assert cell_of(sheet.tables[1], "Resize", 1).text == "not run"


def test_a_single_library_has_no_table_of_ratios() -> None:
    assert len(sheet_of(make_result("ant", {"Resize": 1e-3})).tables) == 1


def test_the_share_of_copy_speed_is_a_table_of_its_own_when_asked_for() -> None:
    sheet = sheet_of(make_result("ant", {"Resize": make_measurement(6e-4)}), copy_share=True)
    assert cell_of(sheet.tables[-1], "Resize").text.replace("\u00a0", " ").endswith(" %")


def test_in_milliseconds_the_winner_is_the_smaller_figure() -> None:
    sheet = sheet_of(make_result("ant", {"Resize": 1e-3}), make_result("mole", {"Resize": 2e-3}), unit="ms")
    assert "ms per image" in sheet.tables[0].title
    first, second = (cell_of(sheet.tables[0], "Resize", column) for column in (0, 1))
    assert float(first.text) < float(second.text)
    assert first.strong


def test_no_cell_is_blank() -> None:
    sheet = sheet_of(
        make_result("ant", {"A": 1e-3, "B": not_measured(Status.UNSUPPORTED, "no")}),
        make_result("mole", {"C": not_measured(Status.TIMEOUT, "120 s")}),
        copy_share=True,
    )
    for table in sheet.tables:
        for _, cells in table.rows:
            assert len(cells) == len(table.heads) - 1
            assert all(cell.text for cell in cells)


def test_a_very_long_name_is_cut() -> None:
    sheet = sheet_of(make_result("ant", {"T" * 5000: 1e-3, "B": not_measured(Status.ERROR, "e" * 5000)}))
    assert all(len(label) <= 60 for label, _ in sheet.tables[0].rows)
    assert all(len(note) <= 300 for note in sheet.notes)
