"""What is published in this repository, and the documents made from it."""

from pathlib import Path

import pytest
from bench_core.cli import main
from bench_core.matrix import find_root

ROOT = find_root(Path(__file__).parent)
RUNS = sorted(marker.parent for marker in (ROOT / "results/published").glob("*/COMMITTED.json"))


@pytest.mark.skipif(not RUNS, reason="no run is published in results/published")
def test_readme_and_results_show_what_the_published_runs_give(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    code = main(["report", "--check", *map(str, RUNS)])
    assert (code, capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_a_published_run_is_whole_and_in_the_folder_of_its_name(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(run)]) == 0
    assert f"valid. Run {run.name}, " in capsys.readouterr().out
