"""What is recorded of a machine: Linux's files, and nothing that names a person or a host."""

import getpass
import json
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from bench_core.machine import (
    SPEED_VARIABLES,
    cpu_model,
    cpu_quota,
    describe_machine,
    git_state,
    governors,
    gpus,
    smt,
    turbo,
)

ROOT = Path(__file__).parents[2]


def system(folder: Path, files: dict[str, str]) -> Path:
    """A folder that looks like / to those who read /proc and /sys."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_the_description_is_json_and_names_nobody() -> None:
    described = json.dumps(describe_machine(ROOT))
    for private in (str(Path.home()), socket.gethostname(), str(ROOT)):
        assert private not in described
    if getpass.getuser() != "root":
        assert getpass.getuser() not in described


def test_the_description_says_what_decides_speed() -> None:
    described = describe_machine(ROOT)
    assert described["cpu"]
    assert described["cpus"] >= len(described["cpus_usable"]) > 0
    assert described["memory_total_bytes"] > described["memory_available_bytes"] > 0


def test_variables_that_change_speed_are_recorded_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SPEED_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert describe_machine(ROOT)["speed_variables"] == []
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "AVX2")
    assert describe_machine(ROOT)["speed_variables"] == ["NPY_DISABLE_CPU_FEATURES"]


def test_the_processors_name_is_read(tmp_path: Path) -> None:
    text = "processor : 0\nmodel name\t: Fast CPU @ 3 GHz\n\nprocessor : 1\nmodel name\t: Other\n"
    assert cpu_model(system(tmp_path, {"proc/cpuinfo": text})) == "Fast CPU @ 3 GHz"


def test_every_governor_is_named_once(tmp_path: Path) -> None:
    folder = "sys/devices/system/cpu"
    names = {"cpu0": "powersave\n", "cpu1": "performance\n", "cpu2": "powersave\n"}
    files = {f"{folder}/{cpu}/cpufreq/scaling_governor": name for cpu, name in names.items()}
    assert governors(system(tmp_path, files)) == ["performance", "powersave"]


def test_a_system_that_tells_nothing_is_not_guessed_at(tmp_path: Path) -> None:
    assert governors(tmp_path) == []
    assert (turbo(tmp_path), smt(tmp_path), cpu_quota(tmp_path)) == (None, None, None)


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("intel_pstate/no_turbo", "0\n", True),
        ("intel_pstate/no_turbo", "1\n", False),
        ("cpufreq/boost", "1\n", True),
        ("cpufreq/boost", "0\n", False),
    ],
)
def test_turbo_is_read_from_either_file(tmp_path: Path, file: str, text: str, expected: bool) -> None:
    assert turbo(system(tmp_path, {f"sys/devices/system/cpu/{file}": text})) is expected


def test_siblings_are_read(tmp_path: Path) -> None:
    assert smt(system(tmp_path, {"sys/devices/system/cpu/smt/active": "1\n"})) is True


def test_the_narrowest_quota_around_the_process_counts(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/outer/inner\n",
        "sys/fs/cgroup/outer/inner/cpu.max": "max 100000\n",
        "sys/fs/cgroup/outer/cpu.max": "150000 100000\n",
        "sys/fs/cgroup/cpu.max": "400000 100000\n",
    }
    assert cpu_quota(system(tmp_path, files)) == 1.5


def test_a_quota_of_the_first_generation_is_read(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "5:memory:/x\n4:cpu,cpuacct:/docker/abc\n",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "50000\n",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    }
    assert cpu_quota(system(tmp_path, files)) == 0.5


def test_no_quota_is_none(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "4:cpu:/\n0::/\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu.max": "max 100000\n",
    }
    assert cpu_quota(system(tmp_path, files)) is None


def test_gpus_are_what_nvidias_tool_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA H200, 143771 MiB, 570.1'\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert gpus() == [{"name": "NVIDIA H200", "memory_total": "143771 MiB", "driver": "570.1"}]


def test_a_tool_that_fails_is_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert gpus() == []


def test_a_commit_and_whether_files_differ_from_it_are_recorded(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    assert shutil.which("git")
    git("init", "--quiet")
    (tmp_path / "file").write_text("one", encoding="utf-8")
    git("add", "file")
    git("commit", "--quiet", "-m", "first")
    commit, dirty = git_state(tmp_path)
    assert commit is not None
    assert (len(commit), dirty) == (40, False)
    (tmp_path / "file").write_text("two", encoding="utf-8")
    assert git_state(tmp_path) == (commit, True)


def test_outside_a_repository_there_is_no_commit(tmp_path: Path) -> None:
    assert git_state(tmp_path) == (None, None)
