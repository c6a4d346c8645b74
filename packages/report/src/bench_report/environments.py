"""The environment table: what each run was made on and with, a line per property and a column per run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from bench_core.bundle import Bundle
from bench_core.results import Conditions, Result
from bench_core.scores import ScoreResult

from bench_report.captions import date
from bench_report.figures import SPACE, number
from bench_report.sections import OfRuns
from bench_report.table import Cell, Table, short

HASH_DIGITS = 12
UNKNOWN = "not known"
GIB = 1024**3

Found = TypeVar("Found")


def environment_table(found: Sequence[OfRuns]) -> Table:
    """Every run behind some tables, oldest first."""
    bundles = {bundle.run_id: bundle for section in found for bundle in section.bundles}
    runs = sorted(bundles.values(), key=lambda bundle: (bundle.created_at, bundle.run_id))
    described = [_describe(bundle) for bundle in runs]
    names = dict.fromkeys(name for properties in described for name in properties)
    rows = tuple((short(name), tuple(Cell(short(each.get(name, "–"))) for each in described)) for name in names)
    return Table("Environment", ("property", *(short(bundle.run_id) for bundle in runs)), rows)


def _describe(bundle: Bundle) -> dict[str, str]:
    """Property -> what it was, in words."""
    results, scores = list(bundle.results.values()), list(bundle.scores.values())
    everything: list[Result | ScoreResult] = [*results, *scores]
    conditions = [found.conditions for found in everything if found.conditions]
    groups, families = _by(lambda result: result.group, results), _by(lambda score: score.family, scores)
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
        **({"items": _each(_items(result) for result in results)} if results else {}),
        **({"structures": _each(_structures(score) for score in scores)} if scores else {}),
        **_versions(results, [result.conditions for result in results if result.conditions]),
        **{f"packages of {family}": _packages(found) for family, found in families.items()},
        **_locks({**groups, **families}),
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


def _locks(by_group: Mapping[str, Sequence[Result | ScoreResult]]) -> dict[str, str]:
    return {
        f"lock of {group}": _each((r.conditions.lock_sha256 or "none")[:HASH_DIGITS] for r in found if r.conditions)
        for group, found in sorted(by_group.items())
    }


def _by(key: Callable[[Found], str], found: Iterable[Found]) -> dict[str, list[Found]]:
    """In order of appearance."""
    grouped: dict[str, list[Found]] = {}
    for each in found:
        grouped.setdefault(key(each), []).append(each)
    return grouped


def _structures(score: ScoreResult) -> str:
    data = score.data
    return f"{data.num_structures} of {short(data.name)}, fingerprint {data.fingerprint[:HASH_DIGITS]}"


def _packages(scores: Iterable[ScoreResult]) -> str:
    return _each(", ".join(f"{name} {version}" for name, version in score.versions.items()) for score in scores)


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
