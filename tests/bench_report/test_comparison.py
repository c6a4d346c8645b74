"""Who is faster in a row."""

import msgspec
from bench_core.results import Measurement, Result
from bench_core.statistics import Verdict
from bench_report.comparison import compare, compare_all, fastest, winner
from bench_report.sections import Column, sections

from tests.bench_report.factory import PROCESSES, make_bundle, make_measurement, make_result


def columns_of(*results: Result) -> tuple[Column, ...]:
    (section,) = sections([make_bundle(results)])
    return section.columns


def test_libraries_of_one_run_are_compared_in_pairs() -> None:
    fast, slow = columns_of(make_result("ant", {"Resize": 1e-3}), make_result("mole", {"Resize": 2e-3}))
    found = compare(fast, slow, "Resize")
    assert found.paired
    assert found.verdict is Verdict.FASTER
    assert 1.8 < found.ratio < 2.2


def test_libraries_of_two_runs_are_compared_as_independent() -> None:
    one = make_bundle([make_result("ant", {"Resize": 1e-3})], "run-a")
    other = make_bundle([make_result("mole", {"Resize": 1.5e-3})], "run-b")
    (section,) = sections([one, other])
    found = compare(*section.columns, "Resize")
    assert not found.paired
    assert found.verdict is Verdict.INCONCLUSIVE


def started_at(measurement: Measurement, time: str, rounds: range) -> Measurement:
    blocks = [
        msgspec.structs.replace(block, started_at=time) if block.round in rounds else block
        for block in measurement.blocks
    ]
    return msgspec.structs.replace(measurement, blocks=tuple(blocks))


def test_what_a_resumed_run_measured_later_is_not_taken_for_side_by_side() -> None:
    late = started_at(make_measurement(1.5e-3), "2026-12-02T09:00:00+00:00", range(PROCESSES))
    found = compare(*columns_of(make_result("ant", {"Resize": 1e-3}), make_result("mole", {"Resize": late})), "Resize")
    assert not found.paired
    assert found.verdict is Verdict.INCONCLUSIVE


def test_only_rounds_that_were_measured_together_are_paired() -> None:
    # Later the machine was three times as slow.
    late = make_measurement(3e-3, seed="late")
    early = make_measurement(1e-3, seed="early")
    mixed = msgspec.structs.replace(
        early, blocks=tuple(b if b.round < 3 else c for b, c in zip(early.blocks, late.blocks, strict=True))
    )
    mixed = started_at(mixed, "2026-12-02T09:00:00+00:00", range(3, PROCESSES))
    found = compare(*columns_of(make_result("ant", {"Resize": 1e-3}), make_result("mole", {"Resize": mixed})), "Resize")
    assert found.paired
    assert 0.9 < found.ratio < 1.1


def test_every_pair_with_numbers_is_compared_both_ways() -> None:
    ratios = compare_all(
        columns_of(
            make_result("ant", {"Resize": 1e-3}),
            make_result("mole", {"Resize": 2e-3}),
            make_result("owl", {"Pad": 1e-3}),
        ),
        "Resize",
    )
    assert ratios.keys() == {("ant", "mole"), ("mole", "ant")}


def test_the_winner_is_faster_than_every_other() -> None:
    columns = columns_of(*(make_result(name, {"Resize": sec}) for name, sec in (("a", 3e-3), ("b", 1e-3), ("c", 2e-3))))
    ratios = compare_all(columns, "Resize")
    assert fastest(ratios) == winner(ratios) == "b"


def test_a_lead_over_all_but_one_is_no_win() -> None:
    near = make_measurement(1.01e-3, noise=0.05, seed="near")
    columns = columns_of(
        make_result("a", {"Resize": make_measurement(1e-3, noise=0.05, seed="lead")}),
        make_result("b", {"Resize": near}),
        make_result("c", {"Resize": 9e-3}),
    )
    ratios = compare_all(columns, "Resize")
    assert ratios["a", "c"].verdict is Verdict.FASTER
    assert winner(ratios) is None
    assert fastest(ratios) in {"a", "b"}


def test_a_library_alone_is_neither_fastest_nor_winner() -> None:
    ratios = compare_all(columns_of(make_result("a", {"Resize": 1e-3})), "Resize")
    assert fastest(ratios) is None
    assert winner(ratios) is None
