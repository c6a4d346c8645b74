"""What is scored and how: one file (TOML, or YAML), checked whole, with the nearest valid name for a wrong one.

Relative paths start at the file's own folder. `--set a.b=c` replaces one value before anything is checked.
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from bench_core import policy, suggest
from bench_core.errors import BenchError
from bench_core.files import sha256_bytes
from bench_core.scores import TARGETS

from bench_score.checks import check
from bench_score.label_units import LabelUnits
from bench_score.metrics import MetricFile
from bench_score.model import Entry
from bench_score.reading import assign, read

DEFAULT_METRICS: dict[str, list[str]] = {"energy": ["mae", "rmse"], "forces": ["mae", "rmse"], "stress": ["mae"]}
FILES = ("test", "val", "train")  # keys of `data`
FORMATS = ("csv", "json", "md")
BUILT_IN_FAMILY = "schnet"  # the family of models whose architecture is said in the configuration


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of the configuration's tables."""


class ModelConfig(Strict, frozen=True):
    """One entry of `models`: one row of the table."""

    label: str
    family: str = BUILT_IN_FAMILY
    checkpoint: str | None = None  # a name that the family knows, or a path
    options: dict[str, Any] = {}
    architecture: dict[str, Any] | None = None
    level_of_theory: str | None = None


class DataConfig(Strict, frozen=True):
    """Which structures: a dataset's `name`, or a file: `test`, else `val`, else `train`."""

    name: str | None = None
    test: str | None = None
    val: str | None = None
    train: str | None = None
    energy: str | None = None  # key names; None is what ASE itself recognises
    forces: str | None = None
    stress: str | None = None
    group: str | None = None
    reference: str | None = None
    energy_unit: str = "eV"
    forces_unit: str = "eV/A"
    stress_unit: str = "eV/A^3"
    stress_sign: int = 1  # -1 where the file counts compression positive
    level_of_theory: str | None = None
    batch_size: int = policy.SCORE_BATCH_SIZE
    workers: int = 1  # threads that build neighbour lists

    @property
    def path(self) -> str | None:
        return self.test or self.val or self.train

    def label_units(self) -> LabelUnits:
        """What the file's numbers mean.

        Raises:
            BenchError: an unknown unit or sign.
        """
        return LabelUnits(
            energy=self.energy_unit, forces=self.forces_unit, stress=self.stress_unit, stress_sign=self.stress_sign
        )


class OutputConfig(Strict, frozen=True):
    dir: str | None = None
    filename: str = "scores"
    formats: tuple[str, ...] = FORMATS


class ScoreConfig(Strict, frozen=True):
    """A checked configuration. `metrics` are pairs of target and metric, in the order of the table's columns.

    `atomic_energies` is a number, a table by element, "average", "group", or None (see bench_score.baseline).
    """

    name: str
    models: tuple[ModelConfig, ...]
    metrics: tuple[tuple[str, str], ...]
    data: DataConfig
    custom_metrics: tuple[MetricFile, ...] = ()
    atomic_energies: float | dict[str, float] | str | None = None
    energy_per_atom: bool = True
    units: dict[str, str] = {}
    output: OutputConfig = OutputConfig()
    device: str = "cpu"
    threads: int = policy.THREADS
    timeout_sec: float = policy.SCORE_SILENCE_SEC  # a model that finishes no batch for so long is given up
    memory_limit_bytes: int | None = None  # of each model's process; None shares out what is free (on the CPU)
    seed: int = policy.SEED
    trust_checkpoint: bool = False

    def entries(self) -> tuple[Entry, ...]:
        """What the families get, in the order of the configuration."""
        return tuple(
            Entry(
                label=model.label,
                family=model.family,
                checkpoint=model.checkpoint,
                options=model.options,
                architecture=model.architecture,
                level_of_theory=model.level_of_theory,
                trust_checkpoint=self.trust_checkpoint,
            )
            for model in self.models
        )


_TABLES: dict[str, type[msgspec.Struct]] = {
    "models": ModelConfig,
    "data": DataConfig,
    "output": OutputConfig,
    "custom_metrics": MetricFile,
}


def load_config(path: Path, assignments: Sequence[str] = ()) -> ScoreConfig:
    """Read a configuration file, with the values of `--set a.b=c` replaced.

    Raises:
        BenchError: it cannot be read, or says something unknown or impossible.
    """
    try:
        raw = read(path)
    except OSError as error:
        raise BenchError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise BenchError(f"{path}: {error}") from error
    if not isinstance(raw, dict):
        raise BenchError(f"{path}: holds no table of keys and values")
    for text in assignments:
        assign(raw, text)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-.") or "scores"
    return parse_config({"name": name, **raw}, base=path.absolute().parent, source=str(path))


def parse_config(raw: Mapping[str, Any], *, base: Path, source: str = "configuration") -> ScoreConfig:
    """Check what was said; relative paths start at `base`.

    Raises:
        BenchError: an unknown key, a value of a wrong type, or two that contradict each other.
    """
    values = dict(raw)
    _refuse_unknown(values, ScoreConfig, source)
    _refuse_infinite(values, source)
    pairs = _metric_pairs(values.pop("metrics", None), values.pop("targets", None), source)
    try:
        values["atomic_energies"] = _energies(values.pop("atomic_energies", None), values.pop("species", None))
        config = msgspec.convert({**values, "metrics": pairs}, ScoreConfig)
    except (msgspec.ValidationError, ValueError) as error:
        raise BenchError(f"{source}: {error}") from error
    check(config, source)
    return _with_whole_paths(config, base, source)


def config_sha256(config: ScoreConfig) -> str:
    """Digest of everything that decides the rows; where they are written and in which format does not.

    Files count by their names, so that a folder that was copied makes the same run; what is in them counts by the
    data's fingerprint and by bench_score.identity.
    """
    deciding = {name: value for name, value in msgspec.to_builtins(config).items() if name not in {"output", "name"}}
    for kind in FILES:
        deciding["data"][kind] = _file_name(deciding["data"][kind])
    for model in deciding["models"]:
        model["checkpoint"] = _file_name(model["checkpoint"])
    for metric in deciding["custom_metrics"]:
        metric["folder"] = None
    return sha256_bytes(msgspec.json.encode(deciding, order="sorted"))


def _file_name(path: str | None) -> str | None:
    return None if path is None else Path(path).name


def dump_config(config: ScoreConfig) -> str:
    """The text of resolved_config.toml; it can be run again as it is."""
    import tomli_w

    header = "# Everything this run was asked to do. The same run again: bench score --config resolved_config.toml\n\n"
    return header + tomli_w.dumps(_without_none(msgspec.to_builtins(config)))


def _refuse_unknown(values: Mapping[str, Any], kind: type[msgspec.Struct], where: str) -> None:
    """Every key of every table has to be known: a misspelt one would otherwise mean its default."""
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    extra = ("targets", "species") if kind is ScoreConfig else ()
    for key, value in values.items():
        if key not in fields:
            if key in extra:
                continue
            known = [*fields, *extra]
            raise suggest.unknown("key", str(key), known, source=where, hint="docs/scoring.md")
        if key in _TABLES and kind is ScoreConfig:
            for number, table in enumerate(value if isinstance(value, list | tuple) else [value]):
                if isinstance(table, Mapping):
                    place = f"{key}[{number}]" if isinstance(value, list | tuple) else key
                    _refuse_unknown(table, _TABLES[key], f"{where}: {place}")


def _refuse_infinite(value: Any, source: str) -> None:
    """Models are told by JSON, in which there is neither an infinite number nor one that is none."""
    if isinstance(value, float) and not math.isfinite(value):
        raise BenchError(f"{source}: {value} is no finite number; leave it out, or write a number")
    if isinstance(value, Mapping | list | tuple):
        for below in value.values() if isinstance(value, Mapping) else value:
            _refuse_infinite(below, source)


def _metric_pairs(said: Any, targets: Any, source: str) -> list[tuple[str, str]]:
    """Pairs of target and metric, from a table, from pairs, or from flat lists of both."""
    if targets is not None and not _is_names(targets):
        raise BenchError(f"{source}: targets: write a list of names, such as targets = ['energy', 'forces']")
    if said is None:
        said = {target: DEFAULT_METRICS.get(target, ["mae"]) for target in targets or DEFAULT_METRICS}
        targets = None
    if isinstance(said, str):
        said = [said]
    if isinstance(said, Mapping):
        if targets is not None:
            raise BenchError(f"{source}: metrics says its targets itself; leave targets out")
        table = {str(target): [names] if isinstance(names, str) else names for target, names in said.items()}
        if table and all(_is_names(names) for names in table.values()):
            return [(target, name) for target, names in table.items() for name in names]
    elif _is_names(said):
        return [(target, name) for target in targets or TARGETS for name in said]
    elif said and isinstance(said, list | tuple) and all(_is_names(pair) and len(pair) == 2 for pair in said):
        if targets is not None:
            raise BenchError(f"{source}: metrics says its targets itself; leave targets out")
        return [(pair[0], pair[1]) for pair in said]
    raise BenchError(
        f"{source}: metrics: write a table (metrics = {{energy = ['mae']}}), pairs (metrics = [['energy', 'mae']]) "
        "or a list of names (metrics = ['mae'], with targets = ['energy'])"
    )


def _is_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(name, str) for name in value)


def _energies(said: Any, species: Any) -> Any:
    """What was said, as a table by element where it was a list in the order of `species`.

    Raises:
        ValueError: the list and the species do not fit, or an element does not exist.
    """
    from ase.data import chemical_symbols

    if isinstance(said, list):
        if not _is_names(species) or not len(species) == len(said) == len(set(species)):
            raise ValueError(
                f"atomic_energies is a list of {len(said)}; species has to name its {len(said)} elements, in order"
            )
        said = dict(zip(species, said, strict=True))
    elif species is not None:
        raise ValueError("species belongs to a list of atomic_energies; leave it out")
    if isinstance(said, Mapping):
        for element in said:
            if element not in chemical_symbols[1:]:
                raise ValueError(f"atomic_energies: {element!r} is no element")
    return said


def _with_whole_paths(config: ScoreConfig, base: Path, source: str) -> ScoreConfig:
    """The same with absolute paths, and architectures read from the files they are in."""

    def whole(path: str) -> str:
        return str(_expanded(path, base, source).absolute())

    def model_of(model: ModelConfig) -> ModelConfig:
        checkpoint = model.checkpoint
        if checkpoint is not None and ("/" in checkpoint or (base / checkpoint).is_file()):
            checkpoint = whole(checkpoint)
        return msgspec.structs.replace(model, checkpoint=checkpoint, architecture=_architecture(model, base, source))

    def metric_of(metric: MetricFile) -> MetricFile:
        if metric.folder is not None:
            return msgspec.structs.replace(metric, folder=whole(metric.folder))
        top = base / metric.function.partition(":")[0].split(".")[0]
        beside = top.is_dir() or top.with_suffix(".py").is_file()
        return msgspec.structs.replace(metric, folder=str(base.absolute())) if beside else metric

    files = {key: whole(path) for key in FILES if (path := getattr(config.data, key))}
    output = config.output
    if output.dir is not None:
        output = msgspec.structs.replace(output, dir=whole(output.dir))
    return msgspec.structs.replace(
        config,
        models=tuple(model_of(model) for model in config.models),
        data=msgspec.structs.replace(config.data, **files),
        custom_metrics=tuple(metric_of(metric) for metric in config.custom_metrics),
        output=output,
    )


def _expanded(path: str, base: Path, source: str) -> Path:
    try:
        return base / Path(path).expanduser()
    except RuntimeError as error:
        raise BenchError(f"{source}: {path}: there is no such home folder; write it out") from error


def _architecture(model: ModelConfig, base: Path, source: str) -> dict[str, Any] | None:
    """The table itself, or what the file says that it names by `config`."""
    said = model.architecture
    if said is None or "config" not in said:
        return said
    where = f"{source}: model {model.label!r}: architecture"
    path = _expanded(str(said["config"]), base, where)
    try:
        found = read(path)
    except OSError as error:
        raise BenchError(f"{where}: {path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise BenchError(f"{where}: {path}: {error}") from error
    if not isinstance(found, dict):
        raise BenchError(f"{where}: {path}: holds no table of keys and values")
    return {**found, **{key: value for key, value in said.items() if key != "config"}}


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(found) for key, found in value.items() if found is not None}
    if isinstance(value, list | tuple):
        return [_without_none(found) for found in value]
    return value
