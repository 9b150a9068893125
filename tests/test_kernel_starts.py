"""Starts that the kernel finds are those that `Beside` finds alone, and tables that do not fit are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS
from test_branch import FOUR_BAR, FREE, SLIDER_CRANK
from test_many_columns import PENDULUM

import mechsim
from mechsim.handle.family import Variation, untold
from mechsim.kernel import _kernel
from mechsim.kernel.starts import make_starts

# Both polish until rounding stops them; in a pose that is no singular one, what is left are a few roundings.
ALIKE = 1e-14
SHARES = np.array([1e-6, -1e-3, 0.01, -0.05, 0.15])
FAST = ("andrews", "four_bar", "double_pendulum", "mechanism0_figure3", "driven_slider_crank", "rolling_wheel")
DOUBLE = """
PhysicalParams: {l: 1, th1: 1, th2: 0.5}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[l]]}, AB: {Geom: [[l]]}}, Particles: {A: 1, B: 1}}
AppliedForces: {Gravity: }
ProblemData:
  tend: 1
  positions: {A: [l*sin(th1), -l*cos(th1)], B: [l*sin(th1) + l*sin(th2), -l*cos(th1) - l*cos(th2)]}
"""


def compared(variation: Variation, columns: np.ndarray) -> int:
    """How many starts were found together; each must be the one that is found alone."""
    values = variation.numbers.values(columns)
    values = np.ascontiguousarray(values[:, variation.numbers.hold(values)])
    found = variation.starts(values)
    for k in np.flatnonzero(found.found):
        own = np.ascontiguousarray(values[:, k])
        if np.array_equal(own[variation.tuning.starting], variation._own[variation.tuning.starting]):
            continue
        alone = variation.start_alone(own, untold)
        assert alone is not None
        scales = variation.system(own).scales[: variation.like.n]
        speed = max(1.0, float(np.abs(alone.velocities / scales).max()))
        assert np.abs((found.positions[k] - alone.positions) / scales).max() < ALIKE
        assert np.abs((found.velocities[k] - alone.velocities) / scales).max() < ALIKE * speed
    return int(found.found.sum())


def every_parameter(path: Path) -> None:
    handle = mechsim.mechanism(path)
    family = handle._family()
    for name, number in handle._file.parameters.items():
        own = float(number)
        compared(family.variation((name,)), (own * (1 + SHARES) if own else SHARES)[None])


@pytest.mark.parametrize("name", FAST)
def test_starts_found_together_are_those_found_alone(name: str) -> None:
    every_parameter(next(SPECS.rglob(f"{name}.yaml")))


HELD = [path for path in sorted(SPECS.rglob("*.yaml")) if "contacts" not in path.parts]  # whose starts are found alone


@pytest.mark.slow
@pytest.mark.parametrize("path", HELD, ids=lambda path: path.stem)
def test_starts_of_all_specs_found_together_are_those_found_alone(path: Path) -> None:
    every_parameter(path)


def number(least: float, most: float) -> st.SearchStrategy[float]:
    return st.floats(least, most).map(lambda value: round(value, 4))


@some_of(15)
@given(st.lists(st.tuples(number(0.4, 2), number(1.5, 4), number(-3, 3), number(-3, 3)), min_size=1, max_size=6))
@pytest.mark.parametrize("text", [FOUR_BAR, FREE])
def test_four_bars_on_their_way_elsewhere(text: str, sets: list[tuple[float, ...]]) -> None:
    handle = mechsim.mechanism(text)
    compared(handle._family().variation(("a", "b", "turn", "up")), np.array(sets).T)


@some_of(15)
@given(st.lists(st.tuples(number(0.4, 2), number(-3, 3), number(-4, 4)), min_size=1, max_size=6))
def test_slider_cranks_on_their_way_elsewhere(sets: list[tuple[float, ...]]) -> None:
    compared(mechsim.mechanism(SLIDER_CRANK)._family().variation(("a", "turn", "aside")), np.array(sets).T)


@pytest.mark.parametrize(("text", "name"), [(PENDULUM, "th0"), (DOUBLE, "th1"), (DOUBLE, "th2")])
def test_pendulums_far_from_their_own_start_are_found_together(text: str, name: str) -> None:
    """Where the guesses are across the circle, the distance has a saddle: only such a start may be left to `Beside`."""
    angles = np.linspace(-2.1, 4.1, 33)
    assert compared(mechsim.mechanism(text)._family().variation((name,)), angles[None]) == len(angles)


def test_what_is_not_plain_is_left_alone() -> None:
    """A rod held at its horizontal end is a dead point."""
    handle = mechsim.mechanism(SPECS / "mechanism0.yaml")
    values = (variation := handle._family().variation(("L",))).numbers.values([[1.001, 1.01]])
    assert not variation.starts(values).found.any()


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the kernel is told of the starts of a four-bar."""
    seen: list[object] = []
    variation = mechsim.mechanism(FREE)._family().variation(("a",))

    class Noted:
        def __init__(self, *arguments: object):
            seen.extend(arguments)

    monkeypatch.setattr(_kernel, "Starts", Noted)
    assert make_starts and variation.many
    monkeypatch.undo()
    return seen


@pytest.mark.parametrize("place", [3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15])
@pytest.mark.parametrize("wrong", ["larger", "negative", "shorter"])
def test_tables_that_do_not_fit_are_refused_or_harmless(tables: list[object], place: int, wrong: str) -> None:
    """Indices that lead nowhere, and columns too few; numbers may be any."""

    def changed(table: np.ndarray) -> np.ndarray:
        table = table.copy()
        if wrong == "shorter":
            return np.ascontiguousarray(table[..., :-1])
        if table.size:
            table[-1] = 1_000_000 if wrong == "larger" else -7
        return table

    own = tables[place]
    if isinstance(own, list):
        tables[place] = [changed(each) for each in own]
    else:
        assert isinstance(own, np.ndarray)
        tables[place] = changed(own)
    try:
        search = _kernel.Starts(*tables)  # type: ignore[arg-type]
    except ValueError:
        return
    numbers = tables[0]
    assert isinstance(numbers, _kernel.Constants)
    search.find(numbers.values(np.array([[1.1]])), np.array([[1.1]]))


def test_values_of_other_numbers_are_refused(tables: list[object]) -> None:
    search = _kernel.Starts(*tables)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        search.find(np.zeros((3, 2)), np.zeros((1, 2)))
    numbers = tables[0]
    assert isinstance(numbers, _kernel.Constants)
    values = numbers.values(np.array([[1.1, 1.2]]))
    with pytest.raises(ValueError):
        search.find(values, np.zeros((1, 1)))
    with pytest.raises(ValueError):
        search.check(values, np.zeros(1), np.zeros((2, 2)), np.zeros((2, 2)))


def test_a_mechanism_without_a_start_has_none_for_many() -> None:
    handle = mechsim.mechanism(FOUR_BAR, {"d": 30})
    assert handle.simulate_many({"a": [1.1]}, tend=0.1, keep="final").status == ("not_assembled",)
