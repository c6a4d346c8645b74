"""What a model says of every structure: batches, one after the other, with their time; failures are kept apart."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_score.dataset import Dataset
from bench_score.model import Item, Model, Prediction, Want
from bench_score.structure import Floats, Neighbours
from bench_score.world import World

MESSAGES = 3  # failures that are told word for word
MESSAGE_LENGTH = 200
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """One model's predictions of a whole dataset, in eV and angstrom; NaN where there is none."""

    scored: NDArray[np.bool_]  # (structures,) the model answered
    energy: Floats  # (structures,)
    forces: Floats  # (all atoms, 3)
    stress: Floats  # (structures, 6)
    has_stress: NDArray[np.bool_]  # (structures,) the model gave a stress, finite or not
    has_forces: bool  # forces were asked for
    seconds: Floats  # (structures,) a batch's time in equal shares
    failures: tuple[str, ...]


def predict(
    model: Model,
    dataset: Dataset,
    lists: Sequence[Neighbours] | None,
    want: Want,
    batch_size: int,
    world: World,
    progress: Progress,
    step: str = "predict",
) -> Predicted:
    """Ask the model for every structure whose elements it knows.

    Batches are the same however many processes share them: each takes every `world.size`-th batch. A batch that fails
    is tried again structure by structure, so that one cannot take its neighbours with it. `step` names this model's
    turn: what several processes found is put together only where they are at the same one.
    """
    offsets = atom_offsets(dataset)
    blank = np.full
    result = {
        "energy": blank(len(dataset.structures), np.nan),
        "forces": blank((offsets[-1], 3), np.nan),
        "stress": blank((len(dataset.structures), 6), np.nan),
        "seconds": blank(len(dataset.structures), np.nan),
        "scored": np.zeros(len(dataset.structures), np.int64),
        "has_stress": np.zeros(len(dataset.structures), np.int64),
    }
    mine = np.zeros(len(dataset.structures), np.bool_)
    failures: list[str] = []
    todo = known_to(model, dataset)
    batches = [todo[start : start + batch_size] for start in range(0, len(todo), batch_size)]

    def ask() -> None:
        done = 0
        for batch in batches[world.rank :: world.size]:
            for index, prediction, sec in _ask(model, dataset, lists, want, batch, failures):
                result["energy"][index], result["seconds"][index] = prediction.energy, sec
                result["scored"][index] = 1
                if prediction.forces is not None:
                    result["forces"][offsets[index] : offsets[index + 1]] = prediction.forces
                if prediction.stress is not None:
                    result["stress"][index] = prediction.stress
                    result["has_stress"][index] = 1
            mine[batch] = True
            done += len(batch)
            progress(min(len(todo), done * world.size), len(todo))

    world.together(step, ask)
    owned = dict.fromkeys(result, mine) | {"forces": np.repeat(mine, np.diff(offsets))}
    merged = world.merge(step, result, owned)
    return Predicted(
        scored=merged["scored"].astype(np.bool_),
        energy=merged["energy"],
        forces=merged["forces"],
        stress=merged["stress"],
        has_stress=merged["has_stress"].astype(np.bool_),
        has_forces=want.forces,
        seconds=merged["seconds"],
        failures=tuple(world.tell(failures[:MESSAGES])[:MESSAGES]),
    )


def known_to(model: Model, dataset: Dataset) -> NDArray[np.int64]:
    """Structures of which the model knows every element."""
    known = model.elements
    found = [
        index
        for index, structure in enumerate(dataset.structures)
        if known is None or known.issuperset(np.unique(structure.numbers).tolist())
    ]
    return np.array(found, np.int64)


def atom_offsets(dataset: Dataset) -> NDArray[np.int64]:
    """(structures + 1,) where each structure's atoms begin among all."""
    return np.concatenate([[0], np.cumsum([structure.num_atoms for structure in dataset.structures])]).astype(np.int64)


def _ask(
    model: Model,
    dataset: Dataset,
    lists: Sequence[Neighbours] | None,
    want: Want,
    batch: NDArray[np.int64],
    failures: list[str],
) -> list[tuple[int, Prediction, float]]:
    items = [Item(dataset.structures[i], None if lists is None else lists[i]) for i in batch]
    began = time.perf_counter()
    try:
        predictions = _checked(items, model.predict(items, want), want)
    except Exception as error:  # noqa: BLE001  whatever a model raises
        if len(batch) == 1:
            failures.append(f"{items[0].structure.name}: {message_of(error)}")
            return []
        alone = [_ask(model, dataset, lists, want, batch[i : i + 1], failures) for i in range(len(batch))]
        return [found for part in alone for found in part]
    sec = (time.perf_counter() - began) / len(batch)
    return [(int(index), prediction, sec) for index, prediction in zip(batch, predictions, strict=True)]


def _checked(items: Sequence[Item], predictions: Sequence[Prediction], want: Want) -> list[Prediction]:
    """What a model returned, as numbers of the shapes they should have: numpy would stretch a single one over all."""
    if len(predictions) != len(items):
        raise ValueError(f"the model returned {len(predictions)} predictions for {len(items)} structures")
    return [
        Prediction(
            energy=float(_numbers("an energy", found.energy, ())),
            forces=_numbers("forces", found.forces, (item.structure.num_atoms, 3)) if want.forces else None,
            stress=_numbers("a stress", found.stress, (6,)) if want.stress and found.stress is not None else None,
        )
        for item, found in zip(items, predictions, strict=True)
    ]


def _numbers(what: str, value: Any, shape: tuple[int, ...]) -> Floats:
    if value is None:
        raise ValueError(f"{what} was asked for and not returned")
    array = np.asarray(value)
    if array.shape != shape or array.dtype.kind not in "fiu":
        raise ValueError(f"{what} is to be numbers of shape {shape}, not {array.dtype} of shape {array.shape}")
    return array.astype(np.float64)


def message_of(error: BaseException) -> str:
    """What an exception says, on one line of at most MESSAGE_LENGTH characters."""
    try:
        text = " ".join(f"{type(error).__name__}: {error}".split())
    except Exception:  # noqa: BLE001  its own text cannot be made
        text = type(error).__name__
    text = text.encode("utf-8", "backslashreplace").decode()  # JSON holds no surrogate
    return text if len(text) <= MESSAGE_LENGTH else f"{text[: MESSAGE_LENGTH - 1]}…"
