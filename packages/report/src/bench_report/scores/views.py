"""From scores to the sheet that is printed: errors, differences to the best, and what the models are."""

from collections.abc import Callable, Iterator, Sequence

from bench_core import metrics, policy
from bench_core.bundle import Bundle
from bench_core.ranking import best_label, contenders, leader
from bench_core.scores import ScoreResult

from bench_report.captions import date, percent_exact
from bench_report.figures import SPACE, milliseconds, number
from bench_report.scores.conditions import differences, notices
from bench_report.scores.figures import probability, scored, signed
from bench_report.scores.pairs import Pair, Pairs
from bench_report.scores.sections import Entry, Metric, ScoreSection
from bench_report.table import Cell, Notes, Sheet, Table, short

DIFFERS = "≠"
MB = 1e6
UNKNOWN = "unknown"
OTHER_STRUCTURES = "models were scored on as many structures, but not the same ones, so none of them leads"
FINGERPRINT_DIGITS = 12


def build_score_sheet(section: ScoreSection, pairs: Pairs) -> Sheet:
    """Everything that is said about one dataset."""
    notes = Notes()
    tables = [_errors(section, notes)]
    if pairs:
        tables.append(_differences(section, pairs, notes))
    tables.append(_models(section, notes))
    sure = percent_exact(1 - policy.CONFIDENCE)
    legend = [(DIFFERS, f"differs from the best: p at most {sure}, adjusted for every pair that could have been shown")]
    return Sheet(
        title=section.title,
        caption=caption(section),
        notices=notices(section),
        tables=tuple(tables),
        legend=tuple(legend if any(pair.differs for pair in pairs.values()) else ()),
        notes=notes.texts(),
    )


def how_to_read() -> tuple[str, ...]:
    """The same for every table of scores."""
    sure = percent_exact(1 - policy.CONFIDENCE)
    return (
        f"A score stands with its {percent_exact(policy.CONFIDENCE)} interval. Bold is best: its interval is apart "
        "from that of every other model, and no model was scored on more structures. A column without bold has no "
        "best; max_abs never has one, as its interval has no upper side.",
        "A difference is a model's score minus that of the best of the column, on the structures that both scored, "
        "with the interval of that difference. The same groups of structures are drawn for both, so it can be sure "
        "where intervals of the two scores overlap (paired percentile bootstrap, Efron and Tibshirani 1993).",
        "Its p-value is that of flipping the sign of each group's difference (Fisher 1935; Phipson and Smyth 2010), "
        "for mae, mse and rmse. The best is chosen by the same data, so it is adjusted for all pairs of the column, by "
        "the largest of their sums in each flip (Westfall and Young 1993). "
        f"{DIFFERS} marks p of at most {sure}.",
        "A model that learned from another level of theory than that of the labels is charged for the difference "
        "between the two as well. The time is the median over structures of predicting one, neighbour lists and "
        "metrics not counted; memory is the largest that the model's process held, the libraries it loaded included.",
    )


def highlights(section: ScoreSection, pairs: Pairs) -> tuple[str, ...]:
    """One sentence for each metric: who has the best value, and who is told apart from it."""
    if differences(section):
        return ()
    return tuple(told for metric in section.metrics if (told := _highlight(section, metric, pairs)))


def caption(section: ScoreSection) -> tuple[str, ...]:
    """One line per run: who, when, data, machine."""
    lines = [_of_run(section, bundle) for bundle in section.bundles]
    grouped = any(result.data.num_groups < result.data.num_structures for result in section.results)
    return (*lines, metrics.what_intervals_cover(grouped=grouped))


def data(result: ScoreResult) -> str:
    """What was scored, in words."""
    found = result.data
    groups = "" if found.num_groups == found.num_structures else f" in {number(found.num_groups, 0)} groups"
    theory = f"labelled at {short(found.level_of_theory)}" if found.level_of_theory else "level of theory unknown"
    return (
        f"{number(found.num_structures, 0)} structures{groups} of {short(found.name)}, {theory} "
        f"(fingerprint {found.fingerprint[:FINGERPRINT_DIGITS]}); energies relative to {short(found.zero)}"
        + ("; of stresses the pressure alone is labelled and compared" if found.pressure_only else "")
    )


def machine(bundle: Bundle, results: Sequence[ScoreResult]) -> str:
    """The machine as the scoring processes saw it, and the commit of bench that scored."""
    found = next((result.conditions for result in results if result.conditions), None)
    told = []
    if found:
        threads = f"{found.threads_asked} thread{'' if found.threads_asked == 1 else 's'}"
        told = [found.cpu if found.device == "cpu" else f"{found.device}, {found.cpu}", found.platform, found.python]
        told.append(threads)
    commit = bundle.environment.get("git_commit")
    if commit:
        changed = " with uncommitted changes" if bundle.environment.get("git_dirty") else ""
        told.append(f"bench at {str(commit)[:12]}{changed}")
    return ", ".join(map(short, told)) or "Nothing was scored"


def _of_run(section: ScoreSection, bundle: Bundle) -> str:
    results = [entry.result for entry in section.entries if entry.bundle.run_id == bundle.run_id]
    count = f"{len(results)} model{'' if len(results) == 1 else 's'}"
    told = f"Run {short(bundle.run_id)}, {date(bundle.created_at)}: {count} on {data(results[0])}"
    return f"{told}. {machine(bundle, results)}"


def _highlight(section: ScoreSection, metric: Metric, pairs: Pairs) -> str | None:
    best = leader(section.having(metric), metric.column)
    if best is None:
        return f"{metric.column}: {OTHER_STRUCTURES}" if _has_no_contender(section, metric) else None
    result = next(entry.result for entry in section.entries if entry.label == best)
    value = result.scores[metric.column].value
    assert value is not None
    text, _ = scored(value, None, None)
    others = {label: pair for (label, of), pair in pairs.items() if of == metric}
    worse = [short(label) for label, pair in others.items() if pair.differs]
    unsure = [short(label) for label, pair in others.items() if pair.p_adjusted is not None and not pair.differs]
    told = [f"{metric.column}: {short(best)} has the best value, {text} {metric.unit}".rstrip()]
    if worse:
        told.append(f"told apart from it in pairs: {', '.join(worse)}")
    if unsure:
        told.append(f"not told apart: {', '.join(unsure)}")
    return "; ".join(told).replace(SPACE, " ")  # a terminal shows it too


def _has_no_contender(section: ScoreSection, metric: Metric) -> bool:
    """Whether there are values, and no model that others can be compared with."""
    scores = (entry.score(metric) for entry in section.entries)
    there = any(score and score.value is not None for score in scores)
    able = contenders(section.having(metric), metric.column)
    return there and metrics.is_built_in(metric.name) and not able  # by one of one's own nobody leads anyway


def _errors(section: ScoreSection, notes: Notes) -> Table:
    mixed = bool(differences(section))
    best = {m: None if mixed else best_label(section.having(m), m.column) for m in section.metrics}

    def cells(entry: Entry) -> Iterator[Cell]:
        for metric in section.metrics:
            yield _score(entry, metric, notes, strong=best[metric] == entry.label)
        yield _coverage(entry, notes)
        yield from _costs(entry)

    heads = ("model", *(metric.head for metric in section.metrics), "scored", "ms per structure", "peak memory, MB")
    return Table("Errors", heads, _grid(section, cells))


def _differences(section: ScoreSection, pairs: Pairs, notes: Notes) -> Table:
    without = {metric for metric in section.metrics if _has_no_contender(section, metric)}

    def cells(entry: Entry) -> Iterator[Cell]:
        for metric in section.metrics:
            pair = pairs.get((entry.label, metric))
            if pair is not None:
                yield _pair(pair, notes)
            elif leader(section.having(metric), metric.column) == entry.label:
                yield Cell("best value")
            else:
                yield _score(entry, metric, notes, value=False, why=OTHER_STRUCTURES if metric in without else None)

    heads = ("model", *(metric.head for metric in section.metrics))
    return Table("Difference to the best of the column, in pairs", heads, _grid(section, cells))


def _models(section: ScoreSection, notes: Notes) -> Table:
    def cells(entry: Entry) -> Iterator[Cell]:
        result = entry.result
        yield Cell(short(result.family))
        yield Cell(short(entry.version or UNKNOWN))
        yield Cell(short(result.checkpoint or "none"))
        yield Cell(short(result.level_of_theory or UNKNOWN))
        yield Cell(short(result.data.level_of_theory or UNKNOWN))
        yield Cell(UNKNOWN if result.num_parameters is None else number(result.num_parameters, 0))
        cutoff = result.cutoff_angstrom
        yield Cell(UNKNOWN if cutoff is None else f"{cutoff:g}{SPACE}Å")
        yield _status(result, notes)

    heads = (
        "model",
        "family",
        "package",
        "checkpoint",
        "level of theory: model",
        "data",
        "parameters",
        "cutoff",
        "status",
    )
    return Table("Models", heads, _grid(section, cells))


def _grid(section: ScoreSection, cells: Callable[[Entry], Iterator[Cell]]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    return tuple((short(entry.label), tuple(cells(entry))) for entry in section.entries)


def _score(
    entry: Entry, metric: Metric, notes: Notes, *, strong: bool = False, value: bool = True, why: str | None = None
) -> Cell:
    """The score with its interval, or the word for why there is none; without `value`, only that, and why if known."""
    found = entry.score(metric)
    if not entry.ok and found is None:
        return _status(entry.result, notes)
    if found is None:
        return Cell("not scored")
    if found.value is None:
        return Cell("none", notes=(notes.number(f"{metric.column}: {found.reason}"),))
    if not value:
        return Cell("not compared", notes=(notes.number(f"{metric.column}: {why}"),) if why else ())
    text, interval = scored(found.value, found.low, found.high)
    return Cell(text, interval, strong=strong, notes=(notes.number(found.told),) if found.told else ())


def _pair(pair: Pair, notes: Notes) -> Cell:
    found = pair.found
    if found is None:
        return Cell("not compared", notes=(notes.number(pair.reason or "no reason is recorded"),))
    text, interval = signed(found.value, found.low, found.high)
    told = [interval] if interval else []
    if pair.p_adjusted is not None:
        told.append(f"p{SPACE}{probability(pair.p_adjusted)}")
    return Cell(text, ", ".join(told) or None, mark=DIFFERS if pair.differs else None)


def _coverage(entry: Entry, notes: Notes) -> Cell:
    """How many structures were scored; why not all is a footnote that models share."""
    found = entry.result.coverage
    if found is None:
        return Cell(f"0 of {number(entry.result.data.num_structures, 0)}")
    told = tuple(notes.number(text) for text in found.told)
    return Cell(f"{number(found.num_scored, 0)} of {number(found.num_structures, 0)}", notes=told)


def _costs(entry: Entry) -> Iterator[Cell]:
    timing = entry.result.timing
    if timing is None:
        yield from (Cell("–"), Cell("–"))
        return
    sec = timing.median_sec_per_structure
    yield Cell(milliseconds(sec).removesuffix(f"{SPACE}ms"))
    yield Cell("–" if timing.peak_rss_bytes is None else number(timing.peak_rss_bytes / MB, 0))


def _status(result: ScoreResult, notes: Notes) -> Cell:
    if not result.reason:
        return Cell(result.status.value)
    return Cell(result.status.value, notes=(notes.number(f"{result.status}: {result.reason}"),))
