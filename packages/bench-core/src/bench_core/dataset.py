"""The items of a run: which images of a folder, in which order, the same for every library.

The order depends on the seed and the names alone: images are sorted by the SHA-256 of the seed and their path
below the folder. It is the same on every machine and file system, a smaller subset begins a larger one, and
a file that comes or goes moves no other.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench_core.errors import BenchError, ExitCode
from bench_core.media import EXTENSIONS, UnreadableImage, decode_rgb, find_images
from bench_core.names import name_to_text, text_to_name

NAMED_UNREADABLE = 10  # how many unreadable files a message names; the rest it counts

Progress = Callable[[int, int], None]  # readable images so far, images wanted


class Subset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The images of one run, in order. Names are texts of `bench_core.names`, fit for JSON and messages."""

    name: str  # the folder's own name
    root: str  # absolute path of the folder
    paths: tuple[str, ...]  # below the root, posix
    fingerprint: str  # SHA-256 over the decoded images, in order
    left_out: tuple[str, ...] = ()  # "path (reason)" of unreadable images, left out for every library
    asked: int | None = None  # how many were asked for; None is all

    @property
    def num_items(self) -> int:
        return len(self.paths)

    @property
    def notice(self) -> str | None:
        """What a person should know: fewer images than asked, files left out. None when there is nothing."""
        parts = []
        if self.asked is not None and self.num_items < self.asked:
            parts.append(f"only {self.num_items} of the {self.asked} images asked for are in {self.root}")
        if self.left_out:
            parts.append(f"left out for every library, unreadable: {_enumerate(self.left_out)}")
        return "; ".join(parts) or None


class Fingerprint:
    """SHA-256 over decoded images one after the other: shapes and pixels in order, no names and no places."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, rgb: NDArray[np.uint8]) -> None:
        # The shape's fixed width keeps two images apart from one that holds the bytes of both.
        self._digest.update(np.array(rgb.shape, dtype="<u8").tobytes())
        self._digest.update(np.ascontiguousarray(rgb).data)

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def choose(
    folder: Path,
    num_items: int | None,
    seed: int,
    skip_unreadable: bool = False,
    progress: Progress | None = None,
) -> Subset:
    """Choose `num_items` readable images of `folder` (None: all), reading each one whole.

    Raises:
        BenchError: the folder is missing or holds no image; or an image met on the way is unreadable and
            `skip_unreadable` was not given, or none is readable.
    """
    if num_items is not None and num_items < 1:
        raise BenchError(f"the number of items is {num_items}; at least 1 is needed")
    root = folder.resolve()
    found = find_images(root)
    if not found:
        raise BenchError(
            f"no image ({', '.join(EXTENSIONS)}) in {_text(root)} or below it; give a folder of images with --data-dir",
            ExitCode.DATA,
        )
    wanted = len(found) if num_items is None else min(num_items, len(found))
    used: list[str] = []
    unreadable: list[str] = []
    whole = Fingerprint()
    for path in _shuffled(found, root, seed):
        name = _text(path.relative_to(root))
        try:
            whole.add(decode_rgb(path))
        except UnreadableImage as error:
            unreadable.append(f"{name} ({error.reason})")
            continue
        used.append(name)
        if progress:
            progress(len(used), wanted)
        if len(used) == wanted:
            break
    if unreadable and not (skip_unreadable and used):
        raise _unreadable_error(root, unreadable, len(used))
    return Subset(
        name=name_to_text(root.name),
        root=_text(root),
        paths=tuple(used),
        fingerprint=whole.hexdigest(),
        left_out=tuple(unreadable),
        asked=num_items,
    )


def load(subset: Subset) -> Iterator[NDArray[np.uint8]]:
    """Decode the images of `subset` one by one, in order; who reads to the end has read the content chosen.

    Raises:
        BenchError: a file is gone or damaged since it was chosen; or, after the last, the fingerprint differs.
    """
    root = Path(text_to_name(subset.root))
    whole = Fingerprint()
    for text in subset.paths:
        try:
            rgb = decode_rgb(root / text_to_name(text))
        except UnreadableImage as error:
            raise BenchError(
                f"{text} in {subset.root} could be read when the run began and cannot now ({error.reason}); "
                "leave the data alone while a run is going on",
                ExitCode.DATA,
            ) from error
        whole.add(rgb)
        yield rgb
    if whole.hexdigest() != subset.fingerprint:
        raise BenchError(
            f"the images in {subset.root} are not those that were chosen (fingerprint {whole.hexdigest()[:12]}, "
            f"expected {subset.fingerprint[:12]}): a file changed, or this environment decodes it differently",
            ExitCode.DATA,
        )


def _shuffled(images: list[Path], root: Path, seed: int) -> list[Path]:
    def key(path: Path) -> bytes:
        name = path.relative_to(root).as_posix()
        return hashlib.sha256(f"{seed}\n".encode() + name.encode("utf-8", "surrogateescape")).digest()

    return sorted(images, key=key)


def _unreadable_error(root: Path, unreadable: list[str], readable: int) -> BenchError:
    remedy = (
        "repair or remove them, or leave them out for every library with --skip-unreadable"
        if readable
        else "no image is left to measure; give another folder with --data-dir"
    )
    looked_at = len(unreadable) + readable
    return BenchError(
        f"{len(unreadable)} of {looked_at} images looked at in {_text(root)} cannot be read ({remedy}): "
        f"{_enumerate(unreadable)}",
        ExitCode.DATA,
    )


def _enumerate(names: Sequence[str]) -> str:
    rest = len(names) - NAMED_UNREADABLE
    return "; ".join(names[:NAMED_UNREADABLE]) + (f"; and {rest} more" if rest > 0 else "")


def _text(path: Path) -> str:
    return name_to_text(path.as_posix())
