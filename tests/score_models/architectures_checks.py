"""The family of registered architectures: what decides the architecture, and weights that do not fit."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from bench_core.errors import ExitCode
from bench_score.architectures import Architectures
from bench_score.force_stress import ForceStressOutput
from bench_score.model import Entry
from bench_score.registry import find_family, register_model
from bench_score.schnet import SchNetEnergy
from examples import (
    ALL,
    CUTOFF_ANGSTROM,
    ELEMENTS,
    SMALL,
    LennardJones,
    energy_ev,
    ethanol,
    predict,
    refusal,
    salt,
    small_model,
    small_schnet,
    to_item,
)
from safetensors.torch import save_file
from torch import nn

ARCHITECTURE = {"name": "schnet", "elements": ELEMENTS, "cutoff_angstrom": CUTOFF_ANGSTROM, "dtype": "float64", **SMALL}


@register_model("lennard-jones")
def _lennard_jones(arguments: dict[str, Any]) -> nn.Module:
    module = LennardJones(3.4, 0.01, float(arguments.get("cutoff_angstrom", 6.0)))
    module.register_buffer("scale", torch.ones(1))
    return module


@register_model("no-cutoff")
def _no_cutoff(arguments: dict[str, Any]) -> nn.Module:
    return nn.Linear(1, 1)


def the_family_is_found_by_its_name() -> None:
    assert type(find_family("schnet")) is Architectures


def the_configuration_in_a_checkpoint_decides_the_architecture(folder: Path) -> None:
    path = _saved(folder, config={"architecture": ARCHITECTURE, "level_of_theory": "r2SCAN"})
    model = _load(path)
    _assert_same(model, small_model())
    assert model.cutoff_angstrom == CUTOFF_ANGSTROM
    assert model.elements == {1, 6, 8, 11, 13, 17}
    assert model.level_of_theory == "r2SCAN"
    assert model.checkpoint_sha256
    assert not model.trusted
    assert _load(path, level_of_theory="PBE").level_of_theory == "PBE"
    _assert_same(_load(path, architecture={"name": "schnet", **SMALL}), small_model())


def a_table_of_the_entry_decides_where_the_checkpoint_says_nothing(folder: Path) -> None:
    for config in (None, {"learning_rate": 0.1}):
        path = _saved(folder, config=config)
        _assert_same(_load(path, architecture=ARCHITECTURE), small_model())
        assert "embeds no architecture" in refusal(lambda p=path: _load(p), ExitCode.USAGE)


def an_architecture_said_twice_differently_is_refused(folder: Path) -> None:
    path = _saved(folder, config={"architecture": ARCHITECTURE})
    for said, message in (
        ({**ARCHITECTURE, "num_filters": 13}, "num_filters = 13, and the architecture that"),
        ({"name": "lennard-jones"}, "name = 'lennard-jones'"),
        ({"name": "schnet", "hidden": 3}, "has none"),
    ):
        shown = refusal(lambda said=said: _load(path, architecture=said), ExitCode.USAGE)
        assert message in shown, shown
        assert "leave architecture out" in shown


def an_option_computes_in_another_precision(folder: Path) -> None:
    path = _saved(folder, config={"architecture": {**ARCHITECTURE, "dtype": "float32"}})
    single, double = _load(path), _load(path, options={"dtype": "float64"})
    _assert_same(double, small_model())
    assert 0 < abs(energy_ev(single, ethanol()) - energy_ev(double, ethanol())) < 1e-5


def unknown_names_are_refused_with_the_nearest(folder: Path) -> None:
    path = _saved(folder)
    for changed, message in (
        ({"architecture": {**ARCHITECTURE, "name": "scnet"}}, "unknown architecture 'scnet'; did you mean 'schnet'?"),
        ({"architecture": {**ARCHITECTURE, "num_filter": 3}}, "did you mean 'num_filters'?"),
        ({"architecture": ARCHITECTURE, "options": {"dtyp": "float64"}}, "did you mean 'dtype'?"),
        ({"architecture": {**ARCHITECTURE, "dtype": "float46"}}, "did you mean 'float64'?"),
    ):
        shown = refusal(lambda changed=changed: _load(path, **changed), ExitCode.USAGE)
        assert message in shown, shown


def arguments_that_cannot_be_are_refused(folder: Path) -> None:
    path = _saved(folder)
    for key, value, message in (
        ("num_filters", "many", "Expected `int`, got `str` - at `$.num_filters`"),
        ("num_filters", 0, "num_filters = 0: must be at least 1"),
        ("hidden_channels", 1, "hidden_channels = 1: must be at least 2"),
        ("cutoff_angstrom", -1.0, "cutoff_angstrom = -1.0: must be more than 0"),
        ("cutoff_angstrom", float("nan"), "must be more than 0"),
        ("elements", [], "elements is empty"),
        ("elements", ["H", "Xx"], "'Xx' is no chemical symbol"),
        ("elements", ["X"], "'X' is no chemical symbol"),
    ):
        said = {**ARCHITECTURE, key: value}
        shown = refusal(lambda said=said: _load(path, architecture=said), ExitCode.USAGE)
        assert message in shown, shown
    without = {key: value for key, value in ARCHITECTURE.items() if key != "elements"}
    assert "missing required field `elements`" in refusal(lambda: _load(path, architecture=without), ExitCode.USAGE)
    for said in ({}, {"name": 3}, {"elements": ["H"]}):
        shown = refusal(lambda said=said: _load(path, architecture=said), ExitCode.USAGE)
        assert "write a table with a name" in shown


def weights_that_do_not_fit_are_named(folder: Path) -> None:
    state = _state()
    name = "network.lin1.weight"
    others = {key: value for key, value in state.items() if key != name}
    for tensors, message in (
        (others, f"it lacks {name}"),
        ({}, "holds no tensor"),
        ({"offsets_ev": state["offsets_ev"]}, "and 29 more"),
        ({**state, "network.extra": torch.ones(1)}, "the architecture has no network.extra"),
        ({**state, name: torch.ones(9, 16)}, f"{name} has the shape (9, 16), (8, 16) is needed"),
    ):
        path = folder / "model.safetensors"
        save_file(tensors, path)
        shown = refusal(lambda p=path: _load(p, architecture=ARCHITECTURE), ExitCode.DATA)
        assert message in shown, shown
    path = _saved(folder)
    shown = refusal(lambda: _load(path, architecture={**ARCHITECTURE, "num_interactions": 1}), ExitCode.DATA)
    assert "does not fit architecture 'schnet': the architecture has no network.interactions.1." in shown


def a_checkpoint_of_torch_with_every_name_of_a_tensor_is_read_too(folder: Path) -> None:
    path = folder / "model.pt"
    torch.save({"state_dict": small_schnet().state_dict(), "config": {"architecture": ARCHITECTURE}}, path)
    _assert_same(_load(path), small_model())


def a_registered_architecture_is_built_by_its_name(folder: Path) -> None:
    path = folder / "model.safetensors"
    save_file({"scale": torch.ones(1)}, path)
    model = _load(path, architecture={"name": "lennard-jones", "cutoff_angstrom": 7.5})
    assert (model.cutoff_angstrom, model.elements, model.level_of_theory) == (7.5, None, None)
    assert model.predict([to_item(salt(), 7.5)], ALL)[0].stress is not None
    save_file({"weight": torch.ones(1, 1), "bias": torch.ones(1)}, path)
    shown = refusal(lambda: _load(path, architecture={"name": "no-cutoff"}), ExitCode.USAGE)
    assert "does not say its cutoff_angstrom" in shown


def a_configuration_can_name_a_builder_of_a_module_and_a_checkpoint_cannot(folder: Path) -> None:
    sys.path.insert(0, str(folder))
    source = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n"
    (folder / "my_nets.py").write_text(source + "from bench_score.schnet import build as mine\n")
    said = {**ARCHITECTURE, "name": "my_nets:mine"}
    path = _saved(folder, config={"architecture": said})
    shown = refusal(lambda: _load(path), ExitCode.USAGE)
    assert "'my_nets:mine' names a module; only a configuration may do that" in shown
    assert not (folder / "ran").exists()
    _assert_same(_load(_saved(folder), architecture=said), small_model())
    assert (folder / "ran").exists()
    for name in ("my_nets:other", "no_nets:mine", ":", "a:"):
        wrong = {**said, "name": name}
        shown = refusal(lambda wrong=wrong: _load(_saved(folder), architecture=wrong), ExitCode.USAGE)
        assert "cannot be imported" in shown


def a_checkpoint_that_is_not_there_is_one_sentence(folder: Path) -> None:
    missing = folder / "nothing.safetensors"
    assert f"{missing}: cannot be read (No such file" in refusal(lambda: _load(missing), ExitCode.DATA)
    shown = refusal(lambda: _load(Path("schnet-ethanol-xbt")), ExitCode.USAGE)
    assert "did you mean 'schnet-ethanol-xtb'?" in shown
    entry = Entry(label="mine", family="schnet")
    shown = refusal(lambda: Architectures().load(entry, "cpu"), ExitCode.USAGE)
    assert "model 'mine' has no checkpoint" in shown


def a_checkpoint_that_needs_trust_is_refused_without_it(folder: Path) -> None:
    path = folder / "module.pt"
    torch.save({"model": small_schnet().network.lin1, "config": {"architecture": ARCHITECTURE}}, path)
    assert "--trust-checkpoint" in refusal(lambda: _load(path), ExitCode.USAGE)
    assert "it lacks" in refusal(lambda: _load(path, trust_checkpoint=True), ExitCode.DATA)  # read, and no SchNet
    torch.save({"state_dict": small_schnet().state_dict(), "config": {"architecture": ARCHITECTURE}, "p": folder}, path)
    assert _load(path, trust_checkpoint=True).trusted


def a_device_that_is_not_there_or_does_not_exist_is_one_sentence(folder: Path) -> None:
    path = _saved(folder, config={"architecture": ARCHITECTURE})
    entry = Entry(label="mine", family="schnet", checkpoint=str(path))
    if not torch.cuda.is_available():
        shown = refusal(lambda: Architectures().load(entry, "cuda"), ExitCode.NO_DEVICE)
        assert shown.startswith("no cuda: ")
    assert "unknown device 'tpv'" in refusal(lambda: Architectures().load(entry, "tpv"), ExitCode.USAGE)


def _load(path: Path, **said: Any) -> ForceStressOutput:
    return Architectures().load(Entry(label="mine", family="schnet", checkpoint=str(path), **said), "cpu")


def _state() -> dict[str, torch.Tensor]:
    """One name for each tensor: what safetensors takes."""
    found: dict[int, str] = {}
    state = small_schnet().state_dict()
    for name, tensor in state.items():
        found.setdefault(tensor.data_ptr(), name)
    return {name: state[name].clone() for name in found.values()}


def _saved(folder: Path, config: dict[str, Any] | None = None) -> Path:
    path = folder / "model.safetensors"
    save_file(_state(), path, metadata=None if config is None else {"config": json.dumps(config)})
    return path


def _assert_same(one: ForceStressOutput, other: ForceStressOutput) -> None:
    assert isinstance(one.module, SchNetEnergy)
    for structure in (ethanol(), salt()):
        first, second = predict(one, structure), predict(other, structure)
        assert abs(first.energy - second.energy) < 1e-10
        np.testing.assert_allclose(first.forces, second.forces, rtol=0, atol=1e-10)
