"""The command line `bench`: finds the command, parses its options, turns errors into one sentence and an exit code."""

import argparse
import os
import select
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, Protocol

from bench_core import commands, suggest, terminal
from bench_core.errors import BenchError, ExitCode
from bench_core.invocation import command

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SIGPIPE = 13  # what a program ends by that writes to a pipe nobody reads
ENTRY_POINT_GROUP = "bench.commands"

# Commands of our other packages: command -> (package, its folder, what it does). A third party's are found as well.
ELSEWHERE = {
    "score": ("bench-score", "packages/bench-score", "score pre-trained models on one dataset"),
    "report": ("bench-report", "packages/report", "tables and documents from runs"),
    "compare": ("bench-report", "packages/report", "one run against another"),
    "history": ("bench-report", "packages/report", "the same cells over many runs"),
    "coverage": ("bench-report", "packages/report", "what results lack of a published set"),
    "publish": ("bench-report", "packages/report", "put results where others read them"),
}


class Command(Protocol):
    """What a command's module offers."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class Parser(argparse.ArgumentParser):
    """Raises instead of ending the process, and suggests the option that was meant."""

    def error(self, message: str) -> NoReturn:
        raise BenchError(f"{message} ({self.prog} --help shows all options)")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        args, rest = self.parse_known_args(arguments)
        if rest:
            raise self._unexpected(rest)
        return args

    def _unexpected(self, rest: Sequence[str]) -> BenchError:
        option = next((text.partition("=")[0] for text in rest if text.startswith("-")), None)
        if option is None:
            return BenchError(f"unexpected argument {rest[0]!r} ({self.prog} --help shows all options)")
        known = [text for action in self._actions for text in action.option_strings if text.startswith("--")]
        return suggest.unknown("option", option, known, hint=f"{self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    terminal.prepare()
    try:
        return _dispatch(list(sys.argv[1:] if arguments is None else arguments))
    except BenchError as error:
        print(f"bench: {terminal.visible(str(error))}", file=sys.stderr)
        return int(error.code)
    except KeyboardInterrupt:
        go_on = command("run", "--resume", "DIR")
        print(f"bench: interrupted; a run that had begun continues with: {go_on}", file=sys.stderr)
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # Raised by a pipe to a worker as well, which is no reason to be quiet.
        if not _reader_left():
            raise
        return 128 + SIGPIPE
    except OSError as error:  # a path that was named and that the system refuses: no permission, too long, a full disk
        where = f"{error.filename}: " if error.filename else ""
        print(f"bench: {terminal.visible(f'{where}{error.strerror or error}')}", file=sys.stderr)
        return int(ExitCode.USAGE)
    except SystemExit as end:  # --help, once it is printed
        return end.code if isinstance(end.code, int) else int(ExitCode.OK)


def _reader_left() -> bool:
    """Whether nobody reads what is printed any more (`bench list transforms | head`); then the rest goes nowhere."""
    out = sys.stdout.fileno()
    poll = select.poll()
    poll.register(out, select.POLLOUT)
    left = any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    if left:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out)  # or Python fails once more when it flushes on exit
    return left


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print(_overview())
        return int(ExitCode.OK)
    if arguments[0] == "--version":
        from importlib.metadata import version

        print(f"bench-core {version('bench-core')}")
        return int(ExitCode.OK)
    name, *rest = arguments
    module = _load(name)
    parser = Parser(prog=command(name), description=module.HELP, allow_abbrev=False)
    module.add_arguments(parser)
    code = module.run(parser.parse(rest))
    sys.stdout.flush()  # so that a closed pipe shows here
    return int(code)


def _load(name: str) -> Command:
    """The command's module.

    Raises:
        BenchError: nobody offers it, or the package that does is not installed.
    """
    if name in commands.NAMES:
        return _module(f"bench_core.commands.{name}")
    offered = _offered()
    if name in offered:
        return _foreign(offered[name])
    if name in ELSEWHERE:
        raise _missing(name)
    if name.startswith("-"):
        raise BenchError(f"expected a command before {name!r}; {command('--help')} shows all")
    raise suggest.unknown("command", name, _unique([*commands.NAMES, *ELSEWHERE, *offered]), hint=command("--help"))


def _missing(name: str) -> BenchError:
    """The error for a command of ours that is not offered: its package is absent, or older than the command."""
    from importlib.metadata import PackageNotFoundError, version

    package, folder, _ = ELSEWHERE[name]
    try:
        state = f"{package} {version(package)}, which is installed, does not offer it; update it"
    except PackageNotFoundError:
        state = f"it is not installed in this Python; install it from the checkout: uv pip install -e {folder}"
    return BenchError(f"command {name!r} comes with the package {package}; {state}", ExitCode.ENVIRONMENT)


def _module(name: str) -> Command:
    found: Command = import_module(name)
    return found


def _offered() -> "dict[str, EntryPoint]":
    """Commands of installed packages."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}


def _foreign(entry: "EntryPoint") -> Command:
    """Another package's command.

    Raises:
        BenchError: its module cannot be imported.
    """
    try:
        found: Command = entry.load()
    except (ImportError, AttributeError) as error:
        raise BenchError(
            f"command {entry.name!r} ({entry.value}) cannot be loaded: {error}", ExitCode.ENVIRONMENT
        ) from error
    return found


def _overview() -> str:
    offered = _offered()
    ours = {name: _module(f"bench_core.commands.{name}").HELP for name in commands.NAMES}
    others = {name: text for name, (_, _, text) in ELSEWHERE.items() if name in offered}
    foreign = {name: f"from {offered[name].value}" for name in offered if name not in {*ours, *others}}
    missing = {
        name: f"{text} (needs {package})" for name, (package, _, text) in ELSEWHERE.items() if name not in offered
    }
    listed = {**ours, **others, **foreign, **missing}
    lines = [
        "bench measures other people's libraries side by side under equal, recorded conditions.",
        "",
        f"usage: {command('COMMAND')} [options]        {command('COMMAND', '--help')} shows a command's options",
        "",
        *(f"  {name:<10}{text}" for name, text in listed.items()),
    ]
    return "\n".join(lines)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
