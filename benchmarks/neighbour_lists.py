"""What do our neighbour lists cost over vesin itself? Rattled silicon of 512 atoms, cutoff 5 angstrom, one thread.

    python benchmarks/neighbour_lists.py [--repeats 200]

Both give the same: pairs, shifts, vectors and distances; ours are sorted besides, which vesin would charge extra for.
They take turns, each builds what it needs anew, and medians are compared. The row of pairs and shifts alone says what
vesin does before vectors.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from ase.build import bulk
from bench_score.neighbours import neighbours
from bench_score.structure import Structure
from measured import print_machine, print_row
from vesin import NeighborList

CUTOFF_ANGSTROM = 5.0
LIMIT = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    repeats = parser.parse_args().repeats
    print_machine()
    structure = silicon()
    sides = {
        "ours": lambda: neighbours(structure, CUTOFF_ANGSTROM),
        "vesin": lambda: by_vesin(structure, "ijSdD"),
        "vesin, pairs and shifts alone": lambda: by_vesin(structure, "ijS"),
    }
    medians = {what: statistics.median(values) for what, values in timed(sides, repeats).items()}
    for what, sec in medians.items():
        print_row(f"{what}, {structure.num_atoms} atoms", f"{sec * 1e3:.2f} ms")
    ratio = medians["ours"] / medians["vesin"]
    print_row("ours over vesin", f"{ratio:.2f}", f"at most {LIMIT:g}", met=ratio <= LIMIT)


def silicon() -> Structure:
    atoms = bulk("Si", cubic=True) * (4, 4, 4)
    atoms.rattle(0.05, seed=1)
    return Structure("Si512", atoms.numbers.astype(np.int64), atoms.positions, np.array(atoms.cell), atoms.pbc)


def by_vesin(structure: Structure, quantities: str) -> object:
    finder = NeighborList(cutoff=CUTOFF_ANGSTROM, full_list=True, n_threads=1)
    return finder.compute(structure.positions, structure.cell, structure.pbc, quantities)


def timed(sides: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each call, in turns, after one call of each that is not counted."""
    values: dict[str, list[float]] = {what: [] for what in sides}
    for turn in range(repeats + 1):
        for what, call in sides.items():
            began = time.perf_counter()
            call()
            if turn > 0:
                values[what].append(time.perf_counter() - began)
    return values


if __name__ == "__main__":
    main()
