"""Whether the asked device is on this machine: found out without importing a framework or building an environment."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

from bench_core.errors import BenchError, ExitCode

QUERY_TIMEOUT_SEC = 30.0
NVIDIA_GPUS = Path("/proc/driver/nvidia/gpus")


def require(device: str) -> None:
    """Let a run on `device` ("cpu" or "gpu") go on only where it can.

    Raises:
        BenchError: this machine has no such device (ExitCode.NO_DEVICE).
    """
    if device == "gpu" and gpu_backend() is None:
        hidden = "" if _cuda_visible() else ": CUDA_VISIBLE_DEVICES hides all of them"
        raise BenchError(
            f"no GPU on this machine (NVIDIA with its driver, or Apple silicon){hidden}; "
            "measure on the CPU (--device cpu) or go to a machine that has one",
            ExitCode.NO_DEVICE,
        )


def gpu_backend() -> str | None:
    """ "cuda" or "mps", whichever this machine's GPU is driven by; None when it has no GPU."""
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return "mps"
    if _cuda_visible() and _nvidia_gpu():
        return "cuda"
    return None


def _cuda_visible() -> bool:
    """False when the user's environment hides every NVIDIA GPU."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return visible is None or visible.strip() not in {"", "-1"}


def _nvidia_gpu() -> bool:
    """True when the driver lists a GPU. Its tool is asked first: a container may have the driver's files but no GPU."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return NVIDIA_GPUS.is_dir() and any(NVIDIA_GPUS.iterdir())
    try:
        listed = subprocess.run(
            [tool, "--list-gpus"], capture_output=True, text=True, timeout=QUERY_TIMEOUT_SEC, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return listed.returncode == 0 and listed.stdout.startswith("GPU ")
