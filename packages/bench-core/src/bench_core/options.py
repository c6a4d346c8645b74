"""The options that describe a run, shared by every command that needs a configuration."""

import argparse
from pathlib import Path

from bench_core.catalog import load_catalog
from bench_core.config import ALL, FILE_NAME, ISOLATIONS, Config
from bench_core.invocation import command
from bench_core.matrix import Matrix
from bench_core.profiles import load_profile
from bench_core.resolve import resolve
from bench_core.settings import (
    Rank,
    Said,
    Settings,
    from_assignments,
    from_configuration,
    merge,
    say,
    split_names,
)

# key of the configuration -> option, what stands for its value (empty: it takes none), what it does
_NAMES = {
    "groups": ("--group", "NAME", "environments to measure (all)"),
    "libraries": ("--library", "NAME", "libraries to measure (all of the groups)"),
    "media": ("--media", "NAME", "image, video (all)"),
    "scenarios": ("--scenario", "NAME", "scenarios of the matrix (all of the media)"),
    "modes": ("--mode", "NAME", "modes of the scenarios (all)"),
    "transforms": ("--transforms", "NAME", "transforms of the catalog (all)"),
}
_TEXTS = {
    "transform_set": ("--transform-set", "NAME", "a named set of transforms instead of --transforms"),
    "device": ("--device", "NAME", "cpu or gpu"),
    "data_dir": ("--data-dir", "DIR", "your own images, in any depth, instead of the embedded sample"),
    "isolation": ("--isolation", "|".join(ISOLATIONS), "how a measurement gets a process of its own"),
}
_NUMBERS = {
    "num_runs": ("--num-runs", int, "timed values per process"),
    "processes": ("--processes", int, "fresh worker processes per library"),
    "blocks": ("--blocks", int, "measuring processes per worker process and transform, which share the values"),
    "threads": ("--threads", int, "threads a library may use"),
    "seed": ("--seed", int, "decides the order and every random parameter"),
    "timeout_sec": ("--timeout-sec", float, "limit of one measurement, in seconds"),
}
_SWITCHES = {
    "disable_slow_skip": ("--disable-slow-skip", "measure slow transforms as well"),
    "skip_unreadable": ("--skip-unreadable", "leave unreadable files out, for every library, instead of stopping"),
}
OPTIONS = {key: text[0] for table in (_NAMES, _TEXTS, _NUMBERS, _SWITCHES) for key, text in table.items()} | {
    "num_items": "--num-items"
}


def add_config_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that describe a run. Absent ones do not appear in the namespace."""
    source = parser.add_argument_group("configuration").add_mutually_exclusive_group()
    source.add_argument("--profile", metavar="NAME", help=f"a run shape of profiles/ ({command('list', 'profiles')})")
    source.add_argument("--config", metavar="FILE", type=Path, help=f"a TOML file, such as a run's {FILE_NAME}")
    overrides = parser.add_argument_group(
        "overrides", "Each replaces what the profile or file says; where NAME may be several, repeat or use commas."
    )
    overrides.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="any key of the configuration"
    )
    absent = argparse.SUPPRESS
    for key, (option, metavar, text) in _NAMES.items():
        overrides.add_argument(
            option, dest=key, metavar=metavar, type=split_names, action="extend", default=absent, help=text
        )
    for key, (option, metavar, text) in _TEXTS.items():
        overrides.add_argument(option, dest=key, metavar=metavar, default=absent, help=text)
    overrides.add_argument(
        "--num-items", metavar=f"N|{ALL}", type=_items, default=absent, help="how many items of the dataset"
    )
    for key, (option, number, text) in _NUMBERS.items():
        overrides.add_argument(option, dest=key, metavar="N", type=number, default=absent, help=text)
    for key, (option, text) in _SWITCHES.items():
        overrides.add_argument(option, dest=key, action="store_true", default=absent, help=text)


def describes_a_run(args: argparse.Namespace) -> bool:
    """Whether any option of the configuration was given."""
    return bool(args.profile or args.config or args.set or any(hasattr(args, key) for key in OPTIONS))


def config_from(args: argparse.Namespace, root: Path, matrix: Matrix) -> Config:
    """The configuration the options describe.

    Raises:
        BenchError: a name is unknown, a choice does not apply, or a file does not validate.
    """
    if args.config is not None:
        base = from_configuration(args.config)
    elif args.profile is not None:
        base = load_profile(root, args.profile)
    else:
        base = {}
    settings = merge(base, from_assignments(args.set), _from_flags(args))
    return resolve(matrix, load_catalog(), root, settings)


def config_of_run(run_dir: Path, root: Path, matrix: Matrix) -> Config:
    """The configuration a run directory was made with.

    Raises:
        BenchError: it holds none, or one that the matrix of this checkout does not allow.
    """
    return resolve(matrix, load_catalog(), root, from_configuration(run_dir / FILE_NAME))


def _from_flags(args: argparse.Namespace) -> Settings:
    found: dict[str, Said] = {}
    for key, option in OPTIONS.items():
        if hasattr(args, key):
            value = getattr(args, key)
            if key == "data_dir" and value and not value.startswith("~"):
                value = str(Path(value).absolute())
            found[key] = say(key, value, option, Rank.FLAG)
    return found


def _items(text: str) -> int | str:
    if text == ALL or text.lstrip("-").isdecimal():
        return text if text == ALL else int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor {ALL!r}")
