"""CHGNet: models 0.3.0, 0.2.0 and r2scan of the wheel, or a file that its trainer wrote."""

import io
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import ClassVar

import numpy as np
import torch
from bench_core.errors import BenchError, ExitCode
from bench_score.model import Entry, Item, Prediction, Want
from bench_score.structure import Floats, Neighbours
from chgnet.graph import CrystalGraph
from chgnet.model import CHGNet as Network
from numpy.typing import NDArray

from bench_adapters_mlip.checkpoints import locate, read_tensors, refuse_options
from bench_adapters_mlip.geometry import fractional, full_cell, has_stress, neighbours_of, stress_of

_SHIPPED = {
    "0.3.0": ("chgnet/pretrained/0.3.0/chgnet_0.3.0_e29f68s314m37.pth.tar",),
    "0.2.0": ("chgnet/pretrained/0.2.0/chgnet_0.2.0_e30f77s348m32.pth.tar",),
    "r2scan": ("chgnet/pretrained/r2scan/chgnet_r2scan_transfer_learning_e15f36s161m23.pth.tar",),
}
# From the README beside each file and that of the package.
_LEVELS = {"0.3.0": "PBE+U (MPtrj)", "0.2.0": "PBE+U (MPtrj)", "r2scan": "r2SCAN (MP-r2SCAN)"}
# A network has an embedding for 94 elements, but MPtrj has no Po, At, Rn, Fr and Ra: theirs are as drawn at random.
# MP-r2SCAN has no Yb either: its reference energy in the checkpoint is zero.
_MPTRJ = frozenset(range(1, 95)) - {84, 85, 86, 87, 88}
_ELEMENTS = {"MPtrj": _MPTRJ, "MPtrj_e": _MPTRJ, "MP-r2SCAN": _MPTRJ - {70}}


class CHGNet:
    """The family mlip_chgnet. A checkpoint is "0.3.0", "0.2.0", "r2scan" or a path; there are no options."""

    distributions: ClassVar[tuple[str, ...]] = ("chgnet", "torch", "pymatgen", "numpy")

    def load(self, entry: Entry, device: str) -> "CHGNetModel":
        """Load `entry` onto `device`.

        Raises:
            BenchError: no such checkpoint, an option, or a file that is not CHGNet's.
        """
        refuse_options(entry)
        source = locate(entry, "chgnet", _SHIPPED)
        content = read_tensors(entry, source.path)
        # What the package's own loader does: 0.2.0 was trained with a bias that later versions left out.
        own = {"version": source.name, "mlp_out_bias": source.name == "0.2.0"} if source.name else {}
        try:
            with redirect_stdout(io.StringIO()):  # it greets
                network = Network.from_dict(content["model"], **own)
        except (KeyError, TypeError, RuntimeError, NotImplementedError) as error:
            raise BenchError(
                f"model {entry.label!r}: {source.path}: no checkpoint of CHGNet ({type(error).__name__}: {error})",
                ExitCode.DATA,
            ) from error
        elements = _ELEMENTS.get(content["model"]["model_args"].get("composition_model"), frozenset(range(1, 95)))
        return CHGNetModel(network, elements, _LEVELS.get(source.name or ""), device, source.sha256)


class CHGNetModel:
    """A loaded CHGNet in single precision. Its graphs are built from the shared neighbour lists."""

    trusted = False  # its files hold tensors and plain values

    def __init__(
        self,
        network: Network,
        elements: frozenset[int],
        level_of_theory: str | None,
        device: str,
        checkpoint_sha256: str,
    ) -> None:
        self._network = network.to(device).eval().requires_grad_(False)
        self._device = device
        self.device = str(next(self._network.parameters()).device)  # read back
        self.num_parameters = int(network.n_params)
        self.cutoff_angstrom = float(network.graph_converter.atom_graph_cutoff)
        self.elements = elements
        self.level_of_theory = level_of_theory
        self.checkpoint_sha256 = checkpoint_sha256

    def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
        """One prediction per item; a stress only where the structure is periodic in three directions."""
        graphs = [self._graph(item, want) for item in batch]
        found: dict[int, Prediction] = {}
        # The network skips its updates of bonds where a whole batch has no angle. Model 0.2.0, whose updates have a
        # bias, would give a structure without angles another energy in the company of one that has some.
        for angles in (False, True):
            alike = [index for index, graph in enumerate(graphs) if (len(graph.bond_graph) > 0) is angles]
            if alike:
                run = self._run([batch[index] for index in alike], [graphs[index] for index in alike], want)
                found.update(zip(alike, run, strict=True))
        return [found[index] for index in range(len(batch))]

    def _run(self, batch: Sequence[Item], graphs: list[CrystalGraph], want: Want) -> list[Prediction]:
        """The network gives energies; their derivatives by fractional coordinates and lattice are taken here, once and
        without the second-order graph that the package's own prediction keeps for training."""
        with torch.set_grad_enabled(want.forces or want.stress), warnings.catch_warnings():
            # The network makes plain numbers of volumes, which it needs for nothing here.
            warnings.filterwarnings("ignore", "Converting a tensor with requires_grad=True to a scalar", UserWarning)
            energies = self._network(graphs, task="e")["e"]
            if self._network.is_intensive:  # per atom, as all of the package's own are
                energies = energies * torch.tensor([item.structure.num_atoms for item in batch], device=self._device)
        leaves = [graph.atom_frac_coord for graph in graphs] if want.forces else []
        leaves += [graph.lattice for graph in graphs] if want.stress else []
        slopes = _slopes(energies.sum(), leaves)
        by_position = slopes[: len(batch)] if want.forces else [None] * len(batch)
        by_lattice = slopes[-len(batch) :] if want.stress else [None] * len(batch)
        predictions = []
        for energy, item, position, lattice in zip(energies.tolist(), batch, by_position, by_lattice, strict=True):
            cell = full_cell(item.structure)
            forces = None if position is None else _forces(position, cell)
            stress = None if lattice is None or not has_stress(item.structure) else _stress(lattice, cell)
            predictions.append(Prediction(energy, forces, stress))
        return predictions

    def _graph(self, item: Item, want: Want) -> CrystalGraph:
        """The package's own graph of a structure, from the shared neighbour list."""
        structure, neighbours = item.structure, neighbours_of(item)
        cell = full_cell(structure)
        undirected_of, directed_of = _undirected(neighbours)
        angles = _angles(neighbours, undirected_of, float(self._network.graph_converter.bond_graph_cutoff))
        return CrystalGraph(
            atomic_number=self._integers(structure.numbers),
            atom_frac_coord=self._floats(fractional(structure, cell)).requires_grad_(want.forces),
            atom_graph=self._integers(np.stack([neighbours.first, neighbours.second], axis=1)),
            atom_graph_cutoff=self.cutoff_angstrom,
            neighbor_image=self._floats(neighbours.shifts),
            directed2undirected=self._integers(undirected_of),
            undirected2directed=self._integers(directed_of),
            bond_graph=self._integers(angles),
            bond_graph_cutoff=self._network.graph_converter.bond_graph_cutoff,
            lattice=self._floats(cell).requires_grad_(want.stress),
        )

    def _integers(self, values: NDArray[np.int64]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.int64, device=self._device)

    def _floats(self, values: NDArray[np.generic]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.float32, device=self._device)


def _undirected(neighbours: Neighbours) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each neighbour pair the number of its bond, which the pair in the other direction shares; and for each bond
    one of its two pairs."""
    first, second, shifts = neighbours.first, neighbours.second, neighbours.shifts
    there = np.lexsort((*shifts.T, second, first))
    back = np.lexsort((*-shifts.T, first, second))
    opposite = np.empty_like(first)
    opposite[back] = there
    bonds, bond_of = np.unique(np.minimum(opposite, np.arange(len(first))), return_inverse=True)
    return bond_of, bonds


def _angles(neighbours: Neighbours, bond_of: NDArray[np.int64], cutoff_angstrom: float) -> NDArray[np.int64]:
    """Every ordered two pairs within the cutoff that start at the same atom, (k, 5): the atom, bond and pair of the
    one, bond and pair of the other."""
    near = np.flatnonzero(neighbours.distances < cutoff_angstrom)
    near = near[np.argsort(neighbours.first[near], kind="stable")]
    atoms = neighbours.first[near]
    counts = np.bincount(atoms, minlength=1)
    starts = np.cumsum(counts) - counts
    repeats = counts[atoms]
    one = np.repeat(near, repeats)
    place = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    other = near[np.repeat(starts[atoms], repeats) + place]
    one, other = one[one != other], other[one != other]
    return np.stack([neighbours.first[one], bond_of[one], one, bond_of[other], other], axis=1)


def _slopes(energy: torch.Tensor, leaves: list[torch.Tensor]) -> list[NDArray[np.float64]]:
    """dE/dleaf as float64; zero for a leaf that the energy does not depend on (an atom without neighbours)."""
    if not leaves:
        return []
    slopes = torch.autograd.grad(energy, leaves, allow_unused=True, materialize_grads=True)
    return [slope.cpu().numpy().astype(np.float64) for slope in slopes]


def _forces(by_fractional: Floats, cell: Floats) -> Floats:
    """-dE/dx from dE/df, where x = f @ cell."""
    return np.asarray(-np.linalg.solve(cell, by_fractional.T).T, np.float64)


def _stress(by_lattice: Floats, cell: Floats) -> Floats:
    """A strain takes the cell C to C (1 + strain) with fractional coordinates kept, so dE/dstrain = C^T dE/dC."""
    return stress_of(cell.T @ by_lattice, cell)
