"""Outputs are looked at, untimed: shape, type, range, digest, and a thumbnail a person can see. Writes nothing."""

import hashlib
import io
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import policy
from bench_core.adapter import Item, Library, Operation
from bench_core.adapter import Output as LibraryOutput
from bench_core.results import Output


class BadOutput(Exception):
    """The operation gave something that is no output: a sentence that says what."""


def run_and_inspect(library: Library, operation: Operation, item: Item, thumbnail: str) -> tuple[Output, bytes]:
    """Apply an operation to one item, describe what came out, and draw it: the PNG of the file called `thumbnail`.

    Raises:
        BadOutput: it is None, the input itself, no image, empty or not finite, or the input was changed.
    """
    before = digest(library.to_array(item))
    raw = operation(item)
    if raw is None:
        raise BadOutput("it returned None instead of an image")
    if raw is item:
        raise BadOutput("it returned its input object instead of a new image")
    output = library.materialize(raw)
    after = library.to_array(output)
    if digest(library.to_array(item)) != before:
        raise BadOutput("it wrote into its input")
    if after.dtype.kind not in "biuf":
        raise BadOutput(f"its output is no image: an array of {after.dtype}")
    if after.size == 0:
        raise BadOutput(f"its output is empty (shape {after.shape})")
    if after.ndim not in (2, 3):
        raise BadOutput(f"its output is no image (shape {after.shape})")
    if after.dtype.kind == "f" and not np.isfinite(after).all():
        raise BadOutput("its output has values that are not finite numbers")
    described = Output(
        shape=tuple(after.shape),
        dtype=str(after.dtype),
        minimum=float(after.min()),
        maximum=float(after.max()),
        contiguous=is_contiguous(output),
        digest=digest(after),
        changed=before != digest(after),
        thumbnail=thumbnail,
    )
    return described, thumbnail_png(after)


def is_contiguous(output: LibraryOutput) -> bool:
    """Whether an output lies in one piece: an array or a tensor is asked, anything else cannot be known to."""
    if isinstance(output, np.ndarray):
        return bool(output.flags.c_contiguous)
    return bool(getattr(output, "is_contiguous", lambda: False)())


def digest(array: NDArray[Any]) -> str:
    """SHA-256 of type, shape and content."""
    found = hashlib.sha256(f"{array.dtype}{array.shape}".encode())
    found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def as_picture(array: NDArray[Any]) -> NDArray[np.uint8]:
    """An HWC array as 8-bit RGB for people: floats from [0, 1], clipped; the first three channels, or gray."""
    scaled = array * 255.0 if array.dtype.kind == "f" else array
    picture = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    if picture.ndim == 2:
        picture = picture[:, :, np.newaxis]
    return np.repeat(picture[:, :, :1], 3, axis=2) if picture.shape[2] < 3 else picture[:, :, :3]


def thumbnail_png(array: NDArray[Any]) -> bytes:
    """A PNG whose longer side is at most policy.THUMBNAIL_PX."""
    from PIL import Image

    picture = Image.fromarray(as_picture(array))
    picture.thumbnail((policy.THUMBNAIL_PX, policy.THUMBNAIL_PX))
    drawn = io.BytesIO()
    picture.save(drawn, format="PNG")
    return drawn.getvalue()


def thumbnail_name(library: str, transform: str) -> str:
    """A file name that cannot leave its folder, whatever a third party's transform is called."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", f"{library}_{transform}") + ".png"
