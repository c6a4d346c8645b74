"""SchNet of torch_geometric on our own neighbour lists: the built-in architecture.

Schütt et al., J. Chem. Phys. 148, 241722 (2018). The energy of a structure is the sum of the network's contributions of
its atoms plus one fixed offset for each element, so that the network learns what is left.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import msgspec
import torch
from ase.data import atomic_numbers
from bench_core.errors import BenchError
from bench_core.suggest import unknown
from torch import Tensor, nn

from bench_score.graph import GEOMETRY, Graph
from bench_score.registry import register_model

with warnings.catch_warnings():
    # torch_geometric 2.8 uses torch.jit.script, which torch 2.15 calls deprecated; nobody who reads this can help it.
    warnings.simplefilter("ignore", FutureWarning)
    from torch_geometric.nn.models import SchNet

NAME = "schnet"
DTYPES = {"float32": torch.float32, "float64": torch.float64}
NUM_EMBEDDINGS = 100  # of torch_geometric's SchNet: atomic numbers it has room for


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of the architecture. `elements` are chemical symbols; the defaults are torch_geometric's.

    Raises:
        ValueError: a value is out of range.
    """

    elements: tuple[str, ...]
    hidden_channels: int = 128
    num_filters: int = 128
    num_interactions: int = 6
    num_gaussians: int = 50
    cutoff_angstrom: float = 10.0
    dtype: str = "float32"

    def __post_init__(self) -> None:
        for name in ("hidden_channels", "num_filters", "num_interactions", "num_gaussians"):
            least = 2 if name in ("hidden_channels", "num_gaussians") else 1
            if getattr(self, name) < least:
                raise ValueError(f"{name} = {getattr(self, name)}: must be at least {least}")
        if not self.cutoff_angstrom > 0:
            raise ValueError(f"cutoff_angstrom = {self.cutoff_angstrom}: must be more than 0")
        if self.dtype not in DTYPES:
            raise ValueError(str(unknown("dtype", self.dtype, DTYPES)))
        if not self.elements:
            raise ValueError("elements is empty; name the chemical symbols the model was trained for")
        for symbol in self.elements:
            if not 0 < atomic_numbers.get(symbol, 0) < NUM_EMBEDDINGS:
                raise ValueError(f"elements: {symbol!r} is no chemical symbol that SchNet has room for")


class SchNetEnergy(nn.Module):
    """Maps a Graph of b structures to total energies in eV, shape (b,), in double precision."""

    offsets_ev: Tensor  # (NUM_EMBEDDINGS,) by atomic number

    def __init__(self, arguments: Arguments) -> None:
        super().__init__()
        self.cutoff_angstrom = arguments.cutoff_angstrom
        self.elements = frozenset(atomic_numbers[symbol] for symbol in arguments.elements)
        self.dtype = DTYPES[arguments.dtype]
        self.network = SchNet(
            hidden_channels=arguments.hidden_channels,
            num_filters=arguments.num_filters,
            num_interactions=arguments.num_interactions,
            num_gaussians=arguments.num_gaussians,
            cutoff=arguments.cutoff_angstrom,
            interaction_graph=self._edges,
        ).to(self.dtype)
        # Offsets are hundreds of eV and what is scored are meV: they are added in double precision.
        self.register_buffer("offsets_ev", torch.zeros(NUM_EMBEDDINGS, dtype=GEOMETRY))

    def forward(self, graph: Graph) -> Tensor:
        # SchNet hands its second argument to the interaction graph and does nothing else with it: the whole graph
        # travels there, so that no module keeps a batch.
        network = self.network(graph.numbers, graph, graph.batch).squeeze(1).to(GEOMETRY)
        offsets = torch.zeros_like(network).index_add(0, graph.batch, self.offsets_ev[graph.numbers])
        return network + offsets

    def _edges(self, graph: Graph, batch: Tensor) -> tuple[Tensor, Tensor]:
        return graph.edge_index, graph.distances().to(self.dtype)


@register_model(NAME)
def build(arguments: Mapping[str, Any]) -> SchNetEnergy:
    """Arguments are those of `Arguments`, by name.

    Raises:
        BenchError: one is missing, unknown (with the nearest name), of a wrong type or out of range.
    """
    for name in arguments:
        if name not in Arguments.__struct_fields__:
            raise unknown("argument", name, Arguments.__struct_fields__, source=f"architecture {NAME}")
    try:
        checked = msgspec.convert(dict(arguments), Arguments)
    except msgspec.ValidationError as error:
        raise BenchError(f"architecture {NAME}: {error}") from error
    return SchNetEnergy(checked)
