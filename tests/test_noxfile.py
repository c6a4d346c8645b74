"""The sessions, as the real nox lists and runs them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench_core.errors import ExitCode
from bench_core.matrix import find_root, load_matrix

ROOT = find_root(Path(__file__).parent)
ANOTHER_GROUP = """
[groups.theirs]
package = "packages/theirs"
libraries = ["their_library"]
media = ["image"]
devices = ["cpu"]
"""


def nox(*arguments: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nox", "--noxfile", str(folder / "noxfile.py"), *arguments],
        cwd=folder,
        env=os.environ | {"NO_COLOR": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def cells_listed(folder: Path) -> list[str]:
    return [entry["session"] for entry in json.loads(nox("-l", "--json", folder=folder).stdout)]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The noxfile and the matrix alone."""
    for name in ("noxfile.py", "matrix.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_there_is_a_session_for_every_cell_of_the_matrix_and_for_lint_and_tests() -> None:
    cells = [f"bench({cell.group}, {cell.media}, {cell.device})" for cell in load_matrix(ROOT).cells()]
    assert "bench(torch_stack, image, gpu)" in cells
    assert cells_listed(ROOT) == [*cells, "lint", "tests"]


def test_the_list_for_a_ci_matrix_says_what_each_cell_is() -> None:
    listed = json.loads(nox("-l", "--json").stdout)
    cells = [entry["call_spec"] for entry in listed if entry["name"] == "bench"]
    assert {"group": "torch_stack", "media": "image", "device": "gpu"} in cells


def test_every_session_is_described_in_one_line() -> None:
    lines = [line for line in nox("-l").stdout.splitlines() if line.startswith(("* ", "- "))]
    described = {line[2:].split(" -> ")[0].split("(")[0]: line.partition(" -> ")[2] for line in lines}
    assert described.keys() == {"bench", "score", "versus", "plan", "sample", "report", "lock", "lint", "tests"}
    assert all(described.values())


def test_a_group_added_to_the_matrix_has_its_session_without_another_change(checkout: Path) -> None:
    with (checkout / "matrix.toml").open("a", encoding="utf-8") as matrix:
        matrix.write(ANOTHER_GROUP)
    assert "bench(theirs, image, cpu)" in cells_listed(checkout)


def test_a_mistake_in_the_matrix_is_a_sentence(checkout: Path) -> None:
    (checkout / "matrix.toml").write_text("python = 3.11\n")
    shown = nox("-l", folder=checkout)
    assert shown.returncode != 0
    assert "matrix.toml: Expected `str`" in shown.stdout + shown.stderr
    assert "Traceback" not in shown.stdout + shown.stderr


def test_arguments_after_two_dashes_reach_bench_and_its_exit_code_becomes_nox_s() -> None:
    shown = nox("-s", "plan", "--", "--library", "torchvisoin")
    assert shown.returncode == ExitCode.USAGE
    assert "did you mean 'torchvision'" in shown.stdout + shown.stderr
    assert "Traceback" not in shown.stdout + shown.stderr


def test_a_session_that_succeeds_ends_with_zero() -> None:
    shown = nox("-s", "plan", "--", "--library", "torchvision", "--device", "cpu")
    assert shown.returncode == 0, shown.stderr
    assert "torchvision" in shown.stdout


@pytest.mark.skipif(sys.platform == "darwin", reason="the GPU of a Mac cannot be hidden; the cell would measure")
def test_a_gpu_cell_without_a_gpu_ends_with_its_own_code_before_an_environment_is_built(checkout: Path) -> None:
    shown = nox("-s", "bench(torch_stack, image, gpu)", folder=checkout, CUDA_VISIBLE_DEVICES="-1")
    assert shown.returncode == ExitCode.NO_DEVICE, shown.stderr
    assert "bench: no GPU on this machine" in shown.stdout + shown.stderr
    assert not (checkout / ".envs").exists()


def test_the_cells_after_one_that_fails_are_run() -> None:
    shown = nox("-s", "plan", "bench", "--", "--library", "torchvisoin")
    assert shown.returncode == ExitCode.USAGE
    ran = [line for line in (shown.stdout + shown.stderr).splitlines() if "Running session" in line]
    assert len(ran) == 1 + len(list(load_matrix(ROOT).cells()))
