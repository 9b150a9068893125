"""Periodic motions followed over a parameter: folds, doublings and response against SciPy, Mathieu, closed forms."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest
from reference import SPECS
from reference.dynamics import TIGHT
from scipy.integrate import solve_ivp
from scipy.optimize import root
from scipy.special import ellipk, mathieu_a, mathieu_b

import mechsim
from mechsim.errors import SpecError

DYNAMICS = SPECS / "dynamics"


def special_point(slopes, guess, multiplier, period):
    """By SciPy alone: start and parameter of a periodic motion of y' = f(t, y, p) that has this Floquet multiplier.
    `slopes(t, y, p)` gives f and its derivative by y."""

    def flowed(unknowns):
        y0, p = unknowns[:2], unknowns[2]

        def rates(t, y):
            rate, slope = slopes(t, y[:2], p)
            return np.concatenate([rate, (slope @ y[2:].reshape(2, 2)).ravel()])

        end = solve_ivp(rates, (0, period(p)), [*y0, 1, 0, 0, 1], **TIGHT).y[:, -1]
        return end[:2] - y0, end[2:].reshape(2, 2)

    def missed(unknowns):
        off, monodromy = flowed(unknowns)
        return [*off, np.linalg.det(monodromy - multiplier * np.eye(2))]

    found = root(missed, guess, tol=1e-13)
    assert np.abs(missed(found.x)).max() < 1e-10
    return found.x


# --- frequency response


def test_a_linear_oscillator_answers_as_its_closed_form():
    """Amplitude and phase of F/(k - m w^2 + i c w), from a file in which a spring of two points does it."""
    handle = mechsim.mechanism(SPECS / "forces" / "driven_oscillator.yaml")
    found = handle.response("w", 3.0, 5.0, "A_x - l", parameters={"c": 0.3}).branches[0]
    w = found.column("value")
    answer = 0.5 / (8.0 - 0.5 * w**2 + 0.3j * w)
    assert w[0] == 3.0 and w[-1] == pytest.approx(5.0, rel=1e-12)
    assert found.measures[:, 2] == pytest.approx(np.abs(answer), rel=0, abs=1e-10)
    assert found.measures[:, 3] == pytest.approx(-np.angle(answer), rel=0, abs=1e-9)
    assert set(found.stability) == {"stable"} and not found.marks


def test_a_period_that_is_too_long_is_told():
    handle = mechsim.mechanism(SPECS / "forces" / "driven_oscillator.yaml")
    found = handle.response("w", 3.0, 3.1, "A_x", period="6*pi/w", parameters={"c": 0.3})
    assert "the first motion: it comes back 3 times in the period of the forcing: is it so long?" in found.notes


@pytest.mark.slow
def test_duffings_response_jumps_where_scipy_says():
    handle = mechsim.mechanism(DYNAMICS / "duffing.yaml")
    found = handle.periodic_over("w", 1.8, 1.25, "2*pi/w", since=200.0, tol=1e-11, measure=["max(A_x)"])
    folds = found.values("fold")
    assert len(folds) == 2

    def slopes(t, y, w):
        rate = [y[1], -y[0] - y[0] ** 3 - 0.1 * y[1] + 0.3 * np.cos(w * t)]
        return np.array(rate), np.array([[0, 1], [-1 - 3 * y[0] ** 2, -0.1]])

    for fold, mark in zip(folds, found.branches[0].marks, strict=True):
        q, v = mark.sample.ring.positions[0], mark.sample.ring.velocities[0]
        place = found.coordinates.index("A_x")
        expected = special_point(slopes, [q[place] + 1e-5, v[place], fold + 1e-6], 1.0, lambda w: 2 * math.pi / w)
        assert fold == pytest.approx(
            expected[2], rel=0, abs=1e-8
        )  # a fold is flat: states are known to half the digits
    stability = found.branches[0].stability
    assert stability[0] == stability[-1] == "stable" and "unstable" in stability


# --- bifurcations


@pytest.fixture(scope="module")
def cascade():
    """The driven pendulum of Baker and Gollub over its torque, with three rounds of branches."""
    handle = mechsim.mechanism(DYNAMICS / "driven_pendulum.yaml")
    return handle.periodic_over("g", 0.95, 1.09, "2*pi/w", branches=3, since=500.0, tol=1e-11)


@pytest.mark.slow
def test_a_cascade_of_doublings(cascade):
    """Symmetry breaks, then periods double, on both branches alike; the first doubling as SciPy has it, ratios of
    distances near Feigenbaum's 4.669."""
    first = cascade.branches[0]
    assert [mark.kind for mark in first.marks] == ["branch point"]
    levels = [[], [], []]
    for branch in cascade.branches[1:]:
        levels[branch.doubled] += [mark.sample.value for mark in branch.marks if mark.kind == "period doubling"]
    for values in levels:
        assert len(values) == 2 and values[0] == pytest.approx(values[1], rel=0, abs=1e-9)  # mirror images
    one, two, three = (values[0] for values in levels)
    assert (two - one) / (three - two) == pytest.approx(4.669, rel=0.01)

    def slopes(t, y, g):
        rate = [y[1], -np.sin(y[0]) - y[1] / 2 + g * np.cos(2 / 3 * t)]
        return np.array(rate), np.array([[0, 1], [-np.cos(y[0]), -0.5]])

    ring, place = cascade.branches[1].marks[0].sample.ring, cascade.coordinates.index("theta_OA")
    start = [ring.positions[0][place] + math.pi / 2, ring.velocities[0][place]]
    expected = special_point(slopes, [*start, one], -1.0, lambda g: 3 * math.pi)
    assert one == pytest.approx(expected[2], rel=0, abs=1e-9)


def kapitza_over(first: float, last: float, phi: float, **asked):
    handle = mechsim.mechanism(DYNAMICS / "kapitza.yaml")
    return handle.periodic_over("w", first, last, "2*pi/w", parameters={"phi": phi}, measure=["max(A_y)"], **asked)


def test_kapitzas_pendulum_stands_where_mathieus_equation_does():
    """Upright the linear motion is Mathieu's, with a = -4 g/(l w^2) and q = 2 a/l: it is stable above the frequency at
    which that a is the characteristic value a_0(q). There a multiplier is one."""
    q = 2 * 0.1
    expected = math.sqrt(-4 * 9.81 / mathieu_a(0, q))
    found = kapitza_over(35.0, 55.0, 0.0)
    values = found.values("branch point")
    assert values == pytest.approx([expected], rel=1e-11)
    branch = found.branches[0]
    assert branch.stability[0] == "unstable" and branch.stability[-1] == "undecided"
    assert expected == pytest.approx(math.sqrt(2 * 9.81) / 0.1, rel=0.02)  # Kapitza's own rule


def test_a_hanging_pendulum_is_shaken_up_between_mathieus_values():
    """Parametric resonance at twice its own frequency: multipliers are -1 where 4 g/(l w^2) is b_1(q) and a_1(q)."""
    q = 2 * 0.1
    expected = sorted(math.sqrt(4 * 9.81 / value(1, q)) for value in (mathieu_a, mathieu_b))
    found = kapitza_over(5.0, 8.0, math.pi)
    assert found.values("period doubling") == pytest.approx(expected, rel=1e-9)


def test_tongues_that_are_narrower_than_steps_are_seen():
    """The second and third tongue of Mathieu's equation, of which the third is 3e-5 rad/s wide: both of its sides are
    told, though multipliers are on the circle at all motions that are stepped to."""
    q = 2 * 0.1
    found = kapitza_over(1.9, 8.0, math.pi)
    doubled, single = (
        sorted(math.sqrt(4 * 9.81 / value(n, q)) for n in orders for value in (mathieu_a, mathieu_b))
        for orders in ((1, 3), (2,))
    )
    assert sorted(found.values("period doubling")) == pytest.approx(doubled, rel=1e-8)
    assert sorted(found.values("branch point")) == pytest.approx(single, rel=1e-8)
    values = [mark.sample.value for mark in found.branches[0].marks]
    assert values == sorted(values)


@pytest.mark.slow
def test_a_pair_leaves_the_circle():
    """Van der Pol's oscillator, pushed: where it follows the push no longer, a pair of multipliers passes the unit
    circle, and the mean of the divergence is zero there."""
    pushed = mechsim.lagrangian_system(
        lambda q, v, t, p: (v[0] ** 2 - q[0] ** 2) / 2,
        ["x"],
        forces=lambda q, v, t, p: [0.2 * (1 - q[0] ** 2) * v[0] + p.F * jnp.cos(1.4 * t)],
        parameters={"F": 2.0},
    )
    found = pushed.periodic_over(
        "F", 2.0, 0.3, {"x": 2.0}, period=2 * math.pi / 1.4, since=200.0, scales={"x": 1.0}, measure=["mean(1 - x**2)"]
    )
    marks = [mark for mark in found.branches[0].marks if mark.kind == "Neimark-Sacker"]
    assert len(marks) == 1
    assert np.abs(marks[0].sample.multipliers) == pytest.approx([1, 1], abs=1e-7)
    assert marks[0].sample.measures == pytest.approx([0.0], abs=1e-7)


@pytest.mark.slow
def test_a_bouncing_balls_motion_is_born_and_doubles_where_it_must():
    """A ball on a floor a sin(w t), once struck in each period: the floor has to move up with the speed that impacts
    lose, U = (1 - e)/(1 + e) g T/2, which it does for a w >= U (a fold); and the period doubles where the floor brakes
    with 2 g (1 + e^2)/(1 + e)^2 when it strikes. Impacts are in these tangents."""
    e, g, w = 0.8, 9.81, 40.0
    period = 2 * math.pi / w
    speed = (1 - e) / (1 + e) * g * period / 2
    phase = math.acos(speed / (0.01 * w))
    height = 0.01 * math.sin(phase) + g * (period / 2) ** 2 / 2
    ball = mechsim.mechanism(f"""
PhysicalParams: {{e: {e}, g: {g}, a: 0.01, w: {w}}}
PartData: {{Particles: {{P: 1}}}}
AppliedForces: {{Gravity: [0, -g]}}
Joints: {{Holonomic: {{plumb: P.x}}}}
Contacts: {{floor: {{gap: P.y - a*sin(w*t), e: e}}}}
ProblemData: {{tend: 5, positions: {{P: [0, {height!r}]}}, velocities: {{P: [0, 0]}}}}
""")
    found = ball.periodic_over("a", 0.01, 0.001, "2*pi/w", t0=(phase - math.pi) / w, measure=["max(P_y)"])
    brakes = 2 * g * (1 + e**2) / (1 + e) ** 2
    assert found.values("fold") == pytest.approx([speed / w], rel=1e-9)
    assert found.values("period doubling")[0] == pytest.approx(math.hypot(brakes, speed * w) / w**2, rel=1e-9)


# --- families, and parameters that move constraints


def test_the_period_of_a_pendulum_over_its_energy():
    """4 K(sin^2(amplitude/2)) sqrt(l/g), on points of a rod; E = -m g l cos(amplitude)."""
    found = mechsim.mechanism(SPECS / "pendulum.yaml").periodic_over("energy", -9.0, 9.0, measure=["max(A_x)"])
    branch = found.branches[0]
    energies = branch.column("value")
    assert energies[[0, -1]] == pytest.approx([-9, 9], rel=1e-9)
    expected = 4 * ellipk((1 + energies / 9.81) / 2) / math.sqrt(9.81)
    assert branch.column("period") == pytest.approx(expected, rel=1e-10)


def test_a_length_that_is_followed_moves_the_constraints():
    """A driven pendulum over the length of its rod: as points on the rod, and by its angle."""
    text = """
PhysicalParams: {l: 1, c: 0.3, F: 2, w: 2}
PartData: {Fixed: {O: []}, Rods: {OA: l}, Particles: {A: 1}}
AppliedForces: {Gravity: [0, -9.81], Forces: {A: [F*cos(w*t) - c*A.vx, -c*A.vy]}}
ProblemData: {tend: 10, positions: {A: [[0.1, fixed], -l]}}
"""
    file = mechsim.mechanism(text).periodic_over("l", 1.0, 1.6, "2*pi/w", since=50.0, measure=["max(A_x)"])
    system = mechsim.lagrangian_system(
        lambda q, v, t, p: p.l**2 * v[0] ** 2 / 2 + 9.81 * p.l * jnp.cos(q[0]),
        ["angle"],
        forces=lambda q, v, t, p: [-0.3 * p.l**2 * v[0] + 2 * p.l * jnp.cos(2 * t) * jnp.cos(q[0])],
        parameters={"l": 1.0},
    )
    angle = system.periodic_over(
        "l", 1.0, 1.6, {"angle": 0.1}, period=math.pi, since=50.0, scales={"angle": 1.0}, measure=["max(l*sin(angle))"]
    )
    one, other = file.branches[0].samples[-1], angle.branches[0].samples[-1]
    assert one.value == pytest.approx(1.6) and other.value == pytest.approx(1.6)
    assert one.measures == pytest.approx(other.measures, rel=1e-9)
    assert np.sort_complex(one.multipliers) == pytest.approx(np.sort_complex(other.multipliers), abs=1e-8)
    assert file.values("fold") == pytest.approx(angle.values("fold"), abs=1e-8)


# --- files, and what is refused


def test_branches_are_written(tmp_path):
    found = mechsim.mechanism(DYNAMICS / "duffing.yaml").periodic_over("w", 1.9, 1.3, "2*pi/w", since=100.0, tol=1e-10)
    for ending in ("csv", "npz", "json"):
        found.save(tmp_path / f"response.{ending}")
    lines = (tmp_path / "response.csv").read_text().splitlines()
    assert lines[1].startswith("branch,w,period,stability,largest_multiplier,mark,max(A_x)")
    assert sum(",fold," in line for line in lines) == len(found.values("fold")) == 2
    with np.load(tmp_path / "response.npz") as file:
        assert len(file["value"]) == len(lines) - 2
        assert set(file["stability"]) == {1, -1} or 0 in file["stability"]
        assert list(file["labels"]) == list(found.labels)


@pytest.mark.parametrize(
    ("words", "spec", "asked"),
    [
        ("there is no parameter", "dynamics/duffing.yaml", ("ww", 1, 2, "2*pi/w")),
        ("must be two numbers", "dynamics/duffing.yaml", ("w", 1, 1, "2*pi/w")),
        ("no energy is conserved", "dynamics/van_der_pol.yaml", ("energy", 1, 2)),
        ("hold something", "pendulum.yaml", ("l", 1, 2)),
    ],
)
def test_what_cannot_be_followed(words, spec, asked):
    with pytest.raises(SpecError) as caught:
        mechsim.mechanism(SPECS / spec).periodic_over(*asked)
    assert words in str(caught.value)


NEAR_A_SADDLE = """
PhysicalParams: {tau: 0.9}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[0.5]], Dyna: [[0.5], 0.4, 0.01]}}}
AppliedForces: {Gravity: [0, -9.81], JointDampers: {OA: 0.05}, ConstTorques: {OA: tau}}
ProblemData: {tend: 120, angles: {OA: [-pi/2, fixed]}, rates: {OA: [20, fixed]}}
"""


def test_nothing_happens_on_the_way_to_a_saddle():
    """A pendulum that a torque turns: its one multiplier is exp(-c T / J), never below zero, however long it lingers
    near the upper rest as the torque comes to where it would stop. There changes grow by 4e4, and states of a tolerance
    1e-12 tell 1e-7 of it."""
    handle = mechsim.mechanism(NEAR_A_SADDLE)
    branch = handle.periodic_over("tau", 0.3, 0.2, since=80).branches[0]
    assert not branch.marks
    assert set(branch.stability) == {"stable"}
    assert "the period grows without end" in branch.why
    late = handle.periodic(since=40, parameters={"tau": 0.268095})
    assert late.multipliers[0].real == pytest.approx(math.exp(-0.05 / 0.11 * late.period), rel=1e-6)
    assert late.family == 0


LOOPED = """
PhysicalParams: {p: 1.0}
PartData: {Fixed: {O: [-1], R: [1]}, Particles: {A: 1}}
AppliedForces: {Potentials: {V: A.x**4/4 - A.x**2/2}, Forces: {A: ["(p - A.x**2)*A.vx", 0]}}
Joints: {Slots: {A-OR: []}}
ProblemData: {tend: 100, positions: {A: [[1.9, fixed], 0]}, velocities: {A: [[0, fixed]]}}
"""


@pytest.mark.slow
def test_a_branch_ends_where_its_multipliers_are_not_known():
    """In the plane, where nothing depends on time, a multiplier is an exponential: no doublings. The branch folds, and
    ends beside a motion that leaves the saddle and comes back to it. SciPy's motions from outside stay on a cycle at
    p = 0.7714, and fall in at 0.7710."""
    branch = mechsim.mechanism(LOOPED).periodic_over("p", 0.9, 0.7, since=60).branches[0]
    assert [mark.kind for mark in branch.marks] == ["fold"]
    assert branch.marks[0].sample.value == pytest.approx(0.7712, abs=2e-4)
    assert "multipliers are not known" in branch.why


def test_a_cycle_that_shrinks_to_a_rest_is_told():
    """Van der Pol's with damping p: the cycle has the radius 2 sqrt(p), and is born at p = 0 (Hopf)."""
    text = LOOPED.replace("Potentials: {V: A.x**4/4 - A.x**2/2}", "Potentials: {V: A.x**2/2}")
    branch = mechsim.mechanism(text).periodic_over("p", 0.5, -0.5, since=60).branches[0]
    assert not branch.marks
    assert branch.samples[-1].value == pytest.approx(0, abs=1e-9)
    assert "its motions shrink to a rest" in branch.why and "(Hopf)" in branch.why


def test_a_ball_that_gives_all_back_keeps_its_energy():
    """Over the energy E = m g h it bounces to h, in 2 sqrt(2 h / g)."""
    text = """
PartData: {Fixed: {O: [], R: [0, 1]}, Particles: {A: 2}}
AppliedForces: {Gravity: [0, -9.81]}
Joints: {Slots: {A-OR: []}}
Stops: {A.y: {min: 0, e: 1}}
ProblemData: {tend: 20, positions: {A: [0, [1, fixed]]}}
"""
    ball = mechsim.mechanism(text)
    branch = ball.periodic_over("energy", 19.62, 40.0).branches[0]
    heights = branch.column("value") / (2 * 9.81)
    assert branch.measures[:, 0] == pytest.approx(heights, rel=1e-10)
    assert branch.column("period") == pytest.approx(2 * np.sqrt(2 * heights / 9.81), rel=1e-10)
    assert ball.periodic(tend=20).floquet.trivial == ("along the motion", "energy")
    assert not mechsim.mechanism(text.replace("e: 1}", "e: 0.9}")).system.is_conservative
