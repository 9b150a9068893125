"""Rests: against closed forms, minimal potentials found by others, and statics by hand."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from jax import numpy as jnp
from reference import SPECS
from scipy.optimize import brentq, fsolve

import mechsim
from mechsim.analysis.flow import projected
from mechsim.cli.main import cli
from mechsim.errors import AssemblyError

G = 9.81
# Newton's method ends with steps of 1e-11 of the scales, and is quadratic: what is left is rounding.
FOUND = 1e-10

DOUBLE = """
PartData:
  Fixed: {O: []}
  Rods: {OA: 1, AB: 0.7}
  Particles: {A: 1, B: 2}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0.6, -1], B: [0, -2]}}
"""


def test_a_double_pendulum_has_four_rests():
    found = mechsim.mechanism(DOUBLE).equilibria()
    assert [rest.stability for rest in found] == ["stable", *["unstable"] * 3]
    heights = sorted(tuple(rest.positions.round(9) + 0.0) for rest in found)
    expected = [(0, a, 0, a + b) for a in (-1, 1) for b in (-0.7, 0.7)]
    np.testing.assert_allclose(heights, sorted(expected), rtol=0, atol=1e-8)
    assert [rest.energy for rest in found] == sorted(rest.energy for rest in found)


def test_a_loop_rests_where_its_potential_is_least():
    """A four-bar with one freedom: its rests are zeros of dV/d(crank), found by bracketing in the crank's angle."""
    text = """
PartData:
  Fixed: {O: [], P: [2, 0.3]}
  Rods: {OA: 0.6, AB: 2.1, PB: 1.3}
  Particles: {A: 1, B: 2}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0.6, 0], B: [2, 1.5]}}
"""

    def joint(angle):
        a = 0.6 * np.array([math.cos(angle), math.sin(angle)])
        p = np.array([2, 0.3])
        d = p - a
        r = math.hypot(*d)
        along = (2.1**2 - 1.3**2 + r * r) / (2 * r)
        across = math.sqrt(2.1**2 - along**2)
        return a, a + along * d / r + across * np.array([-d[1], d[0]]) / r

    def slope(angle, h=1e-5):
        def v(x):
            a, b = joint(x)
            return G * (a[1] + 2 * b[1])

        return (v(angle - 2 * h) - 8 * v(angle - h) + 8 * v(angle + h) - v(angle + 2 * h)) / (12 * h)

    grid = np.linspace(0, 2 * math.pi, 200)
    slopes = [slope(x) for x in grid]
    roots = [
        brentq(slope, a, b, xtol=1e-13)
        for a, b, f, g in zip(grid, grid[1:], slopes, slopes[1:], strict=False)
        if f * g < 0
    ]
    found = [rest for rest in mechsim.mechanism(text).equilibria() if rest.positions[3] > -0.2]
    angles = sorted(math.atan2(rest.positions[1], rest.positions[0]) % (2 * math.pi) for rest in found)
    np.testing.assert_allclose(angles, roots, rtol=0, atol=1e-8)  # differences of the potential know no more
    assert sorted(rest.stability for rest in found) == ["stable", "unstable"]


@pytest.mark.slow
def test_a_hanging_chain_is_a_discrete_catenary():
    """Ten rods between two points: the horizontal force is the same in all, so slopes grow by weight over it."""
    count, length, span = 10, 0.25, 1.7
    points = [f"P{k}" for k in range(1, count)]
    rods = ", ".join(f"{a}{b}: {length}" for a, b in zip(["A", *points], [*points, "B"], strict=True))
    guesses = ", ".join(f"{p}: [{span * k / count}, {-0.5}]" for k, p in enumerate(points, 1))
    text = f"""
PartData:
  Fixed: {{A: [], B: [{span}, 0.4]}}
  Rods: {{{rods}}}
  Particles: {{{", ".join(f"{p}: 1" for p in points)}}}
AppliedForces: {{Gravity: [0, -{G}]}}
ProblemData: {{tend: 1, positions: {{{guesses}}}}}
"""

    def ends(unknown):
        force, first = unknown
        slopes = (first + G * np.arange(count)) / force
        return [np.sum(length / np.hypot(1, slopes)) - span, np.sum(length * slopes / np.hypot(1, slopes)) - 0.4]

    force, first = fsolve(ends, [10.0, -G * count / 2], xtol=1e-12)
    slopes = (first + G * np.arange(count)) / force
    x, y = (np.cumsum(length * each / np.hypot(1, slopes)) for each in (np.ones(count), slopes))
    found = mechsim.mechanism(text).equilibria()
    lowest = min(found, key=lambda rest: rest.energy)
    labels = lowest.linear.coordinates
    own = np.array([[lowest.positions[labels.index(f"{p}_{axis}")] for axis in "xy"] for p in points])
    np.testing.assert_allclose(own, np.column_stack([x, y])[:-1], rtol=0, atol=1e-9)
    assert lowest.stability == "stable"


@pytest.mark.slow
def test_a_bead_on_a_turning_hoop_leaves_the_bottom():
    """L = R^2 (theta'^2 + W^2 sin^2)/2 + g R cos: beyond W^2 = g/R the bottom is unstable, and cos = g/(R W^2) stable.
    Frequencies there: W sin(theta)."""
    radius = 0.5

    def lagrangian(q, v, t, p):
        turn = p.rate * jnp.sin(q[0])
        return 0.5 * radius**2 * (v[0] ** 2 + turn**2) + G * radius * jnp.cos(q[0])

    system = mechsim.lagrangian_system(lagrangian, ["theta"], parameters={"rate": 2.0})
    slow = {round(math.cos(rest.positions[0]), 6): rest.stability for rest in system.equilibria({"theta": 0.3})}
    assert slow == {1.0: "stable", -1.0: "unstable"}
    fast = system.equilibria({"theta": 0.3}, parameters={"rate": 8.0})
    aside = G / (radius * 64)
    cosines = {round(math.cos(rest.positions[0]), 9): rest for rest in fast}
    assert set(cosines) == {1.0, -1.0, round(aside, 9)}
    assert cosines[1.0].stability == "unstable"
    (mode,) = cosines[round(aside, 9)].linear.modes
    assert abs(mode.eigenvalue - 8j * math.sqrt(1 - aside**2)) < FOUND


@pytest.mark.slow
def test_a_controlled_arm_rests_where_torques_balance():
    """One link under PD control, as its Reference knows."""
    handle = mechsim.mechanism(SPECS / "forces" / "arm1_pd.yaml")
    (found,) = [rest for rest in handle.equilibria() if rest.stability == "stable"]
    angle = found.positions[found.linear.coordinates.index("theta_OA")]
    assert abs(angle - 2.0573248297030110599) < FOUND


def test_reactions_at_rest_by_statics():
    """A loaded beam on a pin and a strut: moments about the pin give the strut, and sums the rest."""
    handle = mechsim.mechanism("""
PartData:
  Fixed: {O: [], P: [0, 1]}
  Rigids: {OAB: {Geom: [[1], [2]], Dyna: [[1], 3, 1]}}
  Springs: {PA: [500, 1]}
  Particles: {B: 2}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0.9, -0.3], B: [1.8, -0.6]}}
""")
    rest = handle.equilibria()[0]
    assert rest.stability == "stable"
    labels = rest.linear.coordinates
    a = np.array([rest.positions[labels.index(f"A_{axis}")] for axis in "xy"])
    towards = np.array([0, 1]) - a
    stretched = math.hypot(*towards)
    pull = 500 * (stretched - 1) * towards / stretched
    moment = a[0] * pull[1] - a[1] * pull[0] - G * (3 * a[0] + 2 * 2 * a[0])
    assert abs(moment) < 1e-8
    force = handle.reactions("O", rest.positions, np.zeros_like(rest.positions))["OAB"]
    np.testing.assert_allclose(force + pull, [0, 5 * G], rtol=0, atol=1e-8)  # of some hundred newtons


@pytest.mark.slow
def test_a_cart_may_stand_anywhere():
    """A family of rests is one, and says so."""
    found = mechsim.mechanism("""
PartData: {Fixed: {O: [], X: [4]}, Rods: {AB: 1}, Particles: {A: 2, B: 1}}
Joints: {Slots: {A-OX: []}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [1, 0], B: [1.3, -1]}}
""").equilibria()
    assert [(rest.stability, rest.neighbours) for rest in found] == [("neutral", 1), ("unstable", 1)]


@pytest.mark.slow
def test_contacts_that_are_open_change_nothing():
    """A pendulum that may not go to the left still hangs."""
    wall = DOUBLE + "Contacts: {wall: {gap: A.x + 0.3, e: 1}}\n"
    found = mechsim.mechanism(wall).equilibria()
    assert found[0].stability == "stable" and not found[0].leaning


@pytest.mark.slow
def test_what_falls_has_no_rest_however_stiff_it_is():
    """Two masses on a spring whose frequency is 1e5 times what falling is: its stiffness hides no weight."""
    text = """
PartData: {Springs: {AB: [1e10, 1]}, Particles: {A: 1, B: 1}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0, 0], B: [1, 0]}}
"""
    with pytest.raises(AssemblyError, match="no rest"):
        mechsim.mechanism(text).equilibria()
    lying = mechsim.mechanism(text.replace("-9.81", "0")).equilibria()
    assert [rest.stability for rest in lying] == ["neutral"]


@pytest.mark.slow
def test_a_force_that_follows_has_no_potential():
    """Two links with springs and a small load that turns with the second (Ziegler): it swings, and linear terms do not
    decide; with a load along a fixed direction a potential is least."""
    text = """
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}, AB: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
AppliedForces:
  TorsionSprings: {OA: [10, 0], AB-OA: [10, 0]}
  Forces: {FORCE: [-2, 0]}
ProblemData: {tend: 1, positions: {A: [1, 0], B: [2, 0]}}
"""
    follows, stays = (mechsim.mechanism(text.replace("FORCE", where)).equilibria()[0] for where in ("AB.B", "B"))
    assert (follows.stability, stays.stability) == ("undecided", "stable")


def test_what_is_driven_has_no_rest():
    text = DOUBLE + "Drives: {theta_OA: 2*t}\n"
    with pytest.raises(AssemblyError, match="keeps moving"):
        mechsim.mechanism(text).equilibria()


def test_the_command(tmp_path: Path):
    file = tmp_path / "double.yaml"
    file.write_text(DOUBLE)
    told = CliRunner().invoke(cli, ["equilibrium", str(file), "--reactions", "O"])
    assert told.exit_code == 0, told.output
    assert "4 rests were found" in told.output and "O_OA_Fy" in told.output
    found = json.loads(CliRunner().invoke(cli, ["equilibrium", str(file), "--json", "--reactions", "O"]).output)
    assert len(found["rests"]) == 4
    assert abs(found["rests"][0]["reactions"]["O"]["OA"][1] - 3 * G) < 1e-9
    fall = tmp_path / "fall.yaml"
    fall.write_text("PartData: {Particles: {P: 1}}\nAppliedForces: {Gravity: [0, -1]}\nProblemData: {tend: 1}\n")
    assert CliRunner().invoke(cli, ["equilibrium", str(fall)]).exit_code != 0


CRANKS = """
PartData:
  Fixed: {O: [], P: [1], Q: [2.5]}
  Rigids:
    OA, PB, QC: {Geom: [[0.6]], Dyna: [[0.3], 1, 0.03]}
    ABC: {Geom: [[1], [2.5]], Dyna: [[1.2], 4, 1]}
AppliedForces: {Gravity: [0, -9.81], TorsionSprings: {OA: [20, pi/2]}}
ProblemData: {tend: 1, positions: {A: [0.1, 0.59], B: [1.1, 0.59], C: [2.6, 0.59]}}
"""


def test_constraints_that_repeat_others_hold_at_all_rests():
    """Three parallel cranks: the third repeats the others, but not where the coupler has crossed over. Rests are where
    the torsion spring balances all weights, of one angle: all cranks are parallel."""
    handle = mechsim.mechanism(CRANKS)
    found = handle.equilibria()
    weight = 4 * G * 0.6 + 3 * G * 0.3

    def slope(angle):
        return 20 * (angle - math.pi / 2) + weight * math.cos(angle)

    edges = np.linspace(-4, 6, 500)
    angles = [brentq(slope, a, b) for a, b in pairwise(edges) if slope(a) * slope(b) < 0]
    assert sorted(rest.positions[-1] for rest in found) == pytest.approx(angles, abs=FOUND) and len(angles) == 3
    for rest in found:
        assert np.abs(handle.constraint_residuals(rest.positions)).max() < 1e-12
        loads = handle.joint_loads(rest, "O", "P", "Q")
        assert sum(value for name, value in loads.items() if name.endswith("_Fy")) == pytest.approx(7 * G, rel=1e-9)
        assert sum(value for name, value in loads.items() if name.endswith("_Fx")) == pytest.approx(0, abs=1e-7)
        assert loads["OA_M"] == pytest.approx(-20 * (rest.positions[-1] - math.pi / 2), abs=1e-8)


def test_moments_in_joints_are_told():
    """Two beams welded together hang from a pin: the weld bears the weight of the second, and the moment of that."""
    handle = mechsim.mechanism("""
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[2]], Dyna: [[0.7], 3, 1]}, AB: {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}}}
Joints: {Welds: {OA-AB: [0.5]}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0, -2]}}
""")
    rest = handle.equilibria()[0]
    loads = handle.joint_loads(rest, "all")
    place = dict(zip(rest.linear.coordinates, rest.positions, strict=True))
    assert loads["O_OA_Fy"] == pytest.approx(4 * G) and loads["O_OA_Fx"] == pytest.approx(0, abs=1e-9)
    assert loads["A_AB_Fy"] == pytest.approx(G)
    assert loads["A_AB_M"] == pytest.approx(0.5 * G * (place["B_x"] - place["A_x"])) and abs(loads["A_AB_M"]) > 1


@pytest.mark.parametrize(("k", "count"), [(30, 1), (1, 7)])
def test_what_rolls_rests_where_it_can_be_rolled_to(k, count):
    """A wheel with a spring and an eccentric mass: without slip its angle tells where it is, so it has one freedom, and
    its rests are zeros of dV/d(angle). That it could be put elsewhere on the line makes each a member of a family. A
    soft spring has more of them, two turns away and more."""
    text = f"""
PhysicalParams: {{R: 0.5, m: 2, M: 1, k: {k}, d: 0.3}}
PartData:
  Fixed: {{P: [-5], Q: [5], S: [0.7, R]}}
  Rigids: {{CA: {{Geom: [[d]], Dyna: [[0], m, m*R**2/2]}}}}
  Particles: {{A: M}}
  Springs: {{CS: [k, 0]}}
Joints: {{Wheels: {{CA-PQ: R}}}}
AppliedForces: {{Gravity: [0, -9.81]}}
ProblemData: {{tend: 1, positions: {{C: [[0, fixed], R]}}, angles: {{CA: [0.4, fixed]}}}}
"""
    radius, eccentric = 0.5, 0.3

    def slope(angle):
        return k * radius * (radius * (angle - 0.4) + 0.7) + G * eccentric * math.cos(angle)

    edges = np.linspace(-16, 16, 4001)
    angles = [brentq(slope, a, b, xtol=1e-15) for a, b in pairwise(edges) if slope(a) * slope(b) < 0]
    angles = [angle for angle in angles if abs(angle) < 12]
    assert len(angles) == count

    def at(rest, name):
        return rest.positions[rest.linear.coordinates.index(name)]

    found = sorted(mechsim.mechanism(text).equilibria(), key=lambda rest: at(rest, "theta_CA"))
    found = [rest for rest in found if abs(at(rest, "theta_CA")) < 12]
    np.testing.assert_allclose([at(rest, "theta_CA") for rest in found], angles, rtol=0, atol=FOUND)
    for rest, angle in zip(found, angles, strict=True):
        assert at(rest, "C_x") == pytest.approx(-radius * (angle - 0.4), abs=FOUND)
        stiffness = k * radius**2 - G * eccentric * math.sin(angle)
        inertia = 3 * radius**2 + (radius + eccentric * math.sin(angle)) ** 2 + (eccentric * math.cos(angle)) ** 2
        largest = max(rest.linear.eigenvalues, key=abs)
        assert -(largest**2) == pytest.approx(stiffness / inertia, rel=1e-9)  # whether it swings or leaves


TIMED = """
PhysicalParams: {{T: {time}, L: {length}}}
PartData:
  Fixed: {{O: [], P: [2*L, 0.3*L]}}
  Rods: {{OA: 0.6*L, AB: 2.1*L, PB: 1.3*L}}
  Particles: {{A: 1, B: 2}}
AppliedForces: {{Gravity: [0, -9.81*L/T**2]}}
ProblemData: {{tend: T, positions: {{A: [0.6*L, 0], B: [2*L, 1.5*L]}}}}
"""


@pytest.mark.parametrize(("time", "length"), [("1e5", "1"), ("1e-6", "1"), ("1e4", "1e3"), ("1e7", "1e-3")])
def test_units_of_time_and_length_make_no_difference(time, length):
    found, plain = (
        mechsim.mechanism(TIMED.format(time=t, length=size)).equilibria() for t, size in ((time, length), ("1", "1"))
    )
    assert [(each.stability, each.singular) for each in found] == [(each.stability, each.singular) for each in plain]
    for each, other in zip(found, plain, strict=True):
        assert each.positions / float(length) == pytest.approx(other.positions, abs=1e-8)
        assert each.linear.eigenvalues * float(time) == pytest.approx(other.linear.eigenvalues, rel=1e-8)


def test_a_family_is_one_rest():
    """A double pendulum that lies on a table, with a spring that keeps the direction of its second link: the first may
    be turned anywhere, and swings differently everywhere."""
    found = mechsim.mechanism("""
PartData:
  Fixed: {O: []}
  Rods: {OA: 0.7}
  Rigids: {AB: {Geom: [[0.4]], Dyna: [[0.2], 0.6, 0.008]}}
  Particles: {A: 1.3}
AppliedForces: {TorsionSprings: {AB: [2.5, 0.3]}}
ProblemData: {tend: 1, positions: {A: [0.1, -0.7], B: [0.2, -1.0]}}
""").equilibria()
    assert [(rest.stability, rest.neighbours) for rest in found] == [("neutral", 1)]


def test_zeros_that_are_double_are_no_swings():
    """Two bodies on a spring, free in space otherwise: eleven zeros, and one pair that swings."""
    found = mechsim.mechanism("""
Dimension: 3
PartData: {Springs: {AB: [30, 1]}, Particles: {A: 1, B: 2}}
ProblemData: {tend: 1, positions: {A: [0.1, 0.2, 0.3], B: [0.7, 0.8, 0.82915619758885]}}
""").linearize(rest=True)
    sizes = np.sort(np.abs(found.eigenvalues))
    assert sizes == pytest.approx([*[0] * 10, *[math.sqrt(45)] * 2], abs=1e-6) and np.all(sizes[:10] == 0)


def test_what_can_be_steered_everywhere_has_one_family():
    """A skate on springs rests where these do not push along its blade: a curve of places, which are one."""
    found = mechsim.mechanism("""
PartData:
  Fixed: {U: [-2, 0], W: [2]}
  Rigids: {AB: {Geom: [[1]], Dyna: [[0.25], 2, 0.3]}}
  Springs: {AU: [50, 1.5, 0, 0.7], AW: [70, 1.7]}
Joints: {Skates: {AB.A: 0}}
AppliedForces: {TorsionSprings: {AB: [4, 0.2, 0.05]}}
ProblemData: {tend: 1, positions: {A: [0.1, 0]}, angles: {AB: 0.2}}
""").equilibria()
    assert [(rest.stability, rest.neighbours) for rest in found] == [("neutral", 1)]


def test_poses_at_which_a_rope_has_no_direction_are_passed_over():
    """Atwood's machine, and a spring: m2 g - m1 g = k (b - 1.2), with b the length on the heavier side. Some of the
    poses that are tried put a mass on its pulley exactly, where the rope's constraint has no gradient."""
    text = """
PartData: {Fixed: {O: [0, 0], Q: [1, 0], F: [0, -9], X: [1, -9]}}
Joints: {Pistons: {A-OF: [1], B-QX: [2]}, Ropes: {AOQB: 4}}
AppliedForces: {Gravity: [0, -9.81], Potentials: {v: 3*(B.y+1.2)**2}}
ProblemData: {tend: 1, positions: {A: [0, -1], B: [1, -2]}}
"""
    handle = mechsim.mechanism(text)
    (rest,) = handle.equilibria()
    below = 1.2 + G / 6
    np.testing.assert_allclose(rest.positions[:4], [0, below - 3, 1, -below], rtol=0, atol=FOUND)


def test_a_pose_without_values_is_none():
    handle = mechsim.mechanism(DOUBLE)
    system = handle.system
    with pytest.raises(AssemblyError, match="constraints have no values"):
        projected(system, 0.0, np.full(system.n, np.nan), np.zeros(system.n))


BESIDE = """
PhysicalParams: {ks: 1e9, kf: 1e-5}
PartData:
  Fixed: {O: [], Q: [0, 1], R: [9], S: [9, 1]}
  Springs: {OA: [ks, 1], QB: [kf, 1, 0, 0.01]}
Joints: {Pistons: {A-OR: [1], B-QS: [1]}}
ProblemData: {tend: 1, positions: {A: [1], B: [1.7, 1]}}
"""
PAIR = """
PhysicalParams: {ks: 1e9, kf: 1e-3}
PartData:
  Fixed: {O: [], R: [9]}
  Springs: {OA: [kf, 1], AB: [ks, 1]}
Joints: {Pistons: {A-OR: [1], B-OR: [1]}}
ProblemData: {tend: 1, positions: {A: [1.2], B: [2.2]}}
"""


@pytest.mark.parametrize(("ks", "kf"), [(1e9, 1e-5), (1e14, 1e-7)])
def test_what_is_stiff_says_nothing_of_what_is_soft_beside_it(ks, kf):
    """Two masses that nothing couples, each on its spring; the soft one's equation is exact to its own size."""
    found = mechsim.mechanism(BESIDE, parameters={"ks": ks, "kf": kf}).equilibria()
    assert [rest.stability for rest in found] == ["stable"] * 4
    assert sorted((round(rest.positions[0], 9), round(rest.positions[2], 9)) for rest in found) == [
        (a, b) for a in (-1, 1) for b in (-1, 1)
    ]
    expected = [*np.roots([1, 0.01, kf]), 1j * math.sqrt(ks), -1j * math.sqrt(ks)]
    for rest in found:
        own = np.sort_complex(rest.linear.eigenvalues)
        np.testing.assert_allclose(own, np.sort_complex(expected), rtol=1e-9)


def test_soft_rests_of_stiff_pairs_are_no_family():
    """A soft spring that holds a stiff pair: all four ways to lie along the line. Forces of the pair are rounded to
    1e-7 of a newton, so places are known to 1e-4 of a metre, and a few of these; none is told as of a family."""
    found = mechsim.mechanism(PAIR).equilibria()
    places = sorted((rest.positions[[0, 2]] for rest in found), key=lambda place: tuple(np.round(place)))
    np.testing.assert_allclose(places, [(-1, -2), (-1, 0), (1, 0), (1, 2)], rtol=0, atol=5e-4)
    assert not any(rest.neighbours for rest in found)
    assert {rest.stability for rest in found} <= {"undecided", "stable"}


def test_modes_that_are_lost_in_roundings_are_told(tmp_path: Path):
    (tmp_path / "pair.yaml").write_text(PAIR)
    result = CliRunner().invoke(cli, ["linearize", str(tmp_path / "pair.yaml"), "--equilibrium"])
    assert result.exit_code == 0 and "neutral" not in result.output
    assert "cannot be told from rest" in result.output


@pytest.mark.parametrize(("turning", "told"), [("", "stable"), (" - 0.1*P.y", "undecided")])
def test_what_is_soft_has_a_potential_of_its_own_or_none(turning, told):
    """A particle on soft forces beside one on stiff ones, of which one is damped: stable by its potential. With a force
    that has none, K = [[1, 0.1], [0, 2]] (real roots, no flutter), linear terms do not tell."""
    text = f"""
PartData: {{Particles: {{P: 1, Q: 1}}}}
AppliedForces:
  Forces: {{P: ["-P.x{turning}", "-2*P.y"], Q: ["-1e12*Q.x", "-1e12*Q.y - 1e3*Q.vy"]}}
ProblemData: {{tend: 1, positions: {{P: [0.1, 0.2], Q: [0, 0]}}}}
"""
    (rest,) = mechsim.mechanism(text).equilibria()
    assert rest.stability == told
