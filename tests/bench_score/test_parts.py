"""Parts: what may be merged, what is refused by name, and in what order it comes."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Status
from bench_core.scores import ScoreResult
from bench_score import parts
from bench_score.benchmark import Benchmark, blank_row, failed_row
from bench_score.config import ScoreConfig, config_sha256
from bench_score.identity import made_by, package_of
from bench_score.parts import labels_done, merge_parts, part_tag, write_part
from bench_score.selection import select_entries

from tests.bench_score.score_run import dataset_in, make_config, model, rows_of

LABELS = ("perfect", "offset", "noisy")


@pytest.fixture
def config(tmp_path: Path) -> ScoreConfig:
    return make_config(tmp_path, [model(label) for label in LABELS])


def row(config: ScoreConfig, label: str, status: Status = Status.ERROR, reason: str = "it fell") -> ScoreResult:
    dataset = dataset_in(Path(str(config.data.path)).parent)
    (entry,) = select_entries(config, [label])
    if status is Status.OK:
        return blank_row(config, dataset, entry, status)
    return failed_row(config, dataset, entry, status, reason)


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def refusal(config: ScoreConfig, code: ExitCode, data_sha256: str | None = None) -> str:
    with pytest.raises(BenchError) as caught:
        merge_parts(config, data_sha256)
    assert caught.value.code is code
    return str(caught.value)


def test_rows_come_in_the_order_of_the_configuration_whoever_wrote_them(config: ScoreConfig) -> None:
    write_part(config, [row(config, "noisy"), row(config, "perfect")], "a")
    write_part(config, [row(config, "offset")], "b")
    merged = merge_parts(config)
    assert [found.label for found in merged.rows] == list(LABELS)
    assert merged.missing == ()


def test_a_part_reads_as_it_was_written(config: ScoreConfig, tmp_path: Path) -> None:
    rows = rows_of(config, tmp_path)
    write_part(config, rows, "all")
    assert merge_parts(config).rows == tuple(rows)


def test_a_missing_model_is_named_and_left_out(config: ScoreConfig) -> None:
    write_part(config, [row(config, "offset")], "a")
    merged = merge_parts(config)
    assert [found.label for found in merged.rows] == ["offset"]
    assert merged.missing == ("perfect", "noisy")


def test_no_parts_are_no_rows(config: ScoreConfig) -> None:
    assert merge_parts(config).rows == ()
    assert merge_parts(config).missing == LABELS


def test_shards_merged_are_the_serial_run(config: ScoreConfig, tmp_path: Path) -> None:
    serial = rows_of(config, tmp_path)
    for shard in ("1/2", "2/2"):
        entries = select_entries(config, shard=shard)
        Benchmark(config, entries, part_tag(entries), cache=tmp_path / "cache").run()
    merged = merge_parts(config)
    assert merged.missing == ()
    for one, other in zip(serial, merged.rows, strict=True):
        assert (one.label, one.scores, one.coverage) == (other.label, other.scores, other.coverage)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (Status.OK, Status.ERROR, Status.OK),
        (Status.ERROR, Status.OK, Status.OK),
        (Status.ERROR, Status.CRASHED, Status.CRASHED),  # the newer of two that are no better
        (Status.UNAVAILABLE, Status.TIMEOUT, Status.TIMEOUT),
    ],
)
@pytest.mark.parametrize("tags", [("a", "b"), ("b", "a")])
def test_of_two_parts_with_one_label_the_better_counts_and_then_the_newer(
    config: ScoreConfig, first: Status, second: Status, kept: Status, tags: tuple[str, str]
) -> None:
    for status, tag in zip((first, second), tags, strict=True):
        write_part(config, [row(config, "offset", status)], tag)
    assert [found.status for found in merge_parts(config).rows] == [kept]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 3}, "another configuration"),
        ({"metrics": ["mae"]}, "another configuration"),
        ({"device": "gpu"}, "another configuration"),
        ({"atomic_energies": "average"}, "another configuration"),
    ],
)
def test_a_part_of_another_configuration_is_refused_by_name(
    config: ScoreConfig, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    path = write_part(config, [row(config, "offset")], "a")
    said = refusal(make_config(tmp_path, [model(label) for label in LABELS], **change), ExitCode.RESUME)
    assert str(path) in said
    assert f"was made with {words} than this" in said


def test_where_and_how_the_table_is_written_is_no_other_configuration(config: ScoreConfig, tmp_path: Path) -> None:
    write_part(config, [row(config, "offset")], "a")
    other = make_config(tmp_path, [model(label) for label in LABELS], output={"formats": ["md"]}, name="other")
    assert len(merge_parts(other).rows) == 1


def test_a_part_of_other_code_is_refused_by_name(config: ScoreConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_part(config, [row(config, "offset")], "a")
    monkeypatch.setattr(parts, "code_sha256", lambda: "0" * 64)
    said = refusal(config, ExitCode.RESUME)
    assert f"{path}: was made with other code than this" in said


def test_a_part_on_other_data_is_refused_by_name(config: ScoreConfig) -> None:
    path = write_part(config, [row(config, "offset")], "a")
    said = refusal(config, ExitCode.RESUME, "0" * 64)
    assert f"{path}: was made with another dataset than this" in said


def test_two_parts_on_different_data_are_not_merged(config: ScoreConfig) -> None:
    write_part(config, [row(config, "perfect")], "a")
    other = row(config, "offset")
    other = msgspec.structs.replace(other, data=msgspec.structs.replace(other.data, fingerprint="1" * 64))
    path = write_part(config, [other], "b")
    assert f"{path}: was made with another dataset" in refusal(config, ExitCode.RESUME)


LOCK = {"lock of mock_family": "a" * 64}


def test_parts_of_two_locks_are_not_merged(config: ScoreConfig) -> None:
    write_part(config, [row(config, "perfect")], "a", LOCK)
    path = write_part(config, [row(config, "offset")], "b", {"lock of mock_family": "not managed"})
    assert f"{path}: was made with another lock of mock_family than this" in refusal(config, ExitCode.RESUME)


def test_a_part_of_another_lock_than_is_there_now_is_refused(config: ScoreConfig) -> None:
    path = write_part(config, [row(config, "perfect")], "a", LOCK)
    assert merge_parts(config, made=LOCK | {"lock of another": "b"}).rows
    with pytest.raises(BenchError, match="another lock of mock_family") as caught:
        merge_parts(config, made={"lock of mock_family": "b" * 64})
    assert caught.value.code is ExitCode.RESUME
    assert str(path) in str(caught.value)


def named(folder: Path) -> ScoreConfig:
    """With a checkpoint, a metric and data that are files beside the configuration."""
    (folder / "weights.pt").write_bytes(b"weights")
    (folder / "beside.py").write_text("def bias(reference, predicted):\n    return 0.0\n")
    return make_config(
        folder,
        [model("./weights.pt", "own"), model("perfect")],
        metrics={"energy": ["bias"]},
        custom_metrics=[{"name": "bias", "function": "beside:bias"}],
    )


@pytest.mark.parametrize(("file", "words"), [("weights.pt", "checkpoint of own"), ("beside.py", "metric bias")])
def test_a_part_made_by_a_file_that_changed_since_is_refused(tmp_path: Path, file: str, words: str) -> None:
    one = named(tmp_path)
    path = write_part(one, [row(one, "own")], "a")
    assert merge_parts(one, made=made_by(one, one.entries())).rows
    (tmp_path / file).write_text("# something else")
    with pytest.raises(BenchError, match=f"another {words} than this") as caught:
        merge_parts(one, made=made_by(one, one.entries()))
    assert str(path) in str(caught.value)


def test_a_part_made_by_an_adapter_that_changed_since_is_refused(tmp_path: Path) -> None:
    one = named(tmp_path)
    package = tmp_path / "bench_own"
    package.mkdir()
    (package / "__init__.py").write_text("one = 1")
    write_part(one, [row(one, "own")], "a", made_by(one, one.entries(), packages={"mock_family": package}))
    (package / "__init__.py").write_text("one = 2")
    with pytest.raises(BenchError, match="another package of mock_family than this"):
        merge_parts(one, made=made_by(one, one.entries(), packages={"mock_family": package}))


def test_a_folder_that_was_copied_goes_on(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    one = named(tmp_path / "here")
    write_part(one, [row(one, "own")], "a")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    shutil.move(tmp_path / "here", tmp_path / "gone")
    other = named(tmp_path / "there")
    assert config_sha256(other) == config_sha256(one)
    assert [found.label for found in merge_parts(other, made=made_by(other, other.entries())).rows] == ["own"]


def test_the_package_of_a_family_is_found_in_this_python(config: ScoreConfig) -> None:
    import bench_mock

    assert package_of("mock_family") == Path(str(bench_mock.__file__)).parent
    assert package_of("nobody") is None
    assert made_by(config, config.entries()).keys() == {"lock of mock_family", "package of mock_family"}


def test_a_row_on_other_data_than_its_parts_header_says_is_refused(config: ScoreConfig) -> None:
    path = write_part(config, [row(config, "perfect"), row(config, "offset")], "a")
    changed(path, lambda part: part["rows"][1]["data"].update(fingerprint="1" * 64))
    assert "'offset' was scored on other data than its header says" in refusal(config, ExitCode.BUNDLE)


def test_a_part_of_a_model_that_nobody_names_is_refused(config: ScoreConfig) -> None:
    path = write_part(config, [row(config, "perfect")], "a")
    changed(path, lambda part: part["rows"][0].update(label="stranger"))
    assert "holds 'stranger', which the configuration does not name" in refusal(config, ExitCode.BUNDLE)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda part: part["header"].update(part_version=2), "part version 2 is not known here"),
        (lambda part: part.pop("header"), "is no part, or was cut off"),
        (lambda part: part.pop("rows"), "rows"),
        (lambda part: part["rows"][0].update(more=1), "more"),
        (lambda part: part["rows"][0].update(status="splendid"), "status"),
        (lambda part: part["header"].update(config_sha256=3), "config_sha256"),
    ],
)
def test_a_part_that_somebody_changed_is_refused_by_name(
    config: ScoreConfig, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    path = write_part(config, [row(config, "perfect")], "a")
    changed(path, change)
    said = refusal(config, ExitCode.BUNDLE)
    assert str(path) in said
    assert words in said


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"header": []}', "[" * 100_000, "\x00"])
def test_a_damaged_part_is_refused_by_name(config: ScoreConfig, text: str) -> None:
    path = write_part(config, [row(config, "perfect")], "a")
    path.write_text(text)
    assert str(path) in refusal(config, ExitCode.BUNDLE)


def test_a_truncated_part_is_refused_by_name(config: ScoreConfig) -> None:
    path = write_part(config, [row(config, "perfect")], "a")
    path.write_bytes(path.read_bytes()[:-20])
    assert f"{path}: is no part, or was cut off" in refusal(config, ExitCode.BUNDLE)


def test_a_part_that_is_being_written_is_not_read(config: ScoreConfig) -> None:
    path = write_part(config, [row(config, "perfect")], "a")
    path.with_name(".b.json.x3f2k1").write_text("{")
    assert len(merge_parts(config).rows) == 1


def test_a_part_without_rows_or_without_a_folder_is_not_written(config: ScoreConfig) -> None:
    with pytest.raises(BenchError, match="without rows"):
        write_part(config, [], "a")
    nowhere = msgspec.structs.replace(config, output=msgspec.structs.replace(config.output, dir=None))
    with pytest.raises(BenchError, match=r"say output\.dir, or --output DIR"):
        write_part(nowhere, [row(config, "perfect")], "a")


def test_parts_of_different_models_have_different_names(config: ScoreConfig) -> None:
    entries = config.entries()
    tags = [part_tag(chosen) for chosen in (entries, entries[:2], entries[1:], *([entry] for entry in entries))]
    assert len(set(tags)) == len(tags)
    assert tags[-1] == "noisy"
    assert part_tag(entries) == part_tag(list(entries))


def test_a_score_is_not_replaced_by_a_failure(config: ScoreConfig) -> None:
    first = write_part(config, [row(config, "perfect", Status.OK)], "a")
    again = write_part(config, [row(config, "perfect", Status.CRASHED)], "a")
    assert again != first
    merged = merge_parts(config)
    assert [found.status for found in merged.rows] == [Status.OK]
    assert [found.status for found in merged.failed_again] == [Status.CRASHED]
    assert write_part(config, [row(config, "perfect", Status.OK)], "a") == first
    assert merge_parts(config).failed_again == ()


def test_what_could_not_be_reached_is_tried_once_more(config: ScoreConfig) -> None:
    write_part(config, [row(config, "perfect", Status.OK)], "a")
    write_part(config, [row(config, "offset", Status.UNAVAILABLE)], "b")
    write_part(config, [row(config, "noisy", Status.TIMEOUT)], "c")
    assert labels_done(merge_parts(config)) == {"perfect", "noisy"}
