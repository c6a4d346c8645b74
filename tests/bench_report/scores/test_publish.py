"""Publishing runs of scores: what is hidden, what is refused, and that others get the same tables."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench_core.bundle import commit, load_bundle
from bench_core.cli import main
from bench_core.errors import BenchError, ExitCode
from bench_report.publish import publish

from tests.bench_report.factory import ENVIRONMENT
from tests.bench_report.score_factory import MADE_OF, Scored, commit_scores, make_scored, not_scored

ROOT = Path(__file__).parents[3]
HOME = "/home/alice-of-lab"
FORMATS = "md,csv,json,html,latex"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "matrix.toml").write_text((ROOT / "matrix.toml").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", HOME)
    return tmp_path


def a_run(checkout: Path, *found: Scored, **changes: Any) -> Path:
    """A run with everything a real one leaves, and this person's home in all of it."""
    config = {
        "output": {"dir": f"{HOME}/out", "filename": "scores"},
        "data": {"test": f"{HOME}/data/set.extxyz", "energy_unit": "eV"},
    }
    whole = {"config": config, **changes}
    run = commit_scores(
        checkout / "results/scores/run-s",
        found
        or (make_scored("a", checkpoint=f"{HOME}/models/a.pt"), not_scored("b", f"OSError: {HOME}/b.pt is broken")),
        **whole,
    )
    (run / "parts").mkdir()
    (run / "parts/a.json").write_text(f'{{"checkpoint": "{HOME}/models/a.pt"}}')
    (run / "logs").mkdir()
    (run / "logs/a.log").write_text(f"loading {HOME}/models/a.pt")
    (run / "scores.md").write_text(f"b: {HOME}/b.pt is broken")
    commit(run, "run-s", "2026-12-01T05:00:00+00:00")
    return run


def test_what_names_a_person_is_gone_and_everything_scored_is_there(checkout: Path) -> None:
    run = a_run(checkout, environment={**ENVIRONMENT, "hostname": "lab-machine"})
    (folder,) = publish([run], checkout / "published", checkout)
    kept = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert sorted(kept) == [
        "COMMITTED.json",
        "environment.json",
        "publication.json",
        "resolved_config.toml",
        "set/0-a_predictions.npz",
        "set/0-a_score_results.json",
        "set/1-b_score_results.json",
        "set/structures.npz",
    ]
    assert not [name for name, data in kept.items() if b"alice" in data or b"lab-machine" in data]
    before, after = load_bundle(run), load_bundle(folder)
    one, other = (bundle.scores["set/0-a_score_results.json"] for bundle in (before, after))
    assert msgspec.structs.replace(one, checkpoint=other.checkpoint) == other
    assert other.checkpoint == "[…]/a.pt"
    assert after.config["data"] == {"test": "[…]/set.extxyz", "energy_unit": "eV"}
    assert after.config["output"] == {"filename": "scores"}
    said = json.loads(kept["publication.json"])
    assert said["left_out"] == ["logs/", "parts/", "scores.md"]


def test_what_is_published_is_valid_and_gives_the_same_tables(checkout: Path) -> None:
    run = a_run(checkout, make_scored("a"), make_scored("b", 0.5))
    assert main(["publish", str(run), "--to", "published"]) == 0
    assert main(["validate", "published/run-s"]) == 0
    for name in (str(run), "published/run-s"):
        output = f"report-{Path(name).parent.name}"
        assert main(["report", name, "--format", FORMATS, "--output", output, "--plots", "none"]) == 0
    for suffix in ("md", "csv", "json", "html", "tex"):
        one, other = (checkout / f"report-{where}/results.{suffix}" for where in ("scores", "published"))
        assert one.read_bytes() == other.read_bytes()
    assert main(["publish", str(run), "--to", "published"]) == 0  # again: nothing happens


def test_names_of_structures_that_are_paths_are_reduced(checkout: Path) -> None:
    names = tuple(f"{HOME}/calc/{i}.xyz" for i in range(len(MADE_OF.names)))
    run = a_run(checkout, make_scored("a"), structures=msgspec.structs.replace(MADE_OF, names=names))
    (folder,) = publish([run], checkout / "published", checkout)
    from bench_core.scores import read_structures

    assert read_structures(folder / "set/structures.npz").names[3] == "[…]/3.xyz"


def test_uncommitted_code_is_refused_unless_allowed(checkout: Path) -> None:
    run = a_run(checkout, make_scored("a"), environment={**ENVIRONMENT, "git_dirty": True})
    with pytest.raises(BenchError, match="uncommitted changes"):
        publish([run], checkout / "published", checkout)
    (folder,) = publish([run], checkout / "published", checkout, allow_dirty=True)
    assert json.loads((folder / "publication.json").read_text())["uncommitted_changes"] is True


def test_a_tampered_prediction_is_refused(checkout: Path) -> None:
    run = a_run(checkout, make_scored("a"))
    path = run / "set/0-a_predictions.npz"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert main(["publish", str(run)]) == ExitCode.BUNDLE


def test_a_file_that_nobody_knows_is_refused(checkout: Path) -> None:
    run = a_run(checkout, make_scored("a"))
    (run / "set/notes.txt").write_text("mine")
    commit(run, "run-s", "2026-12-01T05:00:00+00:00")
    with pytest.raises(BenchError, match=r"notes\.txt: no file of a run that can be published"):
        publish([run], checkout / "published", checkout)


def test_a_dataset_that_is_called_like_the_tables_is_kept(checkout: Path) -> None:
    run = a_run(checkout, make_scored("a"))
    bundle = load_bundle(run)
    from bench_report.scores.publish import left_out

    assert left_out(msgspec.structs.replace(bundle, files={**bundle.files, "scores.set/x": "0"})) == (
        "parts/",
        "scores.md",
    )
