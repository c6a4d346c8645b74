"""How often does the gate cry wolf? Pairs of runs of unchanged libraries, compared as `bench compare` compares them.

Nothing is measured: runs come from the tests' factory, the machine's movement between them from here. What a machine
does between two runs is a lognormal effect per run that hits everything, and one per run and cell; both together with
the standard deviation given, on the ratio of two runs. The reference rows follow the cell beside them with a
correlation of 0.5, as was measured. "Plain Welch" is the same test without them: what the variation inside the two runs
alone would have called slower. In the last column one cell is 30 % slower in the second run.

    .tools/bin/python benchmarks/gate_simulation.py            # about two minutes
"""

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from bench_core import policy
from bench_core.bundle import Bundle
from bench_core.results import Block, Measurement, Status, summarize_references
from bench_core.statistics import Verdict, process_medians, summarize
from bench_report.compare import compare_sides
from bench_report.regression import Rules
from bench_report.sides import make_side
from scipy.stats import false_discovery_control, ttest_ind

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.bench_report.factory import make_bundle, make_measurement, make_result

PAIRS = 200
SLOWDOWN = 1.3
CORRELATION = 0.5  # of a reference row with the cell beside it
TARGET = 0.02  # false alarms per pair of runs: twice the rate asked for, over a noisy simulation


class Machine(msgspec.Struct, frozen=True):
    """Standard deviations on the logarithm."""

    name: str
    between_processes: float
    between_runs: float  # on the ratio of two runs: once for all cells, and once for each


MACHINES = (
    Machine("one that stands still", 0.02, 0.0),
    Machine("compute-bound, shared", 0.02, 0.04),
    Machine("memory-bound, shared", 0.07, 0.16),
)


def make_run(name: str, transforms: Sequence[str], machine: Machine, seed: str, slowdown: float) -> Bundle:
    """One run of one library; `slowdown` is of its first transform."""
    draw = random.Random(seed)
    spread = machine.between_runs / math.sqrt(2)  # of one run
    whole = draw.gauss(0, spread / math.sqrt(2))
    measured = {}
    for transform in transforms:
        own = whole + draw.gauss(0, spread / math.sqrt(2))
        sec = 1e-3 * math.exp(own) * (slowdown if transform == transforms[0] else 1.0)
        found = make_measurement(sec, noise=machine.between_processes, seed=f"{seed} {transform}", processes=10)
        rest = spread * math.sqrt(1 - CORRELATION**2)
        noop, yardstick = (CORRELATION * own + draw.gauss(0, rest) for _ in range(2))
        measured[transform] = _with_references(found, math.exp(noop), math.exp(yardstick))
    result = make_result("pillow", measured, references=summarize_references(measured))
    return make_bundle([result], name)


def _with_references(found: Measurement, noop: float, yardstick: float) -> Measurement:
    def moved(block: Block) -> Block:
        return msgspec.structs.replace(
            block, noop_sec=block.noop_sec * noop, yardstick_sec=block.yardstick_sec * yardstick
        )

    blocks = tuple(moved(block) for block in found.blocks)
    return msgspec.structs.replace(
        found, status=Status.OK, blocks=blocks, summary=summarize([block.sample() for block in blocks])
    )


class Alarms(msgspec.Struct, frozen=True):
    """Shares of the pairs of runs."""

    failed: float  # the gate fails
    first: float  # the first cell is called slower
    plain: float  # a test that knows nothing of the machine would fail


def alarms(machine: Machine, num_cells: int, seed: int, slowdown: float = 1.0) -> Alarms:
    transforms = [f"T{number}" for number in range(num_cells)]
    failed = first = plain = 0
    for pair in range(PAIRS):
        base = make_run("base", transforms, machine, f"{seed} {pair} base", 1.0)
        new = make_run("new", transforms, machine, f"{seed} {pair} new", slowdown)
        found = compare_sides(make_side("BASE", [base]), make_side("NEW", [new]), Rules())
        failed += found.regressed
        first += found.changes[0].verdict is Verdict.SLOWER
        plain += _plain_welch(base, new)
    return Alarms(failed / PAIRS, first / PAIRS, plain / PAIRS)


def _plain_welch(base: Bundle, new: Bundle) -> bool:
    """Whether Welch's test with the same thresholds and correction calls any cell slower."""
    (before,), (after,) = base.results.values(), new.results.values()
    p_values, effects = [], []
    for name, measured in before.ok():
        logs = [_logs(found) for found in (measured, after.measurements[name])]
        p_values.append(ttest_ind(*logs, equal_var=False, alternative="less").pvalue)
        effects.append(statistics.fmean(logs[1]) - statistics.fmean(logs[0]))
    adjusted = false_discovery_control(p_values)
    least = math.log1p(policy.RUN_MIN_EFFECT)
    return any(p < policy.RUN_FALSE_CALLS and e >= least for p, e in zip(adjusted, effects, strict=True))


def _logs(found: Measurement) -> list[float]:
    return [math.log(sec) for sec in process_medians(block.sample() for block in found.blocks).values()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=policy.SEED)
    seed = parser.parse_args().seed
    began = time.perf_counter()
    print(
        f"{PAIRS} pairs of runs of one library; a change is called at {policy.RUN_MIN_EFFECT:.0%} or more, "
        f"with at most {policy.RUN_FALSE_CALLS:.0%} of calls false"
    )
    print(f"{'machine':<24}{'cells':>6}{'false alarms':>14}{'plain Welch':>13}{f'x{SLOWDOWN} found':>12}")
    worst = 0.0
    for machine in MACHINES:
        for num_cells in (1, 3, 20):
            same = alarms(machine, num_cells, seed)
            slowed = alarms(machine, num_cells, seed + 1, SLOWDOWN)
            worst = max(worst, same.failed)
            figures = f"{same.failed:>14.1%}{same.plain:>13.1%}{slowed.first:>12.1%}"
            print(f"{machine.name:<24}{num_cells:>6}{figures}", flush=True)
    print(f"{'met' if worst <= TARGET else 'MISSED'}: false alarms in at most {TARGET:.0%} of pairs")
    print(f"{time.perf_counter() - began:.0f} s")
    return 0 if worst <= TARGET else 1


if __name__ == "__main__":
    raise SystemExit(main())
