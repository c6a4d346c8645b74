from typing import Any

from bench_core.ranking import best_label, contenders, leader
from bench_core.results import Status
from bench_core.scores import SCHEMA_VERSION, Coverage, ModelTiming, Score, ScoredData, ScoreResult

DATA = ScoredData(
    name="set", num_structures=10, num_groups=10, fingerprint="f", level_of_theory="PBE", zero="nothing added"
)


def scored(label: str, value: float, low: float | None, high: float | None, **changes: Any) -> ScoreResult:
    whole = {"metric": "mae", "num_structures": 10, **changes}
    score = Score(target="energy", unit="eV", factor=1.0, value=value, low=low, high=high, num_groups=10, **whole)
    return ScoreResult(
        schema_version=SCHEMA_VERSION,
        kind="score",
        run_id="run",
        created_at="2026-12-01T05:00:00+00:00",
        label=label,
        family="family",
        device="cpu",
        checkpoint=None,
        checkpoint_sha256=None,
        trusted=False,
        status=Status.OK,
        data=DATA,
        config_sha256="c",
        seed=1,
        coverage=Coverage(num_structures=10, num_scored=10),
        scores={f"energy_{score.metric}": score},
        timing=ModelTiming(median_sec_per_structure=0.1, predict_sec=1, load_sec=1, engine_sec=0, at_once=1),
    )


def test_the_smallest_error_is_best_when_its_interval_is_apart() -> None:
    rows = [scored("a", 1, 0.5, 1.5), scored("b", 2, 1.6, 2.4)]
    assert best_label(rows, "energy_mae") == "a"


def test_nobody_is_best_where_intervals_touch_but_somebody_leads() -> None:
    rows = [scored("a", 1, 0.5, 1.6), scored("b", 2, 1.6, 2.4)]
    assert best_label(rows, "energy_mae") is None
    assert leader(rows, "energy_mae") == "a"


def test_nobody_leads_by_a_metric_of_ones_own_which_may_have_any_sign() -> None:
    rows = [scored("a", -9, -9.5, -8.5, metric="bias"), scored("b", 0.1, 0.05, 0.15, metric="bias")]
    assert leader(rows, "energy_bias") is None
    assert best_label(rows, "energy_bias") is None


def test_of_a_share_explained_the_largest_is_best() -> None:
    rows = [scored("a", 0.5, 0.4, 0.6, metric="r2"), scored("b", 0.9, 0.8, 0.95, metric="r2")]
    assert best_label(rows, "energy_r2") == "b"


def test_a_model_that_was_scored_on_fewer_structures_can_neither_lead_nor_be_ignored() -> None:
    rows = [scored("few", 0.1, 0.05, 0.15, num_structures=5), scored("a", 1, 0.9, 1.1), scored("b", 2, 1.9, 2.1)]
    assert leader(rows, "energy_mae") == "a"
    assert best_label(rows, "energy_mae") is None


def test_among_models_that_were_scored_on_as_many_but_other_structures_nobody_leads() -> None:
    rows = [
        scored("a", 1, 0.9, 1.1, structures_sha256="one"),
        scored("b", 2, 1.9, 2.1, structures_sha256="another"),
        scored("few", 3, 2.9, 3.1, num_structures=5, structures_sha256="third"),
    ]
    assert contenders(rows, "energy_mae") == ()
    assert leader(rows, "energy_mae") is None
    assert best_label(rows, "energy_mae") is None


def test_one_model_alone_is_not_best_and_no_model_leads_nothing() -> None:
    assert best_label([scored("a", 1, 0.5, 1.5)], "energy_mae") is None
    assert leader([scored("a", 1, 0.5, 1.5)], "forces_mae") is None


def test_without_an_interval_nobody_is_best() -> None:
    assert best_label([scored("a", 1, None, None), scored("b", 9, 8, 10)], "energy_mae") is None


def test_nobody_is_best_by_a_largest_error_whose_interval_has_no_upper_side_but_somebody_leads() -> None:
    rows = [scored("a", 1, 0.5, 1, metric="max_abs"), scored("b", 9, 8, 9, metric="max_abs")]
    assert best_label(rows, "energy_max_abs") is None
    assert leader(rows, "energy_max_abs") == "a"
