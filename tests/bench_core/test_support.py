"""Which transforms a library offers."""

from collections.abc import Mapping

import msgspec
import pytest
from bench_core.catalog import load_catalog
from bench_core.errors import BenchError
from bench_core.matrix import Matrix
from bench_core.support import offered

CATALOG = load_catalog()


def matrix(libraries: Mapping[str, object]) -> Matrix:
    return msgspec.convert(
        {
            "python": "3.11",
            "scenarios": {"image-rgb": {"media": "image", "channels": 3, "modes": ["micro"]}},
            "groups": {
                "ours": {"package": "a", "libraries": ["pillow"], "media": ["image"], "devices": ["cpu"]},
                "theirs": {"package": "b", "libraries": ["newcomer"], "media": ["image"], "devices": ["cpu"]},
            },
            "libraries": libraries,
        },
        Matrix,
    )


def test_a_library_of_the_catalog_offers_what_the_catalog_lists() -> None:
    found = offered(matrix({}), CATALOG, "pillow", "image-rgb")
    assert found == {name for name, transform in CATALOG.transforms.items() if "pillow" in transform.image_rgb}


def test_a_library_nobody_describes_is_taken_to_offer_everything() -> None:
    assert offered(matrix({}), CATALOG, "newcomer", "image-rgb") == set(CATALOG.transforms)


def test_the_matrix_says_what_a_library_of_others_offers() -> None:
    note = {"newcomer": {"transforms": {"image-rgb": ["Invert", "Resize"]}}}
    assert offered(matrix(note), CATALOG, "newcomer", "image-rgb") == {"Invert", "Resize"}


def test_a_described_library_offers_nothing_in_a_scenario_it_does_not_name() -> None:
    assert offered(matrix({"newcomer": {"transforms": {}}}), CATALOG, "newcomer", "image-rgb") == set()


def test_the_matrix_adds_to_what_the_catalog_lists() -> None:
    note = {"pillow": {"transforms": {"image-rgb": ["PixelDropout"]}}}
    found = offered(matrix(note), CATALOG, "pillow", "image-rgb")
    assert found - offered(matrix({}), CATALOG, "pillow", "image-rgb") == {"PixelDropout"}


def test_a_transform_the_catalog_does_not_have_is_refused_with_the_nearest() -> None:
    note = {"newcomer": {"transforms": {"image-rgb": ["Resise"]}}}
    with pytest.raises(BenchError, match=r"matrix.toml, libraries.newcomer: unknown transform 'Resise'; did you mean"):
        offered(matrix(note), CATALOG, "newcomer", "image-rgb")


def test_a_scenario_the_catalog_does_not_know_is_refused() -> None:
    with pytest.raises(BenchError, match="the catalog says nothing about scenario 'image-4d'"):
        offered(matrix({}), CATALOG, "pillow", "image-4d")
