"""What the scripts here share: running `bench run` as a person would, reading its bundle, and printing rows."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from bench_core import journal
from bench_core.bundle import Bundle, load_bundle
from bench_core.machine import describe_machine
from bench_core.matrix import find_root


class Run(msgspec.Struct, frozen=True):
    """A run and the wall time of its command."""

    bundle: Bundle
    state: journal.State
    wall_sec: float


@contextmanager
def bench_run(*arguments: str) -> Iterator[Run]:
    """Run `bench run ARGUMENTS` into a temporary folder and read what it wrote."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "run"
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "bench_core", "run", "--output", str(folder), *arguments], check=True)
        wall_sec = time.perf_counter() - began
        state, _ = journal.read_state(folder / journal.FILE_NAME)
        yield Run(load_bundle(folder), state, wall_sec)


def print_machine() -> None:
    """The machine that the figures below were measured on."""
    machine = describe_machine(find_root())
    print(f"machine: {machine['cpu']}, {machine['cpus']} processors, load {machine['load_average']} before the run")


def print_row(what: str, figure: str, target: str = "", *, met: bool | None = None) -> None:
    """One line: a figure, what was aimed at, and whether it was met."""
    verdict = "" if met is None else ("met" if met else "NOT MET")
    print(f"{what:<62} {figure:>16}   {target:<16} {verdict}".rstrip())
