"""From predictions to a row: the energies' zero, units, every metric with its interval, and what was not scored."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from ase.data import chemical_symbols
from bench_core import metrics, policy
from bench_core.errors import BenchError, ExitCode
from bench_core.metrics import Values
from bench_core.scores import Coverage, Predictions, Score, Structures, digest_of
from bench_core.seeds import derive_seed
from numpy.typing import NDArray

from bench_score.baseline import make_zero
from bench_score.config import ScoreConfig
from bench_score.dataset import Dataset
from bench_score.metrics import find_metric
from bench_score.model import Model
from bench_score.prediction import Predicted, atom_offsets, known_to, message_of
from bench_score.structure import Floats, Ints
from bench_score.units import unit_of, unit_of_column


class Labels(NamedTuple):
    """What of the dataset's labels one target compares."""

    reference: Floats  # (m,)
    predicted: Floats  # (m,)
    structures: Ints  # (m,) of which structure each value is


def compare(config: ScoreConfig, dataset: Dataset, predicted: Predicted) -> Predictions:
    """Labels and predictions side by side, for every target that the configuration scores.

    Energies are relative to the configuration's zero and, with `energy_per_atom`, divided by the number of atoms.
    """
    targets = dict.fromkeys(target for target, _ in config.metrics)
    made = {"energy": _energy, "forces": _forces, "stress": _stress}
    found = {target: made[target](config, dataset, predicted) for target in targets}
    return Predictions(
        values={target: (labels.reference, labels.predicted) for target, labels in found.items()},
        structures={target: labels.structures for target, labels in found.items()},
        raw_energy=predicted.energy,
        seconds=predicted.seconds,
    )


def score(config: ScoreConfig, dataset: Dataset, predictions: Predictions, groups: Ints) -> dict[str, Score]:
    """Every metric of the configuration, by column. Models that compared the same structures share their resamples."""
    weights: dict[int, Ints] = {}
    labelled = {target: num_labelled(config, dataset, target) for target in predictions.values}
    scores = {}
    for target, name in config.metrics:
        unit, factor = unit_and_factor(config, target, name)
        values = predictions.of(target, groups)
        count = metrics.num_groups(values)
        if count not in weights:
            weights[count] = metrics.resample_weights(count, derive_seed(config.seed, "bootstrap"))
        scores[f"{target}_{name}"] = _score_of(
            Score(
                target=target,
                metric=name,
                unit=unit,
                factor=factor,
                value=None,
                num_values=len(values.reference),
                num_structures=len(np.unique(predictions.structures[target])),
                num_groups=count,
                structures_sha256=digest_of(predictions.structures[target]),
                num_labelled=labelled[target],
            ),
            _metric(config, target, name),
            values,
            weights[count],
        )
    return scores


def num_labelled(config: ScoreConfig, dataset: Dataset, target: str) -> int:
    """Structures of which a model that predicts all of them is compared: with the label and, for energies, a zero."""
    if target == "energy":
        there = np.array([structure.energy is not None for structure in dataset.structures])
        return int(make_zero(config.atomic_energies, dataset).scored(there).sum())
    return sum(getattr(structure, target) is not None for structure in dataset.structures)


def check(config: ScoreConfig, dataset: Dataset) -> None:
    """What can be known before a model is loaded.

    Raises:
        BenchError: the zero does not fit the data, there is no such metric, or the data label nothing that is scored.
    """
    targets = dict.fromkeys(target for target, _ in config.metrics)
    if not any(getattr(structure, target) is not None for target in targets for structure in dataset.structures):
        raise BenchError(
            f"{dataset.name}: no structure has a label of {' or '.join(targets)}, so there is nothing to score; "
            f"name the keys that hold them, such as data.{next(iter(targets))} = 'REF_{next(iter(targets))}'",
            ExitCode.DATA,
        )
    make_zero(config.atomic_energies, dataset)
    for target, name in config.metrics:
        _metric(config, target, name)


def unit_and_factor(config: ScoreConfig, target: str, metric: str) -> tuple[str, float]:
    """Unit of a column, and what its metric's value is multiplied by to be in it."""
    own = {one.name: one.unit for one in config.custom_metrics}
    return unit_of_column(target, metric, config.units.get(target), own, per_atom=config.energy_per_atom)


def _metric(config: ScoreConfig, target: str, name: str) -> metrics.Metric:
    factor = unit_of(target, config.units.get(target), per_atom=config.energy_per_atom)[1]
    return find_metric(name, config.custom_metrics, factor)


def coverage(dataset: Dataset, model: Model, predicted: Predicted) -> Coverage:
    """What the model scored, and why not the rest."""
    known = set(known_to(model, dataset).tolist())
    missing: dict[str, int] = {}
    for index, structure in enumerate(dataset.structures):
        if index not in known and model.elements is not None:
            for number in sorted({*structure.numbers.tolist()} - model.elements):
                symbol = chemical_symbols[number]
                missing[symbol] = missing.get(symbol, 0) + 1
    return Coverage(
        num_structures=len(dataset.structures),
        num_scored=int(predicted.scored.sum()),
        num_nonfinite=int((predicted.scored & ~finite(dataset, predicted)).sum()),
        missing_elements=missing,
        num_failed=len(known) - int(predicted.scored.sum()),
        failures=predicted.failures,
    )


def finite(dataset: Dataset, predicted: Predicted) -> NDArray[np.bool_]:
    """(structures,) whether all that was predicted is a finite number; forces that nobody wanted are absent."""
    good = np.isfinite(predicted.energy)
    good &= ~predicted.has_stress | np.isfinite(predicted.stress).all(axis=1)
    if predicted.has_forces:
        offsets = atom_offsets(dataset)
        bad = (~np.isfinite(predicted.forces)).any(axis=1)
        per_structure = np.bincount(np.repeat(np.arange(len(good)), np.diff(offsets)), weights=bad, minlength=len(good))
        good &= per_structure == 0
    return good


def structures_of(dataset: Dataset) -> Structures:
    """What is kept of the dataset beside the scores. A structure without a group is a group of its own."""
    names: dict[str, int] = {}
    groups = [
        names.setdefault(f"#{index}" if structure.group is None else f"={structure.group}", len(names))
        for index, structure in enumerate(dataset.structures)
    ]
    return Structures(
        names=tuple(structure.name for structure in dataset.structures),
        groups=np.array(groups, np.int64),
        num_atoms=np.array([structure.num_atoms for structure in dataset.structures], np.int64),
        numbers=np.concatenate([structure.numbers for structure in dataset.structures]).astype(np.int64),
    )


def _score_of(blank: Score, metric: metrics.Metric, values: Values, weights: Ints) -> Score:
    """The value and its interval; or why there is none. A prediction that is no number is never dropped."""

    def without(reason: str) -> Score:
        return msgspec.structs.replace(blank, reason=reason)

    if not blank.num_values:
        return without("nothing to compare: no structure has both this label and a prediction of it")
    bad = int(np.count_nonzero(~np.isfinite(values.predicted)))
    if bad:
        return without(f"{bad} of {blank.num_values} predicted values are no finite numbers")
    found = None
    try:
        value = metrics.value_of(metric, values)
        if not np.isfinite(value):
            return without("not defined on these values: they are all equal, or too few")
        if blank.num_groups >= policy.BOOTSTRAP_LEAST_GROUPS:
            found = metrics.interval_around(value, metric(values, weights), policy.CONFIDENCE)
    except Exception as error:  # noqa: BLE001  a function of somebody's own
        return without(f"the metric raised {message_of(error)}")
    factor = blank.factor
    return msgspec.structs.replace(
        blank,
        value=value * factor,
        low=None if found is None else found[0] * factor,
        high=None if found is None else found[1] * factor,
        confidence=None if found is None else policy.CONFIDENCE,
    )


def _energy(config: ScoreConfig, dataset: Dataset, predicted: Predicted) -> Labels:
    label = np.array([np.nan if s.energy is None else s.energy for s in dataset.structures])
    atoms = np.array([s.num_atoms for s in dataset.structures], np.float64) if config.energy_per_atom else 1.0
    there = np.isfinite(label) & predicted.scored
    ok = there & np.isfinite(predicted.energy)
    zero = make_zero(config.atomic_energies, dataset)
    # Predictions that are no numbers stay in the comparison, so that they are seen.
    kept = np.flatnonzero(zero.scored(ok) | (there & ~ok))
    reference, found = zero.apply(label, ok) / atoms, zero.apply(predicted.energy, ok) / atoms
    return Labels(reference[kept], found[kept], kept)


def _forces(config: ScoreConfig, dataset: Dataset, predicted: Predicted) -> Labels:
    offsets = atom_offsets(dataset)
    labelled = {i: s.forces.ravel() for i, s in enumerate(dataset.structures) if s.forces is not None}
    kept = [i for i in labelled if predicted.scored[i]]
    reference = [labelled[i] for i in kept]
    found = [predicted.forces[offsets[i] : offsets[i + 1]].ravel() for i in kept]
    lengths = [len(part) for part in reference]
    return Labels(_joined(reference), _joined(found), np.repeat(kept, lengths).astype(np.int64))


def _stress(config: ScoreConfig, dataset: Dataset, predicted: Predicted) -> Labels:
    labelled = {i: s.stress for i, s in enumerate(dataset.structures) if s.stress is not None}
    kept = [i for i in labelled if predicted.has_stress[i]]
    reference = np.array([labelled[i] for i in kept]).reshape(-1, 6)
    found = predicted.stress[kept].reshape(-1, 6)
    if dataset.pressure_only:  # what the data say is a third of the trace, and so is what they are compared with
        return Labels(reference[:, :3].mean(axis=1), found[:, :3].mean(axis=1), np.array(kept, np.int64))
    return Labels(reference.ravel(), found.ravel(), np.repeat(kept, 6).astype(np.int64))


def _joined(parts: Sequence[Floats]) -> Floats:
    return np.concatenate(parts) if parts else np.empty(0)
