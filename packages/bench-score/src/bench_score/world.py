"""One process, or several that a launcher such as torchrun started to share the structures of a dataset."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bench_core.errors import BenchError, ExitCode
from numpy.typing import NDArray

MESSAGE_BYTES = 4096  # of what one process has to say about failures


class World:
    """This process among those that share the work: `rank` of `size`."""

    rank, size = 0, 1

    def merge(self, arrays: Mapping[str, NDArray[Any]], mine: Mapping[str, NDArray[np.bool_]]) -> dict[str, Any]:
        """What all processes found together. `mine` says which first-axis entries this one filled; nobody else did."""
        return dict(arrays)

    def tell(self, messages: Sequence[str]) -> list[str]:
        """The messages of every process."""
        return list(messages)

    def close(self) -> None:
        """Leave the group."""


class Group(World):
    """Several processes, joined by torch.distributed: gloo between CPUs, nccl between GPUs."""

    def __init__(self, device: str) -> None:
        try:
            import torch
            from torch import distributed
        except ImportError as error:
            raise BenchError("sharing a dataset between processes needs torch", ExitCode.ENVIRONMENT) from error
        self._torch, self._distributed = torch, distributed
        self._device = "cpu"
        if device == "gpu":
            self._device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
            torch.cuda.set_device(self._device)
        distributed.init_process_group("nccl" if device == "gpu" else "gloo")
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()

    def merge(self, arrays: Mapping[str, NDArray[Any]], mine: Mapping[str, NDArray[np.bool_]]) -> dict[str, Any]:
        """Sums of bit patterns, of which all but one process's are zero: exact, also for what is no number."""
        merged = {}
        for name in sorted(arrays):
            bits = np.zeros(arrays[name].shape, np.int64)
            bits[mine[name]] = np.ascontiguousarray(arrays[name]).view(np.int64)[mine[name]]
            tensor = self._torch.from_numpy(bits).to(self._device)
            self._distributed.all_reduce(tensor)
            merged[name] = tensor.cpu().numpy().view(arrays[name].dtype)
        return merged

    def tell(self, messages: Sequence[str]) -> list[str]:
        data = "\n".join(messages).encode()[:MESSAGE_BYTES].ljust(MESSAGE_BYTES, b"\0")
        tensor = self._torch.frombuffer(bytearray(data), dtype=self._torch.uint8).to(self._device)
        heard = [self._torch.empty_like(tensor) for _ in range(self.size)]
        self._distributed.all_gather(heard, tensor)
        texts = (bytes(found.cpu().numpy()).rstrip(b"\0").decode("utf-8", "replace") for found in heard)
        return [line for text in texts for line in text.splitlines()]

    def close(self) -> None:
        self._distributed.destroy_process_group()


def join(device: str) -> World:
    """The world this process was started into: a launcher says so by WORLD_SIZE."""
    return Group(device) if is_shared() else World()


def is_shared() -> bool:
    return _said("WORLD_SIZE", 1) > 1


def rank_of_launcher() -> int:
    """This process's place, before it has joined the others."""
    return _said("RANK", 0)


def _said(name: str, otherwise: int) -> int:
    text = os.environ.get(name) or str(otherwise)
    if not text.isdecimal():
        raise BenchError(f"{name} is {text!r} in the environment, and a launcher says a number; unset it")
    return int(text)
