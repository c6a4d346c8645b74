"""What a file, --set or a flag says: keys, types, sources."""

from pathlib import Path

import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.settings import Rank, from_assignments, from_configuration, from_file, merge


def said(*texts: str) -> dict[str, object]:
    return {key: value.value for key, value in from_assignments(texts).items()}


def refused(*texts: str) -> str:
    with pytest.raises(BenchError) as caught:
        from_assignments(texts)
    assert caught.value.code is ExitCode.USAGE
    return str(caught.value)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_value_is_read_as_toml() -> None:
    assert said("seed=7", "timeout_sec=2.5", "skip_unreadable=true") == {
        "seed": 7,
        "timeout_sec": 2.5,
        "skip_unreadable": True,
    }


def test_a_bare_word_is_a_string() -> None:
    assert said("device=gpu", "data_dir=/some/where else") == {"device": "gpu", "data_dir": "/some/where else"}


def test_names_may_be_a_toml_list_or_separated_by_commas() -> None:
    expected = {"libraries": ("kornia", "pillow")}
    assert said('libraries=["kornia", "pillow"]') == expected
    assert said("libraries=kornia, pillow") == expected


def test_the_last_of_equal_keys_wins() -> None:
    assert said("seed=1", "seed=2") == {"seed": 2}


def test_all_items_is_a_word() -> None:
    assert said("num_items=all") == {"num_items": "all"}


def test_an_unknown_key_is_refused_with_the_nearest() -> None:
    assert "--set num_run=3: unknown key 'num_run'; did you mean 'num_runs'?" in refused("num_run=3")


def test_a_second_key_cannot_hide_in_a_value() -> None:
    assert said("data_dir=1\nseed = 2") == {"data_dir": "1\nseed = 2"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed", "write key=value"),
        ("seed=soon", "seed = 'soon': Expected `int`"),
        ("seed=true", "seed = True: Expected `int`"),
        ("skip_unreadable=yes", "skip_unreadable = 'yes': Expected `bool`"),
        ("num_items=some", "num_items = 'some': Expected `int` or \"all\""),
        ("libraries=[1]", "libraries = [1]: Expected `str`"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_source(text: str, message: str) -> None:
    assert message in refused(text)
    assert f"--set {text}" in refused(text)


def test_an_unknown_key_of_a_file_is_refused_with_the_file(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"mine\.toml: unknown key 'librarys'; did you mean 'libraries'\?"):
        from_file(write(tmp_path / "mine.toml", 'librarys = ["kornia"]'), "mine.toml")


def test_a_file_that_is_not_toml_is_refused_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"mine\.toml: not valid TOML .*line 1"):
        from_file(write(tmp_path / "mine.toml", "seed = \n"), "mine.toml")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(BenchError, match="not valid TOML"):
        from_file(path, "mine.toml")


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "seed = " + "9" * 5000, "# " + "x" * 100_000])
def test_a_file_that_nobody_wrote_by_hand_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BenchError, match=r"mine\.toml: not valid TOML"):
        from_file(write(tmp_path / "mine.toml", text), "mine.toml")


def test_of_a_device_without_end_no_more_is_read_than_of_a_file() -> None:
    with pytest.raises(BenchError, match="larger than"):
        from_configuration(Path("/dev/zero"))


def test_a_name_that_is_too_long_is_one_sentence() -> None:
    with pytest.raises(BenchError, match="File name too long"):
        from_configuration(Path("x" * 300))


@pytest.mark.parametrize("text", ["seed=" + "[" * 5000, "seed=" + "9" * 5000])
def test_a_value_that_cannot_be_read_is_a_text_of_the_wrong_type(text: str) -> None:
    assert "Expected `int`, got `str`" in refused(text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"none\.toml: cannot be read \(No such file"):
        from_configuration(tmp_path / "none.toml")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="is a folder; name a file in it"):
        from_configuration(tmp_path)


def test_a_run_is_named_like_its_configuration_file(tmp_path: Path) -> None:
    path = write(tmp_path / "my first run.toml", "seed = 1")
    assert from_configuration(path)["profile"].value == "my-first-run"


def test_a_name_in_the_file_goes_before_the_files_name(tmp_path: Path) -> None:
    path = write(tmp_path / "resolved_config.toml", 'profile = "quick"')
    assert from_configuration(path)["profile"].value == "quick"


def test_a_stronger_source_replaces_the_whole_value(tmp_path: Path) -> None:
    file = from_file(write(tmp_path / "a.toml", 'libraries = ["kornia"]\nseed = 1'), "a.toml")
    merged = merge(file, from_assignments(["libraries=pillow"]))
    assert {key: value.value for key, value in merged.items()} == {"libraries": ("pillow",), "seed": 1}
    assert (merged["libraries"].rank, merged["seed"].rank) == (Rank.SET, Rank.FILE)
