"""How near is near, where starts replace the one that a file or a program gives: that one must not matter."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from reference.dynamics import followed

import mechsim

WELLS = """
PartData: {Fixed: {}, Particles: {W: 0.6}}
AppliedForces:
  Forces: {W: [-0.6*W.vx, -0.6*W.vy]}
  Potentials: {wells: (W.x**2 - 1)**2/4 + W.y**2}
ProblemData: {tend: 40, positions: {W: [[START, fixed], [START, fixed]]}}
"""
PENDULUM = mechsim.lagrangian_system(
    lambda q, v, t: v[0] ** 2 / 2 + jnp.cos(q[0]), ["phi"], forces=lambda q, v, t: [-0.5 * v[0]]
)


def _slope(t, y):
    x, up, vx, vy = y
    return [vx, vy, (-0.6 * vx - x * (x * x - 1)) / 0.6, (-0.6 * vy - 2 * up) / 0.6]


@pytest.mark.parametrize("start", ["1e-3", pytest.param("0.5", marks=pytest.mark.slow)])
def test_a_free_particle_settles_whatever_the_start_of_its_file_is(tmp_path, start):
    """Nothing but the start tells the scale of a particle without parts; to which well it comes SciPy knows."""
    path = tmp_path / "wells.yaml"
    path.write_text(WELLS.replace("START", start))
    across, up = np.linspace(-1.7, 1.8, 4), np.array([-1.0])
    found = mechsim.mechanism(path).basins({"W_x": across, "W_y": up})
    assert found.undecided == 0 and not found.notes
    assert found.settled.max() < 30  # decay is by exp(-t/2): 1e-3 of what motions span is reached after about 14 s
    for i, x in enumerate(across):
        end = followed(_slope, [x, up[0], 0.0, 0.0], [40.0], rtol=1e-9, atol=1e-10)[-1]
        assert found.attractors[found.labels[i, 0]].positions[0] == pytest.approx(end[0], abs=1e-3)


@pytest.mark.parametrize("start", [0.0, pytest.param(1e-9, marks=pytest.mark.slow)])
def test_a_start_at_rest_tells_no_size(start):
    """The rest had a size of 1e-99 once, and errors were judged by it: motions from elsewhere never ended."""
    found = PENDULUM.basins({"phi": [1.01, -1.01]}, {"phi": start}, tend=60.0)
    assert found.shares == pytest.approx([1.0]) and found.attractors[0].kind == "rest"
    section = PENDULUM.poincare({"phi": start}, section="phi", starts={"phi": [0.5, 1.0]}, points=2, tend=20.0)
    assert section.count == 2 and section["phi"] == pytest.approx(0.0, abs=1e-9)
