"""One measurement, one process: forked from the worker or freshly spawned; watched, limited, and swept up after."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NoReturn

import msgspec
import psutil

from bench_core import protocol
from bench_core.results import Status

HEADER_BYTES = 8  # length of the reply that follows
POLL_SEC = 0.25  # between looks at whether a silent child still lives


class Abandoned(Exception):
    """The conductor has gone: stop everything and end."""


def run_forked(
    task: Callable[[], protocol.Reply], timeout_sec: float, memory_limit_bytes: int | None, watch_fd: int
) -> protocol.Reply:
    """Run `task` in a forked child and return its reply, or a `Failed` that says how the child ended.

    Args:
        timeout_sec: after this the child's whole process group is killed.
        memory_limit_bytes: private memory the child may take beyond what it was forked with.
        watch_fd: end of file on it means that the conductor is gone.

    Raises:
        Abandoned: the conductor is gone; the child was killed.
    """
    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_fd)
        _child(task, write_fd, memory_limit_bytes)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)  # the child does the same: whoever is first
    os.close(write_fd)
    try:
        return _await(pid, read_fd, timeout_sec, watch_fd, _wait_status)
    finally:
        os.close(read_fd)


def run_spawned(
    start: protocol.Start,
    request: protocol.Preflight | protocol.Measure | None,
    timeout_sec: float,
    watch_fd: int,
) -> protocol.Reply:
    """Like `run_forked`, in a fresh interpreter that imports and decodes for itself; None asks only for `Ready`."""
    read_fd, write_fd = os.pipe()
    command = [sys.executable, "-m", "bench_core.worker", "--once", str(write_fd)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[write_fd], process_group=0)
    os.close(write_fd)
    try:
        assert child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(protocol.encode(start) + (protocol.encode(request) if request else b""))
            child.stdin.close()
        return _await(child.pid, read_fd, timeout_sec, watch_fd, lambda _: _popen_status(child))
    finally:
        os.close(read_fd)


def send(reply: protocol.Reply, fd: int) -> None:
    """Write a reply with its length before it."""
    body = protocol.encode(reply)
    data = memoryview(len(body).to_bytes(HEADER_BYTES, "big") + body)
    while data:
        data = data[os.write(fd, data) :]


def limit_memory(limit_bytes: int | None) -> None:
    """Refuse this process private memory beyond what it has plus `limit_bytes`, where the system can."""
    if limit_bytes is None or not sys.platform.startswith("linux"):
        return
    import resource

    limit = psutil.Process().memory_info().data + limit_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _child(task: Callable[[], protocol.Reply], write_fd: int, memory_limit_bytes: int | None) -> NoReturn:
    code = 1
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        limit_memory(memory_limit_bytes)
        send(task(), write_fd)
        code = 0
    finally:
        os._exit(code)  # no exit handlers of the worker, no flushing of what it had buffered


def _await(pid: int, fd: int, timeout_sec: float, watch_fd: int, status_of: Callable[[int], int]) -> protocol.Reply:
    ended = False
    try:
        body = _receive(pid, fd, time.monotonic() + timeout_sec, watch_fd)
        ended = body is None and _ends_soon(pid)
    except TimeoutError:
        return protocol.Failed(status=Status.TIMEOUT, reason=f"no answer within {timeout_sec:g} s; it was killed")
    finally:
        # It has answered, ended or run out of time, or nobody listens any more; so has what it started.
        _sweep(pid)
        status = status_of(pid)
    if body is None:
        return protocol.Failed(status=Status.CRASHED, reason=_ending(status, ended=ended))
    try:
        return protocol.decode_reply(body)
    except msgspec.DecodeError as error:
        return protocol.Failed(status=Status.CRASHED, reason=f"its answer cannot be read: {error}")


def _receive(pid: int, fd: int, deadline: float, watch_fd: int) -> bytes | None:
    """The child's reply; None when it ended, or closed its pipe, before a whole one."""
    data = bytearray()
    ended = False
    while len(data) < HEADER_BYTES or len(data) < HEADER_BYTES + int.from_bytes(data[:HEADER_BYTES], "big"):
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        readable, _, _ = select.select([fd, watch_fd], [], [], 0 if ended else min(left, POLL_SEC))
        if fd in readable:
            chunk = os.read(fd, 1 << 16)
            if not chunk:
                return None
            data += chunk
        elif watch_fd in readable:
            # Between a request and its reply the conductor says nothing: this is the end of the file.
            raise Abandoned
        elif ended:
            return None  # what it started may hold the pipe open still
        else:
            ended = _has_ended(pid)
    return bytes(data[HEADER_BYTES:])


def _has_ended(pid: int) -> bool:
    """Whether a child has ended, leaving it to be reaped."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _ends_soon(pid: int) -> bool:
    """Whether a child that closed its pipe did so because it ends: the system closes files before it says so."""
    give_up = time.monotonic() + POLL_SEC * 4
    while not _has_ended(pid):
        if time.monotonic() > give_up:
            return False
        time.sleep(0.005)
    return True


def _sweep(pid: int) -> None:
    """Kill the child's process group, grandchildren included."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _wait_status(pid: int) -> int:
    """Reap a forked child: its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _popen_status(child: subprocess.Popen[bytes]) -> int:
    return child.wait()


def _ending(status: int, *, ended: bool) -> str:
    if not ended:
        return "the process closed its pipe before it answered"
    if status >= 0:
        return f"the process ended with exit code {status} before it answered"
    name = signal.Signals(-status).name
    hint = " (out of memory?)" if -status == signal.SIGKILL else ""
    return f"the process was killed by {name}{hint}"
