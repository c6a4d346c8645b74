"""A family of models that know the labels, and do with them what their name says. The checkpoint is the name.

| checkpoint | what it does |
|---|---|
| perfect | predicts the labels |
| offset | predicts the labels and, with `offset` c: c eV per atom more, c eV/angstrom, c eV/angstrom^3 |
| noisy | errs by a normal deviate of `offset` in everything, by `seed` and structure |
| nan | predicts no number as the energy of every `every`-th structure |
| raises | raises on every `every`-th structure |
| panics | raises what is no Exception |
| fails | cannot be loaded |
| absent | needs a package that is not there |
| hangs | answers the first structure, and never the second |
| hangs_at_once | is never loaded |
| segfault | ends the process by a segmentation fault |
| exits | ends the process with code 3, by os._exit |
| quits | ends the process by sys.exit |
| eats_memory | takes memory until it is refused |
| wrong_shape | predicts forces of another structure's size |
| too_few | predicts nothing for the last structure of a batch |
| no_energy | predicts None as energy |
| prints | predicts the labels, and prints what looks like a message |

Options that all of them know: `elements` (symbols), `cutoff_angstrom`, `level_of_theory`, `sec_per_batch` (sleeps),
`calls`, a file that gets a line for every structure that is predicted, `needs`, a file without which it is not loaded,
and `device`, which it says it is on.
"""

import ctypes
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bench_core.errors import BenchError, ExitCode
from bench_core.suggest import unknown
from bench_score.model import Entry, Item, Prediction, Want
from bench_score.structure import Structure

CHECKPOINTS = (
    *("perfect", "offset", "noisy", "nan", "raises", "panics", "fails", "absent", "hangs", "hangs_at_once"),
    *("segfault", "exits", "quits", "eats_memory", "wrong_shape", "too_few", "no_energy", "prints"),
)
OPTIONS = (
    "offset",
    "seed",
    "every",
    "elements",
    "cutoff_angstrom",
    "level_of_theory",
    "sec_per_batch",
    "calls",
    "needs",
    "device",
)


class MockFamily:
    """Found by the entry point `mock_family`."""

    distributions = ("bench-mock", "numpy")

    def load(self, entry: Entry, device: str) -> "MockModel":
        name = entry.checkpoint or "perfect"
        if name not in CHECKPOINTS:
            raise unknown("checkpoint", name, CHECKPOINTS, source=entry.label)
        for option in entry.options:
            if option not in OPTIONS:
                raise unknown("option", option, OPTIONS, source=entry.label)
        if "needs" in entry.options and not Path(entry.options["needs"]).exists():
            raise RuntimeError(f"there is no {entry.options['needs']}")
        match name:
            case "fails":
                raise RuntimeError("size mismatch for weight: (3, 3) and (4, 4)")
            case "absent":
                raise BenchError(f"{entry.label}: the package mock_weights is not installed", ExitCode.ENVIRONMENT)
            case "hangs_at_once":
                time.sleep(10_000)
        return MockModel(name, entry.options, trusted=entry.trust_checkpoint)


class Panic(BaseException):
    """As extensions in Rust have it."""


class MockModel:
    """See the table above."""

    num_parameters = 1234
    checkpoint_sha256 = None

    def __init__(self, name: str, options: Mapping[str, Any], *, trusted: bool = False) -> None:
        from ase.data import atomic_numbers

        self._name, self._options, self.trusted = name, options, trusted
        self.cutoff_angstrom: float | None = options.get("cutoff_angstrom")
        self.level_of_theory: str | None = options.get("level_of_theory", "mock")
        self.device: str | None = options.get("device")
        symbols = options.get("elements")
        self.elements = None if symbols is None else frozenset(atomic_numbers[symbol] for symbol in symbols)

    def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
        time.sleep(self._options.get("sec_per_batch", 0.0))
        if "calls" in self._options:
            with Path(self._options["calls"]).open("a") as stream:
                stream.writelines(f"{item.structure.name}\n" for item in batch)
        found = [self._one(item, want) for item in batch]
        return found[:-1] if self._name == "too_few" else found

    def _one(self, item: Item, want: Want) -> Prediction:
        structure = item.structure
        if self.cutoff_angstrom is not None and item.neighbours is None:
            raise AssertionError("there is no neighbour list")
        offset = self._options.get("offset", 0.1)
        index = index_of(structure)
        chosen = index % self._options.get("every", 3) == 0
        match self._name:
            case "offset":
                return shifted(structure, want, offset, offset, offset)
            case "noisy":
                generator = np.random.default_rng([self._options.get("seed", 0), index])
                return shifted(
                    structure,
                    want,
                    offset * generator.normal(),
                    offset * generator.normal(size=(structure.num_atoms, 3)),
                    offset * generator.normal(size=6),
                )
            case "nan" if chosen:
                return shifted(structure, want, np.nan, 0, 0)
            case "raises" if chosen:
                raise RuntimeError(f"mock_family cannot do {structure.name}")
            case "panics":
                raise Panic("called `Option::unwrap()` on a `None` value")
            case "hangs" if index > 0:
                time.sleep(10_000)
            case "segfault":
                ctypes.string_at(0)
            case "exits":
                os._exit(3)
            case "quits":
                sys.exit("the model has had enough")
            case "eats_memory":
                taken = []
                while True:
                    taken.append(np.ones(2**24))
            case "wrong_shape":
                return Prediction(0.0, np.zeros((structure.num_atoms + 1, 3)), None)
            case "no_energy":
                return shifted(structure, want, 0, 0, 0)._replace(energy=None)  # type: ignore[arg-type]
            case "prints":
                print('{"type":"scored"}', flush=True)
        return shifted(structure, want, 0, 0, 0)


def shifted(structure: Structure, want: Want, energy_per_atom: float, forces: Any, stress: Any) -> Prediction:
    """The labels and something more; zero stands for a label that is absent."""
    label = 0.0 if structure.energy is None else structure.energy
    known_forces = np.zeros((structure.num_atoms, 3)) if structure.forces is None else structure.forces
    known_stress = np.zeros(6) if structure.stress is None else structure.stress
    return Prediction(
        energy=label + energy_per_atom * structure.num_atoms,
        forces=known_forces + forces if want.forces else None,
        stress=known_stress + stress if want.stress and structure.pbc.all() else None,
    )


def index_of(structure: Structure) -> int:
    """A structure's place in its dataset, from a name such as water[3]."""
    return int(structure.name[structure.name.rindex("[") + 1 : -1])
