"""What must be the same for every row of a table of scores, and what a reader has to know before comparing."""

from collections.abc import Callable, Iterator, Sequence

from bench_core.errors import BenchError, ExitCode
from bench_core.scores import ScoreResult
from bench_core.theory import compared_across

from bench_report.conditions import Difference
from bench_report.scores.sections import ScoreSection
from bench_report.table import short

MAX_THEORY = 1000  # characters of the sentence on levels of theory
# What the errors depend on. The dataset's content is not among them: another content is another table.
OF_ERRORS: dict[str, Callable[[ScoreResult], object]] = {
    "zero of energies": lambda found: found.data.zero,
    "level of theory of the labels": lambda found: found.data.level_of_theory or "unknown",
    "groups of structures": lambda found: found.data.num_groups,
}
# What times and memory depend on alone.
_OF_COSTS: dict[str, Callable[[ScoreResult], object]] = {
    "processor": lambda found: found.conditions and found.conditions.cpu,
    "threads": lambda found: found.conditions and found.conditions.threads_asked,
    "models scored at once": lambda found: found.timing and found.timing.at_once,
    "processes that shared the structures": lambda found: found.num_processes,
}


def differences(section: ScoreSection) -> tuple[Difference, ...]:
    """Every condition of the errors that scored rows do not share."""
    return tuple(_differences(section, OF_ERRORS))


def refuse_mixtures(found: Sequence[ScoreSection]) -> None:
    """Stop when a table's errors are not of the same thing.

    Raises:
        BenchError: naming each condition and its values.
    """
    told = [f"{section.title}: {difference}" for section in found for difference in differences(section)]
    if told:
        raise BenchError(
            f"scores under different conditions do not belong in one table. {'; '.join(told)}. Score them again under "
            "the same conditions, report the runs apart, or let --allow-mixed print the table with these differences "
            "over it and no best",
            ExitCode.FAILED,
        )


def notices(section: ScoreSection) -> tuple[str, ...]:
    """Sentences that stand over a table."""
    told = [f"Scored under different conditions, so no model is called best. {found}" for found in differences(section)]
    told += [f"Times and memory are not comparable. {found}" for found in _differences(section, _OF_COSTS)]
    across = compared_across(section.results)
    told += [short(across, MAX_THEORY)] if across else []
    trusted = [short(result.label) for result in section.results if result.trusted]
    if trusted:
        told.append(f"Checkpoints that were allowed to run code of their own: {', '.join(trusted)}")
    commits = {bundle.run_id: bundle.environment.get("git_commit") for bundle in section.bundles}
    if len(set(commits.values())) > 1:
        listed = ", ".join(f"{str(commit or 'unknown')[:12]} (run {run_id})" for run_id, commit in commits.items())
        told.append(f"The runs were made with different commits of bench: {listed}")
    told += [
        f"Run {bundle.run_id} was made by bench with uncommitted changes: no commit says what scored"
        for bundle in section.bundles
        if bundle.environment.get("git_dirty")
    ]
    return tuple(told)


def _differences(section: ScoreSection, asked: dict[str, Callable[[ScoreResult], object]]) -> Iterator[Difference]:
    results = [result for result in section.results if result.scores]
    for condition, of_result in asked.items():
        by_value: dict[str, list[str]] = {}
        for result in results:
            value = of_result(result)
            if value is not None:
                by_value.setdefault(str(value), []).append(result.label)
        if len(by_value) > 1:
            yield Difference(condition, {value: tuple(labels) for value, labels in by_value.items()})
