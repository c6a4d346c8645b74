"""What a configuration file says, TOML or YAML, and single values that `--set a.b=c` replaces in it."""

from pathlib import Path
from typing import Any

from bench_core.errors import BenchError
from bench_core.files import MAX_TOML_BYTES, read_toml
from bench_core.settings import parse_value


def read_table(path: Path, where: str) -> dict[str, Any]:
    """The keys and values of a file; messages begin with `where`.

    Raises:
        BenchError: it cannot be read, is not what its name ends with, or holds something else.
    """
    try:
        found = _read(path)
    except OSError as error:
        raise BenchError(f"{where}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise BenchError(f"{where}: {error}") from error
    if not isinstance(found, dict):
        raise BenchError(f"{where}: holds no table of keys and values")
    return found


def _read(path: Path) -> Any:
    """What the file says.

    Raises:
        OSError: it cannot be read.
        ValueError: it is too large, or not what its name ends with.
    """
    if path.suffix.lower() not in {".yaml", ".yml"}:
        return read_toml(path)
    import yaml

    with path.open("rb") as stream:
        data = stream.read(MAX_TOML_BYTES + 1)
    if len(data) > MAX_TOML_BYTES:
        raise ValueError(f"larger than {MAX_TOML_BYTES // 1024} KiB, so it was not read")
    try:
        # A few nested aliases stand for more values than memory holds.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(data)):
            raise ValueError("holds an alias (*name); write what it stands for")
        return yaml.safe_load(data)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"not valid YAML ({' '.join(str(error).split())})") from error


def assign(raw: dict[str, Any], text: str) -> None:
    """Replace one value, by the names on the way to it; a number is the place in a list.

    Raises:
        BenchError: it is not key=value, or there is no such place.
    """
    key, equals, written = text.partition("=")
    names = [name for name in key.strip().split(".") if name]
    if not equals or not names:
        raise BenchError(f"--set {text}: write key=value, such as --set data.batch_size=4")
    place: Any = raw
    for name in names[:-1]:
        place = _below(place, name, text)
    if isinstance(place, list):
        place[_index(place, names[-1], text)] = parse_value(written.strip())
    else:
        place[names[-1]] = parse_value(written.strip())


def _below(place: Any, name: str, text: str) -> Any:
    found = place[_index(place, name, text)] if isinstance(place, list) else place.setdefault(name, {})
    if not isinstance(found, dict | list):
        raise BenchError(f"--set {text}: {name} is a value, there is nothing below it")
    return found


def _index(place: list[Any], name: str, text: str) -> int:
    if not name.isdecimal() or int(name) >= len(place):
        raise BenchError(f"--set {text}: {name!r} is no place in a list of {len(place)} (the first is 0)")
    return int(name)
