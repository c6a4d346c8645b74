"""Every check of this folder passes. What a check is and where it runs: conftest.py."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

CHECKS = [
    (path.stem, statement.name)
    for path in sorted(Path(__file__).parent.glob("*_checks.py"))
    for statement in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(statement, ast.FunctionDef) and not statement.name.startswith("_") and path.stem != "test_checks"
]


@pytest.mark.parametrize(("module", "check"), CHECKS)
def test_it_passes(outcomes_of: Callable[[str], dict[str, str | None]], module: str, check: str) -> None:
    outcome = outcomes_of(module)[check]
    assert outcome is None, outcome
