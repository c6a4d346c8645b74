"""Are media copied per child? Peak memory of a worker with its children against library plus media.

    .tools/bin/python benchmarks/memory.py

Proportional set size is sampled over the worker and its children while 64 large images are flipped and inverted: a
shared page counts once over all that share it, so the sum is what the machine really gives.
"""

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
from bench_core import journal
from measured import print_machine, print_row
from PIL import Image

IMAGES = 64
SIZE_PX = 1600
LIMIT = 1.5


def main() -> None:
    print_machine()
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent)
        make_images(folder / "images")
        command = [sys.executable, "-m", "bench_core", "run", "--output", str(folder / "run")]
        command += ["--library", "torchvision", "--transforms", "HorizontalFlip,Invert", "--num-items", str(IMAGES)]
        command += ["--processes", "1", "--num-runs", "4", "--data-dir", str(folder / "images")]
        process = subprocess.Popen(command)
        peak = Peak(process.pid)
        process.wait()
        peak.stop()
        state, _ = journal.read_state(folder / "run" / journal.FILE_NAME)
    ready = next(iter(state.started.values()))[0].ready
    before = ready.rss_bytes
    print_row("media, decoded", f"{ready.media_bytes / 1e6:.0f} MB")
    print_row("worker with library and media, before any measurement", f"{before / 1e6:.0f} MB")
    print_row("peak of the worker and its children together", f"{peak.bytes / 1e6:.0f} MB")
    ratio = peak.bytes / before
    print_row("ratio", f"{ratio:.2f}", f"under {LIMIT:g}", met=ratio < LIMIT)


def make_images(folder: Path) -> None:
    folder.mkdir()
    noise = np.random.default_rng(1).integers(0, 256, (SIZE_PX // 16, SIZE_PX // 16, 3), dtype=np.uint8)
    for i in range(IMAGES):
        Image.fromarray(np.roll(noise, i, axis=0)).resize((SIZE_PX, SIZE_PX)).save(folder / f"{i:03d}.jpg")


class Peak:
    """Largest proportional set size seen over the workers below a process, sampled on a thread."""

    def __init__(self, pid: int) -> None:
        self.bytes = 0
        self._pid, self._going = pid, True
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def stop(self) -> None:
        self._going = False
        self._thread.join()

    def _watch(self) -> None:
        while self._going:
            self.bytes = max(self.bytes, self._sum())
            time.sleep(0.02)

    def _sum(self) -> int:
        try:
            children = psutil.Process(self._pid).children(recursive=True)
            return sum(int(child.memory_full_info().pss) for child in children)
        except psutil.Error:
            return 0


if __name__ == "__main__":
    main()
