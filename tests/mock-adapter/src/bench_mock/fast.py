"""Two libraries that work, the same under two names: to run the whole tool end to end, and against itself."""

import os
import time
from typing import Any

import numpy as np
from bench_core.adapter import Operation, Transforms

from bench_mock.arrays import Array, ArrayLibrary

WORK_STEPS = 200  # of busy work per image, about half a millisecond; a slowdown of 0.5 % is one step
STEP = np.linspace(0.1, 1.0, 4096, dtype=np.float32)  # small enough to stay in the processor's first cache
SLOW_SEC = 0.06  # over the default threshold of 0.05 s per image


class RandomCrop:
    """A crop at a random place: its cost and its output depend on the seed."""

    def __init__(self, height_px: int, width_px: int) -> None:
        self.height_px, self.width_px = height_px, width_px
        self.generator = np.random.default_rng()

    def __call__(self, item: Array) -> Array:
        top = self.generator.integers(max(1, item.shape[0] - self.height_px + 1))
        left = self.generator.integers(max(1, item.shape[1] - self.width_px + 1))
        return item[top : top + self.height_px, left : left + self.width_px]


def make_transforms(slowdown_variable: str) -> Transforms:
    """The transforms; the environment variable, read when one is built, multiplies the busy work."""
    transforms = Transforms()

    def busy_work() -> Operation:
        steps = round(WORK_STEPS * float(os.environ.get(slowdown_variable, "1")))
        scratch = np.empty_like(STEP)

        def work(item: Array) -> Array:
            for _ in range(steps):
                np.sqrt(STEP, out=scratch)
            return item

        return work

    @transforms("Resize")
    def resize(height_px: int, width_px: int, interpolation: str) -> Operation:
        work = busy_work()

        def nearest(item: Array) -> Array:
            rows = np.arange(height_px) * item.shape[0] // height_px
            columns = np.arange(width_px) * item.shape[1] // width_px
            return work(item)[rows[:, np.newaxis], columns]  # type: ignore[no-any-return]

        return nearest

    @transforms("RandomCrop224")
    def random_crop(height_px: int, width_px: int) -> Operation:
        return RandomCrop(height_px, width_px)

    @transforms("HorizontalFlip")
    def horizontal_flip() -> Operation:
        return lambda item: item[:, ::-1]

    @transforms("VerticalFlip")
    def vertical_flip() -> Operation:
        return lambda item: item[::-1]

    @transforms("Elastic")
    def elastic(**_: Any) -> Operation:
        def slow(item: Array) -> Array:
            time.sleep(SLOW_SEC)
            return item.copy()

        return slow

    @transforms("Invert")
    def invert() -> Operation:
        return lambda item: 255 - item

    @transforms("Posterize")
    def posterize(bits: int) -> Operation:
        work = busy_work()
        kept = np.uint8(256 - 2 ** (8 - bits))
        return lambda item: work(item) & kept

    return transforms


class MockFast(ArrayLibrary):
    """Correct and quick; BENCH_MOCK_SLOWDOWN multiplies the work of Resize and Posterize."""

    name = "mock_fast"
    transforms = make_transforms("BENCH_MOCK_SLOWDOWN")

    def seed(self, seed: int, operation: Operation) -> None:
        if isinstance(operation, RandomCrop):
            operation.generator = np.random.default_rng(seed)


class MockTwin(MockFast):
    """The same library again; BENCH_MOCK_TWIN_SLOWDOWN multiplies its work."""

    name = "mock_twin"
    transforms = make_transforms("BENCH_MOCK_TWIN_SLOWDOWN")
