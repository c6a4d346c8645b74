"""CHGNet against its own calculator."""

from pathlib import Path

import torch
from ase import Atoms
from bench_adapters_mlip.chgnet import CHGNet
from bench_core.errors import ExitCode
from bench_score.contract import Subject, examples, keeps_nothing
from chgnet.model import CHGNet as Network
from chgnet.model.dynamics import CHGNetCalculator
from common import ALL, Malicious, assert_like_calculator, entry, item_of, no_connections, refusal

NAMES = ("0.3.0", "0.2.0", "r2scan")
NEVER_SEEN = {84, 85, 86, 87, 88}


def _boxed(atoms: Atoms) -> Atoms:
    """CHGNet's calculator needs a cell: a molecule gets one whose images are out of reach."""
    if not atoms.pbc.any():
        atoms.center(vacuum=8.0)
        atoms.pbc = True
    return atoms


def predictions_are_those_of_its_calculator() -> None:
    for name in NAMES:
        own = CHGNetCalculator(Network.load(model_name=name, use_device="cpu", verbose=False), use_device="cpu")
        assert_like_calculator(CHGNet().load(entry(name), "cpu"), own, _boxed)


def a_model_of_total_energies_is_not_taken_for_one_of_energies_per_atom(folder: Path) -> None:
    network = Network.load(use_device="cpu", verbose=False)
    network.is_intensive = False
    network.model_args["is_intensive"] = False
    torch.save({"model": network.as_dict()}, folder / "total.pth.tar")
    model = CHGNet().load(entry(str(folder / "total.pth.tar")), "cpu")
    assert_like_calculator(model, CHGNetCalculator(network, use_device="cpu"), _boxed)


def a_model_says_what_it_is() -> None:
    with no_connections() as tried:
        newest, oldest, r2scan = (CHGNet().load(entry(name), "cpu") for name in NAMES)
    assert tried == []
    assert (newest.num_parameters, newest.cutoff_angstrom, newest.level_of_theory) == (412_525, 6.0, "PBE+U (MPtrj)")
    assert (oldest.cutoff_angstrom, oldest.level_of_theory) == (5.0, "PBE+U (MPtrj)")
    assert r2scan.level_of_theory == "r2SCAN (MP-r2SCAN)"
    assert newest.elements == oldest.elements == set(range(1, 95)) - NEVER_SEEN
    assert r2scan.elements == newest.elements - {70}


def the_elements_it_does_not_know_are_those_nobody_trained() -> None:
    """Embeddings are drawn with a spread of 1; training moved those of the others away from a norm of 8."""
    norms = Network.load(use_device="cpu", verbose=False).atom_embedding.embedding.weight.norm(dim=1)
    assert all(6 < norms[number - 1] < 10 for number in NEVER_SEEN)
    references = Network.load(model_name="r2scan", use_device="cpu", verbose=False).composition_model.fc.weight[0]
    assert {number for number in range(1, 95) if abs(references[number - 1]) < 1e-6} == NEVER_SEEN | {70}


def a_structure_without_angles_has_the_same_energy_in_any_company() -> None:
    """Model 0.2.0 gives another one where the whole batch has no angle; alone, as its calculator has it, is right."""
    model = CHGNet().load(entry("0.2.0"), "cpu")
    pair = item_of(Atoms("H2", [(0, 0, 0), (0, 0, 0.8)]), model.cutoff_angstrom)
    salt = item_of(Atoms("NaCl", [(0, 0, 0), (2.8, 0, 0)], cell=[5.6, 4, 4], pbc=True), model.cutoff_angstrom)
    far = item_of(Atoms("H2", [(0, 0, 0), (0, 0, 4.0)]), model.cutoff_angstrom)
    for alone in (pair, far):
        company = model.predict([salt, alone, salt], ALL)[1]
        assert abs(company.energy - model.predict([alone], ALL)[0].energy) < 1e-5


def a_file_of_its_trainer_is_read_and_others_are_refused(folder: Path) -> None:
    path, mark = folder / "own.pth.tar", folder / "mark"
    torch.save({"model": Network.load(use_device="cpu", verbose=False).as_dict()}, path)
    own = CHGNet().load(entry(path), "cpu")
    assert (own.num_parameters, own.level_of_theory) == (412_525, None)
    torch.save({"weights": torch.ones(1)}, path)
    assert "no checkpoint of CHGNet" in refusal(lambda: CHGNet().load(entry(path), "cpu"), ExitCode.DATA)
    torch.save({"model": Malicious(mark)}, path)
    refusal(lambda: CHGNet().load(entry(path, trust_checkpoint=True), "cpu"), ExitCode.DATA)
    assert not mark.exists()


def a_model_that_keeps_its_tensors_is_seen_by_the_contract() -> None:
    """Needs torch, so it is here; the other violations are tested with the contract itself."""
    model = CHGNet().load(entry("0.3.0"), "cpu")
    assert list(keeps_nothing(Subject(CHGNet(), model, examples(model.elements)))) == []
    kept = []
    predict = model.predict
    model.predict = lambda batch, want: kept.append(torch.ones(1)) or predict(batch, want)
    assert list(keeps_nothing(Subject(CHGNet(), model, examples(model.elements)))) == [
        "1 tensors more are alive after a batch than before it"
    ]
