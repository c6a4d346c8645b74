"""The example of docs/adding-a-model.md is true: Morse pair potentials, in numpy alone."""

import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from bench_core.errors import BenchError
from bench_core.matrix import FILE_NAME, Matrix, ScoreCell, find_root
from bench_score.config import parse_config
from bench_score.contract import Finding, check_model
from bench_score.model import Entry

ROOT = find_root(Path(__file__).parent)
DOCUMENT = (ROOT / "docs" / "adding-a-model.md").read_text(encoding="utf-8")
PROJECT, MODULE, BLOCK, CONFIG = re.findall(r"^```(?:toml|python)\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    module = ModuleType("morse")
    exec(compile(MODULE, "docs/adding-a-model.md", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("name", ["copper", "aluminium"])
def test_the_example_keeps_the_contract_and_the_document_shows_what_is_printed(example: ModuleType, name: str) -> None:
    family = example.Morse()
    model = family.load(Entry(label="mine", family="morse", checkpoint=name), "cpu")
    shown = [line.strip() for line in DOCUMENT.splitlines() if line.strip().startswith('{"check":')]
    assert [msgspec.json.encode(finding).decode() for finding in check_model(family, model)] == shown
    assert msgspec.convert(json.loads(shown[0]), Finding).violations == ()


def test_the_example_refuses_what_it_does_not_know(example: ModuleType) -> None:
    with pytest.raises(BenchError, match="unknown checkpoint 'coper'; did you mean 'copper'"):
        example.Morse().load(Entry(label="mine", family="morse", checkpoint="coper"), "cpu")


def test_the_example_s_block_fits_into_the_matrix() -> None:
    matrix = msgspec.convert(tomllib.loads((ROOT / FILE_NAME).read_text(encoding="utf-8") + "\n" + BLOCK), Matrix)
    assert ScoreCell("morse", "cpu") in matrix.score_cells()
    assert matrix.environments()["morse"].constraints == matrix.environments()["mlip_chgnet"].constraints


def test_the_example_s_configuration_names_its_family() -> None:
    config = parse_config({"name": "morse"} | tomllib.loads(CONFIG), base=ROOT)
    assert [model.family for model in config.models] == ["morse"]


def test_the_example_s_entry_point_names_its_class(example: ModuleType) -> None:
    target = tomllib.loads(PROJECT)["project"]["entry-points"]["bench.families"]["morse"]
    assert target == f"bench_adapters_morse.morse:{example.Morse.__name__}"


def test_the_table_of_families_has_every_family_of_the_adapters() -> None:
    offered = tomllib.loads((ROOT / "packages/adapters-mlip/pyproject.toml").read_text(encoding="utf-8"))
    for family in offered["project"]["entry-points"]["bench.families"]:
        assert f"| `{family}` |" in DOCUMENT
