"""What `make` says before it has set anything up."""

import shutil
import subprocess
from pathlib import Path

import pytest
from bench_core.environment import DRIVER_PACKAGES
from bench_core.matrix import find_root

ROOT = find_root(Path(__file__).parent)
# A Python that says it is 3.10.
OLD_PYTHON = "#!/bin/sh\nexec python3 -c \"import sys; sys.version_info = (3, 10, 4, 'final', 0); $2\"\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile and what its tools are made from."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("locks/tools.txt", *(f"{package}/pyproject.toml" for package in DRIVER_PACKAGES)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_make_alone_explains_itself(checkout: Path) -> None:
    shown = make(checkout)
    assert shown.returncode == 0
    assert "make bench" in shown.stdout and "make test" in shown.stdout
    assert not (checkout / ".tools").exists()


def test_it_installs_the_packages_that_the_driver_needs() -> None:
    assert f"OURS := {' '.join(DRIVER_PACKAGES)}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_a_python_that_is_too_old_is_named(checkout: Path) -> None:
    old = checkout / "old-python"
    old.write_text(OLD_PYTHON)
    old.chmod(0o755)
    shown = make(checkout, "setup", f"PYTHON={old}")
    assert shown.returncode != 0
    assert f'bench needs Python 3.11 or newer, and "{old}" is 3.10.4.' in shown.stdout


def test_a_python_that_is_not_there_is_named(checkout: Path) -> None:
    shown = make(checkout, "setup", "PYTHON=/nowhere/python3")
    assert shown.returncode != 0
    assert 'bench needs Python 3.11 or newer, and "/nowhere/python3" is not there.' in shown.stdout


def test_a_setup_that_fails_shows_why_and_is_not_taken_for_done(checkout: Path) -> None:
    (checkout / "locks/tools.txt").write_text("iniconfig==2.3.0 --hash=sha256:" + "0" * 64 + "\n")
    shown = make(checkout, "setup")
    assert shown.returncode != 0
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in shown.stdout
    assert "last lines of .tools/setup.log" in shown.stdout
    assert not list(checkout.glob(".tools/made-*"))
