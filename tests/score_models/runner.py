"""Run every check of a module: `python runner.py MODULE OUTCOMES.json`. A check is a public function of it.

One that has a parameter gets a folder of its own. What goes wrong is written as its traceback, and the next one runs.
"""

import inspect
import sys
import tempfile
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import torch
from bench_core.files import write_atomically


def outcome(check: Callable[..., Any]) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(*[Path(folder)] if inspect.signature(check).parameters else [])
        except Exception:  # noqa: BLE001  the outcome is the traceback
            return traceback.format_exc()
    return None


def main(module: str, output: str) -> None:
    torch.set_num_threads(1)
    found = {
        name: value
        for name, value in vars(import_module(module)).items()
        if inspect.isfunction(value) and value.__module__ == module and not name.startswith("_")
    }
    write_atomically(Path(output), msgspec.json.encode({name: outcome(check) for name, check in found.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
