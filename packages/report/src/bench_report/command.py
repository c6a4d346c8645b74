"""`bench report`: tables from committed runs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from bench_core.policy import RUNS, SCORE_RUNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_core.bundle import Bundle

    from bench_report.report import Report

HELP = "make tables from committed runs"
OUTPUT = "results/report"
NO_PLOTS = "none"
DEFAULT_UNIT = "img/s"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        metavar="DIR",
        type=Path,
        nargs="*",
        help=f"committed runs, put into the same tables (newest of {RUNS} and {SCORE_RUNS})",
    )
    parser.add_argument("--baseline", metavar="LIBRARY", help="what ratios refer to (the fastest library of each row)")
    parser.add_argument("--unit", metavar="UNIT", default=DEFAULT_UNIT, help="img/s or ms (img/s)")
    parser.add_argument("--copy-share", action="store_true", help="add a table of speeds as a share of copy speed")
    parser.add_argument(
        "--format", metavar="NAMES", default="md,csv,json,html", help="of md,csv,json,html,latex (all but latex)"
    )
    parser.add_argument("--output", metavar="DIR", type=Path, help=f"where to write them ({OUTPUT})")
    parser.add_argument("--plots", metavar="NAMES", default="svg,png", help="charts, of svg,png,pdf, or none (svg,png)")
    parser.add_argument(
        "--columns",
        metavar="NAMES",
        help="libraries and models to show, and columns of the CSV and the JSON records (all)",
    )
    parser.add_argument("--docs", action="store_true", help="also replace the results in README.md and docs/results.md")
    parser.add_argument(
        "--check", action="store_true", help="only compare README.md and docs/results.md with the results; 1: outdated"
    )
    parser.add_argument(
        "--allow-mixed",
        action="store_true",
        help="print tables whose cells were measured under different conditions, saying so over them",
    )


def run(args: argparse.Namespace) -> int:
    from bench_core.bundle import load_bundle
    from bench_core.matrix import find_root
    from bench_core.settings import split_names
    from bench_core.terminal import visible

    from bench_report.documents import update_documents
    from bench_report.figures import UNITS
    from bench_report.plots import FOLDER, check_formats, write_plots
    from bench_report.report import Options, build_report
    from bench_report.scores.plots import write_score_plots
    from bench_report.sections import run_ids
    from bench_report.writers import find_writer, write_report

    _refuse_contradictions(args)
    formats, columns = split_names(args.format), split_names(args.columns or "")
    plots = [] if args.plots == NO_PLOTS else split_names(args.plots)
    check_formats(plots)
    for name in formats:
        find_writer(name)
    bundles = [load_bundle(path) for path in args.runs or [_newest(find_root())]]
    _refuse_inapplicable(args, bundles)
    options = Options(
        unit=UNITS[args.unit],
        baseline=args.baseline,
        copy_share=args.copy_share,
        allow_mixed=args.allow_mixed,
        columns=tuple(columns),
    )
    report = build_report(bundles, options)
    if args.check:
        return _check(find_root(), report)
    output = args.output or find_root() / OUTPUT
    written = write_report(report, formats, output)
    written += write_plots(report, plots, output / FOLDER)
    written += write_score_plots(report.score_parts, plots, output / FOLDER)
    if args.docs:
        written += update_documents(find_root(), report)
    for part in report.all_parts:
        heading = f"{part.sheet.title} (run {', '.join(run_ids([part.section]))})"
        notices = [f"note: {notice}" for notice in part.sheet.notices]
        print(visible("\n".join([heading, *part.highlights, *notices])))
    print("\n".join(f"written: {path}" for path in written))
    return 0


def _refuse_contradictions(args: argparse.Namespace) -> None:
    """
    Raises:
        BenchError: an unknown unit, or options of which one would have no effect.
    """
    from bench_core import suggest
    from bench_core.errors import BenchError

    from bench_report.figures import UNITS

    if args.unit not in UNITS:
        raise suggest.unknown("unit", args.unit, list(UNITS), source="--unit")
    if args.docs and args.check:
        raise BenchError("--check only looks and --docs writes; leave one of them out")
    documents = "--docs" if args.docs else "--check" if args.check else None
    if documents and args.allow_mixed:
        raise BenchError(f"{documents} does not go with --allow-mixed: documents hold no table of mixed conditions")
    if documents and args.columns:
        raise BenchError(f"{documents} does not go with --columns: documents show every library")
    if args.check and args.output:
        raise BenchError("--output does not go with --check, which writes nothing")


def _refuse_inapplicable(args: argparse.Namespace, bundles: "Sequence[Bundle]") -> None:
    """
    Raises:
        BenchError: options that would have no effect on what these runs hold.
    """
    from bench_core.errors import BenchError

    if any(bundle.results for bundle in bundles):
        return
    for flag, given in (
        ("--baseline", args.baseline is not None),
        ("--unit", args.unit != DEFAULT_UNIT),
        ("--copy-share", args.copy_share),
    ):
        if given:
            raise BenchError(f"{flag} does not apply: it is about speeds, and the runs hold scores of models alone")


def _check(root: Path, report: "Report") -> int:
    """
    Raises:
        BenchError: naming each document and marker whose block is outdated.
    """
    from bench_core.errors import BenchError, ExitCode
    from bench_core.invocation import command

    from bench_report.documents import outdated_blocks
    from bench_report.sections import run_ids

    runs = ", ".join(run_ids([part.section for part in report.all_parts]))
    outdated = outdated_blocks(root, report)
    if outdated:
        raise BenchError(
            f"not what run {runs} gives: {'; '.join(outdated)}. "
            f"Replace them: {command('report', '--docs')}, with the same runs",
            ExitCode.FAILED,
        )
    print(f"the documents show what run {runs} gives")
    return 0


def _newest(root: Path) -> Path:
    """The newest run of either kind."""
    return newest_run(root / RUNS, root / SCORE_RUNS)


def newest_run(*folders: Path) -> Path:
    """The run directly under one of `folders` that was made last, by its own time and not by that of its files.

    Raises:
        BenchError: there is none, or one has an unreadable COMMITTED.json.
    """
    import msgspec
    from bench_core.bundle import identity, is_committed
    from bench_core.errors import BenchError, ExitCode
    from bench_core.invocation import command

    committed = [path for folder in folders for path in folder.glob("*") if is_committed(path)]
    if not committed:
        raise BenchError(
            f"no committed run in {' and '.join(map(str, folders))}; measure one (make bench, make score, or "
            f"{command('run')}), or name its folder",
            ExitCode.BUNDLE,
        )
    return max(committed, key=lambda path: msgspec.structs.astuple(identity(path)))
