"""The plan: jobs, what is left out and why, files."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench_core.catalog import load_catalog
from bench_core.config import Config
from bench_core.errors import BenchError
from bench_core.matrix import Exclusion, Matrix, load_matrix
from bench_core.plan import Job, Plan, make_plan

ROOT = Path(__file__).parents[2]
MATRIX = load_matrix(ROOT)


def config(**changes: Any) -> Config:
    values: dict[str, Any] = {
        "profile": "test",
        "groups": tuple(MATRIX.groups),
        "libraries": MATRIX.all_libraries(),
        "scenarios": ("image-rgb",),
        "modes": ("micro",),
        "transforms": ("Resize", "RandomCrop224", "Invert", "PixelDropout"),
    }
    return Config(**{**values, **changes})


def planned(matrix: Matrix = MATRIX, **changes: Any) -> Plan:
    return make_plan(matrix, load_catalog(), config(**changes))


def job_of(plan: Plan, library: str) -> Job:
    return next(job for job in plan.jobs if job.library == library)


def excluding(**fields: str) -> Matrix:
    exclusion = Exclusion(reason="because", **fields)
    return msgspec.structs.replace(MATRIX, exclusions=(*MATRIX.exclusions, exclusion))


def test_every_chosen_library_is_a_job() -> None:
    assert [job.library for job in planned().jobs] == list(MATRIX.all_libraries())
    assert [job.library for job in planned(libraries=("kornia",)).jobs] == ["kornia"]


def test_every_mode_of_every_scenario_is_a_job_for_every_library() -> None:
    scenario = msgspec.structs.replace(MATRIX.scenarios["image-rgb"], modes=("micro", "pipeline"))
    matrix = msgspec.structs.replace(MATRIX, scenarios={"image-rgb": scenario})
    plan = planned(matrix, modes=("micro", "pipeline"), libraries=("kornia", "pillow"))
    assert [(job.mode, job.library) for job in plan.jobs] == [
        ("micro", "kornia"),
        ("micro", "pillow"),
        ("pipeline", "kornia"),
        ("pipeline", "pillow"),
    ]


def test_what_a_library_does_not_offer_is_listed_as_unsupported() -> None:
    job = job_of(planned(), "pillow")
    assert job.transforms == ("Resize", "Invert")
    assert job.unsupported == ("RandomCrop224", "PixelDropout")


def test_an_excluded_transform_keeps_the_matrixs_reason() -> None:
    job = job_of(planned(excluding(library="kornia", transform="Invert")), "kornia")
    assert job.excluded == {"Invert": "because"}
    assert job.transforms == ("Resize", "RandomCrop224")
    assert job.unsupported == ("PixelDropout",)


def test_a_reason_goes_before_not_being_offered() -> None:
    job = job_of(planned(excluding(library="pillow", transform="PixelDropout")), "pillow")
    assert job.excluded == {"PixelDropout": "because"}
    assert job.unsupported == ("RandomCrop224",)


def test_each_transform_asked_for_is_in_exactly_one_of_the_three_lists() -> None:
    for job in planned(excluding(transform="Invert"), transforms=tuple(load_catalog().transforms)).jobs:
        assert sorted([*job.transforms, *job.unsupported, *job.excluded]) == sorted(load_catalog().transforms)


def test_an_excluded_job_keeps_the_matrixs_reason() -> None:
    plan = planned(device="gpu")
    assert plan.excluded_jobs["pillow, image-rgb, micro, gpu"] == "Pillow works on the CPU only"


def test_a_group_without_the_device_is_left_out_with_the_reason() -> None:
    plan = planned(device="gpu")
    assert plan.excluded_jobs["albumentationsx, image-rgb, micro, gpu"] == "group albx does not run on gpu"
    assert [job.library for job in plan.jobs] == ["torchvision", "kornia"]


def test_a_library_that_offers_none_of_the_transforms_is_left_out_with_the_reason() -> None:
    plan = planned(transforms=("PixelDropout",))
    assert [job.library for job in plan.jobs] == ["albumentationsx"]
    assert plan.excluded_jobs["pillow, image-rgb, micro, cpu"] == "it offers none of the chosen transforms"


def test_a_library_whose_transforms_are_all_excluded_is_left_out_with_the_reason() -> None:
    plan = planned(excluding(library="kornia", transform="Resize"), transforms=("Resize",))
    assert plan.excluded_jobs["kornia, image-rgb, micro, cpu"] == "every transform it offers is excluded: because"


def test_an_exclusion_of_a_transform_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BenchError, match="exclusions: unknown transform 'Resise'; did you mean 'Resize'"):
        planned(excluding(transform="Resise"))


def test_nothing_left_to_measure_is_refused_with_the_reasons() -> None:
    with pytest.raises(BenchError, match=r"nothing is left to measure.*Pillow works on the CPU only"):
        planned(device="gpu", libraries=("pillow",))


def test_files_are_named_by_scenario_library_mode_and_device() -> None:
    assert job_of(planned(), "kornia").file_name == "image-rgb/kornia_micro_results.json"
    assert job_of(planned(device="gpu"), "kornia").file_name == "image-rgb/kornia_micro_dev-gpu_results.json"


def test_more_to_measure_is_estimated_longer() -> None:
    base = planned().estimated_minutes
    assert base > 0
    assert planned(processes=20).estimated_minutes > base
    assert planned(num_items=1000).estimated_minutes > base
    assert planned(transforms=("Resize",)).estimated_minutes < base
