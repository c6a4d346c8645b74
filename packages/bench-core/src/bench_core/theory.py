"""Levels of theory: which models of a table learned from another one than that of the labels."""

import re
from collections.abc import Sequence

from bench_core.scores import ScoreResult

_FUNCTIONAL = re.compile(r"[\w-]+")


def compared_across(results: Sequence[ScoreResult]) -> str | None:
    """The sentence over a table whose models did not all learn from the labels' functional; None where all did.

    Only the first word counts, PBE of "PBE (WIEN2k)" and of "PBE/PBE+U": basis sets and codes err by less. Models whose
    level of theory is unknown are not named.
    """
    labels = next((result.data.level_of_theory for result in results if result.data.level_of_theory), None)
    if labels is None:
        return None
    others: dict[str, list[str]] = {}
    for result in results:
        theory = result.level_of_theory
        if result.scores and theory and _functional(theory) != _functional(labels):
            others.setdefault(theory, []).append(result.label)
    if not others:
        return None
    told = "; ".join(f"{', '.join(models)} ({theory})" for theory, models in others.items())
    return (
        f"Models of another level of theory are compared with labels of {labels}, and charged for the difference "
        f"between the two: {told}"
    )


def _functional(theory: str) -> str:
    found = _FUNCTIONAL.match(theory.strip())
    return (found[0] if found else theory).casefold()
