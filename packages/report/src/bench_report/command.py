"""`bench report`: tables from committed runs."""

import argparse
from pathlib import Path

HELP = "make tables from committed runs"
RUNS = "results/runs"
OUTPUT = "results/report"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", metavar="DIR", type=Path, nargs="*", help=f"committed runs, put into the same tables (newest of {RUNS})"
    )
    parser.add_argument("--baseline", metavar="LIBRARY", help="what ratios refer to (the fastest library of each row)")
    parser.add_argument("--unit", metavar="UNIT", default="img/s", help="img/s or ms (img/s)")
    parser.add_argument("--copy-share", action="store_true", help="add a table of speeds as a share of copy speed")
    parser.add_argument("--format", metavar="NAMES", default="md,csv,json", help="of md,csv,json (all)")
    parser.add_argument("--output", metavar="DIR", type=Path, help=f"where to write them ({OUTPUT})")
    parser.add_argument("--docs", action="store_true", help="also replace the results in README.md and docs/results.md")
    parser.add_argument(
        "--allow-mixed",
        action="store_true",
        help="print tables whose cells were measured under different conditions, saying so over them",
    )


def run(args: argparse.Namespace) -> int:
    from bench_core import suggest
    from bench_core.bundle import load_bundle
    from bench_core.errors import BenchError
    from bench_core.matrix import find_root

    from bench_report.documents import update_documents
    from bench_report.figures import UNITS
    from bench_report.report import Options, build_report
    from bench_report.sections import run_ids
    from bench_report.writers import write_report

    if args.unit not in UNITS:
        raise suggest.unknown("unit", args.unit, list(UNITS), source="--unit")
    if args.docs and args.allow_mixed:
        raise BenchError("--docs does not go with --allow-mixed: documents hold no table of mixed conditions")
    bundles = [load_bundle(path) for path in args.runs or [newest_run(find_root() / RUNS)]]
    options = Options(
        unit=UNITS[args.unit], baseline=args.baseline, copy_share=args.copy_share, allow_mixed=args.allow_mixed
    )
    report = build_report(bundles, options)
    formats = [name.strip() for name in args.format.split(",")]
    written = write_report(report, formats, args.output or find_root() / OUTPUT)
    if args.docs:
        written += update_documents(find_root(), report)
    for part in report.parts:
        print("\n".join([f"{part.sheet.title} (run {', '.join(run_ids([part.section]))})", *part.highlights]))
        print("".join(f"note: {notice}\n" for notice in part.sheet.notices), end="")
    print("\n".join(f"written: {path}" for path in written))
    return 0


def newest_run(folder: Path) -> Path:
    """The run under `folder` that was committed last.

    Raises:
        BenchError: there is none.
    """
    from bench_core.bundle import COMMITTED
    from bench_core.errors import BenchError, ExitCode

    committed = [(marker.stat().st_mtime_ns, marker.parent) for marker in folder.glob(f"*/{COMMITTED}")]
    if not committed:
        raise BenchError(
            f"no committed run in {folder}; measure one (make bench, or bench run), or name its folder",
            ExitCode.BUNDLE,
        )
    return max(committed)[1]
