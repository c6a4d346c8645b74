"""Seeds that are the same for every library and new for every value."""

import hashlib


def derive_seed(run_seed: int, *path: int | str) -> int:
    """A seed in [0, 2**31) for one place of the run, such as (round, value)."""
    text = ":".join(str(part) for part in (run_seed, *path))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def value_seeds(run_seed: int, round_: int, block: int, num_runs: int, blocks: int) -> tuple[int, ...]:
    """Seeds of the values of one block; a round's values are numbered through its blocks."""
    return tuple(derive_seed(run_seed, round_, value) for value in values_of_block(block, num_runs, blocks))


def values_of_block(block: int, num_runs: int, blocks: int) -> range:
    """Which of a process's `num_runs` values block number `block` takes; blocks differ by at most one value."""
    share, rest = divmod(num_runs, blocks)
    start = block * share + min(block, rest)
    return range(start, start + share + (block < rest))
