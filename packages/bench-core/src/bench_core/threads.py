"""Threads: asked for before anything heavy is imported, read back afterwards."""

import os
from collections.abc import Mapping

# Every thread pool that numpy, torch, OpenCV or a BLAS may bring reads one of these, once, when it is loaded.
VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OPENCV_FOR_THREADS_NUM",
    "NUMBA_NUM_THREADS",
)


def thread_environment(threads: int) -> dict[str, str]:
    """Environment variables that ask every known pool for `threads` threads."""
    return dict.fromkeys(VARIABLES, str(threads))


def read_pools() -> dict[str, int]:
    """Threads of every BLAS and OpenMP pool loaded in this process, by API and position."""
    from threadpoolctl import threadpool_info

    pools = sorted(threadpool_info(), key=lambda pool: (pool["internal_api"], pool["filepath"]))
    return {f"{pool['internal_api']}.{i}": int(pool["num_threads"]) for i, pool in enumerate(pools)}


def limit_pools(threads: int) -> None:
    """Ask the pools that are loaded already, in a process whose environment did not."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)  # for good: nothing takes it back


def disagreements(asked: int, read: Mapping[str, int]) -> list[str]:
    """One phrase for each pool that answers another number than was asked for."""
    return [f"{pool} answers {answer}" for pool, answer in read.items() if answer != asked]


def affinity() -> tuple[int, ...]:
    """Processors this process may run on; empty where the system does not tell."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()
