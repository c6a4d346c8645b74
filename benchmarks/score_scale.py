"""Memory of scoring a large dataset: 10,000 structures of 400 force components each, with a model that costs nothing.

    .envs/dev/bin/python benchmarks/score_scale.py

Everything counts that is held beyond the imports: structures, labels, predictions, comparison, metrics with their
intervals, files. Limit: 1 GB.
"""

import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psutil
from bench_core.results import Status
from bench_score import benchmark
from bench_score.config import parse_config
from bench_score.dataset import Dataset
from bench_score.model import Entry, Item, Prediction, Want
from bench_score.structure import Structure
from measured import print_machine, print_row

STRUCTURES, ATOMS = 10_000, 400 // 3 + 1
LIMIT_BYTES = 1e9


class Free:
    """Says the labels with a little noise."""

    num_parameters, cutoff_angstrom, elements, level_of_theory = 0, None, None, None
    checkpoint_sha256, trusted = None, False

    def __init__(self) -> None:
        self._generator = np.random.default_rng(1)

    def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
        return [self._one(item.structure) for item in batch]

    def _one(self, structure: Structure) -> Prediction:
        assert structure.energy is not None and structure.forces is not None
        noise = self._generator.normal(size=structure.forces.shape)
        return Prediction(structure.energy + noise[0, 0], structure.forces + noise)


class FreeFamily:
    distributions: tuple[str, ...] = ("numpy",)

    def load(self, entry: Entry, device: str) -> Free:
        return Free()


def dataset() -> Dataset:
    generator = np.random.default_rng(0)
    return Dataset(
        "large",
        tuple(
            Structure(
                name=f"large[{index}]",
                numbers=generator.integers(1, 9, ATOMS),
                positions=generator.normal(size=(ATOMS, 3)),
                cell=np.zeros((3, 3)),
                pbc=np.zeros(3, np.bool_),
                energy=float(generator.normal()),
                forces=generator.normal(size=(ATOMS, 3)),
            )
            for index in range(STRUCTURES)
        ),
    )


def main() -> None:
    print_machine()
    before = psutil.Process().memory_info().rss
    benchmark.find_family = lambda name: FreeFamily()  # type: ignore[attr-defined]  # nothing to install
    with tempfile.TemporaryDirectory() as folder:
        raw = {
            "name": "scale",
            "models": [{"label": "free", "family": "free"}],
            "metrics": {"energy": ["mae", "rmse"], "forces": ["mae", "rmse", "r2", "max_abs", "q95"]},
            "data": {"name": "large"},
            "output": {"dir": folder},
        }
        began = time.perf_counter()
        (row,) = benchmark.Benchmark(parse_config(raw, base=Path(folder)), dataset=dataset()).run()
    assert row.status is Status.OK, row.reason
    values = row.scores["forces_mae"].num_values
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    print(f"{STRUCTURES} structures, {values / 1e6:.1f} million force components: {time.perf_counter() - began:.0f} s")
    print_row("peak memory beyond the imports", f"{growth / 1e9:.2f} GB", "1 GB", met=growth < LIMIT_BYTES)


if __name__ == "__main__":
    main()
