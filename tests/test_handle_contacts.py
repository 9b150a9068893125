"""Handles, sweeps and components of mechanisms with contacts, stops, events and switches."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS

import mechsim
from mechsim.errors import AssemblyError, IntegrationError, MechsimError

CONTACTS = SPECS / "contacts"

BOX = """
PhysicalParams: {e: 0.8, g: 9.8, left: 0, right: 1, h: 0.05, r: 0.1, tilt: 0.1, m: 2, push: 0}
PartData: {Fixed: {O: [0.5, 0.2]}, Particles: {P: m}}
AppliedForces: {Gravity: [push, -g]}
Contacts:
  floor: {gap: P.y - tilt*(P.x - 0.5) - h*sin(7*t), e: e}
  P-O: {radius: r, e: e**2}
Stops: {P.x: {min: left, max: right, e: 0.3 + e/2}}
ProblemData:
  tend: 2
  positions: {P: [[0.55, fixed], [1, fixed]]}
  velocities: {P: [[0.3, fixed], [0, fixed]]}
SolverParams: {Integration: {tol: 1e-14}}
"""

MOTOR = """
Inputs: {wind: 0}
PhysicalParams: {e: 0.5, more: 2, low: 0.25}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -10], Forces: {P: ["wind - 0.1*abs(P.vx)*P.vx", 0]}}
Contacts: {floor: {gap: P.y, e: e}}
Events:
  top: {when: P.vy, direction: down, do: {set: {wind: wind + more + P.y}}}
  low: {when: P.y - low, direction: up}
  far: {when: P.x - 3, do: stop}
ProblemData:
  tend: 20
  positions: {P: [[0, fixed], [0, fixed]]}
  velocities: {P: [[0, fixed], [5, fixed]]}
SolverParams: {Integration: {tol: 1e-14}}
"""


def same(one, other, off=0.0) -> None:
    """Two motions, their events and all their accounts are the same; where `off` is zero, to the last bit."""
    assert [(each.gap, each.kind) for each in one.events] == [(each.gap, each.kind) for each in other.events]
    tables = [
        (one.events.table, other.events.table),
        (one.solution.q[-1], other.solution.q[-1]),
        (one.solution.v[-1], other.solution.v[-1]),
    ]
    for own, known in tables:
        size = max(1.0, np.abs(known).max(initial=0.0))
        assert np.abs(own - known).max(initial=0.0) <= off * size


def number(least: float, most: float) -> st.SearchStrategy[float]:
    return st.floats(least, most).map(lambda value: round(value, 4))


# --- parameters live


@some_of(25)
@given(
    e=number(0.0, 1.0),
    g=number(0.5, 15),
    left=number(-0.5, 0.3),
    h=number(0.01, 0.1),
    r=number(0.02, 0.2),
    m=number(0.1, 9),
)
def test_contacts_follow_the_parameters(e, g, left, h, r, m):
    """The plan is the same and all is fixed at the start, so every bit is that of the file read with these."""
    parameters = {"e": e, "g": g, "left": left, "h": h, "r": r, "m": m}
    same(BOX_HANDLE.simulate(parameters=parameters), mechsim.simulate(BOX, parameters=parameters))


BOX_HANDLE = mechsim.mechanism(BOX)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("resting_ball", {"e": 0.3, "g": 4.0}),
        ("resting_ball", {"e": 0.0}),
        ("pendulum_wall", {"e": 0.5, "l": 1.3, "start": 0.7, "g": 3.0}),
        ("stops", {"e": 0.25, "limit": 0.7, "w": 3.0}),
        ("cradle", {"start": 0.2, "r": 0.06}),
        ("slack_tether", {}),
        ("double_pendulum_wall", {}),
        ("leaving_sphere", {}),
        ("box_in_space", {"h": 0.7, "c": 0.5}),
        ("rocking_block", {}),
        ("disc_over_edge", {}),
        ("ratchet", {"torque": 5.0}),
        ("ratchet", {"b": 0.8}),  # an outline is made of it: the file is read again
    ],
)
def test_a_handle_has_the_motion_of_its_file(name, parameters):
    """Starts that are searched for differ by roundings, which impacts multiply."""
    path = CONTACTS / f"{name}.yaml"
    tend = {"cradle": 1.2, "ratchet": 1.5}.get(name)
    motion = mechsim.mechanism(path).simulate(parameters=parameters, tend=tend)
    same(motion, mechsim.simulate(path, parameters=parameters, tend=tend), 1e-12)
    assert motion.certificate.doubts() == ()


def test_no_run_changes_a_later_one():
    handle = mechsim.mechanism(CONTACTS / "resting_ball.yaml")
    first = handle.simulate()
    handle.simulate(parameters={"e": 0.9, "g": 20})
    handle.simulate(parameters={"e": 0.0})
    same(handle.simulate(), first)


def test_a_start_that_other_parameters_put_inside_a_barrier_is_told():
    with pytest.raises(AssemblyError, match=r"the start is inside contact P-O by 0\.3"):
        BOX_HANDLE.simulate(parameters={"r": 1.2})
    with pytest.raises(AssemblyError, match="the start is inside contact floor by 1"):
        BOX_HANDLE.simulate(start=([0.5, -1.0, 0, 0, 0, 0], np.zeros(6)))


def test_a_file_whose_own_start_is_inside_has_a_handle_all_the_same():
    handle = mechsim.mechanism(BOX.replace("r: 0.1,", "r: 1.1,"))
    same(handle.simulate(parameters={"r": 0.1}), mechsim.simulate(BOX))


def test_what_restitution_cannot_be_is_told():
    with pytest.raises(MechsimError, match=r"Contacts\.floor\.e is e = 1\.5, but must be from 0 to 1"):
        BOX_HANDLE.simulate(parameters={"e": 1.5})


def test_equations_at_a_state_are_those_without_contacts():
    handle = mechsim.mechanism(MOTOR)
    q, v = {"P": (0.0, 0.0)}, {"P": (-3.0, 0.0)}
    assert handle.constraints == ()
    assert handle.accelerations(q, v)[:2] == pytest.approx([0.9, -10.0], abs=1e-14)  # drag is against the motion


# --- stop and go on


@pytest.mark.parametrize("share", [0.2, 0.37, 0.6, 0.9])
def test_a_motion_that_is_continued_is_one_motion(share):
    texts = [(CONTACTS / f"{name}.yaml").read_text() for name in ("resting_ball", "billiard", "rocking_block")]
    for text, tend in ((BOX, 2.0), (MOTOR, 1.6), *zip(texts, (5.0, 2.0, 2.0), strict=True)):
        handle = mechsim.mechanism(text)
        whole = handle.simulate(tend=tend)
        first = handle.simulate(tend=share * tend)
        second = handle.simulate(start=first, tend=tend)
        assert np.array_equal(np.concatenate([first.events.table, second.events.table]), whole.events.table)
        assert np.array_equal(second.solution.q[-1], whole.solution.q[-1])
        assert np.array_equal(second.solution.v[-1], whole.solution.v[-1])


def test_closed_contacts_stay_closed_with_other_parameters():
    """At rest on the floor; then gravity is another one: it bears that, without an impact."""
    handle = mechsim.mechanism(CONTACTS / "resting_ball.yaml")
    rest = handle.simulate(tend=2.0)
    motion = handle.simulate(start=rest, tend=3.0, parameters={"g": 4.0})
    assert [each.kind for each in motion.events] == ["contact"]
    assert motion.events[0].impulse == 0
    assert motion.trajectory["contact_ground"][-1] == pytest.approx(4.0, abs=1e-14)
    assert motion(3.0)["P"] == pytest.approx([3.0, 0.0], abs=1e-14)


def test_inputs_that_events_have_set_are_handed_on():
    handle = mechsim.mechanism(MOTOR)
    first = handle.simulate(tend=0.7)
    assert [each.gap for each in first.events] == ["low", "top"]
    wind = 2 + 1.25
    for further in ({}, {"tol": 1e-12}, {"parameters": {"e": 0.6}}):
        motion = handle.simulate(start=first, tend=0.8, **further)
        before, after = (motion.velocity(t)["P"][0] for t in (0.7, 0.8))
        limit = math.sqrt(wind / 0.1)  # v' = wind - 0.1 v^2
        turned = [math.atanh(speed / limit) for speed in (before, after)]
        assert turned[1] - turned[0] == pytest.approx(0.1 * math.sqrt(0.1 * wind), abs=1e-11)


# --- many


def test_many_motions_are_those_of_one():
    handle = mechsim.mechanism(BOX)
    columns = {"e": [0.2, 0.5, 0.9, 1.5, 0.7], "r": [0.1, 0.05, 0.1, 0.1, 1.2]}
    motions = handle.simulate_many(columns)
    assert motions.status == ("finished", "finished", "finished", "not_read", "not_assembled")
    for case in motions[:3]:
        same(case.motion, handle.simulate(parameters=case.parameters))
    threaded = handle.simulate_many(columns, threads=2)
    assert np.array_equal(threaded.q, motions.q, equal_nan=True)
    again = pickle.loads(pickle.dumps(motions))
    assert len(again[1].motion.events) == len(motions[1].motion.events) > 3


def test_what_is_pickled_goes_on():
    handle = mechsim.mechanism(MOTOR)
    motion = pickle.loads(pickle.dumps(handle.simulate(tend=0.7)))
    whole = handle.simulate(tend=1.5)
    later = pickle.loads(pickle.dumps(handle)).simulate(start=motion, tend=1.5)
    assert np.array_equal(later.solution.q[-1], whole.solution.q[-1])
    assert len(motion.events) + len(later.events) == len(whole.events)


def test_a_sweep_counts_bounces(tmp_path):
    """From the height 1: first after sqrt(2/g), at rest after sqrt(2/g) (1 + e)/(1 - e)."""
    measure = ["events(contact_ground)", "first_event(contact_ground)", "last_event(contact_ground)", "max(P_y_dot)"]
    measure += [
        "max(contact_ground)",
        "final(P_y)",
        "at(P_y_dot, first_event(contact_ground))",
        "min(T + V)",
        "max(P_y)",
    ]
    table = mechsim.sweep(
        CONTACTS / "resting_ball.yaml",
        vary={"e": [0.0, 0.25, 0.5], "g": [5.0, 9.8]},
        measure=measure,
        processes=1,
        output=tmp_path / "out.parquet",
    )
    assert set(table.status) == {"finished"}
    for row in range(len(table)):
        e, g = (table.case(row)[name] for name in ("e", "g"))
        first = math.sqrt(2 / g)
        count, begins, ends, rise, load, height, after, least, top = (table[name][row] for name in measure)
        assert begins == pytest.approx(first, abs=1e-14)
        assert ends == pytest.approx(first * (1 + e) / (1 - e), abs=1e-6)
        assert count == len(mechsim.simulate(CONTACTS / "resting_ball.yaml", parameters={"e": e, "g": g}).events)
        assert rise == pytest.approx(e * g * first, abs=1e-13)
        assert after == pytest.approx(e * g * first, abs=1e-13)
        assert load == pytest.approx(g, abs=1e-12)
        assert (height, top) == pytest.approx((0, 1), abs=1e-14)
        assert least == pytest.approx(0.5, abs=1e-13)
    motion = mechsim.load(tmp_path / "out.parquet").motion(3)
    assert len(motion.events) == table["events(contact_ground)"][3]


def test_measures_of_events_are_checked():
    def refused(text: str) -> str:
        with pytest.raises(MechsimError) as found:
            mechsim.sweep(BOX, vary={"e": [0.5]}, measure=[text], processes=1)
        return str(found.value)

    assert "there is no contact or event `contact_flor`" in refused("events(contact_flor)")
    assert "contact_floor" in refused("events(contact_flor)")
    assert "there is no contact or event `P_x + 1`" in refused("first_event(P_x + 1)")
    table = mechsim.sweep(MOTOR, vary={"e": [0.5]}, measure=["events(top)", "first_event(far)"], processes=1, tend=0.7)
    assert table["events(top)"][0] == 1
    assert np.isnan(table["first_event(far)"][0])
    assert "`far` does not happen" in table["message"][0]


# --- stepped from outside


def test_a_component_with_contacts_is_the_motion():
    for text, tend in ((BOX, 2.0), (MOTOR, 1.6), ((CONTACTS / "ratchet.yaml").read_text(), 1.0)):
        handle = mechsim.mechanism(text)
        whole = handle.simulate(tend=tend)
        component = handle.begin()
        found = []
        for to in np.linspace(0, tend, 24)[1:].tolist():
            component.advance(to=to)
            found += list(component.events)
        assert [(each.t, each.gap, each.kind, each.impulse) for each in found] == [
            (each.t, each.gap, each.kind, each.impulse) for each in whole.events
        ]
        assert np.array_equal(component.state.positions, whole.solution.q[-1])
        assert np.array_equal(component.state.velocities, whole.solution.v[-1])


def test_a_component_is_taken_back_and_told_of_events():
    component = mechsim.mechanism(MOTOR).begin()
    component.advance(to=0.4)
    before = pickle.loads(pickle.dumps(component.snapshot()))
    component.advance(to=1.2)
    first = [(each.t, each.gap, each.kind) for each in component.events]
    assert [name for _, name, _ in first] == ["top", "floor", "low"]
    assert component.inputs["wind"] == pytest.approx(3.25, abs=1e-14)
    state = component.state
    component.restore(before)
    assert len(component.events) == 0
    assert component.inputs["wind"] == 0
    component.advance(to=1.2)
    assert [(each.t, each.gap, each.kind) for each in component.events] == first
    assert np.array_equal(component.state.positions, state.positions)
    other = mechsim.mechanism(MOTOR).begin(parameters={"e": 0.6})
    with pytest.raises(MechsimError, match="no snapshot of a component of the same mechanism"):
        other.restore(before)


def test_a_component_stops_where_an_event_says_so_and_goes_on():
    component = mechsim.mechanism(MOTOR).begin()
    component.advance(to=10.0)
    assert component.stopped == "far"
    assert component.time < 10
    assert component.positions["P"][0] == pytest.approx(3, abs=1e-14)
    component.advance(to=component.time + 0.1)
    assert component.stopped == ""
    assert component.positions["P"][0] > 3


PRESSED = """
Inputs: {lift: 0, height: {start: 0, hold: linear}, step: 0}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -10], Forces: {P: [0, lift]}}
Contacts: {floor: {gap: P.y - height - step, e: 0.5}}
ProblemData: {tend: 1, positions: {P: [[0, fixed], [0, fixed]]}}
"""


def test_an_input_lifts_what_rests():
    component = mechsim.mechanism(PRESSED).begin()
    component.advance(to=1.0)
    assert [each.kind for each in component.events] == ["contact"]
    component.inputs["lift"] = 12.0
    component.advance(to=2.0)
    assert [each.kind for each in component.events] == ["release"]
    assert component.positions["P"][1] == pytest.approx(1.0, abs=1e-13)
    component.inputs["height"] = 5.0  # a lift that comes from below
    component.advance(to=3.0)
    assert [each.kind for each in component.events] == ["impact"]


def test_a_floor_that_an_input_moves_strikes_what_lies_on_it():
    component = mechsim.mechanism(PRESSED).begin()
    component.advance(to=1.0)
    component.inputs["height"] = 0.1
    component.advance(to=1.01)  # it rises at 10 m/s from now on: the ball leaves at 15
    assert [(each.t, each.kind) for each in component.events] == [(1.0, "release")]
    assert component.events[0].after == pytest.approx(5.0, abs=1e-13)
    assert component.velocities["P"][1] == pytest.approx(15 - 0.1, abs=1e-12)
    component = mechsim.mechanism(PRESSED).begin()
    component.advance(to=1.0)
    component.inputs["step"] = -0.1
    with pytest.raises(IntegrationError, match="an input would make positions jump"):
        component.advance(to=1.01)


def test_measures_know_fixed_points_and_inputs_that_events_set():
    measure = ["min(dist(O,P))", "final(O_x)", "events(contact_P_O)"]
    table = mechsim.sweep(BOX, vary={"e": [0.5, 0.8]}, measure=measure, processes=1)
    for row, e in enumerate((0.5, 0.8)):
        motion = mechsim.simulate(BOX, parameters={"e": e})
        nearest = np.linalg.norm(motion(np.linspace(0, 2, 5000))["P"] - [0.5, 0.2], axis=1).min()
        assert 0 <= nearest - table["min(dist(O,P))"][row] < 1e-3
        assert table["events(contact_P_O)"][row] == len(motion.events.of("P-O"))
    assert table["min(dist(O,P))"][1] == pytest.approx(0.1, abs=1e-13)  # with 0.8 it strikes, with 0.5 it passes
    assert list(table["final(O_x)"]) == [0.5, 0.5]
    winds = mechsim.sweep(MOTOR, vary={"e": [0.5]}, measure=["final(wind)", "start(wind)"], processes=1, tend=0.7)
    assert (winds["final(wind)"][0], winds["start(wind)"][0]) == pytest.approx((3.25, 0), abs=1e-14)


def test_an_input_does_not_put_a_barrier_through_what_is_before_it():
    component = mechsim.mechanism(PRESSED).begin()
    component.inputs["lift"] = 12.0
    component.advance(to=1.0)
    component.inputs["step"] = 2.0
    with pytest.raises(IntegrationError, match="an input would put the mechanism inside contact floor at t = 1"):
        component.advance(to=2.0)
