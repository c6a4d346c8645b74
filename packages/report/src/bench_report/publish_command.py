"""`bench publish`: put runs where others read them and can report them again."""

import argparse
from pathlib import Path

HELP = "put committed runs where others read them, without paths and names of this machine"
FOLDER = "results/published"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="DIR", type=Path, nargs="+", help="committed runs that belong together")
    parser.add_argument("--to", metavar="DIR", type=Path, help=f"where to put them, a folder for each ({FOLDER})")
    parser.add_argument("--set", metavar="NAME", default="paper", help="set of transforms to check first (paper)")
    parser.add_argument(
        "--allow-dirty", action="store_true", help="also what uncommitted code measured; its tables say so"
    )
    parser.add_argument("--no-outputs", action="store_true", help="leave the pictures of inputs and outputs out")


def run(args: argparse.Namespace) -> int:
    from bench_core.bundle import load_bundle
    from bench_core.catalog import load_catalog
    from bench_core.errors import ExitCode
    from bench_core.invocation import command
    from bench_core.matrix import find_root, load_matrix
    from bench_core.terminal import visible

    from bench_report.coverage import coverage, sentences
    from bench_report.publish import publish

    root = find_root()
    matrix = load_matrix(root)
    bundles = [load_bundle(path) for path in args.runs]
    measured = [bundle for bundle in bundles if bundle.results]
    if measured:  # models have no set of transforms
        found = coverage(measured, matrix, load_catalog(), args.set, matrix.all_libraries())
        print(visible("\n".join(sentences(found))))
    own = [str(bundle.path) for bundle in bundles if "data_dir" in bundle.config]
    if own and not args.no_outputs:
        print(f"note: outputs/ shows somebody's own images ({', '.join(own)}); --no-outputs leaves them out")
    folders = publish(
        args.runs, args.to or root / FOLDER, root, allow_dirty=args.allow_dirty, outputs=not args.no_outputs
    )
    print("\n".join(f"published: {folder}" for folder in folders))
    if len(measured) == len(bundles):
        print(f"The documents from them: {command('report', '--docs', *folders)}")
    else:
        print(f"The report from them: {command('report', *folders)}")
    return ExitCode.OK
