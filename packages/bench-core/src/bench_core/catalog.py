"""The catalog: every transform's name, parameters and supporting libraries, and the named sets of transforms."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec


class Transform(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One transform: the same meaning and parameters for every library."""

    params: dict[str, Any]
    image_rgb: tuple[str, ...] = msgspec.field(name="image-rgb", default=())

    def supporters(self, scenario: str) -> tuple[str, ...]:
        """Libraries that offer this transform directly in `scenario`."""
        return {"image-rgb": self.image_rgb}[scenario]


class Catalog(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All transforms by name, and named sets: set name -> scenario -> transform names."""

    transforms: dict[str, Transform]
    sets: dict[str, dict[str, tuple[str, ...]]]


@cache
def load_catalog() -> Catalog:
    """Read the packaged catalog.toml."""
    text = files("bench_core").joinpath("catalog.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Catalog)
