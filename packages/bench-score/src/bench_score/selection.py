"""Which of a configuration's models one process scores: by label or place, by family, by shard."""

import os
import re
from collections.abc import Sequence

from bench_core import suggest
from bench_core.errors import BenchError

from bench_score.config import ScoreConfig
from bench_score.model import Entry

SLURM = "slurm"


def select_entries(
    config: ScoreConfig, models: Sequence[str | int] | None = None, shard: str | None = None
) -> tuple[Entry, ...]:
    """The entries named by label or place (from 0), then every N-th of them for shard "I/N" (from 1).

    Shard "slurm" is this task of the job array. The order is the configuration's.

    Raises:
        BenchError: an unknown label or place, or a shard that does not exist.
    """
    entries = config.entries()
    if models is not None:
        chosen = {_place(str(name), [entry.label for entry in entries]) for name in models}
        entries = tuple(entry for place, entry in enumerate(entries) if place in chosen)
    if shard is not None:
        index, count = _shard(shard)
        entries = entries[index::count]
        if not entries:
            raise BenchError(f"--shard {shard}: there are fewer models than shards, and none is left for this one")
    return entries


def _place(name: str, labels: Sequence[str]) -> int:
    if name in labels:
        return labels.index(name)
    if re.fullmatch(r"\d+", name):
        if int(name) < len(labels):
            return int(name)
        raise BenchError(f"--models {name}: there are {len(labels)} models, numbered from 0")
    raise suggest.unknown("model", name, labels, source="--models")


def _shard(text: str) -> tuple[int, int]:
    """(index from 0, count) of "I/N", or of the task in a Slurm job array."""
    if text == SLURM:
        return _slurm()
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise BenchError(f"--shard {text}: write I/N, such as 1/4 for the first of four, or {SLURM}")
    return int(match[1]) - 1, int(match[2])


def _slurm() -> tuple[int, int]:
    found = {name: os.environ.get(f"SLURM_ARRAY_TASK_{name}", "") for name in ("ID", "MIN", "MAX", "STEP", "COUNT")}
    absent = [f"SLURM_ARRAY_TASK_{name}" for name, value in found.items() if not value.isdecimal()]
    if absent:
        raise BenchError(f"--shard {SLURM}: {absent[0]} is not set; this is no task of a Slurm job array")
    task, first, last, step, count = (int(value) for value in found.values())
    # An array such as 1,5,7 has tasks that no step leads to, and then nobody knows which place this one has.
    if step < 1 or (task - first) % step or (last - first) // step + 1 != count:
        raise BenchError(f"--shard {SLURM}: the job array has gaps; submit it as --array=1-N")
    return (task - first) // step, count
