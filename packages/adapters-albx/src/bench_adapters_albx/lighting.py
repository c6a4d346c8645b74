"""Light and shade that vary over the image."""

from collections.abc import Sequence

import albumentations as A
from bench_core.adapter import Transforms

from bench_adapters_albx.pipeline import INTERPOLATIONS, Pipeline, always, pair, pipeline

transform = Transforms()


@transform("LinearIllumination")
def linear_illumination(gain: Sequence[float]) -> Pipeline:
    return pipeline(always(A.Illumination, mode="linear", intensity_range=pair(gain)))


@transform("CornerIllumination")
def corner_illumination(gain: Sequence[float]) -> Pipeline:
    return pipeline(always(A.Illumination, mode="corner", intensity_range=pair(gain)))


@transform("GaussianIllumination")
def gaussian_illumination(gain: Sequence[float]) -> Pipeline:
    return pipeline(always(A.Illumination, mode="gaussian", intensity_range=pair(gain)))


@transform("PlasmaBrightness")
def plasma_brightness(roughness: float) -> Pipeline:
    return pipeline(
        always(
            A.PlasmaBrightnessContrast,
            brightness_range=(-0.3, 0.3),
            contrast_range=(0.0, 0.0),
            roughness=roughness,
        )
    )


@transform("PlasmaContrast")
def plasma_contrast(roughness: float) -> Pipeline:
    return pipeline(
        always(
            A.PlasmaBrightnessContrast,
            brightness_range=(0.0, 0.0),
            contrast_range=(-0.3, 0.3),
            roughness=roughness,
        )
    )


@transform("PlasmaShadow")
def plasma_shadow(roughness: float) -> Pipeline:
    return pipeline(always(A.PlasmaShadow, shadow_intensity_range=(0.3, 0.7), roughness=roughness))


@transform("Vignetting")
def vignetting(intensity_range: Sequence[float]) -> Pipeline:
    return pipeline(always(A.Vignetting, intensity_range=pair(intensity_range)))


@transform("ChromaticAberration")
def chromatic_aberration(
    primary_distortion_range: Sequence[float],
    secondary_distortion_range: Sequence[float],
    mode: str,
    interpolation: str,
) -> Pipeline:
    return pipeline(
        always(
            A.ChromaticAberration,
            primary_distortion_range=pair(primary_distortion_range),
            secondary_distortion_range=pair(secondary_distortion_range),
            mode=mode,
            interpolation=INTERPOLATIONS[interpolation],
        )
    )


@transform("LensFlare")
def lens_flare() -> Pipeline:
    return pipeline(always(A.LensFlare))
