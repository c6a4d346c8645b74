"""Energies, forces and stress keep the laws of physics."""

from dataclasses import replace

import numpy as np
import torch
from ase import Atoms
from ase.build import bulk
from ase.calculators import lj
from bench_core.errors import ExitCode
from bench_score.force_stress import ForceStressOutput
from bench_score.graph import Graph, make_graph
from bench_score.model import Want
from bench_score.structure import VOIGT, Structure
from examples import (
    ALL,
    CUTOFF_ANGSTROM,
    LennardJones,
    deformed,
    energy_ev,
    ethanol,
    examples,
    moved,
    one_atom,
    predict,
    refusal,
    salt,
    slab,
    small_model,
    small_schnet,
    to_item,
    to_structure,
)
from torch import Tensor, nn

STEP_ANGSTROM = 1e-4
STRAIN = 1e-4


def forces_match_finite_differences_of_the_energy() -> None:
    model = small_model()
    for structure in (ethanol(), salt(), slab()):
        forces = predict(model, structure).forces
        found = np.zeros_like(forces)
        for atom in range(structure.num_atoms):
            for axis in range(3):
                step = np.zeros_like(structure.positions)
                step[atom, axis] = STEP_ANGSTROM
                ahead, behind = (
                    energy_ev(model, moved(structure, structure.positions + sign * step)) for sign in (1, -1)
                )
                found[atom, axis] = -(ahead - behind) / (2 * STEP_ANGSTROM)
        assert np.abs(forces).max() > 0.01
        np.testing.assert_allclose(forces, found, rtol=0, atol=1e-6)


def stress_matches_finite_differences_of_the_energy_with_strain() -> None:
    model = small_model()
    for structure in (salt(), _argon()):
        stress = predict(model, structure).stress
        volume = abs(np.linalg.det(structure.cell))
        found = []
        for row, column in VOIGT:
            strain = np.zeros((3, 3))
            strain[row, column] += STRAIN / 2
            strain[column, row] += STRAIN / 2
            ahead, behind = (energy_ev(model, deformed(structure, np.eye(3) + sign * strain)) for sign in (1, -1))
            found.append((ahead - behind) / (2 * STRAIN) / volume)
        assert np.abs(stress).min() > 1e-5
        np.testing.assert_allclose(stress, found, rtol=0, atol=1e-7)


def only_the_symmetric_part_of_a_strain_counts() -> None:
    graph = make_graph([to_item(salt()), to_item(ethanol())])
    strain = torch.from_numpy(np.random.default_rng(8).normal(0.0, 0.1, (2, 3, 3)))
    one, other = graph.strained(strain), graph.strained(strain.transpose(1, 2))
    assert torch.equal(one.positions, other.positions)
    assert torch.equal(one.cells, other.cells)
    assert not torch.equal(one.vectors(), graph.vectors())


def energy_forces_and_stress_are_those_of_ase_for_a_lennard_jones_crystal() -> None:
    sigma, epsilon, cutoff = 3.4, 0.0104, 8.0
    model = ForceStressOutput(LennardJones(sigma, epsilon, cutoff), cutoff_angstrom=cutoff)
    for structure in (_argon(), deformed(_argon(), np.array([[0.9, 0.02, 0.0], [0.0, 1.1, 0.05], [0.0, 0.0, 0.95]]))):
        atoms = Atoms(numbers=structure.numbers, positions=structure.positions, cell=structure.cell, pbc=True)
        atoms.calc = lj.LennardJones(sigma=sigma, epsilon=epsilon, rc=cutoff, smooth=False)
        found = predict(model, structure)
        assert abs(found.energy - atoms.get_potential_energy()) < 1e-10
        np.testing.assert_allclose(found.forces, atoms.get_forces(), rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.stress, atoms.get_stress(), rtol=0, atol=1e-12)


def a_rotation_turns_forces_and_stress_and_leaves_the_energy() -> None:
    model = small_model()
    turn, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))
    turn *= np.linalg.det(turn)
    for structure in examples():
        before, after = predict(model, structure), predict(model, deformed(structure, turn))
        assert abs(before.energy - after.energy) < 1e-10
        np.testing.assert_allclose(before.forces @ turn, after.forces, rtol=0, atol=1e-10)
        if structure.pbc.all():
            np.testing.assert_allclose(turn.T @ _full(before.stress) @ turn, _full(after.stress), rtol=0, atol=1e-10)


def a_translation_changes_nothing_not_even_out_of_the_cell() -> None:
    model = small_model()
    for structure in examples():
        before = predict(model, structure)
        after = predict(model, moved(structure, structure.positions + np.array([71.3, -40.2, 5.7])))
        _assert_equal(before, after)


def an_atom_in_another_cell_is_the_same_atom() -> None:
    model = small_model()
    structure = salt()
    away = structure.positions.copy()
    away[1] += np.array([2.0, -1.0, 3.0]) @ structure.cell
    _assert_equal(predict(model, structure), predict(model, moved(structure, away)))


def the_order_of_atoms_only_orders_the_forces() -> None:
    model = small_model()
    structure = ethanol()
    order = np.random.default_rng(5).permutation(structure.num_atoms)
    mixed = replace(structure, numbers=structure.numbers[order], positions=structure.positions[order])
    before, after = predict(model, structure), predict(model, mixed)
    assert abs(before.energy - after.energy) < 1e-10
    np.testing.assert_allclose(before.forces[order], after.forces, rtol=0, atol=1e-10)


def the_forces_on_a_structure_add_up_to_nothing() -> None:
    for structure in examples():
        np.testing.assert_allclose(predict(small_model(), structure).forces.sum(axis=0), 0.0, atol=1e-10)


def a_larger_cell_of_the_same_crystal_has_the_same_stress_and_energy_per_atom() -> None:
    atoms = bulk("NaCl", "rocksalt", a=5.5)
    one, many = (predict(small_model(), to_structure(found)) for found in (atoms, atoms.repeat((2, 1, 3))))
    assert abs(one.energy * 6 - many.energy) < 1e-9
    np.testing.assert_allclose(one.stress, many.stress, rtol=0, atol=1e-10)


def batch_and_order_change_nothing() -> None:
    model = small_model()
    items = [to_item(structure) for structure in examples() * 2]
    alone = [model.predict([item], ALL)[0] for item in items]
    for size in (2, 3, len(items)):
        batches = [model.predict(items[start : start + size], ALL) for start in range(0, len(items), size)]
        for one, other in zip(alone, [found for batch in batches for found in batch], strict=True):
            _assert_equal(one, other)
    for one, other in zip(alone, reversed(model.predict(items[::-1], ALL)), strict=True):
        _assert_equal(one, other)
    assert model.predict([], ALL) == []


def an_isolated_atom_has_an_energy_and_no_force() -> None:
    model = small_model()
    found = predict(model, one_atom())
    assert found.energy < -100  # its offset is -8 * 13.6 eV
    assert found.forces.tolist() == [[0.0, 0.0, 0.0]]
    assert found.stress is None


def only_a_structure_with_three_periodic_directions_has_a_stress() -> None:
    found = small_model().predict([to_item(structure) for structure in examples()], ALL)
    assert [prediction.stress is None for prediction in found] == [True, False, True, True]


def single_precision_only_rounds() -> None:
    for structure in examples():
        single, double = (predict(small_model(dtype), structure) for dtype in ("float32", "float64"))
        assert abs(single.energy - double.energy) < 1e-5  # of hundreds of eV
        np.testing.assert_allclose(single.forces, double.forces, rtol=0, atol=1e-5)
        assert single.forces.dtype == double.forces.dtype == np.float64


def no_derivative_is_computed_that_nobody_asked_for() -> None:
    crystal, bare = to_item(salt()), to_item(ethanol())
    for item, want, expected in (
        (crystal, Want(False, False), (False, False, False)),
        (crystal, Want(True, False), (True, True, False)),
        (crystal, Want(False, True), (True, True, True)),  # moved by the strain
        (crystal, Want(True, True), (True, True, True)),
        (bare, Want(False, True), (False, False, False)),  # a molecule has no stress
        (bare, Want(True, True), (True, True, False)),
    ):
        probe = _Probe()
        found = ForceStressOutput(probe, cutoff_angstrom=CUTOFF_ANGSTROM).predict([item], want)[0]
        assert probe.seen == [expected], (want, probe.seen)
        assert (found.forces is not None) == want.forces
        assert (found.stress is not None) == (want.stress and item is crystal)


def a_model_keeps_no_gradients_and_is_in_evaluation_mode() -> None:
    module = small_schnet().train()
    model = ForceStressOutput(module, cutoff_angstrom=CUTOFF_ANGSTROM)
    predict(model, ethanol())
    assert not module.training
    assert [name for name, found in module.named_parameters() if found.requires_grad or found.grad is not None] == []


def the_model_says_its_size_and_what_it_was_told() -> None:
    module = small_schnet()
    model = ForceStressOutput(
        module, cutoff_angstrom=4.0, elements=frozenset({1, 6}), level_of_theory="PBE", checkpoint_sha256="00"
    )
    said = (model.cutoff_angstrom, model.elements, model.level_of_theory, model.checkpoint_sha256, model.trusted)
    assert said == (4.0, {1, 6}, "PBE", "00", False)
    # embedding, 2 interactions (filter network, three linear layers), two linear layers; hidden 16, filters 12
    interaction = (20 * 12 + 12) + (12 * 12 + 12) + 16 * 12 + (12 * 16 + 16) + (16 * 16 + 16)
    assert model.num_parameters == 100 * 16 + 2 * interaction + (16 * 8 + 8) + (8 + 1)


def energies_of_another_shape_are_refused() -> None:
    model = ForceStressOutput(_Column(), cutoff_angstrom=CUTOFF_ANGSTROM)
    shown = refusal(lambda: predict(model, ethanol()), ExitCode.USAGE)
    assert "_Column gives energies of shape (1, 1) for 1 structures" in shown


def a_structure_without_its_neighbours_is_a_mistake_of_the_caller() -> None:
    item = to_item(ethanol())._replace(neighbours=None)
    try:
        small_model().predict([item], ALL)
    except ValueError as error:
        assert "neighbour list" in str(error)
    else:
        raise AssertionError("it was predicted")


class _Probe(nn.Module):
    """Notes what a gradient could flow through."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[bool, bool, bool]] = []

    def forward(self, graph: Graph) -> Tensor:
        self.seen.append((torch.is_grad_enabled(), graph.positions.requires_grad, graph.cells.requires_grad))
        return torch.zeros(graph.num_structures).index_add(
            0, graph.batch[graph.edge_index[0]], graph.distances().float()
        )


class _Column(nn.Module):
    def forward(self, graph: Graph) -> Tensor:
        return torch.zeros(graph.num_structures, 1)


def _argon() -> Structure:
    atoms = bulk("Ar", "fcc", a=5.3, cubic=True)
    atoms.numbers[:] = 17
    atoms.rattle(0.2, seed=6)
    return to_structure(atoms)


def _full(stress: np.ndarray) -> np.ndarray:
    tensor = np.zeros((3, 3))
    for (row, column), value in zip(VOIGT, stress, strict=True):
        tensor[row, column] = tensor[column, row] = value
    return tensor


def _assert_equal(one: object, other: object) -> None:
    assert abs(one.energy - other.energy) < 1e-10
    np.testing.assert_allclose(one.forces, other.forces, rtol=0, atol=1e-10)
    assert (one.stress is None) == (other.stress is None)
    if one.stress is not None:
        np.testing.assert_allclose(one.stress, other.stress, rtol=0, atol=1e-10)
