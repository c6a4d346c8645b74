"""Texts without what names a person or a machine: paths of the file system, user and host names.

What is measured has to survive unchanged, so only texts are touched, and a text that holds none of these is the same
afterwards. `leaks` looks at finished files once more, since a pattern cannot know every way to write a path.
"""

import getpass
import re
import socket
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

# Keys whose value is about the machine or its user whatever it says.
PRIVATE_KEYS = {"hostname", "host", "node", "user", "username", "home", "cwd", "command", "python_executable", "root"}
# Names that say nothing about anybody and stand in ordinary sentences.
COMMON_NAMES = {"root", "user", "admin", "localhost", "bench", "runner", "docker", "ubuntu", "debian"}
MIN_NAME_LENGTH = 4
HIDDEN = "[…]"
_QUOTED = re.compile(r"(?P<quote>[\"'`])(?:file://)?(?:~[\w-]*)?/[^\"'`\n]*?(?P<last>[^/\"'`\n]*)(?P=quote)")
# A path that begins a word: ./relative, and/or, img/s and https://host/path are none.
_PATH = re.compile(r"(?:file://|(?<![\w./\]]))(?:~[\w-]*)?/(?!/)(?:[^\s/\"'`]+/)+(?P<last>[^\s/\"'`]*)")
_HOME = re.compile(r"/(?:home|Users)/[^\s/\"'`\\]+")


class Names(msgspec.Struct, frozen=True):
    """What this run could give away: folders as texts, longest first, and names of users and hosts."""

    folders: tuple[str, ...]
    people: tuple[str, ...]


def names_here(folders: Iterable[Path | str]) -> Names:
    """The given folders with this user's home, this user and this host. A machine may have no answer to any."""
    known = {str(folder) for folder in folders}
    with suppress(RuntimeError):  # a container's user may have no home
        known.add(str(Path.home()))
    people = set()
    for ask in (getpass.getuser, socket.gethostname):
        with suppress(OSError, KeyError):  # nor a name
            people.add(ask())
    people = {name for name in people if len(name) >= MIN_NAME_LENGTH and name.lower() not in COMMON_NAMES}
    kept = sorted((folder.rstrip("/") for folder in known if folder.count("/") > 0), key=len, reverse=True)
    return Names(folders=tuple(folder for folder in kept if folder), people=tuple(sorted(people)))


def clean(value: Any, names: Names, *, prose: Iterable[str] = (), private_keys: Collection[str] = ()) -> Any:
    """A value of JSON's types without paths.

    Args:
        prose: keys whose texts are sentences; user and host names are looked for in these alone, since elsewhere a
            user called like a library would change a result.
        private_keys: keys that are left out with what they hold.
    """
    if isinstance(value, dict):
        return {
            key: clean_text(found, names, people=key in prose)
            if isinstance(found, str)
            else clean(found, names, prose=prose, private_keys=private_keys)
            for key, found in value.items()
            if key not in private_keys
        }
    if isinstance(value, list | tuple):
        return [clean(found, names, prose=prose, private_keys=private_keys) for found in value]
    return clean_text(value, names) if isinstance(value, str) else value


def clean_text(text: str, names: Names, *, people: bool = False) -> str:
    """A path becomes its last part; a name of a user or host becomes HIDDEN."""
    text = _QUOTED.sub(_last, text)  # first: between quotes a path may have spaces
    for folder in names.folders:  # and so may a folder that is known
        text = re.sub(rf"{re.escape(folder)}(?![\w-])(?P<rest>(?:/[^\s\"'`]*)?)", _last_of_rest, text)
    text = _PATH.sub(_last, text)
    text = _HOME.sub(HIDDEN, text)
    if people:
        for name in names.people:
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", HIDDEN, text)
    return text


def _last(found: re.Match[str]) -> str:
    quote = found.groupdict().get("quote", "")
    return f"{quote}{HIDDEN}/{found['last']}{quote}"


def _last_of_rest(found: re.Match[str]) -> str:
    _, slash, last = found["rest"].rpartition("/")
    return f"{HIDDEN}{slash}{last}"


def leaks(files: Iterable[Path], names: Names) -> Iterator[tuple[Path, str]]:
    """(file, what) for each folder that a file's bytes still hold."""
    for path in files:
        data = path.read_bytes()
        text = data.decode("utf-8", "replace") if path.suffix != ".png" else ""
        for folder in names.folders:
            if re.search(rb"%b(?![\w-])" % re.escape(folder.encode("utf-8", "surrogateescape")), data):
                yield path, folder
        if found := _HOME.search(text):
            yield path, found[0]
