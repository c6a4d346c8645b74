"""What parts must have in common to stand in one table: configuration, dataset, code."""

from pathlib import Path

import bench_core
from bench_core.files import sha256_bytes, sha256_file

import bench_score


def code_sha256() -> str:
    """Digest of the engine: every source file of bench_core and bench_score, wherever they are installed."""
    lines = []
    for package in (bench_core, bench_score):
        folder = Path(next(iter(package.__path__)))
        found = (path for suffix in ("py", "toml") for path in folder.rglob(f"*.{suffix}"))
        lines += [f"{path.relative_to(folder.parent).as_posix()} {sha256_file(path)}" for path in found]
    return sha256_bytes("\n".join(sorted(lines)).encode())
