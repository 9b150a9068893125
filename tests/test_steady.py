"""Steady motions against closed forms: what carries a mechanism along, where it then stands, and how it swings."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from click.testing import CliRunner
from jax import numpy as jnp
from reference import SPECS
from test_conserved import HOOP
from test_linearize import same_values

import mechsim
from mechsim.cli.main import cli
from mechsim.errors import AssemblyError, SpecError

# States are found to 1e-12 of the size; eigenvalues of some tens are as exact.
EXACT = 1e-9
G = 9.81

DISC = """
Dimension: 3
PhysicalParams: {{r: 0.3, m: 2, g: 9.81, w: {w!r}}}
PartData:
  Fixed: {{K: [], L: [1], M: [0, 1]}}
  Rigids: {{ABD: {{Geom: [[0.1], [0, r]], Dyna: [[], m, [m*r**2/2, m*r**2/4, m*r**2/4]]}}}}
Joints: {{Wheels: {{ABD-KLM: r}}}}
AppliedForces: {{Gravity: [0, 0, -g]}}
ProblemData:
  tend: 1
  positions: {{A: [0, 0, r], B: [0, 0.1, r], D: [r, 0, r]}}
  velocities: {{A: [w*r, 0, 0], B: [w*r, 0, 0], D: [w*r, 0, -w*r]}}
"""
SLEIGH = """
PhysicalParams: {{a: 0.3, m: 2, J: 0.4, u: {u!r}}}
PartData:
  Rigids: {{AB: {{Geom: [[1]], Dyna: [[a], m, J]}}}}
Joints: {{Skates: {{AB.A: 0}}}}
ProblemData: {{tend: 1, positions: {{A: [0, 0], B: [1, 0]}}, velocities: {{A: [u, 0], B: [u, 0]}}}}
"""


@pytest.mark.slow
def test_governor():
    """cos(theta) = (1 + M/m) g / (w^2 l), and how fast it hunts, by the Lagrangian of its one angle."""
    handle = mechsim.mechanism(SPECS / "space" / "governor.yaml")
    found = handle.steady_motions()
    length, m, M, w = 0.3, 1.0, 3.0, 15.0
    cosine = (1 + M / m) * G / (w**2 * length)
    assert found[0].words == "all turns at 15 rad/s about z through O" and found[0].stability == "stable"
    place = found[0].linear.coordinates.index("S_z")
    assert found[0].positions[place] == pytest.approx(-2 * length * cosine, rel=1e-11)
    stiff = 2 * m * length**2 * w**2 * (1 - cosine**2)
    inertia = 2 * m * length**2 + 4 * M * length**2 * (1 - cosine**2)
    same_values(found[0].linear.eigenvalues, [1j * math.sqrt(stiff / inertia), -1j * math.sqrt(stiff / inertia)], EXACT)
    assert {each.stability for each in found[2:]} == {"unstable"}  # hanging, or upright
    # The arm bears its ball's weight and what makes it turn: everything balances at the ball.
    forces = handle.reactions_at(found[0], "A")["A"]
    assert forces[2] == pytest.approx(m * G, rel=1e-10)  # what holds the ball against its weight


@pytest.mark.parametrize(
    "w",
    [
        3.0,
        pytest.param(4.0, marks=pytest.mark.slow),
        pytest.param(2.5, marks=pytest.mark.slow),
        pytest.param(6.0, marks=pytest.mark.slow),
    ],
)
def test_bead_on_a_hoop_that_turns_ever_faster(w):
    """Below sqrt(g/R) it stays at the bottom; above, the bottom is left for cos(theta) = g/(w^2 R)."""
    found = mechsim.mechanism(HOOP).steady_motions(parameters={"w": w})
    heights = {round(each.positions[each.linear.coordinates.index("P_z")], 9): each for each in found}
    bottom = heights[-1.0]
    if w**2 < G:
        assert set(heights) == {-1.0, 1.0} and bottom.stability == "stable"
        same_values(bottom.linear.eigenvalues, [1j * math.sqrt(G - w**2), -1j * math.sqrt(G - w**2)], EXACT)
        return
    side = -G / w**2
    assert set(heights) == {-1.0, 1.0, round(side, 9)}
    assert bottom.stability == heights[1.0].stability == "unstable"
    rate = w * math.sqrt(1 - side**2)
    assert heights[round(side, 9)].stability == "stable"
    same_values(heights[round(side, 9)].linear.eigenvalues, [1j * rate, -1j * rate], EXACT)


def test_hoop_as_a_lagrangian_with_a_constraint_of_time():
    system = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2 * jnp.sin(q[0]) ** 2) / 2 + 9.81 * jnp.cos(q[0]),
        ["theta", "phi"],
        constraints=lambda q, t: [q[1] - 4 * t],
    )
    found = system.steady_motions({"theta": 0.8}, {"phi": 4.0})
    assert found[0].words == "phi goes on at 4" and found[0].stability == "stable"
    assert math.cos(found[0].positions[0]) == pytest.approx(G / 16, rel=1e-11)


def test_conical_pendulum_keeps_its_momentum():
    """From a start that is off it: the circle with the same angular momentum, and its nutation."""
    system = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2 * jnp.sin(q[0]) ** 2) / 2 + 9.81 * jnp.cos(q[0]), ["theta", "phi"]
    )
    start = {"theta": 0.7}, {"theta": 0.2, "phi": 3.0}
    (found,) = system.steady_motions(*start)
    theta, phi_rate = found.positions[0], found.velocities[1]
    assert math.sin(theta) ** 2 * phi_rate == pytest.approx(math.sin(0.7) ** 2 * 3, rel=1e-11)
    assert phi_rate**2 * math.cos(theta) == pytest.approx(G, rel=1e-11)
    assert found.stability == "stable" and found.neighbours == 1
    rate = math.sqrt(G / math.cos(theta) * (1 + 3 * math.cos(theta) ** 2))
    same_values(found.linear.eigenvalues, [0, 1j * rate, -1j * rate], 1e-6)  # one is double with the phase, left out
    with pytest.raises(SpecError, match="does not move steadily"):
        system.linearize(*start, steady=True)


def test_gyroscope_as_by_euler_angles():
    """Steady precession in space, with its own spin; nutation as of a top by three angles."""
    handle = mechsim.mechanism(SPECS / "space" / "gyroscope.yaml")
    (found,) = handle.steady_motions()
    assert "all turns" in found.words and "OAB by itself turns" in found.words
    assert found.stability == "stable" and found.neighbours == 2
    np.testing.assert_allclose(found.positions, handle.start()[0], atol=1e-9)
    numbers = handle.parameters
    body = next(part for part in handle.spec.rigids if part.name == "OAB")
    mass, (axial, across, _) = float(body.mass.value), [float(each.value) for each in body.inertia[:3]]
    arm = float(body.centroid[0].value)
    top = mechsim.lagrangian_system(
        lambda q, v, t: (
            (across + mass * arm**2) * (v[0] ** 2 + v[1] ** 2 * jnp.sin(q[0]) ** 2) / 2
            + axial * (v[2] + v[1] * jnp.cos(q[0])) ** 2 / 2
            - mass * numbers["g"] * arm * jnp.cos(q[0])
        ),
        ["theta", "phi", "psi"],
    )
    place = handle.start()[0][[found.linear.coordinates.index(f"A_{axis}") for axis in "xyz"]]
    theta = math.acos(place[2] / np.linalg.norm(place))
    turn, spin = (float(word) for word in re.findall(r"turns at (\S+) rad/s", found.words))
    (own,) = top.steady_motions({"theta": theta}, {"phi": turn, "psi": spin})
    assert own.positions[0] == pytest.approx(theta, rel=1e-7)  # rates are told by nine digits
    nutation = max(map(abs, own.linear.eigenvalues))
    assert max(map(abs, found.linear.eigenvalues)) == pytest.approx(nutation, rel=1e-7)


@pytest.mark.parametrize("w", [1.0, 3.0, 4.0, 8.0])
def test_disc_that_rolls_straight_on(w):
    """Upright and straight: stable above w^2 = g/(3 r), by lambda^2 = 4/5 (g/r - 3 w^2)."""
    found = mechsim.mechanism(DISC.format(w=w)).linearize(steady=True)
    square = 0.8 * (G / 0.3 - 3 * w**2)
    root = np.sqrt(complex(square))
    assert "moves at" in found.steady and "turns at" in found.steady
    own = sorted(found.eigenvalues, key=abs)[-2:]
    same_values(own, [root, -root], 1e-8)
    others = np.abs(sorted(found.eigenvalues, key=abs)[:-2])
    assert (others < 1e-5).all()  # other speeds and other circles: these are double


@pytest.mark.parametrize("u", [1.5, -1.5])
def test_sleigh_prefers_to_go_forward(u):
    """Its one rate is -m a u/(J + m a^2): it turns about when it goes backwards."""
    found = mechsim.mechanism(SLEIGH.format(u=u)).steady_motions()[0]
    rate = -2 * 0.3 * u / (0.4 + 2 * 0.09)
    values = sorted(found.linear.eigenvalues, key=abs)
    assert abs(values[0]) < EXACT and values[1] == pytest.approx(rate, rel=1e-10)
    assert found.stability == ("stable" if u > 0 else "unstable") and found.neighbours == 1


def test_what_is_driven_otherwise_has_no_steady_motion():
    text = HOOP.replace("theta_OZB_OZE: w*t", "theta_OZB_OZE: w*t + 0.1*sin(t)")
    with pytest.raises(AssemblyError, match="change with time"):
        mechsim.mechanism(text).steady_motions()
    fall = (
        "PartData: {Particles: {A: 1}}\nAppliedForces: {Gravity: [0, -9]}\nProblemData: {tend: 1, positions: {A: [1]}}"
    )
    with pytest.raises(AssemblyError, match="no steady motion"):
        mechsim.mechanism(fall).steady_motions()


@pytest.mark.slow
def test_rests_are_steady_motions_that_go_nowhere():
    rests = mechsim.mechanism(SPECS / "double_pendulum.yaml").equilibria()
    still = rests[0].positions, 0 * rests[0].positions
    steady = mechsim.mechanism(SPECS / "double_pendulum.yaml").steady_motions(start=still)
    assert {each.words for each in steady} == {"it rests"}
    assert sorted(round(each.energy, 6) for each in steady) == sorted(round(each.energy, 6) for each in rests)
    assert sorted(each.stability for each in steady) == sorted(each.stability for each in rests)


def test_command(tmp_path):
    spec, picture, table = tmp_path / "sleigh.yaml", tmp_path / "steady.png", tmp_path / "steady.csv"
    spec.write_text(SLEIGH.format(u=1.5), encoding="utf-8")
    words = ["equilibrium", str(spec), "--steady", "-o", str(table), "--plot", str(picture)]
    said = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert "all moves at (1.5, 0) m/s" in said.stdout and "1 steady motion was found" in said.stdout
    assert picture.stat().st_size > 5_000
    assert table.read_text().startswith("number,stability,V - T,A_x")
    said = CliRunner().invoke(cli, ["linearize", str(spec), "--steady", "--json"], catch_exceptions=False)
    found = json.loads(said.stdout)
    assert found["steady"] == "all moves at (1.5, 0) m/s" and len(found["modes"]) == 2
    said = CliRunner().invoke(cli, ["linearize", str(spec), "--steady", "--coordinates", "A_x"])
    assert "chosen for it" in str(said.exception)
