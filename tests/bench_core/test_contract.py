import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from bench_core.adapter import Library, Operation, Transforms
from bench_core.catalog import Catalog, Transform
from bench_core.contract import SIZES_PX, Finding, check_library, example_rgb, is_contiguous


class Arrays(Library):
    """Flips arrays as it should; each test below breaks one thing."""

    name = "arrays"
    native_format = "uint8 HWC numpy.ndarray"
    transforms = Transforms()

    def __init__(self, operation: Operation | None = None, name: str = "Flip") -> None:
        super().__init__()
        self.generator = np.random.default_rng(0)
        self.transforms = Transforms()
        self.transforms(name)(lambda **params: operation or flip)

    def versions(self) -> dict[str, str]:
        return {"arrays": "1.0"}

    def limit_threads(self, threads: int) -> None:
        self.threads = threads

    def read_threads(self) -> dict[str, int]:
        return {"pool": self.threads}

    def from_rgb(self, rgb: np.ndarray) -> np.ndarray:
        return rgb

    def to_array(self, output: np.ndarray) -> np.ndarray:
        return np.array(output, order="C")

    def materialize(self, output: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(output)

    def copy(self, item: np.ndarray) -> np.ndarray:
        return item.copy()

    def seed(self, seed: int, operation: Operation) -> None:
        self.generator = np.random.default_rng(seed)


def flip(image: np.ndarray) -> np.ndarray:
    return image[:, ::-1]


def catalog(**traits: Any) -> Catalog:
    transform = Transform(**{"params": {}, "image_rgb": ("arrays",)} | traits)
    return Catalog(transforms={"Flip": transform}, sets={})


def findings(library: Library, known: Catalog | None = None) -> list[Finding]:
    return list(check_library(library, known or catalog(), "image-rgb"))


def violations(operation: Operation, **traits: Any) -> str:
    return "\n".join(findings(Arrays(operation), catalog(**traits))[1].violations)


def test_a_good_library_has_no_violations() -> None:
    whole, transform = findings(Arrays())
    assert (whole.transform, whole.violations) == (None, ())
    assert (transform.transform, transform.violations) == ("Flip", ())
    assert (transform.deterministic, transform.shape, transform.dtype) == (True, (*SIZES_PX[0], 3), "uint8")


def modify(image: np.ndarray) -> np.ndarray:
    image[0] = 0
    return flip(image)


def warn(image: np.ndarray) -> np.ndarray:
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    return flip(image)


def fail(image: np.ndarray) -> np.ndarray:
    raise RuntimeError("no flip today")


def not_finite(image: np.ndarray) -> np.ndarray:
    output = flip(image).astype(np.float32)
    output[0, 0, 0] = np.nan
    return output


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (lambda image: image.copy(), "changes nothing, whatever the seed"),
        (lambda image: image, "the output is the input"),
        (lambda image: image[:], "shares memory with the input"),
        (modify, "the input was modified"),
        (warn, "warns DeprecationWarning: old"),
        (fail, "raises RuntimeError: no flip today"),
        (lambda image: None, "raises"),
        (lambda image: flip(image)[:, :, ::-1], "channel order"),
        (lambda image: flip(image)[1:], "output size 287 x 360 px: 288 x 360 px are expected"),
        (lambda image: flip(image)[:, :, 0], "HWC with 3 channels is expected"),
        (lambda image: flip(image).astype(np.int16), "output type int16: uint8 is expected"),
        (not_finite, "not finite"),
    ],
)
def test_a_violation_is_named(operation: Operation, said: str) -> None:
    assert said in violations(operation)


@pytest.mark.parametrize(
    ("operation", "traits"),
    [
        (lambda image: flip(image)[:, :, ::-1], {"recolours": True}),
        (lambda image: flip(image)[1:], {"resizes": True}),
        (lambda image: image[:200, :100], {"params": {"height_px": 200, "width_px": 100}}),
        (lambda image: flip(image).astype(np.float32), {"to_float": True}),
    ],
)
def test_a_trait_of_the_catalog_allows_what_it_says(operation: Operation, traits: dict[str, Any]) -> None:
    assert violations(operation, **traits) == ""


def test_the_asked_size_is_expected_even_where_sizes_may_change() -> None:
    traits = {"params": {"height_px": 200, "width_px": 100}, "resizes": True}
    assert "200 x 100 px are expected" in violations(lambda image: image[:200, :99], **traits)


def test_a_warning_is_let_pass_when_the_library_lists_it() -> None:
    class Tolerant(Arrays):
        tolerated_warnings: ClassVar[dict[str, str]] = {"old": "still what its users have"}

    assert findings(Tolerant(warn))[1].violations == ()


def noisy(library: Arrays) -> Callable[[np.ndarray], np.ndarray]:
    return lambda image: np.roll(image, library.generator.integers(1, 100), axis=1)


def test_what_follows_the_seed_is_repeatable_and_not_deterministic() -> None:
    library = Arrays()
    library.transforms = Transforms()
    library.transforms("Flip")(lambda: noisy(library))
    found = findings(library)[1]
    assert (found.violations, found.deterministic) == ((), False)


def test_what_the_seed_does_not_reach_is_named() -> None:
    generator = np.random.default_rng(0)
    said = violations(lambda image: np.roll(image, generator.integers(1, 100), axis=1))
    assert "two operations with the same seed give different outputs" in said


def test_an_output_left_in_pieces_is_named() -> None:
    class Lazy(Arrays):
        def materialize(self, output: np.ndarray) -> np.ndarray:
            return output

    assert "not contiguous" in findings(Lazy())[1].violations[0]


def test_registered_names_must_be_those_the_catalog_lists() -> None:
    known = Catalog(
        transforms={
            "Flip": Transform(params={}, image_rgb=("arrays",)),
            "Blur": Transform(params={}, image_rgb=("other",)),
        },
        sets={},
    )
    assert findings(Arrays(name="Blur"), known)[0].violations == (
        "does not register Flip, which the catalog lists for it",
        "registers Blur, which the catalog does not list for it",
    )
    assert findings(Arrays(name="Flop"), known)[0].violations[0] == "registers Flop, which the catalog does not have"


def test_a_library_unknown_to_the_catalog_may_offer_any_of_its_transforms() -> None:
    assert findings(Arrays(), catalog(image_rgb=("other",)))[0].violations == ()


def test_swapped_channels_in_the_item_are_named() -> None:
    class Swapped(Arrays):
        def from_rgb(self, rgb: np.ndarray) -> np.ndarray:
            return rgb[:, :, ::-1]

    assert "to_array(from_rgb(rgb)) is not rgb" in findings(Swapped())[0].violations[0]


def test_a_copy_that_copies_nothing_is_named() -> None:
    class Same(Arrays):
        def copy(self, item: np.ndarray) -> np.ndarray:
            return item[:]

    assert findings(Same())[0].violations == ("copy(item) is the item: it has to have memory of its own",)


def test_threads_that_are_not_obeyed_are_named() -> None:
    class Greedy(Arrays):
        def read_threads(self) -> dict[str, int]:
            return {"pool": 8}

    assert findings(Greedy())[0].violations == ("1 thread was asked for; pool answers 8",)


def test_the_example_picture_has_red_over_green_over_blue_and_does_not_span_the_range() -> None:
    for size_px in SIZES_PX:
        picture = example_rgb(size_px)
        assert picture.shape == (*size_px, 3)
        red, green, blue = picture.mean(axis=(0, 1))
        assert red > green + 10 > blue + 20
        assert picture.min() > 0
        assert picture.max() < 255


def test_an_object_that_cannot_say_so_is_not_taken_for_contiguous() -> None:
    assert not is_contiguous(object())
    assert is_contiguous(np.zeros((2, 3)))
    assert not is_contiguous(np.zeros((2, 3)).T)
