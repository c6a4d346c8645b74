"""Kornia's colour transforms: each pixel from its own value, and the image's statistics."""

from collections.abc import Sequence

from bench_core.adapter import Operation, Transforms
from kornia import augmentation

transform = Transforms()

LEVELS = 255
TURN_DEG = 360


@transform("ColorJitter")
def color_jitter(
    brightness_factor_range: Sequence[float],
    contrast_factor_range: Sequence[float],
    saturation_factor_range: Sequence[float],
    hue_turns_range: Sequence[float],
) -> Operation:
    return augmentation.ColorJitter(
        brightness=tuple(brightness_factor_range),
        contrast=tuple(contrast_factor_range),
        saturation=tuple(saturation_factor_range),
        hue=tuple(hue_turns_range),
    )


@transform("ColorJiggle")
def color_jiggle(
    brightness_factor_range: Sequence[float],
    contrast_factor_range: Sequence[float],
    saturation_factor_range: Sequence[float],
    hue_turns_range: Sequence[float],
) -> Operation:
    return augmentation.ColorJiggle(
        brightness=tuple(brightness_factor_range),
        contrast=tuple(contrast_factor_range),
        saturation=tuple(saturation_factor_range),
        hue=tuple(hue_turns_range),
    )


# RandomBrightness adds, RandomContrast multiplies without the mean, and RandomSaturation works on HSV; ColorJitter is
# Kornia's class that means by these words what the other libraries do, and it skips the steps that change nothing.
@transform("Brightness")
def brightness(brightness_factor: float) -> Operation:
    return augmentation.ColorJitter(brightness=(brightness_factor, brightness_factor))


@transform("Contrast")
def contrast(contrast_factor: float) -> Operation:
    return augmentation.ColorJitter(contrast=(contrast_factor, contrast_factor))


@transform("Saturation")
def saturation(saturation_factor: float) -> Operation:
    return augmentation.ColorJitter(saturation=(saturation_factor, saturation_factor))


@transform("Hue")
def hue(hue_deg: float) -> Operation:
    turns = hue_deg / TURN_DEG
    return augmentation.RandomHue((turns, turns))


@transform("RandomGamma")
def random_gamma(gamma: float) -> Operation:
    return augmentation.RandomGamma((gamma, gamma))


@transform("PlankianJitter")
def planckian_jitter(mode: str) -> Operation:
    return augmentation.RandomPlanckianJitter(mode, p=1)


@transform("ChannelShuffle")
def channel_shuffle() -> Operation:
    return augmentation.RandomChannelShuffle(p=1)


@transform("ChannelDropout")
def channel_dropout() -> Operation:
    return augmentation.RandomChannelDropout(p=1)


@transform("RGBShift")
def rgb_shift(shift_limit_level: int) -> Operation:
    limit = shift_limit_level / LEVELS
    return augmentation.RandomRGBShift(limit, limit, limit, p=1)


@transform("Grayscale")
def grayscale(num_output_channels: int) -> Operation:
    if num_output_channels != 3:
        raise ValueError(f"kornia's RandomGrayscale keeps three channels, not {num_output_channels}")
    return augmentation.RandomGrayscale(p=1)


@transform("Invert")
def invert() -> Operation:
    return augmentation.RandomInvert(p=1)


@transform("Posterize")
def posterize(bits: int) -> Operation:
    # A single number would be taken as a range from it to 8, and 8 bits change nothing.
    return augmentation.RandomPosterize((float(bits), float(bits)), p=1)


@transform("Solarize")
def solarize(threshold_unit: float) -> Operation:
    # It can add a number before it inverts; the default draws one at random.
    return augmentation.RandomSolarize(thresholds=(threshold_unit, threshold_unit), additions=(0.0, 0.0), p=1)


@transform("AutoContrast")
def auto_contrast() -> Operation:
    return augmentation.RandomAutoContrast(p=1)


@transform("Equalize")
def equalize() -> Operation:
    return augmentation.RandomEqualize(p=1)


@transform("CLAHE")
def clahe(clip_limit_range: Sequence[float], tile_grid: Sequence[int]) -> Operation:
    return augmentation.RandomClahe(clip_limit=tuple(clip_limit_range), grid_size=tuple(tile_grid), p=1)


@transform("Normalize")
def normalize(mean_unit: Sequence[float], std_unit: Sequence[float]) -> Operation:
    return augmentation.Normalize(mean=tuple(mean_unit), std=tuple(std_unit))
