"""Every transform of every library keeps the adapter contract."""

from collections.abc import Callable
from typing import Any

import pytest
from bench_core.catalog import load_catalog

SCENARIO = "image-rgb"
CATALOG = load_catalog()
LISTED = [(library, name) for name, found in CATALOG.transforms.items() for library in found.supporters(SCENARIO)]


@pytest.mark.parametrize("library", sorted(CATALOG.libraries()))
def test_the_library_registers_what_the_catalog_lists_and_keeps_its_format(
    contract_of: Callable[[str], Any], library: str
) -> None:
    assert contract_of(library).findings[None].violations == ()


@pytest.mark.parametrize(("library", "transform"), LISTED)
def test_the_transform_keeps_the_contract(contract_of: Callable[[str], Any], library: str, transform: str) -> None:
    assert contract_of(library).findings[transform].violations == ()
