"""Sharpening, edges and other small kernels and local filters."""

from collections.abc import Sequence

import albumentations as A
from bench_core.adapter import Transforms

from bench_adapters_albx.pipeline import INTERPOLATIONS, Pipeline, always, fixed, pair, pipeline

transform = Transforms()

FULL_STRENGTH = (1.0, 1.0)


@transform("Sharpen")
def sharpen(sharpness_factor: float) -> Pipeline:
    """The library's kernel is (1 - alpha) * identity + alpha * (8 + lightness in the centre, -1 around)."""
    return pipeline(always(A.Sharpen, alpha_range=fixed((sharpness_factor - 1) / 13), lightness_range=(1.0, 1.0)))


@transform("UnsharpMask")
def unsharp_mask(kernel_px: int, sigma_px: float, amount_fraction: float, threshold_level: int) -> Pipeline:
    return pipeline(
        always(
            A.UnsharpMask,
            blur_range=fixed(kernel_px),
            sigma_range=fixed(sigma_px),
            alpha_range=fixed(amount_fraction),
            threshold=threshold_level,
        )
    )


@transform("EnhanceEdge")
def enhance_edge() -> Pipeline:
    return pipeline(always(A.Enhance, mode="edge", alpha_range=FULL_STRENGTH))


@transform("EnhanceDetail")
def enhance_detail() -> Pipeline:
    return pipeline(always(A.Enhance, mode="detail", alpha_range=FULL_STRENGTH))


@transform("Emboss")
def emboss(alpha_range: Sequence[float], strength_range: Sequence[float]) -> Pipeline:
    return pipeline(always(A.Emboss, alpha_range=pair(alpha_range), strength_range=pair(strength_range)))


@transform("RingingOvershoot")
def ringing_overshoot(kernel_px_range: Sequence[int], cutoff_rad_range: Sequence[float]) -> Pipeline:
    return pipeline(always(A.RingingOvershoot, blur_range=pair(kernel_px_range), cutoff_range=pair(cutoff_rad_range)))


@transform("Morphological")
def morphological(kernel_width_px: int, kernel_height_px: int, operation: str) -> Pipeline:
    """The library's `scale` reads like a range but is the one kernel's width and height."""
    return pipeline(always(A.Morphological, scale=(kernel_width_px, kernel_height_px), operation=operation))


@transform("JpegCompression")
def jpeg_compression(quality: int) -> Pipeline:
    return pipeline(always(A.ImageCompression, compression_type="jpeg", quality_range=fixed(quality)))


@transform("Downscale")
def downscale(scale_factor: float, interpolation: str) -> Pipeline:
    method = INTERPOLATIONS[interpolation]
    return pipeline(
        always(
            A.Downscale,
            scale_range=fixed(scale_factor),
            interpolation_pair={"downscale": method, "upscale": method},
        )
    )


@transform("Superpixels")
def superpixels(replace_probability: float, num_segments: int, max_size_px: int) -> Pipeline:
    return pipeline(
        always(
            A.Superpixels,
            p_replace_range=fixed(replace_probability),
            n_segments_range=fixed(num_segments),
            max_size=max_size_px,
        )
    )


@transform("Halftone")
def halftone(dot_size_px_range: Sequence[int], blend_range: Sequence[float]) -> Pipeline:
    return pipeline(always(A.Halftone, dot_size_range=pair(dot_size_px_range), blend_range=pair(blend_range)))
