"""matrix.toml: what it refuses, each with the file and what is wrong in it."""

from pathlib import Path

import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.matrix import find_root, load_matrix

from tests.bench_core.mock_run import MATRIX


def refusal(folder: Path, text: str) -> str:
    (folder / "matrix.toml").write_text(text)
    with pytest.raises(BenchError) as caught:
        load_matrix(folder)
    assert caught.value.code is ExitCode.USAGE
    return str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"3.11"', '"new"', "python = 'new': write a version"),
        ("mock_twin", "../../elsewhere", "'../../elsewhere' is no name"),
        ("mock_twin", "", "'' is no name"),
        ("groups.mocks", 'groups."../elsewhere"', "'../elsewhere' is no name"),
        ("groups.mocks", "groups.dev", "no group can be called 'dev'"),
        ('modes = ["micro"]', 'modes = ["../x"]', "'../x' is no name"),
        ("mock_twin", "mock_fast", "library 'mock_fast' is in group"),
    ],
)
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, before: str, after: str, message: str) -> None:
    shown = refusal(tmp_path, MATRIX.replace(before, after))
    assert str(tmp_path / "matrix.toml") in shown
    assert message in shown


@pytest.mark.parametrize(
    "exclusion", ['library = "mock_fest"', 'group = "mock"', 'scenario = "rgb"', 'mode = "mikro"', 'device = "tpu"']
)
def test_an_exclusion_that_would_exclude_nothing_is_refused(tmp_path: Path, exclusion: str) -> None:
    shown = refusal(tmp_path, f'{MATRIX}\n[[exclusions]]\nreason = "because"\n{exclusion}\n')
    assert "exclusion 1: there is no " in shown


def test_transforms_of_a_scenario_that_does_not_exist_are_refused(tmp_path: Path) -> None:
    shown = refusal(tmp_path, f'{MATRIX}\n[libraries.mock_fast.transforms]\nimage-rbg = ["Resize"]\n')
    assert "there is no scenario 'image-rbg'" in shown


@pytest.mark.parametrize("damage", ["x = " + "[" * 5000, "x = " + "9" * 5000, "# " + "x" * 100_000, "x = 1\nx = 2"])
def test_a_damaged_file_is_one_sentence(tmp_path: Path, damage: str) -> None:
    assert refusal(tmp_path, f"{MATRIX}\n{damage}\n").startswith(f"{tmp_path / 'matrix.toml'}: ")


def test_a_current_folder_that_was_deleted_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(BenchError, match="the current folder was deleted"):
        find_root()
