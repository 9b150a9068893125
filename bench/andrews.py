"""The Andrews squeezing mechanism in seven angles: data, equations, reference, score.

Equations and data after E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, section VII.7, with the
names of the parameters used there and in specs/andrews.yaml. The functions are written over `f`, anything that has
`sin`, `cos` and `sqrt` (math, casadi, heyoka), so that every peer is given the same arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

END = 0.03
ANGLES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
START = (
    -0.0617138900142764496,
    0.0,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    -0.222668390165885885,
    1.23054744454982119,
)
# Accelerations and multipliers at rest, which index-1 solvers ask for; M a + G^T lam = force.
START_ACCELERATIONS = (14222.4439199541139, -10666.8329399655854, 0.0, 0.0, 0.0, 0.0, 0.0)
START_MULTIPLIERS = (98.5668703962410896, -6.12268834425566266, 0.0, 0.0, 0.0, 0.0)
# End values from 30-digit arithmetic (the ones printed in the IVP test set are right to ten digits).
REFERENCE = (
    15.8107711951537070971,
    -15.7563710584118394697,
    0.0408222401196458048583,
    -0.534730116342079593770,
    0.524409965879954069372,
    0.534730116342079593770,
    1.04808074104193787307,
)
# Whole and half decades, for mechsim and heyoka alike: the quickest run with some digits is fairly found for both.
TOLERANCES = tuple(f"{part}e-{k}" for k in range(3, 15) for part in (3, 1))[1:]
# RADAU5 in Fortran on the hand-coded index-3 equations: digits and milliseconds as published, not measured here.
RADAU5 = ((4.4, 1.6), (5.3, 2.5), (6.35, 4.5), (7.7, 9.2))

m1, m2, m3, m4, m5, m6, m7 = 0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498
i1, i2, i3, i4, i5, i6, i7 = 2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5
xa, ya, xb, yb, xc, yc = -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072
d, da, e, ea, rr, ra, ss, sa, sb, sc, sd = (
    28e-3,
    115e-4,
    2e-2,
    1421e-5,
    7e-3,
    92e-5,
    35e-3,
    1874e-5,
    1043e-5,
    18e-3,
    2e-2,
)
ta, tb, u, ua, ub, zf, zt, fa = 2308e-5, 916e-5, 4e-2, 1228e-5, 449e-5, 2e-2, 4e-2, 1421e-5
c0, l0, mom = 4530.0, 7785e-5, 33e-3

Entries = dict[tuple[int, int], Any]


def digits(angles: Sequence[float]) -> float:
    """Significant correct digits of the seven angles at t = 0.03: the worst relative error (seed 001, section 4.6)."""
    worst = max(abs((have - want) / want) for have, want in zip(angles, REFERENCE, strict=True))
    return -math.log10(max(worst, 1e-17)) if worst == worst else 0.0


def turns(q: Sequence[Any], f: Any) -> SimpleNamespace:
    """Sines and cosines, each once: of the angles, and of the sums in which the parts' directions are written."""
    beta, theta, gamma, phi, delta, omega, epsilon = q
    sums = {
        "beta": beta,
        "theta": theta,
        "gamma": gamma,
        "phi": phi,
        "delta": delta,
        "omega": omega,
        "epsilon": epsilon,
    }
    sums |= {"fe": beta + theta, "eg": phi + delta, "he": omega + epsilon}
    return SimpleNamespace(sin={k: f.sin(v) for k, v in sums.items()}, cos={k: f.cos(v) for k, v in sums.items()})


def mass(turn: SimpleNamespace) -> Entries:
    """The mass matrix, both triangles."""
    swing2, swing4, swing6 = (
        da * rr * turn.cos["theta"],
        zt * (e - ea) * turn.sin["phi"],
        u * (zf - fa) * turn.sin["omega"],
    )
    entries = {
        (0, 0): m1 * ra**2 + m2 * (rr**2 + da**2 - 2 * swing2) + i1 + i2,
        (1, 0): m2 * (da**2 - swing2) + i2,
        (1, 1): m2 * da**2 + i2,
        (2, 2): m3 * (sa**2 + sb**2) + i3,
        (3, 3): m4 * (e - ea) ** 2 + i4,
        (4, 3): m4 * ((e - ea) ** 2 + swing4) + i4,
        (4, 4): m4 * (zt**2 + (e - ea) ** 2 + 2 * swing4) + m5 * (ta**2 + tb**2) + i4 + i5,
        (5, 5): m6 * (zf - fa) ** 2 + i6,
        (6, 5): m6 * ((zf - fa) ** 2 - swing6) + i6,
        (6, 6): m6 * ((zf - fa) ** 2 + u**2 - 2 * swing6) + m7 * (ua**2 + ub**2) + i6 + i7,
    }
    return entries | {(j, i): value for (i, j), value in entries.items()}


def force(turn: SimpleNamespace, v: Sequence[Any], f: Any) -> list[Any]:
    """Torque, spring and the velocity terms of the three two-part arms."""
    sine, cosine = turn.sin["gamma"], turn.cos["gamma"]
    reach_x, reach_y = sd * cosine + sc * sine, sd * sine - sc * cosine  # from B to D
    along_x, along_y = reach_x + xb - xc, reach_y + yb - yc
    length = f.sqrt(along_x * along_x + along_y * along_y)
    pull = -c0 * (length - l0) / length
    arm2 = m2 * da * rr * turn.sin["theta"]
    arm4 = m4 * zt * (e - ea) * turn.cos["phi"]
    arm6 = m6 * u * (zf - fa) * turn.cos["omega"]
    return [
        mom - arm2 * v[1] * (v[1] + 2 * v[0]),
        arm2 * v[0] * v[0],
        pull * (along_y * reach_x - along_x * reach_y),
        arm4 * v[4] * v[4],
        -arm4 * v[3] * (v[3] + 2 * v[4]),
        -arm6 * v[6] * v[6],
        arm6 * v[5] * (v[5] + 2 * v[6]),
    ]


def closure(turn: SimpleNamespace) -> list[Any]:
    """Point E reached over the crank, minus E reached from B, over G and over H."""
    s, c = turn.sin, turn.cos
    x, y = rr * c["beta"] - d * c["fe"], rr * s["beta"] - d * s["fe"]
    return [
        x - ss * s["gamma"] - xb,
        y + ss * c["gamma"] - yb,
        x - e * s["eg"] - zt * c["delta"] - xa,
        y + e * c["eg"] - zt * s["delta"] - ya,
        x - zf * c["he"] - u * s["epsilon"] - xa,
        y - zf * s["he"] + u * c["epsilon"] - ya,
    ]


def closure_jacobian(turn: SimpleNamespace) -> Entries:
    s, c = turn.sin, turn.cos
    entries: Entries = {}
    for row in (0, 2, 4):
        entries |= {(row, 0): d * s["fe"] - rr * s["beta"], (row, 1): d * s["fe"]}
        entries |= {(row + 1, 0): rr * c["beta"] - d * c["fe"], (row + 1, 1): -d * c["fe"]}
    return entries | {
        (0, 2): -ss * c["gamma"],
        (1, 2): -ss * s["gamma"],
        (2, 3): -e * c["eg"],
        (2, 4): zt * s["delta"] - e * c["eg"],
        (3, 3): -e * s["eg"],
        (3, 4): -zt * c["delta"] - e * s["eg"],
        (4, 5): zf * s["he"],
        (4, 6): zf * s["he"] - u * c["epsilon"],
        (5, 5): -zf * c["he"],
        (5, 6): -zf * c["he"] - u * s["epsilon"],
    }


def closure_bias(turn: SimpleNamespace, v: Sequence[Any]) -> list[Any]:
    """The right-hand side of the twice differentiated closure: jacobian @ acceleration = bias."""
    s, c = turn.sin, turn.cos
    crank, fe, bed = v[0] * v[0], (v[0] + v[1]) * (v[0] + v[1]), v[2] * v[2]
    eg, ag, he, ah = (v[3] + v[4]) * (v[3] + v[4]), v[4] * v[4], (v[5] + v[6]) * (v[5] + v[6]), v[6] * v[6]
    x, y = rr * c["beta"] * crank - d * c["fe"] * fe, rr * s["beta"] * crank - d * s["fe"] * fe
    return [
        x - ss * s["gamma"] * bed,
        y + ss * c["gamma"] * bed,
        x - e * s["eg"] * eg - zt * c["delta"] * ag,
        y + e * c["eg"] * eg - zt * s["delta"] * ag,
        x - zf * c["he"] * he - u * s["epsilon"] * ah,
        y - zf * s["he"] * he + u * c["epsilon"] * ah,
    ]


def _pair(jacobian: Entries, row: int, first: int, right: Sequence[Any]) -> list[Any]:
    """Two unknowns from two rows, by Cramer's rule; `first` and the next column are the unknowns."""
    p, q, r, s = (jacobian[row + i, first + j] for i in (0, 1) for j in (0, 1))
    determinant = p * s - q * r
    return [(right[0] * s - q * right[1]) / determinant, (p * right[1] - r * right[0]) / determinant]


def _follow(jacobian: Entries, crank: float, right: Sequence[Any]) -> list[Any]:
    """All seven rates from the crank's: the loop over B gives two, then the loops over G and H two each."""
    w = [crank, *_pair(jacobian, 0, 1, [right[i] - jacobian[i, 0] * crank for i in (0, 1)])]
    for row, first in ((2, 3), (4, 5)):
        rest = [right[i] - jacobian[i, 0] * crank - jacobian[i, 1] * w[1] for i in (row, row + 1)]
        w += _pair(jacobian, row, first, rest)
    return w


def reduced(q: Sequence[Any], speed: Any, f: Any) -> list[Any]:
    """The hand-reduced ODE of eight states, seven angles and the crank's speed, by the null space of the closure."""
    turn = turns(q, f)
    jacobian = closure_jacobian(turn)
    ratio = _follow(jacobian, 1.0, [0.0] * 6)
    v = [r * speed for r in ratio]
    drift = _follow(jacobian, 0.0, closure_bias(turn, v))
    inertia, applied = mass(turn), force(turn, v, f)
    work = sum((ratio[i] * applied[i] for i in range(7)), start=0.0)
    work = work - sum((ratio[i] * value * drift[j] for (i, j), value in inertia.items()), start=0.0)
    return [*v, work / sum((ratio[i] * value * ratio[j] for (i, j), value in inertia.items()), start=0.0)]


def angles_of_points(beta: float, point: dict[str, complex]) -> list[float]:
    """The seven angles from our cartesian points (keys E, F, G, H; y is the imaginary part), at t = 0.03.

    No winding needs to be known but the crank's: all other parts swing.
    """
    a, b = complex(xa, ya), complex(xb, yb)

    def direction(start: complex, end: complex) -> float:
        return math.atan2((end - start).imag, (end - start).real)

    delta = direction(a, point["G"])
    epsilon = direction(a, point["H"]) + math.pi / 2
    theta = direction(point["E"], point["F"]) - beta
    phi = direction(point["E"], point["G"]) - math.pi / 2 - delta
    return [
        beta,
        theta,
        direction(b, point["E"]) + math.pi / 2,
        phi,
        delta,
        direction(point["H"], point["E"]) - epsilon,
        epsilon,
    ]
