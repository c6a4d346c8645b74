"""Does forking change what is measured? Ten torchvision transforms, forked and spawned, run after run in turn.

    .tools/bin/python benchmarks/fork_spawn.py [--pairs 5]

Each pair is one forked and one spawned run of one process each, in alternating order. The ratio of their medians is
taken per pair; the row holds its mean, its 95 % interval and whether 1 lies inside.
"""

import argparse
import math
import statistics

from bench_core.statistics import t_interval
from measured import bench_run, print_machine

TRANSFORMS = "HorizontalFlip,VerticalFlip,Resize,GaussianBlur,Invert,Posterize,Equalize,Rotate,Brightness,AutoContrast"


def medians(isolation: str) -> dict[str, float]:
    """Median seconds per item by transform, of one run of one process."""
    shape = ["--num-items", "16", "--num-runs", "6", "--blocks", "2", "--processes", "1"]
    with bench_run("--library", "torchvision", "--transforms", TRANSFORMS, "--isolation", isolation, *shape) as run:
        (result,) = run.bundle.results.values()
        return {name: m.summary.median_sec for name, m in result.ok() if m.summary}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    pairs = parser.parse_args().pairs
    print_machine()
    logs: dict[str, list[float]] = {}
    for pair in range(pairs):
        order = ("fork", "spawn") if pair % 2 == 0 else ("spawn", "fork")
        found = {isolation: medians(isolation) for isolation in order}
        for name, sec in found["fork"].items():
            logs.setdefault(name, []).append(math.log(sec / found["spawn"][name]))
    print(f"{'transform':<18} {'fork / spawn':>13}   95 % interval    1 inside")
    inside = 0
    for name, values in logs.items():
        interval = t_interval(values, 0.95)
        assert interval is not None
        low, high = (math.exp(edge) for edge in interval)
        inside += low <= 1 <= high
        print(f"{name:<18} {math.exp(statistics.fmean(values)):>13.3f}   {low:.3f} to {high:.3f}   {low <= 1 <= high}")
    print(f"{inside} of {len(logs)} agree within their intervals, {pairs} pairs of runs")


if __name__ == "__main__":
    main()
