"""Publish runs: a reduced copy of each, without what names a person or a machine, that gives the same tables.

Kept: the configuration, the environment, the results with every raw value, pyperf's files, the pictures of outputs.
Left out: the journal and the logs, which hold what the results were made of and whatever libraries printed; both are
full of paths, and no table needs them. A published run is committed anew, so `bench validate` and `bench report` take
it like any other; publication.json says what it was made from. What is kept of a run that scored models is decided in
`bench_report.scores.publish`.
"""

import re
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from bench_core.bundle import (
    COMMITTED,
    CONFIG,
    ENVIRONMENT,
    PUBLICATION,
    Bundle,
    commit,
    files_of,
    load_bundle,
    read_committed,
)
from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_file, write_atomically
from bench_core.results import Result, write_result

from bench_report import scrub
from bench_report.report import Options, build_report
from bench_report.scores import publish as scores
from bench_report.scrub import Names
from bench_report.writers import WRITERS

FOLDER = "results/published"
PUBLICATION_VERSION = 1
OUTPUTS = "outputs/"
LEFT_OUT = ("journal.jsonl", "logs/")
PROSE = ("reason", "detail")
# What stands for a folder of somebody's own images: the configuration has to say that there was one.
DATA_DIR = "the-folder-of-{name}"
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Publication(msgspec.Struct, frozen=True):
    """publication.json: what a published run was made from, and how it differs."""

    publication_version: int
    source_sha256: str  # of the run's own COMMITTED.json
    left_out: tuple[str, ...]  # files and folders
    changed: tuple[str, ...]  # files in which something was hidden
    uncommitted_changes: bool  # of the bench that measured; published because somebody allowed it


def publish(
    paths: Sequence[Path], to: Path, root: Path, *, allow_dirty: bool = False, outputs: bool = True
) -> list[Path]:
    """Publish committed runs into folders named by their run; all of them are checked before the first is written.

    Returns the folders, those that were there already with the same content included.

    Raises:
        BenchError: a run is not committed, was changed, was measured under mixed conditions, by uncommitted code
            that is not allowed, is there with other content, or something private is left in it.
    """
    bundles = [load_bundle(path) for path in paths]
    for bundle in bundles:
        _refuse_unnamed(bundle)
        if not allow_dirty:
            _refuse_dirty(bundle)
    build_report(bundles, Options())  # refuses mixed conditions, and a library that was measured twice
    to.mkdir(parents=True, exist_ok=True)
    staged: list[tuple[Path, Path]] = []
    with tempfile.TemporaryDirectory(dir=to, prefix=".publishing-") as staging:
        for bundle in bundles:
            names = scrub.names_here([root, bundle.path.resolve(), *_folders(bundle)])
            made = Path(staging) / bundle.run_id
            _write_reduced(bundle, made, names, outputs=outputs)
            staged.append((made, to / bundle.run_id))
        _refuse_other_tables(bundles, [load_bundle(made) for made, _ in staged])
        for made, final in staged:
            _refuse_other_content(made, final)
        for made, final in staged:
            if not final.exists():
                made.replace(final)
    return [final for _, final in staged]


def _refuse_unnamed(bundle: Bundle) -> None:
    if not _RUN_ID.fullmatch(bundle.run_id):
        raise BenchError(f"{bundle.path}: run {bundle.run_id!r} cannot name a folder", ExitCode.BUNDLE)


def _refuse_dirty(bundle: Bundle) -> None:
    if bundle.environment.get("git_dirty") is not False:
        why = "by bench with uncommitted changes" if bundle.environment.get("git_dirty") else "by an unknown bench"
        raise BenchError(
            f"{bundle.path}: measured {why}, so nobody can measure it again; commit first and measure then, or let "
            "--allow-dirty publish it with that said over its tables",
            ExitCode.FAILED,
        )


def _refuse_other_tables(bundles: Sequence[Bundle], published: Sequence[Bundle]) -> None:
    """What was hidden must not be what was measured: numbers, verdicts and statuses are the same as before."""
    before, after = (_figures(found) for found in (bundles, published))
    if before != after:
        raise BenchError("hiding paths and names changed the tables; nothing was published", ExitCode.FAILED)


def _figures(bundles: Iterable[Bundle]) -> bytes:
    """The whole data of a report, but for sentences in which a path may be hidden."""
    document = msgspec.json.decode(WRITERS["json"](build_report(bundles, Options())))
    for table in document["tables"]:
        for record in table["records"]:
            record["reason"] = None
    for table in document["scores"]:
        for record in table["records"]:
            record["reason"] = record["checkpoint"] = None
    return msgspec.json.encode(document)


def _refuse_other_content(made: Path, final: Path) -> None:
    if final.exists() and load_bundle(final).files != load_bundle(made).files:
        raise BenchError(
            f"{final}: is published with other content; published results do not change. Remove the folder if it "
            "was never shared",
            ExitCode.OUTPUT,
        )


def _folders(bundle: Bundle) -> list[str]:
    """Folders that this run's files may name: of the images, and of the checkout it was made in."""
    found = [str(Path(str(bundle.config["data_dir"])).expanduser())] if "data_dir" in bundle.config else []
    found += scores.folders(bundle) if bundle.scores else ()
    if "journal.jsonl" in bundle.files:
        first = (bundle.path / "journal.jsonl").read_bytes().partition(b"\n")[0]
        with suppress(msgspec.DecodeError, KeyError, TypeError):  # another kind of journal says nothing
            found.append(str(msgspec.json.decode(first)["subset"]["root"]))
    return found


def _write_reduced(bundle: Bundle, folder: Path, names: Names, *, outputs: bool) -> None:
    """Write a published run.

    Raises:
        BenchError: something private is left in it.
    """
    left_out = (*LEFT_OUT, *scores.left_out(bundle), *(() if outputs else (OUTPUTS,)))
    kept = [name for name in bundle.files if not name.startswith(left_out) and name != PUBLICATION]
    for name in kept:
        _write_file(bundle, name, folder / name, names, outputs=outputs)
    publication = Publication(
        publication_version=PUBLICATION_VERSION,
        source_sha256=sha256_file(bundle.path / COMMITTED),
        left_out=tuple(sorted({part for part in left_out for name in bundle.files if name.startswith(part)})),
        changed=tuple(name for name in kept if sha256_file(folder / name) != bundle.files[name]),
        uncommitted_changes=bool(bundle.environment.get("git_dirty")),
    )
    write_atomically(folder / PUBLICATION, msgspec.json.format(msgspec.json.encode(publication), indent=1) + b"\n")
    commit(folder, bundle.run_id, bundle.created_at)
    for path, what in scrub.leaks((folder / name for name in files_of(folder)), names):
        raise BenchError(f"{path.relative_to(folder)} of {bundle.path} names {what}; not published", ExitCode.FAILED)


def _write_file(bundle: Bundle, name: str, path: Path, names: Names, *, outputs: bool) -> None:
    if name in bundle.results:
        write_result(path, _reduced(bundle.results[name], names, outputs=outputs))
        return
    if scores.write_file(bundle, name, path, names):
        return
    data = read_committed(bundle, name)
    if name == CONFIG:
        data = _config(bundle, data, names)
    elif name == ENVIRONMENT:
        data = _json(data, names, indent=1)
    elif name.endswith("_pyperf.json"):
        data = _json(data, names, indent=0)
    elif not name.startswith(OUTPUTS):
        raise BenchError(f"{bundle.path / name}: no file of a run that can be published", ExitCode.BUNDLE)
    write_atomically(path, data)


def _reduced(result: Result, names: Names, *, outputs: bool) -> Result:
    content = scrub.clean(msgspec.to_builtins(result), names, prose=PROSE)
    if not outputs:
        for measurement in content["measurements"].values():
            if measurement["output"]:
                measurement["output"]["thumbnail"] = None
    return msgspec.convert(content, Result)


def _json(data: bytes, names: Names, *, indent: int) -> bytes:
    """Cleaned; byte for byte as it was where there was nothing to clean."""
    before = msgspec.json.decode(data)
    after = scrub.clean(before, names, private_keys=scrub.PRIVATE_KEYS)
    if after == before:
        return data
    encoded = msgspec.json.encode(after)
    return (msgspec.json.format(encoded, indent=indent) if indent else encoded) + b"\n"


def _config(bundle: Bundle, data: bytes, names: Names) -> bytes:
    """The configuration, in which somebody's own folder is a name that says what to put there."""
    import tomli_w

    before = tomllib.loads(data.decode("utf-8"))
    if bundle.scores:
        after = scores.config(before, names)
        return data if after == before else (scores.NOTE + tomli_w.dumps(after)).encode()
    if "data_dir" not in before:
        return data
    dataset = next((result.dataset.name for result in bundle.results.values()), "images")
    after = scrub.clean(before, names) | {"data_dir": DATA_DIR.format(name=dataset)}
    note = "# As it was measured, but for data_dir: put the folder of your copy of the images there.\n\n"
    return (note + tomli_w.dumps(after)).encode()
