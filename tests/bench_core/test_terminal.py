from bench_core.terminal import visible


def test_what_would_steer_a_terminal_is_spelt_out() -> None:
    assert visible("a\x1b[31m\x00\udcff\nb é") == "a\\x1b[31m\\x00\\udcff\nb é"


def test_a_space_at_which_no_line_is_broken_is_a_space() -> None:
    assert visible("95\u00a0%") == "95 %"


def test_what_would_flood_a_terminal_is_cut() -> None:
    assert visible("x" * 5000 + " end") == "x" * 1000 + "… end"


def test_a_long_text_of_short_words_stays_whole() -> None:
    assert visible("word " * 1000) == "word " * 1000
