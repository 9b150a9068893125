"""Accelerations, jerk and extremes, against closed forms and Newton's law.

Accelerations solve the equations at a state, so they are off by the state's own error (the tolerance, 1e-12 here, over
some steps) and by roundings of the solve. Jerk is the third derivative of a step's polynomial: its last term is below
the tolerance, and three derivatives of s**p over a step of length h multiply it by (p/h)**3, less what the step
control leaves; against equations that were differentiated once more, which give the jerk to rounding, it was off by 30
tolerances of the largest jerk at most, at 23 times in each of 30 examples without contacts;
second derivatives by 2.
"""

import json
import pickle
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import SPECS

import mechsim
from mechsim.cli.main import main
from mechsim.errors import MechsimError, SpecError
from mechsim.measure.measures import Measures
from mechsim.spec import read

G = 9.81
ROUNDINGS = 1e-13  # some hundred roundings of numbers of size 1: where the state itself is exact to rounding
CLOSE = 1e-10  # a hundred tolerances: errors of states add up over steps, and a stiff law multiplies them
LOOSER = 1e-9  # of jerk: 30 times the worst that was measured, see above

NUMBERS = st.floats(-5, 5).map(lambda x: round(x, 6))  # a file refuses what is too small to compute with

CRANK = """
PhysicalParams: {w: 12, r: 0.3, l: 0.9}
PartData:
  Fixed: {O: [], R: [1]}
  Rigids:
    OA: {Geom: [[r]], Dyna: [[r/3], 2, 0.015]}
    ABC: {Geom: [[l], [0.2, 0.1]], Dyna: [[0.4*l], 3, 0.2]}
AppliedForces: {Gravity: }
Joints: {Pistons: {B-OR: [1.5]}}
Drives: {theta_OA: w*t}
Output: {accelerations: [A, B, C, O, theta_OA, theta_ABC]}
ProblemData: {tend: 1, positions: {A: [r], B: [r + l]}}
"""
PENDULUM = """
PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: 2}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 3, positions: {A: [[0.6, fixed], -0.8]}}
"""
STEP = """
PartData: {Particles: {A: 2}}
Piecewise: {push: [[0, 6], [1, -4]]}
AppliedForces: {Forces: {A: [push, 0]}}
Output: {accelerations: [A]}
ProblemData: {tend: 2, positions: {A: [0, 0]}}
"""


@pytest.fixture(scope="module")
def crank():
    return mechsim.simulate(CRANK)


def size(values):
    return np.abs(values).max()


# --- against closed forms


def test_a_point_that_is_driven_in_a_circle_has_its_speed_squared_over_its_radius(crank):
    t = np.linspace(0, 1, 41)
    toward = -(12**2) * crank(t)["A"]
    assert size(crank.acceleration("A", t) - toward) < ROUNDINGS * 12**2 * 0.3 * 10  # a driven state has no history
    assert size(crank.acceleration("theta_OA", t)) < ROUNDINGS * 12**2 * 10
    assert size(np.hypot(*crank.acceleration("A", t).T) - 12**2 * 0.3) < ROUNDINGS * 12**2 * 3


def test_a_slider_crank_by_its_formula_differentiated_by_hand(crank):
    """x = r cos + sqrt(u), u = l**2 - r**2 sin**2."""
    r, l, w = 0.3, 0.9, 12
    t = np.linspace(0, 1, 53)
    s, c, u = np.sin(w * t), np.cos(w * t), 0.9**2 - (0.3 * np.sin(w * t)) ** 2
    u1, u2, u3 = -(r**2) * np.sin(2 * w * t), -2 * r**2 * np.cos(2 * w * t), 4 * r**2 * np.sin(2 * w * t)
    second = w**2 * (-r * c + u2 / (2 * u**0.5) - u1**2 / (4 * u**1.5))
    third = w**3 * (r * s + u3 / (2 * u**0.5) - 3 * u1 * u2 / (4 * u**1.5) + 3 * u1**3 / (8 * u**2.5))
    assert size(crank(t)["B_x"] - (r * c + np.sqrt(l**2 - (r * s) ** 2))) < ROUNDINGS
    assert size(crank.acceleration("B", t)[:, 0] - second) < CLOSE * size(second)
    assert size(crank.jerk("B_x", t) - third) < LOOSER * size(third)
    assert size(crank.acceleration("B", t)[:, 1]) < CLOSE * size(second)


def test_a_point_that_is_placed_on_a_part_goes_with_it(crank):
    """C = A + 0.2 e + 0.1 i e, where e goes from A to B; linear, so the accelerations are too."""
    t = np.linspace(0, 1, 17)
    a, b, c = (crank.acceleration(name, t) @ (1, 1j) for name in "ABC")
    assert size(c - (a + (b - a) / 0.9 * (0.2 + 0.1j))) < CLOSE * size(c)


def test_free_fall():
    motion = mechsim.simulate("""
PartData: {Particles: {A: 1}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0, 0]}, velocities: {A: [1, 3]}}
""")
    assert motion.acceleration("A", 0.4) == pytest.approx([0, -G], abs=1e-14)  # one division
    assert size(motion.jerk("A", [0.0, 0.4, 1.0])) < 1e-12  # a parabola has none
    top = mechsim.extremes(motion, "A_y").maxima
    assert [(each.t, each.value) for each in top] == [pytest.approx((3 / G, 4.5 / G), abs=1e-15)]
    constant = mechsim.extremes(motion, "A_ay")
    assert (constant.maxima, constant.minima, constant.largest.value) == ((), (), -G)


def double_pendulum(q, v):
    """Angular accelerations of unit masses on unit rods, from the Lagrangian of its angles, from the vertical."""
    d = q[0] - q[1]
    mass = np.array([[2, np.cos(d)], [np.cos(d), 1]])
    right = [-np.sin(d) * v[1] ** 2 - 2 * G * np.sin(q[0]), np.sin(d) * v[0] ** 2 - G * np.sin(q[1])]
    return np.linalg.solve(mass, right)


@settings(max_examples=12)
@given(q=st.tuples(*[NUMBERS] * 2), v=st.tuples(*[NUMBERS] * 2))
def test_a_double_pendulum_at_random_states(q, v):
    """At the start the state is exact: what is left are roundings of the solve, times the condition of the mass matrix,
    which is at most 7."""
    turned = [angle - np.pi / 2 for angle in q]  # a part's angle is from the horizontal
    motion = mechsim.simulate(f"""
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[1]], Dyna: [[1], 1, 0]}}, AB: {{Geom: [[1]], Dyna: [[1], 1, 0]}}}}
AppliedForces: {{Gravity: [0, -{G}]}}
ProblemData:
  tend: 0.01
  angles: {{OA: [{turned[0]!r}, fixed], AB: [{turned[1]!r}, fixed]}}
  rates: {{OA: [{v[0]!r}, fixed], AB: [{v[1]!r}, fixed]}}
""")
    found = [motion.acceleration(f"theta_{part}", 0.0) for part in ("OA", "AB")]
    assert found == pytest.approx(double_pendulum(q, v), abs=1e-11 * (2 * G + 50))


def test_a_lagrangian_of_ones_own_has_accelerations_and_jerk():
    from jax import numpy as jnp

    def lagrangian(q, v, t):
        kinetic = v[0] ** 2 + v[1] ** 2 / 2 + v[0] * v[1] * jnp.cos(q[0] - q[1])
        return kinetic + G * (2 * jnp.cos(q[0]) + jnp.cos(q[1]))

    motion = mechsim.lagrangian_system(lagrangian, ["a", "b"]).simulate({"a": 2, "b": -1}, {"a": 1}, tend=2)
    t = np.linspace(0, 2, 9)
    q, v = (np.stack([of["a"], of["b"]], axis=1) for of in (motion(t), motion.velocity(t)))
    known = np.array([double_pendulum(*state) for state in zip(q, v, strict=True)])
    found = np.stack([motion.acceleration(name, t) for name in "ab"], axis=1)
    assert size(found - known) < ROUNDINGS * 10 * size(known)  # at the same states: roundings of the solve
    h = 1e-4  # of a central difference: its own error is h**2 times the fifth derivative, some 1e3 jerks
    rates = (motion.acceleration("a", t[1:-1] + h) - motion.acceleration("a", t[1:-1] - h)) / (2 * h)
    assert size(motion.jerk("a", t[1:-1]) - rates) < 1e-4 * size(rates)


def test_in_space_a_spinning_body_by_euler_and_a_point_beside_its_reference_points():
    """w' by Euler's equations, a = w' x r + w x (w x r), in the body's axes; D is placed by the other three."""
    inertia, place = np.array([1, 2, 3]), np.array([0.3, -0.2, 0.5])
    motion = mechsim.simulate("""
Dimension: 3
PartData: {Rigids: {ABCD: {Geom: [[1], [0, 1], [0.3, -0.2, 0.5]], Dyna: [[], 1, [1, 2, 3]]}}}
ProblemData:
  tend: 3
  positions: {A: [[0, fixed], [0, fixed], [0, fixed]]}
  velocities: {A: [[0, fixed], [0, fixed], [0, fixed]]}
  orientations: {ABCD: [{quaternion: [1, 0, 0, 0]}, fixed]}
  spins: {ABCD.ABCD: [[0.5, 2, 0.1], fixed]}
Output: {spins: [ABCD.ABCD], accelerations: [D]}
""")
    table = motion.trajectory
    along, side = table["B"] - table["A"], table["C"] - table["A"]
    axes = np.stack([along, side, np.cross(along, side)], axis=-1)
    spin = np.stack([table[f"ABCD_ABCD_w{axis}"] for axis in "xyz"], axis=-1)
    change = -np.cross(spin, inertia * spin) / inertia
    own = np.cross(change, place) + np.cross(spin, np.cross(spin, place))
    known = np.einsum("kij,kj->ki", axes, own)
    found = np.stack([table[f"D_a{axis}"] for axis in "xyz"], axis=-1)
    assert size(found - known) < ROUNDINGS * 10 * size(known)  # at the same state


def test_in_space_a_turn_angle_where_constraints_repeat_each_other():
    """A door on two hinges, of which one would do, about an axis that leans: w**2/3 phi'' = -g w/2 sin tilt sin phi. It
    names the angle on the command line's way, and the file's own columns stay."""
    motion = mechsim.simulate(SPECS / "space" / "door.yaml", accelerations=["F", "theta_ABF_ABE"], tend=1)
    table = motion.trajectory
    known = -1.5 * G / 0.9 * np.sin(0.05) * np.sin(table["theta_ABF_ABE"])
    assert size(table["theta_ABF_ABE_ddot"] - known) < CLOSE * size(known)
    assert {"F_ax", "F_ay", "F_az"} <= set(table.labels)


# --- Newton's law, and the motion itself


def test_mass_times_acceleration_is_the_sum_of_all_forces_on_a_particle():
    motion = mechsim.simulate(PENDULUM)
    t = np.linspace(0, 3, 11)
    felt = motion.reaction("A", t)["A"] + np.array([0, -2 * G])
    assert size(2 * motion.acceleration("A", t) - felt) < ROUNDINGS * 2 * G * 10


@pytest.mark.parametrize("spec", ["andrews", "four_bar", "double_pendulum", "space/bricard", "space/rolling_disc"])
def test_columns_are_the_second_derivatives_of_the_polynomials(spec):
    motion = mechsim.simulate(SPECS / f"{spec}.yaml", accelerations=["all"])
    table, labels = motion.trajectory, [each.label for each in motion.mechanism.variables]
    bends = motion.solution.evaluate(table.t)[2]
    for point in table.points:
        for axis in "xyz"[: motion.mechanism.dimension]:
            known = bends[:, labels.index(f"{point}_{axis}")]
            assert size(table[f"{point}_a{axis}"] - known) < CLOSE * size(bends), point
    # Jerk is how the column changes: over rows that are near, by Simpson's rule on the jerk between them.
    name = max(table.points, key=lambda point: size(table[f"{point}_ax"]))
    start, end = table.t[:-1], table.t[1:]
    jerks = [motion.jerk(f"{name}_x", each) for each in (start, (start + end) / 2, end)]
    change = (end - start) * (jerks[0] + 4 * jerks[1] + jerks[2]) / 6
    column = table[f"{name}_ax"]
    assert size(np.diff(column) - change) < 0.05 * size(np.diff(column))  # the rule's own error on rows of a table


@settings(max_examples=15)
@given(x=NUMBERS.map(lambda x: x / 5.1), speed=NUMBERS, t=st.floats(0, 1))
def test_an_acceleration_is_the_second_derivative_of_its_polynomial(x, speed, t):
    """The polynomial leaves out terms below the tolerance; two derivatives multiply these by (p/h)**2, about 1e3 for
    steps of h = 0.5 at the order p = 16, of which the step control's margin takes back a part."""
    text = PENDULUM.replace("tend: 3", f"tend: 1, velocities: {{A: [{speed!r}]}}")
    motion = mechsim.simulate(text.replace("[0.6, fixed], -0.8", f"[{x!r}, fixed], -1"))
    found = motion.acceleration("A", t)
    bends = motion.solution.evaluate(np.array([t]))[2][0, :2]
    assert found == pytest.approx(bends, abs=1e3 * motion.solution.tolerance * (G + size(found)))


# --- both sides of what happens


def test_an_impact_has_an_acceleration_before_and_one_after():
    """At the lowest point of a pendulum only the centripetal acceleration is left, of the speed before and after."""
    motion = mechsim.simulate(SPECS / "contacts" / "pendulum_wall.yaml", accelerations=["A"], tend=2)
    speed, e = np.sqrt(2 * G * (1 - np.cos(1))), 0.8
    hit = motion.events[0].t
    rows = np.flatnonzero(motion.trajectory.t == hit)
    before, after = (np.array([motion.trajectory[f"A_a{axis}"][row] for axis in "xy"]) for row in rows)
    assert before == pytest.approx([0, speed**2], abs=CLOSE * G)
    assert after == pytest.approx([0, (e * speed) ** 2], abs=CLOSE * G)
    assert motion.acceleration("A", hit, side="before") == pytest.approx(before, abs=CLOSE * G)
    assert motion.acceleration("A", hit) == pytest.approx(after, abs=CLOSE * G)
    # Along the circle v' = -g sin, so the jerk at the bottom is -(v**2/l + g) v/l across.
    for side, v in (("before", -speed), ("after", e * speed)):
        known = -(v**2 + G) * v
        assert motion.jerk("A", hit, side=side) == pytest.approx([known, 0], abs=LOOSER * 100)


def test_a_force_that_jumps_has_two_accelerations():
    motion = mechsim.simulate(STEP)
    assert motion.acceleration("A_x", 1.0, side="before") == pytest.approx(3, abs=1e-14)
    assert motion.acceleration("A_x", 1.0) == pytest.approx(-2, abs=1e-14)
    both = motion.both_sides()
    assert both["A_ax"][both.t == 1.0] == pytest.approx([3, -2], abs=1e-14)


def test_a_table_knows_accelerations_and_jerk_at_its_rows():
    whole, table = mechsim.simulate(STEP), mechsim.simulate(STEP, keep="table")
    t = table.trajectory.t
    assert np.array_equal(table.acceleration("A", t), whole.acceleration("A", t))
    assert table.acceleration("A_x", 1.0, side="before") == pytest.approx(3, abs=1e-14)
    assert size(table.trajectory["A_ax"] - table.acceleration("A_x", t)) == 0
    with pytest.raises(ValueError, match="known at its rows alone"):
        table.acceleration("A", 0.123)
    assert size(table.jerk("A", t)) < 1e-12  # a push that steps
    with pytest.raises(ValueError, match="known at its rows alone"):
        table.jerk("A", 0.123)


def test_sides_of_an_impact_are_rows_of_a_table_too():
    path = SPECS / "contacts" / "pendulum_wall.yaml"
    whole, table = mechsim.simulate(path, tend=2), mechsim.simulate(path, tend=2, keep="table")
    hit = table.events[0].t
    for side in ("before", "after"):
        known = whole.acceleration("A", hit, side=side)
        assert table.acceleration("A", hit, side=side) == pytest.approx(known, abs=CLOSE * G)


# --- columns and files


def test_columns_have_units_and_fixed_points_rest(crank):
    table = crank.trajectory
    units = dict(zip(table.labels, table.units, strict=True))
    assert [units[name] for name in ("A_ax", "A_ay", "theta_OA_ddot", "theta_ABC_ddot")] == ["m/s^2"] * 2 + [
        "rad/s^2"
    ] * 2
    assert size(table["O_ax"]) == size(table["O_ay"]) == 0
    assert np.array_equal(crank.acceleration("O", [0.1, 0.2]), np.zeros((2, 2)))
    assert np.array_equal(table["theta_ABC_ddot"], crank.trajectory["theta_ABC_ddot"])


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run `mechsim WORDS` in an empty folder; returns exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        with pytest.raises(SystemExit) as left:
            main(words)
        captured = capsys.readouterr()
        return SimpleNamespace(code=left.value.code or 0, out=captured.out, err=captured.err)

    return run


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
@pytest.mark.parametrize("rows", [[], ["--samples", "30"]])
def test_the_command_line_writes_them(command, ending, rows):
    spec, target = str(SPECS / "four_bar.yaml"), f"out.{ending}"
    told = command("run", spec, "-o", target, "--tend", "1", "--accelerations", "P,theta_ABP", "--json", *rows)
    assert told.code == 0, told.err
    table = mechsim.load(target)
    assert table.labels[-3:] == ("P_ax", "P_ay", "theta_ABP_ddot")
    known = mechsim.simulate(spec, tend=1).acceleration("P", table.t)
    assert size(np.stack([table["P_ax"], table["P_ay"]], axis=1) - known) < CLOSE * size(known)
    assert command("run", spec, "--accelerations", "P,Q").code == 2
    assert command("plot", target, "-o", "out.svg").code == 0
    assert "angular acceleration" in Path("out.svg").read_text()


def test_all_are_the_points_and_angles_that_move():
    motion = mechsim.simulate(SPECS / "four_bar.yaml", tend=0.1, accelerations="all")
    found = [label for label in motion.trajectory.labels if label[1:3] == "_a" or label.endswith("_ddot")]
    assert found == ["A_ax", "A_ay", "B_ax", "B_ay", "P_ax", "P_ay", "theta_OA_ddot"]


def test_a_handle_and_a_pickled_motion_have_what_the_file_asks_for():
    motion = pickle.loads(pickle.dumps(mechsim.mechanism(CRANK).simulate(parameters={"w": 6}, tend=0.1)))
    assert motion.trajectory["A_ax"][0] == pytest.approx(-36 * 0.3, abs=1e-12)
    assert motion.acceleration("A", 0.05) == pytest.approx(-36 * motion(0.05)["A"], abs=1e-12)


def test_a_reference_may_know_an_acceleration(command):
    """The size of a component is that of its vector, so that of A_ay, which is zero, has digits too."""
    Path("step.yaml").write_text(STEP + "Reference: {at: {0.5: {A_ax: [3, 12], A_ay: [0, 12]}}}\n")
    known = json.loads(command("run", "step.yaml", "--json").out)["reference"]
    assert len(known) == 2 and all(each["digits"] >= 12 for each in known), known


@pytest.mark.parametrize(
    ("names", "hint"),
    [("[X]", "write points, A, B, C, O and R"), ("[theta_AX]", "did you mean"), ("[A.x]", "write points")],
)
def test_names_that_do_not_move_are_refused(names, hint):
    with pytest.raises(SpecError, match="no point and no turn angle") as caught:
        mechsim.simulate(CRANK.replace("[A, B, C, O, theta_OA, theta_ABC]", names))
    assert hint in caught.value.faults[0].hint
    with pytest.raises(SpecError, match="no point and no turn angle"):
        mechsim.simulate(CRANK, accelerations=names.strip("[]"))


@pytest.mark.parametrize("name", ["A.ax", "A_ay", "theta_OA_ddot"])
def test_expressions_may_not_use_them_and_are_told_where_they_are(name):
    with pytest.raises(SpecError, match="an expression may not use accelerations") as caught:
        mechsim.simulate(f"Signals: {{s: 2*{name}}}" + CRANK)
    assert "Output: {accelerations: [" in caught.value.faults[0].hint


def test_what_is_integrated_has_no_acceleration(crank):
    with pytest.raises(SpecError, match="work_drive_theta_OA has no acceleration"):
        crank.acceleration("work_drive_theta_OA", 0.1)
    with pytest.raises(SpecError, match="X has no acceleration"):
        crank.jerk("X", 0.1)
    with pytest.raises(ValueError, match="the motion is known from"):
        crank.acceleration("A", 2.0)


# --- extremes


def test_turning_points_of_a_harmonic_oscillator():
    """x = cos 2t. Values are exact to rounding; times to the state's error over the curvature, some tolerances."""
    motion = mechsim.lagrangian_system(lambda q, v, t: v[0] ** 2 / 2 - 2 * q[0] ** 2, ["x"]).simulate({"x": 1}, tend=10)
    for name, largest, shift in (("x", 1, 0), ("x_dot", 2, np.pi / 2), ("x_ddot", 4, np.pi), ("-2*x", 2, np.pi)):
        found = mechsim.extremes(motion, name)  # largest*cos(2t + shift)
        for extremes, sign in ((found.maxima, 1), (found.minima, -1)):
            phase = (0 if sign > 0 else np.pi) - shift
            known = np.array([t for k in range(-3, 12) if 0 < (t := (phase + 2 * np.pi * k) / 2) < 10])
            assert [each.t for each in extremes] == pytest.approx(known, abs=1e-11), name
            assert [each.value for each in extremes] == pytest.approx([sign * largest] * len(known), abs=1e-11), name
        assert (found.largest.value, found.smallest.value) == pytest.approx((largest, -largest), abs=1e-11)
    assert (
        mechsim.extremes(motion, "H").maxima == mechsim.extremes(motion, "H").minima == ()
    )  # constant but for roundings
    assert len(mechsim.extremes(motion, "x**2").maxima) == 6


def test_turning_points_of_a_pendulum():
    """It turns where it started, and its mirror image, at half periods (arithmetic-geometric mean); below it is fastest
    and its acceleration is v**2/l upwards."""
    motion = mechsim.simulate(PENDULUM.replace("tend: 3", "tend: 10"))
    a, g = 1.0, np.cos(np.arcsin(0.6) / 2)
    for _ in range(6):
        a, g = (a + g) / 2, np.sqrt(a * g)
    half = np.pi / np.sqrt(G) / a
    x, y = mechsim.extremes(motion, "A_x"), mechsim.extremes(motion, "A_ay")
    known = np.arange(1, int(10 / half) + 1) * half
    assert sorted(each.t for each in (*x.maxima, *x.minima)) == pytest.approx(known, abs=1e-10)
    assert {round(each.value, 11) for each in (*x.maxima, *x.minima)} == {0.6, -0.6}
    assert x.largest.t == 0
    below = known - half / 2
    assert [each.t for each in y.maxima[: len(below)]] == pytest.approx(below, abs=1e-10)
    assert [each.value for each in y.maxima] == pytest.approx([2 * G * 0.2] * len(y.maxima), abs=CLOSE * G)


def test_what_jumps_has_extremes_on_a_side():
    """A ball that bounces for ever: its speed falls by g until the ground turns it."""
    motion = mechsim.simulate(SPECS / "contacts" / "bouncing_particle.yaml")
    speed = motion.events[0].after
    found = mechsim.extremes(motion, "P_y_dot")
    times = [event.t for event in motion.events]
    assert [each.t for each in found.maxima] == [each.t for each in found.minima] == times
    assert [each.value for each in found.maxima] == pytest.approx([speed] * len(times), abs=1e-13)
    assert [each.value for each in found.minima] == pytest.approx([-speed] * len(times), abs=1e-13)
    heights = mechsim.extremes(motion, "P_y")
    assert [each.t for each in heights.minima] == times
    assert all(abs(each.value) < 1e-14 for each in heights.minima)
    assert len(heights.maxima) == len(times) + 1


def test_maxima_and_minima_take_turns_and_agree_with_a_fine_table(crank):
    t = np.linspace(0, 1, 20001)
    for name in ("B_x", "B_x_dot", "B_ax", "sqrt(C_ax**2 + C_ay**2)", "A_OA_Fu", "T"):
        found = mechsim.extremes(crank, name)
        turns = sorted((each.t, kind) for kind in (1, -1) for each in (found.maxima, found.minima)[kind < 0])
        assert all(one != other for (_, one), (_, other) in pairwise(turns)), name
        if name.startswith("B_"):
            fine = (
                crank.acceleration("B_x", t) if name == "B_ax" else (crank(t), crank.velocity(t))["dot" in name]["B_x"]
            )
            inside = np.flatnonzero((fine[1:-1] > fine[:-2]) & (fine[1:-1] > fine[2:])) + 1
            assert len(inside) == len(found.maxima)
            assert [each.t for each in found.maxima] == pytest.approx(t[inside], abs=1e-4)  # two samples
            assert found.largest.value >= fine.max() - CLOSE * size(fine)


@pytest.mark.parametrize("tol", [1e-12, 1e-6])
def test_a_constant_has_no_extremes_at_any_tolerance(tol):
    """The speed of a ball in a circle is constant but for the error of the motion, which wriggles."""
    motion = mechsim.simulate(SPECS / "space" / "governor.yaml", tol=tol)
    found = mechsim.extremes(motion, "T")
    assert found.maxima == found.minima == ()
    assert found.largest.value == pytest.approx(found.smallest.value, rel=10 * tol)
    assert len(mechsim.extremes(motion, "A_x").maxima) == 12


def test_extremes_that_cannot_be():
    with pytest.raises(MechsimError, match="kept no polynomials"):
        mechsim.extremes(mechsim.simulate(STEP, keep="table"), "A_x")
    motion = mechsim.simulate(STEP)
    with pytest.raises(SpecError, match="there is no column Q_x"):
        mechsim.extremes(motion, "Q_x")
    with pytest.raises(SpecError, match="cannot stand inside"):
        mechsim.extremes(motion, "max(A_x)")
    with pytest.raises(MechsimError, match="has no value somewhere"):
        mechsim.extremes(motion, "sqrt(-1 - A_x**2)")


@pytest.mark.parametrize("pole", ["1/x", "1/sqrt(abs(x))", "tan(2*x)", "x_dot/x", "log(abs(x))"])
def test_a_pole_has_no_extremes(pole):
    """x = cos(t) crosses zero inside of a step, where these have no value, or none whose digits are known."""
    oscillator = mechsim.lagrangian_system(lambda q, v, t: (v[0] ** 2 - q[0] ** 2) / 2, ["x"])
    motion = oscillator.simulate({"x": 1.0}, tend=3)
    with pytest.raises(SpecError, match="has no value somewhere"):
        mechsim.extremes(motion, pole)


def test_what_is_next_to_a_pole_or_a_corner_has_extremes():
    oscillator = mechsim.lagrangian_system(lambda q, v, t: (v[0] ** 2 - q[0] ** 2) / 2, ["x"])
    motion = oscillator.simulate({"x": 1.0}, tend=3)
    assert mechsim.extremes(motion, "1/(x**2 + 1e-8)").largest.value == pytest.approx(1e8, rel=1e-9)
    assert mechsim.extremes(motion, "sqrt(abs(x))").smallest.value == pytest.approx(0, abs=1e-7)
    assert mechsim.extremes(motion, "x - x").largest.value == 0


def test_sweeps_measure_accelerations():
    text = (
        CRANK
        + "Sweep: {vary: {w: [6, 12]}, measure: [max(A.ax), final(A_ay), max(B_ax), time_of_min(theta_ABC_ddot)]}\n"
    )
    table = mechsim.sweep(text)
    assert table["max(A.ax)"] == pytest.approx([36 * 0.3, 144 * 0.3], rel=CLOSE)
    assert table["final(A_ay)"] == pytest.approx([-36 * 0.3 * np.sin(6), -144 * 0.3 * np.sin(12)], rel=CLOSE)
    assert table["max(B_ax)"][1] == pytest.approx(
        mechsim.extremes(mechsim.simulate(CRANK), "B_ax").largest.value, rel=CLOSE
    )


def test_sweeps_measure_parabolas():
    """Their velocity has two coefficients, their acceleration one."""
    table = mechsim.sweep("""
PhysicalParams: {g: 9.81}
PartData: {Particles: {A: 1}}
AppliedForces: {Gravity: [0, -g]}
ProblemData: {tend: 1, positions: {A: [0, 0]}, velocities: {A: [1, 3]}}
Sweep: {vary: {g: [5, 10]}, measure: [time_of_max(A_y_dot), max(A_y_dot), max(A_ay), time_of_max(A_ay)]}
""")
    assert list(table["time_of_max(A_y_dot)"]) == [0, 0]
    assert table["max(A_y_dot)"] == pytest.approx([3, 3], abs=1e-15)
    assert table["max(A_ay)"] == pytest.approx([-5, -10], abs=1e-14)
    assert list(table["time_of_max(A_ay)"]) == [0, 0]


def test_a_measure_of_when_a_ball_is_fastest():
    """Of a velocity with two coefficients in each step, whose peaks are looked for between steps: that was an
    IndexError."""
    path = SPECS / "contacts" / "bouncing_particle.yaml"
    motion = mechsim.simulate(path)
    values, _ = Measures.parse(["time_of_min(P_y_dot)"], read(path)).of_motion(motion)
    assert values[0] == motion.events[0].t


def test_a_handle_has_columns_of_accelerations():
    handle = mechsim.mechanism(SPECS / "four_bar.yaml")
    motion = handle.simulate(parameters={"b": 3.6}, tend=0.1, accelerations=["B"])
    assert motion.to_pandas()["B_ax"].iloc[-1] == pytest.approx(motion.acceleration("B", 0.1)[0], rel=1e-13)
    assert "B_ax" not in handle.simulate(tend=0.1).to_pandas()
    with pytest.raises(SpecError, match="no coordinate of this mechanism"):
        handle.simulate(tend=0.1, accelerations=["theta_CB"])


# --- jerk as columns


def test_jerk_as_columns_of_a_slider_crank():
    """Differentiated by hand, as above; from the equations, so to rounding where the state is exact."""
    r, l, w = 0.3, 0.9, 12
    motion = mechsim.simulate(CRANK, jerks=["B", "theta_OA", "O"])
    table = motion.trajectory
    t = np.asarray(table["t"])
    s, u = np.sin(w * t), l**2 - (r * np.sin(w * t)) ** 2
    u1, u2, u3 = -(r**2) * np.sin(2 * w * t), -2 * r**2 * np.cos(2 * w * t), 4 * r**2 * np.sin(2 * w * t)
    third = w**3 * (r * s + u3 / (2 * u**0.5) - 3 * u1 * u2 / (4 * u**1.5) + 3 * u1**3 / (8 * u**2.5))
    assert size(table["B_jx"] - third) < ROUNDINGS * size(third)
    assert size(table["B_jy"]) < ROUNDINGS * size(third) and size(table["O_jx"]) == 0
    assert size(table["theta_OA_dddot"]) < ROUNDINGS * w**3
    units = dict(zip(table.labels, table.units, strict=True))
    assert (units["B_jx"], units["theta_OA_dddot"]) == ("m/s^3", "rad/s^3")
    assert size(motion.jerk("B_x", t) - table["B_jx"]) < ROUNDINGS * size(third)


def test_jerk_in_space():
    """A point that is driven along a helix: its jerk is against its velocity, by the square of the rate."""
    motion = mechsim.simulate("""
Dimension: 3
PartData: {Particles: {A: 2}}
Drives: {A.x: cos(5*t), A.y: sin(5*t), A.z: t**3}
Output: {accelerations: [A], jerks: all}
ProblemData: {tend: 1}
""")
    table = motion.trajectory
    assert size(table["A_jx"] + 25 * table["A_x_dot"]) < ROUNDINGS * 125
    assert size(table["A_jy"] + 25 * table["A_y_dot"]) < ROUNDINGS * 125
    assert size(table["A_jz"] - 6) < ROUNDINGS * 125


def test_columns_of_a_lagrangian():
    """A pendulum: its acceleration is -g sin, the rate of that -g cos times the rate of the angle."""
    from jax import numpy as jnp

    pendulum = mechsim.lagrangian_system(lambda q, v, t: v[0] ** 2 / 2 + G * jnp.cos(q[0]), ["theta"])
    table = pendulum.simulate({"theta": 1}, tend=2, accelerations=["theta"], jerks=["theta"]).trajectory
    theta, rate = table["theta"], table["theta_dot"]
    assert size(table["theta_ddot"] + G * np.sin(theta)) < ROUNDINGS * G
    assert size(table["theta_dddot"] + G * np.cos(theta) * rate) < ROUNDINGS * G * size(rate)
    with pytest.raises(MechsimError, match="phi has no acceleration"):
        pendulum.simulate({"theta": 1}, tend=2, jerks=["phi"])


def test_jerk_of_a_motion_by_its_equation_differentiated_once_more():
    motion = mechsim.simulate("""
PartData: {Particles: {A: 1}}
AppliedForces: {Forces: {A: [-(1 + 0.3*cos(t))*A.x**3, 0]}}
Output: {jerks: [A]}
ProblemData: {tend: 6, positions: {A: [1.2, 0]}}
""")
    table = motion.trajectory
    t, x, v = (np.asarray(table[name]) for name in ("t", "A_x", "A_x_dot"))
    expected = 0.3 * np.sin(t) * x**3 - 3 * (1 + 0.3 * np.cos(t)) * x**2 * v
    assert size(table["A_jx"] - expected) < ROUNDINGS * size(expected)


def test_jerks_from_the_shell(tmp_path, capsys):
    spec = tmp_path / "crank.yaml"
    spec.write_text(CRANK)
    target = tmp_path / "out.csv"
    with pytest.raises(SystemExit, match="0"):
        main(["run", str(spec), "--jerks", "B,theta_OA", "--quiet", "-o", str(target)])
    titles = next(line for line in target.read_text().splitlines() if not line.startswith("#"))
    assert {"B_jx", "B_jy", "theta_OA_dddot", "A_ax"} <= set(titles.split(","))
    with pytest.raises(SystemExit):
        main(["run", str(spec), "--jerks", "Z", "--quiet", "-o", str(target)])
    assert "jerks names Z, which is no point and no turn angle" in capsys.readouterr().err
