"""What a document tells a person to type is something that can be typed."""

import shlex
from pathlib import Path

import pytest
from bench_core.cli import main

ROOT = Path(__file__).parents[1]


def test_the_mock_example_of_comparing_can_be_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line.strip() for line in (ROOT / "docs/comparing.md").read_text(encoding="utf-8").splitlines()]
    (mocks,) = (line for line in lines if line.startswith("MOCKS="))
    (options,) = shlex.split(mocks.removeprefix("MOCKS="))
    assert sum("bench run $MOCKS --output ../../results/demo/" in line for line in lines) == 2
    monkeypatch.chdir(ROOT / "tests/mock-adapter")
    planned = [option for option in shlex.split(options) if option != "--here"]  # which no plan depends on
    assert main(["plan", *planned]) == 0
    shown = capsys.readouterr().out
    assert "mock_fast  mocks  image-rgb  micro         5            0         0" in shown
    assert "mock_twin  mocks  image-rgb  micro         5            0         0" in shown
