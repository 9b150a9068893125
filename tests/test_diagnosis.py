"""What is said about the position where a motion cannot start or could not go on."""

from __future__ import annotations

import numpy as np
import pytest

import mechsim
from mechsim.errors import AssemblyError
from mechsim.structure import meeting_springs, near_singular, why_stopped

PARALLELOGRAM = """
PartData:
  Fixed: {O: [], P: [2]}
  Rigids:
    OA, PB: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[2]], Dyna: [[1], 1, 4/12]}
ProblemData: {tend: 1, positions: {A: [0, 1], B: [2, 1]}}
"""
SPRING = """
PartData:
  Fixed: {O: []}
  Springs: {OA: [10, 1]}
  Particles: {A: 1}
ProblemData: {tend: 1, positions: {A: [0, 0]}}
"""


@pytest.mark.parametrize(("angle", "special"), [(0.5 * np.pi, False), (0.1, False), (1e-5, True), (np.pi, True)])
def test_a_change_point_is_recognised(angle: float, special: bool) -> None:
    handle = mechsim.mechanism(PARALLELOGRAM)
    crank = np.array([np.cos(angle), np.sin(angle)])
    q = handle.vector({"A": crank, "B": crank + np.array([2, 0])})
    said = why_stopped(handle.system, 0.0, q)
    assert ("dead centre or change point" in said) is special
    if special:
        assert all(part in said for part in ("OA", "PB", "AB"))


def test_a_spring_whose_ends_meet_is_recognised() -> None:
    handle = mechsim.mechanism(SPRING)
    assert meeting_springs(handle.mechanism, np.zeros(2), 0.0) == ["OA"]
    assert "spring OA meet" in why_stopped(handle.system, 0.0, np.array([1e-5, 0.0]))
    assert why_stopped(handle.system, 0.0, np.array([0.1, 0.0])) == ""


def test_a_start_with_the_ends_of_a_spring_together_is_refused_with_its_line() -> None:
    with pytest.raises(AssemblyError) as refused:
        mechsim.simulate(SPRING)
    fault = refused.value.faults[0]
    assert "spring OA" in fault.message and fault.mark is not None and fault.mark.line == 4 and fault.hint


@pytest.mark.parametrize(("offset", "lost"), [(0.1, None), (1e-4, 8), (1e-6, 12)])
def test_a_start_at_rest_beside_a_change_point_tells_how_many_digits_are_lost(offset: float, lost: int | None) -> None:
    handle = mechsim.mechanism(PARALLELOGRAM)
    crank = np.array([np.cos(offset), np.sin(offset)])
    said = near_singular(handle.system, 0.0, handle.vector({"A": crank, "B": crank + np.array([2, 0])}))
    assert said == "" if lost is None else f"about {lost} of 16 digits" in said
