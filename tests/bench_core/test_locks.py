"""The locks of the project as they are, and the refreshing of locks by the real uv in a small checkout."""

import itertools
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from bench_core.environment import CORE_PACKAGE, DEV, lock_path
from bench_core.errors import BenchError
from bench_core.locks import TOOLS, pins, refresh, steps
from bench_core.matrix import find_root, load_matrix
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = find_root(Path(__file__).parent)
MATRIX = load_matrix(ROOT)
GROUPS = tuple(MATRIX.groups)
FAMILIES = tuple(MATRIX.families)
LOCKED = MATRIX.environments()
LOCKS = (*LOCKED, TOOLS, DEV)
CONSTRAINTS = sorted({locked.constraints for locked in LOCKED.values() if locked.constraints})
# What any two environments that are compared share at least.
SHARED = {"shared": {"numpy", "pillow"}, "score": {"numpy", "torch", "ase", "vesin"}}

TWO_GROUPS = """
python = "3.11"
scenarios = {}
[groups.one]
package = "packages/one"
libraries = ["first"]
media = ["image"]
devices = ["cpu"]
constraints = "common"
[groups.two]
package = "packages/two"
libraries = ["second"]
media = ["image"]
devices = ["cpu"]
constraints = "common"
[groups.apart]
package = "packages/apart"
libraries = ["third"]
media = ["image"]
devices = ["cpu"]
"""


def text_of(name: str, root: Path = ROOT) -> str:
    return lock_path(root, name).read_text(encoding="utf-8")


def project_of(folder: str) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def requirements_of(name: str) -> list[str]:
    """What the environment of a lock is asked to hold, directly, by the pyproject files."""
    core = project_of(CORE_PACKAGE)
    asked: list[str] = list(core["dependencies"])
    if name in LOCKED:
        for folder in (*LOCKED[name].needs, LOCKED[name].package):
            asked += project_of(folder)["dependencies"]
        if LOCKED[name].extra:
            asked += project_of(LOCKED[name].package)["optional-dependencies"][LOCKED[name].extra]
        for extra in {extra for requirement in map(Requirement, asked) for extra in requirement.extras}:
            asked += core["optional-dependencies"].get(extra, [])
        return asked
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    for extra in core["optional-dependencies"].values():
        asked += extra
    asked += project_of("packages/report")["dependencies"]
    for group in (TOOLS, name):
        asked += [entry for entry in groups[group] if isinstance(entry, str)]
    return asked


def own_packages() -> set[str]:
    return {project_of(f"packages/{path.parent.name}")["name"] for path in ROOT.glob("packages/*/pyproject.toml")}


def parted(one: str, other: str) -> set[str]:
    """Packages that two locks name with different versions."""
    first, second = pins(one), pins(other)
    return {package for package in first.keys() & second.keys() if first[package] != second[package]}


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_a_lock_has_hashes(name: str) -> None:
    blocks = re.split(r"^(?=[A-Za-z0-9])", text_of(name), flags=re.MULTILINE)[1:]
    assert len(blocks) == len(re.findall(r"^[A-Za-z0-9]", text_of(name), re.MULTILINE)) > 0
    for block in blocks:
        assert re.match(r"\S+==\S+", block), block
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", block), block


@pytest.mark.parametrize("name", [*LOCKS, *CONSTRAINTS])
def test_no_lock_names_an_address_or_a_place_of_one_machine(name: str) -> None:
    for line in text_of(name).splitlines():
        assert not re.search(r"://| @ |--(extra-)?index|--find-links|(^|\s)/|^-", line), line


@pytest.mark.parametrize("name", LOCKED)
def test_a_lock_agrees_with_its_constraints(name: str) -> None:
    constraints = LOCKED[name].constraints
    if constraints is not None:
        assert pins(text_of(name)).items() <= pins(text_of(constraints)).items()


@pytest.mark.parametrize("constraints", CONSTRAINTS)
def test_environments_that_are_compared_have_the_same_versions_of_all_they_share(constraints: str) -> None:
    compared = [text_of(name) for name, locked in LOCKED.items() if locked.constraints == constraints]
    for one, other in itertools.combinations(compared, 2):
        assert not parted(one, other)
        assert pins(one).keys() & pins(other).keys() >= SHARED[constraints]


def test_a_family_apart_has_the_same_versions_of_what_decides_numbers_and_speed() -> None:
    for one, other in itertools.combinations(map(text_of, FAMILIES), 2):
        assert parted(one, other) & SHARED["score"] == set(), "refresh both locks"


@pytest.mark.parametrize(
    ("names", "package"),
    [(names, package) for names in (GROUPS, FAMILIES) for package in ("torch", "numpy")] + [(GROUPS, "pillow")],
)
def test_a_lock_that_drifts_is_seen(names: tuple[str, ...], package: str) -> None:
    drifted = re.sub(rf"^{package}==\S+", f"{package}==0.1", text_of(names[0]), flags=re.MULTILINE)
    assert parted(drifted, text_of(names[1])) == {package}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_satisfies_the_pyproject_files(name: str) -> None:
    locked, own = pins(text_of(name)), own_packages()
    for requirement in map(Requirement, requirements_of(name)):
        package = canonicalize_name(requirement.name)
        if package not in own:
            assert package in locked, f"{requirement}: not locked; refresh the locks"
            assert all(requirement.specifier.contains(version) for version in locked[package]), requirement


def test_the_environment_of_tests_holds_the_driver_s_versions() -> None:
    assert pins(text_of(TOOLS)).items() <= pins(text_of(DEV)).items()


def test_every_file_of_locks_is_one_that_a_refresh_makes() -> None:
    assert {path.stem for path in (ROOT / "locks").iterdir()} == {step.name for step in steps(MATRIX)}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A checkout with two groups that share constraints and one apart, all of which need iniconfig."""
    (tmp_path / "matrix.toml").write_text(TWO_GROUPS)
    (tmp_path / "pyproject.toml").write_text(
        '[dependency-groups]\ntools = ["iniconfig"]\ndev = [{ include-group = "tools" }]\n'
        '[tool.uv]\npackage = false\n[tool.uv.workspace]\nmembers = ["packages/*"]\n'
        "[tool.uv.sources]\nbench-core = { workspace = true }\n"
    )
    for folder in ("bench-core", "one", "two", "apart"):
        need(tmp_path, folder, "iniconfig")
    return tmp_path


def need(root: Path, folder: str, requirement: str) -> None:
    package = root / "packages" / folder
    package.mkdir(parents=True, exist_ok=True)
    core = "" if folder == "bench-core" else '"bench-core", '
    (package / "pyproject.toml").write_text(
        f'[project]\nname = "{folder}"\nversion = "1"\nrequires-python = ">=3.11"\n'
        f'dependencies = [{core}"{requirement}"]\n'
        '[build-system]\nrequires = ["uv_build>=0.9,<0.14"]\nbuild-backend = "uv_build"\n'
    )


def test_a_refresh_makes_every_lock_and_says_what_changed(small: Path) -> None:
    changes = refresh(small, load_matrix(small))
    assert [*changes] == ["common.txt", "one.txt", "two.txt", "apart.txt", "tools.txt", "dev.txt"]
    version = pins(text_of("one", small))["iniconfig"][0]
    assert all(change == [f"iniconfig added ({version})"] for change in changes.values())
    assert "--hash=sha256:" in text_of("one", small)
    assert all("://" not in text_of(step.name, small) for step in steps(load_matrix(small)))
    assert not any(changed for changed in refresh(small, load_matrix(small)).values())


def test_a_refresh_changes_no_version_unless_it_must_or_is_told_to(small: Path) -> None:
    matrix = load_matrix(small)
    need(small, "apart", "iniconfig<2.2")
    refresh(small, matrix, "apart")
    old = pins(text_of("apart", small))["iniconfig"]
    need(small, "apart", "iniconfig")
    assert refresh(small, matrix, "apart") == {"apart.txt": []}
    changes = refresh(small, matrix, "apart", upgrade=True)["apart.txt"]
    assert pins(text_of("apart", small))["iniconfig"] > old
    assert changes[0].startswith(f"iniconfig {old[0]} -> ")


def test_groups_that_are_compared_are_refreshed_together(small: Path) -> None:
    need(small, "two", "iniconfig<2.2")
    changes = refresh(small, load_matrix(small), "one")
    assert [*changes] == ["common.txt", "one.txt", "two.txt"]
    assert not parted(text_of("one", small), text_of("two", small))
    assert text_of("one", small).count("iniconfig==") == 1
    assert not lock_path(small, "apart").exists()


def test_a_family_is_locked_with_its_own_extra_and_the_constraints_with_all(small: Path) -> None:
    with (small / "packages/one/pyproject.toml").open("a") as file:
        file.write('[project.optional-dependencies]\nleft = ["pluggy"]\nright = ["sniffio"]\n')
    with (small / "matrix.toml").open("a") as file:
        for extra in ("left", "right"):
            file.write(
                f'[families.{extra}]\npackage = "packages/one"\nextra = "{extra}"\nneeds = ["packages/two"]\n'
                'devices = ["cpu"]\nconstraints = "several"\n'
            )
    assert [*refresh(small, load_matrix(small), "left")] == ["several.txt", "left.txt", "right.txt"]
    held = {name: pins(text_of(name, small)).keys() - {"colorama"} for name in ("several", "left", "right")}
    assert held["several"] == {"iniconfig", "pluggy", "sniffio"}
    assert held["left"] == {"iniconfig", "pluggy"}
    assert held["right"] == {"iniconfig", "sniffio"}


def test_a_refresh_without_solution_names_the_lock_and_leaves_all_as_they_were(small: Path) -> None:
    matrix = load_matrix(small)
    refresh(small, matrix)
    before = {path: path.read_bytes() for path in (small / "locks").iterdir()}
    need(small, "one", "iniconfig<2.2")
    need(small, "apart", "iniconfig>=999")
    with pytest.raises(BenchError, match=r"making locks/apart\.txt failed(.|\n)*No solution found"):
        refresh(small, matrix, upgrade=True)
    assert {path: path.read_bytes() for path in (small / "locks").iterdir()} == before


def test_an_unknown_lock_is_refused_with_the_nearest() -> None:
    with pytest.raises(BenchError, match="unknown lock 'torch-stack'; did you mean 'torch_stack'"):
        steps(MATRIX, "torch-stack")


def test_two_locks_of_one_name_are_refused(small: Path) -> None:
    (small / "matrix.toml").write_text(TWO_GROUPS.replace("[groups.apart]", "[groups.tools]"))
    with pytest.raises(BenchError, match="no group can be called 'tools'"):
        load_matrix(small)
