"""Named run shapes: profiles/NAME.toml. The first line, a comment, says what the profile is for."""

from pathlib import Path

from bench_core import suggest
from bench_core.invocation import command
from bench_core.settings import Rank, Said, Settings, from_file

FOLDER = "profiles"


def profile_names(root: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (root / FOLDER).glob("*.toml")))


def load_profile(root: Path, name: str) -> Settings:
    """What a profile says, and its name.

    Raises:
        BenchError: there is no such profile, or it does not validate.
    """
    known = profile_names(root)
    if name not in known:
        raise suggest.unknown("profile", name, known, source="--profile", hint=command("list", "profiles"))
    source = f"{FOLDER}/{name}.toml"
    return {"profile": Said(name, source, Rank.FILE), **from_file(root / FOLDER / f"{name}.toml", source)}


def describe_profile(root: Path, name: str) -> str:
    """The comment in the profile's first line; empty when it has none."""
    lines = (root / FOLDER / f"{name}.toml").read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[0].lstrip("# ").strip() if lines and lines[0].startswith("#") else ""
