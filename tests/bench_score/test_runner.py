"""What other programs may call."""

from pathlib import Path
from typing import Any

import pytest
from bench_core.bundle import load_bundle
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Status
from bench_score import metrics, runner, writers
from bench_score.config import parse_config

from tests.bench_score.score_run import make_config, model, raw_config, values_of, write_file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    monkeypatch.setattr(metrics, "_registered", {})
    monkeypatch.setattr(writers, "_writers", dict(writers._writers))
    write_file(tmp_path / "some.xyz")
    return tmp_path


def test_every_public_name_is_there() -> None:
    for name in runner.__all__:
        assert callable(getattr(runner, name))


def test_a_benchmark_scores_all_entries_or_those_it_is_given(folder: Path) -> None:
    cfg = make_config(folder, [model("perfect"), model("noisy"), model("offset")])
    assert [row.label for row in runner.Benchmark(cfg).run()] == ["perfect", "noisy", "offset"]
    entries = runner.select_entries(cfg, models=["noisy", 2])
    rows = runner.Benchmark(cfg, entries, runner.part_tag(entries)).run()
    assert [row.label for row in rows] == ["noisy", "offset"]
    assert runner.merge_parts(cfg).missing == ("perfect",)


def test_a_run_from_python_is_a_bundle_with_its_tables(folder: Path) -> None:
    cfg = make_config(folder, [model("perfect"), model("fails"), model("noisy")])
    rows = runner.run_benchmark(cfg)
    assert [row.status for row in rows] == [Status.OK, Status.ERROR, Status.OK]
    assert len(load_bundle(folder / "out").scores) == 3
    assert (folder / "out" / "scores.md").is_file()
    with pytest.raises(BenchError, match="holds a finished run") as caught:
        runner.run_benchmark(cfg)
    assert caught.value.code is ExitCode.OUTPUT


def test_a_run_in_processes_is_the_run_in_one(folder: Path) -> None:
    raw = raw_config([model("perfect"), model("segfault"), model("noisy")], output={"dir": "out"})
    rows = {row.label: row for row in runner.run_parallel(raw, workers=2)}
    assert list(rows) == ["perfect", "segfault", "noisy"]
    assert rows["segfault"].status is Status.CRASHED
    cfg = make_config(folder, [model("noisy")], output={"dir": str(folder / "alone")})
    assert values_of(runner.run_benchmark(cfg)[0]) == values_of(rows["noisy"])
    assert len(load_bundle(folder / "out").scores) == 3


def test_a_run_in_processes_goes_on_where_it_was_left(folder: Path) -> None:
    calls = folder / "calls"
    raw = raw_config([model("perfect", calls=str(calls)), model("noisy")], output={"dir": "out"})
    cfg = parse_config(raw, base=folder)
    entries = runner.select_entries(cfg, models=[0])
    runner.Benchmark(cfg, entries, runner.part_tag(entries)).run()
    assert [row.label for row in runner.run_parallel(raw)] == ["perfect", "noisy"]
    assert len(calls.read_text().splitlines()) == 12


def test_an_unchecked_configuration_is_checked(folder: Path) -> None:
    with pytest.raises(BenchError, match="did you mean 'models'"):
        runner.run_parallel(raw_config([]) | {"modles": []})


def test_without_a_folder_a_run_makes_one(folder: Path) -> None:
    cfg = parse_config(raw_config([model("perfect")]), base=folder)
    runner.run_benchmark(cfg)
    (made,) = (folder / "results" / "scores").iterdir()
    assert load_bundle(made).scores


def test_a_registered_metric_and_a_registered_format_are_used(folder: Path) -> None:
    @runner.register_metric("bias")
    def bias(reference: Any, predicted: Any) -> float:
        return float((predicted - reference).mean())

    @runner.register_writer("txt")
    def worst(cfg: Any, rows: Any) -> str:
        return " ".join(f"{row.label}={row.scores['energy_bias'].value:.3f}" for row in rows)

    cfg = make_config(
        folder,
        [model("perfect"), model("offset", offset=0.25)],
        metrics={"energy": ["bias"]},
        output={"formats": ["txt"]},
    )
    assert runner.column_units(cfg, runner.run_benchmark(cfg)) == {"energy_bias": "eV/atom"}
    assert (folder / "out" / "scores.txt").read_text() == "perfect=0.000 offset=0.250"
    assert load_bundle(folder / "out").scores


def test_units_of_a_table_are_known_before_it_is_made(folder: Path) -> None:
    cfg = make_config(folder, [model("perfect")], units={"energy": "meV"}, metrics={"energy": ["mae", "r2"]})
    assert runner.column_units(cfg) == {"energy_mae": "meV/atom", "energy_r2": ""}
