"""A small file of labelled structures, and a configuration that has the mock models score it in this Python."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ase.io
import numpy as np
from ase import Atoms
from ase.calculators.singlepoint import SinglePointCalculator
from bench_core.scores import ScoreResult
from bench_score.benchmark import Benchmark
from bench_score.config import ScoreConfig, parse_config
from bench_score.dataset import Dataset, Keys, read_dataset

FORMULAS = ("H2O", "CH4", "CO2")
GROUP_SIZE = 2
METRICS = {"energy": ["mae", "rmse", "r2", "max_abs", "q90"], "forces": ["mae", "rmse"], "stress": ["mae"]}


def labelled(count: int = 12, seed: int = 0) -> list[Atoms]:
    """Crystals of three kinds of molecules with labels drawn at random, two to a group."""
    generator = np.random.default_rng(seed)
    found = []
    for index in range(count):
        atoms = Atoms(FORMULAS[index % len(FORMULAS)], cell=[8, 8, 8], pbc=True)
        atoms.positions = generator.normal(scale=2, size=atoms.positions.shape)
        atoms.calc = SinglePointCalculator(
            atoms,
            energy=float(generator.normal(scale=3)),
            forces=generator.normal(size=atoms.positions.shape),
            stress=generator.normal(size=6),
        )
        atoms.info["family"] = f"g{index // GROUP_SIZE}"
        found.append(atoms)
    return found


def write_file(path: Path, count: int = 12, seed: int = 0) -> Path:
    ase.io.write(path, labelled(count, seed), format="extxyz")
    return path


def dataset_in(folder: Path, count: int = 12) -> Dataset:
    return read_dataset(write_file(folder / "some.xyz", count), Keys(group="family"), name="some")


def model(checkpoint: str, label: str = "", **options: Any) -> dict[str, Any]:
    return {"label": label or checkpoint, "family": "mock_family", "checkpoint": checkpoint, "options": options}


def raw_config(models: Sequence[Mapping[str, Any]], **changes: Any) -> dict[str, Any]:
    """As somebody writes it, with the data in some.xyz beside it."""
    plain: dict[str, Any] = {
        "name": "mocks",
        "models": list(models),
        "metrics": METRICS,
        "data": {"test": "some.xyz", "group": "family", "batch_size": 5},
    }
    return plain | changes


def make_config(folder: Path, models: Sequence[Mapping[str, Any]], **changes: Any) -> ScoreConfig:
    """Checked, with the output in `folder`/out and some.xyz made where it is not there."""
    if not (folder / "some.xyz").exists():
        write_file(folder / "some.xyz")
    output = {"dir": str(folder / "out")} | changes.pop("output", {})
    return parse_config(raw_config(models, output=output, **changes), base=folder)


def rows_of(config: ScoreConfig, folder: Path, **options: Any) -> list[ScoreResult]:
    """Scored in this process; never with a model that would end it."""
    return Benchmark(config, cache=folder / "cache", **options).run()


def row_of(folder: Path, checkpoint: str, changes: Mapping[str, Any] | None = None, **options: Any) -> ScoreResult:
    (row,) = rows_of(make_config(folder, [model(checkpoint, **options)], **(changes or {})), folder)
    return row


def values_of(row: ScoreResult) -> dict[str, float | None]:
    return {column: score.value for column, score in row.scores.items()}


def start(folder: Path, config: Mapping[str, Any], *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """`bench score --here` as a person starts it, in a process of its own."""
    (folder / "mocks.json").write_text(json.dumps(config))  # JSON is YAML
    (folder / "mocks.json").rename(folder / "mocks.yaml")
    if not (folder / "some.xyz").exists():
        write_file(folder / "some.xyz")
    here = [] if "--merge" in arguments else ["--here"]
    command = [sys.executable, "-m", "bench_core", "score", *here, "--config", "mocks.yaml", *arguments]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def run(
    folder: Path, config: Mapping[str, Any], *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    process = start(folder, config, *arguments, **environment)
    out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
