"""How a run begins and ends in its folder."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from bench_core.bundle import COMMITTED, CONFIG, ENVIRONMENT, is_committed, load_bundle
from bench_core.errors import BenchError, ExitCode
from bench_score.config import ScoreConfig, config_sha256, load_config
from bench_score.finish import begin, finish
from bench_score.parts import write_part

from tests.bench_score.score_run import make_config, model, rows_of


def config(folder: Path, **changes: Any) -> ScoreConfig:
    return make_config(folder, [model("perfect"), model("noisy")], **changes)


def refusal(config: ScoreConfig, code: ExitCode) -> str:
    with pytest.raises(BenchError) as caught:
        begin(config, None)
    assert caught.value.code is code
    return str(caught.value)


def test_a_run_is_a_bundle_of_results_tables_and_predictions(tmp_path: Path) -> None:
    one = config(tmp_path)
    begin(one, None)
    tables = finish(one, rows_of(one, tmp_path))
    found = load_bundle(tmp_path / "out")
    assert found.scores.keys() == {"some/perfect_score_results.json", "some/noisy_score_results.json"}
    assert {row.run_id for row in found.scores.values()} == {found.run_id}
    assert [path.name for path in tables] == ["scores.csv", "scores.json", "scores.md"]
    assert found.files.keys() >= {"scores.md", CONFIG, ENVIRONMENT, "some/structures.npz", "some/noisy_predictions.npz"}
    assert config_sha256(load_config(tmp_path / "out" / CONFIG)) == config_sha256(one)


def test_a_run_that_lacks_a_model_has_its_tables_and_is_not_committed(tmp_path: Path) -> None:
    one = config(tmp_path)
    begin(one, None)
    finish(one, rows_of(one, tmp_path)[:1], complete=False)
    assert (tmp_path / "out" / "scores.md").is_file()
    assert not is_committed(tmp_path / "out")
    begin(one, None)
    finish(one, rows_of(one, tmp_path))
    assert len(load_bundle(tmp_path / "out").scores) == 2


def test_a_finished_run_is_not_begun_again(tmp_path: Path) -> None:
    one = config(tmp_path)
    begin(one, None)
    finish(one, rows_of(one, tmp_path))
    before = (tmp_path / "out" / COMMITTED).read_bytes()
    assert "holds a finished run, which is not changed" in refusal(one, ExitCode.OUTPUT)
    assert (tmp_path / "out" / COMMITTED).read_bytes() == before


def test_a_run_goes_on_only_with_the_configuration_it_was_begun_with(tmp_path: Path) -> None:
    begin(config(tmp_path), None)
    begin(config(tmp_path), None)
    said = refusal(config(tmp_path, seed=5), ExitCode.RESUME)
    assert "was begun with another configuration" in said
    assert str(tmp_path / "out" / CONFIG) in said


def test_a_folder_of_somebody_elses_is_not_made_a_run(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    assert "is not empty, and holds no run of ours" in refusal(config(tmp_path), ExitCode.OUTPUT)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_a_folder_with_parts_or_locks_alone_is_a_run(tmp_path: Path) -> None:
    one = config(tmp_path)
    write_part(one, rows_of(one, tmp_path), "all")
    (tmp_path / "out" / ".lock").touch()
    begin(one, None)
    assert (tmp_path / "out" / CONFIG).is_file()


def test_shards_that_begin_at_the_same_time_are_one_run(tmp_path: Path) -> None:
    one = config(tmp_path)
    with ThreadPoolExecutor(max_workers=8) as pool:
        for _ in range(30):
            together = Barrier(8)

            def shard(together: Barrier = together) -> None:
                together.wait()
                begin(one, None)

            for done in [pool.submit(shard) for _ in range(8)]:
                done.result()
            shutil.rmtree(tmp_path / "out")


def test_a_configuration_too_large_to_be_read_again_is_refused_before_anything_is_scored(tmp_path: Path) -> None:
    many = make_config(tmp_path, [model("perfect", f"model number {index}") for index in range(1000)])
    assert "no more than 64 KiB of it could be read again" in refusal(many, ExitCode.USAGE)
    assert not (tmp_path / "out").exists()


def test_an_unknown_format_is_refused_before_anything_is_scored(tmp_path: Path) -> None:
    assert "did you mean 'json'" in refusal(config(tmp_path, output={"formats": ["jsn"]}), ExitCode.USAGE)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    assert "cannot write" in refusal(config(tmp_path), ExitCode.OUTPUT)


@pytest.mark.parametrize("name", ["parts", "logs", "environment.json", "scores.csv", "COMMITTED.json", "journal"])
def test_a_dataset_may_be_called_like_a_file_of_the_run(tmp_path: Path, name: str) -> None:
    plain = config(tmp_path)
    (tmp_path / "some.xyz").rename(tmp_path / f"{name}.xyz")
    one = config(tmp_path, data={"test": f"{name}.xyz", "group": "family"})
    begin(one, None)
    rows = rows_of(one, tmp_path)
    write_part(one, rows, "all")
    finish(one, rows)
    found = load_bundle(tmp_path / "out")
    assert [row.data.name for row in found.scores.values()] == [name, name]
    assert plain.name == one.name


@pytest.mark.parametrize("label", ["../x", "/etc/passwd", "..", "a/b", "ä ö", "con", "x" * 100])
def test_nothing_is_written_outside_the_run(tmp_path: Path, label: str) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    folder = tmp_path / "deep" / "er"
    one = make_config(folder, [model("noisy", label)])
    begin(one, None)
    rows = rows_of(one, folder)
    write_part(one, rows, "all")
    finish(one, rows)
    assert [row.label for row in load_bundle(folder / "out").scores.values()] == [label]
    assert {path.name for path in folder.iterdir()} == {"some.xyz", "out"}
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["er"]
