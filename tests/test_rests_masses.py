"""Rests do not know of inertia: the same ones are found whatever is how heavy beside what it carries."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mechsim
from mechsim.analysis.rest import Rest

G = 9.81
LEANING, BENT = "{A: [0.1, -1], B: [0.2, -2]}", "{A: [0.6, -0.8], B: [1.4, -1.4]}"
IN_SPACE = "{A: [0.4, 0.3, -0.86], B: [0.2, 0.9, -1.6]}"


def rests(a: float, b: float, start: str, dimension: int = 2) -> tuple[Rest, ...]:
    gravity = [0] * (dimension - 1) + [-G]
    return mechsim.mechanism(f"""
Dimension: {dimension}
PartData: {{Fixed: {{O: []}}, Rods: {{OA: 1, AB: 1}}, Particles: {{A: {a!r}, B: {b!r}}}}}
AppliedForces: {{Gravity: {gravity}}}
ProblemData: {{tend: 1, positions: {start}}}
""").equilibria()


@pytest.mark.parametrize(
    ("a", "b", "start", "dimension"),
    [
        (1e-6, 1e6, LEANING, 2),
        (1e-6, 1e6, BENT, 2),
        (1e-6, 1e6, IN_SPACE, 3),
        (1e-12, 1.0, BENT, 2),
        (1e6, 1e-6, LEANING, 2),
    ],
)
def test_a_chain_of_two_hangs_straight(a: float, b: float, start: str, dimension: int) -> None:
    """Four rests, of which the one that hangs is stable. Its slower frequency is the square root of
    g/(1 + sqrt(b/(a + b))), by 1e12 times slower than the other one at most: so 1e-5 of it are left of 1e-16."""
    found = rests(a, b, start, dimension)
    assert len(found) == 4
    (hangs,) = [rest for rest in found if rest.stability == "stable"]
    assert hangs.positions == pytest.approx([*[0] * (dimension - 1), -1, *[0] * (dimension - 1), -2], abs=1e-9)
    assert hangs.energy == pytest.approx(-G * (a + 2 * b))
    slowest = min(abs(value) for value in hangs.linear.eigenvalues)
    assert slowest == pytest.approx(math.sqrt(G / (1 + math.sqrt(b / (a + b)))), rel=1e-5)


@pytest.mark.parametrize("heavy", [10.0, 1e6])
def test_a_loop_with_a_heavy_follower_has_all_its_rests(heavy: float) -> None:
    """Its rests are zeros of the slope of its potential over the crank, which is looked at all around."""
    crank, coupler, rocker, base = 0.7, 1.8, 1.5, 2.0

    def height(angle: float) -> float:
        """The potential per g: of the crank's middle, 1 kg, and of the end of the rocker."""
        x, y = crank * math.cos(angle), crank * math.sin(angle)
        way = math.hypot(base - x, -y)
        along = (coupler**2 - rocker**2 + way**2) / (2 * way)
        aside = math.sqrt(coupler**2 - along**2)
        return 0.5 * y + heavy * (y + (-y * along + (base - x) * aside) / way)

    looked = [height(2 * math.pi * k / 4000) for k in range(4002)]
    energies = [G * y for x, y, z in zip(looked, looked[1:], looked[2:], strict=False) if (y - x) * (z - y) < 0]
    found = mechsim.mechanism(f"""
PartData:
  Fixed: {{O: [], C: [{base}]}}
  Rigids: {{OA: {{Geom: [[{crank}]], Dyna: [[{crank / 2}], 1, 0.01]}}}}
  Rods: {{AB: {coupler}, CB: {rocker}}}
  Particles: {{B: {heavy!r}}}
AppliedForces: {{Gravity: [0, -{G}]}}
ProblemData: {{tend: 1, positions: {{A: [0.3, 0.6], B: [2, 1.5]}}}}
""").equilibria()
    assert sorted(rest.energy for rest in found) == pytest.approx(sorted(energies), rel=1e-5)


@pytest.mark.parametrize("short", [0.1, 1e-3, 1e-6])
def test_all_rests_of_one_freedom_are_on_the_way_from_the_start(short: float) -> None:
    """A four-bar next to a change point, whose crank goes round: of the rests of both ways to close it those of the one
    that the start is on, and all of them, by the slope of their heights over the crank."""
    rocker = 1 + short

    def heights(side: float) -> np.ndarray:
        angles = np.linspace(-np.pi, np.pi, 200_001)[:-1] + 1e-7
        x, y = np.cos(angles), np.sin(angles)
        way = np.hypot(2 - x, y)
        share = (4 - rocker**2 + way**2) / (2 * way)
        aside = np.sqrt(4 - share**2)
        return np.asarray(2 * y + (-y * share + side * (2 - x) * aside) / way)  # of A, and of B

    looked = heights(-1)
    found = mechsim.mechanism(f"""
PartData:
  Fixed: {{O: [], C: [2]}}
  Rods: {{OA: 1, AB: 2, CB: {rocker!r}}}
  Particles: {{A: 1, B: 1}}
AppliedForces: {{Gravity: [0, -{G}]}}
ProblemData: {{tend: 1, positions: {{A: [0, -1], B: [1.6, -1.0]}}}}
""").equilibria()
    turns = (looked - np.roll(looked, 1)) * (np.roll(looked, -1) - looked) < 0
    assert sorted(rest.energy for rest in found) == pytest.approx(sorted(G * looked[turns]), abs=1e-6)


def test_a_loop_that_nothing_pulls_rests_anywhere() -> None:
    """A spring along a part does nothing but roundings."""
    (rest,) = mechsim.mechanism("""
PartData:
  Fixed: {O: [], Q: [0.6171511479831941, 0.44864944713724386]}
  Rigids:
    OA: {Geom: [[0.6239371408181491]], Dyna: [[0.4], 2.9, 0.13]}
    AB: {Geom: [[1.0094154269539306]], Dyna: [[0.97], 0.65, 0.05]}
    QB: {Geom: [[0.780504051033989]], Dyna: [[0.6], 1.94, 0.33]}
  Springs: {BA: [6.5, 0]}
ProblemData: {tend: 1, positions: {A: [0.242, 0.575], B: [1.147, 1.0215]}}
""").equilibria()
    assert (rest.stability, rest.neighbours, rest.singular) == ("neutral", 1, False)


@pytest.mark.parametrize("aside", [0.0, 3.2e-6, -1e-4, 1e-3, -3.2e-3, 0.2])
def test_a_rest_next_to_the_start_is_not_lost(aside: float) -> None:
    """Where the way begins it also ends."""
    hangs, stands = mechsim.mechanism(f"""
PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {{Geom: [[1]], Dyna: [[0.5], 1, 0.1]}}}}}}
AppliedForces: {{Gravity: [0, -{G}]}}
ProblemData: {{tend: 1, angles: {{OA: {-math.pi / 2 + aside!r}}}}}
""").equilibria()
    assert (hangs.stability, stands.stability) == ("stable", "unstable")
    assert [hangs.energy, stands.energy] == pytest.approx([-G / 2, G / 2])


def test_a_spring_that_feels_whole_turns_has_rests_in_many() -> None:
    """All of them, by the slope of the potential."""
    found = mechsim.mechanism("""
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[1], 1, 0.1]}}}
AppliedForces: {Gravity: [0, -10], TorsionSprings: {OA: [0.3, 0]}}
ProblemData: {tend: 1, positions: {A: [1, 0.2]}}
""").equilibria()
    looked = np.linspace(-34, 34, 100_001)
    slopes = np.diff(10 * np.sin(looked) + 0.15 * looked**2)
    assert len(found) == np.sum(slopes[1:] * slopes[:-1] < 0) == 21


def test_gears_come_back_after_some_turns() -> None:
    """One turn of the second are three of the first: all rests by the slope of the potential, none twice."""
    found = mechsim.mechanism("""
PartData:
  Fixed: {O: [], Q: [2]}
  Rigids: {OA: {Geom: [[1]], Dyna: [[1], 1, 0.1]}, QB: {Geom: [[1]], Dyna: [[1], 4, 0.1]}}
Joints: {Gears: {OA-QB: [0.5, 1.5]}}
AppliedForces: {Gravity: [0, -10]}
ProblemData: {tend: 1, positions: {A: [0.3, 0.95], B: [2.6, 0.8]}}
""").equilibria()
    first, second = (found[0].own.coordinates.index(name) for name in ("theta_OA", "theta_QB"))
    offset = found[0].positions[second] + found[0].positions[first] / 3  # they go round in opposite senses
    looked = np.linspace(0, 6 * np.pi, 100_001)
    heights = 10 * np.sin(looked) + 40 * np.sin(offset - looked / 3)
    slopes = np.diff(heights)
    turned = np.flatnonzero(slopes[1:] * slopes[:-1] < 0) + 1
    assert sorted(rest.energy for rest in found) == pytest.approx(sorted(heights[turned]), abs=1e-4)


def test_a_closed_curve_has_each_rest_once() -> None:
    """An ellipse by its angle, which is the same after a turn."""
    found = mechsim.mechanism("""
PartData: {Particles: {P: 1}}
Joints: {Curves: {P: {x: 2*cos(s), y: sin(s), s: 0.3}}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {P: [1.9, 0.3]}}
""").equilibria()
    assert sorted(rest.positions[1] for rest in found) == pytest.approx([-1, 1])


@pytest.mark.parametrize("way", [-1, 1])
def test_a_rest_within_stops_on_an_angle_is_found(way: int) -> None:
    """The way may come to it a turn later, where stops would be passed. It stands half a turn from where it hangs."""
    hangs = 0.7 * way
    found = mechsim.mechanism(f"""
PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {{Geom: [[1]], Dyna: [[0.5], 1, 0.1]}}}}}}
AppliedForces: {{Gravity: [{G * math.cos(hangs)}, {G * math.sin(hangs)}]}}
Stops: {{theta_OA: {{min: {min(0.5 * way, 4 * way)}, max: {max(0.5 * way, 4 * way)}, e: 0}}}}
ProblemData: {{tend: 1, angles: {{OA: {way}}}}}
""").equilibria()
    places = [rest.positions[list(rest.own.coordinates).index("theta_OA")] for rest in found]
    assert places == pytest.approx([hangs, hangs + math.pi * way])
