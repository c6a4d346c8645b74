"""What measuring costs beside what is measured: all torchvision transforms, 32 images, 5 values, one process.

    .tools/bin/python benchmarks/harness_cost.py

Wall time of the whole command (planning, checking the images, one import of the library, preflight, 28 forked
measurements, writing the bundle) less the time inside timed regions. A harness that starts a process per transform
pays the import 28 times.
"""

import itertools
import statistics
from collections.abc import Iterator, Sequence
from datetime import datetime

from bench_core.journal import Timed
from measured import Run, bench_run, print_machine, print_row

LIMIT_SEC = 12.0
LIMIT_EACH_SEC = 0.1
LIMIT_NOOP_SEC = 1e-6


def main() -> None:
    print_machine()
    shape = ["--num-items", "32", "--num-runs", "5", "--blocks", "1", "--processes", "1"]
    with bench_run("--library", "torchvision", "--scenario", "image-rgb", "--mode", "micro", *shape) as run:
        report(run)


def report(run: Run) -> None:
    (result,) = run.bundle.results.values()
    timed = [one for blocks in run.state.timed.values() for one in blocks.values()]
    items = result.dataset.num_items
    values_sec = sum(sum(one.block.values_sec) * one.block.loops * items for one in timed)
    warmups_sec = sum(warmup_sec(one, items) for one in timed)
    preflight_sec = sum(p.sec_per_item * min(items, 10) for p in run.state.previews.values())
    started = next(iter(run.state.started.values()))[0].ready
    overhead_sec = run.wall_sec - values_sec - warmups_sec - preflight_sec
    print_row(f"{len(timed)} of {len(result.measurements)} transforms measured: wall time", f"{run.wall_sec:.1f} s")
    print_row("  of it timed values", f"{values_sec:.1f} s")
    print_row("  of it warm-ups and preflight (also timed)", f"{warmups_sec + preflight_sec:.1f} s")
    print_row("  of it the one import", f"{started.import_sec:.1f} s")
    print_row(
        "wall time less timed time", f"{overhead_sec:.1f} s", f"under {LIMIT_SEC:g} s", met=overhead_sec < LIMIT_SEC
    )
    print_row("wall time less timed values only", f"{run.wall_sec - values_sec:.1f} s")
    each = list(added_sec(timed, items))
    median = statistics.median(each)
    print_row(
        "added per measurement, median (process, waking, references)",
        f"{median * 1e3:.0f} ms",
        f"under {LIMIT_EACH_SEC * 1e3:g} ms",
        met=median < LIMIT_EACH_SEC,
    )
    print_row("added per measurement, largest", f"{max(each) * 1e3:.0f} ms")
    print_row(
        "  of it inside its process, median", f"{statistics.median(one.harness_sec for one in timed) * 1e3:.0f} ms"
    )
    noop = result.references["noop"].median_sec
    print_row(
        "the no-op row, per item",
        f"{noop * 1e9:.0f} ns",
        f"under {LIMIT_NOOP_SEC * 1e9:g} ns",
        met=noop < LIMIT_NOOP_SEC,
    )


def warmup_sec(one: Timed, items: int) -> float:
    """About what the untimed first pass took: it draws the first value's parameters."""
    return one.block.values_sec[0] * one.block.loops * items


def added_sec(timed: Sequence[Timed], items: int) -> Iterator[float]:
    """From the beginning of each measurement to that of the next, less what was timed and its warm-up."""
    for one, following in itertools.pairwise(sorted(timed, key=lambda one: one.block.position)):
        began, ended = (datetime.fromisoformat(each.block.started_at) for each in (one, following))
        own_sec = sum(one.block.values_sec) * one.block.loops * items + warmup_sec(one, items)
        yield (ended - began).total_seconds() - own_sec


if __name__ == "__main__":
    main()
