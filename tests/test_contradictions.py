"""A constraint is never left out because nothing in it can move, or because others imply it, unless it holds."""

from __future__ import annotations

import numpy as np
import pytest

from mechsim import simulation
from mechsim.errors import AssemblyError, MechsimError, SpecError
from mechsim.initial.assembly import complete
from mechsim.kernel.system import System
from mechsim.model import build

# O, P, Q, R are fixed, Q to the right of P and R above it; ABD is a part in motion, OF one that cannot turn.
PARTS = """
PartData:
  Fixed: {O: [], P: [2], Q: [4], R: [2, 2], F: [0, 1]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    ABD: {Geom: [[3], [1, 2]], Dyna: [[1], 1, 1]}
    OF: {Geom: [[1]]}
    PR, PQ: {Geom: [[2]]}
"""
PROBLEM = "ProblemData: {tend: 0.01, positions: {A: [0.6, 0.8], B: [3.6, 0.8]}}\n"

TABLE = 'Tables: {{s: {{points: [[0, 2], [1, {}]]}}}}\nJoints: {{Holonomic: {{f: "dist(P,Q) - s"}}}}'
# What is said with {} for the value, a value that holds, and one that does not; each names only fixed points, or only
# points of one part.
HELD = {
    "slot, fixed": ("Joints: {{Slots: {{R-PQ: [{}]}}}}", "2", "2.001"),
    "slot, one part": ("Joints: {{Slots: {{D-AB: [{}]}}}}", "2", "1.5"),
    "piston, fixed": ("Joints: {{Pistons: {{R-PQ: [1, {}]}}}}", "2", "1"),
    "slider, fixed": ("Joints: {{Sliders: {{PR-OP: [0, {}]}}}}", "pi/2", "0.3"),
    "slider offset, fixed": ("Joints: {{Sliders: {{OF-PR: [{}]}}}}", "2", "-2"),
    "slider, one part": ("Joints: {{Sliders: {{ABD-AB: [0, {}]}}}}", "0", "0.1"),
    "rope, fixed": ("Joints: {{Ropes: {{OPQ: {}}}}}", "4", "5"),
    "rope, one part": ("Joints: {{Ropes: {{OA: {}}}}}", "1", "3"),
    "curve, one part": ("Joints: {{Holonomic: {{f: \"(D.x - A.x)**2 + (D.y - A.y)**2 - {}\"}}}}", "5", "4"),
    "curve of a fixed distance": ("Joints: {{Curves: {{A: x**2 + y**2 - {}}}}}", "1", "4"),
    "wheel, fixed": ("Joints: {{Wheels: {{OF-RP: {}}}}}", "-2", "2"),
    "distance, one part": ("Joints: {{Holonomic: {{f: \"dist(O,A) - {}\"}}}}", "1", "2"),
    "distance, fixed": ("Joints: {{Holonomic: {{f: \"dist(P,Q) - {}\"}}}}", "2", "2 - t"),
    "angle, fixed": ("Joints: {{Holonomic: {{f: theta_OF - {}}}}}", "pi/2", "90"),
    "nothing left": ("Joints: {{Holonomic: {{f: 0*A.x + {}}}}}", "0", "1"),
    "rate, one part": ("Joints: {{Nonholonomic: {{f: \"rate(O,A) - {}\"}}}}", "0", "1"),
    "rate, fixed": ("Joints: {{Nonholonomic: {{f: omega_OF - {}}}}}", "0", "1"),
    "speed against a rod": ("Joints: {{Nonholonomic: {{f: A.x*A.vx + A.y*A.vy - {}}}}}", "0", "1"),
    "table": (TABLE, "2", "3"),
}  # fmt: skip
CASES = [pytest.param(*case, id=name) for name, case in HELD.items()]


@pytest.mark.parametrize(("text", "right", "wrong"), CASES)
def test_a_constraint_that_cannot_hold_is_refused_with_its_place(text: str, right: str, wrong: str) -> None:
    with pytest.raises((SpecError, AssemblyError)) as refused:
        simulation.prepare(simulation.read(PARTS + text.format(wrong) + "\n" + PROBLEM))
    faults = refused.value.faults
    # a conflict names all that contradict, and stands at the first of them
    assert all(fault.mark is not None and fault.hint for fault in faults)
    owner = text.split("{{")[-1].split(":")[0].replace('"', "")
    assert any(owner in fault.message or fault.mark.line > 8 for fault in faults), faults


@pytest.mark.parametrize(("text", "right", "wrong"), [case for case in CASES if case.id != "table"])
def test_the_same_constraint_is_left_out_quietly_where_it_holds(text: str, right: str, wrong: str) -> None:
    prepared = simulation.prepare(simulation.read(PARTS + text.format(right) + "\n" + PROBLEM))
    assert prepared.structure.dof == 2


GEARED = """
PartData:
  Fixed: {O: [], P: [3], F: [0, 1], G: [3, 1]}
  Rigids: {OF: {Geom: [[1]]}, PG: {Geom: [[1]]}, OA: {Geom: [[1]], Dyna: [[0.5], 1, 1]}}
Joints: {%s}
ProblemData: {tend: 0.01}
"""


@pytest.mark.parametrize("joint", ["Gears: {OF-PG: [1, 2]}", "Racks: {OF-PG: 1}"])
def test_what_meshes_as_first_placed_holds_where_nothing_turns(joint: str) -> None:
    assert simulation.prepare(simulation.read(GEARED % joint)).structure.dof == 1


@pytest.mark.parametrize("quantity", ["theta_OF", "dist(O,P)", "P.x", "omega_OF", "dist(O,A)", "rate(O,A)"])
@pytest.mark.parametrize("motion", ["0", "1", "t"])
def test_a_drive_of_what_cannot_change_is_refused_whatever_it_asks(quantity: str, motion: str) -> None:
    with pytest.raises(MechsimError) as refused:
        simulation.prepare(simulation.read(GEARED % "" + f'Drives: {{"{quantity}": {motion}}}\n'))
    (fault,) = refused.value.faults
    assert ("cannot change" in fault.message or "fixed" in fault.message) and fault.mark.line == 7


THREE_CRANKS = """
PartData:
  Fixed: {O: [], P: [2], Q: [4]}
  Rigids:
    OA, PB: {Geom: [[1]], Dyna: [[0.5], 1, 1]}
    QC: {Geom: [[1 + %r]], Dyna: [[0.5], 1, 1]}
    ACB: {Geom: [[4], [2]], Dyna: [[2], 1, 1]}
ProblemData: {tend: 1, positions: {A: [0.6, 0.8], B: [2.6, 0.8], C: [4.6, 0.8]}}
"""


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-6])
def test_a_constraint_left_out_as_implied_must_hold_at_the_start(off: float) -> None:
    """Whoever hands positions on: of three parallel cranks one is implied, and it must not be a little too long."""
    spec = simulation.read(THREE_CRANKS % off)
    mechanism = build(spec)
    system = System(mechanism)
    q = np.array([0.6, 0.8, 2.6, 0.8, 4.6, 0.8])
    if off:
        with pytest.raises(AssemblyError, match="cannot be closed together"):
            complete(mechanism, system, spec.problem, q)
    else:
        assert len(complete(mechanism, system, spec.problem, q).redundancy.rows) == 1


def test_all_contradictions_are_told_at_once() -> None:
    text = PARTS + 'Joints: {Ropes: {OA: 3}, Holonomic: {f: "dist(O,A) - 2"}}\n' + PROBLEM
    with pytest.raises(SpecError) as refused:
        simulation.prepare(simulation.read(text))
    assert [fault.message.split(" cannot")[0] for fault in refused.value.faults] == ["rope OA", "f"]
