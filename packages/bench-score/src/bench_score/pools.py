"""Thread pools of the process that scores: asked for, read back, and refused where they answer something else."""

import sys

from bench_core import threads
from bench_core.errors import BenchError, ExitCode

TORCH = "torch"


def ask(count: int) -> None:
    """Ask every pool that is loaded for `count` threads. Whoever loads one more afterwards asks again."""
    threads.limit_pools(count)
    if TORCH in sys.modules:
        sys.modules[TORCH].set_num_threads(count)


def read() -> dict[str, int]:
    """Threads of every pool, torch's own among them where it is imported."""
    found = threads.read_pools()
    if TORCH in sys.modules:
        found[TORCH] = int(sys.modules[TORCH].get_num_threads())
    return found


def require(count: int) -> None:
    """Ask, read back, and compare.

    Raises:
        BenchError: a pool answers another number.
    """
    ask(count)
    wrong = threads.disagreements(count, read())
    if wrong:
        raise BenchError(
            f"asked for {count} thread(s), but {', '.join(wrong)}; say another number by threads", ExitCode.ENVIRONMENT
        )
