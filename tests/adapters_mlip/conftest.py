"""No family of models is installed where the tests run: their checks run in the family's environment, by the runner of
tests/score_models. A file `X_checks.py` is run in the environment that RUNS_IN names."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from bench_core.environment import ensure
from bench_core.matrix import find_root, load_matrix
from bench_core.threads import thread_environment
from filelock import FileLock

HERE = Path(__file__).parent
ROOT = find_root(HERE)
RUNNER = ROOT / "tests" / "score_models" / "runner.py"
RUNS_IN = {
    "checkpoints_checks": "mlip_chgnet",
    "chgnet_checks": "mlip_chgnet",
    "sevenn_checks": "mlip_sevenn",
    "diep_checks": "mlip_diep",
    "mace_checks": "mlip_mace",
}
# One thread: two on a busy machine have been ten times slower.
ENVIRONMENT = os.environ | thread_environment(1)

Outcomes = dict[str, str | None]  # by check: what went wrong, None when nothing did


@pytest.fixture(scope="session")
def python_of(request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """The interpreter of a family's environment; built if it is not there."""
    given = dict(text.split("=", 1) for text in request.config.getoption("--group-python"))
    matrix = load_matrix(ROOT)

    def python(family: str) -> Path:
        return Path(given[family]) if family in given else ensure(ROOT, matrix, family)

    return python


@pytest.fixture(scope="session")
def outcomes_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, python_of: Callable[[str], Path]
) -> Callable[[str], Outcomes]:
    """Run every check of a file of this folder there, once in a test run."""
    base = tmp_path_factory.getbasetemp()
    # The processes of pytest-xdist have folders of their own in one that they share.
    shared = base.parent if hasattr(request.config, "workerinput") else base

    def outcomes(module: str) -> Outcomes:
        kept = shared / f"{module}.json"
        with FileLock(shared / f"{module}.lock"):
            if not kept.exists():
                command = [str(python_of(RUNS_IN[module])), str(RUNNER), module, str(kept)]
                environment = ENVIRONMENT | {"PYTHONPATH": str(HERE)}
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
                assert kept.exists(), done.stderr
            return msgspec.json.decode(kept.read_bytes(), type=Outcomes)

    return outcomes
