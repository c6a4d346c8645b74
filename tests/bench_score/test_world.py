"""One process alone, and what says that there are several. Several are tested where torch is."""

import numpy as np
import pytest
from bench_core.errors import BenchError
from bench_score import world


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WORLD_SIZE", "LOCAL_RANK", *world.LAUNCHED):
        monkeypatch.delenv(name, raising=False)


def test_a_process_that_nobody_launched_is_alone_and_needs_no_torch() -> None:
    alone = world.join("cpu")
    assert (alone.rank, alone.size) == (0, 1)
    arrays = {"energy": np.array([1.0, np.nan])}
    merged = alone.merge("predict", arrays, {"energy": np.array([True, True])})
    assert np.array_equal(merged["energy"], arrays["energy"], equal_nan=True)
    assert alone.tell(["a", "b"]) == ["a", "b"]
    alone.close()


@pytest.mark.parametrize(("size", "shared"), [("1", False), ("2", True), ("", False)])
def test_a_launcher_says_how_many_there_are(monkeypatch: pytest.MonkeyPatch, size: str, shared: bool) -> None:
    for name in world.LAUNCHED:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("WORLD_SIZE", size)
    assert world.is_shared() is shared


@pytest.mark.parametrize("absent", world.LAUNCHED)
def test_a_size_that_no_launcher_set_is_refused(monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    for name in world.LAUNCHED:
        monkeypatch.setenv(name, "1")
    monkeypatch.delenv(absent)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(BenchError, match=f"WORLD_SIZE is 2 in the environment, and {absent} is not set"):
        world.is_shared()


@pytest.mark.parametrize("size", ["two", "1.5", "-1"])
def test_a_launcher_that_says_something_else_is_refused(monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    monkeypatch.setenv("WORLD_SIZE", size)
    with pytest.raises(BenchError, match="WORLD_SIZE"):
        world.is_shared()


def test_the_place_among_others_is_the_launchers_word(monkeypatch: pytest.MonkeyPatch) -> None:
    assert world.rank_of_launcher() == 0
    monkeypatch.setenv("RANK", "3")
    assert world.rank_of_launcher() == 3
