"""Pillow: direct Image, ImageOps, ImageFilter and ImageEnhance operations on RGB images. Needs no torch."""

import math
import random
from collections.abc import Sequence
from importlib.metadata import version
from io import BytesIO

import numpy as np
from bench_core.adapter import Library, Operation, Transforms
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

transform = Transforms()

LEVELS = 255
RESAMPLING = {"nearest": Image.Resampling.NEAREST, "bilinear": Image.Resampling.BILINEAR}
Matrix = tuple[float, float, float, float]  # a 2 x 2 matrix, row by row


class Pillow(Library):
    """An RGB Image goes in; the result is copied to an array, which also loads what Pillow would load later."""

    name = "pillow"
    native_format = "RGB PIL.Image.Image"
    transforms = transform

    def versions(self) -> dict[str, str]:
        return {"pillow": version("pillow")}

    def limit_threads(self, threads: int) -> None:
        """Pillow has no threads of its own."""

    def read_threads(self) -> dict[str, int]:
        return {}

    def from_rgb(self, rgb: NDArray[np.uint8]) -> Image.Image:
        return Image.fromarray(rgb)

    def to_array(self, output: Image.Image | NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.array(output, order="C")

    def materialize(self, output: Image.Image) -> NDArray[np.uint8]:
        return np.asarray(output)

    def copy(self, item: Image.Image) -> Image.Image:
        return item.copy()

    def seed(self, seed: int, operation: Operation) -> None:
        """Pillow draws nothing by itself; the one random angle below comes from Python's generator."""
        random.seed(seed)


@transform("Resize")
def resize(height_px: int, width_px: int, interpolation: str) -> Operation:
    return lambda image: image.resize((width_px, height_px), RESAMPLING[interpolation])


@transform("HorizontalFlip")
def horizontal_flip() -> Operation:
    return lambda image: image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


@transform("VerticalFlip")
def vertical_flip() -> Operation:
    return lambda image: image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)


@transform("Transpose")
def transpose() -> Operation:
    return lambda image: image.transpose(Image.Transpose.TRANSPOSE)


@transform("Pad")
def pad(padding_px: int, fill: int) -> Operation:
    return lambda image: ImageOps.expand(image, padding_px, fill)


@transform("Rotate")
def rotate(angle_range_deg: Sequence[float], interpolation: str, fill: int) -> Operation:
    low, high = angle_range_deg
    color = (fill, fill, fill)

    def operation(image: Image.Image) -> Image.Image:
        angle_deg = random.uniform(low, high)  # noqa: S311 - no secret
        return image.rotate(angle_deg, RESAMPLING[interpolation], fillcolor=color)

    return operation


@transform("Affine")
def affine(angle_deg: float, scale: float, shear_deg: Sequence[float], interpolation: str, fill: int) -> Operation:
    turn = math.radians(angle_deg)
    tan_x, tan_y = (math.tan(math.radians(shear)) for shear in shear_deg)
    cos, sin = scale * math.cos(turn), scale * math.sin(turn)
    # The y axis points down, so this rotation turns counter-clockwise on the screen.
    return _warp(_product((cos, sin, -sin, cos), (1, -tan_x, -tan_y, 1 + tan_x * tan_y)), interpolation, fill)


@transform("Shear")
def shear(shear_deg: float, interpolation: str, fill: int) -> Operation:
    return _warp((1, -math.tan(math.radians(shear_deg)), 0, 1), interpolation, fill)


@transform("Grayscale")
def grayscale(num_output_channels: int) -> Operation:
    mode = {1: "L", 3: "RGB"}[num_output_channels]
    return lambda image: image.convert("L").convert(mode)


@transform("GaussianBlur")
def gaussian_blur(kernel_px: int, sigma_px: float) -> Operation:
    # Pillow approximates the Gaussian by repeated means and has no kernel size.
    blur = ImageFilter.GaussianBlur(sigma_px)
    return lambda image: image.filter(blur)


@transform("Blur")
def box_blur(kernel_px: int) -> Operation:
    blur = ImageFilter.BoxBlur((kernel_px - 1) / 2)
    return lambda image: image.filter(blur)


@transform("MedianBlur")
def median_blur(kernel_px: int) -> Operation:
    blur = ImageFilter.MedianFilter(kernel_px)
    return lambda image: image.filter(blur)


@transform("UnsharpMask")
def unsharp_mask(kernel_px: int, sigma_px: float, amount_fraction: float, threshold_level: int) -> Operation:
    # The blur inside is the one of GaussianBlur above: no kernel size here either.
    sharpen = ImageFilter.UnsharpMask(sigma_px, percent=round(100 * amount_fraction), threshold=threshold_level)
    return lambda image: image.filter(sharpen)


@transform("EnhanceEdge")
def enhance_edge() -> Operation:
    return lambda image: image.filter(ImageFilter.EDGE_ENHANCE)


@transform("EnhanceDetail")
def enhance_detail() -> Operation:
    return lambda image: image.filter(ImageFilter.DETAIL)


@transform("Invert")
def invert() -> Operation:
    return ImageOps.invert


@transform("Posterize")
def posterize(bits: int) -> Operation:
    return lambda image: ImageOps.posterize(image, bits)


@transform("Solarize")
def solarize(threshold_unit: float) -> Operation:
    threshold_level = math.ceil(threshold_unit * LEVELS)
    return lambda image: ImageOps.solarize(image, threshold_level)


@transform("AutoContrast")
def auto_contrast() -> Operation:
    return ImageOps.autocontrast


@transform("Equalize")
def equalize() -> Operation:
    return ImageOps.equalize


@transform("Colorize")
def colorize(
    black_rgb_level: Sequence[int],
    mid_rgb_level: Sequence[int],
    white_rgb_level: Sequence[int],
    mid_gray_level: int,
) -> Operation:
    black, mid, white = tuple(black_rgb_level), tuple(mid_rgb_level), tuple(white_rgb_level)
    return lambda image: ImageOps.colorize(image.convert("L"), black, white, mid, midpoint=mid_gray_level)


@transform("JpegCompression")
def jpeg_compression(quality: int) -> Operation:
    def operation(image: Image.Image) -> Image.Image:
        buffer = BytesIO()
        image.save(buffer, format="JPEG", quality=quality)
        return Image.open(buffer)

    return operation


@transform("Brightness")
def brightness(brightness_factor: float) -> Operation:
    return lambda image: ImageEnhance.Brightness(image).enhance(brightness_factor)


@transform("Contrast")
def contrast(contrast_factor: float) -> Operation:
    return lambda image: ImageEnhance.Contrast(image).enhance(contrast_factor)


@transform("Saturation")
def saturation(saturation_factor: float) -> Operation:
    return lambda image: ImageEnhance.Color(image).enhance(saturation_factor)


def _warp(matrix: Matrix, interpolation: str, fill: int) -> Operation:
    """Apply a matrix about the image's centre; Pillow asks for where each output pixel comes from: the inverse."""
    a, b, c, d = _inverse(matrix)
    color = (fill, fill, fill)

    def operation(image: Image.Image) -> Image.Image:
        x, y = image.width / 2, image.height / 2
        data = (a, b, x - a * x - b * y, c, d, y - c * x - d * y)
        return image.transform(image.size, Image.Transform.AFFINE, data, RESAMPLING[interpolation], fillcolor=color)

    return operation


def _product(one: Matrix, other: Matrix) -> Matrix:
    a, b, c, d = one
    e, f, g, h = other
    return (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)


def _inverse(matrix: Matrix) -> Matrix:
    a, b, c, d = matrix
    determinant = a * d - b * c
    return (d / determinant, -b / determinant, -c / determinant, a / determinant)
