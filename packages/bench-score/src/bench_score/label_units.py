"""Units that a file's labels may be in, and what to multiply them with to get ours: eV, eV/angstrom, eV/angstrom^3."""

from collections.abc import Mapping
from dataclasses import dataclass

from ase import units
from bench_core.errors import BenchError
from bench_core.suggest import unknown

ENERGIES = {
    "eV": units.eV,
    "meV": 1e-3 * units.eV,
    "kcal/mol": units.kcal / units.mol,
    "kJ/mol": units.kJ / units.mol,
    "hartree": units.Hartree,
    "Ry": units.Rydberg,
}
LENGTHS = {"A": units.Angstrom, "bohr": units.Bohr}
FORCES = {f"{energy}/{length}": ENERGIES[energy] / LENGTHS[length] for energy in ENERGIES for length in LENGTHS}
STRESSES = {
    "eV/A^3": 1.0,
    "GPa": units.GPa,
    "kbar": 1e3 * units.bar,
    "bar": units.bar,
    "hartree/bohr^3": units.Hartree / units.Bohr**3,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelUnits:
    """What the numbers of a file mean. `stress_sign` is 1 where tension is positive (ASE), -1 where pressure is.

    Raises:
        BenchError: an unknown unit or sign.
    """

    energy: str = "eV"
    forces: str = "eV/A"
    stress: str = "eV/A^3"
    stress_sign: int = 1

    def __post_init__(self) -> None:
        _check("energy", self.energy, ENERGIES)
        _check("forces", self.forces, FORCES)
        _check("stress", self.stress, STRESSES)
        if self.stress_sign not in (1, -1):
            raise BenchError(
                f"data: stress_sign is {self.stress_sign!r}; write 1 where tension is positive, as ASE has it, "
                "or -1 where pressure is"
            )

    @property
    def to_ev(self) -> float:
        return ENERGIES[self.energy]

    @property
    def to_ev_per_angstrom(self) -> float:
        return FORCES[self.forces]

    @property
    def to_ev_per_angstrom3(self) -> float:
        """The sign included."""
        return self.stress_sign * STRESSES[self.stress]


def _check(what: str, unit: str, known: Mapping[str, float]) -> None:
    if unit not in known:
        raise unknown(f"unit of {what}", unit, known, source="data")


EV_ANGSTROM = LabelUnits()
