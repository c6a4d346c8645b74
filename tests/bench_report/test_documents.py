"""Blocks between markers: replaced, idempotent, and a wrong marker is named."""

from pathlib import Path

import pytest
from bench_core.errors import BenchError
from bench_report.documents import BLOCKS, DETAILS, blocks, outdated_blocks, replace_blocks, update_documents
from bench_report.report import Options, Report, build_report

from tests.bench_report.factory import make_bundle, make_result

BEGIN, END = "<!-- results:begin tables -->", "<!-- results:end tables -->"
HERE = Path("docs/x.md")


def a_report(sec: float = 1e-3) -> Report:
    return build_report(
        [make_bundle([make_result("ant", {"Resize": sec}), make_result("mole", {"Resize": 2e-3})])], Options()
    )


def a_checkout(root: Path) -> Path:
    (root / "docs").mkdir()
    (root / "README.md").write_text(
        "# Title\n\n<!-- results:begin summary -->\noutdated\n<!-- results:end summary -->\n\nA person's words.\n"
    )
    (root / DETAILS).write_text(f"Before.\n\n{BEGIN}\n{END}\nAfter, on the same day.\n")
    return root


def test_only_what_stands_between_markers_changes() -> None:
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert replace_blocks(text, {"tables": "new\n"}, HERE) == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"


def test_replacing_twice_is_replacing_once() -> None:
    once = replace_blocks(f"a\n{BEGIN}{END}\nb", {"tables": "| x |\n"}, HERE)
    assert replace_blocks(once, {"tables": "| x |\n"}, HERE) == once


def test_several_blocks_of_a_document_are_replaced_each() -> None:
    text = f"{BEGIN}\n{END}\n--\n<!-- results:begin summary -->\n<!-- results:end summary -->\n"
    found = replace_blocks(text, {"summary": "S", "tables": "T"}, HERE)
    assert found == f"{BEGIN}\n\nT\n\n{END}\n--\n<!-- results:begin summary -->\n\nS\n\n<!-- results:end summary -->\n"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("nothing here", "<!-- results:begin tables --> is missing"),
        (f"{BEGIN}\nno end", "has no <!-- results:end tables -->"),
        (f"no begin\n{END}", "ends what was not begun"),
        (f"{END}\n{BEGIN}", "ends what was not begun"),
        (f"{BEGIN}\n{BEGIN}\n{END}", "is not ended"),
        (f"{BEGIN}\n{END}\n{BEGIN}\n{END}", "is there twice"),
        (f"{BEGIN}\n<!-- results:end other -->", "ends what was not begun"),
        (f"{BEGIN}\n{END}\n<!-- results:begin taples -->\n<!-- results:end taples -->", "nothing is made for"),
    ],
)
def test_a_wrong_marker_is_named_with_its_file(text: str, named: str) -> None:
    with pytest.raises(BenchError) as caught:
        replace_blocks(text, {"tables": "x"}, HERE)
    assert named in str(caught.value)
    assert str(HERE) in str(caught.value)


def test_documents_are_updated_and_a_second_time_nothing_changes(tmp_path: Path) -> None:
    root = a_checkout(tmp_path)
    assert update_documents(root, a_report()) == [root / "README.md", root / DETAILS]
    readme = (root / "README.md").read_text()
    assert "| Resize" in readme
    assert "outdated" not in readme
    assert readme.endswith("A person's words.\n")
    assert (root / DETAILS).read_text().endswith("After, on the same day.\n")
    assert update_documents(root, a_report()) == []
    assert update_documents(root, a_report(3e-3)) == [root / "README.md", root / DETAILS]


def test_no_document_changes_when_another_is_wrong(tmp_path: Path) -> None:
    root = a_checkout(tmp_path)
    (root / DETAILS).write_text("no marker")
    before = (root / "README.md").read_text()
    with pytest.raises(BenchError, match=r"docs/results\.md.*results:begin tables"):
        update_documents(root, a_report())
    assert (root / "README.md").read_text() == before


def test_a_document_that_is_not_there_is_named(tmp_path: Path) -> None:
    root = a_checkout(tmp_path)
    (root / "README.md").unlink()
    with pytest.raises(BenchError, match=r"README\.md: no such document"):
        update_documents(root, a_report())


def test_the_documents_of_this_repository_have_their_markers() -> None:
    root = Path(__file__).parents[2]
    for name, contents in blocks(a_report()).items():
        replace_blocks((root / name).read_text(encoding="utf-8"), contents, root / name, BLOCKS[name])


def test_outdated_blocks_are_named_and_current_ones_are_not(tmp_path: Path) -> None:
    root = a_checkout(tmp_path)
    both = ["README.md: <!-- results:begin summary -->", f"{DETAILS}: {BEGIN}"]
    assert outdated_blocks(root, a_report()) == both
    update_documents(root, a_report())
    assert outdated_blocks(root, a_report()) == []
    assert outdated_blocks(root, a_report(3e-3)) == both
    readme = root / "README.md"
    readme.write_text(readme.read_text().replace("A person's words.", "Other words."))
    assert outdated_blocks(root, a_report()) == []
    readme.write_text(readme.read_text().replace("| Resize", "| Resise"))
    assert outdated_blocks(root, a_report()) == both[:1]


def test_the_details_hold_the_environment_and_the_geometric_mean(tmp_path: Path) -> None:
    root = a_checkout(tmp_path)
    update_documents(root, a_report())
    details = (root / DETAILS).read_text()
    assert "## Environment" in details
    assert "Example CPU" in details
    assert "Geometric mean of speed over ant" in details
    assert "Geometric mean of speed over ant" in (root / "README.md").read_text()
