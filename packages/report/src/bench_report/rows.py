"""The rows of a table as data: what every library did with one transform, compared. Every format is a view of this."""

from collections.abc import Mapping

import msgspec
from bench_core.results import Measurement, Status
from bench_core.statistics import Ratio, Summary, speed_ratio

from bench_report.comparison import compare_all, fastest, winner
from bench_report.conditions import differences
from bench_report.sections import Column, Section

NOT_RUN = "not run"


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One library and one transform. `status` is a Status or NOT_RUN; unless it is ok, `reason` says why."""

    status: str
    reason: str | None = None
    measurement: Measurement | None = None
    ratio: Ratio | None = None  # to the row's baseline; absent for the baseline itself and where there is nothing
    copy_share: Ratio | None = None  # its speed over that of a plain copy of the same items

    @property
    def summary(self) -> Summary | None:
        """The timing to show: only of what is ok."""
        return self.measurement.summary if self.measurement and self.status == Status.OK else None


class Row(msgspec.Struct, frozen=True):
    """One transform. `baseline` is the library that ratios refer to; absent when it has no number here."""

    transform: str
    cells: Mapping[str, Cell]  # by library, in the order of the columns
    baseline: str | None
    winner: str | None
    ratios: Mapping[tuple[str, str], Ratio]  # (library, other) -> speed of the first over the second

    @property
    def measured(self) -> tuple[str, ...]:
        """Libraries that have a number."""
        return tuple(library for library, cell in self.cells.items() if cell.summary)

    @property
    def comparable(self) -> bool:
        return len(self.measured) > 1


def build_rows(section: Section, baseline: str | None = None) -> tuple[Row, ...]:
    """Compare the libraries of a table, transform by transform.

    Args:
        baseline: the library that ratios refer to; None is each row's fastest.
    """
    mixed = bool(differences(section))
    return tuple(_row(section, transform, baseline, mixed=mixed) for transform in section.transforms)


def _row(section: Section, transform: str, baseline: str | None, *, mixed: bool) -> Row:
    ratios = compare_all(section.columns, transform)
    base = baseline or fastest(ratios)
    cells = {
        column.library: _cell(column, transform, ratios.get((column.library, base)) if base else None)
        for column in section.columns
    }
    has_number = base in cells and cells[base].summary is not None if base else False
    return Row(
        transform=transform,
        cells=cells,
        baseline=base if has_number else None,
        winner=None if mixed else winner(ratios),
        ratios=ratios,
    )


def _cell(column: Column, transform: str, ratio: Ratio | None) -> Cell:
    found = column.measurement(transform)
    if found is None:
        return Cell(status=NOT_RUN, reason=f"run {column.bundle.run_id} was not asked to measure it")
    samples = column.samples(transform)
    return Cell(
        status=found.status.value,
        reason=found.reason,
        measurement=found,
        ratio=ratio,
        copy_share=speed_ratio(samples, column.copy_samples(transform)) if samples else None,
    )
