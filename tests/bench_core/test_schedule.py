from collections import Counter

from bench_core import policy, schedule
from bench_core.seeds import derive_seed, value_seeds, values_of_block

SEED_OF_FIRST_VALUE = 1812389496
JOBS = {"a": ("flip", "blur", "rotate"), "b": ("flip", "blur"), "c": ("blur", "rotate")}


def blocks(round_: int = 0, count: int = 2, seed: int = 1) -> list[schedule.Block]:
    return list(schedule.round_blocks(JOBS, round_, count, seed))


def test_every_job_gets_every_block_of_its_transforms_once() -> None:
    found = Counter((job, one.transform, one.block) for one in blocks(count=4) for job in one.jobs)
    wanted = {(job, name, block) for job, names in JOBS.items() for name in names for block in range(4)}
    assert found == Counter(wanted)


def test_positions_number_the_blocks_of_a_round() -> None:
    assert [one.position for one in blocks()] == list(range(6))


def test_the_order_is_the_same_for_the_same_seed_and_round() -> None:
    assert blocks(round_=3) == blocks(round_=3)


def test_the_order_is_new_in_another_round_and_for_another_seed() -> None:
    orders = {tuple((one.transform, one.jobs) for one in blocks(round_=r, seed=s)) for r in range(4) for s in (1, 2)}
    assert len(orders) > 4


def test_no_library_is_always_first() -> None:
    firsts = Counter(one.jobs[0] for r in range(60) for one in blocks(round_=r) if one.transform == "blur")
    assert set(firsts) == {"a", "b", "c"}
    assert min(firsts.values()) >= 20


def test_loops_make_a_value_last_long_enough() -> None:
    for sec in (1e-8, 1e-5, 3e-4, 0.2):
        loops = schedule.choose_loops(sec, 32)
        assert loops * 32 * sec >= policy.MIN_VALUE_SEC * 0.999
        assert loops == 1 or (loops - 1) * 32 * sec < policy.MIN_VALUE_SEC


def test_values_are_shared_between_blocks_without_rest() -> None:
    for num_runs, blocks in ((6, 2), (5, 2), (7, 3), (3, 3), (1, 1)):
        shares = [values_of_block(block, num_runs, blocks) for block in range(blocks)]
        assert [value for share in shares for value in share] == list(range(num_runs))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_seeds_are_new_for_every_value_and_round_and_never_depend_on_the_library() -> None:
    seeds = [seed for r in range(5) for block in range(2) for seed in value_seeds(7, r, block, 6, 2)]
    assert len(set(seeds)) == 30
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert value_seeds(7, 0, 0, 6, 2) != value_seeds(8, 0, 0, 6, 2)


def test_a_seed_is_the_same_on_every_machine() -> None:
    assert derive_seed(20261201, 0, 0) == SEED_OF_FIRST_VALUE
