"""A bundle: the directory of one run, hashed and immutable once COMMITTED.json is written, which comes last."""

from pathlib import Path
from typing import Any

import msgspec

from bench_core.results import Result

COMMITTED = "COMMITTED.json"


class Bundle(msgspec.Struct, frozen=True):
    """A committed run, read and checked. `results` are in file-name order, with their paths relative to `path`."""

    path: Path
    run_id: str
    created_at: str
    environment: dict[str, Any]  # environment.json
    config: dict[str, Any]  # resolved_config.toml
    results: dict[str, Result]


def load_bundle(path: Path) -> Bundle:
    """Read a committed run directory and verify every file against COMMITTED.json.

    Raises:
        BenchError: not a run, not committed, a file missing, added or changed, or a result that does not validate.
    """
    raise NotImplementedError
