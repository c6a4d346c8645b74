"""`bench history`: the same cells over many runs, with the steps between them."""

import argparse
from pathlib import Path

from bench_core.policy import RUNS

HELP = "the same cells over many runs, with changes of speed marked"
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

    from bench_report.history import build_history, find_runs
    from bench_report.history_views import writers
    from bench_report.outputs import chosen_formats, places
    from bench_report.regression import Rules

    if args.last < 1:
        raise BenchError(f"--last {args.last}: expected 1 or more")
    rules = Rules(control=args.control)
    known = writers(rules, args.last)
    formats = chosen_formats(args.format, known)
    targets = places(args.output, formats)
    history = build_history(find_runs(args.runs or [find_root() / RUNS]), rules)
    texts = {name: known[name](history) for name in formats}
    print(texts[formats[0]], end="")
    for name, path in targets.items():
        write_atomically(path, texts[name].encode("utf-8"))
        print(f"written: {path}", file=sys.stderr)
    return 0
