"""Blurs: every pixel becomes an average, or a choice, of its neighbours."""

from collections.abc import Sequence

import albumentations as A
from bench_core.adapter import Transforms

from bench_adapters_albx.pipeline import Pipeline, always, fixed, pair, pipeline

transform = Transforms()


@transform("Blur")
def blur(kernel_px: int) -> Pipeline:
    return pipeline(always(A.Blur, blur_range=fixed(kernel_px)))


@transform("GaussianBlur")
def gaussian_blur(kernel_px: int, sigma_px: float) -> Pipeline:
    return pipeline(always(A.GaussianBlur, blur_range=fixed(kernel_px), sigma_range=fixed(sigma_px)))


@transform("MedianBlur")
def median_blur(kernel_px: int) -> Pipeline:
    return pipeline(always(A.MedianBlur, blur_range=fixed(kernel_px)))


@transform("MotionBlur")
def motion_blur(kernel_px: int, angle_range_deg: Sequence[float], direction_range: Sequence[float]) -> Pipeline:
    return pipeline(
        always(
            A.MotionBlur,
            blur_range=fixed(kernel_px),
            angle_range=pair(angle_range_deg),
            direction_range=pair(direction_range),
            allow_shifted=False,
        )
    )


@transform("AdvancedBlur")
def advanced_blur(
    kernel_px_range: Sequence[int],
    sigma_x_px_range: Sequence[float],
    sigma_y_px_range: Sequence[float],
    angle_range_deg: Sequence[float],
) -> Pipeline:
    return pipeline(
        always(
            A.AdvancedBlur,
            blur_range=pair(kernel_px_range),
            sigma_x_range=pair(sigma_x_px_range),
            sigma_y_range=pair(sigma_y_px_range),
            rotate_range=pair(angle_range_deg),
        )
    )


@transform("Defocus")
def defocus(radius_px_range: Sequence[int], alias_sigma_px_range: Sequence[float]) -> Pipeline:
    return pipeline(always(A.Defocus, radius_range=pair(radius_px_range), alias_blur_range=pair(alias_sigma_px_range)))


@transform("ZoomBlur")
def zoom_blur(max_factor_range: Sequence[float], step_factor_range: Sequence[float]) -> Pipeline:
    return pipeline(
        always(A.ZoomBlur, max_factor_range=pair(max_factor_range), step_factor_range=pair(step_factor_range))
    )


@transform("GlassBlur")
def glass_blur(sigma_px: float, max_delta_px: int, iterations: int) -> Pipeline:
    return pipeline(always(A.GlassBlur, sigma=sigma_px, max_delta=max_delta_px, iterations=iterations))
