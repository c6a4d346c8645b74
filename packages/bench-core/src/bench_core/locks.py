"""locks/: what every environment installs, made by uv from the pyproject files; refreshed only when asked."""

import re
import tomllib
from pathlib import Path

import msgspec

from bench_core.environment import CORE_PACKAGE, DEV, lock_path, log_path
from bench_core.errors import BenchError, ExitCode
from bench_core.files import write_atomically
from bench_core.installer import run_uv
from bench_core.matrix import Matrix
from bench_core.suggest import unknown

# The driver's own environment (.tools) and that of tests and lint: dependency groups of the root pyproject.toml.
TOOLS = "tools"

_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)


class Step(msgspec.Struct, frozen=True):
    """One file of locks/ and what uv makes it from: pyproject files or dependency groups, relative to the root."""

    name: str
    sources: tuple[str, ...]
    constraints: str | None = None  # another file of locks/, made before this one
    extras: tuple[str, ...] = ()
    hashes: bool = True


def steps(matrix: Matrix, name: str | None = None) -> list[Step]:
    """How to make every lock, or the one called `name` with those that must move with it, in order.

    Groups that are compared share constraints and are refreshed together, so that no refresh can part them; the
    environment of tests and lint follows the driver's.

    Raises:
        BenchError: no such lock, or two would have one name.
    """
    sharing: dict[tuple[str | None, str], list[Step]] = {}
    for locked_name, locked in matrix.environments().items():
        sources = tuple(f"{package}/pyproject.toml" for package in (CORE_PACKAGE, *locked.needs, locked.package))
        extras = (locked.extra,) if locked.extra else ()
        key = (locked.constraints, "" if locked.constraints else locked_name)
        sharing.setdefault(key, []).append(Step(locked_name, sources, locked.constraints, extras))
    families = [_with_constraints(family) for family in sharing.values()]
    tools = Step(TOOLS, ("--group", f"pyproject.toml:{TOOLS}"))
    dev = Step(DEV, ("--group", f"pyproject.toml:{DEV}"), constraints=TOOLS)
    families += [[dev], [tools, dev]]  # dev by itself changes nothing of tools

    every = [step for family in families for step in family if family != [dev]]
    names = [step.name for step in every]
    for repeated in names:
        if names.count(repeated) > 1:
            raise BenchError(f"matrix.toml: two files of locks/ would be called {repeated}.txt; rename that group")
    if name is None:
        return every
    for family in families:
        if name in [step.name for step in family]:
            return family
    raise unknown("lock", name, names)


def _with_constraints(family: list[Step]) -> list[Step]:
    """The steps of groups that share constraints, after the one that makes the constraints from all of them."""
    constraints = family[0].constraints
    if constraints is None:
        return family
    sources = dict.fromkeys(source for step in family for source in step.sources)
    extras = dict.fromkeys(extra for step in family for extra in step.extras)
    return [Step(constraints, tuple(sources), extras=tuple(extras), hashes=False), *family]


def refresh(root: Path, matrix: Matrix, name: str | None = None, *, upgrade: bool = False) -> dict[str, list[str]]:
    """Make the locks again: only what the pyproject files ask for changes, unless `upgrade` takes the newest of all.

    Returns file name -> what changed, empty where nothing did. When one fails, all are left as they were.

    Raises:
        BenchError: no such lock, or uv finds no solution.
    """
    chosen = steps(matrix, name)
    paths = {step.name: lock_path(root, step.name) for step in chosen}
    before = {path: path.read_bytes() if path.is_file() else None for path in paths.values()}
    log = log_path(root, "lock")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    own = _own_packages(root)
    try:
        for step in chosen:
            paths[step.name].parent.mkdir(exist_ok=True)
            arguments = _compile_arguments(step, own, matrix.python, upgrade=upgrade)
            run_uv(arguments, root=root, log=log, purpose=f"making locks/{step.name}.txt")
    except BaseException:
        for path, content in before.items():
            if content is None:
                path.unlink(missing_ok=True)
            else:
                write_atomically(path, content)
        raise
    return {path.name: _changes(content or b"", path.read_bytes()) for path, content in before.items()}


def pins(text: str) -> dict[str, tuple[str, ...]]:
    """The versions a lock names, by package; more than one where they differ by platform or Python."""
    found: dict[str, tuple[str, ...]] = {}
    for package, version in _PIN.findall(text):
        found[package] = (*found.get(package, ()), version)
    return found


def _own_packages(root: Path) -> list[str]:
    """Names of the workspace's packages, which are installed editable and so stand in no lock."""
    names = []
    for path in sorted(root.glob("packages/*/pyproject.toml")):
        try:
            names.append(tomllib.loads(path.read_text(encoding="utf-8"))["project"]["name"])
        except (OSError, KeyError, ValueError) as error:
            raise BenchError(f"{path}: not a package's pyproject.toml ({error})", ExitCode.ENVIRONMENT) from error
    return names


def _compile_arguments(step: Step, own: list[str], python: str, *, upgrade: bool) -> list[str]:
    # One version of everything for all Pythons and platforms ("fewest"): a table of one machine is comparable with
    # that of another. Paths are relative to the root and no address is written.
    arguments = ["pip", "compile", "--universal", "--fork-strategy", "fewest", "--python-version", python]
    arguments += ["--custom-compile-command", "bench lock", "--annotation-style", "line"]
    arguments += ["--generate-hashes"] if step.hashes else ["--no-annotate", "--strip-extras"]
    arguments += ["--constraints", f"locks/{step.constraints}.txt"] if step.constraints else []
    arguments += ["--upgrade"] if upgrade else []
    for extra in step.extras:
        arguments += ["--extra", extra]
    for package in own:
        arguments += ["--no-emit-package", package]
    return [*arguments, "--output-file", f"locks/{step.name}.txt", *step.sources]


def _changes(old: bytes, new: bytes) -> list[str]:
    """What a refresh did to a lock, in words: "torch 2.14.0 -> 2.15.0", "six added (1.17.0)", "six removed"."""
    before, after = pins(old.decode()), pins(new.decode())
    changes = []
    for package in sorted(before | after):
        was, now = ", ".join(before.get(package, ())), ", ".join(after.get(package, ()))
        if not was:
            changes.append(f"{package} added ({now})")
        elif not now:
            changes.append(f"{package} removed")
        elif was != now:
            changes.append(f"{package} {was} -> {now}")
    if old != new and not changes:
        changes.append("hashes, markers or comments only")
    return changes
