"""Which models are compared with labels of another level of theory."""

import msgspec
import pytest
from bench_core.scores import ScoreResult
from bench_core.theory import compared_across

from tests.bench_core.test_ranking import DATA, scored


def of(label: str, theory: str | None, labels: str | None = "PBE (WIEN2k)") -> ScoreResult:
    data = msgspec.structs.replace(DATA, level_of_theory=labels)
    return msgspec.structs.replace(scored(label, 1, 0.5, 1.5), level_of_theory=theory, data=data)


def test_models_of_another_functional_are_named_with_theirs_and_that_of_the_labels() -> None:
    told = compared_across([of("a", "PBE+U (MPtrj)"), of("b", "r2SCAN (MP-r2SCAN)"), of("c", "r2SCAN (MP-r2SCAN)")])
    assert told is not None
    assert "labels of PBE (WIEN2k)" in told
    assert told.endswith(": b, c (r2SCAN (MP-r2SCAN))")


@pytest.mark.parametrize("theory", ["PBE", "pbe", "PBE+U (MPtrj)", None])
def test_the_same_functional_and_an_unknown_one_are_not_told(theory: str | None) -> None:
    assert compared_across([of("a", theory)]) is None


def test_nothing_is_told_of_labels_whose_theory_is_unknown_or_of_models_that_were_not_scored() -> None:
    assert compared_across([of("a", "r2SCAN", labels=None)]) is None
    assert compared_across([msgspec.structs.replace(of("a", "r2SCAN"), scores={})]) is None
