"""Who is measured when: transforms in a new random order each round, and turns inside each. Pure."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from bench_core import policy
from bench_core.seeds import derive_seed, values_of_block


class Block(msgspec.Struct, frozen=True):
    """One transform, measured by the jobs that have it, in turns."""

    round: int
    block: int
    position: int  # in the round's order, from 0
    transform: str
    jobs: tuple[str, ...]  # in the order of their turns


def round_blocks(jobs: Mapping[str, Sequence[str]], round_: int, blocks: int, run_seed: int) -> Iterator[Block]:
    """All blocks of one round, in the order they are measured.

    Transforms come in random order, each in `blocks` blocks one after the other. The jobs of a block take turns, value
    by value, in an order that is random and the same in every turn of the block: reversing it would let the last one
    of a turn go twice in a row, with its memory still in the caches.

    Args:
        jobs: job -> the transforms it is to measure.
    """
    order = random.Random(derive_seed(run_seed, round_, "order"))  # noqa: S311  an order, not a secret
    transforms = list(dict.fromkeys(name for names in jobs.values() for name in names))
    order.shuffle(transforms)
    position = 0
    for transform in transforms:
        having = [job for job, names in jobs.items() if transform in names]
        for block in range(blocks):
            order.shuffle(having)
            yield Block(round_, block, position, transform, tuple(having))
            position += 1


def shuffled(jobs: Sequence[str], round_: int, run_seed: int) -> list[str]:
    """The jobs in the order in which a round starts their workers."""
    order = random.Random(derive_seed(run_seed, round_, "start"))  # noqa: S311  an order, not a secret
    return order.sample(jobs, len(jobs))


def choose_loops(sec_per_item: float, num_items: int) -> int:
    """Passes over the items that make one value last at least policy.MIN_VALUE_SEC."""
    return max(1, math.ceil(policy.MIN_VALUE_SEC / max(sec_per_item * num_items, 1e-9)))


def expected_sec(sec_per_item: float, num_items: int, num_runs: int, blocks: int, block: int) -> float:
    """What a block should take: its values and warm-ups, and the cost of a process."""
    passes = choose_loops(sec_per_item, num_items) * (len(values_of_block(block, num_runs, blocks)) + policy.WARMUPS)
    return passes * num_items * sec_per_item + policy.ESTIMATE_BLOCK_SEC
