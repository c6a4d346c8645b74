"""Forces and stress of a model that gives energies only, as derivatives of the energy by autograd.

    force on an atom = -dE/dx        stress = (1/V) dE/dstrain, strain symmetric

The stress of a cell under tension is positive, as in ASE; V is the volume of the undeformed cell.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from bench_core.errors import BenchError
from torch import Tensor, nn

from bench_score.graph import Graph, make_graph
from bench_score.model import Item, Prediction, Want
from bench_score.structure import VOIGT


class ForceStressOutput:
    """A `Model` made of `module`, which maps a Graph of b structures to their total energies in eV, shape (b,).

    The module is put into evaluation mode on `device`, and its parameters ask for no gradient any more.
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        cutoff_angstrom: float,
        elements: frozenset[int] | None = None,
        level_of_theory: str | None = None,
        device: str = "cpu",
        checkpoint_sha256: str | None = None,
        trusted: bool = False,
    ) -> None:
        self.module = module.to(device).eval().requires_grad_(False)
        # Read back, where there is something to read.
        self.device = next((str(parameter.device) for parameter in module.parameters()), device)
        self.cutoff_angstrom = cutoff_angstrom
        self.elements = elements
        self.level_of_theory = level_of_theory
        self.checkpoint_sha256 = checkpoint_sha256
        self.trusted = trusted  # whether its checkpoint could only be opened by running what it held
        self.num_parameters = sum(parameter.numel() for parameter in module.parameters())

    def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
        """One prediction per item. Stress is None where a structure is not periodic in all three directions.

        Raises:
            ValueError: an item has no neighbour list.
            BenchError: the module gives something else than one energy a structure.
        """
        if not batch:
            return []
        periodic = [bool(item.structure.pbc.all()) for item in batch]
        graph = make_graph(batch, self.device)
        energies, forces, stress = derivatives(self.module, graph, Want(want.forces, want.stress and any(periodic)))
        sizes = [item.structure.num_atoms for item in batch]
        forces_of = [None] * len(batch) if forces is None else [part.cpu().numpy() for part in forces.split(sizes)]
        stress_of = [None] * len(batch) if stress is None else list(stress.cpu().numpy())
        return [
            Prediction(energy=energy, forces=own_forces, stress=own_stress if whole else None)
            for energy, own_forces, own_stress, whole in zip(
                energies.tolist(), forces_of, stress_of, periodic, strict=True
            )
        ]


def derivatives(module: nn.Module, graph: Graph, want: Want) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Energies (b,) in eV and, where wanted, forces (n, 3) in eV/angstrom and stress (b, 6) in eV/angstrom^3.

    All in double precision. A stress means something only where the structure is periodic in all three directions.

    Raises:
        BenchError: the module gives something else than one energy a structure.
    """
    leaves: dict[str, Tensor] = {}
    with torch.set_grad_enabled(want.forces or want.stress):
        if want.forces:
            leaves["positions"] = graph.positions.detach().requires_grad_()
            graph = replace(graph, positions=leaves["positions"])
        if want.stress:
            leaves["strain"] = torch.zeros_like(graph.cells).requires_grad_()
            graph = graph.strained(leaves["strain"])
        energies = _energies(module, graph)
        slopes = _slopes(energies, leaves)
    forces = -slopes["positions"] if want.forces else None
    stress = _voigt(slopes["strain"], graph.cells.detach()) if want.stress else None
    return energies.detach(), forces, stress


def _energies(module: nn.Module, graph: Graph) -> Tensor:
    energies: Tensor = module(graph)
    if energies.shape != (graph.num_structures,):
        raise BenchError(
            f"the architecture {type(module).__name__} gives energies of shape {tuple(energies.shape)} for "
            f"{graph.num_structures} structures; it has to give one number a structure"
        )
    return energies.double()


def _slopes(energies: Tensor, leaves: dict[str, Tensor]) -> dict[str, Tensor]:
    """Derivatives of the energies by each leaf; nothing of the graph behind them is kept."""
    if not leaves:
        return {}
    if not energies.requires_grad:  # no atom of the batch has a neighbour
        return {name: torch.zeros_like(leaf) for name, leaf in leaves.items()}
    # A structure's energy depends on its own atoms only, so one backward pass serves all of them.
    found = torch.autograd.grad(energies.sum(), list(leaves.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(leaves, found, strict=True))


def _voigt(slopes: Tensor, cells: Tensor) -> Tensor:
    """(b, 6) stress of derivatives by strain (b, 3, 3), which are symmetric."""
    volumes = torch.linalg.det(cells).abs()
    rows, columns = zip(*VOIGT, strict=True)
    return slopes[:, rows, columns] / volumes[:, None]
