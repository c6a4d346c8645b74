"""What the engine adds to the models' own calls: the published entries on dcdft, each in its own environment.

    .tools/bin/python benchmarks/score_engine.py [--config scoring/dcdft.toml] [--cold]

Limit: 5 % over all entries. Loading models is neither; `--cold` builds the neighbour lists again.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_core import policy
from bench_core.bundle import load_bundle
from measured import print_machine, print_row

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="scoring/dcdft.toml")
    parser.add_argument("--cold", action="store_true")
    args = parser.parse_args()
    print_machine()
    if args.cold:
        shutil.rmtree(ROOT / policy.SCORE_CACHE, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "run"
        command = [str(Path(sys.executable).with_name("bench")), "score", "--config", args.config]
        began = time.perf_counter()
        subprocess.run([*command, "--output", str(output)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        wall_sec = time.perf_counter() - began
        timings = {score.label: score.timing for score in load_bundle(output).scores.values() if score.timing}
    print(f"{'model':<20} {'predict':>9} {'engine':>8} {'share':>7} {'load':>7}")
    for label, timing in timings.items():
        share = timing.engine_sec / timing.predict_sec
        print(
            f"{label:<20} {timing.predict_sec:>8.2f}s {timing.engine_sec:>7.2f}s {share:>7.1%} {timing.load_sec:>6.1f}s"
        )
    predict, engine = (sum(getattr(t, name) for t in timings.values()) for name in ("predict_sec", "engine_sec"))
    share = engine / predict
    print_row(f"engine over the models' own calls, {predict:.0f} s", f"{share:.1%}", f"{LIMIT:.0%}", met=share < LIMIT)
    print_row("the whole command", f"{wall_sec:.0f} s")


if __name__ == "__main__":
    main()
