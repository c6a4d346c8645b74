"""Scoring entries in this process: load each model, let it predict, compare, and make its row."""

import gc
import platform
import time
import traceback
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from bench_core import policy, threads
from bench_core.errors import BenchError, ExitCode
from bench_core.machine import cpu_model
from bench_core.results import Conditions, Status
from bench_core.scores import (
    PREDICTIONS_SUFFIX,
    SCHEMA_VERSION,
    STRUCTURES,
    ModelTiming,
    ScoredData,
    ScoreResult,
    write_predictions,
    write_structures,
)
from bench_core.session import failed, peak_rss_bytes, shared_versions

from bench_score import pools, scoring, world
from bench_score.config import ScoreConfig, config_sha256
from bench_score.dataset import Dataset
from bench_score.label import file_stem
from bench_score.model import Entry, Family, Model, Want
from bench_score.neighbours import neighbour_lists
from bench_score.parts import data_folder, write_part
from bench_score.prediction import Predicted, Progress, predict
from bench_score.registry import find_family
from bench_score.sources import load_dataset
from bench_score.structure import Neighbours

NOT_YET = ""  # a row's run and time are known once its run is complete


class Ready(NamedTuple):
    """A loaded model, with the neighbour lists it wants."""

    family: Family
    model: Model
    lists: Sequence[Neighbours] | None
    load_sec: float


class Benchmark:
    """Some entries of a configuration, scored one after the other in this process.

    Under a launcher such as torchrun the structures are shared by its processes, and the first has the rows.
    """

    def __init__(
        self,
        cfg: ScoreConfig,
        entries: Sequence[Entry] | None = None,
        part: str | None = None,
        *,
        dataset: Dataset | None = None,
        cache: Path = Path(policy.SCORE_CACHE),
        at_once: int = 1,
        lock_sha256: str | None = None,
        made: Mapping[str, str] | None = None,
        progress: Progress = lambda done, total: None,
    ) -> None:
        """`entries` are all of the configuration's where none are named; their rows are written as part `part`.

        `lock_sha256` and `made` (see bench_score.identity) are what only the conductor knows.
        """
        self.config = cfg
        self.entries = tuple(cfg.entries() if entries is None else entries)
        self.part = part
        self.dataset = load_dataset(cfg.data) if dataset is None else dataset
        self.folder = data_folder(cfg, self.dataset.name)
        self._cache, self._at_once, self._lock_sha256, self._progress = cache, at_once, lock_sha256, progress
        self._made = made
        self._structures = scoring.structures_of(self.dataset)

    def run(self) -> list[ScoreResult]:
        """Score every entry; one that fails is a row that says so. Empty where another process has the rows.

        Raises:
            BenchError: the configuration's zero or metrics do not fit the data, or nothing can be written.
        """
        scoring.check(self.config, self.dataset)
        with_others = world.join(self.config.device)
        try:
            rows = []
            for place, entry in enumerate(self.entries):
                rows.append(self._row(f"model {place}", entry, with_others))
                gc.collect()  # the next model needs the room
        finally:
            with_others.close()
        if with_others.rank != 0:
            return []
        write_structures(self.folder / STRUCTURES, self._structures)
        if self.part is not None:
            write_part(self.config, rows, self.part, self._made)
        return rows

    def _row(self, turn: str, entry: Entry, with_others: world.World) -> ScoreResult:
        """The row of an entry; `turn` is what processes that share the structures compare before they go on."""
        try:
            return self._scored(turn, entry, with_others)
        except BenchError as error:
            if error.code in (ExitCode.OUTPUT, ExitCode.BUNDLE):
                raise
            status = Status.UNAVAILABLE if error.code is ExitCode.ENVIRONMENT else Status.ERROR
            detail = error.detail if isinstance(error, world.FailedElsewhere) else None
            return failed_row(self.config, self.dataset, entry, status, str(error), detail)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  one bad checkpoint is one row, whatever it raises: sys.exit too
            traceback.print_exc()  # whole, in the log
            failure = failed(error)
            return failed_row(self.config, self.dataset, entry, Status.ERROR, failure.reason, failure.detail)

    def _scored(self, turn: str, entry: Entry, with_others: world.World) -> ScoreResult:
        config, dataset = self.config, self.dataset
        began = time.perf_counter()
        ready = with_others.together(f"{turn}: load", lambda: self._ready(entry))
        self._still_here(0, 0)
        found = predict(
            *(ready.model, dataset, ready.lists, self._want(), config.data.batch_size, with_others, self._progress),
            step=f"{turn}: predict",
        )
        row = with_others.together(f"{turn}: score", lambda: self._compared(entry, ready, found, with_others))
        if row.status is Status.OK:
            row = msgspec.structs.replace(
                row, timing=self._timing(ready, found, time.perf_counter() - began, with_others)
            )
        return row

    def _ready(self, entry: Entry) -> Ready:
        """The model, and the lists it is asked with."""
        config = self.config
        began = time.perf_counter()
        family = find_family(entry.family)
        pools.ask(config.threads)  # loading may work for long
        device = "cuda" if config.device == "gpu" else "cpu"
        model = family.load(entry, device)
        _check_device(entry, model, device)
        load_sec = time.perf_counter() - began
        pools.require(config.threads)  # once more: the model may have brought pools of its own
        lists = None
        if model.cutoff_angstrom is not None:
            lists = neighbour_lists(
                self.dataset, model.cutoff_angstrom, self._cache, self._still_here, workers=config.data.workers
            )
        return Ready(family, model, lists, load_sec)

    def _compared(self, entry: Entry, ready: Ready, found: Predicted, with_others: world.World) -> ScoreResult:
        config, dataset = self.config, self.dataset
        cover = scoring.coverage(dataset, ready.model, found)
        base = blank_row(config, dataset, entry, Status.OK)
        described = self._described(entry, ready.family, ready.model, with_others)
        if not cover.num_scored:
            reason = cover.failures[0] if cover.failures else "it knows the elements of no structure"
            return _replace(
                base, described, status=Status.ERROR, reason=f"scored no structure: {reason}", coverage=cover
            )
        predictions = scoring.compare(config, dataset, found)
        scores = scoring.score(config, dataset, predictions, self._structures.groups)
        if with_others.rank == 0:
            write_predictions(self.folder / f"{file_stem(entry.label)}{PREDICTIONS_SUFFIX}", predictions)
        return _replace(base, described, coverage=cover, scores=scores)

    def _timing(self, ready: Ready, found: Predicted, wall_sec: float, with_others: world.World) -> ModelTiming:
        seconds = found.seconds[np.isfinite(found.seconds)]
        return ModelTiming(
            median_sec_per_structure=float(np.median(seconds)),
            predict_sec=float(seconds.sum()),
            load_sec=ready.load_sec,
            # Of what other processes predicted meanwhile, this one has waited for its share alone.
            engine_sec=max(0.0, wall_sec - ready.load_sec - float(seconds.sum()) / with_others.size),
            at_once=self._at_once * with_others.size,
            peak_rss_bytes=peak_rss_bytes() if len(self.entries) == 1 else None,
        )

    def _still_here(self, done: int, total: int) -> None:
        """Say that something was done, and no structure predicted yet."""
        self._progress(0, len(self.dataset))

    def _want(self) -> Want:
        """Derivatives that are scored and that the data have."""
        targets = {target for target, _ in self.config.metrics}
        return Want(
            forces="forces" in targets and any(s.forces is not None for s in self.dataset.structures),
            stress="stress" in targets and any(s.stress is not None for s in self.dataset.structures),
        )

    def _described(self, entry: Entry, family: Family, model: Model, with_others: world.World) -> dict[str, Any]:
        config = self.config
        return {
            "level_of_theory": entry.level_of_theory or model.level_of_theory,
            "num_parameters": int(model.num_parameters),
            "cutoff_angstrom": None if model.cutoff_angstrom is None else float(model.cutoff_angstrom),
            "checkpoint_sha256": model.checkpoint_sha256,
            "trusted": model.trusted,
            "num_processes": with_others.size,
            "versions": {name: found for name in family.distributions if (found := _version(name))},
            "conditions": Conditions(
                python=platform.python_version(),
                platform=f"{platform.system()} {platform.machine()}",
                cpu=cpu_model(),
                device=config.device,
                threads_asked=config.threads,
                threads_read=pools.read(),
                affinity=threads.affinity(),
                isolation="spawn",
                lock_sha256=self._lock_sha256,
                shared_versions=shared_versions(),
            ),
        }


def _check_device(entry: Entry, model: Model, asked: str) -> None:
    """Where the model is, is where it was asked to be; one that does not tell is believed."""
    said = getattr(model, "device", None)
    if said is not None and str(said).partition(":")[0] != asked:
        raise BenchError(
            f"model {entry.label!r}: asked for {asked}, and its parameters are on {said}", ExitCode.ENVIRONMENT
        )


def blank_row(config: ScoreConfig, dataset: Dataset, entry: Entry, status: Status) -> ScoreResult:
    """What is known of an entry before it is loaded."""
    return ScoreResult(
        schema_version=SCHEMA_VERSION,
        kind="score",
        run_id=NOT_YET,
        created_at=NOT_YET,
        label=entry.label,
        family=entry.family,
        device=config.device,
        checkpoint=None if entry.checkpoint is None else Path(entry.checkpoint).name,
        checkpoint_sha256=None,
        trusted=entry.trust_checkpoint,
        status=status,
        data=scored_data(config, dataset),
        config_sha256=config_sha256(config),
        seed=config.seed,
    )


def failed_row(
    config: ScoreConfig, dataset: Dataset, entry: Entry, status: Status, reason: str, detail: str | None = None
) -> ScoreResult:
    """The row of an entry that has no score, with the reason."""
    return _replace(blank_row(config, dataset, entry, status), {}, reason=reason, detail=detail)


def scored_data(config: ScoreConfig, dataset: Dataset) -> ScoredData:
    groups = scoring.structures_of(dataset).groups
    return ScoredData(
        name=dataset.name,
        num_structures=len(dataset.structures),
        num_groups=int(groups.max()) + 1,
        fingerprint=dataset.fingerprint,
        level_of_theory=config.data.level_of_theory or dataset.level_of_theory,
        zero=zero_in_words(config, dataset),
        pressure_only=dataset.pressure_only,
    )


def zero_in_words(config: ScoreConfig, dataset: Dataset) -> str:
    """What compared energies are relative to, for a reader of the table."""
    said = config.atomic_energies
    if said is None:
        return dataset.energy_zero or "as in the data and as predicted"
    if said == "average":
        return "per-element energies fitted by least squares, to the labels and to each model's predictions"
    if said == "group":
        return "the reference structure of each group" if dataset.references else "the mean of each group"
    return "atomic energies of the configuration, subtracted from labels and predictions alike"


def _replace(row: ScoreResult, described: dict[str, Any], **values: Any) -> ScoreResult:
    return msgspec.structs.replace(row, **described, **values)


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
