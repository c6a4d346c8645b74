"""The page as text: what is in it, that it holds whatever a result says, and that it stays small."""

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from bench_core.bundle import load_bundle
from bench_core.results import Output, Result, Status
from bench_report import html, noise, pictures
from bench_report.html import PAGE_BYTES, render
from bench_report.report import Options, Report, build_report
from PIL import Image

from tests.bench_report.factory import commit_bundle, make_bundle, make_measurement, make_result, not_measured

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{ 7*7 }}"
RESULTS = (make_result("ant", {"Resize": 1e-3, "Blur": 1e-3}), make_result("mole", {"Resize": 2e-3}))


def page_of(*results: Result, **options: str) -> str:
    return render(build_report([make_bundle(results or RESULTS)], Options(**options)))


def data_of(page: str) -> list[dict[str, list[dict[str, list[object]]]]]:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


class Elements(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_it_says_what_was_measured_on_what_when_and_how_steady() -> None:
    page = page_of()
    for said in (
        "ant 1.2.3",
        "run-a, 2026-12-01 05:00 UTC",
        "Example CPU",
        "32\u00a0images of sample",
        "Process medians vary",
    ):
        assert said in page


def test_every_cell_of_the_table_is_there_with_its_interval_and_bar() -> None:
    page = page_of()
    report = build_report([make_bundle(RESULTS)], Options())
    for _, cells in report.parts[0].sheet.tables[0].rows:
        for cell in cells:
            assert cell.text in page
            assert (cell.interval or "") in page
    assert page.count("--v:") == 3 + 1  # three measured cells, and the legend's sample


def test_the_embedded_ratios_are_those_of_every_pair() -> None:
    results = [make_result(name, {"Resize": sec}) for name, sec in (("a", 1e-3), ("b", 2e-3), ("c", 3e-3))]
    (row,) = build_report([make_bundle(results)], Options()).parts[0].rows
    (part,) = data_of(page_of(*results))
    found = part["rows"][0]["ratios"]
    assert found[::4] == pytest.approx(
        [row.ratios[pair].ratio for pair in (("a", "b"), ("a", "c"), ("b", "c"))], rel=1e-4
    )
    assert part["rows"][0]["fastest"] == 0


def test_nothing_outside_the_page_is_named_to_be_loaded() -> None:
    for tag, attributes in Elements(page_of()).found:
        for name in ("src", "href", "action", "data", "srcset", "poster"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), tag
    assert "url(" not in html._resource("page.css")
    assert "@import" not in html._resource("page.css")


def test_the_page_forbids_itself_to_load_anything() -> None:
    policies = [a["content"] for _, a in Elements(page_of()).found if a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; img-src data:;")


@pytest.mark.parametrize("name", [HOSTILE, "x" * 5000, "\u202edevil", "<!--", "{% raw %}", "a\x00b"])
def test_names_and_messages_of_a_result_are_text(name: str) -> None:
    result = make_result(
        name, {name: 1e-3, "Resize": not_measured(Status.ERROR, name)}, versions={name: name}, scenario=name[:20]
    )
    harmless = make_result("ant", {"Blur": 1e-3, "Resize": not_measured(Status.ERROR, "x")}, versions={"ant": "1"})
    expected = [tag for tag, _ in Elements(page_of(harmless)).found]
    assert [tag for tag, _ in Elements(page_of(result)).found] == expected
    assert "\u202e" not in page_of(result)


def test_a_very_long_name_is_cut() -> None:
    page = page_of(make_result("ant", {"N" * 5000: 1e-3}))
    assert "N" * 61 not in page


def test_a_cell_without_a_number_says_why_on_it_and_in_the_legend() -> None:
    page = page_of(RESULTS[0], make_result("mole", {"Resize": not_measured(Status.ERROR, "it broke")}))
    assert page.count("mole: error: it broke") == 2
    assert 'title="not offered directly' not in page


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two libraries whose outputs differ by 100 levels, and one whose output is the first one's."""

    def output(library: str, digest: str) -> Output:
        return Output(
            shape=(8, 8, 3),
            dtype="uint8",
            minimum=0,
            maximum=255,
            contiguous=True,
            digest=digest,
            changed=True,
            thumbnail=f"{library}_Resize.png",
        )

    shades = {"ant": (50, "1" * 64), "mole": (150, "2" * 64), "newt": (50, "1" * 64)}
    results = [
        make_result(library, {"Resize": make_measurement(1e-3, seed=library, output=output(library, digest))})
        for library, (_, digest) in shades.items()
    ]
    images = {f"{library}_Resize.png": Image.new("RGB", (8, 8), (shade,) * 3) for library, (shade, _) in shades.items()}
    commit_bundle(make_bundle(results), tmp_path / "run")
    (tmp_path / "run" / "COMMITTED.json").unlink()
    folder = tmp_path / "run/outputs/image-rgb"
    folder.mkdir(parents=True)
    for name, image in {**images, "input.png": Image.new("RGB", (8, 8))}.items():
        image.save(folder / name)
    return commit_again(tmp_path / "run")


def commit_again(run: Path) -> Path:
    from bench_core.bundle import commit

    commit(run, "run-a", "2026-12-01T05:00:00+00:00")
    return run


def report_of(run: Path) -> Report:
    return build_report([load_bundle(run)], Options())


def galleries_of(run: Path, room: int = PAGE_BYTES) -> list[pictures.Gallery]:
    part = report_of(run).parts[0]
    return list(pictures.galleries(part.section, part.rows, pictures.Room(room)))


def test_pictures_stand_side_by_side_with_their_measured_difference(run: Path) -> None:
    (gallery,) = galleries_of(run)
    assert [picture.name for picture in gallery.pictures] == ["ant", "mole", "newt"]
    assert gallery.largest == 100
    assert gallery.notable
    assert gallery.pictures[0].same_as == ("newt",)
    assert gallery.pictures[0].differences == (("mole", "100"),)
    assert render(report_of(run)).count("data:image/webp;base64,") == 4


def test_outputs_of_different_shape_have_no_difference(run: Path) -> None:
    (gallery,) = galleries_of(run)
    output = report_of(run).parts[0].rows[0].cells["ant"].measurement.output
    assert output is not None
    other = msgspec.structs.replace(output, shape=(4, 8, 3), digest="3" * 64)
    assert pictures.difference(output, other, None, None) is None
    assert gallery.told.startswith("largest mean difference 100 of 255 levels, ant to mole")


def test_pictures_that_do_not_fit_are_left_out_and_counted(run: Path) -> None:
    part = report_of(run).parts[0]
    room = pictures.Room(10)
    (gallery,) = pictures.galleries(part.section, part.rows, room)
    assert gallery.pictures == ()
    assert gallery.largest == 100
    assert room.num_left_out == 1


@pytest.mark.parametrize("size", [None, (4000, 4000)])
def test_a_thumbnail_that_no_run_writes_is_not_shown(run: Path, size: tuple[int, int] | None) -> None:
    stream = io.BytesIO(b"<svg onload=alert(1)>")
    if size:
        Image.new("RGB", size).save(stream, "PNG")
    (run / "outputs/image-rgb/ant_Resize.png").write_bytes(stream.getvalue())
    (run / "COMMITTED.json").unlink()
    (gallery,) = galleries_of(commit_again(run))
    assert gallery.pictures[0].address is None
    assert gallery.pictures[1].address is not None


def test_a_picture_changed_after_the_run_was_read_is_refused(run: Path) -> None:
    report = report_of(run)
    (run / "outputs/image-rgb/ant_Resize.png").write_bytes(b"other")
    with pytest.raises(Exception, match=r"ant_Resize\.png: was changed"):
        render(report)


def test_noise_of_a_steady_and_of_an_unsteady_library_is_told_apart() -> None:
    results = (make_result("ant", {"Resize": 1e-3}, noise=0.005), make_result("mole", {"Resize": 1e-3}, noise=0.4))
    (part,) = build_report([make_bundle(results)], Options()).parts
    assert "1 of 2 cells vary by more than 10" in noise.summary(part.section, part.rows)
    steady = {line.library: line for line in noise.steadiness(part.section)}
    assert steady["ant"].unstable == "0 of 1"
    assert steady["mole"].unstable == "1 of 1"
    assert len(steady["ant"].copies) == 6
    assert steady["ant"].harness == "not recorded"


def test_what_the_harness_took_is_read_from_the_journal(tmp_path: Path) -> None:
    bundle = make_bundle(RESULTS)
    job = next(iter(bundle.results))
    lines = [{"kind": "header"}, *({"kind": "timed", "job": job, "harness_sec": sec} for sec in (0.01, 0.02, 0.03))]
    (tmp_path / "journal.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    bundle = msgspec.structs.replace(bundle, path=tmp_path, files={"journal.jsonl": ""})
    (part,) = build_report([bundle], Options()).parts
    assert [line.harness for line in noise.steadiness(part.section)] == ["20.0\u00a0ms", "not recorded"]


def test_one_process_has_no_variation_and_the_page_says_so() -> None:
    page = page_of(make_result("ant", {"Resize": make_measurement(1e-3, processes=1)}))
    assert "how much values vary is not known" in page
    assert "one round" in page
