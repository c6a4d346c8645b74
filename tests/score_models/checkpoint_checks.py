"""Checkpoints: what is read, what is refused, and that nothing in them runs unless they are trusted."""

import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from bench_core.errors import ExitCode
from bench_core.files import sha256_file
from bench_score.checkpoint import Checkpoint, read_checkpoint
from examples import refusal
from safetensors.torch import save_file

TENSORS = {"weight": torch.arange(6.0).reshape(2, 3), "bias": torch.ones(2, dtype=torch.float64)}
CONFIG = {"architecture": {"name": "schnet", "elements": ["H"]}, "level_of_theory": "PBE"}


class _Burglar:
    """Unpickled, it makes a file."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.trace),)


def a_safetensors_file_gives_its_tensors_and_the_configuration_of_its_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    save_file(TENSORS, path, metadata={"config": json.dumps(CONFIG)})
    _assert_whole(read_checkpoint(path), path, CONFIG)
    save_file(TENSORS, path)
    _assert_whole(read_checkpoint(path, trust=True), path, None)


def a_torch_file_gives_its_tensors_wherever_it_keeps_them(folder: Path) -> None:
    path = folder / "model.pt"
    for content in (TENSORS, {"state_dict": TENSORS, "epoch": 3}, {"model_state_dict": TENSORS}, {"model": TENSORS}):
        torch.save(content, path)
        _assert_whole(read_checkpoint(path), path, None)
        torch.save({**content, "config": CONFIG}, path)
        _assert_whole(read_checkpoint(path), path, CONFIG)
    torch.save({"state_dict": TENSORS, "config": json.dumps(CONFIG)}, path, _use_new_zipfile_serialization=False)
    _assert_whole(read_checkpoint(path), path, CONFIG)


def a_malicious_checkpoint_is_refused_and_nothing_in_it_runs(folder: Path) -> None:
    trace = folder / "trace"
    for path in _malicious(folder, trace):
        shown = refusal(lambda path=path: read_checkpoint(path), ExitCode.USAGE)
        assert str(path) in shown
        assert "--trust-checkpoint" in shown
        assert "may run any program" in shown
        assert not trace.exists(), path


def the_trap_of_the_malicious_checkpoint_works_where_it_is_trusted(folder: Path) -> None:
    trace = folder / "trace"
    for path in _malicious(folder, trace):
        if path.suffix == ".pt":
            assert read_checkpoint(path, trust=True).trusted
        else:  # a bare pickle is nothing torch writes: it ran, and no checkpoint came out
            refusal(lambda path=path: read_checkpoint(path, trust=True), ExitCode.DATA)
        assert trace.exists(), path
        trace.rmdir()


def a_malicious_pickle_that_is_called_safetensors_does_not_run(folder: Path) -> None:
    trace = folder / "trace"
    for path in _malicious(folder, trace):
        other = path.with_suffix(".safetensors")
        path.rename(other)
        for trust in (False, True):
            shown = refusal(lambda other=other, trust=trust: read_checkpoint(other, trust=trust), ExitCode.DATA)
            assert "no safetensors file" in shown
        assert not trace.exists()


def a_whole_module_is_read_when_it_is_trusted_only(folder: Path) -> None:
    path = folder / "module.pt"
    module = torch.nn.Linear(3, 2)
    for content in (module, {"model": module, "config": CONFIG}):
        torch.save(content, path)
        shown = refusal(lambda: read_checkpoint(path), ExitCode.USAGE)
        assert "such as torch.nn.modules.linear.Linear" in shown
        found = read_checkpoint(path, trust=True)
        assert found.trusted
        assert found.tensors.keys() == {"weight", "bias"}
        assert torch.equal(found.tensors["weight"], module.weight)


def a_file_that_needs_no_trust_is_not_called_trusted(folder: Path) -> None:
    path = folder / "model.pt"
    torch.save(TENSORS, path)
    assert not read_checkpoint(path, trust=True).trusted


def a_damaged_file_is_one_sentence(folder: Path) -> None:
    for whole in _whole_files(folder):
        data = whole.read_bytes()
        for name, part in (
            ("half", data[: len(data) // 2]),
            ("start", data[:30]),
            ("noise", os.urandom(3000)),
            ("text", b"hello, I am no checkpoint\n" * 40),
            ("end", data[len(data) // 2 :]),
        ):
            path = folder / f"{name}{whole.suffix}"
            path.write_bytes(part)
            for trust in (False, True):
                shown = refusal(lambda path=path, trust=trust: read_checkpoint(path, trust=trust), ExitCode.DATA)
                assert shown.startswith(f"{path}: is damaged or no "), shown
                assert "\n" not in shown


def a_file_that_is_not_there_or_no_file_or_empty_is_one_sentence(folder: Path) -> None:
    for suffix in (".pt", ".safetensors"):
        path = folder / f"model{suffix}"
        assert "cannot be read (No such file or directory)" in refusal(lambda p=path: read_checkpoint(p), ExitCode.DATA)
        path.touch()
        assert "is empty" in refusal(lambda p=path: read_checkpoint(p), ExitCode.DATA)
    assert "is no file" in refusal(lambda: read_checkpoint(folder), ExitCode.DATA)
    os.mkfifo(folder / "pipe.pt")
    assert "is no file" in refusal(lambda: read_checkpoint(folder / "pipe.pt"), ExitCode.DATA)


def what_is_no_table_of_tensors_is_named(folder: Path) -> None:
    path = folder / "model.pt"
    for content, said in (
        ([1, 2], "holds a list, where a table of tensors is expected"),
        ({"state_dict": [1]}, "holds a list, where a table of tensors is expected"),
        ({"weight": torch.ones(1), "epoch": 3}, "holds a int under 'epoch'"),
        ({"state_dict": {"weight": 3.5}}, "holds a float under 'weight'"),
        ({}, "holds no tensor"),
        ({"state_dict": {}}, "holds no tensor"),
    ):
        torch.save(content, path)
        shown = refusal(lambda: read_checkpoint(path), ExitCode.DATA)
        assert said in shown, shown


def a_configuration_that_is_no_json_object_is_refused(folder: Path) -> None:
    for text in ("[1]", "{", "[" * 100_000, "3"):
        path = folder / "model.safetensors"
        save_file(TENSORS, path, metadata={"config": text})
        assert "is no JSON object" in refusal(lambda p=path: read_checkpoint(p), ExitCode.DATA)
        path = folder / "model.pt"
        torch.save({"state_dict": TENSORS, "config": text}, path)
        assert "is no JSON object" in refusal(lambda p=path: read_checkpoint(p), ExitCode.DATA)
    torch.save({"state_dict": TENSORS, "config": 3}, path)
    assert "is no JSON object" in refusal(lambda: read_checkpoint(path), ExitCode.DATA)


def _malicious(folder: Path, trace: Path) -> list[Path]:
    content = {"state_dict": TENSORS, "note": _Burglar(trace)}
    paths = [folder / "zip.pt", folder / "legacy.pt", folder / "bare.pkl", folder / "bare2.bin"]
    torch.save(content, paths[0])
    torch.save(content, paths[1], _use_new_zipfile_serialization=False)
    paths[2].write_bytes(pickle.dumps(content["note"]))
    paths[3].write_bytes(pickle.dumps(content["note"], protocol=2))
    return paths


def _whole_files(folder: Path) -> list[Path]:
    paths = [folder / "whole.pt", folder / "whole.pth", folder / "whole.safetensors", folder / "whole.zip"]
    torch.save(TENSORS, paths[0])
    torch.save(TENSORS, paths[1], _use_new_zipfile_serialization=False)
    save_file(TENSORS, paths[2])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("notes.txt", "nothing" * 50)
    paths[3].write_bytes(archive.getvalue())
    return paths


def _assert_whole(found: Checkpoint, path: Path, config: dict[str, Any] | None) -> None:
    assert found.tensors.keys() == TENSORS.keys()
    assert all(torch.equal(found.tensors[name], tensor) for name, tensor in TENSORS.items())
    assert found.config == config
    assert found.sha256 == sha256_file(path)
    assert not found.trusted
