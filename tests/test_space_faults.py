"""Slips in files of space: each is told with its place, its value and what to write instead, in points of the file."""

from __future__ import annotations

import pytest

from mechsim.errors import SpecError
from mechsim.model import build
from mechsim.spec import parse

TEXT = """\
Dimension: 3
PartData:
  Fixed: {G: [], H: [0, 0, 1], J: [1]}
  Rigids: {GHQ: {Geom: [[1], [0, 0.5]], Dyna: [[0, 0.25], 2, [0.04, 0.02, 0.05]]},
           RST: {Geom: [[1], [0, 1]], Dyna: [[0, 0.25], 2, [0.04, 0.02, 0.05]]}}
Joints: {Slots: {R-GJ: []}}
ProblemData: {tend: 1}
"""


def told(text: str) -> list[tuple[str, str]]:
    """What is wrong with its place, and the hint."""
    with pytest.raises(SpecError) as refused:
        parse(text)
    return [
        (f"{each.mark.line}:{each.mark.column} {each.message}", each.hint) for each in refused.value.faults if each.mark
    ]


def forces(text: str) -> str:
    return TEXT.replace("Joints", f"AppliedForces: {{{text}}}\nJoints")


def start(text: str) -> str:
    return TEXT.replace("tend: 1", f"tend: 1, {text}")


def joint(text: str) -> str:
    return TEXT.replace("Slots: {R-GJ: []}", f"Slots: {{R-GJ: []}}, {text}")


VECTOR = "a torque on a part in space is a vector: write [x, y, z]; one number is about an axis: "
LINES = "each side has two points of the line, then one beside it: "
FRAME = (
    "the frame of the part has its y axis on the side of Q: write [0.3, 0.5], how far along GH and how far beside it, "
    "and all other places of the part in this frame"
)
ORIENTED = (
    "write orientations: {GHQ: {quaternion: [1, 0, 0, 0]}} if GH is along x and Q beside it towards y; "
    "else how it is turned, or velocities of its points instead of the spin"
)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            forces("Torques: {GHQ-GHJ: [0, 0, sin(t)]}"),
            "6:27 Torques.GHQ-GHJ is a vector, but between GHQ and GHJ a torque is one number, about their axis",
            "write one number or expression; a vector is a torque on a part: {GHQ: [x, y, z]}",
        ),
        (
            forces("ConstTorques: {GHQ-GHJ: [0, 0, 1]}"),
            "6:32 ConstTorques.GHQ-GHJ is a vector, but between GHQ and GHJ a torque is one number, about their axis",
            "write one number or expression; a vector is a torque on a part: {GHQ: [x, y, z]}",
        ),
        (
            forces("Torques: {GHQ: sin(t)}"),
            "6:27 Torques.GHQ is one number",
            VECTOR + "GHQ-GHJ, about the line GH from J to Q",
        ),
        (
            forces("ConstTorques: {RST: 3}"),
            "6:32 ConstTorques.RST is one number",
            VECTOR + "RST-RSG, about the line RS from G to T",
        ),
        (
            forces("Torques: {GHQ: [1, 2]}"),
            "6:32 AppliedForces.Torques.GHQ has 2 components, but a torque in space has three",
            "write all of [x, y, z], zeros too",
        ),
        (
            TEXT.replace("[0, 0.5]]", "[0.3, -0.5]]"),
            "4:36 Q of GHQ lies at (0.3, -0.5, 0), not in the xy plane with y above zero",
            FRAME,
        ),
        (
            TEXT.replace("[0, 0.5]]", "[0.3, 0.3, 0.4]]"),
            "4:36 Q of GHQ lies at (0.3, 0.3, 0.4), not in the xy plane with y above zero",
            FRAME,
        ),
        (
            start("spins: {GHQ: [0, 0, 3]}"),
            "7:37 spins.GHQ says how GHQ turns, but no orientation says how it stands",
            ORIENTED,
        ),
        (
            start("angles: {GHQ: 0.3}"),
            "7:33 angles: `GHQ` is no angle in space, which is one between two half-planes",
            "write GHQ-GHJ, about the line GH from J to Q",
        ),
        (
            start("angles: {GQ-GJ: 0.3}"),
            "7:33 angles: `GQ-GJ` are not two half-planes of one axis",
            "both have the two points of the axis first, then one of their own: GQH-GQJ, about the line GQ from J to H",
        ),
        (
            joint("Sliders: {RS-GJ: []}"),
            "6:39 Sliders.RS-GJ has 2 and 2 points before and after the dash",
            LINES + "RST-GJH",
        ),
        (
            joint("Sliders: {RST-GJH: [0.3]}"),
            "6:49 Sliders.RST-GJH has an offset",
            "a line in space has no left: the points RS are on it. If the angle about it is meant, write "
            "{RST-GJH: {angle: 0.3}}",
        ),
        (
            joint("Cylinders: {RST-GJH: []}"),
            "6:41 Cylinders.RST-GJH has 3 and 3 points before and after the dash",
            "each side has two points of the line: RS-GJ",
        ),
        (
            joint("Planes: {R-GJ: []}"),
            "6:38 Planes.R-GJ has 1 and 2 points before and after the dash",
            "one point or three of a part, then three of the plane: R-GJH",
        ),
        (
            joint("Hinges: {RS-GH: []}"),
            "6:38 Hinges.RS-GH: both sides begin with the point that the parts have in common",
            "each side has the point that both parts have, then another of the axis: such as AB-AC",
        ),
    ],
)
def test_a_slip_is_told_in_points_of_the_file(text: str, message: str, hint: str) -> None:
    assert (message, hint) in told(text)


ROD = """\
Dimension: 3
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
ProblemData: {tend: 1}
"""
BESIDE = "name a third point in OA, beside the line, and place it in Geom"
ON_LINE = "its line, but its points are all on this line: nothing tells how it turns about it"


@pytest.mark.parametrize(
    ("dyna", "message", "hint"),
    [
        ("[[0.5, 0.1], 1, 1/12]", f"4:43 OA has its centroid at (0.5, 0.1, 0), beside {ON_LINE}", BESIDE),
        ("[[0.5, 0, -0.3], 1, 1/12]", f"4:46 OA has its centroid at (0.5, 0, -0.3), beside {ON_LINE}", BESIDE),
        ("[[0.5, 0.1], 1, [0, 1, 1]]", f"4:43 OA has its centroid at (0.5, 0.1, 0), beside {ON_LINE}", BESIDE),
        (
            "{sphere: 0.1, mass: 1, at: [0.5, 0.1]}",
            f"4:37 OA has its centroid at (0.5, 0.1, 0), beside {ON_LINE}",
            BESIDE,
        ),
        (
            "[[0.5], 1, [1, 1, 2]]",
            f"4:48 OA has the inertia [1, 1, 2, 0, 0, 0], which is not the same all about {ON_LINE}",
            BESIDE,
        ),
        (
            "[[0.5], 1, [0.1, 1, 1]]",
            f"4:48 OA has the moment of inertia 0.1 about {ON_LINE}",
            f"{BESIDE}, or write one number for the inertia of a rod",
        ),
    ],
)
def test_a_rod_has_nothing_beside_its_line(dyna: str, message: str, hint: str) -> None:
    """Numbers and shapes alike: what a rod cannot have was dropped where its inertia was one number."""
    assert told(ROD.replace("[[0.5], 1, 1/12]", dyna)) == [(message, hint)]


def test_a_rod_may_be_off_its_line_by_a_rounding() -> None:
    centroid = parse(ROD.replace("[0.5]", "[0.5, sin(pi), 0.1*cos(pi/2)]")).rigids[0].centroid
    assert [float(each) for each in centroid] == [0.5, 0.0, 0.0]


FRAMES = """\
Dimension: 3
PartData:
  Fixed: {O: []}
  Rigids:
    OAB: {Geom: [[1], [2]], Dyna: [[0.5], 1, 1/12]}
    ACD: {Geom: [[1], [0, 1]], Dyna: [[0.5], 1, [0.1, 0.1, 0.1]]}
  Rods: {DE: 1}
  Particles: {E: 1}
SECTION
ProblemData: {tend: 1}
"""


@pytest.mark.parametrize(
    ("section", "user", "rod"),
    [
        ("Joints: {Skates: {OAB.A: [0, 1, 0]}}", "9:19 Skates.OAB.A", "OAB"),
        ("Joints: {Welds: {OAB-ACD: []}}", "9:18 Welds.OAB-ACD", "OAB"),
        ("Joints: {Welds: {ACD-DE: []}}", "9:18 Welds.ACD-DE", "DE"),
        ("AppliedForces: {ConstForces: {OAB.A: [0, 1, 0]}}", "9:31 ConstForces.OAB.A", "OAB"),
        ("AppliedForces: {Forces: {DE.E: [t, 0, 0]}}", "9:26 Forces.DE.E", "DE"),
        ("AppliedForces: {Torques: {OAB.ACD: [0, 0, t]}}", "9:27 Torques.OAB.ACD", "OAB"),
        ("AppliedForces: {Torques: {OAB: [0, 0, t]}}", "9:27 Torques.OAB", "OAB"),
        ("AppliedForces: {ConstTorques: {DE.DE: [0, 0, 1]}}", "9:32 ConstTorques.DE.DE", "DE"),
    ],
)
def test_a_rod_is_no_frame(section: str, user: str, rod: str) -> None:
    message = f"{user}: {rod} is a rod, all its points are on one line, so it has no axes across it"
    hint = f"name a part of three points that are not on one line (ACD), or give {rod} a point beside its line"
    assert told(FRAMES.replace("SECTION", section)) == [(message, hint)]


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ("Balls: {OAB-KLM: 0.5}", "ball OAB-KLM: O, A, B are points of OAB, a rod: all on one line, so it has no axes"),
        ("Wheels: {ACE-KLM: 0.5}", "wheel ACE-KLM: no part that can move has the points A, C, E"),
        ("Couplings: {ABO-ACD: []}", "coupling ABO-ACD: A, B, O are points of OAB, a rod: all on one line, so it has"),
        ("Couplings: {ACD-ABE: []}", "coupling ACD-ABE: no part that can move has the points A, B, E"),
    ],
)
def test_joints_that_need_a_body_say_why_points_give_none(joint: str, message: str) -> None:
    slots = "Slots: {E-KL: [], C-KM: []}"
    text = FRAMES.replace("O: []", "O: [], K: [], L: [1], M: [0, 1]")
    text = text.replace("SECTION", f"Joints: {{{joint}, {slots}}}")
    with pytest.raises(SpecError) as refused:
        build(parse(text))
    (fault,) = refused.value.faults
    assert fault.message.startswith(message) and fault.mark and fault.mark.line == 9 and fault.hint


MIRRORED = """\
Dimension: 3
PartData:
  Fixed: {A: []}
  Rigids:
    ABCD: {Geom: [[1], [0, 1], [0.3, 0.3, 0.4]], Dyna: [[0.2, 0.2, 0.1], 1, [0.1, 0.1, 0.1]]}
    OTHER: {Geom: [[1], [0, 1], [0.3, 0.3, HEIGHT], [0, 0, 1]], Dyna: [[0.2, 0.2, 0.1], 1, [0.1, 0.1, 0.1]]}
ProblemData: {tend: 1}
"""


@pytest.mark.parametrize(("other", "height"), [("ABCDE", -0.4), ("ACBDE", 0.4)])
def test_parts_that_share_four_points_may_not_be_mirror_images(other: str, height: float) -> None:
    """All distances are alike: only the hand of the two differs."""
    with pytest.raises(SpecError) as refused:
        build(parse(MIRRORED.replace("OTHER", other).replace("HEIGHT", str(height))))
    (fault,) = refused.value.faults
    names = other[:3]
    assert fault.message == (
        f"parts {other} and ABCD do not fit: D is on one side of {names} in {other} and on the other in ABCD"
    )
    assert fault.mark and fault.mark.line == 6 and fault.hint == "mirror the Geom of one of them"
    build(parse(MIRRORED.replace("OTHER", other).replace("HEIGHT", str(-height))))  # these fit


def test_mirror_images_are_refused_in_the_plane_too() -> None:
    text = """\
PartData:
  Fixed: {A: []}
  Rigids: {ABC: {Geom: [[1], [0.3, 0.4]]}, ABCD: {Geom: [[1], [0.3, HEIGHT], [0.5, 0.9]], Dyna: [[0.2], 1, 0.1]}}
ProblemData: {tend: 1}
"""
    with pytest.raises(SpecError, match="parts ABCD and ABC do not fit: C is on one side of AB in ABCD"):
        build(parse(text.replace("HEIGHT", "-0.4")))
    build(parse(text.replace("HEIGHT", "0.4")))
