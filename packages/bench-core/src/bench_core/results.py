"""The result of one job: the file other people read. Versioned, validated on write and on read.

Times are seconds per item. Raw values are kept; every derived number is computed again when a file is read, and a
difference is an error. Numbers are finite or absent.
"""

import math
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec

from bench_core.errors import BenchError, ExitCode
from bench_core.files import write_atomically
from bench_core.statistics import TODAY, Sample, Summary, SummaryRules, summarize

SCHEMA_VERSION = 1
MAX_FILE_BYTES = 64 * 1024 * 1024
# What a clock can have measured: less, more or no number at all is not a time.
Seconds = Annotated[float, msgspec.Meta(ge=1e-12, le=1e7)]
Count = Annotated[int, msgspec.Meta(ge=1)]
Natural = Annotated[int, msgspec.Meta(ge=0)]

NOOP = "noop"
YARDSTICK = "yardstick"


class Status(StrEnum):
    OK = "ok"
    SLOW = "slow"
    UNSUPPORTED = "unsupported"
    EXCLUDED = "excluded"
    ERROR = "error"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of everything in a result file."""


class Block(Strict, frozen=True):
    """What one measuring process (a forked child) timed, all in seconds per item."""

    round: Natural
    block: Natural
    worker: str  # which worker process it was forked from
    position: Natural  # the block's place in the round's order, from 0
    seat: Natural  # the library's place in each turn of the block, from 0
    started_at: str  # UTC, ISO 8601; the same for all libraries that took turns in it
    loops: Count  # passes over the items per value
    seeds: tuple[int, ...]  # one per value
    values_sec: Annotated[tuple[Seconds, ...], msgspec.Meta(min_length=1)]
    noop_sec: Seconds  # the reference rows, timed in the same child
    yardstick_sec: Seconds
    peak_rss_growth_bytes: Natural  # peak resident memory over what the child started with

    def sample(self) -> Sample:
        return Sample(round=self.round, block=self.block, values_sec=self.values_sec)


class Output(Strict, frozen=True):
    """What the first item became, looked at untimed."""

    shape: tuple[int, ...]
    dtype: str
    minimum: float | None
    maximum: float | None
    contiguous: bool
    digest: str  # SHA-256 of dtype, shape and bytes
    changed: bool  # differs from the input
    thumbnail: str | None = None  # file name under outputs/


class Measurement(Strict, frozen=True):
    """One transform of one library."""

    status: Status
    params: dict[str, Any]
    reason: str | None = None  # why the status is not ok: one sentence, with the numbers
    detail: str | None = None  # last lines of a traceback
    preflight_sec: Seconds | None = None
    output: Output | None = None
    blocks: tuple[Block, ...] = ()
    summary: Summary | None = None


class Conditions(Strict, frozen=True):
    """What a measurement ran under; results are compared only where these agree (see `bench_report`)."""

    python: str
    platform: str
    cpu: str
    device: str  # as asked for: cpu or gpu; which GPU this is stands in environment.json
    threads_asked: int
    threads_read: dict[str, int]  # by pool; what the libraries answered
    affinity: tuple[int, ...]  # processors the worker may run on
    isolation: str  # fork or spawn
    lock_sha256: str | None  # of locks/<group>.txt; absent with --here
    shared_versions: dict[str, str]  # numpy, pillow, torch where installed: must agree between compared groups


class Dataset(Strict, frozen=True):
    """Which items, the same for every library."""

    name: str
    num_items: int
    fingerprint: str  # SHA-256 over the decoded content of the items used, in order
    left_out: tuple[str, ...] = ()  # unreadable files, left out for all


class Result(Strict, frozen=True):
    """Everything about one job. `references` holds the no-op and the yardstick rows, summarised over all blocks.

    `rules` is what its summaries are computed by; a file without them is of the time before they were recorded.
    """

    schema_version: int
    run_id: str
    created_at: str
    library: str
    group: str
    media: str
    scenario: str
    mode: str
    device: str
    native_format: str | None  # this and what follows is absent when the library never started
    versions: dict[str, str]  # the measured library's own first
    conditions: Conditions | None
    dataset: Dataset
    config_sha256: str
    seed: int
    num_runs: Count
    num_blocks: Count
    num_processes: Count
    measurements: dict[str, Measurement]
    references: dict[str, Summary]
    rules: SummaryRules = SummaryRules(confidence=0.95, unstable_cv=0.1, interval_processes=2)

    def ok(self) -> Iterator[tuple[str, Measurement]]:
        """The transforms that were measured, in file order."""
        return ((name, found) for name, found in self.measurements.items() if found.status is Status.OK)


def file_name(scenario: str, library: str, mode: str, device: str) -> str:
    """Path of a job's result inside the run directory."""
    suffix = "" if device == "cpu" else f"_dev-{device}"
    return f"{scenario}/{library}_{mode}{suffix}_results.json"


def summarize_references(measurements: dict[str, Measurement], rules: SummaryRules = TODAY) -> dict[str, Summary]:
    """Summaries of the no-op and the yardstick over every block of a job; empty when nothing was timed."""
    blocks = [block for measurement in measurements.values() for block in measurement.blocks]
    if not blocks:
        return {}
    return {
        NOOP: summarize([Sample(block.round, block.block, (block.noop_sec,)) for block in blocks], rules),
        YARDSTICK: summarize([Sample(block.round, block.block, (block.yardstick_sec,)) for block in blocks], rules),
    }


def write_result(path: Path, result: Result) -> None:
    """Validate and write one result file.

    Raises:
        BenchError: a number is not finite or a derived number does not follow from the raw values.
    """
    data = msgspec.json.format(msgspec.json.encode(result), indent=1)
    _check(decode_result(data, path), path)
    write_atomically(path, data + b"\n")


def read_result(path: Path) -> Result:
    """Read one result file and compute its derived numbers again: by the rules it names, to check it, then by today's.

    Raises:
        BenchError: the file is missing, too large, truncated, not finite, of an unknown version, or its statistics
            do not follow from its samples.
    """
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise BenchError(
                f"{path}: {size / 1e6:.0f} MB is larger than any result we write "
                f"({MAX_FILE_BYTES / 1e6:.0f} MB); it was not read",
                ExitCode.BUNDLE,
            )
        data = path.read_bytes()
    except OSError as error:
        raise BenchError(f"{path}: cannot be read ({error.strerror})", ExitCode.BUNDLE) from error
    result = decode_result(data, path)
    _check(result, path)
    return result if result.rules == TODAY else _by_rules_of_today(result)


def decode_result(data: bytes, path: Path) -> Result:
    """Decode and upgrade; the one place that knows about versions."""
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BenchError(f"{path}: not valid JSON ({error}); was it cut off?", ExitCode.BUNDLE) from error
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA_VERSION:
        raise BenchError(
            f"{path}: schema version {version!r} is not known here (this is version {SCHEMA_VERSION}); "
            "read it with the version of bench that wrote it",
            ExitCode.BUNDLE,
        )
    try:
        return msgspec.convert(raw, Result)
    except msgspec.ValidationError as error:
        raise BenchError(f"{path}: {error}", ExitCode.BUNDLE) from error


def _by_rules_of_today(result: Result) -> Result:
    measurements = {
        name: msgspec.structs.replace(found, summary=_summary(found, TODAY))
        for name, found in result.measurements.items()
    }
    references = summarize_references(measurements)
    return msgspec.structs.replace(result, measurements=measurements, references=references, rules=TODAY)


def _summary(measurement: Measurement, rules: SummaryRules) -> Summary | None:
    return summarize([b.sample() for b in measurement.blocks], rules) if measurement.blocks else None


def _check(result: Result, path: Path) -> None:
    if not result.measurements:
        raise BenchError(f"{path}: holds no measurement", ExitCode.BUNDLE)
    for name, measurement in result.measurements.items():
        where = f"{path}: {name}"
        _check_blocks(result, measurement, where)
        if measurement.status is not Status.OK and not measurement.reason:
            raise BenchError(f"{where}: status {measurement.status} without a reason", ExitCode.BUNDLE)
        if not same_numbers(_summary(measurement, result.rules), measurement.summary):
            raise BenchError(
                f"{where}: the summary does not follow from the raw values; the file was changed by hand, or written "
                "by a version of bench that computes it differently",
                ExitCode.BUNDLE,
            )
    references = summarize_references(result.measurements, result.rules)
    if references.keys() != result.references.keys() or not all(
        same_numbers(references[name], result.references[name]) for name in references
    ):
        raise BenchError(f"{path}: the reference rows do not follow from the raw values", ExitCode.BUNDLE)


def _check_blocks(result: Result, measurement: Measurement, where: str) -> None:
    """Every block has its place and its seeds, and none is missing where the status is ok."""
    blocks = measurement.blocks
    places = {(block.round, block.block) for block in blocks}
    expected = result.num_processes * result.num_blocks
    if len(places) < len(blocks):
        raise BenchError(f"{where}: a block is there twice", ExitCode.BUNDLE)
    if any(round_ >= result.num_processes or block >= result.num_blocks for round_, block in places):
        raise BenchError(f"{where}: a block has a place that the run does not have", ExitCode.BUNDLE)
    if any(len(block.seeds) != len(block.values_sec) for block in blocks):
        raise BenchError(f"{where}: a block has not one seed for each value", ExitCode.BUNDLE)
    if measurement.status is Status.OK and len(blocks) != expected:
        raise BenchError(f"{where}: status ok with {len(blocks)} of {expected} blocks", ExitCode.BUNDLE)
    if blocks and result.conditions is None:
        raise BenchError(f"{where}: measured under conditions that are not recorded", ExitCode.BUNDLE)


def same_numbers(one: Summary | None, other: Summary | None) -> bool:
    """Equal up to the last digits, which may differ between platforms' logarithms, and to the words of the reason."""
    if one is None or other is None or one.unstable != other.unstable:
        return one is other
    worded = msgspec.structs.replace(other, unstable_reason=one.unstable_reason)
    pairs = zip(msgspec.structs.astuple(one), msgspec.structs.astuple(worded), strict=True)
    return all(
        math.isclose(a, b, rel_tol=1e-9) if isinstance(a, float) and isinstance(b, float) else a == b for a, b in pairs
    )
