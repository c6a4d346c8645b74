"""A bundle: the directory of one run, hashed and immutable once COMMITTED.json is written, which comes last.

resolved_config.toml  environment.json  journal.jsonl  logs/  outputs/<scenario>/*.png
<scenario>/<library>_micro_results.json  <scenario>/<library>_micro_pyperf.json  COMMITTED.json
"""

import tomllib
from pathlib import Path
from typing import Any

import msgspec

from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_bytes, sha256_file, write_atomically
from bench_core.results import MAX_FILE_BYTES, Result, read_result

COMMITTED = "COMMITTED.json"
CONFIG = "resolved_config.toml"
ENVIRONMENT = "environment.json"
LOCK = ".lock"
BUNDLE_VERSION = 1


class Commitment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """COMMITTED.json: the SHA-256 of every other file, by its path below the run directory."""

    bundle_version: int
    run_id: str
    created_at: str
    files: dict[str, str]


class Bundle(msgspec.Struct, frozen=True):
    """A committed run, read and checked. `results` are in file-name order, with their paths relative to `path`."""

    path: Path
    run_id: str
    created_at: str
    environment: dict[str, Any]  # environment.json
    config: dict[str, Any]  # resolved_config.toml
    results: dict[str, Result]
    files: dict[str, str] = {}  # SHA-256 of every committed file, by its path relative to `path`


def is_committed(path: Path) -> bool:
    return (path / COMMITTED).is_file()


def commit(path: Path, run_id: str, created_at: str) -> None:
    """Hash every file of a finished run and write COMMITTED.json.

    Raises:
        BenchError: a file cannot be read or written.
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
    names = [name for name in commitment.files if name.endswith("_results.json")]
    return Bundle(
        path=path,
        run_id=commitment.run_id,
        created_at=commitment.created_at,
        environment=_read_json(path / ENVIRONMENT),
        config=_read_toml(path / CONFIG),
        results={name: read_result(path / name) for name in sorted(names)},
        files=commitment.files,
    )


def read_committed(bundle: Bundle, name: str) -> bytes:
    """One file of a run, checked against its commitment once more: time has passed since the run was loaded.

    Raises:
        BenchError: the run has no such file, it cannot be read, or it was changed.
    """
    path = bundle.path / name
    if name not in bundle.files:
        raise BenchError(f"{path}: the run has no such file", ExitCode.BUNDLE)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
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
        BenchError: naming the first file that is missing, was added or was changed.
    """
    if not path.is_dir():
        raise BenchError(f"{path}: no such run directory", ExitCode.BUNDLE)
    if not is_committed(path):
        raise BenchError(
            f"{path}: not committed: the run did not finish. Go on with: bench run --resume {path}",
            ExitCode.BUNDLE,
        )
    try:
        commitment = msgspec.json.decode((path / COMMITTED).read_bytes(), type=Commitment)
    except (OSError, msgspec.DecodeError) as error:
        raise BenchError(f"{path / COMMITTED}: {error}", ExitCode.BUNDLE) from error
    if commitment.bundle_version != BUNDLE_VERSION:
        raise BenchError(
            f"{path / COMMITTED}: bundle version {commitment.bundle_version} is not known here "
            f"(this is version {BUNDLE_VERSION})",
            ExitCode.BUNDLE,
        )
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
    found = (file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    return sorted(name for name in found if name not in (COMMITTED, LOCK))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise BenchError(f"{path}: larger than anything we write; it was not read", ExitCode.BUNDLE)
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError) as error:
        raise BenchError(f"{path}: {error}", ExitCode.BUNDLE) from error


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BenchError(f"{path}: {error}", ExitCode.BUNDLE) from error
