"""Torch is not installed where the tests run: checks of what needs it run in the environment of the family schnet."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from bench_core.environment import ensure
from bench_core.matrix import find_root, load_matrix
from filelock import FileLock

FAMILY = "schnet"
HERE = Path(__file__).parent
ROOT = find_root(HERE)

Outcomes = dict[str, str | None]  # by check: what went wrong, None when nothing did


@pytest.fixture(scope="session")
def outcomes_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcomes]:
    """Run every check of a module of this folder there, once in a test run."""
    given = dict(text.split("=", 1) for text in request.config.getoption("--group-python"))
    base = tmp_path_factory.getbasetemp()
    # The processes of pytest-xdist have folders of their own in one that they share.
    folder = base.parent if hasattr(request.config, "workerinput") else base

    def outcomes(module: str) -> Outcomes:
        kept = folder / f"{module}.json"
        with FileLock(folder / f"{module}.lock"):
            if not kept.exists():
                python = given[FAMILY] if FAMILY in given else ensure(ROOT, load_matrix(ROOT), FAMILY)
                command = [str(python), "-W", "error", str(HERE / "runner.py"), module, str(kept)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                assert kept.exists(), done.stderr
            return msgspec.json.decode(kept.read_bytes(), type=Outcomes)

    return outcomes
