import os
import subprocess
import sys
from pathlib import Path

import msgspec
from bench_core import bundle
from bench_core.disturbance import other_runs, sentences

from tests.bench_core.mock_run import make_checkout, make_config, run_mock


def test_a_quiet_machine_is_nothing_to_speak_of() -> None:
    assert sentences([0.5, 3.0, 9.0], 2, ()) == []
    assert sentences([], 2, ()) == []


def test_a_busy_machine_is_told_with_its_numbers_and_what_to_do() -> None:
    (told,) = sentences([2.31, 0.0, 0.0], 2, ())
    assert "load 2.31 over the last minute on 2 processors, where 0.5 is quiet" in told
    assert "or wait; bench doctor shows more" in told


def test_another_run_is_told_by_its_process() -> None:
    (told,) = sentences([0.0], 2, (4711,))
    assert "another run measures on this machine (process 4711)" in told
    (told,) = sentences([0.0], 2, (4711, 4712))
    assert "2 other runs measure on this machine (processes 4711, 4712)" in told


def test_a_worker_of_somebody_else_is_found_by_its_parent_and_our_own_is_not() -> None:
    worker = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'bench_core.worker'])"
    # A worker of this very process, and one below another process that stands for another run's conductor.
    ours = [sys.executable, "-m", "bench_core.worker"]
    with (
        subprocess.Popen(ours, stdin=subprocess.PIPE) as own,
        subprocess.Popen([sys.executable, "-c", worker], stdin=subprocess.PIPE) as other,
    ):
        try:
            found: tuple[int, ...] = ()
            while other.pid not in found and other.poll() is None:
                found = other_runs()
            assert other.pid in found
            assert own.poll() is None
            assert os.getpid() not in found
        finally:
            for process in (own, other):
                assert process.stdin is not None
                process.stdin.close()


def test_what_the_machine_did_when_the_run_began_is_recorded(tmp_path: Path) -> None:
    root = make_checkout(tmp_path / "checkout")
    outcome = run_mock(root, root / "run", make_config(root, ["mock_fast"], ["Resize"]))
    known = msgspec.convert(bundle.load_bundle(outcome.folder).environment, bundle.Known)
    assert known.cpus_usable
    assert known.other_runs >= 0
