"""What torchvision and Kornia share: items that are torch tensors, torch's threads, generator and accelerator."""

from importlib.metadata import version

import numpy as np
import torch
from bench_core.adapter import Library, Operation
from bench_core.errors import BenchError, ExitCode
from numpy.typing import NDArray


class TensorLibrary(Library):
    """A library whose items and outputs are torch tensors. Nothing touches the accelerator before `to_device`."""

    devices = ("cpu", "gpu")

    def versions(self) -> dict[str, str]:
        return {self.name: version(self.name), "torch": version("torch")}

    def limit_threads(self, threads: int) -> None:
        torch.set_num_threads(threads)

    def read_threads(self) -> dict[str, int]:
        return {"torch": torch.get_num_threads()}

    def materialize(self, output: torch.Tensor) -> torch.Tensor:
        return output.contiguous()

    def copy(self, item: torch.Tensor) -> torch.Tensor:
        return item.clone()

    def seed(self, seed: int, operation: Operation) -> None:
        """Seed torch's generators: both libraries draw every parameter from them."""
        torch.manual_seed(seed)

    def to_device(self, item: torch.Tensor) -> torch.Tensor:
        """Move a tensor to the measured device.

        Raises:
            BenchError: the gpu is asked for and torch sees none.
        """
        if self.device == "cpu":
            return item
        return item.to(_accelerator())

    def synchronize(self) -> None:
        if self.device == "gpu":
            torch.accelerator.synchronize()


def to_hwc(chw: torch.Tensor) -> NDArray[np.generic]:
    """Copy a CHW tensor on any device to an HWC array."""
    return np.array(chw.detach().cpu().permute(1, 2, 0).numpy(), order="C")


def _accelerator() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    raise BenchError("no gpu: torch finds neither CUDA nor MPS on this machine", ExitCode.NO_DEVICE)
