"""One library measured as if it were two, for real: torchvision against itself over 20 transforms.

    python benchmarks/aa_real.py [--processes N] [--num-items N]

Three names are registered for the same library in a temporary folder: two twins, and one that does a tenth of its
images twice, which is a slowdown of 10 % wherever the cost of an image is its computing. The run is the product's own:
same conductor, same defaults. It should find no difference between the twins, and the slowdown on compute-bound rows.
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
from bench_core.results import Result
from bench_core.sample import build_sample
from bench_core.statistics import Ratio, Verdict, speed_ratio
from measured import print_machine, print_row

TWINS = ("torchvision_a", "torchvision_b", "torchvision_slow")
# Deterministic or seeded, over all kinds of cost, none near the slow threshold.
TRANSFORMS = (
    "Resize", "RandomCrop224", "RandomResizedCrop", "CenterCrop224", "HorizontalFlip", "VerticalFlip", "Pad", "Rotate",
    "Affine", "ChannelShuffle", "Grayscale", "Invert", "Posterize", "Solarize", "Sharpen", "AutoContrast", "Equalize",
    "JpegCompression", "Brightness", "Contrast",
)  # fmt: skip
COMPUTE_BOUND = ("Resize", "Affine", "Rotate", "Sharpen", "AutoContrast", "Equalize", "JpegCompression", "Contrast")

MODULE = """
from itertools import count

from bench_adapters_torch.torchvision import TorchVision


class A(TorchVision):
    name = "torchvision_a"


class B(TorchVision):
    name = "torchvision_b"


class Slow(TorchVision):
    name = "torchvision_slow"

    def build(self, transform, params):
        inner = super().build(transform, params)
        numbers = count()

        def operation(item):
            if next(numbers) % 10 == 0:
                self.materialize(inner(item))
            return inner(item)

        return operation

    def seed(self, seed, operation):
        super().seed(seed, operation)
"""
ENTRY_POINTS = "[bench.adapters]\ntorchvision_a = bench_twins:A\ntorchvision_b = bench_twins:B\n" + (
    "torchvision_slow = bench_twins:Slow\n"
)
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
    parser.add_argument("--processes", type=int, default=policy.PROCESSES)
    parser.add_argument("--num-items", type=int, default=policy.NUM_ITEMS)
    parser.add_argument("--num-runs", type=int, default=policy.NUM_RUNS)
    args = parser.parse_args()
    print_machine()
    root = find_root()
    python = ensure(root, load_matrix(root), "torch_stack")
    with tempfile.TemporaryDirectory() as parent:
        results = measure(root, Path(parent), python, args)
    report(results)


def measure(root: Path, folder: Path, python: Path, args: argparse.Namespace) -> dict[str, Result]:
    """Run the twins side by side in torchvision's own environment."""
    python = overlay(folder / "twins", python)
    checkout = folder / "checkout"
    checkout.mkdir()
    libraries = ", ".join(f'"{name}"' for name in TWINS)
    (checkout / "matrix.toml").write_text(MATRIX.format(python=load_matrix(root).python, libraries=libraries))
    matrix, catalog = load_matrix(checkout), load_catalog()
    config = Config(
        profile="aa",
        groups=("twins",),
        libraries=TWINS,
        scenarios=("image-rgb",),
        modes=("micro",),
        transforms=TRANSFORMS,
        processes=args.processes,
        num_items=args.num_items,
        num_runs=args.num_runs,
        data_dir=str(build_sample(root)),
    )
    plan = make_plan(matrix, catalog, config)
    interpreters = Interpreters(python={"twins": python}, locks={"twins": None}, missing={})
    outcome = execute(checkout, matrix, catalog, config, plan, folder / "run", interpreters=lambda: interpreters)
    return {result.library: result for result in outcome.results}


def overlay(folder: Path, python: Path) -> Path:
    """An environment that sees everything in `python`'s, and the twins beside it."""
    subprocess.run([str(python), "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (below,) = python.parents[1].glob("lib/python*/site-packages")
    (site / "below.pth").write_text(f"import site; site.addsitedir({str(below)!r})\n")
    (site / "bench_twins.py").write_text(MODULE)
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
    measured = [name for name in TRANSFORMS if all(r.measurements[name].blocks for r in (a, b, slow))]
    print(
        f"\n{'transform':<18} {'a over b':>9}  {'95 % interval':<16} {'slow over a':>11}  {'95 % interval':<16} verdict"
    )
    covered = false = 0
    found: dict[str, bool] = {}
    for name in measured:
        same, slower = ratio(a, b, name), ratio(slow, a, name)
        assert same.low is not None and same.high is not None and slower.low is not None and slower.high is not None
        covered += same.low <= 1 <= same.high
        false += same.verdict is not Verdict.INCONCLUSIVE
        found[name] = slower.verdict is Verdict.SLOWER
        row = f"{name:<18} {same.ratio:>9.3f}  {same.low:.3f} to {same.high:.3f}  "
        print(row + f"{slower.ratio:>11.3f}  {slower.low:.3f} to {slower.high:.3f}  {slower.verdict}")
    count = len(measured)
    print_row("twins: intervals of the ratio that hold 1", f"{covered} of {count}")
    print_row("twins: false verdicts", f"{false} of {count}", "0", met=false == 0)
    compute = [name for name in COMPUTE_BOUND if name in found]
    hits = sum(found[name] for name in compute)
    print_row(
        "a slowdown of 10 % found on compute-bound rows", f"{hits} of {len(compute)}", "all", met=hits == len(compute)
    )


if __name__ == "__main__":
    main()
