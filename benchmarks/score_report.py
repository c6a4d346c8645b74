"""What a report of a large run of scores costs: 10,000 structures with 4 million force components, of several models.

.envs/dev/bin/python benchmarks/score_report.py [--models 3]

Time is that of reading and checking the run, comparing the models in pairs, reducing what they said to pictures, and
the page. Limits: the page 3 MB, memory 1 GB beyond the imports.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from bench_core.bundle import load_bundle
from bench_core.scores import Predictions, Structures
from bench_report.html import PAGE_BYTES, render
from bench_report.report import Options, build_report
from measured import print_machine

from tests.bench_report.score_factory import Scored, commit_scores, make_scored_of

STRUCTURES, ATOMS = 10_000, 134
LIMIT_BYTES = 1e9


def model(label: str, error: float, seed: int, groups: Structures) -> Scored:
    """The labels with noise."""
    labels, noise = np.random.default_rng(0), np.random.default_rng(seed)
    of = {"energy": np.arange(STRUCTURES), "forces": np.repeat(np.arange(STRUCTURES), 3 * ATOMS)}
    values = {}
    for target, structures in of.items():
        reference = labels.normal(size=len(structures))
        values[target] = (reference, reference + error * noise.normal(size=len(structures)))
    predictions = Predictions(values, of, np.zeros(STRUCTURES), np.full(STRUCTURES, 0.01))
    return make_scored_of(label, predictions, groups.groups)


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)  # the run, in a process that is not measured
    args = parser.parse_args()
    if args.make:
        make(args.make, args.models)
        return 0
    print_machine()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        subprocess.run([sys.executable, __file__, "--models", str(args.models), "--make", str(run)], check=True)
        return report(run)


def make(run: Path, num_models: int) -> None:
    made_of = Structures(
        names=tuple(f"s{i}" for i in range(STRUCTURES)),
        groups=np.arange(STRUCTURES),
        num_atoms=np.full(STRUCTURES, ATOMS),
        numbers=np.random.default_rng(0).choice([1, 6, 7, 8], STRUCTURES * ATOMS),
    )
    found = [model(f"model-{i}", 0.05 * (i + 1), i + 1, made_of) for i in range(num_models)]
    commit_scores(run, found, structures=made_of)


def report(run: Path) -> int:
    imported, began = peak_bytes(), time.perf_counter()
    found = build_report([load_bundle(run)], Options())
    compared = time.perf_counter() - began
    page = render(found).encode()
    took, grown = time.perf_counter() - began, peak_bytes() - imported
    num_models = len(found.score_parts[0].section.entries)
    print(
        f"{num_models} models, {STRUCTURES * ATOMS * 3} force components each: compared in {compared:.1f} s, "
        f"page in {took:.1f} s; {len(page) / 1e6:.2f} MB; {grown / 1e6:.0f} MB of memory beyond the imports"
    )
    met = len(page) < PAGE_BYTES and grown < LIMIT_BYTES
    print("met" if met else "NOT MET")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
