"""The plan: which jobs run, which files they write, how long it should take. Imports nothing heavy."""

import msgspec

from bench_core import suggest
from bench_core.catalog import Catalog
from bench_core.config import Config
from bench_core.errors import BenchError
from bench_core.estimate import estimate_minutes
from bench_core.invocation import command
from bench_core.matrix import Matrix
from bench_core.results import file_name
from bench_core.support import offered


class Job(msgspec.Struct, frozen=True):
    """One library in one cell, scenario and mode: one result file."""

    library: str
    group: str
    media: str
    scenario: str
    mode: str
    device: str
    transforms: tuple[str, ...]  # to be measured, in catalog order
    unsupported: tuple[str, ...]  # asked for, not offered by the library
    excluded: dict[str, str]  # transform -> the matrix's reason

    @property
    def file_name(self) -> str:
        """Path of the result file inside the run directory."""
        return file_name(self.scenario, self.library, self.mode, self.device)


class Plan(msgspec.Struct, frozen=True):
    jobs: tuple[Job, ...]
    excluded_jobs: dict[str, str]  # "library, scenario, mode, device" -> why it is not run
    estimated_minutes: float


def make_plan(matrix: Matrix, catalog: Catalog, config: Config) -> Plan:
    """Every chosen library in every chosen scenario and mode, tables that are compared standing together.

    Raises:
        BenchError: nothing is left to measure, or the matrix excludes a transform that the catalog does not have.
    """
    for exclusion in matrix.exclusions:
        if exclusion.transform is not None and exclusion.transform not in catalog.transforms:
            raise suggest.unknown(
                "transform",
                exclusion.transform,
                catalog.transforms,
                source="matrix.toml, exclusions",
                hint=command("list", "transforms"),
            )
    jobs: list[Job] = []
    excluded_jobs: dict[str, str] = {}
    for scenario in config.scenarios:
        for mode in matrix.scenarios[scenario].modes:
            if mode not in config.modes:
                continue
            for library in config.libraries:
                job = _job(matrix, catalog, config, (library, scenario, mode))
                if isinstance(job, Job):
                    jobs.append(job)
                else:
                    excluded_jobs[f"{library}, {scenario}, {mode}, {config.device}"] = job
    if not jobs:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in excluded_jobs.items())
        raise BenchError(f"nothing is left to measure. {reasons}")
    minutes = estimate_minutes([len(job.transforms) for job in jobs], config)
    return Plan(jobs=tuple(jobs), excluded_jobs=excluded_jobs, estimated_minutes=minutes)


def _job(matrix: Matrix, catalog: Catalog, config: Config, what: tuple[str, str, str]) -> Job | str:
    """The job of a library, scenario and mode, or the reason why there is none."""
    library, scenario, mode = what
    group = matrix.group_of(library)
    media = matrix.scenarios[scenario].media
    fields = {"group": group, "library": library, "scenario": scenario, "mode": mode, "device": config.device}
    reason = matrix.exclusion_reason(**fields)
    if reason:
        return reason
    if media not in matrix.groups[group].media:
        return f"group {group} does not offer {media}"
    if config.device not in matrix.groups[group].devices:
        return f"group {group} does not run on {config.device}"
    offers = offered(matrix, catalog, library, scenario)
    reasons = {name: matrix.exclusion_reason(**fields, transform=name) for name in config.transforms}
    excluded = {name: reason for name, reason in reasons.items() if reason}
    transforms = tuple(name for name in config.transforms if name in offers and name not in excluded)
    if not transforms and excluded:
        return f"every transform it offers is excluded: {'; '.join(dict.fromkeys(excluded.values()))}"
    if not transforms:
        return "it offers none of the chosen transforms"
    return Job(
        library=library,
        group=group,
        media=media,
        scenario=scenario,
        mode=mode,
        device=config.device,
        transforms=transforms,
        unsupported=tuple(name for name in config.transforms if name not in offers | excluded.keys()),
        excluded=excluded,
    )
