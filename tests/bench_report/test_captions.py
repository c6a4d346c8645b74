"""The lines over a table: what, on what, when."""

import msgspec
from bench_core.results import Result, Status
from bench_report.captions import caption, date, how_to_read, shape
from bench_report.figures import UNITS
from bench_report.sections import sections

from tests.bench_report.factory import (
    DATASET,
    ENVIRONMENT,
    make_bundle,
    make_result,
    not_measured,
    with_conditions,
)


def told(result: Result, **bundle: object) -> str:
    (section,) = sections([make_bundle([result], **bundle)])
    (line,) = caption(section)
    return line.replace("\u00a0", " ")


def test_a_caption_says_what_where_when_and_how_often() -> None:
    line = told(make_result("kornia", {"Resize": 1e-3}))
    for part in (
        "Run run-a",
        "2026-12-01 05:00 UTC",
        "Example CPU @ 2.60GHz",
        "2 processors usable",
        "CPython 3.11.7",
        "numpy 2.4.6",
        "1 thread,",
        "6 processes × 2 blocks × 3 values",
        "32 images of sample",
        "fingerprint 0123456789ab)",
        "bench at c0ffeec0ffee",
    ):
        assert part in line


def test_a_caption_shows_uncommitted_changes_and_files_left_out() -> None:
    dataset = msgspec.structs.replace(DATASET, left_out=("a.jpg", "b.jpg"))
    line = told(
        make_result("kornia", {"Resize": 1e-3}, dataset=dataset), environment={**ENVIRONMENT, "git_dirty": True}
    )
    assert "uncommitted changes" in line
    assert "2 unreadable files left out for all" in line


def test_an_accelerator_stands_before_the_processor() -> None:
    line = told(with_conditions(make_result("kornia", {"Resize": 1e-3}), device="Some GPU"))
    assert "Some GPU, Example CPU" in line


def test_a_run_without_any_library_says_so() -> None:
    lost = not_measured(Status.UNAVAILABLE, "ImportError")
    assert "Nothing was measured" in told(make_result("kornia", {"Resize": lost}, conditions=None, versions={}))


def test_each_run_has_its_own_line() -> None:
    one = make_bundle([make_result("ant", {"Resize": 1e-3})], "run-a")
    other = make_bundle([make_result("mole", {"Resize": 1e-3})], "run-b")
    (section,) = sections([one, other])
    assert [line.split(",")[0] for line in caption(section)] == ["Run run-a", "Run run-b"]


def test_times_are_shown_in_utc() -> None:
    assert date("2026-12-01T06:30:00+01:00") == "2026-12-01 05:30 UTC"
    assert date("yesterday") == "yesterday"
    assert date("9999-12-31T23:59:59-23:59") == "9999-12-31T23:59:59-23:59"


def test_values_that_do_not_divide_evenly_are_not_rounded_away() -> None:
    told = shape(make_result("ant", {"Resize": 1e-3}, num_runs=5, num_processes=1)).replace("\u00a0", " ")
    assert told.startswith("1 process × 2 blocks × 2.5 values per cell")


def test_how_to_read_names_the_unit_and_the_baseline() -> None:
    assert "less is better" in how_to_read(UNITS["ms"], None)[0]
    assert "over that of kornia" in how_to_read(UNITS["img/s"], "kornia")[2]
    assert "the row's fastest" in how_to_read(UNITS["img/s"], None)[2]


def test_a_caption_says_that_the_machine_was_busy_when_the_run_began_and_only_then() -> None:
    result = make_result("kornia", {"Resize": 1e-3})
    busy = {**ENVIRONMENT, "cpus_usable": [0, 1], "load_average": [2.5, 1.0, 0.5], "other_runs": 1}
    line = told(result, environment=busy)
    assert "busy when it began (load 2.50 on 2 processors)" in line
    assert "beside 1 other run on the machine" in line
    quiet = {**busy, "load_average": [0.5, 1.0, 0.5], "other_runs": 0}
    assert "when it began" not in told(result, environment=quiet)
    assert "other run" not in told(result, environment=quiet)
