"""Files that are whole or absent: temporary name, flush, rename. And their hashes."""

import hashlib
import os
import tempfile
from pathlib import Path

from bench_core.errors import BenchError, ExitCode


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path` so that a reader sees all of it or what was there before.

    Raises:
        BenchError: the file system is full, read-only or otherwise refuses.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BenchError(f"cannot write {path}: {error.strerror}", ExitCode.OUTPUT) from error


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
