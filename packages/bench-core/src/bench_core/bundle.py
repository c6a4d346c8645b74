"""A bundle: the directory of one run, hashed and immutable once COMMITTED.json is written, which comes last.

resolved_config.toml  environment.json  journal.jsonl  logs/  outputs/<scenario>/*.png
<scenario>/<library>_micro_results.json  <scenario>/<library>_micro_pyperf.json  COMMITTED.json

A run that scored models holds parts/ in place of the journal, and
<dataset>/<model>_score_results.json  <dataset>/<model>_predictions.npz  <dataset>/structures.npz
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec

from bench_core.config import FILE_NAME
from bench_core.draws import Draws
from bench_core.errors import BenchError, ExitCode
from bench_core.files import read_toml, sha256_bytes, sha256_file, write_atomically
from bench_core.invocation import command
from bench_core.journal import FILE_NAME as JOURNAL
from bench_core.results import MAX_FILE_BYTES, Result, file_name, read_result
from bench_core.scores import (
    PREDICTIONS_SUFFIX,
    STRUCTURES,
    SUFFIX,
    ScoreResult,
    check_score,
    read_predictions,
    read_score,
    read_structures,
    stem_of,
)

COMMITTED = "COMMITTED.json"
CONFIG = FILE_NAME
ENVIRONMENT = "environment.json"
OUTPUTS = "outputs"
PUBLICATION = "publication.json"  # in a published run, which has no journal
LOCK = ".lock"
PARTS = "parts"  # of a run that scores models
BUNDLE_VERSION = 1

Read = TypeVar("Read")


_FLAT = dict[str, str | int | float | bool | list[str]]
_NESTED = dict[str, str | int | float | bool | list[Any] | dict[str, Any]]


class Commitment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """COMMITTED.json: the SHA-256 of every other file, by its path below the run directory."""

    bundle_version: int
    run_id: str
    created_at: str
    files: dict[str, str]


class Known(msgspec.Struct, frozen=True):
    """What the report uses of environment.json; the rest is for people."""

    system: str | None = None
    kernel: str | None = None
    architecture: str | None = None
    cpu: str | None = None
    memory_total_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**62)] | None = None
    governors: tuple[str, ...] = ()
    cpus_usable: tuple[int, ...] = ()
    load_average: tuple[float, ...] = ()  # when the run began
    other_runs: Annotated[int, msgspec.Meta(ge=0)] = 0  # of ours, that measured on the machine then
    excluded_jobs: dict[str, str] = {}  # "library, scenario, mode, device" -> why it was not run
    git_commit: str | None = None
    git_dirty: bool | None = None


class Bundle(msgspec.Struct, frozen=True):
    """A committed run, read and checked. `results` are in file-name order, with their paths relative to `path`."""

    path: Path
    run_id: str
    created_at: str
    environment: dict[str, Any]  # environment.json
    config: dict[str, Any]  # resolved_config.toml
    results: dict[str, Result]
    files: dict[str, str] = {}  # SHA-256 of every committed file, by its path relative to `path`
    scores: dict[str, ScoreResult] = {}  # of models, by path


class Identity(msgspec.Struct, frozen=True):
    """What COMMITTED.json says of a run, whatever else stands in it."""

    created_at: str
    run_id: str


def identity(path: Path) -> Identity:
    """When a committed run was made and what it is called; nothing else of it is read or checked.

    Raises:
        BenchError: its COMMITTED.json cannot be read.
    """
    return _read_json(path / COMMITTED, Identity)


def is_committed(path: Path) -> bool:
    return (path / COMMITTED).is_file()


def commit(path: Path, run_id: str, created_at: str) -> None:
    """Hash every file of a finished run and write COMMITTED.json.

    Raises:
        BenchError: a file cannot be written.
        OSError: one cannot be read.
    """
    files = {name: sha256_file(path / name) for name in files_of(path)}
    commitment = Commitment(bundle_version=BUNDLE_VERSION, run_id=run_id, created_at=created_at, files=files)
    write_atomically(path / COMMITTED, msgspec.json.format(msgspec.json.encode(commitment), indent=1) + b"\n")


def load_bundle(path: Path) -> Bundle:
    """Read a committed run directory and verify every file against COMMITTED.json.

    Raises:
        BenchError: not a run, not committed, a file missing, added or changed, or a result that does not validate.
    """
    commitment = verify(path)
    names = sorted(name for name in commitment.files if name.endswith("_results.json"))
    results = {name: read_result(path / name) for name in names if not name.endswith(SUFFIX)}
    scores = {name: read_score(path / name) for name in names if name.endswith(SUFFIX)}
    if not results and not scores:
        raise BenchError(f"{path}: holds no result", ExitCode.BUNDLE)
    for name, result in results.items():
        _check_place(path, name, result, commitment)
    if results and JOURNAL not in commitment.files and PUBLICATION not in commitment.files:
        raise BenchError(f"{path / JOURNAL}: is missing; the bundle is damaged", ExitCode.BUNDLE)
    draws: dict[int, Draws] = {}  # by seed: drawing takes longer than computing
    for name, score in scores.items():
        _check_score(path, name, score, commitment, draws.setdefault(score.seed, Draws(score.seed)))
    return Bundle(
        path=path,
        run_id=commitment.run_id,
        created_at=commitment.created_at,
        environment=_read_environment(path / ENVIRONMENT),
        config=_read_config(path / CONFIG, nested=bool(scores)),
        results=results,
        files=commitment.files,
        scores=scores,
    )


def _check_place(path: Path, name: str, result: Result, commitment: Commitment) -> None:
    """Hashes can be made to agree by anybody: a result also has to be of this run, and where its content belongs."""
    if result.run_id != commitment.run_id:
        raise BenchError(
            f"{path / name}: is of run {result.run_id}, not of {commitment.run_id}; the bundle is damaged",
            ExitCode.BUNDLE,
        )
    where = file_name(result.scenario, result.library, result.mode, result.device)
    if name != where:
        raise BenchError(f"{path / name}: holds what belongs into {where}; the bundle is damaged", ExitCode.BUNDLE)
    for transform, found in result.measurements.items():
        picture = found.output and found.output.thumbnail
        if picture and f"{OUTPUTS}/{result.scenario}/{picture}" not in commitment.files:
            raise BenchError(
                f"{path / name}: {transform} names the picture {picture}, which is not in {OUTPUTS}/{result.scenario}; "
                "the bundle is damaged",
                ExitCode.BUNDLE,
            )


def _check_score(path: Path, name: str, score: ScoreResult, commitment: Commitment, draws: Draws) -> None:
    """A score is of this run too, and follows from its predictions."""
    if score.run_id != commitment.run_id:
        raise BenchError(
            f"{path / name}: is of run {score.run_id}, not of {commitment.run_id}; the bundle is damaged",
            ExitCode.BUNDLE,
        )
    if score.scores:
        structures = read_structures((path / name).with_name(STRUCTURES))
        predictions = read_predictions(path / f"{stem_of(name)}{PREDICTIONS_SUFFIX}")
        check_score(score, predictions, structures.groups, path / name, draws)


def read_committed(bundle: Bundle, name: str, limit_bytes: int = MAX_FILE_BYTES) -> bytes:
    """One file of a run, checked against its commitment once more: time has passed since the run was loaded.

    Raises:
        BenchError: the run has no such file, it cannot be read, or it was changed.
    """
    path = bundle.path / name
    if name not in bundle.files:
        raise BenchError(f"{path}: the run has no such file", ExitCode.BUNDLE)
    try:
        if path.stat().st_size > limit_bytes:
            raise BenchError(f"{path}: larger than anything we write; it was not read", ExitCode.BUNDLE)
        data = path.read_bytes()
    except OSError as error:
        raise BenchError(f"{path}: cannot be read ({error.strerror})", ExitCode.BUNDLE) from error
    if sha256_bytes(data) != bundle.files[name]:
        raise BenchError(f"{path}: was changed after the run; the bundle is damaged", ExitCode.BUNDLE)
    return data


def verify(path: Path) -> Commitment:
    """Compare a run directory with its commitment.

    Raises:
        BenchError: naming the first file that is missing, was added, was changed, is a link, or cannot be read.
    """
    try:
        return _compare(path)
    except OSError as error:
        where = error.filename or path
        raise BenchError(f"{where}: cannot be read ({error.strerror})", ExitCode.BUNDLE) from error


def _compare(path: Path) -> Commitment:
    if not path.is_dir():
        raise BenchError(f"{path}: no such run directory", ExitCode.BUNDLE)
    if not is_committed(path) and not (path / CONFIG).exists():
        raise BenchError(f"{path}: is no run: there is neither {COMMITTED} nor {CONFIG}", ExitCode.BUNDLE)
    if not is_committed(path):
        scored = (path / PARTS).is_dir()
        again = command("score", "--config", path / CONFIG, "--resume") if scored else command("run", "--resume", path)
        raise BenchError(f"{path}: not committed: the run did not finish. Go on with: {again}", ExitCode.BUNDLE)
    commitment = _read_json(path / COMMITTED, Commitment)
    if commitment.bundle_version != BUNDLE_VERSION:
        raise BenchError(
            f"{path / COMMITTED}: bundle version {commitment.bundle_version} is not known here "
            f"(this is version {BUNDLE_VERSION})",
            ExitCode.BUNDLE,
        )
    for entry in _entries(path):  # what a link leads to is not kept with the run
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            raise BenchError(f"{entry}: is a link, or no regular file; the bundle is damaged", ExitCode.BUNDLE)
    there, committed = set(files_of(path)), commitment.files.keys()
    for names, what in ((committed - there, "is missing"), (there - committed, "was added after the run")):
        if names:
            raise BenchError(f"{path / min(names)}: {what}; the bundle is damaged", ExitCode.BUNDLE)
    for name, digest in commitment.files.items():
        if sha256_file(path / name) != digest:
            raise BenchError(f"{path / name}: was changed after the run; the bundle is damaged", ExitCode.BUNDLE)
    return commitment


def files_of(path: Path) -> list[str]:
    """Paths below a run directory of everything that is committed: all but the marker and the lock."""
    found = (file.relative_to(path).as_posix() for file in _entries(path) if file.is_file())
    return sorted(name for name in found if name not in (COMMITTED, LOCK))


def _entries(path: Path) -> Iterator[Path]:
    """Every file and folder below a folder; an `OSError` for one that cannot be read, whose files are not missing."""

    def refuse(error: OSError) -> NoReturn:
        raise error

    for folder, folders, files in os.walk(path, onerror=refuse):
        yield from (Path(folder, name) for name in (*folders, *files))


def _read_json(path: Path, kind: type[Read]) -> Read:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise BenchError(f"{path}: larger than anything we write; it was not read", ExitCode.BUNDLE)
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise BenchError(f"{path}: {error}", ExitCode.BUNDLE) from error


def _read_environment(path: Path) -> dict[str, Any]:
    _read_json(path, Known)
    return _read_json(path, dict[str, Any])


def _read_config(path: Path, *, nested: bool) -> dict[str, Any]:
    """That of a measurement is flat; that of scores has tables."""
    try:
        return msgspec.convert(read_toml(path), _NESTED if nested else _FLAT)
    except (OSError, ValueError, msgspec.ValidationError) as error:
        raise BenchError(f"{path}: {error}", ExitCode.BUNDLE) from error
