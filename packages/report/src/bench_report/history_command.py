"""`bench history`: the same cells over many runs, with the steps between them."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench_core.policy import RUNS

if TYPE_CHECKING:
    from bench_core.bundle import Bundle

    from bench_report.regression import Rules

HELP = "the same cells over many runs, with changes of speed or of scores marked"
LAST = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", metavar="DIR", type=Path, nargs="*", help=f"committed runs, or folders that hold such ({RUNS})"
    )
    parser.add_argument(
        "--control",
        metavar="LIBRARY",
        help="a library in all runs that is known not to have changed: steps are judged relative to it",
    )
    parser.add_argument("--last", metavar="N", type=int, default=LAST, help=f"newest runs shown in Markdown ({LAST})")
    parser.add_argument("--format", metavar="NAMES", default="md", help="of md,csv; the first is printed (md)")
    parser.add_argument(
        "--output", metavar="FILE", type=Path, help="also write it there; of two formats, with each one's ending"
    )


def run(args: argparse.Namespace) -> int:
    import sys

    from bench_core.errors import BenchError
    from bench_core.files import write_atomically
    from bench_core.matrix import find_root

    from bench_report.history import find_runs
    from bench_report.history_views import writers
    from bench_report.outputs import chosen_formats, places
    from bench_report.regression import Rules

    if args.last < 1:
        raise BenchError(f"--last {args.last}: expected 1 or more")
    rules = Rules(control=args.control)
    formats = chosen_formats(args.format, writers(rules, args.last))
    targets = places(args.output, formats)
    runs = find_runs(args.runs or [find_root() / RUNS])
    scored = [run for run in runs if run.scores]
    if scored and len(scored) < len(runs):
        raise BenchError(
            f"{scored[0].path} holds scores of models and others hold speeds, which have histories of their own: "
            "name runs of one kind"
        )
    if scored and args.control is not None:
        raise BenchError("--control is for speeds, which a machine changes; it does not apply to scores")
    texts = _of_scores(scored, formats, args.last) if scored else _of_speeds(runs, rules, formats, args.last)
    print(texts[formats[0]], end="")
    for name, path in targets.items():
        write_atomically(path, texts[name].encode("utf-8"))
        print(f"written: {path}", file=sys.stderr)
    return 0


def _of_speeds(runs: "Sequence[Bundle]", rules: "Rules", formats: Sequence[str], last: int) -> dict[str, str]:
    from bench_report.history import build_history
    from bench_report.history_views import writers

    history, known = build_history(runs, rules), writers(rules, last)
    return {name: known[name](history) for name in formats}


def _of_scores(runs: "Sequence[Bundle]", formats: Sequence[str], last: int) -> dict[str, str]:
    from bench_report.scores.compare import Rules
    from bench_report.scores.history import build_score_history, writers

    rules = Rules()
    history, known = build_score_history(runs, rules), writers(rules, last)
    return {name: known[name](history) for name in formats}
