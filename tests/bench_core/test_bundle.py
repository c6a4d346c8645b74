"""A committed run that somebody changed, damaged or made up."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench_core.bundle import COMMITTED, CONFIG, ENVIRONMENT, commit, load_bundle
from bench_core.errors import BenchError, ExitCode

from tests.bench_core.mock_run import make_checkout, make_config, run_mock

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
