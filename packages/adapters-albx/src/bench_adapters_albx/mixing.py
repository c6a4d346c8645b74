"""Transforms that bring in a second image."""

import albumentations as A
import numpy as np
from bench_core.adapter import Transforms

from bench_adapters_albx.pipeline import Image, Pipeline, always, pipeline

transform = Transforms()


def disc_donor(size_px: int) -> tuple[Image, Image]:
    """A colour gradient and the mask of a disc in it: an object to paste, the same for every image and run."""
    ramp = np.linspace(0, 255, size_px, dtype=np.uint8)
    rows, cols = np.meshgrid(ramp, ramp, indexing="ij")
    image = np.stack([rows, cols, 255 - rows], axis=2)
    axis = np.linspace(-1.0, 1.0, size_px)
    mask = (axis[:, np.newaxis] ** 2 + axis**2 <= 1.0).astype(np.uint8)
    return image, mask


@transform("CopyAndPaste")
def copy_and_paste(donor_size_px: int, blend_mode: str) -> Pipeline:
    """Pastes an object somewhere; the donor image and the object's mask are made here, untimed."""
    image, mask = disc_donor(donor_size_px)
    return pipeline(
        always(A.CopyAndPaste, blend_mode=blend_mode),
        targets={"copy_paste_metadata": [{"image": image, "mask": mask}]},
    )
