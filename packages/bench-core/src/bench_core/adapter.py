"""What an adapter package gives us: a `Library` that loads items, builds transforms and hands its outputs back.

A library is found by the entry point group `bench.adapters`; its name there is its name in matrix.toml.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bench_core.errors import BenchError, ExitCode

# An item and an output are whatever the library's own users hold: an array, a tensor, an Image.
Item = Any
Output = Any
Operation = Callable[[Item], Output]
Builder = Callable[..., Operation]

ENTRY_POINT_GROUP = "bench.adapters"


class Transforms:
    """The transforms a library offers, by catalog name. Used as a decorator on one builder function each.

    A builder takes the catalog's parameters as keyword arguments and returns the operation that is timed.
    A library spread over several files has one registry in each and joins them: `Transforms(color, geometry)`.
    """

    def __init__(self, *parts: "Transforms") -> None:
        self._builders: dict[str, Builder] = {}
        for part in parts:
            for name, builder in part._builders.items():
                self(name)(builder)

    def __call__(self, name: str) -> Callable[[Builder], Builder]:
        def register(builder: Builder) -> Builder:
            if name in self._builders:
                raise ValueError(f"transform {name!r} is registered twice")
            self._builders[name] = builder
            return builder

        return register

    def __contains__(self, name: str) -> bool:
        return name in self._builders

    def __iter__(self) -> Iterator[str]:
        return iter(self._builders)

    def build(self, name: str, params: Mapping[str, Any]) -> Operation:
        return self._builders[name](**params)


class Library(ABC):
    """One measured library on one device, living in a worker process of its group's environment.

    Thread variables are set before the module that defines a subclass is imported, so the module may import the
    measured library at its top. Nothing here may initialise CUDA: the object is made before the process forks.
    """

    name: ClassVar[str]
    native_format: ClassVar[str]  # for people: "uint8 CHW torch.Tensor"
    devices: ClassVar[tuple[str, ...]] = ("cpu",)
    transforms: ClassVar[Transforms]
    # Warnings the library gives when it is used as its users use it: part of the message -> why it is let pass.
    tolerated_warnings: ClassVar[Mapping[str, str]] = {}

    def __init__(self, device: str = "cpu") -> None:
        if device not in self.devices:
            raise BenchError(f"{self.name} does not run on {device}; it offers: {', '.join(self.devices)}")
        self.device = device

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Version of every distribution that does the work, from package metadata; the library's own first."""

    @abstractmethod
    def limit_threads(self, threads: int) -> None:
        """Ask the library's own thread pools for `threads` threads."""

    @abstractmethod
    def read_threads(self) -> dict[str, int]:
        """Read back how many threads each of the library's own pools uses now, by pool name."""

    @abstractmethod
    def from_rgb(self, rgb: NDArray[np.uint8]) -> Item:
        """Turn an HWC uint8 RGB array into one item of the native format. Untimed. May keep `rgb`'s memory."""

    @abstractmethod
    def to_array(self, output: Output) -> NDArray[Any]:
        """Show an item or output as an HWC array (uint8, or float in [0, 1]) for inspection. Untimed, a copy."""

    @abstractmethod
    def materialize(self, output: Output) -> Output:
        """Force the output to be computed and contiguous in memory. Timed, part of every measurement."""

    @abstractmethod
    def copy(self, item: Item) -> Item:
        """Copy an item in its native format: the yardstick, about what a transform does that only writes."""

    @abstractmethod
    def seed(self, seed: int, operation: Operation) -> None:
        """Seed every generator that `operation` draws its parameters from. Called before each timed value."""

    def to_device(self, item: Item) -> Item:
        """Move an item to the measured device. Called once per measuring process, untimed."""
        return item

    def synchronize(self) -> None:  # noqa: B027  most have nothing to wait for
        """Wait until the device has finished. Called inside the timed region, once per value."""

    def build(self, transform: str, params: Mapping[str, Any]) -> Operation:
        """The operation that is timed: the library's own transform, applied with probability 1.

        Raises:
            KeyError: the library does not offer `transform`.
        """
        return self.transforms.build(transform, params)


def load_library(name: str, device: str = "cpu") -> Library:
    """Import the adapter that is registered for `name` in this environment and make its library.

    Raises:
        BenchError: no installed package registers `name`.
    """
    found = {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise BenchError(
            f"no adapter for library {name!r} is installed in this environment (installed: {known})",
            ExitCode.ENVIRONMENT,
        )
    library = found[name].load()(device=device)
    if not isinstance(library, Library):
        raise BenchError(f"the adapter of {name!r} is not a bench_core.adapter.Library", ExitCode.ENVIRONMENT)
    return library
