"""Sessions over matrix.toml. Each only calls `bench`, or a tool of the environment dev; arguments after -- reach it."""

import atexit
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import nox

try:
    from bench_core.environment import DEV, ensure
    from bench_core.errors import BenchError
    from bench_core.matrix import load_matrix

    ROOT = Path(__file__).resolve().parent
    MATRIX = load_matrix(ROOT)
except ImportError:
    sys.exit("This nox does not see bench. Run `make setup` once, then `.tools/bin/nox`.")
except BenchError as error:
    sys.exit(str(error))

nox.needs_version = ">=2026.10"
# bench makes the environments itself: one per group, shared by its cells; nox would make one per session.
nox.options.default_venv_backend = "none"
# What a CI matrix runs, so that `nox -l --json` lists exactly that; the other sessions run when named.
nox.options.sessions = ["bench", "lint", "tests"]

SCORED = "scoring/dcdft.toml"  # what is scored where no --config is given

BENCH = Path(sys.executable).with_name("bench")
SOURCES = sorted(str(path) for path in ROOT.glob("packages/*/src"))
failed_codes: list[int] = []


@atexit.register
def end_with_the_code_of_bench() -> None:
    """nox ends with 1 whatever failed; the codes of bench mean something, so the first one becomes nox's."""
    if failed_codes:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(failed_codes[0])


def fail(session: nox.Session, code: int, message: str) -> NoReturn:
    failed_codes.append(code)
    session.error(message)


def bench(session: nox.Session, *arguments: str) -> None:
    command = [str(BENCH), *arguments, *session.posargs]
    session.log(shlex.join(["bench", *command[1:]]))
    process = subprocess.Popen(command, cwd=ROOT)
    code = None
    while code is None:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            # bench got the signal too; it ends by itself when what was measured is safe.
            continue
    if code in (-signal.SIGINT, 128 + signal.SIGINT):
        raise KeyboardInterrupt
    if code != 0:
        fail(session, code if code > 0 else 128 - code, f"bench ended with exit code {code}")


def python_of(session: nox.Session, group: str) -> str:
    """The interpreter of an environment, which is built first if it has to be."""
    try:
        return str(ensure(ROOT, MATRIX, group))
    except BenchError as error:
        fail(session, error.code, str(error))


@nox.session(name="bench")
@nox.parametrize(
    ("group", "media", "device"),
    [nox.param(cell.group, cell.media, cell.device, id=str(cell)) for cell in MATRIX.cells()],
)
def cell(session: nox.Session, group: str, media: str, device: str) -> None:
    """Measure one cell: a group's libraries on one kind of media and one device (-- flags of `bench run`)."""
    bench(session, "run", "--group", group, "--media", media, "--device", device)


@nox.session
@nox.parametrize(
    ("family", "device"),
    [nox.param(cell.family, cell.device, id=str(cell)) for cell in MATRIX.score_cells()],
)
def score(session: nox.Session, family: str, device: str) -> None:
    """Score one family of pre-trained models on one dataset and device (-- flags of `bench score`)."""
    given = [] if "--config" in session.posargs else ["--config", SCORED]
    bench(session, "score", "--family", family, "--device", device, *given)


@nox.session
def versus(session: nox.Session) -> None:
    """Measure the libraries of several groups together, interleaved (-- flags of `bench run`)."""
    bench(session, "run")


@nox.session
def plan(session: nox.Session) -> None:
    """Show what would run, the files it would write and how long it should take (-- flags of `bench plan`)."""
    bench(session, "plan")


@nox.session
def sample(session: nox.Session) -> None:
    """Make the embedded sample images, from photographs that come inside a package."""
    bench(session, "sample")


@nox.session
def report(session: nox.Session) -> None:
    """Write tables from committed runs (-- flags and directories of `bench report`)."""
    bench(session, "report")


@nox.session
def lock(session: nox.Session) -> None:
    """Refresh the locks of the environments (-- --group NAME for one, --upgrade for the newest versions)."""
    bench(session, "lock")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style (ruff), types (mypy, strict) and who may import whom (import-linter)."""
    python = python_of(session, DEV)
    session.run(python, "-m", "ruff", "check", ".")
    session.run(python, "-m", "ruff", "format", "--check", ".")
    session.run(python, "-m", "mypy")
    # The adapters are not installed there: their libraries are not.
    environment = {"PYTHONPATH": os.pathsep.join(SOURCES)}
    session.run(str(Path(python).with_name("lint-imports")), "--no-cache", env=environment)


@nox.session
def tests(session: nox.Session) -> None:
    """Run every test, adapters in their own environments included (-- flags of pytest)."""
    for group in MATRIX.environments():
        python_of(session, group)
    session.run(python_of(session, DEV), "-m", "pytest", *session.posargs)
