"""A comparison between runs as a reader sees it: Markdown fit for a pull request, and JSON."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from bench_core import policy
from bench_core.bundle import Bundle
from bench_core.results import Status
from bench_core.statistics import Verdict

from bench_report.captions import date, machine, percent_exact
from bench_report.compare import Compared, Turn
from bench_report.figures import UNITS, percent, timing, with_interval
from bench_report.markdown import escape, table_lines
from bench_report.regression import CellKey, Change, Movement, Rules
from bench_report.sides import Side
from bench_report.table import TEXT_LENGTH, Cell, Table, short

JSON_VERSION = 1
MAX_LISTED = 100  # rows or bullets of one kind: a comment on a pull request has a limit of its own


def to_markdown(compared: Compared) -> str:
    lines = ["## Speed compared", "", *_bullets(headline(compared))]
    lines += [*_runs(compared.base), *_runs(compared.new), ""]
    lines += _bullets(_versions(compared.base, compared.new))
    lines += _notes([f"Measured under different conditions: {text}" for text in compared.mixed])
    lines += _notes(compared.told)
    lines += _notes(f"{name}: {movement_text(found)}" for name, found in compared.movements.items())
    decided = [change for change in compared.changes if change.verdict is not Verdict.INCONCLUSIVE]
    rest = [change for change in compared.changes if change.verdict is Verdict.INCONCLUSIVE]
    lines += _tables("Slower or faster", sorted(decided, key=lambda change: change.ratio))
    lines += _list("Status changed", compared.turned, _turn)
    lines += _list("No longer there", compared.missing, lambda found: f"{_with_table(found[0])}, was {found[1]}")
    lines += _list("New", compared.added, lambda found: f"{_with_table(found[0])}, {found[1]}")
    if rest:
        folded = _tables("Inconclusive", rest)
        lines += ["<details>", f"<summary>Inconclusive: {len(rest)}</summary>", "", *folded, "</details>", ""]
    lines += [f"{escape(how_judged(compared.rules))}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def to_json(compared: Compared) -> str:
    """Everything, with the rules; ratios are of speed, NEW over BASE."""
    document = {
        "json_version": JSON_VERSION,
        "base": _json_side(compared.base),
        "new": _json_side(compared.new),
        "rules": {
            "min_effect": compared.rules.min_effect,
            "false_calls": compared.rules.false_calls,
            "control": compared.rules.control,
        },
        "regressed": compared.regressed,
        "mixed": compared.mixed,
        "told": compared.told,
        "movements": dict(compared.movements),
        "changes": compared.changes,
        "turned": compared.turned,
        "missing": [_json_listed(*found) for found in compared.missing],
        "added": [_json_listed(*found) for found in compared.added],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


WRITERS: dict[str, Callable[[Compared], str]] = {"md": to_markdown, "json": to_json}


def headline(compared: Compared) -> list[str]:
    """The result in sentences."""
    judged = compared.judged
    counts = ", ".join(f"{len(compared.called(verdict))} {verdict}" for verdict in (Verdict.SLOWER, Verdict.FASTER))
    inconclusive = sum(change.verdict is Verdict.INCONCLUSIVE for change in judged)
    if not judged:
        told = ["Nothing could be compared: no cell has a number on both sides."]
    else:
        told = [f"{counts}, {inconclusive} inconclusive, of {len(judged)} cells compared."]
    broken = sum(turn.fails for turn in compared.turned)
    if broken:
        told.append(f"{broken} measured before and not any more, which is a regression.")
    slow = sum(turn.base == Status.OK and turn.new == Status.SLOW for turn in compared.turned)
    if slow:
        told.append(f"{slow} became slow, by their preflight: measure with --disable-slow-skip for a verdict.")
    if compared.rules.control:
        told.append(f"Relative to {short(compared.rules.control)}, which is taken to be unchanged.")
    return told + _hint(compared)


def _hint(compared: Compared) -> list[str]:
    """Libraries whose version is the same while another's is not tell most about the machine."""
    before, after = compared.base.versions(), compared.new.versions()
    judged = {change.key.library for change in compared.judged}
    same = sorted(library for library in judged if before[library] == after[library])
    if not same or len(same) == len(judged) or compared.rules.control:
        return []
    names = ", ".join(map(short, same))
    return [
        f"Of the same version in both: {names}. If one did not change at all, --control takes out by it what the "
        "machine did."
    ]


def movement_text(found: Movement) -> str:
    """How far the machine moved, in words."""
    if found.typical == 1:
        typical = "no further than the variation between processes explains"
    else:
        typical = f"by {percent(found.typical - 1)} (root mean square)"
    told = (
        f"between the runs the machine itself moved {typical}, over {found.num_cells} cells and what moved most of "
        f"each that should not have; {percent(found.largest - 1)} at most. Median speed of the reference rows, new "
        f"over base: no-op {found.noop:.2f}×, plain copy {found.yardstick:.2f}×"
    )
    if found.shared == 1:
        return told
    return f"{told}. Every library moved by {percent(found.shared - 1)} or more, by the median of its cells"


def how_judged(rules: Rules) -> str:
    """The rule in words."""
    relative = alone = ""
    if rules.control:
        relative = f", both relative to {short(rules.control)} in the same turns where it has the cell"
        alone = " (unless relative to the control)"
    return (
        f"Ratios are of speed, new over base{relative}: under 1 is slower. A cell is called slower or faster when it "
        f"changed by at least {percent_exact(rules.min_effect)}, by more than the machine did (its no-op, its plain "
        "copy, what every library did), its processes vary by no more than "
        f"{percent_exact(policy.UNSTABLE_CV)} in either run{alone}, and the change is beyond that variation and the "
        "movement of the machine, tested over all cells so that at most "
        f"{percent_exact(rules.false_calls)} of such calls are false (Benjamini-Hochberg). The "
        f"{percent_exact(policy.CONFIDENCE)} intervals include the machine's movement."
    )


def ratio_text(change: Change) -> tuple[str, str | None]:
    text, interval = with_interval(change.ratio, change.low, change.high)
    return f"{text}×", interval


def version_text(versions: dict[str, str]) -> str:
    return ", ".join(f"{short(package)} {short(version)}" for package, version in versions.items()) or "unknown"


def _runs(side: Side) -> Iterator[str]:
    for bundle in side.bundles:
        yield f"- {escape(f'{side.name}: {run_text(bundle)}')}"


def run_text(bundle: Bundle) -> str:
    """Which run, when, and on what."""
    return f"run {short(bundle.run_id)}, {date(bundle.created_at)}: {machine(bundle, bundle.results.values())}"


def _versions(base: Side, new: Side) -> Iterator[str]:
    """What each library was and is. A change of version is what a comparison is for."""
    before, after = base.versions(), new.versions()
    for library in sorted(before.keys() & after.keys()):
        if before[library] == after[library]:
            yield f"{short(library)}: {version_text(after[library])}, the same in both"
        else:
            yield f"{short(library)}: {version_text(before[library])} → {version_text(after[library])}"


def _tables(title: str, found: Sequence[Change]) -> Iterator[str]:
    """One grid for each scenario, mode and device."""
    for name in dict.fromkeys(change.key.table for change in found):
        ours = [change for change in found if change.key.table == name]
        heads = ("cell", "base, img/s", "new, img/s", "new over base", "no-op", "copy", "verdict")
        rows = tuple((_cell_name(change.key), _cells(change)) for change in ours[:MAX_LISTED])
        yield from (f"**{escape(f'{title}: {name}')}**", "", *table_lines(Table(name, heads, rows)), "")
        if len(ours) > MAX_LISTED:
            yield from (f"and {len(ours) - MAX_LISTED} more (--format json has them all)", "")


def _cells(change: Change) -> tuple[Cell, ...]:
    unit = UNITS["img/s"]
    text, interval = ratio_text(change)
    verdict = f"inconclusive: {change.why}" if change.why else change.verdict.value
    return (
        Cell(timing(unit, change.base_sec, None, None)[0]),
        Cell(timing(unit, change.new_sec, None, None)[0]),
        Cell(text, interval),
        Cell(f"{change.noop:.2f}×"),
        Cell(f"{change.yardstick:.2f}×"),
        Cell(verdict, strong=change.why is None),
    )


def _cell_name(key: CellKey) -> str:
    return f"{short(key.library)} {short(key.transform)}"


def _with_table(key: CellKey) -> str:
    return f"{_cell_name(key)} ({short(key.table)})"


def _turn(turn: Turn) -> str:
    reason = f": {short(turn.reason, TEXT_LENGTH)}" if turn.reason else ""
    return f"{_with_table(turn.key)}: {turn.base} → {turn.new}{reason}{' (a regression)' if turn.fails else ''}"


def _list(title: str, found: Sequence[Any], text: Callable[[Any], str]) -> Iterator[str]:
    if found:
        more = [f"and {len(found) - MAX_LISTED} more"] if len(found) > MAX_LISTED else []
        yield from (f"**{title}**", "", *_bullets([*map(text, found[:MAX_LISTED]), *more]))


def _bullets(texts: Iterable[str]) -> Iterator[str]:
    lines = [f"- {escape(text)}" for text in texts]
    yield from (*lines, "") if lines else ()


def _notes(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from (f"> {escape(text)}.", "")


def _json_side(side: Side) -> dict[str, Any]:
    runs = [{"run_id": b.run_id, "created_at": b.created_at} for b in side.bundles]
    return {"runs": runs, "versions": side.versions()}


def _json_listed(key: CellKey, status: str) -> dict[str, Any]:
    return {"key": key, "status": status}
