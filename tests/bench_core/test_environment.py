"""Environments are built by the real uv, in a small checkout of their own, from packages that locks/dev.txt has."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bench_core.environment import ensure, environment_python, lock_path, lock_sha256, log_path
from bench_core.errors import BenchError, ExitCode
from bench_core.matrix import Group, Matrix, find_root, load_matrix

PATIENCE_SEC = 120.0
MATRIX_TOML = """
python = "3.11"
[scenarios.image-rgb]
media = "image"
channels = 3
modes = ["micro"]
[groups.toy]
package = "packages/toy"
libraries = ["toy"]
media = ["image"]
devices = ["cpu"]
"""
PYPROJECT = """
[project]
name = "{name}"
version = "0.1.0"
requires-python = ">=3.11"

[build-system]
requires = ["uv_build>=0.9,<0.14"]
build-backend = "uv_build"
"""
# A build backend that says when it has begun, and goes on when it is let.
SLOW_BACKEND = """
import pathlib, time, zipfile

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    here = pathlib.Path(__file__).parent
    (here / "begun").touch()
    while not (here / "go-on").exists():
        time.sleep(0.02)
    info = "toy-0.1.0.dist-info/"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / "toy-0.1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("toy.pth", str(here / "src"))
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: toy\\nVersion: 0.1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return "toy-0.1.0-py3-none-any.whl"
"""
ENSURE = """
import sys
from pathlib import Path
from bench_core.environment import ensure
from bench_core.matrix import load_matrix
root = Path(sys.argv[1])
print(ensure(root, load_matrix(root), "toy"))
"""


def locked(package: str) -> str:
    """What locks/dev.txt says of one package, hashes included."""
    text = lock_path(find_root(Path(__file__).parent), "dev").read_text(encoding="utf-8")
    found = re.search(rf"^{package}==.*(?:\n    --hash=.*)+", text, re.MULTILINE)
    assert found, package
    return found.group() + "\n"


def add_package(root: Path, folder: str, name: str, module: str) -> None:
    source = root / "packages" / folder / "src" / module
    source.mkdir(parents=True)
    (source / "__init__.py").touch()
    (root / "packages" / folder / "pyproject.toml").write_text(PYPROJECT.format(name=name))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with one group, `toy`; the space in its name must not matter."""
    root = tmp_path / "a checkout"
    add_package(root, "bench-core", "bench-core", "bench_core")
    add_package(root, "toy", "toy", "toy")
    (root / "matrix.toml").write_text(MATRIX_TOML)
    lock_path(root, "toy").parent.mkdir()
    lock_path(root, "toy").write_text(locked("iniconfig"))
    return root


def build(root: Path) -> Path:
    return ensure(root, load_matrix(root), "toy")


def shown_by(python: Path, code: str) -> str:
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def imports(python: Path, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def start_session(root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ENSURE, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SEC
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_environment_holds_what_its_lock_says_and_our_packages(root: Path) -> None:
    python = build(root)
    assert python == environment_python(root, "toy")
    assert all(imports(python, module) for module in ("iniconfig", "bench_core", "toy"))
    assert not imports(python, "pytest")


def test_our_packages_are_used_where_they_are_not_copied(root: Path) -> None:
    python = build(root)
    (root / "packages/toy/src/toy/later.py").touch()
    assert imports(python, "toy.later")


def test_a_warm_environment_is_left_alone(root: Path) -> None:
    build(root)
    log_path(root, "toy").unlink()
    build(root)
    assert not log_path(root, "toy").exists()


def test_all_environments_have_the_python_that_runs_bench(root: Path) -> None:
    assert shown_by(build(root), "import sys; print(sys.version)") == sys.version


def test_a_changed_lock_is_built_again(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(root)
    before = lock_sha256(root, "toy")
    lock_path(root, "toy").write_text(locked("iniconfig") + locked("packaging"))
    assert lock_sha256(root, "toy") != before
    assert imports(build(root), "packaging")
    assert "changed since it was built: lock" in capsys.readouterr().err


def test_changed_metadata_of_our_package_is_built_again(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(root)
    pyproject = root / "packages/toy/pyproject.toml"
    pyproject.write_text(pyproject.read_text() + '[project.entry-points."bench.adapters"]\ntoy = "toy:Toy"\n')
    find = "from importlib.metadata import entry_points; print(*entry_points(group='bench.adapters').names)"
    assert shown_by(build(root), find) == "toy"
    assert "changed since it was built: packages/toy/pyproject.toml" in capsys.readouterr().err


def test_an_environment_somebody_changed_by_hand_is_built_again(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = build(root)
    subprocess.run([sys.executable, "-m", "uv", "pip", "uninstall", "-q", "--python", python, "iniconfig"], check=True)
    assert imports(build(root), "iniconfig")
    assert "somebody installed or removed packages" in capsys.readouterr().err


def test_a_moved_checkout_is_built_again(root: Path) -> None:
    build(root)
    moved = root.rename(root.parent / "moved")
    assert Path(shown_by(build(moved), "import toy; print(toy.__file__)")).is_relative_to(moved)


def test_a_lock_with_a_wrong_hash_is_refused_with_command_last_lines_and_log(root: Path) -> None:
    right = lock_path(root, "toy").read_text()
    lock_path(root, "toy").write_text(re.sub(r"sha256:[0-9a-f]{8}", "sha256:00000000", right))
    with pytest.raises(BenchError) as caught:
        build(root)
    message = str(caught.value)
    assert caught.value.code == ExitCode.ENVIRONMENT
    assert "environment toy: the build failed" in message
    assert "pip sync --require-hashes" in message
    assert "Hash mismatch for `iniconfig==" in message
    assert str(log_path(root, "toy")) in message and "Hash mismatch" in log_path(root, "toy").read_text()

    lock_path(root, "toy").write_text(right)
    assert imports(build(root), "iniconfig")


def test_a_wrong_hash_is_named_even_where_a_package_has_many(root: Path) -> None:
    many = locked("msgspec")
    assert many.count("--hash=") > 30
    lock_path(root, "toy").write_text(re.sub(r"sha256:[0-9a-f]{8}", "sha256:00000000", many))
    with pytest.raises(BenchError) as caught:
        build(root)
    assert "Hash mismatch for `msgspec==" in str(caught.value)
    assert len(str(caught.value).splitlines()) < 30


def test_a_lock_without_hashes_is_refused(root: Path) -> None:
    lock_path(root, "toy").write_text(locked("iniconfig").partition(" ")[0] + "\n")
    with pytest.raises(BenchError, match="In `--require-hashes` mode, all requirements must have"):
        build(root)


def test_a_missing_lock_is_named_with_the_command_that_makes_it(root: Path) -> None:
    lock_path(root, "toy").unlink()
    with pytest.raises(BenchError, match=r"toy\.txt: cannot be read .*bench lock --group toy"):
        build(root)


def test_an_unknown_group_is_refused_with_the_nearest(root: Path) -> None:
    with pytest.raises(BenchError, match="unknown environment 'tooy'; did you mean 'toy'"):
        ensure(root, load_matrix(root), "tooy")


def test_a_python_older_than_the_locks_is_refused() -> None:
    toy = Group(package="packages/toy", libraries=("toy",), media=("image",), devices=("cpu",))
    matrix = Matrix(python="3.99", scenarios={}, groups={"toy": toy})
    with pytest.raises(BenchError, match=r"Python 3\.99 or newer, this is 3\.\d+"):
        ensure(Path("/nowhere"), matrix, "toy")


def test_a_place_that_cannot_be_written_is_named(root: Path) -> None:
    (root / ".envs").write_text("a file where the folder should be")
    with pytest.raises(BenchError, match=r"environment toy: cannot write .*\.envs"):
        build(root)


def test_of_two_sessions_at_once_one_builds_and_both_have_it(root: Path) -> None:
    sessions = [start_session(root) for _ in range(3)]
    ended = [(*session.communicate(timeout=PATIENCE_SEC), session.returncode) for session in sessions]
    assert [code for _, _, code in ended] == [0, 0, 0]
    assert {out.strip() for out, _, _ in ended} == {str(environment_python(root, "toy"))}
    assert sum("building" in line for _, err, _ in ended for line in err.splitlines() if "waiting" not in line) == 1


def test_a_killed_build_is_never_taken_for_whole_and_its_uv_is_waited_for(root: Path) -> None:
    toy = root / "packages/toy"
    (toy / "slow.py").write_text(SLOW_BACKEND)
    (toy / "pyproject.toml").write_text(
        '[project]\nname = "toy"\nversion = "0.1.0"\n'
        '[build-system]\nrequires = []\nbuild-backend = "slow"\nbackend-path = ["."]\n'
    )
    killed = start_session(root)
    wait_for((toy / "begun").exists)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()

    # Its uv lives on in the environment, so the next session waits instead of building into the same folder.
    other = start_session(root)
    assert other.stderr is not None
    assert "waiting for another session" in other.stderr.readline()
    assert other.poll() is None
    (toy / "go-on").touch()
    _, errors = other.communicate(timeout=PATIENCE_SEC)
    assert other.returncode == 0
    assert "building (a build was not finished)" in errors
    assert imports(environment_python(root, "toy"), "toy")


def test_an_environment_is_not_replaced_under_a_worker_that_measures(root: Path) -> None:
    (root / "packages/bench-core/src/bench_core/worker.py").write_text(
        "import time; print(1, flush=True); time.sleep(600)"
    )
    worker = subprocess.Popen([build(root), "-m", "bench_core.worker"], stdout=subprocess.PIPE)
    assert worker.stdout is not None
    worker.stdout.readline()
    lock_path(root, "toy").write_text(locked("iniconfig") + locked("packaging"))
    try:
        with pytest.raises(BenchError, match=rf"changed since it was built: lock.*process {worker.pid} measures"):
            build(root)
    finally:
        worker.kill()
        worker.communicate()
    assert imports(build(root), "packaging")


def test_an_environment_does_not_replace_itself(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = build(root)
    lock_path(root, "toy").write_text(locked("iniconfig") + locked("packaging"))
    monkeypatch.setattr(sys, "prefix", str(python.parent.parent))
    with pytest.raises(BenchError, match="this very bench runs in it"):
        build(root)
    assert imports(python, "iniconfig")


def test_the_user_s_virtual_environment_is_not_installed_into(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(root / "theirs"))
    assert imports(build(root), "iniconfig")
    assert not (root / "theirs").exists()
