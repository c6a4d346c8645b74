"""The worker: a process in a group's environment that serves one library. `python -m bench_core.worker`.

Requests come as JSON lines on standard input and are answered on standard output; whatever a library prints goes to
standard error, which the conductor keeps as the worker's log. End of input ends the worker and all it started.
"""

import os
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from bench_core import policy, protocol
from bench_core.errors import BenchError
from bench_core.isolation import Abandoned, limit_memory, run_forked, run_spawned, send
from bench_core.threads import thread_environment

if TYPE_CHECKING:
    from bench_core.session import Session

Say = Callable[[protocol.Message], None]
Answer = Callable[[protocol.Preflight | protocol.Measure], protocol.Reply]


def main() -> int:
    if sys.argv[1:2] == ["--once"]:
        return _once(int(sys.argv[2]))
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = os.fdopen(0, "rb", buffering=0)  # unbuffered: nothing may hide from select()

    def reply(message: protocol.Message) -> None:
        replies.write(protocol.encode(message))
        replies.flush()

    start = _first(requests)
    if start is None:
        return 0
    serve = _serve_spawned if start.isolation == "spawn" else _serve_forked
    try:
        answer = serve(start, reply)
        if answer is None:
            return 1
        while line := requests.readline():
            request = protocol.decode_request(line)
            assert not isinstance(request, protocol.Start)
            reply(answer(request))
    except (Abandoned, BrokenPipeError, KeyboardInterrupt):
        return 1
    return 0


def _first(requests: BinaryIO) -> protocol.Start | None:
    line = requests.readline()
    if not line:
        return None
    start = protocol.decode_request(line)
    assert isinstance(start, protocol.Start)
    # Before anything heavy is imported: thread pools read these once.
    os.environ.update(thread_environment(start.threads))
    return start


def _serve_forked(start: protocol.Start, reply: Say) -> Answer | None:
    opened = _open(start, reply)
    if isinstance(opened, protocol.Unavailable):
        reply(opened)
        return None
    reply(opened.ready)

    def answer(request: protocol.Preflight | protocol.Measure) -> protocol.Reply:
        return run_forked(lambda: opened.answer(request), request.timeout_sec, start.memory_limit_bytes, 0)

    return answer


def _serve_spawned(start: protocol.Start, reply: Say) -> Answer | None:
    first = run_spawned(start, None, policy.START_TIMEOUT_SEC, 0)
    if isinstance(first, protocol.Failed):
        first = protocol.Unavailable(reason=first.reason, detail=first.detail)
    reply(first)
    if not isinstance(first, protocol.Ready):
        return None

    def answer(request: protocol.Preflight | protocol.Measure) -> protocol.Reply:
        return run_spawned(start, request, request.timeout_sec + policy.START_TIMEOUT_SEC, 0)

    return answer


def _once(fd: int) -> int:
    """Answer one request in this process, imports included, to the descriptor `fd`."""
    requests = os.fdopen(0, "rb", buffering=0)
    start = _first(requests)
    if start is None:
        return 1
    line = requests.readline()
    opened = _open(start, lambda message: None)
    if isinstance(opened, protocol.Unavailable):
        send(opened, fd)
        return 0
    if not line:
        send(opened.ready, fd)
        return 0
    request = protocol.decode_request(line)
    assert not isinstance(request, protocol.Start)
    limit_memory(start.memory_limit_bytes)
    send(opened.answer(request), fd)
    return 0


def _open(start: protocol.Start, say: Say) -> "Session | protocol.Unavailable":
    try:
        from bench_core.session import (
            Session,
            failed,
        )  # imports numpy: not before the thread variables are set
    except ImportError as error:
        return protocol.Unavailable(reason=f"the environment is incomplete: {error}")
    try:
        return Session(start, _report_loading(say))
    except BenchError as error:
        return protocol.Unavailable(reason=str(error))
    except Exception as error:  # noqa: BLE001  an adapter that cannot be imported is a recorded status
        failure = failed(error)
        return protocol.Unavailable(reason=failure.reason, detail=failure.detail)


def _report_loading(say: Say) -> Callable[[int, int], None]:
    """Say how far decoding is, at most a hundred times: the conductor may not listen yet."""

    def report(done: int, total: int) -> None:
        if done == total or done % max(1, total // 100) == 0:
            say(protocol.Loading(done=done, total=total))

    return report


if __name__ == "__main__":
    code = 1
    try:
        code = main()
    except Exception:  # noqa: BLE001  the log's last lines say why, and nothing after them
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)  # libraries tear down noisily, and slowly
