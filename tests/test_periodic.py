"""Periodic motions and their Floquet multipliers: against closed forms, the literature, SciPy, and each other."""

from __future__ import annotations

import json
import math

import jax.numpy as jnp
import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS
from reference.dynamics import TIGHT, driven_pendulum
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.special import ellipk

import mechsim
from mechsim.analysis import periodic as module
from mechsim.errors import IntegrationError, SpecError

DYNAMICS = SPECS / "dynamics"

VAN_DER_POL = mechsim.lagrangian_system(
    lambda q, v, t, p: (v[0] ** 2 - q[0] ** 2) / 2,
    ["x"],
    forces=lambda q, v, t, p: [p.mu * (1 - q[0] ** 2) * v[0]],
    parameters={"mu": 1.0},
)
PENDULUM = mechsim.lagrangian_system(lambda q, v, t: v[0] ** 2 / 2 + jnp.cos(q[0]), ["angle"])
DRIVEN = mechsim.lagrangian_system(
    lambda q, v, t, p: v[0] ** 2 / 2 + jnp.cos(q[0]),
    ["angle"],
    forces=lambda q, v, t, p: [-v[0] / p.Q + p.g * jnp.cos(p.w * t)],
    parameters={"Q": 2.0, "g": 1.07, "w": 2 / 3},
)
LINEAR = mechsim.lagrangian_system(
    lambda q, v, t, p: v[0] ** 2 / 2 - p.k * q[0] ** 2 / 2,
    ["x"],
    forces=lambda q, v, t, p: [-p.c * v[0] + jnp.cos(p.w * t)],
    parameters={"k": 1.0, "c": 0.3, "w": 1.0},
)
HENON = mechsim.lagrangian_system(
    lambda q, v, t: (v[0] ** 2 + v[1] ** 2 - q[0] ** 2 - q[1] ** 2) / 2 - q[0] ** 2 * q[1] + q[1] ** 3 / 3, ["x", "y"]
)
SIZED = {"scales": {"angle": 1.0}}


# --- closed forms and literature


def test_van_der_pol_has_the_period_of_the_literature():
    """6.66328685932313018969... for mu = 1 (Andersen and Geer 1982, and many since); Newton's method leaves roundings.
    The multiplier is that of Liouville: exp of the integral of mu (1 - x^2), here by SciPy."""
    found = VAN_DER_POL.periodic({"x": 2.0}, tend=20)
    assert found.period == pytest.approx(6.66328685932313018969, rel=0, abs=2e-14)
    assert found.floquet.trivial == ("along the motion",)
    assert found.floquet.error < 1e-12  # how far that one was from 1
    assert found.stability == "stable" and found.family == 0

    def rates(t, y):
        return [y[1], (1 - y[0] ** 2) * y[1] - y[0], 1 - y[0] ** 2]

    start = [found.positions[0], found.velocities[0], 0.0]
    divergence = solve_ivp(rates, (0, found.period), start, **TIGHT).y[2, -1]
    assert found.multipliers == pytest.approx([math.exp(divergence)], rel=1e-10)


def test_a_file_has_the_same_period():
    found = mechsim.mechanism(DYNAMICS / "van_der_pol.yaml").periodic()
    assert found.period == pytest.approx(6.66328685932313018969, rel=0, abs=2e-14)


def test_a_pendulum_swings_and_turns_as_elliptic_integrals_say():
    """From an amplitude of a right angle, as points on a rod; and over the top, where the angle goes on by a turn."""
    handle = mechsim.mechanism(SPECS / "pendulum.yaml")
    swing = handle.periodic()
    assert swing.period == pytest.approx(4 * ellipk(0.5) / math.sqrt(9.81), rel=1e-13)
    assert swing.positions == pytest.approx([1, 0], abs=1e-12)  # the start is periodic, and stays
    turning = PENDULUM.periodic({"angle": 0.0}, {"angle": 3.0}, tend=20)
    assert turning.turns == {"angle": 1}
    assert turning.period == pytest.approx(4 / 3 * ellipk(4 / 9), rel=1e-13)
    assert turning.checked is not None and turning.checked < 1e-12


@some_of(15)
@given(st.floats(0.3, 4.0), st.floats(0.02, 3.0), st.floats(0.3, 3.0))
def test_multipliers_of_a_linear_oscillator_are_those_of_its_matrix(k, c, w):
    """Whatever drives it. Eigenvalues that nearly coincide are known to the root of the error, so their sum and product
    are compared."""
    values = {"k": k, "c": c, "w": w}
    found = LINEAR.periodic({"x": 0.5}, period="2*pi/w", parameters=values, scales={"x": 1.0})
    matrix = expm(2 * math.pi / w * np.array([[0, 1], [-k, -c]]))
    assert found.multipliers.sum() == pytest.approx(np.trace(matrix), rel=0, abs=1e-10)
    assert found.multipliers.prod() == pytest.approx(np.linalg.det(matrix), rel=0, abs=1e-10)
    answer = 1 / (k - w**2 + 1j * c * w)
    size = max(1.0, abs(answer))
    assert found.positions[0] == pytest.approx(answer.real, rel=0, abs=1e-9 * size)
    assert found.velocities[0] == pytest.approx(-w * answer.imag, rel=0, abs=1e-9 * size * max(1.0, w))


def test_multipliers_of_two_masses_are_those_of_their_matrix():
    system = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 - (q[0] ** 2 + (q[1] - q[0]) ** 2) / 2,
        ["x", "y"],
        forces=lambda q, v, t: [-0.2 * v[0] + jnp.cos(2 * t), -0.1 * v[1]],
    )
    found = system.periodic({"x": 0.1, "y": 0.0}, period=math.pi, tend=10)
    matrix = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-2, 1, -0.2, 0], [1, -1, 0, -0.1]])
    expected = np.exp(math.pi * np.linalg.eigvals(matrix))
    assert np.sort_complex(found.multipliers) == pytest.approx(np.sort_complex(expected), abs=1e-11)


def test_the_product_of_multipliers_is_liouvilles():
    """exp(-T/Q), of a motion that is far from linear."""
    found = DRIVEN.periodic({"angle": 0.1}, period="2*pi/w", since=1000.0, **SIZED)
    assert found.multipliers.prod() == pytest.approx(math.exp(-found.period / 2), rel=1e-9)
    assert found.stability == "unstable" and found.multipliers[0].real < -1  # its period has doubled


def test_multipliers_against_the_variational_equation_of_scipy():
    found = DRIVEN.periodic({"angle": 0.1}, period="2*pi/w", multiple=2, since=1000.0, **SIZED)
    plain = driven_pendulum(2.0, 1.07, 2 / 3)

    def rates(t, y):
        changes = y[2:].reshape(2, 2)
        slope = np.array([[0, 1], [-np.cos(y[0]), -0.5]])
        return np.concatenate([plain(t, y[:2]), (slope @ changes).ravel()])

    start = [found.positions[0], found.velocities[0], 1, 0, 0, 1]
    end = solve_ivp(rates, (found.t, found.t + found.period), start, **TIGHT).y[:, -1]
    assert end[:2] == pytest.approx(start[:2], abs=1e-10)
    expected = np.linalg.eigvals(end[2:].reshape(2, 2))
    assert np.sort(found.multipliers.real) == pytest.approx(np.sort(expected.real), abs=1e-10)


def test_a_file_on_its_constraints_has_the_multipliers_of_one_angle():
    """Points on a rod, a turn angle, accounts of work, against one coordinate."""
    file = mechsim.mechanism(DYNAMICS / "driven_pendulum.yaml")
    one = file.periodic("2*pi/w", multiple=2, since=1000.0, parameters={"g": 1.07})
    other = DRIVEN.periodic({"angle": 0.2}, period="2*pi/w", multiple=2, since=1000.0, **SIZED)
    assert np.abs(one.multipliers).max() == pytest.approx(np.abs(other.multipliers).max(), rel=1e-9)
    assert one.stability == other.stability == "stable"


# --- contacts


def test_multipliers_of_motions_with_impacts_and_sliding_are_those_of_seed_003():
    """Table 1 in bits, to its rounding (figure 3a); where the pendulum slides on the barrier two multipliers are zero,
    and the first two agree (3b; see docs/analysis.md)."""
    bits = math.log(2)
    impacts = mechsim.mechanism(SPECS / "contacts" / "triple_pendulum_periodic_impacts.yaml")
    found = impacts.periodic("2*pi/w", multiple=2, since=1000.0, tol=1e-11)
    exponents = np.log(np.abs(found.multipliers)) / found.period / bits
    assert exponents == pytest.approx([-0.16, -0.18, -0.18, -0.95, -1.41, -2.51], abs=0.01)
    slides = mechsim.mechanism(SPECS / "contacts" / "triple_pendulum_periodic_sliding.yaml")
    found = slides.periodic("2*pi/w", since=600.0, tol=1e-11)
    exponents = np.log(np.abs(found.multipliers[:4])) / found.period / bits
    assert exponents == pytest.approx([-0.142, -0.142, -1.402, -2.760], abs=0.001)
    assert np.abs(found.multipliers[4:]) == pytest.approx([0, 0], abs=1e-14)


def test_a_ball_bounces_on_a_shaken_floor():
    """Restitution e, floor a sin(w t): it is met once in each period at the phase where the floor moves with the speed
    U that an impact makes up for, v = g T/2 up and down: U (1 + e) = (1 - e) g T/2, to the height of the floor there.
    The multipliers are those of the map of phase and speed from impact to impact; their product is e^2."""
    text = """
PhysicalParams: {e: 0.8, g: 9.81, a: 0.01, w: 40}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -g]}
Joints: {Holonomic: {plumb: P.x}}
Contacts: {floor: {gap: P.y - a*sin(w*t), e: e}}
ProblemData: {tend: 5, positions: {P: [0, 0.03]}, velocities: {P: [0, 0]}}
"""
    period, e, g = 2 * math.pi / 40, 0.8, 9.81
    speed = (1 - e) / (1 + e) * g * period / 2
    assert speed < 0.4  # of the floor, at most a w
    phase = math.acos(speed / 0.4)
    # The state half a period before the impact: at the top of its flight.
    height = 0.01 * math.sin(phase) + g * (period / 2) ** 2 / 2
    handle = mechsim.mechanism(text.replace("0.03", f"{height + 1e-5!r}"))
    begin = (phase - math.pi) / 40
    found = handle.periodic("2*pi/w", t0=begin)
    place = found.coordinates.index("P_y")
    assert found.positions[place] == pytest.approx(height, abs=1e-11)
    assert found.velocities[place] == pytest.approx(0.0, abs=1e-10)
    assert found.multipliers.prod().real == pytest.approx(e**2, rel=1e-9)
    bend = 0.01 * 40**2 * math.sin(phase)  # how hard the floor brakes there
    # From flight: d(speed before) and d(time) of the next impact; trace of the map, by hand.
    trace = 1 + e**2 - (1 + e) ** 2 * bend / g
    assert found.multipliers.sum().real == pytest.approx(trace, rel=1e-8)


# --- families


def test_energy_leaves_a_family_of_which_something_is_chosen():
    """Nothing held: the nearest to the guess, and a note. With the energy, the period or a coordinate held, that one;
    multipliers come in pairs, their product is one."""
    start = {"x": 0.0, "y": 0.1}, {"x": 0.4}
    free = HENON.periodic(*start, tend=20)
    assert free.family == 1 and "energy is conserved" in free.notes[0]
    energy = 0.4**2 / 2 + 0.1**2 / 2 - 0.1**3 / 3
    held = HENON.periodic(*start, tend=20, hold="energy")
    assert held.energy == pytest.approx(energy, rel=1e-13) and held.family == 0
    assert held.floquet.trivial == ("along the motion", "energy")
    assert held.multipliers.prod() == pytest.approx(1.0, abs=1e-11)
    assert held.stability == "undecided"
    assert HENON.periodic(*start, tend=20, hold=["y"]).positions[1] == pytest.approx(0.1, abs=1e-13)
    assert HENON.periodic(*start, period=6.2, tend=20, hold=["period"]).period == 6.2
    assert HENON.periodic(*start, tend=20, hold={"energy": 0.06}).energy == pytest.approx(0.06, rel=1e-13)


def test_a_period_and_the_place_where_a_cycle_begins_can_be_held():
    """The pendulum with a period of 2.6 s, by its elliptic integral; Van der Pol's cycle from where x = 1."""
    pendulum = mechsim.lagrangian_system(lambda q, v, t: v[0] ** 2 / 2 + 9.81 / 1.3 * jnp.cos(q[0]), ["angle"])
    found = pendulum.periodic({"angle": 1.2}, hold={"period": 2.6}, tend=10)
    amplitude = brentq(lambda a: 4 * math.sqrt(1.3 / 9.81) * ellipk(math.sin(a / 2) ** 2) - 2.6, 0.1, 3)
    assert found.period == 2.6
    energy = found.velocities[0] ** 2 / 2 - 9.81 / 1.3 * math.cos(found.positions[0])
    assert energy == pytest.approx(-9.81 / 1.3 * math.cos(amplitude), rel=1e-11)
    van_der_pol = mechsim.mechanism(DYNAMICS / "van_der_pol.yaml")
    cycle = van_der_pol.periodic(hold={"A_x": 1.0}, since=20, tend=30)
    assert cycle.positions[0] == pytest.approx(1.0, abs=1e-14)
    assert cycle.period == pytest.approx(6.66328685932313, rel=1e-13)
    with pytest.raises(IntegrationError, match="no periodic motion"):
        van_der_pol.periodic(hold={"period": 6.0}, since=20, tend=30)
    with pytest.raises(SpecError, match="that of the forcing"):
        mechsim.mechanism(DYNAMICS / "duffing.yaml").periodic("2*pi/w", hold={"period": 5.0})


def test_an_impact_oscillator_that_repeats_itself_after_four_periods():
    """Its multipliers multiply to the damping of the time, and the squared restitution of each impact."""
    text = """
PhysicalParams: {w: 2.9}
PartData: {Fixed: {O: [], R: [1]}}
AppliedForces: {Potentials: {spring: A.x**2/2}, Forces: {A: [cos(w*t) - 0.1*A.vx]}}
Joints: {Pistons: {A-OR: [1]}}
Contacts: {wall: {gap: -A.x, e: 0.8}}
ProblemData: {tend: 200, positions: {A: [[0, fixed]]}, velocities: {A: [[0, fixed]]}}
"""
    for multiple, stability in ((1, "unstable"), (2, "unstable"), (4, "stable")):
        found = mechsim.mechanism(text).periodic("2*pi/w", multiple=multiple, since=150)
        impacts = sum(event.kind == "impact" for event in found.motion.events)
        product = 0.64**impacts * math.exp(-0.1 * found.period)
        assert np.prod(found.multipliers) == pytest.approx(product, rel=1e-8) and found.stability == stability


def test_an_unstable_motion_of_the_double_pendulum_is_found_by_several_states():
    """Single shooting fails here; of four states it succeeds, and its multipliers are a pair."""
    found = mechsim.mechanism(SPECS / "double_pendulum.yaml").periodic()
    assert found.nodes > 1 and found.stability == "unstable"
    assert found.residual < 1e-10
    assert found.multipliers.prod().real == pytest.approx(1.0, abs=1e-8)


def test_many_states_find_the_same_as_one(monkeypatch):
    one = VAN_DER_POL.periodic({"x": 2.0}, tend=20)
    monkeypatch.setattr(module, "nodes_for", lambda single: 5)
    many = VAN_DER_POL.periodic({"x": 2.0}, tend=20)
    assert (one.nodes, many.nodes) == (1, 5)
    assert many.period == pytest.approx(one.period, rel=1e-13)
    assert many.multipliers == pytest.approx(one.multipliers, rel=1e-9)
    driven = DRIVEN.periodic({"angle": 0.1}, period="2*pi/w", since=1000.0, **SIZED)
    monkeypatch.undo()
    again = DRIVEN.periodic({"angle": 0.1}, period="2*pi/w", since=1000.0, **SIZED)
    assert driven.multipliers == pytest.approx(again.multipliers, rel=1e-8)


# --- what is told


def test_a_guess_of_three_periods_is_cut_to_one():
    found = PENDULUM.periodic({"angle": 1.0}, period=3 * 6.7, tend=20, hold=["angle", "angle_dot"])
    assert found.period == pytest.approx(4 * ellipk(math.sin(0.5) ** 2), rel=1e-12)


def test_a_multiple_that_is_none_is_told():
    found = LINEAR.periodic({"x": 0.5}, period="2*pi/w", multiple=3, scales={"x": 1.0})
    assert found.notes == ("it comes back after 1 of these 3 periods already",)


def test_the_motion_can_be_drawn_and_the_findings_written(tmp_path):
    found = mechsim.mechanism(DYNAMICS / "driven_pendulum.yaml").periodic(
        "2*pi/w", since=300.0, parameters={"g": 1.35}, tol=1e-11
    )
    assert found.turns == {"theta_OA": -1}
    table = mechsim.load(found.motion.save(tmp_path / "orbit.csv"))
    assert table.t[-1] - table.t[0] == pytest.approx(found.period, rel=1e-12)
    assert table.settings["overrides"]["g"]
    found.save(tmp_path / "found.json")
    told = json.loads((tmp_path / "found.json").read_text())
    assert told["period"] == found.period and "work_JointDampers_OA" not in told["positions"]
    found.save(tmp_path / "found.npz")
    with np.load(tmp_path / "found.npz") as file:
        assert file["multipliers"] == pytest.approx(found.multipliers)
        assert np.sort(np.abs(np.linalg.eigvals(file["monodromy"]))) == pytest.approx(
            np.sort(np.abs(found.multipliers)), rel=1e-9
        )


# --- what is refused


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("nobody says with which period", {}),
        ("forces are not the same", {"period": "2.01*pi/w"}),
        ("must be above zero", {"period": "-1"}),
        ("v is not defined", {"period": "2*pi/v"}),
        ("no such coordinate", {"period": "2*pi/w", "hold": ["y"]}),
    ],
)
def test_driven_motions_that_cannot_be(words, asked):
    with pytest.raises(SpecError, match=words.replace("*", r"\*")):
        LINEAR.periodic({"x": 0.5}, scales={"x": 1.0}, **asked)


def test_a_rest_is_no_periodic_motion():
    with pytest.raises(IntegrationError, match="came to a rest"):
        VAN_DER_POL.periodic({"x": 0.01}, period=6.3, tend=20)


def test_what_does_not_come_back_is_told():
    damped = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2 - q[0] ** 2 / 2, ["x"], forces=lambda q, v, t: [-3 * v[0]]
    )
    with pytest.raises(SpecError, match="does not come back"):
        damped.periodic({"x": 1.0}, tend=20)


def test_turns_that_a_spring_feels_are_none():
    """The pendulum goes over the top, but a weak spring winds up: it is not where it was."""
    wound = mechsim.lagrangian_system(lambda q, v, t: v[0] ** 2 / 2 + jnp.cos(q[0]) - 1e-3 * q[0] ** 2, ["angle"])
    found = wound.periodic({"angle": 0.0}, {"angle": 3.0}, tend=400)
    assert not found.turns  # it comes back all the way


def test_sampled_controllers_are_refused():
    text = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, 1/6]}}}
Controllers: {theta_OA: {target: 0, kp: 10, kd: 1, period: 0.1}}
ProblemData: {tend: 1, positions: {A: [0.6, -0.8]}}
"""
    with pytest.raises(IntegrationError, match="sampled"):
        mechsim.mechanism(text).periodic(1.0)


def test_the_least_period_is_told_however_long_the_guess():
    """Van der Pol's oscillator (Andersen and Geer 1982): four periods fit the guess."""
    found = mechsim.mechanism(SPECS / "dynamics" / "van_der_pol.yaml").periodic(26, since=20)
    assert found.period == pytest.approx(6.66328685932313, rel=1e-12)


def test_a_period_that_is_held_and_not_the_least_is_told():
    """A pendulum whose small swings take 1.64 s, and that is to take 8 s: it swings four times in 2 s each."""
    rod = """
PartData: {Fixed: {Q: [0, 0]}, Rigids: {QZ: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 30, positions: {Z: [1, 0]}}
"""
    found = mechsim.mechanism(rod).periodic(hold={"period": 8.0}, tend=30)
    assert "it comes back after 2 s already, 4 times in the period that is held" in found.notes
