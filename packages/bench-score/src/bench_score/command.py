"""`bench score`: score pre-trained models on one dataset, each family in its own environment."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from bench_core import policy, suggest, terminal
from bench_core.errors import BenchError, ExitCode
from bench_core.matrix import Matrix, find_root, load_matrix
from bench_core.results import Status
from bench_core.scores import ScoreResult
from bench_core.settings import split_names

from bench_score import world
from bench_score.config import ScoreConfig, load_config
from bench_score.model import Entry

HELP = "score pre-trained models on one dataset"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", type=Path, required=True, help="what is scored: TOML, or YAML")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="replace a value, such as data.batch_size=4"
    )
    parser.add_argument("--device", metavar="NAME", help="cpu or gpu, instead of the configuration's")
    parser.add_argument("--output", metavar="DIR", type=Path, help=f"the run's folder ({policy.SCORE_RUNS}/TIME-NAME)")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --output, or in output.dir")
    parser.add_argument(
        "--trust-checkpoint",
        action="store_true",
        help="open checkpoints that can run code when they are loaded; recorded in the result",
    )
    parser.add_argument(
        "--here", action="store_true", help="score in the current Python instead of managed environments"
    )
    parser.add_argument(
        "--family",
        metavar="NAME",
        type=split_names,
        action="extend",
        help="only these families (several with commas): a run of their own",
    )
    which = parser.add_argument_group(
        "some of the models", "Each command writes parts into one folder; --merge makes the table of all."
    )
    which.add_argument("--models", metavar="LABEL|INDEX", nargs="+", help="only these models; indexes count from 0")
    which.add_argument("--shard", metavar="I/N|slurm", help="every N-th model, from the I-th; slurm: this array task")
    which.add_argument("--merge", action="store_true", help="put the parts in --output together, and score nothing")
    which.add_argument(
        "--parallel",
        metavar="N",
        nargs="?",
        type=int,
        const=0,
        default=1,
        help="models at once: one for each GPU, or N; times beside each other say little",
    )


def run(args: argparse.Namespace) -> int:
    config = _config(args)
    if world.is_shared():
        return _shared(config, args)
    if args.merge:
        return _merge(config)
    return _conduct(config, args)


def _config(args: argparse.Namespace) -> ScoreConfig:
    """The configuration with what the options replace.

    Raises:
        BenchError: something unknown, or options that contradict each other.
    """
    if args.merge and (args.models or args.shard):
        raise BenchError("--merge takes all parts; leave --models and --shard out")
    if args.parallel < 0:
        raise BenchError(f"--parallel {args.parallel}: at least 1, or no number for one on each GPU")
    config = load_config(args.config, args.set)
    changes: dict[str, Any] = {}
    if args.device is not None:
        changes["device"] = args.device
    if args.trust_checkpoint:
        changes["trust_checkpoint"] = True
    if args.output is not None:
        changes["output"] = msgspec.structs.replace(config.output, dir=str(args.output.absolute()))
    if args.family:
        changes["models"] = _of_families(config, args.family, args.config)
    config = msgspec.structs.replace(config, **changes)
    if config.device not in {"cpu", "gpu"}:
        raise suggest.unknown("device", config.device, ["cpu", "gpu"], source="--device")
    return config


def _of_families(config: ScoreConfig, families: Sequence[str], source: Path) -> tuple[Any, ...]:
    known = list(dict.fromkeys(model.family for model in config.models))
    for name in families:
        if name not in known:
            if (root := _root()) is not None and name in load_matrix(root).families:
                raise BenchError(
                    f"--family {name}: {source} names no model of it (its families: {', '.join(known)}); "
                    "name a configuration that does with --config"
                )
            raise suggest.unknown("family", name, known, source="--family")
    return tuple(model for model in config.models if model.family in families)


def _shared(config: ScoreConfig, args: argparse.Namespace) -> int:
    """One of the processes that a launcher started: in this Python, whatever the matrix says."""
    from bench_score import runner

    if args.models or args.shard or args.merge or args.parallel != 1:
        raise BenchError(
            "a launcher such as torchrun shares structures; leave --models, --shard, --merge, --parallel out"
        )
    rows = runner.run_benchmark(config)
    return _end(config, rows, ()) if rows else int(ExitCode.OK)


def _merge(config: ScoreConfig) -> int:
    from bench_core.bundle import is_committed, load_bundle

    from bench_score.finish import begin, finish
    from bench_score.parts import merge_parts, output_folder

    folder = output_folder(config)
    merged = merge_parts(config)
    if not merged.rows:
        raise BenchError(f"{folder}: there is no part to merge", ExitCode.MISSING_PART)
    if is_committed(folder):
        load_bundle(folder)  # merged before, and not changed since
        return _end(config, merged.rows, merged.missing)
    with _alone(folder, shared=False):
        begin(config, _root())
        finish(config, merged.rows, complete=not merged.missing)
    return _end(config, merged.rows, merged.missing)


def _conduct(config: ScoreConfig, args: argparse.Namespace) -> int:
    from bench_core.bundle import CONFIG
    from bench_core.device import require
    from bench_core.invocation import command

    from bench_score import conductor, parts, runner, scoring
    from bench_score.finish import begin, finish
    from bench_score.selection import select_entries
    from bench_score.sources import load_dataset

    require(config.device)
    some = bool(args.models or args.shard)
    if some or args.resume:
        parts.output_folder(config)  # has to be said, or parts would not meet
    config = runner.with_output(config)
    entries = chosen = select_entries(config, args.models, args.shard)
    folder = parts.output_folder(config)
    dataset = load_dataset(config.data)
    scoring.check(config, dataset)
    conductor.end_on_sigterm()
    with _alone(folder, shared=some):
        begun = _begun(folder)
        if begun and not (args.resume or some):
            raise BenchError(
                f"{folder}: is not empty; go on with it by adding --resume, or choose another --output", ExitCode.OUTPUT
            )
        done = parts.labels_done(parts.merge_parts(config, dataset.fingerprint))
        if args.resume or not some:
            entries = tuple(entry for entry in entries if entry.label not in done)
        root = _root()
        interpreters = runner.here(entries) if args.here or root is None else _managed(root, entries)
        begin(config, root)
        gpus = conductor.visible_gpus() if config.device == "gpu" else []
        if entries:
            try:
                conductor.conduct(
                    config,
                    entries,
                    dataset,
                    interpreters,
                    cache=(root or Path.cwd()) / policy.SCORE_CACHE,
                    at_once=args.parallel or len(gpus) or 1,
                    gpus=gpus,
                )
            except KeyboardInterrupt:
                again = command("score", "--config", folder / CONFIG, "--resume")
                print(f"bench: interrupted; what was scored is kept. Go on with: {again}", file=sys.stderr)
                return int(ExitCode.INTERRUPTED)
        merged = parts.merge_parts(config, dataset.fingerprint)
        if some:
            return _part_written(config, chosen, merged)
        finish(config, merged.rows, complete=not merged.missing)
    return _end(config, merged.rows, merged.missing)


def _begun(folder: Path) -> bool:
    from bench_core.bundle import LOCK

    return any(path.name != LOCK for path in folder.iterdir())


@contextmanager
def _alone(folder: Path, *, shared: bool) -> Iterator[None]:
    """The folder for this process alone; parts are written by many. What was refused leaves no folder behind."""
    from bench_core.bundle import LOCK
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK, blocking=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not shared:
            lock.acquire()
    except Timeout as error:
        raise BenchError(
            f"{folder}: another bench is writing there; wait for it or choose another --output", ExitCode.OUTPUT
        ) from error
    except OSError as error:
        raise BenchError(f"cannot write {error.filename or folder}: {error.strerror}", ExitCode.OUTPUT) from error
    try:
        yield
    finally:
        if not _begun(folder):
            with suppress(OSError):  # somebody else has begun there
                (folder / LOCK).unlink(missing_ok=True)
                folder.rmdir()
        lock.release()


def _managed(root: Path, entries: Sequence[Entry]) -> Any:
    """Each family's own locked environment. One that cannot be built is said, and its models are unavailable."""
    from bench_core import environment

    from bench_score.conductor import Interpreters

    matrix = load_matrix(root)
    python: dict[str, Path] = {}
    missing: dict[str, str] = {}
    for family in dict.fromkeys(entry.family for entry in entries):
        _known(matrix, family)
        try:
            python[family] = environment.ensure(root, matrix, family)
        except BenchError as error:
            print(f"bench: {error}", file=sys.stderr)
            missing[family] = f"the environment {family} could not be built: {str(error).splitlines()[0]}"
    locks = {family: environment.lock_sha256(root, family) for family in python}
    return Interpreters(python=python, locks=locks, missing=missing)


def _known(matrix: Matrix, family: str) -> None:
    if family not in matrix.families:
        raise suggest.unknown("family", family, matrix.families, source="models", hint="matrix.toml")


def _root() -> Path | None:
    """The checkout, where there is one: a launcher may run in an installed Python alone."""
    try:
        return find_root()
    except BenchError:
        return None


def _part_written(config: ScoreConfig, entries: Sequence[Entry], merged: Any) -> int:
    from bench_score.console import shown

    labels = {entry.label for entry in entries}
    print(shown(config, [row for row in merged.rows if row.label in labels]))
    print(f"Parts are in {config.output.dir}. When all are there: the same command with --merge")
    failed = any(row.status is not Status.OK for row in merged.rows if row.label in labels)
    return int(ExitCode.INCOMPLETE if failed else ExitCode.OK)


def _end(config: ScoreConfig, rows: Sequence[ScoreResult], missing: Sequence[str]) -> int:
    from bench_core.invocation import command

    from bench_score.console import shown

    print(shown(config, rows))
    for row in rows:
        if row.status is not Status.OK:
            print(terminal.visible(f"  {row.label}: {row.status}: {row.reason}"))
    if missing:
        print(f"Not scored yet, and not in the table: {terminal.visible(', '.join(missing))}")
        return int(ExitCode.MISSING_PART)
    print(f"The run: {config.output.dir}\nTables and pictures: {command('report', Path(str(config.output.dir)))}")
    return int(ExitCode.OK if all(row.status is Status.OK for row in rows) else ExitCode.INCOMPLETE)
