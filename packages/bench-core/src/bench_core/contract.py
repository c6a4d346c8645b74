"""The contract every adapter keeps, checked where its library is: `python -m bench_core.contract LIBRARY`.

One JSON line for the library as a whole and one for each of its transforms; ends with 1 when anything is violated.
Needs nothing but bench-core and the adapter, so whoever writes an adapter can run it.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench_core.adapter import Item, Library, Operation, Output, load_library
from bench_core.catalog import Catalog, Transform, load_catalog
from bench_core.errors import BenchError, ExitCode
from bench_core.inspection import is_contiguous

Array = NDArray[Any]

SEEDS = (1, 2, 3)
# Not a side of 224, 256 or 384 pixels, which transforms ask for; divisible by 4, which a grid of tiles asks for.
SIZES_PX = ((288, 360), (340, 252))


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of one transform, or of the library as a whole when `transform` is None."""

    library: str
    scenario: str
    transform: str | None
    violations: tuple[str, ...] = ()
    deterministic: bool | None = None  # the same output for every seed
    shape: tuple[int, ...] | None = None  # HWC, of the first output
    dtype: str | None = None


class Sight(NamedTuple):
    """One application of an operation: the item before and after it, and what came out."""

    before: Array
    after: Array
    item: Item
    native: Output  # in the library's own format
    output: Array


def check_library(
    library: Library, catalog: Catalog, scenario: str, keep: Callable[[str, Array], None] | None = None
) -> Iterator[Finding]:
    """Check the library, then each transform it registers, in the catalog's order.

    `keep` is given the name and output of each deterministic transform, on the image `example_rgb(SIZES_PX[0])`.

    Raises:
        BenchError: the library's device is not on this machine.
    """
    library.limit_threads(1)
    yield Finding(
        library=library.name,
        scenario=scenario,
        transform=None,
        violations=tuple(_library_violations(library, catalog, scenario)),
    )
    for name, transform in catalog.transforms.items():
        if name in library.transforms:
            finding, sights = _check_transform(library, name, transform, scenario)
            if keep is not None and finding.deterministic:
                keep(name, sights[0].output)
            yield finding


def example_rgb(size_px: tuple[int, int]) -> NDArray[np.uint8]:
    """A picture with slopes, edges, fine texture and a red patch; all over it red outweighs green, and green blue.

    No channel spans the whole range, so that stretching it is a change.
    """
    height, width = size_px
    y, x = np.mgrid[0:height, 0:width] / max(size_px)
    texture = np.random.default_rng(20261201).normal(0.0, 8.0, (height, width))
    waves = 30 * np.sin(40 * x * y) + 25 * ((x * 12).astype(int) % 2)
    base = 20 + 90 * x + 40 * y + waves + texture
    picture = np.stack([base + 60, base + 25, base], axis=2)
    picture[height // 3 : height // 2, width // 3 : width // 2] = (210, 40, 30)
    return np.asarray(np.clip(picture, 12, 240), dtype=np.uint8)


def _library_violations(library: Library, catalog: Catalog, scenario: str) -> Iterator[str]:
    registered = set(library.transforms)
    for name in sorted(registered - catalog.transforms.keys()):
        yield f"registers {name}, which the catalog does not have"
    if library.name in catalog.libraries():
        listed = {n for n, found in catalog.transforms.items() if library.name in found.supporters(scenario)}
        for name in sorted(listed - registered):
            yield f"does not register {name}, which the catalog lists for it"
        for name in sorted(registered & catalog.transforms.keys() - listed):
            yield f"registers {name}, which the catalog does not list for it"
    if not library.versions():
        yield "versions() is empty"
    for pool, threads in library.read_threads().items():
        if threads != 1:
            yield f"1 thread was asked for; {pool} answers {threads}"
    yield from _format_violations(library)


def _format_violations(library: Library) -> Iterator[str]:
    """An item must show the picture it was made from, channels in place, and copy() must copy it."""
    rgb = example_rgb(SIZES_PX[0])
    item = library.to_device(library.from_rgb(rgb.copy()))
    if not np.array_equal(_levels(library.to_array(item)), rgb):
        yield "to_array(from_rgb(rgb)) is not rgb: channel order, layout or range is off"
    copied = library.copy(item)
    if not np.array_equal(library.to_array(copied), library.to_array(item)):
        yield "copy(item) shows another picture than the item"
    if copied is item or _shares_memory(copied, item):
        yield "copy(item) is the item: it has to have memory of its own"


def _check_transform(library: Library, name: str, transform: Transform, scenario: str) -> tuple[Finding, list[Sight]]:
    """Build twice and run both with the same seeds on the same items."""
    sights: list[Sight] = []
    violations: list[str] = []
    deterministic = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            operation, other = (library.build(name, transform.params) for _ in range(2))
            sights = [sight for seed in SEEDS for sight in _apply(library, operation, seed)]
            again = [sight for seed in SEEDS for sight in _apply(library, other, seed)]
            deterministic = _is_deterministic(sights)
            violations += _transform_violations(transform, sights, again)
        except Exception as error:  # noqa: BLE001  whatever an adapter raises is a violation
            violations.append(f"raises {type(error).__name__}: {error}")
    violations += _warning_violations(caught, library.tolerated_warnings)
    finding = Finding(
        library=library.name,
        scenario=scenario,
        transform=name,
        violations=tuple(dict.fromkeys(violations)),
        deterministic=deterministic,
        shape=sights[0].output.shape if sights else None,
        dtype=str(sights[0].output.dtype) if sights else None,
    )
    return finding, sights


def _apply(library: Library, operation: Operation, seed: int) -> list[Sight]:
    """Seed once, then run over one item of each size: state that an operation keeps must not harm the next."""
    library.seed(seed, operation)
    sights = []
    for size_px in SIZES_PX:
        item = library.to_device(library.from_rgb(example_rgb(size_px)))
        before = library.to_array(item)
        native = library.materialize(operation(item))
        library.synchronize()
        sights.append(Sight(before, library.to_array(item), item, native, library.to_array(native)))
    return sights


def _is_deterministic(sights: list[Sight]) -> bool:
    per_seed = len(SIZES_PX)
    return all(np.array_equal(sight.output, sights[index % per_seed].output) for index, sight in enumerate(sights))


def _transform_violations(transform: Transform, sights: list[Sight], again: list[Sight]) -> Iterator[str]:
    for sight in sights:
        for check in (_size, _dtype, _finite, _contiguous, _input_untouched, _own_memory, _red_stays_red):
            violation = check(transform, sight)
            if violation is not None:
                yield violation
    if all(np.array_equal(sight.output, sight.before) for sight in sights):
        yield "changes nothing, whatever the seed"
    if not all(np.array_equal(one.output, two.output) for one, two in zip(sights, again, strict=True)):
        yield "two operations with the same seed give different outputs"


def _size(transform: Transform, sight: Sight) -> str | None:
    if sight.output.ndim != 3 or sight.output.shape[2] != sight.before.shape[2]:
        return f"output shape {sight.output.shape}: HWC with {sight.before.shape[2]} channels is expected"
    asked = tuple(transform.params.get(name) for name in ("height_px", "width_px"))
    expected = sight.before.shape[:2] if None in asked else asked
    found = sight.output.shape[:2]
    if found == expected or (transform.resizes and None in asked):
        return None
    return f"output size {found[0]} x {found[1]} px: {expected[0]} x {expected[1]} px are expected"


def _dtype(transform: Transform, sight: Sight) -> str | None:
    expected = np.dtype(np.float32) if transform.to_float else sight.before.dtype
    if sight.output.dtype == expected:
        return None
    return f"output type {sight.output.dtype}: {expected} is expected"


def _finite(transform: Transform, sight: Sight) -> str | None:
    return None if np.isfinite(sight.output).all() else "output has values that are not finite"


def _contiguous(transform: Transform, sight: Sight) -> str | None:
    return None if is_contiguous(sight.native) else "materialize() leaves the output not contiguous"


def _input_untouched(transform: Transform, sight: Sight) -> str | None:
    return None if np.array_equal(sight.before, sight.after) else "the input was modified"


def _own_memory(transform: Transform, sight: Sight) -> str | None:
    if sight.native is sight.item:
        return "the output is the input"
    return "the output shares memory with the input" if _shares_memory(sight.native, sight.item) else None


def _red_stays_red(transform: Transform, sight: Sight) -> str | None:
    if transform.recolours:
        return None
    red, green, blue = (float(mean) for mean in sight.output.mean(axis=(0, 1)))
    if red > green > blue:
        return None
    return f"channel order: red over green over blue went in, means {red:.3g}, {green:.3g}, {blue:.3g} came out"


def _shares_memory(one: Any, other: Any) -> bool:
    """Whether two of the library's own objects overlap in memory."""
    if hasattr(one, "data_ptr") and hasattr(other, "data_ptr"):
        return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())
    return bool(np.shares_memory(np.asarray(one), np.asarray(other)))


def _levels(array: Array) -> Array:
    return np.rint(array * 255).astype(np.uint8) if array.dtype.kind == "f" else array


def _warning_violations(caught: list[warnings.WarningMessage], tolerated: Mapping[str, str]) -> Iterator[str]:
    for warning in caught:
        if not any(part in str(warning.message) for part in tolerated):
            yield f"warns {warning.category.__name__}: {warning.message}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench_core.contract", description=__doc__)
    parser.add_argument("library", help="its name among the entry points bench.adapters of this environment")
    parser.add_argument("--scenario", default="image-rgb")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument(
        "--outputs", type=Path, help="write the outputs of deterministic transforms here, an .npz of HWC arrays"
    )
    asked = parser.parse_args(arguments)
    outputs: dict[str, Array] = {}
    violated = False
    try:
        library = load_library(asked.library, asked.device)
        for finding in check_library(library, load_catalog(), asked.scenario, outputs.__setitem__):
            violated = violated or bool(finding.violations)
            print(msgspec.json.encode(finding).decode(), flush=True)
    except BenchError as error:
        print(f"contract: {error}", file=sys.stderr)
        return error.code
    if asked.outputs is not None:
        np.savez(asked.outputs, allow_pickle=False, **outputs)
    return ExitCode.FAILED if violated else ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
