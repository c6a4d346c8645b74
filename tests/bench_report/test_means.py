"""Geometric means of ratios over transforms."""

import math

import pytest
from bench_core.results import Result
from bench_report.means import Mean, geometric_means, sentence
from bench_report.rows import build_rows
from bench_report.sections import sections

from tests.bench_report.factory import make_bundle, make_result, with_conditions


def means(*results: Result, baseline: str | None = None) -> tuple[Mean, ...]:
    (section,) = sections([make_bundle(results)])
    return geometric_means(section, build_rows(section, baseline), baseline)


def test_the_mean_of_two_four_and_eight_times_is_four_times() -> None:
    ant = make_result("ant", {"A": 1e-3, "B": 1e-3, "C": 1e-3, "alone": 1e-3}, noise=1e-6)
    (mean,) = means(ant, make_result("mole", {"A": 2e-3, "B": 4e-3, "C": 8e-3}, noise=1e-6))
    assert (mean.library, mean.reference, mean.num_transforms) == ("mole", "ant", 3)
    assert mean.ratio == pytest.approx(1 / 4, rel=1e-3)
    # Student's t with two degrees of freedom reaches 4.303 standard errors; here that is log 2 over the root of 3.
    assert mean.low == pytest.approx(math.exp(-math.log(4) - 4.303 * math.log(2) / math.sqrt(3)), rel=1e-2)
    assert mean.low is not None
    assert mean.high is not None
    assert mean.low < mean.ratio < 1 < mean.high


def test_too_few_common_transforms_have_no_interval() -> None:
    (mean,) = means(make_result("ant", {"A": 1e-3}), make_result("mole", {"A": 2e-3}))
    assert (mean.low, mean.high, mean.num_transforms) == (None, None, 1)
    assert "1 transform)" in sentence([mean])
    assert "interval" not in sentence([mean])
    (mean,) = means(make_result("ant", {"A": 1e-3, "B": 1e-3}), make_result("mole", {"A": 2e-3, "B": 3e-3}))
    assert (mean.low, mean.high, mean.num_transforms) == (None, None, 2)


def test_the_reference_is_the_library_ahead_and_its_name_does_not_matter() -> None:
    slow, fast = {"A": 2e-3, "B": 3e-3}, {"A": 1e-3, "B": 1e-3}
    for names in (("ant", "mole"), ("mole", "ant")):
        (mean,) = means(make_result(names[0], slow), make_result(names[1], fast))
        assert mean.reference == names[1]


def test_a_chosen_baseline_is_the_reference_and_the_fastest_comes_first() -> None:
    found = means(
        make_result("ant", {"A": 2e-3}),
        make_result("bee", {"A": 3e-3}),
        make_result("cat", {"A": 1e-3}),
        baseline="ant",
    )
    assert [mean.library for mean in found] == ["cat", "bee"]
    assert "over ant" in sentence(found)


def test_mixed_conditions_and_a_single_library_give_no_mean() -> None:
    ant = make_result("ant", {"A": 1e-3})
    assert means(ant) == ()
    assert means(ant, with_conditions(make_result("mole", {"A": 1e-3}), threads_asked=2)) == ()
