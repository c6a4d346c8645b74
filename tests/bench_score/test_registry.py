"""Architectures by a decorator, families by entry point: names that nobody knows, and what is not installed here."""

import subprocess
import sys

import pytest
from bench_core.errors import BenchError, ExitCode
from bench_score import registry
from bench_score.registry import find_architecture, find_family, register_model


@pytest.fixture
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_builders", {})


@pytest.mark.usefixtures("nothing_registered")
def test_an_architecture_is_found_under_the_name_it_was_registered_with() -> None:
    @register_model("my-net")
    def build(arguments: object) -> object:
        return arguments

    assert find_architecture("my-net") is build


@pytest.mark.usefixtures("nothing_registered")
def test_a_name_is_registered_once() -> None:
    register_model("my-net")(lambda arguments: arguments)
    with pytest.raises(ValueError, match="'my-net' is registered twice"):
        register_model("my-net")(lambda arguments: arguments)


@pytest.mark.usefixtures("nothing_registered")
def test_an_unknown_architecture_is_refused_with_the_nearest_one() -> None:
    register_model("my-net")(lambda arguments: arguments)
    with pytest.raises(BenchError) as caught:
        find_architecture("mynet", source="model 'a'")
    assert str(caught.value) == "model 'a': unknown architecture 'mynet'; did you mean 'my-net'? known: my-net"
    assert caught.value.code is ExitCode.USAGE


def test_an_unknown_family_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(BenchError, match=r"unknown family .shcnet.; did you mean .schnet.\?") as caught:
        find_family("shcnet")
    assert caught.value.code is ExitCode.USAGE


def test_a_family_whose_library_is_not_here_names_its_environment() -> None:
    with pytest.raises(BenchError) as caught:
        find_family("schnet")
    assert str(caught.value) == (
        "family 'schnet' cannot be imported in this environment (No module named 'torch'); it has one of its own: "
        "bench env schnet builds it"
    )
    assert caught.value.code is ExitCode.ENVIRONMENT


def test_the_registry_loads_no_torch_and_no_numerics() -> None:
    code = "import sys, bench_score.registry; print({'torch', 'torch_geometric', 'ase'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
