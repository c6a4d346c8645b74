"""Does the statistics keep its promises? Simulated runs of one library measured as if it were two.

200 runs of 20 transforms at the default shape of a run, twice: with the noise of memory-bound transforms (flips) and
with that of compute-bound ones. Every printed rate comes from `bench_core.statistics` as the report uses it; the
percentile bootstrap beside it is what we chose against.

The noise model, from what was measured on shared 2-core machines. One value, in seconds per item, is a product of

  process    a lognormal effect per worker process: where its memory landed. Memory-bound: a standard deviation of 5 to
             10 %, drawn per transform; compute-bound: 1.6 %, so that the ratio of a pair scatters by about 3 %.
  block      a lognormal effect per block, half of its variance shared by the two libraries that stand side by side
             (contention from outside lasts longer than a block), half not. Memory-bound 8 %, compute-bound 2 %.
  value      right-skewed: an exponential excess of 3 % or 1 %, and 3 % of the values 30 % slower (seen: 2 to 4 % of
             values are over 15 % slower than their block's median).
  drift      optional: the machine slows down linearly by 20 % from the first block of a run to its last.
  run        where two runs follow one another: a lognormal effect of a whole run on the ratio, 16 % or 4 % (what
             sequential runs scatter more than interleaved ones).

A round visits the transforms in a new random order; a transform's blocks alternate as A B B A.

    python benchmarks/aa_simulation.py            # about half a minute
"""

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from bench_core import policy
from bench_core.statistics import Ratio, Sample, Verdict, independent_ratio, speed_ratio, t_quantile
from numpy.typing import NDArray

Array = NDArray[np.float64]

RUNS = 200
TRANSFORMS = 20
SLOWDOWN = 0.10
DRIFT = 0.20
SPIKES = 0.03  # of values are 30 % slower
RESAMPLES = 500


@dataclass(frozen=True)
class Noise:
    """Standard deviations on the logarithm, except `excess`, the mean of an exponential."""

    name: str
    process: tuple[float, float]  # drawn per transform between these
    block: float
    excess: float
    run: float  # on the ratio of two runs


MEMORY_BOUND = Noise("memory-bound", (0.05, 0.10), block=0.08, excess=0.03, run=0.16)
COMPUTE_BOUND = Noise("compute-bound", (0.016, 0.016), block=0.02, excess=0.01, run=0.04)


@dataclass(frozen=True)
class Shape:
    """How often each transform is measured."""

    processes: int = policy.PROCESSES
    blocks: int = policy.BLOCKS
    values: int = policy.NUM_RUNS // policy.BLOCKS  # of a block


def simulate(rng: np.random.Generator, noise: Noise, shape: Shape) -> Array:
    """Seconds per item, without drift: (runs, transforms, library, processes, blocks, values)."""
    pair = (RUNS, TRANSFORMS, 2, shape.processes, shape.blocks, shape.values)
    process_sd = rng.uniform(*noise.process, size=(RUNS, TRANSFORMS, 1, 1))
    process = rng.standard_normal(pair[:4]) * process_sd
    half = noise.block / math.sqrt(2)
    shared = rng.standard_normal((RUNS, TRANSFORMS, 1, *pair[3:5])) * half
    block = shared + rng.standard_normal(pair[:5]) * half
    value = rng.exponential(noise.excess, pair) + math.log(1.3) * (rng.random(pair) < SPIKES)
    return np.exp(process[..., None, None] + block[..., None] + value)


def interleaved_times(rng: np.random.Generator, shape: Shape) -> Array:
    """When each block stands, from 0 to 1: (runs, transforms, library, processes, blocks, 1)."""
    order = np.argsort(rng.random((RUNS, TRANSFORMS, shape.processes)), axis=1)  # of transforms, new each round
    slot = order + np.arange(shape.processes) * TRANSFORMS
    blocks = np.arange(shape.blocks)
    first = np.where(blocks % 2 == 0, 0, 1)  # A B B A
    within = np.stack([2 * blocks + first, 2 * blocks + 1 - first])
    place = slot[:, :, None, :, None] * 2 * shape.blocks + within[None, None, :, None, :]
    return (place / (TRANSFORMS * shape.processes * 2 * shape.blocks - 1))[..., None]


def sequential_times(shape: Shape) -> Array:
    """The same for a tool that measures one library after the other."""
    count = TRANSFORMS * shape.processes * shape.blocks
    one = np.arange(count).reshape(shape.processes, TRANSFORMS, shape.blocks).transpose(1, 0, 2)
    both = np.stack([one, one + count], axis=1) / (2 * count - 1)
    return both[None, ..., None]


def ratios(times: Array, *, paired: bool = True) -> list[Ratio]:
    """One ratio per run and transform, as the report computes it."""
    compare = speed_ratio if paired else independent_ratio
    flat = times.reshape(-1, *times.shape[2:])
    return [compare(samples(ours), samples(base)) for ours, base in flat]


def samples(values: Array) -> list[Sample]:
    """(processes, blocks, values) as the statistics take them."""
    return [
        Sample(round_, block, tuple(found.tolist()))
        for round_, blocks in enumerate(values)
        for block, found in enumerate(blocks)
    ]


def share(flags: Sequence[bool] | NDArray[np.bool_]) -> float:
    return float(np.mean(flags))


def decided(found: Sequence[Ratio]) -> float:
    return share([ratio.verdict is not Verdict.INCONCLUSIVE for ratio in found])


def covered(found: Sequence[Ratio], truth: float = 1.0) -> float:
    return share([(ratio.low or math.inf) <= truth <= (ratio.high or 0.0) for ratio in found])


def bootstrap_coverage(rng: np.random.Generator, times: Array) -> float:
    """How often a percentile bootstrap covers 1: processes, then blocks, then values drawn with replacement."""
    covers = []
    for pair in times.reshape(-1, *times.shape[2:]):
        _, processes, blocks, values = pair.shape
        process = rng.integers(processes, size=(RESAMPLES, processes, 1, 1))
        block = rng.integers(blocks, size=(RESAMPLES, processes, blocks, 1))
        drawn = [one[process, block, rng.integers(values, size=(RESAMPLES, processes, blocks, values))] for one in pair]
        medians = np.log(np.median(np.stack(drawn), axis=-1))
        logs = (medians[1] - medians[0]).mean(axis=(1, 2))
        low, high = np.percentile(logs, [2.5, 97.5])
        covers.append(low <= 0 <= high)
    return share(covers)


def process_logs(times: Array) -> Array:
    """Logarithm of the ratio of each pair of processes, as speed_ratio forms it: (runs, transforms, processes)."""
    medians = np.log(np.median(times, axis=-1))
    logs: Array = (medians[:, :, 1] - medians[:, :, 0]).mean(axis=-1)
    return logs


def decided_at(logs: Array, confidence: float, min_effect: float) -> float:
    """Share of verdicts at other constants than the policy's."""
    mean, processes = logs.mean(axis=-1), logs.shape[-1]
    error = logs.std(axis=-1, ddof=1) / math.sqrt(processes)
    apart = np.abs(mean) > t_quantile(confidence, processes - 1) * error
    return share(apart & (np.abs(mean) >= math.log1p(min_effect)))


def slowed(times: Array, by: float = SLOWDOWN) -> Array:
    """The first library takes `by` more time."""
    factor = np.ones((2, 1, 1, 1))
    factor[0] += by
    return times * factor


@dataclass(frozen=True)
class Findings:
    """What has a target, under one noise."""

    false_verdicts: float
    coverage: float
    power: float
    flips: int


def report_noise(seed: int, noise: Noise) -> Findings:
    """Print what the policy achieves under one noise."""
    rng, shape = np.random.default_rng(seed), Shape()
    times = simulate(rng, noise, shape)
    drift = 1 + DRIFT * interleaved_times(rng, shape)
    runs_apart = np.exp(rng.standard_normal((RUNS, TRANSFORMS, 2, 1, 1, 1)) * noise.run / math.sqrt(2))
    few = times[:, :, :, :3]  # processes

    same, slower = ratios(times), ratios(slowed(times))
    same_drift, slower_drift = ratios(times * drift), ratios(slowed(times) * drift)
    in_turn = ratios(times * (1 + DRIFT * sequential_times(shape)))
    unpaired = ratios(times * runs_apart, paired=False)
    found = Findings(
        false_verdicts=decided(same),
        coverage=covered(same),
        power=share([ratio.verdict is Verdict.SLOWER for ratio in slower]),
        flips=sum(a.verdict is not b.verdict for a, b in zip(same + slower, same_drift + slower_drift, strict=True)),
    )
    pair_sd = math.sqrt(process_logs(times).var(axis=-1, ddof=1).mean())
    width = float(np.median([math.sqrt(ratio.high / ratio.low) - 1 for ratio in same if ratio.high and ratio.low]))
    print(f"\n{noise.name}: the ratio of a pair of processes scatters by {pair_sd:.1%}")
    for label, value in (
        ("false verdicts, equal libraries", f"{found.false_verdicts:.2%}"),
        ("95 % interval of the ratio covers 1", f"{found.coverage:.1%}  (median half width {width:.1%})"),
        ("  a percentile bootstrap's", f"{bootstrap_coverage(rng, times):.1%}"),
        ("  with three processes", f"{covered(ratios(few)):.1%}"),
        ("  with three processes, bootstrap's", f"{bootstrap_coverage(rng, few):.1%}"),
        (f"a {SLOWDOWN:.0%} slowdown is called slower", f"{found.power:.1%}"),
        (f"verdicts that a {DRIFT:.0%} drift changes", f"{found.flips} of {2 * len(same)}"),
        ("  false verdicts under it", f"{decided(same_drift):.2%}"),
        ("  had one library been run after the other", f"{decided(in_turn):.2%}"),
        ("false verdicts between two runs, unpaired", f"{decided(unpaired):.2%}  (covers {covered(unpaired):.0%})"),
    ):
        print(f"  {label:<44}{value}")
    return found


def report_constants(seed: int) -> None:
    """Print what other constants would buy: false verdicts and power, and what they cost in measuring time."""
    print(f"\nother constants: false verdicts (memory-bound) and power (compute-bound, {SLOWDOWN:.0%} slower)")
    print(f"{'processes':>10} {'blocks':>7} {'cost':>6} | " + " | ".join(f"{c:>13.1%}" for c in (0.95, 0.99, 0.995)))
    for processes in (3, 4, 5, 6, 8, 10):
        for blocks in (2, 4):
            rng, shape = np.random.default_rng(seed), Shape(processes, blocks)
            null = process_logs(simulate(rng, MEMORY_BOUND, shape))
            slow = process_logs(slowed(simulate(rng, COMPUTE_BOUND, shape)))
            cells = [
                f"{decided_at(null, c, policy.MIN_EFFECT):6.2%} {decided_at(slow, c, policy.MIN_EFFECT):6.1%}"
                for c in (0.95, 0.99, 0.995)
            ]
            cost = processes * blocks / (policy.PROCESSES * policy.BLOCKS)
            print(f"{processes:>10} {blocks:>7} {cost:>5.1f}x | " + " | ".join(cells))


def main() -> int:
    """Print everything; 0 when each target is met, 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=policy.SEED)
    seed = parser.parse_args().seed
    began = time.perf_counter()
    shape = Shape()
    print(
        f"{RUNS} runs of {TRANSFORMS} transforms: {shape.processes} processes x {shape.blocks} blocks x "
        f"{shape.values} values; verdicts at {policy.VERDICT_CONFIDENCE:.1%} and at least {policy.MIN_EFFECT:.0%}"
    )
    memory, compute = report_noise(seed, MEMORY_BOUND), report_noise(seed + 1, COMPUTE_BOUND)
    report_constants(seed + 2)
    both = (memory, compute)
    targets = {
        "false verdicts at most 1 %": max(found.false_verdicts for found in both) <= 0.01,
        "intervals cover at least 93 %": min(found.coverage for found in both) >= 0.93,
        "a drift flips no verdict": sum(found.flips for found in both) == 0,
        "a 10 % slowdown is found, compute-bound (90 % of cases)": compute.power >= 0.90,
    }
    print()
    for target, met in targets.items():
        print(f"  {'met   ' if met else 'MISSED'}  {target}")
    print(f"  {time.perf_counter() - began:.0f} s")
    return 0 if all(targets.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
