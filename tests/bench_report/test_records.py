"""The tidy records behind CSV and JSON."""

import pytest
from bench_core.results import Result, Status
from bench_report.records import Record, records
from bench_report.rows import build_rows
from bench_report.sections import sections

from tests.bench_report.factory import make_bundle, make_result, not_measured


def records_of(*results: Result, baseline: str | None = None) -> list[Record]:
    (section,) = sections([make_bundle(results)])
    return list(records(section, build_rows(section, baseline)))


def test_every_library_and_transform_is_one_record_and_references_follow() -> None:
    slow = not_measured(Status.SLOW, "126 ms per image", preflight_sec=0.126)
    found = records_of(
        make_result("ant", {"Resize": 1e-3, "Pad": slow}), make_result("mole", {"Resize": 2e-3, "Pad": 1e-3})
    )
    assert [(r.kind, r.transform, r.library) for r in found] == [
        ("transform", "Resize", "ant"),
        ("transform", "Resize", "mole"),
        ("transform", "Pad", "ant"),
        ("transform", "Pad", "mole"),
        ("reference", "noop", "ant"),
        ("reference", "yardstick", "ant"),
        ("reference", "noop", "mole"),
        ("reference", "yardstick", "mole"),
    ]
    assert {r.run_id for r in found} == {"run-a"}


def test_a_record_holds_the_numbers_of_its_cell() -> None:
    ant, mole, *_ = records_of(
        make_result("ant", {"Resize": 1e-3}), make_result("mole", {"Resize": 2e-3}), baseline="mole"
    )
    assert ant.winner
    assert not mole.winner
    assert ant.baseline == mole.baseline == "mole"
    assert ant.ratio == pytest.approx(2.0, rel=0.1)
    assert ant.verdict == "faster"
    assert mole.ratio is None
    assert ant.median_sec is not None
    assert ant.items_per_sec == pytest.approx(1 / ant.median_sec)
    assert ant.items_per_sec_low < ant.items_per_sec < ant.items_per_sec_high
    assert ant.items_per_sec_low == pytest.approx(1 / ant.median_high_sec)
    assert (ant.num_processes, ant.num_values) == (6, 36)
    assert ant.copy_share_low < ant.copy_share < ant.copy_share_high
    assert ant.output_shape == "3 x 256 x 256"
    assert ant.peak_rss_growth_bytes == 2_000_000


def test_what_was_not_measured_has_its_reason_and_no_numbers() -> None:
    slow = not_measured(Status.SLOW, "126 ms per image", preflight_sec=0.126)
    (found,) = records_of(make_result("ant", {"Pad": slow}))
    assert (found.status, found.reason, found.preflight_sec) == ("slow", "126 ms per image", 0.126)
    assert found.median_sec is found.items_per_sec is found.ratio is found.copy_share is None
