"""AlbumentationsX: uint8 HWC arrays in, arrays out, one strict Compose per transform."""

from importlib.metadata import version
from typing import Any, ClassVar

import cv2
import numpy as np
import torch
from bench_core.adapter import Library, Operation, Transforms
from numpy.typing import NDArray

from bench_adapters_albx import (
    blur,
    color,
    crops,
    distortion,
    dropout,
    geometric,
    lighting,
    mixing,
    noise,
    sharpness,
    weather,
)
from bench_adapters_albx.pipeline import Image, Pipeline

DISTRIBUTIONS = (
    "albumentationsx",
    "albucore",
    "opencv-python-headless",
    "numkong",
    "stringzilla",
    "numpy",
    "scipy",
    "torch",
)


class AlbumentationsX(Library):
    """AlbumentationsX on the CPU, as its users call it: `compose(image=image)["image"]`."""

    name: ClassVar[str] = "albumentationsx"
    native_format: ClassVar[str] = "uint8 HWC RGB numpy.ndarray"
    transforms: ClassVar[Transforms] = Transforms(
        blur.transform,
        color.transform,
        crops.transform,
        distortion.transform,
        dropout.transform,
        geometric.transform,
        lighting.transform,
        mixing.transform,
        noise.transform,
        sharpness.transform,
        weather.transform,
    )

    def versions(self) -> dict[str, str]:
        return {name: version(name) for name in DISTRIBUTIONS}

    def limit_threads(self, threads: int) -> None:
        cv2.setNumThreads(threads)
        torch.set_num_threads(threads)

    def read_threads(self) -> dict[str, int]:
        # OpenCV built without a pool, or told to use none, answers 0 or 1: one thread either way.
        return {"opencv": max(1, cv2.getNumThreads()), "torch": torch.get_num_threads()}

    def from_rgb(self, rgb: NDArray[np.uint8]) -> Image:
        """The array itself, or a copy: an item owns its memory, so that a view of it can be told from a new image."""
        return rgb if rgb.flags.c_contiguous and rgb.flags.owndata else np.array(rgb, order="C")

    def to_array(self, output: Image) -> NDArray[Any]:
        return output.copy() if output.ndim == 3 else output[:, :, np.newaxis].copy()

    def materialize(self, output: Image) -> Image:
        return np.ascontiguousarray(output)

    def copy(self, item: Image) -> Image:
        return item.copy()

    def seed(self, seed: int, operation: Operation) -> None:
        # The only generators are the Compose's own; OpenCV's is seeded by the transforms that draw from it.
        if isinstance(operation, Pipeline):
            operation.compose.set_random_seed(seed)
