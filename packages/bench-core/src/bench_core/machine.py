"""The machine a run was made on: what decides its speed, and nothing that names a person or a host.

What the system does not tell is None. Functions that read Linux's /proc and /sys take the folder these lie in.
"""

import csv
import io
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from bench_core import policy
from bench_core.threads import affinity

TOOL_TIMEOUT_SEC = 10.0
SYSTEM = Path("/")
# A worker inherits these, and they change its speed: all of it, or that of one library's instructions or memory alone.
SPEED_VARIABLES = (
    "LD_PRELOAD",
    "GLIBC_TUNABLES",
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_TRIM_THRESHOLD_",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "ATEN_CPU_CAPABILITY",
    "DNNL_MAX_CPU_ISA",
    "MKL_ENABLE_INSTRUCTIONS",
    "NPY_DISABLE_CPU_FEATURES",
    "ONEDNN_MAX_CPU_ISA",
    "OPENBLAS_CORETYPE",
    "OPENCV_CPU_DISABLE",
    "OPENCV_IPP",
)


def describe_machine(root: Path, system: Path = SYSTEM) -> dict[str, Any]:
    """What environment.json holds: JSON types, units in the names. `root` is the checkout whose commit is recorded."""
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    commit, dirty = git_state(root)
    return {
        "system": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "cpu": cpu_model(system),
        "cpus": os.cpu_count(),
        "cpu_cores": psutil.cpu_count(logical=False),
        "cpus_usable": list(affinity()),
        "cpu_quota": cpu_quota(system),
        "smt": smt(system),
        "governors": governors(system),
        "turbo": turbo(system),
        "memory_total_bytes": memory.total,
        "memory_available_bytes": memory.available,
        "swap_used_bytes": swap.used,
        "load_average": load_average(),
        "gpus": gpus(),
        "speed_variables": speed_variables(os.environ),
        "git_commit": commit,
        "git_dirty": dirty,
    }


def cpu_model(system: Path = SYSTEM) -> str:
    """The processor's name, as the system tells it."""
    for line in (_text(system / "proc/cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    if platform.system() == "Darwin":
        return _output(["sysctl", "-n", "machdep.cpu.brand_string"]) or platform.machine()
    return platform.processor() or platform.machine()


def governors(system: Path = SYSTEM) -> list[str]:
    """The frequency governors in use, each once; empty where the system does not tell (virtual machines)."""
    files = (system / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    return sorted({text for file in files if (text := _text(file))})


def turbo(system: Path = SYSTEM) -> bool | None:
    """Whether processors may exceed their nominal frequency."""
    cpu = system / "sys/devices/system/cpu"
    no_turbo, boost = _text(cpu / "intel_pstate/no_turbo"), _text(cpu / "cpufreq/boost")
    if no_turbo is not None:
        return no_turbo == "0"
    return None if boost is None else boost == "1"


def smt(system: Path = SYSTEM) -> bool | None:
    """Whether two of the processors may be one core."""
    active = _text(system / "sys/devices/system/cpu/smt/active")
    return None if active is None else active == "1"


def cpu_quota(system: Path = SYSTEM) -> float | None:
    """How many processors' worth of time the control groups of this process allow; None is no limit."""
    return min(_quotas(system), default=None)


def load_average() -> list[float]:
    """Over 1, 5 and 15 minutes; empty where there is none."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else []


def processors() -> int:
    """How many this process may use."""
    return len(affinity()) or os.cpu_count() or 1


def is_busy(averages: Sequence[float], processors: int) -> bool:
    """Whether so much else works on a machine that measurements on it are noisy, by its 1-minute load average."""
    return bool(averages) and averages[0] > policy.LOAD_FRACTION * processors


def gpus() -> list[dict[str, str]]:
    """NVIDIA's GPUs by nvidia-smi: name, memory_total, driver. Empty without the tool."""
    tool = shutil.which("nvidia-smi")
    fields = ("name", "memory_total", "driver")
    query = "--query-gpu=name,memory.total,driver_version"
    listed = _output([tool, query, "--format=csv,noheader"]) if tool else None
    rows = csv.reader(io.StringIO(listed or ""), skipinitialspace=True)
    return [dict(zip(fields, row, strict=True)) for row in rows if len(row) == len(fields)]


def speed_variables(environ: Mapping[str, str]) -> list[str]:
    """Names of the variables that are set and change the speed of a worker; their values may be paths."""
    return [name for name in SPEED_VARIABLES if environ.get(name)]


def git_state(root: Path) -> tuple[str | None, bool | None]:
    """The commit of the checkout and whether files differ from it; None without git or outside a repository."""
    if shutil.which("git") is None:
        return None, None
    commit = _output(["git", "-C", str(root), "rev-parse", "HEAD"])
    changed = _output(["git", "--no-optional-locks", "-C", str(root), "status", "--porcelain"])
    return commit, None if changed is None else bool(changed)


def _quotas(system: Path) -> Iterator[float]:
    """The limits of every control group around this process, both generations."""
    for line in (_text(system / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2: one hierarchy for everything
            for folder in _up(system / "sys/fs/cgroup", path):
                quota, _, period = (_text(folder / "cpu.max") or "max").partition(" ")
                if quota != "max":
                    yield int(quota) / int(period)
        elif "cpu" in controllers.split(","):
            for folder in _up(system / "sys/fs/cgroup" / controllers, path):
                quota = _text(folder / "cpu.cfs_quota_us") or "-1"
                period = _text(folder / "cpu.cfs_period_us") or "100000"
                if int(quota) > 0:
                    yield int(quota) / int(period)


def _up(top: Path, path: str) -> list[Path]:
    """The folder of a control group and those above it; in a container only `top` may be there."""
    below = Path(path.lstrip("/"))
    return [top / below, *(top / parent for parent in below.parents)]


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def _output(command: Sequence[str]) -> str | None:
    """What a tool prints; None when it fails or takes too long."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=TOOL_TIMEOUT_SEC, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
