"""Where a command's output goes: which formats were chosen, and the file of each."""

from collections.abc import Collection, Sequence
from pathlib import Path

from bench_core import suggest
from bench_core.bundle import COMMITTED
from bench_core.errors import BenchError, ExitCode


def chosen_formats(text: str, known: Collection[str]) -> list[str]:
    """The names in `text`, joined by commas, each once.

    Raises:
        BenchError: one is not known, or there is none.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in known:
            raise suggest.unknown("format", name, list(known), source="--format")
    if not names:
        raise BenchError(f"--format names no format; known: {', '.join(known)}")
    return names


def places(output: Path | None, formats: Sequence[str]) -> dict[str, Path]:
    """Format -> its file: `output` itself when there is one format, else with the format's ending.

    Raises:
        BenchError: the file would be inside a committed run, which is never changed.
    """
    if output is None:
        return {}
    if output.is_dir():
        raise BenchError(f"--output {output}: is a folder; name a file", ExitCode.OUTPUT)
    refuse_bundle(output)
    if len(formats) == 1:
        return {formats[0]: output}
    return {name: output.with_suffix(f".{name}") for name in formats}


def refuse_bundle(output: Path) -> None:
    """Nothing is written into a committed run.

    Raises:
        BenchError: the place is a committed run, or inside one.
    """
    for place in (output.absolute(), *output.absolute().parents):
        if (place / COMMITTED).exists():
            raise BenchError(
                f"--output {output}: {place} is a committed run, which is never changed; choose a folder outside it",
                ExitCode.OUTPUT,
            )
