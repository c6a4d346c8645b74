"""Kornia: its augmentation classes on float32 1xCHW tensors in [0, 1], each applied with probability 1."""

import numpy as np
import torch
from bench_core.adapter import Transforms
from numpy.typing import NDArray

from bench_adapters_torch.kornia import color, effects, geometry
from bench_adapters_torch.tensors import TensorLibrary, to_hwc

LEVELS = 255


class Kornia(TensorLibrary):
    """A batch of one image, as Kornia's users hold it; the conversion from bytes is not timed."""

    name = "kornia"
    native_format = "float32 1xCHW torch.Tensor in [0, 1]"
    transforms = Transforms(geometry.transform, color.transform, effects.transform)

    def from_rgb(self, rgb: NDArray[np.uint8]) -> torch.Tensor:
        chw = np.array(rgb.transpose(2, 0, 1), dtype=np.float32, order="C") / LEVELS
        return torch.from_numpy(chw).unsqueeze(0)

    def to_array(self, output: torch.Tensor) -> NDArray[np.generic]:
        return to_hwc(output[0])
