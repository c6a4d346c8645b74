"""Noise: what a sensor, a film or a bad line adds."""

from collections.abc import Sequence

import albumentations as A
from bench_core.adapter import Transforms

from bench_adapters_albx.pipeline import Pipeline, always, fixed, pair, pipeline

transform = Transforms()


@transform("GaussianNoise")
def gaussian_noise(mean_unit: float, std_unit: float) -> Pipeline:
    return pipeline(always(A.GaussNoise, mean_range=fixed(mean_unit), std_range=fixed(std_unit), per_channel=True))


@transform("SaltAndPepper")
def salt_and_pepper(amount: Sequence[float], salt_vs_pepper: Sequence[float]) -> Pipeline:
    return pipeline(always(A.SaltAndPepper, amount_range=pair(amount), salt_vs_pepper_range=pair(salt_vs_pepper)))


@transform("ISONoise")
def iso_noise(hue_std_deg_range: Sequence[float], intensity_range: Sequence[float]) -> Pipeline:
    return pipeline(
        always(
            A.ISONoise,
            color_shift_range=pair(hue_std_deg_range),
            intensity_range=pair(intensity_range),
        )
    )


@transform("ShotNoise")
def shot_noise(photon_unit_range: Sequence[float]) -> Pipeline:
    return pipeline(always(A.ShotNoise, scale_range=pair(photon_unit_range)))


@transform("MultiplicativeNoise")
def multiplicative_noise(factor_range: Sequence[float], per_channel: bool, per_pixel: bool) -> Pipeline:
    return pipeline(
        always(
            A.MultiplicativeNoise,
            multiplier=pair(factor_range),
            per_channel=per_channel,
            elementwise=per_pixel,
        )
    )


@transform("AdditiveNoise")
def additive_noise(noise_unit_range: Sequence[float]) -> Pipeline:
    """A uniform draw for each pixel of each channel."""
    return pipeline(
        always(
            A.AdditiveNoise,
            noise_type="uniform",
            spatial_mode="per_pixel",
            noise_params={"ranges": [pair(noise_unit_range)]},
        )
    )


@transform("FilmGrain")
def film_grain(intensity_range: Sequence[float], grain_size_px_range: Sequence[int]) -> Pipeline:
    return pipeline(
        always(
            A.FilmGrain,
            intensity_range=pair(intensity_range),
            grain_size_range=pair(grain_size_px_range),
        )
    )
