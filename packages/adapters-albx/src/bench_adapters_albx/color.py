"""Colours and tones: every pixel changes by itself, or by the histogram of its image."""

from collections.abc import Sequence

import albumentations as A
from bench_core.adapter import Operation, Transforms

from bench_adapters_albx.pipeline import Image, Pipeline, always, fixed, pair, pipeline

transform = Transforms()

UNCHANGED_FACTOR = (1.0, 1.0)
UNCHANGED_SHIFT = (0.0, 0.0)
HUE_STEPS_OF_TURN = 180  # OpenCV's 8-bit hue, in which the library counts its hue shifts
LEVELS = 255


@transform("Brightness")
def brightness(brightness_factor: float) -> Pipeline:
    return pipeline(
        always(
            A.RandomBrightnessContrast,
            brightness_range=fixed(brightness_factor - 1),
            contrast_range=UNCHANGED_SHIFT,
        )
    )


@transform("Contrast")
def contrast(contrast_factor: float) -> Pipeline:
    return pipeline(
        always(
            A.RandomBrightnessContrast,
            brightness_range=UNCHANGED_SHIFT,
            contrast_range=fixed(contrast_factor - 1),
        )
    )


@transform("Saturation")
def saturation(saturation_factor: float) -> Pipeline:
    return pipeline(
        always(
            A.ColorJitter,
            brightness_range=UNCHANGED_FACTOR,
            contrast_range=UNCHANGED_FACTOR,
            saturation_range=fixed(saturation_factor),
            hue_range=UNCHANGED_SHIFT,
        )
    )


@transform("Hue")
def hue(hue_deg: float) -> Pipeline:
    return pipeline(
        always(
            A.HueSaturationValue,
            hue_shift_range=fixed(hue_deg / 360 * HUE_STEPS_OF_TURN),
            sat_shift_range=UNCHANGED_SHIFT,
            val_shift_range=UNCHANGED_SHIFT,
        )
    )


@transform("HSV")
def hsv(
    hue_turns_range: Sequence[float], saturation_unit_range: Sequence[float], value_unit_range: Sequence[float]
) -> Pipeline:
    """Shifts that are added to hue, saturation and value."""

    def scaled(values: Sequence[float], steps: int) -> tuple[float, float]:
        low, high = values
        return low * steps, high * steps

    return pipeline(
        always(
            A.HueSaturationValue,
            hue_shift_range=scaled(hue_turns_range, HUE_STEPS_OF_TURN),
            sat_shift_range=scaled(saturation_unit_range, LEVELS),
            val_shift_range=scaled(value_unit_range, LEVELS),
        )
    )


@transform("ColorJitter")
@transform("ColorJiggle")
def color_jitter(
    brightness_factor_range: Sequence[float],
    contrast_factor_range: Sequence[float],
    saturation_factor_range: Sequence[float],
    hue_turns_range: Sequence[float],
) -> Pipeline:
    return pipeline(
        always(
            A.ColorJitter,
            brightness_range=pair(brightness_factor_range),
            contrast_range=pair(contrast_factor_range),
            saturation_range=pair(saturation_factor_range),
            hue_range=pair(hue_turns_range),
        )
    )


@transform("PhotoMetricDistort")
def photo_metric_distort(
    brightness_factor_range: Sequence[float],
    contrast_factor_range: Sequence[float],
    saturation_factor_range: Sequence[float],
    hue_turns_range: Sequence[float],
) -> Pipeline:
    return pipeline(
        always(
            A.PhotoMetricDistort,
            brightness_range=pair(brightness_factor_range),
            contrast_range=pair(contrast_factor_range),
            saturation_range=pair(saturation_factor_range),
            hue_range=pair(hue_turns_range),
            distort_p=1.0,
        )
    )


@transform("Grayscale")
def grayscale(num_output_channels: int) -> Pipeline:
    return pipeline(always(A.ToGray, num_output_channels=num_output_channels, method="weighted_average"))


@transform("Colorize")
def colorize(
    black_rgb_level: Sequence[int],
    mid_rgb_level: Sequence[int],
    white_rgb_level: Sequence[int],
    mid_gray_level: int,
) -> Operation:
    """Handed a colour image the library warns and does nothing, so the image is made gray first.

    In two Composes, because inside one the gray image has no channel axis, which Colorize needs. Nothing is drawn.
    """
    gray = pipeline(always(A.ToGray, num_output_channels=1, method="weighted_average"))
    tint = pipeline(
        always(
            A.Colorize,
            black_range=fixed(tuple(black_rgb_level)),
            white_range=fixed(tuple(white_rgb_level)),
            mid_range=fixed(tuple(mid_rgb_level)),
            mid_value_range=fixed(mid_gray_level),
        )
    )

    def colorized(image: Image) -> Image:
        return tint(gray(image))

    return colorized


@transform("ToSepia")
def to_sepia() -> Pipeline:
    return pipeline(always(A.ToSepia))


@transform("ChannelShuffle")
def channel_shuffle() -> Pipeline:
    return pipeline(always(A.ChannelShuffle))


@transform("ChannelSwap")
def channel_swap(order: Sequence[int]) -> Pipeline:
    return pipeline(always(A.ChannelSwap, channel_order=tuple(order)))


@transform("RGBShift")
def rgb_shift(shift_limit_level: float) -> Pipeline:
    limits = (-shift_limit_level, shift_limit_level)
    return pipeline(always(A.RGBShift, r_shift_range=limits, g_shift_range=limits, b_shift_range=limits))


@transform("PlankianJitter")
def plankian_jitter(mode: str) -> Pipeline:
    return pipeline(always(A.PlanckianJitter, mode=mode))


@transform("FancyPCA")
def fancy_pca(alpha_std: float) -> Pipeline:
    return pipeline(always(A.FancyPCA, alpha=alpha_std))


@transform("Invert")
def invert() -> Pipeline:
    return pipeline(always(A.InvertImg))


@transform("Posterize")
def posterize(bits: int) -> Pipeline:
    return pipeline(always(A.Posterize, num_bits=fixed(bits)))


@transform("Solarize")
def solarize(threshold_unit: float) -> Pipeline:
    return pipeline(always(A.Solarize, threshold_range=fixed(threshold_unit)))


@transform("RandomGamma")
def random_gamma(gamma: float) -> Pipeline:
    return pipeline(always(A.RandomGamma, gamma_range=fixed(gamma * 100)))


@transform("RandomToneCurve")
def random_tone_curve(std_unit: float) -> Pipeline:
    return pipeline(always(A.RandomToneCurve, scale=std_unit))


@transform("AutoContrast")
def auto_contrast() -> Pipeline:
    """Stretches each channel to the full range; the library's default method would equalise instead."""
    return pipeline(always(A.AutoContrast, cutoff=0, method="pil"))


@transform("Equalize")
def equalize() -> Pipeline:
    return pipeline(always(A.Equalize, mode="pil"))


@transform("CLAHE")
def clahe(clip_limit_range: Sequence[float], tile_grid: Sequence[int]) -> Pipeline:
    return pipeline(always(A.CLAHE, clip_range=pair(clip_limit_range), tile_grid_size=pair(tile_grid)))


@transform("Normalize")
def normalize(mean_unit: Sequence[float], std_unit: Sequence[float]) -> Pipeline:
    return pipeline(always(A.Normalize, mean=tuple(mean_unit), std=tuple(std_unit), max_pixel_value=float(LEVELS)))
