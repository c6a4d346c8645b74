"""`bench score` as a person runs it: whole, in parts, interrupted, killed, resumed."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from bench_core.bundle import is_committed, load_bundle
from bench_core.errors import ExitCode
from bench_core.results import Status
from bench_core.scores import ScoreResult
from filelock import FileLock

from tests.bench_score.score_run import model, raw_config, run, start, write_file

THREE = raw_config([model("perfect"), model("noisy"), model("offset")], output={"dir": "out"})


def rows(folder: Path) -> dict[str, ScoreResult]:
    """Of a finished run, checked as `bench validate` does."""
    found = {row.label: row for row in load_bundle(folder).scores.values()}
    order = [record["label"] for record in json.loads((folder / "scores.json").read_text())["records"]]
    return {label: found[label] for label in order}


def parts(folder: Path) -> set[str]:
    return {path.stem for path in (folder / "parts").glob("*.json")}


def assert_said(done: subprocess.CompletedProcess[str], code: ExitCode, *words: str) -> None:
    assert done.returncode == code, done.stdout + done.stderr
    for word in words:
        assert word in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("whole")
    return folder, run(folder, THREE)


# A whole run


def test_a_run_prints_its_table_and_leaves_a_bundle(whole: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = whole
    assert_said(done, ExitCode.OK, "energy_mae", "[eV/atom]", "The run: ", "12 of 12", "bench report ")
    assert list(rows(folder / "out")) == ["perfect", "noisy", "offset"]
    assert parts(folder / "out") == {"perfect", "noisy", "offset"}


def test_bench_validate_passes_a_run(whole: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    command = [sys.executable, "-m", "bench_core", "validate", str(whole[0] / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert_said(done, ExitCode.OK, "valid. Run ")


def test_a_finished_run_is_neither_resumed_nor_written_over(
    whole: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder = whole[0]
    before = (folder / "out" / "COMMITTED.json").read_bytes()
    assert_said(run(folder, THREE), ExitCode.OUTPUT, "is not empty; go on with it by adding --resume")
    assert_said(run(folder, THREE, "--resume"), ExitCode.OUTPUT, "holds a finished run, which is not changed")
    assert (folder / "out" / "COMMITTED.json").read_bytes() == before


def test_the_resolved_configuration_makes_the_same_run_again(
    whole: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder = whole[0]
    resolved = folder / "out" / "resolved_config.toml"
    command = [sys.executable, "-m", "bench_score", "--config", str(resolved), "--output", str(folder / "again")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert_said(done, ExitCode.OK)
    one, other = rows(folder / "out"), rows(folder / "again")
    assert {label: row.scores for label, row in one.items()} == {label: row.scores for label, row in other.items()}


def test_merging_a_finished_run_shows_its_table_and_changes_nothing(
    whole: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder = whole[0]
    before = {path: path.stat().st_mtime_ns for path in (folder / "out").rglob("*") if path.is_file()}
    assert_said(run(folder, THREE, "--merge"), ExitCode.OK, "12 of 12")
    assert {path: path.stat().st_mtime_ns for path in (folder / "out").rglob("*") if path.is_file()} == before


def test_one_bad_model_is_one_row_and_an_exit_code_of_its_own(tmp_path: Path) -> None:
    config = raw_config([model("segfault"), model("noisy"), model("fails")], output={"dir": "out"})
    assert_said(run(tmp_path, config), ExitCode.INCOMPLETE, "crashed", "error")
    found = rows(tmp_path / "out")
    assert [row.status for row in found.values()] == [Status.CRASHED, Status.OK, Status.ERROR]
    assert "SIGSEGV" in (tmp_path / "out" / "scores.md").read_text()


def test_models_at_once_are_the_same_models(tmp_path: Path, whole: tuple[Path, Any]) -> None:
    assert_said(run(tmp_path, THREE, "--parallel", "2"), ExitCode.OK)
    found, alone = rows(tmp_path / "out"), rows(whole[0] / "out")
    assert {label: row.scores for label, row in found.items()} == {label: row.scores for label, row in alone.items()}
    assert {row.timing.at_once for row in found.values() if row.timing} == {2}


def test_without_a_folder_a_run_makes_one_by_time_and_name(tmp_path: Path) -> None:
    config = raw_config([model("perfect")])
    assert_said(run(tmp_path, config), ExitCode.OK)
    (folder,) = (tmp_path / "results" / "scores").iterdir()
    assert folder.name.endswith("Z-mocks")
    assert list(rows(folder)) == ["perfect"]


def test_a_family_alone_is_a_run_of_its_own(tmp_path: Path) -> None:
    config = raw_config([model("perfect"), model("noisy") | {"family": "other"}], output={"dir": "out"})
    assert_said(run(tmp_path, config, "--family", "mock_family"), ExitCode.OK)
    assert list(rows(tmp_path / "out")) == ["perfect"]


def test_set_replaces_what_the_file_says(tmp_path: Path) -> None:
    arguments = ["--set", "models.0.label=renamed", "--set", "units.energy=meV", "--set", 'output.formats=["md"]']
    config = raw_config([model("offset", offset=0.25)], output={"dir": "out"})
    assert_said(run(tmp_path, config, *arguments), ExitCode.OK, "[meV/atom]")
    assert "250.0" in (tmp_path / "out" / "scores.md").read_text()
    assert not (tmp_path / "out" / "scores.csv").exists()


def test_trust_is_recorded(tmp_path: Path) -> None:
    config = raw_config([model("perfect")], output={"dir": "out"})
    assert_said(run(tmp_path, config, "--trust-checkpoint"), ExitCode.OK)
    assert rows(tmp_path / "out")["perfect"].trusted
    assert json.loads((tmp_path / "out" / "scores.json").read_text())["records"][0]["trusted_checkpoint"] is True


def test_a_file_cannot_vouch_for_its_checkpoints(tmp_path: Path) -> None:
    config = raw_config([model("perfect")], output={"dir": "out"}, trust_checkpoint=True)
    assert_said(run(tmp_path, config), ExitCode.USAGE, "cannot vouch for that", "add --trust-checkpoint")
    assert not (tmp_path / "out").exists()
    assert_said(run(tmp_path, config, "--trust-checkpoint"), ExitCode.OK)


def test_parts_without_the_predictions_they_came_from_are_not_merged(tmp_path: Path) -> None:
    config = raw_config([model("perfect")], output={"dir": "out"})
    assert_said(run(tmp_path, config, "--models", "0"), ExitCode.OK)
    data = tmp_path / "out" / "some"
    (data / "perfect_predictions.npz").unlink()
    refused = run(tmp_path, config, "--merge")
    assert_said(refused, ExitCode.BUNDLE, "perfect_predictions.npz: is missing", "copy the whole folder")
    assert not (tmp_path / "out" / "COMMITTED.json").exists()


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "changes", "code", "words"),
    [
        (["--models", "perfct"], {}, ExitCode.USAGE, "did you mean 'perfect'"),
        (["--models", "9"], {}, ExitCode.USAGE, "there are 3 models"),
        (["--shard", "4/4"], {}, ExitCode.USAGE, "fewer models than shards"),
        (["--shard", "slurm"], {}, ExitCode.USAGE, "is not set"),
        (["--family", "mock_famly"], {}, ExitCode.USAGE, "did you mean 'mock_family'"),
        (["--device", "gup"], {}, ExitCode.USAGE, "did you mean 'gpu'"),
        (["--device", "gpu"], {}, ExitCode.NO_DEVICE, "no GPU on this machine"),
        (["--parallel", "-1"], {}, ExitCode.USAGE, "at least 1"),
        (["--parallel", "many"], {}, ExitCode.USAGE, "--parallel"),
        (["--merge", "--models", "perfect"], {}, ExitCode.USAGE, "--merge takes all parts"),
        (["--merge", "--shard", "1/2", "--here"], {}, ExitCode.USAGE, "leave --shard and --here out"),
        (["--merge", "--parallel"], {}, ExitCode.USAGE, "leave --parallel out"),
        (["--merge", "--resume"], {}, ExitCode.USAGE, "leave --resume out"),
        (["--merge"], {}, ExitCode.MISSING_PART, "there is no part to merge"),
        (["--set", "seeed=3"], {}, ExitCode.USAGE, "did you mean 'seed'"),
        (["--models", "perfect"], {"output": {}}, ExitCode.USAGE, "parts have to meet in one folder"),
        (["--resume"], {"output": {}}, ExitCode.USAGE, "parts have to meet in one folder"),
        ([], {"data": {"test": "nowhere.xyz"}}, ExitCode.DATA, "there is no such file"),
        ([], {"data": {"test": "some.xyz", "energy": "REF"}}, ExitCode.DATA, "no structure has the key 'REF'"),
        ([], {"data": {"name": "dcfdt"}}, ExitCode.USAGE, "did you mean 'dcdft'"),
        ([], {"atomic_energies": {"H": 1}}, ExitCode.USAGE, "no energy for C, O"),
        ([], {"output": {"dir": "out", "formats": ["xls"]}}, ExitCode.USAGE, "unknown format 'xls'"),
    ],
)
def test_a_mistake_is_a_sentence_and_leaves_nothing_behind(
    tmp_path: Path, arguments: list[str], changes: Mapping[str, Any], code: ExitCode, words: str
) -> None:
    done = run(tmp_path, THREE | changes, *arguments, CUDA_VISIBLE_DEVICES="")
    assert_said(done, code, words)
    assert {path.name for path in tmp_path.iterdir()} <= {"some.xyz", "mocks.yaml"}


MATRIX = """
python = "3.11"
[scenarios]
[groups]
[families.mock_family]
package = "packages/mock"
devices = ["gpu"]
"""


def test_a_family_is_not_scored_on_a_device_that_the_matrix_leaves_out(tmp_path: Path) -> None:
    write_file(tmp_path / "some.xyz")
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "mocks.yaml").write_text(json.dumps(THREE))
    command = [sys.executable, "-m", "bench_core", "score", "--config", "mocks.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert_said(done, ExitCode.NO_DEVICE, "family mock_family is scored on gpu alone (matrix.toml), and cpu is asked")
    assert not (tmp_path / "out").exists()


def test_a_size_left_in_the_shell_is_a_sentence_and_begins_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, THREE, WORLD_SIZE="2")
    assert_said(done, ExitCode.USAGE, "WORLD_SIZE is 2 in the environment, and ", "unset WORLD_SIZE")
    assert not (tmp_path / "out").exists()


LAUNCHED = {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}


@pytest.mark.parametrize("option", [["--resume"], ["--merge"], ["--models", "0"], ["--parallel"]])
def test_a_launcher_refuses_what_it_does_not_do(tmp_path: Path, option: list[str]) -> None:
    done = run(tmp_path, THREE, *option, **LAUNCHED)
    assert_said(
        done, ExitCode.USAGE, f"a launcher such as torchrun shares structures of one run; leave {option[0]} out"
    )


def test_what_a_launcher_starts_takes_the_folder_for_itself(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with FileLock(tmp_path / "out" / ".lock"):
        assert_said(run(tmp_path, THREE, **LAUNCHED), ExitCode.OUTPUT, "another bench is writing there")
    (tmp_path / "out" / "thesis.tex").touch()
    assert_said(run(tmp_path, THREE, **LAUNCHED), ExitCode.OUTPUT, "is not empty; choose another --output")


def test_a_configuration_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench_core", "score", "--config", "nowhere.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert_said(done, ExitCode.USAGE, "nowhere.toml: cannot be read (No such file or directory)")


@pytest.mark.parametrize("place", ["/proc/nowhere", "file/run"])
def test_an_output_that_cannot_be_written_is_a_sentence(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    assert_said(run(tmp_path, THREE, "--output", place), ExitCode.OUTPUT, "cannot write")


def test_a_folder_of_somebody_elses_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    assert_said(run(tmp_path, THREE), ExitCode.OUTPUT, "is not empty")
    assert_said(run(tmp_path, THREE, "--resume"), ExitCode.OUTPUT, "is not empty")
    assert_said(run(tmp_path, THREE, "--models", "0"), ExitCode.OUTPUT, "is not empty")
    assert {path.name for path in (tmp_path / "out").iterdir()} <= {"thesis.tex", ".lock"}


def test_a_disk_that_is_full_ends_the_run_and_it_goes_on_when_there_is_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96k", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("a small disk is mounted by root alone")
    try:
        write_file(tmp_path / "some.xyz", 400)
        done = run(tmp_path, THREE, "--output", "disk/out")
        assert_said(done, ExitCode.OUTPUT, "No space left on device")
        assert not is_committed(disk / "out")
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        assert_said(run(tmp_path, THREE, "--output", "disk/out", "--resume"), ExitCode.OK)
        assert len(rows(disk / "out")) == 3
    finally:
        subprocess.run(["umount", disk], check=True)


# Parts


def test_two_shards_and_a_merge_are_the_run_itself(tmp_path: Path, whole: tuple[Path, Any]) -> None:
    first = run(tmp_path, THREE, "--shard", "1/2")
    assert_said(first, ExitCode.OK, "When all are there: bench score ", "perfect", "offset")
    assert "noisy" not in first.stdout
    merged = run(tmp_path, THREE, "--merge")
    assert_said(merged, ExitCode.MISSING_PART, "Not scored yet, and not in the table: noisy")
    assert not is_committed(tmp_path / "out")
    assert_said(run(tmp_path, THREE, "--shard", "2/2"), ExitCode.OK)
    assert_said(run(tmp_path, THREE, "--merge"), ExitCode.OK)
    found, alone = rows(tmp_path / "out"), rows(whole[0] / "out")
    assert list(found) == list(alone)
    assert {label: row.scores for label, row in found.items()} == {label: row.scores for label, row in alone.items()}


def test_shards_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    write_file(tmp_path / "some.xyz")
    shards = []
    for number in (1, 2, 3):
        (tmp_path / str(number)).mkdir()
        shutil.copy(tmp_path / "some.xyz", tmp_path / str(number))
    config = THREE | {"data": {"test": str(tmp_path / "some.xyz"), "group": "family"}}
    for number in (1, 2, 3):
        shards.append(
            start(tmp_path / str(number), config, "--shard", f"{number}/3", "--output", str(tmp_path / "out"))
        )
    for shard in shards:
        out, err = shard.communicate()
        assert shard.returncode == 0, out + err
    assert_said(run(tmp_path, config, "--merge"), ExitCode.OK)
    assert len(rows(tmp_path / "out")) == 3


def test_tasks_of_a_job_array_are_shards(tmp_path: Path) -> None:
    for task in ("1", "2"):
        names = {"ID": task, "MIN": "1", "MAX": "2", "STEP": "1", "COUNT": "2"}
        variables = {f"SLURM_ARRAY_TASK_{name}": value for name, value in names.items()}
        assert_said(run(tmp_path, THREE, "--shard", "slurm", **variables), ExitCode.OK)
    assert_said(run(tmp_path, THREE, "--merge"), ExitCode.OK)


def test_models_are_chosen_by_label_and_place(tmp_path: Path) -> None:
    assert_said(run(tmp_path, THREE, "--models", "offset", "0"), ExitCode.OK)
    assert parts(tmp_path / "out") == {"offset", "perfect"}


def test_a_shard_that_is_resumed_scores_what_is_missing_alone(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    config = raw_config([model("perfect", calls=str(calls)), model("offset")], output={"dir": "out"})
    assert_said(run(tmp_path, config, "--models", "perfect"), ExitCode.OK)
    assert_said(run(tmp_path, config, "--shard", "1/1", "--resume"), ExitCode.OK, "perfect", "offset")
    assert len(calls.read_text().splitlines()) == 12
    assert_said(run(tmp_path, config, "--models", "perfect"), ExitCode.OK)
    assert len(calls.read_text().splitlines()) == 24  # who names a model has it scored


def test_a_model_that_fails_after_it_had_a_score_keeps_it_and_says_so(tmp_path: Path) -> None:
    weights = tmp_path / "there"
    weights.touch()
    config = raw_config([model("perfect", needs=str(weights))], output={"dir": "out"})
    assert_said(run(tmp_path, config, "--models", "perfect"), ExitCode.OK)
    weights.unlink()
    done = run(tmp_path, config, "--models", "perfect")
    assert_said(done, ExitCode.INCOMPLETE, "perfect: its earlier score is kept; this time error: ", "12 of 12")
    assert_said(run(tmp_path, config, "--merge"), ExitCode.OK, "its earlier score is kept")
    assert rows(tmp_path / "out")["perfect"].status is Status.OK


def test_a_part_that_failed_says_why(tmp_path: Path) -> None:
    config = raw_config([model("fails"), model("perfect")], output={"dir": "out"})
    done = run(tmp_path, config, "--models", "fails")
    assert_said(done, ExitCode.INCOMPLETE, "fails: error: RuntimeError: size mismatch")


def test_a_part_says_how_its_table_is_made(tmp_path: Path) -> None:
    done = run(tmp_path, THREE, "--models", "0", "1", "2")
    (merge,) = re.findall(r"When all are there: bench (.+)", done.stdout)
    command = [sys.executable, "-m", "bench_core", *shlex.split(merge)]
    merged = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert_said(merged, ExitCode.OK, "The run: ")


def test_a_part_of_another_configuration_is_refused_by_name(tmp_path: Path) -> None:
    assert_said(run(tmp_path, THREE, "--models", "perfect"), ExitCode.OK)
    done = run(tmp_path, THREE | {"metrics": {"energy": ["mae"]}}, "--merge")
    assert_said(done, ExitCode.RESUME, "perfect.json: was made with another configuration")


def test_data_that_changed_are_refused_before_anything_is_scored_on_them(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    config = raw_config([model("perfect"), model("offset", calls=str(calls))], output={"dir": "out"})
    assert_said(run(tmp_path, config, "--models", "perfect"), ExitCode.OK)
    write_file(tmp_path / "some.xyz", seed=1)
    done = run(tmp_path, config, "--resume")
    assert_said(done, ExitCode.RESUME, "perfect.json: was made with another dataset")
    assert not calls.exists()


def test_a_merge_of_incomplete_parts_may_be_made_again(tmp_path: Path) -> None:
    assert_said(run(tmp_path, THREE, "--models", "perfect"), ExitCode.OK)
    for _ in range(2):
        assert_said(run(tmp_path, THREE, "--merge"), ExitCode.MISSING_PART, "noisy, offset")


# Interrupted, killed, two at once


def slow(folder: Path, count: int = 4) -> dict[str, Any]:
    models = [
        model("noisy", f"model-{index}", calls=str(folder / f"calls-{index}"), sec_per_batch=0.2)
        for index in range(count)
    ]
    return raw_config(models, output={"dir": "out"})


def calls(folder: Path) -> Counter[str]:
    """How often each model was asked for each structure."""
    return Counter(
        f"{path.name} {line}" for path in sorted(folder.glob("calls-*")) for line in path.read_text().splitlines()
    )


def wait_for(what: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not what.exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def assert_gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=10)
    assert not [process for process in alive if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("after", [0, 2])
def test_a_conductor_killed_anywhere_scores_no_model_twice_that_was_done(tmp_path: Path, after: int) -> None:
    process = start(tmp_path, slow(tmp_path))
    wait_for(tmp_path / "out" / "parts" / f"model-{after}.json", process)
    below = workers_of(process)
    process.kill()
    process.communicate()
    assert_gone(below)
    done = parts(tmp_path / "out")
    before = calls(tmp_path)
    assert f"model-{after}" in done
    assert not is_committed(tmp_path / "out")
    assert_said(run(tmp_path, slow(tmp_path), "--resume"), ExitCode.OK)
    assert list(rows(tmp_path / "out")) == [f"model-{index}" for index in range(4)]
    now = calls(tmp_path)
    for index in range(4):
        asked = {name: count for name, count in now.items() if name.startswith(f"calls-{index} ")}
        assert len(asked) == 12
        if f"model-{index}" in done:
            assert set(asked.values()) == {1}
    assert before <= now


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path, number: signal.Signals) -> None:
    process = start(tmp_path, slow(tmp_path))
    wait_for(tmp_path / "out" / "parts" / "model-0.json", process)
    below = workers_of(process)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == ExitCode.INTERRUPTED, out + err
    (again,) = re.findall(r"what was scored is kept. Go on with: bench (.+)", err)
    assert "Traceback" not in err
    assert_gone(below)
    done = parts(tmp_path / "out")
    assert "model-0" in done
    resumed = subprocess.run(
        [sys.executable, "-m", "bench_core", *shlex.split(again), "--here"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert_said(resumed, ExitCode.OK)
    assert all(calls(tmp_path)[f"calls-0 some[{index}]"] == 1 for index in range(12))


def test_an_interrupt_before_anything_is_scored_advises_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "bench_core", "score", "--here", "--config", "pipe.toml"]
    process = subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with pipe.open("w"):  # waits until it is opened for reading
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == ExitCode.INTERRUPTED, out + err
    assert err == "bench: interrupted before anything was scored\n"


def test_a_worker_that_is_killed_from_outside_is_one_row(tmp_path: Path) -> None:
    process = start(tmp_path, slow(tmp_path, 2))
    wait_for(tmp_path / "calls-0", process)
    (worker,) = workers_of(process)
    worker.kill()
    out, err = process.communicate()
    assert process.returncode == ExitCode.INCOMPLETE, out + err
    found = rows(tmp_path / "out")
    assert found["model-0"].status is Status.CRASHED
    assert "SIGKILL (out of memory?)" in str(found["model-0"].reason)
    assert found["model-1"].status is Status.OK


def test_two_runs_into_one_folder_are_one_run_and_a_sentence(tmp_path: Path) -> None:
    process = start(tmp_path, slow(tmp_path, 2))
    wait_for(tmp_path / "calls-0", process)
    other = subprocess.run(
        [sys.executable, "-m", "bench_core", "score", "--here", "--config", "mocks.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert_said(other, ExitCode.OUTPUT, "another bench is writing there")
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    assert len(rows(tmp_path / "out")) == 2
    assert set(calls(tmp_path).values()) == {1}
