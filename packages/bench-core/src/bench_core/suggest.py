"""Unknown names: the refusal that names the nearest known one."""

from collections.abc import Collection
from difflib import get_close_matches

from bench_core.errors import BenchError, ExitCode

FEW = 12  # as many known names are spelt out; more are a list command's business


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that `name` was most likely meant to be; None when nothing is close."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.55)
    return by_lower[found[0]] if found else None


def unknown(
    kind: str,
    name: str,
    known: Collection[str],
    *,
    source: str = "",
    hint: str = "",
    code: ExitCode = ExitCode.USAGE,
) -> BenchError:
    """The error for a name that is not among `known`.

    `kind` says what was looked for ("library"), `source` where the name was given ("--library"), `hint` where to
    read all names when they are too many to print.
    """
    where = f"{source}: " if source else ""
    meant = nearest(name, known)
    question = f"; did you mean {meant!r}?" if meant else ""
    if not known:
        listing = "there is none"
    elif len(known) <= FEW:
        listing = f"known: {', '.join(known)}"
    else:
        listing = f"{hint or 'the documentation'} shows all {len(known)}"
    separator = " " if question else "; "
    return BenchError(f"{where}unknown {kind} {name!r}{question}{separator}{listing}", code)
