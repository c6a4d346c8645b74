"""Aligned tables and wrapped sentences."""

from bench_core.tables import WIDTH, aligned, wrapped


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert aligned(("name", "n"), [("kornia", "5"), ("a", "100")], right=("n",)) == [
        "name      n",
        "kornia    5",
        "a       100",
    ]


def test_no_line_ends_in_blanks() -> None:
    assert aligned(("a", "b"), [("x", ""), ("longer", "y")]) == ["a       b", "x", "longer  y"]


def test_a_long_sentence_hangs_below_its_beginning() -> None:
    lines = wrapped("word " * 30, "  ")
    assert max(len(line) for line in lines) <= WIDTH
    assert lines[0].startswith("  word")
    assert lines[1].startswith("    word")


def test_a_path_is_not_broken() -> None:
    path = "/a-long/" + "x" * 100
    assert wrapped(f"see {path}", "")[-1].strip() == path
