"""What `make` says before it has set anything up."""

import shutil
import subprocess
from pathlib import Path

import pytest
from bench_core.environment import DRIVER_PACKAGES
from bench_core.matrix import find_root

from tests.bench_report.browser import BROWSERS

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


def test_a_run_that_is_to_be_published_has_to_be_named(checkout: Path) -> None:
    shown = make(checkout, "publish")
    assert shown.returncode != 0
    assert "Which run? make publish RUN=results/runs/NAME" in shown.stdout
    assert not (checkout / ".tools").exists()


def test_publishing_makes_the_documents_from_what_is_published(checkout: Path) -> None:
    (checkout / "results/published/run-a").mkdir(parents=True)
    told = make(checkout, "--dry-run", "publish", "RUN=results/runs/mine", "ARGS=--set quick").stdout
    # A make below another, as `make test` is, says where it enters and leaves.
    assert [line for line in told.splitlines() if not line.startswith("make")][-3:] == [
        ".tools/bin/bench publish results/runs/mine --set quick",
        ".tools/bin/bench report --docs results/published/*/",
        ".tools/bin/bench report --check results/published/*/",
    ]


def make_browser(checkout: Path, commands: Path, **scripts: str) -> subprocess.CompletedProcess[str]:
    """`make browser` where no other commands exist than these."""
    commands.mkdir()
    for name, script in scripts.items():
        path = commands / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    command = [shutil.which("make") or "make", "browser"]
    return subprocess.run(
        command, cwd=checkout, env={"PATH": str(commands)}, capture_output=True, text=True, check=False
    )


def test_without_a_browser_or_the_right_to_install_one_there_is_a_remedy(checkout: Path, tmp_path: Path) -> None:
    shown = make_browser(checkout, tmp_path / "commands", id="echo 1000", apt_get="echo apt-get was called")
    assert shown.returncode != 0
    assert "none of chromium chromium-browser google-chrome is there" in shown.stdout
    assert "apt-get install -y chromium" in shown.stdout
    assert "was called" not in shown.stdout


def test_root_gets_the_browser_installed_and_a_failure_of_that_is_one_of_make(checkout: Path, tmp_path: Path) -> None:
    shown = make_browser(checkout, tmp_path / "works", id="echo 0", apt_get='echo "called with $*"')
    assert shown.returncode == 0
    assert "called with -q install -y --no-install-recommends chromium" in shown.stdout
    assert make_browser(checkout, tmp_path / "fails", id="echo 0", apt_get="exit 100").returncode != 0


def test_a_browser_that_is_there_is_enough(checkout: Path, tmp_path: Path) -> None:
    shown = make_browser(checkout, tmp_path / "commands", google_chrome="")
    assert (shown.returncode, shown.stdout) == (0, "")


def test_the_browsers_that_are_looked_for_are_those_of_the_tests() -> None:
    assert f"BROWSERS := {' '.join(BROWSERS)}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_a_setup_that_fails_shows_why_and_is_not_taken_for_done(checkout: Path) -> None:
    (checkout / "locks/tools.txt").write_text("iniconfig==2.3.0 --hash=sha256:" + "0" * 64 + "\n")
    shown = make(checkout, "setup")
    assert shown.returncode != 0
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in shown.stdout
    assert "last lines of .tools/setup.log" in shown.stdout
    assert not list(checkout.glob(".tools/made-*"))
