import faulthandler
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from bench_core import protocol
from bench_core.channel import Channel
from bench_core.isolation import Abandoned, Watch, run_forked
from bench_core.results import Status

GIB = 1024**3


def loading(done: int = 1) -> protocol.Loading:
    """A reply that is easy to make."""
    return protocol.Loading(done=done, total=9)


@pytest.fixture
def watch() -> Iterator[int]:
    """A descriptor that stays silent, as a conductor does while it waits."""
    read_fd, write_fd = os.pipe()
    yield read_fd
    os.close(read_fd)
    os.close(write_fd)


def fork(task: Callable[[], protocol.Reply], watch: int, timeout_sec: float = 20.0) -> protocol.Reply:
    return run_forked(lambda channel: task(), Watch(timeout_sec, watch, no_turn), GIB)


def no_turn() -> None:
    raise AssertionError("nobody asked for a turn")


def failure(reply: protocol.Reply) -> protocol.Failed:
    assert isinstance(reply, protocol.Failed)
    return reply


def test_a_reply_comes_back_whole(watch: int) -> None:
    assert fork(lambda: loading(7), watch) == loading(7)


def test_a_reply_larger_than_a_pipe_comes_back_whole(watch: int) -> None:
    long = protocol.Unavailable(reason="x" * 3_000_000)
    assert fork(lambda: long, watch) == long


def test_a_child_goes_on_only_when_it_has_its_turn(watch: int) -> None:
    waited: list[float] = []

    def pause() -> None:
        time.sleep(0.05)
        waited.append(0.05)

    def three_turns(channel: Channel) -> protocol.Reply:
        for _ in range(3):
            channel.take_turn()
        return loading(int(channel.waited_sec >= 0.15))

    assert run_forked(three_turns, Watch(20.0, watch, pause), None) == loading(1)
    assert len(waited) == 3


def test_waiting_for_a_turn_does_not_count_towards_the_limit(watch: int) -> None:
    def two_turns(channel: Channel) -> protocol.Reply:
        channel.take_turn()
        channel.take_turn()
        return loading()

    assert run_forked(two_turns, Watch(0.4, watch, lambda: time.sleep(0.5)), None) == loading()


def test_a_child_that_dies_while_it_waits_has_crashed(watch: int) -> None:
    def kill_the_child() -> None:
        psutil.Process().children()[-1].kill()
        time.sleep(0.1)

    def wait(channel: Channel) -> protocol.Reply:
        channel.take_turn()
        return loading()

    reply = failure(run_forked(wait, Watch(20.0, watch, kill_the_child), None))
    assert reply.status is Status.CRASHED
    assert "SIGKILL" in reply.reason


def test_a_child_that_is_killed_names_its_signal(watch: int) -> None:
    def segfault() -> protocol.Reply:
        faulthandler.disable()  # pytest's own; its dump would look like a failure
        os.kill(os.getpid(), signal.SIGSEGV)
        return loading()

    reply = failure(fork(segfault, watch))
    assert reply.status is Status.CRASHED
    assert "SIGSEGV" in reply.reason


def test_a_child_that_exits_without_an_answer_names_its_exit_code(watch: int) -> None:
    def leave() -> protocol.Reply:
        os._exit(3)

    reply = failure(fork(leave, watch))
    assert reply.status is Status.CRASHED
    assert "exit code 3" in reply.reason


def test_where_the_system_cannot_be_asked_by_waitid_an_end_is_seen_all_the_same(
    watch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "waitid")
    note = tmp_path / "pid"

    def leave_one_behind() -> protocol.Reply:
        pid = os.fork()
        if pid == 0:  # it holds the pipe open, so that only the end of its parent can be seen
            time.sleep(600)
            os._exit(0)
        note.write_text(str(pid))
        os._exit(3)

    reply = failure(fork(leave_one_behind, watch))
    assert reply.status is Status.CRASHED
    assert "exit code 3" in reply.reason
    assert is_gone(int(note.read_text()))


def test_a_child_that_hangs_is_killed_and_timed_out(watch: int, tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def hang() -> protocol.Reply:
        note.write_text(str(os.getpid()))
        time.sleep(600)
        return loading()

    reply = failure(fork(hang, watch, timeout_sec=0.5))
    assert reply.status is Status.TIMEOUT
    assert "0.5 s" in reply.reason
    assert not psutil.pid_exists(int(note.read_text()))


def test_a_grandchild_that_hangs_is_killed_with_its_parent(watch: int, tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def breed() -> protocol.Reply:
        if os.fork() == 0:
            note.write_text(str(os.getpid()))
            time.sleep(600)
            os._exit(0)
        time.sleep(600)
        return loading()

    assert failure(fork(breed, watch, timeout_sec=1.0)).status is Status.TIMEOUT
    assert is_gone(int(note.read_text()))


def test_a_grandchild_left_running_does_not_hold_up_the_answer(watch: int, tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def leave_one_behind() -> protocol.Reply:
        pid = os.fork()
        if pid == 0:
            time.sleep(600)
            os._exit(0)
        note.write_text(str(pid))
        return loading()

    assert fork(leave_one_behind, watch) == loading()
    assert is_gone(int(note.read_text()))


def test_memory_is_refused_beyond_the_limit(watch: int) -> None:
    def eat() -> protocol.Reply:
        try:
            hoard = [bytearray(64 * 1024**2) for _ in range(64)]
        except MemoryError:
            return protocol.Failed(status=Status.ERROR, reason="MemoryError")
        return loading(len(hoard))

    assert failure(fork(eat, watch)).reason == "MemoryError"


def test_a_conductor_that_is_gone_ends_the_measurement() -> None:
    read_fd, write_fd = os.pipe()
    os.close(write_fd)  # nobody is there to say anything any more
    began = psutil.Process().children(recursive=True)

    def hang() -> protocol.Reply:
        time.sleep(600)
        return loading()

    with pytest.raises(Abandoned):
        run_forked(lambda channel: hang(), Watch(30.0, read_fd, no_turn), None)
    os.close(read_fd)
    assert psutil.Process().children(recursive=True) == began


def is_gone(pid: int) -> bool:
    """Killed, whether or not somebody has reaped it: orphans are left to the system's first process."""
    for _ in range(100):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False
