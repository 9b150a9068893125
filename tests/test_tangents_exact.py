"""Tangents against complex steps of the whole problem in extended precision, to 1e-10: see complex_step.py."""

from __future__ import annotations

import numpy as np
import pytest
from complex_step import STEP, Bent
from reference import SPECS
from test_tangents import ARM, GUESSED, TABLE_DRIVE, followed, prepared

import mechsim
from mechsim.handle.derivatives import by_parameters

CLOSE = 1e-10
LEAST = 1e-3  # derivatives of nearly nothing are compared with this: what does not change leaves roundings, 1e-16


def assert_exact(source, names, tend: float, close: float = CLOSE) -> None:
    """At the start and at the end, relative to the largest derivative of a position, and of a velocity."""
    for name in names:
        found = by_parameters(prepared(source, tend), (name,))
        solution = followed(found.prepared, found.directions)
        assert solution.status == "finished", solution.message
        tangents, bent = solution.tangents, Bent(found.prepared, name)
        mechanical = [i for i, each in enumerate(found.prepared.mechanism.variables) if each.kind != "state"]
        for place, expected in ((0, np.stack(bent.start())), (-1, bent.end(solution.t))):
            for of, exact in zip((tangents.positions, tangents.velocities), expected, strict=True):
                exact = (exact.imag / STEP).astype(float)[mechanical]
                off = np.abs(of[place, mechanical, 0] - exact).max()
                assert off <= close * max(np.abs(exact).max(), LEAST), (name, off)


@pytest.mark.slow
def test_guessed_starts():
    """Nothing is fixed: positions and velocities are nearest to guesses that parameters pull about."""
    assert_exact(GUESSED, ("a", "b", "tilt", "w", "off"), 0.1)


def test_fixed_starts():
    text = GUESSED.replace("A: [a*cos(tilt) + 0.03, a*sin(tilt)]", "A: [a*cos(tilt), [a*sin(tilt), fixed]]")
    assert_exact(text, ("a", "tilt"), 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mom", "c0", "rr", "beta0", "d", "xa"])
def test_andrews(name):
    """A torque, a spring, and lengths and places that move the start."""
    assert_exact(SPECS / "andrews.yaml", (name,), 0.003)


TABLE = "Tables: {push: {kind: cubic, points: [[0, 0], [0.2, 2*k], [0.5, 1], [2, 3]]}}\n"
PIECES = "Piecewise: {push: [[0, k*sin(3*t)], [0.2, k**2], [0.45, m*k*t]]}\n"
CONTROL = "Controllers: {theta_OA: {target: aim + 0.1*sin(t), kp: kp, ki: 20, kd: 9, period: 0.07}}\n"


@pytest.mark.parametrize(
    ("force", "more", "names"),
    [
        ("k*push", TABLE, ("k", "l")),
        pytest.param("push", PIECES, ("k", "m"), marks=pytest.mark.slow),
        pytest.param("0", CONTROL, ("kp", "aim", "m", "l"), marks=pytest.mark.slow),
    ],
    ids=["table", "pieces", "sampled"],
)
def test_what_is_held(force, more, names):
    """Tables and pieces set constants at their breaks, controllers at their samples; all of them carry changes."""
    assert_exact(ARM.replace("HERE", force) + more, names, 0.6)


@pytest.mark.slow
def test_table_drive():
    assert_exact(TABLE_DRIVE, ("a", "lift"), 0.6)


@pytest.mark.parametrize(
    ("name", "names", "tend"),
    [
        ("chaplygin_sleigh", ("m", "I", "a"), 1.0),
        pytest.param("rolling_wheel", ("r", "alpha", "v0"), 0.5, marks=pytest.mark.slow),
        ("skate_on_incline", ("m", "I"), 0.5),
        pytest.param("friction_on_incline", ("m", "mu", "u0"), 0.3, marks=pytest.mark.slow),
        pytest.param("driven_slider_crank", ("w", "a"), 0.2, marks=pytest.mark.slow),
    ],
)
def test_joints_and_laws(name, names, tend):
    """Nonholonomic constraints, friction that depends on a reaction, drives."""
    assert_exact(SPECS / "forces" / f"{name}.yaml", names, tend)


STEADY = """
PhysicalParams: {speed: 1.3, g: 9.81, aside: 0.4}
PartData: {Particles: {A: 1}}
AppliedForces: {Gravity: [0, -g]}
Joints: {Nonholonomic: {steady: A.vx**2 + A.vy**2 - speed**2}}
ProblemData: {tend: 0.5, positions: {A: [0, 0]}, velocities: {A: [1, aside]}}
"""


@pytest.mark.slow
def test_a_constraint_that_is_not_linear_in_velocities():
    """The velocities nearest to the guess lie on a circle: how they change depends on how it bends. In closed form,
    v = speed u with u the direction of the guess."""
    assert_exact(STEADY, ("speed", "aside", "g"), 0.5)
    found = by_parameters(prepared(STEADY, 0.5), ("speed", "aside"))
    slots = [found.prepared.system.labels.index(label) for label in ("A_x", "A_y")]
    changes = found.directions.velocities[slots]
    length = np.hypot(1, 0.4)
    assert changes[:, 0] == pytest.approx(np.array([1, 0.4]) / length, abs=1e-12)
    assert changes[:, 1] == pytest.approx(1.3 * np.array([-0.4, 1]) / length**3, abs=1e-12)


def test_a_parameter_that_is_zero():
    """Damping that is not there, and its derivative."""
    text = ARM.replace("HERE", "0").replace("c: 0.3", "c: 0")
    assert_exact(text, ("c",), 0.6)


PULSE = """
PhysicalParams: {k: 0, m: 2.0, x0: 0}
Inputs: {tau: 0}
PartData: {Particles: {A: m}}
AppliedForces: {Forces: {A: [FORCE, 0]}}
ProblemData: {tend: 1, positions: {A: [x0, 0]}, velocities: {A: [1, 0]}}
"""


@pytest.mark.parametrize("tolerance", [1e-14, 1e-8, 1e-4])
@pytest.mark.parametrize("factor", ["k", "tau"])
def test_a_pulse_that_a_zero_hides(factor, tolerance):
    """The motion does not feel it, but its derivative does: by the impulse over the mass, sqrt(pi/1e6)/2."""
    text = PULSE.replace("FORCE", f"{factor}*exp(-1e6*(t - 0.5)**2)")
    motion = mechsim.mechanism(text).simulate(tangents=[factor], tol=tolerance)
    found = motion.derivative(factor, 1.0, of="velocities")["A_x"]
    assert found == pytest.approx(np.sqrt(np.pi / 1e6) / 2, rel=max(1e-12, 10 * tolerance))


@pytest.mark.parametrize("tolerance", [1e-13, 1e-8])
def test_a_pulse_on_what_stays_at_zero(tolerance):
    """A spring for a moment, on a particle that rests where it does not pull: the motion is linear, so its derivative
    is the motion from 1."""
    text = PULSE.replace("FORCE", "-3e3*A.x*exp(-1e6*(t - 0.5)**2)").replace("[1, 0]", "[0, 0]")
    motion = mechsim.mechanism(text).simulate(tangents=["x0"], tol=tolerance)
    assert motion(1.0)["A_x"] == 0
    other = mechsim.simulate(text, parameters={"x0": 1}, tol=1e-14)
    assert abs(other.velocity(1.0)["A_x"]) > 1  # it is felt
    assert motion.derivative("x0", 1.0)["A_x"] == pytest.approx(other(1.0)["A_x"], rel=max(1e-12, 10 * tolerance))


BAR = """
PhysicalParams: {L: LENGTH, s: 0.65}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[L]], Dyna: [[L/2], 2, L**2/6]}}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 2, angles: {OA: [0.7, fixed]}, rates: {OA: [-1.1, fixed]}}
"""


def test_a_parameter_acts_through_formulas_that_are_given_and_beside_others():
    """Whether the formula is the file's, the handle's or the call's, and whatever else is asked for."""
    written = mechsim.mechanism(BAR.replace("LENGTH", "2*s"))
    other = mechsim.mechanism(BAR.replace("LENGTH", "1.3"))
    alone = written.simulate(tangents=["s"]).derivative("s", 2.0)["theta_OA"]
    both = written.simulate(tangents=["L", "s"])
    found = [
        both.derivative("s", 2.0)["theta_OA"],
        2 * both.derivative("L", 2.0)["theta_OA"],
        other.with_parameters(L="2*s").simulate(tangents=["s"]).derivative("s", 2.0)["theta_OA"],
        other.simulate(parameters={"L": "2*s"}, tangents=["s"]).derivative("s", 2.0)["theta_OA"],
    ]
    # Another direction beside it changes the steps: they agree as well as steps of 1e-12 do.
    assert np.array(found) == pytest.approx(np.full(4, alone), rel=1e-10)
    assert float(alone) == pytest.approx(
        -9.53732116852, rel=1e-10
    )  # the variational equation of the pendulum, by DOP853


def test_gears_are_differentiated():
    """Two equal bars on gears: I theta'' is a torque over (J1 + J2/4), so that theta(1) = 1/2/(J + J/4 + ...)."""
    text = """
PhysicalParams: {J: 0.5}
PartData:
  Fixed: {O: [], C: [3]}
  Rigids: {OA: {Geom: [[1]], Dyna: [[], 1, J]}, CB: {Geom: [[1]], Dyna: [[], 1, J]}}
Joints: {Gears: {OA-CB: [1, 2]}}
AppliedForces: {Torques: {OA: 1}}
ProblemData: {tend: 1, angles: {OA: [0, fixed]}}
"""
    motion = mechsim.mechanism(text).simulate(tangents=["J"])
    assert motion(1.0)["theta_OA"] == pytest.approx(0.5 / (0.5 * 1.25), rel=1e-13)
    assert motion.derivative("J", 1.0)["theta_OA"] == pytest.approx(-0.5 / (1.25 * 0.5**2), rel=1e-12)
