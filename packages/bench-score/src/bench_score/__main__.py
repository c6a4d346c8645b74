"""`python -m bench_score`: the command `bench score` in this Python, for launchers such as torchrun."""

import sys

from bench_core.cli import main

if __name__ == "__main__":
    here = [] if {"--here", "--merge"} & set(sys.argv) else ["--here"]
    sys.exit(main(["score", *here, *sys.argv[1:]]))
