"""`bench doctor`: what on this machine makes measurements noisy, slow or impossible, and what to do about it."""

import os
import shutil
from collections.abc import Mapping
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

import msgspec
import psutil

from bench_core import machine, policy, sample
from bench_core.environment import needs_build
from bench_core.errors import BenchError
from bench_core.invocation import command
from bench_core.matrix import Matrix
from bench_core.threads import VARIABLES

# Modules of bench-core[conduct], which a run needs and a plan does not.
CONDUCTING = ("filelock", "scipy", "tomli_w", "tqdm")


class Level(StrEnum):
    OK = "ok"
    UNKNOWN = "?"  # the system does not tell
    WARN = "warn"
    STOP = "stop"  # a run is not possible


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at, and what to do when it is not as it should be."""

    name: str
    level: Level
    found: str
    advice: str = ""


def examine(
    root: Path, matrix: Matrix, environ: Mapping[str, str] = os.environ, system: Path = machine.SYSTEM
) -> list[Check]:
    """Every check, in the order of how often it is the cause."""
    return [
        check_load(machine.load_average(), machine.processors()),
        check_governor(machine.governors(system)),
        check_turbo(machine.turbo(system)),
        check_smt(machine.smt(system)),
        check_quota(machine.cpu_quota(system), machine.processors()),
        check_swap(psutil.swap_memory().used),
        check_battery(),
        check_variables(environ),
        check_sample(root),
        *(check_environment(root, matrix, group) for group in matrix.environments()),
        check_packages(),
        check_disk(root),
        check_results(root),
    ]


def check_load(averages: list[float], processors: int) -> Check:
    if not averages:
        return Check("load", Level.UNKNOWN, "this system has no load average")
    found = f"{averages[0]:.2f} over the last minute, on {processors} processors"
    if not machine.is_busy(averages, processors):
        return Check("load", Level.OK, found)
    return Check("load", Level.WARN, found, "something else is working: stop it, or wait")


def check_governor(governors: list[str]) -> Check:
    if not governors:
        return Check("governor", Level.UNKNOWN, "not shown here, as in most virtual machines")
    found = ", ".join(governors)
    if governors == ["performance"]:
        return Check("governor", Level.OK, found)
    advice = "frequencies follow the load; sudo cpupower frequency-set -g performance"
    return Check("governor", Level.WARN, found, advice)


def check_turbo(active: bool | None) -> Check:
    if active is None:
        return Check("turbo", Level.UNKNOWN, "not shown here, as in most virtual machines")
    if not active:
        return Check("turbo", Level.OK, "off")
    advice = (
        "speed depends on temperature and on other cores; off until the next start with "
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo (Intel), or "
        "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost (others)"
    )
    return Check("turbo", Level.WARN, "on", advice)


def check_smt(active: bool | None) -> Check:
    if active is None:
        return Check("siblings", Level.UNKNOWN, "not shown here")
    if not active:
        return Check("siblings", Level.OK, "every processor is a core of its own, as far as this system shows")
    advice = "leave the machine alone while measuring, or echo off | sudo tee /sys/devices/system/cpu/smt/control"
    return Check("siblings", Level.WARN, "two processors share a core (SMT)", advice)


def check_quota(quota: float | None, processors: int) -> Check:
    if quota is None:
        return Check("quota", Level.OK, "no limit on processor time")
    found = f"{quota:.2f} of {processors} processors"
    if quota >= processors:
        return Check("quota", Level.OK, found)
    advice = "a measurement is halted when it is used up; give the container whole processors (cpuset), no quota"
    return Check("quota", Level.WARN, found, advice)


def check_swap(used_bytes: int) -> Check:
    found = f"{used_bytes / 1e6:.0f} MB in use"
    if used_bytes <= policy.SWAP_USED_BYTES:
        return Check("swap", Level.OK, found)
    return Check("swap", Level.WARN, found, "memory was short: close what needs it, or measure fewer --num-items")


def check_battery() -> Check:
    # Not on every system, and None on a machine without one.
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if battery is None or battery.power_plugged:
        return Check("power", Level.OK, "mains" if battery else "no battery")
    return Check("power", Level.WARN, "on battery", "plug it in: on battery, processors are slowed down")


def check_variables(environ: Mapping[str, str]) -> Check:
    inherited = machine.speed_variables(environ)
    if inherited:
        found = f"{', '.join(inherited)} set, which changes what is measured"
        return Check("variables", Level.WARN, found, f"unset {' '.join(inherited)}")
    asked = [f"{name}={environ[name]}" for name in VARIABLES if environ.get(name)]
    if asked:
        advice = f"workers replace them (--threads); for equal conditions elsewhere: unset {' '.join(VARIABLES)}"
        return Check("variables", Level.WARN, f"{', '.join(asked)} set", advice)
    return Check("variables", Level.OK, "no thread or allocator variable is set")


def check_sample(root: Path) -> Check:
    folder = sample.sample_folder(root)
    if folder.is_dir():
        return Check("dataset", Level.OK, f"the embedded sample is built ({sample.VERSION})")
    if find_spec("skimage") is None:
        advice = f"install bench-core[sample] and run {command('sample')}, or use your own images (--data-dir)"
        return Check("dataset", Level.WARN, "the embedded sample is not built", advice)
    return Check("dataset", Level.WARN, "the embedded sample is not built", f"build it: {command('sample')} (a second)")


def check_environment(root: Path, matrix: Matrix, group: str) -> Check:
    try:
        reason = needs_build(root, matrix, group)
    except BenchError as error:
        return Check(group, Level.STOP, "its environment cannot be built", str(error))
    if reason is None:
        return Check(group, Level.OK, "its environment is built")
    if find_spec("uv") is None:
        advice = "uv is not installed beside this Python: make setup, or measure in this Python (--here)"
        return Check(group, Level.STOP, f"its environment is to be built ({reason})", advice)
    advice = f"{command('env', group)} builds it now, else the run does; minutes"
    return Check(group, Level.WARN, f"its environment is to be built ({reason})", advice)


def check_packages() -> Check:
    missing = [name for name in CONDUCTING if find_spec(name) is None]
    if not missing:
        return Check("packages", Level.OK, "all that a run needs is installed")
    advice = "install the extra: bench-core[conduct]"
    return Check("packages", Level.STOP, f"{', '.join(missing)} not installed", advice)


def check_disk(root: Path) -> Check:
    free = shutil.disk_usage(root).free
    found = f"{free / 1e9:.1f} GB free"
    if free < policy.RUN_BYTES:
        return Check("disk", Level.STOP, found, f"a run needs {policy.RUN_BYTES / 1e9:.1f} GB: delete old ones")
    if free < policy.ENVIRONMENT_BYTES:
        advice = f"building an environment may need {policy.ENVIRONMENT_BYTES / 1e9:.0f} GB"
        return Check("disk", Level.WARN, found, advice)
    return Check("disk", Level.OK, found)


def check_results(root: Path) -> Check:
    folder = root / "results"
    nearest = folder if folder.exists() else root
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return Check("results", Level.OK, "the folder for results can be written")
    return Check("results", Level.STOP, f"{nearest} cannot be written", "give the run another folder: --output")
