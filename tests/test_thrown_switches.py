"""Derivatives where a formula switches because something jumps: an impact that turns a speed round, an input that an
event sets, a contact that begins. The switch comes when the jump does, however far from zero its argument then is."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

import mechsim
from mechsim.errors import MechsimError, SpecError

BALL = """
PhysicalParams: {c: 1, h: 1, g: 10, e: 0.9}
PartData: {Particles: {P: 1}}
AppliedForces: {Forces: {P: [0, "if(P.vy, -g - c, -g)"]}}
Contacts: {floor: {gap: P.y, e: e}}
ProblemData: {tend: 0.6, positions: {P: [[0, fixed], [h, fixed]]}}
"""
INPUT = """
PhysicalParams: {c: 0.7, k: 9, d: 0.5, x0: 0.3, v0: 2.0, u1: 2}
Inputs: {u: 0}
PartData: {Fixed: {O: [], R: [1]}, Particles: {P: 1}}
Joints: {Slots: {P-OR: []}}
AppliedForces: {Forces: {P: ["-k*P.x + if(u - 1, 3*c, -P.vx)", 0]}}
Events: {go: {when: P.x - d, direction: up, do: {set: {u: u1}}}}
ProblemData: {tend: 0.7, positions: {P: [[x0, fixed]]}, velocities: {P: [[v0, fixed]]}}
"""
LANDING = """
PhysicalParams: {c: 0.6, h: 0.3, v0: 2.0, g: 9.81}
PartData: {Fixed: {F: [], G: [1]}, Particles: {P: 1}}
AppliedForces: {Gravity: [0, -g], Forces: {P: ["-c*P.vx - if(-P.vy - 0.1, P.vx, 3*P.vx)", 0]}}
Contacts: {P-FG: {e: 0}}
ProblemData: {tend: 0.6, positions: {P: [[0, fixed], [h, fixed]]}, velocities: {P: [[v0, fixed]]}}
"""
OSCILLATOR = """
PhysicalParams: {z: 0.1, w: 2.6, e: 0.8}
PartData: {Fixed: {O: [], R: [1]}, Particles: {X: 1}}
Joints: {Slots: {X-OR: []}}
AppliedForces: {Forces: {X: ["cos(w*t) - X.x - 2*z*abs(X.vx)*X.vx", 0]}}
Contacts: {wall: {gap: -X.x, e: e}}
ProblemData: {tend: 500, positions: {X: [[-0.3, fixed]]}, velocities: {X: [[0, fixed]]}}
"""


def bounced(c, h, g, e):
    """Where the ball is at 0.6 s, and how fast: heavier by c while it rises."""
    struck = cmath.sqrt(2 * h / g)
    speed, s = e * cmath.sqrt(2 * h * g), 0.6 - struck
    square = g**2 * struck**3 / 3 + ((speed**3 - (speed - (g + c) * s) ** 3) / (3 * (g + c)))
    return speed * s - (g + c) * s**2 / 2, speed - (g + c) * s, square


def test_an_impact_that_turns_a_speed_round():
    """By a closed form in complex numbers."""
    given = {"c": 1.0, "h": 1.0, "g": 10.0, "e": 0.9}
    found = mechsim.mechanism(BALL).sensitivity(
        ["final(P_y)", "final(P_y_dot)", "integral(P_y_dot**2)"], by=list(given), tol=1e-13
    )
    assert found.values == pytest.approx([value.real for value in bounced(**given)], abs=1e-12)
    for place, name in enumerate(given):
        exact = [value.imag / 1e-30 for value in bounced(**{**given, name: given[name] + 1e-30j})]
        assert found.derivatives[:, place] == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize(
    ("text", "names", "measures"),
    [
        (INPUT, ["d", "x0", "v0", "c"], ["final(P_x)", "final(P_x_dot)", "integral(P_x)"]),
        (LANDING, ["h", "v0", "g", "c"], ["final(P_x)", "final(P_x_dot)", "mean(P_x)"]),
    ],
)
def test_switches_that_inputs_and_contacts_throw(text, names, measures):
    """By differences of motions, which no tangent takes part in: of second order, so to 1e-8 with changes of 1e-4."""
    handle = mechsim.mechanism(text)
    found = handle.sensitivity(measures, by=names, tol=1e-13)
    own = {"d": 0.5, "x0": 0.3, "v0": 2.0, "h": 0.3, "g": 9.81, "c": 0.7 if text is INPUT else 0.6}
    for place, name in enumerate(names):
        sides = [own[name] * (1 + share) for share in (1e-4, -1e-4)]
        beside = [mechsim.mechanism(text, {name: side}).sensitivity(measures, by=[name], tol=1e-13) for side in sides]
        slopes = (beside[0].values - beside[1].values) / (sides[0] - sides[1])
        assert found.derivatives[:, place] == pytest.approx(slopes, abs=2e-7)


def test_multipliers_of_an_oscillator_with_drag_that_strikes_a_wall():
    """Those of the period map, by its differences; the doubling is that of SciPy (DOP853, events, a root of the
    multiplier by secants): 2.658149721."""
    handle = mechsim.mechanism(OSCILLATOR)
    orbit = handle.periodic("2*pi/w", since=300.0)
    columns = []
    for place in range(2):
        ends = []
        for side in (1e-6, -1e-6):
            start = [orbit.positions[0], orbit.velocities[0]]
            start[place] += side
            state = {"X_x": start[0], "X_y": 0.0}, {"X_x": start[1], "X_y": 0.0}
            moved = handle.simulate(start=state, tend=2 * math.pi / 2.6, tol=1e-14).solution
            ends.append([moved.q[-1][0], moved.v[-1][0]])
        columns.append((np.array(ends[0]) - np.array(ends[1])) / 2e-6)
    expected = np.sort_complex(np.linalg.eigvals(np.array(columns).T))
    assert np.sort_complex(orbit.multipliers) == pytest.approx(expected, abs=1e-7)
    branch = handle.periodic_over("w", 2.6, 2.7, "2*pi/w", since=300.0)
    assert branch.values("period doubling") == pytest.approx([2.658149721], abs=2e-9)


THROWN = """
PhysicalParams: {g: 10, h: 1, e: 0.8}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -g]}
Contacts: {floor: {gap: P.y, e: e}}
ProblemData: {tend: 1.3, positions: {P: [[0, fixed], [h, fixed]]}}
"""


def test_a_quantity_that_jumps_across_zero_crosses_when_the_jump_comes():
    """The first impact is at sqrt(2h/g), the second 2e sqrt(2h/g) later, and speeds cross upwards there."""
    names, first = ["g", "h", "e"], math.sqrt(0.2)
    found = mechsim.mechanism(THROWN).sensitivity(["first(P.vy)", "period(P.vy)"], by=names)
    assert found.values == pytest.approx([first, 1.6 * first], rel=1e-12)
    assert found.derivatives[0] == pytest.approx([-first / 20, first / 2, 0], abs=1e-10)
    assert found.derivatives[1] == pytest.approx([-1.6 * first / 20, 0.8 * first, 2 * first], rel=1e-9)


def test_the_time_of_a_corner_is_refused_however_short_a_step_is():
    """Bounces that settle have steps without end; the lowest place is at the first impact, which is no round peak."""
    settles = """
PhysicalParams: {v: 1, e: 0.5}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1]}}}
AppliedForces: {Gravity: [0, -10]}
Contacts: {floor: {gap: A.y + 0.3, e: e}}
ProblemData: {angles: {OA: [0, fixed]}, rates: {OA: [-v, fixed]}, tend: 3}
"""
    with pytest.raises(MechsimError, match="no round peak"):
        mechsim.mechanism(settles).sensitivity("time_of_min(theta_OA)", by=["v"])


def test_signals_with_switches_are_measures():
    """A force that switches as a pendulum passes: the signal's mean changes by when it does."""
    text = """
PhysicalParams: {m: 1.2, d: 0.1}
Signals: {s: "if(A.x - d, 1, 2) + sign(A.vx) + max(A.x, d)"}
PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: m}}
AppliedForces: {Gravity: [0, -9.81], Forces: {A: [s, 0]}}
Output: {signals: [s]}
ProblemData: {positions: {A: [[0.6, fixed], -1]}, tend: 1}
"""
    with pytest.raises(SpecError, match=r"Output.signals"):
        mechsim.mechanism(text.replace("Output: {signals: [s]}\n", "")).sensitivity("final(s)", by=["m"])
    measures = ["final(s)", "mean(s)"]
    found = mechsim.mechanism(text).sensitivity(measures, by=["m", "d"], tol=1e-13)
    for place, (name, value) in enumerate((("m", 1.2), ("d", 0.1))):
        beside = [
            mechsim.mechanism(text, {name: value * (1 + share)}).sensitivity(measures, by=[name], tol=1e-13).values
            for share in (1e-4, -1e-4)
        ]
        assert found.derivatives[:, place] == pytest.approx((beside[0] - beside[1]) / (2e-4 * value), abs=1e-6)


@pytest.mark.parametrize("length", [1.0, 1.0001, 1.0002, 1.0003, 1.0007])
def test_an_event_that_a_bond_holds_at_its_zero_does_not_come_again(length):
    """A pendulum is caught where it comes to an angle, and let go: the angle stays there until then, to rounding."""
    text = f"""
PhysicalParams: {{L: {length}}}
PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {{Geom: [[L]], Dyna: [[L/2], 1, L**2/12]}}}}}}
AppliedForces: {{Gravity: [0, -9.81]}}
Bonds: {{hold: A.y}}
Events: {{catch: {{when: theta_OA - 0.5, do: {{attach: hold}}}}, drop: {{when: t - 0.83, do: {{release: hold}}}}}}
ProblemData: {{angles: {{OA: [1.03, fixed]}}, rates: {{OA: [-1, fixed]}}, tend: 1.2}}
"""
    motion = mechsim.simulate(text, tol=1e-13)
    assert [event.gap for event in motion.events if event.kind == "event"] == ["catch", "drop"]
    labels = motion.solution.system.labels
    assert motion.solution.q[-1][labels.index("theta_OA")] < -0.4
