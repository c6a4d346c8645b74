"""uv as a child process: found beside this Python, its output in a log, its failure one message."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench_core.errors import BenchError, ExitCode

LAST_LINES = 12


def run_uv(arguments: Sequence[str], *, root: Path, log: Path, purpose: str, keep_open: tuple[int, ...] = ()) -> None:
    """Run `uv ARGUMENTS` in `root` and append what it prints to `log`.

    `purpose` names the work in the error. `keep_open` are file descriptors that uv holds as long as it lives.

    Raises:
        BenchError: uv is not installed, or it failed: the command, its last lines and the log's path.
    """
    command = [_find_uv(), *arguments]
    with log.open("a+b") as stream:
        stream.write(f"$ {shlex.join(command)}\n".encode())
        stream.flush()
        start = stream.seek(0, os.SEEK_END)
        done = subprocess.run(
            command,
            cwd=root,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            pass_fds=keep_open,
            check=False,
        )
        stream.seek(start)
        printed = stream.read().decode(errors="replace")
    if done.returncode != 0:
        tail = "\n".join(f"    {line}" for line in _last_lines(printed))
        raise BenchError(
            f"{purpose} failed (exit code {done.returncode}).\nThe command, run in {root}:\n"
            f"    {shlex.join(command)}\nIts last lines:\n{tail}\nThe whole log: {log}",
            ExitCode.ENVIRONMENT,
        )


def _last_lines(printed: str) -> list[str]:
    """The end of what uv printed, from its error on where that is further up; a long list of hashes in it is cut."""
    lines = printed.rstrip().splitlines()
    error = next((index for index, line in enumerate(lines) if line.startswith("error")), len(lines))
    end = lines[min(error, max(0, len(lines) - LAST_LINES)) :]
    if len(end) <= 2 * LAST_LINES:
        return end
    return [*end[:LAST_LINES], "...", *end[-LAST_LINES // 2 :]]


def _find_uv() -> str:
    # Imported here: planning and workers do without uv.
    try:
        import uv

        return uv.find_uv_bin()
    except (ImportError, FileNotFoundError) as error:
        raise BenchError(
            "uv is not installed beside this Python; run `make setup` in the checkout, which brings the locked one",
            ExitCode.ENVIRONMENT,
        ) from error


def _environment() -> dict[str, str]:
    """The user's variables (a mirror or cache of theirs counts), less what would redirect or decorate the work."""
    kept = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "FORCE_COLOR"}}
    # The interpreter is the one that runs bench; a downloaded one would be measured under another name.
    return kept | {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1", "NO_COLOR": "1"}
