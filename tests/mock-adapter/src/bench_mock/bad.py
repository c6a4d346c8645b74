"""A library whose every transform misbehaves in a way of its own. Resize alone works, to show that the rest goes on.

| transform | what it does |
|---|---|
| Resize | works |
| Invert | raises |
| Pad | raises while it is built |
| Solarize | returns None |
| HorizontalFlip | returns its input |
| Blur | writes into its input, and returns a copy |
| Contrast | returns an array of NaN |
| CenterCrop224 | returns an empty array |
| Transpose | returns text |
| Posterize | hangs |
| Equalize | starts a grandchild and hangs with it |
| Affine | leaves a grandchild behind, which holds all pipes, and exits |
| Grayscale | ends the process with code 3, by os._exit |
| Erasing | ends the process by sys.exit |
| AutoContrast | segfaults |
| Brightness | takes memory until it is refused |
| VerticalFlip | kills its parent, the worker, and hangs as an orphan that holds its pipes |
| Rotate | works, and prints what looks like a reply |
| Sharpen | works, and sets the pools of this process to other numbers of threads |
| Perspective | raises what is no Exception, as extensions in Rust do when they panic |
| ColorJitter | raises an exception whose own text cannot be made |
| RGBShift | raises with a message of a megabyte, with characters that are no text |
| GaussianBlur | returns a single row |
| GaussianNoise | works when there is nothing to read on standard input |
| ChannelShuffle | works, and leaves a grandchild behind in a session of its own |
| RandomCrop224 | works, and changes the current folder |
| Rain | prints without end |
"""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import threadpoolctl
from bench_core.adapter import Operation, Transforms

from bench_mock.arrays import Array, ArrayLibrary

CHUNK_BYTES = 64 * 2**20
MOST_BYTES = 6 * 2**30  # then nobody has refused, and the test has failed; the machine should not
HANG_SEC = 900  # longer than any test waits
JUNK = '{"kind": "measured", "values_sec": [1e-9]}\n{"kind":\n'
PID_FILE = "BENCH_MOCK_PID_FILE"  # environment variable: where Equalize and Affine write their grandchild's number

transforms = Transforms()


@transforms("Resize")
def resize(height_px: int, width_px: int, interpolation: str) -> Operation:
    return lambda item: item[: height_px // 4, : width_px // 4].copy()


@transforms("Invert")
def invert() -> Operation:
    def fail(item: Array) -> Array:
        raise ValueError("this image is not to my taste")

    return fail


@transforms("Pad")
def pad(**params: Any) -> Operation:
    raise TypeError(f"Pad does not understand {', '.join(params)}")


@transforms("Solarize")
def solarize(**_: Any) -> Operation:
    return lambda item: None


@transforms("HorizontalFlip")
def horizontal_flip() -> Operation:
    return lambda item: item


@transforms("Blur")
def blur(**_: Any) -> Operation:
    def in_place(item: Array) -> Array:
        item //= 2
        return item.copy()

    return in_place


@transforms("Contrast")
def contrast(**_: Any) -> Operation:
    return lambda item: np.full(item.shape, np.nan, np.float32)


@transforms("CenterCrop224")
def center_crop(**_: Any) -> Operation:
    return lambda item: item[:0]


@transforms("Transpose")
def transpose() -> Operation:
    return lambda item: "an image"


@transforms("Posterize")
def posterize(**_: Any) -> Operation:
    return lambda item: hang()


@transforms("Equalize")
def equalize(**_: Any) -> Operation:
    def hang_together(item: Array) -> Array:
        start_grandchild()
        hang()

    return hang_together


@transforms("Affine")
def affine(**_: Any) -> Operation:
    def leave_behind(item: Array) -> Array:
        start_grandchild()
        os._exit(4)

    return leave_behind


@transforms("Grayscale")
def grayscale(**_: Any) -> Operation:
    return lambda item: os._exit(3)


@transforms("Erasing")
def erasing(**_: Any) -> Operation:
    return lambda item: sys.exit("I have had enough")


@transforms("AutoContrast")
def auto_contrast(**_: Any) -> Operation:
    return lambda item: ctypes.string_at(0)


@transforms("Brightness")
def brightness(**_: Any) -> Operation:
    def devour(item: Array) -> Array:
        taken: list[Array] = []
        while len(taken) * CHUNK_BYTES < MOST_BYTES:
            taken.append(np.ones(CHUNK_BYTES, np.uint8))  # ones, not zeros: the pages are really written
        raise AssertionError(f"{MOST_BYTES / 2**30:.0f} GiB were taken and nobody refused")

    return devour


@transforms("VerticalFlip")
def vertical_flip() -> Operation:
    def kill_parent(item: Array) -> Array:
        os.kill(os.getppid(), signal.SIGKILL)
        hang()

    return kill_parent


@transforms("Rotate")
def rotate(**_: Any) -> Operation:
    def chatter(item: Array) -> Array:
        print(JUNK, flush=True)
        os.write(1, JUNK.encode())
        return np.rot90(item).copy()

    return chatter


@transforms("Sharpen")
def sharpen(**_: Any) -> Operation:
    def with_more_threads(item: Array) -> Array:
        threadpoolctl.threadpool_limits(2)
        return 255 - item

    return with_more_threads


@transforms("Perspective")
def perspective(**_: Any) -> Operation:
    def panic(item: Array) -> Array:
        raise Panic("index out of bounds")

    return panic


@transforms("ColorJitter")
def color_jitter(**_: Any) -> Operation:
    def fail(item: Array) -> Array:
        raise Unspeakable

    return fail


@transforms("RGBShift")
def rgb_shift(**_: Any) -> Operation:
    def fail(item: Array) -> Array:
        raise ValueError("\udcff" * 2**20)

    return fail


@transforms("GaussianBlur")
def gaussian_blur(**_: Any) -> Operation:
    return lambda item: item[0, :, 0].copy()


@transforms("GaussianNoise")
def gaussian_noise(**_: Any) -> Operation:
    def read_first(item: Array) -> Array:
        if os.read(0, 1):
            raise AssertionError("that was not for a library")
        return 255 - item

    return read_first


@transforms("ChannelShuffle")
def channel_shuffle() -> Operation:
    def leave_behind(item: Array) -> Array:
        start_grandchild(own_session=True)
        return 255 - item

    return leave_behind


@transforms("RandomCrop224")
def random_crop(**_: Any) -> Operation:
    def elsewhere(item: Array) -> Array:
        os.chdir("/")
        return 255 - item

    return elsewhere


@transforms("Rain")
def rain(**_: Any) -> Operation:
    def flood(item: Array) -> Array:
        give_up = time.monotonic() + HANG_SEC
        while time.monotonic() < give_up:
            os.write(2, b"it rains\n" * 1000)
            time.sleep(0.001)
        return item.copy()

    return flood


class Panic(BaseException):
    """Not an Exception."""


class Unspeakable(Exception):
    """Its text cannot be made."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def hang() -> NoReturn:
    """Do nothing, and do not listen to a polite request to end; if nobody ever ends it, end at last."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(HANG_SEC)
    os._exit(5)


def start_grandchild(*, own_session: bool = False) -> None:
    pid = os.fork()
    if pid == 0:
        if own_session:
            os.setsid()
        hang()
    if PID_FILE in os.environ:
        Path(os.environ[PID_FILE]).write_text(str(pid), encoding="ascii")


class MockBad(ArrayLibrary):
    """Never to be called in a process that matters."""

    name = "mock_bad"
    transforms = transforms
