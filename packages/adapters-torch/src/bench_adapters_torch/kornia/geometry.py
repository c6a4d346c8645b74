"""Kornia's geometric transforms: sizes, flips, warps and tiles."""

import math
from collections.abc import Sequence

import torch
from bench_core.adapter import Operation, Transforms
from kornia import augmentation

transform = Transforms()

# Kornia takes an elastic displacement in halves of the side, one number for images of every size: this side is meant.
ELASTIC_REFERENCE_SIDE_PX = 400
# RandomFisheye has no strength, only an exponent: r becomes r * (1 + r ** exponent), r being 1 at the middle of a side.
FISHEYE_EXPONENT = 2.0


@transform("Resize")
def resize(height_px: int, width_px: int, interpolation: str) -> Operation:
    return augmentation.Resize((height_px, width_px), resample=interpolation, align_corners=False)


@transform("LongestMaxSize")
def longest_max_size(max_size_px: int, interpolation: str) -> Operation:
    return augmentation.LongestMaxSize(max_size_px, resample=interpolation, align_corners=False)


@transform("SmallestMaxSize")
def smallest_max_size(max_size_px: int, interpolation: str) -> Operation:
    return augmentation.SmallestMaxSize(max_size_px, resample=interpolation, align_corners=False)


@transform("RandomCrop224")
def random_crop(height_px: int, width_px: int) -> Operation:
    return augmentation.RandomCrop((height_px, width_px))


@transform("RandomResizedCrop")
def random_resized_crop(
    height_px: int,
    width_px: int,
    scale_range: Sequence[float],
    ratio_range: Sequence[float],
    interpolation: str,
) -> Operation:
    return augmentation.RandomResizedCrop(
        (height_px, width_px),
        scale=tuple(scale_range),
        ratio=tuple(ratio_range),
        resample=interpolation,
        align_corners=False,
    )


@transform("CenterCrop224")
def center_crop(height_px: int, width_px: int) -> Operation:
    return augmentation.CenterCrop((height_px, width_px))


@transform("HorizontalFlip")
def horizontal_flip() -> Operation:
    return augmentation.RandomHorizontalFlip(p=1)


@transform("VerticalFlip")
def vertical_flip() -> Operation:
    return augmentation.RandomVerticalFlip(p=1)


@transform("Rotate")
def rotate(angle_range_deg: Sequence[float], interpolation: str, fill: int) -> Operation:
    _require_black(fill)
    return augmentation.RandomRotation(tuple(angle_range_deg), resample=interpolation, p=1)


@transform("RandomRotate90")
def random_rotate_90(quarter_turns_range: Sequence[int]) -> Operation:
    low, high = quarter_turns_range
    return augmentation.RandomRotation90((low, high), p=1)


@transform("Affine")
def affine(angle_deg: float, scale: float, shear_deg: Sequence[float], interpolation: str, fill: int) -> Operation:
    # Clockwise is positive in this class, unlike in RandomRotation.
    _require_black(fill)
    x, y = shear_deg
    return augmentation.RandomAffine(
        degrees=(-angle_deg, -angle_deg),
        scale=(scale, scale),
        shear=(x, x, y, y),
        resample=interpolation,
        p=1,
    )


@transform("Shear")
def shear(shear_deg: float, interpolation: str, fill: int) -> Operation:
    _require_black(fill)
    return augmentation.RandomShear((shear_deg, shear_deg), resample=interpolation, p=1)


@transform("Perspective")
def perspective(corner_shift_fraction_range: Sequence[float], interpolation: str, fill: int) -> Operation:
    # A distortion scale of s moves a corner by up to s / 2 of the side; there is no lower bound.
    _require_black(fill)
    scale = 2 * max(corner_shift_fraction_range)
    return augmentation.RandomPerspective(distortion_scale=scale, resample=interpolation, p=1)


@transform("Elastic")
def elastic(alpha_px: float, sigma_px: float, interpolation: str) -> Operation:
    kernel_px = 8 * round(sigma_px) + 1
    alpha = 2 * alpha_px / ELASTIC_REFERENCE_SIDE_PX
    return augmentation.RandomElasticTransform(
        kernel_size=(kernel_px, kernel_px),
        sigma=(sigma_px, sigma_px),
        alpha=(alpha, alpha),
        resample=interpolation,
        p=1,
    )


@transform("OpticalDistortion")
def optical_distortion(distort_limit: float, mode: str) -> Operation:
    if mode != "fisheye":
        raise ValueError(f"kornia distorts as a fisheye, not as a {mode}")
    center = torch.zeros(2)
    return augmentation.RandomFisheye(center, center, gamma=torch.full((2,), FISHEYE_EXPONENT), p=1)


@transform("ThinPlateSpline")
def thin_plate_spline(num_control_points: int, distortion_scale: float) -> Operation:
    # The control points are always the four corners and the centre. They move by a uniform draw from -scale to scale,
    # in halves of the side: its standard deviation is scale / sqrt(3) / 2 of the side.
    std_fraction = distortion_scale / 10
    return augmentation.RandomThinPlateSpline(scale=2 * math.sqrt(3) * std_fraction, p=1)


@transform("RandomJigsaw")
def random_jigsaw(grid: Sequence[int]) -> Operation:
    rows, columns = grid
    return augmentation.RandomJigsaw((rows, columns), p=1)


def _require_black(fill: int) -> None:
    """These classes fill with 0 and take no other value.

    Raises:
        ValueError: the catalog asks for another one.
    """
    if fill != 0:
        raise ValueError(f"kornia fills with 0 here, not with {fill}")
