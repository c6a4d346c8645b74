"""The crew: one worker per job of a lane, started anew each round, restarted when one goes, given up when it cannot."""

from collections.abc import Callable, Mapping
from pathlib import Path

from bench_core import dataset, protocol
from bench_core import journal as log
from bench_core.errors import BenchError, ExitCode
from bench_core.journal import Journal
from bench_core.results import Status
from bench_core.workers import Worker, WorkerGone

Loading = Callable[[str, int, int], None]  # job, images decoded, images in all


class Crew:
    """Workers by job. A job whose worker cannot be started is lost: recorded, and not asked again in this run."""

    def __init__(
        self,
        starts: Mapping[str, tuple[Path, protocol.Start]],
        journal: Journal,
        logs: Path,
        loading: Loading,
    ) -> None:
        """`starts` maps a job to its interpreter and the first message to its worker."""
        self._starts, self._journal, self._logs, self._loading = starts, journal, logs, loading
        self._workers: dict[str, Worker] = {}
        self._round = 0
        self.lost: set[str] = set()

    def start(self, jobs: list[str], round_: int) -> None:
        """Start fresh workers, all at once since nothing is timed yet, and wait until each is ready."""
        self._round = round_
        for job in jobs:
            self._launch(job)
        for job in jobs:
            self._admit(job)

    def stop(self) -> None:
        """End every worker and all they started."""
        while self._workers:
            self._workers.popitem()[1].stop()

    def name(self, job: str) -> str:
        """The present worker of a job."""
        return self._workers[job].name

    def ask(self, job: str, request: protocol.Preflight) -> protocol.Reply:
        """One request to one job's worker. One that goes meanwhile is replaced; what it was asked has crashed."""
        worker = self._workers[job]
        worker.say(request)
        reply = self._hear(worker, request.timeout_sec, protocol.Tried)
        self._replace_gone([job])
        return reply

    def measure(self, requests: Mapping[str, protocol.Measure]) -> dict[str, protocol.Reply]:
        """One block: each job's process warms up and times value by value, one process at a time, in turns.

        Args:
            requests: by job, in the order of their turns.
        """
        replies: dict[str, protocol.Reply] = {}
        for job, request in requests.items():
            self._workers[job].say(request)
        for job, request in requests.items():  # nobody begins before everybody is ready
            self._next(job, request, replies)
        while waiting := [job for job in requests if job not in replies]:
            for job in waiting:
                self._workers[job].say(protocol.Go())
                self._next(job, requests[job], replies)
        self._replace_gone(list(requests))
        return replies

    def _next(self, job: str, request: protocol.Measure, replies: dict[str, protocol.Reply]) -> None:
        """Wait until a job's process is ready for its next turn, or has its final reply."""
        reply = self._hear(self._workers[job], request.timeout_sec, protocol.Turn, protocol.Measured)
        if not isinstance(reply, protocol.Turn):
            replies[job] = reply

    def _hear(self, worker: Worker, timeout_sec: float, *due: type[protocol.Reply]) -> protocol.Reply:
        """The reply, which is one of `due` or a `Failed`: what fails, and a worker out of step, is recorded."""
        try:
            reply: protocol.Reply = worker.hear(timeout_sec)
        except WorkerGone as gone:
            return protocol.Failed(status=Status.CRASHED, reason=f"the worker went: {gone}", detail=worker.log_tail())
        if isinstance(reply, (protocol.Failed, *due)):
            return reply
        if isinstance(reply, protocol.BadData):
            self._check_data()
            return protocol.Failed(status=Status.ERROR, reason=reply.reason)
        # Its later answers would be taken for those to other requests.
        worker.kill()
        reason = f"the worker answered {type(reply).__name__} where {due[-1].__name__} was due, and was killed"
        return protocol.Failed(status=Status.CRASHED, reason=reason)

    def _replace_gone(self, jobs: list[str]) -> None:
        gone = [job for job in jobs if not self._workers[job].alive]
        if gone:
            self.start(gone, self._round)

    def _launch(self, job: str) -> None:
        python, first = self._starts[job]
        self._workers[job] = Worker(python, first, self._log(first.library))

    def _admit(self, job: str) -> None:
        answer = self._answer(job)
        if isinstance(answer, protocol.Unavailable) and job in self._journal.state.started:
            # The library can start: it did before. Hours of measuring are not given up for one killed process.
            self._workers[job].kill()
            self._launch(job)
            answer = self._answer(job)
        if isinstance(answer, protocol.Ready):
            self._check_same(job, answer)
            self._journal.append(log.Started(job=job, round=self._round, worker=self.name(job), ready=answer))
            return
        self._workers.pop(job).kill()
        self.lost.add(job)
        self._journal.append(log.Lost(job=job, reason=answer.reason, detail=answer.detail))

    def _answer(self, job: str) -> protocol.Ready | protocol.Unavailable:
        answer = self._workers[job].ready(lambda done, total: self._loading(job, done, total))
        if isinstance(answer, protocol.BadData):
            self._check_data()
            return protocol.Unavailable(reason=answer.reason)
        return answer

    def _check_data(self) -> None:
        """Read the items here: is one environment different, or are the data?

        Raises:
            BenchError: the data are not what was chosen, so no library is to blame.
        """
        first = next(iter(self._starts.values()))[1]
        subset = dataset.Subset(
            name="", root=first.data_root, paths=first.data_paths, fingerprint=first.data_fingerprint
        )
        for _ in dataset.load(subset):
            pass

    def _check_same(self, job: str, now: protocol.Ready) -> None:
        """Refuse a library or machine that is not what this run's first worker of the job read back."""
        earlier = self._journal.state.started.get(job)
        if not earlier:
            return
        then = earlier[0].ready
        for what in ("versions", "conditions"):
            if getattr(then, what) != getattr(now, what):
                raise BenchError(
                    f"{job}: {what} were {getattr(then, what)} when this run began and are {getattr(now, what)} now; "
                    "start a new run",
                    ExitCode.RESUME,
                )

    def _log(self, library: str) -> Path:
        """A log of its own for each worker, named after the library and the start."""
        count = sum(1 for _ in self._logs.glob(f"{library}-*.log")) if self._logs.is_dir() else 0
        return self._logs / f"{library}-{count:03d}.log"
