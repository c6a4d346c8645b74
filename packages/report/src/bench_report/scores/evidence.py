"""What pictures of scores are drawn from: predictions reduced to counts, so that millions of values stay small.

Predictions are read twice, one model at a time: first for the range that all models of a table share on their axes,
then for the counts on it.
"""

import math
import statistics
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from bench_core.metrics import Floats, Ints
from bench_core.scores import Predictions, Structures

from bench_report.scores.sections import Entry, Metric, ScoreSection

BINS = 120  # of a parity picture, to each side
ERROR_BINS = 61  # odd: one of them holds zero
ABSURD = 1e30  # eV or so: what is beyond decides about no axis
MAX_POINTS = 2000  # as many values are kept as points
BEYOND = 0.25  # of the labels' span: so far out predictions are drawn, the rest is counted
ERROR_SHARE = 0.99  # of a model's errors that a histogram's axis reaches, for the middle one of the models
SYMBOLS = """
X H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr
Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt
Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv
Ts Og
""".split()  # noqa: SIM905 - a list of 119 quoted symbols is no better to read; by atomic number; the first is of none


class Unit(msgspec.Struct, frozen=True):
    """What values of a target are shown in: the predictions file's numbers times `factor`."""

    name: str
    factor: float


class Scale(msgspec.Struct, frozen=True):
    """The axes that all models of a table share for one target."""

    target: str
    unit: Unit
    low: float  # of labels and predictions
    high: float
    error: float  # errors from minus to plus this


class Parity(msgspec.Struct, frozen=True):
    """Predicted against labelled values. Few are `points`, (2, m) labels and predictions in the frame; many counts."""

    counts: Ints  # (BINS, BINS): by label, then by prediction
    points: Floats | None
    errors: Ints  # (ERROR_BINS,)
    num_values: int
    num_beyond: int  # outside of the frame
    num_errors_beyond: int
    num_nonfinite: int


class Elements(msgspec.Struct, frozen=True):
    """Mean absolute error of the energy per atom, over the structures that contain an element."""

    unit: str
    symbols: tuple[str, ...]  # by atomic number
    num_structures: tuple[int, ...]  # of the dataset, with the element
    errors: Mapping[str, tuple[float | None, ...]]  # by model; None where it scored no such structure


class Evidence(msgspec.Struct, frozen=True):
    """By model and target; only what there is a prediction of."""

    scales: tuple[Scale, ...]
    parity: Mapping[tuple[str, str], Parity]
    elements: Elements | None


def gather(section: ScoreSection) -> Evidence:
    """Read the predictions of a table.

    Raises:
        BenchError: they are damaged, or not what was committed.
    """
    entries = [entry for entry in section.entries if entry.result.scores]
    scales = _scales(section, entries)
    parity = {}
    errors: dict[str, tuple[float | None, ...]] = {}
    structures = section.structures() if entries else None
    contains = _contains(structures) if structures else None
    for entry in entries:
        predictions = entry.predictions()
        for scale in scales:
            if len(predictions.values.get(scale.target, ((),))[0]):
                parity[entry.label, scale.target] = _parity(predictions, scale)
        if structures and contains and "energy" in predictions.values:
            errors[entry.label] = _by_element(predictions, structures, contains, per_atom=_per_atom(entry))
    elements = _elements(section, contains, errors) if contains and errors else None
    return Evidence(scales, parity, elements)


def unit_of(section: ScoreSection, target: str) -> Unit:
    """The unit of a target's values: that of a metric in them, the root of a squared one, or the file's own."""
    scores = [score for result in section.results for score in result.scores.values() if score.target == target]
    for score in scores:
        if score.metric not in ("mse", "r2"):
            return Unit(score.unit, score.factor)
    for score in scores:
        if score.metric == "mse":
            return Unit(score.unit.removeprefix("(").removesuffix(")^2"), math.sqrt(score.factor))
    per_atom = section.entries[0].bundle.config.get("energy_per_atom") is not False
    return Unit({"energy": "eV/atom" if per_atom else "eV", "forces": "eV/A", "stress": "eV/A^3"}[target], 1.0)


def main_metrics(section: ScoreSection) -> tuple[Metric, ...]:
    """The first metric of each target."""
    first: dict[str, Metric] = {}
    for metric in section.metrics:
        first.setdefault(metric.target, metric)
    return tuple(first.values())


def _scales(section: ScoreSection, entries: Sequence[Entry]) -> tuple[Scale, ...]:
    ends: dict[str, list[tuple[float, float, float, float, float]]] = {}
    for entry in entries:
        for target, (reference, predicted) in entry.predictions().values.items():
            drawn = (np.abs(predicted) < ABSURD) & (np.abs(reference) < ABSURD)
            if drawn.any():
                error = np.abs(predicted[drawn] - reference[drawn])
                found = (*_ends(reference[drawn]), *_ends(predicted[drawn]), float(np.quantile(error, ERROR_SHARE)))
                ends.setdefault(target, []).append(found)
    return tuple(_scale(target, unit_of(section, target), found) for target, found in ends.items())


def _scale(target: str, unit: Unit, found: Sequence[tuple[float, float, float, float, float]]) -> Scale:
    lows, highs, predicted_lows, predicted_highs, errors = zip(*found, strict=True)
    low, high = min(lows), max(highs)
    span = (high - low) or abs(high) or 1.0
    low = max(min(low, *predicted_lows), low - BEYOND * span)
    high = min(max(high, *predicted_highs), high + BEYOND * span)
    room = 0.03 * ((high - low) or span)
    # One model that errs ten times as much would leave the others a single bar: it runs out of the frame instead.
    error = statistics.median(errors) or max(errors) or span
    return Scale(target, unit, (low - room) * unit.factor, (high + room) * unit.factor, error * unit.factor)


def _ends(values: Floats) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _parity(predictions: Predictions, scale: Scale) -> Parity:
    reference, predicted = (values * scale.unit.factor for values in predictions.values[scale.target])
    good = np.isfinite(predicted) & np.isfinite(reference)
    num_nonfinite = int((~good).sum())
    reference, predicted = reference[good], predicted[good]
    frame = [(scale.low, scale.high)] * 2
    counts = np.histogram2d(reference, predicted, bins=BINS, range=frame)[0].astype(np.int64)
    half = scale.error * ERROR_BINS / (ERROR_BINS - 1)
    with np.errstate(over="ignore"):  # of absurd values, which are beyond the frame whatever their difference is
        errors = np.histogram(predicted - reference, bins=ERROR_BINS, range=(-half, half))[0].astype(np.int64)
    inside = (predicted >= scale.low) & (predicted <= scale.high) & (reference >= scale.low) & (reference <= scale.high)
    return Parity(
        counts=counts,
        points=np.stack([reference[inside], predicted[inside]]) if len(reference) <= MAX_POINTS else None,
        errors=errors,
        num_values=len(reference),
        num_beyond=len(reference) - int(counts.sum()),
        num_errors_beyond=len(reference) - int(errors.sum()),
        num_nonfinite=num_nonfinite,
    )


class Contains(msgspec.Struct, frozen=True):
    """Which structure contains which element: pairs, each once."""

    structure: Ints
    number: Ints


def _contains(structures: Structures) -> Contains:
    index = np.repeat(np.arange(len(structures.num_atoms)), structures.num_atoms)
    pairs = np.unique(np.stack([index, structures.numbers]), axis=1)
    return Contains(pairs[0], pairs[1])


def _per_atom(entry: Entry) -> bool:
    """Whether the predictions file's energies are divided by the number of atoms."""
    return entry.bundle.config.get("energy_per_atom") is not False


def _by_element(
    predictions: Predictions, structures: Structures, contains: Contains, *, per_atom: bool
) -> tuple[float | None, ...]:
    """eV/atom for each element of the dataset, by atomic number."""
    reference, predicted = predictions.values["energy"]
    of = predictions.structures["energy"]
    error = np.full(len(structures.num_atoms), np.nan)
    error[of] = np.abs(predicted - reference) / (1 if per_atom else structures.num_atoms[of])
    return tuple(_mean(error[contains.structure[contains.number == z]]) for z in np.unique(contains.number))


def _mean(errors: Floats) -> float | None:
    there = errors[np.isfinite(errors)]
    return float(there.mean()) if len(there) else None


def _elements(section: ScoreSection, contains: Contains, errors: Mapping[str, tuple[float | None, ...]]) -> Elements:
    unit = unit_of(section, "energy")
    name = unit.name if unit.name.endswith("/atom") else f"{unit.name}/atom"
    numbers, counts = np.unique(contains.number, return_counts=True)
    scaled = {
        label: tuple(None if value is None else value * unit.factor for value in values)
        for label, values in errors.items()
    }
    return Elements(name, tuple(map(_symbol, numbers)), tuple(map(int, counts)), scaled)


def _symbol(number: int) -> str:
    return SYMBOLS[number] if 0 <= number < len(SYMBOLS) else f"Z={number}"
