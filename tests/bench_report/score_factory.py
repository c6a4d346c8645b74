"""Runs of scores as a scoring leaves them, small, with errors that are made up and scores that follow from them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import tomli_w
from bench_core import metrics, policy
from bench_core.bundle import Bundle, commit, load_bundle
from bench_core.metrics import Ints
from bench_core.results import Status
from bench_core.scores import (
    PREDICTIONS_SUFFIX,
    SCHEMA_VERSION,
    STRUCTURES,
    SUFFIX,
    Coverage,
    ModelTiming,
    Predictions,
    Score,
    ScoredData,
    ScoreResult,
    Structures,
    digest_of,
    write_predictions,
    write_score,
    write_structures,
)
from bench_core.seeds import derive_seed

from tests.bench_report.factory import CONDITIONS, ENVIRONMENT

NUM_STRUCTURES, NUM_GROUPS = 40, 20
GROUPS = np.arange(NUM_STRUCTURES) % NUM_GROUPS
MADE_OF = Structures(
    names=tuple(f"s{i}" for i in range(NUM_STRUCTURES)),
    groups=GROUPS,
    num_atoms=np.full(NUM_STRUCTURES, 2),
    numbers=np.array([(8, 1) if i % 2 else (6, 6) for i in range(NUM_STRUCTURES)]).ravel(),  # H and O, or C alone
)
DATA = ScoredData(
    name="set",
    num_structures=NUM_STRUCTURES,
    num_groups=NUM_GROUPS,
    fingerprint="0123456789abcdef" * 4,
    level_of_theory="PBE",
    zero="nothing added",
)
UNITS = {"energy": ("meV/atom", 1000.0), "forces": ("eV/A", 1.0), "stress": ("GPa", 160.2)}
CONFIG: dict[str, Any] = {
    "name": "set",
    "energy_per_atom": True,
    "output": {"dir": "/tmp/somewhere", "filename": "scores"},
}
CREATED = "2026-12-01T05:00:00+00:00"


class Scored(NamedTuple):
    result: ScoreResult
    predictions: Predictions | None


def make_predictions(
    error: float,
    *,
    left_out: Iterable[int] = (),
    nonfinite: Iterable[int] = (),
    targets: Iterable[str] = ("energy",),
    seed: int = 0,
    average: bool = False,
) -> Predictions:
    """Errors of about `error` eV; the labels are the same for every model."""
    kept = np.array([i for i in range(NUM_STRUCTURES) if i not in set(left_out)])
    values, structures = {}, {}
    for target in targets:
        label = np.random.default_rng(7).normal(size=NUM_STRUCTURES)[kept]
        predicted = label + error * np.random.default_rng(seed).normal(size=NUM_STRUCTURES)[kept]
        if average:  # relative to what a model scored
            label, predicted = label - label.mean(), predicted - predicted.mean()
        predicted[np.isin(kept, list(nonfinite))] = np.nan
        values[target], structures[target] = (label, predicted), kept
    return Predictions(values, structures, np.zeros(NUM_STRUCTURES), np.full(NUM_STRUCTURES, 0.01))


def make_scored(
    label: str,
    error: float = 0.1,
    *,
    names: Iterable[str] = ("mae", "rmse"),
    sec: float = 0.01,
    left_out: Iterable[int] = (),
    nonfinite: Iterable[int] = (),
    targets: tuple[str, ...] = ("energy",),
    seed: int = 0,
    average: bool = False,
    **changes: Any,
) -> Scored:
    """A model whose scores follow from its predictions."""
    left_out, nonfinite = list(left_out), list(nonfinite)
    predictions = make_predictions(
        error, left_out=left_out, nonfinite=nonfinite, targets=targets, seed=seed, average=average
    )
    cover = Coverage(
        num_structures=NUM_STRUCTURES,
        num_scored=NUM_STRUCTURES - len(left_out),
        num_nonfinite=len(nonfinite),
        missing_elements={"O": len(left_out)} if left_out else {},
    )
    result = ScoreResult(
        schema_version=SCHEMA_VERSION,
        kind="score",
        run_id="",
        created_at=CREATED,
        label=label,
        family="mlip_toy",
        device="cpu",
        checkpoint="v1",
        checkpoint_sha256=None,
        trusted=False,
        status=Status.OK,
        data=DATA,
        config_sha256="f" * 64,
        seed=1,
        level_of_theory="PBE",
        num_parameters=1234,
        cutoff_angstrom=5.0,
        coverage=cover,
        scores=scores_of(predictions, GROUPS, names),
        timing=ModelTiming(
            median_sec_per_structure=sec,
            predict_sec=1.0,
            load_sec=1.0,
            engine_sec=0.5,
            at_once=1,
            peak_rss_bytes=500_000_000,
        ),
        versions={"toy": "1.2.3", "torch": "2.15.0"},
        conditions=CONDITIONS,
    )
    return Scored(msgspec.structs.replace(result, **changes), predictions)


def make_scored_of(label: str, predictions: Predictions, groups: Ints) -> Scored:
    """A model of another dataset, which is said by its predictions and groups."""
    data = msgspec.structs.replace(DATA, num_structures=len(groups), num_groups=len(np.unique(groups)))
    cover = Coverage(num_structures=len(groups), num_scored=len(groups))
    scores = scores_of(predictions, groups, ("mae", "rmse"))
    whole = make_scored(label).result
    return Scored(msgspec.structs.replace(whole, data=data, coverage=cover, scores=scores), predictions)


def not_scored(
    label: str, reason: str = "the checkpoint is broken", status: Status = Status.ERROR, **changes: Any
) -> Scored:
    whole = make_scored(label).result
    empty: dict[str, Any] = {"scores": {}, "coverage": None, "timing": None, "conditions": None, "versions": {}}
    return Scored(msgspec.structs.replace(whole, status=status, reason=reason, **{**empty, **changes}), None)


def in_ev(scored: Scored) -> Scored:
    """The same mean absolute error of the energy in another unit."""
    score = scored.result.scores["energy_mae"]
    value, low, high = (None if end is None else end / 1000 for end in (score.value, score.low, score.high))
    other = msgspec.structs.replace(score, unit="eV/atom", factor=1.0, value=value, low=low, high=high)
    return scored._replace(result=msgspec.structs.replace(scored.result, scores={"energy_mae": other}))


def with_data(scored: Scored, **changes: Any) -> Scored:
    data = msgspec.structs.replace(scored.result.data, **changes)
    return scored._replace(result=msgspec.structs.replace(scored.result, data=data))


def commit_scores(
    folder: Path,
    found: Iterable[Scored],
    *,
    run_id: str = "run-s",
    created_at: str = CREATED,
    config: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    structures: Structures = MADE_OF,
) -> Path:
    """Write a run of scores to disk as the engine leaves it, its models in this order."""
    found = list(found)
    folder.mkdir(parents=True)
    models = [{"label": scored.result.label} for scored in found]
    (folder / "resolved_config.toml").write_text(tomli_w.dumps({**CONFIG, "models": models, **(config or {})}))
    (folder / "environment.json").write_bytes(msgspec.json.encode(ENVIRONMENT if environment is None else environment))
    for index, (result, predictions) in enumerate(found):
        named = msgspec.structs.replace(result, run_id=run_id, created_at=created_at)
        stem = folder / "set" / f"{index}-{''.join(c for c in result.label if c.isalnum())[:20]}"
        if predictions:
            write_predictions(stem.with_name(stem.name + PREDICTIONS_SUFFIX), predictions)
        write_score(stem.with_name(stem.name + SUFFIX), named)
    write_structures(folder / "set" / STRUCTURES, structures)
    commit(folder, run_id, created_at)
    return folder


def score_bundle(folder: Path, found: Iterable[Scored], **changes: Any) -> Bundle:
    """The same, read again."""
    return load_bundle(commit_scores(folder, found, **changes))


def scores_of(predictions: Predictions, groups: Ints, names: Iterable[str]) -> dict[str, Score]:
    return {
        f"{target}_{name}": _score(predictions, groups, target, name) for target in predictions.values for name in names
    }


def _score(predictions: Predictions, groups: Ints, target: str, name: str) -> Score:
    unit, factor = UNITS[target]
    if name == "r2":
        unit, factor = "", 1.0
    if name == "mse":
        unit, factor = f"({unit})^2", factor**2
    values = predictions.of(target, groups)
    count = metrics.num_groups(values)
    blank = Score(
        target=target,
        metric=name,
        unit=unit,
        factor=factor,
        value=None,
        num_values=len(values.reference),
        num_structures=len(values.reference),
        num_groups=count,
        structures_sha256=digest_of(predictions.structures[target]),
        num_labelled=len(groups),
    )
    if not np.isfinite(values.predicted).all():
        return msgspec.structs.replace(blank, reason="some predicted values are no finite numbers")
    if not metrics.is_built_in(name):
        return msgspec.structs.replace(blank, value=1.0)
    metric = metrics.built_in(name)
    value = metrics.value_of(metric, values)
    weights = metrics.resample_weights(count, derive_seed(1, "bootstrap"))
    found = metrics.interval(metric(values, weights), policy.CONFIDENCE)
    assert found is not None
    low, high = min(found[0], value), max(found[1], value)
    return msgspec.structs.replace(
        blank, value=value * factor, low=low * factor, high=high * factor, confidence=policy.CONFIDENCE
    )
