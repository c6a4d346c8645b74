"""`bench compare`: one run against another, and a gate for continuous integration."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from bench_core import policy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_report.regression import Rules
    from bench_report.sides import Side

HELP = "compare two runs, and fail on a regression when asked to"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base", metavar="BASE", help="a committed run, or several of the same joined by commas")
    parser.add_argument("new", metavar="NEW", help="the same for what is compared with it")
    parser.add_argument(
        "--min-effect",
        metavar="PERCENT",
        type=float,
        default=policy.RUN_MIN_EFFECT * 100,
        help=f"a smaller change is not called one ({policy.RUN_MIN_EFFECT * 100:g})",
    )
    parser.add_argument(
        "--false-calls",
        metavar="PERCENT",
        type=float,
        default=policy.RUN_FALSE_CALLS * 100,
        help=f"how much of what is called slower, or faster, may be false ({policy.RUN_FALSE_CALLS * 100:g})",
    )
    parser.add_argument(
        "--control",
        metavar="LIBRARY",
        help="a library in all runs that is known not to have changed: speeds are compared relative to it",
    )
    parser.add_argument(
        "--allow-mixed",
        action="store_true",
        help="compare what was measured under different conditions, saying so over the result",
    )
    parser.add_argument(
        "--fail-on-regression", action="store_true", help="end with 1 when something became slower, or a score worse"
    )
    parser.add_argument("--format", metavar="NAMES", default="md", help="of md,json; the first is printed (md)")
    parser.add_argument(
        "--output", metavar="FILE", type=Path, help="also write it there; of two formats, with each one's ending"
    )


def run(args: argparse.Namespace) -> int:
    import sys

    from bench_core.errors import ExitCode
    from bench_core.files import write_atomically

    from bench_report.compare import compare_sides
    from bench_report.compare_views import WRITERS
    from bench_report.outputs import chosen_formats, places
    from bench_report.sides import load_side

    formats = chosen_formats(args.format, WRITERS)
    rules = _rules(args)
    targets = places(args.output, formats)
    base, new = load_side("BASE", args.base), load_side("NEW", args.new)
    if _hold_scores(base, new):
        return _compare_scores(args, base, new, formats, targets)
    compared = compare_sides(base, new, rules, allow_mixed=args.allow_mixed)
    texts = {name: WRITERS[name](compared) for name in formats}
    print(texts[formats[0]], end="")
    for name, path in targets.items():
        write_atomically(path, texts[name].encode("utf-8"))
        print(f"written: {path}", file=sys.stderr)
    if args.fail_on_regression and compared.regressed:
        print("bench: NEW is slower than BASE, or measures less", file=sys.stderr)
        return int(ExitCode.FAILED)
    if not compared.judged:
        print("bench: no cell has a number on both sides, so nothing was compared", file=sys.stderr)
        return int(ExitCode.NOTHING_COMPARABLE)
    return int(ExitCode.OK)


def _hold_scores(base: "Side", new: "Side") -> bool:
    """Whether both sides hold scores of models; False where both hold speeds.

    Raises:
        BenchError: they hold different kinds, or one both.
    """
    from bench_core.errors import BenchError, ExitCode

    kinds = {
        side.name: {
            kind for run in side.bundles for kind, there in (("speeds", run.results), ("scores", run.scores)) if there
        }
        for side in (base, new)
    }
    told = {name: " and ".join(sorted(found)) for name, found in kinds.items()}
    if any(len(found) > 1 for found in kinds.values()):
        raise BenchError(
            f"BASE holds {told['BASE']}, NEW holds {told['NEW']}; speeds and scores are compared apart: "
            "name runs of one kind"
        )
    if kinds["BASE"] != kinds["NEW"]:
        raise BenchError(
            f"BASE holds {told['BASE']} and NEW holds {told['NEW']}, which have nothing in common to compare",
            ExitCode.NOTHING_COMPARABLE,
        )
    return kinds["BASE"] == {"scores"}


def _compare_scores(
    args: argparse.Namespace, base: "Side", new: "Side", formats: "Sequence[str]", targets: "Mapping[str, Path]"
) -> int:
    import sys

    from bench_core.errors import BenchError, ExitCode
    from bench_core.files import write_atomically

    from bench_report.scores.compare import Rules, compare_scores
    from bench_report.scores.compare_views import WRITERS
    from bench_report.sides import refuse_repeats

    if args.control is not None:
        raise BenchError("--control does not apply: it is about speeds, and the runs hold scores of models")
    refuse_repeats([*base.bundles, *new.bundles])
    rules = Rules(min_effect=args.min_effect / 100, false_calls=args.false_calls / 100)
    compared = compare_scores(base.bundles, new.bundles, rules, allow_mixed=args.allow_mixed)
    texts = {name: WRITERS[name](compared) for name in formats}
    print(texts[formats[0]], end="")
    for name, path in targets.items():
        write_atomically(path, texts[name].encode("utf-8"))
        print(f"written: {path}", file=sys.stderr)
    if args.fail_on_regression and compared.regressed:
        print("bench: a score of NEW is worse than in BASE, or is no longer there", file=sys.stderr)
        return int(ExitCode.FAILED)
    if not compared.changes:
        print("bench: no score has a value on both sides, so nothing was compared", file=sys.stderr)
        return int(ExitCode.NOTHING_COMPARABLE)
    return int(ExitCode.OK)


def _rules(args: argparse.Namespace) -> "Rules":
    from bench_core.errors import BenchError

    from bench_report.regression import Rules

    for flag, value in (("--min-effect", args.min_effect), ("--false-calls", args.false_calls)):
        if not 0 < value < 100:
            raise BenchError(f"{flag} {value:g}: expected a percentage between 0 and 100")
    return Rules(min_effect=args.min_effect / 100, false_calls=args.false_calls / 100, control=args.control)
