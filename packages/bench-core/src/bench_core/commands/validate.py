"""`bench validate`: is a run complete, unchanged and consistent?"""

import argparse
from collections import Counter
from pathlib import Path

HELP = "check a run: complete, unchanged, every number following from its samples or predictions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="DIR", type=Path, nargs="+", help="a run's folder")


def run(args: argparse.Namespace) -> int:
    from bench_core.bundle import load_bundle
    from bench_core.scores import is_redrawn
    from bench_core.terminal import visible

    for path in args.runs:
        bundle = load_bundle(path)
        measurements = [found for result in bundle.results.values() for found in result.measurements.values()]
        statuses = Counter(measurement.status.value for measurement in measurements)
        counted = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
        print(f"{path}: valid. Run {visible(bundle.run_id)}, {visible(bundle.created_at)}")
        if bundle.results:
            print(f"  result files: {len(bundle.results)}; measurements: {statuses.total()} ({counted})")
        if bundle.scores:
            models = Counter(score.status.value for score in bundle.scores.values())
            found = sum(len(score.scores) for score in bundle.scores.values())
            listed = ", ".join(f"{count} {status}" for status, count in sorted(models.items()))
            print(f"  models: {models.total()} ({listed}); scores: {found}")
            scores = [item for row in bundle.scores.values() for item in row.scores.items()]
            kept = ", ".join(sorted({column for column, score in scores if not is_redrawn(score)}))
            if kept:
                why = "over very many groups, or of metrics of one's own"
                print(f"  Intervals that were not computed again, {why}: {visible(kept)}")
        raw = " and ".join(
            name for name, there in (("samples", bundle.results), ("predictions", bundle.scores)) if there
        )
        print(f"  Hashes agree, nothing is missing or added, derived numbers follow from the {raw}.")
    return 0
