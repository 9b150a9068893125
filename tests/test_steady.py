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
from scipy.optimize import brentq
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
DUMBBELL = """
PhysicalParams: {{mu: {mu!r}, R: {R!r}, l: {l!r}, f: {f!r}, w: sqrt(mu/R**3)}}
PartData:
  Fixed: {{O: []}}
  Rods: {{AB: l}}
  Particles: {{A: 500, B: 500}}
AppliedForces: {{Gravity: {{mu: mu, centre: O}}}}
ProblemData:
  tend: 1
  positions: {{A: [R-l/2, 0], B: [R+l/2, 0]}}
  velocities: {{A: [0, f*w*(R-l/2)], B: [0, f*w*(R+l/2)]}}
"""
FREE = "PartData: {{{parts}}}\nProblemData: {{tend: 1, positions: {{{places}}}, velocities: {{{speeds}}}}}"
EARTH = 3.986004418e14


def dumbbell(mu: float, r: float, length: float) -> tuple[float, np.ndarray]:
    """How fast it goes round with its rod upright at a distance r, and its frequencies: radius and pitch by the
    Lagrangian of both, the angular momentum of the orbit held."""
    m, h = 500.0, length / 2
    w = math.sqrt(mu * (1 / (r - h) ** 2 + 1 / (r + h) ** 2) / (2 * r))
    inertia, own = 2 * m * (r * r + h * h), 2 * m * h * h
    momentum = inertia * w
    pull = -2 * mu * m * (1 / (r - h) ** 3 + 1 / (r + h) ** 3)
    pull += momentum**2 * ((4 * m * r) ** 2 / inertia**3 - 2 * m / inertia**2)
    turn = mu * m * r * h * h * (6 * r * r + 2 * h * h) / ((r - h) * (r + h)) ** 3
    reduced, gyroscopic = own - own**2 / inertia, -momentum * own * 4 * m * r / inertia**2
    matrix = np.zeros((4, 4))  # of radius over length, and pitch
    matrix[:2, 2:] = np.eye(2)
    matrix[2] = [-pull / (2 * m), 0, 0, gyroscopic / (2 * m * length)]
    matrix[3] = [0, -turn / reduced, -gyroscopic * length / reduced, 0]
    return w, np.linalg.eigvals(matrix)


def require_orbit(found, mu, length):
    """Upright, with both modes and the zero of other orbits."""
    first, second = found.positions[:2], found.positions[2:]
    radius = float(np.linalg.norm(first + second)) / 2
    assert np.linalg.norm(second) - np.linalg.norm(first) == pytest.approx(length, rel=1e-8)
    rate, expected = dumbbell(mu, radius, length)
    assert found.steady == f"all turns at {rate:.9g} rad/s about O"
    assert len(found.states) == 5 and found.neighbours == 1 and found.stability == "stable"
    values = sorted(found.eigenvalues, key=abs)
    assert abs(values[0]) < 1e-6 * rate
    same_values(np.array(values[1:]) / rate, expected / rate, EXACT)


@pytest.mark.parametrize(
    ("mu", "R", "length"),
    [(EARTH, 7e6, 1e4), (EARTH, 7e6, 1e3), (EARTH, 7e6, 1.0), (1e-4, 1.0, 1e-4), (1.0, 1.0, 1e-6)],
)
def test_dumbbell_in_an_orbit_that_is_far_larger(mu, R, length):
    """What makes it turn about itself is as small as it is against its orbit, squared."""
    handle = mechsim.mechanism(DUMBBELL.format(mu=mu, R=R, l=length, f=1.0))
    require_orbit(handle.linearize(steady=True), mu, length)
    require_orbit(handle.steady_motions()[0].linear, mu, length)


@pytest.mark.parametrize("mu", [1e-20, 1e-8, 1e20])
def test_units_of_time_make_no_difference(mu):
    (found,) = mechsim.mechanism(DUMBBELL.format(mu=mu, R=1.0, l=0.1, f=1.0)).steady_motions()
    _, expected = dumbbell(1.0, float(np.linalg.norm(found.positions[:2])) + 0.05, 0.1)
    same_values(np.sort_complex(found.linear.eigenvalues / math.sqrt(mu)), [0, *expected], EXACT)
    assert found.linear.least


def test_another_orbit_is_found_however_far_away():
    """With the momentum that it has: 1.1 times as fast is 1.21 times as far, a thousand times the length of the rod."""
    (found,) = mechsim.mechanism(DUMBBELL.format(mu=1.0, R=1.0, l=1e-4, f=1.1)).steady_motions()
    require_orbit(found.linear, 1.0, 1e-4)
    assert np.linalg.norm(found.positions[:2]) == pytest.approx(1.21, abs=1e-4)


def test_dumbbell_in_space_nods_out_of_its_orbit_at_twice_the_rate():
    text = DUMBBELL.replace("0]", "0, 0]").replace("/2)]", "/2), 0]")
    found = mechsim.mechanism("Dimension: 3\n" + text.format(mu=1.0, R=1.0, l=1e-5, f=1.0)).linearize(steady=True)
    own = [0, *(sign * 1j * rate for rate in (1.0, math.sqrt(3), 2.0) for sign in (1, -1))]
    same_values(found.eigenvalues, own, 1e-8)  # but for the square of what it is against its orbit


@pytest.mark.parametrize(("R", "length", "rod"), [(7e6, 1e-2, True), (1.0, 1e-3, False)])
def test_what_is_lost_in_roundings_is_not_told(R, length, rod):
    """A rod that is as small as roundings of where it is; a spring that is far stiffer than gravity's gradient."""
    text = DUMBBELL if rod else DUMBBELL.replace("Rods: {{AB: l}}", "Springs: {{AB: [5e14, l]}}")
    handle = mechsim.mechanism(text.format(mu=EARTH if R > 1 else 1.0, R=R, l=length, f=1.0))
    for asked in (handle.steady_motions, lambda: handle.linearize(steady=True)):
        with pytest.raises(SpecError, match="roundings"):
            asked()


@pytest.mark.parametrize(
    ("parts", "places", "speeds", "words"),
    [
        ("Particles: {A: 1}", "A: [1, 2]", "A: [0.3, 0.4]", "all moves at (0.3, 0.4) m/s"),
        (
            "Particles: {A: 1, B: 2}, Rods: {AB: 1}",
            "A: [1, 2], B: [2, 2]",
            "A: [0.3, 0.4], B: [0.3, 0.4]",
            "all moves at (0.3, 0.4) m/s",
        ),
        (
            "Particles: {A: 1, B: 2}, Rods: {AB: 1}",
            "A: [1, 2], B: [2, 2]",
            "A: [0.3, 0.4], B: [0.3, 1]",
            "all moves at (0.3, 0.8) m/s; AB by itself turns at 0.6 rad/s about (0.666666667, 0)",
        ),
    ],
)
def test_what_is_free_stays_as_it_is(parts, places, speeds, words):
    """It moves steadily from where it is; all changes are of other steady motions."""
    handle = mechsim.mechanism(FREE.format(parts=parts, places=places, speeds=speeds))
    (found,) = handle.steady_motions()
    for linear in (found.linear, handle.linearize(steady=True)):
        assert linear.steady == words
        np.testing.assert_allclose(linear.positions, handle.start()[0], rtol=0, atol=1e-14)
        assert not linear.A.any() and linear.neighbours == len(linear.states)


def test_accounts_of_work_do_not_move_in_modes():
    """A motor's work is a state of the file, but not of the motion."""
    found = mechsim.mechanism(HOOP).linearize(steady=True, rest=True)
    accounts = [name.startswith("work") for name in found.coordinates]
    assert any(accounts) and not found.shapes[accounts].any()
    assert not any(name.startswith("work") for name in found.states)


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


@pytest.mark.parametrize(("common", "spins"), [((0.0, 0.0), True), ((0.4, 2 / 3), False)])
def test_a_spin_that_is_lost_is_told(tmp_path, common, spins):
    """Two particles on a spring, 0.7 m/s beside each other. Where their centre stands still they turn about it at w: of
    1 and 2 kg, reduced 2/3, w d^2 = 0.7*1.2 and k (d - 1) = 2/3 w^2 d. No turn or shift carries a centre straight on
    and turns the two: what is told then moves on alone."""
    u, v = common
    text = (
        "PartData: {Particles: {A: 1, B: 2}, Springs: {AB: [3, 1]}}\nProblemData: {tend: 2, "
        f"positions: {{A: [0, 0], B: [1.2, 0]}}, velocities: {{A: [{u}, {v - 1.4 / 3!r}], B: [{u}, {v + 0.7 / 3!r}]}}}}"
    )
    (found,) = mechsim.mechanism(text).steady_motions()
    assert found.spins == spins
    if spins:
        d = brentq(lambda d: 3 * (d - 1) - 2 / 3 * (0.84 / d**2) ** 2 * d, 1, 2)
        apart = found.positions[2:4] - found.positions[:2]
        assert math.hypot(*apart) == pytest.approx(d, abs=EXACT)
    spec = tmp_path / "two.yaml"
    spec.write_text(text, encoding="utf-8")
    said = CliRunner().invoke(cli, ["equilibrium", str(spec), "--steady"], catch_exceptions=False)
    assert ("about its centre of mass" in said.output) != spins


def test_a_family_of_steady_motions_is_one():
    """A bead on a rod that turns at w in a bowl k r^2/2 with k = m w^2: wherever it is, it stays."""
    found = mechsim.mechanism("""
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1]}}, Particles: {P: 1}}
Joints: {Slots: {P-OA: []}}
Drives: {theta_OA: 2*t}
AppliedForces: {Potentials: {v: 2*(P.x**2 + P.y**2)}}
ProblemData: {tend: 1, positions: {P: [0.5, 0]}}
""").steady_motions()
    assert [each.neighbours for each in found] == [1]


@pytest.mark.parametrize("drive", ["6*t", "0.3"])
def test_whole_turns_of_what_a_drive_keeps_apart_make_no_difference(drive):
    """A pendulum with a rotor that a drive turns against it: up and down, however often both have turned."""
    handle = mechsim.mechanism(f"""
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[1]], Dyna: [[0.5], 1, 0.1]}}, AB: {{Geom: [[0.2]], Dyna: [[0], 0.5, 0.03]}}}}
Drives: {{theta_AB-theta_OA: {drive}}}
AppliedForces: {{Gravity: [0, -9.81]}}
ProblemData: {{tend: 2, angles: {{OA: 0.3}}}}
""")
    found = handle.steady_motions() if "t" in drive else handle.equilibria()
    spin = 0.03 * 6**2 / 2 if "t" in drive else 0.0
    assert sorted(each.energy for each in found) == pytest.approx([-G - spin, G - spin], abs=EXACT)


@pytest.mark.parametrize("w", [0.0, 0.5, -2.0])
def test_sleigh_whose_centroid_is_on_its_blade(w):
    """v' = a w^2 and w' ~ a v w: with a = 0 both stay, so each is a state of its own, and a way to other motions."""
    text = SLEIGH.format(u=1.0).replace("a: 0.3", "a: 0").replace("B: [u, 0]}}", f"B: [u, {w}]}}}}")
    handle = mechsim.mechanism(text)
    linear = handle.linearize(steady=True)
    assert len(linear.states) == 2 and np.all(linear.eigenvalues == 0)
    (found,) = handle.steady_motions()
    assert found.neighbours == 2
    assert found.words == ("all moves at (1, 0) m/s" if w == 0 else f"all turns at {w:g} rad/s about (0, {1 / w:g})")


def test_terminal_speeds():
    """A motor of 3 N m against 0.5 N m s: 6 rad/s, and what is off it dies out at 0.5/s (J = 1). A particle that falls
    through oil, 2 g = 0.7 v: momenta of the start are kept by neither."""
    motor = mechsim.mechanism("""
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0], 2, 1]}}}
AppliedForces: {Torques: {OA: 3}, JointDampers: {OA: 0.5}}
ProblemData: {tend: 1, rates: {OA: 5}}
""")
    (found,) = motor.steady_motions()
    assert (found.words, found.stability, found.neighbours) == ("all turns at 6 rad/s about O", "stable", 0)
    np.testing.assert_allclose(found.linear.eigenvalues, [-0.5], rtol=EXACT)
    (found,) = mechsim.mechanism("""
PartData: {Particles: {P: 2}}
AppliedForces: {Gravity: [0, -9.81], Dissipations: {oil: 0.35*(P.vx**2 + P.vy**2)}}
ProblemData: {tend: 1, positions: {P: [0, 0]}, velocities: {P: [1, 0]}}
""").steady_motions()
    np.testing.assert_allclose(found.velocities[:2], [0, -2 * G / 0.7], rtol=0, atol=EXACT * 30)
    assert found.stability == "stable"


@pytest.mark.parametrize("power", [1, 3])
def test_what_drag_brings_to_a_stop_stands(power: int) -> None:
    """With a drag of the third power roundings hide speeds below some 1e-5 of what things move at: none is told."""
    (found,) = mechsim.mechanism(f"""
PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {{Geom: [[1]], Dyna: [[], 1, 0.5]}}}}}}
AppliedForces: {{Torques: {{OA: -0.4*omega_OA**{power}}}}}
ProblemData: {{tend: 1, rates: {{OA: 2}}}}
""").steady_motions()
    assert not found.velocities.any() and found.energy == 0 and found.stability == "stable"
