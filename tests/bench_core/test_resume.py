import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from bench_core import bundle, journal
from bench_core.config import Config, dump_config
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Status

from tests.bench_core.mock_run import make_checkout, make_config, run_mock

TRANSFORMS = ("Resize", "HorizontalFlip", "Invert", "Posterize")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


def config_of(root: Path) -> Config:
    return make_config(root, ["mock_fast", "mock_twin"], TRANSFORMS)


def start(root: Path, *arguments: str) -> subprocess.Popen[str]:
    """`bench run` as a person starts it, in a process of its own."""
    (root / "run.toml").write_text(dump_config(config_of(root)))
    command = [sys.executable, "-m", "bench_core", "run", "--here", *arguments]
    return subprocess.Popen(
        command, cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def wait_for_lines(path: Path, count: int, process: subprocess.Popen[str]) -> None:
    while process.poll() is None:
        if path.is_file() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.01)


def keys_of(folder: Path) -> Counter[tuple[object, ...]]:
    """How often each measurement stands in the journal's whole lines."""
    import msgspec

    found: Counter[tuple[object, ...]] = Counter()
    for line in (folder / journal.FILE_NAME).read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            continue
        record = msgspec.json.decode(line)
        if record["kind"] == "timed":
            found[record["job"], record["transform"], record["block"]["round"], record["block"]["block"]] += 1
        if record["kind"] == "previewed":
            found[record["job"], record["transform"]] += 1
    return found


def workers_below(process: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def all_gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=10)
    return all(process.status() == psutil.STATUS_ZOMBIE for process in alive if process.is_running())


@pytest.mark.parametrize("seed", range(3))
def test_a_conductor_killed_anywhere_loses_nothing_and_measures_nothing_twice(root: Path, seed: int) -> None:
    folder = root / "run"
    chance = random.Random(seed)
    arguments = ["--config", "run.toml", "--output", str(folder)]
    kept: Counter[tuple[object, ...]] = Counter()
    for lines in sorted(chance.sample(range(1, 40), 2)):
        process = start(root, *arguments)
        wait_for_lines(folder / journal.FILE_NAME, lines, process)
        below = workers_below(process)
        process.kill()
        process.communicate()
        assert all_gone(below)
        now = keys_of(folder)
        assert kept <= now
        kept, arguments = now, ["--resume", str(folder)]
    process = start(root, *arguments)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    final = keys_of(folder)
    assert kept <= final
    assert set(final.values()) == {1}
    assert len(final) == 2 * len(TRANSFORMS) * (2 * 2 + 1)
    loaded = bundle.load_bundle(folder)
    assert all(m.status is Status.OK for result in loaded.results.values() for m in result.measurements.values())


def test_ctrl_c_says_how_to_go_on_and_leaves_no_process(root: Path) -> None:
    folder = root / "run"
    process = start(root, "--config", "run.toml", "--output", str(folder))
    wait_for_lines(folder / journal.FILE_NAME, 12, process)
    below = workers_below(process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert f"--resume {folder}" in err
    assert "Traceback" not in err
    assert below and all_gone(below)
    process = start(root, "--resume", str(folder))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert set(keys_of(folder).values()) == {1}


def test_a_worker_that_is_killed_costs_one_measurement_at_most(root: Path) -> None:
    folder = root / "run"
    process = start(root, "--config", "run.toml", "--output", str(folder))
    wait_for_lines(folder / journal.FILE_NAME, 14, process)
    victim = psutil.Process(process.pid).children()[0]
    victim.kill()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found = [m for r in bundle.load_bundle(folder).results.values() for m in r.measurements.values()]
    crashed = [m for m in found if m.status is not Status.OK]
    assert len(crashed) == 1
    assert crashed[0].status is Status.CRASHED
    assert "SIGKILL" in str(crashed[0].reason)


def interrupted(root: Path) -> Path:
    """A run that was stopped after a few measurements."""
    folder = root / "run"
    process = start(root, "--config", "run.toml", "--output", str(folder))
    wait_for_lines(folder / journal.FILE_NAME, 12, process)
    process.kill()
    process.communicate()
    return folder


def test_a_changed_configuration_is_refused_by_name(root: Path) -> None:
    folder = interrupted(root)
    other = make_config(root, ["mock_fast", "mock_twin"], TRANSFORMS, disable_slow_skip=True)
    with pytest.raises(BenchError, match="the configuration changed") as caught:
        run_mock(root, folder, other, resume=True)
    assert caught.value.code is ExitCode.RESUME


def test_changed_code_is_refused_by_name(root: Path) -> None:
    folder = interrupted(root)
    source = root / "packages" / "adapters-new" / "src" / "new.py"
    source.parent.mkdir(parents=True)
    source.write_text("print('another meaning')")
    with pytest.raises(BenchError, match="the code changed") as caught:
        run_mock(root, folder, config_of(root), resume=True)
    assert caught.value.code is ExitCode.RESUME


def test_changed_data_are_refused_by_name(root: Path) -> None:
    folder = interrupted(root)
    for path in (root / "images").iterdir():
        shutil.copy(root / "images" / "image 0.png", path) if path.name != "image 0.png" else None
    with pytest.raises(BenchError, match="the data changed") as caught:
        run_mock(root, folder, config_of(root), resume=True)
    assert caught.value.code is ExitCode.RESUME


def test_a_damaged_line_in_the_middle_is_refused_with_its_number(root: Path) -> None:
    folder = interrupted(root)
    path = folder / journal.FILE_NAME
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = b'{"kind": "timed", "values": NaN}\n'
    path.write_bytes(b"".join(lines))
    with pytest.raises(BenchError, match="line 4: damaged"):
        run_mock(root, folder, config_of(root), resume=True)


@pytest.mark.parametrize("version", ["2", '"1"', "null", None])
def test_a_journal_of_another_version_is_refused_by_its_number(root: Path, version: str | None) -> None:
    folder = interrupted(root)
    path = folder / journal.FILE_NAME
    ours = b'"journal_version":1,'
    assert ours in path.read_bytes()
    theirs = b"" if version is None else b'"journal_version":' + version.encode() + b","
    path.write_bytes(path.read_bytes().replace(ours, theirs))
    with pytest.raises(BenchError, match=r"journal version .* is not known here \(this is version 1\)") as caught:
        run_mock(root, folder, config_of(root), resume=True)
    assert caught.value.code is ExitCode.RESUME


def test_a_last_line_that_was_cut_off_is_measured_again(root: Path) -> None:
    folder = interrupted(root)
    path = folder / journal.FILE_NAME
    path.write_bytes(path.read_bytes()[:-30])
    outcome = run_mock(root, folder, config_of(root), resume=True)
    assert outcome.counts == {Status.OK: 8}


def test_data_that_vanish_stop_the_run_which_goes_on_when_they_are_back(root: Path) -> None:
    folder = root / "run"
    process = start(root, "--config", "run.toml", "--output", str(folder))
    wait_for_lines(folder / journal.FILE_NAME, 4, process)
    (root / "images").rename(root / "moved")
    _, err = process.communicate(timeout=120)
    assert process.returncode == ExitCode.DATA
    assert "cannot now" in err
    assert f"bench run --resume {folder}" in err
    assert not bundle.is_committed(folder)
    (root / "moved").rename(root / "images")
    assert run_mock(root, folder, config_of(root), resume=True).counts == {Status.OK: 8}


def test_a_journal_that_somebody_removed_is_no_finished_run(root: Path) -> None:
    folder = root / "run"
    process = start(root, "--config", "run.toml", "--output", str(folder))
    wait_for_lines(folder / journal.FILE_NAME, 4, process)
    (folder / journal.FILE_NAME).unlink()
    _, err = process.communicate(timeout=120)
    assert process.returncode == ExitCode.RESUME
    assert "somebody removed or changed it" in err
    assert not bundle.is_committed(folder)


def test_a_library_that_hangs_in_its_import_does_not_outlive_the_run(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = root / "pid"
    monkeypatch.setenv("BENCH_MOCK_IMPORT", "hang")
    monkeypatch.setenv("BENCH_MOCK_PID_FILE", str(note))
    process = start(root, "--config", "run.toml", "--library", "mock_noimport", "--output", str(root / "run"))
    while process.poll() is None and not (note.is_file() and note.read_text()):
        time.sleep(0.01)
    hanging = psutil.Process(int(note.read_text()))
    process.kill()
    process.communicate()
    assert all_gone([hanging])


def test_there_is_nothing_to_resume_in_an_empty_folder(root: Path) -> None:
    with pytest.raises(BenchError, match="nothing to resume") as caught:
        run_mock(root, root / "empty", config_of(root), resume=True)
    assert caught.value.code is ExitCode.RESUME


def test_two_runs_into_one_folder_do_not_mix(root: Path) -> None:
    folder = root / "run"
    first = start(root, "--config", "run.toml", "--output", str(folder))
    wait_for_lines(folder / journal.FILE_NAME, 2, first)
    second = start(root, "--config", "run.toml", "--output", str(folder))
    _, err = second.communicate(timeout=60)
    assert second.returncode == ExitCode.OUTPUT
    assert "another bench run" in err
    _, err = first.communicate(timeout=120)
    assert first.returncode == 0, err
    assert set(keys_of(folder).values()) == {1}


def test_a_terminated_run_ends_like_an_interrupted_one(root: Path) -> None:
    folder = root / "run"
    process = start(root, "--config", "run.toml", "--output", str(folder))
    wait_for_lines(folder / journal.FILE_NAME, 12, process)
    below = workers_below(process)
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert f"--resume {folder}" in err
    assert all_gone(below)
