"""The contract of families passes a right model (test_documented_family.py) and sees what is wrong with others."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from bench_score import contract
from bench_score.contract import check_model, examples
from bench_score.model import Item, Prediction, Want

GPA = 160.2177  # of one eV/angstrom^3


class Springs:
    """Every pair within the cutoff pulls, less and less towards it: E = 1/2 sum over pairs of (1 - r^2/c^2)^3 eV."""

    num_parameters = 0
    cutoff_angstrom = 4.0
    elements: frozenset[int] | None = None
    level_of_theory: str | None = None
    checkpoint_sha256: str | None = None
    trusted: object = False

    def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
        return [self.one(item, want) for item in batch]

    def one(self, item: Item, want: Want) -> Prediction:
        structure, pairs = item
        assert pairs is not None
        inner = 1 - (pairs.distances / self.cutoff_angstrom) ** 2
        pull = -3 * inner[:, None] ** 2 * pairs.vectors / self.cutoff_angstrom**2
        forces = np.zeros((structure.num_atoms, 3))
        np.add.at(forces, pairs.first, pull)
        np.add.at(forces, pairs.second, -pull)
        whole = want.stress and bool(structure.pbc.all())
        full = pairs.vectors.T @ pull / abs(np.linalg.det(structure.cell)) if whole else np.zeros((3, 3))
        stress = full[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]
        return Prediction(float(0.5 * np.sum(inner**3)), forces if want.forces else None, stress if whole else None)


class Family:
    distributions = ("numpy",)


Spoil = Callable[[Prediction, Item, Want], Prediction]


def spoilt(spoil: Spoil) -> Springs:
    class Spoilt(Springs):
        def one(self, item: Item, want: Want) -> Prediction:
            return spoil(super().one(item, want), item, want)

    return Spoilt()


def violated(model: object, family: object = Family) -> dict[str, tuple[str, ...]]:
    found = check_model(family, model)  # type: ignore[arg-type]
    return {finding.check: finding.violations for finding in found if finding.violations}


def scale(name: str, factor: float) -> Spoil:
    def spoil(prediction: Prediction, item: Item, want: Want) -> Prediction:
        value = getattr(prediction, name)
        return prediction._replace(**{name: None if value is None else value * factor})

    return spoil


def test_a_right_model_violates_nothing() -> None:
    assert violated(Springs()) == {}


@pytest.mark.parametrize(("factor", "what"), [(-1.0, "sign"), (GPA, "unit"), (0.9, "a tenth")])
def test_a_stress_of_another_sign_or_unit_is_seen(factor: float, what: str) -> None:
    found = violated(spoilt(scale("stress", factor)))
    assert [*found] == ["has_a_stress_that_is_a_slope"], what
    assert all("(1/V) dE/dstrain is" in text for text in found["has_a_stress_that_is_a_slope"])


def test_a_stress_in_another_order_is_seen() -> None:
    order = [0, 1, 2, 5, 3, 4]
    swapped = spoilt(lambda p, item, want: p._replace(stress=None if p.stress is None else p.stress[order]))
    assert "has_a_stress_that_is_a_slope" in violated(swapped)


@pytest.mark.parametrize("factor", [-1.0, 0.5])
def test_forces_that_are_not_slopes_are_seen(factor: float) -> None:
    assert [*violated(spoilt(scale("forces", factor)))] == ["has_forces_that_are_slopes"]


def test_a_derivative_that_nobody_asked_for_and_one_that_is_missing_are_seen() -> None:
    class Eager(Springs):
        def one(self, item: Item, want: Want) -> Prediction:
            return super().one(item, Want(forces=True, stress=want.stress))

    found = violated(Eager())
    assert [*found] == ["computes_what_is_wanted"]
    assert "crystal: forces is there with forces=False, stress=True" in found["computes_what_is_wanted"]
    lazy = violated(spoilt(lambda p, item, want: p._replace(stress=None)))
    assert lazy == {"answers_in_shape": tuple(f"{n}: the stress is no 6 finite numbers" for n in PERIODIC)}


PERIODIC = ("crystal", "squeezed", "outside")


def test_a_stress_without_a_volume_is_seen() -> None:
    found = violated(spoilt(lambda p, item, want: p._replace(stress=np.zeros(6) if want.stress else None)))
    assert "molecule: has a stress, without three periodic directions" in found["answers_in_shape"]


def test_numbers_that_are_not_finite_or_of_another_shape_are_seen() -> None:
    found = violated(spoilt(lambda p, item, want: p._replace(energy=float("nan"))))
    assert "atom: the energy is nan" in found["answers_in_shape"]
    found = violated(spoilt(lambda p, item, want: p._replace(forces=np.zeros(3))))
    assert "crystal: forces are no 2 x 3 finite numbers" in found["answers_in_shape"]


def test_a_prediction_that_depends_on_its_company_is_seen() -> None:
    class Sociable(Springs):
        def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
            return [found._replace(energy=found.energy + len(batch)) for found in super().predict(batch, want)]

    assert "crystal, alone and in a batch: energy differs by 5 eV" in violated(Sociable())["is_the_same_in_any_batch"]


def test_a_prediction_that_depends_on_chance_is_seen() -> None:
    random = np.random.default_rng(0)
    found = violated(spoilt(lambda p, item, want: p._replace(energy=p.energy + random.normal())))
    assert any("a second time: energy differs" in text for text in found["is_the_same_in_any_batch"])


def test_answers_in_another_order_are_seen() -> None:
    class Reversed(Springs):
        def predict(self, batch: Sequence[Item], want: Want) -> list[Prediction]:
            return super().predict(batch[::-1], want)

    assert "raises" in violated(Reversed())["is_the_same_in_any_batch"][0]  # shapes that do not fit


def test_a_prediction_that_depends_on_the_place_or_the_direction_is_seen() -> None:
    placed = spoilt(lambda p, item, want: p._replace(energy=p.energy + item.structure.positions[0, 0]))
    assert "atom, moved: energy differs by 1.3 eV" in violated(placed)["is_the_same_wherever_it_lies"]

    class Pulled(Springs):
        def one(self, item: Item, want: Want) -> Prediction:
            found = super().one(item, want)
            return found._replace(forces=None if found.forces is None else found.forces + np.array([0.0, 0.0, 1.0]))

    found = violated(Pulled())["is_the_same_wherever_it_lies"]
    assert any(text.startswith("atom, turned: forces differs") for text in found)


def test_a_model_that_writes_to_a_structure_is_told() -> None:
    def write(prediction: Prediction, item: Item, want: Want) -> Prediction:
        item.structure.positions[0] = 0
        return prediction

    assert "read-only" in violated(spoilt(write))["answers_in_shape"][0]


def test_what_a_model_raises_is_a_violation_of_each_check_that_asks_it() -> None:
    def fail(prediction: Prediction, item: Item, want: Want) -> Prediction:
        raise MemoryError("too large")

    found = violated(spoilt(fail))
    assert found["answers_in_shape"] == ("raises MemoryError: too large",)
    assert [*found] == [check.__name__ for check in contract.CHECKS[1:-1]]


def test_what_a_family_says_of_itself_is_checked() -> None:
    class Nameless:
        distributions = ()

    class Foreign:
        distributions = ("numpy", "no-such-package")

    class Strange(Springs):
        num_parameters = -1
        cutoff_angstrom = 0.0
        elements = frozenset({0, 6})
        level_of_theory = ""
        checkpoint_sha256 = "1234"
        trusted = None

    assert "is empty" in violated(Springs(), Nameless)["says_what_it_is"][0]
    assert "no-such-package, which is not installed" in violated(Springs(), Foreign)["says_what_it_is"][0]
    assert len(violated(Strange())["says_what_it_is"]) == 6


@pytest.mark.parametrize("elements", [None, frozenset({18}), frozenset({1, 8}), frozenset({79, 92, 3})])
def test_examples_are_made_of_what_the_model_knows(elements: frozenset[int] | None) -> None:
    for structure in examples(elements):
        assert elements is None or set(structure.numbers.tolist()) <= elements
        moved = replace(structure, positions=structure.positions.copy())
        distances = np.linalg.norm(moved.positions[:, None] - moved.positions[None], axis=2)
        assert distances[~np.eye(structure.num_atoms, dtype=bool)].min(initial=9.0) > 0.3


def test_the_command_refuses_an_unknown_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert contract.main(["mlip_chgnett"]) == 2
    assert "contract: unknown family 'mlip_chgnett'" in capsys.readouterr().err
