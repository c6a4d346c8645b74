"""What each library made of the same first item: thumbnails side by side, and how much they differ."""

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec
from bench_core import policy
from bench_core.bundle import Bundle, read_committed
from bench_core.results import Output

from bench_report.figures import decimals_of, number
from bench_report.rows import Row
from bench_report.sections import Section
from bench_report.table import short

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[Any]

QUALITY = 85  # of the picture that is shown; what is measured is the PNG of the run
NOTABLE_LEVELS = 8.0  # a mean difference that a person sees side by side
CAPTION_BYTES = 300  # of the page, under one picture
GALLERY_BYTES = 250  # of the page, for a transform whose pictures are not shown


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """One thumbnail. `address` is a data URI; None where the run has no picture."""

    name: str  # the library, or "input"
    shape: str
    address: str | None
    width: int = 0
    height: int = 0
    same_as: tuple[str, ...] = ()  # libraries whose whole output is equal, byte for byte
    differences: tuple[tuple[str, str], ...] = ()  # other library -> mean difference, or why there is none
    unchanged: bool = False  # the output equals the input


class Gallery(msgspec.Struct, frozen=True, kw_only=True):
    """One transform. `largest` is the largest mean difference between two libraries, in levels of 0 to 255.

    `pictures` is empty where the run has none or the page has no room for them.
    """

    transform: str
    pictures: tuple[Picture, ...]
    largest: float | None
    told: str

    @property
    def notable(self) -> bool:
        return self.largest is not None and self.largest >= NOTABLE_LEVELS


class Room:
    """How many bytes of pictures a page may still take."""

    def __init__(self, num_bytes: int) -> None:
        self._left = num_bytes
        self.num_left_out = 0  # transforms whose pictures did not fit

    def take(self, pictures: Sequence[Picture]) -> tuple[Picture, ...]:
        """All of a transform's pictures, or none."""
        if not any(picture.address for picture in pictures):
            return ()
        needed = sum(len(picture.address or "") + CAPTION_BYTES for picture in pictures)
        if needed > self._left:
            self.num_left_out += 1
            return ()
        self._left -= needed
        return tuple(pictures)


def inputs(section: Section, room: Room) -> tuple[Picture, ...]:
    """The first item of each run: as they have the same fingerprint, usually one picture for all."""
    found: dict[str, Picture] = {}
    for bundle in section.bundles:
        pixels = _read(bundle, section.scenario, "input.png")
        if pixels is not None:
            address = _address(pixels)
            if address not in found:
                height, width = pixels.shape[:2]
                found[address] = Picture(name="input", shape="", address=address, width=width, height=height)
    return room.take(list(found.values()))


def galleries(section: Section, rows: Sequence[Row], room: Room) -> Iterator[Gallery]:
    """A gallery for every transform that at least one library has an output of."""
    for row in rows:
        outputs = {
            library: cell.measurement.output
            for library, cell in row.cells.items()
            if cell.measurement and cell.measurement.output
        }
        if outputs:
            yield _gallery(section, row.transform, outputs, room)


def _gallery(section: Section, transform: str, outputs: Mapping[str, Output], room: Room) -> Gallery:
    bundles = {column.library: column.bundle for column in section.columns}
    pixels = {
        library: _read(bundles[library], section.scenario, output.thumbnail) if output.thumbnail else None
        for library, output in outputs.items()
    }
    levels: dict[tuple[str, str], float | None] = {}
    for one, other in combinations(outputs, 2):
        found = difference(outputs[one], outputs[other], pixels[one], pixels[other])
        levels[one, other] = levels[other, one] = found
    known = {pair: level for pair, level in levels.items() if level is not None}
    furthest = max(known, key=lambda pair: known[pair], default=None)
    return Gallery(
        transform=short(transform),
        pictures=room.take([_picture(library, outputs, pixels[library], levels) for library in outputs]),
        largest=known[furthest] if furthest else None,
        told=_told(furthest, known, outputs),
    )


def difference(one: Output, other: Output, here: "Pixels | None", there: "Pixels | None") -> float | None:
    """Mean absolute difference of two thumbnails in levels of 0 to 255; None where they cannot be compared.

    0 for equal outputs, whatever the thumbnails are. Two outputs of different size do not meet pixel by pixel.
    """
    if one.digest == other.digest:
        return 0.0
    if here is None or there is None or one.shape != other.shape or here.shape != there.shape:
        return None
    return float(abs(here.astype("int16") - there.astype("int16")).mean())


def levels_text(level: float) -> str:
    if level == 0:
        return "0"
    return number(level, max(0, min(2, decimals_of(level, 2)))) if level >= 0.005 else "under 0.01"


def _picture(
    library: str,
    outputs: Mapping[str, Output],
    pixels: "Pixels | None",
    levels: Mapping[tuple[str, str], float | None],
) -> Picture:
    output = outputs[library]
    others = [other for other in outputs if other != library]
    same = [other for other in others if outputs[other].digest == output.digest]
    told = []
    for other in others:
        level = levels[library, other]
        if other not in same:
            why = "another shape" if outputs[other].shape != output.shape else "no picture"
            told.append((short(other), why if level is None else levels_text(level)))
    height, width = (0, 0) if pixels is None else pixels.shape[:2]
    return Picture(
        name=short(library),
        shape=f"{' × '.join(map(str, output.shape))} {short(output.dtype)}",
        address=None if pixels is None else _address(pixels),
        width=width,
        height=height,
        same_as=tuple(short(other) for other in same),
        differences=tuple(told),
        unchanged=not output.changed,
    )


def _told(
    furthest: tuple[str, str] | None, known: Mapping[tuple[str, str], float], outputs: Mapping[str, Output]
) -> str:
    if len(outputs) < 2:
        return "one library only"
    shapes = {output.shape for output in outputs.values()}
    different = f"outputs of {len(shapes)} different shapes" if len(shapes) > 1 else ""
    if furthest is None:
        return different or "no pictures to compare"
    if known[furthest] == 0 and len({output.digest for output in outputs.values()}) == 1:
        return "all outputs equal, byte for byte"
    if known[furthest] == 0:
        return "; ".join(filter(None, ("the thumbnails do not differ", different)))
    one, other = furthest
    told = f"largest mean difference {levels_text(known[furthest])} of 255 levels, {short(one)} to {short(other)}"
    return f"{told}; {different}" if different else told


def _read(bundle: Bundle, scenario: str, name: str) -> "Pixels | None":
    """A thumbnail as RGB pixels; None where the run has none or it is not one that a run writes."""
    import numpy as np
    from PIL import Image

    path = f"outputs/{scenario}/{name}"
    if path not in bundle.files:
        return None
    data = io.BytesIO(read_committed(bundle, path))
    try:
        with Image.open(data, formats=["PNG"]) as picture:
            if max(picture.size) > policy.THUMBNAIL_PX:  # before it is decoded: it may claim any size
                return None
            return np.asarray(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError):  # what Pillow raises for a file that is no picture
        return None


def _address(pixels: "Pixels") -> str:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, format="WEBP", quality=QUALITY)
    return f"data:image/webp;base64,{base64.b64encode(stream.getvalue()).decode()}"
