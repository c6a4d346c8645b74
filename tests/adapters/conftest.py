"""The contract check of every library, run once in its group's environment and read by all tests here."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from bench_core.contract import Finding
from bench_core.environment import ensure
from bench_core.matrix import find_root, load_matrix
from filelock import FileLock
from numpy.typing import NDArray

ROOT = find_root(Path(__file__).parent)


@dataclass(frozen=True)
class Contract:
    """What the check said of one library: by transform, None for the library as a whole."""

    findings: dict[str | None, Finding]
    outputs: dict[str, NDArray[Any]]  # of deterministic transforms, levels from 0 to 255, HWC


@pytest.fixture(scope="session")
def python_of(request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """The interpreter of the environment that holds a library; built if it is not there."""
    given = dict(text.split("=", 1) for text in request.config.getoption("--group-python"))
    matrix = load_matrix(ROOT)

    def python(library: str) -> Path:
        group = matrix.group_of(library)
        return Path(given[group]) if group in given else ensure(ROOT, matrix, group)

    return python


@pytest.fixture(scope="session")
def contract_of(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    python_of: Callable[[str], Path],
) -> Callable[[str], Contract]:
    base = tmp_path_factory.getbasetemp()
    # The processes of pytest-xdist have folders of their own in one that they share.
    folder = base.parent if hasattr(request.config, "workerinput") else base
    known: dict[str, Contract] = {}

    def contract(library: str) -> Contract:
        if library not in known:
            with FileLock(folder / f"contract-{library}.lock"):
                known[library] = _read(_run(python_of(library), library, folder))
        return known[library]

    return contract


def _run(python: Path, library: str, folder: Path) -> Path:
    """Check one library, unless another process of this test run has done it; returns the file of its lines."""
    lines, outputs = folder / f"contract-{library}.jsonl", folder / f"contract-{library}.npz"
    if lines.exists():
        return lines
    command = [str(python), "-m", "bench_core.contract", library, "--outputs", str(outputs)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        pytest.fail(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    lines.write_text(done.stdout)
    return lines


def _read(lines: Path) -> Contract:
    findings = [msgspec.json.decode(line, type=Finding) for line in lines.read_text().splitlines()]
    with np.load(lines.with_suffix(".npz")) as stored:
        outputs = {name: _levels(stored[name]) for name in stored.files}
    return Contract({finding.transform: finding for finding in findings}, outputs)


def _levels(array: NDArray[Any]) -> NDArray[Any]:
    return array * 255.0 if array.dtype.kind == "f" else array.astype(np.float64)
