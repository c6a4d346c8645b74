"""An adapter whose library is not there, or, if BENCH_MOCK_IMPORT says so, one that does worse when it is imported."""

import os
import signal
import sys
import time
from pathlib import Path

from bench_mock.fast import MockFast

PID_FILE = "BENCH_MOCK_PID_FILE"  # environment variable: where the one that hangs writes its number

HANG_SEC = 900  # longer than any test waits

match os.environ.get("BENCH_MOCK_IMPORT"):
    case "exit":
        sys.exit("no licence")
    case "hang":
        Path(os.environ[PID_FILE]).write_text(str(os.getpid()), encoding="ascii")
        time.sleep(HANG_SEC)
    case "deaf":  # works, and does not want to hear of its children
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    case _:
        raise ImportError("libmock.so.7: cannot open shared object file: No such file or directory")


class MockNoImport(MockFast):
    """The quick library again, where the import went on."""

    name = "mock_noimport"
