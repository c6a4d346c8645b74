"""The zero of energy: what tables, fits and groups subtract, from labels and predictions alike."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from bench_core.errors import BenchError, ExitCode
from bench_score.baseline import make_zero
from bench_score.dataset import Dataset
from bench_score.structure import Floats, Structure

FORMULAS = ("H2", "H2O", "CH4", "CO2", "CO", "C2H6", "O2", "CH4O")
ALL = np.ones(len(FORMULAS), dtype=np.bool_)
ATOMIC = {"H": -13.0, "C": -1000.0, "O": -2000.0}


def dataset(formulas: Sequence[str] = FORMULAS, groups: Sequence[str | None] | None = None, **options: Any) -> Dataset:
    structures = [
        Structure(
            formula, np.array(Atoms(formula).numbers), np.zeros((len(Atoms(formula)), 3)), *no_cell(), group=group
        )
        for formula, group in zip(formulas, groups or [None] * len(formulas), strict=True)
    ]
    return Dataset("some", tuple(structures), **options)


def no_cell() -> tuple[Floats, Any]:
    return np.zeros((3, 3)), np.zeros(3, dtype=np.bool_)


def atoms_only(formulas: Sequence[str] = FORMULAS, **table: float) -> Floats:
    return np.array([sum((table or ATOMIC)[symbol] for symbol in Atoms(formula).symbols) for formula in formulas])


def binding(seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(scale=5, size=len(FORMULAS))


def mae(zero: Any, labels: Floats, predictions: Floats, ok: Any = ALL) -> float:
    return float(np.nanmean(np.abs(zero.apply(labels, ok) - zero.apply(predictions, ok))))


def test_without_a_zero_energies_stay_as_they_are() -> None:
    zero = make_zero(None, dataset())
    ok = ALL.copy()
    ok[2] = False
    relative = zero.apply(binding(), ok)
    assert np.isnan(relative[2]) and np.array_equal(relative[ok], binding()[ok])
    assert np.array_equal(zero.scored(ok), ok)


def test_a_table_takes_away_the_atoms_and_leaves_binding() -> None:
    zero = make_zero(ATOMIC, dataset())
    assert zero.apply(atoms_only() + binding(), ALL) == pytest.approx(binding(), abs=1e-9)


def test_a_number_counts_for_every_atom() -> None:
    assert make_zero(-2.0, dataset(["H2", "H2O"])).apply(np.array([-5.0, -7.0]), ALL[:2]).tolist() == [-1.0, -1.0]


def test_shifting_atomic_energies_changes_no_error() -> None:
    labels, predictions = atoms_only() + binding(), atoms_only() + binding(1)
    plain = mae(make_zero(None, dataset()), labels, predictions)
    for shift in (0.0, -1.5, 700.0):
        table = {symbol: energy + shift for symbol, energy in ATOMIC.items()}
        assert mae(make_zero(table, dataset()), labels, predictions) == pytest.approx(plain, rel=1e-12)


def test_an_average_makes_a_model_of_another_zero_equal() -> None:
    labels = atoms_only() + binding()
    other = binding() + atoms_only(H=-0.5, C=3.0, O=80.0)
    assert mae(make_zero("average", dataset()), labels, other) == pytest.approx(0, abs=1e-9)
    assert mae(make_zero(None, dataset()), labels, other) > 1000


def test_an_average_is_the_least_squares_of_energies_per_atom_by_hand() -> None:
    zero = make_zero("average", dataset(["H", "H2", "H2"]))
    # Per atom: 3, 2 and 4, so a hydrogen has 3.
    assert zero.apply(np.array([3.0, 4.0, 8.0]), ALL[:3]) == pytest.approx([0.0, -2.0, 2.0])


def test_an_average_is_fitted_where_both_energies_are_there() -> None:
    ok = ALL.copy()
    ok[[1, 4]] = False
    energies = np.where(ok, atoms_only() + binding(), np.nan)
    energies[4] = 1e9  # there, but not of both
    relative = make_zero("average", dataset()).apply(energies, ok)
    assert np.array_equal(np.isnan(relative), ~ok)
    kept = [formula for formula, there in zip(FORMULAS, ok, strict=True) if there]
    assert relative[ok] == pytest.approx(make_zero("average", dataset(kept)).apply(energies[ok], ALL[: len(kept)]))


def test_an_average_copes_with_elements_that_always_come_together() -> None:
    formulas = ["H2O", "H4O2", "H6O3"]  # per atom, all alike
    zero = make_zero("average", dataset(formulas))
    energies = np.array([-9.0, -18.0, -30.0])
    relative = zero.apply(energies, ALL[:3])
    assert relative / [3, 6, 9] == pytest.approx(np.array([-3.0, -3.0, -10 / 3]) + 28 / 9)
    assert zero.scored(ALL[:3]).all()


def test_an_average_says_which_structures_decide_themselves() -> None:
    scored = make_zero("average", dataset(["H2", "H2", "CO"])).scored(ALL[:3])
    assert scored.tolist() == [True, True, False]


def test_nothing_predicted_leaves_nothing() -> None:
    for given in (None, ATOMIC, "average"):
        zero = make_zero(given, dataset())
        assert np.isnan(zero.apply(binding(), ~ALL)).all()
        assert not zero.scored(~ALL).any()


def test_a_group_is_relative_to_its_reference_structure() -> None:
    data = dataset(["Cu", "Cu", "Cu2"], ["Cu"] * 3, references={"Cu": 1})
    zero = make_zero("group", data)
    labels, predictions = np.array([0.1, 0.0, 0.5]), np.array([-3.6, -4.0, -7.2])
    assert zero.apply(labels, ALL[:3]) == pytest.approx([0.1, 0.0, 0.5])
    assert zero.apply(predictions, ALL[:3]) == pytest.approx([0.4, 0.0, 0.8])
    assert zero.scored(ALL[:3]).tolist() == [True, False, True]


def test_a_group_whose_reference_was_not_predicted_has_no_energies() -> None:
    data = dataset(["Cu", "Cu", "Al", "Al"], ["Cu", "Cu", "Al", "Al"], references={"Cu": 0, "Al": 2})
    ok = np.array([False, True, True, True])
    zero = make_zero("group", data)
    assert np.isnan(zero.apply(np.arange(4.0), ok)).tolist() == [True, True, False, False]
    assert zero.scored(ok).tolist() == [False, False, False, True]


def test_a_group_without_reference_is_relative_to_its_mean_per_atom() -> None:
    data = dataset(["H2O", "H4O2", "H2", "H2"], ["water", "water", "gas", "alone"])
    zero = make_zero("group", data)
    energies = np.array([-3.0, -12.0, -1.0, -5.0])
    # Water has -1 and -2 per atom, -1.5 in the mean.
    assert zero.apply(energies, ALL[:4]) == pytest.approx([1.5, -3.0, 0.0, 0.0])
    assert zero.scored(ALL[:4]).tolist() == [True, True, False, False]
    ok = np.array([True, False, True, True])
    assert zero.apply(energies, ok)[0] == 0
    assert zero.scored(ok).tolist() == [False] * 4


def test_a_group_s_zero_takes_a_constant_per_atom_out_of_every_group() -> None:
    formulas, groups = ["H2O", "H4O2", "H2", "H4"], ["water", "water", "gas", "gas"]
    zero = make_zero("group", dataset(formulas, groups))
    labels = binding()[:4]
    shifted = labels + np.array([30.0, 60.0, -2.0, -4.0])  # 10 and -1 per atom
    assert zero.apply(shifted, ALL[:4]) == pytest.approx(zero.apply(labels, ALL[:4]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"H": -13.0, "C": -1.0}, "no energy for O, which some has; add it"),
        ({**ATOMIC, "Xx": 1.0}, "'Xx' is no chemical element"),
        ({**ATOMIC, "H": float("nan")}, "the energy of H is not finite"),
        ("mean", '\'mean\' is neither "average" nor "group"'),
        (float("inf"), "inf is not finite"),
    ],
)
def test_a_mistake_in_atomic_energies_is_one_sentence(given: Any, message: str) -> None:
    with pytest.raises(BenchError) as caught:
        make_zero(given, dataset())
    assert str(caught.value).startswith("atomic_energies: ")
    assert message in str(caught.value)


def test_groups_are_needed_for_every_structure() -> None:
    with pytest.raises(BenchError, match="a group for every structure, and H2O has none") as caught:
        make_zero("group", dataset(["H2", "H2O"], ["gas", None]))
    assert caught.value.code == ExitCode.DATA
