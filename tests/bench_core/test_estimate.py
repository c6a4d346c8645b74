"""The estimate of a plan's duration."""

import msgspec
from bench_core import policy
from bench_core.config import Config
from bench_core.estimate import estimate_minutes

CONFIG = Config(
    profile="test",
    groups=("g",),
    libraries=("a",),
    scenarios=("s",),
    modes=("micro",),
    transforms=("T",),
    num_items=100,
    num_runs=4,
    blocks=2,
    processes=3,
    isolation="fork",
)


def spawned() -> Config:
    return msgspec.structs.replace(CONFIG, isolation="spawn")


def test_one_transform_costs_starts_blocks_passes_and_a_preflight() -> None:
    pass_sec = 100 * policy.ESTIMATE_ITEM_SEC
    blocks_sec = 2 * (policy.ESTIMATE_BLOCK_SEC + policy.WARMUPS * pass_sec) + 4 * pass_sec
    preflight_sec = policy.ESTIMATE_BLOCK_SEC + policy.PREFLIGHT_ITEMS * policy.ESTIMATE_ITEM_SEC
    expected = 3 * (policy.ESTIMATE_START_SEC + blocks_sec) + preflight_sec
    assert abs(estimate_minutes([1], CONFIG, processors=2) * 60 - expected) < 1e-9


def test_workers_start_in_parallel_on_the_processors_there_are() -> None:
    one, two = (estimate_minutes([0] * 4, CONFIG, processors=n) * 60 for n in (1, 2))
    assert abs(one - 4 * 3 * policy.ESTIMATE_START_SEC) < 1e-9
    assert abs(two - 2 * 3 * policy.ESTIMATE_START_SEC) < 1e-9


def test_measuring_is_not_parallel() -> None:
    assert estimate_minutes([10, 10], CONFIG, processors=2) > 1.5 * estimate_minutes([10], CONFIG, processors=2)


def test_spawned_measurements_pay_an_import_each() -> None:
    assert estimate_minutes([1], spawned(), processors=1) > estimate_minutes([1], CONFIG, processors=1)
