"""One process, or several that a launcher such as torchrun started to share the structures of a dataset."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from bench_core.errors import BenchError, ExitCode
from bench_core.session import failed
from numpy.typing import NDArray

MESSAGE_BYTES = 16 * 1024  # of what one process has to say about failures
LAUNCHED = ("RANK", "MASTER_ADDR", "MASTER_PORT")  # what a launcher says besides WORLD_SIZE
REASON_LENGTH = 1000  # of a message of ours, in letters
Made = TypeVar("Made")


class Outcome(msgspec.Struct, frozen=True):
    """How one process fared with a step that all of them take."""

    step: str
    reason: str | None = None  # None when all went well
    code: int = int(ExitCode.USAGE)
    detail: str | None = None


class FailedElsewhere(BenchError):
    """Another of the processes failed, and said why."""

    def __init__(self, message: str, code: ExitCode, detail: str | None) -> None:
        super().__init__(message, code)
        self.detail = detail


class World:
    """This process among those that share the work: `rank` of `size`."""

    rank, size = 0, 1

    def together(self, step: str, work: Callable[[], Made]) -> Made:
        """What `work` returns, once it has gone well in every process.

        Whoever goes on while another has failed would merge with what that one does next, so they all fail.

        Raises:
            BaseException: what `work` raises here.
            FailedElsewhere: it failed in another process, or the processes are not at the same step.
        """
        return work()

    def merge(
        self, step: str, arrays: Mapping[str, NDArray[Any]], mine: Mapping[str, NDArray[np.bool_]]
    ) -> dict[str, Any]:
        """What all processes found together. `mine` says which first-axis entries this one filled; nobody else did.

        Raises:
            FailedElsewhere: the processes are not at the same step.
        """
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

    def together(self, step: str, work: Callable[[], Made]) -> Made:
        try:
            made = work()
        except KeyboardInterrupt:  # the launcher ends them all
            raise
        except BaseException as error:
            self._hear(_outcome(step, error))
            raise
        self._agree(Outcome(step))
        return made

    def merge(
        self, step: str, arrays: Mapping[str, NDArray[Any]], mine: Mapping[str, NDArray[np.bool_]]
    ) -> dict[str, Any]:
        """Sums of bit patterns, of which all but one process's are zero: exact, also for what is no number."""
        self._agree(Outcome(step))
        merged = {}
        for name in sorted(arrays):
            bits = np.zeros(arrays[name].shape, np.int64)
            bits[mine[name]] = np.ascontiguousarray(arrays[name]).view(np.int64)[mine[name]]
            tensor = self._torch.from_numpy(bits).to(self._device)
            self._distributed.all_reduce(tensor)
            merged[name] = tensor.cpu().numpy().view(arrays[name].dtype)
        return merged

    def _agree(self, own: Outcome) -> None:
        """Go on only where every process is at the same step and well."""
        for rank, other in enumerate(self._hear(own)):
            if other.step != own.step:
                raise FailedElsewhere(
                    f"process {rank} of {self.size} is at {other.step}, process {self.rank} at {own.step}: what they "
                    "found does not belong together",
                    ExitCode.OUTPUT,  # no row: the whole run is wrong
                    None,
                )
            if other.reason is not None:
                said = f"process {rank} of {self.size}: {other.reason}"
                raise FailedElsewhere(said, ExitCode(other.code), other.detail)

    def _hear(self, own: Outcome) -> list[Outcome]:
        data = msgspec.json.encode(own)
        if len(data) > MESSAGE_BYTES:  # a traceback in another script takes more bytes than letters
            data = msgspec.json.encode(msgspec.structs.replace(own, detail=None))
        return [msgspec.json.decode(text, type=Outcome) for text in self._gather(data)]

    def tell(self, messages: Sequence[str]) -> list[str]:
        heard = (data.decode("utf-8", "replace") for data in self._gather("\n".join(messages).encode()))
        return [line for text in heard for line in text.splitlines()]

    def _gather(self, said: bytes) -> list[bytes]:
        """What every process said, in their order; of each no more than MESSAGE_BYTES."""
        data = said[:MESSAGE_BYTES].ljust(MESSAGE_BYTES, b"\0")
        tensor = self._torch.frombuffer(bytearray(data), dtype=self._torch.uint8).to(self._device)
        heard = [self._torch.empty_like(tensor) for _ in range(self.size)]
        self._distributed.all_gather(heard, tensor)
        return [bytes(found.cpu().numpy()).rstrip(b"\0") for found in heard]

    def close(self) -> None:
        self._distributed.destroy_process_group()


def _outcome(step: str, error: BaseException) -> Outcome:
    if isinstance(error, BenchError):
        return Outcome(step, str(error)[:REASON_LENGTH], int(error.code))
    failure = failed(error)
    return Outcome(step, failure.reason, int(ExitCode.FAILED), failure.detail)


def join(device: str) -> World:
    """The world this process was started into: a launcher says so by WORLD_SIZE."""
    return Group(device) if is_shared() else World()


def is_shared() -> bool:
    """Whether a launcher started several processes.

    Raises:
        BenchError: the environment says so, and lacks what a launcher says besides.
    """
    if _said("WORLD_SIZE", 1) <= 1:
        return False
    absent = [name for name in LAUNCHED if not os.environ.get(name)]
    if absent:
        raise BenchError(
            f"WORLD_SIZE is {os.environ['WORLD_SIZE']} in the environment, and {absent[0]} is not set: no launcher "
            "such as torchrun started this; unset WORLD_SIZE"
        )
    return True


def rank_of_launcher() -> int:
    """This process's place, before it has joined the others."""
    return _said("RANK", 0)


def _said(name: str, otherwise: int) -> int:
    text = os.environ.get(name) or str(otherwise)
    if not text.isdecimal():
        raise BenchError(f"{name} is {text!r} in the environment, and a launcher says a number; unset it")
    return int(text)
