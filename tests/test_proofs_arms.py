"""Proof 1 of the forces: the arms of seed 004, against Lagrange's equations of its Listing A1 and static balance.

The listing has for every link, with the mass m at its end (x, y), K = m/2 (x'^2 + y'^2), P = m 9.8 y and the friction
R = c/2 (x'^2 + y'^2); angles are relative to the link before and measured from the horizontal. In complex numbers the
end of link i is z_i, the sum of l_k exp(i phi_k), phi_k being the sum of the angles up to k; with z' = J w, w being the
rates of the angles,

    Re(J* m J) w' = tau - Re(J* c J) w - Re(J* m (J' w + 9.8 i)).
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from reference import SPECS
from scipy.integrate import solve_ivp
from scipy.optimize import root

import mechsim

FORCES = SPECS / "forces"
G = 9.8
C = 1.0
LINKS = ("OA", "AB", "BC")
MASSES, LENGTHS = np.array([3.0, 1.0, 1.0]), np.array([2.0, 1.0, 1.0])
TARGETS = {1: [110], 2: [80, 30], 3: [125, -30, -30]}
GAINS = {1: ([200], [50]), 2: ([100, 50], [50, 20]), 3: ([1000, 1000, 500], [200, 200, 100])}
# DOP853 at rtol 1e-13 errs by some 1e-12 in these swings; our march by less.
AGREES = 1e-10


def hanging(masses):
    """The mass that each link carries: its own and all beyond."""
    return np.cumsum(masses[::-1])[::-1]


def ends(angles, rates, lengths):
    """J, which turns the rates of relative angles into velocities of the ends, and J' w."""
    arms = lengths * np.exp(1j * np.cumsum(angles))
    turning = np.cumsum(rates)
    # The angle k turns every link from k on; the end i is the sum of the links up to i.
    jacobian = np.array([[1j * arms[k : i + 1].sum() for k in range(len(arms))] for i in range(len(arms))])
    return jacobian, np.cumsum(-arms * turning**2)


def listing(angles, rates, masses, lengths, torques):
    """Accelerations of relative angles, and the power that each end's friction takes, 2 R."""
    jacobian, bent = ends(angles, rates, lengths)
    back = np.conj(jacobian.T)
    pulled = (back @ (masses * (-1j * G - bent))).real
    speeds = jacobian @ rates
    right = torques - C * (back @ speeds).real + pulled
    return np.linalg.solve((back @ (masses[:, None] * jacobian)).real, right), C * np.abs(speeds) ** 2


def relative(values):
    return np.diff(values, prepend=0.0)


def weight(angles, masses, lengths):
    """dV/dtheta_i for relative angles: what each joint must hold."""
    return np.cumsum((G * hanging(masses) * lengths * np.cos(angles))[::-1])[::-1]


def motion_of(control, masses, lengths, t, friction=listing):
    """Absolute angles and rates at the times t, and what friction has taken, from the horizontal."""
    count = len(masses)

    def right(_, y):
        angles, rates = y[:count], y[count : 2 * count]
        accelerations, taken = friction(angles, rates, masses, lengths, control(angles, rates))
        return np.concatenate([rates, accelerations, taken])

    found = solve_ivp(right, (0.0, t[-1]), np.zeros(3 * count), method="DOP853", t_eval=t, rtol=1e-13, atol=1e-13)
    angles, rates, taken = found.y.reshape(3, count, -1)
    return np.cumsum(angles, axis=0), np.cumsum(rates, axis=0), taken


def viscous_joints(angles, rates, masses, lengths, torques):
    """The variant with friction in the joints, R = c/2 w^2 of each."""
    jacobian, bent = ends(angles, rates, lengths)
    back = np.conj(jacobian.T)
    right = torques - C * rates + (back @ (masses * (-1j * G - bent))).real
    return np.linalg.solve((back @ (masses[:, None] * jacobian)).real, right), C * rates**2


def no_control(_, __):
    return 0.0


@cache
def simulated(name, **settings):
    return mechsim.simulate(FORCES / f"{name}.yaml", **settings)


def angles_of(motion, count, t):
    return np.array([motion(t)[f"theta_{link}"] for link in LINKS[:count]])


def dampers(motion):
    """What the dampers have done until each step, one row per damper."""
    labels = [label for label in motion.trajectory.labels if label.startswith("work_") and not label.endswith("_dot")]
    return np.array([motion.trajectory[label] for label in labels if "control" not in label])


# --- damped


@pytest.mark.parametrize("count", [1, 2, 3])
def test_damped_arm_swings_as_in_minimal_coordinates(count):
    """The first five seconds: in ten the double pendulum's errors, and DOP853's, would grow a hundredfold."""
    motion = simulated(f"arm{count}")
    t = np.linspace(0.0, 5.0, 51)
    angles, rates, _ = motion_of(no_control, MASSES[:count], LENGTHS[:count], t)
    np.testing.assert_allclose(angles_of(motion, count, t), angles, rtol=0, atol=AGREES)
    found = np.array([motion.velocity(t)[f"theta_{link}"] for link in LINKS[:count]])
    np.testing.assert_allclose(found, rates, rtol=0, atol=10 * AGREES)  # rates reach 6 rad/s


@pytest.mark.parametrize("count", [1, 2, 3])
def test_damped_arm_loses_what_its_dampers_take(count):
    """T + V falls by exactly the integral of 2 R; its terms are 60 to 130 J."""
    motion = simulated(f"arm{count}")
    table, taken = motion.trajectory, dampers(simulated(f"arm{count}"))
    energy = table["T"] + table["V"]
    largest = np.abs(table["V"]).max()
    assert len(taken) == count
    assert np.ptp(energy - taken.sum(axis=0)) < 1e-13 * largest
    assert energy[0] - energy[-1] > 0.2 * largest
    assert (np.diff(taken, axis=1) <= 0).all()
    end = motion_of(no_control, MASSES[:count], LENGTHS[:count], np.array([0.0, 5.0]))[2][:, -1]
    at_five = motion.sampled(np.array([0.0, 5.0]))
    assert at_five["T"][-1] + at_five["V"][-1] == pytest.approx(energy[0] - end.sum(), abs=100 * AGREES)


def test_viscous_joints_are_the_named_variant():
    motion = simulated("arm3_viscous_joints")
    t = np.linspace(0.0, 5.0, 51)
    angles, *_ = motion_of(no_control, MASSES, LENGTHS, t, friction=viscous_joints)
    np.testing.assert_allclose(angles_of(motion, 3, t), angles, rtol=0, atol=AGREES)


def test_ten_links_swing_as_in_minimal_coordinates():
    """Errors grow with ten free links: three seconds keep DOP853's error below 1e-9 (its own at 1e-12 tells)."""
    motion = simulated("arm10")
    t = np.linspace(0.0, 3.0, 31)
    angles, *_ = motion_of(no_control, np.ones(10), np.ones(10), t)
    found = np.array([motion(t)[f"theta_P{i}P{i + 1}"] for i in range(10)])
    np.testing.assert_allclose(found, angles, rtol=0, atol=1e-9)
    table = motion.trajectory
    assert np.ptp(table["T"] + table["V"] - dampers(motion).sum(axis=0)) < 1e-13 * np.abs(table["V"]).max()


# --- controlled


def static_balance(count):
    """Where PD torques hold the weight, from the target on."""
    masses, lengths = MASSES[:count], LENGTHS[:count]
    target, gains = np.radians(TARGETS[count]), np.array(GAINS[count][0])

    def unbalanced(angles):
        return gains * (target - angles) - weight(np.cumsum(angles), masses, lengths)

    found = root(unbalanced, target, tol=1e-14)
    assert np.abs(found.fun).max() < 1e-11  # of torques of some 100 N m
    return found.x


@pytest.mark.parametrize("count", [1, 2, 3])
def test_pd_control_rests_where_it_balances_the_weight(count):
    """Near the target, not on it. The bar is 1e-9; the slowest mode has died out to below rounding."""
    motion = simulated(f"arm{count}_pd")
    end = motion.t[-1]
    balance = static_balance(count)
    assert relative(angles_of(motion, count, end)) == pytest.approx(balance, rel=0, abs=1e-12)
    assert [motion.velocity(end)[f"theta_{link}"] for link in LINKS[:count]] == pytest.approx([0.0] * count, abs=1e-12)
    off = np.degrees(balance) - TARGETS[count]
    assert 1.0 < np.abs(off).max() < 35.0  # weak gains on two links: 30 degrees


@pytest.mark.parametrize("count", [1, 2, 3])
def test_pd_control_on_its_way(count):
    motion = simulated(f"arm{count}_pd")
    target, (kp, kd) = np.radians(TARGETS[count]), map(np.array, GAINS[count])
    t = np.linspace(0.0, 2.0, 21)
    expected, *_ = motion_of(lambda q, v: kp * (target - q) - kd * v, MASSES[:count], LENGTHS[:count], t)
    np.testing.assert_allclose(angles_of(motion, count, t), expected, rtol=0, atol=AGREES)


@pytest.mark.parametrize("name", ["arm3_compensated", "arm3_pid"])
def test_compensation_and_pid_rest_on_the_target(name):
    motion = simulated(name)
    end = motion.t[-1]
    assert relative(angles_of(motion, 3, end)) == pytest.approx(np.radians(TARGETS[3]), rel=0, abs=1e-12)
    table = motion.trajectory
    work = [label for label in table.labels if label.startswith("work_") and not label.endswith(("_dot", "_power"))]
    balance = table["T"] + table["V"] - sum(table[label] for label in work)
    assert np.ptp(balance) < 1e-13 * max(np.abs(table[label]).max() for label in (*work, "T", "V"))


def test_integrals_hold_the_weight():
    """At rest ki times the integral of the error is all that is left of a PID controller: the weight."""
    motion = simulated("arm3_pid")
    end = motion.t[-1]
    names = ("theta_OA", "theta_AB_theta_OA", "theta_BC_theta_AB")
    held = np.array([1000.0, 1000.0, 500.0]) * [motion(end)[f"int_{name}"] for name in names]
    expected = weight(np.cumsum(np.radians(TARGETS[3])), MASSES, LENGTHS)
    assert held == pytest.approx(expected, rel=0, abs=1e-9)


# --- the second link a slider


def slider_motion(t, kp=1000.0, kd=100.0, ki=500.0):
    """(theta_1, r, theta_3 absolute) and the controller's integral, by Newton in complex numbers.

    Positions are A = 2 e^{i a}, B = (2 + r) e^{i a}, C = B + e^{i b}; with z' = J w the mass matrix is Re(J^* m J).
    """

    def right(_, y):
        a, r, b = y[:3]
        w = y[3:6]
        u, s = np.exp(1j * a), np.exp(1j * b)
        out = 2 + r
        jacobian = np.array([[2j * u, 0, 0], [1j * out * u, u, 0], [1j * out * u, u, 1j * s]])
        bent = np.array([-2 * u, -out * u, -out * u]) * w[0] ** 2 + 2j * u * w[0] * w[1] * np.array([0, 1, 1])
        bent = bent + np.array([0, 0, -s * w[2] ** 2])
        force = np.array([0.0, kp * (0.1 - r) - kd * w[1] + ki * y[6], 0.0])
        applied = force - C * (np.conj(jacobian.T) @ (jacobian @ w)).real
        pulled = (np.conj(jacobian.T) @ (MASSES * (-1j * G - bent))).real
        matrix = (np.conj(jacobian.T) @ (MASSES[:, None] * jacobian)).real
        return np.concatenate([w, np.linalg.solve(matrix, applied + pulled), [0.1 - r]])

    start = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    return solve_ivp(right, (0.0, t[-1]), start, method="DOP853", t_eval=t, rtol=1e-13, atol=1e-13).y


def test_slider_is_drawn_in():
    """On its way against the ODE; in the end at 0.1 m, when all swinging has died out to 1e-7 of its size."""
    motion = simulated("arm3_slider")
    t = np.linspace(0.0, 5.0, 51)
    expected = slider_motion(t)
    state = motion(t)
    reach = np.hypot(*(state["B"] - state["A"]).T)
    np.testing.assert_allclose(state["theta_OA"], expected[0], rtol=0, atol=AGREES)
    np.testing.assert_allclose(reach, expected[1], rtol=0, atol=AGREES)
    np.testing.assert_allclose(state["theta_BC"], expected[2], rtol=0, atol=AGREES)
    np.testing.assert_allclose(state["int_dist_A_B"], expected[6], rtol=0, atol=AGREES)
    settled = mechsim.simulate(FORCES / "arm3_slider.yaml", tend=800.0)
    assert np.hypot(*(settled(800.0)["B"] - settled(800.0)["A"])) == pytest.approx(0.1, rel=0, abs=1e-12)


# --- the cost of more links


def arm_of(count):
    """A damped arm of equal links of any number."""
    names = [f"P{i}" for i in range(count + 1)]
    links = [f"{a}{b}" for a, b in pairwise(names)]
    joints = [links[0], *(f"{after}-{before}" for before, after in pairwise(links))]

    def listed(keys, value):
        return "".join(f"    {key}: {value}\n" for key in keys)

    return (
        f"PartData:\n  Fixed: {{P0: []}}\n  Rigids:\n{listed(links, '{Geom: [[1]]}')}"
        f"  Particles:\n{listed(names[1:], 1)}"
        f"AppliedForces:\n  Gravity: [0, -9.8]\n  JointDampers:\n{listed(joints, 1)}"
        f"ProblemData:\n  tend: 1\n  angles:\n{listed(links, '[0, fixed]')}"
    )


def test_more_links_need_no_more_programs():
    """What is derived is one program per kind of element and of law, however many links there are."""
    kinds = [{group.kind.name for group in mechsim.mechanism(arm_of(count)).system.groups} for count in (2, 10, 60)]
    assert kinds[0] == kinds[1] == kinds[2]
    assert len(kinds[0]) <= 5
