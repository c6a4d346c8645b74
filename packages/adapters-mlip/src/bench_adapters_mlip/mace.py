"""MACE: a model file of one's own. The package brings no weights, and nothing here fetches any."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from bench_core.errors import BenchError, ExitCode
from bench_core.suggest import unknown
from bench_score.model import Entry, Item, Prediction, Want
from mace.modules import MACE as Network  # noqa: N811

from bench_adapters_mlip.checkpoints import Source, locate, refuse_options, require_trust
from bench_adapters_mlip.geometry import (
    full_cell,
    has_stress,
    joined_edges,
    neighbours_of,
    owners,
    split,
    voigt,
)


class MACE:
    """The family mlip_mace. A checkpoint is the path of a model that MACE saved; the option `head` chooses one of a
    model that has several. What it was trained on is for the configuration to say."""

    distributions: ClassVar[tuple[str, ...]] = ("mace-torch", "torch", "e3nn", "numpy")

    def load(self, entry: Entry, device: str) -> "MACEModel":
        """Load `entry` onto `device`.

        Raises:
            BenchError: no such file or head, a file that is not a model of MACE, or one that is not trusted.
        """
        refuse_options(entry, "head")
        if entry.checkpoint is None:
            raise BenchError(
                f"model {entry.label!r}: no checkpoint; mace-torch comes without weights: download a model file "
                "of MACE yourself and give its path"
            )
        source = locate(entry, "mace-torch", {})
        require_trust(entry, source, "a model of MACE is opened by full unpickling")
        network = _read(entry, source)
        return MACEModel(network, _head(entry, network), device, source)


def _read(entry: Entry, source: Source) -> Network:
    try:
        network = torch.load(source.path, map_location="cpu", weights_only=False)
    except Exception as error:  # a pickle may raise anything
        raise BenchError(
            f"model {entry.label!r}: {source.path}: no model of MACE ({type(error).__name__}: {error})", ExitCode.DATA
        ) from error
    if not isinstance(network, Network):
        raise BenchError(
            f"model {entry.label!r}: {source.path}: no model of MACE but a {type(network).__name__}", ExitCode.DATA
        )
    return network


def _head(entry: Entry, network: Network) -> int:
    heads = getattr(network, "heads", None) or ["Default"]
    head = entry.options.get("head")
    if head is None and len(heads) > 1:
        raise BenchError(f"model {entry.label!r}: say its option head, one of {', '.join(heads)}")
    if head is not None and head not in heads:
        raise unknown("head", str(head), heads, source=f"model {entry.label!r}")
    return 0 if head is None else heads.index(head)


class MACEModel:
    """A loaded MACE in the precision of its file, run on whole batches built from the shared neighbour lists."""

    level_of_theory = None

    def __init__(self, network: Network, head: int, device: str, source: Source) -> None:
        self._network = network.to(device).eval().requires_grad_(False)
        self._head = head
        self._device = device
        self.device = str(next(self._network.parameters()).device)  # read back
        self._dtype = network.r_max.dtype
        self._numbers = [int(number) for number in network.atomic_numbers]
        self.checkpoint_sha256, self.trusted = source.sha256, source.is_own
        self.num_parameters = sum(parameter.numel() for parameter in network.parameters())
        self.cutoff_angstrom = float(network.r_max)
        self.elements = frozenset(self._numbers)

    def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
        """One prediction per item; a stress only where the structure is periodic in three directions.

        The network computes forces along with stress.
        """
        sizes = [item.structure.num_atoms for item in batch]
        derive = want.forces or want.stress
        with torch.set_grad_enabled(derive):
            output = self._network(self._graph(batch), compute_force=derive, compute_stress=want.stress)
        energies = output["energy"].detach().reshape(-1).tolist()
        forces = split(output["forces"].detach().cpu().numpy(), sizes) if want.forces else [None] * len(batch)
        stress = output["stress"].detach().cpu().numpy() if want.stress else [None] * len(batch)
        return [
            Prediction(energy, own_forces, voigt(own_stress) if want.stress and has_stress(item.structure) else None)
            for item, energy, own_forces, own_stress in zip(batch, energies, forces, stress, strict=True)
        ]

    def _graph(self, batch: Sequence[Item]) -> dict[str, torch.Tensor]:
        """What the network is called with, of all structures of a batch, laid end to end."""
        sizes = [item.structure.num_atoms for item in batch]
        cells = [full_cell(item.structure) for item in batch]
        lists = [neighbours_of(item) for item in batch]
        numbers = np.concatenate([item.structure.numbers for item in batch])
        return {
            "positions": self._floats(np.concatenate([item.structure.positions for item in batch])),
            "node_attrs": self._floats(numbers[:, None] == np.array(self._numbers)[None, :]),
            "edge_index": self._integers(joined_edges(batch)),
            "shifts": self._floats(np.concatenate([own.shifts @ cell for own, cell in zip(lists, cells, strict=True)])),
            "unit_shifts": self._floats(np.concatenate([own.shifts for own in lists])),
            "cell": self._floats(np.concatenate(cells)),
            "batch": self._integers(owners(sizes)),
            "ptr": self._integers(np.cumsum([0, *sizes])),
            "head": self._integers(np.full(len(batch), self._head)),
        }

    def _integers(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.int64, device=self._device)

    def _floats(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, dtype=self._dtype, device=self._device)
