"""The conductor: measures a plan's jobs side by side, round by round, and journals every measurement.

It needs no measured library. One worker process per library is started for each round; inside a round the libraries
take turns, value by value (see bench_core.schedule), and only one works at a time.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import psutil

from bench_core import journal as log
from bench_core import policy, protocol, schedule
from bench_core.bundle import OUTPUTS
from bench_core.catalog import Catalog
from bench_core.config import Config
from bench_core.crew import Crew
from bench_core.dataset import Subset
from bench_core.files import write_atomically
from bench_core.inspection import thumbnail_name
from bench_core.journal import Journal, State
from bench_core.plan import Job, Plan
from bench_core.progress import LaneBars, LoadingBar
from bench_core.results import Block
from bench_core.seeds import derive_seed, value_seeds

LOGS = "logs"


class Interpreters(msgspec.Struct, frozen=True):
    """Which Python measures each group, or why none does. `locks` is None for a group that is not managed."""

    python: Mapping[str, Path]
    locks: Mapping[str, str | None]
    missing: Mapping[str, str]  # group -> reason


def conduct(
    plan: Plan,
    config: Config,
    catalog: Catalog,
    interpreters: Interpreters,
    journal: Journal,
    folder: Path,
    *,
    channels: Mapping[str, int],
    show_progress: bool = True,
) -> None:
    """Measure what the journal does not hold yet. Ends with every job of the plan measured, failed or lost.

    Args:
        folder: the run directory; thumbnails go to outputs/<scenario>, what workers print to logs/.
        channels: scenario -> channels of its items, for the progress labels.

    Raises:
        BenchError: the journal cannot be written, or a library is not what it was when the run began.
        KeyboardInterrupt: as it comes; what is finished is in the journal, and no worker is left.
    """
    header = journal.state.header
    assert header is not None
    lanes: dict[tuple[str, str], dict[str, Job]] = {}
    for job in plan.jobs:
        if job.group in interpreters.missing:
            journal.append(log.Lost(job=job.file_name, reason=interpreters.missing[job.group]))
        elif job.transforms:
            lanes.setdefault((job.scenario, job.mode), {})[job.file_name] = job
    for (scenario, mode), jobs in lanes.items():
        starts = {
            name: (
                interpreters.python[job.group],
                first_message(job, config, header.subset, interpreters),
            )
            for name, job in jobs.items()
        }
        media = next(iter(jobs.values())).media
        libraries = {name: job.library for name, job in jobs.items()}
        work = Work(jobs, config, journal.state, header.subset.num_items)
        with LaneBars(f"{scenario}/{mode}", libraries, media, enabled=show_progress) as bars:
            loading = LoadingBar(libraries, channels[scenario], enabled=show_progress)
            crew = Crew(starts, journal, folder / LOGS, loading.update)
            try:
                for round_ in range(config.processes):
                    Round(round_, work, crew, journal, catalog, config, bars, folder / OUTPUTS / scenario).run()
            finally:
                crew.stop()


def first_message(job: Job, config: Config, subset: Subset, interpreters: Interpreters) -> protocol.Start:
    """What a job's worker is told before anything else."""
    return protocol.Start(
        library=job.library,
        device=job.device,
        threads=config.threads,
        isolation=config.isolation,
        data_root=subset.root,
        data_paths=subset.paths,
        data_fingerprint=subset.fingerprint,
        lock_sha256=interpreters.locks.get(job.group),
        memory_limit_bytes=config.memory_limit_bytes or memory_limit_bytes(len(config.libraries)),
    )


def memory_limit_bytes(libraries: int) -> int:
    """What one measurement may take when nobody says: a share of most of what is free, so that the machine survives."""
    return int(psutil.virtual_memory().available * policy.MEMORY_LIMIT_FRACTION / libraries)


class Work:
    """What a lane still has to do, read off the journal's state."""

    def __init__(self, jobs: Mapping[str, Job], config: Config, state: State, num_items: int) -> None:
        self.jobs, self.state, self.num_items = jobs, state, num_items
        self._config = config

    def previews(self, job: str) -> list[str]:
        """Transforms that were not tried yet."""
        state = self.state
        tried = state.previews.keys() | state.failures.keys()
        return [name for name in self.jobs[job].transforms if (job, name) not in tried]

    def blocks(self, round_: int) -> Iterator[schedule.Block]:
        """What a round has left to measure; before its preflight, a transform counts as measurable."""
        transforms = {name: job.transforms for name, job in self.jobs.items()}
        for block in schedule.round_blocks(transforms, round_, self._config.blocks, self._config.seed):
            left = tuple(job for job in block.jobs if self._is_open(job, block))
            if left:
                yield msgspec.structs.replace(block, jobs=left)

    def _is_open(self, job: str, block: schedule.Block) -> bool:
        key = (job, block.transform)
        if key in self.state.failures or self.state.is_timed(*key, block.round, block.block):
            return False
        preview = self.state.previews.get(key)
        return preview is None or not is_slow(preview, self._config)

    def expected_sec(self, job: str, block: schedule.Block) -> float:
        """What a job's part of a block should take, by its preflight where there was one."""
        preview = self.state.previews.get((job, block.transform))
        sec = preview.sec_per_item if preview else policy.ESTIMATE_ITEM_SEC
        c = self._config
        return schedule.expected_sec(sec, self.num_items, c.num_runs, c.blocks, block.block)


class Round:
    """One pass over all measurements of a lane in fresh workers."""

    def __init__(
        self,
        number: int,
        work: Work,
        crew: Crew,
        journal: Journal,
        catalog: Catalog,
        config: Config,
        bars: LaneBars,
        pictures: Path,
    ) -> None:
        """`pictures` is the folder that thumbnails go to."""
        self.number, self.work, self.crew, self.journal = number, work, crew, journal
        self.catalog, self.config, self.bars, self.pictures = catalog, config, bars, pictures

    def run(self) -> None:
        """Start workers for the jobs that have something left, try new transforms, measure, stop the workers."""
        jobs = [job for job in self.work.jobs if job not in self.crew.lost]
        opened = {job for block in self.work.blocks(self.number) for job in block.jobs}
        needed = [job for job in jobs if job in opened or self.work.previews(job)]
        if not needed:
            return
        # In a new order each round: whose memory was laid out first is nobody's merit.
        self.crew.start(schedule.shuffled(needed, self.number, self.config.seed), self.number)
        self._preview_all(needed)
        rounds = range(self.number, self.config.processes)
        blocks = {round_: list(self.work.blocks(round_)) for round_ in rounds}
        self.bars.expect(
            [(job, self.work.expected_sec(job, block)) for r in rounds for block in blocks[r] for job in block.jobs]
        )
        for block in blocks[self.number]:
            self._time(block)
        self.crew.stop()

    def _preview_all(self, jobs: list[str]) -> None:
        new = [(job, transform) for job in jobs for transform in self.work.previews(job)]
        with self.bars.preflight(len(new)) as bar:
            for job, transform in new:
                if job not in self.crew.lost:
                    self._preview(job, transform)
                bar.update()

    def _preview(self, job: str, transform: str) -> None:
        c = self.config
        request = protocol.Preflight(
            transform=transform,
            params=dict(self.catalog.transforms[transform].params),
            seed=derive_seed(c.seed, "preflight"),
            items=policy.PREFLIGHT_ITEMS,
            enough_sec=policy.PREFLIGHT_ITEMS * c.slow_threshold_sec,
            timeout_sec=c.timeout_sec,
        )
        match self.crew.ask(job, request):
            case protocol.Tried(preview=preview, thumbnail_png=drawn):
                library = self.work.jobs[job].library
                write_atomically(self.pictures / thumbnail_name(library, transform), drawn)
                self.journal.append(log.Previewed(job=job, transform=transform, preview=preview))
            case protocol.Failed() as failure:
                self.journal.append(log.Failed(job=job, transform=transform, failure=failure))

    def _time(self, block: schedule.Block) -> None:
        # A failure in an earlier block, or the loss of the worker, closes later ones.
        failures = self.journal.state.failures
        jobs = [job for job in block.jobs if job not in self.crew.lost and (job, block.transform) not in failures]
        workers = {job: self.crew.name(job) for job in jobs}
        requests = {job: self._request(job, block) for job in jobs}
        records: list[log.Record] = []
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        for job, reply in self.crew.measure(requests).items():
            match reply:
                case protocol.Measured():
                    records.append(timed(job, block, started_at, requests[job], workers[job], reply))
                case protocol.Failed():
                    records.append(log.Failed(job=job, transform=block.transform, failure=reply))
        self.journal.append(*records)
        for job in jobs:
            self.bars.advance(job, self.work.expected_sec(job, block))

    def _request(self, job: str, block: schedule.Block) -> protocol.Measure:
        c, preview = self.config, self.journal.state.previews[job, block.transform]
        return protocol.Measure(
            transform=block.transform,
            params=dict(self.catalog.transforms[block.transform].params),
            loops=schedule.choose_loops(preview.sec_per_item, self.work.num_items),
            warmups=policy.WARMUPS,
            seeds=value_seeds(c.seed, block.round, block.block, c.num_runs, c.blocks),
            timeout_sec=max(c.timeout_sec, policy.TIMEOUT_FACTOR * self.work.expected_sec(job, block)),
        )


def is_slow(preview: protocol.Previewed, config: Config) -> bool:
    """Whether a transform is recorded slow instead of measured."""
    return not config.disable_slow_skip and preview.sec_per_item >= config.slow_threshold_sec


def timed(
    job: str,
    block: schedule.Block,
    started_at: str,
    request: protocol.Measure,
    worker: str,
    measured: protocol.Measured,
) -> log.Timed:
    """A job's part of a block, as the journal holds it."""
    return log.Timed(
        job=job,
        transform=block.transform,
        block=Block(
            round=block.round,
            block=block.block,
            worker=worker,
            position=block.position,
            seat=block.jobs.index(job),
            started_at=started_at,
            loops=request.loops,
            seeds=request.seeds,
            values_sec=measured.values_sec,
            noop_sec=measured.noop_sec,
            yardstick_sec=measured.yardstick_sec,
            peak_rss_growth_bytes=measured.peak_rss_growth_bytes,
        ),
        harness_sec=measured.harness_sec,
        pyperf_json=measured.pyperf_json,
    )
