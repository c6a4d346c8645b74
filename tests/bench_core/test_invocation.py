import os
from pathlib import Path

import pytest
from bench_core.invocation import command


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with tools of its own, in which we stand; no bench is on the search path."""
    program = tmp_path / ".tools" / "bin" / "bench"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setattr("sys.argv", [str(program)])
    return tmp_path


def test_a_hint_names_the_program_by_the_path_that_works_from_here(checkout: Path) -> None:
    assert command("run", "--resume", "DIR") == ".tools/bin/bench run --resume DIR"


def test_a_path_from_elsewhere_is_whole(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "below").mkdir()
    monkeypatch.chdir("below")
    assert command("report") == f"{checkout.resolve()}/.tools/bin/bench report"


def test_what_is_on_the_search_path_needs_no_path(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout / ".tools" / "bin"))
    assert command("report") == "bench report"


def test_started_by_another_program_it_is_called_bench(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/usr/lib/python3/pytest/__main__.py"])
    assert command() == "bench"


def test_a_folder_with_a_space_can_be_typed_as_it_is_shown(checkout: Path) -> None:
    assert command("report", Path("my runs/one")) == ".tools/bin/bench report 'my runs/one'"
