"""Publishing: what is refused, what is hidden, and that others get the same tables."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from bench_core.bundle import COMMITTED, commit, load_bundle
from bench_core.cli import main
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Result, Status
from bench_report.publish import publish

from tests.bench_report.factory import (
    CONFIG,
    ENVIRONMENT,
    commit_bundle,
    make_bundle,
    make_measurement,
    make_result,
    not_measured,
    with_conditions,
)

ROOT = Path(__file__).parents[2]
HOME = "/home/alice-of-lab"
RESULTS = (
    make_result("pillow", {"Resize": 1e-3, "Rotate": 1e-3}),
    make_result(
        "torchvision",
        {
            "Resize": 2e-3,
            "Rotate": not_measured(
                Status.ERROR, f"OSError: {HOME}/x/lib.so is broken", detail=f'File "{HOME}/my project/a.py", line 1'
            ),
        },
    ),
)
FORMATS = "md,csv,json,html,latex"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "matrix.toml").write_text((ROOT / "matrix.toml").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", HOME)
    return tmp_path


def a_run(checkout: Path, *results: Result, name: str = "run-a", **changes: Any) -> Path:
    """A run with everything a real one leaves, and this person's home in all of it."""
    bundle = make_bundle(results or RESULTS, name, **changes)
    run = commit_bundle(bundle, checkout / "results/runs" / name)
    header = {"kind": "header", "subset": {"root": f"{HOME}/photos"}}
    (run / "journal.jsonl").write_text(json.dumps(header) + "\n")
    (run / "logs").mkdir()
    (run / "logs/pillow-000.log").write_text(f"loading {HOME}/x")
    (run / "outputs/image-rgb").mkdir(parents=True)
    (run / "outputs/image-rgb/input.png").write_bytes(b"\x89PNG")
    runs = [{"values": [0.1], "metadata": {"hostname": "lab-machine", "command": f"{HOME}/python x", "cpu_count": 2}}]
    pyperf = {"version": "1.0", "benchmarks": [{"runs": runs}]}
    (run / "image-rgb/pillow_micro_pyperf.json").write_text(json.dumps(pyperf))
    commit(run, bundle.run_id, bundle.created_at)
    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_names_a_person_or_machine_is_gone_and_everything_measured_is_there(checkout: Path) -> None:
    run = a_run(
        checkout, config={**CONFIG, "data_dir": "~/photos"}, environment={**ENVIRONMENT, "hostname": "lab-machine"}
    )
    (folder,) = publish([run], checkout / "published", checkout)
    found = contents(folder)
    assert sorted(found) == [
        "COMMITTED.json",
        "environment.json",
        "image-rgb/pillow_micro_pyperf.json",
        "image-rgb/pillow_micro_results.json",
        "image-rgb/torchvision_micro_results.json",
        "outputs/image-rgb/input.png",
        "publication.json",
        "resolved_config.toml",
    ]
    everything = b"\n".join(found.values())
    for private in (b"alice", b"lab-machine", b"/home", b"my project", b"photos", str(checkout).encode()):
        assert private not in everything
    before, after = load_bundle(run).results, load_bundle(folder).results
    for name, result in before.items():
        for transform, measurement in result.measurements.items():
            assert after[name].measurements[transform].blocks == measurement.blocks
    broken = after["image-rgb/torchvision_micro_results.json"].measurements["Rotate"]
    assert broken.reason == "OSError: […]/lib.so is broken"
    publication = json.loads(found["publication.json"])
    assert publication["left_out"] == ["journal.jsonl", "logs/"]
    assert "image-rgb/torchvision_micro_results.json" in publication["changed"]
    assert "image-rgb/pillow_micro_results.json" not in publication["changed"]


def test_somebody_else_gets_the_same_tables_byte_for_byte(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder,) = publish([a_run(checkout)], checkout / "published", checkout)
    there = tmp_path_factory.mktemp("somebody-else") / "copy"
    shutil.copytree(folder, there)
    flags = ["--format", FORMATS, "--plots", "svg,png"]
    assert main(["report", str(folder), "--output", "mine", *flags]) == 0
    assert main(["report", str(there), "--output", "theirs", *flags]) == 0
    assert contents(checkout / "mine") == contents(checkout / "theirs")


def test_tables_of_a_run_with_nothing_to_hide_are_those_of_the_run(checkout: Path) -> None:
    run = a_run(checkout, RESULTS[0], make_result("kornia", {"Resize": 2e-3}))
    (folder,) = publish([run], checkout / "published", checkout)
    flags = ["--format", "md,csv,json,latex", "--plots", "none"]
    assert main(["report", str(run), "--output", "before", *flags]) == 0
    assert main(["report", str(folder), "--output", "after", *flags]) == 0
    assert contents(checkout / "before") == contents(checkout / "after")


def test_a_published_run_is_verified_like_any_other(checkout: Path) -> None:
    (folder,) = publish([a_run(checkout)], checkout / "published", checkout)
    assert main(["validate", str(folder)]) == 0
    (folder / "environment.json").write_text("{}")
    with pytest.raises(BenchError, match=r"environment\.json: was changed"):
        load_bundle(folder)


def test_publishing_twice_changes_nothing_and_other_content_is_refused(checkout: Path) -> None:
    run = a_run(checkout)
    (folder,) = publish([run], checkout / "published", checkout)
    before = contents(folder)
    assert publish([run], checkout / "published", checkout) == [folder]
    with pytest.raises(BenchError, match="other content") as caught:
        publish([run], checkout / "published", checkout, outputs=False)
    assert caught.value.code == ExitCode.OUTPUT
    assert contents(folder) == before
    assert [path.name for path in (checkout / "published").iterdir()] == ["run-a"]


def test_a_run_of_uncommitted_code_is_refused_unless_allowed_and_then_its_tables_say_so(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(checkout, environment={**ENVIRONMENT, "git_dirty": True})
    assert main(["publish", str(run)]) == ExitCode.FAILED
    assert "uncommitted changes" in capsys.readouterr().err
    assert main(["publish", str(run), "--allow-dirty"]) == 0
    folder = checkout / "results/published/run-a"
    assert json.loads((folder / "publication.json").read_text())["uncommitted_changes"] is True
    assert main(["report", str(folder), "--plots", "none"]) == 0
    assert (
        "> **Note.** Run run-a was made by bench with uncommitted changes"
        in (checkout / "results/report/results.md").read_text()
    )


def test_a_run_of_an_unknown_commit_is_refused(checkout: Path) -> None:
    run = a_run(checkout, environment={"cpu": "x"})
    with pytest.raises(BenchError, match="unknown bench"):
        publish([run], checkout / "published", checkout)


def test_a_mixture_is_refused(checkout: Path) -> None:
    run = a_run(checkout, RESULTS[0], with_conditions(RESULTS[1], threads_asked=2))
    with pytest.raises(BenchError, match="threads asked for") as caught:
        publish([run], checkout / "published", checkout)
    assert caught.value.code == ExitCode.FAILED
    assert not (checkout / "published").exists()


def test_runs_that_do_not_belong_into_one_table_are_refused_together(checkout: Path) -> None:
    one = a_run(checkout, RESULTS[0])
    other = a_run(checkout, with_conditions(RESULTS[1], cpu="Another CPU"), name="run-b")
    with pytest.raises(BenchError, match="processor"):
        publish([one, other], checkout / "published", checkout)
    assert not (checkout / "published").exists()


def test_an_uncommitted_and_a_changed_run_are_refused(checkout: Path) -> None:
    run = a_run(checkout)
    (run / "environment.json").write_text(json.dumps({**ENVIRONMENT, "cpu": "faster"}))
    with pytest.raises(BenchError, match="was changed after the run"):
        publish([run], checkout / "published", checkout)
    (run / COMMITTED).unlink()
    with pytest.raises(BenchError, match="not committed"):
        publish([run], checkout / "published", checkout)


def test_what_cannot_be_hidden_stops_the_publication_and_leaves_nothing(checkout: Path) -> None:
    run = a_run(checkout)
    (run / "outputs/image-rgb/x.png").write_bytes(b"\x89PNG" + HOME.encode())
    commit(run, "run-a", "2026-12-01T05:00:00+00:00")
    with pytest.raises(BenchError, match=r"x\.png.*/home/alice-of-lab"):
        publish([run], checkout / "published", checkout)
    assert list((checkout / "published").iterdir()) == []


def test_an_unknown_file_and_a_run_name_that_leads_elsewhere_are_refused(checkout: Path) -> None:
    run = a_run(checkout)
    (run / "notes.txt").write_text("mine")
    commit(run, "run-a", "2026-12-01T05:00:00+00:00")
    with pytest.raises(BenchError, match=r"notes\.txt"):
        publish([run], checkout / "published", checkout)
    elsewhere = commit_bundle(make_bundle(RESULTS, "../../up"), checkout / "results/runs/run-b")
    with pytest.raises(BenchError, match="cannot name a folder"):
        publish([elsewhere], checkout / "published", checkout)


def test_pictures_can_be_left_out(checkout: Path) -> None:
    shown = make_measurement(1e-3)
    assert shown.output is not None
    (folder,) = publish([a_run(checkout)], checkout / "published", checkout, outputs=False)
    assert not (folder / "outputs").exists()
    for result in load_bundle(folder).results.values():
        assert all(not found.output or found.output.thumbnail is None for found in result.measurements.values())


def test_the_command_shows_coverage_first(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(checkout, config={**CONFIG, "data_dir": "~/photos"})
    assert main(["publish", str(run)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "image-rgb, micro, cpu: 0 of 58 transforms are complete"
    assert any("somebody's own images" in line for line in lines)
    assert f"published: {checkout / 'results/published/run-a'}" in lines


def test_published_results_are_kept_by_git_and_other_results_are_not() -> None:
    def ignored(path: str) -> bool:
        return subprocess.run(["git", "check-ignore", "-q", path], cwd=ROOT, check=False).returncode == 0

    assert not ignored("results/published/run-a/COMMITTED.json")
    assert ignored("results/runs/run-a/COMMITTED.json")
    assert ignored("results/report/results.md")
