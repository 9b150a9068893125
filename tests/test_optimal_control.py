"""Open-loop optimal controls by direct multiple shooting: against closed forms, boundary-value problems of one's own,
the control Hamiltonian, and the orders in which all of these converge with the number of intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import SPECS
from scipy.integrate import solve_bvp, solve_ivp
from scipy.linalg import expm
from scipy.optimize import minimize

import mechsim

SPRING = (SPECS / "design" / "spring_mass_control.yaml").read_text()


def spring_mass():
    """Seed 002: x' = w, w' = -k x + u, p1' = k p2 - d1 (x - xref), p2' = -p1, u = -p2/d2 with p(T) = (c1 (x - xref),
    0): linear, so that a matrix exponential gives p(0). The end, the first force, the cost and the Hamiltonian."""
    k, d1, d2, c1, xref, end = 1.6, 2.0, 0.1, 100.0, 2.0, 10.0
    rates = np.array(
        [
            [0, 1, 0, 0, 0],
            [-k, 0, 0, -1 / d2, 0],
            [-d1, 0, 0, k, d1 * xref],
            [0, 0, -1, 0, 0],
            [0, 0, 0, 0, 0],
        ]
    )
    # Growing and decaying parts are e^{18} at the end: half-way from both sides keeps 12 digits.
    half, back = expm(rates * end / 2), expm(-rates * end / 2)
    left = half @ np.array([[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    right = back @ np.array([[0, 1, 0], [0, 0, 1], [-c1 * xref, c1, 0], [0, 0, 0], [1, 0, 0]])
    unknown = np.linalg.solve(np.concatenate([left[:4, 1:], -right[:4, 1:]], axis=1), right[:4, 0] - left[:4, 0])
    _p1, p2, x_end, _ = unknown
    u = -p2 / d2
    hamiltonian = d1 / 2 * (1 - xref) ** 2 + d2 / 2 * u**2 + p2 * (-k + u)
    return x_end, u, hamiltonian


def found_with(hold, intervals):
    handle = mechsim.mechanism(SPRING.replace("hold: cubic", f"hold: {hold}"))
    found = handle.optimize({"u": (-20, 20, intervals)})
    assert found.status == "optimal"
    return found


def test_the_spring_and_mass_of_the_seed_has_all_its_digits():
    """x(10) = 1.99467, u(0) = 5.27176, H = 0.453910: with 40 cubics, and by two ways of one's own."""
    x_end, u, hamiltonian = spring_mass()
    assert (x_end, u, hamiltonian) == pytest.approx((1.99467384, 5.27175639, 0.45391025), abs=1e-8)
    found = found_with("cubic", 40)
    told = found.hamiltonian
    assert told.autonomous and told.names == ("u",)
    assert found.courses(True).solution.q[-1][0] == pytest.approx(x_end, abs=1e-8)
    assert told.controls[0, 0] == pytest.approx(u, abs=1e-7)
    # Costates are as good as IPOPT's last step, 1e-8 of the goal; H has them times rates.
    assert told.mean == pytest.approx(hamiltonian, abs=1e-7) and told.spread < 1e-6
    assert f"{found.courses(True).solution.q[-1][0]:.5f} {told.controls[0, 0]:.5f} {told.mean:.6f}" == (
        "1.99467 5.27176 0.453910"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hold", "intervals", "order"), [("constant", (20, 40), 1.5), ("linear", (15, 30), 3.4), ("cubic", (5, 10), 4.5)]
)
def test_controls_converge_with_the_intervals(hold, intervals, order):
    """What is held is chosen for the best, so that smooth functionals are off by the square of what it is off by: of
    the order 2, 4 and 8 in the length of intervals; at the coarse end of cubics not all of it is seen yet."""
    _, u, _ = spring_mass()
    errors = [abs(found_with(hold, count).hamiltonian.controls[0, 0] - u) for count in intervals]
    assert math.log2(errors[0] / errors[1]) > order, errors


HOOP = SPECS / "design" / "hoop_control.yaml"


@pytest.mark.slow
@pytest.mark.parametrize(("hold", "intervals", "order"), [("linear", (40, 80), 3.3), ("cubic", (10, 20), 4.2)])
def test_the_hamiltonian_of_the_bead_is_as_constant_as_intervals_are_short(hold, intervals, order):
    """Its spread is discretisation: with cubics states between intervals are off by h**5, for a control without jumps
    is not orthogonal to a step; with straight pieces by h**4. Measured: 3.6 and 4.5."""
    handle = mechsim.mechanism(HOOP.read_text().replace("hold: cubic", f"hold: {hold}"))
    spreads = [handle.optimize({"tau": (-50, 50, count)}).hamiltonian.spread for count in intervals]
    assert math.log2(spreads[0] / spreads[1]) > order, spreads


@pytest.mark.slow
def test_the_bead_on_the_hoop_is_that_of_its_boundary_value_problem():
    """The exercise of seed 002: theta'' = f(theta) + tau, with costates; solve_bvp to 1e-10."""
    w, g, target, d1, d2, c1, begin = 5.0, 9.81, 1.5, 20.0, 0.1, 100.0, 0.2

    def pull(a):
        return w * w * np.sin(a) * np.cos(a) - g * np.sin(a)

    def rates(t, y):
        a, b, p, q, _ = y
        slope = w * w * np.cos(2 * a) - g * np.cos(a)
        cost = d1 / 2 * (a - target) ** 2 + q * q / (2 * d2)
        return np.array([b, pull(a) - q / d2, -d1 * (a - target) - q * slope, -p, cost])

    def ends(y, z):
        return np.array([y[0] - begin, y[1], z[2] - c1 * (z[0] - target), z[3], y[4]])

    found = mechsim.mechanism(str(HOOP)).optimize()
    assert found.status == "optimal"
    times = np.linspace(0, 4, 401)
    angles = found.courses(True).solution.sampled(times)
    place = list(found.courses(True).solution.system.labels).index("theta_OA")
    guess = np.zeros((5, len(times)))
    guess[0], guess[1] = angles.q[:, place] + np.pi / 2, angles.v[:, place]
    known = solve_bvp(rates, ends, times, guess, tol=1e-9, max_nodes=200000)
    assert known.status == 0
    a, b, p, q, _ = known.y[:, 0]
    hamiltonian = d1 / 2 * (a - target) ** 2 + q * q / (2 * d2) + p * b + q * (pull(a) - q / d2)
    told = found.hamiltonian
    goal = known.y[4, -1] + c1 / 2 * (known.y[0, -1] - target) ** 2
    # 20 cubics: the goal is off by the square of what the torque is off by: 1.6e-7. H is off by what states are between
    # intervals, h**5: its rates of these, which are known, leave 8e-7 of 1e-4.
    assert found.goal == pytest.approx(goal, abs=4e-7) and found.goal > goal
    assert told.controls[0, 0] == pytest.approx(-q / d2, abs=1e-5)
    assert told.mean == pytest.approx(hamiltonian, abs=2e-5) and told.spread < 2e-4
    points, exact = found.courses(True).solution.sampled(told.times), known.sol(told.times)
    off = points.q[:, place] + np.pi / 2 - exact[0], points.v[:, place] - exact[1]
    rates_there = np.array([rates(0.0, column) for column in exact.T])
    left = told.values - hamiltonian + rates_there[:, 2] * off[0] - exact[2] * off[1]
    assert np.abs(left).max() < 2e-6
    np.testing.assert_allclose(guess[0], known.sol(times)[0], atol=2e-4)
    inner = told.controls[:, 0] + known.sol(told.times)[3] / d2
    assert np.abs(inner).max() < 2e-3
    costates = dict(zip(told.states, told.costates.T, strict=True))
    np.testing.assert_allclose(costates["theta_OA"], known.sol(told.times)[2], atol=2e-3)
    np.testing.assert_allclose(costates["theta_OA_dot"], known.sol(told.times)[3], atol=2e-4)


def test_a_double_integrator_is_moved_as_the_book_says():
    """From rest to rest over 1 in time 1 with least integral of u**2: u = 6 - 12 t, 12 in all; a cubic is that."""
    text = """
Inputs: {u: {start: 0, hold: cubic}}
PartData: {Particles: {P: 1}}
AppliedForces: {Forces: {P: [u, 0]}}
ProblemData: {tend: 1, positions: {P: [[0, fixed], [0, fixed]]}}
"""
    found = mechsim.mechanism(text).optimize(
        {"u": (None, None, 3)}, "integral(u**2)", subject=["final(P_x) = 1", "final(P_x_dot) = 0"]
    )
    assert found.status == "optimal" and found.goal == pytest.approx(12, rel=1e-9)
    np.testing.assert_allclose(found.inputs[0].values, 6 - 12 * found.inputs[0].times, atol=1e-7)
    # H = u**2 + p1 v + p2 u with p2 = -2 u, p1 = -24: -36 at rest, where it begins.
    assert found.hamiltonian.mean == pytest.approx(-36, rel=1e-6) and found.hamiltonian.spread < 1e-5
    # What the goal would fall by if the end gave way by one: 12 L**2 / T**3 has the derivative 24.
    assert abs(found.held[0].price) == pytest.approx(24, rel=1e-6)


def test_the_end_may_be_chosen_too():
    """As fast as can be with |u| <= 1 over 1: 2 s, half of it full ahead, half of it full astern."""
    text = """
Inputs: {u: 0}
PartData: {Particles: {P: 1}}
AppliedForces: {Forces: {P: [u, 0]}}
ProblemData: {tend: 3, positions: {P: [[0, fixed], [0, fixed]]}}
"""
    found = mechsim.mechanism(text).optimize(
        {"u": (-1, 1, 6), "tend": (0.5, 5)}, "tend", subject=["final(P_x) = 1", "final(P_x_dot) = 0"]
    )
    assert found.status == "optimal" and found.values["tend"] == pytest.approx(2, abs=1e-6)
    np.testing.assert_allclose(found.inputs[0].values, [1, 1, 1, -1, -1, -1], atol=1e-5)


@pytest.mark.slow
def test_a_pendulum_is_swung_up_and_the_file_found_does_it(tmp_path):
    target = tmp_path / "up.yaml"
    found = mechsim.mechanism(str(SPECS / "design" / "swing_up.yaml")).optimize(output=target)
    assert found.status == "optimal" and found.goal == pytest.approx(37.138, abs=2e-3)
    assert np.abs(found.inputs[0].values).max() <= 5
    motion = mechsim.simulate(str(target))
    assert motion.solution.q[-1][list(motion.system.labels).index("A_y")] == pytest.approx(1, abs=1e-7)
    # The same torque in an ODE of one's own.
    torque = found.inputs[0]

    def rates(t, y):
        return [y[1], -9.81 * np.cos(y[0]) + np.interp(t, torque.times, torque.values)]

    end = [-np.pi / 2, 0.0]
    for since, until in zip(torque.times[:-1], torque.times[1:], strict=True):
        end = solve_ivp(rates, (since, until), end, rtol=1e-12, atol=1e-12, method="DOP853").y[:, -1]
    assert end == pytest.approx([np.pi / 2, 0], abs=1e-6)


def test_a_file_with_its_control_moves_as_was_found(tmp_path):
    target = tmp_path / "found.yaml"
    handle = mechsim.mechanism(SPRING)
    found = handle.optimize({"u": (-20, 20, 8)}, output=target)
    text = target.read_text()
    assert "Piecewise:" in text and "Inputs" not in text and "Reference" not in text and "Optimize:" not in text
    motion = mechsim.simulate(str(target))
    assert motion.solution.q[-1] == pytest.approx(found.courses(True).solution.q[-1], abs=1e-11)
    again = handle.optimize({"u": (-20, 20, 8)}, output=target, resume=True)
    assert again.history[0].goal == pytest.approx(found.goal, rel=1e-9)
    assert again.goal == pytest.approx(found.goal, rel=1e-9)


CART = """
Inputs: {{u: {{start: 0, hold: {hold}}}}}
PartData: {{Particles: {{P: 1}}}}
AppliedForces: {{Forces: {{P: [u, 0]}}}}
ProblemData: {{tend: 2, positions: {{P: [[1, fixed], 0]}}}}
"""
AT_REST = ["final(P_x) = 0", "final(P_x_dot) = 0"]


@pytest.mark.parametrize("hold", ["constant", "linear", "cubic"])
def test_a_file_with_its_control_has_the_times_that_were_given(tmp_path, hold):
    """Moved back from 1 to 0 from t0 = -1 to tend = 3, not over the file's own 2 s: the file that is written does so
    when it runs by itself."""
    target = tmp_path / "found.yaml"
    found = mechsim.mechanism(CART.format(hold=hold)).optimize(
        {"u": (-20, 20, 6)}, minimise="integral(u**2)", subject=AT_REST, t0=-1, tend=3, output=target
    )
    motion = mechsim.simulate(target)
    assert found.status == "optimal" and (motion.t[0], motion.t[-1]) == (-1, 3)
    assert motion.solution.q[-1, 0] == pytest.approx(0, abs=1e-9)
    assert motion.solution.v[-1, 0] == pytest.approx(0, abs=1e-9)


def test_cubics_that_go_beyond_their_bounds_are_told():
    found = mechsim.mechanism(SPRING).optimize({"u": (-20, 3, 8)})
    assert found.status == "optimal" and np.max(found.inputs[0].values) <= 3 + 1e-8
    assert any("between its points u is as far as" in note for note in found.notes)


def test_a_motion_far_beyond_the_size_of_the_mechanism_is_steered():
    """In mm and g: the point R, which only gives the slot its direction, makes the mechanism 1 mm large. Of a mass m
    that goes L in T and rests at both ends the least integral of u^2 is 12 m^2 L^2/T^3 (linear)."""
    text = """
PhysicalParams: {m: 0.25}
Inputs: {u: {start: 0, hold: linear}}
PartData: {Fixed: {O: [], R: [1]}, Particles: {S: m}}
Joints: {Slots: {S-OR: []}}
AppliedForces: {Forces: {S: [u, 0]}}
ProblemData: {tend: 2, positions: {S: [[0, fixed]]}}
"""
    subject = ["final(S_x) = 300", "final(S_x_dot) = 0"]
    found = mechsim.mechanism(text).optimize({"u": (-1e4, 1e4, 4)}, minimise="integral(u**2)", subject=subject)
    assert found.status == "optimal" and found.goal == pytest.approx(12 * 0.25**2 * 300**2 / 8, rel=1e-9)


def test_a_speed_is_kept_all_along():
    """Moved back by L = 1 m in T = 2 s at no more than V = 0.6 m/s. As u'' = 0 where the limit does not hold, and u = 0
    where it does, the integral of u^2 is 16 V^3/(9 (T V - L)), which straight pieces of 0.1 s can be; its price is
    minus the derivative of that by V. Roundings are those of IPOPT's 1e-8."""
    cart = mechsim.mechanism(CART.format(hold="linear"))
    for relation in ("min(P_x_dot) >= -0.6", "-0.6 <= min(P_x_dot)", "max(abs(P_x_dot)) <= 0.6"):
        found = cart.optimize({"u": (-20, 20, 20)}, minimise="integral(u**2)", subject=[*AT_REST, relation])
        assert found.status == "optimal" and not found.notes
        assert found.goal == pytest.approx(1.92, rel=1e-8)
        assert found.held[-1].price == pytest.approx(9.6, rel=1e-6) and found.held[-1].missed < 1e-7
        assert found.courses(True).solution.v[:, 0].min() >= -0.6 - 1e-7


def test_an_acceleration_is_kept_where_it_is_largest_between_times_too():
    """At no more than c = 1.2 m/s^2 the force goes straight from c to -c within s of the middle, where
    s^2 = 3 (1 - 1/c), and the integral is 2 c^2 (1 - 2 s/3); cubics over 1/8 s are near that, but for its kinks."""
    bound, share = 1.2, np.sqrt(3 * (1 - 1 / 1.2))
    least = 2 * bound**2 * (1 - 2 * share / 3)
    found = mechsim.mechanism(CART.format(hold="cubic")).optimize(
        {"u": (-20, 20, 16)}, minimise="integral(u**2)", subject=[*AT_REST, "max(abs(P_ax)) <= 1.2"]
    )
    assert found.status == "optimal" and least < found.goal < least * (1 + 1e-4)
    looked = np.linspace(0, 2, 1001)
    accelerations = found.courses(True).solution.evaluate(looked)[2][:, 0]
    assert np.abs(accelerations).max() <= bound + 1e-6  # kept to 1e-7 of it at the steps' own peaks


def test_a_peak_is_kept_while_the_end_is_chosen():
    """The soonest end at |u| <= 1 and a speed of 1/2 at most: T = L/V + V/a, which pieces of 0.1 s can be."""
    found = mechsim.mechanism(CART.format(hold="constant")).optimize(
        {"u": (-1, 1, 25), "tend": (1, 6)}, minimise="tend", subject=[*AT_REST, "min(P_x_dot) >= -0.5"]
    )
    assert found.status == "optimal" and found.goal == pytest.approx(2.5, rel=1e-7)
    assert not found.notes


def test_what_is_made_of_several_peaks_is_told_with_what_to_do():
    """A sum of peaks is none that can be held at times: it has kinks where these last."""
    cart = mechsim.mechanism(CART.format(hold="linear"))
    subject = [*AT_REST, "max(P_x_dot) - min(P_x_dot) <= 0.6"]
    kinked = cart.optimize({"u": (-20, 20, 10)}, minimise="integral(u**2)", subject=subject, iterations=30)
    assert kinked.status == "unfinished"
    assert any("by itself, as max(P_x_dot) <= 1, is kept" in note for note in kinked.notes)


@pytest.mark.parametrize("relation", ["min(P_x) >= -3", "max(abs(P_x)) <= 3", "max(P_x) <= 1.5"])
def test_a_bound_that_never_binds_changes_nothing(relation):
    """From rest, where the place does not move at first: by the book the force goes straight from 3/2 to -3/2."""
    cart = mechsim.mechanism(CART.format(hold="linear"))
    found = cart.optimize({"u": (-20, 20, 20)}, minimise="integral(u**2)", subject=[*AT_REST, relation])
    assert found.status == "optimal" and len(found.history) < 30
    assert found.goal == pytest.approx(1.5, rel=1e-8)
    assert found.held[-1].price == pytest.approx(0, abs=1e-6)


def test_a_bound_on_what_jumps_where_intervals_meet():
    """The power u v of six forces that are constant: largest at the begin or at the end of each, so that both are held
    there. By SciPy's SLSQP, which has the speeds by sums."""
    count, step, most = 6, 1 / 3, 0.4

    def speeds(u):
        return np.append(0.0, np.cumsum(u) * step)

    def place(u):
        return 1 + np.sum(speeds(u)[:-1] * step + u * step**2 / 2)

    told = minimize(
        lambda u: step * u @ u,
        np.linspace(-1.5, 1.5, count),
        method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda u: [place(u), speeds(u)[-1]]},
            {"type": "ineq", "fun": lambda u: most - np.concatenate([u * speeds(u)[:-1], u * speeds(u)[1:]])},
        ],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    found = mechsim.mechanism(CART.format(hold="constant")).optimize(
        {"u": (-20, 20, count)}, minimise="integral(u**2)", subject=[*AT_REST, f"max(u*P_x_dot) <= {most}"]
    )
    assert told.success and found.status == "optimal"
    assert found.goal == pytest.approx(told.fun, rel=1e-7)
    assert found.inputs[0].values == pytest.approx(told.x, abs=1e-5)  # the goal is flat there


@pytest.mark.slow
def test_bounds_on_a_reaction_with_peaks_within_intervals():
    """A pendulum that is swung to 1.2 rad with 8 torques, while its rod bears at most 10.5 N: by SciPy in its angle,
    with an exchange of its own (28.34862, to all digits that it found)."""
    handle = mechsim.mechanism("""
Inputs: {tau: {start: 0, hold: constant}}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]]}}, Particles: {A: 1}}
AppliedForces: {Gravity: [0, -9.81], Torques: {OA: tau}}
ProblemData: {tend: 2, angles: {OA: [-pi/2, fixed]}, rates: {OA: [0, fixed]}}
""")
    ends = ["final(theta_OA) = 1.2-pi/2", "final(omega_OA) = 0"]
    found = handle.optimize({"tau": (-30, 30, 8)}, "integral(tau**2)", subject=[*ends, "max(abs(A_OA_Fu)) <= 10.5"])
    assert found.status == "optimal" and len(found.history) < 200
    assert found.goal == pytest.approx(28.34862, rel=1e-6)
