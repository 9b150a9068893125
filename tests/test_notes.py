"""Notes: each is said when it applies, with its place, and never otherwise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mechsim import simulation
from mechsim.errors import Note

ROOT = Path(__file__).parent.parent
SPECS = sorted((ROOT / "specs").rglob("*.yaml"))
EXAMPLES = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "language.md").read_text(), re.DOTALL)
# Listings of the seed, as printed: what they guess is far from what their parts and fixed values allow. And statics.
DESERVED = {
    "mechanism0": ["position is far from its guess: A_y", "velocity is far from its guess: A_x_dot"],
    "mechanism1a": ["position is far from its guess: F_y"],
    "mechanism1b": ["position is far from its guess: F_y"],
    "shelf": ["nothing can move"],
    "tripod": ["nothing can move"],
}


def notes(text: str) -> list[Note]:
    return list(simulation.prepare(simulation.read(text)).start.notes)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_shipped_mechanisms_have_only_the_notes_they_deserve(path: Path) -> None:
    said = notes(path.read_text())
    expected = DESERVED.get(path.stem, [])
    assert len(said) == len(expected), said
    assert all(words in note.message for words, note in zip(expected, said, strict=True))


@pytest.mark.parametrize("text", EXAMPLES, ids=[example.strip().splitlines()[0] for example in EXAMPLES])
def test_examples_of_the_language_have_none(text: str) -> None:
    assert notes(text) == []


PLAIN = """
PhysicalParams: {l: 1, m: 1, g: 9.81}
PartData:
  Fixed: {O: [], P: [3]}
  Rigids:
    OA: {Geom: [[l]], Dyna: [[l/2], m, m*l**2/12]}
    PB: {Geom: [[2*l]], Dyna: [[l/2], m, m*l**2/12]}
AppliedForces: {Gravity: [0, -g]}
Joints: {Gears: {OA-PB: [1, 2]}}
ProblemData: {tend: 1, angles: {OA: 0.5, PB: 1}}
"""


def test_the_plain_file_has_none() -> None:
    assert notes(PLAIN) == []


# What is changed in the plain file, what is then said, and in which line.
CHANGES = {
    "millimetres": (("l: 1", "l: 100"), "PB is 200 m long, and all parts together have 2 kg", 7),
    "unused": (("m: 1", "m: 1, k: 2*w, w: 3"), "the parameter k is never used", 2),
    "used by unused only": (("m: 1", "m: 1, k: 2*w, w: 3"), "the parameter w is never used", 2),
    "no gravity": (("Gravity: [0, -g]", ""), "g is never used, and there is no gravity", 2),
    "loose part": (("    PB:", "    XY: {Geom: [[1]], Dyna: [[], 1, 1]}\n    PB:"), "XY is attached to nothing", 7),
    "loose particle": (("AppliedForces", "  Particles: {X: 1}\nAppliedForces"), "particle X is attached to nothing", 8),
    "gears apart": (("[1, 2]", "[1, 1.9]"), "the radii add up to 2.9, but the centres are 3 apart", 9),
    "ring": (("[1, 2]", "[1, -3]"), "the radii differ by 2, but the centres are 3 apart", 9),
    "start in degrees": (("OA: 0.5", "OA: 30"), "angles.OA is 30, more than a turn", 10),
    "slider in degrees": (("Gears: {OA-PB: [1, 2]}", "Sliders: {CD-OP: [0, 90]}"), "Sliders.CD-OP is 90", 9),
    "spring in degrees": (("{Gravity", "{TorsionSprings: {OA: [1, 45]}, Gravity"), "TorsionSprings.OA is 45", 8),
    "drive in degrees": (("ProblemData", "Drives: {theta_OA: 30}\nProblemData"), "starts at 30 rad", 10),
    "speed in degrees": (("ProblemData", "Drives: {theta_OA: 90*t}\nProblemData"), "turns at 90 rad/s", 10),
    "rate in degrees": (("ProblemData", "Drives: {omega_OA: 360}\nProblemData"), "turns at 360 rad/s", 10),
    "swing in degrees": (("ProblemData", "Drives: {theta_OA: 45*sin(9*t)}\nProblemData"), "swings between -4", 10),
    "target in degrees": (
        ("ProblemData", "Controllers: {theta_OA: {target: 80, kp: 1}}\nProblemData"), "starts at 80, more than", 10,
    ),
}  # fmt: skip
SLIDING = "    CD: {Geom: [[1]], Dyna: [[], 1, 1]}\n    PB:"


@pytest.mark.parametrize(("change", "words", "line"), CHANGES.values(), ids=CHANGES)
def test_a_note_is_said_with_its_place(change: tuple[str, str], words: str, line: int) -> None:
    text = PLAIN.replace(*change, 1)
    if "Sliders" in text:
        text = text.replace("    PB:", SLIDING, 1)
        line = 10
    said = [note for note in notes(text) if words in note.message]
    assert len(said) == 1, notes(text)
    mark = said[0].mark
    assert mark is not None and mark.line == line
    assert str(said[0]).startswith(f"{mark.file}:{mark.line}:{mark.column}: ")


WHEEL = """
PartData:
  Fixed: {Q: [], S: [1]}
  Rigids: {CP: {Geom: [[0.5]], Dyna: [[], 1, 0.125]}}
Joints:
  Wheels: {CP-QS: 0.5}
ProblemData: {tend: 1, positions: {C: [0, -0.6], P: [0.5, -0.6]}}
"""


@pytest.mark.parametrize(("radius", "height", "noted"), [(0.5, -0.6, True), (-0.5, -0.6, False), (-0.5, 0.4, True),
                                                         (0.5, 0.4, False), (0.5, -0.01, False)])  # fmt: skip
def test_a_wheel_on_the_wrong_side_is_noted(radius: float, height: float, noted: bool) -> None:
    text = WHEEL.replace("QS: 0.5", f"QS: {radius}").replace("-0.6", str(height))
    said = [note for note in notes(text) if "negative radius" in note.message]
    assert [note.mark.line for note in said if note.mark] == [6] * noted


# What looks alike and is meant.
MEANT = {
    "metres, large": (("l: 1", "l: 100"), ("m: 1", "m: 5000")),
    "all in millimetres": (
        ("l: 1", "l: 100"),
        ("g: 9.81", "g: 9810"),
        ("[1, 2]", "[100, 200]"),
        ("P: [3]", "P: [300]"),
    ),
    "a speed": (("ProblemData", "Drives: {omega_OA: 100}\nProblemData"),),
    "a speed of pi": (("ProblemData", "Drives: {theta_OA: 0.5 + 30*pi*t}\nProblemData"),),
    "many turns": (("ProblemData", "Drives: {theta_OA: 0.5 + 100*t + sin(t)}\nProblemData"),),
    "a small swing": (("ProblemData", "Drives: {theta_OA: 0.5 + 3*sin(50*t)}\nProblemData"),),
    "a force holds it": (
        ("    PB:", "    XY: {Geom: [[1]], Dyna: [[], 1, 1]}\n    PB:"),
        ("{Gravity", "{Forces: {X: [1]}, Gravity"),
    ),
    "shown": (("m: 1", "m: 1, k: 3"), ("ProblemData", "Animation: {physParamsToShow: [$k]}\nProblemData")),
    "used by a used one": (("m: 1", "m: 1*k, k: 3"),),
    "a radius rounded": (("[1, 2]", "[1, 1.9999]"),),
}


@pytest.mark.parametrize("changes", MEANT.values(), ids=MEANT)
def test_what_is_meant_is_not_noted(changes: tuple[tuple[str, str], ...]) -> None:
    text = PLAIN
    for change in changes:
        assert change[0] in text
        text = text.replace(*change, 1)
    assert notes(text) == []


TRUSS = """
PartData:
  Fixed: {O: [], P: [1]}
  Rigids: {"OA, PA": {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
ProblemData: {tend: 1%s}
"""


def test_a_truss_cannot_move_and_a_branch_without_guess_was_chosen() -> None:
    said = [note.message for note in notes(TRUSS % "")]
    assert said == [
        "A has two places and no guess: the lower was taken; a guess under positions chooses",
        "nothing can move: there is no degree of freedom and no drive",
    ]
    assert [note.message for note in notes(TRUSS % ", positions: {A: [0.5, 0.9]}")] == said[1:]


CRANK = """
PartData:
  Fixed: {O: [], C: [3]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    ABP: {Geom: [[3.5], [1, 1]], Dyna: [[1.75], 3.5, 3.57]}
    CB: {Geom: [[2]], Dyna: [[1], 2, 2/3]}
%s
ProblemData: {tend: 2%s}
"""


@pytest.mark.parametrize("drive", ["", "Drives: {theta_OA: 1 + 5*t}"])
def test_a_loop_without_guess_closes_below_and_is_noted(drive: str) -> None:
    said = "B has two places and no guess: the lower was taken; a guess under positions chooses"
    assert [note.message for note in notes(CRANK % (drive, ""))] == [said]


def test_what_a_drive_decides_was_not_chosen() -> None:
    """The guess of B leaves two places for A, but the drive takes one of them."""
    guess = ", positions: {B: [3.8, 1.8]}"
    assert notes(CRANK % ("Drives: {theta_OA: 1 + 5*t}", guess)) == []
    assert "A has two places" in notes(CRANK % ("", guess))[0].message


ROD = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, INERTIA]}}}
AppliedForces: {Gravity: GRAVITY}
ProblemData: {tend: 1, positions: {A: [1, 0]}}
"""


@pytest.mark.parametrize(
    ("gravity", "inertia", "said"),
    [
        ("[0, 9.81]", "1/6", ["gravity points up: down is [0, -9.81]"]),
        ("[0, -9.81]", "1/6", []),
        ("[9.81, 0.1]", "1/6", []),  # a frame of its own
        ("[0, -9.81]", "166666", ["OA has 166666 kg m^2 about its centroid: 2 kg at a distance of 288.7 m"]),
        ("[0, -9.81]", "2", []),  # with a flywheel
    ],
)
def test_gravity_upwards_and_inertia_in_other_units(gravity: str, inertia: str, said: list[str]) -> None:
    found = notes(ROD.replace("GRAVITY", gravity).replace("INERTIA", inertia))
    assert len(found) == len(said)
    for note, words in zip(found, said, strict=True):
        assert words in note.message
        assert note.mark is not None


@pytest.mark.parametrize(
    ("gravity", "said"),
    [
        (
            "[0, -9.81]",
            "gravity acts along y, which is level where +z is upward: write [0, 0, -9.81], or [0, -9.81, 0]",
        ),
        ("[0, -9.81, 0]", ""),
        ("[0, 0, -9.81]", ""),
        ("", ""),
    ],
)
def test_gravity_of_the_plane_in_space(gravity: str, said: str) -> None:
    text = "Dimension: 3\nPartData: {Particles: {A: 1}}\nProblemData: {tend: 1, positions: {A: []}}\n"
    found = notes(text + f"AppliedForces: {{Gravity: {gravity}}}\n")
    assert [note.message.startswith(said) for note in found] == [True] * bool(said)
