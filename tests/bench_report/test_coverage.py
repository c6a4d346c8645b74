"""What results lack of a set of transforms."""

from pathlib import Path

import pytest
from bench_core.catalog import Catalog, Transform, load_catalog
from bench_core.cli import main
from bench_core.errors import BenchError, ExitCode
from bench_core.matrix import Exclusion, Group, Matrix, Scenario, load_matrix
from bench_core.results import Result, Status
from bench_report.coverage import FOLDER, Coverage, coverage, documents, sentences, write_documents

from tests.bench_report.factory import commit_bundle, make_bundle, make_result, not_measured

ROOT = Path(__file__).parents[2]
LIBRARIES = ("ant", "bee", "cat")
MATRIX = Matrix(
    python="3.11",
    scenarios={"image-rgb": Scenario(media="image", channels=3, modes=("micro",))},
    groups={"g": Group(package="p", libraries=LIBRARIES, media=("image",), devices=("cpu",))},
    exclusions=(Exclusion(reason="cannot", library="cat", transform="C"),),
)
CATALOG = Catalog(
    transforms={
        "A": Transform(params={}, image_rgb=("ant", "bee", "cat")),
        "B": Transform(params={}, image_rgb=("ant", "bee")),
        "C": Transform(params={}, image_rgb=("ant", "cat")),
        "alone": Transform(params={}, image_rgb=("cat",)),
    },
    sets={"paper": {"image-rgb": ("A", "B", "C", "alone")}},
)


def of(*results: Result, libraries: tuple[str, ...] = LIBRARIES) -> Coverage:
    (found,) = coverage([make_bundle(results)] if results else [], MATRIX, CATALOG, "paper", libraries)
    return found


def test_only_transforms_that_two_of_the_libraries_offer_are_asked_for() -> None:
    found = of()
    assert found.name == "image-rgb, micro, cpu"
    assert found.num_asked == 2  # C is excluded for cat, so ant has nobody to be compared with
    assert of(libraries=("ant", "bee")).num_asked == 2
    assert of(libraries=("ant", "cat")).num_asked == 1


def test_what_was_not_run_or_failed_is_lacking_and_what_was_slow_is_not() -> None:
    crashed, slow = not_measured(Status.CRASHED, "signal 11"), not_measured(Status.SLOW, "slow")
    found = of(make_result("ant", {"A": 1e-3, "B": 1e-3}), make_result("bee", {"A": slow, "B": crashed}))
    assert found.lacking == {"A": {"cat": "not run"}, "B": {"bee": "crashed"}}
    assert sentences([found]) == [
        "image-rgb, micro, cpu: 0 of 2 transforms are complete",
        "  A lacks cat (not run)",
        "  B lacks bee (crashed)",
    ]


def test_everything_there_is_complete() -> None:
    found = of(
        make_result("ant", {"A": 1e-3, "B": 1e-3}), make_result("bee", {"A": 1e-3, "B": 1e-3}), libraries=("ant", "bee")
    )
    assert found.complete
    assert sentences([found]) == ["image-rgb, micro, cpu: 2 of 2 transforms are complete"]


@pytest.mark.parametrize(("set_name", "library", "said"), [("papr", "ant", "'paper'"), ("paper", "antt", "'ant'")])
def test_an_unknown_set_or_library_is_refused(set_name: str, library: str, said: str) -> None:
    with pytest.raises(BenchError, match=said):
        coverage([], MATRIX, CATALOG, set_name, [library])


def test_the_documents_of_this_repository_are_current() -> None:
    made = documents(load_matrix(ROOT), load_catalog())
    assert {path.name for path in (ROOT / FOLDER).iterdir()} == set(made)
    for name, text in made.items():
        assert (ROOT / FOLDER / name).read_text(encoding="utf-8") == text, "run: bench coverage --write-docs"


def test_the_documents_are_written_once(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text((ROOT / "matrix.toml").read_text())
    assert write_documents(tmp_path) == [tmp_path / FOLDER / "image-rgb.md"]
    assert write_documents(tmp_path) == []


def test_the_command_ends_with_one_when_something_is_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "matrix.toml").write_text((ROOT / "matrix.toml").read_text())
    monkeypatch.chdir(tmp_path)
    names = load_catalog().sets["quick"]["image-rgb"]
    results = [make_result(library, dict.fromkeys(names, 1e-3)) for library in ("pillow", "torchvision")]
    run = str(commit_bundle(make_bundle(results), tmp_path / "results/runs/one"))
    assert main(["coverage", run]) == ExitCode.FAILED
    assert "Pad lacks torchvision (not run), pillow (not run), albumentationsx (not run)" in capsys.readouterr().out
    assert main(["coverage", run, "--set", "quick", "--library", "pillow,torchvision"]) == 0
    assert "15 of 15" in capsys.readouterr().out
    assert main(["coverage", "--write-docs", run]) == ExitCode.USAGE
