"""One dataset shared by the processes of a real torchrun: the same numbers, one writer."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from bench_core.bundle import load_bundle
from bench_core.matrix import find_root
from bench_core.scores import read_predictions
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
                _launch(schnet_python.with_name("torchrun"), folder, processes)
    return [folder / f"run-{processes}" for processes in PROCESSES]


def _launch(torchrun: Path, folder: Path, processes: int) -> None:
    launched = [str(torchrun), "--nproc-per-node", str(processes), "-m", "bench_score"]
    told = ["--config", str(folder / "c.toml"), "--output", str(folder / f"run-{processes}")]
    environment = os.environ | thread_environment(1)
    done = subprocess.run([*launched, *told], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


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
