"""Numbers for people."""

import pytest
from bench_report.figures import SPACE, UNITS, microseconds, milliseconds, number, percent, timing, with_interval


def spaced(text: str | None) -> str | None:
    return text.replace(SPACE, " ") if text else text


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (12_345, 11_870, 12_870, ("12 300", "11 900–12 900")),
        (998, 954, 1_042, ("998", "954–1 042")),
        (1_021, 987, 1_055, ("1 020", "990–1 060")),
        (57.62, 56.41, 59.84, ("57.6", "56.4–59.8")),
        (0.07756, 0.0756, 0.0797, ("0.0776", "0.0756–0.0797")),
        (1_234_567, 1_200_000, 1_300_000, ("1 230 000", "1 200 000–1 300 000")),
        (2.0, 1.0, 4.0, ("2.00", "1.00–4.00")),
    ],
)
def test_a_figure_has_three_digits_and_its_interval_ends_at_the_same_place(
    value: float, low: float, high: float, expected: tuple[str, str]
) -> None:
    text, interval = with_interval(value, low, high)
    assert (spaced(text), spaced(interval)) == expected


def test_an_interval_narrower_than_three_digits_is_not_shown_as_a_point() -> None:
    assert with_interval(1.0, 0.9996, 1.0004) == ("1.0000", "0.9996–1.0004")


def test_an_interval_of_no_width_ends() -> None:
    assert with_interval(1.0, 1.0, 1.0) == ("1.0000", "1.0000–1.0000")


def test_without_an_interval_there_is_only_the_figure() -> None:
    assert with_interval(123.4, None, None) == ("123", None)


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [(1_234_567, 0, "1 234 567"), (1_234_567, -4, "1 230 000"), (0.5, 2, "0.50"), (999.6, 0, "1 000"), (0, 2, "0.00")],
)
def test_thousands_are_set_apart(value: float, decimals: int, expected: str) -> None:
    assert spaced(number(value, decimals)) == expected


def test_a_rate_turns_its_interval_round() -> None:
    text, interval = timing(UNITS["img/s"], 1e-3, 0.9e-3, 1.1e-3)
    assert (spaced(text), spaced(interval)) == ("1 000", "910–1 110")


def test_a_time_keeps_its_interval() -> None:
    assert timing(UNITS["ms"], 1e-3, 0.9e-3, 1.1e-3) == ("1.00", "0.90–1.10")


def test_small_figures_carry_their_unit() -> None:
    assert spaced(milliseconds(0.1264)) == "126 ms"
    assert spaced(microseconds(3.1e-7)) == "0.310 µs"
    assert spaced(percent(0.123)) == "12 %"
    assert spaced(percent(0.0123)) == "1.2 %"
    assert spaced(percent(1.234)) == "123 %"
