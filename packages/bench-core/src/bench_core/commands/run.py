"""`bench run`: measure what a configuration describes, or continue a run that was interrupted."""

import argparse
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bench_core import terminal
from bench_core.catalog import load_catalog
from bench_core.commands.plan import headline
from bench_core.config import FILE_NAME, Config, differences, run_name
from bench_core.errors import BenchError, ExitCode
from bench_core.invocation import command
from bench_core.matrix import Matrix, find_root, load_matrix
from bench_core.options import add_config_arguments, config_from, config_of_run, describes_a_run
from bench_core.plan import make_plan
from bench_core.policy import RUNS

if TYPE_CHECKING:
    from bench_core.execution import Outcome

HELP = "measure; every finished measurement is kept, whatever happens"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    where = parser.add_argument_group("where").add_mutually_exclusive_group()
    where.add_argument("--output", metavar="DIR", type=Path, help=f"the new run's folder ({RUNS}/TIME-PROFILE)")
    where.add_argument("--resume", metavar="DIR", type=Path, help="continue this run with its own configuration")
    parser.add_argument(
        "--here", action="store_true", help="measure in the current Python instead of managed environments"
    )
    add_config_arguments(parser)


def run(args: argparse.Namespace) -> int:
    root = find_root()
    matrix = load_matrix(root)
    config = _config(args, root, matrix)
    catalog = load_catalog()
    plan = make_plan(matrix, catalog, config)

    from bench_core.device import require

    require(config.device)  # before an environment is built for nothing
    now = datetime.now(UTC)
    output = args.resume or args.output or root / RUNS / run_name(now, config)
    try:
        from bench_core import execution
    except ModuleNotFoundError as error:
        raise BenchError(
            f"this Python lacks {error.name}, which conducting a run needs; install it with: "
            "uv pip install -e 'packages/bench-core[conduct,sample]'",
            ExitCode.ENVIRONMENT,
        ) from error

    from bench_core.disturbance import warnings

    whole = " for the whole run; what is measured already is not measured again" if args.resume else ""
    print(f"bench: {headline(plan, config)}{whole}", file=sys.stderr)
    for warning in warnings():
        print(f"bench: warning: {warning}", file=sys.stderr)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's way to say Ctrl-C
    find = execution.here if args.here else execution.managed
    try:
        outcome = execution.execute(
            root,
            matrix,
            catalog,
            config,
            plan,
            output,
            interpreters=lambda: find(root, matrix, plan),
            now=now,
            resume=args.resume is not None,
        )
    except KeyboardInterrupt:
        print(_interrupted(output), file=sys.stderr)
        return ExitCode.INTERRUPTED
    print(terminal.visible(_finished(outcome)))
    return outcome.code


def _config(args: argparse.Namespace, root: Path, matrix: Matrix) -> Config:
    """The run's own configuration with --resume, else what the options describe.

    Raises:
        BenchError: there is no run to resume, or options given with --resume describe another one.
    """
    if args.resume is None:
        return config_from(args, root, matrix)
    if not (args.resume / FILE_NAME).is_file():
        raise BenchError(f"--resume: {args.resume} holds no run (there is no {FILE_NAME})", ExitCode.RESUME)
    there = config_of_run(args.resume, root, matrix)
    if describes_a_run(args):
        changed = differences(there, config_from(args, root, matrix))
        if changed:
            raise BenchError(
                f"--resume: {args.resume} was started with another configuration ({'; '.join(changed)}); "
                "continue it without these options, or start a new run without --resume",
                ExitCode.RESUME,
            )
    return there


def _interrupted(output: Path) -> str:
    if not (output / FILE_NAME).is_file():
        return "bench: interrupted before anything was measured"
    return f"bench: interrupted; what was measured is kept. Continue with: {command('run', '--resume', output)}"


def _finished(outcome: "Outcome") -> str:
    counted = ", ".join(f"{count} {status}" for status, count in outcome.counts.items())
    count = sum(outcome.counts.values())
    lines = [f"{outcome.folder}: {count} measurement{'' if count == 1 else 's'} ({counted})"]
    lost = {
        result.library: found.reason
        for result in outcome.results
        for found in result.measurements.values()
        if found.status == "unavailable"
    }
    lines += [f"  {library} could not be measured: {reason}" for library, reason in lost.items()]
    return "\n".join([*lines, f"Tables: {command('report', outcome.folder)}"])
