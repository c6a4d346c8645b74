"""What a family of models offers the engine. A published family is one class with `load`, found by entry point.

The entry point group is `bench.families`; the name is that of a block `[families.NAME]` in matrix.toml.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from bench_score.structure import Floats, Neighbours, Structure


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One model of a configuration: one row of the table."""

    label: str
    family: str
    checkpoint: str | None = None  # a name that the family knows, or a path
    options: Mapping[str, Any] = field(default_factory=dict)  # the family's own, such as sevenn's modal
    architecture: Mapping[str, Any] | None = None  # name and arguments, where the checkpoint embeds none
    level_of_theory: str | None = None  # said by the configuration; else the family's own word
    trust_checkpoint: bool = False  # whether a file that needs full unpickling may be opened


class Item(NamedTuple):
    """A structure with its neighbour list; None for a model that has no cutoff."""

    structure: Structure
    neighbours: Neighbours | None


class Want(NamedTuple):
    """What is scored. A model computes no derivative that nobody asked for."""

    forces: bool
    stress: bool


class Prediction(NamedTuple):
    """eV, eV/angstrom, eV/angstrom^3 (Voigt, signs as in Structure). May hold values that are not finite."""

    energy: float
    forces: Floats | None = None
    stress: Floats | None = None


class Model(Protocol):
    """A loaded model. Its numbers are properties or plain attributes.

    It may say as `device` where its parameters are ("cpu", "cuda:0"), which is then compared with what was asked for.
    """

    @property
    def num_parameters(self) -> int: ...

    @property
    def cutoff_angstrom(self) -> float | None:
        """Radius of the neighbour lists it wants; None when it wants none."""

    @property
    def elements(self) -> frozenset[int] | None:
        """Atomic numbers it knows; None when it accepts any."""

    @property
    def level_of_theory(self) -> str | None:
        """What its training data were computed with, such as "PBE"; None when nobody knows."""

    @property
    def checkpoint_sha256(self) -> str | None:
        """Of the file the weights came from; None when they came from none."""

    @property
    def trusted(self) -> bool:
        """Whether that file was allowed to run code, which --trust-checkpoint asks for and few need."""

    def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
        """One prediction per item, in order. A batch holds only elements the model knows."""


class Family(Protocol):
    """A published family: what loads its models."""

    distributions: tuple[str, ...]  # packages whose versions a result records, the family's own first

    def load(self, entry: Entry, device: str) -> Model:
        """Load `entry` onto `device` ("cpu", "cuda").

        Raises:
            BenchError: no such checkpoint (naming those there are), an option that does not apply, or a file that
                needs full unpickling and is not trusted.
        """
