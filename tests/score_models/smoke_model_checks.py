"""The checkpoint that comes with the package is useful on the data that comes with it."""

from pathlib import Path

import bench_score
import numpy as np
import torch
from bench_score.architectures import SHIPPED, Architectures
from bench_score.benchmark import Benchmark
from bench_score.checkpoint import read_checkpoint
from bench_score.config import parse_config
from bench_score.dataset import read_dataset
from bench_score.force_stress import ForceStressOutput
from bench_score.model import Entry, Want
from examples import to_item

NAME = "schnet-ethanol-xtb"
TEST_SET = read_dataset(Path(bench_score.__file__).with_name("data") / "ethanol-xtb.extxyz")


def its_errors_are_far_below_the_spread_of_what_it_predicts() -> None:
    model = _model()
    items = [to_item(structure, model.cutoff_angstrom) for structure in TEST_SET.structures]
    predicted = model.predict(items, Want(forces=True, stress=False))
    energies = np.array([structure.energy for structure in TEST_SET.structures])
    forces = np.concatenate([structure.forces for structure in TEST_SET.structures])
    energy_mae_ev = np.abs(np.array([found.energy for found in predicted]) - energies).mean()
    forces_mae = np.abs(np.concatenate([found.forces for found in predicted]) - forces).mean()
    assert energy_mae_ev < np.abs(energies - energies.mean()).mean() / 20
    assert forces_mae < np.abs(forces).mean() / 10
    said = read_checkpoint(SHIPPED[NAME]).config["errors"]["test"]
    assert abs(said["energy_mae_ev"] - energy_mae_ev) < 1e-4
    assert abs(said["forces_mae_ev_per_angstrom"] - forces_mae) < 1e-4


def it_says_what_it_is() -> None:
    model = _model()
    assert model.level_of_theory == TEST_SET.level_of_theory == "GFN2-xTB"
    assert model.elements == {1, 6, 8}
    assert model.num_parameters == 64577
    config = read_checkpoint(SHIPPED[NAME]).config
    assert (config["energy_unit"], config["force_unit"], config["seed"]) == ("eV", "eV/Angstrom", 20261201)
    assert SHIPPED[NAME].stat().st_size < 1_000_000


def _model() -> ForceStressOutput:
    return Architectures().load(Entry(label=NAME, family="schnet", checkpoint=NAME), "cpu")


def torch_is_asked_for_the_threads_of_the_configuration_and_read_back(folder: Path) -> None:
    before = torch.get_num_threads()
    raw = {
        "name": "x",
        "models": [{"label": "one", "checkpoint": "schnet-ethanol-xtb"}],
        "data": {"name": "ethanol-xtb"},
    }
    try:
        for count in (3, 1):
            output = {"dir": str(folder / str(count))}
            config = parse_config(raw | {"threads": count, "output": output}, base=folder)
            (row,) = Benchmark(config, cache=folder / "cache").run()
            assert torch.get_num_threads() == count
            assert row.conditions is not None
            assert row.conditions.threads_read["torch"] == count
            assert set(row.conditions.threads_read.values()) == {count}
    finally:
        torch.set_num_threads(before)
