"""Results and bundles with the numbers of a real run, made without measuring anything."""

import hashlib
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import tomli_w
from bench_core.bundle import Bundle, commit
from bench_core.results import (
    SCHEMA_VERSION,
    Block,
    Conditions,
    Dataset,
    Measurement,
    Output,
    Result,
    Status,
    summarize_references,
    write_result,
)
from bench_core.statistics import TODAY, summarize

PROCESSES, BLOCKS, VALUES = 6, 2, 3
CONDITIONS = Conditions(
    python="CPython 3.11.7",
    platform="Linux x86_64",
    cpu="Example CPU @ 2.60GHz",
    device="cpu",
    threads_asked=1,
    threads_read={"torch": 1},
    affinity=(0, 1),
    isolation="fork",
    lock_sha256="1" * 64,
    shared_versions={"numpy": "2.4.6", "pillow": "13.0.0"},
)
DATASET = Dataset(name="sample", num_items=32, fingerprint="0123456789abcdef" * 4)
CONFIG = {
    "profile": "quick",
    "num_items": 32,
    "num_runs": BLOCKS * VALUES,
    "slow_threshold_sec": 0.05,
    "transforms": ["Resize"],
}
ENVIRONMENT = {"cpu": CONDITIONS.cpu, "git_commit": "c0ffee" * 6 + "beef", "git_dirty": False}


def make_measurement(
    sec: float, *, noise: float = 0.02, seed: object = 0, processes: int = PROCESSES, **changes: Any
) -> Measurement:
    """One ok measurement around `sec` seconds per item: `noise` between processes, a third of it between values."""
    draw = random.Random(str(seed))
    blocks = []
    for round_ in range(processes):
        process = sec * draw.lognormvariate(0, noise)
        for block in range(BLOCKS):
            values = tuple(process * (1 + draw.expovariate(3 / noise)) for _ in range(VALUES))
            blocks.append(
                Block(
                    round=round_,
                    block=block,
                    worker=f"worker-{round_}",
                    position=block,
                    seat=0,
                    started_at="2026-12-01T05:00:00+00:00",
                    loops=1,
                    seeds=tuple(range(VALUES)),
                    values_sec=values,
                    noop_sec=3.1e-7 * draw.lognormvariate(0, 0.03),
                    yardstick_sec=6.0e-5 * draw.lognormvariate(0, 0.05),
                    peak_rss_growth_bytes=2_000_000,
                )
            )
    output = Output(
        shape=(3, 256, 256),
        dtype="uint8",
        minimum=0.0,
        maximum=255.0,
        contiguous=True,
        digest=hashlib.sha256(str(seed).encode()).hexdigest(),
        changed=True,
    )
    found = Measurement(
        status=Status.OK,
        params={},
        preflight_sec=sec,
        output=output,
        blocks=tuple(blocks),
        summary=summarize([block.sample() for block in blocks]),
    )
    return msgspec.structs.replace(found, **changes)


def not_measured(status: Status, reason: str, **changes: Any) -> Measurement:
    return Measurement(status=status, params={}, reason=reason, **changes)


def make_result(
    library: str, measurements: Mapping[str, Measurement | float], *, noise: float = 0.02, **changes: Any
) -> Result:
    """A result; a number in `measurements` is the seconds per item of an ok one."""
    whole = {
        name: found
        if isinstance(found, Measurement)
        else make_measurement(found, noise=noise, seed=f"{library} {name}")
        for name, found in measurements.items()
    }
    result = Result(
        schema_version=SCHEMA_VERSION,
        run_id="run-a",
        created_at="2026-12-01T05:00:00+00:00",
        library=library,
        group="torch_stack",
        media="image",
        scenario="image-rgb",
        mode="micro",
        device="cpu",
        native_format="uint8 CHW torch.Tensor",
        versions={library: "1.2.3", "numpy": "2.4.6"},
        conditions=CONDITIONS,
        dataset=DATASET,
        config_sha256="f" * 64,
        seed=1,
        num_runs=BLOCKS * VALUES,
        num_blocks=BLOCKS,
        num_processes=PROCESSES,
        measurements=whole,
        references=summarize_references(whole),
        rules=TODAY,
    )
    return msgspec.structs.replace(result, **changes)


def make_bundle(results: Iterable[Result], run_id: str = "run-a", **changes: Any) -> Bundle:
    """A committed run of these results, as load_bundle returns it."""
    owned = [msgspec.structs.replace(result, run_id=run_id) for result in results]
    bundle = Bundle(
        path=Path("results/runs") / run_id,
        run_id=run_id,
        created_at="2026-12-01T05:00:00+00:00",
        environment=ENVIRONMENT,
        config=CONFIG,
        results={f"{r.scenario}/{r.library}_{r.mode}_results.json": r for r in owned},
    )
    return msgspec.structs.replace(bundle, **changes)


def with_conditions(result: Result, **changes: Any) -> Result:
    """The same result measured under other conditions."""
    return msgspec.structs.replace(result, conditions=msgspec.structs.replace(CONDITIONS, **changes))


def commit_bundle(bundle: Bundle, folder: Path) -> Path:
    """Write a bundle to disk as a run leaves it."""
    folder.mkdir(parents=True)
    (folder / "resolved_config.toml").write_text(tomli_w.dumps(bundle.config))
    (folder / "environment.json").write_bytes(msgspec.json.encode(bundle.environment))
    (folder / "journal.jsonl").touch()
    for name, result in bundle.results.items():
        write_result(folder / name, result)
    commit(folder, bundle.run_id, bundle.created_at)
    return folder
