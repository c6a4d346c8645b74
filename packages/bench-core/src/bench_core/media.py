"""Image files: finding them, and decoding each to the one RGB array that every library is given.

The same treatment for every library, the least surprising to people who train on such folders:

- EXIF (or XMP) rotation is applied, as viewers and OpenCV do; a damaged EXIF block counts as no rotation.
- Grayscale, 1-bit and palette images become three channels. CMYK is converted by Pillow's formula; the
  values of a CMYK JPEG are taken as inverted, the way Adobe writes them. Colour profiles are not applied.
- 16 bits become 8 by keeping the high byte, in grayscale as in colour: 0 stays 0, 65535 becomes 255.
- Alpha and transparency are dropped and the stored colours stay, as torchvision's image folder and OpenCV's
  colour reading have it; compositing would invent a background.
- Of an animation, the first frame.
"""

import errno
import os
import stat
import warnings
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_core.errors import BenchError, ExitCode
from bench_core.names import name_to_text

if TYPE_CHECKING:
    from PIL.Image import Image

EXTENSIONS = ("jpg", "jpeg", "png", "bmp", "webp")
FORMATS = ("JPEG", "PNG", "BMP", "WEBP")  # what the content must be; a name may lie about which of these
EXIF_ORIENTATION = 0x0112
MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK")  # what Pillow converts to RGB as stated above


class UnreadableImage(Exception):
    """A file that cannot be decoded whole: which, and why in a few words."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


def find_images(folder: Path) -> list[Path]:
    """Every image file in `folder` and below, by its extension, sorted by relative posix path.

    Names that start with a dot are left out. Links are followed; a folder that can be reached twice is read
    once. What has an image's name and is none (a broken link, a pipe) is listed, so that decoding names it.

    Raises:
        BenchError: the folder is missing, or it or one below cannot be read.
    """
    try:
        if not folder.is_dir():
            what = "is a file, not a folder" if folder.exists() else "does not exist"
            raise BenchError(
                f"the data folder {name_to_text(str(folder))} {what}; give a folder of images with --data-dir",
                ExitCode.DATA,
            )
        images = [path for path in _walk(folder) if path.suffix[1:].lower() in EXTENSIONS]
    except OSError as error:
        where = name_to_text(str(error.filename or folder))
        raise BenchError(f"the data folder {where} cannot be read ({error.strerror})", ExitCode.DATA) from error
    return sorted(images, key=lambda path: path.relative_to(folder).as_posix())


def _walk(folder: Path) -> Iterator[Path]:
    """Everything below `folder` that is not a folder and not hidden; no folder twice, so loops end."""
    seen: set[tuple[int, int]] = set()
    pending = deque([folder])
    while pending:
        here = pending.popleft()
        info = here.stat()
        if (info.st_dev, info.st_ino) in seen:
            continue
        seen.add((info.st_dev, info.st_ino))
        for path in sorted(here.iterdir()):
            if path.name.startswith("."):
                continue
            if not path.is_dir():
                yield path
            elif path.is_symlink():
                pending.append(path)  # after all real folders: a link must not take a folder's own place
            else:
                pending.appendleft(path)


def decode_rgb(path: Path) -> NDArray[np.uint8]:
    """Decode one image file whole, treated as this module states.

    Returns a writable, contiguous array of shape (height, width, 3).

    Raises:
        UnreadableImage: empty, cut off, damaged, not an image, of too many pixels, or no file at all.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        _check_regular(path)
        with warnings.catch_warnings():
            # Pillow's other warnings are about metadata we do not use; this one is about the pixels.
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with path.open("rb") as stream, Image.open(stream, formats=FORMATS) as image:
                image.load()
                return np.array(_upright(_to_rgb(image), _orientation(image)))
    except UnidentifiedImageError as error:
        raise UnreadableImage(path, "not a JPEG, PNG, BMP or WebP image") from error
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        reason = f"more than {Image.MAX_IMAGE_PIXELS or 0:,} pixels: too large, or a decompression bomb"
        raise UnreadableImage(path, reason) from error
    except Exception as error:  # Pillow's decoders raise many kinds at damaged bytes; each means the same
        raise UnreadableImage(path, _reason(error)) from error


def _check_regular(path: Path) -> None:
    info = path.stat()
    if not stat.S_ISREG(info.st_mode):
        raise ValueError("not a regular file")
    if info.st_size == 0:
        raise ValueError("the file is empty")


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number == errno.ENOENT:
        return "does not exist, or is a link to nothing"
    if number is not None:
        return os.strerror(number)
    return str(error) or type(error).__name__


def _to_rgb(image: "Image") -> "Image":
    from PIL import Image

    if image.mode.startswith("I;16"):
        high_byte = (np.asarray(image) >> 8).astype(np.uint8)
        return Image.fromarray(high_byte).convert("RGB")
    if image.mode not in MODES:
        raise ValueError(f"pixel format {image.mode} has no stated treatment")
    return image.convert("RGB")


def _orientation(image: "Image") -> Any:
    try:
        return image.getexif().get(EXIF_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 - whatever a damaged block raises, the pixels are whole
        return 1


def _upright(image: "Image", orientation: Any) -> "Image":
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    return image.transpose(turns[orientation]) if orientation in turns else image
