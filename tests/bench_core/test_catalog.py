import pytest
from bench_core.catalog import load_catalog

SCENARIO = "image-rgb"


@pytest.mark.parametrize(
    ("library", "count"), [("torchvision", 28), ("kornia", 53), ("pillow", 25), ("albumentationsx", 107)]
)
def test_the_catalog_lists_this_many_transforms_for_a_library(library: str, count: int) -> None:
    assert sum(library in found.supporters(SCENARIO) for found in load_catalog().transforms.values()) == count


def test_a_set_names_transforms_of_the_catalog_that_two_libraries_offer() -> None:
    catalog = load_catalog()
    for scenarios in catalog.sets.values():
        for scenario, names in scenarios.items():
            assert all(len(catalog.transforms[name].supporters(scenario)) > 1 for name in names)
            assert len(set(names)) == len(names)


def test_the_catalog_knows_its_libraries() -> None:
    assert load_catalog().libraries() == {"torchvision", "kornia", "pillow", "albumentationsx"}


def test_an_unknown_scenario_is_not_taken_for_an_empty_one() -> None:
    with pytest.raises(KeyError):
        load_catalog().transforms["Resize"].supporters("video-16f")
