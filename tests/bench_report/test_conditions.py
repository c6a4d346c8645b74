"""Conditions that must agree: each difference is refused or flagged by its name, with both values."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Result, Status
from bench_report.conditions import differences, notices, refuse_mixtures
from bench_report.sections import Section, sections

from tests.bench_report.factory import (
    CONFIG,
    DATASET,
    ENVIRONMENT,
    make_bundle,
    make_measurement,
    make_result,
    not_measured,
    with_conditions,
)


def section_of(*results: Result) -> Section:
    (section,) = sections([make_bundle(results)])
    return section


def a_pair(change: Callable[[Result], Result]) -> Section:
    """kornia, and pillow measured under something else."""
    return section_of(make_result("kornia", {"Resize": 1e-3}), change(make_result("pillow", {"Resize": 1e-3})))


def test_equal_conditions_have_no_difference_and_nothing_to_say() -> None:
    section = a_pair(lambda result: result)
    refuse_mixtures([section])
    assert differences(section) == ()
    assert notices(section) == ()


@pytest.mark.parametrize(
    ("name", "changes", "values"),
    [
        ("Python", {"python": "CPython 3.12.1"}, ("CPython 3.11.7", "CPython 3.12.1")),
        ("platform", {"platform": "Darwin arm64"}, ("Linux x86_64", "Darwin arm64")),
        ("processor", {"cpu": "Other CPU"}, ("Example CPU @ 2.60GHz", "Other CPU")),
        ("device", {"device": "Some GPU"}, ("cpu", "Some GPU")),
        ("threads asked for", {"threads_asked": 2, "threads_read": {"torch": 2}}, ("1", "2")),
        ("processors it may run on", {"affinity": (0,)}, ("0, 1", "0")),
        ("isolation", {"isolation": "spawn"}, ("fork", "spawn")),
        ("lock of torch_stack", {"lock_sha256": "2" * 64}, ("1111", "2222")),
        ("version of numpy", {"shared_versions": {"numpy": "1.26.0"}}, ("2.4.6", "1.26.0")),
    ],
)
def test_a_different_condition_is_refused_by_name_with_both_values(
    name: str, changes: dict[str, Any], values: tuple[str, str]
) -> None:
    refuse_one(a_pair(lambda result: with_conditions(result, **changes)), name, values)


@pytest.mark.parametrize(
    ("name", "changes", "values"),
    [
        ("dataset", {"dataset": msgspec.structs.replace(DATASET, name="photos")}, ("sample", "photos")),
        ("number of items", {"dataset": msgspec.structs.replace(DATASET, num_items=31)}, ("32", "31")),
        ("dataset fingerprint", {"dataset": msgspec.structs.replace(DATASET, fingerprint="9" * 64)}, ("0123", "9999")),
        ("files left out", {"dataset": msgspec.structs.replace(DATASET, left_out=("a.jpg",))}, ("none", "a.jpg")),
        ("seed", {"seed": 2}, ("1", "2")),
        ("values per process", {"num_runs": 60}, ("6", "60")),
        ("blocks per process", {"num_blocks": 3}, ("2", "3")),
        ("processes", {"num_processes": 7}, ("6", "7")),
        ("configuration of run run-a", {"config_sha256": "e" * 64}, ("ffff", "eeee")),
    ],
)
def test_a_different_measurement_is_refused_by_name_with_both_values(
    name: str, changes: dict[str, Any], values: tuple[str, str]
) -> None:
    refuse_one(a_pair(lambda result: msgspec.structs.replace(result, **changes)), name, values)


def refuse_one(section: Section, name: str, values: tuple[str, str]) -> None:
    with pytest.raises(BenchError) as caught:
        refuse_mixtures([section])
    assert caught.value.code == ExitCode.FAILED
    message = str(caught.value)
    assert f"{name}: " in message
    assert "(kornia)" in message
    assert "(pillow)" in message
    assert all(value in message for value in values)
    assert "--allow-mixed" in message
    assert [difference.condition for difference in differences(section)] == [name]
    assert any(name in notice and "no winner" in notice for notice in notices(section))


def test_different_parameters_of_one_transform_are_named() -> None:
    section = section_of(
        make_result("kornia", {"Blur": make_measurement(1e-3, params={"fill": [0, 0], "kernel_px": 5})}),
        make_result("pillow", {"Blur": make_measurement(1e-3, params={"fill": [0, 0], "sigma_px": 2.0})}),
    )
    assert [str(difference) for difference in differences(section)] == [
        "parameter kernel_px of Blur: 5 (kornia), not set (pillow)",
        "parameter sigma_px of Blur: not set (kornia), 2.0 (pillow)",
    ]


def test_parameters_of_what_was_not_measured_do_not_matter() -> None:
    skipped = not_measured(Status.SLOW, "too slow")
    section = section_of(
        make_result("kornia", {"Blur": make_measurement(1e-3, params={"kernel_px": 5})}),
        make_result("pillow", {"Blur": skipped, "Resize": 1e-3}),
    )
    assert differences(section) == ()


def test_a_package_that_only_one_group_has_is_no_difference() -> None:
    section = a_pair(
        lambda r: with_conditions(r, shared_versions={"numpy": "2.4.6", "pillow": "13.0.0", "torch": "2.15.0"})
    )
    assert differences(section) == ()


def test_groups_have_locks_of_their_own() -> None:
    section = a_pair(lambda r: msgspec.structs.replace(with_conditions(r, lock_sha256="3" * 64), group="albx"))
    assert differences(section) == ()


def test_a_library_that_never_started_has_no_conditions_to_differ() -> None:
    lost = not_measured(Status.UNAVAILABLE, "ImportError")
    section = section_of(
        make_result("kornia", {"Resize": 1e-3}),
        make_result("pillow", {"Resize": lost}, conditions=None, versions={}, native_format=None),
    )
    assert differences(section) == ()


def of_two_runs(**config: object) -> Section:
    one = make_bundle([make_result("kornia", {"Resize": 1e-3}, config_sha256="a" * 64)], "run-a")
    other = make_bundle(
        [make_result("pillow", {"Resize": 1e-3}, config_sha256="b" * 64)], "run-b", config={**CONFIG, **config}
    )
    (section,) = sections([one, other])
    return section


def test_two_runs_may_have_chosen_different_cells() -> None:
    section = of_two_runs(transforms=["Resize", "Pad"], libraries=["pillow"], profile="mine", data_dir="/photos")
    assert differences(section) == ()


def test_two_runs_that_measured_differently_are_refused_by_the_key() -> None:
    (difference,) = differences(of_two_runs(slow_threshold_sec=1.0))
    assert str(difference) == "configuration slow_threshold_sec: 0.05 (kornia), 1.0 (pillow)"


def test_a_table_of_two_runs_says_that_they_were_not_interleaved() -> None:
    (notice,) = notices(of_two_runs())
    assert "different runs" in notice


def test_a_variable_that_changes_speed_is_told() -> None:
    environment = ENVIRONMENT | {"speed_variables": ["ATEN_CPU_CAPABILITY"]}
    (section,) = sections([make_bundle([make_result("ant", {"Resize": 1e-3})], environment=environment)])
    assert notices(section) == (
        "Run run-a was measured with ATEN_CPU_CAPABILITY set, which can change the speed of one library alone",
    )


def test_two_commits_of_the_tool_are_told() -> None:
    one = make_bundle([make_result("kornia", {"Resize": 1e-3})], "run-a")
    other = make_bundle(
        [make_result("pillow", {"Resize": 1e-3})], "run-b", environment={**ENVIRONMENT, "git_commit": "deadbeef"}
    )
    (section,) = sections([one, other])
    assert any("deadbeef" in notice and "c0ffee" in notice for notice in notices(section))


def test_threads_that_are_not_what_was_asked_for_are_flagged_by_pool() -> None:
    section = a_pair(lambda result: with_conditions(result, threads_read={"opencv": 4, "torch": 1}))
    (notice,) = notices(section)
    assert "pillow" in notice
    assert "opencv uses 4" in notice
    refuse_mixtures([section])
