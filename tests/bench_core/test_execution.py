import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import psutil
import pytest
from bench_core import bundle, journal, policy
from bench_core.errors import BenchError, ExitCode
from bench_core.execution import Outcome
from bench_core.results import Measurement, Result, Status

from tests.bench_core.mock_run import make_checkout, make_config, run_mock

GOOD = ("Resize", "HorizontalFlip", "RandomCrop224", "Invert")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


def only(outcome: Outcome) -> Result:
    (result,) = outcome.results
    return result


def bad(root: Path, transform: str, *, timeout_sec: float = 20.0, memory: int | None = None) -> Measurement:
    """What becomes of one transform of the library that misbehaves; Resize, which works, must go on after it."""
    config = make_config(root, ["mock_bad"], ["Resize", transform], timeout_sec=timeout_sec, memory_limit_bytes=memory)
    found = only(run_mock(root, root / "run", config)).measurements
    assert found["Resize"].status is Status.OK
    return found[transform]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """One run of two libraries that work, and its checkout."""
    root = make_checkout(tmp_path_factory.mktemp("good") / "checkout")
    config = make_config(root, ["mock_fast", "mock_twin"], [*GOOD, "Elastic", "Rotate"])
    return root, run_mock(root, root / "run", config)


def test_a_run_ends_with_a_bundle_that_validates(good: tuple[Path, Outcome]) -> None:
    loaded = bundle.load_bundle(good[1].folder)
    assert sorted(loaded.results) == [
        "image-rgb/mock_fast_micro_results.json",
        "image-rgb/mock_twin_micro_results.json",
    ]
    assert good[1].code is ExitCode.OK


def test_every_block_of_every_process_is_there_with_its_seed(good: tuple[Path, Outcome]) -> None:
    for result in good[1].results:
        for name in GOOD:
            blocks = result.measurements[name].blocks
            assert [(b.round, b.block) for b in blocks] == [(0, 0), (0, 1), (1, 0), (1, 1)]
            assert all(len(b.values_sec) == len(b.seeds) == 1 for b in blocks)


def test_seeds_are_the_same_for_both_libraries_and_new_in_each_round(good: tuple[Path, Outcome]) -> None:
    seeds = [[b.seeds for b in result.measurements["RandomCrop224"].blocks] for result in good[1].results]
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 4


def test_each_round_has_a_worker_of_its_own(good: tuple[Path, Outcome]) -> None:
    blocks = good[1].results[0].measurements["Resize"].blocks
    assert len({b.worker for b in blocks if b.round == 0}) == 1
    assert len({b.worker for b in blocks}) == 2


def test_libraries_that_took_turns_have_begun_together(good: tuple[Path, Outcome]) -> None:
    one, other = ([b.started_at for b in r.measurements["Invert"].blocks] for r in good[1].results)
    assert one == other
    assert len(set(one)) == 4


def test_a_slow_transform_is_recorded_with_its_figure_and_not_measured(good: tuple[Path, Outcome]) -> None:
    slow = good[1].results[0].measurements["Elastic"]
    assert slow.status is Status.SLOW
    assert slow.blocks == ()
    assert slow.preflight_sec is not None and slow.preflight_sec >= 0.05
    assert slow.reason is not None and "ms per image" in slow.reason


def test_a_transform_the_library_does_not_offer_is_unsupported(good: tuple[Path, Outcome]) -> None:
    assert good[1].results[0].measurements["Rotate"].status is Status.UNSUPPORTED


def test_reference_rows_stand_in_every_result_and_every_block(good: tuple[Path, Outcome]) -> None:
    for result in good[1].results:
        assert result.references["noop"].num_processes == 2
        assert 0 < result.references["noop"].median_sec < result.references["yardstick"].median_sec
        assert all(b.noop_sec > 0 and b.yardstick_sec > 0 for m in result.measurements.values() for b in m.blocks)


def test_outputs_are_described_and_drawn(good: tuple[Path, Outcome]) -> None:
    output = good[1].results[0].measurements["HorizontalFlip"].output
    assert output is not None
    assert output.dtype == "uint8" and output.shape[2] == 3
    assert output.changed and output.contiguous
    assert (good[1].folder / "outputs" / "image-rgb" / str(output.thumbnail)).is_file()


def test_conditions_are_read_back(good: tuple[Path, Outcome]) -> None:
    conditions = good[1].results[0].conditions
    assert conditions is not None
    assert conditions.threads_asked == 1
    assert set(conditions.threads_read.values()) <= {1}
    assert conditions.isolation == "fork"


def test_pyperf_reads_what_stands_beside_the_result(good: tuple[Path, Outcome]) -> None:
    path = good[1].folder / "image-rgb" / "mock_fast_micro_pyperf.json"
    shown = subprocess.run(
        [sys.executable, "-m", "pyperf", "stats", path], capture_output=True, text=True, check=True
    ).stdout
    assert "mock_fast Resize" in shown
    assert "Total number of values: 4" in shown


def test_pyperf_files_name_no_host_and_no_path(good: tuple[Path, Outcome]) -> None:
    text = (good[1].folder / "image-rgb" / "mock_fast_micro_pyperf.json").read_text()
    assert "hostname" not in text
    assert sys.prefix not in text


def test_a_slow_transform_is_measured_when_asked(root: Path) -> None:
    config = make_config(root, ["mock_fast"], ["Elastic"], processes=1, disable_slow_skip=True, num_items=1)
    found = only(run_mock(root, root / "run", config)).measurements["Elastic"]
    assert found.status is Status.OK
    assert found.summary is not None and found.summary.median_sec >= 0.05


def test_spawned_measurements_give_the_same_shape(root: Path) -> None:
    config = make_config(root, ["mock_fast"], ["Resize"], isolation="spawn", processes=1)
    result = only(run_mock(root, root / "run", config))
    assert result.measurements["Resize"].status is Status.OK
    assert result.conditions is not None and result.conditions.isolation == "spawn"


# Libraries that misbehave


@pytest.mark.parametrize(
    ("transform", "phrase"),
    [
        ("Invert", "ValueError: this image is not to my taste"),
        ("Pad", "TypeError: Pad does not understand"),
        ("Solarize", "returned None"),
        ("HorizontalFlip", "returned its input"),
        ("Blur", "wrote into its input"),
        ("Contrast", "not finite"),
        ("CenterCrop224", "empty"),
        ("Transpose", "no image"),
        ("GaussianBlur", "no image (shape (320,))"),
        ("Perspective", "Panic: index out of bounds"),
        ("ColorJitter", "Unspeakable: its message cannot be shown"),
    ],
)
def test_a_wrong_answer_is_an_error_with_its_reason(root: Path, transform: str, phrase: str) -> None:
    found = bad(root, transform)
    assert found.status is Status.ERROR
    assert phrase in str(found.reason)


def test_an_exception_keeps_the_last_lines_of_its_traceback(root: Path) -> None:
    assert "raise ValueError" in str(bad(root, "Invert").detail)


def test_a_message_without_end_is_cut_and_what_is_no_text_is_spelt_out(root: Path) -> None:
    found = bad(root, "RGBShift")
    assert found.status is Status.ERROR
    assert str(found.reason).startswith("ValueError: \\udcff\\udcff")
    assert len(str(found.reason)) + len(str(found.detail)) < 10_000


@pytest.mark.parametrize(
    ("transform", "phrase"),
    [
        ("AutoContrast", "SIGSEGV"),
        ("Grayscale", "exit code 3"),
        ("Affine", "exit code 4"),
        ("Erasing", "exit code 1"),
        ("VerticalFlip", "worker"),
    ],
)
def test_a_process_that_ends_has_crashed_and_says_how(root: Path, transform: str, phrase: str) -> None:
    found = bad(root, transform)
    assert found.status is Status.CRASHED
    assert phrase in str(found.reason)


def test_a_worker_that_is_killed_by_its_child_leaves_no_process_behind(root: Path) -> None:
    before = {process.pid for process in psutil.process_iter()}
    bad(root, "VerticalFlip")
    mine = str(root)
    left = [p for p in psutil.process_iter() if p.pid not in before and is_worker_of(p, mine)]
    assert left == []


def is_worker_of(process: psutil.Process, folder: str) -> bool:
    """Whether a process was started by a run in `folder`."""
    try:
        return "bench_core.worker" in process.cmdline() and any(folder in f.path for f in process.open_files())
    except psutil.Error:
        return False


@pytest.mark.parametrize("transform", ["Posterize", "Equalize"])
def test_a_hang_is_a_timeout_and_leaves_nothing_behind(
    root: Path, transform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = root / "grandchild"
    monkeypatch.setenv("BENCH_MOCK_PID_FILE", str(note))
    assert bad(root, transform, timeout_sec=2.0).status is Status.TIMEOUT
    if transform == "Equalize":
        pid = int(note.read_text())
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_spawned_measurement_that_hangs_has_its_own_limit_and_not_that_of_the_import(root: Path) -> None:
    config = make_config(root, ["mock_bad"], ["Posterize"], isolation="spawn", processes=1, timeout_sec=2.0)
    found = only(run_mock(root, root / "run", config)).measurements["Posterize"]
    assert found.status is Status.TIMEOUT
    assert "no answer within 2 s" in str(found.reason)


def test_a_grandchild_that_hides_in_a_session_of_its_own_is_found(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = root / "grandchild"
    monkeypatch.setenv("BENCH_MOCK_PID_FILE", str(note))
    assert bad(root, "ChannelShuffle").status is Status.OK
    assert not psutil.pid_exists(int(note.read_text()))


def test_memory_beyond_the_limit_is_refused_and_recorded(root: Path) -> None:
    found = bad(root, "Brightness", memory=512 * 1024**2)
    assert found.status is Status.ERROR
    assert "MemoryError" in str(found.reason)


def test_a_transform_that_changes_the_number_of_threads_is_an_error(root: Path) -> None:
    found = bad(root, "Sharpen")
    assert found.status is Status.ERROR
    assert "asked for 1 thread(s), but after it was used openblas.0 answers 2" in str(found.reason)


def test_what_a_library_prints_is_not_taken_for_an_answer(root: Path) -> None:
    assert bad(root, "Rotate").status is Status.OK


def test_a_library_that_prints_without_end_does_not_fill_the_disk(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 50_000
    monkeypatch.setattr(policy, "LOG_MAX_BYTES", most)
    assert bad(root, "Rain", timeout_sec=2.0).status is Status.TIMEOUT
    first, *others = sorted((root / "run/logs").iterdir(), key=lambda path: -path.stat().st_size)
    assert most < first.stat().st_size < most + 200
    assert first.read_text().endswith("\nbench: more than 50000 bytes were printed; the rest is left out\n")
    assert all(path.stat().st_size < most for path in others)


def test_a_library_that_reads_its_input_finds_nothing(root: Path) -> None:
    assert bad(root, "GaussianNoise").status is Status.OK


def test_a_library_that_changes_the_current_folder_takes_nothing_along(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    config = make_config(root, ["mock_bad"], ["Resize", "RandomCrop224"])
    outcome = run_mock(root, Path("run"), config)
    assert outcome.counts == {Status.OK: 2}
    assert sorted(path.name for path in (root / "run/outputs/image-rgb").iterdir()) == [
        "input.png",
        "mock_bad_RandomCrop224.png",
        "mock_bad_Resize.png",
    ]


def test_a_module_in_the_current_folder_is_not_imported_instead(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "numpy.py").write_text("raise RuntimeError('not the numpy that is locked')")
    monkeypatch.chdir(root)
    assert run_mock(root, root / "run", make_config(root, ["mock_fast"], ["Resize"])).counts == {Status.OK: 1}


def test_a_library_that_ends_the_process_when_it_is_imported_says_why(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_MOCK_IMPORT", "exit")
    found = only(run_mock(root, root / "run", make_config(root, ["mock_noimport"], ["Resize"])))
    assert found.measurements["Resize"].status is Status.UNAVAILABLE
    assert found.measurements["Resize"].reason == "SystemExit: no licence"


def test_a_library_that_ignores_the_end_of_children_is_measured(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_MOCK_IMPORT", "deaf")
    config = make_config(root, ["mock_noimport"], ["Resize"])
    assert run_mock(root, root / "run", config).counts == {Status.OK: 1}


def test_a_library_that_cannot_be_imported_is_unavailable_and_the_others_go_on(root: Path) -> None:
    config = make_config(root, ["mock_fast", "mock_noimport"], ["Resize"])
    outcome = run_mock(root, root / "run", config)
    statuses = {result.library: result.measurements["Resize"].status for result in outcome.results}
    assert statuses == {"mock_fast": Status.OK, "mock_noimport": Status.UNAVAILABLE}
    assert "libmock.so.7" in str(outcome.results[1].measurements["Resize"].reason)
    assert outcome.code is ExitCode.INCOMPLETE
    bundle.load_bundle(outcome.folder)


def test_a_library_that_the_matrix_leaves_out_is_recorded_with_its_reason(root: Path) -> None:
    with (root / "matrix.toml").open("a") as stream:
        stream.write('\n[[exclusions]]\nlibrary = "mock_twin"\nreason = "it is the same"\n')
    outcome = run_mock(root, root / "run", make_config(root, ["mock_fast", "mock_twin"], ["Resize"]))
    known = bundle.load_bundle(outcome.folder).environment
    assert known["excluded_jobs"] == {"mock_twin, image-rgb, micro, cpu": "it is the same"}


# Folders


def test_an_output_that_is_not_empty_is_refused(root: Path) -> None:
    (root / "run").mkdir()
    (root / "run" / "notes.txt").write_text("mine")
    with pytest.raises(BenchError, match="not empty") as caught:
        run_mock(root, root / "run", make_config(root, ["mock_fast"], ["Resize"]))
    assert caught.value.code is ExitCode.OUTPUT
    assert [path.name for path in (root / "run").iterdir()] == ["notes.txt"]


def test_an_output_that_cannot_be_written_is_a_sentence(root: Path) -> None:
    (root / "file").write_text("in the way")
    with pytest.raises(BenchError, match="cannot write") as caught:
        run_mock(root, root / "file" / "run", make_config(root, ["mock_fast"], ["Resize"]))
    assert caught.value.code is ExitCode.OUTPUT


def test_a_full_disk_stops_the_run_and_keeps_what_was_measured(root: Path) -> None:
    config = make_config(root, ["mock_fast"], ["Resize", "Invert"])
    folder = root / "run"
    folder.mkdir()
    (folder / journal.FILE_NAME).symlink_to("/dev/full")
    with pytest.raises(BenchError, match="No space left") as caught:
        run_mock(root, folder, config, resume=True)
    assert caught.value.code is ExitCode.OUTPUT
    assert f"bench run --resume {folder}" in str(caught.value)
    assert not bundle.is_committed(folder)
    assert (folder / bundle.CONFIG).is_file()  # or it could not be resumed


def test_a_picture_that_cannot_be_written_stops_the_run_and_is_no_librarys_fault(root: Path) -> None:
    config = make_config(root, ["mock_fast"], ["Resize", "Invert"])
    folder = root / "run"
    in_the_way = folder / "outputs" / "image-rgb" / "mock_fast_Invert.png"
    in_the_way.mkdir(parents=True)
    (folder / journal.FILE_NAME).touch()
    with pytest.raises(BenchError, match=r"mock_fast_Invert\.png") as caught:
        run_mock(root, folder, config, resume=True)
    assert caught.value.code is ExitCode.OUTPUT
    in_the_way.rmdir()
    assert run_mock(root, folder, config, resume=True).counts == {Status.OK: 2}


def test_an_output_whose_name_is_no_text_is_a_folder_like_others(root: Path) -> None:
    outcome = run_mock(root, root / "run\udcff\n", make_config(root, ["mock_fast"], ["Resize"]))
    assert bundle.load_bundle(outcome.folder).results


def test_a_committed_run_is_not_written_again(good: tuple[Path, Outcome]) -> None:
    root, outcome = good
    config = make_config(root, ["mock_fast", "mock_twin"], [*GOOD, "Elastic", "Rotate"])
    for resume in (False, True):
        with pytest.raises(BenchError, match="finished run"):
            run_mock(root, outcome.folder, config, resume=resume)


# Data


def test_one_image_is_enough_and_the_shortage_is_recorded(root: Path) -> None:
    for path in sorted((root / "images").iterdir())[1:]:
        path.unlink()
    result = only(run_mock(root, root / "run", make_config(root, ["mock_fast"], ["Resize"])))
    assert result.dataset.num_items == 1
    assert result.measurements["Resize"].status is Status.OK


def test_an_image_of_one_pixel_is_measured_or_fails_with_a_reason(root: Path) -> None:
    from PIL import Image

    shutil.rmtree(root / "images")
    (root / "images").mkdir()
    Image.new("RGB", (1, 1), (255, 0, 0)).save(root / "images" / "one\npixel é.png")
    found = only(run_mock(root, root / "run", make_config(root, ["mock_fast"], GOOD))).measurements
    assert found["Resize"].status is Status.OK
    assert found["HorizontalFlip"].output is not None and not found["HorizontalFlip"].output.changed


def test_an_empty_folder_is_a_sentence(root: Path) -> None:
    shutil.rmtree(root / "images")
    (root / "images").mkdir()
    with pytest.raises(BenchError, match="no image") as caught:
        run_mock(root, root / "run", make_config(root, ["mock_fast"], ["Resize"]))
    assert caught.value.code is ExitCode.DATA
    assert not (root / "run").exists()


def test_an_unreadable_image_stops_the_run_or_is_left_out_for_all_and_recorded(root: Path) -> None:
    for path in (root / "images").iterdir():
        if path.name != "image 0.png":
            path.write_bytes(b"no image")
    with pytest.raises(BenchError, match="cannot be read") as caught:
        run_mock(root, root / "run", make_config(root, ["mock_fast"], ["Resize"]))
    assert caught.value.code is ExitCode.DATA
    config = make_config(root, ["mock_fast", "mock_twin"], ["Resize"], skip_unreadable=True)
    outcome = run_mock(root, root / "again", config)
    assert all(result.dataset.num_items == 1 for result in outcome.results)
    assert all(len(result.dataset.left_out) >= 1 for result in outcome.results)
    assert outcome.results[0].dataset == outcome.results[1].dataset


def test_the_journal_alone_gives_the_results_again(good: tuple[Path, Outcome]) -> None:
    from bench_core.assembly import assemble
    from bench_core.catalog import load_catalog

    from tests.bench_core.mock_run import plan_of

    root, outcome = good
    config = make_config(root, ["mock_fast", "mock_twin"], [*GOOD, "Elastic", "Rotate"])
    state, _ = journal.read_state(outcome.folder / journal.FILE_NAME)
    _, plan = plan_of(root, config)
    again = [assemble(job, config, load_catalog(), state) for job in plan.jobs]
    assert [msgspec.to_builtins(one) for one in again] == [msgspec.to_builtins(one) for one in outcome.results]
