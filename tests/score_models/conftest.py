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
def shared_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for the whole test run: the processes of pytest-xdist have their own in one that they share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(request.config, "workerinput") else base


@pytest.fixture(scope="session")
def schnet_python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of the environment with torch; built if it is not there."""
    given = dict(text.split("=", 1) for text in request.config.getoption("--group-python"))
    return Path(given[FAMILY]) if FAMILY in given else ensure(ROOT, load_matrix(ROOT), FAMILY)


@pytest.fixture(scope="session")
def outcomes_of(schnet_python: Path, shared_folder: Path) -> Callable[[str], Outcomes]:
    """Run every check of a module of this folder there, once in a test run."""

    def outcomes(module: str) -> Outcomes:
        kept = shared_folder / f"{module}.json"
        with FileLock(shared_folder / f"{module}.lock"):
            if not kept.exists():
                command = [str(schnet_python), "-W", "error", str(HERE / "runner.py"), module, str(kept)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                assert kept.exists(), done.stderr
            return msgspec.json.decode(kept.read_bytes(), type=Outcomes)

    return outcomes
