"""Labels of models: what one may be, and how it is written as the name of a file."""

import re
from collections.abc import Sequence

from bench_core.errors import BenchError
from bench_core.files import sha256_bytes

LABEL_LENGTH = 100


def file_stem(label: str) -> str:
    """A label as a file name: what is no plain character is replaced, and a digest keeps two labels apart."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", label).strip("._") or "model"
    return plain if plain == label else f"{plain[:80]}-{sha256_bytes(label.encode())[:6]}"


def check_labels(labels: Sequence[str], source: str) -> None:
    """Each names one row, and one file.

    Raises:
        BenchError: one cannot be printed, or two are one name.
    """
    seen: dict[str, str] = {}
    for label in labels:
        if not label.isprintable() or not label.strip() or len(label) > LABEL_LENGTH:
            raise BenchError(f"{source}: label {label!r}: one line of 1 to {LABEL_LENGTH} visible characters")
        other = seen.setdefault(file_stem(label).lower(), label)
        if other != label:
            raise BenchError(f"{source}: labels {other!r} and {label!r} would be one file; rename one of the two")
    repeated = [label for label in seen.values() if list(labels).count(label) > 1]
    if repeated:
        raise BenchError(f"{source}: two models are called {repeated[0]!r}; a label names one row")
