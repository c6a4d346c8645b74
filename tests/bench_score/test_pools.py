"""Pools that answer what they were asked for, and one that cannot."""

from pathlib import Path

import numpy as np  # noqa: F401  brings a pool
import pytest
from bench_core.results import Status
from bench_core.threads import read_pools
from bench_score import pools
from bench_score.conductor import conduct
from bench_score.parts import merge_parts
from bench_score.runner import here
from bench_score.sources import load_dataset

from tests.bench_score.score_run import make_config, model

TOO_MANY = 5000  # no BLAS is built for so many


@pytest.mark.parametrize("count", [2, 1])
def test_pools_answer_what_they_were_asked_for(count: int) -> None:
    pools.require(count)
    assert set(read_pools().values()) == {count}
    assert pools.read() == read_pools()  # torch is not imported here, and stays so


def test_a_pool_that_answers_another_number_is_the_reason_of_a_row_without_numbers(tmp_path: Path) -> None:
    config = make_config(tmp_path, [model("perfect")], threads=TOO_MANY)
    entries = config.entries()
    conduct(*(config, entries, load_dataset(config.data), here(entries)), cache=tmp_path / "cache", show_progress=False)
    (row,) = merge_parts(config).rows
    assert row.status is Status.UNAVAILABLE
    assert f"asked for {TOO_MANY} thread(s), but openblas.0 answers " in str(row.reason)
    assert row.scores == {}
