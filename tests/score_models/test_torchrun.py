"""One dataset shared by the processes of a real torchrun: the same numbers, one writer."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from bench_core.bundle import load_bundle
from bench_core.errors import ExitCode
from bench_core.matrix import find_root
from bench_core.results import Status
from bench_core.scores import ScoreResult, read_predictions
from bench_core.threads import thread_environment
from filelock import FileLock

ROOT = find_root(Path(__file__).parent)
WEIGHTS = ROOT / "packages/bench-score/src/bench_score/data/schnet-ethanol-xtb.safetensors"
PROCESSES = (1, 2, 4)
CONFIG = """
metrics = ["mae", "rmse", "q95"]
targets = ["energy", "forces"]
data = {name = "ethanol-xtb", batch_size = 7}
models = [{label = "smoke", checkpoint = "%s"}]
"""


@pytest.fixture(scope="module")
def runs(shared_folder: Path, schnet_python: Path) -> list[Path]:
    """The bundles of one process, of two, and of four, which 15 batches cannot be shared evenly by."""
    folder = shared_folder / "torchrun"
    with FileLock(shared_folder / "torchrun.lock"):
        if not folder.exists():
            folder.mkdir()
            (folder / "c.toml").write_text(CONFIG % WEIGHTS)
            for processes in PROCESSES:
                _launch(schnet_python.with_name("torchrun"), folder, processes, f"run-{processes}")
    return [folder / f"run-{processes}" for processes in PROCESSES]


# An architecture that falls in one of several processes: while it is made, or while it is asked.
SPRINGS = """
import os

import torch


class Springs(torch.nn.Module):
    cutoff_angstrom = 3.0

    def __init__(self, stage, rank):
        super().__init__()
        self.strength = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
        self._stage, self._rank = stage, rank
        self._fall("load")

    def forward(self, graph):
        self._fall("predict")
        energies = torch.zeros(graph.num_structures, dtype=torch.float64)
        return energies.index_add(0, graph.batch[graph.edge_index[0]], self.strength * graph.distances() ** 2)

    def _fall(self, stage):
        if (stage, os.environ["RANK"]) == (self._stage, str(self._rank)) and "FALL" in os.environ:
            raise SystemExit(f"process {self._rank} fell at {stage}")


def build(arguments):
    return Springs(arguments.get("stage"), arguments.get("rank"))
"""
FALLS = ("", ", stage = 'load', rank = 0", ", stage = 'predict', rank = 1", ", stage = 'load', rank = 1", "")
SPRINGS_CONFIG = """
metrics = ["mae"]
targets = ["energy", "forces"]
data = {name = "ethanol-xtb", batch_size = 7}
"""
SPRINGS_MODEL = """
[[models]]
label = "springs-%d"
checkpoint = "springs-%d.safetensors"
architecture = { name = "springs:build"%s }
"""


@pytest.fixture(scope="module")
def springs(shared_folder: Path, schnet_python: Path) -> list[dict[str, ScoreResult]]:
    """The same five models in two processes, where none falls and where three do."""
    folder = shared_folder / "springs"
    with FileLock(shared_folder / "springs.lock"):
        if not folder.exists():
            folder.mkdir()
            (folder / "springs.py").write_text(SPRINGS)
            config = SPRINGS_CONFIG
            for index, fall in enumerate(FALLS):
                config += SPRINGS_MODEL % (index, index, fall)
                strength = {"strength": np.array(0.1 * (index + 1))}
                safetensors.numpy.save_file(strength, folder / f"springs-{index}.safetensors")
            (folder / "c.toml").write_text(config)
            torchrun = schnet_python.with_name("torchrun")
            _launch(torchrun, folder, 2, "whole", PYTHONPATH=str(folder))
            _launch(torchrun, folder, 2, "fallen", ExitCode.INCOMPLETE, PYTHONPATH=str(folder), FALL="1")
    return [{row.label: row for row in load_bundle(folder / run).scores.values()} for run in ("whole", "fallen")]


def _launch(
    torchrun: Path, folder: Path, processes: int, run: str, code: ExitCode = ExitCode.OK, **variables: str
) -> None:
    launched = [str(torchrun), "--nproc-per-node", str(processes), "-m", "bench_score"]
    told = ["--config", str(folder / "c.toml"), "--output", str(folder / run)]
    environment = os.environ | thread_environment(1) | variables
    done = subprocess.run([*launched, *told], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    # torchrun itself ends with 1, whatever its processes end with.
    assert bool(done.returncode) is bool(code), done.stderr
    assert code is ExitCode.OK or f"exitcode  : {int(code)} " in done.stderr, done.stderr


def test_sharing_changes_no_digit_of_a_score(runs: list[Path]) -> None:
    one, *others = ({n: s.scores for n, s in load_bundle(run).scores.items()} for run in runs)
    assert all(shared == one for shared in others)


def test_sharing_changes_no_bit_of_a_prediction(runs: list[Path]) -> None:
    one, *others = (read_predictions(run / "ethanol-xtb" / "smoke_predictions.npz") for run in runs)
    for shared in others:
        assert np.array_equal(shared.raw_energy, one.raw_energy)
        for target in ("energy", "forces"):
            assert np.array_equal(shared.values[target][1], one.values[target][1])


def test_a_shared_run_says_by_how_many_processes(runs: list[Path]) -> None:
    rows = [next(iter(load_bundle(run).scores.values())) for run in runs]
    assert [row.num_processes for row in rows] == list(PROCESSES)
    assert [row.timing.at_once if row.timing else None for row in rows] == list(PROCESSES)


def test_a_shared_run_leaves_one_whole_bundle_and_nothing_of_the_other_processes(runs: list[Path]) -> None:
    for run in runs[1:]:
        listed = sorted(path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file())
        assert listed == [
            ".lock",
            "COMMITTED.json",
            "environment.json",
            "ethanol-xtb/smoke_predictions.npz",
            "ethanol-xtb/smoke_score_results.json",
            "ethanol-xtb/structures.npz",
            "resolved_config.toml",
            "scores.csv",
            "scores.json",
            "scores.md",
        ]


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (1, "SystemExit: process 0 fell at load"),
        (2, "process 1 of 2: SystemExit: process 1 fell at predict"),
        (3, "process 1 of 2: SystemExit: process 1 fell at load"),
    ],
)
def test_a_model_that_falls_in_one_process_is_a_row_with_that_ones_reason(
    springs: list[dict[str, ScoreResult]], index: int, words: str
) -> None:
    row = springs[1][f"springs-{index}"]
    assert row.status is Status.ERROR
    assert row.reason == words
    assert "Traceback" in str(row.detail) or "springs.py" in str(row.detail)


def test_models_after_one_that_fell_in_one_process_have_their_own_numbers(
    springs: list[dict[str, ScoreResult]],
) -> None:
    whole, fallen = springs
    for index in (0, 4):
        assert fallen[f"springs-{index}"].scores == whole[f"springs-{index}"].scores
    assert len({str(row.scores) for row in whole.values()}) == len(FALLS)
