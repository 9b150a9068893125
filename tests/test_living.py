"""Parameters stay alive: the tape of a file gives the numbers of its equations for other parameters, or says that the
file must be read again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS

from mechsim.errors import SpecError
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.spec import parse
from mechsim.spec.living import Living, Tape, hypot, settled
from mechsim.spec.reader import read

FILES = sorted(SPECS.glob("**/*.yaml"))

# Everything that a number can go through on its way: products, roots, shapes of parts, offsets, laws, guesses.
MECHANISM = """
Title: all ways of a number
PhysicalParams: {a: 1.2, b: a/2, m: 0.7, k: 30, c: 0.4, g: 9.81, tilt: 0.3, n: 2}
PartData:
  Fixed: {O: [0, a/10], P: [3*a, 0]}
  Rigids:
    OA: {Geom: [[a]], Dyna: [[a/2, b/9], m, m*a**2/12]}
    ABC: {Geom: [[sqrt(a**2 + b**2)], [b, a*sin(tilt)]], Dyna: [[b], 2*m, m*b**n]}
  Springs: {PC: {k: k, l: a, c: c}}
  Particles: {B: m/3}
AppliedForces:
  Gravity: [0, -g]
  ConstForces: {ABC.C: [k/100, 1]}
  Torques: {OA: -c*omega_OA + k*tanh(theta_OA/a)**n/50}
ProblemData:
  tend: 1
  positions: {A: [a, 0], B: [a, -a]}
"""


def traced(
    text: str,
    varied: tuple[str, ...],
    path: str = "f",
    overrides: Mapping[str, str] = {},
    files: Mapping[str, str] = {},
):
    tape = Tape(varied)
    mechanism = build(parse(text, path, overrides, files, tape=tape), noted=False)
    return tape, mechanism, Numbers(tape, mechanism, System(settled(mechanism)))


def assert_alike(numbers: Numbers, values: np.ndarray, system: System) -> None:
    # The same operations in the same order; `hypot` of NumPy and of Python differ by a rounding.
    for group, table in zip(system.groups, numbers.tables, strict=True):
        assert values[table] == pytest.approx(group.constants, rel=1e-14, abs=0)
    assert values[numbers.constants] == pytest.approx(system.constants, rel=1e-14, abs=0)
    assert values[numbers.scales] == pytest.approx(system.scales[: system.n], rel=1e-14, abs=0)


# Files whose lengths equal each other or whose bodies are flat to the bit, so that more than a quarter of their
# parameters decide; gears mesh as their guesses stand, which every number may change. Then the file is read again.
# So it is where outlines meet, of which corners and edges are plain numbers, and where coefficients of friction are
# compared with each other.
TIED = {"bevel_gears": 0.1, "rotating_beam": 0.5, "skew2pend": 0.5, "door": 0.5, "bouncing_particle": 0.6}
TIED |= {"billiard": 0, "cradle_discs": 0.6, "geneva": 0, "jack_in_cup": 0, "rocking_block": 0}
TIED |= {"dominoes": 0.5, "housner_block": 0.5, "stick_slip": 0.6}


LONG = {"dominoes"}


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] if path.stem in LONG else [], id=path.stem) for path in FILES],
)
def test_every_file_keeps_its_formulas(path: Path):
    """Each parameter changed by a little: what the tape tells is what the file read anew has, or the tape says no."""
    spec = read(path)
    alive = 0
    for name, number in spec.parameters.items():
        _, _, numbers = traced(spec.text, (name,), spec.path, files=dict(spec.files))
        changed = number.value * 1.0001 + (1e-4 if number.value == 0 else 0)
        values = numbers.values([[number.value, changed]])
        same, other = numbers.hold(values)
        assert same
        assert_alike(numbers, values[:, 0], System(build(spec)))
        if other:
            alive += 1
            again = parse(spec.text, spec.path, {name: repr(changed)}, spec.files)
            assert_alike(numbers, values[:, 1], System(build(again)))
    # Only a parameter that is zero, or that another one equals, may decide about the structure.
    assert alive >= TIED.get(path.stem, 0.75) * len(spec.parameters)


@some_of(40)
@given(st.lists(st.tuples(*[st.floats(0.3, 3)] * 4), min_size=1, max_size=5))
def test_many_sets_at_once(sets):
    names = ("a", "m", "k", "tilt")
    _, _, numbers = traced(MECHANISM, names)
    values = numbers.values(np.array(sets).T)
    for column, parameters in enumerate(sets):
        given = {name: repr(value) for name, value in zip(names, parameters, strict=True)}
        system = System(build(parse(MECHANISM, "f", given)))
        if numbers.hold(values)[column]:
            assert_alike(numbers, values[:, column], system)
        alone = numbers.values(np.array(parameters)[:, None])
        assert np.array_equal(alone[:, 0], values[:, column])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", 0.0),
        ("c", 0.0),
        ("g", 0.0),
        ("tilt", 0.0),
        ("n", 3.0),
        ("a", -1.0),
        ("m", -0.1),
        ("m", 1e80),
        ("a", math.nan),
    ],
)
def test_what_may_change_the_structure_or_is_a_mistake_is_noticed(name, value):
    """Zeros fold, exponents are part of a formula, and lengths and masses have bounds."""
    _, _, numbers = traced(MECHANISM, (name,))
    assert not numbers.hold(numbers.values([[value]]))[0]


def test_a_parameter_that_is_varied_hides_its_formula():
    tape, mechanism, numbers = traced(MECHANISM, ("a", "b"))
    values = numbers.values([[2.0], [0.7]])
    assert numbers.hold(values)[0]
    system = System(build(parse(MECHANISM, "f", {"a": "2", "b": "0.7"})))
    assert_alike(numbers, values[:, 0], system)
    assert tape.varied == ("a", "b") and isinstance(mechanism.variables[0].scale, Living)


def test_numbers_that_lose_their_formula_are_held():
    tape = Tape(("x",))
    x = tape.value_of("x", 3.0)
    for use in (float, int, str, repr, "{:g}".format, complex, np.asarray, lambda x: np.array([x, 1.0])):
        tape.guards.clear()
        use(x)
        assert tape.guards == {("equal", 0, tape.number_of(3.0)): True}, use
    assert not isinstance(settled({"a": [(x, 1)]})["a"][0][0], Living)


def test_comparisons_are_kept_with_their_outcome():
    tape = Tape(("x", "y"))
    x, y = tape.value_of("x", 3.0), tape.value_of("y", 4.0)
    assert x < y and not x > y and x <= y and not x >= y and x != y and bool(x) and abs(-x) == 3 and max(x, y) is y
    assert hypot(x, y) == 5 and hypot(x) == 3
    guards = set(tape.guards.items())
    assert (("less", x.number, y.number), True) in guards and (("less", y.number, x.number), False) in guards


def test_a_mistake_is_told_as_ever():
    with pytest.raises(SpecError, match="must not be negative"):
        traced(MECHANISM, ("m",), overrides={"m": "-1"})
