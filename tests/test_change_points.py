"""Poses in which constraints become dependent are passed at every tolerance, on the motion that arrives there.

Linkages are random, their motions known from one equation in one angle (reference/change_points.py). `make test-slow`
takes two thousand.
"""

import numpy as np
import pytest
from reference.change_points import kite, row, slider_crank

import mechsim
from mechsim.errors import AssemblyError

KINDS = {"row": row, "slider-crank": slider_crank, "kite": kite}


def off(case):
    """How far the end of the motion is from where it should be, over the size; and the motion."""
    motion = mechsim.simulate(case.text, tol=case.tolerance)
    return np.abs(motion(case.tend)[case.last] - case.place).max() / case.size, motion


def passed(case):
    """Errors grow over some turns, near an unstable equilibrium more; what goes the wrong way is off by 0.1 or more."""
    error, motion = off(case)
    assert error <= 1e4 * case.tolerance + 1e-9, case
    return motion.certificate.doubts()


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("kind", KINDS)
def test_change_points_are_passed(kind, seed):
    assert passed(KINDS[kind](seed)) == ()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_thousand_change_points_are_passed(kind):
    """A pose that multiplies roundings by a million may cost the energy 1e-10 of itself: then it is said."""
    doubted = [seed for seed in range(1000, 1670) if passed(KINDS[kind](seed))]
    assert len(doubted) <= 2, doubted


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14])
def test_digits_follow_the_tolerance_through_change_points(tolerance):
    """Five of them, the masses so unlike that the bars' forces have poles there."""
    case = row(4, count=1)
    motion = mechsim.simulate(case.text, tol=tolerance)
    # Two digits are lost to roundings, which a pose multiplies by the inverse of its distance at the nearest step.
    assert motion.certificate.energy_drift <= max(tolerance, 1e-12)


@pytest.mark.slow
def test_forty_four_bars_in_a_row():
    """As IFToMM's A02: forty parallelograms with cranks upright and 1 m/s, 20 s at 1e-12, all flat at the same time."""
    count = 40
    fixed = ", ".join(f"O{k}: [{k}]" for k in range(count + 1))
    bars = [f"O{k}A{k}" for k in range(count + 1)] + [f"A{k}A{k + 1}" for k in range(count)]
    places = ", ".join(f"A{k}: [{k}, 1]" for k in range(count + 1))
    text = f"""
PartData:
  Fixed: {{{fixed}}}
  Rigids: {{"{", ".join(bars)}": {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}}
AppliedForces: {{Gravity: [0, -9.81]}}
ProblemData: {{tend: 20, positions: {{{places}}}, velocities: {{A0: [[1, fixed], 0]}}}}
"""
    motion = mechsim.simulate(text, tol=1e-12)
    assert motion.certificate.energy_drift < 1e-11
    assert motion.certificate.doubts() == ()


def cranks(angle, rate, third, tend=3.0, joints=""):
    """Three parallel cranks on one coupler, whose third pivot is at `third`; the coupler translates."""
    x, y = np.cos(angle), np.sin(angle)
    u, w = third
    return f"""
PartData:
  Fixed: {{O: [], C: [2], E: [{u}, {w}]}}
  Rigids:
    OA, CB, EF: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
    ABF: {{Geom: [[2], [{u}, {w}]], Dyna: [[1], 2, 0.7]}}
{joints}
AppliedForces: {{Gravity: [0, -9.81]}}
ProblemData:
  tend: {tend}
  positions: {{A: [{x}, {y}], B: [{x + 2}, {y}], F: [{x + u}, {y + w}]}}
  angles: {{OA: [{angle}, fixed]}}
  rates: {{OA: [{rate}, fixed]}}
"""


def pendulum(angle, rate, tend=3.0):
    """The angle at the end of what the three cranks do: 3 (1/12 + 1/4) + 2 of inertia, 3.5 g of pull."""
    from scipy.integrate import solve_ivp

    solved = solve_ivp(
        lambda t, y: [y[1], -3.5 * 9.81 / 3 * np.cos(y[0])], (0, tend), [angle, rate], "DOP853", rtol=3e-14, atol=1e-14
    )
    return solved.y[0, -1]


@pytest.mark.parametrize("third", [(1.0, 0.7), (1.0, 0.0)], ids=["in a triangle", "in a line"])
@pytest.mark.parametrize("angle", np.linspace(-3.1, 3.1, 13))
def test_three_parallel_cranks(angle, third):
    """One constraint is too many. In a triangle there is no change point at all, if any of them may be the one that
    rests; in a line there is one as well."""
    motion = mechsim.simulate(cranks(angle, 5.0, third), tol=1e-12)
    end = pendulum(angle, 5.0)
    np.testing.assert_allclose(motion(3.0)["B"], [2 + np.cos(end), np.sin(end)], rtol=0, atol=1e-10)
    if third[1]:
        assert motion.certificate.rejected == 0 and motion.certificate.energy_drift < 1e-12


@pytest.mark.parametrize("constraint", ["theta_AB", "A.y - B.y", "theta_OA - theta_CB"])
def test_a_constraint_that_makes_the_pose_regular_helps(constraint):
    case = row(7, count=1)
    text = case.text.replace("AppliedForces", f"Joints: {{Holonomic: {{level: {constraint}}}}}\nAppliedForces")
    for old, new in (("O0", "O"), ("A0", "A"), ("O1", "C"), ("A1", "B")):
        text = text.replace(old, new)
    motion = mechsim.simulate(text, tol=1e-13)
    np.testing.assert_allclose(motion(case.tend)["B"], case.place, rtol=0, atol=1e-10)
    assert motion.certificate.rejected == 0 and motion.certificate.energy_drift < 1e-13


# --- starts on the pose


def flat(more, angle=0.0, tend=2.0):
    x, y = np.cos(angle), np.sin(angle)
    return f"""
PartData:
  Fixed: {{O: [], C: [2]}}
  Rigids:
    OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
    AB: {{Geom: [[2]], Dyna: [[1], 2, 8/12]}}
    CB: {{Geom: [[1]], Dyna: [[0.5], 3, 3/12]}}
AppliedForces: {{Gravity: [0, -9.81]}}
ProblemData:
  tend: {tend}
  positions: {{A: [{x!r}, {y!r}], B: [{x + 2!r}, {y!r}]}}
  {more}
"""


def turned(angle, rate, tend=2.0):
    from scipy.integrate import solve_ivp

    inertia, pull = 4 / 3 + 2, 9.81 * (0.5 + 1.5 + 2)
    solved = solve_ivp(
        lambda t, y: [y[1], -pull / inertia * np.cos(y[0])], (0, tend), [angle, rate], "DOP853", rtol=3e-14, atol=1e-14
    )
    return solved.y[0, -1]


@pytest.mark.parametrize("angle", [0.0, np.pi])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-12, 1e-14])
def test_a_start_on_the_pose_with_the_velocity_of_one_motion(angle, tolerance):
    speed = 4 * np.cos(angle)
    motion = mechsim.simulate(flat(f"velocities: {{A: [0, {speed}], B: [0, {speed}]}}", angle), tol=tolerance)
    end = turned(angle, 4.0)
    np.testing.assert_allclose(
        motion(2.0)["B"], [2 + np.cos(end), np.sin(end)], rtol=0, atol=max(1e-10, 10 * tolerance)
    )


@pytest.mark.parametrize("angle", [1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
def test_a_start_beside_the_pose_keeps_its_digits(angle):
    """The constraints alone would tell velocities to 1e-16/angle^2 only."""
    motion = mechsim.simulate(flat(f"angles: {{OA: [{angle}, fixed]}}\n  rates: {{OA: [4, fixed]}}", angle), tol=1e-12)
    end = turned(angle, 4.0)
    np.testing.assert_allclose(motion(2.0)["B"], [2 + np.cos(end), np.sin(end)], rtol=0, atol=2e-10)


def test_the_motion_nearest_to_the_velocities_asked_for_is_taken():
    """Through the flat parallelogram pass B' = A' and, crossed, B' = -3 A'."""
    together = mechsim.simulate(flat("velocities: {A: [0, 1], B: [0, 0.9]}", tend=0.1))
    np.testing.assert_allclose(together.velocity(0.0)["A"], [0, 0.95], rtol=0, atol=1e-9)
    np.testing.assert_allclose(together.velocity(0.0)["B"], [0, 0.95], rtol=0, atol=1e-9)
    crossed = mechsim.simulate(flat("velocities: {A: [0, 1], B: [0, -1]}", tend=0.1))
    np.testing.assert_allclose(crossed.velocity(0.0)["A"], [0, 0.4], rtol=0, atol=1e-9)
    np.testing.assert_allclose(crossed.velocity(0.0)["B"], [0, -1.2], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("velocities", "words"),
    [
        ("", "at rest in a singular position"),
        ("velocities: {A: [0, [1, fixed]], B: [0, [0.5, fixed]]}", "no motion with A_y_dot = 1"),
    ],
)
def test_a_start_on_the_pose_where_nothing_chooses(velocities, words):
    with pytest.raises(AssemblyError, match=words) as refused:
        mechsim.simulate(flat(velocities))
    fault = refused.value.faults[0]
    assert fault.mark is not None and "change point" in fault.message and fault.hint


def test_a_mechanism_that_locks_stops_where_it_does():
    """Two rods of 1 m driven to 2 m and beyond: the straight pose is no change point but the end of the way."""
    text = """
PartData:
  Fixed: {O: []}
  Rigids: {"OA, AB": {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
Drives: {"dist(O,B)": 1.2 + t}
ProblemData: {tend: 2, positions: {A: [0.6, 0.8], B: [1.2, 0]}}
"""
    for tolerance in (1e-4, 1e-8, 1e-12):
        with pytest.raises(mechsim.IntegrationError) as stopped:
            mechsim.simulate(text, tol=tolerance)
        assert stopped.value.motion.t[-1] == pytest.approx(0.8, abs=1e-6)


def test_dense_output_passes_the_pose_too():
    """Samples nearer to the pose than any step ends, where a projection would ruin them."""
    case = row(4, count=1)
    motion = mechsim.simulate(case.text, tol=1e-12)
    times = np.linspace(0, case.tend, 4001)
    heights = motion(times)["A0"][:, 1]
    crossing = times[np.flatnonzero(heights[1:] * heights[:-1] < 0)]
    assert len(crossing) >= 2
    for moment in (crossing[:, None] + 10.0 ** np.arange(-9, -3)).ravel():
        apart = motion(moment)["A1"] - motion(moment)["A0"]
        speeds = motion.velocity(moment)["A1"] - motion.velocity(moment)["A0"]
        assert abs(apart[1]) < 1e-11 and np.abs(speeds).max() < 1e-8  # cranks stay parallel: a fold is a matter of 1e-3


# --- driven mechanisms, rows on the pose


DRIVEN = """
PartData:
  Fixed: {{O: [], C: [2]}}
  Rods: {{OA: 1, AB: 2, CB: 1}}
  Particles: {{A: 1, B: 1}}
Drives: {{theta_OA: {drive}}}
AppliedForces: {{Gravity: [0, {gravity}]}}
ProblemData: {{t0: {t0!r}, tend: {tend!r}, positions: {{A: [{x!r}, {y!r}], B: [{further!r}, {y!r}]}}}}
"""
DRIVES = {
    "2*pi*t": lambda t: (2 * np.pi * t, 2 * np.pi),
    "0.4 + 10*t": lambda t: (0.4 + 10 * t, 10.0),
    "0.4 + 4*t + sin(t)": lambda t: (0.4 + 4 * t + np.sin(t), 4 + np.cos(t)),
}


def driven(drive, t0, tend, gravity=-9.81):
    angle, _ = DRIVES[drive](t0)
    x, y = float(np.cos(angle)), float(np.sin(angle))
    return DRIVEN.format(drive=drive, gravity=gravity, t0=t0, tend=tend, x=x, y=y, further=x + 2)


def assert_drives(motion, drive, times, close):
    """B runs as A does, two metres beside it."""
    for t in times:
        angle, rate = DRIVES[drive](t)
        assert motion(t)["B"] == pytest.approx([2 + np.cos(angle), np.sin(angle)], abs=close), t
        assert motion.velocity(t)["B"] == pytest.approx(rate * np.array([-np.sin(angle), np.cos(angle)]), abs=9 * close)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-13, 1e-14])
@pytest.mark.parametrize("gravity", [0.0, -9.81])
@pytest.mark.parametrize("drive", DRIVES)
def test_driven_mechanisms_pass(drive, gravity, tolerance):
    for t0 in (0.1, 0.12345, -0.3):
        motion = mechsim.simulate(driven(drive, t0, t0 + 2.37, gravity), tol=tolerance)
        assert_drives(motion, drive, np.linspace(t0, t0 + 2.37, 20), 1e4 * tolerance + 1e-9)
        assert motion.certificate.doubts() == ()


@pytest.mark.parametrize(("t0", "tend"), [(0.1, 1.0), (0.0, 0.9), (0.0, 1.0), (0.25, 0.5)])
def test_motions_begin_and_end_on_the_pose(t0, tend):
    motion = mechsim.simulate(driven("2*pi*t", t0, tend), tol=1e-12)
    assert_drives(motion, "2*pi*t", np.linspace(t0, tend, 7), 1e-9)
    assert motion.certificate.energy_drift < 1e-10


def torque_of(motion, times):
    table = motion.sampled(times)
    return dict(zip(table.t.tolist(), table["drive_theta_OA"].tolist(), strict=True))


def test_forces_on_the_pose_and_beside_it():
    """Virtual work: the torque is 2 m g cos(theta). The series that crosses the pose has it to some 1e-9."""
    motion = mechsim.simulate(driven("2*pi*t", 0.1, 2.1), tol=1e-12)
    beside = [0.5 + side * 10.0**-k for k in range(2, 13) for side in (-1, 1)]
    for t, torque in torque_of(motion, np.sort([0.5, 1.0, 1.5, 2.0, *beside])).items():
        assert torque == pytest.approx(2 * 9.81 * np.cos(2 * np.pi * t), abs=1e-6), t
    assert motion.certificate.doubts() == ()


def test_rows_of_every_kind_agree_on_the_pose():
    """Started on it: what a table at chosen times says is what the march says."""
    text = """
PartData:
  Fixed: {O: [], R: [1]}
  Rigids:
    OA, AB: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
Joints: {Pistons: {B-OR: [0.5]}}
ProblemData:
  tend: 1
  positions: {A: [0, 1], B: [0]}
  angles: {OA: [pi/2, fixed]}
  rates: {OA: [4, fixed]}
  velocities: {B: [-8]}
"""
    motion = mechsim.simulate(text, tol=1e-12)
    rows = motion.sampled(np.array([0.0, 0.5]))
    assert rows["theta_OA_dot"][0] == pytest.approx(4.0, abs=1e-10)
    assert rows["B_x_dot"][0] == pytest.approx(-8.0, abs=1e-10)
