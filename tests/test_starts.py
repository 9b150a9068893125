"""Starts that can be closed are closed, whatever the guesses; and the same way however the mechanism is told."""

from __future__ import annotations

import time
from math import cos, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest
from linkages import FAMILIES, GUESSES, drawn_with_guesses, linkage, retold

from mechsim.errors import AssemblyError
from mechsim.initial import Start, assemble, branches, configurations
from mechsim.kernel.outputs import Outputs
from mechsim.kernel.system import System
from mechsim.model import Mechanism, build
from mechsim.spec import parse

ONE_OF_EACH = len(FAMILIES) * len(GUESSES)  # families with every kind of guess
# Two tellings differ by roundings only, and are as near to the guess as each other: the pose agrees to this, of a size.
SAME = 1e-6


def started(text: str) -> tuple[Mechanism, Start]:
    spec = parse(text)
    mechanism = build(spec)
    return mechanism, assemble(mechanism, System(mechanism), spec.problem)


def points(text: str) -> dict[str, complex]:
    return poses(*started(text))


def poses(mechanism: Mechanism, start: Start) -> dict[str, complex]:
    moving = {name: slots for name, slots in mechanism.points.items() if slots[0] >= 0}
    return {name: complex(*start.positions[list(slots)]) / mechanism.size for name, slots in moving.items()}


def notes(text: str) -> list[str]:
    return [note.message for note in started(text)[1].notes]


# --- closing


@pytest.mark.parametrize("seed", range(ONE_OF_EACH))
def test_a_linkage_that_can_be_closed_is_closed(seed: int) -> None:
    started(linkage(seed)[1])


@pytest.mark.slow
@pytest.mark.parametrize("first", range(ONE_OF_EACH, 40 * ONE_OF_EACH, ONE_OF_EACH))
def test_of_many_linkages_all_are_closed(first: int) -> None:
    for seed in range(first, first + ONE_OF_EACH):
        started(linkage(seed)[1])


def alike(seed: int) -> bool:
    drawn, guesses, _ = drawn_with_guesses(seed)
    here = points(drawn.text(guesses))
    text, new = retold(drawn, guesses, np.random.default_rng(seed))
    there = points(text)
    return max(abs(here[name] - there[new[name]]) for name in here) < SAME


@pytest.mark.parametrize("seed", range(0, ONE_OF_EACH, 5))
def test_names_and_order_do_not_decide(seed: int) -> None:
    assert alike(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(ONE_OF_EACH, 10 * ONE_OF_EACH, ONE_OF_EACH))
def test_names_and_order_do_not_decide_in_many_linkages(first: int) -> None:
    assert all(alike(seed) for seed in range(first, first + ONE_OF_EACH))


FOUR_BAR = """
PartData:
  Fixed: {{O: [], C: [{d}]}}
  Rigids:
    OA: {{Geom: [[{a}]], Dyna: [[{a}/2], 1, 1/12]}}
    AB: {{Geom: [[{b}]], Dyna: [[{b}/2], 1, 1/12]}}
    CB: {{Geom: [[{c}]], Dyna: [[{c}/2], 1, 1/12]}}
AppliedForces: {{Gravity: {gravity}}}
ProblemData: {{tend: 1, positions: {{A: {A}, B: {B}}}}}
"""
SIDES = [(1, 3.5, 2, 3), (1, 2, 2.5, 2), (2, 3, 2, 1.5), (1, 1.5, 1.2, 1)]


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize(("place", "other"), [("[]", "[]"), ("[0.3]", "[2.5]"), ("[1]", "[]"), ("[-2]", "[7]")])
def test_a_four_bar_guessed_on_its_ground_line_closes_below_it(sides: Any, place: str, other: str) -> None:
    """What beginners write. Both mirror images are as near: the lower one is taken, and a note says so."""
    a, b, c, d = sides
    mechanism, start = started(FOUR_BAR.format(a=a, b=b, c=c, d=d, A=place, B=other, gravity=""))
    found = poses(mechanism, start)
    assert found["A"].imag + found["B"].imag < SAME
    assert any("as near to the guesses" in note.message for note in start.notes)
    upward = points(FOUR_BAR.format(a=a, b=b, c=c, d=d, A=place, B=other, gravity="[0, 9.81]"))
    assert upward == pytest.approx({name: z.conjugate() for name, z in found.items()}, abs=SAME)


ROD = """
PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}}}}
AppliedForces: {{Gravity: {gravity}}}
ProblemData: {{tend: 1, positions: {{A: {A}}}}}
"""


@pytest.mark.parametrize(
    ("guess", "gravity", "found"),
    [
        ("[[0.5, fixed]]", "", 0.5 - sqrt(0.75) * 1j),  # padded: A_y is guessed 0
        ("[[0.5, fixed], 0]", "[0, 9.81]", 0.5 + sqrt(0.75) * 1j),
        ("[[0.5, fixed], 1e-9]", "", 0.5 - sqrt(0.75) * 1j),  # nobody means a billionth
        ("[[0.5, fixed], 0.1]", "", 0.5 + sqrt(0.75) * 1j),
        ("[[-0.5, fixed], -0.1]", "", -0.5 - sqrt(0.75) * 1j),
        ("[0, [0.6, fixed]]", "", 0.8 + 0.6j),  # as low as its image: then to the right
    ],
)
def test_of_two_places_as_near_the_lower_is_taken(guess: str, gravity: str, found: complex) -> None:
    text = ROD.format(A=guess, gravity=gravity)
    assert points(text)["A"] == pytest.approx(found, abs=1e-12)
    tied = "0.1" not in guess
    assert any("as near to the guesses" in note for note in notes(text)) == tied


def test_a_guess_that_chooses_is_followed_and_not_noted() -> None:
    text = FOUR_BAR.format(a=1, b=3.5, c=2, d=3, A="[0, 1]", B="[3.3, 2]", gravity="")
    assert points(text)["B"].imag > 0 and notes(text) == []


def test_where_a_regular_pose_is_as_good_none_at_a_dead_centre_is_taken() -> None:
    """The closing of a parallelogram nearest to all zeros lies flat, where no motion can start."""
    found = points(FOUR_BAR.format(a=1, b=2, c=1, d=2, A="[]", B="[]", gravity=""))
    assert abs(found["A"].imag) > 1e-3


def test_points_without_a_guess_are_placed_the_same_whatever_stands_beside() -> None:
    alone = "PartData: {Fixed: {O: []%s}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1]}%s}}\nProblemData: {tend: 1}\n"
    beside = alone % (
        ", P: [4], Q: [9]",
        ', "PB, QC": {Geom: [[2]], Dyna: [[1], 1, 1]}',
    )
    size = 2.0  # of what stands beside
    assert size * points(beside)["A"] == pytest.approx(points(alone % ("", ""))["A"], abs=1e-15)


# --- what cannot be closed


def pulled_apart(seed: int) -> str | None:
    """A linkage whose second support is moved away by twenty times its distance."""
    drawn, guesses, _ = drawn_with_guesses(seed)
    if len(drawn.fixed) < 2:
        return None
    text = drawn.text(guesses)
    (_, first), (name, second) = list(drawn.fixed.items())[:2]
    moved = first + 21 * (second - first)
    written = [f"{name}: [{z.real!r}, {z.imag!r}]" for z in (second, moved)]
    return text.replace(*written, 1)


@pytest.mark.parametrize(
    "seed", [1, pytest.param(5, marks=pytest.mark.slow), 16, 17, pytest.param(18, marks=pytest.mark.slow), 22, 31, 36]
)
def test_what_cannot_be_closed_is_reported_with_what_contradicts_in_about_a_second(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted, for clocks of shared machines tell little: an evaluation takes a fifth of a millisecond on an idle one,
    so 10,000 are two seconds. The longest of these reports takes 5,766, the others about half of that or less."""
    text = pulled_apart(seed)
    assert text is not None
    evaluated, counted = Outputs._values, []

    def counting(*arguments: Any, **named: Any) -> Any:
        counted.append(None)
        return evaluated(*arguments, **named)

    monkeypatch.setattr(Outputs, "_values", counting)
    with pytest.raises(AssemblyError, match="cannot be closed together"):
        started(text)
    assert 0 < len(counted) < 10_000


# --- sliders


SLIDER = """
PartData:
  Fixed: {{O: [], R: [2]}}
  Rigids: {{CD: {{Geom: [[1]], Dyna: [[0.5], 1, 0.1]}}}}
Joints: {{Sliders: {{CD-OR: [0.2, {angle}]}}}}
ProblemData: {{tend: 1, positions: {{{guess}}}}}
"""


@pytest.mark.parametrize("angle", [0.0, 0.4, pi / 2, -2.0, 3.0])
def test_a_slider_without_a_guess_stands_as_its_angle_says(angle: float) -> None:
    text = SLIDER.format(angle=repr(angle), guess="")
    found = points(text)
    assert found["D"] - found["C"] == pytest.approx(complex(cos(angle), sin(angle)), abs=1e-12)
    assert notes(text) == []


@pytest.mark.parametrize("angle", [0.0, 0.4, pi / 2, -2.0, 3.0])
def test_a_slider_guessed_the_other_way_round_stands_so_and_a_note_tells(angle: float) -> None:
    other = complex(1.0, 0.2) - complex(cos(angle), sin(angle))
    guess = f"C: [1, 0.2], D: [{other.real!r}, {other.imag!r}]"
    text = SLIDER.format(angle=repr(angle), guess=guess)
    found = points(text)
    assert found["C"] - found["D"] == pytest.approx(complex(cos(angle), sin(angle)), abs=1e-12)
    (note,) = started(text)[1].notes
    assert "half a turn" in note.message and note.mark is not None and note.mark.line == 5


# --- all ways to close


def all_of(text: str, **settings: Any) -> list[Start]:
    spec = parse(text)
    mechanism = build(spec)
    return configurations(mechanism, System(mechanism), spec.problem, **settings)


def chain(links: int) -> str:
    """2**links ways to close, for a coordinate of every joint is held."""
    rods = ", ".join(f"P{k}P{k + 1}: {{Geom: [[1]], Dyna: [[0.5], 1, 1]}}" for k in range(links))
    held = ", ".join(f"P{k + 1}: [[{0.5 * (k + 1)}, fixed], {-0.8 * (k + 1)}]" for k in range(links))
    return f"PartData: {{Fixed: {{P0: []}}, Rigids: {{{rods}}}}}\nProblemData: {{tend: 1, positions: {{{held}}}}}\n"


def test_a_search_among_very_many_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(all_of(chain(4))) == 16
    counted: list[tuple[int, int]] = []
    monkeypatch.setattr(branches, "MOST_FOUND", 20)
    found = all_of(chain(8), told=lambda found, tried: counted.append((found, tried)))
    assert len(found) == 20 and counted[-1][0] == 20
    assert any("stopped after 20 configurations" in note.message for note in found[0].notes)


@pytest.mark.parametrize(("limit", "value", "words"), [("MOST_TRIALS", 50, "trials"), ("MOST_SECONDS", 0.0, "seconds")])
def test_a_search_that_takes_long_ends_and_says_so(
    limit: str, value: float, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branches, limit, value)
    found = all_of(chain(3))
    assert any("stopped after" in note.message and words in note.message for note in found[0].notes)


def test_a_continuum_is_sampled_and_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing held, every pose of a double pendulum is a way to close."""
    monkeypatch.setattr(branches, "holding_coordinates", lambda *arguments: [])
    text = (
        'PartData: {Fixed: {O: []}, Rigids: {"OA, AB": {Geom: [[1]], Dyna: [[0.5], 1, 1]}}}\nProblemData: {tend: 1}\n'
    )
    began = time.process_time()
    found = all_of(text)
    assert time.process_time() - began < 20
    said = " ".join(note.message for note in found[0].notes)
    assert "continuum" in said and "stopped" in said


# --- drives


DRIVEN = """
PartData:
  Fixed: {{O: [], C: [3]}}
  Rigids:
    OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
    AB: {{Geom: [[3.5]], Dyna: [[1.75], 3.5, 3.57]}}
    CB: {{Geom: [[2]], Dyna: [[1], 2, 2/3]}}
    QD: {{Geom: [[1]], Dyna: [[0.5], 1, 1]}}
  Particles: {{Q: 1}}
Drives:
  theta_OA: pi/2 + 5*t
  {other}
ProblemData: {{tend: 2, positions: {{A: [0, 1], B: [3, 2], Q: [9]}}}}
"""


@pytest.mark.parametrize("other", ["theta_CB: 1", "omega_CB: 0", "omega_OA: 4", "B.y: 0.3", "theta_AB-theta_OA: 2"])
def test_two_drives_of_one_freedom_are_counted_and_named(other: str) -> None:
    """The rod QD beside has freedoms of its own, which these drives do not touch."""
    with pytest.raises(AssemblyError) as refused:
        started(DRIVEN.format(other=other))
    (fault,) = refused.value.faults
    name = other.split(":")[0].replace("-", "_").replace(".", "_")
    assert f"2 drives, 1 degree of freedom: the drive of theta_OA (line 11) and the drive of {name} (line 12)" in (
        fault.message
    )
    assert fault.mark is not None and fault.mark.line == 12


def test_two_drives_that_agree_are_noted() -> None:
    _, start = started(DRIVEN.format(other="omega_OA: 5"))
    assert any("2 drives, 1 degree of freedom" in n.message and "agree" in n.message for n in start.notes)


def test_drives_of_different_freedoms_are_not_counted_together() -> None:
    _, start = started(DRIVEN.format(other="theta_QD: 0.1*t"))
    assert not any("drives" in note.message for note in start.notes)


@pytest.mark.parametrize("rest", ["0", "3e-17", "-1e-14", "1e-9"])
def test_a_rest_that_is_only_rounded_may_be_held_beside_a_drive(rest: str) -> None:
    """What is fixed tells how fast things are only together with what drives ask for."""
    _, start = started(f"""
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[1]]}}, AB: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}}
Drives: {{theta_OA: 15*t}}
ProblemData: {{tend: 1, positions: {{B: [1, -1]}}, rates: {{AB: [{rest}, fixed]}}}}
""")
    found = {row.label: row.obtained for row in start.rows if row.quantity == "velocity"}
    assert found["theta_AB_dot"] == float(rest)
    assert [found["A_x_dot"], found["A_y_dot"]] == pytest.approx([0, 15], abs=1e-12)
