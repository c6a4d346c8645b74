"""What parts must have in common to stand in one table: the engine's code, and all that a row was made by besides.

The second is a table of digests by name ("lock of mlip_chgnet"), so that a message can say what differs. A name that
only one side knows is not compared: a launcher knows no lock, and a merge elsewhere may not have the checkpoints.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import bench_core
from bench_core.files import sha256_bytes, sha256_file

import bench_score
from bench_score.config import ScoreConfig
from bench_score.metrics import MetricFile
from bench_score.model import Entry
from bench_score.registry import FAMILIES

MadeBy = dict[str, str]
UNMANAGED = "not managed"  # in place of a lock's digest, where an environment is somebody else's


def code_sha256() -> str:
    """Digest of the engine: every source file of bench_core and bench_score, wherever they are installed."""
    folders = [Path(next(iter(package.__path__))) for package in (bench_core, bench_score)]
    return sha256_bytes("\n".join(sorted(line for folder in folders for line in _lines(folder))).encode())


def made_by(
    config: ScoreConfig,
    entries: Sequence[Entry],
    locks: Mapping[str, str | None] | None = None,
    packages: Mapping[str, Path] | None = None,
) -> MadeBy:
    """Digests of what rows of these entries are made by, as far as this process can know.

    `locks` are the families' (None: not managed, which is also what is taken where nothing is said); `packages` the
    folders of their sources, looked up in this Python where nothing is said.
    """
    found = made_by_files(config, entries)
    for family in dict.fromkeys(entry.family for entry in entries):
        found[f"lock of {family}"] = (locks or {}).get(family) or UNMANAGED
        folder = (packages or {}).get(family) or package_of(family)
        if folder is not None:
            found[f"package of {family}"] = _sha256(folder)
    return found


def made_by_files(config: ScoreConfig, entries: Sequence[Entry]) -> MadeBy:
    """Digests of the files that a configuration names: checkpoints, and modules of metrics."""
    found = {}
    for entry in entries:
        path = Path(entry.checkpoint or "")
        if path.is_absolute() and path.is_file():  # not a name that the family knows
            found[f"checkpoint of {entry.label}"] = sha256_file(path)
    for metric in config.custom_metrics:
        module = _module_of(metric)
        if module is not None:
            found[f"metric {metric.name}"] = _sha256(module)
    return found


def package_of(family: str) -> Path | None:
    """The folder of the package that offers a family in this Python."""
    found = [entry.module.partition(".")[0] for entry in entry_points(group=FAMILIES) if entry.name == family]
    return _installed(found[0]) if found else None


def _module_of(metric: MetricFile) -> Path | None:
    name = metric.function.partition(":")[0].partition(".")[0]
    if metric.folder is None:
        return _installed(name)
    beside = Path(metric.folder) / name
    module = beside if beside.is_dir() else beside.with_suffix(".py")
    return module if module.exists() else None


def _installed(name: str) -> Path | None:
    """A package's folder, or a module's file."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)


def _sha256(path: Path) -> str:
    return sha256_file(path) if path.is_file() else sha256_bytes("\n".join(_lines(path)).encode())


def _lines(folder: Path) -> list[str]:
    """One line for each source file, in order. They are those of the folder's own name, wherever it lies."""
    found = (path for suffix in ("py", "toml") for path in folder.rglob(f"*.{suffix}"))
    return sorted(f"{path.relative_to(folder.parent).as_posix()} {sha256_file(path)}" for path in found)
