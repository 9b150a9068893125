"""The Lagrangian facility: the same solver for a Lagrangian in any coordinates."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mechsim
from mechsim.derive import program_for
from mechsim.errors import MechsimError

GRAVITY = 9.81


def test_a_simple_pendulum_in_five_lines_has_its_exact_motion():
    pendulum = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 - GRAVITY * q[1],
        ["x", "y"],
        constraints=lambda q, t: [q[0] ** 2 + q[1] ** 2 - 1],
    )
    motion = pendulum.simulate({"x": 1.0, "y": 0.0}, tend=10, tol=1e-14)
    # Jacobi elliptic functions, 25 digits (MBS benchmark A01); phase errors grow with t, 1e-12 is 50 roundings a step
    assert motion(10.0)["x"] == pytest.approx(0.2750874625761168600543914, abs=1e-12)
    assert motion.velocity(10.0)["y"] == pytest.approx(-1.194749054560475271647513, abs=1e-11)


def rods():
    """Two uniform rods of 1 kg and 1 m, angles from the downward vertical: the mass matrix depends on q."""

    def lagrangian(q, v, t):
        kinetic = 2 / 3 * v[0] ** 2 + v[1] ** 2 / 6 + v[0] * v[1] * jnp.cos(q[0] - q[1]) / 2
        return kinetic + GRAVITY * (1.5 * jnp.cos(q[0]) + 0.5 * jnp.cos(q[1]))

    return mechsim.lagrangian_system(lagrangian, ["theta1", "theta2"])


def test_double_pendulum_in_two_angles_equals_the_quadruple_precision_reference():
    start = {"theta1": np.pi / 2, "theta2": np.pi}
    motion = rods().simulate(start, tend=2, tol=1e-14)
    # Growth of an initial perturbation is 230 at t = 2: 230 x 2e-16 x a few steps' roundings stays below 1e-11.
    assert motion(2.0)["theta1"] == pytest.approx(0.45633755221460635646, abs=1e-11)
    assert motion(2.0)["theta2"] == pytest.approx(0.22266224126982779961, abs=1e-11)
    assert motion.velocity(2.0)["theta2"] == pytest.approx(-12.987696853637855930, abs=2e-10)


def test_double_pendulum_in_angles_equals_the_cartesian_mechanism():
    start = {"theta1": np.pi / 2, "theta2": np.pi}
    angles = rods().simulate(start, tend=1, tol=1e-14)(1.0)
    points = mechsim.simulate("specs/double_pendulum.yaml", tol=1e-14, tend=1)(1.0)
    first = np.array([np.sin(angles["theta1"]), -np.cos(angles["theta1"])])
    second = first + np.array([np.sin(angles["theta2"]), -np.cos(angles["theta2"])])
    # both are right to 1e-12 by themselves (growth of a perturbation until t = 1 is 16)
    assert np.allclose(points["A"], first, rtol=0, atol=1e-11)
    assert np.allclose(points["B"], second, rtol=0, atol=1e-11)


def test_central_field_in_radius_and_unit_vector_equals_cartesian_motion():
    """Seed 000 section 5.1: q = (r, unit vector), (56) with the constraint (52), against L in x, y, z."""
    mu = 1.3

    def polar(q, v, t):
        return (v[0] ** 2 + q[0] ** 2 * jnp.dot(v[1:], v[1:])) / 2 + mu / q[0]

    def cartesian(q, v, t):
        return jnp.dot(v, v) / 2 + mu / jnp.sqrt(jnp.dot(q, q))

    position, velocity = np.array([1.2, 0.3, -0.4]), np.array([-0.1, 0.9, 0.35])
    radius = np.linalg.norm(position)
    unit = position / radius
    speed = unit @ velocity
    turn = (velocity - speed * unit) / radius
    names = ["r", "u_x", "u_y", "u_z"]
    system = mechsim.lagrangian_system(polar, names, constraints=lambda q, t: [jnp.dot(q[1:], q[1:]) - 1])
    one = system.simulate(
        dict(zip(names, [radius, *unit], strict=True)), dict(zip(names, [speed, *turn], strict=True)), tend=8, tol=1e-14
    )
    other = mechsim.lagrangian_system(cartesian, ["P_x", "P_y", "P_z"]).simulate(
        dict(zip(["P_x", "P_y", "P_z"], position, strict=True)),
        dict(zip(["P_x", "P_y", "P_z"], velocity, strict=True)),
        tend=8,
        tol=1e-14,
    )
    assert np.allclose(one(8.0)["r"] * one(8.0)["u"], other(8.0)["P"], rtol=0, atol=1e-11)


def test_spherical_pendulum_keeps_energy_and_angular_momentum():
    system = mechsim.lagrangian_system(
        lambda q, v, t: jnp.dot(v, v) / 2 - GRAVITY * q[2],
        ["A_x", "A_y", "A_z"],
        constraints=lambda q, t: [jnp.dot(q, q) - 1],
    )
    motion = system.simulate(
        {"A_x": 0.6, "A_y": 0.0, "A_z": -0.8}, {"A_x": 0.0, "A_y": 1.5, "A_z": 0.0}, tend=10, tol=1e-14
    )
    times = np.linspace(0, 10, 101)
    place, velocity = motion(times)["A"], motion.velocity(times)["A"]
    energy = (velocity**2).sum(axis=1) / 2 + GRAVITY * place[:, 2]
    momentum = place[:, 0] * velocity[:, 1] - place[:, 1] * velocity[:, 0]
    # both are exact invariants; 1e-12 is some roundings per step over about 200 steps
    assert np.ptp(energy) < 1e-12 * abs(energy).max()
    assert np.ptp(momentum) < 1e-12 * abs(momentum).max()
    assert abs((place**2).sum(axis=1) - 1).max() < 1e-14


def test_parameters_change_without_deriving_again():
    system = mechsim.lagrangian_system(
        lambda q, v, t, p: p.m * v[0] ** 2 / 2 - p.k * q[0] ** 2 / 2, ["x"], parameters={"m": 1.0, "k": 1.0}
    )
    # omega = sqrt(k/m) = 3: closed form, to a few roundings
    motion = system.simulate({"x": 1.0}, tend=2, parameters={"m": 0.5, "k": 4.5}, tol=1e-14)
    assert motion(2.0)["x"] == pytest.approx(np.cos(6.0), abs=1e-13)


def test_parameters_that_are_zero_are_derived_once(monkeypatch):
    """Zeros change the structure, so they have programs of their own; at rest many rough runs are made with them."""
    derived = []
    monkeypatch.setattr(
        "mechsim.kernel.system.program_for", lambda kind, *rest: derived.append(rest) or program_for(kind, *rest)
    )
    system = mechsim.lagrangian_system(
        lambda q, v, t, p: v[0] ** 2 / 2 - p.k * q[0] ** 2 / 2, ["x"], parameters={"k": 1.0}
    )
    for k in (0.0, 2.0, 0.0):
        motion = system.simulate({"x": 0.0}, tend=1, parameters={"k": k})
    assert len(derived) == 2
    assert motion(1.0)["x"] == 0.0


def test_a_force_that_depends_on_time_and_speed():
    """x'' + x' = cos t from rest: x = (sin t - cos t + exp(-t))/2."""
    system = mechsim.lagrangian_system(lambda q, v, t: v[0] ** 2 / 2, ["x"], forces=lambda q, v, t: [jnp.cos(t) - v[0]])
    motion = system.simulate({"x": 0.0}, tend=5, tol=1e-14)
    exact = (np.sin(5.0) - np.cos(5.0) + np.exp(-5.0)) / 2
    assert motion(5.0)["x"] == pytest.approx(exact, abs=1e-13)


def test_a_moving_support_is_a_constraint_with_time():
    """A pendulum whose pivot moves as 0.1 sin(3t) along x, in x, y, against the same in its angle."""
    cartesian = mechsim.lagrangian_system(
        lambda q, v, t: jnp.dot(v, v) / 2 - GRAVITY * q[1],
        ["x", "y"],
        constraints=lambda q, t: [(q[0] - 0.1 * jnp.sin(3 * t)) ** 2 + q[1] ** 2 - 1],
    )

    def lagrangian(q, v, t):
        pivot = 0.3 * jnp.cos(3 * t)
        speed_x, speed_y = pivot + jnp.cos(q[0]) * v[0], jnp.sin(q[0]) * v[0]
        return (speed_x**2 + speed_y**2) / 2 + GRAVITY * jnp.cos(q[0])

    angle = mechsim.lagrangian_system(lagrangian, ["theta"])
    swing = angle.simulate({"theta": 0.5}, {"theta": 0.2}, tend=4, tol=1e-14)
    start = {"x": np.sin(0.5), "y": -np.cos(0.5)}
    speed = {"x": 0.3 + 0.2 * np.cos(0.5), "y": 0.2 * np.sin(0.5)}
    motion = cartesian.simulate(start, speed, tend=4, tol=1e-14)
    theta = swing(4.0)["theta"]
    assert motion(4.0)["x"] == pytest.approx(0.1 * np.sin(12.0) + np.sin(theta), abs=1e-12)
    assert motion(4.0)["y"] == pytest.approx(-np.cos(theta), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mechsim.lagrangian_system(lambda q, v, t: v[0], []), "different names"),
        (lambda: mechsim.lagrangian_system(lambda q, v, t: v[0], ["x", "x"]), "different names"),
        (lambda: mechsim.lagrangian_system(lambda q, v, t: v[0], ["x"], constraints=lambda q, t: q[0]), "a list"),
        (lambda: mechsim.lagrangian_system(lambda q, v, t: jnp.abs(v[0]), ["x"]), "'abs'"),
        (lambda: rods().simulate({"theta3": 1.0}, tend=1), "theta3"),
    ],
)
def test_mistakes_are_said(call, words):
    with pytest.raises(MechsimError, match=words):
        call()


def test_a_coordinate_without_inertia_is_named():
    system = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2 - (q[0] - q[1]) ** 2 / 2 - q[1] ** 2 / 2, ["x", "y"]
    )
    with pytest.raises(MechsimError, match="y"):
        system.simulate({"x": 1.0, "y": 0.5}, tend=1)


# --- slips

FREE = {"lagrangian": lambda q, v, t: v[0] ** 2 / 2, "coordinates": ["x"]}


def _forgetful(q, v, t):
    return undefined * v[0] ** 2  # noqa: F821


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ({"lagrangian": lambda q, v, t: v[0] ** 2 / 2 - q[3]}, "index 3"),  # JAX alone would take q[0]
        ({"lagrangian": lambda q, v: v[0] ** 2 / 2}, "lagrangian(q, v, t) cannot be called"),
        ({"lagrangian": lambda q, v, t: v[0] ** 2 / 2 + np.cos(q[0])}, "jax.numpy instead of numpy"),
        ({"lagrangian": lambda q, v, t: v[0] ** 2 / 2 + math.cos(q[0])}, "jax.numpy instead of numpy"),
        ({"lagrangian": lambda q, v, t: v[0] ** 2 if q[0] > 0 else 0.0}, "instead of `if`"),
        ({"lagrangian": lambda q, v, t: v**2 / 2}, "lagrangian(q, v, t) must be one real number"),  # an array
        ({"lagrangian": lambda q, v, t: None}, "must be one real number, but is None"),
        ({"lagrangian": lambda q, v, t: v[0] ** 2 + 1j}, "must be one real number"),
        ({"lagrangian": lambda q, v, t: "v"}, "must be one real number, but is 'v'"),
        ({"lagrangian": 3.0}, "must be a function, but is 3.0"),
        ({"lagrangian": _forgetful}, "NameError: name 'undefined'"),
        ({"lagrangian": lambda q, v, t, p: p.mas * v[0] ** 2, "parameters": {"mass": 1.0}}, "'mas'"),
        ({"lagrangian": lambda q, v, t: v[0] ** 2, "parameters": {"mass": 1.0}}, "and parameters last"),
        ({"parameters": {"mass": "heavy"}}, "parameters of mass must be a number"),
        ({"constraints": lambda q, t: q[0]}, "must return a list"),
        ({"constraints": lambda q, t: {"length": q[0]}}, "must return a list"),
        ({"constraints": lambda q, t: [q]}, "entry 0 of constraints(q, t) must be one real number"),
        ({"constraints": lambda q, t: [q[1]]}, "index 1"),
        ({"velocity_constraints": lambda q, v, t: v[0]}, "velocity_constraints(q, v, t) must return a list"),
        ({"velocity_constraints": lambda q, t: [q[0]]}, "velocity_constraints(q, v, t) cannot be called"),
        ({"forces": lambda q, v, t: [0.0, 1.0]}, "must return 1, one per coordinate"),
        ({"forces": lambda q, v, t: 1.0}, "forces(q, v, t) must return a list"),
        ({"reactive_forces": lambda q, v, t: [0.0]}, "reactive_forces(q, v, t, lam) cannot be called"),
        ({"reactive_forces": lambda q, v, t, lam: [lam[0]]}, "index 0"),  # there is no constraint
        ({"coordinates": [1]}, "1 is no name"),
    ],
)
def test_slips_in_a_users_functions_are_said(slip: dict[str, Any], said: str) -> None:
    with pytest.raises(mechsim.MechsimError) as refused:
        mechsim.lagrangian_system(**{**FREE, **slip})
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "slip",
    [{"tol": 0.0}, {"order": 1}, {"tend": -1.0}, {"tend": np.inf}, {"tend": "soon"}, {"t0": None}, {"tol": "fine"}],
)
def test_settings_that_make_no_sense_are_refused(slip: dict[str, Any]) -> None:
    with pytest.raises(mechsim.MechsimError):
        mechsim.lagrangian_system(**FREE).simulate({"x": 0.0}, **{"tend": 1.0, **slip})


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({"positions": {"x": "far"}}, "positions of x must be a number"),
        ({"positions": {"x": [1.0, 2.0]}}, "positions of x must be a number"),
        ({"positions": {"x": np.nan}}, "positions of x must be a number"),
        ({"velocities": {"x": np.inf}}, "velocities of x must be a number"),
        ({"velocities": {"y": 1.0}}, "velocities names 'y'"),
        ({"fixed": ["z"]}, "fixed names 'z'"),
        ({"parameters": {"m": 2.0}}, "parameters names 'm'"),
    ],
)
def test_starts_that_make_no_sense_are_refused(start: dict[str, Any], said: str) -> None:
    with pytest.raises(mechsim.MechsimError, match=said):
        mechsim.lagrangian_system(**FREE).simulate(**{"positions": {"x": 0.0}, "tend": 1.0, **start})


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        ({"lagrangian": lambda q, v, t: v[0] ** 2 / 2 + 1 / q[0]}, "a function has no value where x = 0"),
        ({"forces": lambda q, v, t: [jnp.log(q[0])]}, "a function has no value where x = 0"),
        ({"constraints": lambda q, t: [1 / q[0]]}, "the constraints have no value where x = 0, t = 0"),
        ({"constraints": lambda q, t: [jnp.sqrt(q[0] ** 2) - 1]}, "the constraints have no value"),  # no direction
    ],
)
def test_a_start_where_a_function_has_no_value_is_refused(functions: dict[str, Any], said: str) -> None:
    with pytest.raises(mechsim.MechsimError, match=said):
        mechsim.lagrangian_system(**{**FREE, **functions}).simulate({"x": 0.0}, tend=1)


def test_lists_may_be_empty() -> None:
    system = mechsim.lagrangian_system(
        **FREE, constraints=lambda q, t: [], velocity_constraints=lambda q, v, t: [], forces=lambda q, v, t: [2.0]
    )
    assert system.simulate({}, tend=3)(3.0)["x"] == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("system", "start", "said"),
    [
        ({"constraints": lambda q, t: [q[0] ** 2 + q[1] ** 2 - 1, q[1] - 2]}, {}, "C_0 and C_1 cannot be closed"),
        ({"velocity_constraints": lambda q, v, t: [v[0] - 1, v[1], v[0] - 2]}, {}, "psi_0 and psi_2 contradict"),
        ({"constraints": lambda q, t: [q[0] - 1]}, {"positions": {"x": 3.0}, "fixed": ["x"]}, "x = 3 cannot be fixed"),
    ],
)
def test_contradictions_name_the_constraints_and_no_line_of_a_file(
    system: dict[str, Any], start: dict[str, Any], said: str
) -> None:
    plane = {"lagrangian": lambda q, v, t: jnp.dot(v, v) / 2, "coordinates": ["x", "y"]}
    with pytest.raises(mechsim.AssemblyError) as refused:
        mechsim.lagrangian_system(**plane, **system).simulate(**{"positions": {}, "tend": 1.0, **start})
    message = str(refused.value)
    assert message.startswith("error: ") and said in message and "line" not in message


# --- what functions may use: the list of docs/python.md

WORKING: dict[str, Any] = {
    **{
        name: lambda q, name=name: getattr(jnp, name)(0.3 * q[0] + 0.1)
        for name in "sin cos tan arcsin arccos arctan sinh cosh tanh exp log log2 log10 sqrt square".split()
    },
    "arctan2": lambda q: jnp.arctan2(q[0], q[1]),
    "power": lambda q: jnp.power(q[0], 1.5) + q[1] ** 3 + q[1] ** -0.5,
    "dot": lambda q: jnp.dot(q, q) + jnp.vdot(q, q) + jnp.matmul(q, q),
    "@": lambda q: q @ np.array([[1.1, 2.0], [3.0, 4.7]]) @ q,
    "einsum": lambda q: jnp.einsum("i,j,ij", q, q, np.eye(2)),
    "outer": lambda q: jnp.linalg.det(jnp.outer(q, q) + np.eye(2)),
    "cross": lambda q: jnp.cross(jnp.array([q[0], q[1], 1.0]), np.array([0.3, 1.0, 2.0]))[0],
    "sum": lambda q: jnp.sum(q**2) + jnp.mean(q),
    "norm": lambda q: jnp.linalg.norm(q),
    "stack": lambda q: jnp.sum(jnp.stack([q[0], q[1]]) ** 2) + jnp.sum(jnp.concatenate([q, q])),
    "moved": lambda q: jnp.dot(q, jnp.roll(q, 1)) + jnp.dot(q, jnp.flip(q)) + jnp.sum(q.reshape(2, 1).T),
    "slice": lambda q: q[-1] * q[:1][0],
    "vmap": lambda q: jnp.sum(jax.vmap(lambda x: x**2)(q)) + jax.jit(jnp.dot)(q, q),
    "loop": lambda q: sum(q[i] ** (i + 1) for i in range(2)),
}


@pytest.mark.parametrize("name", WORKING)
def test_what_works_has_its_value_to_the_last_digits(name: str) -> None:
    potential = WORKING[name]
    system = mechsim.lagrangian_system(lambda q, v, t: jnp.dot(v, v) / 2 - potential(q), ["x", "y"])
    state = np.array([0.31, 0.47])
    with jax.enable_x64(True):
        exact = float(potential(jnp.array(state)))
    assert float(system.system.energies(0.0, state, np.zeros(2))[1]) == pytest.approx(exact, rel=1e-14)


TABLE = jnp.array([1.1, 2.3], jnp.float32)  # of 7 digits, as JAX makes them unless told otherwise, here whoever told it


@pytest.mark.parametrize(
    ("potential", "said"),
    [
        (lambda q: jnp.where(q[0] > 0, q[0], 0.0), "'gt'"),
        (lambda q: jnp.sign(q[0]), "'sign'"),
        (lambda q: jnp.maximum(q[0], 0.0), "'max'"),
        (lambda q: q[0] % 1.0, "'rem'"),
        (lambda q: jnp.hypot(q[0], q[1]), "'abs'"),
        (lambda q: jnp.interp(q[0], np.array([0.0, 1.0]), np.array([0.0, 1.0])), "'scan'"),
        (lambda q: jnp.sum(jnp.linalg.inv(jnp.outer(q, q) + np.eye(2))), "'lu'"),
        (lambda q: TABLE @ q, "float32"),
        (lambda q: jnp.asarray(q, jnp.float32)[0], "float32"),
    ],
)
def test_what_does_not_work_says_so(potential: Any, said: str) -> None:
    with pytest.raises(mechsim.MechsimError, match=said):
        mechsim.lagrangian_system(lambda q, v, t: jnp.dot(v, v) / 2 - potential(q), ["x", "y"])


def test_a_pulse_of_force_on_a_body_at_rest_is_met():
    """x'' = exp(-((t - 5)/0.3)^2) from rest: at t = 0 no series shows it; afterwards x' = 0.3 sqrt(pi) to rounding."""
    system = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2, ["x"], forces=lambda q, v, t: [jnp.exp(-(((t - 5.0) / 0.3) ** 2))]
    )
    motion = system.simulate({"x": 1.0}, tend=10, tol=1e-12)
    assert motion.velocity(10.0)["x"] == pytest.approx(0.3 * np.sqrt(np.pi), abs=1e-11)


def test_nobody_knows_the_units_of_a_lagrangians_coordinates() -> None:
    system = mechsim.lagrangian_system(lambda q, v, t: v[0] ** 2 / 2 + v[1] ** 2 / 2 - q[0] ** 2 / 2, ["x", "phi"])
    table = system.simulate({"x": 1.0}, tend=0.1).trajectory
    units = dict(zip(table.labels, table.units, strict=True))
    assert {units[label] for label in ("x", "x_dot", "phi", "phi_dot")} == {""}


def test_a_coordinate_without_inertia_is_not_told_to_become_a_particle() -> None:
    system = mechsim.lagrangian_system(lambda q, v, t: v[0] ** 2 / 2 - q[0] ** 2 / 2 + 0.0 * q[1], ["x", "y"])
    with pytest.raises(mechsim.MechsimError) as refused:
        system.simulate({"x": 1.0, "y": 0.0}, tend=0.1)
    assert "article" not in str(refused.value)
    assert "y" in str(refused.value)
