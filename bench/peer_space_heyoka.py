"""heyoka on the problems in space: equations made and reduced by hand, compiled for each problem."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

import heyoka
import numpy as np

from bench import space_problems as problems

Equations = list[tuple[Any, Any]]
Judge = Callable[[np.ndarray], Any]


def top() -> tuple[Equations, list[float], Judge]:
    """A quaternion and the angular velocity in the body."""
    p, w = heyoka.make_vars("p0", "p1", "p2", "p3"), heyoka.make_vars("w1", "w2", "w3")
    one, two, three = problems.TOP_ABOUT_TIP  # one and three are equal
    weight = problems.TOP_MASS * problems.GRAVITY
    along = -weight * 2.0 * (p[1] * p[3] - p[0] * p[2])
    above = -weight * (p[0] * p[0] - p[1] * p[1] - p[2] * p[2] + p[3] * p[3])
    rates = [
        0.5 * (-p[1] * w[0] - p[2] * w[1] - p[3] * w[2]),
        0.5 * (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]),
        0.5 * (p[0] * w[1] - p[1] * w[2] + p[3] * w[0]),
        0.5 * (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]),
        (above - (three - two) * w[1] * w[2]) / one,
        heyoka.expression(0.0),  # both moments across the axis are equal
        (-along - (two - one) * w[0] * w[1]) / three,
    ]
    start = [1.0, 0.0, 0.0, 0.0, *problems.TOP_SPIN]
    return list(zip([*p, *w], rates, strict=True)), start, lambda y: problems.rotation(y[:4])


def chain(problem: str) -> tuple[Equations, Any, Judge]:
    """Point masses; the tensions by elimination along the chain, O(N)."""
    count = problems.length_of(problem)
    x = [heyoka.make_vars(*(f"{axis}{i}" for axis in "xyz")) for i in range(count)]
    v = [heyoka.make_vars(*(f"v{axis}{i}" for axis in "xyz")) for i in range(count)]
    rods, turns = _differences(x), _differences(v)
    diagonal = [_dot(rod, rod) * (2.0 if i else 1.0) for i, rod in enumerate(rods)]
    beside = [-_dot(one, other) for one, other in itertools.pairwise(rods)]
    right = [_dot(turn, turn) for turn in turns]
    right[0] = right[0] - problems.GRAVITY * rods[0][2]
    tensions = _tridiagonal(diagonal, beside, right)
    equations: Equations = []
    for i, axis in itertools.product(range(count), range(3)):
        pull = -tensions[i] * rods[i][axis]
        if i + 1 < count:
            pull = pull + tensions[i + 1] * rods[i + 1][axis]
        equations += [(x[i][axis], v[i][axis]), (v[i][axis], pull - problems.GRAVITY if axis == 2 else pull)]
    start = np.zeros((count, 3, 2))
    start[:, 0, 0], start[:, 1, 1] = np.arange(1, count + 1), np.cumsum(problems.turning(count))
    return equations, start.ravel(), lambda y: y.reshape(count, 3, 2)[:, :, 0]


def _differences(points: list[Any]) -> list[list[Any]]:
    return [list(points[0]), *([b - a for a, b in zip(p, q, strict=True)] for p, q in itertools.pairwise(points))]


def _dot(one: Any, other: Any) -> Any:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def _tridiagonal(diagonal: list[Any], beside: list[Any], right: list[Any]) -> list[Any]:
    factors, sums = [], [right[0] / diagonal[0]]
    pivot = diagonal[0]
    for i, off in enumerate(beside):
        factors.append(off / pivot)
        pivot = diagonal[i + 1] - off * factors[i]
        sums.append((right[i + 1] - off * sums[i]) / pivot)
    found = [sums[-1]]
    for factor, value in zip(reversed(factors), reversed(sums[:-1]), strict=True):
        found.insert(0, value - factor * found[0])
    return found


# --- Bricard's mechanism in the turn of its first hinge: sin c = -s sin a / (1 - s sin a) is that of every second one


def _matrix(axis: int, c: Any, s: Any) -> list[list[Any]]:
    """The turn about an axis of the world."""
    one, other = (axis + 1) % 3, (axis + 2) % 3
    rows = [[1.0 if i == j else 0.0 for j in range(3)] for i in range(3)]
    rows[one][one], rows[one][other], rows[other][one], rows[other][other] = c, -s, s, c
    return rows


def _times(matrix: list[list[Any]], vector: list[Any]) -> list[Any]:
    return [_dot(row, vector) for row in matrix]


def _product(one: list[list[Any]], other: list[list[Any]]) -> list[list[Any]]:
    columns = [[other[i][j] for i in range(3)] for j in range(3)]
    return [[_dot(row, column) for column in columns] for row in one]


def _sum(one: list[Any], other: list[Any]) -> list[Any]:
    return [a + b for a, b in zip(one, other, strict=True)]


def _rods(sa: Any, ca: Any, sc: Any, cc: Any, signs: tuple[float, ...]) -> tuple[list[tuple[Any, Any, Any]], Any, Any]:
    """Ends of each rod with a direction across it; the third corner; the axis there, by way of the other end."""
    first = _matrix(1, ca, sa)
    second = _product(first, _matrix(2, cc, signs[0] * sc))
    last = _matrix(0, cc, signs[1] * sc)
    fourth = _product(last, _matrix(2, ca, signs[2] * sa))
    p1 = _times(first, [1.0, 0.0, 0.0])
    p2 = _sum(p1, _times(second, [0.0, -1.0, 0.0]))
    p5 = [0.0, 0.0, 1.0]
    p4 = _sum(p5, _times(last, [0.0, -1.0, 0.0]))
    p3 = _sum(p4, _times(fourth, [1.0, 0.0, 0.0]))
    rods = [
        ([0.0, 0.0, 0.0], p1, [0.0, 1.0, 0.0]),
        (p1, p2, _times(first, [0.0, 0.0, 1.0])),
        (p2, p3, _times(second, [1.0, 0.0, 0.0])),
        (p4, p3, _times(last, [0.0, 0.0, 1.0])),
        (p5, p4, [1.0, 0.0, 0.0]),
    ]
    return rods, p3, _times(fourth, [0.0, 1.0, 0.0])


def _angles(functions: Any, a: Any, sign: float) -> tuple[Any, Any, Any, Any]:
    sa, ca = functions.sin(a), functions.cos(a)
    sc = -(sign * sa) / (1.0 - sign * sa)
    return sa, ca, sc, functions.sqrt(1.0 - sc * sc)


def _gap(signs: tuple[float, ...]) -> float:
    rods, _, axis = _rods(*_angles(np, 0.37, signs[0]), signs[1:])
    along = np.array(rods[2][1]) - np.array(rods[2][0])
    across = np.array(rods[2][2])
    return float(abs(along @ along - 1) + abs(across @ along) + abs(np.array(axis) @ along) + abs(across @ axis))


def bricard() -> tuple[Equations, list[float], Judge]:
    a, w = heyoka.make_vars("a", "w")
    signs = min(itertools.product((1.0, -1.0), repeat=4), key=_gap)
    rods, corner, _ = _rods(*_angles(heyoka, a, signs[0]), signs[1:])

    def rate(vector: Any) -> list[Any]:
        return [heyoka.diff(each, a) if isinstance(each, heyoka.expression) else 0.0 for each in vector]

    inertia: Any = 0.0
    potential: Any = 0.0
    for begin, end, across in rods:
        along = [q - p for p, q in zip(begin, end, strict=True)]
        middle = [0.5 * (p + q) for p, q in zip(begin, end, strict=True)]
        normal = [along[i - 2] * across[i - 1] - along[i - 1] * across[i - 2] for i in range(3)]
        moving, turning, spin = rate(middle), rate(along), _dot(normal, rate(across))
        inertia = inertia + _dot(moving, moving) + problems.ROD_ACROSS * _dot(turning, turning)
        inertia = inertia + problems.ROD_ALONG * spin * spin
        potential = potential + problems.GRAVITY * middle[1]
    acceleration = (-0.5 * heyoka.diff(inertia, a) * w * w - heyoka.diff(potential, a)) / inertia
    place = heyoka.cfunc(corner, [a, w], compact_mode=True)
    return [(a, w), (w, acceleration)], [0.0, 0.0], place


def prepare(problem: str, setting: str) -> problems.Run:
    heyoka.llvm_state.set_diskcache_path(os.environ["BENCH_SCRATCH"])
    builders = {problems.TOP: top, problems.BRICARD: bricard}
    equations, start, judge = builders[problem]() if problem in builders else chain(problem)
    compact = problem != problems.TOP
    integrator = heyoka.taylor_adaptive(equations, list(start), tol=float(setting), compact_mode=compact)

    def run() -> tuple[Any, int]:
        integrator.time = 0.0
        integrator.state[:] = start
        found, steps = [], 0
        for t in problems.times(problem):
            steps += integrator.propagate_until(t)[3]
            found.append(judge(integrator.state.copy()))
        return np.array(found) if problem == problems.BRICARD else found[-1], steps

    return run


if __name__ == "__main__":
    problems.main("heyoka", "hand-made ODE, compiled", prepare)
