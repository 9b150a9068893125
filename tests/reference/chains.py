"""The chains of seed 001 section 6.2 in other coordinates and extended precision, by extrapolation: nothing of mechsim.

`python tests/reference/chains.py` prints the values that stand in the References of specs/space/mult_pend_*.yaml, each
from two sizes of steps (they agree to 1e-15).
"""

from itertools import pairwise

import numpy as np

Real = np.longdouble
GRAVITY = Real("9.81")
PI = Real("3.14159265358979323846264338327950288")
ROD = np.array([Real(8) / 10, 0, -Real(6) / 10])  # where all rods point at the start


def solve(matrix, right):
    """Gauss's elimination: LAPACK knows no extended precision."""
    matrix, right = matrix.copy(), right.copy()
    count = len(right)
    for k in range(count):
        pivot = k + int(np.argmax(np.abs(matrix[k:, k])))
        matrix[[k, pivot]], right[[k, pivot]] = matrix[[pivot, k]], right[[pivot, k]]
        factors = matrix[k + 1 :, k] / matrix[k, k]
        matrix[k + 1 :, k:] -= factors[:, None] * matrix[k, k:]
        right[k + 1 :] -= factors * right[k]
    for k in range(count - 1, -1, -1):
        right[k] = (right[k] - matrix[k, k + 1 :] @ right[k + 1 :]) / matrix[k, k]
    return right


def extrapolated(rate, state, time, steps, columns=9):
    """Gragg's midpoint rule, extrapolated in the square of the step (Hairer, Norsett, Wanner I, section II.9)."""
    step = Real(time) / steps
    counts = [2 * (column + 1) for column in range(columns)]
    for _ in range(steps):
        first, row = rate(state), []
        for j, count in enumerate(counts):
            h = step / count
            before, now = state, state + h * first
            for _ in range(count - 1):
                before, now = now, before + 2 * h * rate(now)
            table, row = row, [(before + now + h * rate(now)) / 2]
            for k in range(j):
                row.append(row[k] + (row[k] - table[k]) / ((Real(count) / counts[j - k - 1]) ** 2 - 1))
        state = row[-1]
    return state


def free_pivots(bobs):
    """Rates of the rods' directions, kept in length by tensions; the start; where the last bob is. All is of size 1."""
    gravity = np.array([0, 0, -GRAVITY])

    def rate(state):
        rods, turning = state.reshape(2, bobs, 3)
        # Bob i is pulled by the rods i and i + 1, so rod i is accelerated by -T_{i-1}, 2 T_i and -T_{i+1} along these.
        matrix = np.zeros((bobs, bobs), Real)
        for i in range(bobs):
            matrix[i, i] = (2 if i else 1) * rods[i] @ rods[i]
            for neighbour in {i - 1, i + 1} & set(range(bobs)):
                matrix[i, neighbour] = -rods[neighbour] @ rods[i]
        right = np.sum(turning * turning, axis=1)
        right[0] += gravity @ rods[0]
        pulls = solve(matrix, right)[:, None] * rods
        bobs_accelerated = gravity - pulls
        bobs_accelerated[:-1] += pulls[1:]
        return np.stack([turning, np.diff(bobs_accelerated, axis=0, prepend=np.zeros((1, 3), Real))]).ravel()

    start = np.stack([np.tile(ROD, (bobs, 1)), np.tile(np.array([0, Real(1) / 10, 0]), (bobs, 1))]).ravel()
    return rate, start, lambda state: state.reshape(2, bobs, 3)[0].sum(axis=0)


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def matrix_of(vector):
    """The matrix that takes a into vector x a."""
    x, y, z = vector
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], Real)


def turned(axis, angle):
    across = matrix_of(axis)
    return np.eye(3, dtype=Real) + np.sin(angle) * across + (1 - np.cos(angle)) * (across @ across)


def universal_joints(rods):
    """The same in two angles a joint: about the arm on the body before, then about the arm V on the rod itself."""
    alpha, radius = Real("0.4"), Real("0.05")
    inertia = np.diag(np.array([1 / Real(12), radius**2 / 2, 1 / Real(12)]))
    arm, along = np.array([1, 0, 0], Real), np.array([0, 1, 0], Real)

    def at_start(rod):
        angle = rod * (alpha + PI / 2)
        x = np.array([Real(6) / 10 * np.cos(angle), np.sin(angle), Real(8) / 10 * np.cos(angle)])
        return np.stack([x, ROD, cross(x, ROD)], axis=1)

    frames = [np.eye(3, dtype=Real)] + [at_start(rod) for rod in range(rods)]
    relative = [before.T @ after for before, after in pairwise(frames)]
    first_axes = [along] + [np.array([np.cos(alpha), 0, np.sin(alpha)], Real)] * (rods - 1)

    def bodies(angles):
        frame = np.eye(3, dtype=Real)
        for rod in range(rods):
            axis = frame @ first_axes[rod]
            frame = frame @ turned(first_axes[rod], angles[2 * rod]) @ relative[rod] @ turned(arm, angles[2 * rod + 1])
            yield rod, (axis, frame @ arm), frame

    def rate(state):
        angles, rates = state.reshape(2, 2 * rods)
        mass, force = np.zeros((2 * rods, 2 * rods), Real), np.zeros(2 * rods, Real)
        turns, moves = (
            np.zeros((3, 2 * rods), Real),
            np.zeros((3, 2 * rods), Real),
        )  # Jacobians: of the body, of its joint
        omega, bias, pull = np.zeros(3, Real), np.zeros(3, Real), np.array([0, 0, GRAVITY])
        for rod, axes, frame in bodies(angles):
            for k, axis in enumerate(axes, 2 * rod):
                turns[:, k] = axis
                bias = bias + cross(omega, axis * rates[k])
                omega = omega + axis * rates[k]
            reach = frame @ along
            swing = -matrix_of(reach) @ turns
            bent = cross(bias, reach) + cross(omega, cross(omega, reach))
            centre, turned_inertia = moves + swing / 2, frame @ inertia @ frame.T
            mass += centre.T @ centre + turns.T @ turned_inertia @ turns
            force -= centre.T @ (pull + bent / 2) + turns.T @ (
                turned_inertia @ bias + cross(omega, turned_inertia @ omega)
            )
            moves, pull = moves + swing, pull + bent
        return np.concatenate([rates, solve(mass, force)])

    start = np.zeros(4 * rods, Real)
    start[2 * rods + 1] = Real(1) / 10
    return rate, start, lambda state: sum(frame @ along for _, _, frame in bodies(state[: 2 * rods]))


if __name__ == "__main__":
    for chain, times, per_second in ((free_pivots, (2, 5), (60, 90)), (universal_joints, (1, 3), (50, 75))):
        rate, start, end = chain(10)
        for steps in per_second:
            state, now = start, 0
            for time in times:
                state, now = extrapolated(rate, state, time - now, steps * (time - now)), time
                print(chain.__name__, steps, time, *end(state))
