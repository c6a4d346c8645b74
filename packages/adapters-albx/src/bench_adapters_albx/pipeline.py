"""How AlbumentationsX is used: a strict Compose around a transform that is always applied, called with an image."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import albumentations as A
import cv2
from numpy.typing import NDArray

Image = NDArray[Any]  # HWC

INTERPOLATIONS: Mapping[str, Any] = {
    "nearest": cv2.INTER_NEAREST,
    "bilinear": cv2.INTER_LINEAR,
    "bicubic": cv2.INTER_CUBIC,
    "area": cv2.INTER_AREA,
}
BORDERS: Mapping[str, Any] = {
    "constant": cv2.BORDER_CONSTANT,
    "reflect101": cv2.BORDER_REFLECT_101,
}


class Pipeline:
    """A Compose as an operation: one image in, one image out.

    `targets` are what a transform needs beside the image, by the name that the Compose takes them.
    """

    __slots__ = ("compose", "targets")

    def __init__(self, compose: A.Compose, targets: Mapping[str, Any]) -> None:
        self.compose = compose
        self.targets = targets

    def __call__(self, image: Image) -> Image:
        output: Image = self.compose(image=image, **self.targets)["image"]
        # A draw that changes nothing (a turn by 0 degrees, a crop of everything) hands the input back, or a view of
        # all of it. An output has its own memory. Views that are not contiguous are left to be made so later.
        if output is image or (output.base is image and output.flags.c_contiguous):
            return output.copy()
        return output


def always(transform: Callable[..., Any], **arguments: Any) -> Any:
    """`transform` with these arguments and probability 1.

    Raises:
        Warning: the library would have gone on with something other than what was asked for: it only warns of an
            argument that it does not know, and takes its defaults where a check of its own fails.
        ValueError: it refuses an argument's value.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return transform(**arguments, p=1.0)


def pipeline(
    *steps: Any, targets: Mapping[str, Any] | None = None, bbox_params: A.BboxParams | None = None
) -> Pipeline:
    """The steps in one strict Compose; seeded by the library's `seed` before it is measured."""
    return Pipeline(A.Compose(list(steps), strict=True, seed=0, bbox_params=bbox_params), targets or {})


def pair(values: Sequence[Any]) -> tuple[Any, Any]:
    """A catalog's range as the tuple that the library insists on."""
    low, high = values
    return low, high


def fixed(value: Any) -> tuple[Any, Any]:
    """A range with one value in it: the library's way to draw nothing."""
    return value, value
