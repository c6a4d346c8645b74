"""Units of columns, and the factors that belong to them."""

from collections.abc import Mapping

import pytest
from ase import units
from bench_score.units import unit_of, unit_of_column, unit_of_metric


@pytest.mark.parametrize(
    ("target", "said", "per_atom", "unit", "factor"),
    [
        ("energy", None, True, "eV/atom", 1),
        ("energy", None, False, "eV", 1),
        ("energy", "meV", True, "meV/atom", 1000),
        ("energy", "meV/atom", True, "meV/atom", 1000),
        ("energy", "kcal/mol", False, "kcal/mol", units.mol / units.kcal),
        ("energy", "hartree", False, "hartree", 1 / 27.211386),
        ("forces", None, True, "eV/A", 1),
        ("forces", "meV/A", True, "meV/A", 1000),
        ("forces", "hartree/bohr", True, "hartree/bohr", 0.529177 / 27.211386),
        ("stress", None, True, "eV/A^3", 1),
        ("stress", "GPa", True, "GPa", 160.21766),
        ("stress", "kbar", True, "kbar", 1602.1766),
    ],
)
def test_a_unit_has_the_factor_that_one_looks_up(
    target: str, said: str | None, per_atom: bool, unit: str, factor: float
) -> None:
    found = unit_of(target, said, per_atom=per_atom)
    assert found[0] == unit
    assert found[1] == pytest.approx(factor, rel=1e-6)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("mae", ("meV", 1e3)),
        ("q95", ("meV", 1e3)),
        ("max_abs", ("meV", 1e3)),
        ("r2", ("", 1)),
        ("mse", ("(meV)^2", 1e6)),
    ],
)
def test_a_squared_error_has_a_squared_unit_and_r2_has_none(metric: str, expected: tuple[str, float]) -> None:
    assert unit_of_metric(metric, "meV", 1e3) == expected


@pytest.mark.parametrize(
    ("own", "unit"), [({}, "meV/atom"), ({"mine": None}, "meV/atom"), ({"mine": ""}, ""), ({"mine": "%"}, "%")]
)
def test_a_metric_of_ones_own_may_say_its_unit_and_is_multiplied_by_nothing(
    own: Mapping[str, str | None], unit: str
) -> None:
    assert unit_of_column("energy", "mine", "meV", own, per_atom=True) == (unit, 1.0)
