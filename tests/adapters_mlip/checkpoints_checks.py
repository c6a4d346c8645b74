"""Where checkpoints come from: the wheel's files, as the wheel had them, or a path."""

import base64
import hashlib
import sys
from pathlib import Path

import torch
from bench_adapters_mlip.checkpoints import locate, read_tensors, refuse_options, require_trust, shipped_file
from bench_core.errors import ExitCode
from common import Malicious, entry, refusal

SHIPPED = {"small": ("weighty/small.pt",), "both": ("weighty/small.pt", "weighty/small.json")}


def _install(folder: Path) -> None:
    """An installed distribution with two files, as an installer leaves it."""
    content = {"weighty/small.pt": b"weights", "weighty/small.json": b"{}"}
    lines = []
    for name, data in content.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        lines.append(f"{name},sha256={digest},{len(data)}")
    metadata = folder / "weighty-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: weighty\nVersion: 1.0\n")
    (metadata / "RECORD").write_text("\n".join([*lines, "weighty-1.0.dist-info/RECORD,,"]) + "\n")
    sys.path.insert(0, str(folder))


def a_name_stands_for_the_wheel_s_file(folder: Path) -> None:
    _install(folder)
    assert locate(entry("small"), "weighty", SHIPPED) == (folder / "weighty/small.pt", "small")
    assert locate(entry("both"), "weighty", SHIPPED) == (folder / "weighty", "both")


def a_file_of_the_wheel_that_was_changed_or_is_gone_is_refused(folder: Path) -> None:
    _install(folder)
    path = folder / "weighty/small.pt"
    path.write_bytes(b"weightz")
    shown = refusal(lambda: locate(entry("small"), "weighty", SHIPPED), ExitCode.ENVIRONMENT)
    assert shown == f"{path}: not the file of the wheel any more; build the environment of weighty anew"
    path.unlink()
    assert "cannot be read" in refusal(lambda: locate(entry("small"), "weighty", SHIPPED), ExitCode.ENVIRONMENT)
    shown = refusal(lambda: shipped_file("weighty", "weighty/large.pt"), ExitCode.ENVIRONMENT)
    assert "the wheel of weighty has no weighty/large.pt" in shown
    assert "not installed" in refusal(lambda: shipped_file("weightless", "a"), ExitCode.ENVIRONMENT)


def a_path_is_a_path(folder: Path) -> None:
    (folder / "own.pt").touch()
    assert locate(entry(folder / "own.pt"), "weighty", SHIPPED) == (folder / "own.pt", None)
    assert "no such file" in refusal(lambda: locate(entry(folder / "other.pt"), "weighty", SHIPPED), ExitCode.DATA)


def what_is_neither_is_refused_with_the_nearest_name() -> None:
    shown = refusal(lambda: locate(entry("smal"), "weighty", SHIPPED), ExitCode.USAGE)
    assert "model 'mine': unknown checkpoint 'smal'; did you mean 'small'?" in shown
    shown = refusal(lambda: locate(entry(None), "weighty", SHIPPED), ExitCode.USAGE)
    assert shown == "model 'mine': no checkpoint; give one of small, both, or a path"


def options_and_architectures_that_do_not_apply_are_refused() -> None:
    refuse_options(entry("small", options={"modal": "PBE"}), "modal")
    shown = refusal(lambda: refuse_options(entry("small", options={"moda": "PBE"}), "modal"), ExitCode.USAGE)
    assert "unknown option 'moda'; did you mean 'modal'?" in shown
    shown = refusal(lambda: refuse_options(entry("small", architecture={"name": "schnet"})), ExitCode.USAGE)
    assert "architecture does not apply" in shown


def only_a_file_of_the_wheel_is_trusted_unasked(folder: Path) -> None:
    _install(folder)
    require_trust(entry("small"), locate(entry("small"), "weighty", SHIPPED), "it is a pickle")
    own = folder / "own.pt"
    own.touch()
    shown = refusal(
        lambda: require_trust(entry(own), locate(entry(own), "weighty", SHIPPED), "it is a pickle"), ExitCode.USAGE
    )
    assert "it is a pickle, which can run any code" in shown
    assert "--trust-checkpoint" in shown
    require_trust(entry(own, trust_checkpoint=True), locate(entry(own), "weighty", SHIPPED), "it is a pickle")


def tensors_are_read_and_nothing_is_run(folder: Path) -> None:
    path, mark = folder / "a.pt", folder / "mark"
    torch.save({"model": {"weight": torch.ones(2)}, "epoch": 3}, path)
    assert read_tensors(entry(path), path)["epoch"] == 3
    torch.save({"model": Malicious(mark)}, path)
    shown = refusal(lambda: read_tensors(entry(path, trust_checkpoint=True), path), ExitCode.DATA)
    assert "not a torch file of tensors and plain values" in shown
    assert not mark.exists()
    torch.load(path, weights_only=False)
    assert mark.exists()  # so it would have been seen
    for content in (b"", b"nonsense", path.read_bytes()[:-100]):
        path.write_bytes(content)
        assert str(path) in refusal(lambda: read_tensors(entry(path), path), ExitCode.DATA)
    torch.save([1, 2], path)
    assert "no mapping" in refusal(lambda: read_tensors(entry(path), path), ExitCode.DATA)
