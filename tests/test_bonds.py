"""Events that let go and that take hold: against known answers and another integrator, and what every bond keeps."""

from __future__ import annotations

import numpy as np
import pytest
import trebuchet
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS

import mechsim
from mechsim.engine import integrate, state_of
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.errors import AssemblyError, SpecError
from mechsim.render.fittings import fittings_of
from mechsim.render.frames import sample
from mechsim.render.scene import scene_of
from mechsim.simulation import CutShort, prepare
from mechsim.spec import read

CONTACTS = SPECS / "contacts"
ROUNDINGS = 1e-13  # one projection and one solve at each event: some roundings of numbers near one

DOUBLE = """
PartData:
  Fixed: {O: []}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[1.5]], Dyna: [[0.7], 2, 0.4]}
  Particles: {P: 0.5}
AppliedForces: {Gravity: [0, -9.81]}
MORE
ProblemData:
  tend: 1
  positions: {A: [[0.8, fixed], -0.6], B: [[2.2, fixed], 0], P: [[1, fixed], [-1, fixed]]}
  velocities: {P: [[0.3, fixed], [2, fixed]]}
SolverParams: {Integration: {tol: 1e-14}}
"""


def double(more: str) -> str:
    return DOUBLE.replace("MORE", more)


def told(motion) -> list[tuple[str, str]]:
    return [(event.gap, event.kind) for event in motion.events]


def no_doubt(motion) -> None:
    certificate = motion.certificate
    assert certificate.doubts() == ()
    assert certificate.energy_drift < ROUNDINGS
    assert motion.events.column("lost").min(initial=0.0) > -ROUNDINGS * certificate.largest_energy


# --- known answers


def test_trebuchet_as_scipy_finds_it():
    """DOP853 at 3e-14 follows three angles, then two, to some 1e-12; the stone flies along a parabola."""
    motion = mechsim.simulate(CONTACTS / "trebuchet.yaml")
    assert told(motion) == [("loose", "event"), ("AP", "release"), ("landed", "event")]
    time, state = trebuchet.released()
    release, landing = motion.events[1].t, motion.events[2].t
    assert release == pytest.approx(time, abs=1e-12)
    place, velocity = trebuchet.stone(state[:3], state[3:])
    assert np.abs(motion(release)["P"] - place).max() < 1e-11
    flight = landing - time
    assert (
        np.abs(motion(landing)["P"] - (place + velocity * flight - np.array([0, 9.81 / 2]) * flight**2)).max() < 1e-10
    )
    later = trebuchet.follow(state[[0, 1, 3, 4]], 1.0, 2).y[:, -1]
    arm = trebuchet.LONG * np.array([np.cos(later[0]), np.sin(later[0])]) + (0, trebuchet.HIGH)
    assert np.abs(motion(release + 1.0)["A"] - arm).max() < 1e-10
    no_doubt(motion)


def test_clutch_by_angular_momentum():
    motion = mechsim.simulate(CONTACTS / "clutch.yaml")
    assert told(motion) == [("engage", "event"), ("clutch", "attach"), ("part", "event"), ("clutch", "release")]
    attach = motion.events.of("clutch")[0]
    assert (attach.before, attach.after) == (pytest.approx(10.15, abs=1e-13), 0.0)
    assert attach.impulse == pytest.approx(-0.4 * 10.15, abs=1e-13)  # reduced inertia J K / (J + K)
    assert attach.lost == pytest.approx(0.4 * 10.15**2 / 2, abs=1e-12)
    together = motion.sampled(np.linspace(1.01, 1.99, 20))
    assert np.ptp(together["theta_OA"] - together["theta_QB"]) < 1e-13
    assert np.abs(together["bond_clutch"] - (-0.3 / 2.5 * 0.5)).max() < 1e-13  # what brings the second one along
    assert np.all(motion.sampled(np.linspace(2.01, 3, 20))["bond_clutch"] == 0.0)
    no_doubt(motion)


def test_docking_keeps_momentum_and_lets_go():
    motion = mechsim.simulate(CONTACTS / "docking.yaml")
    before, after = (_momentum(motion, 10.0, side) for side in ("before", "after"))
    assert np.abs(before - after).max() < 1e-12
    places = motion(np.linspace(10, 40, 50))
    assert np.abs(places["B"] - places["C"]).max() < 1e-13
    assert np.linalg.norm(motion(60.0)["B"] - motion(60.0)["C"]) > 0.1
    no_doubt(motion)


def _momentum(motion, t, side):
    """Of both bodies, and about the origin."""
    places, speeds = motion(t, side), motion.velocity(t, side)
    total = np.zeros(3)
    for mass, inertia, centre, speed, turn in (
        (400, 900, places["A"], speeds["A"], speeds["theta_AB"]),
        (60, 12, (places["C"] + places["D"]) / 2, (speeds["C"] + speeds["D"]) / 2, speeds["theta_CD"]),
    ):
        about = mass * (centre[0] * speed[1] - centre[1] * speed[0]) + inertia * float(turn)
        total += [*(mass * speed), about]
    return total


def test_a_bond_that_moves_by_itself_does_work():
    """A lift takes hold of what falls: 8 J are lost as seen from it, and it gives 6 J in all."""
    text = """
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -10]}
Bonds: {lift: P.y - 2*t}
Events: {go: {when: t - 0.2, do: {attach: lift}}, off: {when: t - 0.5, do: {release: lift}}}
ProblemData: {tend: 1, positions: {P: [[0, fixed], [0, fixed]]}}
"""
    motion = mechsim.simulate(text, tol=1e-14)
    assert motion.velocity(0.3)["P"][1] == pytest.approx(2.0, abs=1e-14)
    assert motion.events.of("lift")[0].lost == pytest.approx(8.0, abs=1e-13)
    assert motion.trajectory["work_bond_lift"][-1] == pytest.approx(6.0, abs=1e-13)
    no_doubt(motion)


# --- what every bond keeps


def number(least: float, most: float) -> st.SearchStrategy[float]:
    return st.floats(least, most).map(lambda value: round(value, 3))


FREE = """
PartData:
  Rigids:
    AB: {{Geom: [[1]], Dyna: [[0.4, 0.1], 2, 0.5]}}
    CD: {{Geom: [[0.7]], Dyna: [[0.2], 1, 0.2]}}
Bonds: {{held: {hold}}}
Events: {{go: {{when: t - 0.3, do: {{attach: held}}}}}}
ProblemData:
  tend: 0.6
  positions: {{A: [[0, fixed], [0, fixed]], C: [[{x}, fixed], [{y}, fixed]]}}
  angles: {{AB: [{a}, fixed], CD: [{b}, fixed]}}
  velocities: {{A: [[{u}, fixed], [{v}, fixed]], C: [[{v}, fixed], [{w}, fixed]]}}
  rates: {{AB: [{w}, fixed], CD: [{u}, fixed]}}
"""


@some_of(25)
@given(
    hold=st.sampled_from(["AB-CD", "C-AB", "theta_AB - theta_CD", '"dist(A,D)"']),
    x=number(1.5, 2.5),
    y=number(-1, 1),
    a=number(-3, 3),
    b=number(-3, 3),
    u=number(0.5, 2),
    v=number(-2, 2),
    w=number(-2, 2),
)
def test_attaching_keeps_momentum_and_loses_what_it_says(hold, x, y, a, b, u, v, w):
    text = FREE.format(hold=hold, x=x, y=y, a=a, b=b, u=u, v=v, w=w)
    if "theta" not in hold:  # there all reactions are zero but for rounding, and balance to nothing
        text += "Output: {reactions: all}\n"
    motion = mechsim.simulate(text, tol=1e-14)
    (attach,) = motion.events.of("held")
    before, after = (_two_bodies(motion, attach.t, side) for side in ("before", "after"))
    size = 1 + np.abs(before).max()
    assert np.abs(before[:3] - after[:3]).max() < ROUNDINGS * size
    assert before[3] - after[3] == pytest.approx(attach.lost, abs=ROUNDINGS * size**2)
    no_doubt(motion)


def _two_bodies(motion, t, side):
    """Linear and angular momentum, and kinetic energy."""
    places, speeds = motion(t, side), motion.velocity(t, side)
    total = np.zeros(4)
    for mass, inertia, first, second, length, (along, across) in (
        (2, 0.5, "A", "B", 1.0, (0.4, 0.1)),
        (1, 0.2, "C", "D", 0.7, (0.2, 0.0)),
    ):

        def centre(at, first=first, second=second, length=length, along=along, across=across):
            way = (at[second] - at[first]) / length
            return at[first] + along * way + across * np.array([-way[1], way[0]])

        place, speed = centre(places), centre(speeds)
        way, turning = places[second] - places[first], speeds[second] - speeds[first]
        turn = (way[0] * turning[1] - way[1] * turning[0]) / length**2
        about = mass * (place[0] * speed[1] - place[1] * speed[0]) + inertia * turn
        total += [*(mass * speed), about, mass * (speed @ speed) / 2 + inertia * turn**2 / 2]
    return total


@some_of(15)
@given(
    what=st.sampled_from(["P-AB", '"dist(P,A)"', "theta_AB - theta_OA", '[P.x, "dist(P,O)"]', "[A.x - P.x, theta_OA]"]),
    time=number(0.05, 0.6),
)
def test_attaching_with_joints_never_gains_energy(what, time):
    more = f"Bonds: {{held: {what}}}\nEvents: {{go: {{when: t - {time}, do: {{attach: held}}}}}}"
    motion = mechsim.simulate(double(more))
    assert told(motion) == [("go", "event"), ("held", "attach")]
    before, after = (motion(motion.events[0].t, side) for side in ("before", "after"))
    assert max(np.abs(before[point] - after[point]).max() for point in "ABP") < 1e-14
    no_doubt(motion)


@some_of(15)
@given(pin=st.sampled_from(["A-AB", "A-OA", "O-OA", "link", "AP"]), time=number(0.05, 0.9))
def test_releasing_changes_nothing_until_then_and_nothing_at_once(pin, time):
    """Until then the motion is that without the event; at the event nothing jumps but forces."""
    more = "Joints: {{Holonomic: {{link: P.y + A.x}}, Ropes: {{AP: 0.7}}}}\nEvents: {{go: {{when: t - {}, do: {}}}}}"
    text = double("MORE").replace("P: [[1, fixed], [-1, fixed]]", "P: [1, -1]").split("  velocities")[0]
    text = text.replace("{", "{{").replace("}", "}}").replace("MORE", more)
    whole = mechsim.simulate(text.format(time, "record"), tol=1e-14)
    motion = mechsim.simulate(text.format(time, f"{{release: {pin}}}"), tol=1e-14)
    assert told(motion) == [("go", "event"), (pin, "release")]
    for t in (0.0, time / 2, time):
        assert max(np.abs(motion(t)[point] - whole(t)[point]).max() for point in "ABP") < 1e-12
    for asked in (motion, motion.velocity):
        before, after = (asked(motion.events[0].t, side) for side in ("before", "after"))
        assert max(np.abs(before[point] - after[point]).max() for point in "ABP") < 1e-13
    no_doubt(motion)


def test_what_holds_is_not_attached_again_and_what_is_open_not_released():
    more = "Bonds: {held: P-AB}\nEvents:\n"
    deeds = ("release", "attach", "attach", "release", "release", "attach")
    more += "".join(f"  e{k}: {{when: t - {(k + 1) / 10}, do: {{{deed}: held}}}}\n" for k, deed in enumerate(deeds))
    motion = mechsim.simulate(double(more))
    assert [event.kind for event in motion.events.of("held")] == ["attach", "release", "attach"]
    no_doubt(motion)


def test_what_touches_is_struck_by_what_bonds_carry():
    """A ball on the floor is tied to one that falls: the floor answers, and is not entered."""
    text = """
PartData: {Particles: {P: 1, Q: 2}}
AppliedForces: {Gravity: [0, -10]}
Contacts: {floor: {gap: P.y, e: E}}
Bonds: {tie: "dist(P,Q)"}
Events: {go: {when: t - 0.2, do: {attach: tie}}}
ProblemData:
  tend: 0.5
  positions: {P: [[0, fixed], [0, fixed]], Q: [[0.5, fixed], [2, fixed]]}
  velocities: {Q: [[0, fixed], [-1, fixed]]}
"""
    stays, bounces = (mechsim.simulate(text.replace("E}", e), tol=1e-14) for e in ("0}", "0.5}"))
    assert [event.kind for event in bounces.events][:4] == ["contact", "event", "attach", "release"]
    assert [event.kind for event in stays.events] == ["contact", "event", "attach", "impact"]  # it stays closed
    assert stays.events[-1].impulse > 0
    for motion in (stays, bounces):
        assert motion.certificate.deepest_overlap < 1e-14
        no_doubt(motion)


@pytest.mark.parametrize(
    ("joints", "name"),
    [
        ("Slots: {B-OR: []}", "B-OR"),
        ("Sliders: {CB-OR: []}", "CB-OR"),
        ("Gears: {OA-AB: [1, 2, OA]}", "OA-AB"),
        ("Welds: {AB-OA: [-1.5]}", "AB-OA"),
        ("Ropes: {RB: 2}", "RB"),
    ],
)
def test_joints_of_every_sort_are_let_go(joints, name):
    text = f"""
PartData:
  Fixed: {{O: [], R: [1]}}
  Rigids:
    OA, CB: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
    AB: {{Geom: [[3]], Dyna: [[1.5], 3, 27/12]}}
  Springs: {{RC: [20, 1]}}
Joints: {{{joints}}}
AppliedForces: {{Gravity: [0, -9.81]}}
Events: {{go: {{when: t - 0.2, do: {{release: {name}}}}}}}
ProblemData:
  tend: 0.5
  positions: {{A: [0, 1], B: [2.8, 0], C: [1.8, 0]}}
"""
    motion = mechsim.simulate(text, tol=1e-14)
    held = mechsim.simulate(text.replace(f"{{release: {name}}}", "record"), tol=1e-14)
    assert told(motion) == [("go", "event"), (name, "release")]
    assert np.abs(motion(0.2)["B"] - held(0.2)["B"]).max() < 1e-12
    assert np.abs(motion(0.5)["B"] - held(0.5)["B"]).max() > 1e-3
    no_doubt(motion)


def test_parts_that_are_one_from_the_start():
    """Two stages: as first placed, until they part."""
    text = """
PartData:
  Rigids:
    AB, CD: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
AppliedForces: {ConstForces: {AB.A: [0, 3]}}
Bonds: {stage: {hold: AB-CD, attached: yes}}
Output: {reactions: all}
Events: {part: {when: t - 1, do: {release: stage}}}
ProblemData: {tend: 2, positions: {A: [[0, fixed], [0, fixed]], B: [[1, fixed]], C: [1.2], D: [2.1, 0.4]}}
"""
    motion = mechsim.simulate(text, tol=1e-14)
    times = np.linspace(0, 1, 20)
    distances = [np.linalg.norm(motion(times)[p] - motion(times)[q], axis=-1) for p, q in ("AC", "AD", "BD")]
    assert max(np.ptp(each) for each in distances) < 1e-13
    assert np.linalg.norm(motion(2.0)["B"] - motion(2.0)["C"]) > 0.3
    no_doubt(motion)


def test_a_ball_joint_in_space_opens():
    text = """
Dimension: 3
PartData:
  Fixed: {O: []}
  Rigids:
    OAC, ABD: {Geom: [[1], [0.5, 0.3]], Dyna: [[0.5, 0.1], 1, [0.05, 0.1, 0.1]]}
AppliedForces: {Gravity: [0, 0, -10]}
Output: {reactions: all}
Events: {go: {when: t - 0.2, do: {release: A-ABD}}}
ProblemData:
  tend: 0.5
  positions: {A: [[1, fixed], [0, fixed]], C: [0.5, 0.3, 0], B: [[1.5, fixed], [0.5, fixed]], D: [1, 0.5, 0.2]}
"""
    motion = mechsim.simulate(text, tol=1e-14)
    assert told(motion) == [("go", "event"), ("A-ABD", "release")]
    assert np.linalg.norm(motion(0.5)["A"] - motion(0.5)["A1"]) > 0.1
    no_doubt(motion)


def test_a_part_takes_its_outline_along():
    """A plate comes off its arm and falls on the floor; forces in its frame go with it."""
    text = """
PartData:
  Fixed: {O: [0, 2], F: [-5, 0], G: [5, 0]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[0.6]], Dyna: {plate: [0.6, 0.3], mass: 1}}
AppliedForces: {Gravity: [0, -9.81], ConstForces: {AB.A: [0, 0.1]}}
Contacts: {AB-FG: [0.3]}
Events: {go: {when: t - 0.4, do: {release: A-AB}}}
ProblemData: {tend: 1.5, positions: {A: [[0.8, fixed], 1.4], B: [[1.4, fixed], 1.4]}}
"""
    motion = mechsim.simulate(text, tol=1e-14)
    assert len(motion.events.of("AB-FG")) > 3
    assert motion.certificate.deepest_overlap < 1e-14
    no_doubt(motion)


@pytest.mark.parametrize("stop", [0.5, 1.0, 1.5, 2.5])
def test_a_motion_that_is_stopped_goes_on_bit_by_bit(stop):
    prepared = prepare(read(CONTACTS / "clutch.yaml"))

    def marched(start, tend):
        return integrate(prepared.system, prepared.structure, start, tend=tend, tolerance=1e-14)

    whole, rest = marched(prepared.start, 3.0), marched(marched(prepared.start, stop).ending, 3.0)
    assert np.array_equal(whole.q[-1], rest.q[-1])


# --- what cannot be


@pytest.mark.parametrize(
    ("spec", "parameters"), [("clutch", {"K": 0.6}), ("docking", {"turn": 0.03}), ("trebuchet", {"g": 9})]
)
def test_a_handle_lets_go_and_takes_hold(spec, parameters):
    """With other parameters as the file read anew, and in two parts as in one."""
    path = SPECS / "contacts" / f"{spec}.yaml"
    handle = mechsim.mechanism(path)
    motion, fresh = handle.simulate(parameters=parameters), mechsim.simulate(path, parameters=parameters)
    np.testing.assert_allclose(motion.events.table, fresh.events.table, rtol=0, atol=1e-12)
    whole, end = handle.simulate(), fresh.t[-1]
    for part in (0.3, 0.8):
        first = handle.simulate(tend=part * end)
        rest = handle.simulate(start=first, tend=end)
        assert np.array_equal(rest.solution.q[-1], whole.solution.q[-1])
        assert len(first.events) + len(rest.events) == len(whole.events)


def test_points_that_are_apart_cannot_take_hold():
    more = "Bonds: {dock: P-B}\nEvents: {go: {when: t - 0.5, do: {attach: dock}}}"
    with pytest.raises(CutShort, match=r"bond dock cannot take hold at t = 0.5: what it joins is .* apart") as stopped:
        mechsim.simulate(double(more))
    assert stopped.value.motion.solution.status == "misfit"


def test_what_joints_hold_already_cannot_be_held_again():
    """The distance of two points that a weld keeps: nothing would tell what each of them bears."""
    more = (
        'Joints: {Welds: {AB-OA: [0.2]}}\nBonds: {tie: "dist(O,B)"}\nEvents: {go: {when: t - 0.5, do: {attach: tie}}}'
    )
    text = double(more).replace("B: [[2.2, fixed], 0]", "B: [0.8 + 1.5*cos(x), -0.6 + 1.5*sin(x)]")
    text = "PhysicalParams: {x: 'atan2(-0.6, 0.8) + 0.2'}\n" + text
    with pytest.raises(CutShort, match=r"bond tie cannot take hold at t = 0.5: other joints hold that already"):
        mechsim.simulate(text)
    turn = text.replace('"dist(O,B)"', "theta_AB - theta_OA")
    with pytest.raises(CutShort, match=r"bond tie cannot take hold at t = 0.5: other joints hold that already"):
        mechsim.simulate(turn)
    attached = text.replace('"dist(O,B)"', '{hold: "dist(O,B)", attached: yes}').replace("attach: tie", "release: tie")
    with pytest.raises(AssemblyError, match="bond tie holds what other joints hold already"):
        mechsim.simulate(attached)


def test_what_is_let_go_needs_a_mass():
    text = """
PartData: {Fixed: {O: []}, Rods: {OA: 1, AB: 1}, Particles: {B: 1}}
AppliedForces: {Gravity: }
Events: {go: {when: t - 0.2, do: {release: AB}}}
ProblemData: {tend: 1, positions: {A: [[0.6, fixed], -0.8], B: [[1, fixed], -2]}}
"""
    with pytest.raises(AssemblyError, match="when bond AB is released, nothing determines"):
        mechsim.simulate(text)


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ("Events: {go: {when: t - 1, do: {release: A}}}", "A is a point.*\n.*which part leaves it: A-OA and A-AB"),
        ("Events: {go: {when: t - 1, do: {release: AB}}}", "AB is a part with mass.*\n.*A-AB and B-AB"),
        ("Events: {go: {when: t - 1, do: {release: B-AB}}}", "nothing but AB is at B"),
        ("Events: {go: {when: t - 1, do: {release: A-BA}}}", "there is no joint and no bond A-BA"),
        ("Events: {go: {when: t - 1, do: {attach: {x: 1}}}}", "must name a joint or a bond"),
        ("Joints: {Skates: {AB.B: 0}}\nEvents: {go: {when: t - 1, do: {release: AB.B}}}", "Skates.AB.B cannot be rel"),
        ("Joints: {Nonholonomic: {n: P.vx}}\nEvents: {go: {when: t - 1, do: {release: n}}}", "Nonholonomic.n cannot"),
        ("Bonds: {go: P-AB}\nEvents: {go: {when: t - 1}}", "there are an event and a bond go"),
        ("Contacts: {go: {gap: P.y + 9, e: 0}}\nEvents: {go: {when: t - 1}}", "there are an event and a contact go"),
        ("Contacts: {go: {gap: P.y + 9, e: 0}}\nBonds: {go: P-AB}", "there are a contact and a bond go"),
        ("Bonds: {b: A-AB}", "what A-AB holds is together always"),
        ("Bonds: {b: P-C}", "uses the point C, which no part has"),
        ("Bonds: {b: t}", "does not depend on the mechanism"),
        ("Bonds: {b: P.vx}", "may use positions and time, but P.vx changes with velocities"),
        ('Bonds: {b: "dist(O,A)"}', "bond b: nothing in it can move"),
        ("Joints: {Welds: {AB-OA: [0]}}\nEvents: {go: {when: t - 1, do: {release: A-AB}}}", "welded at A"),
    ],
)
def test_faults_name_their_place(more, fault):
    with pytest.raises(SpecError, match=fault) as found:
        mechsim.simulate(double(more))
    assert str(found.value).startswith("<text>:9:") or "<text>:10:" in str(found.value)


def test_a_rod_that_is_let_go_has_no_direction():
    text = """
PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: 1}}
AppliedForces: {Torques: {OA: 1}}
Events: {go: {when: t - 0.2, do: {release: OA}}}
ProblemData: {tend: 1, positions: {A: [1]}}
"""
    with pytest.raises(SpecError, match="the rod OA is let go, and has no direction then"):
        mechsim.simulate(text)


@pytest.mark.parametrize("when", ["log(P.y + 1.2)", "sqrt(P.y + 1.1) - 5", "acos(P.y) - 9"])
def test_an_event_without_a_value_stops_the_run_by_its_name(when):
    """It cannot be told whether it happens: that is no reason to go on as if it did not."""
    with pytest.raises(CutShort, match="what event go watches has no value, at t = "):
        mechsim.simulate(double(f"Events: {{go: {{when: {when}}}}}").replace("[0.3, fixed], [2,", "[0.3, fixed], [-2,"))


def test_a_speed_is_watched_from_rest_on():
    """There it has a value but no derivative, as a corner has none."""
    text = double("Events: {go: {when: sqrt(A.vx**2 + A.vy**2) - 1, do: stop}}")
    motion = mechsim.simulate(text)
    (event,) = motion.events
    assert np.linalg.norm(motion.velocity(event.t)["A"]) == pytest.approx(1.0, abs=1e-13)


# --- files and films


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_results_tell_bonds(tmp_path, ending):
    motion = mechsim.simulate(CONTACTS / "clutch.yaml")
    path = tmp_path / f"out.{ending}"
    motion.save(path)
    events = mechsim.load(path).events
    assert [(event.t, event.gap, event.kind, event.lost) for event in events] == [
        (event.t, event.gap, event.kind, event.lost) for event in motion.events
    ]


def test_pictures_show_what_holds(tmp_path):
    """A sling is drawn until it lets go, a pin until its part has left; from a table as from series."""
    motion = mechsim.simulate(CONTACTS / "trebuchet.yaml")
    for ending in ("csv", "npz"):
        path = tmp_path / f"out.{ending}"
        motion.save(path)
        scene = scene_of(mechsim.load(path))
        assert scene.holds("AP", np.array([0.1, 0.8, 0.9, 5.0])).tolist() == [True, True, False, False]
    frames = sample(motion, np.array([0.1, 2.0]), scene)
    assert {fitting.bond for fitting in fittings_of(scene, frames) if fitting.kind == "rope"} == {"AP"}
    pin = mechsim.simulate(double("Events: {go: {when: t - 0.3, do: {release: A-AB}}}"))
    scene = scene_of(pin)
    frames = sample(pin, np.array([0.1, 0.9]), scene)
    pins = [fitting for fitting in fittings_of(scene, frames) if fitting.kind == "pin"]
    assert {(fitting.at, fitting.bond) for fitting in pins} == {("A", "A-AB")}


def test_the_kernel_refuses_bonds_that_are_not_there():
    prepared = prepare(read(CONTACTS / "clutch.yaml"))
    plan = planned(prepared.system, prepared.structure)
    march = new_march(plan, 15, 1e-12, 0.0)
    march.set_state(0.0, state_of(prepared.system, plan.variable_offsets, prepared.start))
    march.prepare()
    for number in (-1, 1, 1000):
        with pytest.raises(ValueError, match="a bond is not there"):
            march.attach(np.array([number], dtype=np.int32))
    assert march.attach(np.array([0], dtype=np.int32))[0] == 0
    with pytest.raises(ValueError, match="a bond is not there, or holds already"):
        march.attach(np.array([0], dtype=np.int32))


@pytest.mark.parametrize(("rubs", "x"), [("", 1.5), (", mu: 0.2, mu_s: 0.25", 0.5), (", mu: 0.2, mu_s: 0.3", 0.0)])
def test_what_a_bond_holds_on_the_floor_stays_there_when_it_is_let_go(rubs, x):
    """The contact has nothing to do until then, which is told as a load that could be shared. Pulled with 3 N it slides
    from t = 1 on, against nothing, against 2 N, or not at all: the limit is just met."""
    motion = mechsim.simulate(f"""
PartData:
  Fixed: {{A: [-5], B: [9], O: []}}
  Particles: {{P: 1}}
AppliedForces: {{Gravity: [0, -10], ConstForces: {{P: [3, 0]}}}}
Contacts: {{P-AB: {{e: 0{rubs}}}}}
Bonds: {{hook: {{hold: P-O, attached: yes}}}}
Events: {{let: {{when: t - 1, do: {{release: hook}}}}}}
ProblemData: {{tend: 2, positions: {{P: [0, 0]}}}}
""")
    assert abs(motion.trajectory["P_x"][-1] - x) < 1e-14  # of numbers near one
    assert "P-AB" in motion.events.shared
    assert motion.certificate.doubts() == ()
