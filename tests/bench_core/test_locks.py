"""The locks of the project as they are, and the refreshing of locks by the real uv in a small checkout."""

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
LOCKS = (*GROUPS, TOOLS, DEV)
FAMILIES = sorted({group.constraints for group in MATRIX.groups.values() if group.constraints})

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
    if name in GROUPS:
        return [*asked, *project_of(MATRIX.groups[name].package)["dependencies"]]
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


@pytest.mark.parametrize("name", [*LOCKS, *FAMILIES])
def test_no_lock_names_an_address_or_a_place_of_one_machine(name: str) -> None:
    for line in text_of(name).splitlines():
        assert not re.search(r"://| @ |--(extra-)?index|--find-links|(^|\s)/|^-", line), line


@pytest.mark.parametrize("name", GROUPS)
def test_a_lock_agrees_with_its_constraints(name: str) -> None:
    constraints = MATRIX.groups[name].constraints
    if constraints is not None:
        assert pins(text_of(name)).items() <= pins(text_of(constraints)).items()


def test_groups_that_are_compared_have_the_same_versions_of_all_they_share() -> None:
    for one in GROUPS:
        for other in GROUPS:
            if MATRIX.groups[one].constraints and MATRIX.groups[one].constraints == MATRIX.groups[other].constraints:
                assert not parted(text_of(one), text_of(other))
                assert pins(text_of(one)).keys() & pins(text_of(other)).keys() >= {"numpy", "pillow"}


@pytest.mark.parametrize("package", ["torch", "numpy", "pillow"])
def test_a_lock_that_drifts_is_seen(package: str) -> None:
    drifted = re.sub(rf"^{package}==\S+", f"{package}==0.1", text_of(GROUPS[0]), flags=re.MULTILINE)
    assert parted(drifted, text_of(GROUPS[1])) == {package}


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
