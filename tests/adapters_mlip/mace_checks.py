"""MACE against its own calculator. The package brings no weights: a small model with random ones is made here."""

from pathlib import Path

import mace.modules
import numpy as np
import torch
from bench_adapters_mlip.mace import MACE
from bench_core.errors import ExitCode
from bench_score.contract import check_model
from common import Malicious, assert_like_calculator, entry, no_connections, refusal
from e3nn import o3
from mace.calculators import MACECalculator

NUMBERS = [1, 6, 8, 11, 13, 17, 26]


def _saved(path: Path, heads: list[str] | None = None) -> Path:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    block = mace.modules.interaction_classes["RealAgnosticResidualInteractionBlock"]
    several = len(heads or ["Default"])
    model = mace.modules.ScaleShiftMACE(
        r_max=4.5,
        num_bessel=4,
        num_polynomial_cutoff=5,
        max_ell=2,
        interaction_cls=block,
        interaction_cls_first=block,
        num_interactions=2,
        num_elements=len(NUMBERS),
        hidden_irreps=o3.Irreps("8x0e+8x1o"),
        MLP_irreps=o3.Irreps("4x0e"),
        atomic_energies=np.tile(np.linspace(-3, -1, len(NUMBERS)), (several, 1)),
        avg_num_neighbors=2.0,
        atomic_numbers=NUMBERS,
        correlation=2,
        gate=torch.nn.functional.silu,
        heads=heads,
        atomic_inter_scale=[30.0] * several,
        atomic_inter_shift=[0.1 * head for head in range(several)],
    )
    torch.save(model, path)
    return path


def _load(path: Path, **options: str) -> object:
    return MACE().load(entry(path, options=options, trust_checkpoint=True), "cpu")


def predictions_are_those_of_its_calculator(folder: Path) -> None:
    path = _saved(folder / "own.model")
    own = MACECalculator(model_paths=str(path), device="cpu", default_dtype="float64")
    assert_like_calculator(_load(path), own)


def a_model_keeps_the_contract(folder: Path) -> None:
    model = _load(_saved(folder / "own.model"))
    assert (model.cutoff_angstrom, model.elements, model.level_of_theory) == (4.5, set(NUMBERS), None)
    for finding in check_model(MACE(), model):
        assert finding.violations == (), finding


def a_head_is_asked_for_where_there_are_several(folder: Path) -> None:
    path = _saved(folder / "own.model", heads=["low", "high"])
    assert "one of low, high" in refusal(lambda: _load(path), ExitCode.USAGE)
    assert "did you mean 'high'?" in refusal(lambda: _load(path, head="hig"), ExitCode.USAGE)
    own = MACECalculator(model_paths=str(path), device="cpu", default_dtype="float64", head="high")
    assert_like_calculator(_load(path, head="high"), own)


def without_a_path_it_says_what_is_missing() -> None:
    with no_connections() as tried:
        shown = refusal(lambda: MACE().load(entry(None), "cpu"), ExitCode.USAGE)
        named = refusal(lambda: MACE().load(entry("medium"), "cpu"), ExitCode.DATA)
    assert "mace-torch comes without weights" in shown
    assert "medium: no such file" in named
    assert tried == []


def a_file_is_opened_only_when_trusted(folder: Path) -> None:
    path, mark = folder / "own.model", folder / "mark"
    torch.save(Malicious(mark), path)
    assert "--trust-checkpoint" in refusal(lambda: MACE().load(entry(path), "cpu"), ExitCode.USAGE)
    assert not mark.exists()
    assert "no model of MACE but a NoneType" in refusal(lambda: _load(path), ExitCode.DATA)
    assert mark.exists()
