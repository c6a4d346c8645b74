"""Kornia's effects: blurs, noise, erasing, compression, light and weather."""

from collections.abc import Sequence

from bench_core.adapter import Operation, Transforms
from kornia import augmentation

transform = Transforms()

# What the catalog leaves open, set to what AlbumentationsX does by default, so that both do comparable work.
PLASMA_BRIGHTNESS = (0.0, 0.3)  # the most that is added or taken away, a fraction of the range
PLASMA_SHADE = (-0.7, -0.3)  # what a shadow takes away
RAIN_DROPS = (133, 133)  # one for three rows of an image 400 pixels high
RAIN_SLANT_PX = (-10, 10)


@transform("GaussianBlur")
def gaussian_blur(kernel_px: int, sigma_px: float) -> Operation:
    return augmentation.RandomGaussianBlur((kernel_px, kernel_px), (sigma_px, sigma_px), p=1)


@transform("Blur")
def box_blur(kernel_px: int) -> Operation:
    return augmentation.RandomBoxBlur((kernel_px, kernel_px), p=1)


@transform("MedianBlur")
def median_blur(kernel_px: int) -> Operation:
    return augmentation.RandomMedianBlur((kernel_px, kernel_px), p=1)


@transform("MotionBlur")
def motion_blur(kernel_px: int, angle_range_deg: Sequence[float], direction_range: Sequence[float]) -> Operation:
    return augmentation.RandomMotionBlur(kernel_px, angle=tuple(angle_range_deg), direction=tuple(direction_range), p=1)


@transform("Sharpen")
def sharpen(sharpness_factor: float) -> Operation:
    return augmentation.RandomSharpness((sharpness_factor, sharpness_factor), p=1)


@transform("GaussianNoise")
def gaussian_noise(mean_unit: float, std_unit: float) -> Operation:
    return augmentation.RandomGaussianNoise(mean_unit, std_unit, p=1)


@transform("SaltAndPepper")
def salt_and_pepper(amount: Sequence[float], salt_vs_pepper: Sequence[float]) -> Operation:
    return augmentation.RandomSaltAndPepperNoise(tuple(amount), tuple(salt_vs_pepper), p=1)


@transform("Erasing")
def erasing(area_range: Sequence[float], ratio_range: Sequence[float], fill: int) -> Operation:
    return augmentation.RandomErasing(scale=tuple(area_range), ratio=tuple(ratio_range), value=fill, p=1)


@transform("JpegCompression")
def jpeg_compression(quality: int) -> Operation:
    return augmentation.RandomJPEG((float(quality), float(quality)))


@transform("LinearIllumination")
def linear_illumination(gain: Sequence[float]) -> Operation:
    return augmentation.RandomLinearIllumination(tuple(gain), p=1)


@transform("CornerIllumination")
def corner_illumination(gain: Sequence[float]) -> Operation:
    return augmentation.RandomLinearCornerIllumination(tuple(gain), p=1)


@transform("GaussianIllumination")
def gaussian_illumination(gain: Sequence[float]) -> Operation:
    return augmentation.RandomGaussianIllumination(tuple(gain), p=1)


@transform("PlasmaBrightness")
def plasma_brightness(roughness: float) -> Operation:
    return augmentation.RandomPlasmaBrightness(roughness=(roughness, roughness), intensity=PLASMA_BRIGHTNESS, p=1)


@transform("PlasmaContrast")
def plasma_contrast(roughness: float) -> Operation:
    # Has no strength: the contrast factor runs from 0 to 4 over the picture.
    return augmentation.RandomPlasmaContrast(roughness=(roughness, roughness), p=1)


@transform("PlasmaShadow")
def plasma_shadow(roughness: float) -> Operation:
    return augmentation.RandomPlasmaShadow(roughness=(roughness, roughness), shade_intensity=PLASMA_SHADE, p=1)


@transform("Rain")
def rain(drop_width_px: int, drop_height_px: int, brightness_coefficient: float) -> Operation:
    if (drop_width_px, brightness_coefficient) != (1, 1):
        raise ValueError("kornia's drops are one pixel wide and darken nothing else")
    return augmentation.RandomRain(
        number_of_drops=RAIN_DROPS,
        drop_height=(drop_height_px, drop_height_px),
        drop_width=RAIN_SLANT_PX,  # so Kornia calls how far a drop leans
        p=1,
    )


@transform("Snow")
def snow(snow_point_range: Sequence[float], brightness_factor: float) -> Operation:
    return augmentation.RandomSnow(tuple(snow_point_range), (brightness_factor, brightness_factor), p=1)
