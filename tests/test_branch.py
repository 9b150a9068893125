"""The start of a handle with other parameters: nearest to the guesses, on the branch of the file's own start.

With the crank held, a four-bar and a slider-crank each close in two ways, told apart by the side of a dyad; where the
parameters on the straight way let it close, that side is kept, wherever the guesses go.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from examples import some_of
from hypothesis import assume, example, given
from hypothesis import strategies as st

import mechsim
from mechsim.errors import AssemblyError
from mechsim.initial.branch import carried

SLIDER_CRANK = """
PhysicalParams: {a: 1, b: 2.5, e: 0.2, turn: 0.9, aside: 3}
PartData:
  Fixed: {O: [], P: [-9, e], Q: [9, e]}
  Rigids:
    OA: {Geom: [[a]], Dyna: [[a/2], 1, 0.1]}
    AB: {Geom: [[b]], Dyna: [[b/2], 1, 0.5]}
Joints: {Slots: {B-PQ: []}}
AppliedForces: {Gravity: }
ProblemData: {tend: 1, positions: {B: [aside]}, angles: {OA: [turn, fixed]}}
"""
FOUR_BAR = """
PhysicalParams: {a: 1, b: 3, c: 2.5, d: 3, turn: 1, up: 2, drag: 0}
PartData:
  Fixed: {O: [], Q: [d]}
  Rigids:
    OA: {Geom: [[a]], Dyna: [[a/2], 1, 0.1]}
    AB: {Geom: [[b]], Dyna: [[b/2], 1, 0.5]}
    QB: {Geom: [[c]], Dyna: [[c/2], 1, 0.4]}
AppliedForces: {Gravity: , Torques: {OA: -drag*omega_OA}}
ProblemData: {tend: 1, positions: {B: [3, up]}, angles: {OA: [turn, fixed]}}
"""
FREE = FOUR_BAR.replace("[turn, fixed]", "turn")  # the crank is guessed: a crank-rocker, whose two ways stay apart
SWING = """
PhysicalParams: {across: 1}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, 1/6]}}}
ProblemData: {tend: 1, positions: {A: [0.6*across, -0.8*across]}}
"""
MARGIN = 0.02  # of a length of about 1: so far from the pose where both ways meet, nobody doubts which is which


def number(least: float, most: float) -> st.SearchStrategy[float]:
    return st.floats(least, most).map(lambda value: round(value, 4))


def side(handle: mechsim.handle.MechanismHandle) -> float:
    """On which side of the line from A to the ground's pivot (or upright, for a slider) B is."""
    at = dict(zip(handle.coordinates, handle.start()[0], strict=True))
    b = np.array([at["B_x"] - at["A_x"], at["B_y"] - at["A_y"]])
    if "e" in handle.parameters:
        return float(b[0])
    q = np.array([handle.parameters["d"] - at["A_x"], -at["A_y"]])
    return float(q[0] * b[1] - q[1] * b[0])


def room(parameters: dict[str, np.ndarray]) -> np.ndarray:
    """How far the dyad is from being stretched or folded; below 0 it cannot close."""
    x, y = (parameters["a"] * f(parameters["turn"]) for f in (np.cos, np.sin))
    if "e" in parameters:
        return np.asarray(parameters["b"] - np.abs(y - parameters["e"]))
    apart = np.hypot(parameters["d"] - x, y)
    b, c = parameters["b"], parameters["c"]
    return np.asarray(np.minimum(b + c - apart, apart - np.abs(b - c)))


def kept_side(text: str, wanted: dict[str, float]) -> None:
    """The side is kept where the straight way has room; where it has not, that is said."""
    handle = mechsim.mechanism(text)
    own = handle.parameters
    shares = np.linspace(0, 1, 401)
    way = {name: value + shares * (wanted.get(name, value) - value) for name, value in own.items()}
    least = room(way).min()
    assume(abs(least) > MARGIN and abs(room(way)[-1]) > MARGIN)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = side(handle.with_parameters(**wanted))
        except AssemblyError:
            assert room(way)[-1] < 0
            return
    followed = not any(issubclass(each.category, mechsim.BranchWarning) for each in said)
    assert followed == (least > 0)
    if followed:
        assert np.sign(found) == np.sign(side(handle))


@some_of(40)
@example(2.0, 1.0, 1.0, 2.0, 6.0, 1.0)  # a kite, which may fold instead
@given(number(0.4, 2.5), number(1, 5), number(1, 4), number(1, 5), number(-4, 6), number(-4, 4))
def test_a_four_bar_keeps_the_side_of_its_dyad(a: float, b: float, c: float, d: float, turn: float, up: float) -> None:
    kept_side(FOUR_BAR, {"a": a, "b": b, "c": c, "d": d, "turn": turn, "up": up})


@some_of(40)
@given(number(0.4, 2.5), number(0.8, 4), number(-1, 1), number(-4, 6), number(-4, 4))
def test_a_slider_crank_keeps_the_side_of_its_slider(a: float, b: float, e: float, turn: float, aside: float) -> None:
    kept_side(SLIDER_CRANK, {"a": a, "b": b, "e": e, "turn": turn, "aside": aside})


@pytest.mark.parametrize("text", [FOUR_BAR, FREE])
def test_a_guess_on_the_other_side_does_not_change_the_branch(text: str) -> None:
    """A file read anew closes below for a guess below; a handle closes above, where its file does."""
    handle = mechsim.mechanism(text)
    for up in (2.0, 0.3, 0.0, -0.3, -2.0, -20.0):
        assert side(handle.with_parameters(up=up)) > 0
    assert side(mechsim.mechanism(text, {"up": -2.0})) < 0
    # The point nearest to the guesses has a derivative by them, which another point has not.
    motion = handle.simulate(parameters={"up": -2.0}, tend=0.01, tangents=["up"])
    beside = [handle.with_parameters(up=up).start()[0] for up in (-2.0 + 1e-5, -2.0 - 1e-5)]
    slope = dict(zip(handle.coordinates, (beside[0] - beside[1]) / 2e-5, strict=True))
    assert motion.derivative("up", 0.0)["theta_OA"] == pytest.approx(slope["theta_OA"], abs=1e-8)  # of differences


def test_another_structure_is_started_on_the_same_branch() -> None:
    """With drag there is an account of its work, a coordinate more; with another longest part, sizes are others."""
    handle = mechsim.mechanism(FOUR_BAR)
    for wanted in ({"drag": 0.5}, {"d": 4.5, "turn": 2.0}, {"drag": 0.5, "d": 4.5, "turn": 2.0}):
        with warnings.catch_warnings():
            warnings.simplefilter("error", mechsim.BranchWarning)
            assert side(handle.with_parameters(up=-3.0, **wanted)) > 0
    damped = mechsim.mechanism(FOUR_BAR, {"drag": 0.5})
    with warnings.catch_warnings():
        warnings.simplefilter("error", mechsim.BranchWarning)
        assert side(damped.with_parameters(drag=0, up=-3.0)) > 0


def test_a_branch_that_ends_on_the_way_is_told() -> None:
    """While the crank turns round with d growing, the parts do not reach for a while: at the end they close again."""
    handle = mechsim.mechanism(FOUR_BAR)
    wanted = {"turn": 2 * np.pi, "d": 6.4}
    with pytest.warns(mechsim.BranchWarning, match="ends .* of the way to these parameters") as said:
        motion = handle.simulate(parameters=wanted)
    assert said[0].filename == __file__  # where it was asked for
    fresh = mechsim.simulate(FOUR_BAR, parameters=wanted)
    assert motion.solution.q[0] == pytest.approx(fresh.solution.q[0], abs=1e-9)


def test_a_start_that_is_given_needs_no_branch() -> None:
    handle = mechsim.mechanism(FOUR_BAR)
    wanted = {"turn": 2 * np.pi, "d": 6.4}
    fresh = mechsim.simulate(FOUR_BAR, parameters=wanted)
    with warnings.catch_warnings():
        warnings.simplefilter("error", mechsim.BranchWarning)
        handle.simulate(parameters=wanted, start=(fresh(0.0), fresh.velocity(0.0)), tend=0.1)


def test_guesses_across_the_centre_are_gone_to() -> None:
    """The start of the file is then the point furthest from them, where the distance does not change either."""
    handle = mechsim.mechanism(SWING)
    for across in (-1.0, -0.5, -3.0):
        assert handle.with_parameters(across=across).start()[0][:2] == pytest.approx([-0.6, 0.8], abs=1e-9)


def test_no_start_depends_on_those_before() -> None:
    """Bit by bit, whichever way it was found."""
    wanted = [{"up": -2.0}, {"turn": 4.0}, {"a": 1.1}, {"d": 4.5, "turn": 2.0}, {"drag": 0.5, "up": -1.0}]
    alone = [mechsim.mechanism(FOUR_BAR).with_parameters(**each).start() for each in wanted]
    handle = mechsim.mechanism(FOUR_BAR)
    for order in ((4, 2, 0, 1, 3), (1, 1, 3, 0, 2, 4)):
        for number in order:
            found = handle.with_parameters(**wanted[number]).start()
            assert all(np.array_equal(one, other) for one, other in zip(found, alone[number], strict=True))


def test_steps_of_a_way_find_where_it_ends() -> None:
    """x^2 = 0.3 - s, on the upper branch: it ends at s = 0.3, to the shortest step that is tried."""

    def taken_to(_: float, share: float, x: np.ndarray) -> np.ndarray | None:
        found = np.sqrt(0.3 - share) if share <= 0.3 else np.nan
        return np.array([found]) if abs(found - x[0]) < 0.1 else None

    x, share = carried(taken_to, np.array([np.sqrt(0.3)]))
    assert share == pytest.approx(0.3, abs=2e-5) and x[0] >= 0


TURNED = """
PhysicalParams: {a: 0.5, reach: 1}
PartData: {Fixed: {O: []}, Rods: {OA: 1.3}, Particles: {A: 2}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [[1.3*reach*sin(a), fixed], -1.3*cos(a)]}}
"""


@pytest.mark.slow
def test_a_fixed_value_that_turns_back_where_branches_meet_is_told() -> None:
    """A pendulum is held by its x alone. From 0.5 rad to more than a right angle both poses of one x meet on the way,
    however near the two values of x are: then the guess counts, as if the file were read anew, and that is said."""
    angles = np.linspace(-3, 3, 41)
    motions = mechsim.mechanism(TURNED).simulate_many({"a": angles}, tend=0.01)
    found = [motions[k].motion(0)["A_y"] for k in range(len(angles))]
    np.testing.assert_allclose(found, -1.3 * np.cos(angles), rtol=0, atol=1e-13)
    told = [bool(motions.remark(k)) for k in range(len(angles))]
    assert told == list(np.abs(angles) > np.pi / 2)


@pytest.mark.parametrize("angle", [1.8, 2.6, 7.5, -4])
def test_a_fixed_value_that_turns_back_elsewhere_keeps_its_branch(angle: float) -> None:
    """It does so at 0.9 of the length: the lower pose stays the lower one, and there is nothing to tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = mechsim.mechanism(TURNED.replace("reach: 1", "reach: 0.9")).simulate(
            parameters={"a": angle}, tend=0.01
        )
    x = 1.3 * 0.9 * np.sin(angle)
    np.testing.assert_allclose([motion(0)["A_x"], motion(0)["A_y"]], [x, -np.sqrt(1.3**2 - x**2)], rtol=0, atol=1e-13)


PARTICLES = """
PhysicalParams: {a: 0}
PartData: {Fixed: {O: []}, Particles: {P: 1, Q: 2}, Rods: {OQ: 1}, Springs: {PQ: [3, 1]}}
ProblemData:
  tend: 1
  positions: {P: [[a, fixed], [a/2, fixed]], Q: [0, -1]}
  velocities: {P: [[1, fixed], [0, fixed]]}
"""


@pytest.mark.parametrize("own", [0, 1e-6, 1e-3])
def test_what_no_constraint_touches_has_no_branch_that_could_end(own: float) -> None:
    """A particle that begins at the origin has no size; it may begin anywhere, and there is nothing to tell. The bob is
    where it was: its branch is kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        handle = mechsim.mechanism(PARTICLES.replace("a: 0", f"a: {own}"))
        for a in (-7.0, 2.0, 1e6):
            motion = handle.simulate(parameters={"a": a}, tend=1e-3)
            assert motion.solution.q[0].tolist() == pytest.approx([a, a / 2, 0, -1], abs=1e-12)
        assert [each is not None for each in handle.simulate_many({"a": np.array([-7.0, 2.0])}, tend=1e-3)]
