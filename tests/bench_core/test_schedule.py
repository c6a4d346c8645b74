from collections import Counter

from bench_core import policy, schedule
from bench_core.seeds import derive_seed, value_seeds, values_of_block

SEED_OF_FIRST_VALUE = 1812389496
JOBS = {"a": ("flip", "blur", "rotate"), "b": ("flip", "blur"), "c": ("blur", "rotate")}


def slots(round_: int = 0, blocks: int = 2, seed: int = 1) -> list[schedule.Slot]:
    return list(schedule.round_slots(JOBS, round_, blocks, seed))


def test_every_job_gets_every_block_of_its_transforms_once() -> None:
    found = Counter((slot.job, slot.transform, slot.block) for slot in slots(blocks=4))
    wanted = {(job, name, block) for job, names in JOBS.items() for name in names for block in range(4)}
    assert found == Counter(wanted)


def test_the_order_is_the_same_for_the_same_seed_and_round() -> None:
    assert slots(round_=3) == slots(round_=3)


def test_the_order_is_new_in_another_round_and_for_another_seed() -> None:
    orders = {tuple((slot.job, slot.transform) for slot in slots(round_=r, seed=s)) for r in range(4) for s in (1, 2)}
    assert len(orders) > 4


def test_blocks_of_one_transform_stand_together_and_reverse_their_order() -> None:
    for name in ("flip", "blur", "rotate"):
        mine = [slot for slot in slots() if slot.transform == name]
        assert [slot.position for slot in mine] == list(range(mine[0].position, mine[0].position + len(mine)))
        half = len(mine) // 2
        assert [slot.job for slot in mine[:half]] == [slot.job for slot in reversed(mine[half:])]


def test_a_linear_drift_cancels_between_the_jobs_of_a_transform() -> None:
    for name in ("flip", "blur", "rotate"):
        places: dict[str, int] = {}
        for slot in slots():
            if slot.transform == name:
                places[slot.job] = places.get(slot.job, 0) + slot.position
        assert len(set(places.values())) == 1


def test_no_library_is_always_first() -> None:
    firsts = Counter(
        next(slot.job for slot in slots(round_=round_) if slot.transform == "blur") for round_ in range(60)
    )
    assert set(firsts) == {"a", "b", "c"}
    assert min(firsts.values()) >= 8


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
