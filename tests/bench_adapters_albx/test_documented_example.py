"""The example of docs/adding-a-library.md is true. It measures OpenCV, which comes with AlbumentationsX."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
from bench_core.catalog import load_catalog
from bench_core.matrix import FILE_NAME, Matrix, find_root
from bench_core.support import offered

ROOT = find_root(Path(__file__).parent)
DOCUMENT = (ROOT / "docs" / "adding-a-library.md").read_text(encoding="utf-8")
PROJECT, MODULE, BLOCK = re.findall(r"^```(?:toml|python)\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)

CHECK = """
from bench_core.catalog import load_catalog
from bench_core.contract import check_library
for finding in check_library(OpenCV(), load_catalog(), "image-rgb"):
    print(finding.transform, list(finding.violations))
"""


def test_the_example_keeps_the_contract(run_there: Callable[[str, Path], list[str]], tmp_path: Path) -> None:
    checked = ["None", "Resize", "HorizontalFlip", "GaussianBlur"]
    assert run_there(MODULE + CHECK, tmp_path) == [f"{name} []" for name in checked]


def test_the_example_s_block_fits_into_the_matrix() -> None:
    text = (ROOT / FILE_NAME).read_text(encoding="utf-8") + "\n" + BLOCK
    matrix = msgspec.convert(tomllib.loads(text), Matrix)
    assert matrix.group_of("opencv") == "opencv"
    assert offered(matrix, load_catalog(), "opencv", "image-rgb") == {"Resize", "HorizontalFlip", "GaussianBlur"}


def test_the_example_s_entry_point_names_its_class() -> None:
    target = tomllib.loads(PROJECT)["project"]["entry-points"]["bench.adapters"]["opencv"]
    assert target.split(":") == ["bench_adapters_opencv.opencv", "OpenCV"]
    assert "class OpenCV(Library):" in MODULE
