"""Which results stand in one table."""

import pytest
from bench_core.errors import BenchError
from bench_core.results import Status
from bench_report.sections import run_ids, sections

from tests.bench_report.factory import make_bundle, make_result, not_measured


def test_every_scenario_mode_and_device_is_a_table_of_its_own() -> None:
    results = [
        make_result("kornia", {"Resize": 1e-3}),
        make_result("kornia", {"Resize": 1e-3}, scenario="image-9ch"),
        make_result("kornia", {"Resize": 1e-3}, mode="pipeline"),
    ]
    gpu = make_bundle([make_result("kornia", {"Resize": 1e-3}, device="gpu")], "run-b")
    found = sections([make_bundle(results), gpu])
    assert [section.name for section in found] == [
        "image-rgb, micro, cpu",
        "image-9ch, micro, cpu",
        "image-rgb, pipeline, cpu",
        "image-rgb, micro, gpu",
    ]


def test_columns_are_in_alphabetical_order_whatever_was_measured_first() -> None:
    (section,) = sections([make_bundle([make_result(name, {"Resize": 1e-3}) for name in ("zebra", "ant", "mole")])])
    assert [column.library for column in section.columns] == ["ant", "mole", "zebra"]


def test_libraries_of_several_runs_are_put_into_one_table() -> None:
    one = make_bundle([make_result("kornia", {"Resize": 1e-3})], "run-a")
    other = make_bundle([make_result("pillow", {"Resize": 1e-3})], "run-b", created_at="2026-12-02T00:00:00+00:00")
    (section,) = sections([other, one])
    assert [column.library for column in section.columns] == ["kornia", "pillow"]
    assert [bundle.run_id for bundle in section.bundles] == ["run-a", "run-b"]
    assert run_ids([section]) == ("run-a", "run-b")


def test_a_library_that_is_in_two_runs_is_refused_and_both_are_named() -> None:
    one = make_bundle([make_result("kornia", {"Resize": 1e-3})], "run-a")
    other = make_bundle([make_result("kornia", {"Resize": 1e-3})], "run-b")
    with pytest.raises(BenchError) as caught:
        sections([one, other])
    assert "kornia" in str(caught.value)
    assert "run-a" in str(caught.value)
    assert "run-b" in str(caught.value)


def test_a_run_that_is_given_twice_is_refused() -> None:
    bundle = make_bundle([make_result("kornia", {"Resize": 1e-3})])
    with pytest.raises(BenchError, match="two of the runs"):
        sections([bundle, bundle])


def test_transforms_keep_the_order_of_the_files_and_none_is_lost() -> None:
    results = [make_result("ant", {"B": 1e-3, "A": 1e-3}), make_result("mole", {"B": 1e-3, "C": 1e-3})]
    (section,) = sections([make_bundle(results)])
    assert section.transforms == ("B", "A", "C")


def test_the_version_is_the_librarys_own_and_not_a_dependencys() -> None:
    result = make_result("kornia", {"Resize": 1e-3}, versions={"kornia": "0.9.0", "torch": "2.15.0"})
    lost = make_result("pillow", {"Resize": not_measured(Status.UNAVAILABLE, "gone")}, versions={})
    (section,) = sections([make_bundle([result, lost])])
    assert [column.version for column in section.columns] == ["0.9.0", None]


def test_what_is_not_ok_gives_no_samples_to_compare() -> None:
    cut_off = make_result("kornia", {"Resize": 1e-3}).measurements["Resize"]
    failed = not_measured(Status.TIMEOUT, "no answer within 120 s", blocks=cut_off.blocks, summary=cut_off.summary)
    (section,) = sections([make_bundle([make_result("kornia", {"Resize": failed})])])
    (column,) = section.columns
    assert column.samples("Resize") == column.copy_samples("Resize") == column.samples("absent") == []
    assert not column.measured
