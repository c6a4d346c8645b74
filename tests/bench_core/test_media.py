"""Every treatment of image files that bench_core.media states, on real files made here."""

import io
import os
import struct
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.media import UnreadableImage, decode_rgb, find_images
from numpy.typing import NDArray
from PIL import Image

Save = Callable[..., Path]  # image, file name, Pillow's options for saving

RED, GREEN, BLUE, YELLOW = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)


def quadrants(side: int = 32) -> NDArray[np.uint8]:
    """Red, green over blue, yellow: no rotation or flip of it looks like another. Wider than high."""
    rgb = np.zeros((side, side * 3 // 2, 3), np.uint8)
    middle, centre = side // 2, side * 3 // 4
    rgb[:middle, :centre], rgb[:middle, centre:] = RED, GREEN
    rgb[middle:, :centre], rgb[middle:, centre:] = BLUE, YELLOW
    return rgb


def noise(height: int = 40, width: int = 60) -> NDArray[np.uint8]:
    return np.random.default_rng(7).integers(0, 256, (height, width, 3), dtype=np.uint8)


def encode(image: Image.Image, image_format: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, image_format, **options)
    return stream.getvalue()


def png(color_type: int, bit_depth: int, pixels: NDArray[np.generic]) -> bytes:
    """A PNG written by hand: Pillow cannot write 16 bits of colour."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, bit_depth, color_type, 0, 0, 0)
    rows = b"".join(b"\0" + row.astype(f">u{bit_depth // 8}").tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def mode_of(path: Path) -> str:
    with Image.open(path) as image:
        return image.mode


def reason_of(path: Path) -> str:
    with pytest.raises(UnreadableImage) as caught:
        decode_rgb(path)
    assert caught.value.path == path
    return caught.value.reason


@pytest.fixture
def saved(tmp_path: Path) -> Save:
    def save(image: Image.Image, name: str, **options: Any) -> Path:
        path = tmp_path / name
        image.save(path, **options)
        return path

    return save


# Decoding


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.webp"])
def test_a_lossless_file_gives_its_own_pixels(saved: Save, name: str) -> None:
    options: dict[str, Any] = {"lossless": True} if name.endswith("webp") else {}
    assert np.array_equal(decode_rgb(saved(Image.fromarray(noise()), name, **options)), noise())


def test_a_decoded_image_is_contiguous_writable_rgb(saved: Save) -> None:
    rgb = decode_rgb(saved(Image.fromarray(quadrants()), "a.jpg", exif=exif(6)))
    assert (rgb.shape, rgb.dtype.name) == ((48, 32, 3), "uint8")
    assert rgb.flags.c_contiguous
    assert rgb.flags.writeable


def test_one_pixel_is_an_image(saved: Save) -> None:
    assert decode_rgb(saved(Image.new("RGB", (1, 1), RED), "a.png")).tolist() == [[list(RED)]]


def test_the_content_counts_and_not_the_extension(tmp_path: Path) -> None:
    path = tmp_path / "really_a_png.jpg"
    path.write_bytes(encode(Image.fromarray(noise()), "PNG"))
    assert np.array_equal(decode_rgb(path), noise())


def exif(orientation: int) -> Image.Exif:
    found = Image.Exif()
    found[0x0112] = orientation
    return found


# What each value of the EXIF standard asks a viewer to do with the stored rows, in numpy's terms.
UPRIGHT: dict[int, Callable[[NDArray[np.uint8]], NDArray[np.uint8]]] = {
    1: lambda stored: stored,
    2: lambda stored: stored[:, ::-1],
    3: lambda stored: stored[::-1, ::-1],
    4: lambda stored: stored[::-1],
    5: lambda stored: stored.transpose(1, 0, 2),
    6: lambda stored: np.rot90(stored, -1),
    7: lambda stored: stored[::-1, ::-1].transpose(1, 0, 2),
    8: lambda stored: np.rot90(stored, 1),
}


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp"])
def test_exif_rotation_is_applied(saved: Save, name: str, orientation: int) -> None:
    stored = quadrants()
    rgb = decode_rgb(saved(Image.fromarray(stored), name, exif=exif(orientation))).astype(int)
    expected = UPRIGHT[orientation](stored)
    assert rgb.shape == expected.shape
    corners = np.ix_([4, -5], [4, -5])
    assert np.abs(rgb[corners] - expected[corners]).max() < 30  # lossy formats keep flat corners nearly exact


def test_a_meaningless_orientation_is_no_rotation(saved: Save) -> None:
    assert np.array_equal(decode_rgb(saved(Image.fromarray(noise()), "a.png", exif=exif(77))), noise())


def test_a_damaged_exif_block_is_no_rotation_and_no_warning(saved: Save) -> None:
    path = saved(Image.fromarray(noise()), "a.png", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x05" + b"\xff" * 9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(decode_rgb(path), noise())


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.jpg"])
def test_grayscale_is_repeated_in_three_channels(saved: Save, name: str) -> None:
    gray = np.tile(np.arange(0, 256, 4, dtype=np.uint8), (16, 1))
    rgb = decode_rgb(saved(Image.fromarray(gray), name, **({"quality": 100} if name == "a.jpg" else {})))
    assert np.abs(rgb[..., 0].astype(int) - gray).max() <= 2
    assert np.array_equal(rgb[..., 0], rgb[..., 1])
    assert np.array_equal(rgb[..., 0], rgb[..., 2])


@pytest.mark.parametrize("name", ["a.png", "a.bmp"])
def test_one_bit_becomes_black_and_white(saved: Save, name: str) -> None:
    bits = np.indices((9, 13)).sum(axis=0) % 2 == 0
    rgb = decode_rgb(saved(Image.fromarray(bits), name))
    assert np.array_equal(rgb, np.repeat(bits[..., np.newaxis], 3, axis=2) * np.uint8(255))


@pytest.mark.parametrize("transparency", [None, 1, b"\xff\x00\x80\x00"])
def test_a_palette_is_expanded_and_its_transparency_dropped(saved: Save, transparency: int | bytes | None) -> None:
    indices = Image.fromarray(np.array([[0, 1], [2, 3]], np.uint8))
    indices.putpalette([*RED, *GREEN, *BLUE, *YELLOW])
    options: dict[str, Any] = {} if transparency is None else {"transparency": transparency}
    path = saved(indices, "a.png", **options)
    assert mode_of(path) == "P"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decode_rgb(path).tolist() == [[list(RED), list(GREEN)], [list(BLUE), list(YELLOW)]]


@pytest.mark.parametrize("name", ["a.png", "a.webp"])
@pytest.mark.parametrize("alpha", [0, 1, 128, 255])
def test_alpha_is_dropped_and_the_stored_colours_stay(saved: Save, name: str, alpha: int) -> None:
    rgba = np.dstack([noise(), np.full(noise().shape[:2], alpha, np.uint8)])
    # exact: WebP otherwise replaces the colours of transparent pixels when it writes
    options: dict[str, Any] = {"lossless": True, "exact": True} if name == "a.webp" else {}
    assert np.array_equal(decode_rgb(saved(Image.fromarray(rgba), name, **options)), noise())


def test_gray_with_alpha_keeps_its_gray(saved: Save) -> None:
    gray = noise()[..., 0]
    both = Image.merge("LA", [Image.fromarray(gray), Image.new("L", gray.shape[::-1], 0)])
    assert np.array_equal(decode_rgb(saved(both, "a.png")), np.dstack([gray] * 3))


# Cyan, magenta, yellow and black ink at 0 or 255; white paper where there is none.
CMYK_COLOURS = {
    (0, 0, 0, 0): (255, 255, 255),
    (255, 0, 0, 0): (0, 255, 255),
    (0, 255, 255, 0): RED,
    (0, 0, 0, 255): (0, 0, 0),
}


@pytest.mark.parametrize(("ink", "colour"), CMYK_COLOURS.items())
def test_a_cmyk_jpeg_shows_its_colours(saved: Save, ink: tuple[int, ...], colour: tuple[int, ...]) -> None:
    # Pillow writes CMYK as Adobe does: inverted values and a marker that says so.
    path = saved(Image.new("CMYK", (16, 16), ink), "a.jpg", quality=95)
    assert b"Adobe" in path.read_bytes()
    assert np.abs(decode_rgb(path).astype(int) - colour).max() <= 3


def test_a_cmyk_jpeg_without_the_adobe_marker_is_taken_as_inverted_too(tmp_path: Path) -> None:
    data = encode(Image.new("CMYK", (16, 16), (255, 0, 0, 0)), "JPEG", quality=95)
    start = data.index(b"\xff\xee")
    length = 2 + int.from_bytes(data[start + 2 : start + 4], "big")
    path = tmp_path / "a.jpg"
    path.write_bytes(data[:start] + data[start + length :])
    assert np.abs(decode_rgb(path).astype(int) - (0, 255, 255)).max() <= 3


def test_sixteen_bits_of_gray_keep_their_high_byte(tmp_path: Path) -> None:
    deep = np.array([[0, 255, 256, 257], [32768, 40000, 65279, 65535]], np.uint16)
    path = tmp_path / "a.png"
    path.write_bytes(png(0, 16, deep))
    assert mode_of(path) == "I;16"
    assert decode_rgb(path)[..., 0].tolist() == [[0, 0, 1, 1], [128, 156, 254, 255]]
    assert np.array_equal(decode_rgb(path), np.dstack([(deep >> 8).astype(np.uint8)] * 3))


@pytest.mark.parametrize(("color_type", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_sixteen_bits_are_treated_alike_in_gray_and_colour_with_and_without_alpha(
    tmp_path: Path, color_type: int, channels: int
) -> None:
    deep = np.random.default_rng(3).integers(0, 65536, (20, 30), dtype=np.uint16)
    path = tmp_path / "a.png"
    path.write_bytes(png(color_type, 16, np.dstack([deep] * channels)))
    assert np.array_equal(decode_rgb(path), np.dstack([(deep >> 8).astype(np.uint8)] * 3))


def test_a_sixteen_bit_image_is_rotated_too(saved: Save) -> None:
    deep = Image.fromarray(np.array([[0, 65535]], np.uint16))
    assert decode_rgb(saved(deep, "a.png", exif=exif(6)))[..., 0].tolist() == [[0], [255]]


@pytest.mark.parametrize("name", ["a.png", "a.webp", "a.jpg"])
def test_an_animation_gives_its_first_frame(saved: Save, name: str) -> None:
    frames = [Image.new("RGB", (16, 16), colour) for colour in (RED, GREEN, BLUE)]
    options: dict[str, Any] = {"format": "MPO"} if name == "a.jpg" else {}
    path = saved(frames[0], name, save_all=True, append_images=frames[1:], **options)
    with Image.open(path) as image:
        assert getattr(image, "n_frames", 1) == 3
    assert np.abs(decode_rgb(path).astype(int) - RED).max() <= 3


# Unreadable files


CUT_FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    "jpg": ("JPEG", {}),
    "progressive.jpg": ("JPEG", {"progressive": True}),
    "png": ("PNG", {}),
    "bmp": ("BMP", {}),
    "webp": ("WEBP", {}),
    "lossless.webp": ("WEBP", {"lossless": True}),
}


@pytest.mark.parametrize("suffix", CUT_FORMATS)
def test_a_file_cut_anywhere_is_unreadable_or_whole(tmp_path: Path, suffix: str) -> None:
    image_format, options = CUT_FORMATS[suffix]
    data = encode(Image.fromarray(noise(160, 240)), image_format, **options)
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(data)
    whole = decode_rgb(path)
    refused = 0
    lengths = [*range(0, len(data), len(data) // 60), *range(len(data) - 40, len(data))]
    for length in lengths:
        path.write_bytes(data[:length])
        try:
            assert np.array_equal(decode_rgb(path), whole), f"{length} of {len(data)} bytes gave other pixels"
        except UnreadableImage:
            refused += 1
    assert refused >= 60


def test_a_truncated_jpeg_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(encode(Image.fromarray(noise(160, 240)), "JPEG")[:-2000])
    assert "truncated" in reason_of(path)


def test_garbled_bytes_never_raise_anything_else(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    refused = 0
    for image_format, options in CUT_FORMATS.values():
        data = bytearray(encode(Image.fromarray(noise()), image_format, **options))
        path = tmp_path / "a.png"
        for _ in range(60):
            garbled = data.copy()
            for at in rng.integers(0, len(data), 8):
                garbled[at] = rng.integers(0, 256)
            path.write_bytes(garbled)
            try:
                assert decode_rgb(path).ndim == 3
            except UnreadableImage as error:
                refused += 1
                assert error.reason
    assert refused > 20


def test_text_called_jpg_is_not_an_image(tmp_path: Path) -> None:
    path = tmp_path / "notes.jpg"
    path.write_text("not a picture\n" * 50)
    assert reason_of(path) == "not a JPEG, PNG, BMP or WebP image"


def test_an_image_of_another_format_is_refused_by_name(saved: Save) -> None:
    assert reason_of(saved(Image.fromarray(noise()), "a.png", format="TIFF")) == "not a JPEG, PNG, BMP or WebP image"


def test_an_empty_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.touch()
    assert reason_of(path) == "the file is empty"


def test_a_missing_file_and_a_broken_link_say_so(tmp_path: Path) -> None:
    link = tmp_path / "link.jpg"
    link.symlink_to("nowhere.jpg")
    assert "link to nothing" in reason_of(link)
    assert "does not exist" in reason_of(tmp_path / "none.jpg")


def test_a_link_to_itself_says_so(tmp_path: Path) -> None:
    link = tmp_path / "link.jpg"
    link.symlink_to("link.jpg")
    assert "symbolic links" in reason_of(link)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    os.mkfifo(path)
    assert reason_of(path) == "not a regular file"


@pytest.mark.parametrize(
    "side", [10_000, 15_000]
)  # over the limit, over twice the limit: a warning, an error to Pillow
def test_a_decompression_bomb_is_a_sentence_and_no_warning(tmp_path: Path, side: int) -> None:
    path = tmp_path / "bomb.png"
    # Only the header claims the size: nothing of it is decoded.
    data = bytearray(png(0, 8, np.zeros((1, 1), np.uint8)))
    data[16:24] = struct.pack(">II", side, side)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    path.write_bytes(data)
    with warnings.catch_warnings(record=True) as leaked:
        warnings.simplefilter("always")
        assert "decompression bomb" in reason_of(path)
    assert leaked == []


# Finding


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def found(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in find_images(folder)]


def test_images_are_found_recursively_and_sorted(tmp_path: Path) -> None:
    touch(tmp_path, "b/2.png", "b/1.jpg", "a.webp", "c/d/e/f.bmp", "b.jpeg", "B.jpg")
    assert found(tmp_path) == sorted(["b/2.png", "b/1.jpg", "a.webp", "c/d/e/f.bmp", "b.jpeg", "B.jpg"])


def test_extensions_count_in_any_case_and_others_do_not(tmp_path: Path) -> None:
    touch(tmp_path, "a.JPG", "b.JpEg", "c.PNG", "d.txt", "e.gif", "jpg", "f.jpg.txt", "g.npy")
    assert found(tmp_path) == ["a.JPG", "b.JpEg", "c.PNG"]


def test_hidden_files_and_folders_are_left_out_but_the_folder_itself_may_be_hidden(tmp_path: Path) -> None:
    root = tmp_path / ".data"
    touch(root, "a.jpg", "._a.jpg", ".thumbnails/a.jpg", "b/.c/a.jpg")
    assert found(root) == ["a.jpg"]


def test_unusual_names_are_found_as_they_are(tmp_path: Path) -> None:
    names = [
        "with space.jpg",
        "фото 猫.png",
        "new\nline.jpg",
        os.fsdecode(b"caf\xe9.jpg"),
        "back\\slash.jpg",
        "a folder.jpg/x.jpg",
    ]
    touch(tmp_path, *names)
    assert found(tmp_path) == sorted(names)


def test_links_are_followed_and_loops_end(tmp_path: Path) -> None:
    touch(tmp_path, "data/a/1.jpg", "data/z/2.jpg", "elsewhere/3.jpg")
    data = tmp_path / "data"
    (data / "a" / "up").symlink_to(data)
    (data / "a" / "to_z").symlink_to(data / "z")
    (data / "zz").symlink_to(data / "a")
    (data / "0").symlink_to(data / "a")
    (data / "out").symlink_to(tmp_path / "elsewhere")
    (data / "self").symlink_to("self")
    (data / "4.jpg").symlink_to(tmp_path / "elsewhere" / "3.jpg")
    assert found(data) == ["4.jpg", "a/1.jpg", "out/3.jpg", "z/2.jpg"]


def test_a_broken_link_with_an_images_name_is_listed_so_that_it_is_named_later(tmp_path: Path) -> None:
    (tmp_path / "gone.jpg").symlink_to("nowhere")
    assert found(tmp_path) == ["gone.jpg"]


def test_a_missing_folder_and_a_file_are_refused_in_a_sentence(tmp_path: Path) -> None:
    touch(tmp_path, "a.jpg")
    with pytest.raises(BenchError, match=r"none does not exist; give a folder") as missing:
        find_images(tmp_path / "none")
    with pytest.raises(BenchError, match=r"a\.jpg is a file, not a folder"):
        find_images(tmp_path / "a.jpg")
    assert missing.value.code is ExitCode.DATA


def test_a_folder_that_the_system_refuses_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"cannot be read \(File name too long\)") as caught:
        find_images(tmp_path / ("x" * 300))
    assert caught.value.code is ExitCode.DATA
