"""The crew with workers that are small programs of ours: what they answer is all that counts."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench_core import dataset, policy, protocol
from bench_core.crew import Crew
from bench_core.errors import BenchError, ExitCode
from bench_core.journal import Journal
from bench_core.results import Conditions, Status

from tests.bench_core.mock_run import make_checkout

CONDITIONS = Conditions(
    python="CPython 3.11",
    platform="Linux x86_64",
    cpu="Example",
    device="cpu",
    threads_asked=1,
    threads_read={},
    affinity=(0,),
    isolation="fork",
    lock_sha256=None,
    shared_versions={},
)
READY = protocol.Ready(
    versions={"example": "1"}, native_format="none", conditions=CONDITIONS, media_bytes=0, import_sec=0.0, rss_bytes=0
)
PREFLIGHT = protocol.Preflight(transform="Resize", params={}, seed=0, items=1, enough_sec=1.0, timeout_sec=20.0)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal.open(tmp_path / "journal.jsonl")
    yield opened
    opened.close()


def program(folder: Path, *answers: protocol.Message, fails: int | None = None) -> Path:
    """An interpreter that is none: it says `answers` and waits for the end; the start of number `fails` fails."""
    text = folder / "program.py"
    text.write_text(
        "import pathlib, sys\n"
        f"starts = pathlib.Path({str(folder / 'starts')!r})\n"
        "starts.write_text((starts.read_text() if starts.exists() else '') + 'x')\n"
        f"if len(starts.read_text()) == {fails}:\n    sys.exit('out of luck')\n"
        f"sys.stdout.write({b''.join(map(protocol.encode, answers)).decode()!r})\n"
        "sys.stdout.flush()\n"
        "sys.stdin.read()\n"
    )
    path = folder / "python"
    path.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(text))}\n")
    path.chmod(0o755)
    return path


def crew_of(python: Path, journal: Journal) -> Crew:
    root = make_checkout(python.parent / "checkout")
    subset = dataset.choose(root / "images", 2, policy.SEED)
    first = protocol.Start(
        library="example",
        device="cpu",
        threads=1,
        isolation="fork",
        data_root=subset.root,
        data_paths=subset.paths,
        data_fingerprint=subset.fingerprint,
        lock_sha256=None,
        memory_limit_bytes=None,
    )
    return Crew({"job": (python, first)}, journal, python.parent / "logs", lambda job, done, total: None)


def test_a_worker_out_of_step_has_crashed_and_its_answer_is_taken_for_no_other(
    tmp_path: Path, journal: Journal
) -> None:
    crew = crew_of(program(tmp_path, READY, READY), journal)
    crew.start(["job"], 0)
    reply = crew.ask("job", PREFLIGHT)
    crew.stop()
    assert isinstance(reply, protocol.Failed)
    assert reply.status is Status.CRASHED
    assert "answered Ready where Tried was due" in reply.reason


def test_a_worker_that_does_not_start_again_is_given_a_second_chance(tmp_path: Path, journal: Journal) -> None:
    crew = crew_of(program(tmp_path, READY, fails=2), journal)
    for round_ in range(2):
        crew.start(["job"], round_)
        crew.stop()
    assert crew.lost == set()
    assert (tmp_path / "starts").read_text() == "xxx"
    assert [started.round for started in journal.state.started["job"]] == [0, 1]


def test_a_worker_that_never_started_is_not_tried_again(tmp_path: Path, journal: Journal) -> None:
    crew = crew_of(program(tmp_path, READY, fails=1), journal)
    crew.start(["job"], 0)
    assert crew.lost == {"job"}
    assert "exit code 1" in journal.state.lost["job"].reason
    assert journal.state.lost["job"].detail == "out of luck"


def test_data_that_changed_end_the_run_and_are_no_librarys_fault(tmp_path: Path, journal: Journal) -> None:
    crew = crew_of(program(tmp_path, protocol.BadData(reason="not what was chosen")), journal)
    for path in (tmp_path / "checkout" / "images").iterdir():
        path.unlink()
    with pytest.raises(BenchError, match="could be read when the run began and cannot now") as caught:
        crew.start(["job"], 0)
    crew.stop()
    assert caught.value.code is ExitCode.DATA
    assert journal.state.lost == {}


def test_an_environment_that_reads_the_data_differently_is_a_library_lost(tmp_path: Path, journal: Journal) -> None:
    crew = crew_of(program(tmp_path, protocol.BadData(reason="not what was chosen")), journal)
    crew.start(["job"], 0)
    assert journal.state.lost["job"].reason == "not what was chosen"


def test_of_an_endless_log_only_the_end_is_read(tmp_path: Path, journal: Journal) -> None:
    python = program(tmp_path, READY, fails=1)
    text = (tmp_path / "program.py").read_text()
    (tmp_path / "program.py").write_text(
        text.replace("import pathlib, sys\n", "import pathlib, sys\nsys.stderr.write('x' * 10**7)\n")
    )
    crew = crew_of(python, journal)
    crew.start(["job"], 0)
    assert len(str(journal.state.lost["job"].detail)) < 20_000
