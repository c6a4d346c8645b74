"""A worker imports what its library needs and no more, and leaves the accelerator alone until it is used."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from bench_core.errors import ExitCode


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run([str(python), *arguments], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(
    ("library", "stranger"), [("pillow", "torch"), ("pillow", "kornia"), ("torchvision", "kornia")]
)
def test_an_adapter_does_not_load_another_library(
    python_of: Callable[[str], Path], library: str, stranger: str
) -> None:
    code = f"import sys, bench_adapters_torch.{library}; print({stranger!r} in sys.modules)"
    assert run(python_of(library), "-c", code).stdout.strip() == "False"


@pytest.mark.parametrize("library", ["torchvision", "kornia"])
def test_a_library_for_the_gpu_is_made_without_touching_it(python_of: Callable[[str], Path], library: str) -> None:
    code = (
        "import torch; from bench_core.adapter import load_library; from bench_core.catalog import load_catalog\n"
        f"library = load_library({library!r}, 'gpu')\n"
        "operation = library.build('HorizontalFlip', {})\n"
        "library.seed(1, operation)\n"
        "print(torch.cuda.is_initialized())"
    )
    assert run(python_of(library), "-c", code).stdout.strip() == "False"


def test_a_gpu_that_is_not_there_is_one_sentence_and_its_own_exit_code(python_of: Callable[[str], Path]) -> None:
    ended = run(python_of("torchvision"), "-m", "bench_core.contract", "torchvision", "--device", "gpu")
    assert ended.returncode == ExitCode.NO_DEVICE
    assert ended.stderr.strip().startswith("contract: no gpu:")


def test_a_library_refuses_a_device_it_does_not_have(python_of: Callable[[str], Path]) -> None:
    ended = run(python_of("pillow"), "-m", "bench_core.contract", "pillow", "--device", "gpu")
    assert ended.returncode == ExitCode.USAGE
    assert "pillow does not run on gpu" in ended.stderr
