"""Files that are whole or absent, also where they are written piece by piece."""

from pathlib import Path

import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.files import open_atomically, write_atomically


def test_a_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    with open_atomically(path) as stream:
        stream.write(b"one ")
        assert not path.exists()
        stream.write(b"two")
    assert path.read_bytes() == b"one two"
    assert [each.name for each in path.parent.iterdir()] == ["file"]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_block_that_fails_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"before")
    with pytest.raises(error), open_atomically(path) as stream:
        stream.write(b"half")
        raise error
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BenchError, match=r"cannot write .*file/below") as caught:
        write_atomically(tmp_path / "file" / "below", b"")
    assert caught.value.code == ExitCode.OUTPUT
