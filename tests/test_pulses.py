"""No pulse of force is missed, however narrow, wherever it stands: the series of a step need not tell of it.

Runs are random, their answers known by quadrature (reference/pulses.py). `make test-slow` takes a thousand.
"""

import numpy as np
import pytest
from reference import SPECS
from reference.pulses import SPEC, high_power, integral, of_position, of_time

import mechsim

TOLERANCE = 1e-12
# Relative to speeds of about 1. Errors of some hundred steps at 1e-12 add up to less; a pulse missed is 0.1 or more.
EXACT = 1e-9
SHORT, LONG = range(12), pytest.param(range(12, 400), marks=pytest.mark.slow, id="388 runs")


def outcome(text, tend):
    motion = mechsim.simulate(text, tol=TOLERANCE)
    assert motion.certificate.doubts() == ()
    return motion(tend)["P"][0], motion.velocity(tend)["P"][0]


@pytest.mark.parametrize("seeds", [*([seed] for seed in SHORT), LONG])
def test_pulses_of_time(seeds):
    for seed in seeds:
        text, tend, velocity = of_time(seed)
        assert outcome(text, tend)[1] == pytest.approx(velocity, rel=0, abs=EXACT), text


@pytest.mark.parametrize("seeds", [*([seed] for seed in SHORT), LONG])
def test_pulses_of_position_met_at_speed(seeds):
    """The work done up to where the particle is at the end is what its energy has gained."""
    for seed in seeds:
        text, tend, pulses, speed = of_position(seed)
        place, velocity = outcome(text, tend)
        gained = (velocity**2 - speed**2) / 2
        assert gained == pytest.approx(integral(pulses, 0.0, place), rel=0, abs=EXACT * max(1, velocity**2)), text
        assert place >= 10.0 - 1e-9  # it was pushed on, so it is beyond where it would have come


@pytest.mark.parametrize("seeds", [*([seed] for seed in SHORT), pytest.param(range(12, 200), marks=pytest.mark.slow)])
def test_high_powers(seeds):
    for seed in seeds:
        text, tend, velocity = high_power(seed)
        assert outcome(text, tend)[1] == pytest.approx(velocity, rel=1e-10, abs=1e-12), text


def test_a_power_of_time_that_is_nothing_at_first():
    text = SPEC.format(law='Forces: {P: ["(t/9)**30", 0]}', tend=10.0, speed=0.0)
    assert outcome(text, 10.0)[1] == pytest.approx(9 / 31 * (10 / 9) ** 31, rel=1e-12)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-12])
def test_a_steep_wall_turns_a_particle_back(tolerance):
    """V = (0.01/(x - 5))^12 is 1e-32 where the particle starts. It comes back as fast as it went."""
    law = "Potentials: {wall: (0.01/(P.x - 5))**12}"
    motion = mechsim.simulate(SPEC.format(law=law, tend=9.0, speed=1.0), tol=tolerance)
    assert motion.velocity(9.0)["P"][0] == pytest.approx(-1.0, abs=1e3 * tolerance)
    assert motion(motion.t)["P"][:, 0].max() < 5


@pytest.mark.parametrize("moment", np.linspace(0.6, 9.3, 8))
def test_a_blow_on_a_swinging_pendulum(moment):
    """10 ms of 200 N m. Angular momentum gains what the blow gave, but for the weight's share in 10 ms."""
    text = f"""
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}}
AppliedForces:
  Gravity: [0, -9.81]
  Torques: {{OA: "200*(tanh((t - {moment})/0.0005) - tanh((t - {moment} - 0.01)/0.0005))/2"}}
ProblemData: {{tend: 10, positions: {{A: [1, 0]}}}}
"""
    motion = mechsim.simulate(text, tol=TOLERANCE)
    before, after = (motion.velocity(t)["theta_OA"] for t in (moment - 0.005, moment + 0.015))
    weight = 9.81 * 0.5 * 0.02  # at most
    assert abs((after - before) / 3 - 200 * 0.01) <= weight
    assert motion.certificate.energy_drift < 1e-12


def test_a_law_that_never_comes_to_matter_costs_no_steps():
    """A pulse far beyond the end, and one of no weight: the particle takes as few steps as without."""
    plain = mechsim.simulate(SPEC.format(law="Forces: {P: [1, 0]}", tend=10.0, speed=1.0))
    law = 'Forces: {P: ["1 + 3*exp(-(t - 80)**2) + 1e-40*exp(-(t - 5)**2)", 0]}'
    pulsed = mechsim.simulate(SPEC.format(law=law, tend=10.0, speed=1.0))
    assert pulsed.certificate.steps <= plain.certificate.steps + 3


@pytest.mark.slow
def test_examples_are_not_warned_about():
    for path in sorted(SPECS.glob("**/*.yaml")):
        if "1a" not in path.name and "arm3_p" not in path.name:  # these take a second each, and are tested elsewhere
            assert mechsim.simulate(path).certificate.doubts() == (), path
