"""What the checks of all families share: structures, the family's own calculator beside ours, refusals."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from ase import Atoms
from ase.build import bulk, fcc111, molecule
from ase.calculators.calculator import Calculator
from bench_core.errors import BenchError, ExitCode
from bench_score.model import Entry, Item, Model, Want
from bench_score.neighbours import neighbours
from bench_score.structure import Structure

ALL = Want(forces=True, stress=True)
SHEAR = np.array([[1.02, 0.01, 0.0], [0.0, 0.985, 0.02], [0.01, 0.0, 1.03]])
TOLERANCE = 1e-4  # eV, eV/angstrom, eV/angstrom^3; single precision


def entry(checkpoint: str | Path | None, **changed: Any) -> Entry:
    plain = Entry(label="mine", family="a-family", checkpoint=None if checkpoint is None else str(checkpoint))
    return replace(plain, **changed)


def four_structures() -> dict[str, Atoms]:
    """A small cell full of its own images, a strained crystal, a slab, a molecule without a cell; none at rest."""
    crystal = bulk("NaCl", "rocksalt", a=5.64)
    strained = bulk("Fe", "bcc", a=2.87, cubic=True)
    strained.set_cell(strained.cell.array @ SHEAR, True)
    found = {
        "crystal": crystal,
        "strained": strained,
        "slab": fcc111("Al", (2, 2, 3), vacuum=6.0),
        "molecule": molecule("CH3CH2OH"),
    }
    for seed, atoms in enumerate(found.values(), 1):
        atoms.rattle(0.05, seed=seed)
    return found


def item_of(atoms: Atoms, cutoff_angstrom: float) -> Item:
    structure = Structure(
        name=str(atoms.symbols),
        numbers=atoms.numbers.astype(np.int64),
        positions=atoms.positions.copy(),
        cell=atoms.cell.array.copy(),
        pbc=np.array(atoms.pbc),
    )
    return Item(structure, neighbours(structure, cutoff_angstrom))


def assert_like_calculator(
    model: Model, calculator: Calculator, prepared: Callable[[Atoms], Atoms] = lambda atoms: atoms
) -> None:
    """Energies, forces and stress of the four structures, predicted in one batch, are the calculator's.

    `prepared` makes of a structure what the calculator can be asked about.
    """
    structures = four_structures()
    cutoff = model.cutoff_angstrom
    assert cutoff is not None
    found = model.predict([item_of(atoms, cutoff) for atoms in structures.values()], ALL)
    for (name, atoms), prediction in zip(structures.items(), found, strict=True):
        own = prepared(atoms.copy())
        own.calc = calculator
        assert abs(prediction.energy - own.get_potential_energy()) < TOLERANCE, name
        forces = own.get_forces()
        assert np.abs(forces).max() > 0.05, f"{name} is at rest: it shows nothing"
        assert np.abs(prediction.forces - forces).max() < TOLERANCE, name
        if atoms.pbc.all():
            stress = np.asarray(own.get_stress(voigt=False)).reshape(-1)[[0, 4, 8, 5, 2, 1]]
            assert np.abs(stress).max() > 1e-3, f"{name} has no stress: it shows nothing"
            assert np.abs(prediction.stress - stress).max() < TOLERANCE, name
        else:
            assert prediction.stress is None, name


def refusal(action: Callable[[], Any], code: ExitCode) -> str:
    """The message with which `action` is refused."""
    try:
        action()
    except BenchError as error:
        assert error.code is code, error
        return str(error)
    raise AssertionError("nothing was refused")


class Malicious:
    """A pickle of this makes a file when it is opened in full."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@contextmanager
def no_connections() -> Iterator[list[Any]]:
    """Every connection that is tried is refused and listed."""
    tried: list[Any] = []

    def refuse(*args: Any, **kwargs: Any) -> Any:
        tried.append(args)
        raise OSError("refused")

    kept = (socket.socket.connect, socket.create_connection, socket.getaddrinfo)
    socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse  # type: ignore[method-assign]
    try:
        yield tried
    finally:
        socket.socket.connect, socket.create_connection, socket.getaddrinfo = kept  # type: ignore[method-assign]
