"""What a configuration may say: each value by itself, and values that contradict each other."""

import re
from typing import TYPE_CHECKING

import msgspec
from bench_core import suggest
from bench_core.errors import BenchError
from bench_core.metrics import BUILT_IN, is_built_in
from bench_core.scores import TARGETS

from bench_score.label import check_labels
from bench_score.metrics import registered_metrics
from bench_score.units import KNOWN, PER_ATOM

if TYPE_CHECKING:
    from bench_score.config import DataConfig, OutputConfig, ScoreConfig

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


def check(config: "ScoreConfig", source: str) -> None:
    """Raises BenchError for what cannot be, or is unknown."""
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


def _check_units(config: "ScoreConfig", source: str) -> None:
    for target, unit in config.units.items():
        if target not in TARGETS:
            raise suggest.unknown("target", target, TARGETS, source=f"{source}: units")
        if (unit.removesuffix(PER_ATOM) if target == "energy" else unit) not in KNOWN[target]:
            raise suggest.unknown("unit", unit, KNOWN[target], source=f"{source}: units.{target}")
        if unit.endswith(PER_ATOM) and not config.energy_per_atom:
            raise BenchError(f"{source}: units.{target} = {unit!r}, and energy_per_atom is false; leave {PER_ATOM} out")


def _check_output(output: "OutputConfig", source: str) -> None:
    name = output.filename
    if not _NAME.fullmatch(name):
        raise BenchError(f"{source}: output.filename = {name!r}: a plain name without folders")
    if name.lower() in RESERVED or name.lower().endswith(RESULTS):
        raise BenchError(f"{source}: output.filename = {name!r}: the run has files of its own that are called so")


def _check_metrics(config: "ScoreConfig", source: str) -> None:
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


def _check_data(data: "DataConfig", source: str) -> None:
    if data.name is None and data.path is None:
        raise BenchError(f"{source}: data: say which: name = 'dcdft', or test = 'FILE' (else val, else train)")
    if data.name is not None and data.path is not None:
        raise BenchError(f"{source}: data: name and a file are both said; leave one out")
    for field in msgspec.structs.fields(type(data)):
        if data.name is not None and field.name in OF_FILES and getattr(data, field.name) != field.default:
            raise BenchError(f"{source}: data.{field.name} says how a file is read; {data.name!r} is none")
    for name, value in (("batch_size", data.batch_size), ("workers", data.workers)):
        if not 1 <= value <= 10**6:
            raise BenchError(f"{source}: data.{name} = {value}: must be at least 1")
    try:
        data.label_units()
    except BenchError as error:
        raise BenchError(f"{source}: {error}") from error
