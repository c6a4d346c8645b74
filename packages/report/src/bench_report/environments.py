"""The environment table: what each run was made on and with, a line per property and a column per run."""

from collections.abc import Iterable, Sequence

from bench_core.bundle import Bundle
from bench_core.results import Conditions, Result

from bench_report.captions import date
from bench_report.figures import SPACE, number
from bench_report.sections import Section
from bench_report.table import Cell, Table, short

HASH_DIGITS = 12
UNKNOWN = "not known"
GIB = 1024**3


def environment_table(found: Sequence[Section]) -> Table:
    """Every run behind some sections, oldest first."""
    bundles = {bundle.run_id: bundle for section in found for bundle in section.bundles}
    runs = sorted(bundles.values(), key=lambda bundle: (bundle.created_at, bundle.run_id))
    described = [_describe(bundle) for bundle in runs]
    names = dict.fromkeys(name for properties in described for name in properties)
    rows = tuple((short(name), tuple(Cell(short(each.get(name, "–"))) for each in described)) for name in names)
    return Table("Environment", ("property", *(short(bundle.run_id) for bundle in runs)), rows)


def _describe(bundle: Bundle) -> dict[str, str]:
    """Property -> what it was, in words."""
    results = list(bundle.results.values())
    conditions = [result.conditions for result in results if result.conditions]
    machine = bundle.environment
    return {
        "date": date(bundle.created_at),
        "bench": _commit(bundle),
        "processor": _text(machine.get("cpu")),
        "processors usable": _each(", ".join(map(str, found.affinity)) for found in conditions),
        "memory": _gib(machine.get("memory_total_bytes")),
        "kernel": " ".join(_text(machine.get(key)) for key in ("system", "kernel", "architecture")),
        "frequency governor": ", ".join(map(str, machine.get("governors") or ())) or UNKNOWN,
        "turbo": _switch(machine.get("turbo")),
        "simultaneous multithreading": _switch(machine.get("smt")),
        "device": _each(found.device for found in conditions),
        "Python": _each(found.python for found in conditions),
        "threads asked for": _each(str(found.threads_asked) for found in conditions),
        "isolation": _each(found.isolation for found in conditions),
        "items": _each(_items(result) for result in results),
        **_versions(results, conditions),
        **_locks(results),
    }


def _commit(bundle: Bundle) -> str:
    commit = bundle.environment.get("git_commit")
    if not commit:
        return "at an unknown commit"
    changed = ", with uncommitted changes" if bundle.environment.get("git_dirty") else ""
    return f"{str(commit)[:HASH_DIGITS]}{changed}"


def _items(result: Result) -> str:
    data = result.dataset
    return f"{data.num_items} of {short(data.name)}, fingerprint {data.fingerprint[:HASH_DIGITS]}"


def _versions(results: Sequence[Result], conditions: Sequence[Conditions]) -> dict[str, str]:
    """The measured libraries first, then what they share."""
    own = {f"version of {r.library}": next(iter(r.versions.values()), UNKNOWN) for r in results}
    packages = sorted({package for found in conditions for package in found.shared_versions})
    shared = {
        f"version of {package}": _each(f.shared_versions[package] for f in conditions if package in f.shared_versions)
        for package in packages
    }
    return own | {name: text for name, text in shared.items() if name not in own}


def _locks(results: Sequence[Result]) -> dict[str, str]:
    groups = {result.group for result in results}
    return {
        f"lock of {group}": _each(
            (r.conditions.lock_sha256 or "none")[:HASH_DIGITS] for r in results if r.group == group and r.conditions
        )
        for group in sorted(groups)
    }


def _each(texts: Iterable[str]) -> str:
    """The different ones, in order of appearance: one where all agree."""
    return "; ".join(dict.fromkeys(texts)) or UNKNOWN


def _text(value: object) -> str:
    return UNKNOWN if value is None else str(value)


def _switch(value: object) -> str:
    if not isinstance(value, bool):
        return UNKNOWN
    return "on" if value else "off"


def _gib(value: object) -> str:
    return f"{number(value / GIB, 1)}{SPACE}GiB" if isinstance(value, int) else UNKNOWN
