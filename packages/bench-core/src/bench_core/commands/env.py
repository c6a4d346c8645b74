"""`bench env GROUP`: build a group's environment if it has to be, and print its interpreter."""

import argparse

from bench_core.environment import ensure
from bench_core.errors import ExitCode
from bench_core.matrix import find_root, load_matrix

HELP = "build a group's environment if it has to be, and print its interpreter"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP", help="a group of matrix.toml, or dev (tests and lint)")


def run(args: argparse.Namespace) -> int:
    root = find_root()
    print(ensure(root, load_matrix(root), args.group))
    return ExitCode.OK
