"""Checkpoints of torch models, opened so that no code of theirs runs unless they are trusted."""

import pickle
import pickletools
import re
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import safetensors.torch
import torch
from bench_core.errors import BenchError, ExitCode
from bench_core.files import sha256_bytes
from torch import Tensor, nn

SAFETENSORS = ".safetensors"
CONFIG = "config"  # the configuration: a key of safetensors' metadata (JSON there) and of a torch checkpoint
STATES = ("state_dict", "model_state_dict", "model")  # where a torch checkpoint may keep its tensors


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Checkpoint:
    """A checkpoint's tensors by name, on the CPU, and the configuration it embeds."""

    tensors: dict[str, Tensor]
    config: dict[str, Any] | None
    sha256: str  # of the file
    trusted: bool  # whether it could only be opened by running what it holds


def read_checkpoint(path: Path, *, trust: bool = False) -> Checkpoint:
    """Read a `.safetensors` file, or any other file by torch with `weights_only=True`.

    A torch file is a table of tensors, or has one under "state_dict", "model_state_dict" or "model"; then it may have
    a table under "config". With `trust`, a file that holds other Python objects is unpickled in full, which runs
    whatever its author put there. It may then be a whole module.

    Raises:
        BenchError: the file is missing, empty, damaged or no checkpoint; or it needs `trust`.
    """
    data = _read(path)
    if path.suffix.lower() == SAFETENSORS:
        tensors, config, trusted = *_read_safetensors(path, data), False
    else:
        content, trusted = _unpickle(path, data, trust)
        tensors, config = _tensors(path, content), _config(path, content)
    if not tensors:
        raise _refusal(path, "holds no tensor")
    return Checkpoint(tensors=tensors, config=config, sha256=sha256_bytes(data), trusted=trusted)


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise _refusal(path, "is no file; name the checkpoint itself")
        data = path.read_bytes()
    except OSError as error:
        raise _refusal(path, f"cannot be read ({error.strerror})") from error
    if not data:
        raise _refusal(path, "is empty; copy or download the checkpoint again")
    return data


def _read_safetensors(path: Path, data: bytes) -> tuple[dict[str, Tensor], dict[str, Any] | None]:
    try:
        tensors = safetensors.torch.load(data)
    except Exception as error:  # whatever the library raises for a damaged file
        raise _refusal(path, f"is damaged or no safetensors file ({error})") from error
    header = msgspec.json.decode(data[8 : 8 + int.from_bytes(data[:8], "little")], type=dict[str, Any])
    text = (header.get("__metadata__") or {}).get(CONFIG)
    return tensors, None if text is None else _parse(path, text)


def _unpickle(path: Path, data: bytes, trust: bool) -> tuple[Any, bool]:
    """What a torch file holds, and whether it had to be trusted for that."""
    try:
        return _load(data, weights_only=True), False
    except pickle.UnpicklingError as error:
        if not _is_whole(data):
            raise _damaged(path, error) from error
        if not trust:
            found = re.search(r"GLOBAL (\S+)", str(error))
            named = f" (such as {found[1]})" if found else ""
            raise BenchError(
                f"{path}: holds more than tensors{named}, and opening it may run any program that its author put "
                "there; if you know who made it, allow that with --trust-checkpoint",
                ExitCode.USAGE,
            ) from error
    except Exception as error:  # torch raises many kinds for what is no checkpoint
        raise _damaged(path, error) from error
    try:
        return _load(data, weights_only=False), True
    except Exception as error:  # the file's own code may raise anything
        raise _damaged(path, error) from error


def _load(data: bytes, *, weights_only: bool) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about old pickle protocols and the like: what is refused is refused by us
        return torch.load(BytesIO(data), map_location="cpu", weights_only=weights_only)


def _is_whole(data: bytes) -> bool:
    """Whether this is a pickle to its end, bare or in torch's archive. Reads it and runs nothing."""
    try:
        if zipfile.is_zipfile(BytesIO(data)):
            with zipfile.ZipFile(BytesIO(data)) as archive:
                data = next(archive.read(name) for name in archive.namelist() if name.endswith("data.pkl"))
        for _ in pickletools.genops(data):
            pass
    except Exception:  # noqa: BLE001  a damaged file may break anything in these readers
        return False
    return True


def _tensors(path: Path, content: Any) -> dict[str, Tensor]:
    if isinstance(content, Mapping):
        table = next((content[name] for name in STATES if name in content), content)
    else:
        table = content
    if isinstance(table, nn.Module):
        table = table.state_dict()
    if not isinstance(table, Mapping):
        raise _refusal(path, f"holds a {type(table).__name__}, where a table of tensors is expected")
    tensors = {name: value for name, value in table.items() if table is not content or name != CONFIG}
    for name, value in tensors.items():
        if not (isinstance(name, str) and isinstance(value, Tensor)):
            where = f"a table of tensors is expected there or under {', '.join(STATES)}"
            raise _refusal(path, f"holds a {type(value).__name__} under {name!r}; {where}")
    return tensors


def _config(path: Path, content: Any) -> dict[str, Any] | None:
    found = content.get(CONFIG) if isinstance(content, Mapping) else None
    if found is None or isinstance(found, dict):
        return found
    return _parse(path, found)


def _parse(path: Path, text: Any) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError, TypeError) as error:
        raise _refusal(path, f"its configuration (key {CONFIG!r}) is no JSON object ({error})") from error


def _damaged(path: Path, error: Exception) -> BenchError:
    said = re.split(r"\. |\n", str(error))[0]  # the first sentence: torch goes on with advice
    return _refusal(path, f"is damaged or no checkpoint ({type(error).__name__}{': ' if said else ''}{said})")


def _refusal(path: Path, what: str) -> BenchError:
    return BenchError(f"{path}: {what}", ExitCode.DATA)
