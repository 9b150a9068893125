"""What is conserved: claims by Noether's theorem against what books say, rates against closed forms and the motion."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from jax import numpy as jnp
from reference import SPECS

import mechsim
from mechsim.analysis.symmetry import reduced
from mechsim.cli.main import cli
from mechsim.errors import MechsimError, SpecError

# Conserved quantities drift by roundings of some hundred steps, and so do integrals of rates.
ROUNDINGS = 1e-12

FREE = """
Dimension: 3
PartData:
  Rigids: {ABC: {Geom: [[1], [0, 1]], Dyna: [[0.2, 0.3, 0.1], 2, [0.3, 0.5, 0.6, 0.05, -0.02, 0.01]]}}
ProblemData:
  tend: 3
  positions: {A: [1, 2, 3]}
  velocities: {A: [0.3, -0.4, 0.5]}
  orientations: {ABC: {quaternion: [1, 0, 0, 0]}}
  spins: {ABC: [1, 2, -1]}
"""
DOUBLE = """
PhysicalParams: {{x: {x!r}, y: {y!r}}}
PartData:
  Fixed: {{O: [x, y]}}
  Rigids:
    OA: {{Geom: [[1]], Dyna: [[0.4], 1, 0.1]}}
    ABC: {{Geom: [[0.8], [0.3, 0.5]], Dyna: [[0.3, 0.1], 2, 0.2]}}
ProblemData:
  tend: 2
  positions: {{A: [x + 0.6, y - 0.8], B: [x + 1.4, y - 0.8]}}
  rates: {{OA: 1, ABC: -2}}
"""
KEPLER = """
PhysicalParams: {m: 2, mu: 1}
PartData: {Fixed: {O: []}, Particles: {A: m}}
AppliedForces: {Gravity: {mu: mu, centre: O}}
ProblemData:
  tend: 10
  positions: {A: [[1, fixed], [0.2, fixed]]}
  velocities: {A: [[0.1, fixed], [1.1, fixed]]}
"""
# A bead on a hoop that a drive turns about its vertical diameter, which is at x = 2.
HOOP = """
Dimension: 3
PhysicalParams: {R: 1, m: 0.5, w: 3, g: 9.81}
PartData:
  Fixed: {O: [2], Z: [2, 0, 1], E: [3]}
  Rigids: {OZB: {Geom: [[1], [0, R]], Dyna: [[], 0.2, [0.02, 0.02, 0.03]]}}
  Particles: {P: m}
Drives: {theta_OZB_OZE: w*t}
Joints:
  Holonomic: {plane: "(P.x - O.x)*(B.y - O.y) - (P.y - O.y)*(B.x - O.x)", ring: "dist(O,P) - R"}
AppliedForces: {Gravity: [0, 0, -g]}
ProblemData: {tend: 3, positions: {P: [2.6, 0, [-0.8, fixed]], B: [3]}, velocities: {P: [0, 1.8, [0.5, fixed]]}}
"""
SCREW = """
Dimension: 3
PhysicalParams: {pitch: 0.2}
PartData:
  Fixed: {A: [1, 2], B: [1, 2, 1], F: [2, 2]}
  Rigids: {CDE: {Geom: [[0.1], [0, 0.3]], Dyna: [[0.05, 0.1, 0], 2, [0.05, 0.04, 0.05]]}}
  Particles: {P: 0.5}
  Springs: {EP: [20, 0.3]}
Joints: {Screws: {CDE-ABF: pitch}}
ProblemData:
  tend: 2
  positions: {C: [1, 2, 0], D: [1, 2, 0.1], E: [1.3, 2, 0], P: [1.5, 2.3, 0.4]}
  velocities: {E: [0, 1, 0], P: [0.2, -0.4, 0.3]}
"""


def names(found, conserved=True) -> set[str]:
    return {each.name for each in found.quantities if each.conserved == conserved and not each.always_zero}


def check_motion(found) -> None:
    """The run bears out the claims and the rates."""
    assert found.notes == ()
    for each in found.quantities:
        assert each.missed < ROUNDINGS, (each.name, each.missed)
        if each.conserved:
            assert each.kept < ROUNDINGS, (each.name, each.kept)


def test_free_body_in_space():
    found = mechsim.mechanism(FREE).conserved()
    assert names(found) >= {"E", "p_x", "p_y", "p_z", "L_x", "L_y", "L_z"}
    assert names(found, False) == set()
    check_motion(found)
    # p = m (v_A + w x c), L = c x p + I w, by hand at the start.
    inertia = np.array([[0.3, 0.05, -0.02], [0.05, 0.5, 0.01], [-0.02, 0.01, 0.6]])
    w, c, v = np.array([1.0, 2, -1]), np.array([0.2, 0.3, 0.1]), np.array([0.3, -0.4, 0.5])
    p = 2 * (v + np.cross(w, c))
    turning = np.cross(np.array([1, 2, 3]) + c, p) + inertia @ w
    told = [found[name].values[0] for name in ("p_x", "p_y", "p_z", "L_x", "L_y", "L_z")]
    np.testing.assert_allclose(told, [*p, *turning], rtol=0, atol=1e-13)


def test_kepler():
    found = mechsim.mechanism(KEPLER).conserved(
        generators={"turn": ["-y", "x"], "orbit": {"A.x": "-A.y", "A.y": "A.x"}, "grow": ["x", "y"]},
        quantities={"laplace": "A.vy*(A.x*A.vy - A.y*A.vx) - mu*A.x/dist(O,A)", "speed": "A.vx**2 + A.vy**2"},
    )
    assert names(found) == {"E", "L", "turn", "orbit", "laplace"}
    check_motion(found)
    assert found["L"].values[0] == pytest.approx(2 * (1.1 - 0.2 * 0.1), abs=1e-14)
    np.testing.assert_allclose(found["orbit"].values, found["L"].values, rtol=0, atol=1e-14)
    assert set(found["p_x"].broken_by) == {"gravity A"}
    # p . x grows by 2 T - mu m / r.
    x, y, vx, vy = 1, 0.2, 0.1, 1.1
    rate = 2 * (vx**2 + vy**2) - 2 / math.hypot(x, y)
    grow = found["grow"]
    assert set(grow.broken_by) == {"inertia of A", "gravity A"}
    step = (grow.values[1] - grow.values[0]) / (found.t[1] - found.t[0])
    assert step == pytest.approx(rate, rel=0.2)  # which way, and about how fast: `missed` has the digits


@some_of(10)
@given(x=st.floats(-3, 3).map(lambda x: round(x, 3)), y=st.floats(-3, 3).map(lambda x: round(x, 3)))
def test_double_pendulum_turns_about_its_pivot_wherever_it_is(x, y):
    found = mechsim.mechanism(DOUBLE.format(x=x, y=y)).conserved()
    about = "L" if (x, y) == (0, 0) else "L about O"
    assert names(found) == {"E", about}
    check_motion(found)
    assert set(found["p_x"].broken_by) == {"fixed point O"}


def test_pendulum_changes_by_its_weight():
    """L' = -m g x of the centroid, by nothing but gravity."""
    text = DOUBLE.format(x=0, y=0).replace("ProblemData", "AppliedForces: {Gravity: [0, -9.81]}\nProblemData")
    text = text.replace("    ABC: {Geom: [[0.8], [0.3, 0.5]], Dyna: [[0.3, 0.1], 2, 0.2]}\n", "")
    text = text.replace(", B: [0 + 1.4, 0 - 0.8]", "").replace(", B: [x + 1.4, y - 0.8]", "").replace(", ABC: -2", "")
    found, motion = mechsim.mechanism(text).conserved(), mechsim.simulate(text)
    check_motion(found)
    assert set(found["L"].broken_by) == {"gravity"}
    moments = 9.81 * 0.4 * np.abs(motion(found.t)["A_x"])
    assert found["L"].rate == pytest.approx(moments.max(), rel=1e-12)


def test_spherical_pendulum_keeps_its_vertical_angular_momentum():
    found = mechsim.mechanism(SPECS / "space" / "spherical_pendulum.yaml").conserved(tend=5)
    assert names(found) == {"E", "L_z"}
    check_motion(found)
    assert set(found["L_x"].broken_by) == {"gravity"}
    assert set(found["p_z"].broken_by) == {"gravity", "fixed point O"}


def test_hoop_keeps_the_hamiltonian_and_not_the_energy():
    """As a file, where the frame that turns is found; and as the Lagrangian of seed 002, whose energy is told."""
    found = mechsim.mechanism(HOOP).conserved()
    jacobi = "E - 3*L_z + 6*p_y"  # E - w (L_z - x_O p_y): about the hoop's own axis
    assert names(found) >= {jacobi} and "E" in names(found, False)
    assert found[jacobi].words == "Hamiltonian in a frame that turns at 3 rad/s about O along z"
    check_motion(found)
    assert set(found["E"].broken_by) == {"drive of theta_OZB_OZE"}
    m, R, w, g = 0.5, 1, 3, 9.81
    hoop = mechsim.lagrangian_system(
        lambda q, v, t: m * R**2 * (v[0] ** 2 + w**2 * jnp.sin(q[0]) ** 2) / 2 + m * g * R * jnp.cos(q[0]), ["theta"]
    )

    def energy(q, v, t):
        return m * R**2 * (v[0] ** 2 + w**2 * jnp.sin(q[0]) ** 2) / 2 - m * g * R * jnp.cos(q[0])

    theta = math.acos(0.8)
    start = {"theta": theta}, {"theta": 0.5 / math.sin(theta)}
    own = hoop.conserved(*start, tend=3, quantities={"energy": energy})
    assert names(own) == {"H"}
    check_motion(own)
    # The file has the hoop too, whose share is I w^2/2 - w I w.
    assert found[jacobi].values[0] == pytest.approx(own["H"].values[0] - 0.02 * w**2 / 2, rel=1e-12)


def test_hamiltonian_beside_kinetic_and_potential_energy():
    """A particle in a frame that turns, with terms of first degree: H = T + V - w L in the frame."""
    w = 0.7
    system = mechsim.lagrangian_system(
        lambda q, v, t: ((v[0] - w * q[1]) ** 2 + (v[1] + w * q[0]) ** 2) / 2 - (q[0] ** 2 + q[1] ** 2), ["x", "y"]
    )
    found = system.conserved({"x": 1.0}, {"y": 0.3}, tend=4, generators={"turn": lambda q, t: [-q[1], q[0]]})
    assert names(found) == {"H", "x*p_y - y*p_x", "turn"}
    assert not found["T + V"].conserved and found["T + V"].missed < ROUNDINGS
    check_motion(found)


def test_sums_of_momenta_of_a_lagrangian():
    """Two rods without gravity, by their angles: neither momentum is kept, but their sum is."""
    system = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 + v[1] ** 2 / 2 + v[0] * v[1] * jnp.cos(q[0] - q[1]), ["a", "b"]
    )
    found = system.conserved({"a": 0.6, "b": -0.8}, {"a": 1}, tend=3)
    assert names(found) == {"H", "p_a + p_b"}
    check_motion(found)


def test_forces_and_rolling_of_a_lagrangian():
    """H' = Q . v - dL/dt; what a velocity constraint exerts does no work along what it allows, but along momenta."""
    system = mechsim.lagrangian_system(
        lambda q, v, t: (v @ v) / 2 - q[1] * jnp.cos(t),
        ["x", "y", "z"],
        forces=lambda q, v, t: [-0.1 * v[0], 0.0, 0.0],
        velocity_constraints=lambda q, v, t: [v[0] * q[1] - v[1]],
    )
    found = system.conserved({"x": 0.6, "y": -0.8}, {"x": 1, "z": 0.3}, tend=3)
    assert names(found) == {"p_z"}
    assert set(found["H"].broken_by) == {"forces", "time in the Lagrangian"}
    assert set(found["p_x"].broken_by) == {"forces", "psi_0"}
    check_motion(found)


@pytest.mark.parametrize("spec", ["forces/chaplygin_sleigh.yaml", "space/rolling_disc.yaml"])
def test_what_rolls_keeps_its_energy_alone(spec):
    """Translations and turns are symmetries of the Lagrangian, but constraints of velocities do work along them."""
    found = mechsim.mechanism(SPECS / spec).conserved(tend=1)
    assert names(found) == {"E"}
    check_motion(found)
    joint = {"skate A-AB"} if "sleigh" in spec else {"wheel ABD-KLM"}
    assert set(found["p_x"].broken_by) == joint


def test_skate_that_turns_about_its_blade():
    """With the centroid on the blade it spins on evenly, on any slope."""
    found = mechsim.mechanism(SPECS / "forces" / "skate_on_incline.yaml").conserved(tend=2)
    assert names(found) == {"E", "L of AB"}
    check_motion(found)


def test_momenta_of_a_part_have_their_units():
    """A skate whose centroid is on its blade keeps what it has along that, and its spin."""
    found = mechsim.mechanism("""
PartData: {Rigids: {AB: {Geom: [[1]], Dyna: [[0], 1, 0.1]}}}
Joints: {Skates: {AB.A: 0}}
ProblemData: {tend: 1, positions: {A: [0, 0], B: [1, 0]}, velocities: {A: [1, 0]}, rates: {AB: 0.5}}
""").conserved()
    assert (found["L of AB"].unit, found["p of AB"].unit) == ("kg m^2/s", "kg m/s")


def test_top_keeps_the_spin_about_its_own_axis():
    found = mechsim.mechanism(SPECS / "space" / "heavy_top.yaml").conserved(tend=0.5)
    assert names(found) == {"E", "L_z", "L of OAB about y"}
    assert found["L of OAB about y"].values[0] == pytest.approx(0.46875 * 150, rel=1e-12)
    check_motion(found)


@pytest.mark.slow
def test_screws():
    """A nut that a spring pulls: what its screw exerts does no work along it, by a generator or found by itself."""
    found = mechsim.mechanism(SCREW).conserved(generators={"thread": ["2 - y", "x - 1", "pitch/(2*pi)"]})
    screw = next(each for each in found.quantities if "screw" in each.words)
    assert screw.words == "momentum along a screw about z through A, 0.0318309886 m per radian"
    assert {"E", screw.name, "thread"} <= names(found)
    np.testing.assert_allclose(screw.values, found["thread"].values, rtol=1e-12)
    check_motion(found)


def test_contacts_break_what_they_push_along():
    """A ball on the ground keeps p_x; restitution and friction lose energy, and say so before they are struck."""
    ball = mechsim.mechanism(SPECS / "contacts" / "bouncing_particle.yaml").conserved()
    assert {"E", "p_x"} <= names(ball) and ball["p_y"].jumps > 1
    spheres = mechsim.mechanism(SPECS / "contacts" / "spheres.yaml").conserved()
    assert {"p_x", "p_y", "p_z", "L_x", "L_y", "L_z"} <= names(spheres)
    assert set(spheres["E"].broken_by) == {"contact ABC-DEF"} and spheres["E"].jumps > 1
    disc = mechsim.mechanism(SPECS / "contacts" / "bowling.yaml").conserved()
    assert names(disc) == set()
    assert set(disc["p_x"].broken_by) == {"contact PQ-BC", "friction PQ-AB"}
    for found in (ball, spheres, disc):
        check_motion(found)


def test_damping_and_torques_are_named():
    text = DOUBLE.format(x=0, y=0).replace("ProblemData", "AppliedForces: {JointDampers: {ABC-OA: 0.3}}\nProblemData")
    found = mechsim.mechanism(text).conserved()
    assert names(found) == {"L"}  # what acts between two parts changes no momentum of both
    assert all("damper" in name or "dissipation" in name or "ABC" in name for name in found["E"].broken_by)
    check_motion(found)


@pytest.mark.parametrize("drive", ["theta_OA: 0.3", "theta_AB - theta_OA: 0.3", '"dist(O,B)": 1.5'])
@pytest.mark.parametrize("load", ["", "Torques: {AB-OA: 0.3*omega_AB}", "Gravity: [0, -9.81]"])
def test_a_drive_that_stands_still_does_no_work(drive, load):
    """Nor does a torque across an angle that is locked, be it by a distance."""
    text = """
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}, AB: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}}
Drives: {{{drive}{rate}}}
AppliedForces: {{{load}}}
ProblemData: {{tend: 1, angles: {{OA: 0.3}}, rates: {{{turns}}}}}
"""
    turns = "AB: 1" if drive.startswith("theta_OA") else "OA: 1"
    torque = "Torques" in load and turns == "AB: 1"  # it turns one of the two alone
    found = mechsim.mechanism(text.format(drive=drive, rate="", load=load, turns=turns)).conserved()
    assert found["E"].conserved != torque
    check_motion(found)
    moved = mechsim.mechanism(text.format(drive=drive, rate=" + 0.1*t", load=load, turns=turns)).conserved()
    assert any(name.startswith("drive") for name in moved["E"].broken_by)


def test_what_never_moves_is_always_zero():
    found = mechsim.mechanism(
        """
PartData: {Fixed: {O: [], X: [9]}, Particles: {A: 1}}
Joints: {Slots: {A-OX: []}}
ProblemData: {tend: 1, positions: {A: [1]}, velocities: {A: [1]}}
"""
    ).conserved()
    assert found["p_y"].always_zero and found["p_x"].conserved and not found["p_x"].always_zero


def test_rows_are_reduced():
    rows = np.array([[1.0, 2, 0, 3], [2, 4, 1, 3]])
    np.testing.assert_allclose(reduced(rows), [[1, 2, 0, 3], [0, 0, 1, -3]], atol=1e-15)


# --- the command


def run(*words: str):
    return CliRunner().invoke(cli, ["conserved", *map(str, words)], catch_exceptions=False)


def test_command(tmp_path):
    spec = tmp_path / "kepler.yaml"
    spec.write_text(KEPLER, encoding="utf-8")
    table, picture = tmp_path / "kept.csv", tmp_path / "kept.png"
    words = ["--generator", "turn: [-y, x]", "--quantity", "h=A.x*A.vy - A.y*A.vx", "-o", table, "--plot", picture]
    said = run(spec, *words).stdout
    lines = {line.split()[0]: line for line in reversed(said.splitlines()) if line.strip()}
    assert "yes" in lines["E"] and "kept to" in lines["E"]
    assert "no" in lines["p_x"] and "gravity A" in lines["p_x"] and " N " in lines["p_x"]
    assert "yes" in lines["turn"] and "yes" in lines["h"]
    assert picture.stat().st_size > 10_000
    rows = list(csv.reader(line for line in table.read_text().splitlines() if not line.startswith("#")))
    assert rows[0] == ["t", "E", "p_x", "p_y", "L", "turn", "h"]
    assert float(rows[-1][4]) == pytest.approx(2.16, rel=1e-12)
    found = json.loads(run(spec, "--json", "--tend", "2").stdout)
    assert found["tend"] == 2 and {each["name"] for each in found["quantities"] if each["conserved"]} == {"E", "L"}
    run(spec, "-q", "-o", tmp_path / "kept.npz")
    with np.load(tmp_path / "kept.npz") as file:
        assert file["values"].shape == (len(file["t"]), len(file["names"]))


@pytest.mark.parametrize(
    ("generator", "said"),
    [
        ("turn: [-y]", "needs a list of 2 expressions"),
        ("A.q: 1", "cannot move A.q"),
        ("C.x: 1", "there is no point C"),
        ("f: [K*x, 0]", "K is not defined"),
        ("f: [1", "cannot be read"),
        ("f: [A.vx, 0]", ""),
    ],
)
def test_generators_that_make_no_sense(generator, said):
    from mechsim.spec.asked import read_generator

    if not said:  # a generator may use anything that has a rate
        mechsim.mechanism(KEPLER).conserved(generators=read_generator(generator), tend=1)
        return
    with pytest.raises(SpecError, match=said.replace("(", r"\(")):
        mechsim.mechanism(KEPLER).conserved(generators=read_generator(generator), tend=1)


def test_functions_that_make_no_sense():
    system = mechsim.lagrangian_system(lambda q, v, t: (v @ v) / 2, ["x", "y"])
    with pytest.raises(MechsimError, match="must return 2 numbers"):
        system.conserved({"x": 1.0}, tend=1, generators={"a": lambda q, t: [1.0]})
    with pytest.raises(MechsimError, match="cannot be called"):
        system.conserved({"x": 1.0}, tend=1, quantities={"a": lambda q: 1.0})


SWITCHED = """
Piecewise: {late: [[0, 0], [5, 1]], short: [[0, 0], [0.5, 1], [0.501, 0]]}
PartData: {Particles: {P: 1, Q: 1}, Springs: {PQ: [3, 1]}}
AppliedForces: {Forces: {FORCE}}
ProblemData: {tend: 1, positions: {P: [0, 0], Q: [1.2, 0.2]}, velocities: {P: [1, 0], Q: [1, 0.1]}}
"""


def test_what_the_motion_does_not_meet_belongs_to_the_model():
    """A force beyond x = 10, where nothing goes within a second; one of a millisecond; one that begins at t = 5."""

    def claims(force, **asked):
        found = mechsim.mechanism(SWITCHED.replace("FORCE", force)).conserved(**asked)
        return names(found) & {"E", "p_x", "p_y", "L"}, found.notes

    assert claims('Q: ["if(Q.x - 10, -1, 0)", 0]')[0] == {"p_y"}
    assert claims('P: [0, "short"]')[0] == {"p_x"}
    kept, notes = claims('P: [0, "late"]')
    assert kept == {"E", "p_x", "p_y", "L"} and any("late" in note for note in notes)
    kept, notes = claims('P: [0, "late"]', tend=6)
    assert kept == {"p_x"} and not notes


def test_a_generator_with_the_name_of_a_point_or_part_moves_that_alone():
    """Two wells, of which one is round."""
    handle = mechsim.mechanism("""
PartData: {Particles: {A: 1.5, B: 1, C: 1}, Rods: {BC: 1}}
AppliedForces: {Potentials: {a: "A.x**2 + A.y**2", b: "B.x**2 + 2*B.y**2"}}
ProblemData: {tend: 1, positions: {A: [1, 0], B: [1, 1], C: [2, 1]}, velocities: {A: [0, 1], B: [0, 1]}}
""")
    found = handle.conserved(generators={"A": ["-A.y", "A.x"], "all": ["-y", "x"], "BC": ["0", "1"]}, tend=1)
    assert found["A"].conserved and found["A"].values[0] == pytest.approx(1.5)
    assert not found["all"].conserved and found["all"].values[0] == pytest.approx(2.5)
    assert found["BC"].values[0] == pytest.approx(1)


def test_a_light_knee_under_a_load_keeps_nothing_of_its_own():
    """What turns it is 1e-10 of what the load could do, and no rounding."""
    handle = mechsim.mechanism("""
PartData: {Fixed: {O: []}, Rods: {OA: 1, AB: 1}, Particles: {A: 1e-5, B: 1e5}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 0.01, positions: {A: [0.1, -1], B: [0.2, -2]}}
""")
    names = [each.name for each in handle.conserved().conserved]
    assert "E" in names and "L of OA" not in names and not any(name.startswith("p of") for name in names)
