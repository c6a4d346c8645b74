"""Parts: the rows of some models, written by whoever scored them, and merged by whoever comes last.

A part's header says under which configuration, on which data and by which code it was made, and by which locks,
adapters, checkpoints and metrics; a merge takes only what agrees with its own, and among themselves. A run writes one
part for each model as it ends, which is also what it resumes from.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from bench_core.bundle import PARTS
from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_bytes, write_atomically
from bench_core.results import MAX_FILE_BYTES, Status, Strict
from bench_core.scores import ScoreResult

from bench_score.config import ScoreConfig, config_sha256
from bench_score.identity import code_sha256, made_by
from bench_score.label import file_stem
from bench_score.model import Entry

LOGS = "logs"
PART_VERSION = 1
AGAIN = "~again"  # of a part's name: what failed after it had a score; no label has this character in a file name
_DIFFERENCES = {
    "config_sha256": "another configuration",
    "data_sha256": "another dataset",
    "code_sha256": "other code",
}


class Header(Strict, frozen=True):
    """What a part was made with."""

    part_version: int
    config_sha256: str
    data_sha256: str
    code_sha256: str
    made_by: dict[str, str]  # see bench_score.identity
    created_at: str


class Part(Strict, frozen=True):
    header: Header
    rows: tuple[ScoreResult, ...]


class Merged(msgspec.Struct, frozen=True):
    """Rows in the order of the configuration, the labels that no part holds, and what failed after it had a score."""

    rows: tuple[ScoreResult, ...]
    missing: tuple[str, ...]
    failed_again: tuple[ScoreResult, ...] = ()


def output_folder(config: ScoreConfig) -> Path:
    """Where a run's parts and results are.

    Raises:
        BenchError: the configuration does not say.
    """
    if config.output.dir is None:
        raise BenchError(
            "parts have to meet in one folder, and the configuration names none; say output.dir, or --output DIR"
        )
    return Path(config.output.dir)


def data_folder(config: ScoreConfig, dataset: str) -> Path:
    """Where the scores on a dataset are: a folder of its name that no folder or file of the run can have."""
    stem = file_stem(dataset)
    if stem.lower() in {PARTS, LOGS} or "." in stem:
        stem = f"{stem.replace('.', '_')}-{sha256_bytes(dataset.encode())[:6]}"
    return output_folder(config) / stem


def part_tag(entries: Sequence[Entry]) -> str:
    """A file name for the part of these entries: the label of a single one, a digest of several."""
    if len(entries) == 1:
        return file_stem(entries[0].label)
    digest = sha256_bytes("\n".join(entry.label for entry in entries).encode())[:8]
    return f"{len(entries)}-models-{digest}"


def write_part(
    config: ScoreConfig, rows: Sequence[ScoreResult], tag: str, made: Mapping[str, str] | None = None
) -> Path:
    """Write the rows as one part of the configuration's output folder; `made` None is by this very Python.

    A part with a score is kept where the new rows have none: they are written beside it.

    Raises:
        BenchError: there is no such folder in the configuration, no row, or it cannot be written.
    """
    if not rows:
        raise BenchError("a part without rows says nothing")
    labels = {row.label for row in rows}
    header = Header(
        part_version=PART_VERSION,
        config_sha256=config_sha256(config),
        data_sha256=rows[0].data.fingerprint,
        code_sha256=code_sha256(),
        made_by=dict(made) if made is not None else made_by(config, [e for e in config.entries() if e.label in labels]),
        created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
    )
    path = output_folder(config) / PARTS / f"{tag}.json"
    if path.exists() and _scored(read_part(path).rows) - _scored(rows):
        path = path.with_name(f"{tag}{AGAIN}.json")
    write_atomically(path, msgspec.json.format(msgspec.json.encode(Part(header=header, rows=tuple(rows))), indent=1))
    return path


def merge_parts(config: ScoreConfig, data_sha256: str | None = None, made: Mapping[str, str] | None = None) -> Merged:
    """Put the parts of the output folder together. Of two parts with one label, the better and then newer counts.

    `data_sha256` is the fingerprint of the dataset that they have to be scored on; None is that of the first part.
    `made` says what they have to be made by, as far as that is known; of what is not, the first part that says decides.

    Raises:
        BenchError: a part cannot be read, or was made under another configuration, on other data or by something else.
    """
    folder = output_folder(config) / PARTS
    found: dict[str, list[tuple[bool, str, ScoreResult]]] = {}
    own = {"config_sha256": config_sha256(config), "code_sha256": code_sha256()}
    data, known = data_sha256, dict(made or {})
    for path in sorted(folder.glob("*.json")):
        part = read_part(path)
        check_part(path, part, own | {"data_sha256": data or part.header.data_sha256}, known)
        data, known = part.header.data_sha256, part.header.made_by | known
        for row in part.rows:
            found.setdefault(row.label, []).append((row.status is Status.OK, part.header.created_at, row))
    labels = [model.label for model in config.models]
    strangers = sorted(found.keys() - set(labels))
    if strangers:
        raise BenchError(
            f"{folder}: a part holds {strangers[0]!r}, which the configuration does not name", ExitCode.BUNDLE
        )
    best = {label: max(found[label], key=_better)[2] for label in labels if label in found}
    newest = {label: max(found[label], key=_newer)[2] for label in best}
    return Merged(
        rows=tuple(best.values()),
        missing=tuple(label for label in labels if label not in best),
        failed_again=tuple(row for label, row in newest.items() if row.status is not best[label].status),
    )


def _better(found: tuple[bool, str, ScoreResult]) -> tuple[bool, str]:
    return found[:2]


def _newer(found: tuple[bool, str, ScoreResult]) -> str:
    return found[1]


def _scored(rows: Sequence[ScoreResult]) -> set[str]:
    return {row.label for row in rows if row.status is Status.OK}


def read_part(path: Path) -> Part:
    """Read one part.

    Raises:
        BenchError: it is too large, damaged or of an unknown version.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise BenchError(f"{path}: larger than any part we write; it was not read", ExitCode.BUNDLE)
        raw = msgspec.json.decode(path.read_bytes())
        version = raw["header"]["part_version"] if isinstance(raw, dict) else None
    except (OSError, msgspec.DecodeError, RecursionError, KeyError, TypeError) as error:
        raise BenchError(
            f"{path}: is no part, or was cut off ({error}); delete it, and score it again", ExitCode.BUNDLE
        ) from error
    if version != PART_VERSION:
        raise BenchError(
            f"{path}: part version {version!r} is not known here (this is {PART_VERSION})", ExitCode.BUNDLE
        )
    try:
        return msgspec.convert(raw, Part)
    except msgspec.ValidationError as error:
        raise BenchError(f"{path}: {error}", ExitCode.BUNDLE) from error


def check_part(path: Path, part: Part, own: Mapping[str, str], made: Mapping[str, str]) -> None:
    """Refuse a part that was made otherwise, by its name and by what differs. `own` are the header's digests here.

    Raises:
        BenchError: see above.
    """
    found = [words for name, words in _DIFFERENCES.items() if getattr(part.header, name) != own[name]]
    theirs = part.header.made_by
    found += [f"another {name}" for name in sorted(theirs.keys() & made.keys()) if theirs[name] != made[name]]
    if found:
        raise BenchError(
            f"{path}: was made with {' and '.join(found)} than this, or than the parts before it; "
            "parts are merged only when all of that is the same. Delete the part and score its models again, or merge "
            "with what made it",
            ExitCode.RESUME,
        )
    other = [row.label for row in part.rows if row.data.fingerprint != part.header.data_sha256]
    if other:
        raise BenchError(f"{path}: {other[0]!r} was scored on other data than its header says", ExitCode.BUNDLE)


def labels_done(merged: Merged) -> set[str]:
    """Models that need not be scored again: what could not be reached is tried once more."""
    return {row.label for row in merged.rows if row.status is not Status.UNAVAILABLE}
