"""Derivatives of a motion by its start and its parameters, beside it in the kernel."""

from __future__ import annotations

import numpy as np
import pytest
from reference import SPECS
from scipy.integrate import solve_ivp

import mechsim
from mechsim.engine import State, integrate, order_for
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.engine.state import state_of
from mechsim.engine.tangents import Directions, sampled
from mechsim.errors import AssemblyError, IntegrationError, SpecError
from mechsim.handle import mechanism
from mechsim.handle.derivatives import by_parameters
from mechsim.kernel.twin import Twin
from mechsim.simulation import Prepared, adjust, prepare
from mechsim.source import read

STEP = 1e-30  # of a complex step: its square is nothing beside 1


def prepared(source, tend: float, parameters=None) -> Prepared:
    return prepare(adjust(read(source, parameters), tend=tend))


def followed(problem: Prepared, directions=None, tolerance: float = 1e-14, **settings):
    tend = float(problem.spec.problem.tend)
    arguments = {"tend": tend, "tolerance": tolerance, "tangents": directions, **settings}
    return integrate(problem.system, problem.structure, problem.start, **arguments)


def differentiated(source, names, tend: float, tolerance: float = 1e-14, **settings):
    found = by_parameters(prepared(source, tend), names)
    solution = followed(found.prepared, found.directions, tolerance, **settings)
    assert solution.status == "finished", solution.message
    return solution


def quotient(source, name: str, tend: float, step: float, tolerance: float = 1e-14) -> tuple[np.ndarray, ...]:
    """Central difference quotients of whole runs at step and twice it, without the error of second order."""

    def run(value: float) -> np.ndarray:
        end = followed(prepared(source, tend, {name: repr(value)}), tolerance=tolerance)
        return np.stack([end.q[0], end.v[0], end.q[-1], end.v[-1]])

    value = float(read(source).parameters[name])
    one, two = ((run(value + h) - run(value - h)) / (2 * h) for h in (step, 2 * step))
    return tuple((4 * one - two) / 3)


def assert_as_quotients(source, names, tend: float, step: float = 1e-4, rel: float = 1e-8) -> None:
    """`rel`: what is left of a quotient's digits, not of the tangents'."""
    tangents = differentiated(source, names, tend).tangents
    for number, name in enumerate(names):
        value = abs(float(read(source).parameters[name])) or 1.0
        first, first_rate, last, last_rate = quotient(source, name, tend, step * value)
        for found, expected in (
            (tangents.positions[0], first),
            (tangents.velocities[0], first_rate),
            (tangents.positions[-1], last),
            (tangents.velocities[-1], last_rate),
        ):
            scale = max(np.abs(expected).max(), 1e-3)
            assert found[:, number] == pytest.approx(expected, rel=0, abs=rel * scale), name


# --- independent references


def test_pendulum_against_a_complex_step():
    """x = l cos a, y = l sin a, a'' = -g/l cos a, from a = 0; one direction a parameter, one the start's speed."""
    text = (SPECS / "pendulum.yaml").read_text().replace("A: [0, [0, fixed]]", "A: [0, [w0*l, fixed]]")
    text = text.replace("PhysicalParams:", "PhysicalParams:\n  w0: 0.3")
    solution = differentiated(text, ("l", "g", "m", "w0"), 3.0)
    values = {"l": 1.0, "g": 9.81, "w0": 0.3}
    for number, name in enumerate(("l", "g", "m", "w0")):
        p = {key: value + (1j * STEP if key == name else 0) for key, value in values.items()}

        def motion(_, y, p=p):
            return [y[1], -p["g"] / p["l"] * np.cos(y[0])]

        end = solve_ivp(motion, (0, 3), [0j, p["w0"]], method="DOP853", rtol=2.3e-14, atol=1e-14).y[:, -1]
        place = p["l"] * np.array([np.cos(end[0]), np.sin(end[0])])
        speed = p["l"] * end[1] * np.array([-np.sin(end[0]), np.cos(end[0])])
        slots = [solution.system.labels.index(label) for label in ("A_x", "A_y")]
        found = solution.tangents.positions[-1, slots, number], solution.tangents.velocities[-1, slots, number]
        assert found[0] == pytest.approx(place.imag / STEP, rel=0, abs=2e-12)
        assert found[1] == pytest.approx(speed.imag / STEP, rel=0, abs=1e-11)


def extended(problem: Prepared, plan, change, steps: int, span: float, order: int = 22) -> np.ndarray:
    """Positions and velocities after `span`, in extended precision; the start is changed by `change`."""
    twin = Twin(plan, order, np.longdouble)
    start = state_of(problem.system, plan.variable_offsets, problem.start).astype(np.longdouble)
    twin.set_state(problem.start.t, start + change)
    twin.march(np.longdouble(span) / steps, steps)
    return twin.x[:2, : problem.system.n].copy()


@pytest.mark.parametrize(("name", "span", "steps"), [("pendulum", 0.2, 4), ("double_pendulum", 0.06, 6)])
def test_starts_against_extended_precision(name, span, steps):
    """A change of the start that is no motion of the mechanism is projected on its constraints first."""
    problem = prepared(SPECS / f"{name}.yaml", span)
    system = problem.system
    plan = planned(system, problem.structure)
    noise = np.random.default_rng(1).standard_normal((2, system.n, 1)) * system.scales[: system.n, None]
    solution = followed(problem, Directions.of_state(system, ["any"], *noise))
    change = np.zeros((2, plan.size), dtype=np.longdouble)
    change[:, : system.n] = noise[..., 0]
    h = np.longdouble(1e-4)
    ends = {k: extended(problem, plan, k * h * change, steps, span) for k in (-2, -1, 1, 2)}
    expected = (8 * (ends[1] - ends[-1]) - (ends[2] - ends[-2])) / (12 * h)
    found = np.stack([solution.tangents.positions[-1, :, 0], solution.tangents.velocities[-1, :, 0]])
    # The quotient's own error is of fourth order in 1e-4 times fifth derivatives.
    assert found == pytest.approx(expected.astype(float), rel=0, abs=1e-11 * float(np.abs(expected).max()))


def double_pendulum(p, y):
    """Point masses m1, m2 on massless rods, angles from the vertical: the textbook's equations."""
    a, b, da, db = y
    s, c = np.sin(a - b), np.cos(a - b)
    m1, m2, l1, l2, g = (p[name] for name in ("m1", "m2", "l1", "l2", "g"))
    total = m1 + m2
    matrix = np.array([[total * l1, m2 * l2 * c], [l1 * c, l2]])
    right = np.array([-m2 * l2 * db**2 * s - total * g * np.sin(a), l1 * da**2 * s - g * np.sin(b)])
    bends = np.linalg.solve(matrix, right)
    return [da, db, *bends]


DOUBLE = """
PhysicalParams: {l1: 1.0, l2: 0.7, m1: 1.0, m2: 0.5, g: 9.81, a0: 1.1, b0: 0.4}
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[l1]]}, AB: {Geom: [[l2]]}}
  Particles: {A: m1, B: m2}
AppliedForces: {Gravity: [0, -g]}
ProblemData:
  tend: 2
  positions:
    A: [[l1*sin(a0), fixed], -l1*cos(a0)]
    B: [[l1*sin(a0) + l2*sin(b0), fixed], -l1*cos(a0) - l2*cos(b0)]
"""


def test_double_pendulum_against_a_complex_step():
    names = ("l1", "l2", "m1", "m2", "g", "a0", "b0")
    solution = differentiated(DOUBLE, names, 2.0)
    values = {"l1": 1.0, "l2": 0.7, "m1": 1.0, "m2": 0.5, "g": 9.81, "a0": 1.1, "b0": 0.4}
    labels = ("A_x", "A_y", "B_x", "B_y")
    slots = [solution.system.labels.index(label) for label in labels]
    for number, name in enumerate(names):
        p = {key: value + (1j * STEP if key == name else 0) for key, value in values.items()}
        start = [p["a0"], p["b0"], 0j, 0j]
        run = solve_ivp(lambda _, y, p=p: double_pendulum(p, y), (0, 2), start, "DOP853", rtol=2.3e-14, atol=1e-14)
        a, b = run.y[:2, -1]
        x, y = p["l1"] * np.sin(a), -p["l1"] * np.cos(a)
        expected = np.array([x, y, x + p["l2"] * np.sin(b), y - p["l2"] * np.cos(b)]).imag / STEP
        found = solution.tangents.positions[-1, slots, number]
        assert found == pytest.approx(expected, rel=0, abs=1e-11 * max(1.0, np.abs(expected).max())), name


# --- invariants


def test_conserved_quantities_have_conserved_derivatives():
    """Along every tangent of a conservative motion dE is constant, and so is the symplectic form of every two."""
    problem = prepared(DOUBLE, 3.0)
    system, start = problem.system, problem.start
    directions = Directions.basis(system, start.t, start.positions, start.velocities)
    assert directions.count == 4
    solution = followed(problem, directions)
    dq, dv = solution.tangents.positions, solution.tangents.velocities
    mass = system.mass_matrix(0.0, start.positions)  # of points: the same everywhere
    form = np.einsum("tia,ij,tjb->tab", dq, mass, dv)
    form = form - form.transpose(0, 2, 1)
    # Tangents of this chaotic motion have grown a hundredfold: its digits are lost in products of them.
    size = np.abs(dq).max() * np.abs(dv).max()
    assert np.abs(form - form[0]).max() < 1e-13 * size
    weight = 9.81 * np.array([1.0, 0.5])
    heights = [system.labels.index(label) for label in ("A_y", "B_y")]
    energy = np.einsum("ti,ij,tja->ta", solution.v, mass, dv) + np.einsum("i,tia->ta", weight, dq[:, heights])
    assert np.abs(energy - energy[0]).max() < 1e-13 * size
    volumes = [np.linalg.det(each) for each in form]
    assert volumes == pytest.approx([volumes[0]] * len(volumes), rel=1e-9)


def test_tangents_stay_on_the_constraints():
    """Also between steps, and for lengths that change."""
    solution = differentiated(DOUBLE, ("l1", "a0"), 2.0, tolerance=1e-6)
    times = np.linspace(0, 2, 23)
    dq, dv = sampled(solution, times)
    points = solution.sampled(times)
    q, v = points.q, points.v
    x, y = (solution.system.labels.index(label) for label in ("A_x", "A_y"))
    length = 2 * (q[:, [x]] * dq[:, x] + q[:, [y]] * dq[:, y]) - 2 * np.array([1.0, 0.0])
    assert np.abs(length).max() < 1e-13 * np.abs(dq).max()
    rate = q[:, [x]] * dv[:, x] + q[:, [y]] * dv[:, y] + v[:, [x]] * dq[:, x] + v[:, [y]] * dq[:, y]
    assert np.abs(rate).max() < 1e-12 * np.abs(dv).max()


def test_dense_tangents_meet_at_steps():
    solution = differentiated(DOUBLE, ("g",), 1.0)
    values, rates = solution.tangents.evaluate(solution.t)
    n = solution.system.n
    assert values[:, :n] == pytest.approx(solution.tangents.positions, rel=0, abs=1e-12)
    assert rates[:, :n] == pytest.approx(solution.tangents.velocities, rel=0, abs=1e-11)


@pytest.mark.parametrize("order", [4, 6, 9])
def test_order_of_convergence(order):
    problem = prepared(SPECS / "pendulum.yaml", 1.0)
    noise = np.random.default_rng(2).standard_normal((2, problem.system.n, 1))
    directions = Directions.of_state(problem.system, ["any"], *noise)
    exact = followed(problem, directions).tangents.positions[-1]

    def error(step: float) -> float:
        solution = followed(problem, directions, 1e-14, order=order, fixed_step=step)
        return float(np.abs(solution.tangents.positions[-1] - exact).max())

    # Degrees of velocities end with the order, so a step leaves one more, and a run the order.
    slope = np.log2(error(1 / 16) / error(1 / 32))
    assert order - 0.4 < slope < order + 1.5


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_tangents_have_the_digits_of_the_tolerance(tolerance):
    exact = differentiated(DOUBLE, ("g", "a0", "l2"), 2.0).tangents
    found = differentiated(DOUBLE, ("g", "a0", "l2"), 2.0, tolerance=tolerance).tangents
    off = np.abs(found.positions[-1] - exact.positions[-1]).max(axis=0) / np.abs(exact.positions[-1]).max(axis=0)
    # The motion itself is off by that much at its end, and its derivative sees the difference.
    assert off.max() < 100 * tolerance


# --- all ways of a number, by difference quotients of whole runs


def test_andrews():
    assert_as_quotients(SPECS / "andrews.yaml", ("mom", "c0", "beta0", "rr"), 0.01, step=1e-4)


GUESSED = """
PhysicalParams: {a: 0.4, b: 1.1, m: 1.0, g: 9.81, tilt: 0.7, w: 2.0, off: 0.05}
PartData:
  Fixed: {O: [], Q: [2*a, off]}
  Rigids:
    OA: {Geom: [[a]], Dyna: [[a/2], m, m*a**2/12]}
    AB: {Geom: [[b]], Dyna: [[b/2], m, m*b**2/12]}
Joints:
  Slots: {B-OQ: []}
AppliedForces: {Gravity: [0, -g]}
ProblemData:
  tend: 1
  positions: {A: [a*cos(tilt) + 0.03, a*sin(tilt)], B: [1.3, off]}
  velocities: {A: [-w*a*sin(tilt), w*a*cos(tilt)]}
"""


def test_guessed_start_is_the_nearest_point_wherever_the_guess_goes():
    """Nothing is fixed: guesses that depend on parameters do not close, and pull on positions and velocities."""
    assert_as_quotients(GUESSED, ("a", "b", "tilt", "w", "off"), 0.5)


def test_fixed_start_that_depends_on_parameters():
    text = GUESSED.replace("A: [a*cos(tilt) + 0.03, a*sin(tilt)]", "A: [a*cos(tilt), [a*sin(tilt), fixed]]")
    assert_as_quotients(text, ("a", "b", "tilt", "w"), 0.5)


@pytest.mark.parametrize(
    ("name", "names", "tend"),
    [
        ("friction_on_incline", ("m", "alpha", "mu", "v0", "u0"), 1.0),
        ("chaplygin_sleigh", ("m", "I", "a"), 1.0),
        ("driven_slider_crank", ("w", "a", "m1"), 0.3),
        ("rolling_wheel", ("r", "I", "alpha", "v0"), 1.0),
        ("arm3_pid", ("g", "m1", "l1"), 0.5),
    ],
)
def test_laws_joints_and_controllers(name, names, tend):
    assert_as_quotients(SPECS / "forces" / f"{name}.yaml", names, tend)


ARM = """
PhysicalParams: {k: 1.5, l: 1.0, m: 2.0, c: 0.3, kp: 40, aim: 0.5, late: 0.4}
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[l]]}}
  Particles: {A: m}
AppliedForces:
  Gravity: [0, -9.81]
  Forces: {A: [HERE, -c*A.vy]}
ProblemData:
  tend: 1.5
  positions: {A: [l, [0, fixed]]}
"""


def test_pieces_and_tables_of_forces():
    """What they hold changes with parameters; their values jump at breaks."""
    pieces = ARM.replace("HERE", "push") + "Piecewise: {push: [[0, k*sin(3*t)], [0.5, k**2], [0.9, m*k*t]]}\n"
    assert_as_quotients(pieces, ("k", "l", "m", "c"), 1.2)
    table = (
        ARM.replace("HERE", "k*push") + "Tables: {push: {kind: cubic, points: [[0, 0], [0.4, 2], [1, 1], [2, 3]]}}\n"
    )
    assert_as_quotients(table, ("k", "l"), 1.2)


TABLE_DRIVE = """
PhysicalParams: {a: 0.4, b: 1.1, m: 1.0, lift: 0.8}
PartData:
  Fixed: {O: [], Q: [2, 0]}
  Rigids:
    OA: {Geom: [[a]], Dyna: [[a/2], m, m*a**2/12]}
    AB: {Geom: [[b]], Dyna: [[b/2], m, m*b**2/12]}
Joints: {Slots: {B-OQ: []}}
Tables: {turn: {kind: cubic, ends: clamped, points: [[0, 0.3], [0.4, 1], [1, 0.2], [2, 1]]}}
Drives: {theta_OA: lift*turn}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1.3, positions: {B: [1.4]}}
"""


def test_table_drive():
    """A drive by a table, scaled by a parameter."""
    assert_as_quotients(TABLE_DRIVE, ("a", "b", "m", "lift"), 1.3)


def test_sampled_controller():
    """Outputs and integrals are held between samples, and carry their changes."""
    control = "Controllers: {theta_OA: {target: aim + 0.1*sin(t), kp: kp, ki: 20, kd: 9, period: 0.07}}\n"
    assert_as_quotients(ARM.replace("HERE", "0") + control, ("kp", "aim", "m", "l"), 1.0)


def test_times_that_move_are_refused():
    pieces = ARM.replace("HERE", "push") + "Piecewise: {push: [[0, k], [late, 2]]}\n"
    with pytest.raises(SpecError, match="moves with a parameter"):
        by_parameters(prepared(pieces, 1.0), ("late",))


def test_a_parameter_that_is_zero_is_not_folded_away():
    """Damping that is not there, and its derivative."""
    text = DOUBLE.replace("b0: 0.4}", "b0: 0.4, c: 0}").replace(
        "AppliedForces: {Gravity: [0, -g]}",
        "AppliedForces: {Gravity: [0, -g], Torques: {OA: -c*omega_OA}}",
    )
    assert_as_quotients(text, ("c",), 1.0, step=1e-3)


# --- marches that are stopped


SWINGING = """
PhysicalParams: {c: 0, k: 3}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}
AppliedForces: {Gravity: [0, -9.81], Torques: {OA: -c*omega_OA - k*theta_OA}}
ProblemData: {tend: 1, angles: {OA: 0.3}}
"""


@pytest.mark.parametrize("given", [False, True], ids=["the file's start", "a given state"])
def test_a_parameter_that_is_zero_goes_together_with_other_directions(given):
    """It stays in the equations, so these are not those of the other directions alone."""
    handle = mechsim.mechanism(SWINGING)
    names = ["c", "theta_OA", "k"]
    start = {"start": handle.start()} if given else {}
    together = handle.simulate(tangents=names, **start)
    for name in names:
        alone = handle.simulate(tangents=[name], **start).derivative(name, 1.0)["theta_OA"]
        # Directions take part in the step control, so steps differ; at the default tolerance of 1e-12.
        assert together.derivative(name, 1.0)["theta_OA"] == pytest.approx(float(alone), rel=1e-10)


def test_stopped_and_continued_equals_not_stopped():
    problem = prepared(DOUBLE, 2.0)
    found = by_parameters(problem, ("g", "l1", "a0"))
    problem, directions = found.prepared, found.directions
    whole = followed(problem, directions)
    for stop in (whole.t[7], 0.777):
        first = integrate(
            problem.system, problem.structure, problem.start, tend=stop, tolerance=1e-14, tangents=directions
        )
        rest = integrate(
            problem.system, problem.structure, first.ending, tend=2.0, tolerance=1e-14, tangents=directions
        )
        assert np.array_equal(rest.q[-1], whole.q[-1])
        assert np.array_equal(rest.tangents.positions[-1], whole.tangents.positions[-1])
        assert np.array_equal(rest.tangents.positions[0], first.tangents.positions[-1])
        dense = rest.tangents.evaluate([1.3])[0]
        assert dense == pytest.approx(whole.tangents.evaluate([1.3])[0], rel=0, abs=1e-11)


def test_many_directions_are_the_same_as_few():
    """Directions are independent; only the steps may differ, for all take part in their control."""
    problem = prepared(DOUBLE, 1.0)
    noise = np.random.default_rng(5).standard_normal((2, problem.system.n, 11))
    every = followed(problem, Directions.of_state(problem.system, [str(i) for i in range(11)], *noise))
    for i in (0, 4, 10):
        alone = followed(problem, Directions.of_state(problem.system, ["one"], *noise[..., [i]]))
        size = np.abs(alone.tangents.positions[-1]).max()
        difference = every.tangents.positions[-1, :, i] - alone.tangents.positions[-1, :, 0]
        assert np.abs(difference).max() < 1e-12 * size


def test_a_march_forgets_its_tangents():
    """The motion without them is bit by bit what it was."""
    problem = prepared(DOUBLE, 1.0)
    before = followed(problem)
    plan = before.plan
    march = new_march(plan, before.order, 1e-14)
    new = march.snapshot()
    found = by_parameters(problem, ("g", "l1"))
    followed(found.prepared, found.directions, ready=(plan, march))
    march.restore(new)
    again = followed(problem, ready=(plan, march))
    assert again.tangents is None
    assert np.array_equal(again.q, before.q)


def test_there_and_back():
    """A motion that is followed backwards brings its tangents back to where they began."""
    problem = prepared(DOUBLE, 1.0)
    system, start = problem.system, problem.start
    directions = Directions.basis(system, start.t, start.positions, start.velocities)
    there = followed(problem, directions)
    began, last = there.tangents.positions[0], there.tangents
    turned = Directions.of_state(system, directions.names, last.positions[-1], last.velocities[-1])
    end = State(1.0, there.q[-1], there.v[-1])
    back = integrate(system, problem.structure, end, tend=0.0, tolerance=1e-14, tangents=turned).tangents
    assert back.positions[-1] == pytest.approx(began, rel=0, abs=1e-12 * np.abs(last.positions).max() ** 2)
    middle = back.evaluate([0.5])[0], last.evaluate([0.5])[0]
    assert middle[0][:, : system.n] == pytest.approx(middle[1][:, : system.n], rel=0, abs=1e-11)


def test_a_family_of_mechanisms_shares_its_march():
    """With other parameters through a handle: the directions are those of these, and the march is the family's."""
    handle = mechanism(DOUBLE)
    run = handle._run({"l1": 1.1, "a0": 0.9}, tend=1.0, tol=1e-14)
    found = by_parameters(run.prepared, ("l1", "g", "a0"))
    assert found.prepared.system is run.prepared.system
    order = order_for(1e-14, run.member.plan)
    with run.member.machines(order, 1e-14).march(run.member.plan, run.member.values) as march:
        shared = followed(found.prepared, found.directions, order=order, ready=(run.member.plan, march))
    own = by_parameters(prepared(DOUBLE, 1.0, {"l1": "1.1", "a0": "0.9"}), ("l1", "g", "a0"))
    alone = followed(own.prepared, own.directions, order=order)
    assert shared.tangents.positions[-1] == pytest.approx(alone.tangents.positions[-1], rel=0, abs=1e-11)
    with run.member.machines(order, 1e-14).march(run.member.plan, run.member.values) as march:
        plain = followed(run.prepared, order=order, ready=(run.member.plan, march))
    assert np.array_equal(plain.q, followed(run.prepared, order=order).q)


def test_inputs():
    """A force that is set from outside, and the mechanism's answer to it: by linearity, the difference of two runs."""
    text = """
PhysicalParams: {m: 2.0, k: 30.0}
Inputs: {push: 0.5}
PartData:
  Particles: {A: m}
AppliedForces: {Forces: {A: [push - k*(A.x - 1), -k*A.y]}}
ProblemData: {tend: 1, positions: {A: [1, 0]}}
"""
    problem = prepared(text, 1.0)
    solution = followed(problem, Directions.of_inputs(problem.system, ["push"]))
    place = problem.system.labels.index("A_x")
    rate = np.sqrt(30.0 / 2.0)
    expected = (1 - np.cos(rate * solution.t)) / 30.0
    assert solution.tangents.positions[:, place, 0] == pytest.approx(expected, rel=0, abs=1e-14)


# --- what is refused


def test_refusals():
    with pytest.raises(SpecError, match="no parameter"):
        by_parameters(prepared(DOUBLE, 1.0), ("q",))
    exponent = DOUBLE.replace("g: 9.81", "g: 9.81, n: 2").replace("m2: 0.5", "m2: 0.5").replace("B: m2", "B: m2*l1**n")
    assert by_parameters(prepared(exponent, 1.0), ("l1",)).directions.count == 1
    parallelogram = """
PhysicalParams: {l: 1.0}
PartData:
  Fixed: {O: [], P: [1, 0], Q: [2, 0]}
  Rigids:
    OA: {Geom: [[l]], Dyna: [[0.5], 1, 0.1]}
    PB: {Geom: [[l]], Dyna: [[0.5], 1, 0.1]}
    QC: {Geom: [[l]], Dyna: [[0.5], 1, 0.1]}
    ABC: {Geom: [[1], [2, 0]], Dyna: [[1], 1, 0.1]}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 0.2, positions: {A: [0.6, [0.8, fixed]], B: [1.6, 0.8], C: [2.6, 0.8]}}
"""
    problem = prepared(parallelogram, 0.2)
    with pytest.raises(AssemblyError, match="redundant"):
        by_parameters(problem, ("l",))
    zeros = np.zeros((problem.system.n, 1))
    with pytest.raises(IntegrationError, match="redundant"):
        followed(problem, Directions.of_state(problem.system, ["none"], zeros, zeros))


PARALLELOGRAM = """
PhysicalParams: {d: 2.0, w: 3.0}
PartData:
  Fixed: {O: [], P: [d, 0]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}
    PB: {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}
    AB: {Geom: [[2]], Dyna: [[1], 1, 0.1]}
ProblemData: {tend: 3, positions: {A: [0.6, [0.8, fixed]], B: [2.6, 0.8]}, rates: {OA: [w, fixed]}}
"""


@pytest.mark.parametrize("tolerance", [1e-14, 1e-10, 1e-6])
def test_change_points_end_a_derivative_that_is_not_there(tolerance):
    """The motion passes the flat pose; with another distance of the pivots it would not, or on another branch."""
    found = by_parameters(prepared(PARALLELOGRAM, 3.0), ("d",))
    assert followed(found.prepared, tolerance=tolerance).status == "finished"
    solution = followed(found.prepared, found.directions, tolerance)
    assert solution.status in ("not_differentiable", "not_projected", "step_too_small")
    assert solution.t[-1] < 0.74  # the first flat pose


def test_a_point_that_only_parts_place_goes_with_them():
    """Nothing is said of B: it hangs where the rods put it, and the start is the nearest point to that."""
    text = DOUBLE.replace("    B: [[l1*sin(a0) + l2*sin(b0), fixed], -l1*cos(a0) - l2*cos(b0)]\n", "")
    here = by_parameters(prepared(text, 1.0), ("l1", "l2", "g"))
    step = 1e-5  # the square of it, and roundings divided by it, are 1e-10
    for place, name in enumerate(("l1", "l2", "g")):
        value = here.prepared.spec.parameters[name].value
        sides = [prepared(text, 1.0, {name: value + side}).start.positions for side in (step, -step)]
        assert here.directions.positions[:, place] == pytest.approx((sides[0] - sides[1]) / (2 * step), abs=1e-8)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
def test_poles_of_a_smooth_force_are_no_singular_poses(tolerance):
    """What ends the series of tanh is a pole beside the way of the motion, at some tolerances just so far that it looks
    as roundings near a change point do."""
    text = """
    PhysicalParams: {c: 0.3, k: 5}
    PartData:
      Fixed: {O: []}
      Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}, AB: {Geom: [[0.7]], Dyna: [[0.35], 0.5, 0.05]}}
    AppliedForces:
      Gravity: [0, -9.81]
      Torques: {OA: -c*tanh(k*omega_OA), AB-OA: -c*tanh(k*(omega_AB - omega_OA))}
    ProblemData: {tend: 3, angles: {OA: [1.2, fixed], AB: [0.5, fixed]}}
    """
    found = mechanism(text).sensitivity("final(theta_OA)", by=["c", "k"], tol=tolerance)
    assert found.derivatives[0] == pytest.approx([-10.65910595, -0.01419198], abs=max(2e-8, 100 * tolerance))
