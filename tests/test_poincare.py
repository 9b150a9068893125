"""Sections and bifurcation diagrams: against closed forms, SciPy, events of files, and what continuation finds."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest
from reference import SPECS
from reference.dynamics import TIGHT, henon_heiles
from scipy.integrate import solve_ivp

import mechsim
from mechsim.errors import AssemblyError, SpecError

DYNAMICS = SPECS / "dynamics"

OSCILLATOR = mechsim.lagrangian_system(
    lambda q, v, t, p: (v[0] ** 2 - p.k * q[0] ** 2) / 2, ["x"], parameters={"k": 1.0}
)
DUFFING = mechsim.lagrangian_system(
    lambda q, v, t, p: v[0] ** 2 / 2 - q[0] ** 2 / 2 - q[0] ** 4 / 4,
    ["x"],
    forces=lambda q, v, t, p: [-0.1 * v[0] + 0.3 * jnp.cos(p.w * t)],
    parameters={"w": 1.0},
)


# --- closed forms


def test_an_oscillator_crosses_at_known_times():
    """x = cos t crosses zero downwards at pi/2 + 2 pi n: times are those of the polynomials, as exact as the motion."""
    found = OSCILLATOR.poincare({"x": 1.0}, section="x", direction="down", points=20, tend=50.0, tol=1e-13)
    assert found["t"] == pytest.approx(math.pi / 2 + 2 * math.pi * np.arange(20), rel=0, abs=1e-11)
    assert found["x"] == pytest.approx(np.zeros(20), abs=1e-14)
    assert found["x_dot"] == pytest.approx(-np.ones(20), abs=1e-11)
    both = OSCILLATOR.poincare({"x": 1.0}, section="x", direction="both", points=20, tend=50.0, tol=1e-13)
    assert both["t"] == pytest.approx(math.pi / 2 + math.pi * np.arange(20), rel=0, abs=1e-11)


def test_a_jump_over_zero_is_no_crossing():
    """A ball that falls from 1 m and keeps its speed: at its top, every 2 sqrt(2 / g), its velocity falls through zero;
    at the floor it jumps from below to above."""
    ball = mechsim.mechanism("""
PartData: {Particles: {A: 1}}
AppliedForces: {Gravity: [0, -9.81]}
Stops: {A.y: {min: 0, e: 1}}
ProblemData: {tend: 20, positions: {A: [0, 1]}}
""")
    tops = 2 * math.sqrt(2 / 9.81) * np.arange(1, 11)
    for direction in ("down", "both"):
        found = ball.poincare(section="A_y_dot", direction=direction, points=10)
        assert found["t"] == pytest.approx(tops, rel=0, abs=1e-10)
        assert found["A_y_dot"] == pytest.approx(0, abs=1e-10)
    never = ball.poincare(section="A_y_dot", direction="up", points=10)
    assert len(never) == 0
    assert "passed the section never" in never.notes[0]


def test_whole_periods_of_many_motions():
    """x = cos(sqrt(k) t) at t = 1, 2, 3, ... for many k, side by side in lanes, and alone."""
    stiffness = np.linspace(0.5, 2.0, 7)
    found = OSCILLATOR.poincare({"x": 1.0}, period=1.0, points=30, transient=4.5, vary={"k": stiffness}, tend=50.0)
    times = np.arange(5, 35)
    assert found.count == 7 and len(found) == 210
    for number, k in enumerate(stiffness):
        rows = found.of(number)
        assert rows[:, 0] == pytest.approx(times, rel=1e-14)
        assert rows[:, 1] == pytest.approx(np.cos(np.sqrt(k) * times), abs=1e-8)
        alone = OSCILLATOR.poincare({"x": 1.0}, period=1.0, points=30, transient=4.5, parameters={"k": k}, tend=50.0)
        assert alone.table == pytest.approx(rows, abs=1e-8)


def test_crossings_of_many_motions_are_all_seen(monkeypatch):
    """However few steps are looked at at once, and also of motions whose polynomials have other degrees."""
    from mechsim.measure import steps

    asked = {"section": "x", "points": 25, "vary": {"k": [0.5, 1.0, 2.0]}, "tend": 50.0}
    whole = OSCILLATOR.poincare({"x": 1.0}, **asked)
    monkeypatch.setattr(steps, "MOST_STEPS", 10)
    pieces = OSCILLATOR.poincare({"x": 1.0}, **asked)
    assert len(whole) == 75 and np.array_equal(whole.table, pieces.table)
    monkeypatch.undo()
    thrown = mechsim.lagrangian_system(
        lambda q, v, t, p: (v[0] ** 2 + v[1] ** 2) / 2 - p.g * q[0], ["x", "y"], parameters={"g": 1.0}
    )
    starts = {"x": [-1.0], "x_dot": [1.0, 2.0]}
    found = thrown.poincare({}, {"y": 1.0}, section="x", points=1, starts=starts, vary={"g": [0.0, 0.25]}, tend=10.0)
    exact = [1.0, 0.5, 4 - 2 * math.sqrt(2), 8 - math.sqrt(56)]
    assert found["t"] == pytest.approx(exact, abs=1e-12)


def test_columns_may_be_expressions():
    found = OSCILLATOR.poincare(
        {"x": 1.0},
        period=0.7,
        points=10,
        columns=["t", "T + V", "k*x**2/2", "sin(t)"],
        tend=20.0,
        parameters={"k": 4.0},
    )
    assert found["T + V"] == pytest.approx(2.0 * np.ones(10), abs=1e-9)
    assert found["k*x**2/2"] == pytest.approx(2 * np.cos(2 * found["t"]) ** 2, abs=1e-8)
    assert found["sin(t)"] == pytest.approx(np.sin(found["t"]))


# --- independent code


def test_henon_and_heiles_section_is_scipys():
    handle = mechsim.mechanism(DYNAMICS / "henon_heiles.yaml")
    heights = [-0.2, 0.1, 0.3]
    found = handle.poincare(section="A_x", points=6, vary={"y0": heights}, tol=1e-12)
    for number, y0 in enumerate(heights):
        start = [0, y0, math.sqrt(0.25 - y0**2 + 2 * y0**3 / 3), 0]

        def crossing(t, y):
            return y[0]

        crossing.direction = 1
        expected = solve_ivp(henon_heiles(), (0, 60), start, events=crossing, **TIGHT).t_events[0]
        expected = expected[expected > 1e-6][:6]
        assert found["t"][found.motion == number] == pytest.approx(expected, rel=0, abs=1e-8)
    energy = (found["A_x_dot"] ** 2 + found["A_y_dot"] ** 2 + found["A_y"] ** 2) / 2 - found["A_y"] ** 3 / 3
    assert energy == pytest.approx(np.full(len(found), 0.125), abs=1e-12)


def test_an_event_of_the_file_is_a_section():
    """`when: sin(w*t)` upwards is every whole period. The file has contacts too, so motions go one by one."""
    handle = mechsim.mechanism(SPECS / "contacts" / "triple_pendulum_periodic_impacts.yaml")
    event = handle.poincare(event="section", points=12, transient=100.0)
    period = 2 * math.pi / 1.2
    assert np.diff(event["t"]) == pytest.approx(np.full(11, period), rel=1e-11)
    strobe = handle.poincare("2*pi/w", points=12, transient=100.0)
    assert event["t"] == pytest.approx(strobe["t"], rel=1e-11)
    assert event["theta_OA"] == pytest.approx(strobe["theta_OA"], abs=1e-7)
    contact = handle.poincare(event="contact_barrier", points=5)
    assert contact["C_y"] == pytest.approx(np.full(5, -2.6), abs=1e-9)


# --- starts


def test_starts_are_put_on_the_constraints():
    """The angle of a rod and its rate are given; its end point follows."""
    handle = mechsim.mechanism(DYNAMICS / "driven_pendulum.yaml")
    angles, rates = [-2.5, -1.0, 2.0], [0.0, 1.0]
    found = handle.poincare("2*pi/w", points=1, starts={"theta_OA": angles, "theta_OA_dot": rates})
    assert found.count == 6
    assert found["theta_OA"] == pytest.approx(np.repeat(angles, 2))
    assert found["A_x"] == pytest.approx(np.cos(np.repeat(angles, 2)), abs=1e-12)
    assert found["A_y_dot"] == pytest.approx(np.cos(np.repeat(angles, 2)) * np.tile(rates, 3), abs=1e-12)
    assert found["start_theta_OA_dot"] == pytest.approx(np.tile(rates, 3))
    with pytest.raises(AssemblyError, match="nothing can start with A_x = 2"):
        handle.poincare("2*pi/w", starts={"A_x": [2.0]})


def test_parameters_and_starts_are_combined():
    """x = x0 cos(sqrt(k) t), for all pairs."""
    found = OSCILLATOR.poincare(
        {"x": 1.0}, period=1.0, points=3, vary={"k": [1.0, 2.0]}, starts={"x": [0.5, 1.5]}, tend=20.0
    )
    assert found["k"][::3].tolist() == [1, 1, 2, 2] and found["start_x"][::3].tolist() == [0.5, 1.5, 0.5, 1.5]
    expected = found["start_x"] * np.cos(np.sqrt(found["k"]) * found["t"])
    assert found["x"] == pytest.approx(expected, abs=1e-8)


# --- bifurcation diagrams


def test_a_diagram_has_as_many_points_as_the_motion_periods():
    """Doublings of the driven pendulum are at g = 1.0664, 1.0793 and 1.0821: one point before the first, then two, then
    four. After 300 periods what is left of the transient is below 1e-6."""
    handle = mechsim.mechanism(DYNAMICS / "driven_pendulum.yaml")
    found = handle.bifurcation("g", [1.05, 1.072, 1.0805], "2*pi/w", points=16, transient="300*2*pi/w")
    counts = [len(np.unique(np.round(found["theta_OA_dot"][found.motion == k], 5))) for k in range(3)]
    assert counts == [1, 2, 4]
    assert found.over == "g" and found.axes[0] == "g"


def test_motions_that_follow_each_other_jump_at_the_folds():
    """Duffing's oscillator over its frequency: upwards it stays on the high branch to the fold at 1.7797, downwards on
    the low one to that at 1.3242 (tests/test_periodic_over.py)."""
    values = np.arange(1.2, 1.9, 0.05)
    found = DUFFING.bifurcation(
        "w",
        values,
        {"x": 0.3},
        period="2*pi/w",
        points=1,
        transient="60*2*pi/w",
        follow="both",
        tend=50.0,
        scales={"x": 1.0},
    )
    up = found["way"] > 0
    size = np.hypot(found["x"], found["x_dot"] / found["w"])

    def jump(rows):
        order = np.argsort(found["w"][rows])
        place = np.argmax(np.abs(np.diff(size[rows][order])))
        return found["w"][rows][order][place : place + 2]

    assert jump(up)[0] < 1.77972 < jump(up)[1]
    assert jump(~up)[0] < 1.32424 < jump(~up)[1]


# --- files, and what is refused


def test_points_are_written(tmp_path):
    found = OSCILLATOR.poincare({"x": 1.0}, period=1.0, points=5, vary={"k": [1.0, 2.0]}, tend=50.0)
    for ending in ("csv", "npz", "parquet"):
        found.save(tmp_path / f"points.{ending}")
    lines = (tmp_path / "points.csv").read_text().splitlines()
    assert lines[1] == "# section: at whole periods 1.0" and lines[2] == "motion,k,t,x,x_dot"
    assert len(lines) == 3 + 10
    with np.load(tmp_path / "points.npz") as file:
        assert file["x"] == pytest.approx(found["x"]) and list(file["motion"]) == [0] * 5 + [1] * 5
    import pyarrow.parquet

    assert pyarrow.parquet.read_table(tmp_path / "points.parquet")["x"].to_pylist() == found["x"].tolist()


def test_what_never_passes_is_told():
    found = OSCILLATOR.poincare({"x": 1.0}, section="x - 3", points=5, tend=5.0)
    assert len(found) == 0
    assert found.notes == ("the motion passed the section never in the time it was given",)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("say one of them", {}),
        ("say one of them", {"period": 1.0, "section": "x"}),
        ("there is no event or contact top", {"event": "top"}),
        ("there is no parameter m", {"period": 1.0, "vary": {"m": [1.0]}}),
        ("there is no coordinate or rate y", {"period": 1.0, "starts": {"y": [1.0]}}),
        ("there is no column y", {"section": "y"}),
        ("not known from positions and velocities alone", {"period": 1.0, "columns": ["x_ddot"]}),
        ("a direction is one of", {"section": "x", "direction": "left"}),
        ("must be above zero", {"period": "-k"}),
        ("finite numbers", {"period": 1.0, "vary": {"k": [math.nan]}}),
    ],
)
def test_what_cannot_be_a_section(words, asked):
    with pytest.raises(SpecError) as caught:
        OSCILLATOR.poincare({"x": 1.0}, tend=5.0, **asked)
    assert words in str(caught.value)
