"""Numbers for people: three significant digits, an interval to the same place, thousands set apart."""

import math
from collections.abc import Callable

import msgspec

SPACE = "\u00a0"  # between thousands and before a unit: a cell does not break there
DIGITS = 3
MAX_DIGITS = 5


class Unit(msgspec.Struct, frozen=True):
    """How a time per item is shown: `of_sec` converts it; a larger value is better where `rate` is set."""

    name: str
    rate: bool
    of_sec: Callable[[float], float]

    @property
    def title(self) -> str:
        """What a table in this unit shows."""
        return f"{'Throughput' if self.rate else 'Time'}, {self.name}"


UNITS = {
    "img/s": Unit("img/s", True, lambda sec: 1 / sec),
    "ms": Unit("ms per image", False, lambda sec: sec * 1e3),
}
DEFAULT_UNIT = "img/s"


def decimals_of(value: float, digits: int = DIGITS) -> int:
    """How many decimals show `value` to so many significant digits; negative is tens, hundreds and so on."""
    return digits - 1 - math.floor(math.log10(abs(value))) if value else digits - 1


def number(value: float, decimals: int) -> str:
    """`value` rounded to a place, with its thousands set apart."""
    return f"{round(value, decimals):,.{max(decimals, 0)}f}".replace(",", SPACE)


def with_interval(value: float, low: float | None, high: float | None) -> tuple[str, str | None]:
    """A figure and its interval "low–high", to the same place: that of the figure's third significant digit.

    An interval that would close up at that place is shown to a finer one.
    """
    if low is None or high is None:
        return number(value, decimals_of(value)), None
    for digits in range(DIGITS, MAX_DIGITS + 1):
        decimals = decimals_of(value, digits)
        if round(low, decimals) != round(high, decimals):
            break
    return number(value, decimals), f"{number(low, decimals)}–{number(high, decimals)}"


def timing(unit: Unit, sec: float, low_sec: float | None, high_sec: float | None) -> tuple[str, str | None]:
    """Seconds per item in a unit, with their interval."""
    ends = [unit.of_sec(end) for end in (low_sec, high_sec) if end is not None]
    low, high = (min(ends), max(ends)) if len(ends) == 2 else (None, None)
    return with_interval(unit.of_sec(sec), low, high)


def percent(share: float) -> str:
    """A share as a percentage, to two significant digits."""
    return f"{number(share * 100, max(decimals_of(share * 100, 2), 0))}{SPACE}%"


def variation(share: float) -> str:
    """A coefficient of variation, to one decimal: over a limit of 10 % it may be 10.2 %."""
    return f"{number(share * 100, 1)}{SPACE}%"


def microseconds(sec: float) -> str:
    return f"{number(sec * 1e6, decimals_of(sec * 1e6))}{SPACE}µs"


def milliseconds(sec: float) -> str:
    return f"{number(sec * 1e3, decimals_of(sec * 1e3))}{SPACE}ms"
