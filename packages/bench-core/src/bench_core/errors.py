"""Mistakes a person can make and faults of their machine: one sentence each, with an exit code and no traceback."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What `bench` ends with. 0 and 2 follow the usual convention; each other code means one thing."""

    OK = 0
    FAILED = 1  # the command did its work and the answer is no (a check, a gate)
    USAGE = 2  # wrong flag, unknown name, configuration that does not validate
    NO_DEVICE = 3  # the asked device is not on this machine
    DATA = 4  # the dataset is missing, empty or has unreadable files
    ENVIRONMENT = 5  # an environment could not be built
    OUTPUT = 6  # the output directory is in use, not empty, full or read-only
    RESUME = 7  # the run cannot be resumed: something changed
    BUNDLE = 8  # a result file or bundle is damaged or of an unknown version
    INCOMPLETE = 9  # the run is complete, but a library could not be measured at all
    NOTHING_COMPARABLE = 10  # two sets of runs share no cell with a number, or were measured under different conditions
    MISSING_PART = 11  # parts were merged, and a model of the configuration has none
    INTERRUPTED = 130


class BenchError(Exception):
    """What went wrong, where, and what to do next, in one or two sentences.

    Raised anywhere; caught once, in the command line, which prints the message and ends with `code`.
    """

    def __init__(self, message: str, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.code = code
