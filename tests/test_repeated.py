"""Redundant constraints are told in the words of joints: which repeats what, and by how much."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechsim.result.repeated import repetitions
from mechsim.simulation import prepare
from mechsim.spec import parse

SPACE = Path(__file__).parent.parent / "specs" / "space"


def told(text: str) -> list[str]:
    prepared = prepare(parse(text))
    return repetitions(prepared.mechanism, prepared.start.redundancy)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("door", ["hinge CD repeats what hinge AB already fixes: 5 constraints more than needed"]),
        (
            "bricard",
            [
                "hinge Q5R5 repeats what hinges Q0R0, Q1R1, Q2R2, Q3R3 and Q4R4 already fix: 1 constraint more than "
                "needed"
            ],
        ),
        ("shelf", []),
    ],
)
def test_the_joints_of_the_gallery(name: str, words: list[str]) -> None:
    assert told((SPACE / f"{name}.yaml").read_text()) == words


def test_each_of_two_linkages_has_its_own_words() -> None:
    """Cranks of one linkage repeat nothing of the other."""
    assert told("""
PartData:
  Fixed: {A: [], B: [1], C: [2], K: [5], L: [6], M: [7]}
  Rigids:
    AD, BE, CF, KN, LP, MQ: {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}
    DEF, NPQ: {Geom: [[1], [2]], Dyna: [[1], 1, 0.1]}
AppliedForces: {Gravity: }
ProblemData:
  tend: 1
  positions: {D: [0.1, -1], E: [1.1, -1], F: [2.1, -1], N: [5.1, -1], P: [6.1, -1], Q: [7.1, -1]}
""") == [
        "pin F repeats what pins A, B, C, D and E already fix: 1 constraint more than needed",
        "pin Q repeats what pins K, L, M, N and P already fix: 1 constraint more than needed",
    ]


def test_joints_are_called_as_in_the_file() -> None:
    assert told("""
Dimension: 3
PartData:
  Fixed: {A: [], B: [0, 1], F: [1], K: [1], L: [1, 1]}
  Rigids: {CDE: {Geom: [[1], [0, 1]], Dyna: [[0.2, 0.5], 2, [1, 1, 1]]}}
Joints: {Sliders: {CDE-ABF: []}, Slots: {E-KL: []}}
ProblemData: {tend: 1, positions: {C: [], D: [0, 1], E: [1]}}
""") == ["slot E-KL repeats what slider CDE-ABF already fixes: 2 constraints more than needed"]
