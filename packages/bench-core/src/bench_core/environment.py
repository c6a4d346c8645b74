"""One locked environment per group: built once from its lock, built again when anything it depends on changes."""

import fcntl
import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_file, write_atomically
from bench_core.installer import run_uv
from bench_core.invocation import command
from bench_core.matrix import Matrix
from bench_core.suggest import unknown

ENVIRONMENTS = ".envs"
CORE_PACKAGE = "packages/bench-core"
# What the driver's own environment (.tools, made by the Makefile) has of ours.
DRIVER_PACKAGES = (CORE_PACKAGE, "packages/report", "packages/bench-score")
# The environment of tests and lint: the driver's, their tools, and the libraries that exist only for tests.
DEV = "dev"
DEV_PACKAGES = (*DRIVER_PACKAGES, "tests/mock-adapter")
STAMP = "identity.json"
RECIPE = "2: bytecode compiled"  # changed when `_build` is
# Modules of the processes that measure: an environment they run in is not replaced under them.
WORKER_MODULES = frozenset({"bench_core.worker", "bench_score.worker"})


def environment_python(root: Path, group: str) -> Path:
    """Where the interpreter of a group's environment is, or will be."""
    return root / ENVIRONMENTS / group / "bin" / "python"


def log_path(root: Path, name: str) -> Path:
    return root / ENVIRONMENTS / "logs" / f"{name}.log"


def lock_path(root: Path, name: str) -> Path:
    return root / "locks" / f"{name}.txt"


def lock_sha256(root: Path, group: str) -> str:
    """SHA-256 of a group's lock.

    Raises:
        BenchError: the lock cannot be read.
    """
    path = lock_path(root, group)
    try:
        return sha256_file(path)
    except OSError as error:
        raise BenchError(
            f"{path}: cannot be read ({error.strerror}); make it with: {command('lock', '--group', group)}",
            ExitCode.ENVIRONMENT,
        ) from error


def ensure(root: Path, matrix: Matrix, group: str) -> Path:
    """The interpreter of a group's environment (or of `dev`), which is built first if it is not what it should be.

    Sessions that ask at once wait for the one that builds. The stamp is written last, so what a killed build leaves
    is never taken for whole.

    Raises:
        BenchError: no such group, Python too old, a lock or package missing, the build failed, or the environment
            has to be built again while something measures with it.
    """
    packages = _packages(matrix, group)
    _check_python(matrix)
    wanted = _identity(root, group, packages)
    python = environment_python(root, group)
    if _difference(root, group, wanted) is None:
        return python
    try:
        with _one_builder(root, group) as lock_fd:
            # Another session may have built it while this one waited.
            reason = _difference(root, group, wanted)
            if reason is not None:
                _refuse_while_used(root, group, reason)
                _build(root, group, packages, wanted, reason, lock_fd)
    except OSError as error:
        raise BenchError(
            f"environment {group}: cannot write {error.filename or root / ENVIRONMENTS} ({error.strerror})",
            ExitCode.ENVIRONMENT,
        ) from error
    return python


def needs_build(root: Path, matrix: Matrix, group: str) -> str | None:
    """Why `ensure` would build a group's environment; None when it is as it should be. Builds nothing.

    Raises:
        BenchError: no such group, or its lock or a package is missing.
    """
    return _difference(root, group, _identity(root, group, _packages(matrix, group)))


def _packages(matrix: Matrix, group: str) -> tuple[str, ...]:
    """Our own packages of an environment, as folders under the root."""
    if group == DEV:
        return DEV_PACKAGES
    found = matrix.environments().get(group)
    if found is None:
        raise unknown("environment", group, [*matrix.environments(), DEV])
    return (CORE_PACKAGE, *found.needs, found.package)


def _check_python(matrix: Matrix) -> None:
    oldest = tuple(int(part) for part in matrix.python.split("."))
    if sys.version_info < oldest:
        raise BenchError(
            f"the locks are made for Python {matrix.python} or newer, this is {platform.python_version()}; "
            "run `make clean`, then `make setup PYTHON=/path/to/a/newer/python3`",
            ExitCode.ENVIRONMENT,
        )


def _identity(root: Path, group: str, packages: tuple[str, ...]) -> dict[str, str]:
    """Everything an environment depends on, by the name that a difference is reported under."""
    identity = {
        "folder": str(root / ENVIRONMENTS / group),
        "lock": lock_sha256(root, group),
        "Python": f"{sys.implementation.name} {sys.version}",
        "platform": sysconfig.get_platform(),
        "way of building": RECIPE,
    }
    for package in packages:
        path = root / package / "pyproject.toml"
        try:
            identity[f"{package}/pyproject.toml"] = sha256_file(path)
        except OSError as error:
            raise BenchError(f"{path}: cannot be read ({error.strerror})", ExitCode.ENVIRONMENT) from error
    return identity


class _Stamp(msgspec.Struct, frozen=True):
    """What an environment was built from, and what was in it then: names of the distributions' metadata folders."""

    identity: dict[str, str]
    installed: tuple[str, ...]


def _difference(root: Path, group: str, wanted: dict[str, str]) -> str | None:
    """Why the environment must be built (again); None when it is as it should be. Takes milliseconds."""
    folder = root / ENVIRONMENTS / group
    try:
        stamp = msgspec.json.decode((folder / STAMP).read_bytes(), type=_Stamp)
    except FileNotFoundError:
        return "a build was not finished" if folder.exists() else "not built yet"
    except (OSError, msgspec.DecodeError):
        return "its stamp cannot be read"
    changed = [name for name in stamp.identity | wanted if stamp.identity.get(name) != wanted.get(name)]
    if changed:
        return f"changed since it was built: {', '.join(changed)}"
    if not environment_python(root, group).is_file():
        return "its interpreter is gone"
    if _installed(folder) != stamp.installed:
        return "somebody installed or removed packages in it"
    return None


def _installed(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in folder.glob("lib/python*/site-packages/*.dist-info")))


@contextmanager
def _one_builder(root: Path, group: str) -> Iterator[int]:
    """Hold the right to build a group's environment; yields the descriptor that holds it.

    uv inherits the descriptor: when the session is killed and its uv lives on, nobody else builds until that ends.
    """
    log_path(root, group).parent.mkdir(parents=True, exist_ok=True)
    lock_fd = os.open(root / ENVIRONMENTS / f"{group}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"Environment {group}: waiting for another session that is building it")
            fcntl.flock(lock_fd, fcntl.LOCK_EX)
        yield lock_fd
    finally:
        os.close(lock_fd)


def _refuse_while_used(root: Path, group: str, reason: str) -> None:
    import psutil  # only a build needs it

    begin = f"environment {group} has to be built again ({reason}), but"
    python = environment_python(root, group)
    if Path(sys.prefix) == python.parent.parent:
        raise BenchError(f"{begin} this very bench runs in it; run .tools/bin/bench instead", ExitCode.ENVIRONMENT)
    for process in psutil.process_iter(["pid", "cmdline"]):
        command = process.info["cmdline"] or []
        if command[:1] == [str(python)] and WORKER_MODULES.intersection(command):
            raise BenchError(
                f"{begin} process {process.info['pid']} measures with it now; let that run end or stop it, "
                "then try again",
                ExitCode.ENVIRONMENT,
            )


def _build(
    root: Path, group: str, packages: tuple[str, ...], wanted: dict[str, str], reason: str, lock_fd: int
) -> None:
    folder, python, log = root / ENVIRONMENTS / group, environment_python(root, group), log_path(root, group)
    _say(f"Environment {group}: building ({reason}); log: {log}")
    if folder.exists():
        (folder / STAMP).unlink(missing_ok=True)
        shutil.rmtree(folder)
    log.unlink(missing_ok=True)
    steps = (
        ["venv", "--no-project", "--python", sys.executable, str(folder)],
        # Compiled now: importing torch is three times as fast, and no library pays for the first import of a run.
        ["pip", "sync", "--require-hashes", "--compile-bytecode", "--python", str(python), str(lock_path(root, group))],
        # Editable: what is measured is the code that is there, and no copy of it.
        ["pip", "install", "--no-deps", "--python", str(python)]
        + [argument for package in packages for argument in ("--editable", str(root / package))],
    )
    for step in steps:
        run_uv(step, root=root, log=log, purpose=f"environment {group}: the build", keep_open=(lock_fd,))
    stamp = _Stamp(identity=wanted, installed=_installed(folder))
    write_atomically(folder / STAMP, msgspec.json.format(msgspec.json.encode(stamp), indent=2))


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
