"""Which scores stand in one table: every model of a dataset and device, from one run or several."""

from collections.abc import Iterable

import msgspec
from bench_core.bundle import Bundle
from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_file
from bench_core.results import Status
from bench_core.scores import (
    PREDICTIONS_SUFFIX,
    STRUCTURES,
    Predictions,
    Score,
    ScoreResult,
    Structures,
    read_predictions,
    read_structures,
    stem_of,
)

from bench_report.table import short

FINGERPRINT_DIGITS = 8


class Metric(msgspec.Struct, frozen=True):
    """One column of a table. The same metric in two units is two columns."""

    column: str  # energy_mae
    target: str
    name: str  # mae
    unit: str

    @property
    def head(self) -> str:
        return f"{short(self.column)} [{short(self.unit)}]" if self.unit else short(self.column)


class Entry(msgspec.Struct, frozen=True):
    """One model of a table: its result and the run it comes from. `name` is the result's path in the run."""

    bundle: Bundle
    name: str
    result: ScoreResult

    @property
    def label(self) -> str:
        return self.result.label

    @property
    def ok(self) -> bool:
        return self.result.status is Status.OK

    @property
    def version(self) -> str | None:
        """The package of its family and that package's version; None when it could not be imported."""
        return next((f"{package} {version}" for package, version in self.result.versions.items()), None)

    def score(self, metric: Metric) -> Score | None:
        """What it has in a column, with or without a value."""
        found = self.result.scores.get(metric.column)
        return found if found and found.unit == metric.unit else None

    def predictions(self) -> Predictions:
        """What it said of every structure.

        Raises:
            BenchError: the file is damaged, or not what was committed.
        """
        name = f"{stem_of(self.name)}{PREDICTIONS_SUFFIX}"
        _check(self.bundle, name)
        return read_predictions(self.bundle.path / name)


class ScoreSection(msgspec.Struct, frozen=True):
    """One table: the models of a dataset and device, in the order of their configuration, older runs first."""

    title: str
    entries: tuple[Entry, ...]

    @property
    def dataset(self) -> str:
        return self.entries[0].result.data.name

    @property
    def device(self) -> str:
        return self.entries[0].result.device

    @property
    def results(self) -> tuple[ScoreResult, ...]:
        return tuple(entry.result for entry in self.entries)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The columns, in the order in which the results name them."""
        scores = (score for result in self.results for score in result.scores.values())
        found = (Metric(f"{score.target}_{score.metric}", score.target, score.metric, score.unit) for score in scores)
        return tuple(dict.fromkeys(found))

    def named(self, target: str) -> str:
        """What a picture of a target shows: where the data know the pressure alone, that is compared of a stress."""
        return "pressure" if target == "stress" and self.entries[0].result.data.pressure_only else target

    def having(self, metric: Metric) -> tuple[ScoreResult, ...]:
        """The results with something in a column: those that are compared in it."""
        return tuple(entry.result for entry in self.entries if entry.score(metric))

    @property
    def bundles(self) -> tuple[Bundle, ...]:
        """The runs it comes from, oldest first."""
        found = {entry.bundle.run_id: entry.bundle for entry in self.entries}
        return tuple(sorted(found.values(), key=lambda bundle: (bundle.created_at, bundle.run_id)))

    def structures(self) -> Structures:
        """What the dataset's structures are made of, and their groups: of the first model that was scored.

        Raises:
            BenchError: the file is damaged, or not what was committed; or no model was scored.
        """
        entry = next((entry for entry in self.entries if entry.result.scores), None)
        if entry is None:
            raise BenchError(f"{self.title}: no model was scored, so there is nothing to look at")
        folder = entry.name.rpartition("/")[0]
        name = f"{folder}/{STRUCTURES}" if folder else STRUCTURES
        _check(entry.bundle, name)
        return read_structures(entry.bundle.path / name)


def score_sections(bundles: Iterable[Bundle]) -> tuple[ScoreSection, ...]:
    """Put the scores of all runs into tables; data of another content are another dataset, whatever their name.

    Raises:
        BenchError: a model was scored twice for the same table; both runs are named.
    """
    tables: dict[tuple[str, str, str], dict[str, Entry]] = {}
    for bundle in sorted(bundles, key=lambda bundle: (bundle.created_at, bundle.run_id)):
        for name, result in _in_order(bundle):
            entries = tables.setdefault((result.data.name, result.device, result.data.fingerprint), {})
            if result.label in entries:
                raise _twice(entries[result.label], bundle)
            entries[result.label] = Entry(bundle, name, result)
    return tuple(
        ScoreSection(_title(key, list(tables)), tuple(entries.values())) for key, entries in sorted(tables.items())
    )


def of_models(found: Iterable[ScoreSection], labels: Iterable[str]) -> tuple[ScoreSection, ...]:
    """Tables of these models alone: who is best is decided among those that are shown."""
    wanted = set(labels)
    kept = (
        msgspec.structs.replace(section, entries=tuple(e for e in section.entries if e.label in wanted))
        for section in found
    )
    return tuple(section for section in kept if section.entries)


def _in_order(bundle: Bundle) -> list[tuple[str, ScoreResult]]:
    """The scores of a run as its configuration names the models."""
    models = bundle.config.get("models")
    labels = [str(m.get("label")) for m in models if isinstance(m, dict)] if isinstance(models, list) else []
    place = {label: index for index, label in enumerate(labels)}
    return sorted(bundle.scores.items(), key=lambda item: place.get(item[1].label, len(place)))


def _title(key: tuple[str, str, str], tables: list[tuple[str, str, str]]) -> str:
    name, device, fingerprint = key
    alike = sum(other[:2] == key[:2] for other in tables)
    title = f"{name}, scores, {device}"
    return title if alike == 1 else f"{title}, fingerprint {fingerprint[:FINGERPRINT_DIGITS]}"


def _twice(one: Entry, other: Bundle) -> BenchError:
    return BenchError(
        f"the model {one.label} ({one.result.data.name}, {one.result.device}) is in two of the runs: "
        f"{one.bundle.path} and {other.path}; a table holds one score of each model. "
        "Leave one of the runs out, or report them apart with two --output folders"
    )


def _check(bundle: Bundle, name: str) -> None:
    """A file of a run once more against its commitment: time has passed since the run was loaded.

    Raises:
        BenchError: the run has no such file, or it was changed.
    """
    path = bundle.path / name
    try:
        same = name in bundle.files and sha256_file(path) == bundle.files[name]
    except OSError as error:
        raise BenchError(f"{path}: cannot be read ({error.strerror})", ExitCode.BUNDLE) from error
    if not same:
        raise BenchError(f"{path}: was changed after the run; the bundle is damaged", ExitCode.BUNDLE)
