"""Charts: what they show, and the files they become."""

import re
from pathlib import Path

import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Status
from bench_report.figures import UNITS
from bench_report.plots import charts, draw, write_plots
from bench_report.report import Options, Report, build_report
from bench_report.styles import COLORS, MARKERS, styles

from tests.bench_report.factory import ENVIRONMENT, make_bundle, make_result, not_measured, with_conditions

UGLY = "$\\frac{$<b>&amp;\u202e\n日本 " + "x" * 200


def a_report(num_libraries: int = 2, num_transforms: int = 2, **options: object) -> Report:
    results = [
        make_result(f"lib{i}", {f"T{t}": 1e-3 * (i + t + 1) for t in range(num_transforms)})
        for i in range(num_libraries)
    ]
    return build_report([make_bundle(results)], Options(**options))


def texts(figure: object) -> list[str]:
    from matplotlib.text import Text

    return [found.get_text() for found in figure.findobj(Text)]  # type: ignore[attr-defined]


def test_a_section_becomes_two_charts_in_each_kind_of_file(tmp_path: Path) -> None:
    paths = write_plots(a_report(), ["svg", "png", "pdf"], tmp_path / "plots")
    stem = "image-rgb-micro-cpu"
    assert {path.name for path in paths} == {
        f"{stem}-{name}.{kind}" for name in ("speed", "throughput") for kind in ("svg", "png", "pdf")
    }
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert all(path.read_bytes().startswith(starts[path.suffix[1:]]) for path in paths)


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    one, other = (write_plots(a_report(), ["svg", "png", "pdf"], tmp_path / name) for name in ("a", "b"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]


def test_a_pdf_holds_its_fonts_as_truetype_and_an_svg_asks_for_none(tmp_path: Path) -> None:
    paths = {path.suffix: path.read_bytes() for path in write_plots(a_report(), ["svg", "pdf"], tmp_path)}
    assert b"/FontFile2" in paths[".pdf"]
    assert b"/Type3" not in paths[".pdf"]
    assert b"<text" not in paths[".svg"]
    assert b"font-family" not in paths[".svg"]


def test_axes_have_units_and_the_legend_names_every_library() -> None:
    report = a_report(num_libraries=3)
    speed, throughput = (
        draw(report.parts[0], chart, styles(["lib0", "lib1", "lib2"]))
        for chart in charts(report.parts[0], UNITS["img/s"], None)
    )
    assert speed.axes[0].get_xlabel() == "speed over the fastest of the row, log scale (right is faster)"
    assert throughput.axes[0].get_xlabel() == "img/s, log scale (right is faster)"
    assert speed.axes[0].get_xscale() == "log"
    legend = [text.get_text() for text in speed.legends[0].get_texts()]
    assert legend == ["lib0 1.2.3", "lib1 1.2.3", "lib2 1.2.3"]


def test_a_chosen_baseline_and_unit_reach_the_charts(tmp_path: Path) -> None:
    report = a_report(baseline="lib1", unit=UNITS["ms"])
    found = charts(report.parts[0], report.options.unit, "lib1")
    assert [chart.name for chart in found] == ["speed", "time"]
    assert "over lib1" in found[0].axis
    assert found[1].axis == "ms per image, log scale (left is faster)"


def test_points_are_the_ratios_of_the_table_and_a_cell_without_number_has_none() -> None:
    slow = not_measured(Status.SLOW, "slow")
    report = build_report(
        [
            make_bundle(
                [
                    make_result("ant", {"A": 1e-3, "B": 1e-3}),
                    make_result("mole", {"A": 2e-3, "B": slow}),
                ]
            )
        ],
        Options(),
    )
    (part,) = report.parts
    speed, throughput = charts(part, UNITS["img/s"], None)
    assert [row.transform for row in speed.rows] == ["A"]
    point, ratio = speed.point(speed.rows[0], "mole"), part.rows[0].cells["mole"].ratio
    assert point is not None
    assert ratio is not None
    assert (point.value, point.low, point.high) == (ratio.ratio, ratio.low, ratio.high)
    assert throughput.point(throughput.rows[1], "mole") is None


def test_one_library_has_a_throughput_chart_only(tmp_path: Path) -> None:
    (path,) = write_plots(a_report(num_libraries=1), ["png"], tmp_path)
    assert path.name.endswith("-throughput.png")


def test_nothing_measured_is_no_chart(tmp_path: Path) -> None:
    report = build_report([make_bundle([make_result("ant", {"A": not_measured(Status.ERROR, "no")})])], Options())
    assert write_plots(report, ["svg"], tmp_path) == []


def test_a_long_chart_is_continued_and_loses_no_transform(tmp_path: Path) -> None:
    paths = write_plots(a_report(num_libraries=4, num_transforms=30), ["svg"], tmp_path)
    speeds = [path.name for path in paths if "-speed" in path.name]
    assert speeds == ["image-rgb-micro-cpu-speed-1.svg", "image-rgb-micro-cpu-speed-2.svg"]


def test_names_from_a_result_are_never_formulas_and_never_paths(tmp_path: Path) -> None:
    results = [make_result(UGLY, {"$x$": 1e-3, UGLY: 1e-3}, scenario="../../up"), make_result("ant", {"$x$": 2e-3})]
    results[1] = make_result("ant", {"$x$": 2e-3}, scenario="../../up")
    report = build_report([make_bundle(results)], Options())
    paths = write_plots(report, ["svg", "png"], tmp_path / "plots")
    assert {path.parent for path in paths} == {tmp_path / "plots"}
    assert all(re.fullmatch(r"[\w.-]+", path.name) for path in paths)


def test_what_a_reader_has_to_know_stands_under_the_chart() -> None:
    results = [make_result("ant", {"A": 1e-3}), with_conditions(make_result("mole", {"A": 2e-3}), threads_asked=2)]
    bundle = make_bundle(results, environment={**ENVIRONMENT, "git_dirty": True})
    report = build_report([bundle], Options(allow_mixed=True))
    chart = charts(report.parts[0], UNITS["img/s"], None)[0]
    told = " ".join(texts(draw(report.parts[0], chart, styles(["ant", "mole"])))).replace("\n", " ")
    for part in ("different conditions", "uncommitted changes", "Run run-a", "threads asked for"):
        assert part in told


def test_unstable_marks_are_hollow_and_the_legend_says_so() -> None:
    results = [make_result("ant", {"A": 1e-3}, noise=0.4), make_result("mole", {"A": 2e-3})]
    (part,) = build_report([make_bundle(results)], Options()).parts
    figure = draw(part, charts(part, UNITS["img/s"], None)[1], styles(["ant", "mole"]))
    faces = {line.get_markerfacecolor() for line in figure.axes[0].lines if line.get_marker() not in ("None", "")}
    assert "white" in faces
    assert figure.legends[0].get_texts()[-1].get_text() == "hollow: unstable"


def test_many_libraries_differ_in_colour_and_mark_together() -> None:
    found = styles(f"lib{i}" for i in range(len(COLORS) * len(MARKERS)))
    assert len({(style.color, style.marker) for style in found.values()}) == len(found)
    few = list(styles("abcdefg").values())
    assert len({style.color for style in few}) == len({style.marker for style in few}) == 7


def test_an_unknown_kind_of_file_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"--plots.*'pgn'.*'png'"):
        write_plots(a_report(), ["svg", "pgn"], tmp_path / "plots")
    assert not (tmp_path / "plots").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "plots").write_text("a file")
    with pytest.raises(BenchError, match="cannot write") as caught:
        write_plots(a_report(), ["png"], tmp_path / "plots")
    assert caught.value.code == ExitCode.OUTPUT


def test_drawing_leaves_the_settings_of_others_alone(tmp_path: Path) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    write_plots(a_report(), ["svg"], tmp_path)
    assert dict(mpl.rcParams) == before
