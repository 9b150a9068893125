"""A motion is a list of smooth segments: where two meet, both sides can be asked for."""

import tracemalloc

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS

import mechsim
from mechsim.engine import Segments, integrate
from mechsim.engine.segments import Log, changing
from mechsim.model import build
from mechsim.simulation import prepare
from mechsim.spec import parse, read

# On a rail along x: the force across it is what the rail holds; the cushion jumps with its stiffness.
STEPS = """
Tables:
  push: {points: [[0, 1], [1, -2], [2, 4]], kind: step}
  stiff: {points: [[0, 20], [1.5, 60], [2, 5]], kind: step}
PartData: {Fixed: {O: [], R: [1]}, Particles: {B: 2}}
Joints: {Slots: {B-OR: []}}
AppliedForces:
  Potentials: {cushion: stiff*(B.x - 1)**2/2}
  Forces: {B: [push, 3*push]}
ProblemData: {tend: 3, positions: {B: [1.2]}}
"""
PERIOD = 0.05
SAMPLED = f"""
PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}}}}
AppliedForces: {{Gravity: }}
Controllers: {{theta_OA: {{target: 0.8, kp: 20, kd: 6, period: {PERIOD}}}}}
ProblemData: {{tend: 2, positions: {{A: [1]}}}}
"""


@pytest.fixture(scope="module")
def stepped():
    return mechsim.simulate(STEPS)


def test_a_motion_is_a_list_of_smooth_segments(stepped):
    segments = stepped.segments
    assert [(each.t0, each.t1) for each in segments] == [(0, 1), (1, 1.5), (1.5, 2), (2, 3)]
    assert len(segments) == 4 and segments[-1].t1 == 3.0
    changing = segments.numbers[segments.changing]
    first, second = (
        [each.constants[number] for each in segments] for number in changing if segments[0].constants[number]
    )
    assert (first, second) == ([1, -2, -2, 4], [20, 20, 60, 5])
    with pytest.raises(IndexError):
        segments[4]


def test_both_sides_of_a_jump_have_their_own_values(stepped):
    """The rail bears 3 push, so its multiplier jumps as push does: 1, -2, 4. Position and velocity do not jump."""
    before, after = (stepped.multipliers([1.0, 1.5, 2.0], side)["slot_B,OR"] for side in ("before", "after"))
    unit = stepped.multipliers(0.5)["slot_B,OR"]
    assert before / unit == pytest.approx([1, -2, -2], abs=1e-13)
    assert after / unit == pytest.approx([-2, -2, 4], abs=1e-13)
    for name in (stepped, stepped.velocity):
        assert name(2.0, "before")["B"] == pytest.approx(name(2.0)["B"], abs=1e-14)
    assert stepped.multipliers(0.0, "before")["slot_B,OR"] == unit  # nothing is before the start
    with pytest.raises(ValueError, match="side='left' is not known"):
        stepped(1.0, "left")


def test_the_table_has_both_sides_of_a_jump_when_asked(stepped):
    table, both = stepped.trajectory, stepped.both_sides()
    assert len(both) == len(table) + 3
    twice = np.flatnonzero(np.diff(both.t) == 0)
    assert both.t[twice].tolist() == [1.0, 1.5, 2.0]
    stretch = (both["B_x"] - 1) ** 2 / 2
    assert (both["V"] / stretch)[twice] == pytest.approx([20, 20, 60], rel=1e-12)
    assert (both["V"] / stretch)[twice + 1] == pytest.approx([20, 60, 5], rel=1e-12)
    once = np.setdiff1d(np.arange(len(both)), twice)  # the rows of a table are those after a jump
    assert np.array_equal(both.table[once], table.table)
    drawn = stepped.sampled([1.5, 2.0], "before")
    assert drawn["V"] == pytest.approx(both["V"][twice[1:]], rel=1e-12)


def test_both_sides_obey_the_equations_of_their_segment(stepped):
    """Accelerations just before and after a jump are those of the force there: m a = push - stiff (x - 1)."""
    solution = stepped.solution
    x = stepped([1.0, 1.5, 2.0])["B_x"] - 1
    for side, push, stiff in (("before", [1, -2, -2], [20, 20, 60]), ("after", [-2, -2, 4], [20, 60, 5])):
        accelerations, _ = solution.leading(solution.sampled([1.0, 1.5, 2.0], side))
        assert 2 * accelerations[:, 0] == pytest.approx(np.array(push) - np.array(stiff) * x, abs=1e-12)


@pytest.mark.parametrize("text", [STEPS, SAMPLED], ids=["tables", "sampled"])
def test_steps_belong_to_one_segment(text):
    solution = mechsim.simulate(text).solution
    starts, ends = solution.segments.at(solution.t[:-1], "after"), solution.segments.at(solution.t[1:], "before")
    assert np.array_equal(starts, ends)
    assert np.array_equal(np.unique(starts), np.arange(len(solution.segments)))


def test_a_sampled_controller_makes_a_segment_of_each_period():
    motion = mechsim.simulate(SAMPLED)
    starts = motion.segments.starts
    assert starts == pytest.approx(PERIOD * np.arange(40), abs=1e-15) and starts[7] == 7 * PERIOD
    torque = 20 * (0.8 - motion(starts)["theta_OA"]) - 6 * motion.velocity(starts)["theta_OA"]
    assert motion.segments.values[:, 0] == pytest.approx(torque, abs=1e-9)


@pytest.mark.parametrize("name", ["pendulum", "andrews"])
def test_a_motion_without_jumps_is_one_segment(name):
    motion = mechsim.simulate(SPECS / f"{name}.yaml")
    (segment,) = motion.segments
    assert (segment.t0, segment.t1, segment.constants) == (motion.t[0], motion.t[-1], {})
    assert motion.solution.system_at(motion.t) is motion.system


def test_backwards_a_motion_is_one_segment_too():
    prepared = prepare(read(SPECS / "pendulum.yaml"))
    back = integrate(prepared.system, prepared.structure, prepared.start, tend=-0.5, tolerance=1e-12)
    assert [(each.t0, each.t1) for each in back.segments] == [(0.0, -0.5)]
    for side in ("before", "after"):
        q, v, _ = back.sample(back.t, side)
        assert np.abs(q - back.q).max() < 1e-13 and np.abs(v - back.v).max() < 1e-12


def test_an_outline_knows_the_segments_of_its_points(monkeypatch):
    """And no others, so that what is kept does not grow with the run."""
    prepared = prepare(parse(SAMPLED.replace("tend: 2", "tend: 40")))
    tolerance = prepared.spec.solver.tolerance
    whole = integrate(prepared.system, prepared.structure, prepared.start, tend=40.0, tolerance=tolerance, keep="steps")
    monkeypatch.setattr("mechsim.engine.outline.MOST_NUMBERS", 1000)
    seen = []
    few = integrate(
        prepared.system,
        prepared.structure,
        prepared.start,
        tend=40.0,
        tolerance=tolerance,
        keep="outline",
        observer=seen.append,
    )
    assert len(few.segments) <= 2 * len(few.t) + 1 < 300 < len(whole.segments)
    for side in ("before", "after"):
        assert np.array_equal(few.system_at(few.t, side).constants, whole.system_at(few.t, side).constants)
    held = whole.points.system.constants
    constants = [np.broadcast_to(points.system.constants, (len(points), held.shape[1])) for points in seen]
    assert np.array_equal(np.concatenate(constants), held)


@given(
    starts=st.lists(st.integers(-50, 50), min_size=1, max_size=12),
    times=st.lists(st.integers(-60, 60), min_size=1, max_size=20),
)
@some_of(100)
def test_segments_are_found_by_time(starts, times):
    """Against plain words: the last that has begun until then, or before then; the first at least. Of several that
    begin at one time, those between have no length."""
    starts, times = np.sort(np.array(starts, float)), np.array(times, float)
    segments = Segments(starts, np.array([3]), starts[:, None] + 0.5, 99.0)
    for side in ("before", "after"):
        begun = [[i for i, s in enumerate(starts) if s < t or (s == t and side == "after")] for t in times]
        assert segments.at(times, side).tolist() == [max(each, default=0) for each in begun]
        turned = Segments(-starts, segments.numbers, segments.values, -99.0)  # backwards in time
        assert np.array_equal(turned.at(-times, side), segments.at(times, side))
    constants = segments.constants(np.arange(5.0), segments.at(times))
    assert np.array_equal(np.delete(constants, 3, axis=1), np.tile([0, 1, 2, 4], (len(times), 1)))


def test_many_segments_take_little_memory():
    """A hundred thousand samples: 16 bytes each, in columns that double, not an object each."""
    mechanism = build(parse(SAMPLED))
    constants = np.array(mechanism.constants)
    tracemalloc.start()
    log = Log(changing(mechanism.switches, mechanism.samplers), constants, 0.0, 1e5)
    for number in range(100_000):
        log.begin(float(number), constants)
    segments = log.segments
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(segments) == 100_000 and segments[99_999].t0 == 99_999.0
    assert peak < 100_000 * 8 * (1 + len(segments.numbers)) * 4
