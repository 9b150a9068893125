"""Every row of a result obeys its constraints, as a distance and as a speed: steps and samples alike."""

import numpy as np
import pytest
from reference import SPECS

import mechsim

# End times that keep the long ones short; some hundred rows each.
ENDS = {
    "andrews": 0.03,
    "double_pendulum": 10.0,
    "four_bar": 5.0,
    "mechanism0": 1.0,
    "mechanism0_figure3": 10.0,
    "mechanism1a": 10.0,
    "mechanism1b": 10.0,
    "pendulum": 10.0,
}


def gradients(system, t, q):
    """|grad C_i| with coordinates in parts of their scale, one row per time."""
    found = np.zeros((len(t), system.m, system.n))
    for row, (time, position) in enumerate(zip(t, q, strict=True)):
        rows, columns, values = system.constraint_jacobian(time, position)
        np.add.at(found[row], (rows, columns), values * system.scales[columns])
    return np.linalg.norm(found, axis=2)


def test_every_spec_is_looked_at():
    assert sorted(ENDS) == sorted(path.stem for path in SPECS.glob("*.yaml"))


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("rows", ["steps", "samples"])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-14])
def test_constraints_hold_on_every_row(name, rows, tolerance):
    """|C| / |grad C| is a distance. Newton leaves rounding only, at a loose tolerance too."""
    motion = mechsim.simulate(SPECS / f"{name}.yaml", tend=ENDS[name], tol=tolerance)
    solution, system = motion.solution, motion.system
    t, q, v = solution.t, solution.q, solution.v
    peak = max(np.linalg.norm(v[:, slots], axis=1).max() for slots in system.mechanism.points.values() if slots[0] >= 0)
    if rows == "samples":
        t = np.linspace(t[0], t[-1], 101)
        q, v, _ = solution.sample(t)
    norms = gradients(system, t, q)
    distances = np.abs(system.constraints(t, q)) / norms
    speeds = np.abs(system.constraint_rate(t, q, v)) / norms * system.mechanism.size
    assert distances.max() <= 1e-13
    assert speeds.max() <= 1e-12 * peak
    certificate = motion.certificate if rows == "steps" else motion.sampled(t).certificate
    assert certificate.position_residual <= 1e-13
    assert certificate.velocity_residual <= 1e-12
