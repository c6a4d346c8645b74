"""The configuration as a value: what it refuses, how it is written, when two are the same."""

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench_core.config import Config, canonical, config_sha256, differences, dump_config
from bench_core.matrix import find_root


def config(**changes: Any) -> Config:
    values: dict[str, Any] = {
        "profile": "quick",
        "groups": ("torch_stack",),
        "libraries": ("torchvision", "kornia"),
        "scenarios": ("image-rgb",),
        "modes": ("micro",),
        "transforms": ("Resize", "Invert"),
    }
    return Config(**{**values, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_runs": 0}, "num_runs = 0: must be at least 1"),
        ({"processes": -1}, "processes = -1: must be at least 1"),
        ({"num_items": 0}, "num_items = 0: must be at least 1"),
        ({"seed": -1}, "seed = -1: must be at least 0"),
        ({"seed": 2**64}, "seed = 18446744073709551616: must be at most 9223372036854775807"),
        ({"processes": 10**9}, "processes = 1000000000: must be at most 10000"),
        ({"num_runs": 10**9}, "num_runs = 1000000000: must be at most 100000"),
        ({"timeout_sec": 1e308}, "at most 1e\\+07"),
        ({"blocks": 3, "num_runs": 2}, "blocks = 3 with num_runs = 2"),
        ({"timeout_sec": 0.0}, "timeout_sec = 0.0: must be a positive number of seconds"),
        ({"timeout_sec": float("inf")}, "timeout_sec = inf"),
        ({"slow_threshold_sec": float("nan")}, "slow_threshold_sec = nan"),
        ({"isolation": "frok"}, "unknown isolation 'frok'; did you mean 'fork'?"),
        ({"transforms": ()}, "transforms is empty"),
        ({"profile": "../elsewhere"}, "it names a folder"),
    ],
)
def test_a_value_out_of_range_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        config(**changes)


def test_no_limit_on_items_is_written_as_all() -> None:
    assert tomllib.loads(dump_config(config(num_items=None)))["num_items"] == "all"


def test_what_is_absent_is_not_written() -> None:
    written = tomllib.loads(dump_config(config()))
    assert {"data_dir", "memory_limit_bytes"}.isdisjoint(written)


def test_the_written_file_says_how_to_run_it_again() -> None:
    assert "bench run --config" in dump_config(config()).splitlines()[0]


def test_a_folder_below_home_is_written_without_the_name_of_its_owner() -> None:
    home = Path.home()
    assert canonical(config(data_dir=str(home / "images")))["data_dir"] == "~/images"
    assert canonical(config(data_dir="/data/images"))["data_dir"] == "/data/images"


def test_the_profiles_name_does_not_change_the_digest() -> None:
    assert config_sha256(config(profile="quick")) == config_sha256(config(profile="other"))


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 5},
        {"num_items": None},
        {"transforms": ("Invert",)},
        {"data_dir": "/data"},
        {"disable_slow_skip": True},
        {"memory_limit_bytes": 1},
    ],
)
def test_whatever_decides_what_is_measured_changes_the_digest(changes: dict[str, Any]) -> None:
    assert config_sha256(config(**changes)) != config_sha256(config())


def test_equal_configurations_have_no_differences() -> None:
    assert differences(config(profile="a"), config(profile="b")) == []


def test_a_difference_is_named_with_both_values() -> None:
    assert differences(config(seed=1), config(seed=2)) == ["seed: 1 there, 2 here"]
    assert differences(config(), config(data_dir="/data")) == ["data_dir: nothing there, /data here"]
    assert differences(config(num_items=None), config(num_items=4)) == ["num_items: all there, 4 here"]


def test_lists_differ_by_what_only_one_side_has() -> None:
    found = differences(config(transforms=("Resize", "Invert")), config(transforms=("Resize", "Pad")))
    assert found == ["transforms: only there Invert, only here Pad"]


def test_the_documented_defaults_are_the_real_ones() -> None:
    document = find_root(Path(__file__).parent) / "docs" / "configuration.md"
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*?) \|", document.read_text(encoding="utf-8"), re.MULTILINE)
    written = {key: text.strip("`") for key, text in rows}
    defaults = msgspec.structs.asdict(config())
    assert written.keys() >= defaults.keys()
    plain = {key: value for key, value in defaults.items() if isinstance(value, int | float)}
    real = {key: str(value).lower().removesuffix(".0") for key, value in plain.items()}
    assert {key: written[key] for key in plain} == real
