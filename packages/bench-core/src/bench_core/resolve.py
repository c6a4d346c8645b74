"""From what was said to one configuration: names checked, choices narrowed, everything in the matrix's order.

`groups` narrows `libraries`, and `media` narrows `scenarios`. Where both are said, a library outside the groups is
narrowed away if the groups come from a stronger source (`--group` over a profile), and a mistake otherwise.
A choice typed on the command line that can have no effect is a mistake; in a file it is shown by the plan.
"""

import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from bench_core import policy, suggest
from bench_core.catalog import Catalog
from bench_core.config import ALL, Config
from bench_core.errors import BenchError
from bench_core.invocation import command
from bench_core.matrix import Matrix
from bench_core.settings import Names, Said, Settings
from bench_core.support import offered

NO_PROFILE = "default"
_PLAIN = (
    "num_runs",
    "blocks",
    "processes",
    "threads",
    "seed",
    "isolation",
    "skip_unreadable",
    "slow_threshold_sec",
    "disable_slow_skip",
    "timeout_sec",
    "memory_limit_bytes",
)


def resolve(matrix: Matrix, catalog: Catalog, root: Path, settings: Settings) -> Config:
    """The configuration that `settings` describe; what they leave out is all of the matrix, or policy's default.

    Raises:
        BenchError: a name is unknown, a choice does not apply, or a value is out of range.
    """
    libraries = _libraries(matrix, settings)
    groups = tuple(name for name, group in matrix.groups.items() if set(libraries) & set(group.libraries))
    scenarios = _scenarios(matrix, settings, groups)
    values = {key: said.value for key, said in settings.items() if key in _PLAIN}
    if "num_items" in settings:
        items = settings["num_items"].value
        values["num_items"] = None if items == ALL else items
    if "data_dir" in settings:
        values["data_dir"] = _folder(root, settings["data_dir"])
    if sys.platform != "linux":  # elsewhere a process that loaded these libraries cannot be forked safely
        values.setdefault("isolation", "spawn")
    try:
        return Config(
            profile=settings["profile"].value if "profile" in settings else NO_PROFILE,
            groups=groups,
            libraries=libraries,
            scenarios=scenarios,
            modes=_modes(matrix, settings, scenarios),
            device=_device(matrix, settings),
            transforms=_transforms(matrix, catalog, settings, libraries, scenarios),
            **values,
        )
    except ValueError as error:
        raise BenchError(f"configuration: {error}") from error


def _names(settings: Settings, key: str, kind: str, known: Collection[str], hint: str = "") -> Names | None:
    """The names said under `key`, all of them known; None when nothing was said."""
    said = settings.get(key)
    if said is None:
        return None
    if not said.value:
        raise BenchError(f"{said.source}: {key} is empty; name at least one {kind}, or leave it out to mean all")
    for name in said.value:
        if name not in known:
            raise suggest.unknown(kind, name, known, source=said.source, hint=hint)
    return tuple(said.value)


def _libraries(matrix: Matrix, settings: Settings) -> Names:
    owners = {library: group for group, found in matrix.groups.items() for library in found.libraries}
    _names(settings, "groups", "group", matrix.groups)
    _names(settings, "libraries", "library", owners)
    return _narrowed(settings, "groups", "libraries", ("group", "library"), owners)


def _scenarios(matrix: Matrix, settings: Settings, groups: Names) -> Names:
    owners = {name: scenario.media for name, scenario in matrix.scenarios.items()}
    offers = {media for group in matrix.groups.values() for media in group.media}
    _names(settings, "media", "media", _unique([*owners.values(), *sorted(offers)]))
    _names(settings, "scenarios", "scenario", owners)
    scenarios = _narrowed(settings, "media", "scenarios", ("media", "scenario"), owners)
    typed = next((settings[key] for key in ("scenarios", "media") if key in settings and settings[key].typed), None)
    for name in scenarios:
        media = owners[name]
        if typed and not any(media in matrix.groups[group].media for group in groups):
            raise BenchError(f"{typed.source}: no chosen group ({', '.join(groups)}) offers media {media!r}")
    return scenarios


def _narrowed(settings: Settings, narrow: str, choose: str, kinds: tuple[str, str], owners: Mapping[str, str]) -> Names:
    """The names of `owners` that were chosen and whose owner was not narrowed away, in the matrix's order."""
    narrowing, choice = settings.get(narrow), settings.get(choose)
    kept = tuple(
        name
        for name, owner in owners.items()
        if (choice is None or name in choice.value) and (narrowing is None or owner in narrowing.value)
    )
    if narrowing is None:
        return kept
    allowed = ", ".join(narrowing.value)
    lost = [name for name in choice.value if name not in kept] if choice else []
    if choice and lost and (not kept or choice.rank >= narrowing.rank):
        raise BenchError(
            f"{choice.source}: {kinds[1]} {lost[0]!r} is of {kinds[0]} {owners[lost[0]]!r}, "
            f"but {narrowing.source} allows only {allowed}; change one of the two"
        )
    if not kept:
        raise BenchError(f"{narrowing.source}: no {kinds[1]} of the matrix is of {kinds[0]} {allowed}")
    return kept


def _modes(matrix: Matrix, settings: Settings, scenarios: Names) -> Names:
    known = _unique(mode for scenario in matrix.scenarios.values() for mode in scenario.modes)
    chosen = _names(settings, "modes", "mode", known)
    offers = {mode for name in scenarios for mode in matrix.scenarios[name].modes}
    if chosen is not None:
        said = settings["modes"]
        lost = [mode for mode in chosen if mode not in offers]
        if lost and (said.typed or len(lost) == len(chosen)):
            raise BenchError(
                f"{said.source}: mode {lost[0]!r} does not apply to {', '.join(scenarios)}, "
                f"which has: {', '.join(mode for mode in known if mode in offers)}"
            )
    return tuple(mode for mode in known if mode in offers and (chosen is None or mode in chosen))


def _device(matrix: Matrix, settings: Settings) -> str:
    said = settings.get("device")
    if said is None:
        return policy.DEVICE
    known = _unique(device for group in matrix.groups.values() for device in group.devices)
    if said.value not in known:
        raise suggest.unknown("device", said.value, known, source=said.source)
    return str(said.value)


def _transforms(matrix: Matrix, catalog: Catalog, settings: Settings, libraries: Names, scenarios: Names) -> Names:
    named, by_set = settings.get("transforms"), settings.get("transform_set")
    if named and by_set and named.rank == by_set.rank:
        raise BenchError(
            f"{by_set.source}: transform_set does not go with transforms ({named.source}); leave one of them out"
        )
    if by_set and (named is None or by_set.rank > named.rank):
        return _transforms_of_set(catalog, by_set, scenarios)
    chosen = _names(settings, "transforms", "transform", catalog.transforms, command("list", "transforms"))
    if chosen is None:
        return tuple(catalog.transforms)
    if settings["transforms"].typed:
        _require_supporters(matrix, catalog, settings["transforms"], libraries, scenarios)
    return tuple(name for name in catalog.transforms if name in chosen)


def _transforms_of_set(catalog: Catalog, said: Said, scenarios: Names) -> Names:
    if said.value not in catalog.sets:
        raise suggest.unknown("transform set", said.value, catalog.sets, source=said.source)
    by_scenario = catalog.sets[said.value]
    chosen = {name for scenario in scenarios for name in by_scenario.get(scenario, ())}
    if not chosen:
        raise BenchError(
            f"{said.source}: transform set {said.value!r} has nothing for {', '.join(scenarios)}; "
            f"it is for {', '.join(by_scenario)}"
        )
    return tuple(name for name in catalog.transforms if name in chosen)


def _require_supporters(matrix: Matrix, catalog: Catalog, said: Said, libraries: Names, scenarios: Names) -> None:
    offers = [offered(matrix, catalog, library, scenario) for library in libraries for scenario in scenarios]
    for name in said.value:
        if any(name in offer for offer in offers):
            continue
        others = [
            library
            for library in matrix.all_libraries()
            if any(name in offered(matrix, catalog, library, scenario) for scenario in scenarios)
        ]
        advice = f"it is offered by {', '.join(others)}" if others else "no library of the matrix does"
        raise BenchError(f"{said.source}: {name} is not offered by {', '.join(libraries)}; {advice}")


def _folder(root: Path, said: Said) -> str:
    """An absolute path. In a file a relative one starts at the root; a flag was made absolute where it was typed."""
    if not said.value:
        raise BenchError(f"{said.source}: data_dir is empty; leave it out to mean the embedded sample")
    try:
        folder = str((root / Path(said.value).expanduser()).resolve())
        folder.encode()  # a file cannot hold a name that is no text
        return folder
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, no such home, a zero byte
        raise BenchError(f"{said.source}: {said.value}: {error}") from error


def _unique(names: Iterable[str]) -> Names:
    return tuple(dict.fromkeys(names))
