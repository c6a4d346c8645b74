"""The timed region, and pyperf's own worker around it. Runs inside a measuring process."""

import io
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import chain, islice, repeat
from typing import Any

import msgspec

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
        library.seed(next(order), operation)
        spent.append(time_passes(operation, library.materialize, items, loops, library.synchronize))
        return spent[-1]

    with tempfile.TemporaryFile() as sink:  # pyperf wants a descriptor to write to; its report goes nowhere else
        runner = pyperf.Runner()
        shape = ["--loops", str(loops), "--warmups", str(warmups), "--values", str(len(seeds))]
        runner.parse_args(["--worker", "--worker-task=0", "--pipe", str(os.dup(sink.fileno())), *shape])
        benchmark = runner.bench_time_func(name, time_func, inner_loops=len(items))
    return Timing(benchmark.get_values(), without_private_metadata(benchmark), sum(spent))


def without_private_metadata(benchmark: Any) -> str:
    """pyperf's JSON of one benchmark, less what names a host or a path."""
    text = io.StringIO()
    benchmark.dump(text)
    data = json.loads(text.getvalue())
    for holder in chain([data], data["benchmarks"], *(bench["runs"] for bench in data["benchmarks"])):
        for key in PRIVATE_METADATA:
            holder.get("metadata", {}).pop(key, None)
    return json.dumps(data, separators=(",", ":"))


def time_reference(library: Library, operation: Operation, items: Sequence[Item], passes: int) -> float:
    """Seconds per item of a reference row: one warm-up pass, then `passes` timed ones."""

    def as_is(output: Any) -> Any:
        return output

    time_passes(operation, as_is, items, 1, library.synchronize)
    return time_passes(operation, as_is, items, passes, library.synchronize) / (passes * len(items))


def time_preview(library: Library, operation: Operation, items: Sequence[Item], count: int, enough_sec: float) -> float:
    """Seconds per item over up to `count` items, ending early once `enough_sec` is spent."""
    spent, done = 0.0, 0
    for item in islice(items, count):
        spent += time_passes(operation, library.materialize, [item], 1, library.synchronize)
        done += 1
        if spent >= enough_sec:
            break
    return spent / done
