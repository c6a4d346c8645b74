"""What the mock libraries have in common: their items and outputs are numpy arrays, as decoded."""

from importlib.metadata import version
from typing import Any

import numpy as np
from bench_core.adapter import Library, Operation
from numpy.typing import NDArray

Array = NDArray[Any]


class ArrayLibrary(Library):
    """A library on numpy alone, without threads of its own."""

    native_format = "uint8 HWC numpy.ndarray"

    def versions(self) -> dict[str, str]:
        return {"bench-mock": version("bench-mock"), "numpy": version("numpy")}

    def limit_threads(self, threads: int) -> None:
        pass

    def read_threads(self) -> dict[str, int]:
        return {}

    def from_rgb(self, rgb: NDArray[np.uint8]) -> Array:
        return rgb

    def to_array(self, output: Array) -> Array:
        return np.array(output)

    def materialize(self, output: Array) -> Array:
        return np.ascontiguousarray(output)

    def copy(self, item: Array) -> Array:
        return item.copy()

    def seed(self, seed: int, operation: Operation) -> None:
        pass
