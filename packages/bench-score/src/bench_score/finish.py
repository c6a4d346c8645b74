"""The end of a run: result files, tables and, when no model is missing, the commitment."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from bench_core import bundle
from bench_core.errors import BenchError, ExitCode
from bench_core.files import MAX_TOML_BYTES, write_atomically
from bench_core.machine import describe_machine
from bench_core.scores import PREDICTIONS_SUFFIX, STRUCTURES, SUFFIX, ScoreResult, write_score

from bench_score.config import ScoreConfig, config_sha256, dump_config, load_config
from bench_score.label import file_stem
from bench_score.parts import data_folder, output_folder
from bench_score.writers import find_writer, write_report


def begin(config: ScoreConfig, root: Path | None) -> None:
    """Write what is known before anything is scored; a run that goes on keeps what it began with.

    Raises:
        BenchError: the folder holds something else or another run, cannot be written, or a format has no writer; or the
            configuration is too large to be read again.
    """
    for name in config.output.formats:
        find_writer(name)
    text = dump_config(config).encode()
    if len(text) > MAX_TOML_BYTES:
        raise BenchError(
            f"the configuration takes {len(text) // 1024} KiB with everything it names, and no more than "
            f"{MAX_TOML_BYTES // 1024} KiB of it could be read again; score fewer models in one run"
        )
    folder = output_folder(config)
    if bundle.is_committed(folder):
        raise BenchError(
            f"{folder}: holds a finished run, which is not changed; choose another --output", ExitCode.OUTPUT
        )
    if _is_foreign(folder):
        raise BenchError(f"{folder}: is not empty, and holds no run of ours; choose another --output", ExitCode.OUTPUT)
    # Shards may begin at once: whoever comes first writes, and all compare.
    if not (folder / bundle.CONFIG).exists():
        write_atomically(folder / bundle.CONFIG, text)
    _check_same(folder / bundle.CONFIG, config)
    if not (folder / bundle.ENVIRONMENT).exists():
        description = msgspec.json.format(msgspec.json.encode(describe_machine(root or Path.cwd())), indent=1)
        write_atomically(folder / bundle.ENVIRONMENT, description + b"\n")


def _is_foreign(folder: Path) -> bool:
    """Whether there is something in a folder, and no run. Hidden files are locks, or about to be renamed."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    return not names & {bundle.PARTS, bundle.CONFIG} and any(not name.startswith(".") for name in names)


def _check_same(path: Path, config: ScoreConfig) -> None:
    """A run that goes on is the run that began."""
    if config_sha256(load_config(path)) != config_sha256(config):
        raise BenchError(
            f"{path}: the run there was begun with another configuration than this; choose another --output, or go "
            "on with that one",
            ExitCode.RESUME,
        )


def check_files(config: ScoreConfig, rows: Sequence[ScoreResult]) -> None:
    """What rows were computed from lies beside them: parts may have come from elsewhere, and alone.

    Raises:
        BenchError: naming the first file that is missing.
    """
    for row in rows:
        folder = data_folder(config, row.data.name)
        files = (folder / STRUCTURES, folder / f"{file_stem(row.label)}{PREDICTIONS_SUFFIX}") if row.scores else ()
        for path in files:
            if not path.is_file():
                raise BenchError(
                    f"{path}: is missing; of each machine copy the whole folder of the run, not its parts alone",
                    ExitCode.BUNDLE,
                )


def finish(config: ScoreConfig, rows: Sequence[ScoreResult], *, complete: bool = True) -> list[Path]:
    """Write each row's result and the tables; commit the run if it is complete. Returns the tables' files."""
    folder = output_folder(config)
    now = datetime.now(UTC)
    run_id = f"{now:%Y%m%dT%H%M%SZ}-{config.name}-{uuid.uuid4().hex[:6]}"
    created_at = now.isoformat(timespec="seconds")
    named = [msgspec.structs.replace(row, run_id=run_id, created_at=created_at) for row in rows]
    for row in named:
        write_score(data_folder(config, row.data.name) / f"{file_stem(row.label)}{SUFFIX}", row)
    paths = write_report(config, named)
    if complete:
        bundle.commit(folder, run_id, created_at)
    return paths
