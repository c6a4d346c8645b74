"""A run's configuration: resolved once (see bench_core.resolve), checked, written beside the results."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from bench_core import policy, suggest
from bench_core.files import sha256_bytes

FILE_NAME = "resolved_config.toml"
ALL = "all"  # how a file says that num_items is not limited, since TOML has no null
ISOLATIONS = ("fork", "spawn")

# Least and most. What is more than anybody means is a slip of the finger, and would first fill memory with a plan.
_RANGES = {
    "num_items": (1, 10**9),
    "num_runs": (1, 10**5),
    "blocks": (1, 10**5),
    "processes": (1, 10**4),
    "threads": (1, 10**4),
    "seed": (0, 2**63 - 1),
    "memory_limit_bytes": (1, 2**62),
}
_DURATIONS = ("slow_threshold_sec", "timeout_sec")
_MAX_SEC = 1e7  # no value that a result may hold is longer
_CHOICES = ("groups", "libraries", "scenarios", "modes", "transforms")
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_HEADER = "# Everything this run was asked to do. The same run again: bench run --config resolved_config.toml\n\n"


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What to measure and how, after every override. Everything a run depends on that is not machine or lock.

    Names stand in the order of the matrix and the catalog. `data_dir` None is the embedded sample, else an absolute
    path; `num_items` None is every item of the dataset. `profile` is a label: it names the run and decides nothing.

    Raises:
        ValueError: a value is out of range.
    """

    profile: str
    groups: tuple[str, ...]
    libraries: tuple[str, ...]
    scenarios: tuple[str, ...]
    modes: tuple[str, ...]
    device: str = policy.DEVICE
    transforms: tuple[str, ...]
    num_items: int | None = policy.NUM_ITEMS
    num_runs: int = policy.NUM_RUNS
    blocks: int = policy.BLOCKS
    processes: int = policy.PROCESSES
    threads: int = policy.THREADS
    seed: int = policy.SEED
    isolation: str = policy.ISOLATION
    data_dir: str | None = None
    skip_unreadable: bool = False
    slow_threshold_sec: float = policy.SLOW_THRESHOLD_SEC
    disable_slow_skip: bool = False
    timeout_sec: float = policy.TIMEOUT_SEC
    memory_limit_bytes: int | None = None

    def __post_init__(self) -> None:
        if not _LABEL.fullmatch(self.profile):
            raise ValueError(f"profile = {self.profile!r}: only letters, digits, '.', '_' and '-' (it names a folder)")
        for name in _CHOICES:
            if not getattr(self, name):
                raise ValueError(f"{name} is empty; name at least one, or leave it out to mean all")
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} = {value}: must be at least {least}")
            if value is not None and value > most:
                raise ValueError(f"{name} = {value}: must be at most {most}")
        for name in _DURATIONS:
            value = getattr(self, name)
            if not 0 < value <= _MAX_SEC:
                raise ValueError(f"{name} = {value}: must be a positive number of seconds, at most {_MAX_SEC:g}")
        if self.isolation not in ISOLATIONS:
            raise ValueError(str(suggest.unknown("isolation", self.isolation, ISOLATIONS)))
        if self.blocks > self.num_runs:
            raise ValueError(
                f"blocks = {self.blocks} with num_runs = {self.num_runs}: every block needs a value, "
                "so there can be at most as many blocks as runs"
            )


def canonical(config: Config) -> dict[str, Any]:
    """The configuration in TOML's types, as it is written: what is None is absent, home is `~`."""
    values = {name: value for name, value in msgspec.to_builtins(config).items() if value is not None}
    if config.num_items is None:
        values["num_items"] = ALL
    if config.data_dir is not None:
        values["data_dir"] = _without_home(config.data_dir)
    return values


def dump_config(config: Config) -> str:
    """The text of resolved_config.toml; `--config` with it resolves to `config` again."""
    import tomli_w

    return _HEADER + tomli_w.dumps(canonical(config))


def run_name(now: datetime, config: Config) -> str:
    """What a run of that time (UTC) is called: its folder, and the beginning of its identity."""
    return f"{now:%Y%m%dT%H%M%SZ}-{config.profile}"


def config_sha256(config: Config) -> str:
    """Digest of everything that decides what is measured and how, which a profile's name does not."""
    deciding = {name: value for name, value in canonical(config).items() if name != "profile"}
    return sha256_bytes(msgspec.json.encode(deciding, order="sorted"))


def differences(there: Config, here: Config) -> list[str]:
    """One phrase for each value that decides something and is not the same: "seed: 1 there, 2 here"."""
    one, other = canonical(there), canonical(here)
    names = [name for name in Config.__struct_fields__ if name != "profile" and one.get(name) != other.get(name)]
    return [f"{name}: {_difference(one.get(name), other.get(name))}" for name in names]


def _difference(one: Any, other: Any) -> str:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        only = {"there": [x for x in one if x not in other], "here": [x for x in other if x not in one]}
        return ", ".join(f"only {side} {', '.join(names)}" for side, names in only.items() if names)
    shown = ["nothing" if value is None else str(value) for value in (one, other)]
    return f"{shown[0]} there, {shown[1]} here"


def _without_home(path: str) -> str:
    """A results folder is published; a user's name is not part of it."""
    try:
        home = Path.home()
    except RuntimeError:  # a container's user may have none
        return path
    return f"~/{Path(path).relative_to(home).as_posix()}" if Path(path).is_relative_to(home) else path
