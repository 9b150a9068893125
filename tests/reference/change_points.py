"""Random linkages that pass change points, with motions known from one equation in one angle.

A row of parallel cranks turns as one pendulum; the equal-link slider-crank and the kite have one angle each that
determines all else, smoothly through the poses in which their constraints are dependent.
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81
np.set_printoptions(legacy="1.25")  # numbers of a file are written as such


@dataclass(frozen=True)
class Case:
    """A file, its tolerance and end, and where the point `last` is then; lengths of about `size`."""

    text: str
    tolerance: float
    tend: float
    last: str
    place: np.ndarray
    size: float


def _turned(acceleration, angle, rate, tend):
    """The angle at the end."""
    solved = solve_ivp(
        lambda t, y: [y[1], acceleration(*y)], (0, tend), [angle, rate], method="DOP853", rtol=3e-14, atol=1e-14
    )
    return solved.y[0, -1]


def _draw(rng, length):
    """Tolerance, angle away from poses that are flat or folded, rate, end, and gravity (sometimes none)."""
    angle = rng.uniform(-np.pi, np.pi)
    angle += 0.4 * (abs(np.sin(2 * angle)) < 0.3)
    rate = rng.choice([-1, 1]) * rng.uniform(0.5, 3) * np.sqrt(G / length)
    tend = rng.uniform(1, 4) * 2 * np.pi / abs(rate)
    return 10 ** rng.uniform(-14, -4), float(angle), float(rate), float(tend), G * (rng.random() < 0.8)


def _file(fixed, rigids, places, gravity, angle, rate, tend, more=""):
    parts = "\n".join(f"    {part}" for part in rigids)
    return f"""
PartData:
  Fixed: {{{fixed}}}
  Rigids:
{parts}
{more}AppliedForces: {{Gravity: [0, {-gravity!r}]}}
ProblemData:
  tend: {tend!r}
  positions: {{{places}}}
  angles: {{O0A0: [{angle!r}, fixed]}}
  rates: {{O0A0: [{rate!r}, fixed]}}
"""


def _part(name, length, centroid, mass, inertia):
    return f"{name}: {{Geom: [[{length!r}]], Dyna: [[{centroid!r}], {mass!r}, {inertia!r}]}}"


def _at(name, *place):
    return f"{name}: [{', '.join(repr(float(x)) for x in place)}]"


def row(seed, count=None):
    """`count` parallelograms side by side: all cranks turn alike. Their masses differ, so forces pass between them."""
    rng = np.random.default_rng(seed)
    count = count or int(rng.choice([1, 1, 1, *range(2, 9)]))
    r = float(rng.uniform(0.3, 2))
    tolerance, angle, rate, tend, gravity = _draw(rng, r)
    length, c = float(rng.uniform(0.5, 3) * r), rng.uniform(0.2, 0.8)
    cranks, bars = rng.uniform(0.5, 3, count + 1), rng.uniform(0.5, 3, count)
    spin = rng.uniform(0.05, 0.3)
    rigids = [_part(f"O{k}A{k}", r, c * r, m, m * spin * r * r) for k, m in enumerate(cranks)]
    rigids += [_part(f"A{k}A{k + 1}", length, length / 3, m, m * r * r) for k, m in enumerate(bars)]
    inertia = (cranks.sum() * (spin + c * c) + bars.sum()) * r * r
    pull = gravity * (cranks.sum() * c + bars.sum()) * r
    places = ", ".join(_at(f"A{k}", k * length + r * np.cos(angle), r * np.sin(angle)) for k in range(count + 1))
    fixed = ", ".join(_at(f"O{k}", k * length) for k in range(count + 1))
    end = _turned(lambda a, w: -pull * np.cos(a) / inertia, angle, rate, tend)
    text = _file(fixed, rigids, places, gravity, angle, rate, tend)
    return Case(text, tolerance, tend, f"A{count}", np.array([r * np.cos(end) + count * length, r * np.sin(end)]), r)


def slider_crank(seed):
    """Crank and rod of one length: when the slider passes the crank's pivot it could as well stay there."""
    rng = np.random.default_rng(seed)
    r = float(rng.uniform(0.3, 2))
    tolerance, angle, rate, tend, gravity = _draw(rng, r)
    c1, c2 = (float(c) for c in rng.uniform(0.2, 0.8, 2) * r)
    m1, m2, mb = (float(m) for m in rng.uniform(0.5, 3, 3))
    i1, i2 = (float(i) for i in rng.uniform(0.03, 0.3, 2) * r * r)
    rigids = [_part("O0A0", r, c1, m1, m1 * i1), _part("A0B", r, c2, m2, m2 * i2)]
    places = f"{_at('A0', r * np.cos(angle), r * np.sin(angle))}, {_at('B', 2 * r * np.cos(angle))}"
    more = f"  Particles: {{B: {mb!r}}}\n  Collinear: [O0RB]\n"

    def acceleration(a, w):
        along, across = (r + c2) ** 2, (r - c2) ** 2
        inertia = m1 * (c1**2 + i1) + m2 * i2 + m2 * (along * np.sin(a) ** 2 + across * np.cos(a) ** 2)
        inertia += 4 * mb * r * r * np.sin(a) ** 2
        change = (m2 * (along - across) + 4 * mb * r * r) * np.sin(2 * a)
        return -(gravity * (m1 * c1 + m2 * (r - c2)) * np.cos(a) + change * w * w / 2) / inertia

    end = _turned(acceleration, angle, rate, tend)
    text = _file("O0: [], R: [1]", rigids, places, gravity, angle, rate, tend, more)
    return Case(text, tolerance, tend, "B", np.array([2 * r * np.cos(end), 0.0]), r)


def kite(seed):
    """Crank as long as the ground, coupler as long as the rocker: B is on the line that halves the crank's angle."""
    rng = np.random.default_rng(seed)
    a = float(rng.uniform(0.5, 1.5))
    tolerance, angle, rate, tend, gravity = _draw(rng, a)
    b, mass, inertia = float(a * rng.uniform(1.2, 3)), float(rng.uniform(0.5, 2)), float(rng.uniform(0.2, 1) * a * a)
    side = int(rng.choice([-1, 1]))

    def radius(u):
        return a * np.cos(u) + side * np.sqrt(b * b - (a * np.sin(u)) ** 2)

    def slope(u):
        return -a * np.sin(u) * (1 + side * a * np.cos(u) / np.sqrt(b * b - (a * np.sin(u)) ** 2))

    def total(theta):
        return inertia + mass * (slope(theta / 2) ** 2 + radius(theta / 2) ** 2) / 4

    def height(theta):
        return radius(theta / 2) * np.sin(theta / 2)

    def acceleration(theta, w):  # derivatives by complex steps, which are exact
        step = 1e-30j
        change, lift = (function(theta + step).imag / step.imag for function in (total, height))
        return -(change * w * w / 2 + mass * gravity * lift) / total(theta)

    def place(theta):
        return radius(theta / 2) * np.array([np.cos(theta / 2), np.sin(theta / 2)])

    rigids = [_part("O0A0", a, 0, 1, inertia)]
    places = f"{_at('A0', a * np.cos(angle), a * np.sin(angle))}, {_at('B', *place(angle))}"
    more = f"  Rods: {{A0B: {b!r}, CB: {b!r}}}\n  Particles: {{B: {mass!r}}}\n"
    end = _turned(acceleration, angle, rate, tend)
    text = _file(f"O0: [], C: [{a!r}]", rigids, places, gravity, angle, rate, tend, more)
    return Case(text, tolerance, tend, "B", place(end), a)
