"""SevenNet: models 7net-0, 7net-l3i5 and 7net-mf-0 of the wheel, or a checkpoint file of its trainer."""

import copy
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import sevenn._keys as key
import torch
from bench_core.errors import BenchError, ExitCode
from bench_core.suggest import unknown
from bench_score.model import Entry, Item, Prediction, Want
from sevenn.atom_graph_data import AtomGraphData
from sevenn.checkpoint import SevenNetCheckpoint
from sevenn.nn.sequential import AtomGraphSequential

from bench_adapters_mlip.checkpoints import Source, locate, refuse_options, require_trust
from bench_adapters_mlip.geometry import (
    full_cell,
    has_stress,
    joined_edges,
    neighbours_of,
    owners,
    split,
)

_FOLDER = "sevenn/pretrained_potentials"
_SHIPPED = {
    "7net-0": (f"{_FOLDER}/SevenNet_0__11Jul2024/checkpoint_sevennet_0.pth",),
    "7net-l3i5": (f"{_FOLDER}/SevenNet_l3i5/checkpoint_l3i5.pth",),
    "7net-mf-0": (f"{_FOLDER}/SevenNet_MF_0/checkpoint_sevennet_mf_0.pth",),
}
# From the project's list of pretrained models; by name and modal.
_LEVELS = {
    ("7net-0", None): "PBE+U (MPtrj)",
    ("7net-l3i5", None): "PBE+U (MPtrj)",
    ("7net-mf-0", "PBE"): "PBE+U (Materials Project)",
    ("7net-mf-0", "R2SCAN"): "r2SCAN (Materials Project)",
}
_STRESS_ORDER = (0, 1, 2, 4, 5, 3)  # the network's is xx, yy, zz, xy, yz, zx


class SevenNet:
    """The family mlip_sevenn. A checkpoint is "7net-0", "7net-l3i5", "7net-mf-0" or a path; the option `modal` chooses
    the level of theory of a model that has several."""

    distributions: ClassVar[tuple[str, ...]] = ("sevenn", "torch", "e3nn", "numpy")

    def load(self, entry: Entry, device: str) -> "SevenNetModel":
        """Load `entry` onto `device`.

        Raises:
            BenchError: no such checkpoint or modal, a file that is not SevenNet's, or one that is neither of the wheel
                nor trusted.
        """
        refuse_options(entry, "modal")
        source = locate(entry, "sevenn", _SHIPPED)
        require_trust(entry, source, "a checkpoint of SevenNet is opened by full unpickling")
        network = _build(entry, source)
        modal = _modal(entry, network)
        return SevenNetModel(network, modal, _LEVELS.get((source.name or "", modal)), device, source)


def _build(entry: Entry, source: Source) -> AtomGraphSequential:
    try:
        with warnings.catch_warnings():
            # e3nn compiles parts with torch.jit, which torch calls deprecated; nobody here can change it.
            warnings.filterwarnings("ignore", ".*torch.jit", category=FutureWarning)
            warnings.filterwarnings("ignore", ".*torch.jit", category=DeprecationWarning)
            return SevenNetCheckpoint(str(source.path)).build_model()
    except Exception as error:  # a pickle may raise anything
        raise BenchError(
            f"model {entry.label!r}: {source.path}: no checkpoint of SevenNet ({type(error).__name__}: {error})",
            ExitCode.DATA,
        ) from error


def _modal(entry: Entry, network: AtomGraphSequential) -> str | None:
    known = network.modal_map or {}
    modal = entry.options.get("modal")
    if modal is None and known:
        raise BenchError(f"model {entry.label!r}: say its option modal, one of {', '.join(known)}")
    if modal is not None and not known:
        raise BenchError(f"model {entry.label!r}: {entry.checkpoint} has no modals; leave the option out")
    if modal is not None and modal not in known:
        raise unknown("modal", str(modal), known, source=f"model {entry.label!r}")
    return modal


class SevenNetModel:
    """A loaded SevenNet in single precision, run on whole batches built from the shared neighbour lists."""

    def __init__(
        self, network: AtomGraphSequential, modal: str | None, level_of_theory: str | None, device: str, source: Source
    ) -> None:
        self._network = network.to(device).eval().requires_grad_(False)
        self._network.set_is_batch_data(True)
        self._energy_network = _without_forces(self._network)
        self._modal = modal
        self._device = device
        self.device = str(next(self._network.parameters()).device)  # read back
        self.checkpoint_sha256, self.trusted = source.sha256, source.is_own
        self.num_parameters = sum(parameter.numel() for parameter in network.parameters())
        self.cutoff_angstrom = float(network.cutoff)
        self.elements = frozenset(number for number in network.type_map if number > 0)
        self.level_of_theory = level_of_theory

    def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
        """One prediction per item; a stress only where the structure is periodic in three directions.

        The network has forces and stress from one derivative, so that both are computed when one is wanted.
        """
        derive = want.forces or want.stress
        sizes = [item.structure.num_atoms for item in batch]
        with torch.set_grad_enabled(derive):
            output = (self._network if derive else self._energy_network)(self._graph(batch))
        energies = output[key.PRED_TOTAL_ENERGY].detach().reshape(-1).tolist()
        forces = split(_array(output[key.PRED_FORCE]), sizes) if want.forces else [None] * len(batch)
        stress = _array(-output[key.PRED_STRESS])[:, _STRESS_ORDER] if want.stress else [None] * len(batch)
        return [
            Prediction(energy, own_forces, own_stress if has_stress(item.structure) else None)
            for item, energy, own_forces, own_stress in zip(batch, energies, forces, stress, strict=True)
        ]

    def _graph(self, batch: Sequence[Item]) -> AtomGraphData:
        """The package's own graph of all structures of a batch, laid end to end."""
        sizes = [item.structure.num_atoms for item in batch]
        numbers = self._integers(np.concatenate([item.structure.numbers for item in batch]))
        graph = AtomGraphData(
            x=numbers,
            edge_index=self._integers(joined_edges(batch)),
            pos=self._floats(np.concatenate([item.structure.positions for item in batch])),
        )
        graph[key.ATOMIC_NUMBERS] = numbers
        graph[key.EDGE_VEC] = self._floats(np.concatenate([neighbours_of(item).vectors for item in batch]))
        graph[key.CELL_VOLUME] = self._floats(
            np.array([abs(np.linalg.det(full_cell(item.structure))) for item in batch])
        )
        graph[key.NUM_ATOMS] = self._integers(np.array(sizes))
        graph[key.BATCH] = self._integers(owners(sizes))
        if self._modal is not None:
            graph[key.DATA_MODALITY] = [self._modal] * len(batch)
        return graph

    def _integers(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.int64, device=self._device)

    def _floats(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.float32, device=self._device)


def _without_forces(network: AtomGraphSequential) -> AtomGraphSequential:
    """The same network, sharing its layers, that ends with the energy."""
    shorter = copy.copy(network)
    shorter._modules = OrderedDict(network._modules)
    shorter.delete_module_by_key("force_output")
    shorter.key_grad = None
    return shorter


def _array(tensor: torch.Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    return tensor.detach().cpu().numpy().astype(np.float64)
