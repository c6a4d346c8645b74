"""Progress for people: bars with a label and a unit, and an estimate of the time left. On standard error."""

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self, TextIO

from tqdm import tqdm

PLAIN_INTERVAL_SEC = 15.0  # between lines where there is no terminal


class LoadingBar:
    """Decoding the items, one bar per library."""

    def __init__(self, libraries: Mapping[str, str], channels: int, *, enabled: bool) -> None:
        """`libraries` maps a job to its library's name."""
        self._libraries, self._channels, self._enabled = libraries, channels, enabled
        self._bars: dict[str, Any] = {}

    def update(self, job: str, done: int, total: int) -> None:
        if job not in self._bars:
            label = f"Load images ({self._libraries[job]}, {self._channels}ch)"
            self._bars[job] = bar(label, total, "image", enabled=self._enabled, leave=False)
        self._bars[job].update(done - self._bars[job].n)
        if done == total:
            self._bars.pop(job).close()


class LaneBars:
    """One bar over all measurements of a scenario and mode and, on a terminal, one per library under it."""

    def __init__(self, label: str, libraries: Mapping[str, str], media: str, *, enabled: bool) -> None:
        self._label, self._libraries, self._media, self._enabled = label, libraries, media, enabled
        self._main: Any = None
        self._per_job: dict[str, Any] = {}
        self._spent_sec = self._expected_sec = self._left_sec = 0.0
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in (*self._per_job.values(), self._main):
            if one is not None:
                one.close()

    def preflight(self, total: int) -> Any:
        """The bar of the first look at each transform."""
        return bar(f"Preflight ({self._label})", total, "transform", enabled=self._enabled and total > 0, leave=False)

    def expect(self, blocks: Sequence[tuple[str, float]]) -> None:
        """Say what is left: the job and the expected seconds of each block. Called again when that changed."""
        self._left_sec = sum(sec for _, sec in blocks)
        self._last = time.monotonic()
        counts = Counter(job for job, _ in blocks)
        if self._main is None:
            self._main = bar(self._label, len(blocks), "block", enabled=self._enabled, position=0)
            for position, job in enumerate(counts if sys.stderr.isatty() else (), 1):
                label = f"Pyperf micro transforms ({self._libraries[job]}, {self._media})"
                self._per_job[job] = bar(label, 0, "block", enabled=self._enabled, position=position, leave=False)
        self._main.total = self._main.n + len(blocks)
        for job, one in self._per_job.items():
            one.total = one.n + counts[job]

    def advance(self, job: str, expected_sec: float) -> None:
        """A block is done that was expected to take `expected_sec`."""
        now = time.monotonic()
        self._spent_sec += now - self._last
        self._last = now
        self._expected_sec += expected_sec
        self._left_sec = max(0.0, self._left_sec - expected_sec)
        left = self._left_sec * self._spent_sec / self._expected_sec
        self._main.set_postfix_str(f"about {duration(left)} left", refresh=False)
        self._main.update()
        if job in self._per_job:
            self._per_job[job].update()


def duration(seconds: float) -> str:
    """A length of time in the unit a person would use."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def bar(label: str, total: int, unit: str, *, enabled: bool, position: int | None = None, leave: bool = True) -> Any:
    """A progress bar; where there is no terminal, a line now and then, and only of what takes long."""
    told = "{n_fmt}/{total_fmt} {unit}s [{elapsed}{postfix}]"
    same: dict[str, Any] = {"total": total, "desc": label, "unit": unit, "disable": not enabled, "leave": leave}
    if sys.stderr.isatty():
        shown = "{desc}: {percentage:3.0f}% |{bar:20}| " + told
        return tqdm(**same, position=position, mininterval=0.2, dynamic_ncols=True, bar_format=shown)
    return tqdm(
        **same,
        file=_Lines(sys.stderr),
        mininterval=PLAIN_INTERVAL_SEC,
        maxinterval=PLAIN_INTERVAL_SEC,
        miniters=1,
        delay=PLAIN_INTERVAL_SEC,
        ncols=110,
        bar_format="{desc}: {percentage:3.0f}% " + told,
    )


class _Lines:
    """A stream that tqdm draws on, as lines: what it would draw over the last one comes below it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self.encoding = stream, stream.encoding

    def write(self, text: str) -> None:
        if line := text.strip():
            self._stream.write(f"{line}\n")

    def flush(self) -> None:
        self._stream.flush()
