"""What a person's terminal is given: streams that are there, and text that it can show."""

import io
import os
import re
import sys
from pathlib import Path

_ENDLESS = re.compile(r"(\S{1000})\S+")  # longer than any path


def prepare() -> None:
    """Let nothing that is printed fail: a closed stream is one that nobody reads, a strange character is spelt out."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # 0, 1 and 2 must be taken, or a run's files and pipes would get these numbers
    os.close(fd)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def visible(text: str) -> str:
    """Text with what would steer a terminal spelt out, and what would flood it cut."""
    shown = "".join(
        character if character.isprintable() or character == "\n" else repr(character)[1:-1]
        for character in text.replace("\u00a0", " ")
    )
    return _ENDLESS.sub(r"\1…", shown)
