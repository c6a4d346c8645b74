"""Metrics of one's own: registered in this process, or functions in a module of one's own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from bench_core import metrics
from bench_core.errors import BenchError
from bench_core.metrics import Values
from bench_score import metrics as own
from bench_score.metrics import MetricFile, find_metric, register_metric, registered_metrics

VALUES = Values(np.array([0.0, 0.0, 0.0]), np.array([1.0, -2.0, 6.0]), np.array([0, 1, 2]))


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(own, "_registered", {})
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def in_file(folder: Path, text: str, function: str = "mine:spread", module: str = "mine") -> MetricFile:
    (folder / f"{module}.py").write_text(text)
    return MetricFile(name="spread", function=function, folder=str(folder))


def test_a_registered_function_is_a_metric() -> None:
    @register_metric("bias")
    def bias(reference: np.ndarray, predicted: np.ndarray) -> float:
        return float((predicted - reference).mean())

    assert registered_metrics() == ("bias",)
    assert metrics.value_of(find_metric("bias", []), VALUES) == pytest.approx(5 / 3)


@pytest.mark.parametrize("name", ["mae", "r2", "q95"])
def test_a_built_in_name_is_not_registered(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is a built-in metric"):
        register_metric(name)


def test_a_function_in_a_module_beside_the_configuration_is_a_metric(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import numpy\nptp = numpy.ptp\n")
    mine = in_file(tmp_path, "from helper import ptp\n\ndef spread(reference, predicted): return ptp(predicted)\n")
    before = list(sys.path)
    assert metrics.value_of(find_metric("spread", [mine]), VALUES) == 8
    assert sys.path == before


def test_its_values_are_in_the_unit_of_the_column(tmp_path: Path) -> None:
    mine = in_file(tmp_path, "def spread(reference, predicted): return max(predicted)\n")
    assert metrics.value_of(find_metric("spread", [mine], 1000.0), VALUES) == 6000


def test_an_installed_module_needs_no_folder() -> None:
    mine = MetricFile(name="distance", function="math:dist")
    assert metrics.value_of(find_metric("distance", [mine]), VALUES) == pytest.approx(41**0.5)


@pytest.mark.parametrize(
    ("text", "function", "words"),
    [
        ("", "mine:spread", "has no attribute 'spread'"),
        ("", "yours:spread", "No module named 'yours'"),
        ("spread = 3\n", "mine:spread", "is no function"),
        ("1 / 0\n", "mine:spread", "ZeroDivisionError"),
        ("def spread(:\n", "mine:spread", "SyntaxError"),
        ("import torch_of_mine\n", "mine:spread", "No module named 'torch_of_mine'"),
    ],
)
def test_a_function_that_cannot_be_had_is_a_sentence(tmp_path: Path, text: str, function: str, words: str) -> None:
    with pytest.raises(BenchError, match="custom metric 'spread'") as caught:
        find_metric("spread", [in_file(tmp_path, text, function)])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_metric_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(BenchError, match="did you mean 'rmse'"):
        find_metric("rsme", [])
