"""A report: every table of some committed runs, with the rows behind it. Writers and documents are made from it."""

from collections.abc import Iterable

import msgspec
from bench_core import suggest
from bench_core.bundle import Bundle
from bench_core.errors import BenchError

from bench_report.captions import how_to_read
from bench_report.columns import choose_columns, of_libraries
from bench_report.conditions import refuse_mixtures
from bench_report.figures import DEFAULT_UNIT, UNITS, Unit
from bench_report.highlights import highlights, sentences
from bench_report.means import Mean, geometric_means, sentence
from bench_report.rows import Row, build_rows
from bench_report.scores import conditions as score_conditions
from bench_report.scores.part import ScorePart, build_score_part
from bench_report.scores.sections import ScoreSection, of_models, score_sections
from bench_report.scores.views import how_to_read as how_to_read_scores
from bench_report.sections import Section, sections
from bench_report.table import Sheet
from bench_report.views import build_sheet


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader chose. `baseline` None is each row's fastest library."""

    unit: Unit = UNITS[DEFAULT_UNIT]
    baseline: str | None = None
    copy_share: bool = False
    allow_mixed: bool = False
    columns: tuple[str, ...] = ()  # libraries and models to show, columns of the CSV and the JSON records; none is all


class Part(msgspec.Struct, frozen=True):
    """One section with everything made of it."""

    section: Section
    rows: tuple[Row, ...]
    sheet: Sheet
    highlights: tuple[str, ...]
    means: tuple[Mean, ...]  # over all transforms together; their sentence is among the highlights


class Report(msgspec.Struct, frozen=True):
    """`fields` are the columns of the CSV and the JSON records: of speeds, and of scores.

    `how_to_read` is about `parts`, which hold speeds; `how_to_read_scores` is about `score_parts`.
    """

    options: Options
    fields: tuple[str, ...]
    how_to_read: tuple[str, ...]
    parts: tuple[Part, ...]
    score_fields: tuple[str, ...] = ()
    how_to_read_scores: tuple[str, ...] = ()
    score_parts: tuple[ScorePart, ...] = ()

    @property
    def sections(self) -> tuple[Section | ScoreSection, ...]:
        """Every table's rows with their runs."""
        return tuple(part.section for part in self.all_parts)

    @property
    def all_parts(self) -> tuple[Part | ScorePart, ...]:
        return (*self.parts, *self.score_parts)


def build_report(bundles: Iterable[Bundle], options: Options) -> Report:
    """Compare what the runs measured.

    Raises:
        BenchError: nothing to report, a library or model that is in two runs, a mixture of conditions that is not
            allowed, or a baseline that is nowhere.
    """
    bundles = tuple(bundles)
    found, scored = sections(bundles), score_sections(bundles)
    if not found and not scored:
        raise BenchError("the runs hold no result to report")
    chosen = choose_columns(found, scored, options.columns)
    found, scored = of_libraries(found, chosen.libraries), of_models(scored, chosen.models)
    if not options.allow_mixed:
        refuse_mixtures(found)
        score_conditions.refuse_mixtures(scored)
    _check_baseline(found, options.baseline)
    return Report(
        options=options,
        fields=chosen.fields,
        how_to_read=how_to_read(options.unit, options.baseline) if found else (),
        parts=tuple(_part(section, options) for section in found),
        score_fields=chosen.score_fields,
        how_to_read_scores=how_to_read_scores() if scored else (),
        score_parts=tuple(map(build_score_part, scored)),
    )


def compact_sheet(part: Part, options: Options) -> Sheet:
    """The sheet for a front page: one table, of the rows that compare something."""
    comparable = [row for row in part.rows if row.comparable]
    sheet = build_sheet(part.section, comparable, options.unit, baseline=options.baseline)
    return msgspec.structs.replace(sheet, tables=sheet.tables[:1])


def _part(section: Section, options: Options) -> Part:
    rows = build_rows(section, options.baseline)
    sheet = build_sheet(section, rows, options.unit, baseline=options.baseline, copy_share=options.copy_share)
    means = geometric_means(section, rows, options.baseline)
    told = sentences(highlights(section, rows)) + ((sentence(means),) if means else ())
    return Part(section, rows, sheet, told, means)


def _check_baseline(found: Iterable[Section], baseline: str | None) -> None:
    libraries = sorted({column.library for section in found for column in section.columns})
    if baseline is not None and baseline not in libraries:
        raise suggest.unknown("library", baseline, libraries, source="--baseline")
