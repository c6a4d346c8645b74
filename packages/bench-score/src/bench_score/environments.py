"""The families' own locked environments: what is known of them before any is built, and their interpreters."""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from bench_core import environment, suggest
from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_file
from bench_core.matrix import load_matrix

from bench_score.conductor import Interpreters
from bench_score.config import ScoreConfig
from bench_score.model import Entry


def known(root: Path, config: ScoreConfig, chosen: Sequence[Entry]) -> Interpreters:
    """What is known of the families' environments before any is built.

    Raises:
        BenchError: matrix.toml has no family of a chosen model, or not on this device.
    """
    matrix = load_matrix(root)
    for family in dict.fromkeys(entry.family for entry in chosen):
        if family not in matrix.families:
            raise suggest.unknown("family", family, matrix.families, source="models", hint="matrix.toml")
        if config.device not in matrix.families[family].devices:
            raise BenchError(
                f"family {family} is scored on {' and '.join(matrix.families[family].devices)} alone (matrix.toml), "
                f"and {config.device} is asked for; choose the others with --family or --models",
                ExitCode.NO_DEVICE,
            )
    families = [family for family in matrix.families if any(entry.family == family for entry in config.entries())]
    locks = {family: environment.lock_path(root, family) for family in families}
    packages = {family: _sources(root / matrix.families[family].package) for family in families}
    return Interpreters(
        python={},
        locks={family: sha256_file(path) if path.is_file() else None for family, path in locks.items()},
        missing={},
        packages=packages,
    )


def _sources(package: Path) -> Path:
    """The folder of a package's one module, below src."""
    return next((path.parent for path in (package / "src").glob("*/__init__.py")), package / "src")


def build(root: Path, found: Interpreters, entries: Sequence[Entry]) -> Interpreters:
    """Each family's own locked environment. One that cannot be built is said, and its models are unavailable."""
    matrix = load_matrix(root)
    python: dict[str, Path] = {}
    missing: dict[str, str] = {}
    for family in dict.fromkeys(entry.family for entry in entries):
        try:
            python[family] = environment.ensure(root, matrix, family)
        except BenchError as error:
            print(f"bench: {error}", file=sys.stderr)
            missing[family] = f"the environment {family} could not be built: {str(error).splitlines()[0]}"
    return msgspec.structs.replace(found, python=python, missing=missing)
