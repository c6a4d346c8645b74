"""The result file: what is written is read back, and whatever is wrong with a file is one sentence that names it."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.results import (
    MAX_FILE_BYTES,
    NOOP,
    YARDSTICK,
    Result,
    Status,
    read_result,
    same_numbers,
    summarize_references,
    write_result,
)
from bench_core.statistics import Summary, SummaryRules, summarize

from tests.bench_report.factory import make_measurement, make_result, not_measured

Change = Callable[[dict[str, Any]], None]


def a_result() -> Result:
    return make_result(
        "torchvision",
        {
            "Resize": 4e-4,
            "Elastic": not_measured(Status.SLOW, "126 ms per image", preflight_sec=0.126),
            "RGBShift": not_measured(Status.UNSUPPORTED, "torchvision does not offer RGBShift directly"),
        },
    )


def changed(tmp_path: Path, change: Change) -> Path:
    """A written result whose JSON somebody changed."""
    path = tmp_path / "torchvision_micro_results.json"
    write_result(path, a_result())
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    return path


def first_block(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = data["measurements"]["Resize"]["blocks"][0]
    return found


def refusal(path: Path) -> str:
    with pytest.raises(BenchError) as caught:
        read_result(path)
    assert caught.value.code == ExitCode.BUNDLE
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    return message


def test_what_is_written_is_read_back_equal(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write_result(path, a_result())
    assert read_result(path) == a_result()


def test_the_same_result_is_written_as_the_same_bytes(tmp_path: Path) -> None:
    write_result(tmp_path / "a.json", a_result())
    write_result(tmp_path / "b.json", read_result(tmp_path / "a.json"))
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_library_that_never_started_is_a_valid_result(tmp_path: Path) -> None:
    lost = not_measured(Status.UNAVAILABLE, "ImportError: no module named torch")
    result = make_result("kornia", {"Resize": lost}, versions={}, conditions=None, native_format=None)
    write_result(tmp_path / "r.json", result)
    assert read_result(tmp_path / "r.json").references == {}


def test_only_measured_transforms_are_ok() -> None:
    assert [name for name, _ in a_result().ok()] == ["Resize"]


def test_reference_rows_summarise_every_block_of_a_job() -> None:
    measurements = {"A": make_measurement(1e-3, seed=1), "B": make_measurement(2e-3, seed=2)}
    references = summarize_references(measurements)
    assert references.keys() == {NOOP, YARDSTICK}
    assert references[NOOP].num_values == sum(len(m.blocks) for m in measurements.values())
    assert 1e-7 < references[NOOP].median_sec < 1e-6 < references[YARDSTICK].median_sec


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(tmp_path / "absent.json")


def test_a_directory_in_its_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "r.json").mkdir()
    assert "cannot be read" in refusal(tmp_path / "r.json")


@pytest.mark.parametrize("kept", [0, 1, 100, -2])
def test_a_truncated_file_is_asked_about(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "r.json"
    write_result(path, a_result())
    path.write_bytes(path.read_bytes()[:kept])
    assert "cut off" in refusal(path)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999"])
def test_a_number_that_is_not_finite_is_refused(tmp_path: Path, text: str) -> None:
    path = changed(tmp_path, lambda data: first_block(data).update(noop_sec="HERE"))
    path.write_text(path.read_text().replace('"HERE"', text))
    refusal(path)


@pytest.mark.parametrize("value", [0, -1.0, 1e-300, 1e300])
def test_a_value_that_no_clock_can_have_measured_is_refused_with_its_place(tmp_path: Path, value: float) -> None:
    path = changed(tmp_path, lambda data: first_block(data)["values_sec"].__setitem__(0, value))
    assert "values_sec" in refusal(path)


def test_a_block_without_values_is_refused(tmp_path: Path) -> None:
    assert "values_sec" in refusal(changed(tmp_path, lambda data: first_block(data).update(values_sec=[])))


def test_the_same_block_twice_is_refused(tmp_path: Path) -> None:
    def double(data: dict[str, Any]) -> None:
        data["measurements"]["Resize"]["blocks"].append(first_block(data))

    message = refusal(changed(tmp_path, double))
    assert "Resize" in message
    assert "twice" in message


@pytest.mark.parametrize("version", [0, 2, "1", None, [1]])
def test_an_unknown_version_is_refused_by_its_number(tmp_path: Path, version: object) -> None:
    path = changed(tmp_path, lambda data: data.update(schema_version=version))
    assert f"schema version {version!r}" in refusal(path)


@pytest.mark.parametrize("text", ["[]", "1", "null", '"result"', "[" * 100_000])
def test_json_that_is_no_result_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    refusal(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("library", 7), ("measurements", []), ("seed", "x"), ("num_blocks", 0), ("conditions", "none"), ("extra", 1)],
)
def test_a_wrong_type_is_refused_with_its_place(tmp_path: Path, key: str, value: object) -> None:
    assert key in refusal(changed(tmp_path, lambda data: data.update({key: value})))


def test_an_unknown_status_is_refused(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda data: data["measurements"]["Resize"].update(status="fast"))
    assert "fast" in refusal(path)


@pytest.mark.parametrize("field", ["median_sec", "low_sec", "high_sec", "cv"])
def test_a_statistic_that_does_not_follow_from_the_samples_is_refused(tmp_path: Path, field: str) -> None:
    def better(data: dict[str, Any]) -> None:
        data["measurements"]["Resize"]["summary"][field] *= 0.99

    message = refusal(changed(tmp_path, better))
    assert "Resize" in message
    assert "changed by hand" in message


def test_a_removed_warning_is_refused(tmp_path: Path) -> None:
    unstable = make_result("kornia", {"Flip": make_measurement(1e-4, noise=0.4)})
    assert unstable.measurements["Flip"].summary is not None
    assert unstable.measurements["Flip"].summary.unstable
    path = tmp_path / "r.json"
    write_result(path, unstable)
    data = json.loads(path.read_text())
    data["measurements"]["Flip"]["summary"]["unstable_reason"] = None
    path.write_text(json.dumps(data))
    assert "changed by hand" in refusal(path)


def test_a_result_of_other_rules_is_checked_by_them_and_shown_by_todays(tmp_path: Path) -> None:
    then = SummaryRules(confidence=0.8, unstable_cv=0.001, interval_processes=2)
    found = make_measurement(1e-3, seed=1)
    old = msgspec.structs.replace(found, summary=summarize([b.sample() for b in found.blocks], then))
    references = summarize_references({"Resize": old}, then)
    write_result(tmp_path / "r.json", make_result("kornia", {"Resize": old}, references=references, rules=then))
    assert old.summary is not None and old.summary.unstable
    assert read_result(tmp_path / "r.json") == make_result("kornia", {"Resize": found})
    data = json.loads((tmp_path / "r.json").read_text())
    data["rules"]["confidence"] = 0.9
    (tmp_path / "r.json").write_text(json.dumps(data))
    assert "does not follow" in refusal(tmp_path / "r.json")


def test_a_result_of_before_its_rules_were_recorded_is_read(tmp_path: Path) -> None:
    then = SummaryRules(confidence=0.95, unstable_cv=0.1, interval_processes=2)
    two = make_measurement(1e-3, seed=1, processes=2)
    old = msgspec.structs.replace(two, summary=summarize([b.sample() for b in two.blocks], then))
    references = summarize_references({"Resize": old}, then)
    path = tmp_path / "r.json"
    result = make_result("kornia", {"Resize": old}, references=references, rules=then, num_processes=2)
    write_result(path, result)
    data = json.loads(path.read_text())
    del data["rules"]
    path.write_text(json.dumps(data))
    assert old.summary is not None and old.summary.low_sec is not None
    shown = read_result(path).measurements["Resize"].summary
    assert shown is not None and shown.low_sec is None


def test_samples_that_were_changed_do_not_match_their_statistics(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda data: first_block(data)["values_sec"].__setitem__(slice(None), [9.0] * 3))
    assert "changed by hand" in refusal(path)


def test_reference_rows_that_do_not_follow_are_refused(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda data: first_block(data).update(yardstick_sec=9e-5))
    assert "reference rows" in refusal(path)
    path = changed(tmp_path, lambda data: data["references"].pop(NOOP))
    assert "reference rows" in refusal(path)


def test_a_status_needs_its_reason_and_ok_its_values(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda data: data["measurements"]["Elastic"].update(reason=None))
    assert "without a reason" in refusal(path)
    path = changed(tmp_path, lambda data: data["measurements"]["Elastic"].update(status="ok", reason=None))
    assert "status ok with 0 of 12 blocks" in refusal(path)


def test_a_measurement_that_lost_a_block_is_not_ok(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda data: data["measurements"]["Resize"]["blocks"].pop())
    assert "status ok with 11 of 12 blocks" in refusal(path)


def test_a_block_needs_a_place_in_its_run(tmp_path: Path) -> None:
    assert "a place that the run does not have" in refusal(changed(tmp_path, lambda d: first_block(d).update(round=6)))
    assert "round" in refusal(changed(tmp_path, lambda d: first_block(d).update(round=-1)))


def test_every_value_has_its_seed(tmp_path: Path) -> None:
    assert "one seed for each value" in refusal(changed(tmp_path, lambda data: first_block(data).update(seeds=[1])))


def test_values_without_conditions_are_refused(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda data: data.update(conditions=None))
    assert "conditions that are not recorded" in refusal(path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    with path.open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)
    assert "larger" in refusal(path)


@pytest.mark.parametrize("noop_sec", [math.nan, math.inf, 0.0])
def test_a_number_that_is_no_time_is_never_written(tmp_path: Path, noop_sec: float) -> None:
    result = a_result()
    found = result.measurements["Resize"]
    block = msgspec.structs.replace(found.blocks[0], noop_sec=noop_sec)
    broken = msgspec.structs.replace(found, blocks=(block, *found.blocks[1:]))
    with pytest.raises(BenchError, match="noop_sec"):
        write_result(
            tmp_path / "r.json", msgspec.structs.replace(result, measurements={**result.measurements, "Resize": broken})
        )
    assert not (tmp_path / "r.json").exists()


def test_a_statistic_that_does_not_follow_is_never_written(tmp_path: Path) -> None:
    result = a_result()
    summary = msgspec.structs.replace(result.measurements["Resize"].summary, median_sec=1e-9)
    lying = msgspec.structs.replace(result.measurements["Resize"], summary=summary)
    with pytest.raises(BenchError, match="does not follow"):
        write_result(
            tmp_path / "r.json", msgspec.structs.replace(result, measurements={**result.measurements, "Resize": lying})
        )
    assert not (tmp_path / "r.json").exists()


def test_statistics_may_differ_in_their_last_digits_only() -> None:
    one = Summary(0.1, 0.09, 0.11, 0.95, 0.02, 5, 30, None)
    assert same_numbers(one, msgspec.structs.replace(one, low_sec=0.09 * (1 + 1e-12)))
    assert not same_numbers(one, msgspec.structs.replace(one, low_sec=0.09 * (1 + 1e-6)))
    assert not same_numbers(one, msgspec.structs.replace(one, low_sec=None))
    assert not same_numbers(one, None)
    assert same_numbers(None, None)
