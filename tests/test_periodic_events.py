"""Periodic motions where events of the user set inputs, open bonds and close them: what they leave is a state too."""

import numpy as np
import pytest
from scipy.linalg import expm

import mechsim
from mechsim.errors import IntegrationError

PUSHED = """
PhysicalParams: {w: 2, k: 3, c: 0.4}
Inputs: {u: 0}
PartData: {Fixed: {O: [-1], R: [1]}, Particles: {A: 1.5}}
AppliedForces: {Forces: {A: ["-k*A.x - c*A.vx + u", 0]}}
Joints: {Slots: {A-OR: []}}
Events:
  on: {when: sin(w*t+1), direction: up, do: {set: {u: 1}}}
  off: {when: sin(w*t-1), direction: up, do: {set: {u: 0}}}
ProblemData: {tend: 100, positions: {A: [[0.05, fixed], 0]}, velocities: {A: [[0, fixed]]}}
"""
FLIPPED = """
Inputs: {u: 1}
PartData: {Fixed: {O: [-1], R: [1]}, Particles: {A: 1}}
AppliedForces: {Forces: {A: ["-4*A.x - 0.3*A.vx + 2*cos(2*t) + 0.3*u", 0]}}
Joints: {Slots: {A-OR: []}}
Events: {flip: {when: A.x - 1, direction: up, do: {set: {u: -u}}}}
ProblemData: {tend: 100, positions: {A: [[0.5, fixed], 0]}, velocities: {A: [[0, fixed]]}}
"""
HELD = """
PhysicalParams: {k: 3, c: 0.3, p: 2}
PartData: {Fixed: {O: [-1], R: [1]}, Particles: {A: 1, B: 0.5}}
AppliedForces: {Forces: {A: ["-k*A.x + (0.5-A.x**2)*A.vx*p", 0], B: ["-2*B.x - c*B.vx", 0]}}
Joints: {Slots: {A-OR: [], B-OR: []}}
Bonds: {grip: A.x - B.x}
Events:
  on: {when: A.vx, direction: up, do: {attach: grip}}
  off: {when: A.vx, direction: down, do: {release: grip}}
ProblemData:
  tend: 60
  positions: {A: [[0.5, fixed], 0], B: [[0.1, fixed], 0]}
  velocities: {A: [[0.1, fixed]], B: [[0, fixed]]}
"""


def pushed_start(c: float = 0.4) -> np.ndarray:
    """In closed form: pushed from t = (2 pi - 1) / w to (2 pi + 1) / w, so that it begins in the middle of a push."""
    flow = np.array([[0, 1, 0], [-3 / 1.5, -c / 1.5, 1 / 1.5], [0, 0, 0]])  # x, v and the push
    free, push = flow.copy(), flow
    free[:, 2] = 0
    period = np.pi
    total = expm(push * 0.5) @ expm(free * (period - 1)) @ expm(push * 0.5)
    return np.linalg.solve(np.eye(2) - total[:2, :2], total[:2, 2])


def test_a_period_begins_with_what_events_have_set():
    """Newton's method ends within 1e-12 of the closed form, to some tolerances; it began with no push before."""
    handle = mechsim.mechanism(PUSHED)
    found = handle.periodic("2*pi/w", since=60)
    start = pushed_start()
    assert [found.positions[0], found.velocities[0]] == pytest.approx(start, rel=0, abs=1e-11)
    assert found.stability == "stable"
    assert "it begins with what events have left: u = 1" in found.notes
    assert found.motion.trajectory["A_x"][-1] == pytest.approx(start[0], rel=0, abs=1e-11)


def test_it_is_followed_with_what_events_have_set():
    branches = mechsim.mechanism(PUSHED).periodic_over("c", 0.4, 0.5, period="2*pi/w", since=60, measure="at(A_x, 0)")
    assert branches.branches[0].measures[-1, 0] == pytest.approx(pushed_start(0.5)[0], rel=0, abs=1e-11)


def test_what_is_flipped_takes_two_periods():
    """By `run` alone: after a long time the state comes back after two periods, and not after one."""
    handle = mechsim.mechanism(FLIPPED)
    with pytest.raises(IntegrationError, match=r"events have set u = -?1 where it comes back, and it begins with u ="):
        handle.periodic(np.pi, since=60)
    found = handle.periodic(np.pi, multiple=2, since=60)
    late = handle.simulate(tend=100 * np.pi).solution.q[-1, 0]
    assert found.period == pytest.approx(2 * np.pi)
    both = found.positions[0], found.solution.sampled([np.pi]).q[0, 0]
    assert abs(both[0] - both[1]) > 1e-4
    assert min(abs(each - late) for each in both) < 1e-9


def test_each_of_several_states_has_what_was_set_there():
    """What falls is pushed by 0.5 either way in turn: changes grow by e^(4 pi) in the period, so that it takes several
    states. In closed form the state after half the period is the opposite one, after (pi - 1)/2 with one push and 1/2
    with the other; Newton's method ends within some tolerances of 1e-12, times the growth between states."""
    text = """
Inputs: {u: 1}
PartData: {Fixed: {O: [-1], R: [1]}, Particles: {A: 1}}
AppliedForces: {Forces: {A: ["16*A.x + 0.5*u", 0]}}
Joints: {Slots: {A-OR: []}}
Events:
  on: {when: sin(2*t+1), direction: up, do: {set: {u: 1}}}
  off: {when: sin(2*t+1), direction: down, do: {set: {u: -1}}}
ProblemData: {tend: 10, positions: {A: [[0, fixed], 0]}, velocities: {A: [[0, fixed]]}}
"""
    found = mechsim.mechanism(text).periodic(np.pi)
    flows = [np.array([[0, 1, 0], [16, 0, push], [0, 0, 0]]) for push in (0.5, -0.5)]
    half = expm(flows[1] * 0.5) @ expm(flows[0] * (np.pi - 1) / 2)
    start = np.linalg.solve(np.eye(2) + half[:2, :2], -half[:2, 2])
    assert found.nodes > 1
    assert [found.positions[0], found.velocities[0]] == pytest.approx(start, rel=0, abs=1e-9)


@pytest.mark.parametrize("since", [40, 43])
def test_bonds_may_take_hold_and_let_go_on_the_way(since):
    assert mechsim.mechanism(HELD).periodic(since=since).period == pytest.approx(3.50072832097, rel=1e-11)


def test_a_period_that_begins_with_another_bond_is_refused():
    with pytest.raises(IntegrationError, match="bond grip is not as it is at the start of the file"):
        mechsim.mechanism(HELD).periodic(since=41)


def test_an_input_that_keeps_a_value_of_the_motion_is_a_state():
    text = FLIPPED.replace("u: -u", "u: A.vx")
    with pytest.raises(IntegrationError, match="event flip keeps a value of the motion, which is a state too"):
        mechsim.mechanism(text).periodic(np.pi, since=60)


def test_basins_of_what_events_set_are_refused():
    with pytest.raises(IntegrationError, match="basins are not known where events set inputs or bonds"):
        mechsim.mechanism(PUSHED).basins({"A_x": [0.0, 1.0]}, period="2*pi/w")
