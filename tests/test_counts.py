"""What a march does, counted: waste is seen without a clock."""

from pathlib import Path

import numpy as np
import pytest

from mechsim.engine import State, integrate
from mechsim.engine.many import integrate_many
from mechsim.initial import assemble
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.spec import read
from mechsim.structure import analyse

SPECS = Path(__file__).parent.parent / "specs"
# Roundings differ from machine to machine, and a step may be redone on one that is not on another.
ALLOWANCE = 1.1
COUNTED = ("steps", "rejected", "factorizations", "evaluations")
# File, end, tolerance: order, then as COUNTED. Enter what is less; what is more needs a reason.
TABLE = {
    ("andrews.yaml", 0.03, 1e-04): (5, 100, 0, 109, 318),
    ("andrews.yaml", 0.03, 1e-08): (10, 101, 0, 110, 318),
    ("andrews.yaml", 0.03, 1e-12): (14, 121, 0, 124, 372),
    ("andrews.yaml", 0.03, 1e-14): (17, 112, 0, 115, 345),
    ("mechanism1a.yaml", 20.0, 1e-10): (12, 714, 0, 727, 2181),
    ("mechanism1b.yaml", 2.0, 1e-10): (12, 86, 0, 107, 285),
    ("mechanism0.yaml", 1.0, 1e-10): (12, 433, 0, 441, 1323),
    ("four_bar.yaml", 5.0, 1e-10): (12, 404, 0, 412, 1236),
    ("double_pendulum.yaml", 5.0, 1e-10): (12, 313, 0, 319, 957),
    ("forces/arm10.yaml", 5.0, 1e-10): (12, 176, 0, 180, 540),
    ("forces/rolling_wheel.yaml", 3.0, 1e-10): (12, 65, 0, 68, 204),
    ("forces/friction_on_incline.yaml", 2.0, 1e-10): (12, 31, 0, 35, 103),
}


@pytest.fixture(scope="module")
def prepared():
    found = {}

    def prepare(file):
        if file not in found:
            spec = read(SPECS / file)
            mechanism = build(spec)
            start = assemble(mechanism, System(mechanism), spec.problem)
            found[file] = start.system, analyse(start.system), start
        return found[file]

    return prepare


@pytest.mark.parametrize("case", TABLE, ids=lambda case: f"{case[0]}-{case[2]:.0e}")
def test_a_march_takes_no_more_than_it_did(prepared, case):
    file, end, tolerance = case
    order, *expected = TABLE[case]
    statistics = integrate(*prepared(file), tend=end, tolerance=tolerance, keep="steps").statistics
    assert statistics["order"] == order
    for name, count in zip(COUNTED, expected, strict=True):
        assert statistics[name] <= ALLOWANCE * count + 2, (name, statistics)


def test_a_step_factors_once_and_evaluates_once_per_stage_of_its_end(prepared):
    """Three stages find positions, velocities and accelerations; Newton's method needs one evaluation for each."""
    statistics = integrate(*prepared("andrews.yaml"), tend=0.03, tolerance=1e-8, keep="steps").statistics
    steps = statistics["steps"] + statistics["rejected"]
    assert statistics["factorizations"] <= 1.1 * steps + 2
    assert statistics["evaluations"] <= 3.3 * steps + 2


@pytest.mark.parametrize("case", TABLE, ids=lambda case: f"{case[0]}-{case[2]:.0e}")
def test_motions_in_lanes_take_no_more_than_one_alone(prepared, case):
    """They settle by the same rule, each for itself: others that need more do not count."""
    file, end, tolerance = case
    _, *expected = TABLE[case]
    system, structure, start = prepared(file)
    driven = np.any(system.constraint_rate(start.t, start.positions, 0 * start.velocities))
    slower = State(start.t, start.positions, start.velocities * (1.0 if driven else 0.9))
    found = integrate_many(system, structure, [start, slower, start], tends=[end, end, 0.7 * end], tolerance=tolerance)
    for name, count in zip(COUNTED, expected, strict=True):
        assert found.statistics[name][0] <= ALLOWANCE * count + 2, (name, found.statistics)
