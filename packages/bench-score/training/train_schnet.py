"""Train the smoke model: a small SchNet for ethanol at GFN2-xTB, from what ethanol_xtb.py made.

    .envs/schnet/bin/python packages/bench-score/training/train_schnet.py --train .data/ethanol-xtb-train.extxyz

On the CPU with one thread and one seed; a few minutes. Prints the errors on both sets and writes the checkpoint into
the package, with its architecture, level of theory, units and seed. It is a smoke model: good for ethanol near the
structures it saw and for nothing else. Its offsets per element are the least-norm solution for one molecule: only their
sum over ethanol means anything.
"""

import argparse
import json
import random
import time
from pathlib import Path

import numpy as np
import torch
from bench_core.files import sha256_file, write_atomically
from bench_score.dataset import read_dataset
from bench_score.force_stress import ForceStressOutput
from bench_score.graph import make_graph
from bench_score.model import Item, Want
from bench_score.neighbours import neighbours
from bench_score.schnet import NUM_EMBEDDINGS, SchNetEnergy, build
from bench_score.structure import Floats
from safetensors.torch import save
from torch import Tensor

DATA = Path(__file__).parents[1] / "src" / "bench_score" / "data"
SEED = 20261201
CUTOFF_ANGSTROM = 5.0
ARCHITECTURE = {
    "name": "schnet",
    "elements": ["H", "C", "O"],
    "hidden_channels": 64,
    "num_filters": 64,
    "num_interactions": 3,
    "num_gaussians": 32,
    "cutoff_angstrom": CUTOFF_ANGSTROM,
    "dtype": "float32",
}
BATCH_SIZE = 10
LEARNING_RATE = 2e-3
ENERGY_WEIGHT = 100.0  # of squared energy errors per atom, against squared errors of force components


def read(path: Path) -> list[Item]:
    structures = read_dataset(path).structures
    return [Item(structure, neighbours(structure, CUTOFF_ANGSTROM)) for structure in structures]


def energies_of(items: list[Item]) -> Floats:
    return np.array([item.structure.energy for item in items], dtype=np.float64)


def forces_of(items: list[Item]) -> Floats:
    return np.concatenate([item.structure.forces for item in items if item.structure.forces is not None])


def offsets_ev(items: list[Item]) -> Tensor:
    """Energy per element by least squares, of the least norm; (NUM_EMBEDDINGS,)."""
    counts = np.stack([np.bincount(item.structure.numbers, minlength=NUM_EMBEDDINGS) for item in items])
    found, *_ = np.linalg.lstsq(counts.astype(float), energies_of(items), rcond=None)
    return torch.from_numpy(found)


def loss_of(module: SchNetEnergy, items: list[Item]) -> Tensor:
    graph = make_graph(items)
    graph.positions.requires_grad_()
    energies = module(graph)
    (slopes,) = torch.autograd.grad(energies.sum(), graph.positions, create_graph=True)
    sizes = torch.tensor([item.structure.num_atoms for item in items])
    off_energy = (energies - torch.from_numpy(energies_of(items))) / sizes
    off_forces = -slopes - torch.from_numpy(forces_of(items))
    return ENERGY_WEIGHT * off_energy.square().mean() + off_forces.square().mean()


def train(module: SchNetEnergy, items: list[Item], epochs: int) -> None:
    order = random.Random(SEED)  # noqa: S311  no secret
    optimizer = torch.optim.Adam(module.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs, eta_min=LEARNING_RATE / 200)
    started = time.monotonic()
    for epoch in range(epochs):
        mixed = order.sample(items, len(items))
        losses = []
        for start in range(0, len(mixed), BATCH_SIZE):
            loss = loss_of(module, mixed[start : start + BATCH_SIZE])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(module.parameters(), 10.0)
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
        if epoch % 20 == 19 or epoch == 0:
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.5f}, {time.monotonic() - started:.0f} s", flush=True)


def errors(model: ForceStressOutput, items: list[Item]) -> dict[str, float]:
    """Mean absolute errors, and what one gets who always says the mean (energies) or zero (forces)."""
    predicted = model.predict(items, Want(forces=True, stress=False))
    energies, forces = energies_of(items), forces_of(items)
    off_forces = np.concatenate([found.forces for found in predicted if found.forces is not None]) - forces
    return {
        "energy_mae_ev": float(np.abs([found.energy for found in predicted] - energies).mean()),
        "energy_mean_absolute_deviation_ev": float(np.abs(energies - energies.mean()).mean()),
        "forces_mae_ev_per_angstrom": float(np.abs(off_forces).mean()),
        "forces_mean_absolute_ev_per_angstrom": float(np.abs(forces).mean()),
    }


def checkpoint(module: SchNetEnergy, notes: dict[str, object]) -> bytes:
    """A safetensors file: one name for tensors that have several, and the configuration in its header."""
    kept = {tensor.data_ptr(): name for name, tensor in reversed(module.state_dict().items())}
    state = {name: tensor for name, tensor in module.state_dict().items() if kept[tensor.data_ptr()] == name}
    config = {
        "architecture": ARCHITECTURE,
        "level_of_theory": "GFN2-xTB",
        "energy_unit": "eV",
        "force_unit": "eV/Angstrom",
        "seed": SEED,
        **notes,
    }
    return save(state, metadata={"config": json.dumps(config)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True, help="the training set")
    parser.add_argument("--test", type=Path, default=DATA / "ethanol-xtb.extxyz")
    parser.add_argument("--output", type=Path, default=DATA / "schnet-ethanol-xtb.safetensors")
    parser.add_argument("--epochs", type=int, default=800)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    training, test = read(asked.train), read(asked.test)
    module = build({name: value for name, value in ARCHITECTURE.items() if name != "name"})
    module.offsets_ev.copy_(offsets_ev(training))
    train(module, training, asked.epochs)

    model = ForceStressOutput(module, cutoff_angstrom=module.cutoff_angstrom)
    scores = {name: errors(model, items) for name, items in (("train", training), ("test", test))}
    notes = {"training_data_sha256": sha256_file(asked.train), "epochs": asked.epochs, "errors": scores}
    write_atomically(asked.output, checkpoint(module, notes))
    print(json.dumps(scores, indent=2))
    print(f"{asked.output}: {model.num_parameters} parameters, {asked.output.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
