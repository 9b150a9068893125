"""Masses that are far apart: what is light moves as exactly as what is heavy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechsim

GRAVITY = 9.81
PENDULUMS = """
{dimension}
PartData:
  Fixed: {{O: []}}
  Rods: {{OA: 1, AB: 1}}
  Particles: {{A: 1, B: {ratio!r}}}
AppliedForces: {{Gravity: {gravity}}}
ProblemData: {{tend: 2, positions: {{A: {a}, B: {b}}}}}
"""


def double_pendulum(ratio: float) -> np.ndarray:
    """The second equation is divided by the mass of the lower bob, so no ratio is too small."""

    def rate(_, y):
        one, two, rate_one, rate_two = y
        turn = one - two
        # (1 + r) one'' + r cos two'' = -r sin two'^2 - (1 + r) g sin(one); cos one'' + two'' = sin one'^2 - g sin(two)
        matrix = [[1 + ratio, ratio * np.cos(turn)], [np.cos(turn), 1]]
        pull = -ratio * np.sin(turn) * rate_two**2 - (1 + ratio) * GRAVITY * np.sin(one)
        right = [pull, np.sin(turn) * rate_one**2 - GRAVITY * np.sin(two)]
        return [rate_one, rate_two, *np.linalg.solve(matrix, right)]

    found = solve_ivp(rate, (0, 2), [np.pi / 2, np.pi / 2, 0, 0], "DOP853", rtol=3e-14, atol=1e-15).y[:2, -1]
    return np.cumsum([[np.sin(angle), -np.cos(angle)] for angle in found], axis=0)


# DOP853 at 3e-14 over 2 s is right to some 1e-12.
@pytest.mark.parametrize("ratio", [1e-12, 1e-9, 1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_double_pendulum_of_unlike_bobs(ratio: float, dimension: int) -> None:
    flat = dimension == 2
    words = {
        "dimension": "" if flat else "Dimension: 3",
        "gravity": [0, -GRAVITY] if flat else [0, 0, -GRAVITY],
        "a": [1, 0],
        "b": [2, 0],
    }
    end = mechsim.simulate(PENDULUMS.format(ratio=ratio, **words), tol=1e-13)(2.0)
    for point, expected in zip("AB", double_pendulum(ratio), strict=True):
        np.testing.assert_allclose([end[point][0], end[point][-1]], expected, rtol=0, atol=1e-11)


BODIES = """
Dimension: 3
PartData:
  Fixed: {{O: []}}
  Rigids:
    OAB: {{Geom: [[1], [0, 1]], Dyna: [[0.5], 1, [0.1, 0.1, 0.1]]}}
    ACD: {{Geom: [[1], [0, 1]], Dyna: [[0.5, 0.1], {ratio!r}, [{across!r}, {across!r}, {along!r}]]}}
AppliedForces: {{Gravity: [0, 0, -9.81]}}
ProblemData:
  tend: 2
  positions: {{A: [1, 0, 0], B: [0, 1, 0], C: [2, 0, 0], D: [1, 1, 0]}}
  velocities: {{A: [0, 1, 0], B: [-1, 0, 0], C: [0, 2, 0], D: [-1, 1, 0]}}
"""


def light_body(ratio: float) -> np.ndarray:
    return mechsim.simulate(BODIES.format(ratio=ratio, across=0.1 * ratio, along=0.12 * ratio), tol=1e-13)(2.0)["C"]


def test_a_light_body_on_the_tip_of_a_heavy_one_keeps_its_digits() -> None:
    """What it does to the heavy one is of the order of its mass, so motions tend to that of none. Pivots that did not
    know of masses left errors of 5e-7 at 1e-9, 1e-6 at 1e-12 and 1e-5 at 1e-15."""
    lightest = light_body(1e-15)
    for ratio in (1e-9, 1e-10, 1e-12):
        # Of the order of the mass itself, some tens of times; and two runs of 1e-13.
        np.testing.assert_allclose(light_body(ratio), lightest, rtol=0, atol=100 * ratio + 2e-12)
