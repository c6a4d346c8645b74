"""Numbers of scores for people."""

import pytest
from bench_report.scores.figures import probability, scored, signed

SPACE = "\u00a0"


@pytest.mark.parametrize(
    ("value", "low", "high", "text", "interval"),
    [
        (4.1812, 3.0071, 5.5642, "4.18", "3.01 to 5.56"),
        (38.54, 21.96, 38.54, "38.5", "22.0 to 38.5"),
        (0.99871, 0.99862, 0.99879, "0.9987", "0.9986 to 0.9988"),  # closed up at three digits
        (12345.6, None, None, f"12{SPACE}300", None),
        (3.2e-6, 3.1e-6, 3.4e-6, "3.20e-06", "3.10e-06 to 3.40e-06"),
        (0.0, 0.0, 0.0, "0.0000", "0.0000 to 0.0000"),
        (-0.5, -0.9, -0.1, "-0.500", "-0.900 to -0.100"),
    ],
)
def test_a_score_and_its_interval_stand_to_the_same_place(
    value: float, low: float | None, high: float | None, text: str, interval: str | None
) -> None:
    assert scored(value, low, high) == (text, interval)


@pytest.mark.parametrize(
    ("value", "low", "high", "text", "interval"),
    [
        (0.42, -0.26, 1.03, "+0.42", "-0.26 to +1.03"),
        (-0.0004, -1.2, 1.3, "0.00", "-1.20 to +1.30"),  # no minus zero
        (0.0, 0.0, 0.0, "0", None),
        (5.0, None, None, "+5.00", None),
        (-3e-7, -4e-7, -2e-7, "-3.00e-07", "-4.00e-07 to -2.00e-07"),
    ],
)
def test_a_difference_has_a_sign_and_the_place_of_its_interval(
    value: float, low: float | None, high: float | None, text: str, interval: str | None
) -> None:
    assert signed(value, low, high) == (text, interval)


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "1"), (0.6783, "0.68"), (0.018, "0.018"), (0.0007, "0.0007"), (1e-4, "0.0001")]
)
def test_a_p_value_has_as_many_digits_as_it_can_have(p: float, text: str) -> None:
    assert probability(p) == text
