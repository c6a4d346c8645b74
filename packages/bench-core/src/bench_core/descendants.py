"""What a process started, and what that left behind: found and ended, in whatever session it hides. Only on Linux.

Elsewhere nothing is found, and process groups have to do.
"""

import contextlib
import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Set
from pathlib import Path
from typing import NoReturn

import psutil

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
TRIES = 100  # what starts new processes faster than they are killed is not worth more


def adopt() -> None:
    """From now on, who loses its parent below this process becomes a child of this process."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(yes: bool) -> None:
    """Whether this process is killed when its parent ends: for the time in which it cannot notice by itself."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL if yes else 0)


def children() -> frozenset[int]:
    """Children of this process."""
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that ended meanwhile
            found.update(int(pid) for pid in task.read_text(encoding="ascii").split())
    return frozenset(found)


def end_children(but: Set[int] = frozenset()) -> None:
    """Kill every child that is not in `but`, and then what it leaves to this process."""
    for _ in range(TRIES):
        strays = children() - but
        if not strays:
            return
        for pid in strays:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def end_process(main: Callable[[], int]) -> NoReturn:
    """Run a worker's `main`, and end with its code and all it started. Libraries tear down noisily, and slowly."""
    code = 1
    try:
        code = main()
    except Exception:  # noqa: BLE001  the log's last lines say why, and nothing after them
        traceback.print_exc()
    sys.stderr.flush()
    end_children()
    os._exit(code)


def below(pid: int) -> list[psutil.Process]:
    """Every process below another one, at any depth."""
    found: list[psutil.Process] = []
    with contextlib.suppress(psutil.NoSuchProcess):
        found += psutil.Process(pid).children(recursive=True)
    return found


def ending(code: int) -> str:
    """How a process ended, for people: from its exit code, or minus the signal that ended it."""
    if code >= 0:
        return f"ended with exit code {code}"
    hint = " (out of memory?)" if -code == signal.SIGKILL else ""
    return f"was killed by {signal.Signals(-code).name}{hint}"


def _prctl(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
