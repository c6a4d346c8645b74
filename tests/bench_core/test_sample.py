"""The embedded data set: built from an installed package, whole or absent, the same every time."""

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from bench_core import sample
from bench_core.commands import sample as command
from bench_core.dataset import choose
from bench_core.errors import BenchError, ExitCode
from bench_core.media import decode_rgb
from PIL import Image


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample.build_sample(tmp_path_factory.mktemp("root"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_there_are_64_jpegs_and_nothing_else(built: Path) -> None:
    assert built.parts[-3:] == (".data", "sample", sample.VERSION)
    assert len(list(built.iterdir())) == 64
    for path in built.iterdir():
        with Image.open(path) as image:
            assert (image.format, image.mode, image.info.keys() & {"exif", "icc_profile"}) == ("JPEG", "RGB", set())


def test_sizes_are_those_of_ordinary_photographs(built: Path) -> None:
    shapes = [decode_rgb(path).shape for path in built.iterdir()]
    assert min(min(height, width) for height, width, _ in shapes) >= 256
    assert max(max(height, width) for height, width, _ in shapes) <= 640
    assert len(set(shapes)) >= 8
    assert sum(height < width for height, width, _ in shapes) >= 30
    assert sum(height > width for height, width, _ in shapes) >= 10


def test_images_have_contrast_and_no_two_are_alike(built: Path) -> None:
    small = []
    for path in sorted(built.iterdir()):
        rgb = decode_rgb(path)
        assert rgb.std() > 10, path.name
        small.append(np.asarray(Image.fromarray(rgb).resize((32, 32))).astype(int))
    differences = [np.abs(one - other).mean() for at, one in enumerate(small) for other in small[at + 1 :]]
    assert min(differences) > 2


def test_it_is_the_same_every_time(built: Path, tmp_path: Path) -> None:
    assert contents(sample.build_sample(tmp_path)) == contents(built)


def test_what_is_there_is_not_built_again(built: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in built.iterdir()}
    assert sample.build_sample(built.parents[2]) == built
    assert {path: path.stat().st_mtime_ns for path in built.iterdir()} == before


def test_builders_at_the_same_time_leave_one_whole_folder(built: Path, tmp_path: Path) -> None:
    code = (
        f"from pathlib import Path; from bench_core.sample import build_sample; build_sample(Path({str(tmp_path)!r}))"
    )
    with ThreadPoolExecutor(3) as pool:
        ends = list(pool.map(lambda _: subprocess.run([sys.executable, "-c", code], check=False).returncode, range(3)))
    assert ends == [0, 0, 0]
    (folder,) = (tmp_path / ".data" / "sample").iterdir()  # and no unfinished one beside it
    assert contents(folder) == contents(built)


def test_a_builder_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Image.Image, *args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(BenchError, match=r"cannot write .*: No space left on device") as caught:
        sample.build_sample(tmp_path)
    assert caught.value.code is ExitCode.OUTPUT
    assert list((tmp_path / ".data" / "sample").iterdir()) == []


def test_a_damaged_folder_is_named_and_not_used(tmp_path: Path) -> None:
    folder = tmp_path / ".data" / "sample" / sample.VERSION
    folder.mkdir(parents=True)
    with pytest.raises(BenchError, match="holds 0 images instead of 64; delete the folder") as caught:
        sample.build_sample(tmp_path)
    assert caught.value.code is ExitCode.DATA


def test_without_the_package_a_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "DISTRIBUTION", "scikit-image-that-nobody-installed")
    with pytest.raises(BenchError, match=r"not installed here; install it .* or measure your own") as caught:
        sample.build_sample(tmp_path)
    assert caught.value.code is ExitCode.ENVIRONMENT


def test_another_photograph_under_the_same_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = sample.SOURCES[0]._replace(sha256="0" * 64)
    monkeypatch.setattr(sample, "SOURCES", (other, *sample.SOURCES[1:]))
    with pytest.raises(BenchError, match=r"scikit-image .* does not hold the astronaut\.png"):
        sample.build_sample(tmp_path)


def test_the_command_prints_where_how_many_sizes_and_the_fingerprint(
    built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = built.parents[2]
    (root / "matrix.toml").touch()
    monkeypatch.chdir(root)
    assert command.run(argparse.Namespace()) == 0
    printed = capsys.readouterr().out
    assert str(built) in printed
    assert "64 JPEGs" in printed
    assert "width 256 to 640 px" in printed
    assert choose(built, None, 20261201).fingerprint in printed
