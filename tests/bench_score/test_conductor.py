"""Models in processes of their own: whatever one of them does, it is one row, and the others finish."""

import os
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from bench_core import policy
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Status
from bench_core.scores import ScoreResult
from bench_score import conductor, metrics
from bench_score.conductor import Interpreters, conduct
from bench_score.config import ScoreConfig
from bench_score.parts import merge_parts
from bench_score.runner import here
from bench_score.sources import load_dataset

from tests.bench_score.score_run import make_config, model

TIMEOUT_SEC = 4.0


def conducted(config: ScoreConfig, folder: Path, interpreters: Interpreters | None = None, **options: Any) -> None:
    entries = config.entries()
    conduct(
        config,
        entries,
        load_dataset(config.data),
        interpreters or here(entries),
        cache=folder / "cache",
        **({"show_progress": False} | options),
    )


def rows(config: ScoreConfig) -> dict[str, ScoreResult]:
    return {row.label: row for row in merge_parts(config).rows}


def log(folder: Path, label: str) -> str:
    return (folder / "out" / "logs" / f"{label}.log").read_text()


ALL_BAD = ("segfault", "exits", "quits", "panics", "fails", "absent", "hangs", "wrong_shape", "raises", "nan", "prints")


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, ScoreResult]]:
    folder = tmp_path_factory.mktemp("bad")
    models = [model("perfect", "first"), *(model(name) for name in ALL_BAD), model("offset", "last")]
    models += [model("eats_memory")]
    config = make_config(
        folder,
        models,
        timeout_sec=TIMEOUT_SEC,
        memory_limit_bytes=600_000_000,
        data={"test": "some.xyz", "batch_size": 1},
    )
    conducted(config, folder, at_once=2)
    return folder, rows(config)


@pytest.mark.parametrize("label", ["first", "last", "prints", "raises", "nan"])
def test_the_others_finish_whatever_one_of_them_does(bad: tuple[Path, dict[str, ScoreResult]], label: str) -> None:
    assert bad[1][label].status is Status.OK


@pytest.mark.parametrize(
    ("label", "status", "words"),
    [
        ("segfault", Status.CRASHED, "it was killed by SIGSEGV"),
        ("exits", Status.CRASHED, "it ended with exit code 3"),
        ("quits", Status.ERROR, "SystemExit: the model has had enough"),
        ("panics", Status.ERROR, "Panic: called `Option::unwrap()`"),
        ("fails", Status.ERROR, "RuntimeError: size mismatch for weight"),
        ("absent", Status.UNAVAILABLE, "the package mock_weights is not installed"),
        ("hangs", Status.TIMEOUT, f"no answer within {TIMEOUT_SEC:g} s; it was killed"),
        ("eats_memory", Status.ERROR, "MemoryError"),
        ("wrong_shape", Status.ERROR, "scored no structure: some[0]: ValueError: forces"),
    ],
)
def test_a_bad_model_is_one_row_that_says_how_it_ended(
    bad: tuple[Path, dict[str, ScoreResult]], label: str, status: Status, words: str
) -> None:
    row = bad[1][label]
    assert row.status is status, row
    assert words in str(row.reason)
    assert row.scores == {}


def test_every_model_has_a_row(bad: tuple[Path, dict[str, ScoreResult]]) -> None:
    assert list(bad[1]) == ["first", *ALL_BAD, "last", "eats_memory"]


def test_what_a_model_prints_is_in_its_log_and_no_message(bad: tuple[Path, dict[str, ScoreResult]]) -> None:
    assert log(bad[0], "prints").count('{"type":"scored"}') == 12
    assert "RuntimeError: size mismatch" in log(bad[0], "fails")
    assert "size mismatch" in str(bad[1]["fails"].detail)


def test_models_beside_each_other_are_marked_and_those_alone_have_their_peak(
    bad: tuple[Path, dict[str, ScoreResult]],
) -> None:
    timing = bad[1]["first"].timing
    assert timing is not None
    assert timing.at_once == 2
    assert timing.peak_rss_bytes is not None


def test_nothing_of_a_model_that_was_given_up_lives_on(bad: tuple[Path, dict[str, ScoreResult]]) -> None:
    assert bad[1]["hangs"].status is Status.TIMEOUT
    assert not psutil.Process().children(recursive=True)


def test_a_model_that_is_slow_and_says_so_is_not_given_up(tmp_path: Path) -> None:
    slow = model("perfect", sec_per_batch=0.5)
    config = make_config(tmp_path, [slow], timeout_sec=4.0, data={"test": "some.xyz", "batch_size": 1})
    conducted(config, tmp_path)
    assert rows(config)["perfect"].status is Status.OK  # 12 batches take longer than the limit


def test_a_model_that_takes_long_to_load_has_the_time_to_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "START_TIMEOUT_SEC", 3.0)
    config = make_config(tmp_path, [model("hangs_at_once")], timeout_sec=1.0)
    conducted(config, tmp_path)
    row = rows(config)["hangs_at_once"]
    assert row.status is Status.TIMEOUT
    assert "no answer within 3 s" in str(row.reason)


def test_a_family_without_an_environment_is_unavailable_and_the_others_finish(tmp_path: Path) -> None:
    gone = model("perfect", "gone") | {"family": "mock_gone"}
    config = make_config(tmp_path, [gone, model("perfect")])
    interpreters = Interpreters(
        python={"mock_family": Path(sys.executable)},
        locks={"mock_family": "0" * 64},
        missing={"mock_gone": "the environment mock_gone could not be built: no network"},
    )
    conducted(config, tmp_path, interpreters)
    found = rows(config)
    assert found["gone"].status is Status.UNAVAILABLE
    assert "no network" in str(found["gone"].reason)
    conditions = found["perfect"].conditions
    assert conditions is not None
    assert conditions.lock_sha256 == "0" * 64


def test_a_family_that_the_interpreter_does_not_know_is_one_row(tmp_path: Path) -> None:
    config = make_config(tmp_path, [model("perfect", "strange") | {"family": "mock_famly"}, model("perfect")])
    conducted(config, tmp_path)
    found = rows(config)
    assert found["strange"].status is Status.ERROR
    assert "did you mean 'mock_family'" in str(found["strange"].reason)
    assert found["perfect"].status is Status.OK


def test_progress_names_the_model_and_the_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench_core.progress.PLAIN_INTERVAL_SEC", 0.0)
    conducted(make_config(tmp_path, [model("noisy", "my model")]), tmp_path, show_progress=True)
    shown = capfd.readouterr().err
    assert "Score my model (some)" in shown
    assert "12/12 structures" in shown


def test_numbers_are_those_of_one_process(tmp_path: Path) -> None:
    from tests.bench_score.score_run import rows_of

    config = make_config(tmp_path, [model("noisy"), model("offset")], metrics=["mae", "rmse", "r2", "q90"])
    conducted(config, tmp_path, at_once=2)
    alone = {row.label: row for row in rows_of(config, tmp_path)}
    for label, row in rows(config).items():
        assert row.scores == alone[label].scores


def test_a_metric_beside_the_configuration_reaches_the_other_process(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("def bias(reference, predicted):\n    return (predicted - reference).mean()\n")
    config = make_config(
        tmp_path,
        [model("offset", offset=0.25)],
        metrics={"energy": ["bias"]},
        custom_metrics=[{"name": "bias", "function": "beside:bias"}],
    )
    conducted(config, tmp_path)
    assert rows(config)["offset"].scores["energy_bias"].value == pytest.approx(0.25)


def test_a_metric_that_only_this_process_knows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_registered", {"bias": max})
    config = make_config(tmp_path, [model("offset")], metrics={"energy": ["bias"]})
    with pytest.raises(BenchError, match="name its function under custom_metrics"):
        conducted(config, tmp_path)


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"atomic_energies": {"H": 1.0}}, ExitCode.USAGE, "no energy for C, O"),
        (
            {"custom_metrics": [{"name": "own", "function": "nowhere:f"}], "metrics": {"energy": ["own"]}},
            ExitCode.USAGE,
            "No module named 'nowhere'",
        ),
    ],
)
def test_a_mistake_that_every_model_would_meet_ends_the_run(
    tmp_path: Path, changes: Mapping[str, Any], code: ExitCode, words: str
) -> None:
    config = make_config(tmp_path, [model("perfect"), model("hangs")], **changes)
    with pytest.raises(BenchError) as caught:
        conducted(config, tmp_path)
    assert caught.value.code is code
    assert words in str(caught.value)
    assert merge_parts(config).rows == ()


def test_a_disk_that_is_full_ends_the_run_and_is_no_models_fault(tmp_path: Path) -> None:
    config = make_config(tmp_path, [model("perfect"), model("offset")])
    in_the_way = tmp_path / "out" / "some" / "perfect_predictions.npz"
    in_the_way.mkdir(parents=True)
    (in_the_way / "more").touch()
    with pytest.raises(BenchError, match=r"cannot write .*perfect_predictions\.npz") as caught:
        conducted(config, tmp_path)
    assert caught.value.code is ExitCode.OUTPUT
    shutil.rmtree(in_the_way)
    conducted(config, tmp_path)
    assert {row.status for row in rows(config).values()} == {Status.OK}


@pytest.mark.parametrize("where", ["logs", "parts"])
def test_a_folder_that_cannot_be_made_ends_the_run(tmp_path: Path, where: str) -> None:
    config = make_config(tmp_path, [model("perfect")])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / where).write_text("in the way")
    with pytest.raises(BenchError, match="cannot write") as caught:
        conducted(config, tmp_path)
    assert caught.value.code is ExitCode.OUTPUT


def test_an_interrupt_ends_what_works_and_begins_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        started.wait(60)
        raise KeyboardInterrupt

    started = threading.Event()

    class Started(conductor.ModelWorker):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            started.set()

    monkeypatch.setattr(conductor, "wait", interrupted)
    monkeypatch.setattr(conductor, "ModelWorker", Started)
    config = make_config(tmp_path, [model("hangs"), model("hangs", "second"), model("hangs", "third")])
    with pytest.raises(KeyboardInterrupt):
        conducted(config, tmp_path)
    assert merge_parts(config).rows == ()
    assert [path.name for path in (tmp_path / "out" / "logs").iterdir()] == ["hangs.log"]
    assert not psutil.Process().children()


@pytest.mark.parametrize(
    ("said", "expected"), [("0,1", ["0", "1"]), ("", []), ("GPU-abc , 3", ["GPU-abc", "3"]), ("2", ["2"])]
)
def test_gpus_are_those_that_the_environment_leaves(
    monkeypatch: pytest.MonkeyPatch, said: str, expected: Sequence[str]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", said)
    assert conductor.visible_gpus() == expected


def test_each_model_has_a_gpu_to_itself_and_gives_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pinning alone: what a process is told, where there is no GPU."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    seen: list[str] = []

    class Seen(conductor.ModelWorker):
        def _environment(self, start: Any) -> dict[str, str]:
            made = super()._environment(start)
            seen.append(made["CUDA_VISIBLE_DEVICES"])
            return made

    monkeypatch.setattr(conductor, "ModelWorker", Seen)
    config = make_config(tmp_path, [model("perfect", str(index)) for index in range(5)])
    conducted(config, tmp_path, at_once=4, gpus=["3", "5"])
    assert set(seen) == {"3", "5"}
    assert {row.timing.at_once for row in rows(config).values() if row.timing} == {2}  # what really ran
    assert len(seen) == 5
    assert "CUDA_VISIBLE_DEVICES" not in os.environ
