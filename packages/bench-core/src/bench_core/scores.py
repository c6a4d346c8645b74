"""The score of one model on one dataset: the file other people read. Versioned, validated on write and on read.

Beside it lie the predictions it was computed from (`<stem>_predictions.npz`, see `Predictions`); every score of a
built-in metric is computed again from them when a bundle is read. Numbers are finite or absent.
"""

import io
import math
import zipfile
import zlib
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench_core import policy
from bench_core.draws import Draws
from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_bytes, write_atomically
from bench_core.metrics import Floats, Ints, Values, built_in, interval_around, is_built_in, num_groups, value_of
from bench_core.results import MAX_FILE_BYTES, Conditions, Natural, Status, Strict

SCHEMA_VERSION = 1
SUFFIX = "_score_results.json"
PREDICTIONS_SUFFIX = "_predictions.npz"
STRUCTURES = "structures.npz"
SAME_END = 1e-6  # what ends of an interval may differ by, of their size: processors sum in another order
MAX_ARRAYS_BYTES = 2 * 1024**3
TARGETS = ("energy", "forces", "stress")
Arrays = dict[str, NDArray[Any]]
# What zipfile, zlib and numpy raise over a file that somebody damaged or made up.
_UNREADABLE = (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, RuntimeError, MemoryError)
Positive = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class ScoredData(Strict, frozen=True):
    """What was scored, the same for every model."""

    name: str
    num_structures: Natural
    num_groups: Natural
    fingerprint: str  # SHA-256 over the structures and labels
    level_of_theory: str | None
    zero: str  # what energies are relative to, in words
    pressure_only: bool = False  # of a stress only the mean of its first three components is a label, and compared


class Coverage(Strict, frozen=True):
    """How much of the data a model scored."""

    num_structures: Natural
    num_scored: Natural  # predicted without failing, finite or not
    num_nonfinite: Natural = 0  # of these, with a prediction that is no finite number
    missing_elements: dict[str, Natural] = msgspec.field(default_factory=dict)  # symbol -> structures left out for it
    num_failed: Natural = 0
    failures: tuple[str, ...] = ()  # the first few: structure and message

    @property
    def told(self) -> tuple[str, ...]:
        """What a reader has to know of structures that were not scored, or not with numbers; empty where all were."""
        parts = []
        if self.missing_elements:
            listed = ", ".join(f"{symbol} ({count})" for symbol, count in self.missing_elements.items())
            parts.append(f"does not know {listed} (structures with it)")
        if self.num_failed:
            parts.append(f"{self.num_failed} failed: {'; '.join(self.failures)}")
        if self.num_nonfinite:
            parts.append(f"{self.num_nonfinite} predicted with values that are no finite numbers")
        return tuple(parts)


class Score(Strict, frozen=True):
    """One metric of one target. `value` is absent where it cannot be had, and then `reason` says why."""

    target: str
    metric: str
    unit: str  # empty for a pure number
    factor: float  # what the predictions file's eV and angstrom are multiplied by
    value: float | None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    num_values: Natural = 0
    num_structures: Natural = 0
    num_groups: Natural = 0
    structures_sha256: str | None = None  # of which structures were compared, see `digest_of`
    num_labelled: Natural = 0  # structures with a label of the target that could have been compared
    reason: str | None = None

    @property
    def told(self) -> str | None:
        """What a reader has to know where fewer structures were compared than are labelled; None where all were."""
        if self.value is None or self.num_structures >= self.num_labelled:
            return None
        groups = f" in {self.num_groups} groups" if self.num_groups < self.num_structures else ""
        return f"{self.target}: {self.num_structures} of {self.num_labelled} structures{groups}"


class ModelTiming(Strict, frozen=True):
    """What a model took: its own calls, loading it, and what the engine added (lists, batches, metrics, files)."""

    median_sec_per_structure: Positive
    predict_sec: Positive
    load_sec: Positive
    engine_sec: Positive
    at_once: Natural  # models that were scored beside each other: more than one, and times say little
    peak_rss_bytes: Natural | None = None  # of the process, where it scored this model alone


class ScoreResult(Strict, frozen=True):
    """Everything about one model: one row of the table."""

    schema_version: int
    kind: Literal["score"]
    run_id: str
    created_at: str
    label: str
    family: str
    device: str
    checkpoint: str | None
    checkpoint_sha256: str | None
    trusted: bool  # the checkpoint was allowed to run code of its own
    status: Status
    data: ScoredData
    config_sha256: str
    seed: int
    reason: str | None = None
    detail: str | None = None
    level_of_theory: str | None = None
    num_parameters: Natural | None = None
    cutoff_angstrom: Positive | None = None
    coverage: Coverage | None = None
    scores: dict[str, Score] = msgspec.field(default_factory=dict)  # by column: energy_mae
    timing: ModelTiming | None = None
    versions: dict[str, str] = msgspec.field(default_factory=dict)  # the family's own first
    conditions: Conditions | None = None
    num_processes: Natural = 1  # over which the structures were shared


class Predictions(msgspec.Struct, frozen=True):
    """What a model said, as it is compared: eV or eV/atom, eV/angstrom, eV/angstrom^3, after the energies' zero.

    Each of `values` has one entry per component; `structures` says, for each entry, which structure it is of.
    """

    values: dict[str, tuple[Floats, Floats]]  # target -> (reference, predicted)
    structures: dict[str, Ints]
    raw_energy: Floats  # (num_structures,) eV as predicted; NaN where a structure was not scored
    seconds: Floats  # (num_structures,) NaN where a structure was not scored

    def of(self, target: str, groups: Ints) -> Values:
        """The values of a target, with dense group numbers from the group of every structure."""
        reference, predicted = self.values[target]
        _, dense = np.unique(groups[self.structures[target]], return_inverse=True)
        return Values(reference, predicted, dense.astype(np.int64))


class Structures(msgspec.Struct, frozen=True):
    """What the structures were made of, for errors by element and for names in plots."""

    names: tuple[str, ...]
    groups: Ints  # (num_structures,)
    num_atoms: Ints  # (num_structures,)
    numbers: Ints  # (all atoms,) atomic numbers, structure after structure


def digest_of(structures: Ints) -> str:
    """SHA-256 over the numbers of the structures in a comparison, each once: equal where two models share them all."""
    return sha256_bytes(np.unique(structures).astype("<i8").tobytes())


def stem_of(path: str) -> str:
    """`dcdft/CHGNet_score_results.json` -> `dcdft/CHGNet`."""
    return path.removesuffix(SUFFIX)


def encode(result: ScoreResult) -> bytes:
    return msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"


def write_score(path: Path, result: ScoreResult) -> None:
    """Validate and write one result.

    Raises:
        BenchError: it says something that cannot be.
    """
    data = encode(result)
    decode_score(data, path)
    write_atomically(path, data)


def read_score(path: Path) -> ScoreResult:
    """Read one result file; `check_score` compares it with its predictions.

    Raises:
        BenchError: missing, too large, truncated, of an unknown version, or not what it should be.
    """
    return decode_score(_read(path, MAX_FILE_BYTES), path)


def decode_score(data: bytes, path: Path) -> ScoreResult:
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _damaged(path, f"not valid JSON ({error}); was it cut off?") from error
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA_VERSION:
        raise _damaged(
            path,
            f"schema version {version!r} is not known here (this is version {SCHEMA_VERSION}); "
            "read it with the version of bench that wrote it",
        )
    try:
        result = msgspec.convert(raw, ScoreResult)
    except msgspec.ValidationError as error:
        raise _damaged(path, str(error)) from error
    _check_sense(result, path)
    return result


def _check_sense(result: ScoreResult, path: Path) -> None:
    if result.status is not Status.OK and not result.reason:
        raise _damaged(path, f"status {result.status} without a reason")
    if result.status is Status.OK and (result.coverage is None or result.timing is None or not result.scores):
        raise _damaged(path, "status ok without coverage, time or scores")
    for column, score in result.scores.items():
        if score.value is None and not score.reason:
            raise _damaged(path, f"{column}: no value and no reason")
        if column != f"{score.target}_{score.metric}":
            raise _damaged(path, f"{column}: holds {score.target}_{score.metric}")
        if score.num_labelled > result.data.num_structures:
            raise _damaged(path, f"{column}: more structures are labelled than there are")
        if (score.low is None) is not (score.high is None):
            raise _damaged(path, f"{column}: has one end of an interval without the other")
        for low, high in ((score.low, score.value), (score.value, score.high)):
            if low is not None and high is not None and low > high:
                raise _damaged(path, f"{column}: the value lies outside its interval")


def check_score(
    result: ScoreResult, predictions: Predictions, groups: Ints, path: Path, draws: Draws | None = None
) -> None:
    """Compute every score of a built-in metric again from the predictions, and its interval from the seed.

    Args:
        draws: of the result's seed, where they are shared between models.

    Raises:
        BenchError: one does not follow from them.
    """
    draws = draws or Draws(result.seed)
    for column, score in result.scores.items():
        if score.value is None:
            continue
        if score.target not in predictions.values:
            raise _damaged(path, f"{column}: there is no prediction of it beside the result")
        if predictions.structures[score.target].max(initial=-1) >= len(groups):
            raise _damaged(path, f"{column}: predicted for a structure that is not among those beside the result")
        values = predictions.of(score.target, groups)
        if (len(values.reference), num_groups(values)) != (score.num_values, score.num_groups):
            raise _damaged(path, f"{column}: counts other values or groups than there are predictions of")
        compared = predictions.structures[score.target]
        if (len(np.unique(compared)), digest_of(compared)) != (score.num_structures, score.structures_sha256):
            raise _damaged(path, f"{column}: counts other structures than there are predictions of")
        if not is_built_in(score.metric):
            continue
        value = value_of(built_in(score.metric), values)
        found = value * score.factor
        if not math.isclose(found, score.value, rel_tol=1e-9, abs_tol=1e-12):
            raise _damaged(
                path, f"{column}: {score.value:g} does not follow from the predictions, which give {found:g}"
            )
        if is_redrawn(score):
            _check_interval(score, value, values, draws, path)


def is_redrawn(score: Score) -> bool:
    """Whether the interval is computed again when a run is read: not of metrics of one's own, nor of very many groups.

    No value has no interval, which is nothing to compute again.
    """
    return score.value is None or (is_built_in(score.metric) and score.num_groups <= policy.REDRAWN_GROUPS)


def _check_interval(score: Score, value: float, values: Values, draws: Draws, path: Path) -> None:
    found = None
    if score.num_groups >= policy.BOOTSTRAP_LEAST_GROUPS:
        resampled = built_in(score.metric)(values, draws.weights(score.num_groups))
        found = interval_around(value, resampled, score.confidence or policy.CONFIDENCE)
    due = (None, None) if found is None else (found[0] * score.factor, found[1] * score.factor)
    for said, end in ((score.low, due[0]), (score.high, due[1])):
        if said is None or end is None:
            same = said is end
        else:
            same = math.isclose(said, end, rel_tol=SAME_END, abs_tol=SAME_END * abs(score.factor) * 1e-3)
        if not same:
            raise _damaged(
                path,
                f"{score.target}_{score.metric}: an end of its interval, {said}, does not follow from the predictions "
                f"and the seed, which give {end}",
            )


def write_predictions(path: Path, predictions: Predictions) -> None:
    arrays: Arrays = {"raw_energy": predictions.raw_energy, "seconds": predictions.seconds}
    for target, (reference, predicted) in predictions.values.items():
        arrays[f"{target}_reference"], arrays[f"{target}_predicted"] = reference, predicted
        arrays[f"{target}_structure"] = predictions.structures[target]
    write_arrays(path, arrays)


def read_predictions(path: Path) -> Predictions:
    """Read what `write_predictions` wrote.

    Raises:
        BenchError: missing, too large, damaged, or arrays that do not belong together.
    """
    arrays = read_arrays(path)
    values, structures = {}, {}
    try:
        for target in TARGETS:
            if f"{target}_predicted" in arrays:
                values[target] = _row(arrays, f"{target}_reference", "f"), _row(arrays, f"{target}_predicted", "f")
                structures[target] = _row(arrays, f"{target}_structure", "i")
                if not len(values[target][0]) == len(values[target][1]) == len(structures[target]):
                    raise _damaged(path, f"{target}: reference, prediction and structure differ in length")
        return Predictions(values, structures, _row(arrays, "raw_energy", "f"), _row(arrays, "seconds", "f"))
    except ValueError as error:
        raise _damaged(path, f"no predictions: {error}") from error


def write_structures(path: Path, structures: Structures) -> None:
    write_arrays(
        path,
        {
            "names": np.array(structures.names, dtype=str),
            "groups": structures.groups,
            "num_atoms": structures.num_atoms,
            "numbers": structures.numbers,
        },
    )


def read_structures(path: Path) -> Structures:
    """Read what `write_structures` wrote.

    Raises:
        BenchError: missing, too large or damaged.
    """
    arrays = read_arrays(path)
    names = tuple(str(name) for name in arrays.get("names", np.empty(0)).ravel())
    try:
        groups, num_atoms, numbers = (_row(arrays, name, "i") for name in ("groups", "num_atoms", "numbers"))
    except ValueError as error:
        raise _damaged(path, f"no structures: {error}") from error
    if not len(names) == len(groups) == len(num_atoms) or num_atoms.sum() != len(numbers):
        raise _damaged(path, "names, groups and numbers of atoms do not belong together")
    return Structures(names, groups, num_atoms, numbers)


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Write arrays as npz, whole or not at all."""
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    write_atomically(path, stream.getvalue())


def read_arrays(path: Path) -> Arrays:
    """Read an npz; nothing in it can run.

    Raises:
        BenchError: missing, too large, damaged, or holding objects.
    """
    data = _read(path, MAX_ARRAYS_BYTES)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:  # its own word on its size, before anything is unpacked
            if sum(info.file_size for info in archive.infolist()) > MAX_ARRAYS_BYTES:
                raise _damaged(path, f"unpacks to more than {MAX_ARRAYS_BYTES / 1e9:.0f} GB; it was not read")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return dict(file)
    except _UNREADABLE as error:
        raise _damaged(path, f"not an npz file of numbers ({error})") from error


def _row(arrays: Arrays, name: str, kind: str) -> NDArray[Any]:
    """An array of one dimension: of floating numbers (kind "f"), or of whole ones from 0 (kind "i").

    Raises:
        ValueError: it is not there, or is something else.
    """
    if name not in arrays:
        raise ValueError(f"there is no array {name}")
    array = arrays[name]
    if array.ndim != 1 or array.dtype != (np.float64 if kind == "f" else np.int64):
        raise ValueError(f"{name} is {array.dtype} of {array.ndim} dimensions")
    if kind == "i" and array.min(initial=0) < 0:
        raise ValueError(f"{name} holds a number below 0")
    return array


def _read(path: Path, limit_bytes: int) -> bytes:
    try:
        size = path.stat().st_size
        if size > limit_bytes:
            raise _damaged(path, f"{size / 1e6:.0f} MB is larger than anything we write; it was not read")
        return path.read_bytes()
    except OSError as error:
        raise BenchError(f"{path}: cannot be read ({error.strerror})", ExitCode.BUNDLE) from error


def _damaged(path: Path, what: str) -> BenchError:
    return BenchError(f"{path}: {what}", ExitCode.BUNDLE)
