"""Weather, and what stands between the scene and the lens."""

from collections.abc import Sequence

import albumentations as A
from bench_core.adapter import Transforms

from bench_adapters_albx.pipeline import Pipeline, always, fixed, pair, pipeline

transform = Transforms()


@transform("Rain")
def rain(drop_width_px: int, drop_height_px: int, brightness_coefficient: float) -> Pipeline:
    return pipeline(
        always(
            A.RandomRain,
            drop_width=drop_width_px,
            drop_length=drop_height_px,
            brightness_coefficient=brightness_coefficient,
        )
    )


@transform("Snow")
def snow(snow_point_range: Sequence[float], brightness_factor: float) -> Pipeline:
    """The catalog's point is a share of the lightness range; the library's runs from 85 of 255 levels to 212.5."""
    low, high = ((255 * point - 85) / 127.5 for point in snow_point_range)
    return pipeline(always(A.RandomSnow, snow_point_range=(low, high), brightness_coeff=brightness_factor))


@transform("RandomFog")
def random_fog(intensity_range: Sequence[float], alpha: float) -> Pipeline:
    return pipeline(always(A.RandomFog, fog_coef_range=pair(intensity_range), alpha_coef=alpha))


@transform("AtmosphericFog")
def atmospheric_fog(density_range: Sequence[float], color_level: Sequence[int], depth_mode: str) -> Pipeline:
    return pipeline(
        always(
            A.AtmosphericFog,
            density_range=pair(density_range),
            fog_color=tuple(color_level),
            depth_mode=depth_mode,
        )
    )


@transform("RandomShadow")
def random_shadow(
    num_shadows_range: Sequence[int],
    num_vertices: int,
    intensity_range: Sequence[float],
    roi_fraction: Sequence[float],
) -> Pipeline:
    return pipeline(
        always(
            A.RandomShadow,
            num_shadows_range=pair(num_shadows_range),
            shadow_dimension=num_vertices,
            shadow_intensity_range=pair(intensity_range),
            shadow_roi=tuple(roi_fraction),
        )
    )


@transform("RandomSunFlare")
def random_sun_flare(roi_fraction: Sequence[float], num_circles_range: Sequence[int], radius_px: int) -> Pipeline:
    return pipeline(
        always(
            A.RandomSunFlare,
            flare_roi=tuple(roi_fraction),
            num_flare_circles_range=pair(num_circles_range),
            src_radius=radius_px,
        )
    )


@transform("RandomGravel")
def random_gravel(roi_fraction: Sequence[float], num_patches: int) -> Pipeline:
    return pipeline(always(A.RandomGravel, gravel_roi=tuple(roi_fraction), number_of_patches=num_patches))


@transform("Spatter")
def spatter(mode: str, mean: float, std: float, sigma_px: float, threshold: float, intensity: float) -> Pipeline:
    return pipeline(
        always(
            A.Spatter,
            mode=mode,
            mean_range=fixed(mean),
            std_range=fixed(std),
            gauss_sigma_range=fixed(sigma_px),
            cutout_threshold_range=fixed(threshold),
            intensity_range=fixed(intensity),
        )
    )
