"""Forces in the joints against Newton and Euler by hand, in complex numbers and code of their own."""

from itertools import pairwise

import numpy as np
import pytest
from reference import SPECS, reference
from scipy.integrate import simpson

import mechsim
from mechsim.errors import SpecError
from mechsim.result import load

G = 9.81
CLOSE = 1e-10  # of forces of 1 to 100 N: some hundred roundings, through the factorization and the comparison's own


def as_complex(vector):
    return vector[..., 0] + 1j * vector[..., 1]


def cross(r, force):
    """The moment of a force about the origin of r, both complex."""
    return (np.conj(r) * force).imag


def on_both(motion, point, t):
    return {part: as_complex(force) for part, force in motion.reaction(point, t).items()}


# --- Newton and Euler for bars in a row


class Balance:
    """Linear equations in named unknowns, each a real number; complex ones are two of them."""

    def __init__(self, *names):
        self.names = [f"{name}.{part}" for name in names for part in ("re", "im")]
        self.rows, self.right = [], []

    def vector(self, *terms, equals):
        """sum of factor * unknown = equals, complex; a term is (factor, name)."""
        for pick in (np.real, np.imag):
            row = np.zeros(len(self.names))
            for factor, name in terms:
                row[self.names.index(f"{name}.re")] += pick(factor)
                row[self.names.index(f"{name}.im")] += pick(factor * 1j)
            self.scalar_row(row, pick(equals))

    def moment(self, *terms, equals, also=()):
        """sum of r x force, and factor * real unknown, = equals."""
        row = np.zeros(len(self.names))
        for r, name in terms:
            row[self.names.index(f"{name}.re")] += -r.imag
            row[self.names.index(f"{name}.im")] += r.real
        for factor, name in also:
            row[self.names.index(f"{name}.re")] += factor
        self.scalar_row(row, equals)

    def real(self, name):
        row = np.zeros(len(self.names))
        row[self.names.index(f"{name}.im")] = 1.0
        self.scalar_row(row, 0.0)

    def scalar_row(self, row, value):
        self.rows.append(row)
        self.right.append(value)

    def solve(self):
        found = np.linalg.solve(np.array(self.rows), np.array(self.right))
        return {name[:-3]: complex(*found[i : i + 2]) for i, name in enumerate(self.names) if name.endswith(".re")}


def four_bar_forces(bars, rates, masses, known_first=None):
    """Forces on crank at O and A, on rocker at B and C, and angular accelerations, of uniform bars a, b, c.

    Unknown too: the torque on the crank, when its angular acceleration `known_first` is given.
    """
    a, b, c = bars
    balance = Balance("O", "A", "B", "C", "w1", "w2", "w3", "torque")
    for name in ("w1", "w2", "w3", "torque"):
        balance.real(name)
    if known_first is None:
        balance.scalar_row(np.eye(len(balance.names))[balance.names.index("torque.re")], 0.0)
    else:
        balance.scalar_row(np.eye(len(balance.names))[balance.names.index("w1.re")], known_first)
    # The end of a bar z that turns: z'' = (i w' - w^2) z.
    turning = [-(w**2) * z for w, z in zip(rates, bars, strict=True)]
    balance.vector((1j * a, "w1"), (1j * b, "w2"), (-1j * c, "w3"), equals=turning[2] - turning[0] - turning[1])
    weight = -1j * G
    m1, m2, m3 = masses
    balance.vector((1, "O"), (1, "A"), (-m1 * 1j * a / 2, "w1"), equals=m1 * (turning[0] / 2 - weight))
    middle = turning[0] + turning[1] / 2
    balance.vector((-1, "A"), (-1, "B"), (-m2 * 1j * a, "w1"), (-m2 * 1j * b / 2, "w2"), equals=m2 * (middle - weight))
    balance.vector((1, "B"), (1, "C"), (-m3 * 1j * c / 2, "w3"), equals=m3 * (turning[2] / 2 - weight))
    inertia = [m * abs(z) ** 2 / 12 for m, z in zip(masses, bars, strict=True)]
    balance.moment((-a / 2, "O"), (a / 2, "A"), equals=0.0, also=[(-inertia[0], "w1"), (1.0, "torque")])
    balance.moment((b / 2, "A"), (-b / 2, "B"), equals=0.0, also=[(-inertia[1], "w2")])
    balance.moment((c / 2, "B"), (-c / 2, "C"), equals=0.0, also=[(-inertia[2], "w3")])
    return balance.solve()


def bars_of(motion, t):
    o, a, b, c = (as_complex(motion(t)[name]) for name in "OABC")
    moved = [as_complex(motion.velocity(t)[name]) for name in "OABC"]
    bars = (a - o, b - a, b - c)
    speeds = (moved[1] - moved[0], moved[2] - moved[1], moved[2] - moved[3])
    return bars, [(speed / bar).imag for speed, bar in zip(speeds, bars, strict=True)]


# --- tests


def test_pendulum_rod_carries_the_exact_tension():
    """Exact values of the benchmark. The angle is known to 1e-13 and more, and the tension turns by 30 N per rad."""
    motion = mechsim.simulate(SPECS / "pendulum.yaml", tend=100.0)
    for t, (*_, tension) in reference("pendulum").items():
        if t <= 100:
            limit = 1e-11 + 1e-12 * t
            assert motion.reaction("A", t, frame="part")["OA"] == pytest.approx([tension, 0], abs=limit)
            assert motion.reaction("O", t, frame="part")["OA"] == pytest.approx([-tension, 0], abs=limit)
            bob, rod = motion.reaction("A", t)["A"], motion.reaction("A", t)["OA"]
            assert bob == pytest.approx(-rod, abs=CLOSE)


@pytest.fixture(scope="module")
def four_bar():
    return mechsim.simulate(SPECS / "four_bar.yaml")


@pytest.mark.parametrize("row", [pytest.param(row, id=f"t={row['t']}") for row in reference("four_bar")["rows"]])
def test_four_bar_in_motion(four_bar, row):
    """The loop's multipliers of the quad precision reference are the force on the rocker; the rest by hand.

    Forces change by 400 N per rad of the crank, whose angle is known to 1e-14 times the reference's growth.
    """
    t = row["t"]
    forces = {point: on_both(four_bar, point, t) for point in "OABC"}
    limit = 400 * 1e-14 * max(row["growth"], 1.0)
    assert forces["B"]["CB"] == pytest.approx(complex(*row["force"]), abs=limit)
    expected = four_bar_forces(*bars_of(four_bar, t), (1.0, 3.5, 2.0))
    assert forces["O"]["OA"] == pytest.approx(expected["O"], abs=CLOSE)
    assert forces["A"]["OA"] == pytest.approx(expected["A"], abs=CLOSE)
    assert forces["B"]["CB"] == pytest.approx(expected["B"], abs=CLOSE)
    assert forces["C"]["CB"] == pytest.approx(expected["C"], abs=CLOSE)
    assert forces["A"]["ABP"] == pytest.approx(-expected["A"], abs=CLOSE)
    assert four_bar.is_unique("A") == {"OA": True, "ABP": True}


DRIVEN = """
PartData:
  Fixed: {{O: [], C: [3]}}
  Rigids:
    OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
    AB: {{Geom: [[3.5]], Dyna: [[1.75], 3.5, 3.5**3/12]}}
    CB: {{Geom: [[2]], Dyna: [[1], 2, 8/12]}}
AppliedForces: {{Gravity: [0, -9.81]}}
Drives: {{theta_OA: {angle}}}
ProblemData: {{tend: 1, positions: {{A: [0, 1], B: [3, 2]}}}}
"""


@pytest.mark.parametrize(("angle", "rate", "second"), [("1.3", 0.0, 0.0), ("1.3 + 5*t", 5.0, 0.0), ("t**3", 3.0, 6.0)])
def test_four_bar_held_and_driven(angle, rate, second):
    """At rest, at constant speed, and accelerated: forces and the torque of the drive, at t = 1."""
    motion = mechsim.simulate(DRIVEN.format(angle=angle), tol=1e-14)
    bars, rates = bars_of(motion, 1.0)
    assert rates[0] == pytest.approx(rate, abs=1e-12)
    expected = four_bar_forces(bars, rates, (1.0, 3.5, 2.0), known_first=second)
    for point, part in (("O", "OA"), ("A", "OA"), ("B", "CB"), ("C", "CB")):
        assert on_both(motion, point, 1.0)[part] == pytest.approx(expected[point], abs=CLOSE)
    assert motion.torque("OA", 1.0) == pytest.approx(expected["torque"].real, abs=CLOSE)
    assert motion.trajectory["drive_theta_OA"][-1] == pytest.approx(expected["torque"].real, abs=CLOSE)
    power = expected["torque"].real * rates[0]
    assert motion.trajectory["drive_theta_OA_power"][-1] == pytest.approx(power, abs=10 * CLOSE)


def chain(count, positions):
    names = [f"P{i}" for i in range(count + 1)]
    rods = ", ".join(f"{a}{b}" for a, b in pairwise(names))
    return f"""
PartData:
  Fixed: {{P0: []}}
  Rigids:
    {rods}: {{Geom: [[0.5]], Dyna: [[0.25], 2, 2*0.5**2/12]}}
AppliedForces: {{Gravity: [0, -9.81]}}
ProblemData: {{tend: 1, positions: {{{positions}}}}}
"""


def test_hanging_chain_at_rest_carries_what_hangs_below():
    count = 12
    placed = ", ".join(f"P{i}: [[0, fixed], {-0.5 * i}]" for i in range(1, count + 1))
    motion = mechsim.simulate(chain(count, placed), tend=0.5)
    for i in range(count):
        forces = motion.reaction(f"P{i}", 0.5)
        below = forces[f"P{i}P{i + 1}"]
        assert below == pytest.approx([0.0, 2 * G * (count - i)], abs=CLOSE)
        if i:
            assert forces[f"P{i - 1}P{i}"] == pytest.approx(-below, abs=CLOSE)
    assert motion.reaction(f"P{count}", 0.5)[f"P{count - 1}P{count}"] == pytest.approx([0, 0], abs=CLOSE)


def test_swinging_chain_obeys_the_law_of_momentum():
    """The force at a joint moves and carries all below it; second differences of the centroids tell the momentum."""
    motion = mechsim.simulate(chain(3, "P1: [0.5, 0], P2: [1, 0], P3: [1.5, 0]"), tend=1.0, tol=1e-14)
    t, h = 0.6, 1e-3
    # Velocities are exact to rounding: the eighth-order central difference errs by h^8, and by 1e-13 / h of rounding.
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    for i in range(3):
        change = 0.0
        for k, weight in weights.items():
            ahead, behind = (_momentum(motion, i, t + sign * k * h) for sign in (1, -1))
            change = change + weight * (ahead - behind) / h
        expected = change + 2 * (3 - i) * np.array([0.0, G])
        assert motion.reaction(f"P{i}", t)[f"P{i}P{i + 1}"] == pytest.approx(expected, abs=1e-8)


def _momentum(motion, first, t):
    velocity = motion.velocity(t)
    return sum(2.0 * (velocity[f"P{i}"] + velocity[f"P{i + 1}"]) / 2 for i in range(first, 3))


SLIDER_CRANK = """
PartData:
  Fixed: {O: [], R: [1]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[3]], Dyna: [[1.5], 3, 27/12]}
  Particles: {B: 2}
  Collinear: [ORB]
AppliedForces:
  Gravity: [0, -9.81]
  ConstTorques: {OA: 4}
  ConstForces: {B: [-7, 0]}
ProblemData:
  tend: 2
  positions: {A: [0, 1], B: [2.8]}
  angles: {OA: [pi/2, fixed]}
  rates: {OA: [2*pi, fixed]}
"""


def test_slider_crank_by_newton_and_euler():
    """Rods of 1 kg and 3 kg, a slider of 2 kg pushed by 7 N along its line, a torque of 4 N m on the crank."""
    motion = mechsim.simulate(SLIDER_CRANK, tol=1e-14)
    for t in (0.0, 0.7, 2.0):
        positions, velocities = motion(t), motion.velocity(t)
        a, b = (as_complex(positions[name]) for name in "AB")
        va, vb = (as_complex(velocities[name]) for name in "AB")
        z, y = a, b - a
        w1, w2 = (va / z).imag, ((vb - va) / y).imag
        balance = Balance("O", "A", "B", "w1", "w2", "slide", "normal")
        for name in ("w1", "w2", "slide", "normal"):
            balance.real(name)
        balance.vector((1j * z, "w1"), (1j * y, "w2"), (-1, "slide"), equals=w1**2 * z + w2**2 * y)
        weight = -1j * G
        balance.vector((1, "O"), (1, "A"), (-0.5j * z, "w1"), equals=-(w1**2) * z / 2 - weight)
        middle = -(w1**2) * z - w2**2 * y / 2
        balance.vector((-1, "A"), (1, "B"), (-3j * z, "w1"), (-1.5j * y, "w2"), equals=3 * (middle - weight))
        balance.vector((-1, "B"), (1j, "normal"), (-2, "slide"), equals=-2 * weight + 7)
        balance.moment((-z / 2, "O"), (z / 2, "A"), equals=-4.0, also=[(-1 / 12, "w1")])
        balance.moment((y / 2, "A"), (y / 2, "B"), equals=0.0, also=[(-27 / 12, "w2")])
        expected = balance.solve()
        assert on_both(motion, "O", t)["OA"] == pytest.approx(expected["O"], abs=CLOSE)
        assert on_both(motion, "A", t)["OA"] == pytest.approx(expected["A"], abs=CLOSE)
        assert on_both(motion, "A", t)["AB"] == pytest.approx(-expected["A"], abs=CLOSE)
        forces = on_both(motion, "B", t)
        assert forces["AB"] == pytest.approx(expected["B"], abs=CLOSE)
        # What the slider feels from all else: the rod, its guide, and the push.
        assert forces["B"] == pytest.approx(-expected["B"] + 1j * expected["normal"].real - 7, abs=CLOSE)
        assert motion.torque("OA", t) == pytest.approx(4.0, abs=CLOSE)


@pytest.mark.parametrize("section", ["ConstForces: {OA.A: [3, 5]}", "Forces: {OA.A: [3, 5]}"])
def test_a_force_on_a_part_is_not_the_joints(section):
    """The jet sits on OA: the pin at A then transmits only what moves AB."""
    text = f"""
PartData:
  Fixed: {{O: []}}
  Rigids: {{"OA, AB": {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}}
AppliedForces: {{Gravity: [0, -9.81], {section}}}
ProblemData: {{tend: 1, positions: {{A: [1, 0], B: [2, 0]}}}}
"""
    motion = mechsim.simulate(text)
    forces = motion.reaction("A", 1.0)
    assert forces["OA"] == pytest.approx(-forces["AB"], abs=CLOSE)


def test_a_force_at_a_shared_point_is_shared():
    text = """
PartData:
  Fixed: {O: []}
  Rigids: {"OA, AB": {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
AppliedForces: {Gravity: [0, -9.81], ConstForces: {A: [3, 5]}}
ProblemData: {tend: 1, positions: {A: [1, 0], B: [2, 0]}}
"""
    forces = mechsim.simulate(text).reaction("A", 1.0)
    assert forces["OA"] + forces["AB"] == pytest.approx([3, 5], abs=CLOSE)


# Three parallel cranks hold one coupler: one crank too many. D hangs from it.
PARALLEL = """
PartData:
  Fixed: {O: [], P: [1], Q: [3]}
  Rigids:
    OA, PB, QC: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    ABC: {Geom: [[1], [3]], Dyna: [[1], 4, 2]}
    CD: {Geom: [[0.5]], Dyna: [[0.25], 1, 0.02]}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData:
  tend: 1
  positions: {A: [0.6, -0.8], B: [1.6, -0.8], C: [3.6, -0.8], D: [3.6, -1.3]}
"""


def test_redundant_constraints_mark_forces_as_not_unique(tmp_path, capsys):
    motion = mechsim.simulate(PARALLEL, reactions=["all"])
    assert motion.is_unique("A") == {"OA": False, "ABC": False}
    assert motion.is_unique("C") == {"QC": False, "ABC": False, "CD": True}
    t = 0.7
    forces = [motion.reaction(point, t) for point in "ABC"]
    for force in forces:  # whatever the share, action is reaction
        assert sum(force.values()) == pytest.approx([0, 0], abs=CLOSE)
    # The coupler only translates, as A does: its sum of forces is determined, and so is the force on the pendulum.
    accelerations, _ = motion.system.accelerations(t, motion.solution.sample(t)[0][0], motion.solution.sample(t)[1][0])
    state = mechsim.result.motion.State(motion.mechanism, accelerations, constant=0.0)
    on_coupler = sum(force["ABC"] for force in forces)
    assert on_coupler == pytest.approx(4 * (state["A"] + [0, G]), abs=CLOSE)
    assert forces[2]["CD"] == pytest.approx(1 * ((state["C"] + state["D"]) / 2 + [0, G]), abs=CLOSE)
    # Its moment about A too, for it does not turn: the weight stands at B.
    moments = forces[1]["ABC"][1] * 1 + forces[2]["ABC"][1] * 3
    assert moments == pytest.approx(1 * on_coupler[1], abs=CLOSE)
    saved = load(motion.save(tmp_path / "parallel.csv"))
    assert "A_OA_Fx" in saved.not_unique
    assert "C_CD_Fx" not in saved.not_unique
    assert load(motion.save(tmp_path / "parallel.npz")).not_unique == saved.not_unique
    assert load(motion.save(tmp_path / "parallel.parquet")).not_unique == saved.not_unique


def test_the_smallest_forces_are_given():
    """Two equal rods hang side by side between the same points: each carries half."""
    text = """
PartData:
  Fixed: {O: []}
  Rigids: {"OA, AO": {Geom: [[1]]}}
  Particles: {A: 2}
AppliedForces: {Gravity: [0, -10]}
ProblemData: {tend: 1, positions: {A: [[0, fixed], -1]}}
"""
    motion = mechsim.simulate(text)
    forces = motion.reaction("A", 0.5)
    assert forces["OA"] == pytest.approx([0, -10], abs=CLOSE)
    assert forces["AO"] == pytest.approx([0, -10], abs=CLOSE)
    assert forces["A"] == pytest.approx([0, 20], abs=CLOSE)
    assert motion.is_unique("A") == {"OA": False, "AO": False, "A": True}


def test_run_writes_reactions(tmp_path, monkeypatch, capsys):
    from mechsim.cli.main import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(PARALLEL)
    with pytest.raises(SystemExit) as left:
        main(["run", "p.yaml", "--reactions", "A, D", "--samples", "11"])
    assert left.value.code in (0, None)
    assert "not unique" in capsys.readouterr().out
    table = load("p.csv")
    assert len(table) == 11
    motion = mechsim.simulate(PARALLEL)
    assert table["A_ABC_Fy"][-1] == pytest.approx(motion.reaction("A", 1.0)["ABC"][1], abs=CLOSE)
    assert table["D_CD_Fx"] == pytest.approx(0.0, abs=CLOSE)
    assert table.units[table.labels.index("D_CD_Fx")] == "N"


def test_the_file_may_ask_for_reactions():
    motion = mechsim.simulate(PARALLEL + "Output: {reactions: [D]}\n")
    assert "D_CD_Fv" in motion.trajectory.labels


def test_unknown_points_are_told():
    with pytest.raises(SpecError, match="no point Z"):
        mechsim.simulate(PARALLEL, reactions=["Z", "A"])


def test_a_mechanism_as_an_object_tells_its_reactions():
    """The same forces from a dense solve at one state, also where constraints are redundant."""
    motion = mechsim.simulate(PARALLEL)
    handle = mechsim.mechanism(PARALLEL)
    q, v, _ = (values[0] for values in motion.solution.sample(0.7))
    for point in "OACD":
        found = handle.reactions(point, q, v, t=0.7)
        for part, force in motion.reaction(point, 0.7).items():
            assert found[part] == pytest.approx(force, abs=CLOSE)


def test_reactions_of_a_long_chain_stay_cheap():
    """100 rods, 301 times, all joints. The impulse of the pivot and of the weight is the momentum gained.

    Simpson's rule with steps of 1/6000 s errs by less than the tolerance of 1e-8 allows the momentum to.
    """
    placed = ", ".join(f"P{i}: [{0.5 * i}, 0]" for i in range(1, 101))
    motion = mechsim.simulate(chain(100, placed), tend=0.05, tol=1e-8, reactions=["all"])
    table = motion.sampled(np.linspace(0, 0.05, 301))
    momentum = 2 * sum(table[f"P{i}_y_dot"] * (1.0 if i < 100 else 0.5) for i in range(1, 101))
    impulse = simpson(table["P0_P0P1_Fy"], x=table.t) - 200 * G * 0.05
    assert impulse == pytest.approx(momentum[-1] - momentum[0], abs=1e-8 * np.abs(momentum).max())


# --- joints that act on a part as a whole

LEVER = """
PartData:
  Fixed: {{O: [], P: [1, {height}]}}
  Rigids: {{OB: {{Geom: [[2]], Dyna: [[1], 1, 1/3]}}}}
Joints: {{Slots: {{P-OB: [{height}]}}}}
AppliedForces: {{Forces: {{B: [0, -100]}}}}
ProblemData: {{tend: 0.1, positions: {{B: [2, 0]}}}}
"""


@pytest.mark.parametrize("height", [0.0, 0.4])
def test_a_lever_held_by_a_pin_at_mid_slot(height):
    """Statics: the pin carries twice the load upward, the bearing as much as the load downward."""
    motion = mechsim.simulate(LEVER.format(height=height))
    assert motion.reaction("O", 0.05)["OB"] == pytest.approx([0, -100], abs=CLOSE)
    assert motion.reaction("P", 0.05)["OB"] == pytest.approx([0, 200], abs=CLOSE)
    assert motion.is_unique("P") == {"OB": True}


GEARS = """
PartData:
  Fixed: {O: [], C: [1.5]}
  Rigids:
    OA: {Geom: [[0.8]], Dyna: [[], 1, 0.5]}
    CB: {Geom: [[0.4]], Dyna: [[], 1, 0.1]}
Joints: {Gears: {OA-CB: [1, 0.5]}}
AppliedForces: {Torques: {OA: 100, CB: 50}}
ProblemData: {tend: 1, angles: {OA: 0.5, CB: 2}}
"""


def test_teeth_load_the_bearings_of_their_wheels():
    """Torques of 100 and 50 N m hold each other by 100 N at the teeth."""
    motion = mechsim.simulate(GEARS)
    on_first, on_second = motion.reaction("O", 0.5), motion.reaction("C", 0.5)
    assert on_first["OA"] == pytest.approx([0, 100], abs=CLOSE)
    assert on_first["gear_OA_CB_OA"] == pytest.approx([0, -100], abs=CLOSE)
    assert on_second["CB"] == pytest.approx([0, -100], abs=CLOSE)
    assert on_second["gear_OA_CB_CB"] == pytest.approx([0, 100], abs=CLOSE)
    assert motion.torque("OA", 0.5) == pytest.approx(100, abs=CLOSE)


BRAKED = """
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[2]], Dyna: [[], 1, 0.5]}}}}
  Particles: {{C: 1}}
Joints: {{Slots: {{C-OA: []}}}}
Drives: {{theta_OA: 2*t, "dist(O,C)": 1 + 0.5*t}}
AppliedForces: {{Friction: {{C-OA: {{mu: 0.3, v0: 1e-4}}{pivot}}}}}
ProblemData: {{tend: 1, positions: {{C: [1]}}}}
"""


def test_friction_takes_the_load_of_a_slot_that_turns():
    """The slot pushes the bead across with 2 m w r' = 2 N (Coriolis), so friction takes 0.3 * 2 N over 0.5 m; the
    bearing carries that push, the pull of the slot and the drive, and turns against its friction by 2 rad."""
    motion = mechsim.simulate(BRAKED.format(pivot=""))
    # The corner of |N| is rounded over 1e-6 of weights, the speed's over 1e-4/0.5: tanh is 1 to the last digit.
    assert motion(1.0)["work_friction_C_OA"] == pytest.approx(-0.3, rel=1e-9)
    motion = mechsim.simulate(BRAKED.format(pivot=", OA: {mu: 0.1, v0: 1e-4, r: 0.05}"))
    force = [np.linalg.norm(motion.reaction("O", t)["OA"]) for t in np.linspace(0, 1, 201)]
    # What the bead needs, m (-r w^2 along, 2 w r' across), comes through the part; the drive between O and C takes the
    # rest of the way along, at O.
    taken = simpson(0.1 * 0.05 * 2 * np.array(force), dx=1 / 200)
    assert motion(1.0)["work_friction_OA"] == pytest.approx(-taken, rel=1e-8)


@pytest.mark.parametrize("origin", [(0, 0), (5, 2)])
def test_a_ring_that_does_not_turn_loads_the_carrier_of_its_planet(origin):
    """By hand at the start, where all is at rest and the carrier lies along x. Its acceleration is a, the planet's -2a,
    the sun's 4a, and a (0.6 + 1*2**2 + 0.5*2**2 + 0.5*4**2) = 1. The sun is pushed by 2a at its rim; with the ring's
    -3a that turns the planet; the carrier lifts it by 2a + 2a + 3a = 7a, and the ground the carrier by 7a + 0.5a."""
    x, y = origin
    motion = mechsim.simulate(f"""
PartData:
  Fixed: {{O: [{x}, {y}], R: [{x + 4}, {y}]}}
  Rigids:
    OS: {{Geom: [[1]], Dyna: [[], 1, 0.5]}}
    OC: {{Geom: [[2]], Dyna: [[1], 0.5, 0.1]}}
    CP: {{Geom: [[1]], Dyna: [[], 1, 0.5]}}
    OR: {{Geom: [[4]]}}
Joints:
  Gears: {{OS-CP: [1, 1, OC], CP-OR: [1, -3, OC]}}
AppliedForces: {{Torques: {{OC: 1}}}}
Output: {{reactions: all}}
ProblemData: {{tend: 1, angles: {{OS: 0, OC: 0, CP: 0}}}}
""")
    a = 1 / 14.6
    # Forces of some tenths of a newton, computed from coordinates of the size 5.
    assert motion.reaction("O", 0.0)["OC"] == pytest.approx([0, 7.5 * a], rel=0, abs=1e-13)
    assert motion.reaction("C", 0.0)["CP"] == pytest.approx([0, 7 * a], rel=0, abs=1e-13)
    assert motion.certificate.reaction_balance < 1e-13


# --- what stands still


STILL = """
PartData:
  Fixed: {A: [], B: [2], U: [7, 1]}
  Rigids:
    ABC: {Geom: [[2], [1, 1]], Dyna: [[0.5, 0.3], 10, 1]}
    CD: {Geom: [[1]], Dyna: [[0.5], 2, 1/6]}
  Particles: {U: 3}
AppliedForces: {Gravity: [0, -10]}
Output: {reactions: all}
ProblemData: {tend: 1, positions: {D: [0.6, 0.2]}}
"""


def test_the_ground_bears_the_weight_of_a_part_that_stands_still_in_the_plane():
    """A bracket AB with a pendulum at its point C: moments tell what is across AB; along it each bears half."""
    motion = mechsim.simulate(STILL)
    weight, load = -100j, as_complex(motion.reaction("C", 0.7)["ABC"])
    at_a, at_b = (as_complex(motion.reaction(point, 0.7)["ABC"]) for point in "AB")
    assert abs(load) > 10
    assert at_a + at_b + weight + load == pytest.approx(0, abs=CLOSE)
    assert cross(2, at_b) + cross(0.5 + 0.3j, weight) + cross(1 + 1j, load) == pytest.approx(0, abs=CLOSE)
    assert at_a.real == pytest.approx(at_b.real, abs=CLOSE)
    assert as_complex(motion.reaction("U", 0.7)["U"]) == pytest.approx(30j)
    assert motion.certificate.reaction_balance < 1e-13


def test_what_stands_still_has_no_energy_of_its_own():
    assert mechsim.simulate(STILL).certificate.largest_energy == pytest.approx(
        mechsim.simulate(STILL.replace("10, 1]", "1000, 1]")).certificate.largest_energy
    )


def test_the_ground_bears_the_weight_and_the_torques_of_a_part_that_stands_still_in_space():
    motion = mechsim.simulate("""
Dimension: 3
PartData:
  Fixed: {A: [], B: [1], C: [0, 1], R: [5], S: [7]}
  Rigids:
    ABCP: {Geom: [[1], [0, 1], [0, 0, 2]], Dyna: [[0.3, 0.2, 1], 10, [1, 1, 1]]}
    PQ: {Geom: [[1]], Dyna: [[0.5], 2, [0, 0.1, 0.1]]}
    RS: {Geom: [[2]], Dyna: [[0.5], 4, [0, 1, 1]]}
AppliedForces: {Gravity: [0, 0, -10], Torques: {ABCP: [3*cos(t), 5, 7]}}
Output: {reactions: all}
ProblemData: {tend: 1, positions: {Q: [0, 0, 1]}}
""")
    last = dict(motion.to_pandas().iloc[-1])
    found = {name[7:]: value for name, value in last.items() if name.startswith("A_ABCP_")}
    wanted = {"Fx": 0, "Fy": 0, "Fz": 120, "Mx": 20 - 3 * np.cos(1), "My": -30 - 5, "Mz": -7}
    assert found == pytest.approx(wanted, abs=1e-12)
    rod = {name[5:]: value for name, value in last.items() if name.startswith("R_RS_")}
    assert rod == pytest.approx({"Fx": 0, "Fy": 0, "Fz": 40, "Mx": 0, "My": -20, "Mz": 0}, abs=1e-12)
    assert motion.certificate.reaction_balance < 1e-13


FLAT = """
Dimension: 3
PartData:
  Fixed: {O: [], P: [0, 1, 0], Q: [2, 0, 0], R: [2, 1, 0]}
  Rigids:
    OPAB, QRCD: {Geom: [[1], [0, 1], [1, 1, 0]], Dyna: [[0.5, 0.5, 0], 1, [0.1, 0.1, 0.1]]}
    ABCD: {Geom: [[1], [0, 2], [1, 2, 0]], Dyna: [[0.5, 1, 0.3], 2, [0.3, 0.3, 0.3]]}
AppliedForces: {Gravity: [0, 0, -9.81]}
DRIVE
Output: {reactions: all}
ProblemData: {tend: 1, positions: {A: [0.6, 0, -0.8], B: [0.6, 1, -0.8], C: [2.6, 0, -0.8], D: [2.6, 1, -0.8]}}
"""


@pytest.mark.parametrize("drive", ["", "Drives: {theta_OPA_OPQ: 0.927295218001612 + t}"])
def test_only_what_redundant_constraints_share_is_not_unique(drive):
    """Parallel hinges in space press along their axes and bend across them as they like; what a parallelogram of the
    plane has is determined, and the same. A drive that leaves it no freedom changes nothing in that."""
    flat = mechsim.simulate(FLAT.replace("DRIVE", drive))
    ends = {"A": ("OPAB", "ABCD"), "C": ("QRCD", "ABCD"), "O": ("OPAB",), "Q": ("QRCD",)}
    joints = [f"{point}_{part}" for point, parts in ends.items() for part in parts]
    expected = {f"{joint}_{column}" for joint in joints for column in ("Fy", "Mx", "Mz")}
    assert set(flat.trajectory.not_unique) == expected
    assert flat.is_unique("A") == {"OPAB": False, "ABCD": False}
    plane = mechsim.simulate(f"""
PartData:
  Fixed: {{O: [], Q: [2]}}
  Rigids:
    OA, QC: {{Geom: [[1]], Dyna: [[0.5], 1, 0.1]}}
    AC: {{Geom: [[2]], Dyna: [[1, -0.3], 2, 0.3]}}
AppliedForces: {{Gravity: [0, -9.81]}}
{drive.replace("theta_OPA_OPQ", "theta_OA").replace("0.9272", "-0.9272").replace("+ t", "- t")}
Output: {{reactions: all}}
ProblemData: {{tend: 1, positions: {{A: [0.6, -0.8], C: [2.6, -0.8]}}}}
""")
    for point, part, beside in (("A", "OPAB", "OA"), ("C", "ABCD", "AC"), ("O", "OPAB", "OA")):
        for t in (0.0, 0.4, 1.0):
            x, _, z = flat.reaction(point, t)[part]
            assert (x, z) == pytest.approx(plane.reaction(point, t)[beside], abs=1e-9)


def test_what_is_open_in_one_direction_first_is_open_wherever_parts_turn():
    """The rods hang straight down at the start, and what they share is upright there, but not later."""
    hanging = mechsim.simulate(
        PARALLEL.replace("[0.6, -0.8]", "[0, -1]").replace("[1.6, -0.8]", "[1, -1]").replace("[3.6, -0.8]", "[3, -1]"),
        reactions=["all"],
    )
    shared = hanging.trajectory.not_unique
    assert {"A_OA_Fx", "A_OA_Fy", "A_OA_Fu"} <= set(shared)
    assert {"A_OA_Fv", "C_CD_Fx", "C_CD_Fy"}.isdisjoint(shared)
