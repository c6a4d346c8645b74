"""The doctor's checks: what is found on a machine, and what it says to do."""

from pathlib import Path

from bench_core.doctor import Check, Level, check_load, check_swap, examine
from bench_core.matrix import load_matrix
from bench_core.sample import sample_folder

ROOT = Path(__file__).parents[2]
MATRIX = load_matrix(ROOT)


def found(root: Path, files: dict[str, str] | None = None, environ: dict[str, str] | None = None) -> dict[str, Check]:
    """The checks by name, on a system that has `files` below its root and `environ` set."""
    system = root / "system"
    for name, text in (files or {}).items():
        path = system / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return {check.name: check for check in examine(root, MATRIX, environ or {}, system)}


def test_whatever_is_not_well_comes_with_advice(tmp_path: Path) -> None:
    for check in found(tmp_path).values():
        assert check.found
        assert bool(check.advice) == (check.level in (Level.WARN, Level.STOP)), check.name


def test_every_group_of_the_matrix_is_looked_at(tmp_path: Path) -> None:
    assert set(MATRIX.groups) < found(tmp_path).keys()


def test_a_governor_that_follows_the_load_is_warned_about(tmp_path: Path) -> None:
    governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    check = found(tmp_path, {governor: "powersave\n"})["governor"]
    assert (check.level, check.found) == (Level.WARN, "powersave")
    assert "cpupower frequency-set -g performance" in check.advice
    assert found(tmp_path, {governor: "performance\n"})["governor"].level is Level.OK


def test_turbo_is_warned_about_and_its_absence_is_well(tmp_path: Path) -> None:
    boost = "sys/devices/system/cpu/cpufreq/boost"
    assert found(tmp_path, {boost: "1\n"})["turbo"].level is Level.WARN
    assert found(tmp_path, {boost: "0\n"})["turbo"].level is Level.OK


def test_what_a_virtual_machine_does_not_show_is_neither_well_nor_a_warning(tmp_path: Path) -> None:
    checks = found(tmp_path)
    assert {checks[name].level for name in ("governor", "turbo", "siblings")} == {Level.UNKNOWN}


def test_siblings_are_warned_about(tmp_path: Path) -> None:
    assert found(tmp_path, {"sys/devices/system/cpu/smt/active": "1\n"})["siblings"].level is Level.WARN


def test_a_quota_below_the_processors_is_warned_about(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}
    check = found(tmp_path, files)["quota"]
    assert check.level is Level.WARN
    assert check.found.startswith("0.50 of ")


def test_a_thread_variable_is_named_with_its_value(tmp_path: Path) -> None:
    check = found(tmp_path, environ={"OMP_NUM_THREADS": "8"})["variables"]
    assert (check.level, check.found) == (Level.WARN, "OMP_NUM_THREADS=8 set")


def test_a_variable_that_workers_inherit_is_named(tmp_path: Path) -> None:
    check = found(tmp_path, environ={"LD_PRELOAD": "/lib/malloc.so", "OMP_NUM_THREADS": "8"})["variables"]
    assert check.found == "LD_PRELOAD set, which changes what is measured"
    assert check.advice == "unset LD_PRELOAD"


def test_a_sample_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    check = found(tmp_path)["dataset"]
    assert check.level is Level.WARN
    assert "bench sample" in check.advice
    sample_folder(tmp_path).mkdir(parents=True)
    assert found(tmp_path)["dataset"].level is Level.OK


def test_an_environment_that_cannot_be_built_stops_a_run(tmp_path: Path) -> None:
    check = found(tmp_path)["albx"]  # no lock and no package below this root
    assert check.level is Level.STOP
    assert "locks/albx.txt" in check.advice


def test_an_environment_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    for name in ("locks", "packages"):
        (tmp_path / name).symlink_to(ROOT / name)
    check = found(tmp_path)["albx"]
    assert "not built" in check.found
    assert check.level in (Level.WARN, Level.STOP)  # without uv it cannot be built
    assert "bench env albx" in check.advice or "uv" in check.advice


def test_results_that_cannot_be_written_stop_a_run(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file where the folder should be", encoding="utf-8")
    assert found(tmp_path)["results"].level is Level.STOP


def test_a_busy_machine_is_warned_about() -> None:
    assert check_load([0.4, 3.0, 3.0], processors=2).level is Level.OK
    assert check_load([0.6, 0.0, 0.0], processors=2).level is Level.WARN
    assert check_load([], processors=2).level is Level.UNKNOWN


def test_swap_in_use_is_warned_about() -> None:
    assert check_swap(10_000_000).level is Level.OK
    assert (check_swap(500_000_000).level, check_swap(500_000_000).found) == (Level.WARN, "500 MB in use")
