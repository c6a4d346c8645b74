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
from bench_core.metrics import BUILT_IN, is_built_in
from bench_core.scores import TARGETS

from bench_score.label import check_labels
from bench_score.label_units import LabelUnits
from bench_score.metrics import MetricFile, registered_metrics
from bench_score.model import Entry
from bench_score.reading import assign, read_table
from bench_score.shorthands import energies, metric_pairs
from bench_score.units import KNOWN, PER_ATOM

FILES = ("test", "val", "train")  # keys of `data`
FORMATS = ("csv", "json", "md")
DEVICES = ("cpu", "gpu")
# Keys of `data` that a dataset with a name has no use for.
OF_FILES = frozenset(
    {
        *("energy", "forces", "stress", "group", "reference"),
        *("energy_unit", "forces_unit", "stress_unit", "stress_sign"),
    }
)
# Files of a run that a table must not be called, and how a file is called that is read as a result.
RESERVED = frozenset({"environment", "resolved_config", "committed"})
RESULTS = "_results"
BESIDE = ("_low", "_high", "_num_structures")  # columns that stand beside a metric's own
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
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
    raw = read_table(path, str(path))
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
    pairs = metric_pairs(values.pop("metrics", None), values.pop("targets", None), source)
    try:
        values["atomic_energies"] = energies(values.pop("atomic_energies", None), values.pop("species", None))
        config = msgspec.convert({**values, "metrics": pairs}, ScoreConfig)
    except (msgspec.ValidationError, ValueError) as error:
        raise BenchError(f"{source}: {error}") from error
    _check(config, source)
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


def _check(config: ScoreConfig, source: str) -> None:
    if not _NAME.fullmatch(config.name):
        raise BenchError(
            f"{source}: name = {config.name!r}: only letters, digits, '.', '_' and '-' (it names a folder)"
        )
    if not config.models:
        raise BenchError(f"{source}: models is empty; name at least one")
    check_labels([model.label for model in config.models], source)
    _check_metrics(config, source)
    _check_data(config.data, source)
    if config.device not in DEVICES:
        raise suggest.unknown("device", config.device, DEVICES, source=source)
    if isinstance(config.atomic_energies, str) and config.atomic_energies not in {"average", "group"}:
        raise suggest.unknown("atomic_energies", config.atomic_energies, ["average", "group"], source=source)
    for name, value, least in (
        *(("threads", config.threads, 1), ("seed", config.seed, 0), ("timeout_sec", config.timeout_sec, 1)),
        ("memory_limit_bytes", 1 if config.memory_limit_bytes is None else config.memory_limit_bytes, 1),
    ):
        if not least <= value < 2**62:
            raise BenchError(f"{source}: {name} = {value}: must be at least {least}")
    _check_units(config, source)
    _check_output(config.output, source)


def _check_units(config: ScoreConfig, source: str) -> None:
    for target, unit in config.units.items():
        if target not in TARGETS:
            raise suggest.unknown("target", target, TARGETS, source=f"{source}: units")
        if (unit.removesuffix(PER_ATOM) if target == "energy" else unit) not in KNOWN[target]:
            raise suggest.unknown("unit", unit, KNOWN[target], source=f"{source}: units.{target}")
        if unit.endswith(PER_ATOM) and not config.energy_per_atom:
            raise BenchError(f"{source}: units.{target} = {unit!r}, and energy_per_atom is false; leave {PER_ATOM} out")


def _check_output(output: OutputConfig, source: str) -> None:
    name = output.filename
    if not _NAME.fullmatch(name):
        raise BenchError(f"{source}: output.filename = {name!r}: a plain name without folders")
    if name.lower() in RESERVED or name.lower().endswith(RESULTS):
        raise BenchError(f"{source}: output.filename = {name!r}: the run has files of its own that are called so")


def _check_metrics(config: ScoreConfig, source: str) -> None:
    own = [metric.name for metric in config.custom_metrics]
    for name in own:
        if is_built_in(name) or not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name.endswith(BESIDE):
            raise BenchError(
                f"{source}: custom metric {name!r}: small letters, digits and '_', no built-in metric's name, and none "
                f"that ends with {', '.join(BESIDE)}"
            )
    for metric in config.custom_metrics:
        module, colon, function = metric.function.partition(":")
        if not (colon and all(part.isidentifier() for part in (*module.split("."), function))):
            raise BenchError(f"{source}: custom metric {metric.name!r}: function is written module:function")
        if metric.unit is not None and not metric.unit.isprintable():
            raise BenchError(f"{source}: custom metric {metric.name!r}: unit {metric.unit!r} is not a line of text")
    if len(set(own)) < len(own):
        raise BenchError(f"{source}: two custom metrics have one name")
    for target, name in config.metrics:
        if target not in TARGETS:
            raise suggest.unknown("target", target, TARGETS, source=f"{source}: metrics")
        known = [*BUILT_IN, *own, *registered_metrics()]
        if not is_built_in(name) and name not in known:
            raise suggest.unknown("metric", name, [*known, "q95"], source=f"{source}: metrics")
    repeated = [pair for pair in config.metrics if config.metrics.count(pair) > 1]
    if repeated:
        raise BenchError(f"{source}: metrics: {' '.join(repeated[0])} is there twice")


def _check_data(data: DataConfig, source: str) -> None:
    if data.name is None and data.path is None:
        raise BenchError(f"{source}: data: say which: name = 'dcdft', or test = 'FILE' (else val, else train)")
    if data.name is not None and data.path is not None:
        raise BenchError(f"{source}: data: name and a file are both said; leave one out")
    for field in msgspec.structs.fields(DataConfig):
        if data.name is not None and field.name in OF_FILES and getattr(data, field.name) != field.default:
            raise BenchError(f"{source}: data.{field.name} says how a file is read; {data.name!r} is none")
    for name, value in (("batch_size", data.batch_size), ("workers", data.workers)):
        if not 1 <= value <= 10**6:
            raise BenchError(f"{source}: data.{name} = {value}: must be at least 1")
    try:
        data.label_units()
    except BenchError as error:
        raise BenchError(f"{source}: {error}") from error


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
    return {**read_table(path, f"{where}: {path}"), **{key: value for key, value in said.items() if key != "config"}}


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(found) for key, found in value.items() if found is not None}
    if isinstance(value, list | tuple):
        return [_without_none(found) for found in value]
    return value
