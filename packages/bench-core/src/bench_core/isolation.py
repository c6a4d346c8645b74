"""One measurement, one process: forked from the worker or freshly spawned; watched, limited, and swept up after."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

import msgspec
import psutil

from bench_core import descendants, policy, protocol
from bench_core.channel import GO, Channel, Frame
from bench_core.results import Status

Task = Callable[[Channel], protocol.Reply]


class Abandoned(Exception):
    """The conductor has gone: stop everything and end."""


@dataclass(frozen=True)
class Watch:
    """How a child is watched.

    Attributes:
        timeout_sec: without a message for so long, in its own turn, the child's whole process group is killed.
        conductor_fd: end of file on it means that the conductor is gone.
        on_turn: called when the child waits for its turn; returns when it has it, or raises `Abandoned`.
        start_timeout_sec: the limit until the child says `Ready`, where it imports before it answers; else None.
    """

    timeout_sec: float
    conductor_fd: int
    on_turn: Callable[[], None]
    start_timeout_sec: float | None = None


@dataclass(frozen=True)
class Child:
    """A running child, and the worker's ends of its pipes."""

    pid: int
    read_fd: int
    go_fd: int
    reap: Callable[[], int]  # waits for its end: its exit code, or minus the signal that ended it


def run_forked(task: Task, watch: Watch, memory_limit_bytes: int | None) -> protocol.Reply:
    """Run `task` in a forked child and return its reply, or a `Failed` that says how the child ended.

    `memory_limit_bytes` is private memory the child may take beyond what it was forked with.

    Raises:
        Abandoned: the conductor is gone; the child was killed.
    """
    with _pipes() as (read_fd, write_fd, go_read_fd, go_fd):
        pid = os.fork()
        if pid == 0:
            os.close(read_fd)
            os.close(go_fd)
            _child(task, Channel(write_fd, go_read_fd), memory_limit_bytes)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)  # the child does the same: whoever is first
        os.close(write_fd)
        os.close(go_read_fd)
        child = Child(pid, read_fd, go_fd, lambda: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        return _await(child, watch)


def run_spawned(
    start: protocol.Start, request: protocol.Preflight | protocol.Measure | None, watch: Watch
) -> protocol.Reply:
    """Like `run_forked`, in a fresh interpreter that imports and decodes for itself; None asks only for `Ready`."""
    with _pipes() as (read_fd, write_fd, go_read_fd, go_fd):
        process = subprocess.Popen(
            [sys.executable, "-m", "bench_core.worker", "--once", str(write_fd), str(go_read_fd)],
            stdin=subprocess.PIPE,
            pass_fds=[write_fd, go_read_fd],
            process_group=0,
        )
        os.close(write_fd)
        os.close(go_read_fd)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(protocol.encode(start) + (protocol.encode(request) if request else b""))
            process.stdin.close()
        return _await(Child(process.pid, read_fd, go_fd, process.wait), watch)


def limit_memory(limit_bytes: int | None) -> None:
    """Refuse this process private memory beyond what it has plus `limit_bytes`, where the system can."""
    if limit_bytes is None or not sys.platform.startswith("linux"):
        return
    import resource

    limit = psutil.Process().memory_info().data + limit_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


@contextlib.contextmanager
def _pipes() -> Iterator[tuple[int, int, int, int]]:
    """A pipe up and a pipe down; whoever starts the child closes the child's ends, the worker's are closed here."""
    read_fd, write_fd = os.pipe()
    go_read_fd, go_fd = os.pipe()
    try:
        yield read_fd, write_fd, go_read_fd, go_fd
    finally:
        os.close(read_fd)
        os.close(go_fd)


def _child(task: Task, channel: Channel, memory_limit_bytes: int | None) -> NoReturn:
    code = 1
    try:
        os.setpgid(0, 0)
        descendants.die_with_parent(True)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        limit_memory(memory_limit_bytes)
        channel.send(task(channel))
        code = 0
    finally:
        os._exit(code)  # no exit handlers of the worker, no flushing of what it had buffered


def _await(child: Child, watch: Watch) -> protocol.Reply:
    ended = False
    try:
        reply = _converse(child, watch)
        ended = reply is None and _ends_soon(child.pid)
    except TimeoutError as error:
        return protocol.Failed(status=Status.TIMEOUT, reason=f"no answer within {error}; it was killed")
    except msgspec.DecodeError as error:
        return protocol.Failed(status=Status.CRASHED, reason=f"its answer cannot be read: {error}")
    finally:
        # It has answered, ended or run out of time, or nobody listens any more; so has what it started.
        _sweep(child.pid)
        status = child.reap()
    return reply or protocol.Failed(status=Status.CRASHED, reason=_ending(status, ended=ended))


def _converse(child: Child, watch: Watch) -> protocol.Reply | None:
    """Give the child its turns until it has replied; None when it ended, or closed its pipe, before that."""
    limit_sec = watch.start_timeout_sec or watch.timeout_sec
    while True:
        body = _receive(child, watch, limit_sec)
        if body is None:
            return None
        match protocol.decode_reply(body):
            case protocol.Turn():
                watch.on_turn()
            case protocol.Ready() if watch.start_timeout_sec:
                limit_sec = watch.timeout_sec
            case reply:
                return reply
        with contextlib.suppress(BrokenPipeError):  # it ended while it waited; the next look says how
            os.write(child.go_fd, GO)


def _receive(child: Child, watch: Watch, limit_sec: float) -> bytes | None:
    """The child's next message; None when it ended, or closed its pipe, before a whole one.

    Raises:
        TimeoutError: it said nothing for `limit_sec`, which is the message.
    """
    frame, deadline, ended = Frame(), time.monotonic() + limit_sec, False
    while (body := frame.body) is None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{limit_sec:g} s")
        wait_sec = 0 if ended else min(left, policy.POLL_SEC)
        readable, _, _ = select.select([child.read_fd, watch.conductor_fd], [], [], wait_sec)
        if child.read_fd in readable:
            chunk = os.read(child.read_fd, 1 << 16)
            if not chunk:
                return None
            frame.add(chunk)
        elif watch.conductor_fd in readable:
            # Between a request and its reply the conductor says nothing: this is the end of the file.
            raise Abandoned
        elif ended:
            return None  # what it started may hold the pipe open still
        else:
            ended = _has_ended(child.pid)
    return body


def _has_ended(pid: int) -> bool:
    """Whether a child has ended, leaving it to be reaped."""
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    try:  # macOS, before Python 3.13
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _ends_soon(pid: int) -> bool:
    """Whether a child that closed its pipe did so because it ends: the system closes files before it says so."""
    give_up = time.monotonic() + policy.ENDING_SEC
    while not _has_ended(pid):
        if time.monotonic() > give_up:
            return False
        time.sleep(0.005)
    return True


def _sweep(pid: int) -> None:
    """Kill the child's process group, grandchildren included."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _ending(status: int, *, ended: bool) -> str:
    if not ended:
        return "the process closed its pipe before it answered"
    return f"the process {descendants.ending(status)}" + (" before it answered" if status >= 0 else "")
