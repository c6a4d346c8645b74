"""Where a model's file comes from: inside the family's installed wheel, or a path that the configuration names.

Nothing is ever fetched: a file that is not there is an error.
"""

import base64
import hashlib
import pickle
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import torch
from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_bytes, sha256_file
from bench_core.suggest import unknown
from bench_score.model import Entry


class Source(NamedTuple):
    """The file (or folder) of a model. `name` is None where the configuration gives a path of its own."""

    path: Path
    name: str | None

    @property
    def sha256(self) -> str:
        """Digest of the file, or of all files of the folder by their names."""
        if self.path.is_file():
            return sha256_file(self.path)
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        lines = [f"{path.relative_to(self.path).as_posix()} {sha256_file(path)}" for path in files]
        return sha256_bytes("\n".join(lines).encode())

    @property
    def is_own(self) -> bool:
        """Whether it is the configuration's and not the wheel's."""
        return self.name is None


def locate(entry: Entry, distribution: str, shipped: Mapping[str, tuple[str, ...]]) -> Source:
    """Find what `entry.checkpoint` stands for: a name of `shipped`, else a path.

    `shipped` maps a name to the files of the wheel that make the model, relative to site-packages; the first one (or,
    where there are several, their folder) is the model's place.

    Raises:
        BenchError: no checkpoint is given, there is no such name and no such path, or a file of the wheel is missing
            or was changed.
    """
    where = f"model {entry.label!r}"
    if entry.checkpoint is None:
        names = f"one of {', '.join(shipped)}, or a path" if shipped else "a path"
        raise BenchError(f"{where}: no checkpoint; give {names}")
    if entry.checkpoint in shipped:
        paths = [shipped_file(distribution, name) for name in shipped[entry.checkpoint]]
        return Source(paths[0] if len(paths) == 1 else paths[0].parent, entry.checkpoint)
    path = Path(entry.checkpoint).expanduser()
    if path.exists():
        return Source(path, None)
    if len(path.parts) > 1 or not shipped:
        raise BenchError(f"{where}: {path}: no such file", ExitCode.DATA)
    raise unknown("checkpoint", entry.checkpoint, shipped, source=where)


def shipped_file(distribution: str, name: str) -> Path:
    """A file of an installed distribution that is, byte for byte, the one of its wheel.

    The wheel itself was checked against the lock's hash when it was installed, so its list of hashes (RECORD) says
    what the file has to be. `name` is relative to site-packages, with slashes.

    Raises:
        BenchError: the distribution is not installed, or the file is missing or was changed.
    """
    try:
        listed = metadata.files(distribution) or []
    except metadata.PackageNotFoundError as error:
        raise BenchError(f"{distribution} is not installed in this environment", ExitCode.ENVIRONMENT) from error
    advice = f"build the environment of {distribution} anew"
    found = next((file for file in listed if file.as_posix() == name), None)
    if found is None or found.hash is None:
        raise BenchError(f"the wheel of {distribution} has no {name}; {advice}", ExitCode.ENVIRONMENT)
    path = Path(str(found.locate()))
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, found.hash.mode).digest()
    except OSError as error:
        raise BenchError(f"{path}: cannot be read ({error.strerror}); {advice}", ExitCode.ENVIRONMENT) from error
    if base64.urlsafe_b64encode(digest).decode().rstrip("=") != found.hash.value:
        raise BenchError(f"{path}: not the file of the wheel any more; {advice}", ExitCode.ENVIRONMENT)
    return path


def require_trust(entry: Entry, source: Source, reason: str) -> None:
    """Let a file that can run code when it is opened pass only where somebody vouches for it.

    A file of the wheel is as trusted as the package itself; any other needs `trust_checkpoint`.

    Raises:
        BenchError: nobody does.
    """
    if source.name is None and not entry.trust_checkpoint:
        raise BenchError(
            f"model {entry.label!r}: {source.path}: {reason}, which can run any code; "
            "if you trust whoever made it, pass --trust-checkpoint"
        )


def read_tensors(entry: Entry, path: Path) -> dict[str, Any]:
    """Read a torch file that holds tensors and plain values only, onto the CPU. No code in it can run.

    Raises:
        BenchError: it is no such file.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, pickle.UnpicklingError) as error:
        cause = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BenchError(
            f"model {entry.label!r}: {path}: not a torch file of tensors and plain values ({cause})", ExitCode.DATA
        ) from error
    if not isinstance(content, dict):
        raise BenchError(f"model {entry.label!r}: {path}: holds no mapping of weights", ExitCode.DATA)
    return content


def refuse_options(entry: Entry, *known: str) -> None:
    """Refuse what does not apply to a family: an option that it does not know, an architecture of its own.

    Raises:
        BenchError: there is one.
    """
    if entry.architecture is not None:
        raise BenchError(f"model {entry.label!r}: architecture does not apply to {entry.family}; leave it out")
    for option in entry.options:
        if option not in known:
            raise unknown("option", option, known, source=f"model {entry.label!r}")
