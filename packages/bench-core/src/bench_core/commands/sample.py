"""`bench sample`: build the embedded data set, or find it, and say what is in it."""

import argparse
from pathlib import Path

from bench_core import policy

HELP = "build the sample images, from photographs that come inside a package"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no options: there is one sample, the same for everybody."""


def run(args: argparse.Namespace) -> int:
    from bench_core.matrix import find_root
    from bench_core.sample import build_sample

    print(describe(build_sample(find_root())))
    return 0


def describe(folder: Path) -> str:
    """Where the images are, how many, of which sizes, and their fingerprint as a run of all of them records it."""
    from bench_core.dataset import choose
    from bench_core.media import decode_rgb, find_images

    files = find_images(folder)
    shapes = [decode_rgb(path).shape for path in files]
    heights, widths = [shape[0] for shape in shapes], [shape[1] for shape in shapes]
    stored_bytes = sum(path.stat().st_size for path in files)
    return "\n".join(
        [
            f"Sample images: {folder}",
            f"  {len(files)} JPEGs, {stored_bytes / 1e6:.1f} MB; decoded {sum(map(_bytes, shapes)) / 1e6:.1f} MB",
            f"  width {min(widths)} to {max(widths)} px, height {min(heights)} to {max(heights)} px; "
            f"{sum(w > h for w, h in zip(widths, heights, strict=True))} landscape, "
            f"{sum(w < h for w, h in zip(widths, heights, strict=True))} portrait",
            f"  fingerprint {choose(folder, None, policy.SEED).fingerprint} (all, seed {policy.SEED})",
        ]
    )


def _bytes(shape: tuple[int, ...]) -> int:
    height, width, channels = shape
    return height * width * channels
