"""Numbers of scores for people: as `bench_report.figures`, and with an exponent where a plain number is unreadable."""

from bench_report.figures import DIGITS, MAX_DIGITS, decimals_of, number, with_interval

SMALLEST, LARGEST = 1e-4, 1e7  # beyond these a plain number is a row of zeros
TO = " to "


def scored(value: float, low: float | None, high: float | None) -> tuple[str, str | None]:
    """A score and its interval."""
    if value and not SMALLEST <= abs(value) < LARGEST:
        return f"{value:.2e}", None if low is None or high is None else f"{low:.2e}{TO}{high:.2e}"
    text, interval = with_interval(value, low, high)
    return text, interval.replace("–", TO) if interval else None


def signed(value: float, low: float | None, high: float | None) -> tuple[str, str | None]:
    """A difference with its sign, and its interval to the same place; none at all is 0."""
    if value == 0 and not low and not high:
        return "0", None
    if value and not SMALLEST <= abs(value) < LARGEST:
        return f"{value:+.2e}", None if low is None or high is None else f"{low:+.2e}{TO}{high:+.2e}"
    if low is None or high is None:
        return _plus(value, decimals_of(value)), None
    # To the place of the larger end: a difference near zero would be shown to a place that means nothing.
    for digits in range(DIGITS, MAX_DIGITS + 1):
        decimals = decimals_of(max(abs(low), abs(high)), digits)
        if round(low, decimals) != round(high, decimals):
            break
    return _plus(value, decimals), f"{_plus(low, decimals)}{TO}{_plus(high, decimals)}"


def probability(p_value: float) -> str:
    """A p-value, to two significant digits; to one where it is as small as flips in thousands can tell."""
    return f"{p_value:.1g}" if p_value < 0.001 else f"{p_value:.2g}"


def _plus(value: float, decimals: int) -> str:
    rounded = round(value, decimals)
    if rounded == 0:
        return number(0.0, decimals)
    return f"{'+' if rounded > 0 else '-'}{number(abs(rounded), decimals)}"
