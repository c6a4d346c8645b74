"""Counts of who wins, in words."""

from bench_core.results import Result, Status
from bench_report.highlights import Highlights, highlights, sentences
from bench_report.rows import build_rows
from bench_report.sections import sections

from tests.bench_report.factory import make_bundle, make_measurement, make_result, not_measured


def counted(*results: Result) -> Highlights:
    (section,) = sections([make_bundle(results)])
    return highlights(section, build_rows(section))


def test_wins_ties_and_what_was_not_compared_are_counted() -> None:
    slow = not_measured(Status.SLOW, "slow")
    tie = [make_measurement(1e-3, noise=0.08, seed=seed) for seed in (1, 2)]
    found = counted(
        make_result("ant", {"A": 1e-3, "B": 1e-3, "tie": tie[0], "alone": 1e-3, "none": slow}),
        make_result("mole", {"A": 2e-3, "B": 5e-4, "tie": tie[1], "alone": slow, "none": slow}),
        make_result("owl", {"A": 3e-3, "B": slow, "tie": slow, "alone": slow, "none": slow}),
    )
    assert found == Highlights(
        num_comparable=3,
        wins={"ant": 1, "mole": 1, "owl": 0},
        chances={"ant": 3, "mole": 3, "owl": 1},
        no_winner=1,
        single=1,
        none=1,
    )
    assert sum(found.wins.values()) + found.no_winner == found.num_comparable


def test_the_sentence_names_every_library_and_its_chances() -> None:
    told = sentences(Highlights(4, {"ant": 1, "mole": 2}, {"ant": 3, "mole": 4}, 1, 1, 0))
    assert told == (
        "4 transforms compared. Clear winners: mole in 2, ant in 1 (of the 3 it has). Without a clear winner: 1.",
        "1 transform measured in one library only.",
    )


def test_one_library_compares_nothing() -> None:
    assert "nothing is compared" in sentences(counted(make_result("ant", {"A": 1e-3})))[0]
