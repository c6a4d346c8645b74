"""What disturbs a run from its beginning: other work on this machine, and other runs of ours."""

import os
from collections.abc import Sequence

import psutil

from bench_core import machine, policy
from bench_core.environment import WORKER_MODULES
from bench_core.invocation import command


def warnings() -> list[str]:
    """A sentence for each thing that makes what is measured now noisy: the numbers, and what to do."""
    return sentences(machine.load_average(), machine.processors(), other_runs())


def sentences(averages: Sequence[float], processors: int, others: Sequence[int]) -> list[str]:
    """The same from what was found: load averages, processors, and the processes that conduct other runs."""
    told = []
    if machine.is_busy(averages, processors):
        quiet = policy.LOAD_FRACTION * processors
        told.append(
            f"this machine is busy: load {averages[0]:.2f} over the last minute on {processors} processors, where "
            f"{quiet:g} is quiet. What is measured now is noisy: stop what else works here, or wait; "
            f"{command('doctor')} shows more"
        )
    if others:
        named = ", ".join(map(str, others))
        they = f"another run measures on this machine (process {named})"
        if len(others) > 1:
            they = f"{len(others)} other runs measure on this machine (processes {named})"
        told.append(f"{they}, and each disturbs the other: let that end first, or stop this one")
    return told


def other_runs() -> tuple[int, ...]:
    """Processes that conduct other runs on this machine, as far as it shows them: the parents of measuring workers."""
    found = set()
    for process in psutil.process_iter(["cmdline", "ppid"]):
        if (process.info["cmdline"] or [])[1:] in [["-m", module] for module in WORKER_MODULES]:
            found.add(process.info["ppid"])
    return tuple(sorted(found - {os.getpid()}))
