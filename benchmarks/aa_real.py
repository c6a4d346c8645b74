"""One library measured as if it were two, for real, over 20 transforms.

    .tools/bin/python benchmarks/aa_real.py [--library pillow] [--processes N] [--num-items N]

Three names are registered for the same library in a temporary environment: two twins, and one that waits, busily, for a
tenth of the time that each call took. The run is the product's own: same conductor, same defaults. It should find no
difference between the twins, and the slowdown of 10 % on compute-bound rows: those that take 15 times a plain copy.

Pillow is the default because it computes on 8 bits; torchvision's slower transforms allocate large temporaries, whose
cost differs between processes by 5 to 15 %, so that fewer of them are found (try --library torchvision).
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from bench_core import policy
from bench_core.catalog import load_catalog
from bench_core.conductor import Interpreters
from bench_core.config import Config
from bench_core.environment import ensure
from bench_core.execution import execute
from bench_core.matrix import find_root, load_matrix
from bench_core.plan import make_plan
from bench_core.results import YARDSTICK, Result, Status
from bench_core.sample import build_sample
from bench_core.statistics import Ratio, Verdict, speed_ratio
from measured import print_machine, print_row

TWINS = ("twin_a", "twin_b", "twin_slow")
NUM_TRANSFORMS = 21  # one of Pillow's is slow
COMPUTE_BOUND = 15.0  # times a plain copy of the item

MODULE = """
from time import perf_counter

from numpy import ndarray
from {module} import {adapter}


class A({adapter}):
    pass


class B({adapter}):
    pass


class Slow({adapter}):
    def build(self, transform, params):
        inner = super().build(transform, params)

        def operation(item):
            began = perf_counter()
            output = self.materialize(inner(item))
            end = perf_counter()
            until = end + (end - began) / 10
            while perf_counter() < until:
                pass
            return output

        return operation

    def materialize(self, output):
        return output if isinstance(output, ndarray) else super().materialize(output)
"""
ENTRY_POINTS = "[bench.adapters]\ntwin_a = bench_twins:A\ntwin_b = bench_twins:B\ntwin_slow = bench_twins:Slow\n"
ADAPTERS = {"pillow": "Pillow", "torchvision": "TorchVision"}
MATRIX = """
python = "{python}"
[scenarios.image-rgb]
media = "image"
channels = 3
modes = ["micro"]
[groups.twins]
package = "packages/adapters-torch"
libraries = [{libraries}]
media = ["image"]
devices = ["cpu"]
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", choices=sorted(ADAPTERS), default="pillow")
    parser.add_argument("--processes", type=int, default=policy.PROCESSES)
    parser.add_argument("--num-items", type=int, default=policy.NUM_ITEMS)
    parser.add_argument("--num-runs", type=int, default=policy.NUM_RUNS)
    parser.add_argument("--blocks", type=int, default=policy.BLOCKS)
    parser.add_argument("--transforms", type=lambda text: tuple(text.split(",")))
    args = parser.parse_args()
    print_machine()
    root = find_root()
    python = ensure(root, load_matrix(root), "torch_stack")
    with tempfile.TemporaryDirectory() as parent:
        results = measure(root, Path(parent), python, args)
    report(results)


def measure(root: Path, folder: Path, python: Path, args: argparse.Namespace) -> dict[str, Result]:
    """Run the twins side by side in torchvision's own environment."""
    python = overlay(folder / "twins", python, args.library)
    checkout = folder / "checkout"
    checkout.mkdir()
    libraries = ", ".join(f'"{name}"' for name in TWINS)
    (checkout / "matrix.toml").write_text(MATRIX.format(python=load_matrix(root).python, libraries=libraries))
    matrix, catalog = load_matrix(checkout), load_catalog()
    offered = [name for name, found in catalog.transforms.items() if args.library in found.supporters("image-rgb")]
    config = Config(
        profile="aa",
        groups=("twins",),
        libraries=TWINS,
        scenarios=("image-rgb",),
        modes=("micro",),
        transforms=args.transforms or tuple(offered[:NUM_TRANSFORMS]),
        processes=args.processes,
        num_items=args.num_items,
        num_runs=args.num_runs,
        blocks=args.blocks,
        data_dir=str(build_sample(root)),
    )
    plan = make_plan(matrix, catalog, config)
    interpreters = Interpreters(python={"twins": python}, locks={"twins": None}, missing={})
    outcome = execute(checkout, matrix, catalog, config, plan, folder / "run", interpreters=lambda: interpreters)
    unmeasured = [
        f"{result.library} {name}: {m.status}: {m.reason}\n{m.detail}"
        for result in outcome.results
        for name, m in result.measurements.items()
        if m.status not in (Status.OK, Status.SLOW)
    ]
    if unmeasured:
        raise SystemExit("\n".join(unmeasured))
    return {result.library: result for result in outcome.results}


def overlay(folder: Path, python: Path, library: str) -> Path:
    """An environment that sees everything in `python`'s, and the twins beside it."""
    subprocess.run([str(python), "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (below,) = python.parents[1].glob("lib/python*/site-packages")
    (site / "below.pth").write_text(f"import site; site.addsitedir({str(below)!r})\n")
    (site / "bench_twins.py").write_text(
        MODULE.format(module=f"bench_adapters_torch.{library}", adapter=ADAPTERS[library])
    )
    information = site / "bench_twins-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: bench-twins\nVersion: 1\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder / "bin" / "python"


def ratio(one: Result, other: Result, name: str) -> Ratio:
    samples = [[block.sample() for block in result.measurements[name].blocks] for result in (one, other)]
    return speed_ratio(*samples)


def report(results: dict[str, Result]) -> None:
    a, b, slow = (results[name] for name in TWINS)
    print(
        f"\n{'transform':<18} {'a over b':>9}  {'95 % interval':<16} {'slow over a':>11}  {'95 % interval':<16} verdict"
    )
    covered = false = found = compute = 0
    copy_sec = a.references[YARDSTICK].median_sec
    for name, measurement in a.ok():
        same, slower = ratio(a, b, name), ratio(slow, a, name)
        assert measurement.summary and same.low and same.high and slower.low and slower.high
        covered += same.low <= 1 <= same.high
        false += same.verdict is not Verdict.INCONCLUSIVE
        copies = measurement.summary.median_sec / copy_sec
        if copies >= COMPUTE_BOUND:
            compute += 1
            found += slower.verdict is Verdict.SLOWER
        row = f"{name:<18} {copies:>6.1f} {same.ratio:>9.3f}  {same.low:.3f} to {same.high:.3f}  "
        print(row + f"{slower.ratio:>11.3f}  {slower.low:.3f} to {slower.high:.3f}  {slower.verdict}")
    count = len(list(a.ok()))
    print_row("twins: intervals of the ratio that hold 1", f"{covered} of {count}")
    print_row("twins: false verdicts", f"{false} of {count}", "0", met=false == 0)
    print_row("10 % slowdown found, compute-bound rows", f"{found} of {compute}", "all", met=0 < compute == found)


if __name__ == "__main__":
    main()
