"""matrix.toml: the groups, libraries and scenarios that exist, and the exclusions with their reasons."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from bench_core.errors import BenchError
from bench_core.files import read_toml

FILE_NAME = "matrix.toml"
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TAKEN = {"dev", "tools"}  # environments and locks that are ours


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    media: str
    channels: int
    modes: tuple[str, ...]


class Locked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One locked environment: a package (a folder under the root) and, where it has several, the extra meant."""

    package: str
    devices: tuple[str, ...]
    extra: str | None = None
    needs: tuple[str, ...] = ()  # further packages of the checkout that it imports, besides bench-core
    constraints: str | None = None  # environments that name the same one get the same versions of what they share


class Group(Locked, frozen=True):
    """The environment of an adapter package, and its libraries."""

    libraries: tuple[str, ...]
    media: tuple[str, ...]


class Family(Locked, frozen=True):
    """The environment of a family of pre-trained models that are scored."""


class Exclusion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is not measured, and why. A field that is absent matches everything."""

    reason: str
    group: str | None = None
    library: str | None = None
    scenario: str | None = None
    mode: str | None = None
    device: str | None = None
    transform: str | None = None


class LibraryNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the catalog cannot know about a library that others added: scenario -> the transforms it offers."""

    transforms: dict[str, tuple[str, ...]] = {}


class Cell(msgspec.Struct, frozen=True):
    """One nox session: bench(group, media, device)."""

    group: str
    media: str
    device: str

    def __str__(self) -> str:
        return f"{self.group}, {self.media}, {self.device}"


class ScoreCell(msgspec.Struct, frozen=True):
    """One nox session: score(family, device)."""

    family: str
    device: str

    def __str__(self) -> str:
        return f"{self.family}, {self.device}"


class Matrix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    python: str
    scenarios: dict[str, Scenario]
    groups: dict[str, Group]
    exclusions: tuple[Exclusion, ...] = ()
    libraries: dict[str, LibraryNote] = {}
    families: dict[str, Family] = {}

    def __post_init__(self) -> None:
        owners: dict[str, str] = {}
        for name, group in self.groups.items():
            for library in group.libraries:
                if library in owners:
                    raise ValueError(f"library {library!r} is in group {owners[library]!r} and in {name!r}")
                owners[library] = name
        unknown = self.libraries.keys() - owners.keys()
        if unknown:
            raise ValueError(f"libraries.{min(unknown)} is in no group")
        for library, note in self.libraries.items():
            for scenario in note.transforms.keys() - self.scenarios.keys():
                raise ValueError(f"libraries.{library}.transforms: there is no scenario {scenario!r}")
        self._check_labels()
        self._check_exclusions()

    def _check_labels(self) -> None:
        """Names become folders and files, and are typed on a command line."""
        if not re.fullmatch(r"\d+(\.\d+)*", self.python):
            raise ValueError(f'python = {self.python!r}: write a version, such as "3.11"')
        modes = [mode for scenario in self.scenarios.values() for mode in scenario.modes]
        for name in (*self.scenarios, *self.groups, *self.families, *self.all_libraries(), *modes):
            if not _LABEL.fullmatch(name):
                raise ValueError(f"{name!r} is no name: only letters, digits, '.', '_' and '-'")
        for name in _TAKEN & (self.groups.keys() | self.families.keys()):
            raise ValueError(f"no group can be called {name!r}: the project's own environment and lock are")
        for name in self.families.keys() & self.groups.keys():
            raise ValueError(f"{name!r} is a group and a family; each has an environment of that name")

    def _check_exclusions(self) -> None:
        """A misspelt name would exclude nothing, and nobody would notice."""
        known: dict[str, Collection[str]] = {
            "group": self.groups,
            "library": self.all_libraries(),
            "scenario": self.scenarios,
            "mode": {mode for scenario in self.scenarios.values() for mode in scenario.modes},
            "device": {device for group in self.groups.values() for device in group.devices},
        }
        for number, exclusion in enumerate(self.exclusions, 1):
            for field, names in known.items():
                name = getattr(exclusion, field)
                if name is not None and name not in names:
                    raise ValueError(f"exclusion {number}: there is no {field} {name!r}")

    def cells(self) -> Iterator[Cell]:
        """Every (group, media, device) that exists, in file order."""
        for name, group in self.groups.items():
            for media in group.media:
                for device in group.devices:
                    yield Cell(name, media, device)

    def score_cells(self) -> Iterator[ScoreCell]:
        """Every (family, device) that exists, in file order."""
        for name, family in self.families.items():
            for device in family.devices:
                yield ScoreCell(name, device)

    def environments(self) -> dict[str, Locked]:
        """What has a locked environment, by its name."""
        return {**self.groups, **self.families}

    def group_of(self, library: str) -> str:
        """Name of the group that holds `library`.

        Raises:
            KeyError: no group does.
        """
        for name, group in self.groups.items():
            if library in group.libraries:
                return name
        raise KeyError(library)

    def all_libraries(self) -> tuple[str, ...]:
        return tuple(library for group in self.groups.values() for library in group.libraries)

    def exclusion_reason(self, **what: str) -> str | None:
        """Reason of the first exclusion whose every field equals the one given in `what`; None when there is none.

        An exclusion that names a field absent from `what` does not match.
        """
        for exclusion in self.exclusions:
            fields = {k: v for k, v in msgspec.structs.asdict(exclusion).items() if k != "reason" and v is not None}
            if all(what.get(name) == value for name, value in fields.items()):
                return exclusion.reason
        return None


def find_root(start: Path | None = None) -> Path:
    """The nearest folder at or above `start` (the current folder) that holds matrix.toml.

    Raises:
        BenchError: there is none.
    """
    try:
        here = (start or Path.cwd()).resolve()
    except FileNotFoundError as error:
        raise BenchError("the current folder was deleted; change to a checkout of the project") from error
    for folder in (here, *here.parents):
        if (folder / FILE_NAME).is_file():
            return folder
    raise BenchError(f"no {FILE_NAME} in {here} or above it; run bench inside a checkout of the project")


def load_matrix(root: Path) -> Matrix:
    """Read and validate matrix.toml.

    Raises:
        BenchError: it is missing, not TOML, or says something that cannot be.
    """
    path = root / FILE_NAME
    try:
        return msgspec.convert(read_toml(path), Matrix)
    except OSError as error:
        raise BenchError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, msgspec.ValidationError) as error:
        raise BenchError(f"{path}: {error}") from error
