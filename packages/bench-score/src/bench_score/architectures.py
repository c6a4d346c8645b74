"""The family of registered architectures: the module a configuration names, with the weights of a checkpoint."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch
from bench_core.errors import BenchError, ExitCode
from bench_core.suggest import unknown
from torch import Tensor, nn

import bench_score.schnet  # noqa: F401  registers itself
from bench_score.checkpoint import read_checkpoint
from bench_score.force_stress import ForceStressOutput
from bench_score.model import Entry
from bench_score.registry import Builder, find_architecture

# Checkpoints that come inside this package, by the name a configuration gives them.
SHIPPED = {"schnet-ethanol-xtb": Path(__file__).with_name("data") / "schnet-ethanol-xtb.safetensors"}
OPTIONS = ("dtype",)
ARCHITECTURE = "architecture"  # key of an embedded configuration
FEW = 3  # as many names of tensors are spelt out in a message


class Chosen(NamedTuple):
    """An architecture: its name, its arguments and the place that says so, for messages."""

    name: str
    arguments: dict[str, Any]
    source: str


class Architectures:
    """Builds a registered architecture and loads an entry's checkpoint into it.

    The configuration embedded in the checkpoint decides where it has a table "architecture"; else `entry.architecture`
    does: a table with `name` and arguments (bench_score.config reads it from a file where one is named). `name` is
    registered (bench_score.registry.register_model) or, in a configuration, "module:builder"; a checkpoint cannot name
    a module. An option `dtype` ("float32", "float64") replaces that argument.
    """

    distributions = ("torch", "torch-geometric")

    def load(self, entry: Entry, device: str) -> ForceStressOutput:
        """See `bench_score.model.Family`.

        Raises:
            BenchError: the checkpoint cannot be read or needs trust; the architecture is not said, unknown or said
                twice differently; its arguments are wrong; the weights do not fit; or the device is not there.
        """
        for name in entry.options:
            if name not in OPTIONS:
                raise unknown("option", name, OPTIONS, source=f"model {entry.label!r}")
        _check_device(device)
        path = _path_of(entry)
        checkpoint = read_checkpoint(path, trust=entry.trust_checkpoint)
        config = checkpoint.config or {}
        said = entry.level_of_theory or config.get("level_of_theory")
        chosen = _choose(entry, config.get(ARCHITECTURE), path)
        module = _builder_of(chosen)({**chosen.arguments, **entry.options})
        cutoff_angstrom = getattr(module, "cutoff_angstrom", None)
        if cutoff_angstrom is None:
            raise BenchError(f"architecture {chosen.name!r} does not say its cutoff_angstrom; give its module one")
        _load_weights(module, checkpoint.tensors, f"{path}: does not fit architecture {chosen.name!r}")
        return ForceStressOutput(
            module,
            cutoff_angstrom=cutoff_angstrom,
            elements=getattr(module, "elements", None),
            level_of_theory=None if said is None else str(said),
            device=device,
            checkpoint_sha256=checkpoint.sha256,
            trusted=checkpoint.trusted,
        )


def _check_device(device: str) -> None:
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise BenchError(f"unknown device {device!r}; known: cpu, cuda") from error
    if kind == "cuda" and not torch.cuda.is_available():
        raise BenchError("no cuda: torch finds no GPU on this machine; use the device cpu", ExitCode.NO_DEVICE)


def _path_of(entry: Entry) -> Path:
    if not entry.checkpoint:
        raise BenchError(
            f"model {entry.label!r} has no checkpoint; name a file, or one of those that come with the package: "
            f"{', '.join(SHIPPED)}"
        )
    if entry.checkpoint in SHIPPED:
        return SHIPPED[entry.checkpoint]
    path = Path(entry.checkpoint).expanduser()
    if len(path.parts) == 1 and not path.exists():
        raise unknown("checkpoint", entry.checkpoint, SHIPPED, source=f"model {entry.label!r}")
    return path


def _choose(entry: Entry, embedded: Any, path: Path) -> Chosen:
    """The architecture of a checkpoint's configuration, else of the entry; a contradiction is refused."""
    source = f"model {entry.label!r}, architecture"
    said = None if entry.architecture is None else _checked(entry.architecture, source, may_import=True)
    if embedded is None:
        if said is None:
            raise BenchError(
                f"model {entry.label!r}: {path} embeds no architecture; say it in the configuration, such as "
                'architecture = { name = "schnet", elements = ["H", "C", "O"] }'
            )
        return said
    found = _checked(embedded, f"{path}, the architecture it embeds")
    if said is not None:
        ours, theirs = ({"name": one.name, **one.arguments} for one in (said, found))
        for key, value in ours.items():
            if key not in theirs or theirs[key] != value:
                raise BenchError(
                    f"{said.source}: {key} = {value!r}, and the architecture that {path} embeds has "
                    f"{repr(theirs[key]) if key in theirs else 'none'}; leave architecture out, the checkpoint's counts"
                )
    return found


def _checked(table: Any, source: str, *, may_import: bool = False) -> Chosen:
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        raise BenchError(f"{source}: write a table with a name and the architecture's arguments")
    if ":" in table["name"] and not may_import:
        raise BenchError(f"{source}: {table['name']!r} names a module; only a configuration may do that")
    return Chosen(table["name"], {key: value for key, value in table.items() if key != "name"}, source)


def _builder_of(chosen: Chosen) -> Builder:
    if ":" not in chosen.name:
        return find_architecture(chosen.name, chosen.source)
    module, function = chosen.name.split(":", 1)
    try:
        builder: Builder = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise BenchError(f"{chosen.source}: {chosen.name!r} cannot be imported ({error})") from error
    return builder


def _load_weights(module: nn.Module, tensors: dict[str, Tensor], fault: str) -> None:
    """Copy tensors into the module by name; one that has several names there may come under any of them."""
    own = module.state_dict()
    given = {own[name].data_ptr() for name in tensors if name in own}
    missing = [name for name in own if name not in tensors and own[name].data_ptr() not in given]
    if missing:
        raise BenchError(f"{fault}: it lacks {_few(missing)}", ExitCode.DATA)
    surplus = [name for name in tensors if name not in own]
    if surplus:
        raise BenchError(f"{fault}: the architecture has no {_few(surplus)}", ExitCode.DATA)
    for name, tensor in tensors.items():
        if tensor.shape != own[name].shape:
            raise BenchError(
                f"{fault}: {name} has the shape {tuple(tensor.shape)}, {tuple(own[name].shape)} is needed",
                ExitCode.DATA,
            )
    module.load_state_dict(tensors, strict=False)


def _few(names: list[str]) -> str:
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
