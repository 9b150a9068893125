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
FORCES = sorted(f"forces/{path.stem}" for path in (SPECS / "forces").glob("*.yaml"))
ENDS |= {name: 0.2 if name == "forces/hanging_chain" else 2.0 for name in FORCES}
ENDS |= {f"space/{path.stem}": 1.0 for path in (SPECS / "space").glob("*.yaml")}
ENDS |= {f"{folder}/{path.stem}": 2.0 for folder in ("design", "dynamics") for path in (SPECS / folder).glob("*.yaml")}


def test_every_spec_is_looked_at():
    found = (path.relative_to(SPECS).with_suffix("").as_posix() for path in SPECS.rglob("*.yaml"))
    found = (
        name for name in found if not name.startswith("contacts/")
    )  # gaps hold only now and then: test_contacts.py
    assert sorted(ENDS) == sorted(found)


def misses(solution, t, q, v):
    """How far positions and velocities are off, as (times, constraints): a residual over the length of its gradient by
    scaled coordinates. Drives and tables make constants that change."""
    system = solution.system
    places, speeds = np.zeros((2, len(t), system.m))
    for row, time in enumerate(t):
        held = solution.system_at(time)
        norms = held.gradient_lengths(t[row], q[row], v[row])
        places[row] = held.constraints(t[row], q[row]) / norms
        speeds[row] = held.constraint_rate(t[row], q[row], v[row]) / norms
    return np.abs(places), np.abs(speeds) * system.mechanism.size


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("rows", ["steps", "samples"])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-14])
def test_constraints_hold_on_every_row(name, rows, tolerance):
    """|C| / |grad C| is a distance. Newton leaves rounding only, at a loose tolerance too."""
    motion = mechsim.simulate(SPECS / f"{name}.yaml", tend=ENDS[name], tol=tolerance)
    solution, points = motion.solution, motion.system.mechanism.points.values()
    t, q, v = solution.t, solution.q, solution.v
    moving = [[slot for slot in slots if slot >= 0] for slots in points]
    peak = max(np.linalg.norm(v[:, slots], axis=1).max() for slots in moving if slots)
    if rows == "samples":
        t = np.linspace(t[0], t[-1], 101)
        q, v, _ = solution.sample(t)
    distances, speeds = misses(solution, t, q, v)
    assert distances.max(initial=0.0) <= 1e-13
    assert speeds.max(initial=0.0) <= 1e-12 * peak
    certificate = motion.certificate if rows == "steps" else motion.sampled(t).certificate
    assert certificate.position_residual <= 1e-13
    assert certificate.velocity_residual <= 1e-12
