"""One process per model, some at a time: started in its family's environment, watched; if it dies, a row says so."""

import os
import queue
import signal
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import msgspec
from bench_core import policy, protocol
from bench_core.conductor import memory_limit_bytes
from bench_core.errors import BenchError, ExitCode
from bench_core.progress import bar
from bench_core.results import Status
from bench_core.workers import Worker, WorkerGone, worker_environment

from bench_score import messages, sources
from bench_score.benchmark import failed_row
from bench_score.config import ScoreConfig
from bench_score.dataset import Dataset
from bench_score.identity import MadeBy, made_by
from bench_score.label import file_stem
from bench_score.metrics import registered_metrics
from bench_score.model import Entry
from bench_score.parts import LOGS, output_folder, part_tag, write_part


class Interpreters(msgspec.Struct, frozen=True):
    """What runs each family: its Python or why there is none, its lock's digest (None: not managed), its package.

    A package is the folder of its sources; one that is not named is looked for in this Python.
    """

    python: Mapping[str, Path]
    locks: Mapping[str, str | None]
    missing: Mapping[str, str]
    packages: Mapping[str, Path] = {}

    def made_by(self, config: ScoreConfig, entries: Sequence[Entry]) -> MadeBy:
        """What rows of these entries are made by."""
        return made_by(config, entries, self.locks, self.packages)


class ModelWorker(Worker):
    """A process that scores one model."""

    module = "bench_score.worker"

    def __init__(self, python: Path, start: messages.Start, log: Path, gpu: str | None) -> None:
        self._gpu = gpu
        super().__init__(python, start, log)
        self._grace_sec = 0.0  # nobody but the conductor watches the time

    def _environment(self, start: protocol.Message) -> dict[str, str]:
        assert isinstance(start, messages.Start)
        pinned = {} if self._gpu is None else {"CUDA_VISIBLE_DEVICES": self._gpu}
        return worker_environment(start.config.threads) | pinned

    def _decode(self, line: bytes) -> Any:
        return messages.decode_reply(line)


def conduct(
    config: ScoreConfig,
    entries: Sequence[Entry],
    dataset: Dataset,
    interpreters: Interpreters,
    *,
    cache: Path,
    at_once: int = 1,
    gpus: Sequence[str] = (),
    show_progress: bool = True,
) -> None:
    """Score the entries, `at_once` beside each other, each leaving a part. With `gpus`, each has one to itself.

    Raises:
        BenchError: a mistake that every model would meet; what is finished is kept.
        KeyboardInterrupt: what is finished is kept.
    """
    _refuse_what_only_this_process_knows(config)
    kept = sources.store(dataset, cache)
    beside = min(at_once, len(entries), *([len(gpus)] if gpus else []))  # of each GPU there is one
    starts = [
        messages.Start(
            config=config,
            label=entry.label,
            dataset=str(kept.absolute()),
            data_sha256=dataset.fingerprint,
            cache=str(cache.absolute()),
            at_once=beside,
            memory_limit_bytes=_memory_limit_bytes(config, beside),
            lock_sha256=interpreters.locks.get(entry.family),
            made_by=interpreters.made_by(config, [entry]),
        )
        for entry in entries
    ]
    crew = _Crew(config, dataset, interpreters, gpus, show_progress=show_progress)
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        jobs = [pool.submit(crew.score, entry, start) for entry, start in zip(entries, starts, strict=True)]
        try:
            wait(jobs, return_when=FIRST_EXCEPTION)
        except BaseException:
            crew.end()
            raise
        failures = [error for job in jobs if job.done() and (error := job.exception())]
        if failures:
            crew.end()
            raise failures[0]


class _Crew:
    """The processes that score, shared by the threads that wait for them."""

    def __init__(
        self,
        config: ScoreConfig,
        dataset: Dataset,
        interpreters: Interpreters,
        gpus: Sequence[str],
        *,
        show_progress: bool,
    ) -> None:
        self._config, self._dataset, self._interpreters = config, dataset, interpreters
        self._show_progress = show_progress
        self._gpus: queue.SimpleQueue[str] = queue.SimpleQueue()
        for gpu in gpus:
            self._gpus.put(gpu)
        self._pinned = bool(gpus)
        self._lock = threading.Lock()
        self._working: set[ModelWorker] = set()
        self._ended = False

    def score(self, entry: Entry, start: messages.Start) -> None:
        """Have one model scored, and see to it that a part says how it went."""
        if self._ended:
            return
        python = self._interpreters.python.get(entry.family)
        if python is None:
            self._fail(entry, start, Status.UNAVAILABLE, self._interpreters.missing[entry.family], None)
            return
        gpu = self._gpus.get() if self._pinned else None
        log = output_folder(self._config) / LOGS / f"{file_stem(entry.label)}.log"
        try:
            worker = ModelWorker(python, start, log, gpu)
        except OSError as error:
            raise BenchError(f"cannot write {log}, or start {python}: {error.strerror}", ExitCode.OUTPUT) from error
        try:
            with self._lock:
                if self._ended:
                    return
                self._working.add(worker)
            self._listen(worker, entry)
        except WorkerGone as gone:
            if not self._ended:
                status = Status.TIMEOUT if gone.timed_out else Status.CRASHED
                self._fail(entry, start, status, str(gone), worker.log_tail())
        finally:
            worker.kill()
            with self._lock:
                self._working.discard(worker)
            if gpu is not None:
                self._gpus.put(gpu)

    def end(self) -> None:
        """Kill what works; what waits does not begin."""
        self._ended = True
        with self._lock:
            for worker in self._working:
                worker.kill()

    def _listen(self, worker: ModelWorker, entry: Entry) -> None:
        label = f"Score {entry.label} ({self._dataset.name})"
        shown = bar(label, len(self._dataset.structures), "structure", enabled=self._show_progress)
        # Until it says that it lives, it may be importing, which takes long on a busy machine.
        limit_sec = max(self._config.timeout_sec, policy.START_TIMEOUT_SEC)
        try:
            while True:
                match worker.hear(limit_sec):
                    case messages.Scoring() as scoring:
                        limit_sec = self._config.timeout_sec
                        shown.total = scoring.total
                        shown.update(scoring.done - shown.n)
                    case messages.Refused() as refused:
                        raise BenchError(refused.reason, ExitCode(refused.code))
                    case _:
                        return
        finally:
            shown.close()

    def _fail(self, entry: Entry, start: messages.Start, status: Status, reason: str, detail: str | None) -> None:
        row = failed_row(self._config, self._dataset, entry, status, reason, detail)
        write_part(self._config, [row], part_tag([entry]), start.made_by)


def _refuse_what_only_this_process_knows(config: ScoreConfig) -> None:
    here = [name for _, name in config.metrics if name in registered_metrics()]
    if here:
        raise BenchError(
            f"metric {here[0]!r} is registered in this process alone, and models are scored in others; name its "
            "function under custom_metrics"
        )


def _memory_limit_bytes(config: ScoreConfig, at_once: int) -> int | None:
    """What a process may take: a model that takes all would have others killed. On a GPU, drivers reserve at will."""
    if config.memory_limit_bytes is not None or config.device != "cpu":
        return config.memory_limit_bytes
    return memory_limit_bytes(at_once)


def visible_gpus() -> list[str]:
    """The GPUs a process of ours may use, by what CUDA_VISIBLE_DEVICES would call them."""
    from bench_core.machine import gpus

    said = os.environ.get("CUDA_VISIBLE_DEVICES")
    if said is not None:
        return [name.strip() for name in said.split(",") if name.strip()]
    return [str(index) for index in range(len(gpus()))]


def end_on_sigterm() -> None:
    """A scheduler's way to say Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
