"""The page in a real browser: what a reader does with it, by mouse and keyboard, without a network."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from bench_core.bundle import COMMITTED, commit, load_bundle
from bench_core.results import Measurement, Output, Result, Status
from bench_report.figures import UNITS
from bench_report.html import render
from bench_report.report import Options, build_report
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.bench_report.browser import Watched
from tests.bench_report.factory import commit_bundle, make_bundle, make_measurement, make_result, not_measured

SHADES = {"ant": 50, "mole": 150}
HOSTILE = "<img src=x onerror=document.title='broken'></script><b>bold"


def results() -> list[Result]:
    def measured(library: str, transform: str, sec: float) -> Measurement:
        output = Output(
            shape=(8, 8, 3),
            dtype="uint8",
            minimum=0,
            maximum=255,
            contiguous=True,
            digest=str(SHADES[library]),
            changed=True,
            thumbnail=f"{library}_{transform}.png",
        )
        return make_measurement(sec, seed=f"{library} {transform}", output=output)

    return [
        make_result(
            "ant",
            {
                "Resize": measured("ant", "Resize", 1e-3),
                "Blur": measured("ant", "Blur", 3e-3),
                "Invert": measured("ant", "Invert", 1e-4),
            },
        ),
        make_result(
            "mole",
            {
                "Resize": measured("mole", "Resize", 2e-3),
                "Blur": measured("mole", "Blur", 1e-3),
                "Invert": not_measured(Status.ERROR, "it broke"),
            },
        ),
    ]


@pytest.fixture(scope="module")
def report_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a run with outputs."""
    folder = tmp_path_factory.mktemp("page")
    run = commit_bundle(make_bundle(results()), folder / "run")
    (run / COMMITTED).unlink()
    outputs = run / "outputs/image-rgb"
    outputs.mkdir(parents=True)
    Image.new("RGB", (8, 8)).save(outputs / "input.png")
    for library, shade in SHADES.items():
        for transform in ("Resize", "Blur", "Invert"):
            Image.new("RGB", (8, 8), (shade,) * 3).save(outputs / f"{library}_{transform}.png")
    commit(run, "run-a", "2026-12-01T05:00:00+00:00")
    path = folder / "results.html"
    path.write_text(render(build_report([load_bundle(run)], Options())), encoding="utf-8")
    return path


@pytest.fixture
def watched(context: BrowserContext, report_path: Path) -> Iterator[Watched]:
    opened = Watched(context, report_path)
    yield opened
    opened.check()


def names(page: Page, table: str = ".speed") -> list[str]:
    return page.locator(f"{table} tbody tr:visible th").all_inner_texts()


def test_a_column_sorts_fastest_first_then_slowest_first_with_what_has_no_number_last(watched: Watched) -> None:
    page = watched.page
    head = page.locator(".speed thead th").nth(2)
    head.get_by_role("button").click()
    assert names(page) == ["Blur", "Resize", "Invert"]
    expect(head).to_have_attribute("aria-sort", "descending")
    head.get_by_role("button").click()
    assert names(page) == ["Resize", "Blur", "Invert"]
    expect(head).to_have_attribute("aria-sort", "ascending")
    page.locator(".speed thead th").first.get_by_role("button").click()
    assert names(page) == ["Blur", "Invert", "Resize"]


def test_search_and_only_comparable_rows_filter(watched: Watched) -> None:
    page = watched.page
    page.locator("#speed .search").fill("RES")
    assert names(page) == ["Resize"]
    expect(page.locator("#speed .count")).to_have_text("1 of 3 transforms")
    page.locator("#speed .search").fill("")
    page.locator(".comparable").check()
    assert names(page) == ["Resize", "Blur"]


def test_a_chosen_baseline_changes_every_ratio_and_its_verdict(watched: Watched) -> None:
    page = watched.page
    ratios = page.locator(".speed tbody tr").first.locator(".ratio")
    expect(ratios.nth(0)).to_have_text("1× baseline")
    expect(ratios.nth(1)).to_have_text(re.compile(r"▼ 0\.\d+× \("))
    page.locator(".baseline").select_option(label="mole")
    expect(ratios.nth(0)).to_contain_text("▲ ")
    expect(ratios.nth(1)).to_have_text("1× baseline")
    expect(page.locator(".speed tbody tr").nth(2).locator(".ratio")).to_have_text(["alone"])


def test_the_shown_ratio_is_that_of_the_report(watched: Watched) -> None:
    part = build_report([make_bundle(results())], Options(baseline="mole")).parts[0]
    _, cells = part.sheet.tables[1].rows[0]
    watched.page.locator(".baseline").select_option(label="mole")
    shown = watched.page.locator(".speed tbody .ratio").first.inner_text()
    assert shown == f"▲ {cells[0].text} ({cells[0].interval})"


def test_columns_sort_by_the_ratio_when_asked(watched: Watched) -> None:
    page = watched.page
    page.locator(".baseline").select_option(label="mole")
    page.locator("#speed .key").select_option("ratio")
    page.locator(".speed thead th").nth(1).get_by_role("button").click()
    assert names(page) == ["Resize", "Blur", "Invert"]


def test_pictures_of_input_and_libraries_are_seen_with_their_difference(watched: Watched) -> None:
    page = watched.page
    page.get_by_role("tab", name="Pictures").click()
    gallery = page.locator(".gallery").first
    assert [name.strip() for name in gallery.locator("figcaption b").all_inner_texts()] == ["input", "ant", "mole"]
    expect(gallery).to_contain_text("largest mean difference 100 of 255 levels")
    for picture in gallery.locator("img").all():
        assert picture.evaluate("picture => picture.decode().then(() => picture.naturalWidth)") == 8
    page.locator("#pictures .search").fill("blur")
    expect(page.locator(".gallery:visible")).to_have_count(1)


def test_noise_shows_a_dot_for_every_round(watched: Watched) -> None:
    page = watched.page
    page.get_by_role("tab", name="Noise").click()
    cell = page.locator(".noise tbody tr").first.locator("td").first
    expect(cell.locator("circle")).to_have_count(6)
    expect(page.locator(".copy-strip svg")).to_have_count(2)


def test_views_are_reached_and_columns_sorted_by_keyboard(watched: Watched) -> None:
    page = watched.page
    page.get_by_role("tab", name="Speed").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Pictures")).to_be_focused()
    expect(page.locator("#pictures")).to_be_visible()
    expect(page.locator("#speed")).to_be_hidden()
    page.keyboard.press("Home")
    page.locator(".speed thead th").nth(1).get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert names(page)[0] == "Invert"


def test_a_reason_is_on_its_cell_and_at_the_end_of_its_link(watched: Watched) -> None:
    page = watched.page
    cell = page.locator(".speed tbody tr").nth(2).locator("td").nth(1)
    expect(cell.locator("span[title]").first).to_have_attribute("title", "mole: error: it broke")
    cell.get_by_role("link").click()
    expect(page.locator("li:target")).to_have_text("mole: error: it broke")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["Speed", "Pictures", "Noise"])
def test_no_view_has_an_accessibility_violation(browser: Browser, report_path: Path, view: str, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(report_path.as_uri())
    page.get_by_role("tab", name=view).click()
    found = Axe().run(page).response["violations"]
    context.close()
    assert [(rule["id"], [node["html"] for node in rule["nodes"][:3]]) for rule in found] == []


def test_a_phone_scrolls_the_table_and_not_the_page(browser: Browser, report_path: Path) -> None:
    context = browser.new_context(viewport={"width": 375, "height": 700})
    page = context.new_page()
    page.goto(report_path.as_uri())
    for view in ("Speed", "Pictures", "Noise"):
        page.get_by_role("tab", name=view).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
    context.close()


@pytest.mark.parametrize(
    ("start", "other", "title"), [("img/s", "ms", "Time, ms"), ("ms", "img/s", "Throughput, img/s")]
)
def test_a_chosen_unit_shows_what_a_report_in_that_unit_shows(
    context: BrowserContext, tmp_path: Path, start: str, other: str, title: str
) -> None:
    def shown(page: Page) -> list[list[str]]:
        rows = page.locator(".speed tr:has(td)").all()
        return [[" ".join(cell.inner_text().split()) for cell in row.locator("td").all()] for row in rows]

    path = tmp_path / "results.html"
    pages = {}
    for unit in (start, other):
        report = build_report([make_bundle(results())], Options(unit=UNITS[unit], baseline="ant"))
        path.write_text(render(report), encoding="utf-8")
        watched = Watched(context, path)
        if unit == start:
            watched.page.locator(".unit").select_option(other)
            expect(watched.page.locator("#speed h3")).to_contain_text(title)
        pages[unit] = shown(watched.page)
        watched.check()
    assert pages[start] == pages[other]
    assert len(pages[start]) == 5


def test_a_unit_that_is_chosen_and_left_again_changes_nothing(watched: Watched) -> None:
    table = watched.page.locator(".speed")
    before = table.inner_text()
    watched.page.locator(".unit").select_option("ms")
    assert table.inner_text() != before
    watched.page.locator(".unit").select_option("img/s")
    assert table.inner_text() == before


def test_in_print_every_view_is_there(context: BrowserContext, tmp_path: Path) -> None:
    path = tmp_path / "two.html"
    found = [*results(), make_result("ant", {"Resize": 1e-3}, scenario="image-gray")]
    path.write_text(render(build_report([make_bundle(found)], Options())), encoding="utf-8")
    watched = Watched(context, path)
    page = watched.page
    page.emulate_media(media="print")
    assert page.pdf().startswith(b"%PDF")  # so that the page hears that it is printed
    for view, table in (("speed", ".speed"), ("pictures", ".gallery"), ("noise", ".noise")):
        expect(page.locator(f"#{view} .panel-title")).to_be_visible()
        assert page.locator(f"#{view} .part:visible").count() == 2
        expect(page.locator(f"#{view} {table}").first).to_be_visible()
    expect(page.locator(".noise tbody circle").first).to_be_visible()
    watched.check()


def test_in_print_the_whole_table_is_there_without_its_controls(watched: Watched) -> None:
    page = watched.page
    page.emulate_media(media="print")
    expect(page.locator("#speed .tools")).to_be_hidden()
    assert page.locator("#speed .scroll").evaluate("box => getComputedStyle(box).overflow") == "visible"
    page.emulate_media(media="screen")


def test_without_scripts_every_panel_is_readable(browser: Browser, report_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report_path.as_uri())
    for panel in ("#speed table", "#pictures .gallery >> nth=0", "#noise .noise"):
        expect(page.locator(panel)).to_be_visible()
    context.close()


def test_markup_and_a_very_long_name_from_a_result_are_shown_as_text(context: BrowserContext, tmp_path: Path) -> None:
    long = "Long" * 2000
    found = [
        make_result(HOSTILE, {HOSTILE: 1e-3, long: 1e-3}, versions={HOSTILE: HOSTILE}),
        make_result("mole", {HOSTILE: not_measured(Status.ERROR, HOSTILE * 50)}),
    ]
    path = tmp_path / "hostile.html"
    path.write_text(render(build_report([make_bundle(found, HOSTILE)], Options())), encoding="utf-8")
    watched = Watched(context, path)
    page = watched.page
    expect(page.locator(".speed tbody th").first).to_contain_text("<img src=x onerror=")
    assert page.title() == "Augmentation speed: image-rgb"
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    watched.page.get_by_role("tab", name="Noise").click()
    watched.check()


def test_several_tables_are_chosen_from_those_that_exist(context: BrowserContext, tmp_path: Path) -> None:
    found = [make_result("ant", {"Resize": 1e-3}), make_result("ant", {"Resize": 1e-3}, scenario="image-gray")]
    path = tmp_path / "two.html"
    path.write_text(render(build_report([make_bundle(found)], Options())), encoding="utf-8")
    watched = Watched(context, path)
    page = watched.page
    assert page.locator("#part option").all_inner_texts() == ["image-rgb, micro, cpu", "image-gray, micro, cpu"]
    page.locator("#part").select_option(index=1)
    expect(page.locator("#speed .part:visible h3")).to_contain_text(["image-gray"])
    watched.check()
