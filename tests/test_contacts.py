"""Gaps, impacts, lasting contact and release: against known answers, identities and another integrator."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from impacting_rods import Rods
from reference import SPECS

import mechsim
from mechsim.errors import AssemblyError, IntegrationError, MechsimError, SpecError

CONTACTS = SPECS / "contacts"
# Impact times, rates and energies come from one projection and one solve: some roundings of numbers near one.
ROUNDINGS = 1e-13

PARTICLE = """
PhysicalParams: {{e: 1, g: 9.8}}
PartData: {{Particles: {{P: 2}}}}
AppliedForces: {{Gravity: [0, -g]}}
{more}
ProblemData:
  tend: {tend}
  positions: {{P: [[{x}, fixed], [{y}, fixed]]}}
  velocities: {{P: [[{vx}, fixed], [{vy}, fixed]]}}
SolverParams: {{Integration: {{tol: 1e-14}}}}
"""


def particle(more: str, x=0.0, y=1.0, vx=0.0, vy=0.0, tend=3.0) -> str:
    return PARTICLE.format(more=more, x=x, y=y, vx=vx, vy=vy, tend=tend)


def kinds(motion) -> Counter[str]:
    return Counter(event.kind for event in motion.events)


def no_doubt(motion) -> None:
    """What every motion with contacts must keep: energy with its accounts, constraints, and no overlap."""
    certificate = motion.certificate
    assert certificate.doubts() == ()
    assert certificate.energy_drift < ROUNDINGS
    assert certificate.deepest_overlap < 1e-14
    assert motion.events.column("lost").min(initial=0.0) > -ROUNDINGS * certificate.largest_energy


# --- known answers


def test_bouncing_particle_of_seed_002():
    """The bar of the issue is 1e-12 in time; impacts are found to some 1e-16 each, and errors of times add up."""
    motion = mechsim.simulate(CONTACTS / "bouncing_particle.yaml")
    speed = math.sqrt(1 + 2 * 9.8)
    expected = (1 + speed) / 9.8 + 2 * speed / 9.8 * np.arange(5)
    assert np.abs(motion.events.column("t") - expected).max() < 5e-15
    assert np.abs(motion.events.column("before") + speed).max() < 1e-14
    assert motion(5.0)["P"][1] == pytest.approx(0.7027242692613986, abs=1e-13)
    assert kinds(motion) == {"impact": 5}
    no_doubt(motion)


def test_a_thousand_bounces_keep_time_and_energy():
    """Each adds a rounding or two to the time, 1e-13 of 926 s after a thousand."""
    motion = mechsim.simulate(CONTACTS / "bouncing_particle.yaml", tend=926.0)
    speed = math.sqrt(1 + 2 * 9.8)
    times = motion.events.column("t")
    expected = (1 + speed) / 9.8 + 2 * speed / 9.8 * np.arange(len(times))
    assert len(times) == 1000
    assert np.abs(times - expected).max() < 1e-11
    no_doubt(motion)


def test_ball_passes_its_accumulation_and_rests():
    """Bounces of less than 1e-15 of the size are not made: their time, sqrt(2e-15/g) and less, is what is missing."""
    motion = mechsim.simulate(CONTACTS / "resting_ball.yaml")
    first = math.sqrt(2 / 9.8)
    times = motion.events.column("t")
    expected = first + 2 * first * (1 - 0.5 ** np.arange(len(times)))
    assert np.abs(times - expected).max() < 1e-14
    assert 3 * first - times[-1] < 2e-7
    assert motion.events[-1].kind == "contact"
    assert np.all(motion.sampled(np.linspace(1.4, 5.0, 50))["P_y"] == 0.0)
    assert motion.multipliers(4.0)["contact_ground"] == pytest.approx(-9.8, abs=1e-14)  # it bears the weight
    assert motion.trajectory["contact_ground"][-1] == pytest.approx(9.8, abs=1e-14)
    no_doubt(motion)


def test_what_is_slow_does_not_bounce():
    """Speeds of a ball from 1 m are v, v/2, v/4, ...: with a limit between the third and the fourth it bounces three
    times, and rests from the fourth impact on. Times and speeds are in closed form."""
    speed = math.sqrt(2 * 9.8)
    text = particle(f"Contacts: {{floor: {{gap: P.y, e: 0.5, slow: {speed / 6!r}}}}}")
    motion = mechsim.simulate(text)
    assert [event.kind for event in motion.events] == ["impact"] * 3 + ["contact"]
    times = speed / 9.8 * np.array([1, 2, 2.5, 2.75])
    np.testing.assert_allclose(motion.events.column("t"), times, rtol=0, atol=ROUNDINGS)
    np.testing.assert_allclose(
        motion.events.column("before"), -speed / 2.0 ** np.arange(4), rtol=0, atol=10 * ROUNDINGS
    )
    no_doubt(motion)
    assert abs(motion.trajectory["P_y_dot"][-1]) < ROUNDINGS


def test_a_slow_stop_and_a_living_limit():
    """A stop of a quantity has a limit too; and a parameter in it is alive in a handle."""
    more = "Stops: {P.y: {min: 0, e: 0.5, slow: limit}}"
    text = particle(more).replace("e: 1, g", "limit: 10, g")
    assert [event.kind for event in mechsim.simulate(text).events] == ["contact"]
    handle = mechsim.mechanism(text)
    found = handle.simulate(parameters={"limit": 1.0})
    assert kinds(found) == {"impact": 3, "contact": 1}  # 4.4, 2.2, 1.1; then 0.55 m/s
    assert kinds(handle.simulate()) == {"contact": 1}


def test_pendulum_on_a_wall_by_elliptic_integrals():
    """Quarter periods of amplitudes that shrink with each impact; see /reference of the project, 20 digits."""
    motion = mechsim.simulate(CONTACTS / "pendulum_wall.yaml")
    times = [0.5347844001396722, 1.5781090751896997, 2.6060886576506275, 3.6247656161252141, 4.6376842973113138]
    times += [5.6469937257786379, 6.6540233981970038]
    before = 3.0032097427364441 * 0.8 ** np.arange(7)
    assert np.abs(motion.events.column("t") - times).max() < 2e-15
    assert np.abs(motion.events.column("before") + before).max() < 5e-15
    assert np.abs(motion.events.column("after") - 0.8 * before).max() < 5e-15
    no_doubt(motion)


def test_particle_leaves_a_sphere_at_two_thirds():
    """Where the load vanishes is known to its rounding: 1e-15 of the weight, over its slope."""
    motion = mechsim.simulate(CONTACTS / "leaving_sphere.yaml")
    leaves = math.acos(2 / 3)
    time = (math.log(math.tan(leaves / 4)) - math.log(math.tan(0.1 / 4))) / math.sqrt(9.8)
    contact, release = motion.events
    assert (contact.t, contact.kind, release.kind) == (0.0, "contact", "release")
    assert release.t == pytest.approx(time, abs=1e-13)
    assert motion(release.t)["P"][1] == pytest.approx(2 / 3, abs=1e-13)
    no_doubt(motion)


def test_cradle_hands_on_in_turn():
    motion = mechsim.simulate(CONTACTS / "cradle.yaml")
    assert kinds(motion) == {"impact": 20}
    times = motion.events.column("t")
    assert np.abs(times - 0.50435233375313 * np.repeat([1, 3, 5, 7, 9], 4)).max() < 1e-13
    inner = motion.sampled(np.linspace(0, 5, 200))
    for name in ("B2", "B3", "B4"):  # they stand still, though every impulse goes through them
        assert np.ptp(inner[f"{name}_x"]) < 1e-14
    no_doubt(motion)


def test_slack_tether_jerks_and_holds():
    motion = mechsim.simulate(CONTACTS / "slack_tether.yaml")
    (jerk,) = motion.events
    assert jerk.kind == "contact"
    assert jerk.t == pytest.approx(math.sqrt(2 * 0.8 / 9.81), abs=1e-15)
    assert jerk.lost == pytest.approx(0.64 * 9.81 * 0.8, abs=1e-14)
    distances = np.linalg.norm(motion(np.linspace(jerk.t, 2.0, 60))["P"], axis=-1)
    assert np.abs(distances - 1).max() < 1e-14
    no_doubt(motion)


# --- identities, and another integrator


def walls(count: int, wall: float = -0.2):
    """Gaps of the ends of rods to a wall, with their gradients, in angles."""

    def gap(number: int):
        chosen = np.arange(count) <= number
        return lambda psi: float(np.sin(psi)[chosen].sum() - wall), lambda psi: np.where(chosen, np.cos(psi), 0.0)

    return [gap(number) for number in range(count)]


@pytest.mark.parametrize(("name", "count"), [("double", 2), ("triple", 3)])
def test_pendulums_on_a_wall_as_scipy_finds_them(name, count):
    """DOP853 at 1e-13 follows the angles to some 1e-12; nothing of ours is in it."""
    motion = mechsim.simulate(CONTACTS / f"{name}_pendulum_wall.yaml")
    impacts, _ = Rods(count).follow([math.atan2(0.8, 0.6)] * count, 3.0, walls(count), 1.0)
    assert [event.gap for event in motion.events] == ["ABC"[number] for _, number in impacts]
    assert np.abs(motion.events.column("t") - [t for t, _ in impacts]).max() < 1e-11
    no_doubt(motion)


@pytest.mark.parametrize(("name", "ends"), [("double", "AB"), ("triple", "ABC")])
def test_impacts_change_momentum_along_the_gap_alone(name, ends):
    """Seed 002: p+ - p- = lambda grad h and H+ = H-, in angles, where momentum is M(psi) psi'."""
    motion = mechsim.simulate(CONTACTS / f"{name}_pendulum_wall.yaml")
    rods = Rods(len(ends))
    gradients = {end: gradient for end, (_, gradient) in zip(ends, walls(len(ends)), strict=True)}

    def angles(t, side):
        """Of each rod and its rate, from the differences of its ends."""
        places, speeds = (
            np.array([found[p] for p in f"O{ends}"]) for found in (motion(t, side), motion.velocity(t, side))
        )
        along, turning = np.diff(places, axis=0), np.diff(speeds, axis=0)
        psi = np.arctan2(along[:, 0], -along[:, 1])
        return psi, np.cos(psi) * turning[:, 0] + np.sin(psi) * turning[:, 1]

    for event in motion.events:
        (psi, before), (_, after) = angles(event.t, "before"), angles(event.t, "after")
        jump = rods.mass_matrix(psi) @ (after - before)
        assert np.abs(jump - event.impulse * gradients[event.gap](psi)).max() < ROUNDINGS
        assert rods.energy(psi, after) == pytest.approx(rods.energy(psi, before), abs=ROUNDINGS)


def test_an_elastic_motion_goes_back_the_way_it_came():
    """With e = 1 the motion with turned velocities retraces all impacts: 3 of them multiply errors of 1e-15 by 1e3."""
    path = CONTACTS / "double_pendulum_wall.yaml"
    motion = mechsim.simulate(path, tend=2.5)
    end, speed = motion(2.5), motion.velocity(2.5)
    text = path.read_text().split("ProblemData")[0]
    a, b, va, vb = ([repr(float(x)) for x in found] for found in (end["A"], end["B"], -speed["A"], -speed["B"]))
    text += f"ProblemData: {{tend: 2.5, positions: {{A: [[{a[0]}, fixed], {a[1]}], B: [[{b[0]}, fixed], {b[1]}]}}, "
    text += f"velocities: {{A: [[{va[0]}, fixed], {va[1]}], B: [[{vb[0]}, fixed], {vb[1]}]}}}}\n"
    back = mechsim.simulate(text, tol=1e-14)
    assert np.abs(back(2.5)["B"] - [1.6, -1.2]).max() < 1e-11
    assert np.abs(2.5 - back.events.column("t")[::-1] - motion.events.column("t")).max() < 1e-11


def number(least: float, most: float) -> st.SearchStrategy[float]:
    return st.floats(least, most).map(lambda value: round(value, 4))


@some_of(40)
@given(
    e=number(0.0, 1.0),
    x=number(0.1, 0.9),
    vx=number(-3, 3),
    vy=number(-3, 3),
    tilt=number(-0.6, 0.6),
    shake=number(0.0, 0.1),
)
def test_a_particle_in_a_shaken_box(e, x, vx, vy, tilt, shake):
    """Whatever happens between four walls, one of them tilted and one shaken: energy, accounts and walls are kept."""
    more = (
        f"Contacts: {{floor: {{gap: P.y - {tilt!r}*(P.x - 0.5) - {shake!r}*sin(7*t), e: {e!r}}}, "
        "left: {gap: P.x, e: 0.9}, right: {gap: 1 - P.x, e: 0.3}, roof: {gap: 2 - P.y, e: 1}}"
    )
    motion = mechsim.simulate(particle(more, x=x, y=1.0, vx=vx, vy=vy, tend=4.0))
    no_doubt(motion)
    table = motion.sampled(np.linspace(0, 4, 400))
    height = table["P_y"] - tilt * (table["P_x"] - 0.5) - shake * np.sin(7 * table.t)
    assert min(height.min(), table["P_x"].min(), (1 - table["P_x"]).min()) > -1e-12


def test_energy_account_of_a_moving_barrier():
    """A bat that moves up at v sends a ball of speed u back with u + 2 v, if elastic: its work is in the account."""
    more = "Contacts: {bat: {gap: P.y - 0.5*t, e: 1}}"
    motion = mechsim.simulate(particle(more.replace("g]", "0]"), y=1.0, vy=-1.0, tend=0.8).replace("-g", "0"))
    (impact,) = motion.events
    assert impact.t == pytest.approx(2 / 3, abs=1e-15)
    assert motion.velocity(0.8)["P"][1] == pytest.approx(2.0, abs=1e-14)
    assert motion.trajectory["work_contact_bat"][-1] == pytest.approx(2 / 2 * (2.0**2 - 1.0**2), abs=1e-14)
    no_doubt(motion)


def test_a_barrier_that_lifts_what_lies_on_it_and_lets_it_go():
    """On y = a sin(w t) with a w^2 > g it flies where the floor falls faster: at sin(w t) = g / (a w^2)."""
    more = "Contacts: {floor: {gap: P.y - 0.2*sin(10*t), e: 0}}"
    motion = mechsim.simulate(particle(more, y=0.0, vy=2.0, tend=0.06))
    assert [event.kind for event in motion.events] == ["contact", "release"]
    assert motion.events[-1].t == pytest.approx(math.asin(9.8 / 20) / 10, abs=1e-15)
    no_doubt(motion)


def test_errors_of_impact_times_fall_with_the_tolerance():
    """Order of convergence: a tolerance a hundred times tighter gives a hundred times better times, or nearly so."""
    exact = [t for t, _ in Rods(2).follow([math.atan2(0.8, 0.6)] * 2, 3.0, walls(2), 1.0)[0]]
    errors = [
        np.abs(mechsim.simulate(CONTACTS / "double_pendulum_wall.yaml", tol=tol).events.column("t") - exact).max()
        for tol in (1e-4, 1e-6, 1e-8, 1e-10)
    ]
    assert errors[0] < 1e-3
    assert errors[3] < 1e-9
    assert errors[3] < 1e-4 * errors[0]


# --- several at once


def test_a_block_comes_to_rest_on_two_corners():
    block = """
PhysicalParams: {a: 1, b: 0.5, m: 1}
PartData:
  Rigids: {ABCD: {Geom: [[a],[a,b],[0,b]], Dyna: [[a/2,b/2], m, m*(a**2+b**2)/12]}}
AppliedForces: {Gravity: [0, -9.81]}
Contacts:
  A: {gap: A.y, e: 0.4}
  B: {gap: B.y, e: 0.4}
  C: {gap: C.y, e: 0.4}
  D: {gap: D.y, e: 0.4}
ProblemData: {tend: 5, positions: {A: [[0,fixed], [1,fixed]], B: [cos(0.3), [1+sin(0.3),fixed]]}}
SolverParams: {Integration: {tol: 1e-14}}
"""
    motion = mechsim.simulate(block)
    no_doubt(motion)
    loads = motion.multipliers(5.0)
    assert loads["contact_A"] == pytest.approx(-9.81 / 2, abs=1e-12)  # each bears half of the weight
    assert loads["contact_B"] == pytest.approx(-9.81 / 2, abs=1e-12)
    assert np.abs(motion.velocity(5.0)["C"]).max() < 1e-12


def test_contacts_that_repeat_each_other_are_resolved():
    """Three gaps say the same: one of them bears the load, none is entered."""
    more = "Contacts: {a: {gap: P.y, e: 0}, b: {gap: 2*P.y, e: 0}, c: {gap: P.y + 0*P.x, e: 0}}"
    motion = mechsim.simulate(particle(more, vx=1.0))
    no_doubt(motion)
    assert np.all(np.abs(motion(np.linspace(1, 3, 20))["P"][:, 1]) < 1e-15)


def test_three_balls_in_turn_not_at_once():
    """In a row without gravity, the first strikes: in turn gives 0, 0, 1; at once would be -1/3, 2/3, 2/3."""
    text = """
PartData: {Particles: {A: 1, B: 1, C: 1}}
Contacts: {A-B: {radius: 1, e: 1}, B-C: {radius: 1, e: 1}}
ProblemData: {tend: 2, positions: {A: [-1, 0], B: [[1, fixed], [0, fixed]], C: [[2, fixed], [0, fixed]]},
              velocities: {A: [[1, fixed], [0, fixed]]}}
"""
    motion = mechsim.simulate(text)
    speeds = [float(motion.velocity(2.0)[name][0]) for name in "ABC"]
    assert speeds == pytest.approx([0, 0, 1], abs=1e-13)


# --- results


def test_events_are_written_beside_and_read_back(tmp_path: Path):
    motion = mechsim.simulate(CONTACTS / "resting_ball.yaml")
    csv, npz = motion.save(tmp_path / "out.csv"), motion.save(tmp_path / "out.npz")
    lines = (tmp_path / "out.events.csv").read_text().splitlines()
    assert lines[0] == "t,contact,event,rate_before,rate_after,impulse,energy_lost"
    assert len(lines) == 1 + len(motion.events)
    assert float(lines[1].split(",")[0]) == motion.events[0].t
    assert np.array_equal(mechsim.load(npz).events.table, motion.events.table)
    assert mechsim.load(csv).certificate.events == len(motion.events)


def test_an_event_has_two_rows_and_two_sides():
    motion = mechsim.simulate(CONTACTS / "bouncing_particle.yaml")
    impact = motion.events[0]
    before, after = (motion.velocity(impact.t, side)["P"][1] for side in ("before", "after"))
    assert (before, after) == pytest.approx((impact.before, impact.after), abs=1e-14)
    rows = motion.trajectory["P_y_dot"][motion.trajectory.t == impact.t]
    assert rows == pytest.approx([impact.before, impact.after], abs=1e-14)
    assert len(motion.segments) == 6
    both = motion.both_sides()
    assert np.sum(both.t == impact.t) == 2


def test_segments_carry_the_mode():
    motion = mechsim.simulate(CONTACTS / "leaving_sphere.yaml")
    mode = motion.system.gaps[0].mode
    assert [segment.constants[mode] for segment in motion.segments] == [1.0, 0.0]


# --- what is refused


def refused(text: str, kind: type[MechsimError] = SpecError) -> str:
    with pytest.raises(kind) as found:
        mechsim.simulate(text)
    return str(found.value)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("Contacts: {floor: {gap: P.y, e: 1.5}}", "5:33: error: Contacts.floor.e is 1.5, but must be from 0 to 1"),
        ("Contacts: {floor: {gap: P.y, e: -0.1}}", "must be from 0 to 1"),
        ("Contacts: {floor: {gap: P.y}}", "5:19: error: Contacts.floor lacks e"),
        ("Contacts: {floor: {e: 1}}", "Contacts.floor does not say what meets"),
        ("Contacts: {floor: {gap: P.vy, e: 1}}", "may use positions and time, but P.vy changes with velocities"),
        ("Contacts: {floor: {gap: Q.y, e: 1}}", "Q"),
        ("Contacts: {floor: {gap: 1 + e, e: 1}}", "contact floor: nothing in it can move"),
        ("Contacts: {floor: {gap: P.y, e: 1, slow: -1}}", "slow"),
        ("Contacts: {floor: {gap: P.y, stiffness: 1, slow: 1}}", "has slow, but gives way"),
        ("Contacts: {P-Q: [1]}", "Q"),
        ("Stops: {P.y: {e: 1}}", "Stops.P.y has neither min nor max"),
        ("Stops: {P.y: {min: P.x, e: 1}}", "may use a function of time"),
        ("Events: {low: {when: P.y, do: jump}}", "which no event does"),
        ("Events: {low: {when: P.y, do: {set: {g: 1}}}}", "low sets g, which is no input"),
    ],
)
def test_bad_input_is_told_with_its_place(more, words):
    assert words in refused(particle(more))


def test_a_start_inside_a_barrier_is_told():
    words = refused(particle("Contacts: {floor: {gap: P.y - 1.25, e: 1}}"), AssemblyError)
    assert "5:12: error: the start is inside contact floor by 0.25" in words


def test_contact_of_one_rigid_part_is_refused():
    text = """
PartData: {Rigids: {ABC: {Geom: [[1], [0, 1]], Dyna: [[0, 0], 1, 1]}}}
Contacts: {C-AB: [1]}
ProblemData: {tend: 1, positions: {A: [0, 0], B: [1, 0]}}
"""
    assert "3:12: error: contact C-AB: nothing in it can move" in refused(text)


def test_what_is_not_known_with_contacts_is_refused():
    massless = """
PartData: {Fixed: {O: []}, Springs: {OA: [1, 1]}, Particles: {B: 1}, Rods: {AB: 1}}
Contacts: {wall: {gap: A.x + 3, e: 1}}
ProblemData: {tend: 1, positions: {A: [1, 0], B: [2, 0]}}
"""
    with pytest.raises(MechsimError):
        mechsim.simulate(massless)


# --- events of the user


def test_events_stop_record_and_set():
    text = """
Inputs: {wind: 0}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -10], Forces: {P: [wind, 0]}}
Events:
  top: {when: P.vy, direction: down, do: [record, {set: {wind: 2 + P.y}}]}
  rising: {when: P.y - 0.25, direction: up}
  landed: {when: P.y, direction: down}
ProblemData: {tend: [20, landed], velocities: {P: [[0, fixed], [5, fixed]]}, positions: {P: [[0, fixed], [0, fixed]]}}
SolverParams: {Integration: {tol: 1e-14}}
"""
    motion = mechsim.simulate(text)
    rising = (5 - math.sqrt(20)) / 10
    assert [(event.gap, event.kind) for event in motion.events] == [
        ("rising", "event"),
        ("top", "event"),
        ("landed", "event"),
    ]
    assert motion.events.column("t") == pytest.approx([rising, 0.5, 1.0], abs=1e-15)
    assert motion.t[-1] == pytest.approx(1.0, abs=1e-15)
    assert motion(motion.t[-1])["P"][0] == pytest.approx(3.25 / 8, abs=1e-14)  # pushed by 2 + 1.25 for half a second
    assert motion.certificate.energy_drift < ROUNDINGS


def test_sections_of_a_long_motion_come_at_their_times():
    """sin(t) near its zeros is known to the rounding of t, which 300 is coarse for: events come once all the same."""
    text = """
PartData: {Particles: {P: 1}}
Events: {turn: {when: sin(t), direction: both}}
ProblemData: {tend: 320, velocities: {P: [1, 0]}}
"""
    times = mechsim.simulate(text).events.column("t")
    assert len(times) == 101
    assert np.abs(times - math.pi * np.arange(1, 102)).max() < 1e-13


def test_an_event_that_touches_zero_does_not_fire():
    text = particle("Events: {touch: {when: (P.y - 0.5)**2, do: stop}}", vy=0.0, tend=0.4)
    assert len(mechsim.simulate(text).events) == 0


def test_backwards_is_refused():
    from mechsim.engine import integrate
    from mechsim.simulation import prepare
    from mechsim.source import read

    prepared = prepare(read(CONTACTS / "bouncing_particle.yaml", None, ()))
    with pytest.raises(IntegrationError, match="backwards"):
        integrate(prepared.system, prepared.structure, prepared.start, tend=-1.0, tolerance=1e-12)


# --- functions that switch

SWITCHED = """
PhysicalParams: {{k: 4}}
PartData: {{Particles: {{P: 1}}}}
AppliedForces: {{Forces: {{P: ["{force}", 0]}}}}
ProblemData:
  tend: {tend}
  positions: {{P: [[{x}, fixed], [0, fixed]]}}
  velocities: {{P: [[{v}, fixed], [0, fixed]]}}
SolverParams: {{Integration: {{tol: 1e-14}}}}
"""


def switched(force: str, x: float = 1.0, v: float = 0.0, tend: float = 7.0):
    return mechsim.simulate(SWITCHED.format(force=force, x=x, v=v, tend=tend))


def test_a_constant_pull_to_the_middle_swings_in_parabolas():
    """-k sign(x) from 1 at rest: a quarter of the period is sqrt(2/k). A step is a whole parabola."""
    motion = switched("-k*sign(P.x)")
    quarter = math.sqrt(2 / 4)
    assert motion(np.array([2, 4, 8]) * quarter)["P"][:, 0] == pytest.approx([-1, 1, 1], abs=1e-14)
    assert motion.certificate.steps < 10
    assert motion.certificate.energy_drift < 1e-15
    assert len(motion.events) == 0  # switches are no events of the user


def test_a_spring_that_is_stiffer_on_one_side():
    """Half periods pi/2 and pi, in turn."""
    motion = switched("-k*max(P.x, 0) - min(0, P.x)", tend=10.0)
    period = 1.5 * math.pi
    assert motion(np.array([period, 2 * period]))["P"][:, 0] == pytest.approx([1, 1], abs=1e-14)
    assert motion.certificate.energy_drift < 1e-15


def test_drag_by_the_size_of_the_speed_is_exact():
    """v' = -|v| v: v = 1/(1 + t), and the same to the left."""
    right, left = switched("-abs(P.vx)*P.vx", x=0.0, v=1.0), switched("-abs(P.vx)*P.vx", x=0.0, v=-1.0)
    assert right(7.0)["P"][0] == pytest.approx(math.log(8), abs=1e-13)
    assert left(7.0)["P"][0] == pytest.approx(-math.log(8), abs=1e-13)


def test_a_choice_by_time_and_by_state():
    motion = switched("if(t - 1, 3, if(P.vx, 1, 2))", x=0.0, v=1.0, tend=2.0)
    assert motion.velocity(2.0)["P"][0] == pytest.approx(1 + 1 + 3, abs=1e-14)


def test_a_switch_that_both_sides_push_back_to_stops_and_says_so():
    with pytest.raises(IntegrationError, match="both sides push back") as found:
        switched("-0.5*sign(P.vx)", x=0.0, v=1.0)
    motion = found.value.motion
    assert motion.t[-1] == pytest.approx(2.0, abs=1e-15)
    assert motion(motion.t[-1])["P"][0] == pytest.approx(1.0, abs=1e-15)


def test_what_is_held_is_not_set(tmp_path):
    """Of a gap and of a drive: a constraint that jumps would be entered, or torn."""
    ball = """
Inputs: {h: 0}
PartData: {Particles: {P: 1}}
Contacts: {floor: {gap: P.y - h, e: 0.5}}
Events: {up: {when: t - 0.5, do: {set: {h: 0.2}}}}
ProblemData: {tend: 2, positions: {P: [[0, fixed], [1, fixed]]}}
"""
    with pytest.raises(mechsim.SpecError, match=r"Events.up sets h, on which contact floor depends"):
        mechsim.simulate(ball)
    crank = """
Inputs: {h: 0}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}
Drives: {theta_OA: h + t}
Events: {up: {when: t - 0.5, do: {set: {h: 0.2}}}}
ProblemData: {tend: 2}
"""
    with pytest.raises(mechsim.SpecError, match=r"sets h, on which drive of theta_OA depends"):
        mechsim.simulate(crank)


@pytest.mark.parametrize("slope", [0.05, 0.3, 0.5, 1, 2])
def test_a_ball_rests_at_the_bottom_of_a_valley(slope):
    """It cannot move, so all its speeds are roundings, which nothing is small beside. Each side bears half of the
    weight: 2 N cos(a) = m g, and what a column has is N per unit of the gap, N cos(a)."""
    motion = mechsim.simulate(f"""
PartData: {{Particles: {{P: 2}}}}
AppliedForces: {{Gravity: [0, -10]}}
Contacts: {{l: {{gap: P.y + {slope}*P.x, e: 0}}, r: {{gap: P.y - {slope}*P.x, e: 0}}}}
ProblemData: {{tend: 1, positions: {{P: [[0, fixed], [0, fixed]]}}}}
""")
    end = dict(zip(motion.trajectory.labels, motion.trajectory.table[-1], strict=True))
    assert (end["contact_l"], end["contact_r"]) == pytest.approx((10, 10), rel=1e-13)
    assert abs(end["P_x"]) + abs(end["P_y"]) < 1e-15


@pytest.mark.parametrize("left, right", [(1, 0.5), (0.3, 0.4), (2, 0.2)])
@pytest.mark.parametrize("bounces", [(0, 0), (0.5, 0), (0.5, 0.5)])
def test_nothing_falls_through_a_corner(left, right, bounces):
    """Infinitely many bounces between two walls end at the bottom: what the last of them neglects must not push the
    ball through the other wall."""
    motion = mechsim.simulate(f"""
PartData: {{Particles: {{P: 1}}}}
AppliedForces: {{Gravity: [0, -10]}}
Contacts: {{l: {{gap: P.y + {left}*P.x, e: {bounces[0]}}}, r: {{gap: P.y - {right}*P.x, e: {bounces[1]}}}}}
ProblemData: {{tend: 20, positions: {{P: [[0.2, fixed], [1, fixed]]}}}}
""")
    table = motion.trajectory.table
    x, y = (table[:, motion.trajectory.labels.index(name)] for name in ("P_x", "P_y"))
    assert min((y + left * x).min(), (y - right * x).min()) > -1e-13
    assert abs(x[-1]) + abs(y[-1]) < 1e-6
    assert motion.certificate.doubts() == ()
    assert (motion.events.column("after") > -1e-9).all()


def test_walls_that_close_stop_the_run():
    with pytest.raises(mechsim.IntegrationError, match="at t = 10"):
        mechsim.simulate("""
PartData: {Particles: {P: 1}}
Contacts: {left: {gap: P.x, e: 0}, right: {gap: 1 - 0.1*t - P.x, e: 0}}
ProblemData: {tend: 12, positions: {P: [[0.5, fixed], [0, fixed]]}}
""")
