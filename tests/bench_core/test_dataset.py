"""Choosing the items of a run: which, in which order, what is left out, and the fingerprint."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from bench_core.dataset import Fingerprint, Subset, choose, load
from bench_core.errors import BenchError, ExitCode
from numpy.typing import NDArray
from PIL import Image


def picture(seed: int, height: int = 6, width: int = 8) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def fill(folder: Path, count: int) -> Path:
    folder.mkdir(parents=True)
    for index in range(count):
        Image.fromarray(picture(index)).save(folder / f"{index:02}.png")
    return folder


def break_file(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:60])


def error_of(folder: Path, num_items: int | None = None, skip_unreadable: bool = False) -> str:
    with pytest.raises(BenchError) as caught:
        choose(folder, num_items, 1, skip_unreadable)
    assert caught.value.code is ExitCode.DATA
    return str(caught.value)


def fingerprint(*arrays: NDArray[np.uint8]) -> str:
    whole = Fingerprint()
    for array in arrays:
        whole.add(array)
    return whole.hexdigest()


# Which, and in which order


def test_the_same_seed_chooses_the_same_images_whatever_order_they_were_written_in(tmp_path: Path) -> None:
    one = fill(tmp_path / "one", 20)
    other = tmp_path / "other"
    other.mkdir()
    names = [path.name for path in one.iterdir()]
    random.Random(5).shuffle(names)
    for name in names:
        shutil.copy(one / name, other / name)
    assert choose(one, 8, 3).paths == choose(other, 8, 3).paths


def test_another_seed_chooses_others(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 20)
    assert choose(folder, 8, 3).paths != choose(folder, 8, 4).paths


def test_a_smaller_subset_begins_a_larger_one(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 20)
    assert choose(folder, 15, 3).paths[:8] == choose(folder, 8, 3).paths


def test_the_choice_is_random_and_not_the_first_by_name(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 20)
    chosen = choose(folder, 8, 3).paths
    assert list(chosen) != sorted(chosen)
    assert set(chosen) != {f"{index:02}.png" for index in range(8)}


def test_every_image_is_chosen_about_equally_often(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 6)
    counts = dict.fromkeys((path.name for path in folder.iterdir()), 0)
    for seed in range(120):
        for path in choose(folder, 2, seed).paths:
            counts[path] += 1
    assert sum(counts.values()) == 240
    assert all(20 <= count <= 60 for count in counts.values()), counts  # 40 expected


def test_none_is_all_of_them_each_once(tmp_path: Path) -> None:
    subset = choose(fill(tmp_path / "data", 20), None, 3)
    assert sorted(subset.paths) == [f"{index:02}.png" for index in range(20)]
    assert (subset.num_items, subset.notice) == (20, None)


def test_fewer_images_than_asked_are_all_used_and_that_is_said(tmp_path: Path) -> None:
    subset = choose(fill(tmp_path / "data", 3), 32, 1)
    assert subset.num_items == 3
    assert subset.notice is not None
    assert subset.notice.startswith("only 3 of the 32 images asked for are in ")


def test_one_image_is_enough(tmp_path: Path) -> None:
    assert choose(fill(tmp_path / "data", 1), 1, 1).paths == ("00.png",)


@pytest.mark.parametrize("num_items", [0, -1])
def test_less_than_one_item_is_refused(tmp_path: Path, num_items: int) -> None:
    with pytest.raises(BenchError, match="at least 1"):
        choose(fill(tmp_path / "data", 3), num_items, 1)


def test_progress_counts_readable_images_towards_what_is_wanted(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 5)
    break_file(folder / "02.png")
    seen: list[tuple[int, int]] = []
    choose(folder, 3, 1, True, lambda done, wanted: seen.append((done, wanted)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


# Refused


def test_a_folder_without_images_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    message = error_of(tmp_path)
    assert "no image (jpg, jpeg, png, bmp, webp)" in message
    assert str(tmp_path) in message


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert "does not exist" in error_of(tmp_path / "none")


def test_unreadable_images_stop_the_run_and_every_one_is_named_with_its_reason(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 6)
    break_file(folder / "01.png")
    (folder / "04.png").write_bytes(b"")
    message = error_of(folder)
    assert "2 of 6 images looked at" in message
    assert "01.png (image file is truncated" in message
    assert "04.png (the file is empty)" in message
    assert "--skip-unreadable" in message


def test_ten_unreadable_images_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 16)
    for index in range(13):
        (folder / f"{index:02}.png").write_text("no image")
    message = error_of(folder)
    assert "13 of 16" in message
    assert message.count(".png (") == 10
    assert message.endswith("; and 3 more")


def test_only_as_many_images_are_read_as_are_needed(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 10)
    beyond = set(choose(folder, None, 1).paths) - set(choose(folder, 4, 1).paths)
    for name in beyond:
        break_file(folder / name)
    assert choose(folder, 4, 1).left_out == ()


def test_a_folder_of_nothing_readable_is_refused_even_when_skipping(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 2)
    break_file(folder / "00.png")
    break_file(folder / "01.png")
    message = error_of(folder, None, True)
    assert "2 of 2" in message
    assert "no image is left" in message


# Left out


def test_skipping_leaves_them_out_replaces_them_and_records_them(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 10)
    order = choose(folder, None, 1).paths
    break_file(folder / order[1])
    subset = choose(folder, 4, 1, skip_unreadable=True)
    assert subset.paths == (order[0], *order[2:5])
    (left_out,) = subset.left_out
    assert left_out.startswith(f"{order[1]} (image file is truncated")
    assert subset.notice == f"left out for every library, unreadable: {left_out}"


# Fingerprint


def test_the_fingerprint_stays_when_the_folder_is_moved_or_a_file_renamed_in_place(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 1)
    before = choose(folder, None, 1).fingerprint
    moved = folder.rename(tmp_path / "moved")
    (moved / "00.png").rename(moved / "renamed.png")
    assert choose(moved, None, 1).fingerprint == before


def test_the_fingerprint_stays_when_a_file_is_stored_differently_with_the_same_pixels(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 5)
    before = choose(folder, None, 1).fingerprint
    Image.fromarray(picture(2)).save(folder / "02.png", compress_level=0)
    assert choose(folder, None, 1).fingerprint == before


def test_one_changed_pixel_changes_the_fingerprint(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 5)
    before = choose(folder, None, 1).fingerprint
    changed = picture(2)
    changed[3, 4, 1] ^= 1
    Image.fromarray(changed).save(folder / "02.png")
    assert choose(folder, None, 1).fingerprint != before


def test_the_fingerprint_is_that_of_the_images_in_their_order(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 5)
    subset = choose(folder, None, 1)
    pictures = [picture(int(path[:2])) for path in subset.paths]
    assert subset.fingerprint == fingerprint(*pictures)
    assert subset.fingerprint != fingerprint(*reversed(pictures))


def test_the_fingerprint_tells_shapes_apart() -> None:
    whole = picture(0, 6, 8)
    assert fingerprint(whole) != fingerprint(whole.reshape(8, 6, 3))
    assert fingerprint(whole) != fingerprint(whole[:3], whole[3:])


def test_the_fingerprint_is_of_content_and_not_of_memory_layout() -> None:
    whole = picture(0)
    assert fingerprint(np.asfortranarray(whole)) == fingerprint(whole)


# What a worker gets

UNUSUAL = [
    "with space.png",
    "фото 猫.png",
    "new\nline.png",
    "back\\slash.png",
    os.fsdecode(b"caf\xe9.png"),
    "a'b\"c.png",
]


def test_a_subset_travels_as_json_and_a_worker_reads_the_same_content(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"r\xe9sum\xc3\xa9 \n\\")
    folder.mkdir()
    for index, name in enumerate(UNUSUAL):
        Image.fromarray(picture(index)).save(folder / name)
    (folder / os.fsdecode(b"\xff broken.png")).write_bytes(b"")
    subset = choose(folder, None, 1, skip_unreadable=True)
    assert subset.left_out == (r"\xff broken.png (the file is empty)",)
    read_back = msgspec.json.decode(msgspec.json.encode(subset), type=Subset)
    assert read_back == subset
    images = list(load(read_back))
    assert len(images) == len(UNUSUAL)
    assert fingerprint(*images) == subset.fingerprint


def test_messages_about_unusual_names_can_be_printed_and_stay_on_one_line(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"\xe9\n")
    folder.mkdir()
    for name in UNUSUAL:
        (folder / name).write_bytes(b"")
    assert error_of(folder).encode("utf-8").isascii() is False
    assert "\n" not in error_of(folder)
    assert r"caf\xe9.png" in error_of(folder)
    assert "\n" not in error_of(tmp_path / os.fsdecode(b"\xff\n"))


def test_a_file_that_is_gone_when_a_worker_reads_is_named(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 3)
    subset = choose(folder, None, 1)
    (folder / "01.png").unlink()
    with pytest.raises(BenchError, match=r"01\.png in .* could be read when the run began and cannot now") as caught:
        list(load(subset))
    assert caught.value.code is ExitCode.DATA


def test_a_file_that_changed_before_a_worker_reads_it_is_noticed(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", 3)
    subset = choose(folder, None, 1)
    Image.fromarray(picture(99)).save(folder / "01.png")
    with pytest.raises(BenchError, match="are not those that were chosen") as caught:
        list(load(subset))
    assert caught.value.code is ExitCode.DATA


def test_importing_the_module_does_not_import_pillow() -> None:
    code = "import sys, bench_core.dataset; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
