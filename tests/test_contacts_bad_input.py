"""Contacts and events that cannot be meant: what a person is told, and that barriers with corners are met exactly."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import mechsim
from mechsim.errors import AssemblyError, IntegrationError, MechsimError, SpecError

PARTICLE = """
PartData: {Particles: {P: 1}}
%s
ProblemData: {tend: %s, positions: {P: [%s, %s]}}
"""


def particle(more: str, x: str = "[0, fixed]", y: str = "[1, fixed]", tend: str = "3") -> str:
    return PARTICLE % (more, tend, x, y)


def refused(text: str, kind: type[MechsimError]) -> str:
    with pytest.raises(kind) as found:
        mechsim.simulate(text)
    return str(found.value)


# --- barriers by tables

MOVING = """Tables: {h: {points: [[0, 0], [1, 0], [2, 0.5], [9, 0.5]], kind: %s}}
AppliedForces: {Gravity: [0, -10]}
Contacts: {floor: {gap: P.y - h, e: %s}}"""


def test_a_floor_that_begins_to_rise_strikes_what_lies_on_it():
    """At 1 it rises at 0.5 at once, at 2 it stops at once, and what it carried flies for 0.1 s."""
    motion = mechsim.simulate(particle(MOVING % ("linear", 0), y="[0, fixed]"))
    assert [(each.kind, each.t) for each in motion.events] == [
        ("contact", 0.0),
        ("impact", 1.0),
        ("release", 2.0),
        ("contact", pytest.approx(2.1, abs=1e-15)),
    ]
    assert motion.events.column("impulse") == pytest.approx([0, 0.5, 0, 0.5], abs=1e-14)
    assert motion.events.column("lost") == pytest.approx([0, 0.125, 0, 0.125], abs=1e-14)
    assert [motion.velocity(1.0, side)["P"][1] for side in ("before", "after")] == pytest.approx([0, 0.5], abs=1e-15)
    assert motion.certificate.doubts() == ()


def test_a_floor_that_begins_to_rise_throws_what_bounces():
    motion = mechsim.simulate(particle(MOVING % ("linear", 0.5), y="[0, fixed]"))
    assert motion.velocity(1.0)["P"][1] == pytest.approx(0.5 * 1.5, abs=1e-14)
    assert motion.certificate.doubts() == ()
    whole = mechsim.mechanism(particle(MOVING % ("linear", 0.5), y="[0, fixed]"))
    first = whole.simulate(tend=1.0)
    assert np.array_equal(whole.simulate(start=first).solution.q[-1], motion.solution.q[-1])


@pytest.mark.parametrize(
    "more",
    [
        MOVING % ("step", 0.5),
        "Piecewise: {h: [[0, 0], [1, 0.5]]}\nContacts: {floor: {gap: P.y - h, e: 0.5}}",
        "Piecewise: {h: [[0, 0], [1, 0.5]]}\nStops: {P.y: {min: h, e: 0.5}}",
    ],
)
def test_a_barrier_does_not_jump(more):
    words = refused(particle(more), SpecError)
    assert "its gap jumps by -0.5 at t = " in words
    assert "let the pieces meet" in words
    assert words.split(":")[1] in ("4", "5")  # the line


# --- starts


def test_a_start_inside_a_barrier_is_told_with_the_nearest_that_is_not():
    words = refused(particle("Contacts: {floor: {gap: P.y - 1 - P.x, e: 0.5}}", "0", "0.5"), AssemblyError)
    assert "3:12: error: the start is inside contact floor by 0.5" in words
    assert "the nearest such start has P_x = -0.25, P_y = 0.75" in words


def test_what_is_fixed_is_let_go_only_if_nothing_else_helps():
    more = "Contacts: {floor: {gap: P.y - 1 - P.x, e: 0.5}}"
    assert "has P_y = 1\n" in refused(particle(more, "[0, fixed]", "0.5"), AssemblyError) + "\n"
    words = refused(particle(more, "[0, fixed]", "[0.5, fixed]"), AssemblyError)
    assert "P_x = -0.25, P_y = 0.75 (P_x, P_y are fixed now)" in words


def test_the_nearest_start_keeps_the_joints():
    words = refused(
        """
PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: 1}}
Contacts: {wall: {gap: A.x - 0.6, e: 1}}
ProblemData: {tend: 1, positions: {A: [0.5, -0.8]}}
""",
        AssemblyError,
    )
    assert "A_x = 0.6, A_y = -0.8" in words


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ("Contacts: {a: {gap: P.x - 1, e: 0}, b: {gap: -2*P.x, e: 0}}", "contacts a and b (line 3)"),
        ("Stops: {P.x: {min: 1, max: 0, e: 0}}", "contacts P.x min and P.x max"),
        ("Stops: {P.x: {min: 1 + t, max: cos(t) - 0.5, e: 0}}", "contacts P.x min and P.x max"),
    ],
)
def test_barriers_that_leave_no_place_are_named(more, names):
    words = refused(particle(more), AssemblyError)
    assert f"{names} cannot both hold at t = 0" in words


def test_a_gap_without_a_value_is_named():
    words = refused(particle("Contacts: {floor: {gap: log(P.y), e: 0.5}}", y="0"), AssemblyError)
    assert "3:12: error: contact floor has no gap at the start: it is -inf" in words
    falls = "AppliedForces: {Gravity: [0, -10]}\nContacts: {floor: {gap: sqrt(P.y) + 1, e: 0.5}}"
    words = refused(particle(falls), IntegrationError)
    assert "the formula of contact floor has no value beyond this point" in words
    assert "4:12: error" in words


# --- on the way


def test_a_drive_that_meets_a_stop_is_told():
    words = refused(
        """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}
Drives: {theta_OA: t}
Stops: {theta_OA: {max: 1, e: 0}}
ProblemData: {tend: 2}
""",
        IntegrationError,
    )
    assert "4:9: error" in words
    assert "at t = 1; contact theta_OA max meets what cannot give way: the drive of theta_OA would not stop" in words
    assert "a controller, which gives way" in words


def test_impacts_without_end_stop_with_what_there_is():
    """Between walls that meet at 10 an elastic ball strikes ever faster: 10/L times until they are L apart."""
    with pytest.raises(IntegrationError, match="events follow each other without end") as found:
        mechsim.simulate("""
PartData: {Particles: {P: 1}}
Contacts: {l: {gap: P.x, e: 1}, r: {gap: 1 - 0.1*t - P.x, e: 1}}
ProblemData: {tend: 12, positions: {P: [[0.5, fixed], [0, fixed]]}, velocities: {P: [[1, fixed], [0, fixed]]}}
""")
    assert "the last were of" in str(found.value)
    motion = found.value.motion
    assert motion.status == "endless"
    assert 9.9 < motion.t[-1] < 10
    assert 4000 < len(motion.events) < 100_000
    distance, speed = 1 - 0.1 * motion.t[-1], abs(motion.velocity(motion.t[-1])["P"][0])
    assert distance * speed == pytest.approx(1.0, rel=0.2)  # what changes slowly keeps its action


def test_events_of_a_long_run_wait_in_a_file(monkeypatch, tmp_path):
    """A thousand bounces, with room for a hundred: nothing is lost, also of what is saved, pickled or continued."""
    text = particle("AppliedForces: {Gravity: [0, -10]}\nContacts: {floor: {gap: P.y, e: 1}}", tend="1000")
    known = mechsim.simulate(text, keep="table")
    monkeypatch.setattr("mechsim.engine.events.MOST_IN_MEMORY", 100)
    motion = mechsim.simulate(text, keep="table")
    assert isinstance(motion.events.table, np.memmap)
    assert len(motion.events) > 1000
    assert np.array_equal(motion.events.table, known.events.table)
    motion.save(tmp_path / "out.npz")
    assert np.array_equal(mechsim.load(tmp_path / "out.npz").events.table, known.events.table)
    assert np.array_equal(pickle.loads(pickle.dumps(motion)).events.table, known.events.table)


@pytest.mark.parametrize("e", [0.995, 1])
def test_many_impacts_have_an_end(e):
    """As many as a ball takes that hardly loses anything, or one that loses nothing in a long time."""
    tend = 500 if e < 1 else 4000
    motion = mechsim.simulate(
        particle(f"AppliedForces: {{Gravity: [0, -10]}}\nContacts: {{floor: {{gap: P.y, e: {e}}}}}", tend=str(tend)),
        keep="table",
    )
    assert len(motion.events) > 3000
    rest = math.sqrt(0.2) * (1 + e) / (1 - e) if e < 1 else tend
    assert (motion.events[-1].kind == "contact") == (e < 1)
    assert motion.events[-1].t == pytest.approx(rest, rel=1e-3)


# --- words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            particle("Events: {top: {when: P.x - 1}}", tend="top"),
            "to end at the event top say at what time at the latest: [10, top]",
        ),
        (particle("Events: {top: {when: P.x - 1}}", tend="[3, tip]"), "tend names the event tip, which is not there"),
        (particle("Contacts: {floor: {gap: P.y}}"), "Contacts.floor lacks e"),
        (particle("Events: {top: {when: Q.x - 1}}"), "uses the point Q, which no part has"),
        (particle("Contacts: {floor: {gap: P.y, e: 1.1}}"), "Contacts.floor.e is 1.1, but must be from 0 to 1"),
    ],
)
def test_words(text, words):
    assert words in refused(text, SpecError)
