"""DIEP against its own calculator."""

import shutil
from pathlib import Path

import torch
from bench_adapters_mlip.diep import DIEP
from bench_core.errors import ExitCode
from common import assert_like_calculator, entry, no_connections, refusal
from diep.pretrained import DEFAULT_MODEL_DIR, make_calculator


def predictions_are_those_of_its_calculator() -> None:
    """Also that a stress is in eV/angstrom^3: the potential's own is in GPa, and the calculator's is not."""
    assert_like_calculator(DIEP().load(entry("diep_fold1"), "cpu"), make_calculator())


def a_model_says_what_it_is() -> None:
    with no_connections() as tried:
        model = DIEP().load(entry("diep_fold1"), "cpu")
    assert tried == []
    assert (model.num_parameters, model.cutoff_angstrom, model.level_of_theory) == (403_181, 5.0, "r2SCAN (MatPES)")
    assert model.elements == set(range(1, 95)) - {84, 85, 86, 87, 88}


def a_folder_of_one_s_own_is_opened_only_when_trusted(folder: Path) -> None:
    """It names classes, and these are called: no pickle is needed to run a program."""
    own, mark = folder / "own", folder / "mark"
    shutil.copytree(DEFAULT_MODEL_DIR, own)
    assert DIEP().load(entry(own, trust_checkpoint=True), "cpu").level_of_theory is None
    named = {"@class": "mkdir", "@module": "os", "@model_version": 1, "init_args": {"path": str(mark)}}
    torch.save({"model": named}, own / "model.pt")
    assert "--trust-checkpoint" in refusal(lambda: DIEP().load(entry(own), "cpu"), ExitCode.USAGE)
    assert not mark.exists()
    refusal(lambda: DIEP().load(entry(own, trust_checkpoint=True), "cpu"), ExitCode.DATA)
    assert mark.exists()  # so it would have been seen


def a_folder_that_lacks_a_file_is_refused_and_nothing_is_fetched(folder: Path) -> None:
    own = folder / "own"
    shutil.copytree(DEFAULT_MODEL_DIR, own)
    (own / "state.pt").unlink()
    with no_connections() as tried:
        shown = refusal(lambda: DIEP().load(entry(own, trust_checkpoint=True), "cpu"), ExitCode.DATA)
    assert "missing state.pt" in shown
    assert tried == []
