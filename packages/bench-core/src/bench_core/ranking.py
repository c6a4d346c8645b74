"""Which model is best by a metric, and when a table may say so. One answer for a run's own table and for a report."""

from collections.abc import Sequence

from bench_core.metrics import LARGEST, is_built_in
from bench_core.scores import Score, ScoreResult

HIGHER_IS_BETTER = frozenset({"r2"})
# Their intervals have no upper side, since no resample holds a larger error than the sample does: of two models that
# are alike, one would be apart from the other far more often than 5 % would have it.
NEVER_BEST = frozenset({LARGEST})


def sign_of(metric: str) -> int:
    """1 where less is better, -1 where more is."""
    return -1 if metric in HIGHER_IS_BETTER else 1


def contenders(rows: Sequence[ScoreResult], column: str) -> tuple[str, ...]:
    """The models that can lead a column: those that were scored on the most structures, as fewer may be the easier.

    None where these are as many, but not the same ones; nor by a metric of one's own, of which nobody knows whether
    less is better.
    """
    found = _scored(rows, column)
    if not all(is_built_in(score.metric) for score in found.values()):
        return ()
    most = max((score.num_structures for score in found.values()), default=0)
    able = {label: score for label, score in found.items() if score.num_structures == most}
    return tuple(able) if len({score.structures_sha256 for score in able.values()}) == 1 else ()


def leader(rows: Sequence[ScoreResult], column: str) -> str | None:
    """The contender whose value is best, whether or not its interval says so; None where there is none."""
    found = _scored(rows, column)
    able = contenders(rows, column)
    return min(able, key=lambda label: sign_of(found[label].metric) * (found[label].value or 0.0), default=None)


def best_label(rows: Sequence[ScoreResult], column: str) -> str | None:
    """The leader, where its interval is apart from every other model's; None where there is none to tell apart.

    Nor is there one for a metric of NEVER_BEST.
    """
    found = _scored(rows, column)
    label = leader(rows, column)
    if label is None or len(found) < 2 or found[label].metric in NEVER_BEST:
        return None
    apart = all(_apart(found[label], other) for one, other in found.items() if one != label)
    return label if apart else None


def _scored(rows: Sequence[ScoreResult], column: str) -> dict[str, Score]:
    return {row.label: score for row in rows if (score := row.scores.get(column)) and score.value is not None}


def _apart(leading: Score, other: Score) -> bool:
    ends = (leading.high, other.low) if sign_of(leading.metric) == 1 else (other.high, leading.low)
    return ends[0] is not None and ends[1] is not None and ends[0] < ends[1]
