"""torchvision: its v2 transform classes on uint8 CHW tensors, each applied with probability 1."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import torch
from bench_core.adapter import Operation, Transforms
from numpy.typing import NDArray
from torchvision.transforms import v2

from bench_adapters_torch.tensors import TensorLibrary, to_hwc

transform = Transforms()

LEVELS = 255


class TorchVision(TensorLibrary):
    """A plain uint8 CHW tensor, which the v2 classes take as an image."""

    name = "torchvision"
    native_format = "uint8 CHW torch.Tensor"
    transforms = transform
    tolerated_warnings: ClassVar[Mapping[str, str]] = {
        "encoding capabilities of TorchVision are deprecated": "v2.JPEG still is the class its users have",
    }

    def from_rgb(self, rgb: NDArray[np.uint8]) -> torch.Tensor:
        return torch.from_numpy(np.array(rgb.transpose(2, 0, 1), order="C"))

    def to_array(self, output: torch.Tensor) -> NDArray[np.generic]:
        return to_hwc(output)


@transform("Resize")
def resize(height_px: int, width_px: int, interpolation: str) -> Operation:
    return v2.Resize((height_px, width_px), interpolation=interpolation, antialias=False)


@transform("RandomCrop224")
def random_crop(height_px: int, width_px: int) -> Operation:
    return v2.RandomCrop((height_px, width_px))


@transform("RandomResizedCrop")
def random_resized_crop(
    height_px: int,
    width_px: int,
    scale_range: Sequence[float],
    ratio_range: Sequence[float],
    interpolation: str,
) -> Operation:
    return v2.RandomResizedCrop(
        (height_px, width_px),
        scale=scale_range,
        ratio=ratio_range,
        interpolation=interpolation,
        antialias=False,
    )


@transform("CenterCrop224")
def center_crop(height_px: int, width_px: int) -> Operation:
    return v2.CenterCrop((height_px, width_px))


@transform("HorizontalFlip")
def horizontal_flip() -> Operation:
    return v2.RandomHorizontalFlip(p=1)


@transform("VerticalFlip")
def vertical_flip() -> Operation:
    return v2.RandomVerticalFlip(p=1)


@transform("Pad")
def pad(padding_px: int, fill: int) -> Operation:
    return v2.Pad(padding_px, fill=fill)


@transform("Rotate")
def rotate(angle_range_deg: Sequence[float], interpolation: str, fill: int) -> Operation:
    return v2.RandomRotation(angle_range_deg, interpolation=interpolation, fill=fill)


@transform("Affine")
def affine(angle_deg: float, scale: float, shear_deg: Sequence[float], interpolation: str, fill: int) -> Operation:
    # Clockwise is positive in this class, unlike in RandomRotation.
    x, y = shear_deg
    return v2.RandomAffine(
        degrees=(-angle_deg, -angle_deg),
        scale=(scale, scale),
        shear=(x, x, y, y),
        interpolation=interpolation,
        fill=fill,
    )


@transform("Perspective")
def perspective(corner_shift_fraction_range: Sequence[float], interpolation: str, fill: int) -> Operation:
    # A distortion scale of s moves a corner by up to s / 2 of the side; there is no lower bound.
    scale = 2 * max(corner_shift_fraction_range)
    return v2.RandomPerspective(distortion_scale=scale, p=1, interpolation=interpolation, fill=fill)


@transform("Elastic")
def elastic(alpha_px: float, sigma_px: float, interpolation: str) -> Operation:
    # The class counts in half pixels.
    return v2.ElasticTransform(alpha=2 * alpha_px, sigma=sigma_px, interpolation=interpolation)


@transform("ColorJitter")
@transform("ColorJiggle")
def color_jitter(
    brightness_factor_range: Sequence[float],
    contrast_factor_range: Sequence[float],
    saturation_factor_range: Sequence[float],
    hue_turns_range: Sequence[float],
) -> Operation:
    return v2.ColorJitter(
        brightness=brightness_factor_range,
        contrast=contrast_factor_range,
        saturation=saturation_factor_range,
        hue=hue_turns_range,
    )


@transform("PhotoMetricDistort")
def photometric_distort(
    brightness_factor_range: Sequence[float],
    contrast_factor_range: Sequence[float],
    saturation_factor_range: Sequence[float],
    hue_turns_range: Sequence[float],
) -> Operation:
    return v2.RandomPhotometricDistort(
        brightness=brightness_factor_range,
        contrast=contrast_factor_range,
        saturation=saturation_factor_range,
        hue=hue_turns_range,
        p=1,
    )


@transform("ChannelShuffle")
def channel_shuffle() -> Operation:
    return v2.RandomChannelPermutation()


@transform("Grayscale")
def grayscale(num_output_channels: int) -> Operation:
    return v2.Grayscale(num_output_channels)


@transform("GaussianBlur")
def gaussian_blur(kernel_px: int, sigma_px: float) -> Operation:
    return v2.GaussianBlur(kernel_px, sigma=(sigma_px, sigma_px))


@transform("Invert")
def invert() -> Operation:
    return v2.RandomInvert(p=1)


@transform("Posterize")
def posterize(bits: int) -> Operation:
    return v2.RandomPosterize(bits, p=1)


@transform("Solarize")
def solarize(threshold_unit: float) -> Operation:
    # A level is compared with the threshold as it stands; no level lies between 127.5 and 128.
    return v2.RandomSolarize(threshold_unit * LEVELS, p=1)


@transform("Sharpen")
def sharpen(sharpness_factor: float) -> Operation:
    return v2.RandomAdjustSharpness(sharpness_factor, p=1)


@transform("AutoContrast")
def auto_contrast() -> Operation:
    return v2.RandomAutocontrast(p=1)


@transform("Equalize")
def equalize() -> Operation:
    return v2.RandomEqualize(p=1)


@transform("Normalize")
def normalize(mean_unit: Sequence[float], std_unit: Sequence[float]) -> Operation:
    # Normalize refuses integers; the conversion before it is what torchvision's users write.
    return v2.Compose([v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean_unit, std_unit)])


@transform("Erasing")
def erasing(area_range: Sequence[float], ratio_range: Sequence[float], fill: int) -> Operation:
    return v2.RandomErasing(p=1, scale=area_range, ratio=ratio_range, value=fill)


@transform("JpegCompression")
def jpeg_compression(quality: int) -> Operation:
    return v2.JPEG(quality)


@transform("Brightness")
def brightness(brightness_factor: float) -> Operation:
    return v2.ColorJitter(brightness=(brightness_factor, brightness_factor))


@transform("Contrast")
def contrast(contrast_factor: float) -> Operation:
    return v2.ColorJitter(contrast=(contrast_factor, contrast_factor))
