"""One run from its configuration to its bundle: data, environments, journal, measurements, results, commitment."""

import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from bench_core import bundle, dataset, disturbance, environment
from bench_core import journal as log
from bench_core.assembly import write_results
from bench_core.catalog import Catalog
from bench_core.conductor import Interpreters, conduct
from bench_core.config import Config, config_sha256, dump_config, run_name
from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_code, write_atomically
from bench_core.inspection import thumbnail_png
from bench_core.invocation import command
from bench_core.journal import Header, Journal
from bench_core.machine import describe_machine
from bench_core.matrix import Matrix
from bench_core.plan import Plan
from bench_core.progress import bar
from bench_core.results import Result, Status
from bench_core.sample import build_sample


class Outcome(msgspec.Struct, frozen=True):
    """A finished run."""

    folder: Path
    results: tuple[Result, ...]

    @property
    def counts(self) -> dict[Status, int]:
        """How many measurements ended with each status."""
        found = [m.status for result in self.results for m in result.measurements.values()]
        return {status: found.count(status) for status in Status if status in found}

    @property
    def code(self) -> ExitCode:
        """INCOMPLETE when a library could not be measured, or no further."""
        return ExitCode.INCOMPLETE if self.counts.get(Status.UNAVAILABLE) else ExitCode.OK


def execute(
    root: Path,
    matrix: Matrix,
    catalog: Catalog,
    config: Config,
    plan: Plan,
    folder: Path,
    *,
    interpreters: Callable[[], Interpreters],
    now: datetime | None = None,
    resume: bool = False,
    show_progress: bool = True,
) -> Outcome:
    """Run `plan` into `folder`, or go on with the run that is there.

    Args:
        interpreters: finds or builds what measures, once the data are known to be there (`managed` or `here`).
        now: when the run began, UTC; it names the run.

    Raises:
        BenchError: the folder is in use, not empty or cannot be written; the data are missing or unreadable; or the
            run cannot be resumed because something changed.
        KeyboardInterrupt: what is finished is kept; `resume` goes on.
    """
    with _owned(folder, resume=resume):
        subset = _choose_items(root, config, show_progress=show_progress)
        described = _describe(root, plan)  # before environments are built, which is work of our own
        found = interpreters()
        if not (folder / bundle.CONFIG).exists():  # before the journal: where there is one, the run can be resumed
            write_atomically(folder / bundle.CONFIG, dump_config(config).encode())
        with _resumable(folder):
            journal = Journal.open(folder / log.FILE_NAME)
            try:
                header = _agree(journal, config, found, subset, folder, root, now or datetime.now(UTC))
                _write_beginnings(folder, subset, plan, described)
                conduct(
                    plan,
                    config,
                    catalog,
                    found,
                    journal,
                    folder,
                    channels={name: scenario.channels for name, scenario in matrix.scenarios.items()},
                    show_progress=show_progress,
                )
                journal.verify()
            finally:
                journal.close()
            results = write_results(folder, plan, config, catalog, journal.state)
            bundle.commit(folder, header.run_id, header.created_at)
    return Outcome(folder=folder, results=tuple(results))


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """Say of a full disk or data that changed meanwhile that nothing is lost, and how to go on."""
    try:
        yield
    except BenchError as error:
        if error.code not in (ExitCode.OUTPUT, ExitCode.DATA):
            raise
        raise BenchError(
            f"{error}. What was measured is kept; once this is mended, go on by: {command('run', '--resume', folder)}",
            error.code,
        ) from error


@contextmanager
def _owned(folder: Path, *, resume: bool) -> Iterator[None]:
    """Hold the run directory for this process alone; one in which nothing was begun is not left behind.

    A folder that is refused stays as it was: it is looked at before the lock is made, and again behind it.
    """
    try:
        if folder.is_dir() and not (folder / bundle.LOCK).exists():
            _check_folder(folder, resume=resume)
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / bundle.LOCK, blocking=False):
            try:
                _check_folder(folder, resume=resume)
                yield
            finally:
                if [path.name for path in folder.iterdir()] == [bundle.LOCK]:
                    (folder / bundle.LOCK).unlink()
                    folder.rmdir()
    except Timeout as error:
        raise BenchError(
            f"{folder}: another bench run is writing there; wait for it or choose another --output", ExitCode.OUTPUT
        ) from error
    except OSError as error:
        where = error.filename or folder
        raise BenchError(f"cannot write {where}: {error.strerror or error}", ExitCode.OUTPUT) from error


def _check_folder(folder: Path, *, resume: bool) -> None:
    if bundle.is_committed(folder):
        raise BenchError(
            f"{folder}: holds a finished run, which is not changed; choose another --output", ExitCode.OUTPUT
        )
    journal = folder / log.FILE_NAME
    if resume and not journal.exists():
        raise BenchError(f"{folder}: nothing to resume: there is no {log.FILE_NAME}", ExitCode.RESUME)
    if not resume and any(path.name != bundle.LOCK for path in folder.iterdir()):
        go_on = f"go on with it by: {command('run', '--resume', folder)}"
        hint = go_on if journal.exists() else "choose another --output"
        raise BenchError(f"{folder}: is not empty; {hint}", ExitCode.OUTPUT)


def _choose_items(root: Path, config: Config, *, show_progress: bool) -> dataset.Subset:
    folder = Path(config.data_dir).expanduser() if config.data_dir else build_sample(root)
    shown = bar("Check images", config.num_items or 0, "image", enabled=show_progress, leave=False)

    def progress(done: int, wanted: int) -> None:
        shown.total = wanted
        shown.update(done - shown.n)

    try:
        subset = dataset.choose(folder, config.num_items, config.seed, config.skip_unreadable, progress)
    finally:
        shown.close()
    if subset.notice:
        print(f"bench: {subset.notice}", file=sys.stderr)
    return subset


def here(root: Path, matrix: Matrix, plan: Plan) -> Interpreters:
    """The current interpreter for every group: in a container or on a cluster, where somebody else made it."""
    groups = dict.fromkeys(job.group for job in plan.jobs)
    return Interpreters(python=dict.fromkeys(groups, Path(sys.executable)), locks=dict.fromkeys(groups), missing={})


def managed(root: Path, matrix: Matrix, plan: Plan) -> Interpreters:
    """Each group's own locked environment, built where it is not there. One that cannot be built is said and left."""
    groups = dict.fromkeys(job.group for job in plan.jobs)
    python: dict[str, Path] = {}
    missing: dict[str, str] = {}
    for group in groups:
        try:
            python[group] = environment.ensure(root, matrix, group)
        except BenchError as error:
            print(f"bench: {error}", file=sys.stderr)
            missing[group] = f"the environment {group} could not be built: {str(error).splitlines()[0]}"
    locks = {group: environment.lock_sha256(root, group) for group in python}
    return Interpreters(python=python, locks=locks, missing=missing)


def _agree(
    journal: Journal,
    config: Config,
    interpreters: Interpreters,
    subset: dataset.Subset,
    folder: Path,
    root: Path,
    now: datetime,
) -> Header:
    """Begin the journal with what must not change, or compare with what it began with."""
    header = Header(
        journal_version=log.VERSION,
        run_id=f"{run_name(now, config)}-{uuid.uuid4().hex[:6]}",
        created_at=now.isoformat(timespec="seconds"),
        config_sha256=config_sha256(config),
        code_sha256=sha256_code(root),
        locks=dict(interpreters.locks),
        subset=subset,
    )
    then = journal.state.header
    if then is None:
        journal.append(header)
        return header
    changed = {
        "the configuration": then.config_sha256 != header.config_sha256,
        "the code": then.code_sha256 != header.code_sha256,
        "the data": then.subset.fingerprint != subset.fingerprint or then.subset.left_out != subset.left_out,
    }
    for group in then.locks.keys() | header.locks.keys():
        changed[f"the lock of {group}"] = then.locks.get(group) != header.locks.get(group)
    different = [name for name, differs in changed.items() if differs]
    if different:
        raise BenchError(
            f"{folder} cannot be resumed: {', '.join(different)} changed since it began; start a new run",
            ExitCode.RESUME,
        )
    return then


def _describe(root: Path, plan: Plan) -> dict[str, Any]:
    """environment.json: the machine as it was when the run began, other runs that measured on it, what is left out."""
    ours = {"other_runs": len(disturbance.other_runs()), "excluded_jobs": plan.excluded_jobs}
    return describe_machine(root) | ours


def _write_beginnings(folder: Path, subset: dataset.Subset, plan: Plan, described: dict[str, Any]) -> None:
    """What is known before anything is measured; a resumed run keeps what it began with."""
    written = folder / bundle.ENVIRONMENT
    if written.exists():
        return
    picture = thumbnail_png(next(dataset.load(subset)))
    for scenario in dict.fromkeys(job.scenario for job in plan.jobs):
        write_atomically(folder / bundle.OUTPUTS / scenario / "input.png", picture)
    write_atomically(written, msgspec.json.format(msgspec.json.encode(described), indent=1) + b"\n")
