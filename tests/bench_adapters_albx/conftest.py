"""AlbumentationsX is not installed where the tests run: what they ask of it runs in its group's environment."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from bench_core.environment import ensure
from bench_core.matrix import find_root, load_matrix

GROUP = "albx"
ROOT = find_root(Path(__file__).parent)


@pytest.fixture(scope="session")
def run_there(request: pytest.FixtureRequest) -> Callable[[str, Path], list[str]]:
    """Run a program in the environment, with `home` as the user's folder; returns the lines it prints."""
    given = dict(text.split("=", 1) for text in request.config.getoption("--group-python"))
    python = given[GROUP] if GROUP in given else str(ensure(ROOT, load_matrix(ROOT), GROUP))

    def run(program: str, home: Path) -> list[str]:
        done = subprocess.run(
            [python, "-c", program],
            env={"HOME": str(home), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run
