"""`bench coverage`: what results still lack of a published set, and the documents that list the sets."""

import argparse
from pathlib import Path

HELP = "say which transforms of a published set some results still lack"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="DIR", type=Path, nargs="*", help="committed runs (the newest)")
    parser.add_argument("--set", metavar="NAME", default="paper", help="set of transforms (paper)")
    parser.add_argument("--library", metavar="NAMES", help="libraries that have to be there (all of the matrix)")
    parser.add_argument("--write-docs", action="store_true", help="only write docs/paper_transform_sets")


def run(args: argparse.Namespace) -> int:
    from bench_core.bundle import load_bundle
    from bench_core.catalog import load_catalog
    from bench_core.errors import BenchError, ExitCode
    from bench_core.matrix import find_root, load_matrix
    from bench_core.policy import RUNS
    from bench_core.settings import split_names
    from bench_core.terminal import visible

    from bench_report.command import newest_run
    from bench_report.coverage import coverage, sentences, write_documents

    root = find_root()
    if args.write_docs:
        if args.runs or args.library:
            raise BenchError("--write-docs lists the whole catalog; it goes with no run and no --library")
        print("\n".join(f"written: {path}" for path in write_documents(root)) or "the documents are current")
        return ExitCode.OK
    matrix = load_matrix(root)
    libraries = split_names(args.library) if args.library else matrix.all_libraries()
    bundles = [load_bundle(path) for path in args.runs or [newest_run(root / RUNS)]]
    found = coverage(bundles, matrix, load_catalog(), args.set, libraries)
    print(visible("\n".join(sentences(found))))
    return ExitCode.OK if all(each.complete for each in found) else ExitCode.FAILED
