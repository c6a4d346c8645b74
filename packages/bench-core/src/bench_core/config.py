"""A run's configuration: profile or file, then `--set`, then flags; resolved once, written beside the results."""

import msgspec

from bench_core import policy


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What to measure and how, after every override. Everything a run depends on that is not machine or lock.

    `data_dir` None is the embedded sample; `num_items` None is every item of the dataset.
    """

    profile: str
    groups: tuple[str, ...]
    libraries: tuple[str, ...]
    scenarios: tuple[str, ...]
    modes: tuple[str, ...]
    device: str
    transforms: tuple[str, ...]
    num_items: int | None = policy.NUM_ITEMS
    num_runs: int = policy.NUM_RUNS
    blocks: int = policy.BLOCKS
    processes: int = policy.PROCESSES
    threads: int = policy.THREADS
    seed: int = policy.SEED
    isolation: str = "fork"
    data_dir: str | None = None
    skip_unreadable: bool = False
    slow_threshold_sec: float = policy.SLOW_THRESHOLD_SEC
    disable_slow_skip: bool = False
    timeout_sec: float = policy.TIMEOUT_SEC
    memory_limit_bytes: int | None = None
