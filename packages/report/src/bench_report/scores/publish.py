"""What is published of a run that scored models: the results and the predictions, without paths of a machine.

Left out: parts and logs, and the run's own tables, which a report makes again from what is kept.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from bench_core.bundle import CONFIG, ENVIRONMENT, Bundle, read_committed
from bench_core.files import write_atomically
from bench_core.scores import (
    MAX_ARRAYS_BYTES,
    PREDICTIONS_SUFFIX,
    STRUCTURES,
    ScoreResult,
    read_structures,
    write_score,
    write_structures,
)

from bench_report import scrub
from bench_report.scrub import Names

PARTS = "parts/"
PROSE = ("reason", "detail")
NOTE = "# As it was scored, but for paths: put those of your own files there.\n\n"


def left_out(bundle: Bundle) -> tuple[str, ...]:
    """Folders and files that no table needs; nothing of a run without scores."""
    if not bundle.scores:
        return ()
    output = bundle.config.get("output")
    filename = output.get("filename") if isinstance(output, dict) else None
    own = f"{filename or 'scores'}."
    tables = (name for name in bundle.files if name.startswith(own) and name not in (CONFIG, ENVIRONMENT))
    return (PARTS, *(name for name in tables if "/" not in name))


def folders(bundle: Bundle) -> Iterator[str]:
    """Folders that a scored run's files may name: where it was written, and where its files lay."""
    for keys, path in _paths(bundle.config):
        yield str(path) if keys[-1] == "dir" else str(path.parent)


def write_file(bundle: Bundle, name: str, path: Path, names: Names) -> bool:
    """Write one file of a scored run; False where it is none of these.

    Raises:
        BenchError: it was changed, or is damaged.
    """
    if name in bundle.scores:
        write_score(path, _reduced(bundle.scores[name], names))
        return True
    if not bundle.scores or not name.endswith((PREDICTIONS_SUFFIX, STRUCTURES)):
        return False
    write_atomically(path, read_committed(bundle, name, MAX_ARRAYS_BYTES))
    if name.endswith(STRUCTURES):
        structures = read_structures(path)
        cleaned = tuple(scrub.clean_text(each, names, people=True) for each in structures.names)
        if cleaned != structures.names:
            write_structures(path, msgspec.structs.replace(structures, names=cleaned))
    return True


def config(before: dict[str, Any], names: Names) -> dict[str, Any]:
    """The configuration without paths; where it was written is left out, for somebody else's default."""
    after: dict[str, Any] = scrub.clean(before, names)
    output = after.get("output")
    if isinstance(output, dict):
        output.pop("dir", None)
    return after


def _reduced(result: ScoreResult, names: Names) -> ScoreResult:
    content = scrub.clean(msgspec.to_builtins(result), names, prose=PROSE)
    if content["coverage"]:
        failures = content["coverage"]["failures"]
        content["coverage"]["failures"] = [scrub.clean_text(text, names, people=True) for text in failures]
    return msgspec.convert(content, ScoreResult)


def _paths(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Path]]:
    """Every absolute path in a configuration, with the keys that lead to it."""
    if isinstance(value, dict):
        for key, found in value.items():
            yield from _paths(found, (*keys, str(key)))
    elif isinstance(value, list):
        for found in value:
            yield from _paths(found, keys)
    elif isinstance(value, str) and keys and value.startswith(("/", "~")):
        yield keys, Path(value).expanduser()
