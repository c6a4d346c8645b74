"""`bench lock`: refresh the locks of the environments. Nothing else ever does."""

import argparse

from bench_core.errors import ExitCode
from bench_core.locks import refresh
from bench_core.matrix import find_root, load_matrix

HELP = "refresh the locks of the environments; nothing else ever does"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--group",
        metavar="NAME",
        help="only this lock (a group of matrix.toml, tools or dev) and those that must move with it",
    )
    parser.add_argument(
        "--upgrade", action="store_true", help="take the newest versions; without it only what has to change does"
    )


def run(args: argparse.Namespace) -> int:
    root = find_root()
    for name, changes in refresh(root, load_matrix(root), args.group, upgrade=args.upgrade).items():
        print(f"locks/{name}: {'; '.join(changes) or 'unchanged'}")
    return ExitCode.OK
