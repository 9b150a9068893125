"""Seed 003: the triple pendulum with a horizontal barrier, its five sets of parameters (figures 3a, 3b, 4ab, 4cd, 4ef)."""

import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from reference import SPECS
from reference.barrier import Barrier

import mechsim

# Parameters as in the captions: c, q, w, eta, e.
FIGURES = {
    "periodic_impacts": Barrier(0.1, 0.7, 1.2, 2.6, 0.9),  # 3a
    "periodic_sliding": Barrier(0.2, 0.75, 1.0, 2.2, 0.8),  # 3b
    "quasiperiodic_impacts": Barrier(0.08, 0.83, 1.211, 2.5, 0.9),  # 4ab
    "quasiperiodic_sliding": Barrier(0.1, 0.65, 1.211, 2.5, 0.5),  # 4cd
    "chaotic_sliding": Barrier(0.02, 0.5, 1.0, 2.5, 0.0),  # 4ef
}
START = (1.0, 1.0, 1.0)


def file(figure):
    return SPECS / f"contacts/triple_pendulum_{figure}.yaml"


def angles(motion, t, side="after"):
    """Angles of the seed and their rates."""
    values, rates = motion(t, side), motion.velocity(t, side)
    links = ("theta_OA", "theta_AB", "theta_BC")
    return np.array([*(values[link] + math.pi / 2 for link in links), *(rates[link] for link in links)])


def at_barrier(motion):
    return [event for event in motion.events if event.gap == "barrier"]


@pytest.mark.parametrize(
    ("figure", "tend", "count"),
    [
        ("periodic_impacts", 18.0, 7),
        ("periodic_sliding", 2.65, 11),
        ("quasiperiodic_impacts", 19.0, 7),
        ("quasiperiodic_sliding", 10.42, 10),
        ("chaotic_sliding", 24.7, 12),
    ],
)
def test_first_impacts_are_those_of_the_angles(figure, tend, count):
    """The bar is 1e-10; 5e-13 is what DOP853 allows, but for grazing impacts of figure 4ab, which multiply errors."""
    motion = mechsim.simulate(file(figure), tend=tend)
    expected, state = FIGURES[figure].follow(START, tend)
    found = at_barrier(motion)
    assert [event.kind for event in found] == [event.kind for event in expected]
    assert len(found) == count
    for event, other in zip(found, expected, strict=True):
        assert event.t == pytest.approx(other.t, abs=2e-12)
        np.testing.assert_allclose(angles(motion, event.t), other.state, rtol=0, atol=1e-11)
    np.testing.assert_allclose(angles(motion, tend), state, rtol=0, atol=1e-11)


@cache
def long(figure):
    """250 periods, of which the first 150 are forgotten: the section once a period, and what happens in each."""
    period = 2 * math.pi / FIGURES[figure].w
    motion = mechsim.simulate(file(figure), tend=250.5 * period, tol=1e-12)
    times = motion.events.of("section").column("t")[-100:]
    section = np.array([angles(motion, t) for t in times])
    counts = [Counter(e.kind for e in at_barrier(motion) if t <= e.t < t + period) for t in times[:-1]]
    return motion, section, counts


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES)
def test_attractors(figure):
    motion, section, counts = long(figure)
    again = [np.abs(section[period:] - section[:-period]).max() for period in range(1, 25)]
    print(figure, np.round(np.log10(again), 1), counts[-3:])
    certificate = motion.certificate
    assert certificate.deepest_overlap < 1e-14
