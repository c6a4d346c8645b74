"""What `plan`, `list`, `validate`, `run` and `doctor` print and end with."""

import json
from pathlib import Path

import pytest
from bench_core.bundle import identity
from bench_core.catalog import load_catalog
from bench_core.cli import main
from bench_core.commands.doctor import as_text
from bench_core.doctor import Check, Level
from bench_core.errors import ExitCode
from bench_core.matrix import load_matrix
from bench_core.profiles import profile_names
from PIL import Image

ROOT = Path(__file__).parents[2]

# Libraries nobody has installed: a run of them is whole, and says that it could not measure.
NOWHERE = """
python = "3.11"
[scenarios.image-rgb]
media = "image"
channels = 3
modes = ["micro"]
[groups.nowhere]
package = "packages/nowhere"
libraries = ["nowhere"]
media = ["image"]
devices = ["cpu", "gpu"]
"""


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one library that is not installed, and three images."""
    (tmp_path / "matrix.toml").write_text(NOWHERE, encoding="utf-8")
    (tmp_path / "images").mkdir()
    for index in range(3):
        Image.new("RGB", (16, 12), (index, 100, 200)).save(tmp_path / f"images/{index}.png")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bench(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_a_plan_shows_jobs_counts_files_and_that_its_minutes_are_an_estimate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, shown, _ = bench(capsys, "plan", "--library", "kornia,pillow", "--transform-set", "paper")
    assert code == ExitCode.OK
    assert "2 jobs, about " in shown
    assert "minutes (an estimate)" in shown
    row = next(line for line in shown.splitlines() if line.startswith("pillow "))
    offered = [
        n for n in load_catalog().sets["paper"]["image-rgb"] if "pillow" in load_catalog().transforms[n].image_rgb
    ]
    assert row.split() == [
        "pillow",
        "torch_stack",
        "image-rgb",
        "micro",
        str(len(offered)),
        str(58 - len(offered)),
        "0",
    ]
    assert "  image-rgb/kornia_micro_results.json" in shown


def test_a_plan_shows_what_is_not_run_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = bench(capsys, "plan", "--device", "gpu")
    assert "Not run:\n  pillow, image-rgb, micro, gpu: Pillow works on the CPU only\n" in shown


def test_a_plan_fits_a_terminal_of_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = bench(capsys, "plan", "--transform-set", "paper")
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_a_plan_that_is_nothing_ends_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = bench(capsys, "plan", "--device", "gpu", "--library", "pillow")
    assert code == ExitCode.USAGE
    assert "nothing is left to measure" in error


@pytest.mark.parametrize(
    ("kind", "first", "names"),
    [
        ("libraries", "library", load_matrix(ROOT).all_libraries()),
        ("transforms", "transform", tuple(load_catalog().transforms)),
        ("sets", "set", tuple(load_catalog().sets)),
        ("scenarios", "scenario", tuple(load_matrix(ROOT).scenarios)),
        ("profiles", "profile", profile_names(ROOT)),
    ],
)
def test_everything_that_can_be_named_is_listed(
    kind: str, first: str, names: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    _, shown, _ = bench(capsys, "list", kind)
    assert [line.split()[0] for line in shown.splitlines()] == [first, *names]
    _, shown, _ = bench(capsys, "list", kind, "--json")
    assert [row[first] for row in json.loads(shown)] == list(names)


def test_an_unknown_kind_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = bench(capsys, "list", "library")
    assert code == ExitCode.USAGE
    assert "unknown kind 'library'; did you mean 'libraries'?" in error


def test_libraries_are_listed_with_devices_and_how_many_transforms(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = bench(capsys, "list", "libraries", "--json")
    pillow = next(row for row in json.loads(shown) if row["library"] == "pillow")
    assert pillow["devices"] == ["cpu"]
    count = sum("pillow" in found.image_rgb for found in load_catalog().transforms.values())
    assert pillow["transforms"] == {"image-rgb": count}


def test_a_run_is_written_where_asked_and_validates(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--data-dir", "images", "--processes", "1", "--transforms", "Invert", "--here", "--output", "out")
    code, shown, _ = bench(capsys, "run", *asked)
    assert code == ExitCode.INCOMPLETE
    assert "out: 1 measurement (1 unavailable)" in shown
    assert "nowhere could not be measured: no adapter for library 'nowhere' is installed" in shown
    code, shown, _ = bench(capsys, "validate", "out")
    assert code == ExitCode.OK
    assert "result files: 1; measurements: 1 (1 unavailable)" in shown


def test_a_run_begins_with_how_long_it_should_take_and_what_disturbs_it(
    nowhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench_core.machine.load_average", lambda: [99.0, 0.0, 0.0])
    _, _, error = bench(capsys, "run", "--data-dir", "images", "--processes", "1", "--here", "--output", "out")
    assert error.startswith("bench: Profile default: 1 job, about ")
    assert "bench: warning: this machine is busy: load 99.00 over the last minute on " in error


def test_a_changed_run_does_not_validate(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench(capsys, "run", "--data-dir", "images", "--processes", "1", "--here", "--output", "out")
    with (nowhere / "out/environment.json").open("a", encoding="utf-8") as stream:
        stream.write(" ")
    code, _, error = bench(capsys, "validate", "out")
    assert code == ExitCode.BUNDLE
    assert "out/environment.json: was changed after the run" in error


def test_without_a_place_a_run_is_named_by_time_and_profile(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench(capsys, "run", "--data-dir", "images", "--processes", "1", "--here")
    (folder,) = (nowhere / "results/runs").iterdir()
    assert folder.name.endswith("Z-default")
    assert identity(folder).run_id.startswith(f"{folder.name}-")
    assert (folder / "COMMITTED.json").is_file()


def test_a_run_on_a_device_that_is_not_here_ends_before_anything_is_written(
    nowhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    code, _, error = bench(capsys, "run", "--data-dir", "images", "--device", "gpu", "--output", "out")
    assert code == ExitCode.NO_DEVICE
    assert error.startswith("bench: no GPU on this machine")
    assert not (nowhere / "out").exists()


def test_there_must_be_a_run_to_resume(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = bench(capsys, "run", "--resume", "out")
    assert code == ExitCode.RESUME
    assert "out holds no run" in error


def test_a_run_is_not_resumed_with_another_configuration(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--data-dir", "images", "--processes", "1", "--here")
    bench(capsys, "run", *asked, "--seed", "1", "--output", "out")
    code, _, error = bench(capsys, "run", *asked, "--seed", "2", "--resume", "out")
    assert code == ExitCode.RESUME
    assert "seed: 1 there, 2 here" in error


def test_the_same_options_may_be_given_when_a_run_is_resumed(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--data-dir", "images", "--processes", "1", "--here")
    bench(capsys, "run", *asked, "--output", "out")
    code, _, error = bench(capsys, "run", *asked, "--resume", "out")
    assert code == ExitCode.OUTPUT  # it is the same run, and it is finished
    assert "holds a finished run" in error


def test_a_new_place_and_a_run_to_resume_do_not_go_together(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = bench(capsys, "run", "--resume", "out", "--output", "other")
    assert code == ExitCode.USAGE
    assert "not allowed with argument" in error


def test_the_doctor_ends_with_failed_when_a_run_is_impossible(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, shown, _ = bench(capsys, "doctor")
    assert code == ExitCode.FAILED  # the group's lock and package are not there
    assert "A run is not possible yet: nowhere." in shown


def test_the_doctor_fits_a_terminal_of_80_columns(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = bench(capsys, "doctor")
    long = [line for line in shown.splitlines() if len(line) > 80]
    assert [line for line in long if str(nowhere) not in line] == []  # a path is not broken


def test_the_doctors_advice_stands_below_what_was_found() -> None:
    check = Check("load", Level.WARN, "3.10 over the last minute, on 2 processors", "stop it, or wait")
    assert as_text(check) == [
        "warn  load        3.10 over the last minute, on 2 processors",
        "                  > stop it, or wait",
    ]
