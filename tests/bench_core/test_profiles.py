"""The profiles that come with the project."""

import tomllib
from pathlib import Path

import msgspec
import pytest
from bench_core.catalog import load_catalog
from bench_core.config import Config
from bench_core.matrix import load_matrix
from bench_core.options import OPTIONS
from bench_core.plan import make_plan
from bench_core.profiles import describe_profile, load_profile, profile_names
from bench_core.resolve import resolve
from bench_core.settings import TYPES

ROOT = Path(__file__).parents[2]
PROFILES = profile_names(ROOT)


def test_the_usual_profiles_are_there() -> None:
    assert {"smoke", "quick", "paper-image-rgb"} <= set(PROFILES)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_can_be_planned(name: str) -> None:
    matrix, catalog = load_matrix(ROOT), load_catalog()
    config = resolve(matrix, catalog, ROOT, load_profile(ROOT, name))
    assert config.profile == name
    assert make_plan(matrix, catalog, config).jobs


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_repeats_nothing_that_policy_says(name: str) -> None:
    said = tomllib.loads((ROOT / f"profiles/{name}.toml").read_text(encoding="utf-8"))
    defaults = {field.name: field.default for field in msgspec.structs.fields(Config)}
    assert [key for key, value in said.items() if defaults.get(key) == value] == []


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_says_in_its_first_line_what_it_is_for(name: str) -> None:
    assert describe_profile(ROOT, name)


def test_the_quick_profile_measures_every_transform_with_every_library_of_the_catalog() -> None:
    matrix, catalog = load_matrix(ROOT), load_catalog()
    plan = make_plan(matrix, catalog, resolve(matrix, catalog, ROOT, load_profile(ROOT, "quick")))
    unsupported = {job.library: job.unsupported for job in plan.jobs if job.library in catalog.libraries()}
    assert unsupported == dict.fromkeys(catalog.libraries(), ())
    offered_by_all = {name for name, found in catalog.transforms.items() if catalog.libraries() <= set(found.image_rgb)}
    assert set(plan.jobs[0].transforms) == offered_by_all


def test_the_smoke_profile_is_small() -> None:
    matrix, catalog = load_matrix(ROOT), load_catalog()
    config = resolve(matrix, catalog, ROOT, load_profile(ROOT, "smoke"))
    assert (config.num_items, config.processes, len(config.transforms)) == (4, 2, 4)


def test_every_key_and_option_is_documented() -> None:
    text = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    assert [key for key in TYPES if f"| `{key}` |" not in text] == []
    assert [option for option in OPTIONS.values() if f"`{option}`" not in text] == []


def test_every_profile_is_documented() -> None:
    text = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    assert [name for name in PROFILES if f"| `{name}` |" not in text] == []


def test_documented_defaults_are_those_of_policy() -> None:
    text = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    rows = {
        cells[1].strip(" `"): cells[3].strip(" `") for line in text.splitlines() if len(cells := line.split("|")) == 6
    }
    defaults = {field.name: field.default for field in msgspec.structs.fields(Config)}
    numbers = {
        key: float(rows[key])
        for key, value in defaults.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    assert numbers == {key: float(defaults[key]) for key in numbers}
    assert "num_items" in numbers
