import pytest
from bench_core import progress


def test_without_a_terminal_progress_is_whole_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PLAIN_INTERVAL_SEC", 0.0)
    bar = progress.bar("image-rgb/micro", 4, "block", enabled=True)
    bar.set_postfix_str("about 3 s left", refresh=False)
    for _ in range(4):
        bar.update()
    bar.close()
    shown = capsys.readouterr().err
    assert "\r" not in shown
    assert "image-rgb/micro:  50% 2/4 blocks [00:00, about 3 s left]\n" in shown
    assert all(line.startswith("image-rgb/micro: ") for line in shown.splitlines())


def test_what_is_over_soon_says_nothing_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    bar = progress.bar("Check images", 2, "image", enabled=True)
    bar.update(2)
    bar.close()
    assert capsys.readouterr().err == ""
