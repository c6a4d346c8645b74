"""What two processors gain: two models one after the other, as two shards at once, and one dataset shared by torchrun.

    .tools/bin/python benchmarks/score_shards.py [--repeats 3]

Wall time of whole commands, imports and merge included. Limit: two shards are 1.7 times as fast.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_core.threads import thread_environment
from measured import print_machine, print_row

ROOT = Path(__file__).resolve().parents[1]
BENCH = str(Path(sys.executable).with_name("bench"))
FAMILY = "mlip_sevenn"
MODELS = ["7net-mf-0-PBE", "7net-mf-0-R2SCAN"]  # of equal cost
LIMIT = 1.7
ONE_MODEL = f"""
metrics = {{energy = ["mae"], stress = ["mae"]}}
atomic_energies = "group"
data = {{name = "dcdft"}}
models = [{{label = "one", family = "{FAMILY}", checkpoint = "7net-0"}}]
"""


def together(*commands: list[str]) -> float:
    """Wall time until all have ended."""
    began = time.perf_counter()
    environment = os.environ | thread_environment(1)
    quiet = subprocess.DEVNULL
    running = [subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet) for command in commands]
    codes = [process.wait() for process in running]
    if any(codes):
        sys.exit(f"a command ended with {codes}")
    return time.perf_counter() - began


def score(output: Path, *more: str) -> list[str]:
    return [BENCH, "score", "--config", "scoring/dcdft.toml", "--output", str(output), "--models", *MODELS, *more]


def serial(folder: Path) -> float:
    return together(score(folder / "serial"))


def shards(folder: Path) -> float:
    return together(*(score(folder / "shards", "--shard", f"{index}/2") for index in (1, 2)))


def shared(folder: Path, processes: int) -> float:
    """The first model alone, its structures shared by so many processes."""
    torchrun = str(ROOT / ".envs" / FAMILY / "bin" / "torchrun")
    launched = [torchrun, "--nproc-per-node", str(processes), "-m", "bench_score"]
    where = ["--config", str(folder / "one.toml"), "--output", str(folder / f"shared-{processes}")]
    return together([*launched, *where])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    print_machine()
    found: dict[str, list[float]] = {"serial": [], "shards": [], "one": [], "two": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "one.toml").write_text(ONE_MODEL)
            for kind, sec in (
                ("serial", serial(folder)),
                ("shards", shards(folder)),
                ("one", shared(folder, 1)),
                ("two", shared(folder, 2)),
            ):
                found[kind].append(sec)
    median = {kind: statistics.median(values) for kind, values in found.items()}
    print_row("two models, one after the other", f"{median['serial']:.1f} s")
    gain = median["serial"] / median["shards"]
    print_row(
        "the same as two shards at once", f"{median['shards']:.1f} s, {gain:.2f}x", f"{LIMIT}x", met=gain >= LIMIT
    )
    print_row("one model, by torchrun with one process", f"{median['one']:.1f} s")
    print_row("the same with two", f"{median['two']:.1f} s, {median['one'] / median['two']:.2f}x")


if __name__ == "__main__":
    main()
