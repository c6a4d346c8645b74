"""The process that scores one model, in its family's environment. `python -m bench_score.worker`.

It is told what to do by one line on standard input, says how far it is on standard output, and writes the model's part
itself. Whatever the model prints goes to standard error, which the conductor keeps as its log.
"""

import os
import threading
import time
from pathlib import Path
from typing import BinaryIO

from bench_core import descendants, protocol
from bench_core.isolation import limit_memory

REPORT_SEC = 0.2  # between lines of progress; a batch that takes longer is always told


def main() -> int:
    # What a model prints goes to the log, and what it reads is nothing: the line to the conductor is not its.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    descendants.die_with_parent(True)
    line = requests.readline()
    if not line:
        return 0
    from bench_score import messages  # numpy comes with it: the conductor has set the variables that thread pools read

    start = messages.decode_start(line)
    limit_memory(start.memory_limit_bytes)
    threading.Thread(target=_end_with_input, args=(requests,), daemon=True).start()

    from bench_core.errors import BenchError

    from bench_score.benchmark import Benchmark
    from bench_score.parts import part_tag
    from bench_score.selection import select_entries
    from bench_score.sources import restore

    def say(message: protocol.Message) -> None:
        replies.write(protocol.encode(message))
        replies.flush()

    told_sec = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal told_sec
        now = time.monotonic()
        if done == total or now - told_sec >= REPORT_SEC:
            told_sec = now
            say(messages.Scoring(done=done, total=total))

    try:
        entries = select_entries(start.config, [start.label])
        Benchmark(
            start.config,
            entries,
            part_tag(entries),
            dataset=restore(Path(start.dataset), start.data_sha256),
            cache=Path(start.cache),
            at_once=start.at_once,
            lock_sha256=start.lock_sha256,
            made=start.made_by,
            progress=progress,
        ).run()
    except BenchError as error:
        say(messages.Refused(reason=str(error), code=int(error.code)))
        return 1
    say(messages.Scored())
    return 0


def _end_with_input(requests: BinaryIO) -> None:
    """The conductor is gone: nobody waits for what this would still find."""
    requests.read()
    descendants.end_children()
    os._exit(1)


if __name__ == "__main__":
    descendants.end_process(main)
