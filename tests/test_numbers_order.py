"""Order of convergence. Order p finds velocities to degree p, so a step errs by h^(p+1) and the motion by h^p."""

import numpy as np
import pytest
from reference import SPECS

from mechsim.engine import State, integrate
from mechsim.kernel.plan import make_plan
from mechsim.kernel.system import System
from mechsim.kernel.twin import Twin
from mechsim.model import build
from mechsim.source import read
from mechsim.structure import analyse

# A pendulum that whirls: its series look alike all the way round, so that errors of steps add up and the next power of
# h shows little. (Where a pendulum nearly stops, the same steps are far shorter than its series allow.)
END = 0.5


def whirling(speed):
    return State(0.0, np.array([0.6, -0.8]), speed * np.array([0.8, 0.6]))


@pytest.fixture(scope="module")
def pendulum():
    system = System(build(read(SPECS / "pendulum.yaml")))
    return system, analyse(system)


def slope(counts, errors):
    return -np.polyfit(np.log(counts), np.log(np.array(errors, dtype=float)), 1)[0]


def state_of(solution):
    return np.concatenate([solution.q[-1], solution.v[-1]])


@pytest.mark.parametrize(("order", "counts"), [(5, (25, 36, 50, 72, 100, 200)), (10, (16, 20, 25, 32, 40, 50))])
def test_the_compiled_kernel_converges_with_its_order(pendulum, order, counts):
    """Steps so long that truncation (down to 2e-11) stands well above rounding (1e-14); the next power adds 0.1."""
    start = whirling(20.0)
    exact = state_of(integrate(*pendulum, start, tend=END, tolerance=1e-16, order=24))
    errors = []
    for count in counts:
        solution = integrate(*pendulum, start, tend=END, tolerance=1e-14, order=order, fixed_step=END / count)
        assert len(solution.t) == count + 1
        errors.append(np.abs(state_of(solution) - exact).max())
    assert min(errors) > 1e-13
    assert slope(counts, errors) == pytest.approx(order, abs=0.3)


@pytest.mark.slow
def test_the_twin_converges_with_order_17_in_extended_precision(pendulum):
    """In 80-bit numbers truncation can be followed down to 1e-16, well above rounding, 1e-19."""
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("this machine has no extended precision")
    system, structure = pendulum
    start = whirling(10.0)  # at 20 rad/s rounding is met too soon
    plan = make_plan(system, structure.march_equation_offsets, structure.march_variable_offsets)

    def march(order, count):
        state = np.zeros((2, plan.size), dtype=np.longdouble)
        state[:, : system.n] = start.positions, start.velocities
        twin = Twin(plan, order, np.longdouble)
        twin.set_state(0, state)
        twin.march(np.longdouble(END) / count, count)
        return twin.x[:2, : system.n]

    exact = march(24, 30)
    counts = (8, 10, 12, 14, 16)
    errors = [np.abs(march(17, count) - exact).max() for count in counts]
    assert slope(counts, errors) == pytest.approx(17, abs=0.3)
