"""The nearest known name."""

import pytest
from bench_core.errors import ExitCode
from bench_core.suggest import nearest, unknown

LIBRARIES = ("torchvision", "kornia", "pillow", "albumentationsx")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("kornai", "kornia"), ("Torchvision", "torchvision"), ("PIL", "pillow"), ("albumentations", "albumentationsx")],
)
def test_a_slip_finds_the_name_that_was_meant(typed: str, meant: str) -> None:
    assert nearest(typed, LIBRARIES) == meant


def test_a_name_like_no_other_finds_nothing() -> None:
    assert nearest("zzzz", LIBRARIES) is None


def test_the_error_names_source_name_and_suggestion() -> None:
    error = unknown("library", "kornai", LIBRARIES, source="--library")
    assert str(error).startswith("--library: unknown library 'kornai'; did you mean 'kornia'? known: torchvision, ")
    assert error.code is ExitCode.USAGE


def test_without_a_near_name_the_known_ones_are_listed() -> None:
    assert str(unknown("library", "zzzz", LIBRARIES)).endswith(
        "'zzzz'; known: torchvision, kornia, pillow, albumentationsx"
    )


def test_many_names_are_left_to_the_command_that_lists_them() -> None:
    message = str(unknown("transform", "Resise", [f"Resize{i}" for i in range(50)], hint="bench list transforms"))
    assert message.endswith("bench list transforms shows all 50")


def test_nothing_known_is_said() -> None:
    assert str(unknown("profile", "quick", [])).endswith("there is none")
