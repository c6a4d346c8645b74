"""Units of a table's columns, and what eV and angstrom are multiplied by to be in them."""

from bench_score.label_units import ENERGIES, FORCES, STRESSES

PER_ATOM = "/atom"
KNOWN = {"energy": ENERGIES, "forces": FORCES, "stress": STRESSES}
DEFAULT = {"energy": "eV", "forces": "eV/A", "stress": "eV/A^3"}


def unit_of(target: str, said: str | None, *, per_atom: bool) -> tuple[str, float]:
    """A target's unit as it stands in a column, and its factor. An energy's may be written with or without /atom."""
    name = (said or DEFAULT[target]).removesuffix(PER_ATOM)
    shown = f"{name}{PER_ATOM}" if target == "energy" and per_atom else name
    return shown, 1 / KNOWN[target][name]


def unit_of_metric(metric: str, unit: str, factor: float) -> tuple[str, float]:
    """Unit and factor of a metric of values in `unit`: squared for mse, none for r2."""
    if metric == "r2":
        return "", 1.0
    if metric == "mse":
        return f"({unit})^2", factor**2
    return unit, factor
