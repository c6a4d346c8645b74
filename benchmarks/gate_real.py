"""How often does the gate cry wolf over real runs? Every pair of runs of an unchanged library, compared.

    for i in 1 2 3 4 5; do .tools/bin/bench run --library pillow --output runs/$i; done
    .tools/bin/python benchmarks/gate_real.py runs/*

The pairs share runs, so they are not independent: the figure is a look, not an estimate with an interval.
"""

import argparse
import math
import statistics
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from bench_core import policy
from bench_core.bundle import load_bundle
from bench_core.results import Block
from bench_core.statistics import Verdict, process_medians
from bench_report.compare import Compared, compare_sides
from bench_report.regression import Rules
from bench_report.sides import Side, make_side, pairs_of
from measured import print_row
from scipy.stats import false_discovery_control, ttest_ind


def main() -> int:
    """Print the figures; 1 when more than twice the rate asked for is called."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("runs", metavar="DIR", type=Path, nargs="+")
    parser.add_argument("--control", metavar="LIBRARY", help="as bench compare takes it")
    args = parser.parse_args()
    if len(args.runs) < 2:
        parser.error("name two runs or more")
    sides = [make_side(path.name, [load_bundle(path)]) for path in args.runs]
    pairs = list(combinations(sides, 2))
    found = [compare_sides(base, new, Rules(control=args.control)) for base, new in pairs]
    called = [each for each in found if len(each.called(Verdict.INCONCLUSIVE)) < len(each.changes)]
    print_row(
        "runs, pairs of runs, cells compared", f"{len(sides)}, {len(pairs)}, {sum(len(each.judged) for each in found)}"
    )
    print_row("the machine moved between two runs, median", f"{statistics.median(map(_typical, found)):.1%}")
    print_row("  in the pair in which it moved most", f"{max(map(_typical, found)):.1%}")
    print_row("a cell's speed changed, median, 95 of 100, most", ", ".join(f"{x:.0%}" for x in _effects(found)))
    plain = statistics.fmean(_plain_welch(base, new) for base, new in pairs)
    print_row("pairs with a call by Welch's test without the reference rows", f"{plain:.1%}")
    print_row("pairs with a call, slower or faster", f"{len(called) / len(pairs):.1%}")
    print_row("pairs that the gate fails", f"{statistics.fmean(each.regressed for each in found):.1%}")
    for each in called:
        for change in each.changes:
            if change.verdict is not Verdict.INCONCLUSIVE:
                print(f"  {each.base.name} to {each.new.name}: {change.key.transform} {change.ratio:.2f}x")
    return int(len(called) / len(pairs) > 4 * policy.RUN_FALSE_CALLS)  # two directions, each at the rate


def _typical(each: Compared) -> float:
    return min(movement.typical for movement in each.movements.values()) - 1  # beside the control, where there is one


def _effects(found: Sequence[Compared]) -> tuple[float, float, float]:
    effects = sorted(max(change.ratio, 1 / change.ratio) - 1 for each in found for change in each.judged)
    return statistics.median(effects), effects[int(0.95 * (len(effects) - 1))], effects[-1]


def _plain_welch(base: Side, new: Side) -> bool:
    """Whether Welch's test with the same thresholds and correction calls any cell."""
    logs = [(_logs(pair.base[0]), _logs(pair.new[0])) for pair in pairs_of(base, new)]
    adjusted = false_discovery_control([ttest_ind(*both, equal_var=False).pvalue / 2 for both in logs])
    effects = [abs(statistics.fmean(before) - statistics.fmean(after)) for before, after in logs]
    least = math.log1p(policy.RUN_MIN_EFFECT)
    return any(p < policy.RUN_FALSE_CALLS and e >= least for p, e in zip(adjusted, effects, strict=True))


def _logs(blocks: Sequence[Block]) -> list[float]:
    return [math.log(sec) for sec in process_medians(block.sample() for block in blocks).values()]


if __name__ == "__main__":
    raise SystemExit(main())
