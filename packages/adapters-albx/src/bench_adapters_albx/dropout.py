"""Dropouts: parts of the image are replaced by a constant."""

import math
from collections.abc import Sequence

import albumentations as A
from bench_core.adapter import Transforms

from bench_adapters_albx.pipeline import Pipeline, always, pair, pipeline

transform = Transforms()

OBJECT_LABEL = 1


@transform("Erasing")
def erasing(area_range: Sequence[float], ratio_range: Sequence[float], fill: int) -> Pipeline:
    return pipeline(always(A.Erasing, scale=pair(area_range), ratio=pair(ratio_range), fill=fill))


@transform("CoarseDropout")
def coarse_dropout(
    num_holes_range: Sequence[int],
    hole_height_fraction_range: Sequence[float],
    hole_width_fraction_range: Sequence[float],
    fill: int,
) -> Pipeline:
    return pipeline(
        always(
            A.CoarseDropout,
            num_holes_range=pair(num_holes_range),
            hole_height_range=pair(hole_height_fraction_range),
            hole_width_range=pair(hole_width_fraction_range),
            fill=fill,
        )
    )


@transform("ConstrainedCoarseDropout")
def constrained_coarse_dropout(
    object_boxes_fraction: Sequence[Sequence[float]],
    num_holes_range: Sequence[int],
    hole_height_fraction_range: Sequence[float],
    hole_width_fraction_range: Sequence[float],
    fill: int,
) -> Pipeline:
    """Punches holes into objects, so it is given some: boxes of the same label in every image.

    A box is x_min, y_min, x_max, y_max in shares of the image; a hole's size is in shares of its box.
    """
    dropout = always(
        A.ConstrainedCoarseDropout,
        num_holes_range=pair(num_holes_range),
        hole_height_range=pair(hole_height_fraction_range),
        hole_width_range=pair(hole_width_fraction_range),
        fill=fill,
        bbox_labels=[OBJECT_LABEL],
    )
    boxes = [list(box) for box in object_boxes_fraction]
    return pipeline(
        dropout,
        targets={"bboxes": boxes, "labels": [OBJECT_LABEL] * len(boxes)},
        bbox_params=A.BboxParams(coord_format="albumentations", label_fields=["labels"]),
    )


@transform("GridDropout")
def grid_dropout(hole_ratio: float, cell_px_range: Sequence[int], random_offset: bool, fill: int) -> Pipeline:
    return pipeline(
        always(
            A.GridDropout,
            ratio=hole_ratio,
            unit_size_range=pair(cell_px_range),
            random_offset=random_offset,
            fill=fill,
        )
    )


@transform("GridMask")
def grid_mask(
    num_cells_range: Sequence[int],
    line_width_fraction_range: Sequence[float],
    angle_range_deg: Sequence[float],
    fill: int,
) -> Pipeline:
    low_deg, high_deg = angle_range_deg
    return pipeline(
        always(
            A.GridMask,
            num_grid_range=pair(num_cells_range),
            line_width_range=pair(line_width_fraction_range),
            rotation_range=(math.radians(low_deg), math.radians(high_deg)),
            fill=fill,
        )
    )


@transform("PixelDropout")
def pixel_dropout(probability: float, per_channel: bool, fill: int) -> Pipeline:
    return pipeline(always(A.PixelDropout, dropout_prob=probability, per_channel=per_channel, drop_value=fill))


@transform("ChannelDropout")
def channel_dropout() -> Pipeline:
    return pipeline(always(A.ChannelDropout, channel_drop_range=(1, 1), fill=0))
