"""The rows as tidy records: one per library and transform, with every number. CSV and JSON are made of these."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from bench_core.results import Measurement, Status
from bench_core.statistics import Summary

from bench_report.rows import Cell, Row
from bench_report.sections import Column, Section


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One library and one transform, or one reference row. Absent is None; units are in the names."""

    run_id: str
    scenario: str
    mode: str
    device: str
    kind: str  # transform or reference
    transform: str
    library: str
    version: str | None
    status: str
    reason: str | None
    winner: bool
    median_sec: float | None = None
    median_low_sec: float | None = None
    median_high_sec: float | None = None
    items_per_sec: float | None = None
    items_per_sec_low: float | None = None
    items_per_sec_high: float | None = None
    confidence: float | None = None
    cv: float | None = None
    unstable: bool | None = None
    num_processes: int | None = None
    num_values: int | None = None
    baseline: str | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    verdict: str | None = None
    paired: bool | None = None
    copy_share: float | None = None
    copy_share_low: float | None = None
    copy_share_high: float | None = None
    preflight_sec: float | None = None
    peak_rss_growth_bytes: int | None = None
    output_shape: str | None = None
    output_dtype: str | None = None
    output_changed: bool | None = None
    output_digest: str | None = None
    params: str | None = None  # JSON


def records(section: Section, rows: Sequence[Row]) -> Iterator[Record]:
    """Transforms in table order, each with every library; then the reference rows."""
    columns = {column.library: column for column in section.columns}
    for row in rows:
        for library, cell in row.cells.items():
            yield _record(
                columns[library],
                kind="transform",
                transform=row.transform,
                status=cell.status,
                reason=cell.reason,
                winner=library == row.winner,
                **_timing(cell.summary),
                **_comparison(cell, row.baseline),
                **_observed(cell.measurement),
            )
    for column in section.columns:
        for name, summary in column.result.references.items():
            yield _record(
                column,
                kind="reference",
                transform=name,
                status=Status.OK.value,
                reason=None,
                winner=False,
                **_timing(summary),
            )


def _record(column: Column, **fields: Any) -> Record:
    result = column.result
    return Record(
        run_id=column.bundle.run_id,
        scenario=result.scenario,
        mode=result.mode,
        device=result.device,
        library=result.library,
        version=column.version,
        **fields,
    )


def _timing(summary: Summary | None) -> dict[str, Any]:
    if summary is None:
        return {}
    return {
        "median_sec": summary.median_sec,
        "median_low_sec": summary.low_sec,
        "median_high_sec": summary.high_sec,
        "items_per_sec": 1 / summary.median_sec,
        "items_per_sec_low": 1 / summary.high_sec if summary.high_sec else None,
        "items_per_sec_high": 1 / summary.low_sec if summary.low_sec else None,
        "confidence": summary.confidence,
        "cv": summary.cv,
        "unstable": summary.unstable,
        "num_processes": summary.num_processes,
        "num_values": summary.num_values,
    }


def _comparison(cell: Cell, baseline: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"baseline": baseline}
    if cell.ratio:
        found |= {
            "ratio": cell.ratio.ratio,
            "ratio_low": cell.ratio.low,
            "ratio_high": cell.ratio.high,
            "verdict": cell.ratio.verdict.value,
            "paired": cell.ratio.paired,
        }
    if cell.copy_share:
        found |= {
            "copy_share": cell.copy_share.ratio,
            "copy_share_low": cell.copy_share.low,
            "copy_share_high": cell.copy_share.high,
        }
    return found


def _observed(measurement: Measurement | None) -> dict[str, Any]:
    if measurement is None:
        return {}
    output = measurement.output
    return {
        "preflight_sec": measurement.preflight_sec,
        "peak_rss_growth_bytes": max((b.peak_rss_growth_bytes for b in measurement.blocks), default=None),
        "output_shape": " x ".join(map(str, output.shape)) if output else None,
        "output_dtype": output.dtype if output else None,
        "output_changed": output.changed if output else None,
        "output_digest": output.digest if output else None,
        "params": msgspec.json.encode(measurement.params, order="sorted").decode(),
    }
