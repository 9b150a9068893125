"""What points reach, against areas of rings, of parts of rings, and of intersections of rings."""

from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner

import mechsim
from mechsim.cli.main import cli

ARM = "specs/design/arm_2r.yaml"  # links of 0.6 and 0.4 m
FIVE_BAR = "specs/design/five_bar.yaml"  # legs of 0.5 and 0.8 m, 0.6 m apart
CUBICS = 3e-7  # of the area: curves bend by up to 0.045 in each cubic, whose area is off by the fourth power of that
SPATIAL = """
Dimension: 3
PartData:
  Fixed: {O: []}
  Rods: {OA: 0.6, AB: 0.4}
  Particles: {A: 1, B: 1}
Joints: {Holonomic: {upright: A.x*B.y - A.y*B.x}}
ProblemData: {tend: 1, positions: {A: [0.5, 0, 0.3], B: [0.8, 0, 0.1]}}
"""
BASE, PLATFORM, UPPER, LOWER = 1.0, 0.3, 0.6, 0.7
PARALLEL = f"""
Title: 3RRR
Dimension: 2
PhysicalParams: {{R: {BASE}, r: {PLATFORM}, l1: {UPPER}, l2: {LOWER}}}
PartData:
  Fixed: {{A: [R, 0], B: [R*cos(2*pi/3), R*sin(2*pi/3)], C: [R*cos(4*pi/3), R*sin(4*pi/3)]}}
  Rigids:
    AD, BE, CF: {{Geom: [[l1]], Dyna: {{rod: , mass: 1}}}}
    DG, EH, FK: {{Geom: [[l2]], Dyna: {{rod: , mass: 1}}}}
    GHKP: {{Geom: [[r*sqrt(3)], [r*sqrt(3)/2, 1.5*r], [r*sqrt(3)/2, r/2]], Dyna: [[r*sqrt(3)/2, r/2], 1, 0.02]}}
Drives: {{theta_AD: 2.6, theta_BE: -1.5, theta_CF: 0.6}}
ProblemData:
  tend: 1
  positions: {{P: [0, 0], G: [0.3, 0], H: [-0.15, 0.26], K: [-0.15, -0.26]}}
"""


def ring(low, high):
    return np.pi * (high**2 - low**2)


def lens(d, r, s):
    """The area of two discs together, their centres apart by d."""
    if d <= abs(r - s):
        return np.pi * min(r, s) ** 2
    if d >= r + s:
        return 0.0
    one = r**2 * np.arccos((d**2 + r**2 - s**2) / (2 * d * r))
    other = s**2 * np.arccos((d**2 + s**2 - r**2) / (2 * d * s))
    return one + other - 0.5 * np.sqrt((r + s - d) * (d + r - s) * (d - r + s) * (d + r + s))


def centres(turn):
    """Of the circles that P is bound to by the legs, where the platform is turned so from its symmetric pose."""
    legs = 2 * np.pi / 3 * np.arange(3)
    return np.stack([BASE * np.cos(legs) - PLATFORM * np.cos(legs + turn),
                     BASE * np.sin(legs) - PLATFORM * np.sin(legs + turn)], axis=-1)  # fmt: skip


def room(points, turn):
    """How far each of these is from what some leg does not reach, (points,); below zero it is beyond that."""
    away = np.linalg.norm(points[:, None] - centres(turn), axis=2)
    return np.minimum(UPPER + LOWER - away, away - abs(UPPER - LOWER)).min(axis=1)


def common_of_rings(middles, low, high):
    """The area that rings have in common: by Green's theorem, along all arcs of circles that are in every ring."""
    circles = [(middle, radius, sense) for middle in map(tuple, middles) for radius, sense in ((high, 1), (low, -1))]
    area = 0.0
    for middle, radius, sense in circles:
        angles = [-np.pi, np.pi]
        for other, size, _ in circles:
            off = np.subtract(other, middle)
            d = np.hypot(*off)
            if d > 0 and abs(cosine := (d**2 + radius**2 - size**2) / (2 * d * radius)) < 1:
                angles += [(np.arctan2(*off[::-1]) + sign * np.arccos(cosine) + np.pi) % (2 * np.pi) - np.pi
                           for sign in (1, -1)]  # fmt: skip
        for a, b in pairwise(sorted(angles)):
            half = np.array(middle) + radius * np.array([np.cos((a + b) / 2), np.sin((a + b) / 2)])
            aways = [np.hypot(*(half - each)) for each in middles if tuple(each) != middle]
            if all(low <= away <= high for away in aways):
                turned = middle[0] * (np.sin(b) - np.sin(a)) - middle[1] * (np.cos(b) - np.cos(a))
                area += sense * radius * (radius * (b - a) + turned) / 2
    return area


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0.0, 0.7, 2.2])
def test_a_platform_of_three_legs_that_does_not_turn(turn):
    """P reaches what all three legs reach: each leg a ring about its pivot, moved by the arm of the platform."""
    held = {"theta_GHKP": turn + 5 * np.pi / 6}  # GH, in the symmetric pose
    found = mechsim.mechanism(PARALLEL).workspace("P", hold=held)
    expected = common_of_rings(centres(turn), abs(UPPER - LOWER), UPPER + LOWER)
    assert found.area == pytest.approx(expected, abs=CUBICS) and not found.notes  # lengths are about a metre


@pytest.mark.slow
def test_a_platform_of_three_legs_that_turns():
    """By a scan of its angle: no point of the boundary has room to spare, and just inside there is some, so that what
    is found is what is reached. Rooms change with a turn by 0.3 of it at most, twice that of half a step is missed."""
    found = mechsim.mechanism(PARALLEL).workspace("P")
    turns = np.linspace(-np.pi, np.pi, 4001)
    missed = PLATFORM * np.pi / 4000
    assert not found.notes

    def most(points):
        return np.max([room(points, turn) for turn in turns], axis=0)

    for piece in found.boundary:
        points = piece.points()
        way = np.gradient(points, axis=0)
        inside = points + 1e-2 * np.stack([-way[:, 1], way[:, 0]], axis=1) / np.linalg.norm(way, axis=1)[:, None]
        assert np.abs(most(points)).max() < missed
        assert most(inside[len(inside) // 4 : -len(inside) // 4]).min() > 0
    across = np.stack(np.meshgrid(*[np.linspace(-0.9, 0.9, 41)] * 2), axis=-1).reshape(-1, 2)
    spare = most(across)
    clear = np.abs(spare) > missed
    assert clear.sum() > 1600
    assert [found.contains(*each) for each in across[clear]] == (spare[clear] > 0).tolist()


def test_an_arm_of_two_links_reaches_a_ring():
    found = mechsim.mechanism(ARM).workspace("B")
    assert found.area == pytest.approx(ring(0.2, 1.0), rel=CUBICS)
    assert found.high == pytest.approx((1, 1), abs=1e-6) and found.low == pytest.approx((-1, -1), abs=1e-6)
    assert found.contains(0.5, 0.3) and not found.contains(0.1, 0.05) and not found.contains(1.1, 0)
    for piece in found.boundary:
        radii = np.linalg.norm(piece.points(), axis=1)
        assert np.ptp(radii) < 1e-6 and min(abs(radii[0] - 0.2), abs(radii[0] - 1.0)) < 1e-9


@pytest.mark.slow
def test_with_limits_of_its_joints():
    """Where the elbow bends one way only, poses and places are one to one: the area is the integral of l1 l2 sin."""
    limits = {"theta_OA": (0, np.pi / 2), "theta_AB-theta_OA": (0.4, 2.5)}
    found = mechsim.mechanism(ARM).workspace("B", limits=limits)
    assert found.area == pytest.approx(0.24 * np.pi / 2 * (np.cos(0.4) - np.cos(2.5)), rel=CUBICS)
    assert len(found.boundary) == 4 and not found.notes
    met = {name for piece in found.boundary for name in found.met(piece)}
    assert met == {f"{each} {side}" for each in limits for side in ("min", "max")}


def arm_of(scale):
    """Links of 0.7 and 0.5 of some unit of length."""
    return mechsim.mechanism(f"""
PhysicalParams: {{l1: {0.7 * scale!r}, l2: {0.5 * scale!r}, m: 3}}
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[l1]], Dyna: [[l1/2], m, m*l1**2/12]}}, AB: {{Geom: [[l2]], Dyna: [[l2/2], m, m*l2**2/12]}}}}
ProblemData: {{tend: 1, positions: {{A: [l1, 0], B: [l1, l2]}}}}
""")


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3, 1e6])
def test_the_unit_of_length_makes_no_difference(scale):
    """Limits are of angles, what is reached is of lengths."""
    found = arm_of(scale).workspace("B", limits={"theta_OA": (0, 1), "theta_AB-theta_OA": (0.3, 2)})
    assert found.area / scale**2 == pytest.approx(0.35 * (np.cos(0.3) - np.cos(2)), rel=CUBICS)
    far = np.sqrt(0.74 + 0.7 * np.cos(0.3))
    most = 0.7 + 0.5 * np.cos(0.3)  # the upper arm level
    least = 0.7 * np.cos(1) + 0.5 * np.cos(3)  # at both ends of its limits
    assert far > most and found.high[0] / scale == pytest.approx(most, abs=1e-7)
    assert found.low[0] / scale == pytest.approx(least, abs=1e-7) and not found.notes


@pytest.mark.slow
@pytest.mark.parametrize(
    "limits",
    [
        {"theta_OA": (0, 7)},
        {"theta_OA": (-10, 3)},
        {"theta_AB-theta_OA": (0.5, 9)},
        {"theta_OA": (-3.2, 3.2), "theta_AB-theta_OA": (-7, 7)},
    ],
)
def test_limits_wider_than_a_turn_leave_all_of_the_ring(limits):
    found = arm_of(1.0).workspace("B", limits=limits)
    assert found.area == pytest.approx(ring(0.2, 1.2), rel=CUBICS) and not found.notes


def test_what_has_no_end_is_told():
    found = arm_of(1.0).workspace(["theta_OA", "B.y"])
    assert np.isnan(found.area) and not found.boundary and "no end of it was found" in found.notes[0]
    assert found.low == (-np.inf, pytest.approx(-1.2, abs=1e-8)) and found.high[0] == np.inf
    assert found.as_dict()["low"][0] is None


def test_a_curve_has_no_area_but_extents():
    """The elbow goes on an arc."""
    found = arm_of(1.0).workspace("A", limits={"theta_OA": (-0.5, 2)})
    assert found.area == 0 and "change together" in found.notes[0]
    assert found.low == pytest.approx((0.7 * np.cos(2), -0.7 * np.sin(0.5)), abs=1e-8)
    assert found.high == pytest.approx((0.7, 0.7), abs=1e-8)
    twice = arm_of(1.0).workspace(["B.x", "2*B.x"])
    assert twice.area == 0 and twice.notes and twice.high == pytest.approx((1.2, 2.4), abs=1e-8)


def test_a_fixed_point_is_told():
    told = CliRunner().invoke(cli, ["workspace", ARM, "--point", "O"])
    assert told.exit_code and "O is fixed" in str(told.exception) and "Drives" not in str(told.exception)


@pytest.mark.slow
def test_a_five_bar_reaches_what_both_its_legs_reach():
    found = mechsim.mechanism(FIVE_BAR).workspace("P")
    expected = lens(0.6, 1.3, 1.3) - 2 * lens(0.6, 0.3, 1.3) + lens(0.6, 0.3, 0.3)
    assert found.area == pytest.approx(expected, rel=CUBICS)


@pytest.mark.slow
def test_limits_whose_curves_lie_on_each_other():
    """The elbow bends both ways, so the least reach is met with either; by the angles that are seen at each radius."""
    limits = {"theta_OA": (0, np.pi / 2), "theta_AB-theta_OA": (-2.5, 2.5)}
    found = mechsim.mechanism(ARM).workspace("B", limits=limits)
    assert found.area == pytest.approx(1.1267254866118814, rel=CUBICS)
    assert found.inner and not found.notes


@pytest.mark.slow
def test_an_arm_in_space_by_a_section():
    found = mechsim.mechanism(SPATIAL).workspace("B", hold={"B.z": 0.1})
    assert found.area == pytest.approx(ring(np.sqrt(0.03), np.sqrt(0.99)), rel=CUBICS)
    assert found.names == ("B.x", "B.y")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"of": "Z"}, "there is no point Z"),
        ({"of": "B", "limits": {"theta_OA": (2, 1)}}, "turned around: 2 is not below 1"),
        ({"of": "B", "limits": {"theta_OA": "1"}}, "not of the form from:to"),
        ({"of": "B", "hold": {"theta_OA": 0.3}}, "with 1 freedom B.x and B.y reach no area"),
        ({"of": ["B.x", "B.x"]}, "B.x is asked for twice"),
        ({"of": ["B.x"]}, "of a point or of two quantities, not of 1"),
    ],
)
def test_what_is_refused(asked, words):
    with pytest.raises(mechsim.SpecError, match=words):
        mechsim.mechanism(ARM).workspace(**asked)


def test_in_space_a_section_is_asked_for():
    with pytest.raises(mechsim.SpecError, match="what B reaches in space is a body"):
        mechsim.mechanism(SPATIAL).workspace("B")


def test_a_start_beyond_a_limit_is_refused():
    with pytest.raises(mechsim.MechsimError):
        mechsim.mechanism(ARM).workspace("B", limits={"theta_OA": (1, 2)})


def test_the_command(tmp_path):
    words = ["workspace", ARM, "--point", "B", "-o", str(tmp_path / "w.csv"), "--plot", str(tmp_path / "w.png")]
    told = CliRunner().invoke(cli, words)
    assert told.exit_code == 0, told.output
    assert "area      3.015929" in told.output and "stretched or folded (2)" in told.output
    assert (tmp_path / "w.csv").read_text().count("boundary") > 50
    assert CliRunner().invoke(cli, ["workspace", ARM]).exit_code == 2
