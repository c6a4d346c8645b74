"""Files that are whole or absent: temporary name, flush, rename. Their hashes. And TOML that a person wrote."""

import hashlib
import os
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bench_core.errors import BenchError, ExitCode

MAX_TOML_BYTES = 64 * 1024  # nobody writes more by hand


@contextmanager
def open_atomically(path: Path) -> Iterator[IO[bytes]]:
    """A stream to write to; when the block ends well, `path` has all of what was written, else what was there before.

    Raises:
        BenchError: the file system is full, read-only or otherwise refuses.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BenchError(f"cannot write {path}: {error.strerror}", ExitCode.OUTPUT) from error


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path` so that a reader sees all of it or what was there before.

    Raises:
        BenchError: the file system is full, read-only or otherwise refuses.
    """
    with open_atomically(path) as stream:
        stream.write(data)


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_code(root: Path) -> str:
    """SHA-256 over everything that decides what is measured and how: our packages, their catalog, and matrix.toml."""
    digest = hashlib.sha256()
    found = [path for suffix in ("py", "toml") for path in root.glob(f"packages/*/src/**/*.{suffix}")]
    for path in (root / "matrix.toml", *sorted(found)):
        digest.update(f"{path.relative_to(root).as_posix()}\n{sha256_file(path)}\n".encode())
    return digest.hexdigest()


def sha256_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file says. No more than MAX_TOML_BYTES are read of anything, a pipe or a device included.

    Raises:
        OSError: it cannot be read.
        ValueError: it is too large, no UTF-8, not TOML, or nested too deeply.
    """
    with path.open("rb") as stream:
        data = stream.read(MAX_TOML_BYTES + 1)
    if len(data) > MAX_TOML_BYTES:
        raise ValueError(f"larger than {MAX_TOML_BYTES // 1024} KiB, so it was not read")
    return parse_toml(data.decode("utf-8"))


def parse_toml(text: str) -> dict[str, Any]:
    """What TOML text says.

    Raises:
        ValueError: it is not TOML, holds a number of thousands of digits, or is nested too deeply.
    """
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
