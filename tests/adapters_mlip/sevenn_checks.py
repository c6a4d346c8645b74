"""SevenNet against its own calculator."""

from pathlib import Path

import torch
from bench_adapters_mlip.sevenn import SevenNet
from bench_core.errors import ExitCode
from common import Malicious, assert_like_calculator, entry, no_connections, refusal
from sevenn.calculator import SevenNetCalculator

MODELS = (("7net-0", None), ("7net-l3i5", None), ("7net-mf-0", "PBE"), ("7net-mf-0", "R2SCAN"))


def _load(name: str, modal: str | None = None) -> object:
    return SevenNet().load(entry(name, options={} if modal is None else {"modal": modal}), "cpu")


def predictions_are_those_of_its_calculator() -> None:
    for name, modal in MODELS:
        assert_like_calculator(_load(name, modal), SevenNetCalculator(name, device="cpu", modal=modal))


def a_model_says_what_it_is() -> None:
    with no_connections() as tried:
        found = [_load(*model) for model in MODELS]
    assert tried == []
    assert [model.num_parameters for model in found] == [842_623, 1_171_327, 846_168, 846_168]
    assert [model.level_of_theory for model in found] == [
        "PBE+U (MPtrj)",
        "PBE+U (MPtrj)",
        "PBE+U (Materials Project)",
        "r2SCAN (Materials Project)",
    ]
    for model in found:
        assert model.cutoff_angstrom == 5.0
        assert model.elements == set(range(1, 95)) - {84, 85, 86, 87, 88}


def a_modal_is_asked_for_where_there_are_several_and_refused_where_there_is_none() -> None:
    assert "one of R2SCAN, PBE" in refusal(lambda: _load("7net-mf-0"), ExitCode.USAGE)
    assert "did you mean 'R2SCAN'?" in refusal(lambda: _load("7net-mf-0", "r2scan"), ExitCode.USAGE)
    assert "7net-0 has no modals" in refusal(lambda: _load("7net-0", "PBE"), ExitCode.USAGE)


def a_file_of_one_s_own_is_opened_only_when_trusted(folder: Path) -> None:
    path, mark = folder / "own.pth", folder / "mark"
    torch.save({"config": Malicious(mark)}, path)
    shown = refusal(lambda: SevenNet().load(entry(path), "cpu"), ExitCode.USAGE)
    assert "--trust-checkpoint" in shown
    assert not mark.exists()
    shown = refusal(lambda: SevenNet().load(entry(path, trust_checkpoint=True), "cpu"), ExitCode.DATA)
    assert "no checkpoint of SevenNet" in shown
    assert mark.exists()


def a_model_that_the_package_would_fetch_is_unknown() -> None:
    with no_connections() as tried:
        shown = refusal(lambda: _load("7net-omni"), ExitCode.USAGE)
    assert "unknown checkpoint '7net-omni'" in shown
    assert tried == []
