"""Scoring from Python: what other programs may call. The command `bench score` is made of the same."""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from bench_core import policy
from bench_core.scores import ScoreResult

from bench_score import world
from bench_score.benchmark import Benchmark
from bench_score.conductor import Interpreters, conduct, visible_gpus
from bench_score.config import ScoreConfig, load_config, parse_config
from bench_score.finish import begin, finish
from bench_score.metrics import register_metric
from bench_score.parts import labels_done, merge_parts, part_tag, write_part
from bench_score.registry import register_model
from bench_score.selection import select_entries
from bench_score.sources import load_dataset
from bench_score.table import column_units
from bench_score.writers import register_writer, write_report

__all__ = [
    "Benchmark",
    "column_units",
    "load_config",
    "merge_parts",
    "parse_config",
    "part_tag",
    "register_metric",
    "register_model",
    "register_writer",
    "run_benchmark",
    "run_parallel",
    "select_entries",
    "write_part",
    "write_report",
]


def run_benchmark(cfg: ScoreConfig) -> list[ScoreResult]:
    """Score every model of a configuration in this process, and write tables and bundle.

    Under torchrun every process calls this; the first one writes, and the others return no rows.

    Raises:
        BenchError: the output is in use or cannot be written, or the data cannot be scored on.
    """
    cfg = with_output(cfg)
    first = not world.is_shared() or world.rank_of_launcher() == 0
    if first:
        begin(cfg, None)
    rows = Benchmark(cfg).run()
    if first:
        finish(cfg, rows)
    return rows


def run_parallel(raw: Mapping[str, Any], workers: int | None = None) -> list[ScoreResult]:
    """Score the models of an unchecked configuration in processes of this Python, `workers` at once, and merge.

    `workers` None is one for each GPU, or one on the CPU. On GPUs each process has one to itself.

    Raises:
        BenchError: the configuration says something impossible, or the output cannot be written.
    """
    cfg = with_output(parse_config(raw, base=Path.cwd()))
    begin(cfg, None)
    dataset, interpreters = load_dataset(cfg.data), here(cfg.entries())
    done = labels_done(merge_parts(cfg, dataset.fingerprint, interpreters.made_by(cfg, cfg.entries())))
    entries = [entry for entry in select_entries(cfg) if entry.label not in done]
    gpus = visible_gpus() if cfg.device == "gpu" else []
    if entries:
        conduct(
            cfg,
            entries,
            dataset,
            interpreters,
            cache=Path(policy.SCORE_CACHE),
            at_once=workers or len(gpus) or 1,
            gpus=gpus,
        )
    rows = list(merge_parts(cfg).rows)
    finish(cfg, rows)
    return rows


def here(entries: Sequence[Any]) -> Interpreters:
    """This Python for every family: in a container or on a cluster, where somebody else made it."""
    families = dict.fromkeys(entry.family for entry in entries)
    return Interpreters(python=dict.fromkeys(families, Path(sys.executable)), locks=dict.fromkeys(families), missing={})


def with_output(cfg: ScoreConfig) -> ScoreConfig:
    """The same with a folder to write to: a new one by time and name where the configuration names none."""
    if cfg.output.dir is not None:
        return cfg
    folder = Path(policy.SCORE_RUNS).absolute() / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{cfg.name}"
    return msgspec.structs.replace(cfg, output=msgspec.structs.replace(cfg.output, dir=str(folder)))
