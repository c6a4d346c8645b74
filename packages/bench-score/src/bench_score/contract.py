"""The contract every family of models keeps, checked where it is installed: `python -m bench_score.contract FAMILY`.

One JSON line for each check of one loaded model; ends with 1 when anything is violated. Needs no data: the structures
are made of elements that the model knows. Whoever adds a family can run it.
"""

import argparse
import gc
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from ase import Atoms
from ase.build import bulk, fcc111
from ase.data import chemical_symbols, covalent_radii
from bench_core.errors import BenchError, ExitCode

from bench_score.model import Entry, Family, Item, Model, Prediction, Want
from bench_score.neighbours import neighbours
from bench_score.registry import find_family
from bench_score.structure import VOIGT, Floats, Structure

ALL = Want(forces=True, stress=True)
# What single precision and another order of sums may change.
ENERGY_EV_PER_ATOM = 2e-5
FORCES_EV_PER_ANGSTROM = 1e-3
STRESS_EV_PER_ANGSTROM3 = 1e-4
# Finite differences: their steps, and what rounding and the next order may leave, absolute and of the largest value.
STEP_ANGSTROM = 0.005
STRAIN = 0.002
SLOPE_FORCES = (0.01, 0.02)
SLOPE_STRESS = (0.001, 0.02)
# A structure of few elements is made of the first ones of these that the model knows.
PREFERRED = (13, 8, 29, 14, 6, 1)
# Strains a crystal so that no direction of it is like another.
SHEAR = np.array([[1.02, 0.04, 0.0], [0.0, 0.97, 0.05], [0.03, 0.0, 1.01]])


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one check found wrong, as sentences."""

    check: str
    violations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """A model and the structures it is asked about."""

    family: Family
    model: Model
    structures: tuple[Structure, ...]

    def ask(self, structures: Sequence[Structure], want: Want = ALL) -> list[Prediction]:
        cutoff = self.model.cutoff_angstrom
        lists = [None if cutoff is None else neighbours(structure, cutoff) for structure in structures]
        return self.model.predict([Item(*pair) for pair in zip(structures, lists, strict=True)], want)

    def energy(self, structure: Structure) -> float:
        return self.ask([structure], Want(forces=False, stress=False))[0].energy


Check = Callable[[Subject], Iterator[str]]


def check_model(family: Family, model: Model) -> Iterator[Finding]:
    """Every check, in order. What a model raises is a violation."""
    subject = Subject(family, model, examples(model.elements))
    for check in CHECKS:
        try:
            violations = tuple(check(subject))
        except Exception as error:  # noqa: BLE001  whatever a model raises is a violation
            violations = (f"raises {type(error).__name__}: {error}",)
        yield Finding(check=check.__name__, violations=violations)


def examples(elements: frozenset[int] | None) -> tuple[Structure, ...]:
    """Crystals, a slab, a molecule, an atom; none at rest, so that forces and stress are seen."""
    known = list(PREFERRED) if elements is None else [z for z in PREFERRED if z in elements] or sorted(elements)
    one, two = known[0], known[1 % len(known)]
    both, symbol = covalent_radii[one] + covalent_radii[two], chemical_symbols[one]
    near = 1.1 * 2 * covalent_radii[one]  # of a metal's atoms, a little nearer than they like
    salt = Atoms(
        [one, two], scaled_positions=[(0, 0, 0), (0.5, 0.46, 0.53)], cell=1.1 * both * (1 - np.eye(3)), pbc=True
    )
    squeezed = bulk(symbol, "bcc", a=near * 2 / np.sqrt(3), cubic=True).repeat((2, 1, 1))
    squeezed.set_cell(squeezed.cell.array @ SHEAR, True)
    outside = salt.repeat((2, 1, 1))
    outside.positions += np.array([[3, -2, 5], [0, 0, 0], [-1, 0, 4], [0, 7, 0]]) @ outside.cell.array
    slab = fcc111(symbol, (2, 1, 2), a=near * np.sqrt(2), vacuum=6.0)
    molecule = Atoms([two, one, two], [(0.9 * both, 0.1, 0), (0, 0, 0), (-0.4 * both, 0.95 * both, 0.2)])
    atom = Atoms([one], [(1.0, 2.0, 3.0)])
    for seed, atoms in enumerate((squeezed, outside, slab)):
        atoms.rattle(0.15, seed=seed)
    made = {"crystal": salt, "squeezed": squeezed, "outside": outside, "slab": slab, "molecule": molecule, "atom": atom}
    return tuple(_structure(name, atoms) for name, atoms in made.items())


def _structure(name: str, atoms: Atoms) -> Structure:
    arrays = (
        atoms.numbers.astype(np.int64),
        atoms.positions.astype(np.float64),
        np.array(atoms.cell.array, np.float64),
        np.array(atoms.pbc, np.bool_),
    )
    for array in arrays:
        array.flags.writeable = False  # the engine's structures are shared: a model that writes to one is told
    return Structure(name, *arrays)


def says_what_it_is(subject: Subject) -> Iterator[str]:
    family, model = subject.family, subject.model
    if not family.distributions:
        yield "distributions is empty: name the packages whose versions a result has to record"
    for name in family.distributions:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield f"distributions names {name}, which is not installed here"
    if model.num_parameters < 0:
        yield f"num_parameters is {model.num_parameters}"
    if model.cutoff_angstrom is not None and not model.cutoff_angstrom > 0:
        yield f"cutoff_angstrom is {model.cutoff_angstrom}"
    strange = [] if model.elements is None else [z for z in model.elements if not 0 < z < len(chemical_symbols)]
    if strange or model.elements == frozenset():
        yield f"elements has no atomic numbers: {strange}"
    if model.level_of_theory == "":
        yield "level_of_theory is empty: None means that nobody knows"
    if model.checkpoint_sha256 is not None and not re.fullmatch("[0-9a-f]{64}", model.checkpoint_sha256):
        yield f"checkpoint_sha256 is {model.checkpoint_sha256!r}: no SHA-256 in hexadecimal digits"
    if not isinstance(model.trusted, bool):
        yield f"trusted is {model.trusted!r}: True or False"


def answers_in_shape(subject: Subject) -> Iterator[str]:
    """Also: each structure by itself; finite; a stress where there is a volume and nowhere else."""
    for structure in subject.structures:
        found = subject.ask([structure])
        if len(found) != 1:
            yield f"{structure.name}: {len(found)} predictions for one structure"
            continue
        energy, forces, stress = found[0]
        if np.ndim(energy) != 0 or not np.isfinite(energy):
            yield f"{structure.name}: the energy is {energy}"
        if forces is None or forces.shape != (structure.num_atoms, 3) or not np.isfinite(forces).all():
            yield f"{structure.name}: forces are no {structure.num_atoms} x 3 finite numbers"
        if structure.pbc.all():
            if stress is None or stress.shape != (6,) or not np.isfinite(stress).all():
                yield f"{structure.name}: the stress is no 6 finite numbers"
        elif stress is not None:
            yield f"{structure.name}: has a stress, without three periodic directions"


def computes_what_is_wanted(subject: Subject) -> Iterator[str]:
    whole = subject.ask(subject.structures)
    for want in (Want(True, False), Want(False, True), Want(False, False)):
        asked = f"with forces={want.forces}, stress={want.stress}"
        for structure, full, part in zip(subject.structures, whole, subject.ask(subject.structures, want), strict=True):
            for name in ("forces", "stress"):
                if (getattr(part, name) is not None) is not (getattr(want, name) and getattr(full, name) is not None):
                    yield f"{structure.name}: {name} is {'absent' if getattr(want, name) else 'there'} {asked}"
            yield from _differences(f"{structure.name}, {asked}", full, part, structure)


def is_the_same_in_any_batch(subject: Subject) -> Iterator[str]:
    """Alone, together, in another order, and a second time."""
    alone = [subject.ask([structure])[0] for structure in subject.structures]
    together = subject.ask(subject.structures)
    backwards = subject.ask(subject.structures[::-1])[::-1]
    again = subject.ask(subject.structures)
    for index, structure in enumerate(subject.structures):
        yield from _differences(f"{structure.name}, alone and in a batch", alone[index], together[index], structure)
        yield from _differences(f"{structure.name}, in another order", together[index], backwards[index], structure)
        yield from _differences(f"{structure.name}, a second time", together[index], again[index], structure)


def is_the_same_wherever_it_lies(subject: Subject) -> Iterator[str]:
    """Moved as a whole; atoms moved by whole lattice vectors; turned."""
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    for structure in subject.structures:
        here = subject.ask([structure])[0]
        moved = replace(structure, positions=structure.positions + np.array([1.3, -7.1, 12.9]))
        steps = np.arange(3 * structure.num_atoms).reshape(-1, 3) % 5 - 2
        wrapped = replace(structure, positions=structure.positions + (steps * structure.pbc) @ structure.cell)
        for what, other in (("moved", moved), ("moved by lattice vectors", wrapped)):
            yield from _differences(f"{structure.name}, {what}", here, subject.ask([other])[0], structure)
        turned = replace(structure, positions=structure.positions @ turn, cell=structure.cell @ turn)
        there = subject.ask([turned])[0]
        stress = None if there.stress is None else _voigt(turn @ _full(there.stress) @ turn.T)
        forces = None if there.forces is None else there.forces @ turn.T
        yield from _differences(f"{structure.name}, turned", here, Prediction(there.energy, forces, stress), structure)


def has_forces_that_are_slopes(subject: Subject) -> Iterator[str]:
    """-dE/dx by finite differences, of every structure's second atom (or only one), in all three directions."""
    for structure in subject.structures:
        atom = min(1, structure.num_atoms - 1)
        slopes = np.empty(3)
        for axis in range(3):
            step = np.zeros_like(structure.positions)
            step[atom, axis] = STEP_ANGSTROM
            up, down = (
                subject.energy(replace(structure, positions=structure.positions + sign * step)) for sign in (1, -1)
            )
            slopes[axis] = -(up - down) / (2 * STEP_ANGSTROM)
        forces = subject.ask([structure])[0].forces
        if forces is not None:
            yield from _slope_violation(f"{structure.name}: force", "-dE/dx", forces[atom], slopes, SLOPE_FORCES)


def has_a_stress_that_is_a_slope(subject: Subject) -> Iterator[str]:
    """(1/V) dE/dstrain by finite differences, in all six directions; so its sign and unit are right."""
    for structure in subject.structures:
        stress = subject.ask([structure])[0].stress
        if stress is None:
            continue
        slopes = np.empty(6)
        for index, (row, column) in enumerate(VOIGT):
            strain = np.zeros((3, 3))
            strain[row, column] += STRAIN / 2
            strain[column, row] += STRAIN / 2
            up, down = (subject.energy(_strained(structure, sign * strain)) for sign in (1, -1))
            slopes[index] = (up - down) / (2 * STRAIN * abs(np.linalg.det(structure.cell)))
        yield from _slope_violation(f"{structure.name}: stress", "(1/V) dE/dstrain", stress, slopes, SLOPE_STRESS)


def keeps_nothing(subject: Subject) -> Iterator[str]:
    """No tensor of one batch is left when the next begins: memory must not grow with the dataset."""
    if "torch" not in sys.modules:
        return
    from torch import Tensor

    counts = []
    for _ in range(3):
        subject.ask(subject.structures)
        gc.collect()
        counts.append(sum(issubclass(type(thing), Tensor) for thing in gc.get_objects()))
    if counts[2] > counts[1]:
        yield f"{counts[2] - counts[1]} tensors more are alive after a batch than before it"


CHECKS: tuple[Check, ...] = (
    says_what_it_is,
    answers_in_shape,
    computes_what_is_wanted,
    is_the_same_in_any_batch,
    is_the_same_wherever_it_lies,
    has_forces_that_are_slopes,
    has_a_stress_that_is_a_slope,
    keeps_nothing,
)


def _differences(where: str, one: Prediction, other: Prediction, structure: Structure) -> Iterator[str]:
    """What differs between two predictions by more than rounding; a derivative that one of them lacks is let pass."""
    limits = (
        ("energy", ENERGY_EV_PER_ATOM * structure.num_atoms, "eV"),
        ("forces", FORCES_EV_PER_ANGSTROM, "eV/angstrom"),
        ("stress", STRESS_EV_PER_ANGSTROM3, "eV/angstrom^3"),
    )
    for name, limit, unit in limits:
        first, second = getattr(one, name), getattr(other, name)
        if first is not None and second is not None:
            difference = float(np.max(np.abs(np.asarray(first) - np.asarray(second))))
            if not difference <= limit:
                yield f"{where}: {name} differs by {difference:.3g} {unit}"


def _slope_violation(
    where: str, what: str, found: Floats, slopes: Floats, tolerance: tuple[float, float]
) -> Iterator[str]:
    absolute, relative = tolerance
    if not np.abs(found - slopes).max() <= absolute + relative * np.abs(slopes).max():
        yield f"{where} is {np.round(found, 4).tolist()}, {what} is {np.round(slopes, 4).tolist()}"


def _strained(structure: Structure, strain: Floats) -> Structure:
    deformation = np.eye(3) + strain
    return replace(structure, positions=structure.positions @ deformation, cell=structure.cell @ deformation)


def _full(stress: Floats) -> Floats:
    full = np.empty((3, 3))
    for value, (row, column) in zip(stress, VOIGT, strict=True):
        full[row, column] = full[column, row] = value
    return full


def _voigt(full: Floats) -> Floats:
    return np.array([full[row, column] for row, column in VOIGT])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench_score.contract", description=__doc__)
    parser.add_argument("family", help="its name among the entry points bench.families of this environment")
    parser.add_argument("checkpoint", nargs="?", help="a name that the family knows, or a path")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the family")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--trust-checkpoint", action="store_true", help="open a file that can run any code")
    asked = parser.parse_args(arguments)
    violated = False
    try:
        family = find_family(asked.family)
        entry = Entry(
            label=asked.checkpoint or asked.family,
            family=asked.family,
            checkpoint=asked.checkpoint,
            options=dict(_option(text) for text in asked.option),
            trust_checkpoint=asked.trust_checkpoint,
        )
        model = family.load(entry, asked.device)
        _use_one_thread()
        for finding in check_model(family, model):
            violated = violated or bool(finding.violations)
            print(msgspec.json.encode(finding).decode(), flush=True)
    except BenchError as error:
        print(f"contract: {error}", file=sys.stderr)
        return error.code
    return ExitCode.FAILED if violated else ExitCode.OK


def _use_one_thread() -> None:
    """Two threads on a busy machine have been ten times slower."""
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(1)


def _option(text: str) -> tuple[str, object]:
    """NAME=VALUE, the value as in TOML, or as text where it is no TOML."""
    name, _, value = text.partition("=")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value


if __name__ == "__main__":
    sys.exit(main())
