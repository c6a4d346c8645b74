"""The catalog: every transform's name, parameters and supporting libraries, and the named sets of transforms."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec


class Transform(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One transform: the same meaning and parameters for every library.

    Traits, for the contract check: `resizes`, the output may have another size than the input (without height_px and
    width_px to say which); `recolours`, what is red in the input need not be red in the output; `to_float`, the
    output is float32 in every library.
    """

    params: dict[str, Any]
    image_rgb: tuple[str, ...] = msgspec.field(name="image-rgb", default=())
    resizes: bool = False
    recolours: bool = False
    to_float: bool = False

    def supporters(self, scenario: str) -> tuple[str, ...]:
        """Libraries that offer this transform directly in `scenario`."""
        return {"image-rgb": self.image_rgb}[scenario]


class Catalog(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All transforms by name, and named sets: set name -> scenario -> transform names."""

    transforms: dict[str, Transform]
    sets: dict[str, dict[str, tuple[str, ...]]]

    def libraries(self) -> frozenset[str]:
        """Every library that some transform lists."""
        return frozenset(library for found in self.transforms.values() for library in found.image_rgb)


@cache
def load_catalog() -> Catalog:
    """Read the packaged catalog.toml."""
    text = files("bench_core").joinpath("catalog.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Catalog)
