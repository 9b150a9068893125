"""Contacts of outlines: discs, segments, polygons, parts with shapes; planes and spheres in space."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from reference import SPECS
from scipy.special import ellipk
from shapely import Polygon

import mechsim
from mechsim.errors import AssemblyError, SpecError

CONTACTS = SPECS / "contacts"
ROUNDINGS = 1e-13  # impacts are found and met to some roundings, which a few dozen impacts add up


def no_doubt(motion) -> None:
    """What every motion with contacts must keep: energy with its accounts, constraints, and no overlap."""
    certificate = motion.certificate
    assert certificate.doubts() == ()
    assert certificate.energy_drift < ROUNDINGS
    assert certificate.deepest_overlap < 1e-12


def simulate(name: str):
    motion = mechsim.simulate(CONTACTS / f"{name}.yaml")
    no_doubt(motion)
    return motion


def last_row(motion) -> dict[str, float]:
    return dict(motion.to_pandas().iloc[-1])


# --- known answers


def test_a_rocking_block_loses_speed_by_a_closed_ratio_and_comes_to_rest():
    motion = simulate("rocking_block")
    k = 3 * 0.2**2 / (0.2**2 + 1)
    landed = [event for event in motion.events if event.before < -1e-4]
    ratios = [b.before / a.before for a, b in itertools.pairwise(landed)]
    assert len(ratios) > 20
    assert ratios == pytest.approx([(1 - k) / (1 + k)] * len(ratios), rel=1e-9)
    end = last_row(motion)
    assert abs(end["A_y_dot"]) + abs(end["B_y_dot"]) < 1e-15
    assert end["contact_AB_OQ"] == pytest.approx(9.81, rel=1e-12)


def test_a_cradle_of_discs_hands_its_speed_from_one_end_to_the_other():
    motion = simulate("cradle_discs")
    inertia = 1 + 0.05**2 / 2  # each is fast on its rod
    quarter = ellipk(math.sin(0.15) ** 2) * math.sqrt(inertia / 9.81)
    times = sorted({event.t for event in motion.events})
    assert len(times) == 5 and len(motion.events) == 4 * 5
    assert times == pytest.approx([quarter * (2 * k + 1) for k in range(5)], rel=1e-12)
    out = motion(2 * quarter)
    assert out["B5"] == pytest.approx([0.5 + math.sin(0.3), -math.cos(0.3)], abs=1e-12)
    assert out["B1"] == pytest.approx([0.1, -1], abs=1e-12)


def test_a_disc_leaves_the_end_of_a_table_as_a_circle():
    motion = simulate("disc_over_edge")
    (_, off, on, leaving) = motion.events
    assert (off.t, off.kind, on.kind) == (pytest.approx(0.5, abs=1e-14), "release", "contact")
    x, y = motion(leaving.t)["P"]
    assert math.hypot(x, y) == pytest.approx(0.2, abs=1e-14)
    assert y / 0.2 == pytest.approx((2 + 0.6**2 / (9.81 * 0.2)) / 3, abs=1e-12)


def test_a_point_slides_off_a_segment_and_another_comes_around_its_end():
    text = """
PartData: {Fixed: {A: [-1], B: []}, Particles: {P: 1, Q: 1}}
AppliedForces: {Gravity: [0, -10]}
Contacts: {P-AB: {e: 0, between: yes}, Q-AB: {e: 0, between: yes}}
ProblemData:
  tend: 1
  positions: {P: [[-0.5, fixed], [0, fixed]], Q: [[0.5, fixed], [-0.2, fixed]]}
  velocities: {P: [[1, fixed], [0, fixed]], Q: [[-1, fixed], [4, fixed]]}
"""
    motion = mechsim.simulate(text)
    no_doubt(motion)
    assert [event.kind for event in motion.events.of("P-AB")] == ["contact", "release"]
    assert motion(1.0)["P"] == pytest.approx([0.5, -10 / 2 * 0.25], abs=1e-13)
    (landed,) = motion.events.of("Q-AB")
    assert landed.t == pytest.approx((4 + math.sqrt(16 - 4)) / 10, abs=1e-14)
    assert motion(1.0)["Q"] == pytest.approx([-0.5, 0], abs=1e-13)


def billiard(corners, radius, place, velocity, tend):
    """A disc in a polygon, from impact to impact in closed form: times, and where it is at the end."""
    corners, t, times = np.asarray(corners, dtype=float), 0.0, []
    while True:
        best, normal = math.inf, None
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            along = (b - a) / math.dist(a, b)
            across = np.array([-along[1], along[0]])
            rate = across @ velocity
            if rate < -1e-12:
                s = (radius - across @ (place - a)) / rate
                hit = place + s * velocity
                if 1e-9 < s < best and 0 <= along @ (hit - a) <= math.dist(a, b):
                    best, normal = s, across
            d = place - a
            half, rest = d @ velocity, d @ d - radius**2
            root = half**2 - (velocity @ velocity) * rest
            if half < 0 and root > 0:
                s = rest / (-half + math.sqrt(root))
                if 1e-9 < s < best:
                    best, normal = s, (d + s * velocity) / radius
        if t + best > tend:
            return times, place + (tend - t) * velocity
        t += best
        times.append(t)
        place = place + best * velocity
        velocity = velocity - 2 * (velocity @ normal) * normal


def test_a_billiard_meets_walls_and_a_corner_as_its_closed_form_does():
    motion = simulate("billiard")
    room = [(0, 0), (3, 0), (3, 2), (1.5, 2), (1.5, 1), (0, 1.2)]
    times, place = billiard(room, 0.1, np.array([0.5, 0.5]), np.array([1.0, 0.37]), 30.0)
    assert len(times) == len(motion.events) == 22
    assert motion.events.column("t") == pytest.approx(times, rel=1e-12)  # corners scatter: errors grow
    assert motion(30.0)["P"] == pytest.approx(place, abs=1e-11)


def test_spheres_change_speeds_along_their_centres_only():
    motion = simulate("spheres")
    (event,) = motion.events
    apart = np.array([2, 0.3, 0.1])
    # |apart - 2 t x| = 0.5
    t = (2 - math.sqrt(0.5**2 - 0.3**2 - 0.1**2)) / 2
    assert event.t == pytest.approx(t, abs=1e-14)
    normal = (apart - [2 * t, 0, 0]) / 0.5
    m, n = 50 * 0.2**3, 40 * 0.3**3
    push = (1 + 0.5) * 2 * normal[0] * m * n / (m + n)
    end = last_row(motion)
    assert [end[f"A_{x}_dot"] for x in "xyz"] == pytest.approx([2, 0, 0] - push / m * normal, abs=1e-13)
    assert [end[f"D_{x}_dot"] for x in "xyz"] == pytest.approx(push / n * normal, abs=1e-13)


def test_a_box_in_space_rests_on_corners_that_are_more_than_needed():
    motion = simulate("box_in_space")
    end = last_row(motion)
    forces = [value for name, value in end.items() if name.startswith("contact_ABC")]
    # A corner that bears nothing is held all the same: its force is a rounding of the others, some 1e-16 of the weight.
    assert len(forces) == 8 and min(forces) >= -1e-14 * 2 * 9.81
    assert sum(forces) == pytest.approx(2 * 9.81, rel=1e-12)


# --- machines


def test_a_jack_in_a_shaken_cup_overlaps_nowhere():
    motion = simulate("jack_in_cup")
    assert len(motion.events) > 80
    bar = np.array([[-0.4, -0.05], [0.4, -0.05], [0.4, 0.05], [-0.4, 0.05]])
    bars = [bar, bar[:, ::-1]]
    cup = np.array([[0, 0], [0.1, 0], [0.4, -1.5], [1.6, -1.5], [1.9, 0], [2, 0], [1.7, -1.6], [0.3, -1.6]])

    def placed(corners, origin, end):
        axis = (np.asarray(end) - origin) / math.dist(origin, end)
        return Polygon(np.asarray(origin) + corners[:, :1] * axis + corners[:, 1:] * [-axis[1], axis[0]])

    for t in np.linspace(0, 4, 400):
        at = motion(t)
        solid = placed(cup, at["C"], at["D"])
        # An area of 1e-12 is that of a corner some 1e-6 deep.
        assert max(solid.intersection(placed(each, at["A"], at["B"])).area for each in bars) < 1e-20


def test_a_geneva_wheel_turns_by_a_quarter_in_each_turn_of_its_crank():
    motion = simulate("geneva")
    times = [event.t for event in motion.events if event.before < -0.9]  # one in each turn, from the second on
    assert np.diff(times) == pytest.approx([math.pi] * 2, rel=1e-12)
    angles = [
        motion(t)["theta_CD"] for t in (math.pi * 4 - 3 * math.pi, math.pi * 4 - 2 * math.pi, math.pi * 4 - math.pi)
    ]
    assert np.diff(angles) == pytest.approx([-math.pi / 2] * 2, abs=1e-11)


def test_a_ratchet_turns_one_way():
    motion = simulate("ratchet")
    angle = motion.to_pandas()["theta_OA"].to_numpy()
    assert angle[-1] > 2 * math.pi
    assert (np.maximum.accumulate(angle) - angle).max() < math.pi / 4  # never back by a tooth


# --- properties

PAIR = """
PartData:
  Fixed: {{K: [-2, -2], L: [2, -2], M: [2.2, 2], N: [-2, 1.9]}}
  Rigids:
    AB: {{Geom: [[1]], Dyna: {{polygon: {first}, density: 1}}}}
    CD: {{Geom: [[1]], Dyna: {{polygon: {second}, density: 2}}}}
    KLMN: {{Geom: [[4], [4.2, 4], [0, 3.9]]}}
AppliedForces: {{Gravity: [0, {gravity}]}}
Contacts: {{{contacts}}}
ProblemData:
  tend: {tend}
  positions: {{A: [[{A_x}, fixed], [{A_y}, fixed]], C: [[{C_x}, fixed], [{C_y}, fixed]]}}
  angles: {{AB: [{theta_AB}, fixed], CD: [{theta_CD}, fixed]}}
  velocities: {{A: [[{A_x_dot}, fixed], [{A_y_dot}, fixed]], C: [[{C_x_dot}, fixed], [{C_y_dot}, fixed]]}}
  rates: {{AB: [{theta_AB_dot}, fixed], CD: [{theta_CD_dot}, fixed]}}
SolverParams: {{Integration: {{tol: 1e-14}}}}
"""
ROOM = "AB-CD: [{e}], AB-KLMN: {{e: {e}, inside: yes}}, CD-KLMN: {{e: {e}, inside: yes}}"
STATE = ("A_x", "A_y", "C_x", "C_y", "theta_AB", "theta_CD")


def convex(random) -> list[list[float]]:
    """Corners of a polygon on a circle, none near another."""
    count = random.integers(3, 7)
    angles = 2 * math.pi * (np.arange(count) + random.uniform(-0.3, 0.3, count)) / count
    return (random.uniform(0.5, 0.8) * np.stack([np.cos(angles), np.sin(angles)], axis=-1)).tolist()


def pair(seed: int, contacts: str, tend: float, gravity: float = 0.0) -> str:
    return written(seed, begun(seed), contacts, tend, gravity)


def begun(seed: int) -> dict[str, float]:
    """Two polygons that come towards each other."""
    random = np.random.default_rng(1000 + seed)
    places = (-1, random.uniform(0, 0.2), 1, random.uniform(-0.2, 0), *random.uniform(0, 6, 2))
    rates = (random.uniform(0.3, 1), random.uniform(-1, 1), random.uniform(-1, -0.3), *random.uniform(-1, 1, 3))
    return dict(zip(STATE, places, strict=True)) | dict(zip((f"{each}_dot" for each in STATE), rates, strict=True))


def polygons(seed: int) -> tuple[list[list[float]], list[list[float]]]:
    random = np.random.default_rng(seed)
    return convex(random), convex(random)


def written(seed: int, state: dict[str, float], contacts: str, tend: float, gravity: float = 0.0) -> str:
    first, second = polygons(seed)
    return PAIR.format(first=first, second=second, contacts=contacts, tend=tend, gravity=gravity, **state)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("e", [0, 0.6, 1])
def test_polygons_in_a_room_keep_apart_and_gain_nothing(seed, e):
    motion = mechsim.simulate(pair(seed, ROOM.format(e=e), 3.0, gravity=-9.81))
    no_doubt(motion)
    assert len(motion.events) > 4
    times, lost = motion.events.column("t"), motion.events.column("lost")
    for t in set(times):  # impacts that push each other share what is lost at one time
        assert lost[times == t].sum() > -ROUNDINGS * motion.certificate.largest_energy


def momenta(row: dict[str, float], corners: dict[str, list[list[float]]]) -> np.ndarray:
    """Of both parts together: along x and y, and about the origin."""
    total = np.zeros(3)
    for part, origin, density in (("AB", "A", 1), ("CD", "C", 2)):
        polygon = Polygon(corners[part])
        turn, rate = row[f"theta_{part}"], row[f"theta_{part}_dot"]
        u, v = polygon.centroid.x, polygon.centroid.y
        arm = np.array([math.cos(turn) * u - math.sin(turn) * v, math.sin(turn) * u + math.cos(turn) * v])
        x, y = np.array([row[f"{origin}_x"], row[f"{origin}_y"]]) + arm
        p, q = mass_times = (
            density
            * polygon.area
            * (np.array([row[f"{origin}_x_dot"], row[f"{origin}_y_dot"]]) + rate * np.array([-arm[1], arm[0]]))
        )
        total[:2] += mass_times
        total[2] += x * q - y * p + density * second_moment(np.array(corners[part]) - [u, v]) * rate
    return total


def second_moment(corners: np.ndarray) -> float:
    """Of a polygon about the origin, by triangles."""
    a, b = corners, np.roll(corners, -1, axis=0)
    double = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return float((double * ((a * a) + (a * b) + (b * b)).sum(axis=1)).sum() / 12)


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 5])  # those that meet
def test_free_polygons_keep_their_momenta(seed):
    motion = mechsim.simulate(pair(seed, "AB-CD: [0.7]", 3.0))
    no_doubt(motion)
    assert len(motion.events) > 0
    corners = dict(zip(("AB", "CD"), polygons(seed), strict=True))
    rows = [dict(row) for _, row in motion.to_pandas().iterrows()]
    before, *others = (momenta(row, corners) for row in rows)
    assert max(np.abs(after - before).max() for after in others) < ROUNDINGS * max(1.0, np.abs(before).max())


def dominoes(number: int, far: float, tend: float) -> str:
    """The first of the example's, standing so far from the origin."""
    text = (CONTACTS / "dominoes.yaml").read_text().split("Reference:")[0]
    for here, there in {
        "N: 7": f"N: {number}, far: {far}",
        "tend: 1.2": f"tend: {tend}",
        "U: [-0.1], W: [1.2]": "U: [far - 0.1], W: [far + 1.2]",
        "[[i*apart,": "[[far + i*apart,",
        "[i*apart + b": "[far + i*apart + b",
    }.items():
        assert here in text
        text = text.replace(here, there)
    return text


@pytest.mark.parametrize("number", [2, 3])
def test_small_things_far_out_do_not_enter_each_other(number):
    """Roundings of coordinates are more there than a small size allows for: corners that they let in are seen."""
    far, size, lever = 1000.0, 0.04, 5.1  # the part's points are 0.04 apart, its corners up to 0.204 away
    one = np.finfo(float).eps * far * lever / size  # a rounding of a gap
    near, away = (mechsim.simulate(dominoes(number, x, 0.7)) for x in (0.0, far))
    assert away.certificate.doubts() == ()
    assert away.certificate.deepest_overlap < 4 * one
    ends = [last_row(motion) for motion in (near, away)]
    places = [[end[f"{point}_{axis}"] for point in ("A2", "B2") for axis in "xy"] for end in ends]
    shift = np.array([far, 0.0, far, 0.0])
    # One rounding was measured.
    assert np.abs(places[1] - shift - places[0]).max() < 10 * one * size


@pytest.mark.parametrize("seed", range(4))
def test_elastic_impacts_run_back(seed):
    text = pair(seed, ROOM.format(e=1), 2.0)
    motion = mechsim.simulate(text)
    assert len(motion.events) > 0
    no_doubt(motion)
    rows = motion.to_pandas()
    first, last = dict(rows.iloc[0]), dict(rows.iloc[-1])
    turned = {name: last[name] for name in STATE} | {f"{name}_dot": -last[f"{name}_dot"] for name in STATE}
    end = last_row(mechsim.simulate(written(seed, turned, ROOM.format(e=1), 2.0)))
    # Each impact of corners makes errors some times larger.
    assert [end[name] for name in STATE] == pytest.approx([first[name] for name in STATE], abs=1e-10)
    assert [-end[f"{name}_dot"] for name in STATE] == pytest.approx([first[f"{name}_dot"] for name in STATE], abs=1e-10)


# --- bad input


SCENE = """
PartData:
  Fixed: {{O: [], Q: [2], K: [0, -1], L: [2, -1], M: [2, 1]}}
  Rigids:
    ABC: {{Geom: [[1], [0.2, 0.5]], Dyna: {{polygon: ABC, density: 1}}}}
    DE: {{Geom: [[1]], Dyna: [[0.5], 1, 1]}}
    OQ: {{Geom: [[2]]}}
    KLM: {{Geom: [[2], [2, 2]]}}
    FG: {{Geom: [[1]], Dyna: {{disc: 0.3, mass: 1, at: F, holes: [{{disc: 0.1}}]}}}}
  Particles: {{P: 1}}
Contacts: {{{contact}}}
ProblemData:
  tend: 1
  positions: {{A: [0, {height}], B: [1, {height}], D: [0, 3], E: [1, 3], F: [5, 5], P: [0.3, 2]}}
"""


@pytest.mark.parametrize(
    ("contact", "told"),
    [
        ("A-ABC: [0.5]", "names a point twice|on the rigid part"),
        ("ABC-ABC: [0.5]", "both are on the rigid part ABC"),
        ("DE-ABC: [0.5]", "DE has no outline"),
        ("ABC-FG: [0.5]", "FG has a hole, which contacts do not see"),
        ("P-ABD: [0.5]", "the points A, B, D do not keep their distances"),
        ("P-KML: {e: 1, radius: 1}", "has radius, which is for two points"),
        ("P-OQ: {e: 1, between: yes, inside: yes}", "has `inside`, but OQ has none"),
        ("P-ABC: {e: 1, between: yes}", "has `between`, which is for a line"),
        ("P-ABC: {e: 1, offset: -1}", "offset is negative"),
        ("P-Q: {e: 1, radius: 1, between: yes}", "has `?between`?, which does not belong here|for a line"),
        ("Q-KLM: [1]", "nothing in it can move"),
        ("ABC-OQ: {e: 1, between: yes}", "the line has no thickness that a polygon could meet"),
        ("P-OXQ: [1]", "the point X, which no part has"),
    ],
)
def test_what_cannot_meet_is_refused_with_its_place(contact, told):
    with pytest.raises(SpecError, match=told) as caught:
        mechsim.simulate(SCENE.format(contact=contact, height=0.5))
    assert "<text>:11:" in str(caught.value)


def test_a_start_inside_an_outline_is_refused():
    with pytest.raises(AssemblyError, match=r"the start is inside contact ABC-OQ by 0\.2"):
        mechsim.simulate(SCENE.format(contact="ABC-OQ: [1]", height=-0.2))


def test_a_line_between_points_at_one_place_is_refused():
    text = """
PartData:
  Fixed: {B: [3], C: [3, 0.1e-400]}
  Rigids: {PQ: {Geom: [[0.1]], Dyna: {disc: 0.1, mass: 3, at: P}}}
Contacts: {PQ-BC: {e: 0.6}}
ProblemData: {tend: 1, positions: {P: [0, 0.1], Q: [0.1, 0.1]}}
"""
    with pytest.raises(SpecError, match=r"the points B and C of .* are at one place, and say no direction") as caught:
        mechsim.simulate(text)
    assert caught.value.faults[0].mark.line == 5
