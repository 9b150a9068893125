"""Laws: what acts on a mechanism as formulas over local names, and that they say what is meant (closed forms)."""

import re
from math import atan, cos, cosh, exp, log, pi, sin, sinh, sqrt, tanh, ulp
from pathlib import Path
from textwrap import dedent

import pytest

import mechsim
from mechsim import spec
from mechsim.errors import SpecError
from mechsim.lagrangian.formula import coordinate, formula, number, parameter, velocity, write
from mechsim.model import build

PAGE = (Path(__file__).parent.parent / "docs" / "language.md").read_text()
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
ROD = "{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}"
TOLERANCE = 1e-13
# A run of a hundred steps at this tolerance, values of order one: some tens of units of the step's own error.
CLOSE = 2e-12


def mechanism(text):
    return build(spec.parse(dedent(text)))


def element(built, owner):
    return next(each for each in built.elements if each.owner == owner and each.kind in built.laws)


def texts(formulas):
    return {key: write(tree) for key, tree in formulas.items()}


def end(text):
    """The last row of a run."""
    return mechsim.simulate(dedent(text), tol=TOLERANCE).to_pandas().iloc[-1]


def balance(text):
    """The largest departure of T + V - work from its first value, relative to the largest of them."""
    table = mechsim.simulate(dedent(text), tol=TOLERANCE).to_pandas()
    works = table[[name for name in table if name.startswith("work_")]].sum(axis=1)
    energy = table["T"] + table["V"] - works
    return (energy - energy.iloc[0]).abs().max() / max(table["T"].max(), table["V"].abs().max(), works.abs().max())


# --- formulas


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (coordinate(0) - (coordinate(0) - velocity(0)), "x0-(x0-v0)"),
        (-(coordinate(0) ** 2), "-x0**2.0"),
        ((-coordinate(0)) ** 2, "(-x0)**2.0"),
        (coordinate(0) / (coordinate(0) * velocity(0)), "x0/(x0*v0)"),
        (coordinate(0) ** -1, "x0**(-1.0)"),
        (2 * coordinate(0) + -velocity(0), "2.0*x0-v0"),
        (coordinate(0) ** parameter("n", 3), "x0**3.0"),  # so that a negative base keeps its meaning
        (velocity(-1) * coordinate(0) + 1 * velocity(0) + 0, "v0"),  # what is fixed does not move
        (formula(2) ** 3 / 4, "2.0"),
    ],
)
def test_a_formula_is_written_with_the_parentheses_it_needs(tree, text):
    assert write(formula(tree)) == text


def test_numbers_are_folded():
    assert (number(2) * 3 + 1).value == 7


# --- laws


def test_equal_laws_share_one_program():
    built = mechanism(f"""
        PhysicalParams: {{c: 2, d: 3}}
        PartData: {{Fixed: {{O: [], P: [5]}}, Rigids: {{OA: {ROD}, PB: {ROD}}}}}
        AppliedForces: {{Forces: {{A: [-c*A.vx, -c*A.x], B: [-d*B.vx, -d*B.x]}}}}
        ProblemData: {{tend: 1}}
    """)
    (law,) = built.laws.values()
    assert texts(law.forces) == {0: "-p0*v0", 1: "-p0*x0"} and law.account and law.variables == 3
    assert [each.parameters for each in built.elements if each.kind == law.name] == [{"p0": 2}, {"p0": 3}]
    assert [variable.label for variable in built.variables if variable.kind == "state"] == ["work_A", "work_B"]


def test_a_fixed_point_is_a_constant():
    built = mechanism("""
        PartData: {Fixed: {O: [3, 4]}, Particles: {A: 1}}
        AppliedForces: {Dampers: {OA: 1}}
        ProblemData: {tend: 1, positions: {A: [1, 1]}}
    """)
    damper = element(built, "OA")
    assert sorted(damper.slots) == [-2, -1, 0, 1, 2]
    assert built.laws[damper.kind].dissipation.uses("v")


def test_a_torque_between_parts_acts_on_both_angles():
    built = mechanism(f"""
        PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {ROD}, AB: {ROD}}}}}
        AppliedForces: {{Torques: {{AB-OA: 3*sin(t)}}}}
        ProblemData: {{tend: 1}}
    """)
    law = built.laws[element(built, "AB").kind]
    assert texts(law.forces) == {0: "3.0*sin(t)", 1: "-(3.0*sin(t))"}
    assert [built.variables[slot].label for slot in element(built, "AB").slots] == [
        "theta_AB", "theta_OA", "work_AB_OA"
    ]  # fmt: skip


def test_a_force_that_moves_nothing_is_left_out():
    built = mechanism(f"""
        PartData: {{Fixed: {{O: [], P: [1]}}, Rigids: {{OP: {ROD}}}, Particles: {{A: 1}}}}
        AppliedForces: {{Torques: {{OP: 3}}, Dampers: {{OP: 1}}}}
        ProblemData: {{tend: 1}}
    """)
    assert not built.laws and len(built.variables) == 2


def test_a_table_becomes_constants_and_switches():
    built = mechanism(f"""
        Tables: {{f: {{points: [[1, 0], [2, 4], [4, 4]], kind: linear}}}}
        PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {ROD}}}}}
        AppliedForces: {{Torques: {{OA: f}}}}
        ProblemData: {{t0: 0, tend: 3}}
    """)
    value, slope, origin = range(2, 5)  # after the coordinates of O
    assert built.constants[2:] == (0, 0, 1)
    assert [(switch.time, dict(switch.values)) for switch in built.switches] == [
        (1, {slope: 4}), (2, {value: 4, slope: 0, origin: 2})
    ]  # fmt: skip


def test_a_run_that_starts_late_starts_with_its_piece():
    built = mechanism(f"""
        Piecewise: {{f: [[0, t], [1, 2], [3, sin(t)]]}}
        PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {ROD}}}}}
        AppliedForces: {{Torques: {{OA: f}}}}
        ProblemData: {{t0: 1, tend: 5}}
    """)
    # The weight of `t`; the number 2, which is a form of its own; the weight of `sin(t)`.
    assert built.constants[2:] == (0, 2, 0)
    assert [(switch.time, dict(switch.values)) for switch in built.switches] == [(3, {3: 0, 4: 1})]


def test_a_sampled_controller_holds_output_and_integral():
    built = mechanism(f"""
        PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {ROD}}}}}
        Controllers: {{theta_OA: {{target: 1, kp: 5, ki: 2, period: 0.01}}}}
        ProblemData: {{tend: 1}}
    """)
    (sampler,) = built.samplers
    law = built.laws[built.elements[sampler.element].kind]
    assert (sampler.start, sampler.period, sampler.constants) == (0, 0.01, (2, 3))
    assert len(law.signals) == 2 and not law.states and law.account


def test_phases_follow_from_the_guess():
    built = mechanism("""
        PartData:
          Fixed: {O: [], P: [3]}
          Rigids: {OA: {Geom: [[1]], Dyna: [[0], 1, 1]}, PB: {Geom: [[2]], Dyna: [[0], 1, 1]}}
        Joints: {Gears: {OA-PB: [1, 2]}}
        ProblemData: {tend: 1, angles: {OA: 0.3, PB: 1}}
    """)
    assert element(built, "OA,PB").parameters == {"p0": 1, "p1": 2, "p2": pytest.approx(2.3, abs=1e-15)}


def test_signals_asked_for_are_elements_that_only_tell_values():
    built = mechanism(f"""
        Signals: {{power: 3*omega_OA, clock: 2*t}}
        PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {ROD}}}}}
        Output: {{signals: [power, clock]}}
        ProblemData: {{tend: 1}}
    """)
    laws = {name: built.laws[built.elements[number].kind] for name, number in built.readouts.items()}
    assert {name: texts(dict(enumerate(law.signals))) for name, law in laws.items()} == {
        "power": {0: "3.0*v0"}, "clock": {0: "2.0*t"}
    }  # fmt: skip


# --- numbers

OSCILLATOR = """
    PhysicalParams: {{m: 2, k: 8, c: {c}}}
    PartData:
      Fixed: {{O: [], R: [1]}}
      Springs: {{OA: [k, 1, 0, c]}}
      Particles: {{A: m}}
    Joints: {{Slots: {{A-OR: []}}}}
    ProblemData: {{tend: 3, positions: {{A: [[1.5, fixed], 0]}}, velocities: {{A: [[0, fixed]]}}}}
"""


def decay(c, t):
    """x'' + c/2 x' + 4 x = 0 from x = 1/2 at rest."""
    half, root = c / 4, (c / 4) ** 2 - 4
    if root == 0:
        return exp(-half * t) * (1 + half * t) / 2
    w = sqrt(abs(root))
    swing, push = (cos(w * t), sin(w * t)) if root < 0 else (cosh(w * t), sinh(w * t))
    return exp(-half * t) * (swing + half / w * push) / 2


@pytest.mark.parametrize("c", [1, 8, 20], ids=["under", "critical", "over"])
def test_damped_oscillator(c):
    assert end(OSCILLATOR.format(c=c))["A_x"] - 1 == pytest.approx(decay(c, 3), abs=CLOSE)


def test_forced_oscillator_at_resonance():
    row = end("""
        PhysicalParams: {k: 4, F: 0.3}
        PartData: {Particles: {A: 1}}
        AppliedForces: {Forces: {A: [-k*A.x + F*cos(2*t), -A.vy]}}
        ProblemData: {tend: 5, positions: {A: [[0, fixed], [0, fixed]]}, velocities: {A: [[0, fixed], [1, fixed]]}}
    """)
    assert row["A_x"] == pytest.approx(0.3 * 5 / 4 * sin(10), abs=CLOSE)
    assert row["A_y"] == pytest.approx(1 - exp(-5), abs=CLOSE)


@pytest.mark.parametrize("load", ["N: 9.81*cos(0.5)*2, ", ""], ids=["given", "reaction"])
def test_sliding_with_friction(load):
    """v' = a - b tanh(v/v0) has the implicit solution t = int dv / (a - b tanh(v/v0))."""
    row = end(f"""
        PhysicalParams: {{al: 0.5, v0: 0.5}}
        PartData: {{Fixed: {{O: [], R: [-cos(al), -sin(al)]}}}}
        Joints: {{Pistons: {{B-OR: [2]}}}}
        AppliedForces: {{Gravity: [0, -9.81], Friction: {{B-OR: {{mu: 0.2, {load}v0: v0}}}}}}
        ProblemData: {{tend: 2, positions: {{B: [0, 0]}}}}
    """)
    a, b, v0 = 9.81 * sin(0.5), 0.2 * 9.81 * cos(0.5), 0.5
    v = -row["B_x_dot"] * cos(0.5) - row["B_y_dot"] * sin(0.5)
    time = v0 / (a * a - b * b) * (a * v / v0 + b * log(cosh(v / v0) - b / a * sinh(v / v0)))
    assert tanh(v / v0) < 1 and time == pytest.approx(2, abs=1e-10)


def test_a_driven_crank_moves_as_told_at_either_level():
    text = f"""
        PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {ROD}}}}}
        AppliedForces: {{Gravity: [0, -10]}}
        Drives: {{%s}}
        ProblemData: {{tend: 2, angles: {{OA: 0}}}}
    """
    position = end(text % "theta_OA: 2*t + 0.1*sin(3*t)")
    speed = end(text % "omega_OA: 2 + 0.3*cos(3*t)")
    theta = 4 + 0.1 * sin(6)
    energy = (2 + 0.3 * cos(6)) ** 2 / 6 - 2.3**2 / 6 + 5 * sin(theta)
    for row, work in ((position, "work_drive_theta_OA"), (speed, "work_drive_omega_OA")):
        assert row["theta_OA"] == pytest.approx(theta, abs=CLOSE)
        assert row[work] == pytest.approx(energy, abs=10 * CLOSE)  # energies of order ten


def test_pd_comes_to_rest_where_its_torque_balances_gravity_and_pid_on_target():
    """Seed 004, one link: m = 3, l = 2, Kp = 200, Kd = 50, damping 1, target 110 degrees."""
    text = """
        PhysicalParams: {m: 3, l: 2, g: 9.8, target: 110*pi/180}
        PartData: {Fixed: {O: []}, Rods: {OA: l}, Particles: {A: m}}
        AppliedForces: {Gravity: [0, -g], JointDampers: {OA: 1}}
        Controllers: {theta_OA: {target: target, kp: 200, kd: 50%s}}
        ProblemData: {tend: 50, angles: {OA: [0, fixed]}}
    """
    theta = end(text % "")["theta_OA"]
    assert 200 * (110 * pi / 180 - theta) == pytest.approx(3 * 9.8 * 2 * cos(theta), abs=1e-9)
    assert end(text % ", feedforward: m*g*l*cos(theta_OA)")["theta_OA"] == pytest.approx(110 * pi / 180, abs=1e-9)
    assert end(text % ", ki: 100")["theta_OA"] == pytest.approx(110 * pi / 180, abs=1e-9)


def test_a_wheel_rolls_down_a_line():
    row = end("""
        PhysicalParams: {r: 0.5, m: 2, al: 0.3}
        PartData:
          Fixed: {P: [], Q: [cos(al), -sin(al)]}
          Rigids: {CA: {Geom: [[r]], Dyna: [[0], m, m*r**2/2]}}
        Joints: {Wheels: {CA-PQ: r}}
        AppliedForces: {Gravity: [0, -9.81]}
        ProblemData:
          tend: 2
          positions: {C: [[r*sin(al), fixed], r*cos(al)]}
          angles: {CA: [0, fixed]}
    """)
    way = 2 / 3 * 9.81 * sin(0.3) * 2**2 / 2  # a disc has two thirds of the acceleration of sliding
    assert row["C_x"] == pytest.approx(0.5 * sin(0.3) + way * cos(0.3), abs=CLOSE)
    assert row["theta_CA"] == pytest.approx(-way / 0.5, abs=10 * CLOSE)


def test_chaplygin_sleigh():
    """Exact values at t = 5 of the reference motion (m = 1, I = 0.1, a = 0.1)."""
    row = end("""
        PhysicalParams: {m: 1, I: 0.1, a: 0.1}
        PartData: {Rigids: {AB: {Geom: [[1]], Dyna: [[a], m, I]}}}
        Joints: {Skates: {AB.A: 0}}
        ProblemData:
          tend: 5
          positions: {A: [[0, fixed], [0, fixed]]}
          velocities: {A: [[-1, fixed]]}
          angles: {AB: [0, fixed]}
          rates: {AB: [0.1, fixed]}
    """)
    assert row["A_x"] == pytest.approx(-1.8625532343557769229, abs=1e-10)
    assert row["A_y"] == pytest.approx(-1.4995432335133103189, abs=1e-10)
    assert row["theta_AB"] == pytest.approx(6.5392153727041054171, abs=1e-10)
    assert row["T"] == pytest.approx(0.50055, abs=1e-12)


def test_gears_and_rack():
    gears = end("""
        PartData:
          Fixed: {O: [], P: [3]}
          Rigids: {OA: {Geom: [[1]], Dyna: [[0], 1, 0.5]}, PB: {Geom: [[2]], Dyna: [[0], 1, 2]}}
        Joints: {Gears: {OA-PB: [1, 2]}}
        AppliedForces: {Torques: {OA: 1}}
        ProblemData: {tend: 2, angles: {OA: 0.3, PB: 1}}
    """)
    assert gears["theta_OA"] == pytest.approx(2.3, abs=CLOSE)  # 1/(0.5 + 2/2**2) = 1 rad/s^2
    assert gears["theta_PB"] == pytest.approx(0, abs=CLOSE)
    rack = end("""
        PartData:
          Fixed: {O: [0, 1], R: [], S: [1]}
          Rigids: {OA: {Geom: [[1]], Dyna: [[0], 1, 0.5]}, BC: {Geom: [[4]], Dyna: [[2], 3, 1]}}
        Joints: {Racks: {OA-BC: 1}, Sliders: {BC-RS: []}}
        AppliedForces: {Torques: {OA: 1}}
        ProblemData: {tend: 2, angles: {OA: 0.3}, positions: {B: [-2], C: [2]}}
    """)
    assert rack["theta_OA"] == pytest.approx(0.3 + 2 / 3.5, abs=CLOSE)
    assert rack["B_x"] == pytest.approx(-2 + 2 / 3.5, abs=CLOSE)  # the top of the pinion goes left, the rack right


def test_a_bead_on_a_circle_by_any_name():
    def bead(parts, joints):
        row = end(f"""
            PartData: {{Particles: {{P: 1}}{parts}}}
            AppliedForces: {{Gravity: [0, -9.81]}}
            Joints: {{{joints}}}
            ProblemData: {{tend: 2, positions: {{P: [[1, fixed], 0]}}}}
        """)
        return [row["P_x"], row["P_y"]]

    rod = bead(", Fixed: {O: []}, Rods: {OP: 1}", "")
    assert bead("", "Curves: {P: x**2 + y**2 - 1}") == pytest.approx(rod, abs=CLOSE)
    assert bead("", "Curves: {P: {x: cos(s), y: sin(s)}}") == pytest.approx(rod, abs=CLOSE)


def test_a_rope_over_two_pulleys():
    row = end("""
        PartData: {Fixed: {C: [0, 2], D: [1, 2], M: [], N: [1]}, Particles: {A: 1, B: 2}}
        Joints: {Ropes: {ACDB: 4}, Slots: {A-MC: [], B-ND: []}}
        AppliedForces: {Gravity: [0, -9]}
        ProblemData: {tend: 0.3, positions: {A: [0, 0.5], B: [1, 0.5]}}
    """)
    assert [row["A_y"], row["B_y"]] == pytest.approx([0.5 + 3 * 0.3**2 / 2, 0.5 - 3 * 0.3**2 / 2], abs=CLOSE)


def test_a_circular_orbit():
    row = end("""
        PartData: {Fixed: {O: []}, Particles: {P: 3}}
        AppliedForces: {Gravity: {mu: 1, centre: O}}
        ProblemData:
          tend: 2*pi
          positions: {P: [[1, fixed], [0, fixed]]}
          velocities: {P: [[0, fixed], [1, fixed]]}
    """)
    assert [row["P_x"], row["P_y"], row["V"]] == pytest.approx([1, 0, -3], abs=CLOSE)


def test_a_table_is_followed_through_its_breaks():
    row = end(f"""
        Tables: {{f: {{points: [[0, 0], [1, 1], [2, 0]]}}}}
        Piecewise: {{g: [[0, sin(t)], [0.5, 1]]}}
        PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {ROD}}}}}
        AppliedForces: {{Torques: {{OA: f + g}}}}
        ProblemData: {{tend: 4, angles: {{OA: [0, fixed]}}}}
    """)
    assert row["theta_OA_dot"] == pytest.approx(3 * (1 + 1 - cos(0.5) + 3.5), abs=10 * CLOSE)


def test_everything_that_takes_energy_is_accounted_for():
    # Relative to the largest energy: the tolerance, and the steps of the run times rounding.
    assert (
        balance(f"""
        PartData:
          Fixed: {{O: []}}
          Rigids: {{OA: {ROD}, AB: {ROD}}}
        AppliedForces:
          Gravity:
          TorsionSprings: {{AB-OA: {{k: 5, rest: 0.2, c: 0.1, energy: s**4, law: 0.3*s**3}}}}
          Drag: {{B: [0.1, 0.2, 0.001]}}
          Dampers: {{OB: 0.3}}
          Friction: {{OA: [0.1, 5, 0.1, 0.02]}}
          Potentials: {{v: 0.5*theta_OA**2, w: -A.x*cos(t)}}
          Dissipations: {{r: 0.05*omega_OA**2}}
          Forces: {{AB.B: [0, sin(t)]}}
        ProblemData: {{tend: 3, angles: {{OA: 0, AB: 0.5}}}}
    """)
        < 1e-12
    )


def test_a_hanging_torsion_spring_settles_at_its_law():
    row = end("""
        PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0], 0, 1]}}}
        AppliedForces:
          TorsionSprings: {OA: {k: 0, rest: 0.5, c: 3, law: s + s**3}}
          Torques: {OA: atan(1)}
        ProblemData: {tend: 60, angles: {OA: [0, fixed]}}
    """)
    s = row["theta_OA"] - 0.5
    assert s + s**3 == pytest.approx(atan(1), abs=1e-10)


def test_a_planet_between_sun_and_ring():
    """The page's example: ring at rest, so sun 4, planet -2 times as fast as the carrier; inertia 8 + 0.6 + 4 + 2."""
    text = next(text for text in EXAMPLES if "Planet between" in text)
    row = end(text)
    assert row["theta_OC_dot"] == pytest.approx(2 / 14.6, abs=CLOSE)
    assert [row["theta_OS_dot"], row["theta_CP_dot"]] == pytest.approx([8 / 14.6, -4 / 14.6], abs=CLOSE)


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_of_the_language_page_is_a_mechanism(text):
    assert mechanism(text).variables


def controlled(period: float, t0: float, tend: float) -> str:
    return f"""
        PartData: {{Fixed: {{O: [], R: [1]}}, Particles: {{A: 1}}}}
        Joints: {{Slots: {{A-OR: []}}}}
        Controllers: {{A.x: {{target: 1, kp: 3, kd: 1, period: {period!r}}}}}
        ProblemData: {{t0: {t0!r}, tend: {tend!r}, positions: {{A: [[0.5, fixed]]}}}}
    """


@pytest.mark.parametrize("t0", [0.0, 1e3, 1e6, 1e9, -1e6])
def test_samples_come_wherever_the_clock_stands(t0):
    """Far from zero, times are coarse; a sampled controller takes every sample all the same."""
    motion = mechsim.simulate(dedent(controlled(0.01, t0, t0 + 1)))
    assert len(motion.solution.segments) == 100
    # The same motion as from t = 0, but for samples that come half a grain early or late: gains of 3 and 1 on a speed
    # below 1 move A by less than four grains in a second.
    here = mechsim.simulate(dedent(controlled(0.01, 0.0, 1.0)))
    assert motion(t0 + 1)["A_x"] == pytest.approx(float(here(1.0)["A_x"]), abs=1e-14 + 4 * ulp(t0))


@pytest.mark.parametrize(("period", "t0", "tend"), [(1e-99, 0, 1), (1e-17, 0, 1), (0.1, 1e15, 1e15 + 1), (1e-9, 0, 1)])
def test_periods_that_no_run_can_resolve_are_refused(period, t0, tend):
    with pytest.raises(SpecError, match=r"Controllers\.A_x: a period of .* (is too short|asks for .* samples)"):
        mechanism(controlled(period, t0, tend))
