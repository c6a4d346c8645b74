"""One table of scores with everything made of it."""

import msgspec

from bench_report.scores.conditions import differences
from bench_report.scores.evidence import Evidence, gather
from bench_report.scores.pairs import Pairs, compare_pairs
from bench_report.scores.sections import ScoreSection
from bench_report.scores.views import build_score_sheet, highlights
from bench_report.table import Sheet


class ScorePart(msgspec.Struct, frozen=True):
    section: ScoreSection
    pairs: Pairs
    sheet: Sheet
    highlights: tuple[str, ...]
    evidence: Evidence


def build_score_part(section: ScoreSection) -> ScorePart:
    """Compare the models of a table, and reduce what they said to what is drawn of it.

    Raises:
        BenchError: predictions of a run are damaged, or not what was committed.
    """
    pairs = {} if differences(section) else compare_pairs(section)
    return ScorePart(section, pairs, build_score_sheet(section, pairs), highlights(section, pairs), gather(section))
