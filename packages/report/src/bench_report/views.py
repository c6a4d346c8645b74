"""From rows to the sheet that is printed: which figure, mark and footnote stands in which cell."""

from collections.abc import Callable, Iterator, Sequence

from bench_core import policy
from bench_core.results import NOOP, YARDSTICK, Status
from bench_core.statistics import Ratio

from bench_report import rows as data
from bench_report.captions import caption, percent_exact
from bench_report.conditions import notices
from bench_report.figures import SPACE, Unit, microseconds, milliseconds, timing, variation, with_interval
from bench_report.rows import Row
from bench_report.sections import Column, Section
from bench_report.table import TEXT_LENGTH, Cell, Notes, Sheet, Table, short

FEW_PROCESSES = (
    f"measured in fewer than {policy.INTERVAL_PROCESSES} processes, too few for an interval that says anything, so no "
    "winner is named"
)
NOT_OFFERED = "–"
UNSTABLE = "≈"
REFERENCES = {NOOP: "no-op: the harness's own cost", YARDSTICK: "a plain copy of the item"}


def build_sheet(
    section: Section,
    rows: Sequence[Row],
    unit: Unit,
    *,
    baseline: str | None = None,
    copy_share: bool = False,
) -> Sheet:
    """Everything that is said about one section."""
    notes = Notes()
    tables = [_speed_table(section, rows, unit, notes)]
    if len(section.columns) > 1:
        tables.append(_ratio_table(section, rows, baseline, notes))
    if copy_share:
        tables.append(_copy_table(section, rows, notes))
    return Sheet(
        title=section.name,
        caption=caption(section),
        notices=notices(section),
        tables=tuple(tables),
        legend=_legend(section, rows),
        notes=notes.texts(),
    )


def _speed_table(section: Section, rows: Sequence[Row], unit: Unit, notes: Notes) -> Table:
    def figure(row: Row, library: str) -> Cell:
        cell = row.cells[library]
        summary = cell.summary
        if summary is None:
            return _without_number(library, cell, notes)
        text, interval = timing(unit, summary.median_sec, summary.low_sec, summary.high_sec)
        mark = UNSTABLE if summary.unstable else None
        told = tuple(notes.number(reservation) for reservation in _reservations(library, cell))
        return Cell(text, interval, strong=library == row.winner, mark=mark, notes=told)

    grid = _grid(section, rows, figure)  # first, so that footnotes are numbered as they are read
    references = tuple(
        (label, tuple(_reference(column, name, unit, notes) for column in section.columns))
        for name, label in REFERENCES.items()
    )
    return Table(unit.title, _heads(section), grid + references)


def _ratio_table(section: Section, rows: Sequence[Row], baseline: str | None, notes: Notes) -> Table:
    def figure(row: Row, library: str) -> Cell:
        cell = row.cells[library]
        if cell.summary is None:
            return _without_number(library, cell, notes)
        if not row.comparable:
            return Cell("alone", notes=(notes.number("the only library with a number: nothing to compare with"),))
        if row.baseline is None:
            return Cell("no baseline", notes=(notes.number(f"{baseline}, the baseline, has no number here"),))
        strong = library == row.winner
        return _ratio(cell.ratio, notes, strong=strong) if cell.ratio else Cell("1×", strong=strong)

    return Table(f"Speed over {baseline or 'the fastest of the row'}", _heads(section), _grid(section, rows, figure))


def _copy_table(section: Section, rows: Sequence[Row], notes: Notes) -> Table:
    def figure(row: Row, library: str) -> Cell:
        cell = row.cells[library]
        share = cell.copy_share
        if share is None:
            return _without_number(library, cell, notes)
        ends = [None if end is None else end * 100 for end in (share.low, share.high)]
        text, interval = with_interval(share.ratio * 100, *ends)
        return Cell(f"{text}{SPACE}%", interval)

    return Table("Speed over that of a plain copy of the same items", _heads(section), _grid(section, rows, figure))


def _grid(
    section: Section, rows: Sequence[Row], figure: Callable[[Row, str], Cell]
) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    libraries = [column.library for column in section.columns]
    return tuple((short(row.transform), tuple(figure(row, library) for library in libraries)) for row in rows)


def _heads(section: Section) -> tuple[str, ...]:
    return ("transform", *(short(f"{c.library} {c.version or '(version unknown)'}") for c in section.columns))


def _ratio(ratio: Ratio, notes: Notes, *, strong: bool) -> Cell:
    text, interval = with_interval(ratio.ratio, ratio.low, ratio.high)
    told = [] if ratio.paired else [notes.number("not measured in turns with what it is compared with")]
    if ratio.low is None:
        told.append(notes.number(FEW_PROCESSES))
    return Cell(f"{text}×", interval, strong=strong, notes=tuple(told))


def _reference(column: Column, name: str, unit: Unit, notes: Notes) -> Cell:
    found = column.result.references.get(name)
    if found is None:
        reason = f"{column.library}: nothing was timed, so neither were the reference rows"
        return Cell("not timed", notes=(notes.number(reason),))
    if name == NOOP:  # a cost, and as a rate so high that its figures would widen every column
        return Cell(microseconds(found.median_sec))
    text, interval = timing(unit, found.median_sec, found.low_sec, found.high_sec)
    return Cell(text, interval)


def _reservations(library: str, cell: data.Cell) -> Iterator[str]:
    """What a reader has to know of a number."""
    if cell.summary and cell.summary.low_sec is None:
        yield FEW_PROCESSES
    if cell.measurement and cell.measurement.output and not cell.measurement.output.changed:
        yield f"{library}: changed nothing in the image that was looked at"


def _without_number(library: str, cell: data.Cell, notes: Notes) -> Cell:
    """The word for why there is no number, with the reason as a footnote."""
    if cell.status == Status.UNSUPPORTED:
        return Cell(NOT_OFFERED)
    note = notes.number(f"{library}: {cell.status}: {cell.reason}")
    preflight = cell.measurement.preflight_sec if cell.measurement else None
    if cell.status == Status.SLOW and preflight is not None:
        return Cell(f"slow {milliseconds(preflight)}", notes=(note,))
    return Cell(cell.status, notes=(note,))


def _legend(section: Section, rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    """The marks that occur, with their meaning; and who was left out as a whole."""
    legend = []
    if any(cell.status == Status.UNSUPPORTED for row in rows for cell in row.cells.values()):
        legend.append((NOT_OFFERED, "not offered directly by the library; nothing is imitated"))
    unstable = [text for column in section.columns if (text := _unstable(column.library, rows))]
    if unstable:
        limit = percent_exact(policy.UNSTABLE_CV)
        told = f"unstable: process medians vary by more than {limit} (coefficient of variation). So do"
        legend.append((UNSTABLE, f"{told} {', '.join(unstable)}"))
    legend += [
        ("not in the table", f"{short(name)}: {short(why, TEXT_LENGTH)}") for name, why in section.excluded.items()
    ]
    return tuple(legend)


def _unstable(library: str, rows: Sequence[Row]) -> str:
    """How many cells of a library are, and by how much the worst; empty for none."""
    summaries = [found for row in rows if (found := row.cells[library].summary)]
    cvs = [found.cv for found in summaries if found.unstable and found.cv is not None]
    return f"{len(cvs)} of {len(summaries)} cells of {library} (up to {variation(max(cvs))})" if cvs else ""
