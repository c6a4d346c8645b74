"""The command line: finding commands, refusing what is unknown, exit codes, and how little planning loads."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench_core import commands
from bench_core.cli import ELSEWHERE, main
from bench_core.errors import ExitCode

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "numpy", "pandas", "scipy", "pyperf", "tqdm", "PIL", "psutil", "tomli_w")


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def python(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["help"]])
def test_the_overview_shows_every_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == ExitCode.OK
    shown = capsys.readouterr().out
    for name in (*commands.NAMES, *ELSEWHERE):
        assert f"\n  {name} " in shown


@pytest.mark.parametrize("name", commands.NAMES)
def test_every_command_explains_its_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == ExitCode.OK
    assert f"usage: bench {name}" in capsys.readouterr().out


def test_an_unknown_command_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paln"]) == ExitCode.USAGE
    assert "bench: unknown command 'paln'; did you mean 'plan'?" in capsys.readouterr().err


def test_an_option_before_the_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--profile", "quick"]) == ExitCode.USAGE
    assert "expected a command before '--profile'" in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["--librari", "--librari=kornia"])
def test_an_unknown_option_is_refused_with_the_nearest(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", typed, "kornia"]) == ExitCode.USAGE
    assert "unknown option '--librari'; did you mean '--library'?" in capsys.readouterr().err


def test_an_option_is_not_completed_from_its_beginning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--lib", "kornia"]) == ExitCode.USAGE
    assert "unknown option '--lib'" in capsys.readouterr().err


def test_a_stray_word_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "quick"]) == ExitCode.USAGE
    assert "unexpected argument 'quick'" in capsys.readouterr().err


def test_an_option_of_another_command_is_refused() -> None:
    assert main(["plan", "--output", "somewhere"]) == ExitCode.USAGE


def test_a_missing_argument_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate"]) == ExitCode.USAGE
    assert "required: DIR" in capsys.readouterr().err


def test_a_command_of_a_package_that_is_not_installed_says_which() -> None:
    # Packages are found along sys.path, so that without it none is installed.
    script = (
        "import importlib.metadata, sys\nfrom bench_core.cli import main\n"
        "sys.path = []\nsys.exit(main(['report', 'somewhere']))"
    )
    done = python("-c", script)
    assert done.returncode == ExitCode.ENVIRONMENT
    assert "command 'report' comes with the package bench-report; it is not installed in this Python" in done.stderr
    assert "uv pip install -e packages/report" in done.stderr


def test_outside_a_checkout_one_sentence_says_so(tmp_path: Path) -> None:
    done = python("-m", "bench_core", "plan", cwd=tmp_path)
    assert done.returncode == ExitCode.USAGE
    assert (
        done.stderr == f"bench: no matrix.toml in {tmp_path} or above it; run bench inside a checkout of the project\n"
    )


def test_the_module_is_the_command() -> None:
    done = python("-m", "bench_core", "list", "sets")
    assert done.returncode == ExitCode.OK
    assert "paper" in done.stdout


def test_the_version_is_that_of_the_package() -> None:
    assert python("-m", "bench_core", "--version").stdout.startswith("bench-core 0.")


def test_planning_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom bench_core.cli import main\n"
        "code = main(['plan', '--profile', 'quick'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], code)"
    )
    assert python("-c", script).stdout.splitlines()[-1] == "[] 0"


def test_a_reader_that_stops_reading_ends_it_quietly() -> None:
    nobody, out = os.pipe()
    os.close(nobody)
    done = subprocess.run(
        [sys.executable, "-m", "bench_core", "list", "sets"],
        cwd=ROOT,
        stdout=out,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(out)
    assert (done.returncode, done.stderr) == (141, b"")


def test_closed_streams_are_streams_that_nobody_reads() -> None:
    command = ["sh", "-c", f"{sys.executable} -m bench_core plan <&- >&- 2>&-"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == ExitCode.OK


def test_a_path_that_the_system_refuses_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--resume", "x" * 300]) == ExitCode.USAGE
    assert "File name too long" in capsys.readouterr().err


def test_a_full_disk_under_what_is_printed_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bench_core", "plan"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == ExitCode.USAGE
    assert done.stderr == "bench: No space left on device\n"


def test_a_character_that_the_terminal_cannot_show_is_spelt_out() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench_core", "plan", "--data-dir", "/ü"],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ExitCode.OK
    assert "/\\xfc" in done.stdout


def test_another_broken_pipe_is_not_taken_for_it() -> None:
    script = (
        "import sys\nfrom bench_core import cli\n"
        "def broken(arguments): raise BrokenPipeError\n"
        "cli._dispatch = broken\nsys.exit(cli.main(['run']))"
    )
    assert "BrokenPipeError" in python("-c", script).stderr


def test_an_interrupt_ends_with_130_and_the_way_to_go_on() -> None:
    script = (
        "import sys\nfrom bench_core import cli\n"
        "def interrupted(arguments): raise KeyboardInterrupt\n"
        "cli._dispatch = interrupted\nsys.exit(cli.main(['run']))"
    )
    done = python("-c", script)
    assert done.returncode == ExitCode.INTERRUPTED
    assert "bench run --resume DIR" in done.stderr


def test_a_package_that_offers_a_command_is_found(tmp_path: Path) -> None:
    (tmp_path / "their_command.py").write_text(
        "HELP = 'greets'\n"
        "def add_arguments(parser): parser.add_argument('--whom')\n"
        "def run(args): print('hello', args.whom); return 1\n",
        encoding="utf-8",
    )
    described = tmp_path / "theirs-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n", encoding="utf-8")
    (described / "entry_points.txt").write_text("[bench.commands]\ngreet = their_command\n", encoding="utf-8")
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from bench_core.cli import main\nmain([])\nsys.exit(main(['greet', '--whom', 'you']))"
    )
    done = python("-c", script)
    assert done.returncode == ExitCode.FAILED
    assert "greet     from their_command" in done.stdout
    assert done.stdout.endswith("hello you\n")


def test_a_plan_is_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--profile", "smoke", "--json"]) == ExitCode.OK
    plan = json.loads(capsys.readouterr().out)
    assert plan["jobs"][0]["file"] == "image-rgb/torchvision_micro_results.json"
    assert plan["jobs"][0]["transforms"] == ["Resize", "HorizontalFlip", "GaussianBlur", "Invert"]
    assert plan["config"]["profile"] == "smoke"
    assert len(plan["config_sha256"]) == 64


def test_a_command_that_cannot_be_loaded_is_one_sentence(tmp_path: Path) -> None:
    described = tmp_path / "broken-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n", encoding="utf-8")
    (described / "entry_points.txt").write_text("[bench.commands]\nbroken = no_such_module\n", encoding="utf-8")
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from bench_core.cli import main\nsys.exit(main(['broken']))"
    )
    done = python("-c", script)
    assert done.returncode == ExitCode.ENVIRONMENT
    assert done.stderr == (
        "bench: command 'broken' (no_such_module) cannot be loaded: No module named 'no_such_module'\n"
    )
