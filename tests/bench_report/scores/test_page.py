"""The Scores tab, as text; `tests/bench_report/test_scores_in_browser.py` looks at it in a browser."""

import re
from pathlib import Path

from bench_core.bundle import load_bundle
from bench_report import html
from bench_report.report import Options, Report, build_report
from bench_report.scores.page import Room, score_parts

from tests.bench_report.factory import make_bundle, make_result
from tests.bench_report.score_factory import Scored, commit_scores, make_scored, not_scored, with_data


def a_report(tmp_path: Path, *found: Scored) -> Report:
    return build_report([load_bundle(commit_scores(tmp_path / "run", found))], Options())


def tabs(page: str) -> list[str]:
    return re.findall(r'role="tab" id="tab-(\w+)"', page)


def test_scores_alone_have_no_empty_tab_of_speeds(tmp_path: Path) -> None:
    page = html.render(a_report(tmp_path, make_scored("a"), make_scored("b")))
    assert tabs(page) == ["scores"]
    assert "<title>Model scores: set</title>" in page


def test_speeds_alone_have_no_empty_tab_of_scores() -> None:
    page = html.render(build_report([make_bundle([make_result("ant", {"Resize": 1e-3})])], Options()))
    assert tabs(page) == ["speed", "pictures", "noise"]


def test_both_stand_on_one_page(tmp_path: Path) -> None:
    scored = load_bundle(commit_scores(tmp_path / "run", [make_scored("a")]))
    page = html.render(build_report([make_bundle([make_result("ant", {"Resize": 1e-3})]), scored], Options()))
    assert tabs(page) == ["speed", "pictures", "noise", "scores"]
    assert "<title>Augmentation speed: image-rgb; Model scores: set</title>" in page
    assert "run-s" in page


def test_the_page_names_no_address_and_its_pictures_are_inside(tmp_path: Path) -> None:
    page = html.render(a_report(tmp_path, make_scored("a"), make_scored("b")))
    assert set(re.findall(r'<img src="([^,"]*),', page)) == {"data:image/svg+xml;base64"}
    assert "http" not in re.sub(r"http-equiv|http://www\.w3\.org/2000/svg|base64,[A-Za-z0-9+/=]*", "", page)


def test_pictures_without_room_are_left_out_and_said(tmp_path: Path) -> None:
    report = a_report(tmp_path, make_scored("a"), make_scored("b"))
    few = score_parts(report, Room(20_000))
    count = sum(len(gallery["images"]) for gallery in few["shown"][0]["galleries"]) + len(few["shown"][0]["tradeoffs"])
    assert 0 < count < 5
    assert few["num_left_out"] == 5 - count  # two panels of each model, and accuracy against speed


def test_a_picture_of_stress_where_only_pressure_is_known_says_so(tmp_path: Path) -> None:
    scored = make_scored("a", targets=("stress",))
    page = html.render(a_report(tmp_path / "one", with_data(scored, pressure_only=True)))
    assert "Predicted against label: pressure" in page
    assert "Predicted against label: stress" in html.render(a_report(tmp_path / "two", scored))


def test_a_page_of_very_many_models_stays_small(tmp_path: Path) -> None:
    targets = ("energy", "forces", "stress")
    found = [make_scored(f"model-{i}", 0.1 * (i + 1), targets=targets, seed=i, sec=0.001 * (i + 1)) for i in range(40)]
    page = html.render(a_report(tmp_path, *found))
    assert len(page.encode()) < html.PAGE_BYTES
    assert "pictures are not on the page" in page


def test_errors_are_bars_and_a_negative_score_has_none(tmp_path: Path) -> None:
    report = a_report(tmp_path, make_scored("a", names=["mae", "r2"]), make_scored("b", 3.0, names=["mae", "r2"]))
    rows = score_parts(report, Room(0))["shown"][0]["errors"]["rows"]
    assert rows[0][1][0][2].startswith("--v:")
    assert rows[1][1][1][2] == ""
    heads = score_parts(report, Room(0))["shown"][0]["errors"]["heads"]
    assert [head.less for head in heads] == [True, True, False, False, True, True]


def test_markup_from_a_result_is_text(tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    page = html.render(a_report(tmp_path, make_scored(hostile), not_scored("b", hostile)))
    assert hostile not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_nothing_scored_is_a_page_that_says_why(tmp_path: Path) -> None:
    page = html.render(a_report(tmp_path, not_scored("a", "no such checkpoint")))
    assert "error: no such checkpoint" in page
    assert "<img" not in page
