"""Flips, turns and straight-line warps: every line stays a line."""

import math
from collections.abc import Sequence

import albumentations as A
from bench_core.adapter import Transforms

from bench_adapters_albx.pipeline import INTERPOLATIONS, Pipeline, always, fixed, pair, pipeline

transform = Transforms()

QUARTER_TURNS = ("e", "r90", "r180", "r270")


@transform("HorizontalFlip")
def horizontal_flip() -> Pipeline:
    return pipeline(always(A.HorizontalFlip))


@transform("VerticalFlip")
def vertical_flip() -> Pipeline:
    return pipeline(always(A.VerticalFlip))


@transform("Transpose")
def transpose() -> Pipeline:
    return pipeline(always(A.Transpose))


@transform("SquareSymmetry")
def square_symmetry() -> Pipeline:
    return pipeline(always(A.SquareSymmetry))


@transform("RandomRotate90")
def random_rotate90(quarter_turns_range: Sequence[int]) -> Pipeline:
    fewest, most = quarter_turns_range
    return pipeline(always(A.RandomRotate90, group_elements=QUARTER_TURNS[fewest : most + 1]))


@transform("Rotate")
def rotate(angle_range_deg: Sequence[float], interpolation: str, fill: int) -> Pipeline:
    return pipeline(
        always(
            A.Rotate,
            angle_range=pair(angle_range_deg),
            interpolation=INTERPOLATIONS[interpolation],
            fill=fill,
        )
    )


@transform("SafeRotate")
def safe_rotate(angle_range_deg: Sequence[float], interpolation: str, fill: int) -> Pipeline:
    return pipeline(
        always(
            A.SafeRotate,
            angle_range=pair(angle_range_deg),
            interpolation=INTERPOLATIONS[interpolation],
            fill=fill,
        )
    )


@transform("Affine")
def affine(angle_deg: float, scale: float, shear_deg: Sequence[float], interpolation: str, fill: int) -> Pipeline:
    """The catalog shears, then turns; the library scales each axis, turns, then shears. The matrix is the same.

    (a, b) is the upper row of the catalog's matrix, (c, d) the lower. In the library's form, sheared along y only, they
    are (x cos t, y sin t) and (x (q cos t - sin t), y (q sin t + cos t)), x and y its scales, t its angle, q its shear.

    Raises:
        ValueError: there is no such form of this matrix.
    """
    turn = math.radians(angle_deg)
    tan_x, tan_y = (math.tan(math.radians(shear)) for shear in shear_deg)
    a = scale * (math.cos(turn) - math.sin(turn) * tan_y)
    b = -a * tan_x + scale * math.sin(turn)
    c = -scale * (math.sin(turn) + math.cos(turn) * tan_y)
    angle = math.asin(2 * a * b / scale**2) / 2
    scale_x, scale_y = a / math.cos(angle), scale**2 * math.cos(angle) / a
    shear_y = (c / scale_x + math.sin(angle)) / math.cos(angle)
    return pipeline(
        always(
            A.Affine,
            rotate=fixed(math.degrees(angle)),
            scale={"x": fixed(scale_x), "y": fixed(scale_y)},
            keep_ratio=False,
            shear={"x": (0.0, 0.0), "y": fixed(-math.degrees(math.atan(shear_y)))},
            interpolation=INTERPOLATIONS[interpolation],
            fill=fill,
        )
    )


@transform("Shear")
def shear(shear_deg: float, interpolation: str, fill: int) -> Pipeline:
    return pipeline(
        always(
            A.Affine,
            shear={"x": fixed(shear_deg), "y": (0.0, 0.0)},
            interpolation=INTERPOLATIONS[interpolation],
            fill=fill,
        )
    )


@transform("ShiftScaleRotate")
def shift_scale_rotate(
    shift_fraction_range: Sequence[float],
    scale_factor_range: Sequence[float],
    angle_range_deg: Sequence[float],
    interpolation: str,
    fill: int,
) -> Pipeline:
    """A.ShiftScaleRotate only rewrites its arguments for A.Affine, and warns to use that; so we do."""
    return pipeline(
        always(
            A.Affine,
            translate_percent=pair(shift_fraction_range),
            scale=pair(scale_factor_range),
            rotate=pair(angle_range_deg),
            interpolation=INTERPOLATIONS[interpolation],
            fill=fill,
        )
    )


@transform("Perspective")
def perspective(corner_shift_fraction_range: Sequence[float], interpolation: str, fill: int) -> Pipeline:
    """Here a corner moves by a normal draw whose standard deviation is drawn from the range."""
    return pipeline(
        always(
            A.Perspective,
            scale=pair(corner_shift_fraction_range),
            interpolation=INTERPOLATIONS[interpolation],
            fill=fill,
        )
    )


@transform("RandomGridShuffle")
def random_grid_shuffle(grid: Sequence[int]) -> Pipeline:
    return pipeline(always(A.RandomGridShuffle, grid=pair(grid)))


@transform("RandomJigsaw")
def random_jigsaw(grid: Sequence[int]) -> Pipeline:
    return pipeline(always(A.RandomGridShuffle, grid=pair(grid)))
