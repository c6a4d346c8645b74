"""What each source says about a run: a file, `--set`, a flag. Checked for its key and type, remembered with its source.

Precedence, weakest first: the defaults of policy.py, a profile or configuration file, `--set`, flags. A key said by a
stronger source replaces the weaker one's whole value; nothing is appended.
"""

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any, Literal

import msgspec

from bench_core import suggest
from bench_core.config import ALL, Config
from bench_core.errors import BenchError
from bench_core.files import parse_toml, read_toml

Names = tuple[str, ...]

# Keys beyond those of Config: they narrow or name a choice, and are gone once it is resolved.
_SHORTHANDS: dict[str, Any] = {"media": Names, "transform_set": str}
# What can only be absent in a file, since TOML has no null.
_WRITTEN: dict[str, Any] = {"num_items": int | Literal["all"], "data_dir": str, "memory_limit_bytes": int}
TYPES: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(Config)} | _SHORTHANDS | _WRITTEN


class Rank(IntEnum):
    """How strong a source is."""

    FILE = 0
    SET = 1
    FLAG = 2


class Said(msgspec.Struct, frozen=True):
    """One value, where it was said ("--library", "profiles/quick.toml") and how strong that is."""

    value: Any
    source: str
    rank: Rank

    @property
    def typed(self) -> bool:
        """Whether it stands on this command line, where a choice that has no effect is a mistake."""
        return self.rank > Rank.FILE


Settings = Mapping[str, Said]


def merge(*layers: Settings) -> Settings:
    """One settings of several, weakest first."""
    return {key: said for layer in layers for key, said in layer.items()}


def say(key: str, value: Any, source: str, rank: Rank) -> Said:
    """Check one value.

    Raises:
        BenchError: the key is unknown or the value has the wrong type.
    """
    if key not in TYPES:
        raise suggest.unknown("key", key, TYPES, source=source, hint="docs/configuration.md")
    try:
        return Said(msgspec.convert(value, TYPES[key]), source, rank)
    except msgspec.ValidationError as error:
        wanted = f'Expected `int` or "{ALL}"' if key == "num_items" else str(error)
        raise BenchError(f"{source}: {key} = {value!r}: {wanted}") from error


def from_file(path: Path, source: str) -> Settings:
    """What a TOML file says; messages call it `source`.

    Raises:
        BenchError: the file cannot be read, is not TOML, or says something unknown.
    """
    try:
        read = read_toml(path)
    except IsADirectoryError as error:
        raise BenchError(f"{source} is a folder; name a file in it, such as {source}/resolved_config.toml") from error
    except OSError as error:
        raise BenchError(f"{source}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise BenchError(f"{source}: not valid TOML ({error})") from error
    return {key: say(key, value, source, Rank.FILE) for key, value in read.items()}


def from_configuration(path: Path) -> Settings:
    """What the file of `--config` says; without a `profile` in it, the run is named like the file."""
    said = from_file(path, str(path))
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-.") or "config"
    return {"profile": Said(name, str(path), Rank.FILE), **said}


def from_assignments(texts: Iterable[str]) -> Settings:
    """What `--set key=value` says, the last of equal keys winning.

    Raises:
        BenchError: no `=`, an unknown key, or a value of the wrong type.
    """
    found: dict[str, Said] = {}
    for text in texts:
        key, equals, written = text.partition("=")
        source = f"--set {text}"
        if not equals:
            raise BenchError(f"{source}: write key=value, such as --set num_runs=10")
        key = key.strip()
        value = parse_value(written.strip())
        if isinstance(value, str) and TYPES.get(key) == Names:
            value = split_names(value)
        found[key] = say(key, value, source, Rank.SET)
    return found


def split_names(text: str) -> list[str]:
    """Names separated by commas; blanks around them and empty ones are dropped."""
    return [name for part in text.split(",") if (name := part.strip())]


def parse_value(written: str) -> Any:
    """A TOML value, or the text itself: `seed=1` is a number, `device=gpu` a string."""
    try:
        read = parse_toml(f"value = {written}")
    except ValueError:
        return written
    return read["value"] if read.keys() == {"value"} else written
