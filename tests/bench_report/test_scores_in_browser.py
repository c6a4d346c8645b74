"""The Scores tab in a real browser: what a reader does with it, by mouse and keyboard, without a network."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from bench_core.bundle import load_bundle
from bench_report.html import render
from bench_report.report import Options, build_report
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.bench_report.browser import Watched
from tests.bench_report.factory import make_bundle, make_result
from tests.bench_report.score_factory import commit_scores, make_scored, not_scored

HOSTILE = "<img src=x onerror=document.title='broken'></script><b>bold"


@pytest.fixture(scope="module")
def report_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of scores alone: three models that were scored and one that was not."""
    folder = tmp_path_factory.mktemp("page")
    found = [
        make_scored("middle", 0.3, names=["mae", "r2"], seed=1, sec=0.002),
        make_scored("best", 0.1, names=["mae", "r2"], sec=0.02),
        make_scored("worst", 1.0, names=["mae", "r2"], seed=2, sec=0.001, left_out=[1]),
        not_scored("broken", "it broke"),
    ]
    path = folder / "results.html"
    bundle = load_bundle(commit_scores(folder / "run", found))
    path.write_text(render(build_report([bundle], Options())), encoding="utf-8")
    return path


@pytest.fixture
def watched(context: BrowserContext, report_path: Path) -> Iterator[Watched]:
    opened = Watched(context, report_path)
    yield opened
    opened.check()


def names(page: Page, table: str = "table.errors") -> list[str]:
    return page.locator(f"{table} tbody tr:visible th").all_inner_texts()


def test_errors_sort_smallest_first_and_what_has_no_score_stays_last(watched: Watched) -> None:
    page = watched.page
    head = page.locator("table.errors thead th").nth(1)
    head.get_by_role("button").click()
    assert names(page) == ["best", "middle", "worst", "broken"]
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.get_by_role("button").click()
    assert names(page) == ["worst", "middle", "best", "broken"]
    expect(head).to_have_attribute("aria-sort", "descending")


def test_a_share_explained_sorts_largest_first_and_time_shortest_first(watched: Watched) -> None:
    page = watched.page
    page.locator("table.errors thead th").nth(2).get_by_role("button").click()
    assert names(page) == ["best", "middle", "worst", "broken"]
    page.get_by_role("button", name="ms per structure").click()
    assert names(page) == ["worst", "middle", "best", "broken"]
    page.get_by_role("button", name="model").first.click()
    assert names(page) == ["best", "broken", "middle", "worst"]


def test_the_search_filters_its_own_table(watched: Watched) -> None:
    page = watched.page
    tools = page.locator("#scores .tools").first
    tools.locator(".search").fill("WORST")
    assert names(page) == ["worst"]
    expect(tools.locator(".count")).to_have_text("1 of 4 models")
    assert len(names(page, "table.differences")) == 4


def test_an_element_is_found_by_its_whole_symbol(watched: Watched) -> None:
    page = watched.page
    page.get_by_placeholder("symbol of an element").fill("h")
    assert names(page, "table.elements") == ["H"]
    page.get_by_placeholder("symbol of an element").fill("")
    page.locator("table.elements thead th").nth(2).get_by_role("button").click()
    assert len(names(page, "table.elements")) == 3


def test_differences_sort_with_the_best_first(watched: Watched) -> None:
    page = watched.page
    page.locator("table.differences thead th").nth(1).get_by_role("button").click()
    assert names(page, "table.differences")[0] == "best"
    expect(page.locator("table.differences tbody tr").first.locator("td").first).to_have_text("best value")


def test_the_best_is_marked_and_a_reason_is_at_the_end_of_its_link(watched: Watched) -> None:
    page = watched.page
    expect(page.locator("table.errors tbody tr").nth(1).locator("td").first.locator("b")).to_contain_text("★")
    cell = page.locator("table.errors tbody tr").nth(3).locator("td").first
    expect(cell.locator("span[title]").first).to_have_attribute("title", "error: it broke")
    cell.get_by_role("link").click()
    expect(page.locator("li:target")).to_have_text("error: it broke")


def test_every_picture_is_drawn_and_described(watched: Watched) -> None:
    pictures = watched.page.locator("#scores img").all()
    assert len(pictures) == 2 * 3 + 1  # parity and errors of three models, accuracy against speed of mae
    for picture in pictures:
        assert picture.evaluate("picture => picture.decode().then(() => picture.naturalWidth)") > 100
        assert (picture.get_attribute("alt") or "").startswith(("Predicted", "Errors", "Accuracy"))


def test_tables_sort_by_keyboard(watched: Watched) -> None:
    page = watched.page
    page.locator("table.errors thead th").nth(1).get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert names(page)[0] == "best"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_view_has_no_accessibility_violation(browser: Browser, report_path: Path, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(report_path.as_uri())
    found = Axe().run(page).response["violations"]
    context.close()
    assert [(rule["id"], [node["html"] for node in rule["nodes"][:3]]) for rule in found] == []


def test_a_phone_scrolls_tables_and_not_the_page(browser: Browser, report_path: Path) -> None:
    context = browser.new_context(viewport={"width": 375, "height": 700})
    page = context.new_page()
    page.goto(report_path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    context.close()


def test_in_print_the_tables_are_whole_and_without_controls(watched: Watched) -> None:
    page = watched.page
    page.emulate_media(media="print")
    expect(page.locator("#scores .tools").first).to_be_hidden()
    assert page.locator("#scores .scroll").first.evaluate("box => getComputedStyle(box).overflow") == "visible"
    page.emulate_media(media="screen")


def test_without_scripts_tables_and_pictures_are_there(browser: Browser, report_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report_path.as_uri())
    for shown in ("table.errors", "table.elements", "#scores img >> nth=0"):
        expect(page.locator(shown)).to_be_visible()
    context.close()


def test_speeds_and_scores_stand_in_tabs_and_the_choice_of_speeds_only_beside_them(
    context: BrowserContext, tmp_path: Path
) -> None:
    speeds = make_bundle(
        [make_result("ant", {"Resize": 1e-3}), make_result("ant", {"Resize": 1e-3}, scenario="image-gray")]
    )
    scores = load_bundle(commit_scores(tmp_path / "run", [make_scored("a"), make_scored("b", 1.0)]))
    path = tmp_path / "both.html"
    path.write_text(render(build_report([speeds, scores], Options())), encoding="utf-8")
    watched = Watched(context, path)
    page = watched.page
    assert page.get_by_role("tab").all_inner_texts() == ["Speed", "Pictures", "Noise", "Scores"]
    expect(page.locator("#part")).to_be_visible()
    page.get_by_role("tab", name="Scores").click()
    expect(page.locator("table.errors")).to_be_visible()
    expect(page.locator("#part")).to_be_hidden()
    expect(page.locator("#speed")).to_be_hidden()
    watched.check()


def test_markup_from_a_result_is_shown_as_text(context: BrowserContext, tmp_path: Path) -> None:
    found = [make_scored(HOSTILE), make_scored("Long" * 25, 1.0), not_scored("b", HOSTILE * 50)]
    path = tmp_path / "hostile.html"
    bundle = load_bundle(commit_scores(tmp_path / "run", found))
    path.write_text(render(build_report([bundle], Options())), encoding="utf-8")
    watched = Watched(context, path)
    page = watched.page
    expect(page.locator("table.errors tbody th").first).to_contain_text("<img src=x onerror=")
    assert page.title() == "Model scores: set"
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    watched.check()
