"""How this very command is called: what a person types to go on, in every hint the same."""

import os
import shlex
import shutil
import sys
from pathlib import Path

NAME = "bench"


def command(*arguments: str | Path) -> str:
    """A line that can be typed where this one was: `command("run", "--resume", folder)`."""
    words = [os.fsdecode(argument) for argument in arguments]
    return " ".join([_program(Path(sys.argv[0]), Path.cwd()), *map(shlex.quote, words)])


def _program(started: Path, here: Path) -> str:
    """`bench` where that finds it (or it was started by another program); else the path that it was started by."""
    if started.name != NAME:
        return NAME
    path = started.parent.resolve() / NAME
    found = shutil.which(NAME)
    if found and Path(found).parent.resolve() == path.parent:
        return NAME
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return shlex.quote(str(shown))
