"""What a march does, counted: waste is seen without a clock."""

from pathlib import Path

import numpy as np
import pytest

from mechsim.engine import State, integrate, order_for
from mechsim.engine.leading import planned
from mechsim.engine.many import integrate_many
from mechsim.initial import assemble
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.spec import parse, read
from mechsim.structure import analyse

SPECS = Path(__file__).parent.parent / "specs"
# Roundings differ from machine to machine, and a step may be redone on one that is not on another.
ALLOWANCE = 1.1
COUNTED = ("steps", "rejected", "factorizations", "evaluations")
# File, end, tolerance: order, then as COUNTED. Enter what is less; what is more needs a reason.
TABLE = {
    ("andrews.yaml", 0.03, 1e-04): (14, 34, 1, 38, 111),
    ("andrews.yaml", 0.03, 1e-08): (21, 41, 1, 45, 132),
    ("andrews.yaml", 0.03, 1e-12): (26, 49, 1, 52, 156),
    ("andrews.yaml", 0.03, 1e-14): (17, 120, 0, 123, 369),
    ("mechanism1a.yaml", 20.0, 1e-10): (24, 268, 0, 274, 822),
    ("mechanism1b.yaml", 2.0, 1e-10): (24, 34, 0, 43, 115),
    ("mechanism0.yaml", 1.0, 1e-10): (23, 178, 0, 182, 546),
    ("four_bar.yaml", 5.0, 1e-10): (23, 165, 0, 169, 507),
    ("double_pendulum.yaml", 5.0, 1e-10): (23, 124, 0, 127, 381),
    ("forces/arm10.yaml", 5.0, 1e-10): (21, 82, 0, 85, 255),
    ("forces/rolling_wheel.yaml", 3.0, 1e-10): (16, 33, 0, 35, 105),
    ("forces/friction_on_incline.yaml", 2.0, 1e-10): (15, 25, 0, 29, 85),
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


def chain(rods):
    """Rods of 0.1 m in a row, hung at one end and let go from the horizontal."""
    names = ", ".join(f"P{i}P{i + 1}" for i in range(rods))
    places = ", ".join(f"P{i}: [{i}*l, 0]" for i in range(1, rods + 1))
    spec = parse(f"""
PhysicalParams: {{l: 0.1, m: 0.1}}
PartData:
  Fixed: {{P0: []}}
  Rigids: {{? "{names}" : {{Geom: [[l]], Dyna: [[l/2], m, m*l**2/12]}}}}
AppliedForces: {{Gravity: [0, -9.81]}}
ProblemData: {{tend: 0.5, positions: {{{places}}}}}
""")
    mechanism = build(spec)
    start = assemble(mechanism, System(mechanism), spec.problem)
    return start.system, analyse(start.system), start


# Rods: order, steps, factorizations, evaluations. Before, 100 rods took 207 steps and 48 that were redone.
@pytest.mark.parametrize(("rods", "expected"), [(10, (24, 58, 60, 180)), (100, (24, 76, 152, 310))])
def test_the_leverage_of_a_long_chain_is_no_singular_pose(rods, expected):
    """Constraints in a row add up what each is missed by, and where that is most moves along it. Nothing is redone."""
    system, structure, start = chain(rods)
    alone = integrate(system, structure, start, tend=0.5, tolerance=1e-10, keep="steps").statistics
    beside = integrate_many(system, structure, [start, start], tends=[0.5, 0.4], tolerance=1e-10).statistics
    order, *counts = expected
    assert alone["order"] == order
    for name, count in zip(("steps", "factorizations", "evaluations"), counts, strict=True):
        assert alone[name] <= ALLOWANCE * count + 2, (name, alone)
    assert alone["rejected"] <= 2
    assert beside["rejected"][0] <= 2
    assert beside["steps"][0] <= ALLOWANCE * alone["steps"] + 2


def test_the_order_follows_from_the_plan_and_grows_with_the_digits(prepared):
    """Formulas are looked at along each step, which costs more the longer it is: their orders are lower.

    Up to 1e-12: nearer to rounding orders are limited by roundings instead.
    """
    orders = {}
    for file in ("andrews.yaml", "forces/friction_on_incline.yaml"):
        system, structure, _ = prepared(file)
        plan = planned(system, structure)
        orders[file] = [order_for(10.0**-digits, plan) for digits in range(3, 13)]
        assert orders[file] == sorted(orders[file])
        assert orders[file] == [order_for(10.0**-digits, planned(system, structure)) for digits in range(3, 13)]
    own, formulas = orders.values()
    assert all(low < high for low, high in zip(formulas, own, strict=True))


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
