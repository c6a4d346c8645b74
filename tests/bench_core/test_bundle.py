"""A committed run that somebody changed, damaged or made up."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_core import policy
from bench_core.bundle import COMMITTED, CONFIG, ENVIRONMENT, commit, load_bundle
from bench_core.cli import main
from bench_core.errors import BenchError, ExitCode
from bench_core.scores import read_arrays, write_arrays
from bench_score.finish import begin, finish

from tests.bench_core.mock_run import make_checkout, make_config, run_mock
from tests.bench_score import score_run

SCORE = "some/noisy_score_results.json"
PREDICTIONS = "some/noisy_predictions.npz"
COLUMNS = ("energy_mae", "energy_rmse", "energy_r2", "energy_max_abs", "energy_q90", "forces_mae")
RESULT = "image-rgb/mock_fast_micro_results.json"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_checkout(tmp_path_factory.mktemp("original") / "checkout")
    return run_mock(root, root / "run", make_config(root, ["mock_fast"], ["Resize"], num_items=1)).folder


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "run")


def refusal(run: Path) -> str:
    with pytest.raises(BenchError) as caught:
        load_bundle(run)
    assert caught.value.code is ExitCode.BUNDLE
    return str(caught.value)


def committed_again(run: Path) -> Path:
    """With hashes that agree, as somebody would who wants to be believed."""
    there = json.loads((run / COMMITTED).read_text())
    commit(run, there["run_id"], there["created_at"])
    return run


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


@pytest.mark.parametrize("target", ["/etc", "/etc/passwd", "/nowhere"])
def test_a_link_that_was_added_is_refused(run: Path, target: str) -> None:
    (run / "more").symlink_to(target)
    assert "more: is a link" in refusal(run)


def test_a_result_that_became_a_link_is_refused_though_its_content_is_the_same(run: Path, tmp_path: Path) -> None:
    (run / RESULT).rename(tmp_path / "elsewhere.json")
    (run / RESULT).symlink_to(tmp_path / "elsewhere.json")
    assert "is a link" in refusal(run)


def test_a_pipe_is_refused_and_not_read(run: Path) -> None:
    os.mkfifo(run / "more")
    assert "no regular file" in refusal(run)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "..", "a/../journal.jsonl", ""])
def test_a_path_that_leads_elsewhere_is_a_file_that_is_missing(run: Path, name: str) -> None:
    changed(run / COMMITTED, lambda there: there["files"].update({name: "0" * 64}))
    assert "is missing" in refusal(run)


def test_a_result_of_another_run_is_refused(run: Path) -> None:
    changed(run / RESULT, lambda result: result.update(run_id="another"))
    assert "is of run another, not of" in refusal(committed_again(run))


def test_a_result_under_another_librarys_name_is_refused(run: Path) -> None:
    (run / RESULT).rename(run / "image-rgb/mock_twin_micro_results.json")
    message = refusal(committed_again(run))
    assert f"mock_twin_micro_results.json: holds what belongs into {RESULT}" in message


def test_a_library_that_was_renamed_is_refused(run: Path) -> None:
    changed(run / RESULT, lambda result: result.update(library="mock_best"))
    assert "belongs into image-rgb/mock_best_micro_results.json" in refusal(committed_again(run))


def test_a_picture_that_a_result_names_has_to_be_there(run: Path) -> None:
    (run / "outputs/image-rgb/mock_fast_Resize.png").unlink()
    assert "Resize names the picture mock_fast_Resize.png, which is not in outputs" in refusal(committed_again(run))


def test_a_run_keeps_its_journal(run: Path) -> None:
    (run / "journal.jsonl").unlink()
    assert "journal.jsonl: is missing" in refusal(committed_again(run))


def test_a_result_without_measurements_is_none(run: Path) -> None:
    changed(run / RESULT, lambda result: result.update(measurements={}, references={}))
    assert "holds no measurement" in refusal(committed_again(run))


def test_a_run_without_results_is_none(run: Path) -> None:
    (run / RESULT).unlink()
    assert "holds no result" in refusal(committed_again(run))


@pytest.mark.parametrize("name", [COMMITTED, ENVIRONMENT, RESULT])
def test_json_nested_without_end_is_one_sentence(run: Path, name: str) -> None:
    (run / name).write_text('{"git_commit":' + "[" * 100_000 + "]" * 100_000 + "}")
    if name != COMMITTED:
        committed_again(run)
    assert str(run / name) in refusal(run)


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 5000, "a = " + "9" * 5000, "# " + "x" * 100_000, "a = {b = 1}", "a = 1979-05-27"]
)
def test_a_configuration_that_is_none_of_ours_is_refused(run: Path, text: str) -> None:
    (run / CONFIG).write_text(text)
    assert str(run / CONFIG) in refusal(committed_again(run))


@pytest.mark.parametrize(
    ("key", "value"), [("git_commit", []), ("git_dirty", "no"), ("governors", 5), ("memory_total_bytes", 10**40)]
)
def test_an_environment_of_the_wrong_types_is_refused(run: Path, key: str, value: object) -> None:
    changed(run / ENVIRONMENT, lambda there: there.update({key: value}))
    assert str(run / ENVIRONMENT) in refusal(committed_again(run))


def test_a_folder_that_is_no_run_is_not_taken_for_an_unfinished_one(tmp_path: Path) -> None:
    assert "is no run" in refusal(tmp_path)


def test_a_path_that_the_system_refuses_is_one_sentence(tmp_path: Path) -> None:
    assert "File name too long" in refusal(tmp_path / ("x" * 300))


def test_a_folder_that_cannot_be_read_is_not_called_missing(run: Path) -> None:
    (run / "logs").chmod(0)
    # For root everything can be read: somebody else looks.
    script = (
        "import os\n"
        "from pathlib import Path\n"
        "from bench_core.bundle import verify\n"
        "from bench_core.errors import BenchError\n"
        "if os.geteuid() == 0: os.seteuid(65534)\n"
        "try: verify(Path('.'))\n"
        "except BenchError as error: print(error)\n"
    )
    shown = subprocess.run([sys.executable, "-c", script], cwd=run, capture_output=True, text=True, check=True).stdout
    (run / "logs").chmod(0o755)
    assert shown == "./logs: cannot be read (Permission denied)\n"


# Runs that scored models


@pytest.fixture(scope="module")
def original_scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scores")
    config = score_run.make_config(folder, [score_run.model("noisy"), score_run.model("fails")])
    begin(config, None)
    finish(config, score_run.rows_of(config, folder))
    return folder / "out"


@pytest.fixture
def scored(original_scores: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original_scores, tmp_path / "scored")


def test_a_run_that_is_not_finished_says_how_it_goes_on(scored: Path) -> None:
    (scored / COMMITTED).unlink()
    (scored / "parts").mkdir()
    assert f"score --config {scored / CONFIG} --resume" in refusal(scored)


def test_a_run_that_scored_models_is_a_bundle(scored: Path) -> None:
    found = load_bundle(scored)
    assert not found.results
    assert {row.label: str(row.status) for row in found.scores.values()} == {"noisy": "ok", "fails": "error"}


@pytest.mark.parametrize(
    "column", ["energy_mae", "energy_rmse", "energy_r2", "energy_max_abs", "energy_q90", "forces_mae"]
)
def test_a_score_that_was_changed_does_not_follow_from_its_predictions(scored: Path, column: str) -> None:
    def better(result: dict[str, Any]) -> None:
        score = result["scores"][column]
        score["value"] = score["value"] * 0.999
        score["low"] = score["low"] * 0.9
        if score["value"] < 0:
            score["low"], score["high"] = -1e6, 1.0

    changed(scored / SCORE, better)
    assert f"{SCORE}: {column}: " in refusal(committed_again(scored))
    assert "does not follow from the predictions" in refusal(scored)


@pytest.mark.parametrize("column", ["energy_mae", "energy_r2", "energy_max_abs", "energy_q90", "forces_mae"])
@pytest.mark.parametrize("end", ["low", "high"])
def test_an_interval_that_was_changed_does_not_follow_from_its_predictions(scored: Path, column: str, end: str) -> None:
    def surer(result: dict[str, Any]) -> None:
        score = result["scores"][column]
        middle = score["value"]
        score[end] = middle + 0.99 * (score[end] - middle) if score[end] != middle else middle + (end == "high") - 0.5

    changed(scored / SCORE, surer)
    assert f"{SCORE}: {column}: an end of its interval" in refusal(committed_again(scored))


def test_intervals_of_another_seed_do_not_follow(scored: Path) -> None:
    changed(scored / SCORE, lambda result: result.update(seed=result["seed"] + 1))
    assert "does not follow from the predictions and the seed" in refusal(committed_again(scored))


def test_intervals_over_very_many_groups_are_not_drawn_again(
    scored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(scored)]) == 0
    assert "not computed again" not in capsys.readouterr().out
    monkeypatch.setattr(policy, "REDRAWN_GROUPS", 3)
    assert main(["validate", str(scored)]) == 0
    assert (
        "not computed again, over very many groups, or of metrics of one's own: energy_mae" in capsys.readouterr().out
    )


def test_predictions_that_were_changed_do_not_lead_to_the_scores(scored: Path) -> None:
    arrays = read_arrays(scored / PREDICTIONS)
    arrays["energy_predicted"] = 0.9 * arrays["energy_predicted"] + 0.1 * arrays["energy_reference"]
    write_arrays(scored / PREDICTIONS, arrays)
    assert "does not follow from the predictions" in refusal(committed_again(scored))


def test_worse_structures_that_were_left_out_are_missed(scored: Path) -> None:
    arrays = read_arrays(scored / PREDICTIONS)
    for name in ("energy_predicted", "energy_reference", "energy_structure"):
        arrays[name] = arrays[name][:-1]
    write_arrays(scored / PREDICTIONS, arrays)
    assert "counts other values or groups than there are predictions of" in refusal(committed_again(scored))


@pytest.mark.parametrize("name", [PREDICTIONS, "some/structures.npz"])
def test_what_scores_follow_from_has_to_be_there(scored: Path, name: str) -> None:
    (scored / name).unlink()
    assert f"{name}: is missing" in refusal(scored)
    assert f"{scored / name}: cannot be read (No such file or directory)" in refusal(committed_again(scored))


@pytest.mark.parametrize("name", [PREDICTIONS, "some/structures.npz"])
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.95])
def test_truncated_arrays_are_refused(scored: Path, name: str, kept: float) -> None:
    data = (scored / name).read_bytes()
    (scored / name).write_bytes(data[: int(kept * len(data))])
    assert f"{scored / name}: not an npz file of numbers" in refusal(committed_again(scored))


@pytest.mark.parametrize("name", [PREDICTIONS, "some/structures.npz"])
def test_arrays_with_objects_are_refused_and_not_unpickled(scored: Path, name: str) -> None:
    arrays: dict[str, Any] = read_arrays(scored / name)
    arrays[next(iter(arrays))] = np.array([print, {}], dtype=object)
    np.savez(scored / name, **arrays)
    assert f"{scored / name}: not an npz file of numbers" in refusal(committed_again(scored))


def test_structures_of_another_dataset_are_refused(scored: Path) -> None:
    arrays = read_arrays(scored / "some" / "structures.npz")
    few = {"names": arrays["names"][:3], "groups": arrays["groups"][:3], "num_atoms": arrays["num_atoms"][:3]}
    few["numbers"] = arrays["numbers"][: few["num_atoms"].sum()]
    write_arrays(scored / "some" / "structures.npz", few)
    assert "not among those beside the result" in refusal(committed_again(scored))


def test_a_score_of_another_run_is_refused(scored: Path) -> None:
    changed(scored / SCORE, lambda result: result.update(run_id="another"))
    assert "is of run another, not of" in refusal(committed_again(scored))


def test_a_model_that_failed_needs_no_predictions(scored: Path) -> None:
    assert not list(scored.glob("some/fails_predictions.npz"))
    assert load_bundle(scored).scores["some/fails_score_results.json"].scores == {}
