"""Reading what acts on a mechanism: expressions of time and state, and what is said when they are wrong."""

import pytest

from mechsim.errors import SpecError
from mechsim.model import build
from mechsim.spec import parse, read
from mechsim.spec.scope import POSITION, VELOCITY

HEAD = """\
PhysicalParams: {k: 2, w: 3}
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
  Particles: {B: 1}
ProblemData: {tend: 1}
"""


def first_fault(text):
    with pytest.raises(SpecError) as caught:
        build(parse(HEAD + text, "f"))
    return caught.value.faults[0]


# What stands in line 7, the column of the fault, what is said, and a piece of the hint.
FAULTS = [
    ("AppliedForces: {Forces: {A: [k*B.x, q]}}", 37, "q is not defined", "define it in PhysicalParams or Signals"),
    ("AppliedForces: {Forces: {A: [k*Bx]}}", 32, "Bx is not defined", ""),
    ("AppliedForces: {Forces: {A: [B]}}", 30, "B is not defined", "a point has B.x, B.y, B.vx and B.vy"),
    ("AppliedForces: {Forces: {A: [B.z]}}", 30, "B.z: a point has no z", "a point has x, y, vx and vy"),
    ("AppliedForces: {Forces: {A: [C.x]}}", 30, "C.x uses the point C, which no part has", "the points are A, B and O"),
    ("AppliedForces: {Forces: {A: [1, 2, 3]}}", 26, "Forces.A has 3 coordinates, but the dimension is 2", ""),
    ("AppliedForces: {Forces: {O: [1]}}", 26, "Forces.O acts on O, which is fixed and cannot move", "remove it"),
    ("AppliedForces: {Forces: {OA.B: [1]}}", 26, "Forces.OA.B: the point B is not on OA", "OA has the points O and A"),
    ("AppliedForces: {Forces: {A: [dist(A,B)]}}", 34, "`dist(A` is not an expression", "quote what holds a comma"),
    ("AppliedForces: {Forces: {A: [if(t, 1, 2)]}}", 32, "`if(t` is not an expression", "quote what holds a comma"),
    ("AppliedForces: {Forces: {A: ['dist(A,A)']}}", 31, "dist(A,A) is the distance of a point to itself", ""),
    ("AppliedForces: {Forces: {A: [rate(A)]}}", 30, "`rate(A)`: rate takes two points, as rate(A,B)", ""),
    ("AppliedForces: {Torques: {OB: 1}}", 27, "Torques.OB uses OB, which is no rigid part", "OA"),
    ("AppliedForces: {Torques: {OA: theta_OB}}", 31, "theta_OB uses OB, which is no rigid part", "OA"),
    ("AppliedForces: {Torques: {OA: thta_OA}}", 31, "thta_OA is not defined", "did you mean theta_OA?"),
    ("AppliedForces: {Potentials: {p: A.vx}}", 33, "Potentials.p may use positions and time, but A.vx", ""),
    ("AppliedForces: {Friction: {B-OA: [0.2, 3, 0]}}", 28, "Friction.B-OA has v0: 0, but a speed is", "leave"),
    ("AppliedForces: {Friction: {B-OA: [-0.2, 3, 1]}}", 35, "Friction.B-OA.mu is -0.2, but must not", "by itself"),
    ("AppliedForces: {Friction: {B: [0.2, 3, 1]}}", 28, "Friction.B names no line", "write B-AB"),
    ("AppliedForces: {Friction: {B-OA: {mu: 1, v0: 1}}}", 28, "Friction.B-OA has no load N, and no slot", "write N"),
    ("AppliedForces: {Gravity: {mu: 1, center: O}}", 34, "unknown key center in AppliedForces.Gravity", "centre"),
    ("AppliedForces: {Gravity: {mu: 1, centre: X}}", 26, "Gravity.centre uses the point X, which no part has", ""),
    # what is not smooth
    ("AppliedForces: {Forces: {A: [floor(t)]}}", 30, "there is no function floor", "Tables or Piecewise"),
    ("AppliedForces: {Forces: {A: [1 if t else 2]}}", 30, "`1 if t else 2` is not allowed", "write if(x, a, b)"),
    ("AppliedForces: {Forces: {A: [t > 1]}}", 30, "`t > 1` is not allowed in an expression", "write if(x, a, b)"),
    ("AppliedForces: {Potentials: {p: abs(B.x)}}", 33, "Potentials.p must be smooth", "sqrt(x**2 + eps**2)"),
    # drives and controllers
    ("Drives: {O.x: t}", 10, "Drives.O.x drives O, which is fixed in the world", "remove it from PartData.Fixed"),
    ("Drives: {theta_OA: A.x}", 20, "Drives.theta_OA may use a function of time, but A.x changes", ""),
    ("Drives: {A: t}", 10, "Drives.A: a point needs two expressions", "write [x, y]"),
    ("Drives: {2*k: t}", 10, "Drives.2*k has nothing to move", "A.x, theta_OA, dist(A,B)"),
    ("Controllers: {theta_OA: {kp: 1}}", 25, "Controllers.theta_OA lacks target", ""),
    ("Controllers: {theta_OA*2: {target: 1, kp: 1}}", 15, "Controllers.theta_OA*2: a controller cannot", "measure"),
    ("Controllers: {theta_OA: {target: 1, kp: 1, limit: 0}}", 51, "Controllers.theta_OA.limit must be above zero", ""),
    ("Controllers: {theta_OA: {target: 1, kp: 1, kd: 1, measure: A.x}}", 15, "Controllers.theta_OA needs `rate`", ""),
    # functions of time
    ("Signals: {a: b, b: a}", 11, "signals depend on each other in a circle: a -> b -> a", "state"),
    ("Signals: {k: 1}", 11, "Signals defines k, which is a parameter already", ""),
    ("Signals: {t: 1}", 11, "t is the time", "another name"),
    ("Tables: {f: {points: [[0,1],[2,1],[1,3]]}}", 36, "Tables.f.points: times must increase, but 1 follows 2", "sort"),
    ("Tables: {f: {points: [[0,1],[1]]}}", 29, "Tables.f.points: each item must be a pair [t, value]", ""),
    ("Tables: {f: {points: [[0,1]]}}", 10, "Tables.f has 1 points, but linear needs 2", ""),
    ("Tables: {f: {file: nothing.csv}}", 10, "cannot read nothing.csv: no such file or directory", "folder"),
    ("Tables: {f: {kind: linear}}", 13, "Tables.f has no values", "write points"),
    ("Piecewise: {f: [[0, A.x]]}", 21, "Piecewise.f may use a function of time, but A.x changes", ""),
    # joints
    ("Joints: {Slots: {B: []}}", 18, "Slots.B names no line", "write B-AB"),
    ("Joints: {Slots: {B-O: []}}", 18, "`O` names 1 points, but a line is given by two", ""),
    ("Joints: {Slots: {O-OA: []}}", 18, "Slots.O-OA: O is on the line already", ""),
    ("Joints: {Sliders: {B-OA: []}}", 20, "Sliders.B-OA uses B, which is no rigid part", ""),
    ("Joints: {Curves: {B: x**2+q}}", 27, "q is not defined", ""),
    ("Joints: {Curves: {B: {x: cos(s)}}}", 22, "Joints.Curves.B lacks y", ""),
    ("Joints: {Ropes: {OBB: 2}}", 18, "the rope OBB runs from a point to itself", ""),
    ("Joints: {Gears: {OA: [1, 2]}}", 18, "Gears.OA names one part, but two roll on each other", ""),
    ("Joints: {Gears: {OA-OA: [1, 2]}}", 18, "Gears.OA-OA acts between OA and itself", ""),
    ("Joints: {Wheels: {OA-OB: 0}}", 26, "Wheels.OA-OB: a wheel needs a radius", ""),
    ("Joints: {Skates: {A: 0}}", 19, "Skates.A names no part", "write AB.A"),
    ("Joints: {Holonomic: {n: A.vx}}", 25, "Holonomic.n may use positions and time, but A.vx changes", ""),
    ("Joints: {Nonholonomic: {n: k*t}}", 25, "Nonholonomic.n does not depend on the mechanism", ""),
    ("Output: {reactions: [Q]}", 9, "Output.reactions uses the point Q, which no part has", ""),
    ("Output: {signals: [s]}", 9, "Output.signals names s, which is no signal", "define it in Signals"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message", "hint"), FAULTS, ids=[case[0] for case in FAULTS])
def test_fault(text, column, message, hint):
    fault = first_fault(text + "\n")
    assert (fault.mark.line, fault.mark.column) == (7, column)
    assert fault.message.startswith(message) and hint in fault.hint


def test_time_is_no_parameter():
    text = HEAD.replace("w: 3", "t: 3") + "AppliedForces: {Torques: {OA: t}}\n"
    with pytest.raises(SpecError, match="t is the time here, but a parameter is called t too"):
        parse(text)


def test_faults_of_many_expressions_come_together():
    with pytest.raises(SpecError) as caught:
        parse(HEAD + "Drives: {theta_OA: q}\nAppliedForces: {Torques: {OA: C.x + p}}\nSignals: {s: u}\n")
    assert [fault.mark.line for fault in caught.value.faults] == [7, 8, 8, 9]


def test_a_drive_cannot_follow_a_table_with_corners():
    tables = "Tables: {f: {points: [[0, 0], [0.5, 1]]}}\nSignals: {g: 2*f}\n"
    message = first_fault(tables + "Drives: {theta_OA: g}\n").message
    assert message == "Drives.theta_OA: the speed jumps from 4 to 0 at t = 0.5"
    build(parse(HEAD + tables + "Drives: {omega_OA: g}\n"))
    build(parse(HEAD + "Piecewise: {g: [[0, t**2], [0.5, t - 0.25]]}\nDrives: {theta_OA: g}\n"))
    message = first_fault("Piecewise: {g: [[0, t], [0.5, 1]]}\nDrives: {omega_OA: g}\n").message
    assert message == "Drives.omega_OA: the speed jumps from 0.5 to 1 at t = 0.5"


def test_a_table_that_ends_too_soon():
    table = "Tables: {f: {points: [[0, 0], [0.5, 1]], outside: error}}\nAppliedForces: {Torques: {OA: f}}\n"
    fault = first_fault(table)
    assert fault.message == "table f ends before the run does: it covers 0 to 0.5, the run 0 to 1"
    assert fault.mark.line == 7


def test_a_table_from_a_file(tmp_path):
    (tmp_path / "lift.csv").write_text("# measured\ntime, lift\n0, 1\n0.5, 2\n2, -1e-3\n")
    (tmp_path / "cam.yaml").write_text(HEAD + "Tables: {lift: {file: lift.csv, kind: step}}\n")
    (table,) = read(tmp_path / "cam.yaml").actions.tables
    assert (table.times, table.values, table.kind, table.hold) == ((0, 0.5, 2), (1, 2, -1e-3), "step", True)


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ("0, 1\n2, 3\n1, 4\n", 3, "Tables.lift: times must increase, but 1 follows 2"),
        ("0, 1\n2, 3, 4\n", 2, "a row of 3 values, but a table has two: time and value"),
        ("t, x\n0, 1\n2, nan\n", 3, "this value is not a number"),
    ],
)
def test_a_file_that_is_no_table(tmp_path, rows, line, message):
    (tmp_path / "lift.csv").write_text(rows)
    (tmp_path / "cam.yaml").write_text(HEAD + "Tables: {lift: {file: lift.csv}}\n")
    with pytest.raises(SpecError) as caught:
        read(tmp_path / "cam.yaml")
    (fault,) = caught.value.faults
    assert (fault.mark.file, fault.mark.line, fault.message) == (str(tmp_path / "lift.csv"), line, message)


def test_references_are_names():
    text = "Signals: {s: k*B.x + theta_OA, v: s*omega_OA + t}\nAppliedForces:\n  Torques: {OA: v - rate(A , B)}\n"
    actions = parse(HEAD + text.replace("rate(A , B)", "w")).actions
    assert [signal.name for signal in actions.signals] == ["s", "v"]  # each after those it uses
    assert set(actions.signals[0].expression.names) == {"k", "B.x", "theta_OA"}
    quoted = parse(HEAD + "AppliedForces:\n  Torques:\n    OA: w - rate( A, B )\n").actions
    assert set(quoted.torques[0].torque.names) == {"w", "rate(A,B)"}


def test_drives_and_controllers_are_keyed_by_what_they_move():
    text = 'Drives: {"dist(A,B)": 1+t, omega_OA: 2}\nControllers:\n  B: {target: [0, 1], kp: 1}\n'
    actions = parse(HEAD + text + "  theta_OA-theta_OA: {target: 0, kp: 1}\n").actions
    assert [(drive.name, drive.level) for drive in actions.drives] == [("dist_A_B", POSITION), ("omega_OA", VELOCITY)]
    assert [controller.actuated for controller in actions.controllers] == [
        ((1.0, "B.x"),), ((1.0, "B.y"),), ((1.0, "theta_OA"), (-1.0, "theta_OA"))
    ]  # fmt: skip


def test_signals_that_multiply_are_refused_before_they_grow():
    chain = ", ".join(f"s{i}: s{i - 1}*s{i - 1}" for i in range(1, 60))
    fault = first_fault(f"Signals: {{s0: t, {chain}}}\nAppliedForces: {{Torques: {{OA: s59}}}}\n")
    assert fault.mark.line == 7 and "signal s12 grows to" in fault.message


def test_a_drive_of_a_part_that_cannot_turn():
    text = HEAD.replace("Fixed: {O: []}", "Fixed: {O: [], A: [1]}") + "Drives: {theta_OA: t}\n"
    with pytest.raises(SpecError, match=r"f:7:10: error: Drives\.theta_OA has nothing to move: what it names cannot"):
        build(parse(text, "f"))


def test_the_centres_of_gears_must_be_held():
    parts = "  Rigids: {OA: {Geom: [[1]]}, AC: {Geom: [[1]]}, OB: {Geom: [[1]]}}\n"
    text = HEAD.replace("  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}\n", parts)
    parse(text + "Joints: {Gears: {OB-AC: [1, 2, OA]}}\n")
    for value, where in (("[1, 2]", "neither fixed nor on a carrier"), ("[1, 2, OB]", "not on the carrier OB")):
        with pytest.raises(SpecError, match=f"A, the centre of AC, is {where}"):
            parse(text + f"Joints: {{Gears: {{OB-AC: {value}}}}}\n")


def test_output_is_kept():
    output = parse(HEAD + "Signals: {s: t}\nOutput: {reactions: [O, A], signals: [s]}\n").output
    assert (output.reactions, output.signals) == (("O", "A"), ("s",))


def test_old_files_have_no_actions():
    assert parse(HEAD).actions == type(parse(HEAD).actions)()


def test_results_carry_the_tables_of_their_mechanism(tmp_path):
    """`mechsim animate out.csv` needs nothing else: a table in a file of its own travels with the results."""
    import mechsim
    from mechsim.render.scene import spec_of

    (tmp_path / "push.csv").write_text("t,f\n0,1\n1,2\n2,0\n")
    (tmp_path / "cart.yaml").write_text(
        "PartData: {Fixed: {O: [], R: [1]}, Particles: {A: 1}}\n"
        "Joints: {Slots: {A-OR: []}}\n"
        "Tables: {push: {file: push.csv}}\n"
        "AppliedForces: {Forces: {A: [push, 0]}}\n"
        "ProblemData: {tend: 2, positions: {A: [1]}}\n"
    )
    motion = mechsim.simulate(tmp_path / "cart.yaml")
    motion.save(tmp_path / "out.csv")
    (tmp_path / "push.csv").unlink()
    assert spec_of(mechsim.load(tmp_path / "out.csv")).files["push.csv"].startswith("t,f")
    # x'' = push: 1 + t until 1, then 2 - 2 (t - 1); closed form by integrating twice, to a few roundings
    assert motion(2.0)["A"][0] == pytest.approx(1 + 2 / 3 + 3 / 2 + 2 / 3, abs=1e-13)
