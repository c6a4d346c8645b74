"""Texts without paths and names."""

from pathlib import Path

import pytest
from bench_report.scrub import HIDDEN, Names, clean, clean_text, leaks, names_here

NAMES = Names(folders=("/srv/our data/photos", "/srv/our data"), people=("alice", "lab-pc"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('File "/home/al ice/x/torchvision/io.py", line 3', f'File "{HIDDEN}/io.py", line 3'),
        ("cannot open /var/lib/x/y.so: no", f"cannot open {HIDDEN}/y.so: no"),
        ("error:/home/bob/a/b.py", f"error:{HIDDEN}/b.py"),
        ("see file:///opt/private/thing.txt", f"see {HIDDEN}/thing.txt"),
        ("~/work/notes/a.py and ~bob/work/a.py", f"{HIDDEN}/a.py and {HIDDEN}/a.py"),
        ("/srv/our data/photos/cat 1.jpg", f"{HIDDEN}/cat 1.jpg"),
        ("-I/home/bob/include", f"-I{HIDDEN}/include"),
    ],
)
def test_a_path_becomes_its_last_part(text: str, expected: str) -> None:
    found = clean_text(text, NAMES)
    for private in ("al ice", "bob", "our data", "private", "/var"):
        assert private not in found
    assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        "1 / 2 img/s and/or ./relative/path x/y/z",
        "https://example.org/a/b/c",
        "uint8 HWC RGB numpy.ndarray",
        "SHA-256 over 3/4 of it",
        "alice in a text that is no sentence",
    ],
)
def test_what_is_no_path_is_left_as_it_is(text: str) -> None:
    assert clean_text(text, NAMES) == text


def test_names_are_hidden_in_sentences_only_and_private_keys_go() -> None:
    value = {"library": "alice", "reason": "alice on lab-pc, not alices", "meta": [{"hostname": "lab-pc", "cpus": 2}]}
    assert clean(value, NAMES, prose=["reason"], private_keys={"hostname"}) == {
        "library": "alice",
        "reason": f"{HIDDEN} on {HIDDEN}, not alices",
        "meta": [{"cpus": 2}],
    }


def test_names_here_are_the_home_the_user_and_the_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", "/home/carol")
    monkeypatch.setenv("LOGNAME", "carol")
    monkeypatch.setattr("socket.gethostname", lambda: "vm")
    found = names_here([tmp_path, "/"])
    assert "/home/carol" in found.folders
    assert str(tmp_path) in found.folders
    assert "" not in found.folders
    assert found.people == ("carol",)


def test_what_is_left_in_a_finished_file_is_found(tmp_path: Path) -> None:
    good, text, picture = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "c.png"
    good.write_text('{"x": "img/s"}')
    text.write_text("x=/Users/dora/y")
    picture.write_bytes(b"\x89PNG\x00/srv/our data/photos\x00")
    assert [(path, what) for path, what in leaks([good, text, picture], NAMES)] == [
        (text, "/Users/dora"),
        (picture, "/srv/our data/photos"),
        (picture, "/srv/our data"),
    ]
