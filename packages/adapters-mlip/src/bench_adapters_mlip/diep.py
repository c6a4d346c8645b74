"""DIEP: model diep_fold1 of the wheel, or a folder that the package exported."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from ase import units
from ase.data import atomic_numbers
from bench_core.errors import BenchError, ExitCode
from bench_score.model import Entry, Item, Prediction, Want
from diep.apps.pes import Potential
from diep.graph.compute import DIEPData
from diep.pretrained import load_potential

from bench_adapters_mlip.checkpoints import Source, locate, refuse_options, require_trust
from bench_adapters_mlip.geometry import (
    fractional,
    full_cell,
    has_stress,
    joined_edges,
    neighbours_of,
    owners,
    split,
    voigt,
)

_FOLDER = "diep/pretrained_models/diep_fold1"
_SHIPPED = {"diep_fold1": tuple(f"{_FOLDER}/{name}" for name in ("state.pt", "model.pt", "model.json"))}
_LEVELS = {"diep_fold1": "r2SCAN (MatPES)"}  # from the PROVENANCE.json beside the file


class DIEP:
    """The family mlip_diep. A checkpoint is "diep_fold1" or the path of a folder; there are no options."""

    distributions: ClassVar[tuple[str, ...]] = ("diep", "torch", "torch-geometric", "pymatgen", "numpy")

    def load(self, entry: Entry, device: str) -> "DIEPModel":
        """Load `entry` onto `device`.

        Raises:
            BenchError: no such checkpoint, an option, a folder that is not DIEP's, or one that is neither of the wheel
                nor trusted.
        """
        refuse_options(entry)
        source = locate(entry, "diep", _SHIPPED)
        require_trust(entry, source, "a model of DIEP names the classes that are called to build it")
        try:
            # It says itself that a file is missing; the package would go on to fetch one of that name.
            potential = load_potential(source.path, device=device)
            return DIEPModel(potential, _LEVELS.get(source.name or ""), device, source)
        except Exception as error:  # whatever the classes that it names raise, or are
            raise BenchError(
                f"model {entry.label!r}: {source.path}: no model of DIEP ({type(error).__name__}: {error})",
                ExitCode.DATA,
            ) from error


class DIEPModel:
    """A loaded DIEP potential in single precision, run on whole batches built from the shared neighbour lists."""

    def __init__(self, potential: Potential, level_of_theory: str | None, device: str, source: Source) -> None:
        self._potential = potential.eval().requires_grad_(False)
        self._device = device
        self.device = str(next(self._potential.parameters()).device)  # read back
        self._type_of = {atomic_numbers[symbol]: i for i, symbol in enumerate(potential.model.element_types)}
        self.checkpoint_sha256, self.trusted = source.sha256, source.is_own
        self.num_parameters = sum(parameter.numel() for parameter in potential.parameters())
        self.cutoff_angstrom = float(potential.model.cutoff)
        self.elements = frozenset(self._type_of)
        self.level_of_theory = level_of_theory

    def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
        """One prediction per item; a stress only where the structure is periodic in three directions."""
        sizes = [item.structure.num_atoms for item in batch]
        cells = np.stack([full_cell(item.structure) for item in batch])
        self._potential.calc_forces, self._potential.calc_stresses = want.forces, want.stress
        with torch.set_grad_enabled(want.forces or want.stress):
            output = self._potential(self._graph(batch, cells), self._floats(cells))
        energies, forces_found, stress_found, _ = (part.detach().cpu().numpy() for part in output)
        forces = split(forces_found, sizes) if want.forces else [None] * len(batch)
        # The potential's stress is in GPa.
        stress = stress_found.reshape(-1, 3, 3) * units.GPa if want.stress else [None] * len(batch)
        return [
            Prediction(
                energy=float(energy),
                forces=own_forces,
                stress=voigt(own_stress) if want.stress and has_stress(item.structure) else None,
            )
            for item, energy, own_forces, own_stress in zip(batch, energies.reshape(-1), forces, stress, strict=True)
        ]

    def _graph(self, batch: Sequence[Item], cells: Any) -> DIEPData:
        """The package's own graph of all structures of a batch, laid end to end."""
        sizes = [item.structure.num_atoms for item in batch]
        positions = [fractional(item.structure, cell) for item, cell in zip(batch, cells, strict=True)]
        types = [self._type_of[int(number)] for item in batch for number in item.structure.numbers]
        return DIEPData(
            edge_index=torch.as_tensor(joined_edges(batch), device=self._device),
            num_nodes=sum(sizes),
            node_type=torch.tensor(types, dtype=torch.int32, device=self._device),
            frac_coords=self._floats(np.concatenate(positions)),
            pbc_offset=self._floats(np.concatenate([neighbours_of(item).shifts for item in batch])),
            lattice=self._floats(cells),
            batch=torch.as_tensor(owners(sizes), device=self._device),
        )

    def _floats(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.float32, device=self._device)
