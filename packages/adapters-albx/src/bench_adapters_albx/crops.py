"""Resizing, cropping and padding."""

from collections.abc import Sequence

import albumentations as A
from bench_core.adapter import Transforms

from bench_adapters_albx.pipeline import INTERPOLATIONS, Pipeline, always, pair, pipeline

transform = Transforms()


@transform("Resize")
def resize(height_px: int, width_px: int, interpolation: str) -> Pipeline:
    return pipeline(always(A.Resize, height=height_px, width=width_px, interpolation=INTERPOLATIONS[interpolation]))


@transform("LongestMaxSize")
def longest_max_size(max_size_px: int, interpolation: str) -> Pipeline:
    return pipeline(always(A.LongestMaxSize, max_size=max_size_px, interpolation=INTERPOLATIONS[interpolation]))


@transform("SmallestMaxSize")
def smallest_max_size(max_size_px: int, interpolation: str) -> Pipeline:
    return pipeline(always(A.SmallestMaxSize, max_size=max_size_px, interpolation=INTERPOLATIONS[interpolation]))


@transform("RandomScale")
def random_scale(scale_factor_range: Sequence[float], interpolation: str) -> Pipeline:
    low, high = scale_factor_range
    return pipeline(always(A.RandomScale, scale_range=(low - 1, high - 1), interpolation=INTERPOLATIONS[interpolation]))


@transform("RandomCrop224")
def random_crop(height_px: int, width_px: int) -> Pipeline:
    return pipeline(always(A.RandomCrop, height=height_px, width=width_px))


@transform("CenterCrop224")
def center_crop(height_px: int, width_px: int) -> Pipeline:
    return pipeline(always(A.CenterCrop, height=height_px, width=width_px))


@transform("RandomResizedCrop")
def random_resized_crop(
    height_px: int,
    width_px: int,
    scale_range: Sequence[float],
    ratio_range: Sequence[float],
    interpolation: str,
) -> Pipeline:
    return pipeline(
        always(
            A.RandomResizedCrop,
            size=(height_px, width_px),
            scale=pair(scale_range),
            ratio=pair(ratio_range),
            interpolation=INTERPOLATIONS[interpolation],
        )
    )


@transform("RandomSizedCrop")
def random_sized_crop(
    crop_height_px_range: Sequence[int], height_px: int, width_px: int, interpolation: str
) -> Pipeline:
    return pipeline(
        always(
            A.RandomSizedCrop,
            min_max_height=pair(crop_height_px_range),
            size=(height_px, width_px),
            interpolation=INTERPOLATIONS[interpolation],
        )
    )


@transform("Pad")
def pad(padding_px: int, fill: int) -> Pipeline:
    return pipeline(always(A.Pad, padding=padding_px, fill=fill))


@transform("PadIfNeeded")
def pad_if_needed(min_height_px: int, min_width_px: int, fill: int) -> Pipeline:
    return pipeline(always(A.PadIfNeeded, min_height=min_height_px, min_width=min_width_px, fill=fill))


@transform("CropAndPad")
def crop_and_pad(top_px: int, right_px: int, bottom_px: int, left_px: int, interpolation: str, fill: int) -> Pipeline:
    """Pads each side by so many pixels, crops where it is negative, and resizes back to the image's own size."""
    return pipeline(
        always(
            A.CropAndPad,
            px=(top_px, right_px, bottom_px, left_px),
            keep_size=True,
            interpolation=INTERPOLATIONS[interpolation],
            fill=fill,
        )
    )
