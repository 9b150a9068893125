"""Constraints as one straight program, against the same operation by operation."""

import numpy as np
import pytest

from mechsim.kernel.geometry import Geometry
from mechsim.kernel.linear import dense, generic
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.spec import read

ROUNDING = 1e-13  # sums of a few terms of size 1, in another order


@pytest.mark.parametrize(
    "path", ["specs/andrews.yaml", "specs/design/five_bar.yaml", "specs/space/universal_joint.yaml"]
)
def test_values_and_derivatives_are_those_of_the_system(path):
    system = System(build(read(path)))
    geometry = Geometry(system, 0.3)
    q = generic(3 * system.n).reshape(3, -1) * system.scales[: system.n]
    weights = generic(3 * system.m).reshape(3, -1)
    values, slopes = geometry.slopes(q)
    bending = geometry.bending(q, weights)
    for k in range(3):
        assert np.abs(values[k] - system.constraints(0.3, q[k])).max() < ROUNDING
        expected = dense(system.constraint_jacobian(0.3, q[k]), system.m, system.n)
        assert np.abs(slopes[k] - expected).max() < ROUNDING * np.abs(expected).max()
        lower = dense(system.constraint_hessian(0.3, q[k], weights[k]), system.n, system.n)
        assert np.abs(bending[k] - (lower + np.tril(lower, -1).T)).max() < ROUNDING * max(1, np.abs(lower).max())
