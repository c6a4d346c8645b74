"""The Markdown, read back by a Markdown parser: what a result file says can break no cell and no page."""

import pytest
from bench_core.results import Result, Status
from bench_report import markdown
from bench_report.report import Options, Report, build_report
from bench_report.table import Cell, Table
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.bench_report.factory import make_bundle, make_result, not_measured

HOSTILE = [
    "a|b",
    "`code`",
    "**bold** _it_ ~~gone~~",
    "line\nbreak\r\nand\ttab",
    "<script>alert(1)</script>",
    "<!-- results:end tables -->",
    "[link](http://example.com) ![image](x)",
    "back\\slash\\|",
    "&lt; &amp; &copy;",
    "# heading",
    "right\u202eto left\u200b\x00\x1b[31m",
    "line\u2028separator",
    "$math$ and $$more$$",
]


def report_of(*results: Result) -> Report:
    return build_report([make_bundle(results)], Options())


def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def grids(text: str) -> list[list[list[str]]]:
    """Every table of a document: rows of cells, as the reader sees their text."""
    found: list[list[list[str]]] = []
    inside = False
    for token in parsed(text):
        if token.type in ("table_open", "table_close"):
            inside = token.type == "table_open"
            found += [[]] * inside
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and inside:
            found[-1][-1].append("".join(child.content for child in token.children or ()))
    return found


def seen(text: str) -> str:
    """All text a reader sees, without markup."""
    inline = [token for token in parsed(text) if token.type == "inline"]
    return "\n".join("".join(child.content for child in token.children or ()) for token in inline)


def test_a_table_is_a_table_to_a_parser() -> None:
    report = report_of(make_result("ant", {"Resize": 1e-3, "Pad": 1e-3}), make_result("mole", {"Resize": 2e-3}))
    speed, ratio, environment = grids(markdown.render(report))
    assert [row[0] for row in speed] == [
        "transform",
        "Resize",
        "Pad",
        "no-op: the harness's own cost",
        "a plain copy of the item",
    ]
    assert [row[0] for row in ratio] == ["transform", "Resize", "Pad"]
    assert all(len(row) == 3 for row in (*speed, *ratio))
    assert environment[0] == ["property", "run-a"]
    assert all(len(row) == 2 for row in environment)


def test_columns_are_as_wide_in_the_source_as_their_widest_cell() -> None:
    table = Table("t", ("transform", "a 1"), (("Resize", (Cell("1", "0–2", strong=True),)), ("P", (Cell("–"),))))
    assert markdown.table_lines(table) == [
        "| transform |         a 1 |",
        "| --------- | ----------: |",
        "| Resize    | **1**\u00a0(0\u2060–\u20602) |",
        "| P         |           – |",
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_escaped_text_is_shown_and_not_obeyed(text: str) -> None:
    escaped = markdown.escape(text)
    assert "\n" not in escaped
    tokens = parsed(f"x {escaped}")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {child.type for child in tokens[1].children or ()} <= {"text", "text_special"}


def test_escaped_text_keeps_what_can_be_seen() -> None:
    assert seen(markdown.escape("a|b `c` <d> & \\e [f](g)")) == "a|b `c` <d> & \\e [f](g)"


def test_what_cannot_be_seen_is_gone() -> None:
    assert markdown.escape("a\u202eb\u200bc\x00d\x1be") == "a b c d e"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_messages_break_no_table(text: str) -> None:
    calm = grids(markdown.render(report_of(*with_text("calm"))))
    document = markdown.render(report_of(*with_text(text)))
    assert [[len(row) for row in grid] for grid in grids(document)] == [[len(row) for row in grid] for grid in calm]
    assert not [t for t in parsed(document) if t.type == "html_block"]
    inline = [child.type for t in parsed(document) if t.type == "inline" for child in t.children or ()]
    assert not {"html_inline", "link_open", "image", "code_inline", "s_open"} & set(inline)
    assert "<!--" not in document


def with_text(text: str) -> list[Result]:
    return [
        make_result("ant", {text: 1e-3, "B": not_measured(Status.ERROR, text)}, versions={"ant": text}),
        make_result("mole", {text: 2e-3, "B": 1e-3}),
    ]


def test_a_notice_stands_before_the_tables() -> None:
    one = make_bundle([make_result("ant", {"Resize": 1e-3})], "run-a")
    other = make_bundle([make_result("mole", {"Resize": 1e-3})], "run-b")
    text = markdown.render(build_report([one, other], Options()))
    assert "> **Note.** The columns come from different runs" in text
    assert text.index("> **Note.**") < text.index("| transform")


def test_every_footnote_number_in_a_table_is_explained_below() -> None:
    report = report_of(
        make_result("ant", {"A": not_measured(Status.CRASHED, "signal 11"), "B": 1e-3}),
        make_result("mole", {"A": 1e-3, "B": not_measured(Status.TIMEOUT, "120 s")}),
    )
    text = markdown.render(report)
    assert "crashed\u00a0¹" in text
    assert "- ¹ ant: crashed: signal 11" in text
    assert "timeout\u00a0²" in text
    assert "- ² mole: timeout: 120 s" in text


def test_the_summary_has_only_rows_that_compare_something() -> None:
    report = report_of(make_result("ant", {"Resize": 1e-3, "Pad": 1e-3}), make_result("mole", {"Resize": 2e-3}))
    (grid,) = grids(markdown.summary(report, "docs/results.md"))
    assert [row[0] for row in grid[1:-2]] == ["Resize"]
    assert "[docs/results.md](docs/results.md)" in markdown.summary(report, "docs/results.md")


def test_a_table_can_be_traced_to_its_run() -> None:
    report = report_of(make_result("ant", {"Resize": 1e-3}))
    for text in (markdown.render(report), markdown.summary(report, "x")):
        assert "run-a" in seen(text)
        assert "2026-12-01 05:00 UTC" in seen(text)
        assert "0123456789ab" in seen(text)
