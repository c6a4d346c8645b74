"""Particular to AlbumentationsX: it reports its users, it warns of mistakes and goes on, it hands views back."""

from collections.abc import Callable
from pathlib import Path

Run = Callable[[str, Path], list[str]]

# Every connection that a socket would make is counted and refused.
BUILD_EVERYTHING = """
import socket, threading
attempts = []
def refuse(*args, **kwargs):
    attempts.append(args)
    raise OSError("refused")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from bench_core.adapter import load_library
from bench_core.catalog import load_catalog
library, catalog = load_library("albumentationsx"), load_catalog()
for name in library.transforms:
    library.build(name, catalog.transforms[name].params)
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()
print(len(list(library.transforms)), len(attempts))
"""

UNKNOWN_ARGUMENTS = """
import albumentations as A
from bench_adapters_albx.pipeline import always
for transform in (A.HorizontalFlip, A.ElasticTransform, A.MedianBlur, A.ToSepia, A.CLAHE):
    try:
        always(transform, strength_of_nothing=1.0)
    except (TypeError, ValueError, Warning) as refused:
        print(transform.__name__, "strength_of_nothing" in str(refused))
    else:
        print(transform.__name__, "was built")
"""

DRAWS_THAT_CHANGE_NOTHING = """
import numpy as np
from bench_core.adapter import load_library
library = load_library("albumentationsx")
item = library.from_rgb(np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8))
whole = {"height_px": 224, "width_px": 224}
for name, params in (("SquareSymmetry", {}), ("CenterCrop224", whole), ("Brightness", {"brightness_factor": 1.0})):
    operation = library.build(name, params)
    same = shared = 0
    for seed in range(40):
        library.seed(seed, operation)
        output = library.materialize(operation(item))
        same += np.array_equal(output, item)
        shared += np.shares_memory(output, item)
    print(name, same > 0, shared)
"""

OTHER_GENERATORS = """
import random
import cv2, numpy as np
from bench_core.adapter import load_library
from bench_core.catalog import load_catalog
library, catalog = load_library("albumentationsx"), load_catalog()
item = library.from_rgb(np.random.default_rng(0).integers(0, 256, (96, 128, 3), dtype=np.uint8))
for name in ("GaussianNoise", "ISONoise", "ShotNoise", "GlassBlur", "PlasmaShadow", "Spatter", "CopyAndPaste"):
    outputs = []
    operation = library.build(name, catalog.transforms[name].params)
    for other_seed in (1, 2):
        random.seed(other_seed), np.random.seed(other_seed), cv2.setRNGSeed(other_seed)
        library.seed(7, operation)
        outputs.append(operation(item))
    library.seed(8, operation)
    print(name, np.array_equal(*outputs), np.array_equal(outputs[0], operation(item)))
"""


def test_building_every_transform_reports_to_nobody_and_leaves_no_file(run_there: Run, tmp_path: Path) -> None:
    assert run_there(BUILD_EVERYTHING, tmp_path) == ["107 0"]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_argument_that_a_transform_does_not_know_is_refused(run_there: Run, tmp_path: Path) -> None:
    names = ("HorizontalFlip", "ElasticTransform", "MedianBlur", "ToSepia", "CLAHE")
    assert run_there(UNKNOWN_ARGUMENTS, tmp_path) == [f"{name} True" for name in names]


def test_a_draw_that_changes_nothing_still_gives_an_image_of_its_own(run_there: Run, tmp_path: Path) -> None:
    names = ("SquareSymmetry", "CenterCrop224", "Brightness")
    assert run_there(DRAWS_THAT_CHANGE_NOTHING, tmp_path) == [f"{name} True 0" for name in names]


def test_the_seed_decides_the_output_and_no_other_generator_does(run_there: Run, tmp_path: Path) -> None:
    lines = run_there(OTHER_GENERATORS, tmp_path)
    assert [line.split(maxsplit=1)[1] for line in lines] == ["True False"] * 7
