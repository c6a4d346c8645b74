"""The timed region, and pyperf's own worker around it. Runs inside a measuring process."""

import io
import json
import math
import os
import time
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import Any

import msgspec

from bench_core import policy
from bench_core.adapter import Item, Library, Operation

# What pyperf records about the machine that would name a person's paths or host.
PRIVATE_METADATA = ("hostname", "python_executable", "python_cflags", "python_config_args")


class Timing(msgspec.Struct, frozen=True):
    """Seconds per item, one value per seed; pyperf's JSON of them; and the wall time they and the warm-ups took."""

    values_sec: tuple[float, ...]
    pyperf_json: str
    timed_sec: float


def time_passes(
    operation: Operation,
    materialize: Callable[[Any], Any],
    items: Sequence[Item],
    loops: int,
    synchronize: Callable[[], None],
) -> float:
    """Wall seconds of `loops` passes over the items, every output computed and contiguous."""
    start = time.perf_counter()
    for _ in range(loops):
        for item in items:
            materialize(operation(item))
    synchronize()
    return time.perf_counter() - start


def time_values(
    name: str,
    library: Library,
    operation: Operation,
    items: Sequence[Item],
    *,
    loops: int,
    warmups: int,
    seeds: Sequence[int],
    take_turn: Callable[[], None],
) -> Timing:
    """Time one value per seed with pyperf's worker, each when `take_turn` returns.

    A warm-up draws the first value's parameters. Seeding is outside the timed region.
    """
    import pyperf

    # pyperf calls the function for its warm-ups first, then for its values.
    order = chain(repeat(seeds[0], warmups), seeds)
    spent: list[float] = []

    def time_func(loops: int) -> float:
        take_turn()
        wake(library, operation, items)
        library.seed(next(order), operation)
        spent.append(time_passes(operation, library.materialize, items, loops, library.synchronize))
        return spent[-1]

    sink = os.open(os.devnull, os.O_WRONLY)  # pyperf wants a descriptor to write its report to, and closes it
    runner = pyperf.Runner()
    shape = ["--loops", str(loops), "--warmups", str(warmups), "--values", str(len(seeds))]
    runner.parse_args(["--worker", "--worker-task=0", "--pipe", str(sink), *shape])
    benchmark = runner.bench_time_func(name, time_func, inner_loops=len(items))
    return Timing(benchmark.get_values(), without_private_metadata(benchmark), sum(spent))


def wake(library: Library, operation: Operation, items: Sequence[Item]) -> None:
    """Others have worked since: bring items, code and heap back to where a long loop over the operation has them.

    The same for every operation however many passes its values have, or a value of one pass would start colder.
    """
    time_passes(library.copy, as_is, items, 1, library.synchronize)
    spent = 0.0
    for item in items:
        spent += time_passes(operation, library.materialize, [item], 1, library.synchronize)
        if spent >= policy.WAKE_SEC:
            break


def without_private_metadata(benchmark: Any) -> str:
    """pyperf's JSON of one benchmark, less what names a host or a path."""
    text = io.StringIO()
    benchmark.dump(text)
    data = json.loads(text.getvalue())
    for holder in chain([data], data["benchmarks"], *(bench["runs"] for bench in data["benchmarks"])):
        for key in PRIVATE_METADATA:
            holder.get("metadata", {}).pop(key, None)
    return json.dumps(data, separators=(",", ":"))


def as_is(output: Any) -> Any:
    """What is already whole."""
    return output


def time_reference(library: Library, operation: Operation, items: Sequence[Item], passes: int) -> float:
    """Seconds per item of a reference row: one warm-up pass, then `passes` timed ones."""
    time_passes(operation, as_is, items, 1, library.synchronize)
    return time_passes(operation, as_is, items, passes, library.synchronize) / (passes * len(items))


def time_preview(library: Library, operation: Operation, items: Sequence[Item], enough_sec: float) -> float:
    """Seconds per item of the fastest of two or more passes over the items, each ending once `enough_sec` is spent.

    Two, so that one stall of the machine does not make a transform slow. A quick transform is passed over until
    policy.MIN_VALUE_SEC is spent: its first pass costs many times its later ones, and this figure decides how many
    passes a value has.
    """
    fastest, spent, passes = math.inf, 0.0, 0
    while passes < 2 or spent < policy.MIN_VALUE_SEC:
        passed, done = 0.0, 0
        for item in items:
            passed += time_passes(operation, library.materialize, [item], 1, library.synchronize)
            done += 1
            if passed >= enough_sec:
                break
        fastest, spent, passes = min(fastest, passed / done), spent + passed, passes + 1
    return fastest
