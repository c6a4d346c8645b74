"""Transforms that draw nothing give the same picture in every library, within a tolerance or with a stated reason.

The reasons are explained to readers in docs/methodology-transforms.md.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_core.catalog import load_catalog
from bench_core.matrix import find_root

SCENARIO = "image-rgb"
CATALOG = load_catalog()
DOCUMENT = find_root(Path(__file__).parent) / "docs" / "methodology-transforms.md"

EXACT = 0.01  # float32 against bytes
ROUNDED = 1.1  # a byte rounded or cut off once, in one of the two

# The largest difference of any value, in levels of 0 to 255.
TOLERANCE_LEVELS = {
    "Resize": ROUNDED,
    "CenterCrop224": EXACT,
    "HorizontalFlip": EXACT,
    "VerticalFlip": EXACT,
    "Pad": EXACT,
    "Affine": ROUNDED,
    "Grayscale": ROUNDED,
    "GaussianBlur": ROUNDED,
    "Invert": EXACT,
    "Posterize": EXACT,
    "Solarize": EXACT,
    "Sharpen": 2 * ROUNDED,  # torchvision cuts off twice
    "AutoContrast": ROUNDED,
    "Equalize": EXACT,
    "Normalize": EXACT,
    "JpegCompression": EXACT,
    "RandomGamma": ROUNDED,
    "MedianBlur": EXACT,
    "Brightness": ROUNDED,
    "Contrast": ROUNDED,
    "Blur": ROUNDED,
    "Hue": 2 * ROUNDED,  # OpenCV keeps the hue of bytes in 180 steps
    "Saturation": ROUNDED,
    "Snow": 3 * ROUNDED,  # the same, and lightness is rounded before it is doubled
    "OpticalDistortion": ROUNDED,
    "Shear": ROUNDED,
    "LongestMaxSize": ROUNDED,
    "SmallestMaxSize": ROUNDED,
    "Transpose": EXACT,
    "Colorize": EXACT,
    "EnhanceEdge": ROUNDED,
    "EnhanceDetail": ROUNDED,
    "UnsharpMask": ROUNDED,
}


@dataclass(frozen=True)
class Exempt:
    """Why a library may leave the tolerance, and how far: only along the border, or on average."""

    reason: str
    border_px: int = 0
    mean_levels: float | None = None


EXCEPTIONS = {
    ("Resize", "pillow"): Exempt("always filters when it makes an image smaller", mean_levels=2),
    ("GaussianBlur", "pillow"): Exempt("repeated box means instead of a Gaussian kernel", mean_levels=1.5),
    ("Sharpen", "albumentationsx"): Exempt("mirrors at the border; others leave it as it is", border_px=1),
    ("JpegCompression", "kornia"): Exempt("a differentiable codec of its own", mean_levels=2.5),
    ("JpegCompression", "albumentationsx"): Exempt("red and blue change places in the encoder", mean_levels=2.5),
    ("MedianBlur", "kornia"): Exempt("zeros around the border", border_px=2),
    ("Blur", "pillow"): Exempt("repeats the border's pixels; others mirror", border_px=2),
    ("OpticalDistortion", "kornia"): Exempt("has an exponent and no strength", mean_levels=60),
    ("Shear", "pillow"): Exempt("does not mix the picture's edge with the filling", mean_levels=1),
    ("EnhanceEdge", "pillow"): Exempt("leaves the border as it is", border_px=1),
    ("EnhanceDetail", "pillow"): Exempt("leaves the border as it is", border_px=1),
    ("UnsharpMask", "pillow"): Exempt("box means instead of a Gaussian, and a threshold on them", mean_levels=0.5),
}

PAIRS = [
    (transform, *pair)
    for transform in TOLERANCE_LEVELS
    for pair in itertools.combinations(CATALOG.transforms[transform].supporters(SCENARIO), 2)
]


@pytest.mark.parametrize(("transform", "one", "other"), PAIRS)
def test_two_libraries_agree(contract_of: Callable[[str], Any], transform: str, one: str, other: str) -> None:
    first, second = (contract_of(library).outputs[transform] for library in (one, other))
    assert first.shape == second.shape
    exempt = [found for library in (one, other) if (found := EXCEPTIONS.get((transform, library)))]
    border = max((found.border_px for found in exempt), default=0)
    means = [found.mean_levels for found in exempt if found.mean_levels is not None]
    difference = inside(np.abs(first - second), border)
    if means:
        assert difference.mean() <= max(means)
    else:
        assert difference.max() <= TOLERANCE_LEVELS[transform]


@pytest.mark.parametrize(("transform", "library"), EXCEPTIONS)
def test_an_exception_is_needed(contract_of: Callable[[str], Any], transform: str, library: str) -> None:
    own = contract_of(library).outputs[transform]
    others = [name for name in CATALOG.transforms[transform].supporters(SCENARIO) if name != library]
    largest = max(np.abs(own - contract_of(name).outputs[transform]).max() for name in others)
    assert largest > TOLERANCE_LEVELS[transform]


def test_every_shared_transform_that_draws_nothing_has_a_tolerance(contract_of: Callable[[str], Any]) -> None:
    shared = [
        name
        for name, found in CATALOG.transforms.items()
        if sum(name in contract_of(library).outputs for library in found.supporters(SCENARIO)) > 1
    ]
    assert sorted(shared) == sorted(TOLERANCE_LEVELS)


@pytest.mark.parametrize(("transform", "library"), EXCEPTIONS)
def test_every_exception_is_explained_to_readers(transform: str, library: str) -> None:
    rows = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert any(f"| {transform} | {library} |" in row for row in rows)


def test_every_shared_transform_has_its_meaning_in_the_docs() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    shared = [name for name, found in CATALOG.transforms.items() if len(found.supporters(SCENARIO)) > 1]
    assert [name for name in shared if f"| {name} |" not in text] == []


def inside(difference: np.ndarray, border_px: int) -> np.ndarray:
    """Without a border; of HWC."""
    if border_px == 0:
        return difference
    return difference[border_px:-border_px, border_px:-border_px]
