import pytest
from bench_core.adapter import Transforms, load_library
from bench_core.errors import BenchError, ExitCode


def test_a_transform_is_built_from_its_parameters() -> None:
    transform = Transforms()

    @transform("Add")
    def add(amount_level: int) -> object:
        return lambda value: value + amount_level

    assert transform.build("Add", {"amount_level": 3})(4) == 7


def test_registries_of_several_files_are_joined_in_order() -> None:
    color, geometry = Transforms(), Transforms()
    color("Invert")(lambda: abs)
    geometry("Flip")(lambda: abs)
    assert list(Transforms(geometry, color)) == ["Flip", "Invert"]


def test_a_name_is_registered_once_also_across_files() -> None:
    one, other = Transforms(), Transforms()
    one("Flip")(lambda: abs)
    with pytest.raises(ValueError, match="'Flip' is registered twice"):
        one("Flip")(lambda: abs)
    other("Flip")(lambda: abs)
    with pytest.raises(ValueError, match="'Flip' is registered twice"):
        Transforms(one, other)


def test_a_transform_that_is_not_offered_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Transforms().build("Flip", {})


def test_a_library_that_is_not_installed_is_named() -> None:
    with pytest.raises(BenchError, match="no adapter for library 'nowhere'") as caught:
        load_library("nowhere")
    assert caught.value.code is ExitCode.ENVIRONMENT
