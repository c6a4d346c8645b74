"""The datasets that come with the tool, by name: `named("dcdft")`."""

from collections.abc import Callable
from functools import partial
from importlib.resources import as_file, files

from bench_core.errors import BenchError, ExitCode
from bench_core.suggest import unknown

from bench_score.dataset import Dataset, read_dataset
from bench_score.datasets.dcdft import dcdft

TOTAL_ENERGY = "total energy: nuclei and electrons infinitely apart"


def _shipped(name: str, energy_zero: str) -> Dataset:
    """A file of this package's folder `data`, made by a script of its folder `training`."""
    resource = files("bench_score") / "data" / f"{name}.extxyz"
    if not resource.is_file():
        raise BenchError(f"{name}: its file is not in this installation; install bench-score again", ExitCode.DATA)
    with as_file(resource) as path:
        return read_dataset(path, name=name, energy_zero=energy_zero)


DATASETS: dict[str, Callable[[], Dataset]] = {
    "dcdft": dcdft,
    "molecules-wb97x": partial(_shipped, "molecules-wb97x", TOTAL_ENERGY),
    "ethanol-xtb": partial(_shipped, "ethanol-xtb", "total energy of GFN2-xTB, which has valence electrons only"),
}


def named(name: str) -> Dataset:
    """The dataset of that name.

    Raises:
        BenchError: there is none, or its file is missing.
    """
    if name not in DATASETS:
        raise unknown("dataset", name, DATASETS, hint="docs/scoring.md")
    return DATASETS[name]()
