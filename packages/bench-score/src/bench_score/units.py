"""Units of a table's columns, and what eV and angstrom are multiplied by to be in them."""

from collections.abc import Mapping

from bench_core.metrics import is_built_in

from bench_score.label_units import ENERGIES, FORCES, STRESSES

PER_ATOM = "/atom"
KNOWN = {"energy": ENERGIES, "forces": FORCES, "stress": STRESSES}
DEFAULT = {"energy": "eV", "forces": "eV/A", "stress": "eV/A^3"}


def unit_of(target: str, said: str | None, *, per_atom: bool) -> tuple[str, float]:
    """A target's unit as it stands in a column, and its factor. An energy's may be written with or without /atom."""
    name = (said or DEFAULT[target]).removesuffix(PER_ATOM)
    shown = f"{name}{PER_ATOM}" if target == "energy" and per_atom else name
    return shown, 1 / KNOWN[target][name]


def unit_of_column(
    target: str, metric: str, said: str | None, own: Mapping[str, str | None], *, per_atom: bool
) -> tuple[str, float]:
    """Unit of one metric of a target, and the factor of its value.

    `own` are the metrics of the configuration that are no built-in ones, with the unit that each says, if any: a
    function of values that are multiplied already, so its factor is 1.
    """
    unit, factor = unit_of(target, said, per_atom=per_atom)
    if is_built_in(metric):
        return unit_of_metric(metric, unit, factor)
    own_unit = own.get(metric)
    return (unit if own_unit is None else own_unit), 1.0


def unit_of_metric(metric: str, unit: str, factor: float) -> tuple[str, float]:
    """Unit and factor of a built-in metric of values in `unit`: squared for mse, none for r2."""
    if metric == "r2":
        return "", 1.0
    if metric == "mse":
        return f"({unit})^2", factor**2
    return unit, factor
