"""Derivatives by what gears mesh with and bonds hold: the phase in which they are first placed changes too."""

from __future__ import annotations

import math

import pytest

import mechsim

GEARS = """
PhysicalParams: {r: 1, R: 2, tau: 0.7, I: 0.5, J: 1.5, a: 0.3}
PartData:
  Fixed: {O: [], Q: [r + R]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[], 1, I]}
    QB: {Geom: [[1]], Dyna: [[], 2, J]}
Joints: {Gears: {OA-QB: [r, R]}}
AppliedForces: {Torques: {OA: tau}}
ProblemData: {tend: 2, angles: {OA: [a, fixed], QB: -a/2}}
"""
TETHER = """
PhysicalParams: {l: 0.8, v: 1.5, m: 1}
PartData: {Fixed: {O: []}, Particles: {P: m}}
Bonds: {tether: {hold: "dist(O,P)", attached: yes}}
Events: {go: {when: t - 1, do: {release: tether}}}
ProblemData: {tend: 1.5, positions: {P: [l, [0, fixed]]}, velocities: {P: [0, [v, fixed]]}}
"""


def test_gears_by_their_radii():
    """Uniform acceleration: tau/(I + J n^2) of the first, n = -r/R times as much of the second, from rest."""
    handle = mechsim.mechanism(GEARS)
    found = handle.sensitivity(["final(theta_OA)", "final(theta_QB)"], by=["r", "R", "tau", "a"], tol=1e-13)
    r, R, tau, i, j = 1.0, 2.0, 0.7, 0.5, 1.5
    n, total = -r / R, i + j * (r / R) ** 2
    first = 2 * tau / total  # half of the square of 2 s
    by_n = -first * 2 * j * n / total
    by = {"r": -1 / R, "R": r / R**2}  # of n
    exact_first = [by_n * by["r"], by_n * by["R"], first / tau, 1.0]
    exact_second = [(first + n * by_n) * by["r"], (first + n * by_n) * by["R"], n * first / tau, -0.5]
    assert found.values == pytest.approx([0.3 + first, -0.15 + n * first], abs=1e-12)
    assert found.derivatives[0] == pytest.approx(exact_first, abs=1e-11)
    assert found.derivatives[1] == pytest.approx(exact_second, abs=1e-11)


def test_gears_with_other_radii_are_the_same_mechanism():
    """They mesh as first placed: with other radii in another phase, as the file read anew does."""
    handle = mechsim.mechanism(GEARS)
    beside = handle.simulate(parameters={"r": 0.7, "a": 0.4})
    anew = mechsim.mechanism(GEARS, {"r": 0.7, "a": 0.4}).simulate()
    assert beside(2.0)["theta_QB"] == pytest.approx(anew(2.0)["theta_QB"], abs=1e-13)


def test_a_tether_by_its_length_as_first_placed():
    """A circle for a second, then a straight line: w = v/l."""
    found = mechsim.mechanism(TETHER).sensitivity(["final(P_x)", "final(P_y)"], by=["l", "v"], tol=1e-13)
    l, v = 0.8, 1.5
    c, s = math.cos(v / l), math.sin(v / l)
    assert found.values == pytest.approx([l * c - v * s / 2, l * s + v * c / 2], abs=1e-11)
    turned = v / l**2  # how the angle falls as l grows
    assert found.derivatives[:, 0] == pytest.approx(
        [c + turned * (l * s + v * c / 2), s - turned * (l * c - v * s / 2)], abs=1e-10
    )
    assert found.derivatives[:, 1] == pytest.approx(
        [-s - v * c / (2 * l) - s / 2, c - v * s / (2 * l) + c / 2], abs=1e-10
    )
