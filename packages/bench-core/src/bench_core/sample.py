"""The embedded data set: 64 JPEGs of ImageNet's usual sizes, cut from photographs inside the scikit-image package.

Nothing is downloaded beyond that package, and no photograph is kept in the repository. Where each comes from and
under which licence stands in docs/data.md.
"""

import random
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_file
from bench_core.media import decode_rgb

VERSION = "embedded-2"  # another number for any change of what is built; it is the data set's name in results
DISTRIBUTION = "scikit-image"
SEED = 20261201
JPEG_QUALITY = 90
MIN_KEPT_FRACTION = 0.7  # of the largest crop that fits: less would enlarge these small photographs too much


class Source(NamedTuple):
    """A photograph in the package, and how many images of the sample are cut from it."""

    file: str
    cuts: int
    sha256: str


SOURCES = (
    Source("astronaut.png", 17, "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5"),
    Source("coffee.png", 17, "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7"),
    Source("chelsea.png", 15, "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb"),
    Source("rocket.jpg", 15, "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c"),
)
NUM_IMAGES = sum(source.cuts for source in SOURCES)

# Width and height in pixels, the usual ones several times: ImageNet's most frequent size is 500x375.
SIZES = (
    *[(500, 375)] * 6,
    *[(375, 500)] * 3,
    *[(500, 333)] * 3,
    *[(333, 500)] * 2,
    *[(400, 300), (300, 400), (500, 500), (500, 400), (480, 360), (500, 281), (320, 320), (640, 480), (256, 341)],
)


def sample_folder(root: Path) -> Path:
    """Where the embedded data set is, or will be."""
    return root / ".data" / "sample" / VERSION


def build_sample(root: Path) -> Path:
    """The folder of the embedded data set below `root`, built if it is not there. Two may build at once.

    Raises:
        BenchError: the photographs are not installed or are others than expected; the folder is damaged or cannot
            be written.
    """
    folder = sample_folder(root)
    if not folder.is_dir():
        _build(folder)
    count = sum(1 for _ in folder.glob("*.jpg"))
    if count != NUM_IMAGES:
        raise BenchError(
            f"{folder} holds {count} images instead of {NUM_IMAGES}; delete the folder, and it is built again",
            ExitCode.DATA,
        )
    return folder


def _build(folder: Path) -> None:
    """Build beside `folder` and rename, so that it is whole or absent."""
    photographs = [(source, decode_rgb(_find(source))) for source in SOURCES]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".unfinished-"))
        try:
            _write(photographs, unfinished)
            unfinished.chmod(0o755)
            unfinished.rename(folder)
        except OSError:
            if not folder.is_dir():  # if it is, somebody else was first, and theirs is the same
                raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        raise BenchError(f"cannot write {folder}: {error.strerror or error}", ExitCode.OUTPUT) from error


def _find(source: Source) -> Path:
    try:
        package = distribution(DISTRIBUTION)
    except PackageNotFoundError:
        raise BenchError(
            f"the sample images are cut from photographs inside the package {DISTRIBUTION}, which is not installed "
            f"here; install it (uv pip install --no-deps {DISTRIBUTION}), or measure your own with --data-dir",
            ExitCode.ENVIRONMENT,
        ) from None
    path = Path(str(package.locate_file(f"skimage/data/{source.file}")))
    if not path.is_file() or sha256_file(path) != source.sha256:
        raise BenchError(
            f"{DISTRIBUTION} {package.version} does not hold the {source.file} that the sample is made from; "
            "install the version that locks/tools.txt names, or measure your own with --data-dir",
            ExitCode.ENVIRONMENT,
        )
    return path


def _write(photographs: list[tuple[Source, NDArray[np.uint8]]], folder: Path) -> None:
    # Only random() promises the same numbers in every version of Python.
    rng = random.Random(SEED)  # noqa: S311
    index = 0
    for source, rgb in photographs:
        for _ in range(source.cuts):
            _write_one(rng, rgb, folder / f"{index:02}_{Path(source.file).stem}.jpg")
            index += 1


def _write_one(rng: random.Random, rgb: NDArray[np.uint8], path: Path) -> None:
    """Cut, rescale and perhaps mirror: a crop of a drawn size and place, never of another shape than the result."""
    from PIL import Image

    width, height = SIZES[int(rng.random() * len(SIZES))]
    largest = min(rgb.shape[1] / width, rgb.shape[0] / height)
    scale = largest * (MIN_KEPT_FRACTION + (1 - MIN_KEPT_FRACTION) * rng.random())
    left = rng.random() * (rgb.shape[1] - scale * width)
    top = rng.random() * (rgb.shape[0] - scale * height)
    mirrored = rng.random() < 0.5
    image = Image.fromarray(rgb[:, ::-1] if mirrored else rgb)
    box = (left, top, left + scale * width, top + scale * height)
    image = image.resize((width, height), Image.Resampling.LANCZOS, box=box)
    image.save(path, "JPEG", quality=JPEG_QUALITY)
