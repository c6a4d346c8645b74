"""`bench plan`: what would run, which files it would write, about how long it would take."""

import argparse

import msgspec

from bench_core.config import Config, canonical, config_sha256
from bench_core.matrix import find_root, load_matrix
from bench_core.options import add_config_arguments, config_from
from bench_core.plan import Plan, make_plan
from bench_core.tables import aligned, wrapped

HELP = "show what would run, which files it writes, about how long it takes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config_arguments(parser)
    parser.add_argument("--json", action="store_true", help="everything, transform by transform, as JSON")


def run(args: argparse.Namespace) -> int:
    from bench_core.catalog import load_catalog

    root = find_root()
    matrix = load_matrix(root)
    config = config_from(args, root, matrix)
    plan = make_plan(matrix, load_catalog(), config)
    print(as_json(plan, config) if args.json else as_text(plan, config))
    return 0


def as_json(plan: Plan, config: Config) -> str:
    """The plan with the file of every job, and the configuration it follows from."""
    content = msgspec.to_builtins(plan)
    for job, described in zip(plan.jobs, content["jobs"], strict=True):
        described["file"] = job.file_name
    content["config"] = canonical(config)
    content["config_sha256"] = config_sha256(config)
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode()


def as_text(plan: Plan, config: Config) -> str:
    lines = [headline(plan, config), *wrapped(_shape(config), "  ", "  "), ""]
    rows = [
        (
            job.library,
            job.group,
            job.scenario,
            job.mode,
            str(len(job.transforms)),
            str(len(job.unsupported)),
            str(len(job.excluded)),
        )
        for job in plan.jobs
    ]
    heads = ("library", "group", "scenario", "mode", "measured", "unsupported", "excluded")
    lines += aligned(heads, rows, right=("measured", "unsupported", "excluded"))
    reasons = {reason: names for job in plan.jobs for reason, names in _by_reason(job.excluded).items()}
    for reason, names in reasons.items():
        lines += wrapped(f"excluded: {', '.join(names)}: {reason}", "  ")
    if plan.excluded_jobs:
        lines += ["", "Not run:"]
        for name, reason in plan.excluded_jobs.items():
            lines += wrapped(f"{name}: {reason}", "  ")
    lines += ["", "Files, in the run's folder:", *(f"  {job.file_name}" for job in plan.jobs)]
    return "\n".join(lines)


def headline(plan: Plan, config: Config) -> str:
    """How much there is to do."""
    jobs = "1 job" if len(plan.jobs) == 1 else f"{len(plan.jobs)} jobs"
    return f"Profile {config.profile}: {jobs}, about {plan.estimated_minutes:.1f} minutes (an estimate)"


def _shape(config: Config) -> str:
    data = config.data_dir or "the embedded sample"
    items = "all items" if config.num_items is None else f"{config.num_items} items"
    blocks = f" in {config.blocks} blocks" if config.blocks > 1 else ""
    return (
        f"{config.device}; {items} of {data}; "
        f"{config.processes} processes x {config.num_runs} values{blocks}; "
        f"threads {config.threads}, seed {config.seed}, {config.isolation}"
    )


def _by_reason(excluded: dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, reason in excluded.items():
        found.setdefault(reason, []).append(name)
    return found
