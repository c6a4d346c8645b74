"""Warps that bend lines."""

import math
from collections.abc import Sequence

import albumentations as A
from bench_core.adapter import Transforms

from bench_adapters_albx.pipeline import (
    BORDERS,
    INTERPOLATIONS,
    Pipeline,
    always,
    fixed,
    pair,
    pipeline,
)

transform = Transforms()

# The library counts elastic displacements in shares of the image's short side, one number for images of every size:
# this side is meant.
ELASTIC_REFERENCE_SIDE_PX = 400
# A control point is drawn from a disc and smoothed by a cubic B-spline: standard deviation per axis over radius.
ELASTIC_STD_OF_RADIUS = 0.5 * 151 / 315
# The library refuses grids that could fold: 2 * radius * sqrt(2) * spans has to stay under 0.75.
ELASTIC_FOLD_LIMIT = 0.74


@transform("Elastic")
def elastic(alpha_px: float, sigma_px: float, interpolation: str) -> Pipeline:
    """A grid of random displacements, smoothed by a spline, where others smooth noise that has a value in every pixel.

    Its strength is that of uniform noise from -alpha to alpha after a Gaussian of sigma; its grid is as fine as is
    allowed (a cubic B-spline over knots h apart smooths like a Gaussian of sigma = h / sqrt(3)).
    """
    std_px = alpha_px / math.sqrt(3) / (2 * math.sqrt(math.pi) * sigma_px)
    radius = std_px / ELASTIC_STD_OF_RADIUS / ELASTIC_REFERENCE_SIDE_PX
    wanted_spans = round(ELASTIC_REFERENCE_SIDE_PX / (math.sqrt(3) * sigma_px))
    spans = max(1, min(wanted_spans, int(ELASTIC_FOLD_LIMIT / (2 * math.sqrt(2) * radius))))
    return pipeline(
        always(
            A.ElasticTransform,
            displacement_range=fixed(radius),
            control_grid_shape=(spans + 3, spans + 3),
            interpolation=INTERPOLATIONS[interpolation],
        )
    )


@transform("OpticalDistortion")
def optical_distortion(distort_limit: float, mode: str) -> Pipeline:
    return pipeline(always(A.OpticalDistortion, distort_range=fixed(distort_limit), mode=mode))


@transform("GridDistortion")
def grid_distortion(
    num_steps: int, distortion_fraction_range: Sequence[float], interpolation: str, fill: int
) -> Pipeline:
    return pipeline(
        always(
            A.GridDistortion,
            num_steps=num_steps,
            distort_range=pair(distortion_fraction_range),
            interpolation=INTERPOLATIONS[interpolation],
            fill=fill,
        )
    )


@transform("PiecewiseAffine")
def piecewise_affine(
    scale_fraction_range: Sequence[float], num_rows: int, num_cols: int, interpolation: str
) -> Pipeline:
    return pipeline(
        always(
            A.PiecewiseAffine,
            scale_range=pair(scale_fraction_range),
            nb_rows_range=fixed(num_rows),
            nb_cols_range=fixed(num_cols),
            interpolation=INTERPOLATIONS[interpolation],
        )
    )


@transform("ThinPlateSpline")
def thin_plate_spline(num_control_points: int, distortion_scale: float) -> Pipeline:
    return pipeline(
        always(A.ThinPlateSpline, num_control_points=num_control_points, scale_range=fixed(distortion_scale))
    )


@transform("WaterRefraction")
def water_refraction(
    amplitude_fraction_range: Sequence[float],
    wavelength_fraction_range: Sequence[float],
    num_waves_range: Sequence[int],
    interpolation: str,
) -> Pipeline:
    return pipeline(
        always(
            A.WaterRefraction,
            amplitude_range=pair(amplitude_fraction_range),
            wavelength_range=pair(wavelength_fraction_range),
            num_waves_range=pair(num_waves_range),
            interpolation=INTERPOLATIONS[interpolation],
        )
    )


@transform("PixelSpread")
def pixel_spread(radius_px: int, interpolation: str, border: str) -> Pipeline:
    return pipeline(
        always(
            A.PixelSpread,
            radius=radius_px,
            interpolation=INTERPOLATIONS[interpolation],
            border_mode=BORDERS[border],
        )
    )
