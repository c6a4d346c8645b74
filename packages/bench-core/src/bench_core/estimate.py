"""How long a plan should take: a simple model whose constants stand in policy.py. It decides nothing.

Every round starts one worker process per job, as many at a time as there are processors; measuring itself is never
parallel. A transform costs its preflight once, and in every round its blocks: each a fixed cost, one untimed pass and
its share of the values. A value lasts a pass over the items, or MIN_VALUE_SEC where that is longer.
"""

import math
from collections.abc import Sequence

from bench_core import policy, threads
from bench_core.config import Config


def estimate_minutes(transforms_per_job: Sequence[int], config: Config, processors: int | None = None) -> float:
    """Minutes that jobs with so many transforms to measure should take, environments and dataset being there.

    `processors` None is as many as this process may use.
    """
    at_once = processors or len(threads.affinity()) or 1
    items = config.num_items or policy.ESTIMATE_ITEMS
    pass_sec = max(policy.MIN_VALUE_SEC, items * policy.ESTIMATE_ITEM_SEC)
    block_sec = policy.ESTIMATE_BLOCK_SEC if config.isolation == "fork" else policy.ESTIMATE_START_SEC
    blocks_sec = config.blocks * (block_sec + policy.WARMUPS * pass_sec) + config.num_runs * pass_sec
    preflight_sec = block_sec + policy.PREFLIGHT_ITEMS * policy.ESTIMATE_ITEM_SEC
    starts_sec = math.ceil(len(transforms_per_job) / at_once) * policy.ESTIMATE_START_SEC
    measured = sum(transforms_per_job)
    return (config.processes * (starts_sec + measured * blocks_sec) + measured * preflight_sec) / 60
