"""A library with its items in memory, answering one request after another. Runs in a worker or in its child."""

import gc
import platform
import resource
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import psutil

from bench_core import dataset, policy, protocol, threads
from bench_core.adapter import Item, Library, Operation, load_library
from bench_core.channel import Channel
from bench_core.errors import BenchError, ExitCode
from bench_core.inspection import BadOutput, run_and_inspect, thumbnail_name
from bench_core.machine import cpu_model
from bench_core.results import Conditions, Status
from bench_core.timing import time_preview, time_reference, time_values

SHARED = ("numpy", "pillow", "torch")
# Of an exception, in characters: a library may put an image into its message.
MESSAGE_LENGTH = 300
LINE_LENGTH = 500


class Session:
    """One library, its items, and what was read back about its conditions."""

    def __init__(self, start: protocol.Start, on_loading: Callable[[int, int], None]) -> None:
        """Import the library, ask for threads, read them back, decode the items.

        Raises:
            BenchError: no such adapter, an item changed or cannot be read, or a pool answers another number of
                threads than was asked for.
        """
        self.start = start
        began = time.perf_counter()
        self.library: Library = load_library(start.library, start.device)
        self.library.limit_threads(start.threads)
        self.import_sec = time.perf_counter() - began
        self._items: list[Item] = []
        self.media_bytes = 0
        subset = dataset.Subset(
            name="", root=start.data_root, paths=start.data_paths, fingerprint=start.data_fingerprint
        )
        for done, rgb in enumerate(dataset.load(subset), 1):  # checks that the content is what was chosen
            self.media_bytes += rgb.nbytes
            self._items.append(self.library.from_rgb(rgb))
            on_loading(done, subset.num_items)
        self.threads_read = self._read_threads()
        wrong = threads.disagreements(start.threads, self.threads_read)
        if wrong:
            raise BenchError(
                f"{start.library}: asked for {start.threads} thread(s), but {', '.join(wrong)}",
                ExitCode.ENVIRONMENT,
            )
        self.ready = self._ready()
        # Before forking, so that no child pays: the module, and what it asks the platform, which starts a process
        # and remembers the answer.
        import pyperf  # noqa: F401

        platform.platform()
        # A collection that walks everything torch imported would land in somebody's timed region, and would copy
        # the pages that children share.
        gc.collect()
        gc.freeze()

    def _read_threads(self) -> dict[str, int]:
        return self.library.read_threads() | threads.read_pools()

    def _ready(self) -> protocol.Ready:
        return protocol.Ready(
            versions=self.library.versions(),
            native_format=self.library.native_format,
            conditions=self._conditions(),
            media_bytes=self.media_bytes,
            import_sec=self.import_sec,
            rss_bytes=psutil.Process().memory_info().rss,
        )

    def _conditions(self) -> Conditions:
        return Conditions(
            python=f"{platform.python_implementation()} {platform.python_version()}",
            platform=f"{platform.system()} {platform.machine()}",
            cpu=cpu_model(),
            device=self.start.device,
            threads_asked=self.start.threads,
            threads_read=self.threads_read,
            affinity=threads.affinity(),
            isolation=self.start.isolation,
            lock_sha256=self.start.lock_sha256,
            shared_versions=shared_versions(),
        )

    def answer(self, request: protocol.Preflight | protocol.Measure, channel: Channel) -> protocol.Reply:
        """Do what is asked; an exception of the library becomes a `Failed`."""
        try:
            if request.transform not in self.library.transforms:
                return protocol.Failed(
                    status=Status.UNSUPPORTED,
                    reason=f"{self.library.name} does not offer {request.transform}",
                )
            operation = self.library.build(request.transform, request.params)
            items = [self.library.to_device(item) for item in self._items]
            if isinstance(request, protocol.Preflight):
                return self._preflight(request, operation, items)
            return self._measure(request, operation, items, channel)
        except BadOutput as bad:
            return protocol.Failed(status=Status.ERROR, reason=str(bad))
        except SystemExit:  # an end of the process, which says its code
            raise
        except BaseException as error:  # noqa: BLE001  whatever a library raises is its result, a panic of Rust included
            return failed(error)

    def _preflight(
        self, request: protocol.Preflight, operation: Operation, items: Sequence[Item]
    ) -> protocol.Tried | protocol.Failed:
        library = self.library
        library.seed(request.seed, operation)
        thumbnail = thumbnail_name(library.name, request.transform)
        described, drawn = run_and_inspect(library, operation, items[0], thumbnail)
        library.seed(request.seed, operation)
        sec = time_preview(library, operation, items[: request.items], request.enough_sec)
        # Once more: a transform may load a pool of its own, or set one, when it is used.
        wrong = threads.disagreements(self.start.threads, self._read_threads())
        if wrong:
            reason = f"asked for {self.start.threads} thread(s), but after it was used {', '.join(wrong)}"
            return protocol.Failed(status=Status.ERROR, reason=reason)
        return protocol.Tried(preview=protocol.Previewed(sec_per_item=sec, output=described), thumbnail_png=drawn)

    def _measure(
        self, request: protocol.Measure, operation: Operation, items: Sequence[Item], channel: Channel
    ) -> protocol.Measured:
        began, rss_before = time.perf_counter(), psutil.Process().memory_info().rss
        timing = time_values(
            f"{self.library.name} {request.transform}",
            self.library,
            operation,
            items,
            loops=request.loops,
            warmups=request.warmups,
            seeds=request.seeds,
            take_turn=channel.take_turn,
        )
        channel.take_turn()
        peak = peak_rss_bytes()
        noop = time_reference(self.library, noop_operation, items, policy.NOOP_PASSES)
        yardstick = time_reference(self.library, self.library.copy, items, 1)
        return protocol.Measured(
            values_sec=timing.values_sec,
            noop_sec=noop,
            yardstick_sec=yardstick,
            peak_rss_growth_bytes=max(0, peak - rss_before),
            harness_sec=max(0.0, time.perf_counter() - began - timing.timed_sec - channel.waited_sec),
            pyperf_json=timing.pyperf_json,
        )


def noop_operation(item: Item) -> Item:
    """The operation that does nothing: what is left is the harness's own cost."""
    return item


def failed(error: BaseException) -> protocol.Failed:
    """An exception as a recorded failure: its message, and the last lines of its traceback."""
    lines = "".join(traceback.format_exception(error)).splitlines()[-policy.ERROR_LINES :]
    return protocol.Failed(
        status=Status.ERROR,
        reason=_as_text(f"{type(error).__name__}: {_message(error)[:MESSAGE_LENGTH]}"),
        detail=_as_text("\n".join(line[:LINE_LENGTH] for line in lines)),
    )


def _message(error: BaseException) -> str:
    try:
        return " ".join(str(error).split()) or "no message"
    except Exception:  # noqa: BLE001  an exception whose own text cannot be made
        return "its message cannot be shown"


def _as_text(text: str) -> str:
    """What JSON can hold: a surrogate is spelt out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shared_versions() -> dict[str, str]:
    """Versions here of the packages that compared groups must agree on."""
    found: dict[str, str] = {}
    for name in SHARED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def peak_rss_bytes() -> int:
    """Peak resident memory of this process; a forked child starts at what it shares with its parent."""
    peak: Any = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024
