"""The journal: every finished measurement, appended and flushed before the next begins. What a run resumes from."""

import os
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

from bench_core import protocol
from bench_core.dataset import Subset
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Block

FILE_NAME = "journal.jsonl"
VERSION = 1


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """Base of the journal's lines."""


class Header(Record, frozen=True, tag="header"):
    """First line: what must be the same when the run is resumed."""

    journal_version: int
    run_id: str
    created_at: str
    config_sha256: str
    code_sha256: str  # of what plans, measures and adapts
    locks: dict[str, str | None]  # group -> SHA-256 of its lock; None where the environment is not managed
    subset: Subset


class Started(Record, frozen=True, tag="started"):
    """A worker is ready."""

    job: str
    round: int
    worker: str
    ready: protocol.Ready


class Previewed(Record, frozen=True, tag="previewed"):
    job: str
    transform: str
    preview: protocol.Previewed


class Timed(Record, frozen=True, tag="timed"):
    job: str
    transform: str
    block: Block
    harness_sec: float
    pyperf_json: str


class Failed(Record, frozen=True, tag="failed"):
    """A transform is given up for this job."""

    job: str
    transform: str
    failure: protocol.Failed


class Lost(Record, frozen=True, tag="lost"):
    """A job cannot be measured, or no further; a resumed run tries again."""

    job: str
    reason: str
    detail: str | None = None


class _Version(msgspec.Struct, frozen=True):
    """What is read of the first line before anything else is taken for known."""

    journal_version: object = None


Line = Header | Started | Previewed | Timed | Failed | Lost
_decoder = msgspec.json.Decoder(Line)


class State:
    """What a journal says so far."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.started: dict[str, list[Started]] = {}
        self.previews: dict[tuple[str, str], protocol.Previewed] = {}
        self.timed: dict[tuple[str, str], dict[tuple[int, int], Timed]] = {}
        self.failures: dict[tuple[str, str], protocol.Failed] = {}
        self.lost: dict[str, Lost] = {}

    def add(self, record: Record) -> None:
        match record:
            case Header():
                self.header = record
            case Started():
                self.started.setdefault(record.job, []).append(record)
                self.lost.pop(record.job, None)
            case Previewed():
                self.previews[record.job, record.transform] = record.preview
            case Timed():
                blocks = self.timed.setdefault((record.job, record.transform), {})
                blocks[record.block.round, record.block.block] = record
            case Failed():
                self.failures[record.job, record.transform] = record.failure
            case Lost():
                self.lost[record.job] = record

    def is_timed(self, job: str, transform: str, round_: int, block: int) -> bool:
        return (round_, block) in self.timed.get((job, transform), {})


class Journal:
    """An open journal. Each `append` is on the disk when it returns."""

    def __init__(self, path: Path, stream: BinaryIO, state: State, length: int) -> None:
        """`length` is how many bytes are there already."""
        self.path, self._stream, self.state, self._length = path, stream, state, length

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open for appending, reading what is there; a last line cut off by a crash is dropped.

        Raises:
            BenchError: the file cannot be written, or is damaged elsewhere than at its end.
        """
        state, whole = read_state(path)
        try:
            stream = path.open("ab")
            if path.is_file():  # a device file, say, has no length to cut
                stream.truncate(whole)
        except OSError as error:
            raise BenchError(f"cannot write {path}: {error.strerror}", ExitCode.OUTPUT) from error
        return cls(path, stream, state, whole)

    def append(self, *records: Record) -> None:
        """Add lines, all of them or, in a crash, a first part.

        Raises:
            BenchError: the disk is full or refuses; what was finished before stays.
        """
        lines = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
        try:
            self._stream.write(lines)
            self._stream.flush()
            if self.path.is_file():
                os.fsync(self._stream.fileno())
        except OSError as error:
            raise BenchError(f"cannot write {self.path}: {error.strerror}", ExitCode.OUTPUT) from error
        self._length += len(lines)
        for record in records:
            self.state.add(record)

    def verify(self) -> None:
        """Make sure that the file holds what was appended.

        Raises:
            BenchError: somebody else removed or changed it meanwhile.
        """
        try:
            length = self.path.stat().st_size
        except FileNotFoundError:
            length = 0
        if length != self._length:
            raise BenchError(
                f"{self.path}: somebody removed or changed it while the run was going on; start a new run",
                ExitCode.RESUME,
            )

    def close(self) -> None:
        try:
            self._stream.close()
        except OSError:  # what could not be flushed was reported by `append`
            return


def read_state(path: Path) -> tuple[State, int]:
    """What the journal says, and how many of its bytes are whole lines. A missing file says nothing."""
    state, whole = State(), 0
    try:
        data = path.read_bytes() if path.is_file() else b""
    except OSError as error:
        raise BenchError(f"cannot read {path}: {error.strerror}", ExitCode.OUTPUT) from error
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):
            break
        try:
            if number == 1:
                _check_version(path, msgspec.json.decode(line, type=_Version).journal_version)
            state.add(_decoder.decode(line))
        except msgspec.DecodeError as error:
            raise BenchError(f"{path}, line {number}: damaged ({error})", ExitCode.BUNDLE) from error
        whole += len(line)
    return state, whole


def _check_version(path: Path, version: object) -> None:
    if version != VERSION:
        raise BenchError(
            f"{path}: journal version {version!r} is not known here (this is version {VERSION}); go on with the "
            "version of bench that began the run, or start a new one",
            ExitCode.RESUME,
        )
