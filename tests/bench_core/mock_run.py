"""A small checkout with the mock libraries in its matrix, and a way to run it whole, in this interpreter."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench_core.catalog import load_catalog
from bench_core.config import Config
from bench_core.execution import Outcome, execute, here
from bench_core.matrix import Matrix, load_matrix
from bench_core.plan import Plan, make_plan
from PIL import Image

MATRIX = (Path(__file__).parents[1] / "mock-adapter" / "matrix.toml").read_text(encoding="utf-8")


def make_checkout(folder: Path) -> Path:
    """A root with a matrix of mocks and six small images under images/."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "matrix.toml").write_text(MATRIX)
    images = folder / "images"
    images.mkdir()
    for i in range(6):
        picture = Image.linear_gradient("L").resize((320 + 8 * i, 240)).convert("RGB")
        picture.putpixel((i, i), (255, 0, 0))
        picture.save(images / f"image {i}.png")
    return folder


def make_config(root: Path, libraries: Iterable[str], transforms: Iterable[str], **changes: Any) -> Config:
    """A run of seconds: 3 items, 2 processes of 2 blocks, one value each."""
    shape = {"num_items": 3, "num_runs": 2, "blocks": 2, "processes": 2, "timeout_sec": 20.0}
    return Config(
        profile="mock",
        groups=("mocks",),
        libraries=tuple(libraries),
        scenarios=("image-rgb",),
        modes=("micro",),
        transforms=tuple(transforms),
        data_dir=str(root / "images"),
        **(shape | changes),
    )


def run_mock(root: Path, folder: Path, config: Config, *, resume: bool = False) -> Outcome:
    """The whole run, with this interpreter as every group's."""
    matrix, plan = plan_of(root, config)
    return execute(
        root,
        matrix,
        load_catalog(),
        config,
        plan,
        folder,
        interpreters=lambda: here(root, matrix, plan),
        resume=resume,
        show_progress=False,
    )


def plan_of(root: Path, config: Config) -> tuple[Matrix, Plan]:
    matrix = load_matrix(root)
    return matrix, make_plan(matrix, load_catalog(), config)
