"""How volumes of states grow, beside sums of Lyapunov exponents: by closed forms, and traces of linear motion."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from jax import numpy as jnp
from reference import SPECS
from scipy.integrate import solve_ivp

import mechsim
from mechsim.analysis.divergence import Divergence
from mechsim.cli.main import cli
from mechsim.simulation import prepare
from mechsim.source import read

EXACT = 1e-12  # of numbers near one, by some ten operations
CHAIN = """
PhysicalParams: {c: 0.4, k: 0.7}
PartData: {Fixed: {O: []}, Rods: {OA: 1, AB: 0.8}, Particles: {A: 1, B: 1.5}}
AppliedForces:
  Gravity: [0, -9.81]
  Forces: {B: [-c*B.vx, -c*B.vy], A: [-k*A.vx**3, 0]}
ProblemData: {tend: 60, positions: {A: [0.8, -0.6], B: [1.4, 0]}, velocities: {A: [0.3, 0.4], B: [0, 1.6]}}
"""


def divergence(text: str) -> tuple[Divergence, tuple[float, np.ndarray, np.ndarray]]:
    prepared = prepare(read(text))
    start = prepared.start
    return Divergence(prepared.system), (start.t, start.positions, start.velocities)


def test_damped_chain_by_its_angles():
    """The trace of M^-1 dQ/dv in two angles, written by hand at the same state."""
    found, (t, q, v) = divergence(CHAIN)
    a, b = q[:2], q[2:4] - q[:2]
    along_a = np.array([[-a[1], a[0]], [-a[1], a[0]]])  # of A and B, where the first angle grows
    along_b = np.array([[0, 0], [-b[1], b[0]]])
    ways = np.stack([along_a.ravel(), along_b.ravel()], axis=1)
    masses, slopes = np.diag([1, 1, 1.5, 1.5]), np.diag([-3 * 0.7 * v[0] ** 2, 0, -0.4, -0.4])
    expected = np.trace(np.linalg.solve(ways.T @ masses @ ways, ways.T @ slopes @ ways))
    assert found.at(t, q, v, found.system.constants) == pytest.approx(expected, abs=EXACT)


def test_trace_of_linear_motion_at_a_moment():
    """In coordinates and rates instead of momenta volumes also follow det M: tr A = divergence - d/dt log det M."""
    handle = mechsim.mechanism(CHAIN)
    names = {"alpha": "atan2(A.x, -A.y)", "beta": "atan2(B.x - A.x, A.y - B.y)"}
    local = handle.linearize(coordinates=names)
    found, (t, q, v) = divergence(CHAIN)
    alpha, beta = math.atan2(q[0], -q[1]), math.atan2(q[2] - q[0], q[1] - q[3])
    rates = (q[0] * v[1] - q[1] * v[0]), ((q[2] - q[0]) * (v[3] - v[1]) - (q[3] - q[1]) * (v[2] - v[0])) / 0.64
    # det M = l^2 L^2 M (m + M sin^2(alpha - beta))
    twice, turn = 2 * (alpha - beta), rates[0] - rates[1]
    growth = 1.5 * math.sin(twice) * turn / (1 + 1.5 * math.sin(alpha - beta) ** 2)
    assert np.trace(local.A) == pytest.approx(found.at(t, q, v, found.system.constants) - growth, abs=1e-11)


def test_states_of_controllers_count():
    """u' = r of an integral has no slope of its own; a filter's does: all roots of the linear motion add up to it."""
    text = """
PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: 1}}
AppliedForces: {Gravity: [0, -9.81]}
Controllers: {theta_OA: {target: -pi/2, kp: 20, kd: 3, ki: 7}}
ProblemData: {tend: 1, positions: {A: [0, -1]}}
"""
    found, state = divergence(text)
    assert found.known and found.at(*state, found.system.constants) == pytest.approx(-3.0, abs=EXACT)


@pytest.mark.slow
def test_van_der_pol_loses_volume_along_its_cycle():
    """Of mu (1 - x^2) the mean over the limit cycle, by DOP853: what both exponents add up to."""
    found = mechsim.mechanism(SPECS / "dynamics" / "van_der_pol.yaml").lyapunov(tend=300, transient=50)
    mean, error = found.divergence
    assert found.adds_up and abs(found.sum - mean) < 5 * error + 10 / 250

    def flow(t, y):
        return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0], mu * (1 - y[0] ** 2)]

    mu = mechsim.mechanism(SPECS / "dynamics" / "van_der_pol.yaml").parameters["mu"]
    known = solve_ivp(flow, (0, 300), [2, 0, 0], method="DOP853", rtol=1e-10, atol=1e-10, dense_output=True).sol
    expected = (known(300)[2] - known(50)[2]) / 250
    assert abs(mean - expected) < 5 * error and abs(found.sum - expected) < 10 / 250


def test_looks_are_in_step_with_no_drive():
    """512 periods of what is driven, and 512 laps: states at the same phase would all tell the same damping."""
    system = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2 - q[0] ** 2,
        ["x"],
        forces=lambda q, v, t: [-(0.2 + 0.1 * jnp.cos(2 * jnp.pi * t)) * v[0] - 0.3 * q[0] ** 2 * v[0]],
    )
    found = system.lyapunov({"x": 0.0}, {"x": 0.0}, tend=512.0)
    assert found.divergence[0] == pytest.approx(-0.2, abs=2e-3)  # 256 looks, evenly spread
    assert found.sum == pytest.approx(-0.2, abs=1e-8) and found.adds_up


def test_constrained_lagrangian_with_forces():
    """A pendulum in x and y with -c v on it: -c/m along its one freedom, the same everywhere."""
    system = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1],
        ["x", "y"],
        constraints=lambda q, t: [q[0] ** 2 + q[1] ** 2 - 1],
        forces=lambda q, v, t: [-0.2 * v[0], -0.2 * v[1]],
    )
    found = system.lyapunov({"x": 0.6, "y": -0.8}, tend=100)
    assert found.divergence == (pytest.approx(-0.2, abs=1e-11), 0.0)
    assert found.adds_up and found.sum == pytest.approx(-0.2, abs=5 / 100)


def test_what_does_not_add_up_is_told():
    found = mechsim.mechanism(CHAIN).lyapunov(tend=30)
    assert found.adds_up and not any("divergence" in note for note in found.notes)
    wrong = replace(found, divergence=(found.divergence[0] - 5.0, 0.01))
    assert not wrong.adds_up and any("is not the mean divergence" in note for note in wrong.notes)


def test_command_says_both(tmp_path):
    file = tmp_path / "chain.yaml"
    file.write_text(CHAIN)
    said = CliRunner().invoke(cli, ["lyapunov", str(file), "--tend", "20"], catch_exceptions=False).stdout
    assert "divergence" in said and "add up to" in said
    found = json.loads(CliRunner().invoke(cli, ["lyapunov", str(file), "--tend", "20", "--json"]).stdout)
    assert found["divergence"] < 0 and found["divergence_error"] > 0
    few = json.loads(CliRunner().invoke(cli, ["lyapunov", str(file), "--tend", "20", "--n", "1", "--json"]).stdout)
    assert few["divergence"] is None
    plain = ["lyapunov", str(SPECS / "double_pendulum.yaml"), "--tend", "20", "--json"]
    assert json.loads(CliRunner().invoke(cli, plain).stdout)["divergence"] == 0.0


def test_unknown_where_it_would_need_more():
    """Contacts take volumes at once, and what rolls has no momenta of its own: neither is told."""
    for file in ("contacts/pendulum_wall.yaml", "forces/chaplygin_sleigh.yaml"):
        assert not Divergence(prepare(read(SPECS / file)).system).known


SWITCHED = """
PartData: {Fixed: {O: [-1], R: [1]}, Particles: {A: 1}}
AppliedForces: {Forces: {A: ["-A.x - A.x**3 - if(A.x-0.3, 2, 0.1)*A.vx + cos(1.3*t)", 0]}}
Joints: {Slots: {A-OR: []}}
ProblemData: {tend: 60, positions: {A: [[0.05, fixed], 0]}, velocities: {A: [[0, fixed]]}}
"""


def test_switched_damping_is_that_of_the_state():
    found, (t, q, v) = divergence(SWITCHED)
    for x, expected in ((0.2, -0.1), (0.4, -2.0)):
        here = np.where(np.arange(len(q)) == 0, x, q)
        assert found.at(t, here, v, found.system.constants) == pytest.approx(expected, abs=EXACT)


def test_sums_with_switched_damping_add_up():
    """Of the exponents and of the divergence, within five of their errors (the note says if not)."""
    exponents = mechsim.mechanism(SWITCHED).lyapunov(tend=200, transient=20)
    assert exponents.divergence is not None
    assert exponents.adds_up
    assert -1.5 < exponents.divergence[0] < -0.5


def test_a_switch_of_speeds_takes_volumes_at_once():
    """Dry friction by `sign`: forces jump along with what they change."""
    text = SWITCHED.replace("if(A.x-0.3, 2, 0.1)*A.vx", "0.2*sign(A.vx)")
    assert not divergence(text)[0].known
