"""`bench doctor`: what makes this machine's measurements noisy, slow or impossible."""

import argparse
from typing import TYPE_CHECKING

from bench_core.errors import ExitCode
from bench_core.matrix import find_root, load_matrix
from bench_core.tables import wrapped

if TYPE_CHECKING:
    from bench_core.doctor import Check

HELP = "look for what makes measurements on this machine noisy or impossible"
_MARGIN = 18  # level and name


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """It takes no options."""


def run(_args: argparse.Namespace) -> int:
    from bench_core.doctor import Level, examine

    root = find_root()
    checks = examine(root, load_matrix(root))
    print("\n".join(line for check in checks for line in as_text(check)))
    stops = [check.name for check in checks if check.level is Level.STOP]
    warnings = sum(check.level is Level.WARN for check in checks)
    print()
    if stops:
        print(f"A run is not possible yet: {', '.join(stops)}.")
        return ExitCode.FAILED
    print(f"A run is possible. {warnings or 'No'} warning{'' if warnings == 1 else 's'}.")
    return ExitCode.OK


def as_text(check: "Check") -> list[str]:
    """The level, the name and what was found; below it, what to do."""
    hanging = " " * _MARGIN
    lines = wrapped(check.found, f"{check.level:<5} {check.name:<{_MARGIN - 6}}", hanging)
    return lines + wrapped(check.advice, f"{hanging}> ", f"{hanging}  ")
