"""The conductor's side of workers: started together, asked one at a time, killed whole when they do not answer."""

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import psutil

from bench_core import descendants, policy, protocol
from bench_core.threads import thread_environment

LOG_TAIL_LINES = 6
LOG_TAIL_BYTES = 16 * 1024  # a library may have printed a gigabyte


class WorkerGone(Exception):
    """A worker ended or was killed because it did not answer: a sentence that says how."""

    def __init__(self, reason: str, *, timed_out: bool = False) -> None:
        super().__init__(reason)
        self.timed_out = timed_out


class Worker:
    """One worker process. Another package's worker is a subclass that says its module, environment and replies."""

    module = "bench_core.worker"

    def __init__(self, python: Path, start: protocol.Message, log: Path) -> None:
        """Start the process and send it `start`; `ready` waits for its answer."""
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log, self._log_cut = log, False
        # A spawned measurement imports and decodes first, within the same answer.
        spawns = isinstance(start, protocol.Start) and start.isolation == "spawn"
        self._grace_sec = policy.GRACE_SEC + (policy.START_TIMEOUT_SEC if spawns else 0.0)
        self.name = log.stem
        with log.open("ab") as sink:
            self._process = subprocess.Popen(
                [str(python), "-m", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=self._environment(start),
                start_new_session=True,  # a Ctrl-C at the terminal is the conductor's to handle
            )
        self._buffer = bytearray()
        self.say(start)

    def ready(self, on_loading: Callable[[int, int], None]) -> protocol.Ready | protocol.Unavailable | protocol.BadData:
        """Wait until the worker has imported and decoded."""
        try:
            while True:
                reply = self._hear(policy.START_TIMEOUT_SEC)
                match reply:
                    case protocol.Loading():
                        on_loading(reply.done, reply.total)
                    case protocol.Ready() | protocol.Unavailable() | protocol.BadData():
                        return reply
                    case _:
                        self.kill()
                        raise WorkerGone(f"it answered {type(reply).__name__} where it should be starting")
        except WorkerGone as gone:
            return protocol.Unavailable(reason=f"the worker did not start: {gone}", detail=self.log_tail())

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def say(self, message: protocol.Message) -> None:
        """Send a request; `hear` waits for what comes back."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # `hear` says how it ended
            self._process.stdin.write(protocol.encode(message))
            self._process.stdin.flush()

    def hear(self, timeout_sec: float) -> Any:
        """The next reply, within the time that the worker itself allows, and a little.

        Raises:
            WorkerGone: the worker died or did not answer in time; it and all it started are dead now.
        """
        return self._hear(timeout_sec + self._grace_sec)

    def stop(self) -> None:
        """End the worker: politely, then not."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=policy.STOP_SEC)
        self.kill()

    def kill(self) -> None:
        """Kill the worker, everything below it and in its session: measuring children, and what they started."""
        below = descendants.below(self._process.pid)
        self._process.kill()
        self._process.wait()
        for process in below:
            with contextlib.suppress(psutil.Error):
                process.kill()
        for pid in psutil.pids():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getsid(pid) == self._process.pid:
                    os.kill(pid, signal.SIGKILL)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._close_log()

    def _end(self) -> str:
        """How a worker that closed its output ended; it has a moment to do so by itself, and is dead after."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=policy.STOP_SEC)
        code = self._process.returncode
        self.kill()
        return ending(code)

    def log_tail(self) -> str | None:
        """Last lines of what the worker wrote to its log."""
        with self.log.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - LOG_TAIL_BYTES))
            lines = stream.read(LOG_TAIL_BYTES).decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-LOG_TAIL_LINES:]) or None

    def _limit_log(self) -> None:
        """Cut off what is too much. The worker writes at the end, wherever that is, and notices nothing."""
        with contextlib.suppress(OSError):  # somebody removed it
            if self.log.stat().st_size > policy.LOG_MAX_BYTES:
                os.truncate(self.log, policy.LOG_MAX_BYTES)
                self._log_cut = True

    def _close_log(self) -> None:
        """Say at the end of a log that something is missing, once nobody writes to it any more."""
        self._limit_log()
        if self._log_cut:
            self._log_cut = False
            said = f"\nbench: more than {policy.LOG_MAX_BYTES} bytes were printed; the rest is left out\n"
            with contextlib.suppress(OSError), self.log.open("ab") as stream:
                stream.write(said.encode())

    def _environment(self, start: protocol.Message) -> dict[str, str]:
        assert isinstance(start, protocol.Start)
        return worker_environment(start.threads)

    def _decode(self, line: bytes) -> Any:
        """Raises msgspec.DecodeError for anything a worker would not say."""
        return protocol.decode_reply(line)

    def _hear(self, timeout_sec: float) -> Any:
        assert self._process.stdout is not None
        fd, deadline = self._process.stdout.fileno(), time.monotonic() + timeout_sec
        while b"\n" not in self._buffer:
            self._limit_log()
            left = deadline - time.monotonic()
            if left <= 0:
                self.kill()
                raise WorkerGone(f"no answer within {timeout_sec:g} s; it was killed", timed_out=True)
            ended = self._process.poll() is not None  # asked before looking, so that its last words are read
            if select.select([fd], [], [], 0 if ended else min(left, policy.POLL_SEC))[0]:
                chunk = os.read(fd, 1 << 16)
                if not chunk:
                    raise WorkerGone(self._end())
                self._buffer += chunk
            elif ended:  # a child that outlives it holds its output open
                raise WorkerGone(self._end())
        line, _, rest = self._buffer.partition(b"\n")
        self._buffer = bytearray(rest)
        try:
            return self._decode(bytes(line))
        except msgspec.DecodeError as error:
            self.kill()
            raise WorkerGone(f"its answer cannot be read: {error}") from error


def worker_environment(threads: int) -> dict[str, str]:
    """The environment of a worker: this one's, less what changes which code Python finds (PYTHONPATH, the current
    folder) or how it runs it (PYTHONMALLOC, PYTHONOPTIMIZE)."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ours = {"PYTHONNOUSERSITE": "1", "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"}
    return inherited | thread_environment(threads) | ours


def ending(code: int | None) -> str:
    """How a process ended, for people."""
    return "it closed its output" if code is None else f"it {descendants.ending(code)}"
