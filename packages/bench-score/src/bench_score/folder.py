"""The folder of a run: for one process alone, or for many that write parts; checked, and begun."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench_core.bundle import LOCK
from bench_core.errors import BenchError, ExitCode
from filelock import FileLock, Timeout

from bench_score.config import ScoreConfig
from bench_score.finish import begin
from bench_score.parts import output_folder


@contextmanager
def opened(
    config: ScoreConfig, root: Path | None, *, shared: bool = False, refusal: str | None = None
) -> Iterator[None]:
    """The configuration's output folder, locked unless it is shared, and begun.

    `refusal` is what to do instead where something is in it already; None where that is gone on with.

    Raises:
        BenchError: another process writes there, it is somebody else's or another run's, or it cannot be written.
    """
    folder = output_folder(config)
    with _alone(folder, shared=shared):
        if refusal is not None and _begun(folder):
            raise BenchError(f"{folder}: is not empty; {refusal}", ExitCode.OUTPUT)
        begin(config, root)
        yield


def _begun(folder: Path) -> bool:
    return any(path.name != LOCK for path in folder.iterdir())


@contextmanager
def _alone(folder: Path, *, shared: bool) -> Iterator[None]:
    """The folder for this process alone; parts are written by many. What was refused leaves no folder behind."""
    lock = FileLock(folder / LOCK, blocking=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not shared:
            lock.acquire()
    except Timeout as error:
        raise BenchError(
            f"{folder}: another bench is writing there; wait for it or choose another --output", ExitCode.OUTPUT
        ) from error
    except OSError as error:
        raise BenchError(f"cannot write {error.filename or folder}: {error.strerror}", ExitCode.OUTPUT) from error
    try:
        yield
    finally:
        with suppress(OSError):  # somebody else has begun there, or has cleaned up
            if not _begun(folder):
                (folder / LOCK).unlink(missing_ok=True)
                folder.rmdir()
        lock.release()
