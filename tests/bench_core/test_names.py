"""File names survive as text, whatever bytes they hold."""

import os
from pathlib import Path

import msgspec
import pytest
from bench_core.names import name_to_text, text_to_name

NAMES = {
    "plain.jpg": "plain.jpg",
    "with space.jpg": "with space.jpg",
    "фото 猫.png": "фото 猫.png",
    "new\nline.jpg": r"new\x0aline.jpg",
    "back\\x0aslash.jpg": r"back\\x0aslash.jpg",
    os.fsdecode(b"caf\xe9.jpg"): r"caf\xe9.jpg",
    os.fsdecode(b"\xff\xfe\\\x80"): r"\xff\xfe\\\x80",
    "\x1b[31mred": r"\x1b[31mred",
    "\u202ereversed": r"\xe2\x80\xaereversed",
}


@pytest.mark.parametrize(("name", "text"), NAMES.items())
def test_a_name_is_readable_text_and_comes_back(name: str, text: str) -> None:
    assert name_to_text(name) == text
    assert text.isprintable()
    assert text_to_name(text) == name


@pytest.mark.parametrize("name", NAMES)
def test_the_text_survives_json_and_names_the_same_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"content")
    (on_disk,) = tmp_path.iterdir()
    text = msgspec.json.decode(msgspec.json.encode(name_to_text(on_disk.name)))
    assert (tmp_path / text_to_name(text)).read_bytes() == b"content"
