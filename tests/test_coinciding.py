"""Derivatives where several things happen at one time and move apart beside it, against motions by hand: what has a
derivative on one side has that one and a note, what has none is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mechsim
from mechsim.errors import IntegrationError, MechsimError

EXACT = 1e-12  # motions of constant velocities: roundings

STRIKING = """
PhysicalParams: {h: 0, e: 0.5, v: -1, k: 0}
PartData: {Particles: {P: 1}}
AppliedForces: {Forces: {P: [0, k]}}
Stops: {P.y: {min: 0, e: e}}
ProblemData: {tend: 1, positions: {P: [0, [h, fixed]]}, velocities: {P: [[0, fixed], [v, fixed]]}}
"""
TOUCHING = """
PhysicalParams: {e: 0.5, m: 2, d: 0}
PartData: {Particles: {P: m, Q: 1, R: 1}}
Contacts: {P-Q: {radius: 0.2, e: e}, Q-R: {radius: 0.2, e: e}}
ProblemData:
  tend: 1.6
  positions: {P: [[0, fixed], [0, fixed]], Q: [[1, fixed], [0, fixed]], R: [[1.2 + d, fixed], [0, fixed]]}
  velocities: {P: [[1, fixed], [0, fixed]], Q: [[0, fixed], [0, fixed]], R: [[0, fixed], [0, fixed]]}
"""
TWO = """
PhysicalParams: {a: 1, b: 1, e: 0.5}
Inputs: {u: 0}
PartData: {Particles: {P: 1, Q: 1}}
AppliedForces: {Forces: {Q: [0, u]}}
Stops: {P.x: {max: a, e: e}}
Events: {sw: {when: Q.x - b, do: {set: {u: P.vx}}}}
ProblemData:
  tend: 2
  positions: {P: [[0, fixed], 0], Q: [[0, fixed], 1]}
  velocities: {P: [[1, fixed], 0], Q: [[1, fixed], 0]}
"""
SAMPLED = """
PhysicalParams: {a: 1, e: 0.5}
PartData: {Fixed: {O: [-5], R: [1]}, Particles: {P: 1}}
Joints: {Slots: {P-OR: []}}
Controllers: {P.x: {target: 1, kp: 0, kd: 2, target_rate: 1, period: 0.25}}
Stops: {P.x: {max: a, e: e}}
ProblemData: {tend: 1.2, positions: {P: [[0, fixed], 0]}, velocities: {P: [[1, fixed], 0]}}
"""
BROKEN = """
PhysicalParams: {a: 1, s: 1}
Tables: {f: {points: [[0, 0], [1, 1], [3, 0]], kind: step}}
PartData: {Particles: {P: 1}}
AppliedForces: {Forces: {P: [f*P.y, 0]}}
Stops: {P.x: {max: a, e: 0.5}}
ProblemData: {tend: 2.5, positions: {P: [[0, fixed], [0.1, fixed]]}, velocities: {P: [[1, fixed], 0]}}
"""
FALLING = """
PhysicalParams: {g: 2, h: 1}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -g]}
Stops: {P.y: {min: 0, e: 0.5}}
ProblemData: {tend: 1, positions: {P: [0, [h, fixed]]}}
"""
STEPPED = """
PhysicalParams: {s: 1}
Tables: {f: {points: [[0, 0], [s, 1], [2, 5]], kind: step}}
PartData: {Particles: {P: 1}}
AppliedForces: {Forces: {P: [f, 0]}}
ProblemData: {tend: 1, velocities: {P: [[1, fixed], 0]}}
"""
SIGNED = """
PhysicalParams: {x0: 0}
PartData: {Particles: {P: 1}}
AppliedForces: {Forces: {P: ['3*sign(P.x)', 0]}}
ProblemData: {tend: 1, positions: {P: [[x0, fixed], 0]}, velocities: {P: [[1, fixed], 0]}}
"""


def told(text: str, measures: str | list[str], by: str | list[str], note: str) -> list[list[float]]:
    """The derivatives, which one note with these words goes with."""
    found = mechsim.mechanism(text).sensitivity(measures, by)
    assert len([each for each in found.notes if note in each]) == 1, found.notes
    return found.derivatives.tolist()


def test_a_start_that_strikes_at_once():
    """After the bounce y = (t - h)/2, for h >= 0, the only side that there is."""
    measures = ["final(P_y)", "integral(P_y)", "mean(P_y)", "rms(P_y)", "at(P_y, 0.5)"]
    known = [-0.5, -0.5, -0.5, -math.sqrt(3) / 4, -0.5]  # rms = (1 - h)**1.5 / sqrt(12)
    where = "at t = 0 P.y min and the start of the motion come together and move apart with h"
    assert told(STRIKING, measures, "h", where) == [[pytest.approx(each, abs=EXACT)] for each in known]
    beside = mechsim.mechanism(STRIKING.replace("h: 0", "h: 1e-7")).sensitivity(measures, "h")
    assert beside.derivatives[:, 0] == pytest.approx(known, abs=1e-6)  # of numbers that differ by 1e-7
    assert not beside.notes


@pytest.mark.parametrize("measure", ["integral(P_y_dot)", "start(P_y)", "min(P_y)", "at(P_y_dot, 0)"])
def test_what_was_just_before_the_start_is_not_known(measure):
    with pytest.raises(MechsimError, match=r"where the motion starts and P.y min comes too"):
        mechsim.mechanism(STRIKING).sensitivity(measure, "h")


def test_a_row_of_balls_that_touch():
    """The first strikes the second, which pushes the third: with a gap between them that would come later."""
    handle = mechsim.mechanism(TOUCHING)
    with pytest.raises(IntegrationError, match="at one time that beside the motion are struck in turn") as refused:
        handle.sensitivity("final(P_x)", "d")
    assert "no value" not in str(refused.value)  # the motion goes on, and so do its formulas
    # P goes on with (m - e)/(m + 1), Q with q = m (1 + e)/(m + 1), of which R takes (1 + e)/2; Q, left with (1 - e)/2,
    # is struck by P again, which loses (1 + e)/(m + 1) of their difference, 1/4.
    by_m = [1.5 / 9 - (0.5 * (1.5 / 9 - 0.25 * 1.5 / 9) - 0.25 * 1.5 / 9), 0.75 * 1.5 / 9]
    by_e = [-1 / 3 - (0.25 / 3 + 0.5 * (-1 / 3 + 0.5 - 0.25 * 2 / 3)), 0.5 + 0.75 * 2 / 3]
    found = handle.sensitivity(["final(P_x)", "final(R_x)"], ["m", "e"])
    assert found.derivatives == pytest.approx(0.8 * np.array([by_m, by_e]).T, abs=EXACT)  # 0.8 s later


@pytest.mark.parametrize(
    ("text", "by", "names"),
    [
        (TWO, "a", "P.x max and sw"),
        (TWO, "b", "P.x max and sw"),
        (SAMPLED, "a", "P.x max and a sample"),
        (BROKEN, "a", "P.x max and a break of a table"),
    ],
)
def test_two_things_at_one_time(text, by, names):
    told(text, "final(P_x)", by, f"at t = 1 {names} come together and move apart with {by}")


@pytest.mark.parametrize("text", [TWO, SAMPLED, BROKEN])
def test_what_does_not_come_together_is_not_told(text):
    handle = mechsim.mechanism(text)
    assert "come together" not in str(handle.sensitivity("final(P_x)", "a", parameters={"a": 0.9}).notes)
    if text == TWO:  # with e they stay together
        assert "come together" not in str(handle.sensitivity("final(P_x)", "e").notes)


def test_an_end_with_an_impact():
    text = TWO.replace("do: {set: {u: P.vx}}", "do: stop").replace("tend: 2", "tend: [5, sw]")
    found = told(text, "final(P_x)", ["a", "b"], "P.x max, the end of the motion and sw come together")
    assert found == [[pytest.approx(0, abs=EXACT), pytest.approx(1, abs=EXACT)]]  # as long as a >= b


@pytest.mark.parametrize(
    ("text", "measure", "by", "names", "side"),
    [
        (FALLING, "final(P_y_dot)", "h", "the end of the motion and P.y min", 0),  # of h >= 1
        (FALLING, "final(P_y_dot)", "tend", "the end of the motion and P.y min", -2),  # v = -2 t until then
        (STEPPED, "final(P_x_dot)", "s", "the end of the motion and a break of a table", 0),  # of s >= 1
        (STEPPED, "final(P_x_dot)", "tend", "the end of the motion and a break of a table", 0),
        (SAMPLED.replace("1.2", "0.75"), "final(P_x)", "tend", "a sample and the end of the motion", 1),
        (SIGNED, "final(P_x)", "x0", "the start of the motion and a switch", 1),  # of x0 >= 0
    ],
)
def test_just_at_an_end(text, measure, by, names, side):
    assert told(text, measure, by, f"{names} come together and move apart with {by}") == [
        [pytest.approx(side, abs=EXACT)]
    ]


def test_what_optima_are_made_of_is_told():
    """The bound is just where the event comes before the impact."""
    found = mechsim.mechanism(TWO).optimize({"a": (1, 2), "e": (0.2, 0.9)}, "final(P_x)")
    assert found.values == pytest.approx({"a": 1, "e": 0.9}, abs=1e-6)  # IPOPT's: a - e (2 - a)
    assert any("P.x max come together and move apart with a" in note for note in found.notes), found.notes
