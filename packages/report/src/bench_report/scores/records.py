"""Scores as tidy records: one per model and metric, with every number. CSV and JSON are made of these."""

from collections.abc import Iterator
from typing import Any

import msgspec
from bench_core.ranking import best_label

from bench_report.scores.conditions import differences
from bench_report.scores.pairs import Pair, Pairs
from bench_report.scores.sections import Entry, Metric, ScoreSection


class ScoreRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One model and one metric; one without a metric where nothing was scored. Units are in the names or in `unit`."""

    run_id: str
    dataset: str
    dataset_fingerprint: str
    device: str
    kind: str = "score"
    model: str
    family: str
    version: str | None
    checkpoint: str | None
    checkpoint_sha256: str | None
    trusted_checkpoint: bool
    status: str
    reason: str | None
    target: str | None = None
    metric: str | None = None
    unit: str | None = None
    value: float | None = None
    value_low: float | None = None
    value_high: float | None = None
    confidence: float | None = None
    best: bool = False
    num_values: int | None = None
    num_structures: int | None = None
    num_groups: int | None = None
    compared_with: str | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    difference_num_structures: int | None = None
    difference_num_groups: int | None = None
    p_value: float | None = None
    p_value_adjusted: float | None = None
    num_structures_of_dataset: int
    num_scored: int
    num_nonfinite: int
    num_failed: int
    missing_elements: str  # symbols, joined by spaces
    model_level_of_theory: str | None
    data_level_of_theory: str | None
    zero_of_energies: str
    num_parameters: int | None
    cutoff_angstrom: float | None
    sec_per_structure: float | None
    predict_sec: float | None
    load_sec: float | None
    engine_sec: float | None
    peak_rss_bytes: int | None
    models_at_once: int | None
    seed: int


FIELDS = ScoreRecord.__struct_fields__


def score_records(section: ScoreSection, pairs: Pairs) -> Iterator[ScoreRecord]:
    """Models in table order, each with every metric it has."""
    mixed = bool(differences(section))
    best = {m: None if mixed else best_label(section.having(m), m.column) for m in section.metrics}
    for entry in section.entries:
        found = [metric for metric in section.metrics if entry.score(metric)]
        for metric in found:
            pair = pairs.get((entry.label, metric))
            yield _record(
                entry,
                **_of_score(entry, metric),
                **_of_pair(pair),
                best=best[metric] == entry.label,
            )
        if not found:
            yield _record(entry, reason=entry.result.reason)


def _record(entry: Entry, **fields: Any) -> ScoreRecord:
    result, cover, timing = entry.result, entry.result.coverage, entry.result.timing
    return ScoreRecord(
        run_id=entry.bundle.run_id,
        dataset=result.data.name,
        dataset_fingerprint=result.data.fingerprint,
        device=result.device,
        model=result.label,
        family=result.family,
        version=entry.version,
        checkpoint=result.checkpoint,
        checkpoint_sha256=result.checkpoint_sha256,
        trusted_checkpoint=result.trusted,
        status=result.status.value,
        num_structures_of_dataset=result.data.num_structures,
        num_scored=cover.num_scored if cover else 0,
        num_nonfinite=cover.num_nonfinite if cover else 0,
        num_failed=cover.num_failed if cover else 0,
        missing_elements=" ".join(cover.missing_elements) if cover else "",
        model_level_of_theory=result.level_of_theory,
        data_level_of_theory=result.data.level_of_theory,
        zero_of_energies=result.data.zero,
        num_parameters=result.num_parameters,
        cutoff_angstrom=result.cutoff_angstrom,
        sec_per_structure=timing.median_sec_per_structure if timing else None,
        predict_sec=timing.predict_sec if timing else None,
        load_sec=timing.load_sec if timing else None,
        engine_sec=timing.engine_sec if timing else None,
        peak_rss_bytes=timing.peak_rss_bytes if timing else None,
        models_at_once=timing.at_once if timing else None,
        seed=result.seed,
        **fields,
    )


def _of_score(entry: Entry, metric: Metric) -> dict[str, Any]:
    score = entry.result.scores[metric.column]
    return {
        "reason": score.reason or entry.result.reason,
        "target": score.target,
        "metric": score.metric,
        "unit": score.unit,
        "value": score.value,
        "value_low": score.low,
        "value_high": score.high,
        "confidence": score.confidence,
        "num_values": score.num_values,
        "num_structures": score.num_structures,
        "num_groups": score.num_groups,
    }


def _of_pair(pair: Pair | None) -> dict[str, Any]:
    if pair is None or pair.found is None:
        return {}
    found = pair.found
    return {
        "compared_with": pair.best,
        "difference": found.value,
        "difference_low": found.low,
        "difference_high": found.high,
        "difference_num_structures": found.num_structures,
        "difference_num_groups": found.num_groups,
        "p_value": found.p_value,
        "p_value_adjusted": pair.p_adjusted,
    }
