"""Who is measured when: a new random order each round, and short alternating blocks inside it. Pure."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from bench_core import policy
from bench_core.seeds import derive_seed, values_of_block


class Slot(msgspec.Struct, frozen=True):
    """One block to measure."""

    round: int
    block: int
    position: int  # in the round's order, from 0
    job: str
    transform: str


def round_slots(jobs: Mapping[str, Sequence[str]], round_: int, blocks: int, run_seed: int) -> Iterator[Slot]:
    """All blocks of one round, in the order they are measured.

    Transforms come in random order. For one transform the jobs that have it alternate: in random order in the first
    block, reversed in the second, and so on, so that a linear drift of the machine cancels between every two blocks.

    Args:
        jobs: job -> the transforms it is to measure.
    """
    order = random.Random(derive_seed(run_seed, round_, "order"))  # noqa: S311  an order, not a secret
    transforms = list(dict.fromkeys(name for names in jobs.values() for name in names))
    order.shuffle(transforms)
    position = 0
    for transform in transforms:
        having = [job for job, names in jobs.items() if transform in names]
        order.shuffle(having)
        for block in range(blocks):
            for job in having if block % 2 == 0 else reversed(having):
                yield Slot(round_, block, position, job, transform)
                position += 1


def choose_loops(sec_per_item: float, num_items: int) -> int:
    """Passes over the items that make one value last at least policy.MIN_VALUE_SEC."""
    return max(1, math.ceil(policy.MIN_VALUE_SEC / max(sec_per_item * num_items, 1e-9)))


def expected_sec(sec_per_item: float, num_items: int, num_runs: int, blocks: int, block: int) -> float:
    """What a block should take: its values and warm-ups, and the cost of a process."""
    passes = choose_loops(sec_per_item, num_items) * (len(values_of_block(block, num_runs, blocks)) + policy.WARMUPS)
    return passes * num_items * sec_per_item + policy.ESTIMATE_BLOCK_SEC
