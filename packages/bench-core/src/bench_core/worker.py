"""The worker: a process in a group's environment that serves one library. `python -m bench_core.worker`.

Requests come as JSON lines on standard input and are answered on standard output; whatever a library prints goes to
standard error, which the conductor keeps as the worker's log. End of input ends the worker and all it started.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from bench_core import descendants, policy, protocol
from bench_core.channel import Channel
from bench_core.errors import BenchError, ExitCode
from bench_core.isolation import Abandoned, Watch, limit_memory, run_forked, run_spawned
from bench_core.threads import thread_environment

if TYPE_CHECKING:
    from bench_core.session import Session

Say = Callable[[protocol.Message], None]
Work = protocol.Preflight | protocol.Measure


def main() -> int:
    if sys.argv[1:2] == ["--once"]:
        return _once(Channel(int(sys.argv[2]), int(sys.argv[3])))
    # What a library prints goes to the log, and what it reads is nothing: the line to the conductor is not its.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb", buffering=0)  # unbuffered: nothing may hide from select()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    descendants.adopt()
    descendants.die_with_parent(True)  # an import may hang, and until it has ended nobody listens

    def say(message: protocol.Message) -> None:
        replies.write(protocol.encode(message))
        replies.flush()

    start = _first(requests)
    if start is None:
        return 0
    try:
        return Server(start, requests, say).serve()
    except (Abandoned, BrokenPipeError, KeyboardInterrupt):
        return 1


class Server:
    """Answers requests until there are no more, each in a process of its own."""

    def __init__(self, start: protocol.Start, requests: BinaryIO, say: Say) -> None:
        self._start, self._requests, self._say = start, requests, say
        self._session: Session | None = None  # stays None where every measurement imports for itself

    def serve(self) -> int:
        opening = self._open()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whatever the library set: each child is waited for here
        helpers = descendants.children()  # what the library started for itself
        self._say(opening)
        if not isinstance(opening, protocol.Ready):
            return 1
        while line := self._requests.readline():
            request = protocol.decode_request(line)
            assert isinstance(request, Work)
            reply = self._answer(request)
            descendants.end_children(but=helpers)
            self._say(reply)
        return 0

    def _open(self) -> protocol.Reply:
        if self._start.isolation == "spawn":
            descendants.die_with_parent(False)
            reply = run_spawned(self._start, None, self._watch(policy.START_TIMEOUT_SEC))
            if isinstance(reply, protocol.Failed):
                return protocol.Unavailable(reason=reply.reason, detail=reply.detail)
            return reply
        opened = _open_session(self._start, self._say)
        descendants.die_with_parent(False)  # from now on the end of the input is noticed, and there is to clean up
        if isinstance(opened, protocol.Unavailable | protocol.BadData):
            return opened
        self._session = opened
        return opened.ready

    def _answer(self, request: Work) -> protocol.Reply:
        session = self._session
        if session is None:
            return run_spawned(self._start, request, self._watch(request.timeout_sec, policy.START_TIMEOUT_SEC))
        return run_forked(
            lambda channel: session.answer(request, channel),
            self._watch(request.timeout_sec),
            self._start.memory_limit_bytes,
        )

    def _watch(self, timeout_sec: float, start_timeout_sec: float | None = None) -> Watch:
        return Watch(timeout_sec, self._requests.fileno(), self._wait_for_turn, start_timeout_sec)

    def _wait_for_turn(self) -> None:
        """Tell the conductor that the child is ready, and wait until it is its turn."""
        self._say(protocol.Turn())
        line = self._requests.readline()
        if not line:
            raise Abandoned
        assert isinstance(protocol.decode_request(line), protocol.Go)


def _first(requests: BinaryIO) -> protocol.Start | None:
    line = requests.readline()
    if not line:
        return None
    start = protocol.decode_request(line)
    assert isinstance(start, protocol.Start)
    # Before anything heavy is imported: thread pools read these once.
    os.environ.update(thread_environment(start.threads))
    return start


def _once(channel: Channel) -> int:
    """Answer one request in this process, imports included."""
    descendants.die_with_parent(True)
    requests = os.fdopen(0, "rb", buffering=0)
    start = _first(requests)
    if start is None:
        return 1
    line = requests.readline()
    opened = _open_session(start, lambda message: None)
    if isinstance(opened, protocol.Unavailable | protocol.BadData):
        channel.send(opened)
    elif not line:
        channel.send(opened.ready)
    else:
        request = protocol.decode_request(line)
        assert isinstance(request, Work)
        channel.report_ready(opened.ready)
        limit_memory(start.memory_limit_bytes)
        channel.send(opened.answer(request, channel))
    return 0


def _open_session(start: protocol.Start, say: Say) -> "Session | protocol.Unavailable | protocol.BadData":
    try:
        from bench_core.session import Session, failed  # imports numpy: not before the thread variables are set
    except ImportError as error:
        return protocol.Unavailable(reason=f"the environment is incomplete: {error}")
    try:
        return Session(start, _report_loading(say))
    except BenchError as error:
        if error.code is ExitCode.DATA:
            return protocol.BadData(reason=str(error))
        return protocol.Unavailable(reason=str(error))
    except BaseException as error:  # noqa: BLE001  an adapter that cannot be imported is a recorded status, however
        failure = failed(error)
        return protocol.Unavailable(reason=failure.reason, detail=failure.detail)


def _report_loading(say: Say) -> Callable[[int, int], None]:
    """Say how far decoding is, at most a hundred times: the conductor may not listen yet."""

    def report(done: int, total: int) -> None:
        if done == total or done % max(1, total // 100) == 0:
            say(protocol.Loading(done=done, total=total))

    return report


if __name__ == "__main__":
    descendants.end_process(main)
