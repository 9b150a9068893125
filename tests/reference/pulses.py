"""Random runs with pulses, of time or of a position met at speed, whose outcome is known by quadrature.

Everything is a particle of mass 1 that starts at the origin of a line; a pulse of time changes its velocity by the
pulse's integral, one of position its energy by the difference of a potential. Shapes decay so fast that they are
zero to all digits where a run starts, or where a step does.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.special import gammaln

WIDTHS = 1e-6, 1e-1  # of the run


@dataclass(frozen=True)
class Pulse:
    """`text` is a formula of the argument {u}; `value` the same for numbers, `reach` where it ends, in widths."""

    text: str
    value: callable
    centre: float
    width: float
    height: float
    reach: float

    def of(self, name):
        return self.text.format(u=f"(({name} - {self.centre!r})/{self.width!r})", a=repr(self.height))

    def __call__(self, s):
        return self.height * self.value((s - self.centre) / self.width)

    @property
    def borders(self):
        """Where it begins, its middle and its end, and places between: a quadrature must see it."""
        return [self.centre + share * self.reach * self.width for share in np.linspace(-1, 1, 9)]


SHAPES = {
    "gauss": ("{a}*exp(-{u}**2)", lambda u: np.exp(-(u**2)), 7.0),
    "switches": (
        "{a}*(tanh(4*({u} + 1)) - tanh(4*({u} - 1)))/2",
        lambda u: (np.tanh(4 * (u + 1)) - np.tanh(4 * (u - 1))) / 2,
        6.0,
    ),
    "power": ("{a}/(1 + {u}**2)**24", lambda u: (1 + u**2) ** -24.0, 6.0),
    "steep": ("{a}*exp(-{u}**8)", lambda u: np.exp(-(u**8)), 1.8),
    "bump": ("{a}/cosh(3*{u})**2", lambda u: 1 / np.cosh(np.clip(3 * u, -300, 300)) ** 2, 8.0),
}


def pulse(rng, length, impulse):
    """A pulse within a run of this length, of about this integral."""
    text, value, reach = SHAPES[rng.choice(list(SHAPES))]
    width = length * 10 ** rng.uniform(np.log10(WIDTHS[0]), np.log10(WIDTHS[1])) / 2
    centre = rng.uniform(0.05, 0.95) * length
    return Pulse(text, value, float(centre), float(width), float(impulse / width), reach)


def integral(pulses, a, b):
    """Of the sum of pulses, each by itself between its borders."""
    total = 0.0
    for each in pulses:
        edges = [a, *(edge for edge in each.borders if a < edge < b), b]
        total += sum(quad(each, *pair, epsabs=1e-16, epsrel=1e-13)[0] for pair in pairwise(edges))
    return total


SPEC = """
PartData: {{Particles: {{P: 1}}}}
AppliedForces: {{{law}}}
ProblemData: {{tend: {tend!r}, positions: {{P: [0, 0]}}, velocities: {{P: [[{speed!r}, fixed], 0]}}}}
"""


def of_time(seed):
    """A file, its end, and the velocity there: pulses of force."""
    rng = np.random.default_rng(seed)
    tend = 10 ** rng.uniform(0, 2)
    pulses = [pulse(rng, tend, rng.uniform(0.1, 2) * rng.choice([-1, 1])) for _ in range(rng.integers(1, 6))]
    speed = rng.choice([0.0, rng.uniform(-1, 1)])
    force = " + ".join(each.of("t") for each in pulses)
    text = SPEC.format(law=f'Forces: {{P: ["{force}", 0]}}', tend=float(tend), speed=float(speed))
    return text, tend, speed + integral(pulses, 0.0, tend)


def of_position(seed):
    """The same with pulses of force where the particle passes at speed: its energy at the end, as a speed there.

    The forces push on, so that it never turns; the run ends behind all of them.
    """
    rng = np.random.default_rng(seed)
    length, speed = 10.0, rng.uniform(0.5, 3)
    pulses = [pulse(rng, length, rng.uniform(0.05, 1) * speed**2) for _ in range(rng.integers(1, 6))]
    force = " + ".join(each.of("P.x") for each in pulses)
    text = SPEC.format(law=f'Forces: {{P: ["{force}", 0]}}', tend=float(length / speed), speed=float(speed))
    return text, length / speed, pulses, speed


def high_power(seed):
    """sin(w t)**n over half a period: zero to n - 1 derivatives at both ends. Its integral is a beta function."""
    rng = np.random.default_rng(seed)
    n, w = int(rng.integers(16, 400)), 10 ** rng.uniform(-1, 1)
    tend = np.pi / w
    exact = np.sqrt(np.pi) / w * np.exp(gammaln((n + 1) / 2) - gammaln(n / 2 + 1))
    text = SPEC.format(law=f'Forces: {{P: ["sin({float(w)!r}*t)**{n}", 0]}}', tend=float(tend), speed=0.0)
    return text, tend, exact
