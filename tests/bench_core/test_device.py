"""The driver's tool is a small script here; everything else is the real thing."""

import platform
from pathlib import Path

import pytest
from bench_core import device
from bench_core.errors import BenchError, ExitCode


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Linux machine with nothing but an empty folder on its PATH, which is returned."""
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(device, "NVIDIA_GPUS", tmp_path / "gpus")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install_tool(folder: Path, script: str) -> None:
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)


def test_the_cpu_is_on_every_machine(linux: Path) -> None:
    device.require("cpu")


def test_a_machine_without_a_gpu_is_refused_with_its_own_code(linux: Path) -> None:
    with pytest.raises(BenchError, match="no GPU on this machine") as caught:
        device.require("gpu")
    assert caught.value.code == ExitCode.NO_DEVICE
    assert "\n" not in str(caught.value)


def test_a_gpu_that_the_driver_s_tool_lists_is_used(linux: Path) -> None:
    install_tool(linux, "echo 'GPU 0: Some model (UUID: GPU-1)'")
    device.require("gpu")
    assert device.gpu_backend() == "cuda"


@pytest.mark.parametrize(
    "script", ["echo 'No devices were found'", "echo 'NVIDIA-SMI has failed: no driver'; exit 9", "exit 0"]
)
def test_a_driver_without_a_gpu_is_no_gpu(linux: Path, script: str) -> None:
    device.NVIDIA_GPUS.mkdir()
    (device.NVIDIA_GPUS / "0000:01:00.0").mkdir()  # a container sees the host's list
    install_tool(linux, script)
    assert device.gpu_backend() is None


def test_without_the_tool_the_driver_s_list_decides(linux: Path) -> None:
    device.NVIDIA_GPUS.mkdir()
    assert device.gpu_backend() is None
    (device.NVIDIA_GPUS / "0000:01:00.0").mkdir()
    assert device.gpu_backend() == "cuda"


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_a_hidden_gpu_is_not_used_and_the_reason_is_said(
    linux: Path, monkeypatch: pytest.MonkeyPatch, hidden: str
) -> None:
    install_tool(linux, "echo 'GPU 0: Some model (UUID: GPU-1)'")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    with pytest.raises(BenchError, match="CUDA_VISIBLE_DEVICES hides"):
        device.require("gpu")


def test_apple_silicon_has_a_gpu_and_an_intel_mac_has_none(linux: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert device.gpu_backend() == "mps"
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert device.gpu_backend() is None
