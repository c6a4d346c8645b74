"""From journal to result files: what a run measured, said so that other people can read it."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench_core import policy
from bench_core.catalog import Catalog
from bench_core.conductor import is_slow
from bench_core.config import Config, config_sha256
from bench_core.files import write_atomically
from bench_core.journal import Header, State
from bench_core.plan import Job, Plan
from bench_core.results import (
    SCHEMA_VERSION,
    Dataset,
    Measurement,
    Result,
    Status,
    summarize_references,
    write_result,
)
from bench_core.statistics import TODAY, summarize


def write_results(folder: Path, plan: Plan, config: Config, catalog: Catalog, state: State) -> list[Result]:
    """Write each job's result and its pyperf file; return the results in plan order."""
    results = []
    for job in plan.jobs:
        result = assemble(job, config, catalog, state)
        write_result(folder / job.file_name, result)
        runs = list(_pyperf_runs(job, state))
        if runs:
            write_pyperf(folder / job.file_name.replace("_results.json", "_pyperf.json"), runs)
        results.append(result)
    return results


def assemble(job: Job, config: Config, catalog: Catalog, state: State) -> Result:
    """One job's result, from what the journal says."""
    header = state.header
    assert header is not None
    started = state.started.get(job.file_name)
    ready = started[0].ready if started else None
    names = (*job.transforms, *job.unsupported, *job.excluded)
    order = [name for name in catalog.transforms if name in names]
    measurements = {name: _measurement(job, name, config, catalog, state) for name in order}
    return Result(
        schema_version=SCHEMA_VERSION,
        run_id=header.run_id,
        created_at=header.created_at,
        library=job.library,
        group=job.group,
        media=job.media,
        scenario=job.scenario,
        mode=job.mode,
        device=job.device,
        native_format=ready.native_format if ready else None,
        versions=ready.versions if ready else {},
        conditions=ready.conditions if ready else None,
        dataset=_dataset(header),
        config_sha256=config_sha256(config),
        seed=config.seed,
        num_runs=config.num_runs,
        num_blocks=config.blocks,
        num_processes=config.processes,
        measurements=measurements,
        references=summarize_references(measurements),
        rules=TODAY,
    )


def _dataset(header: Header) -> Dataset:
    subset = header.subset
    return Dataset(
        name=subset.name, num_items=subset.num_items, fingerprint=subset.fingerprint, left_out=subset.left_out
    )


def _measurement(job: Job, name: str, config: Config, catalog: Catalog, state: State) -> Measurement:
    params = dict(catalog.transforms[name].params)
    key = (job.file_name, name)
    if name in job.unsupported:
        return Measurement(
            status=Status.UNSUPPORTED, params=params, reason=f"{job.library} does not offer {name} directly"
        )
    if name in job.excluded:
        return Measurement(status=Status.EXCLUDED, params=params, reason=job.excluded[name])
    preview = state.previews.get(key)
    timed = state.timed.get(key, {})
    blocks = tuple(timed[place].block for place in sorted(timed))
    measured = Measurement(
        status=Status.OK,
        params=params,
        preflight_sec=preview.sec_per_item if preview else None,
        output=preview.output if preview else None,
        blocks=blocks,
        summary=summarize([block.sample() for block in blocks]) if blocks else None,
    )
    status, reason, detail = _ending(job, key, config, state)
    return msgspec.structs.replace(measured, status=status, reason=reason, detail=detail)


def _ending(job: Job, key: tuple[str, str], config: Config, state: State) -> tuple[Status, str | None, str | None]:
    """How a measurement ended: its status, the reason when that is not ok, and the detail."""
    preview = state.previews.get(key)
    if failure := state.failures.get(key):
        return failure.status, failure.reason, failure.detail
    if preview is not None and is_slow(preview, config):
        reason = (
            f"{preview.sec_per_item * 1e3:.3g} ms per image in the preflight, at or over the threshold of "
            f"{config.slow_threshold_sec * 1e3:.3g} ms (up to {policy.PREFLIGHT_ITEMS} images); "
            "--disable-slow-skip measures it"
        )
        return Status.SLOW, reason, None
    if len(state.timed.get(key, {})) == config.processes * config.blocks:
        return Status.OK, None, None
    lost = state.lost[job.file_name]  # nothing else leaves a block out
    return Status.UNAVAILABLE, lost.reason, lost.detail


def _pyperf_runs(job: Job, state: State) -> Iterator[tuple[str, str]]:
    for name in job.transforms:
        timed = state.timed.get((job.file_name, name), {})
        for place in sorted(timed):
            yield name, timed[place].pyperf_json


def write_pyperf(path: Path, runs: list[tuple[str, str]]) -> None:
    """Write one file that pyperf reads: a benchmark per transform, a run per block.

    Metadata stands with each run, as pyperf has it where runs differ.
    """
    benchmarks: dict[str, list[dict[str, object]]] = {}
    version = ""
    for name, text in runs:
        data = json.loads(text)
        version = data["version"]
        (benchmark,) = data["benchmarks"]
        for run in benchmark["runs"]:
            metadata = data.get("metadata", {}) | benchmark.get("metadata", {}) | run.get("metadata", {})
            benchmarks.setdefault(name, []).append(run | {"metadata": metadata})
    suite = {"version": version, "benchmarks": [{"runs": runs} for runs in benchmarks.values()]}
    write_atomically(path, msgspec.json.encode(suite) + b"\n")
