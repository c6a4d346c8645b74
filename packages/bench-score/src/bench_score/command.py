"""`bench score`: score pre-trained models on one dataset, each family in its own environment."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from bench_core import policy, suggest, terminal
from bench_core.errors import BenchError, ExitCode
from bench_core.matrix import find_root, load_matrix
from bench_core.results import Status
from bench_core.scores import ScoreResult
from bench_core.settings import split_names

from bench_score import world
from bench_score.config import DEVICES, ScoreConfig, load_config
from bench_score.model import Entry

if TYPE_CHECKING:
    from bench_score.conductor import Interpreters
    from bench_score.dataset import Dataset

ANOTHER = "choose another --output"
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
    try:
        _refuse_what_does_not_apply(args)
        config = _config(args)
        if world.is_shared():
            return _shared(config)
        if args.merge:
            return _merge(config)
        return _conduct(config, args)
    except KeyboardInterrupt:
        print("bench: interrupted before anything was scored", file=sys.stderr)
        return int(ExitCode.INTERRUPTED)


def _refuse_what_does_not_apply(args: argparse.Namespace) -> None:
    said = {"--models": args.models, "--shard": args.shard, "--parallel": args.parallel != 1, "--resume": args.resume}
    if args.merge:
        _refuse("--merge takes all parts that are there, and scores nothing", said | {"--here": args.here})
    if world.is_shared():
        _refuse("a launcher such as torchrun shares structures of one run", said | {"--merge": args.merge})
    if args.parallel < 0:
        raise BenchError(f"--parallel {args.parallel}: at least 1, or no number for one on each GPU")


def _refuse(because: str, said: Mapping[str, Any]) -> None:
    found = [name for name, value in said.items() if value]
    if found:
        raise BenchError(f"{because}; leave {' and '.join(found)} out")


def _config(args: argparse.Namespace) -> ScoreConfig:
    """The configuration with what the options replace.

    Raises:
        BenchError: something unknown.
    """
    config = load_config(args.config, args.set)
    changes: dict[str, Any] = {}
    if args.device is not None:
        changes["device"] = args.device
    if config.trust_checkpoint and not args.trust_checkpoint:
        raise BenchError(
            f"{args.config}: says trust_checkpoint = true, which lets checkpoints run code, and a file cannot vouch "
            "for that; if you trust whoever made the checkpoints, add --trust-checkpoint"
        )
    if args.trust_checkpoint:
        changes["trust_checkpoint"] = True
    if args.output is not None:
        changes["output"] = msgspec.structs.replace(config.output, dir=str(args.output.absolute()))
    if args.family:
        changes["models"] = _of_families(config, args.family, args.config)
    config = msgspec.structs.replace(config, **changes)
    if config.device not in DEVICES:
        raise suggest.unknown("device", config.device, DEVICES, source="--device")
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


def _shared(config: ScoreConfig) -> int:
    """One of the processes that a launcher started: in this Python, whatever the matrix says."""
    from bench_core.device import require

    from bench_score import runner
    from bench_score.folder import opened

    require(config.device)
    config = runner.with_output(config)
    if world.rank_of_launcher() != 0:
        runner.run_benchmark(config)
        return int(ExitCode.OK)
    with opened(config, None, refusal=f"{ANOTHER}: what a launcher starts is not gone on with"):
        rows = runner.run_benchmark(config)
    return _end(config, rows)


def _merge(config: ScoreConfig) -> int:
    from bench_core.bundle import is_committed, load_bundle

    from bench_score.finish import check_files, finish
    from bench_score.folder import opened
    from bench_score.identity import made_by_files
    from bench_score.parts import merge_parts, output_folder

    folder = output_folder(config)
    merged = merge_parts(config, made=made_by_files(config, config.entries()))
    if not merged.rows:
        raise BenchError(f"{folder}: there is no part to merge", ExitCode.MISSING_PART)
    check_files(config, merged.rows)
    if is_committed(folder):
        load_bundle(folder)  # merged before, and not changed since
    else:
        with opened(config, _root()):
            finish(config, merged.rows, complete=not merged.missing)
    return _end(config, merged.rows, merged.missing, merged.failed_again)


def _conduct(config: ScoreConfig, args: argparse.Namespace) -> int:
    """Check all that can be checked, open the folder, score what is to be scored, and make the table."""
    from bench_core.bundle import CONFIG
    from bench_core.invocation import command

    from bench_score import conductor
    from bench_score.folder import opened
    from bench_score.parts import output_folder

    config, job = _checked(config, args)
    conductor.end_on_sigterm()
    refusal = None if args.resume or job.some else f"go on with it by adding --resume, or {ANOTHER}"
    with opened(config, job.root, shared=job.some, refusal=refusal):
        try:
            return _scored(config, job, args)
        except KeyboardInterrupt:
            said = [*(["--here"] if args.here else []), *_trust(config)]
            again = command("score", "--config", output_folder(config) / CONFIG, "--resume", *said)
            print(f"bench: interrupted; what was scored is kept. Go on with: {again}", file=sys.stderr)
            return int(ExitCode.INTERRUPTED)


def _trust(config: ScoreConfig) -> list[str]:
    """The option that a configuration cannot stand for."""
    return ["--trust-checkpoint"] if config.trust_checkpoint else []


class _Job(NamedTuple):
    """What is to be done, once it is known to be possible."""

    dataset: "Dataset"
    chosen: tuple[Entry, ...]
    some: bool  # the command names models: they are parts, whose table is made later
    root: Path | None  # of the checkout, where there is one
    managed: bool  # by the families' own environments, which have to be built
    interpreters: "Interpreters"


def _checked(config: ScoreConfig, args: argparse.Namespace) -> tuple[ScoreConfig, _Job]:
    """The configuration with its folder, and the job.

    Raises:
        BenchError: the device, the data or a family is not there, or the configuration does not fit the data.
    """
    from bench_core.device import require

    from bench_score import environments, parts, runner, scoring
    from bench_score.selection import select_entries
    from bench_score.sources import load_dataset

    require(config.device)
    some = bool(args.models or args.shard)
    if some or args.resume:
        parts.output_folder(config)  # has to be said, or parts would not meet
    config = runner.with_output(config)
    chosen = select_entries(config, args.models, args.shard)
    dataset = load_dataset(config.data)
    scoring.check(config, dataset)
    if args.here:
        return config, _Job(dataset, chosen, some, _root(), False, runner.here(config.entries()))
    root = find_root()  # of the families' environments
    return config, _Job(dataset, chosen, some, root, True, environments.known(root, config, chosen))


def _scored(config: ScoreConfig, job: _Job, args: argparse.Namespace) -> int:
    from bench_score import conductor, environments, parts
    from bench_score.finish import finish

    made = job.interpreters.made_by(config, config.entries())
    done = parts.labels_done(parts.merge_parts(config, job.dataset.fingerprint, made))
    # Who names a model has it scored, unless told to go on.
    entries = [entry for entry in job.chosen if entry.label not in done or (job.some and not args.resume)]
    gpus = conductor.visible_gpus() if config.device == "gpu" else []
    if entries:
        interpreters = job.interpreters
        if job.managed and job.root is not None:
            interpreters = environments.build(job.root, interpreters, entries)
        conductor.conduct(
            config,
            entries,
            job.dataset,
            interpreters,
            cache=(job.root or Path.cwd()) / policy.SCORE_CACHE,
            at_once=args.parallel or len(gpus) or 1,
            gpus=gpus,
        )
    merged = parts.merge_parts(config, job.dataset.fingerprint, made)
    if job.some:
        return _part_written(config, job.chosen, merged)
    finish(config, merged.rows, complete=not merged.missing)
    return _end(config, merged.rows, merged.missing, merged.failed_again)


def _root() -> Path | None:
    """The checkout, where there is one: a launcher may run in an installed Python alone."""
    try:
        return find_root()
    except BenchError:
        return None


def _part_written(config: ScoreConfig, entries: Sequence[Entry], merged: Any) -> int:
    from bench_core.bundle import CONFIG
    from bench_core.invocation import command

    from bench_score.console import shown

    labels = {entry.label for entry in entries}
    rows = [row for row in merged.rows if row.label in labels]
    again = [row for row in merged.failed_again if row.label in labels]
    print(shown(config, rows))
    _tell_failures(rows, again)
    folder = Path(str(config.output.dir))
    merging = command("score", "--config", folder / CONFIG, "--merge", *_trust(config))
    print(f"Parts are in {folder}. When all are there: {merging}")
    return int(_code(rows, again))


def _tell_failures(rows: Sequence[ScoreResult], again: Sequence[ScoreResult]) -> None:
    for row in rows:
        if row.status is not Status.OK:
            print(terminal.visible(f"  {row.label}: {row.status}: {row.reason}"))
    for row in again:
        print(terminal.visible(f"  {row.label}: its earlier score is kept; this time {row.status}: {row.reason}"))


def _code(rows: Sequence[ScoreResult], again: Sequence[ScoreResult] = ()) -> ExitCode:
    failed = again or any(row.status is not Status.OK for row in rows)
    return ExitCode.INCOMPLETE if failed else ExitCode.OK


def _end(
    config: ScoreConfig,
    rows: Sequence[ScoreResult],
    missing: Sequence[str] = (),
    again: Sequence[ScoreResult] = (),
) -> int:
    from bench_core.invocation import command

    from bench_score.console import shown

    print(shown(config, rows))
    _tell_failures(rows, again)
    if missing:
        print(f"Not scored yet, and not in the table: {terminal.visible(', '.join(missing))}")
        return int(ExitCode.MISSING_PART)
    print(f"The run: {config.output.dir}\nTables and pictures: {command('report', Path(str(config.output.dir)))}")
    return int(_code(rows))
