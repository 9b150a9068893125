"""Linear motion near a state: against closed forms, minimal coordinates, and the motion's own derivatives."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS
from scipy.linalg import expm

import mechsim
from mechsim.cli.main import cli
from mechsim.errors import AssemblyError, MechsimError, SpecError

# Derivatives come from one factorization: some roundings of numbers near one. The bar of the issue is 1e-10.
ROUNDINGS = 1e-12
G = 9.81

MASSES = """
PartData:
  Fixed: {O: [], X: [9]}
  Springs: {OA: [1, 1], AB: [1, 1]}
  Particles: {A: 1, B: 1}
Joints: {Slots: {A-OX: [], B-OX: []}}
ProblemData: {tend: 1, positions: {A: [1, 0], B: [2, 0]}}
"""
DOUBLE = """
PhysicalParams: {{m: {m!r}, M: {M!r}, l: {l!r}, L: {L!r}, g: {g!r}}}
PartData:
  Fixed: {{O: []}}
  Rods: {{OA: l, AB: L}}
  Particles: {{A: m, B: M}}
AppliedForces: {{Gravity: [0, -g]}}
ProblemData: {{tend: 1, positions: {{A: [0, -l], B: [0, -l - L]}}}}
"""
CART = """
PhysicalParams: {M: 2, m: 0.5, l: 0.8, c: 0.4}
Inputs: {push: 0}
PartData:
  Fixed: {O: [], X: [4]}
  Rods: {AB: l}
  Particles: {A: M, B: m}
Joints: {Slots: {A-OX: []}}
AppliedForces: {Gravity: [0, -9.81], Forces: {A: [push - c*A.vx, 0]}}
Signals: {lean: 'atan2(B.x - A.x, B.y - A.y)'}
Output: {signals: [lean]}
ProblemData: {tend: 5, positions: {A: [1, 0], B: [1, UP]}}
"""


def cart(up: bool) -> str:
    return CART.replace("UP", "l" if up else "-l")


def closed_cart(up: bool) -> tuple[np.ndarray, np.ndarray]:
    """x, x' of the cart, and the turn of the pendulum from upright with its rate, by textbooks."""
    M, m, length, c = 2, 0.5, 0.8, 0.4
    s = 1 if up else -1
    a = np.zeros((4, 4))
    a[0, 2] = a[1, 3] = 1
    a[2] = [0, -m * G / M, -c / M, 0]
    a[3] = [0, s * (M + m) * G / (M * length), s * c / (M * length), 0]
    return a, np.array([[0], [0], [1 / M], [-s / (M * length)]])


def same_values(found, expected, atol=ROUNDINGS) -> None:
    """Sets of eigenvalues, whatever their order."""
    found, left = np.asarray(found), list(np.asarray(expected, complex))
    assert len(found) == len(left)
    for value in found:
        nearest = min(left, key=lambda each: abs(each - value))
        assert abs(nearest - value) <= atol, (value, expected)
        left.remove(nearest)


def test_two_masses_and_two_springs():
    """The golden ratio and its inverse, in a file and as a Lagrangian."""
    golden = (math.sqrt(5) - 1) / 2
    found = mechsim.mechanism(MASSES).linearize()
    assert found.rest
    same_values(found.eigenvalues, [1j * golden, -1j * golden, 1j * (golden + 1), -1j * (golden + 1)])
    system = mechsim.lagrangian_system(
        lambda q, v, t: 0.5 * (v @ v) - 0.5 * (q[0] ** 2 + (q[1] - q[0]) ** 2), ["x", "y"]
    )
    same_values(system.linearize({"x": 0, "y": 0}).eigenvalues, found.eigenvalues)
    assert [round(mode.frequency * 2 * math.pi, 3) for mode in found.modes] == [0.618, 1.618]
    shapes = [mode.shape[[found.coordinates.index(name) for name in ("A_x", "B_x")]] for mode in found.modes]
    np.testing.assert_allclose(shapes, [[golden, 1], [1, -golden]], rtol=0, atol=ROUNDINGS)


number = st.floats(0.2, 5).map(lambda x: round(x, 4))


@some_of(25)
@given(m=number, M=number, l=number, L=number, g=number)
def test_double_pendulum_as_in_angles(m, M, l, L, g):
    """M x'' + K x = 0 in two angles. Eigenvalues are up to ten, and close ones are as well conditioned: symmetric."""
    found = mechsim.mechanism(DOUBLE.format(m=m, M=M, l=l, L=L, g=g)).linearize()
    mass = np.array([[(m + M) * l * l, M * l * L], [M * l * L, M * L * L]])
    stiffness = np.diag([(m + M) * g * l, M * g * L])
    squares = np.linalg.eigvals(np.linalg.solve(mass, stiffness))
    expected = [sign * 1j * np.sqrt(w) for w in squares for sign in (1, -1)]
    largest = max(map(abs, expected))
    same_values(found.eigenvalues, expected, atol=1e-10 * largest)


def test_pendulum_upside_down_falls():
    text = DOUBLE.format(m=1, M=1, l=1, L=1, g=G).replace("Rods: {OA: l, AB: L}", "Rods: {OA: l}")
    text = text.replace("A: m, B: M", "A: m").replace("A: [0, -l], B: [0, -l - L]", "A: [0, l]")
    found = mechsim.mechanism(text).linearize()
    same_values(found.eigenvalues, [math.sqrt(G), -math.sqrt(G)])
    assert found.stability == "unstable"


def test_damped_oscillators_by_their_roots():
    """Below, at and above critical damping; at the double root eigenvalues are known to the root of roundings."""
    for c, tolerance in ((0.3, ROUNDINGS), (2.0, 1e-7), (5.0, ROUNDINGS)):
        text = MASSES.replace("AB: [1, 1]", "").replace("OA: [1, 1], ", f"OA: [1, 1, 0, {c}]")
        text = text.replace(", B-OX: []", "").replace("A: 1, B: 1", "A: 1").replace(", B: [2, 0]", "")
        found = mechsim.mechanism(text).linearize()
        same_values(found.eigenvalues, np.roots([1, c, 1]), tolerance)
        assert found.stability == "stable"
        if c < 2:
            assert abs(found.modes[0].damping - c / 2) < ROUNDINGS


@pytest.mark.parametrize("up", [True, False])
def test_a_pendulum_on_a_cart_with_its_input_and_output(up):
    """Poles, and the transfer functions from the push to the cart and to a signal, by the textbook's matrices."""
    found = mechsim.mechanism(cart(up)).linearize(outputs=["A_x", "lean"])
    a, b = closed_cart(up)
    same_values(found.eigenvalues, np.linalg.eigvals(a), 1e-11)
    assert found.inputs == ("push",) and found.outputs == ("A_x", "lean")
    w = np.array([0.1, 1.0, 7.0])
    c = np.array([[1, 0, 0, 0], [0, 1, 0, 0]])  # the sense in which the lean is counted does not matter for its size
    expected = np.stack([c @ np.linalg.solve(1j * each * np.eye(4) - a, b) for each in w])
    answer = found.response(w)
    np.testing.assert_allclose(np.abs(answer), np.abs(expected), rtol=1e-10)
    np.testing.assert_allclose(answer[:, 0], expected[:, 0], rtol=1e-10)


def test_a_controller_with_an_integral_has_a_state_of_its_own():
    """m l^2 theta'' = -m g l theta - kp theta - kd theta' - ki times the integral: three roots. Work adds none."""
    found = mechsim.mechanism("""
PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: 1}}
AppliedForces: {Gravity: [0, -9.81]}
Controllers: {theta_OA: {target: -pi/2, kp: 20, kd: 3, ki: 7}}
ProblemData: {tend: 1, positions: {A: [0, -1]}}
""").linearize()
    same_values(found.eigenvalues, np.roots([1, 3, 20 + G, 7]), 1e-11)
    assert "theta_OA" in found.states


def test_redundant_constraints_change_nothing():
    """A platform on three parallel cranks swings as on two."""
    text = """
PartData:
  Fixed: {O: [], P: [1], Q: [2]}
  Rods: {OA: 1, PB: 1, QC: 1}
  Rigids: {ABC: {Geom: [[1], [2]], Dyna: [[1.1, 0.3], 2, 0.7]}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0.01, -1], B: [1.01, -1], C: [2, -1]}}
"""
    found = mechsim.mechanism(text).linearize(rest=True)
    same_values(found.eigenvalues, [1j * math.sqrt(G), -1j * math.sqrt(G)], 1e-9)  # the rest is found to 1e-11


def test_rolling_and_skates_have_more_positions_than_velocities():
    """A sleigh on a plane, at rest: three positions, two velocities, nothing pulls it: five zeros, and it may be put
    anywhere."""
    found = mechsim.mechanism("""
PartData: {Rigids: {AB: {Geom: [[1]], Dyna: [[0.3], 2, 0.5]}}}
Joints: {Skates: {AB.A: 0}}
ProblemData: {tend: 1, positions: {A: [0, 0], B: [1, 0]}}
""").linearize()
    assert len(found.states) == 5
    np.testing.assert_allclose(found.A[3:], 0, atol=ROUNDINGS)
    assert found.stability == "neutral" and found.stability_by_modes == "undecided"


def test_a_spherical_pendulum_has_its_frequency_twice():
    found = mechsim.mechanism("""
Dimension: 3
PartData: {Fixed: {O: []}, Rods: {OA: 2}, Particles: {A: 1}}
AppliedForces: {Gravity: [0, 0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0, 0, -2]}}
""").linearize()
    w = 1j * math.sqrt(G / 2)
    same_values(found.eigenvalues, [w, w, -w, -w])


def test_at_a_moment_of_a_motion_by_the_angle():
    """theta'' = -g/l cos(theta) with theta from the x axis: A is its derivative at where the motion is then."""
    handle = mechsim.mechanism("""
PartData: {Fixed: {O: []}, Rods: {OA: 1.5}, Particles: {A: 1}}
AppliedForces: {Gravity: [0, -9.81]}
Signals: {turn: theta_OA}
Output: {signals: [turn]}
ProblemData: {tend: 3, angles: {OA: [0.3, fixed]}, rates: {OA: [1, fixed]}}
""")
    found = handle.linearize(at=0.7, coordinates=["theta_OA"])
    theta = float(handle.simulate()(0.7)["theta_OA"])
    np.testing.assert_allclose(found.A, [[0, 1], [G / 1.5 * math.sin(theta), 0]], rtol=0, atol=1e-10)
    assert not found.rest and found.stability == "not told"


def test_the_flow_near_a_rest_is_the_exponential():
    """The motion's own tangents over a second are exp(A t), for a mechanism of two freedoms with a loop."""
    handle = mechsim.mechanism(SPECS / "mechanism1a.yaml")
    rest = handle.linearize(rest=True)
    still = np.zeros_like(rest.positions)
    names = [name for name in rest.states if not name.endswith("_dot")]
    rest = handle.linearize(start=(rest.positions, still), coordinates=names)
    motion = handle.simulate(start=(rest.positions, still), tend=1.0, tangents="start", tol=1e-13)
    basis = [f"position {k + 1}" for k in range(2)] + [f"velocity {k + 1}" for k in range(2)]
    before, after = (np.array([_derivatives(motion, each, t, names) for each in basis]).T for t in (0.0, 1.0))
    np.testing.assert_allclose(after, expm(rest.A) @ before, rtol=0, atol=1e-9)  # the rest itself is known to 1e-11


def _derivatives(motion, by, t, names):
    return [motion.derivative(by, t, of)[name] for of in ("positions", "velocities") for name in names]


def test_some_coordinates_that_move_by_themselves():
    """Of two pendulums beside each other one can be left out; of a double pendulum none."""
    two = DOUBLE.format(m=1, M=1, l=1, L=2, g=G).replace("Fixed: {O: []}", "Fixed: {O: [], P: [3]}")
    two = two.replace("AB: L", "PB: L").replace("B: [0, -l - L]", "B: [3, -L]")
    found = mechsim.mechanism(two).linearize(coordinates=["B_x"], outputs=["B_x"])
    same_values(found.eigenvalues, [1j * math.sqrt(G / 2), -1j * math.sqrt(G / 2)])
    with pytest.raises(SpecError, match="depends on coordinates that are left out"):
        mechsim.mechanism(DOUBLE.format(m=1, M=1, l=1, L=1, g=G)).linearize(coordinates=["A_x"])


@pytest.mark.parametrize("length, time", [(1e-3, 1.0), (1e3, 1.0), (1.0, 1e-3)])
def test_units_do_not_matter(length, time):
    """The same pendulum in millimetres, or in milliseconds."""
    own = mechsim.mechanism(DOUBLE.format(m=1, M=2, l=1, L=1.5, g=G)).linearize().eigenvalues
    g = G * length / time**2
    found = mechsim.mechanism(DOUBLE.format(m=1, M=2, l=length, L=1.5 * length, g=g)).linearize().eigenvalues
    same_values(found * time, own, 1e-11)


# --- what is wrong is told


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"coordinates": ["A_z"]}, "there is no coordinate A_z"),
        ({"coordinates": ["A_y"]}, "A_y cannot move here"),
        ({"inputs": ["pusch"]}, "there is no input pusch"),
        ({"outputs": ["leen"]}, "there is no output leen"),
        ({"at": -1}, "before the motion begins"),
    ],
)
def test_bad_wishes(asked, words):
    with pytest.raises(SpecError, match=words):
        mechsim.mechanism(cart(up=True)).linearize(**asked)


def test_contacts_that_touch_and_friction_have_no_linear_motion():
    ball = "PartData: {Particles: {P: 1}}\nAppliedForces: {Gravity: [0, -1]}\nContacts: {floor: {gap: P.y, e: 0}}\n"
    with pytest.raises(SpecError, match="contact floor touches here"):
        mechsim.mechanism(ball + "ProblemData: {tend: 1, positions: {P: [0, [0, fixed]]}}").linearize()
    text = cart(up=False).replace("Forces: {A:", "Friction: {A-OX: {mu: 0.1}}, Forces: {A:")
    with pytest.raises(SpecError, match="friction that sticks"):
        mechsim.mechanism(text).linearize()


def test_what_is_watched_does_not_disturb():
    """The trebuchet has events, whose rows stand behind all others, and a bond that holds: three freedoms."""
    handle = mechsim.mechanism(SPECS / "contacts" / "trebuchet.yaml")
    found = handle.linearize()
    assert len(found.states) == 6
    assert np.isfinite(found.A).all()
    # The stone leaves at 0.852 s: it has two freedoms of its own from there on, and the machine two.
    assert [len(handle.linearize(at=t).states) for t in (0.8, 0.9)] == [6, 8]


def test_what_events_have_set_counts():
    """A spring whose stiffness an event changes, beside a contact that is never reached."""
    text = """
Inputs: {k: 4}
PartData: {Particles: {P: 1}}
AppliedForces: {Forces: {P: [-k*P.x, -P.y]}}
Contacts: {far: {gap: P.x + 9, e: 1}}
Events: {later: {when: t - 1, do: {set: {k: 9}}}}
ProblemData: {tend: 2, positions: {P: [1, 0]}}
"""
    handle = mechsim.mechanism(text)
    for at, stiffness in ((0.5, 4), (1.5, 9)):
        same_values(handle.linearize(at=at).eigenvalues ** 2, [-stiffness, -stiffness, -1, -1])


def test_a_sampled_controller_has_no_linear_motion():
    with pytest.raises(SpecError, match="sampled"):
        mechsim.mechanism("""
PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: 1}}
Controllers: {theta_OA: {target: 0, kp: 20, period: 0.01}}
ProblemData: {tend: 1, positions: {A: [1, 0]}}
""").linearize()


def test_a_rest_of_what_is_fast_is_one():
    """Andrews' squeezing mechanism swings 70 times in a second about its rest."""
    found = mechsim.mechanism(SPECS / "andrews.yaml").linearize(rest=True)
    assert found.rest


def test_what_is_driven_whole_has_no_motion_of_its_own():
    with pytest.raises(SpecError, match="nothing can move by itself"):
        mechsim.mechanism(SPECS / "forces" / "four_bar_driven.yaml").linearize()


def test_a_singular_pose_is_told():
    text = """
PartData:
  Fixed: {O: [], P: [2]}
  Rods: {OA: 1, AB: 2, PB: 1}
  Particles: {A: 1, B: 1}
ProblemData: {tend: 1, positions: {A: [1, 0], B: [3, 0]}}
"""
    with pytest.raises(MechsimError, match="singular"):
        mechsim.mechanism(text).linearize()


# --- the command


def run(*words: str):
    return CliRunner().invoke(cli, list(words))


def test_the_command_writes_matrices_modes_and_pictures(tmp_path: Path):
    file = tmp_path / "cart.yaml"
    file.write_text(cart(up=False))
    outputs = [
        "-o",
        str(tmp_path / "m.npz"),
        "--plot",
        str(tmp_path / "m.png"),
        "--motion",
        "3",
        str(tmp_path / "3.csv"),
    ]
    told = run("linearize", str(file), *outputs)
    assert told.exit_code == 0, told.output
    assert "eigenvalue" in told.output and "damping ratio" in told.output
    with np.load(tmp_path / "m.npz") as arrays:
        same_values(np.linalg.eigvals(arrays["A"]), np.linalg.eigvals(closed_cart(False)[0]), 1e-11)
        assert arrays["inputs"].tolist() == ["push"] and arrays["B"].shape == (4, 1)
    assert (tmp_path / "m.png").stat().st_size > 10_000
    motion = mechsim.load(tmp_path / "3.csv")
    assert motion.status == "mode" and motion.notes == ()
    length = np.hypot(*(motion["B"] - motion["A"]).T)
    np.testing.assert_allclose(length, 0.8, rtol=1e-12)  # each pose is put back on the constraints
    found = json.loads(run("linearize", str(file), "--json").output)
    assert found["rest"] and len(found["modes"]) == 3
    assert run("linearize", str(file), "--motion", "9", str(tmp_path / "9.csv")).exit_code == 2
    assert run("linearize", str(file), "--at", "1", "--equilibrium").exit_code == 2
    moving = run("linearize", str(file), "--at", "1", "--set", "c=0")
    assert moving.exit_code == 0


def test_no_rest_is_told():
    with pytest.raises(AssemblyError, match="no rest was found"):
        mechsim.mechanism("""
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -1]}
ProblemData: {tend: 1, positions: {P: [0, 0]}}
""").linearize(rest=True)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_units_of_lengths_make_no_difference(size):
    """A four-bar with a spring and dampers, in micrometres or megametres: gradients of constraints go by squares of
    lengths, and those of angles do not. Eigenvalues are those in metres; 1e-8 for roundings of a rest."""
    text = """
PhysicalParams: {s: 1}
PartData:
  Fixed: {O: [], C: [3*s]}
  Rigids:
    OA: {Geom: [[s]], Dyna: [[s/2], 1, s**2/12]}
    ABP: {Geom: [[3.5*s], [1.5*s, 0.7*s]], Dyna: [[1.6*s, 0.2*s], 3.5, 3.57*s**2]}
    CB: {Geom: [[2*s]], Dyna: [[s], 2, 2/3*s**2]}
  Springs: {OP: {k: 40, l: 1.5*s, c: 0.3}}
AppliedForces: {Gravity: [0, -9.81*s], JointDampers: {OA: 0.4*s**2}}
ProblemData: {tend: 2, positions: {A: [0, s], B: [3*s, 2*s]}}
"""
    found = [
        mechsim.mechanism(text.replace("s: 1}", f"s: {each}}}")).linearize(rest=True).eigenvalues for each in (1, size)
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8)


def test_an_input_that_moves_a_drive_is_refused():
    """What a base moves feels its speed too: x' = A x + B u has no place for u'."""
    text = """
Inputs: {u: 0, f: 0}
PartData: {Fixed: {O: [-9], R: [9]}, Springs: {AB: {k: 50, l: 1, c: 1.2}}}
Joints: {Pistons: {A-OR: [1], B-OR: [2]}}
Drives: {A.x: u}
AppliedForces: {Forces: {B: [f, 0]}}
ProblemData: {tend: 2, positions: {A: [0], B: [1]}}
"""
    handle = mechsim.mechanism(text)
    with pytest.raises(SpecError, match="moves a drive"):
        handle.linearize()
    assert handle.linearize(inputs=["f"]).inputs == ("f",)
    rest = handle.equilibria()[0]
    assert rest.stability == rest.linear.stability == "stable" and rest.linear.inputs == ("f",)


def test_the_rest_that_is_linearised_is_the_first():
    handle = mechsim.mechanism("specs/pendulum.yaml")
    first = handle.equilibria()[0].positions
    np.testing.assert_allclose(handle.linearize(rest=True).positions, first, atol=1e-9)
