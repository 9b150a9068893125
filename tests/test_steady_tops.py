"""Steady motions of tops, discs and pendulums of the examples, against closed forms and independent equations."""

from __future__ import annotations

import csv
import json
import math

import jax
import numpy as np
import pytest
from click.testing import CliRunner
from jax import numpy as jnp
from reference import SPECS
from test_linearize import same_values

import mechsim
from mechsim.cli.main import cli
from mechsim.errors import SpecError

SPACE = SPECS / "space"
G = 9.81
EXACT = 1e-9  # states are found to 1e-12 of the size; eigenvalues of some tens are as exact
A, C, WEIGHT = 0.1 + 2 * 0.5**2, 0.15, 2 * G * 0.5  # of lagrange_top.yaml: inertia across and along its axis, m g l


def precessions(tilt: float, spin: float) -> tuple[float, float]:
    """Slow and fast, the roots of A cos(theta) W^2 - C w3 W + m g l = 0."""
    slow, fast = sorted(np.roots([A * math.cos(tilt), -C * spin, WEIGHT]).real)
    return float(slow), float(fast)


@pytest.mark.parametrize("which", [0, 1])
def test_both_precessions_of_a_top(which):
    """And how it nutates about each: w^2 = W^2 sin^2 + (C w3/A - 2 W cos)^2."""
    tilt, spin = 0.8, 40.0
    rate = precessions(tilt, spin)[which]
    found = mechsim.mechanism(SPACE / "lagrange_top.yaml").linearize(parameters={"spin": spin, "W": rate}, steady=True)
    nutation = math.sqrt((rate * math.sin(tilt)) ** 2 + (C * spin / A - 2 * rate * math.cos(tilt)) ** 2)
    own = sorted(found.eigenvalues, key=abs)[-2:]
    same_values(own, [1j * nutation, -1j * nutation], 1e-8)  # two others are zero, of other tilts and spins: double
    assert found.neighbours == 2 and found.stability == "stable"
    assert "all turns at" in found.steady


def test_a_top_that_precesses_at_another_rate_does_not_do_so_steadily():
    tilt, spin = 0.8, 40.0
    slow, fast = precessions(tilt, spin)
    handle = mechsim.mechanism(SPACE / "lagrange_top.yaml")
    with pytest.raises(SpecError, match="does not move steadily"):
        handle.linearize(parameters={"spin": spin, "W": (slow + fast) / 2}, steady=True)


@pytest.mark.parametrize("spin", [20.0, 32.0, 33.0, 45.0])
def test_sleeping_top(spin):
    """Upright it sleeps if C^2 w3^2 > 4 A m g l, w3 > 32.35/s here; else changes grow by the root of what is missing
    over 2 A."""
    words = {"theta0": 0.0, "W": 0.0, "spin": spin}
    found = mechsim.mechanism(SPACE / "lagrange_top.yaml").linearize(parameters=words, steady=True)
    left = 4 * A * WEIGHT - (C * spin) ** 2
    growth = math.sqrt(max(left, 0.0)) / (2 * A)
    assert max(found.eigenvalues.real) == pytest.approx(growth, abs=1e-7)  # above the limit some are double
    assert found.stability == ("unstable" if left > 0 else "stable")


@pytest.mark.parametrize("share", [0.999, 1.001, 3.0, 1e3])
def test_sleeping_top_is_stable_as_soon_as_its_modes_do_not_grow(share):
    """Above its critical spin energy is least as seen by some that turn with it, C w3/(2 A) among them, however near
    and however far above."""
    weight, axial, across, arm = 1.5 * G, 0.008, 0.02, 0.2
    critical = 2 * math.sqrt((across + 1.5 * arm**2) * weight * arm) / axial
    text = f"""
Dimension: 3
PartData:
  Fixed: {{O: []}}
  Rigids: {{OPQ: {{Geom: [[1],[0,1]], Dyna: [[{arm}], 1.5, [{axial}, {across}, {across}]]}}}}
AppliedForces: {{Gravity: [0, 0, -{G}]}}
ProblemData:
  tend: 1
  orientations: {{OPQ: {{euler: [zyx, 0, -pi/2, 0]}}}}
  spins: {{OPQ.OPQ: [{share * critical!r}, 0, 0]}}
"""
    found = mechsim.mechanism(text).steady_motions()[0]
    assert found.stability == ("unstable" if share < 1 else "stable")


def test_disc_on_a_circle_as_by_the_classical_equations():
    """Four numbers, tilt and spins, with an exact Jacobian; the file says them."""
    handle = mechsim.mechanism(SPACE / "rolling_disc_steady.yaml")
    r, m = 0.3, 2.0
    axial, across = m * r**2 / 2, m * r**2 / 4
    tilt, turn = 1.2, 1.5
    spin = (across * turn**2 * math.sin(tilt) * math.cos(tilt) - m * G * r * math.cos(tilt)) / (
        (axial + m * r**2) * turn * math.sin(tilt)
    )

    def flow(x):
        theta, w1, w2, w3 = x
        cot = jnp.cos(theta) / jnp.sin(theta)
        first = across * w2**2 * cot - (axial + m * r**2) * w2 * w3 - m * G * r * jnp.cos(theta)
        second = (axial * w1 * w3 - across * w1 * w2 * cot) / across
        return jnp.stack([w1, first / (across + m * r**2), second, m * r**2 * w1 * w2 / (axial + m * r**2)])

    with jax.enable_x64():
        at = jnp.array([tilt, 0.0, turn * math.sin(tilt), spin])
        np.testing.assert_allclose(flow(at), 0, atol=1e-12)
        expected = np.linalg.eigvals(np.asarray(jax.jacfwd(flow)(at)))
    found = handle.linearize(steady=True)
    largest = sorted(expected, key=abs)[-2:]
    same_values(sorted(found.eigenvalues, key=abs)[-2:], largest, 1e-8)
    assert (np.abs(sorted(found.eigenvalues, key=abs)[:-2]) < 1e-5).all()  # other circles: these are double


def test_conical_pendulum_of_a_file():
    """From beside the circle: that with the same angular momentum, and its swing about it."""
    handle = mechsim.mechanism(SPACE / "conical_pendulum.yaml")
    length, tilt = 1.2, 0.7
    own = handle.linearize(steady=True)
    swing = math.sqrt(G / length / math.cos(tilt) * (1 + 3 * math.cos(tilt) ** 2))
    same_values(sorted(own.eigenvalues, key=abs)[-2:], [1j * swing, -1j * swing], 1e-8)
    (found,) = handle.steady_motions(parameters={"w": 1.1 * math.sqrt(G / length / math.cos(tilt))})
    x, y, z = found.positions[:3]
    u, w, _ = found.velocities[:3]
    assert x * w - y * u == pytest.approx(
        1.1 * math.sqrt(G / length / math.cos(tilt)) * (length * math.sin(tilt)) ** 2, rel=1e-10
    )
    assert (x * w - y * u) ** 2 / (x * x + y * y) ** 2 == pytest.approx(G / -z, rel=1e-10)


@pytest.mark.slow
def test_rests_as_files_and_pictures(tmp_path):
    """The same numbers in all forms, and a picture of what they look like."""
    spec = str(SPECS / "double_pendulum.yaml")
    paths = {form: tmp_path / f"rests.{form}" for form in ("csv", "npz", "json")}
    for form, path in paths.items():
        words = ["equilibrium", spec, "-o", str(path)]
        words += ["--plot", str(tmp_path / "rests.png")] if form == "csv" else []
        assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    rows = list(csv.DictReader(paths["csv"].read_text().splitlines()))
    assert len(rows) == 4 and rows[0]["stability"] == "stable"
    table = np.array([[float(row[name]) for name in ("A_x", "A_y", "B_x", "B_y")] for row in rows])
    np.testing.assert_allclose(np.abs(table), [[0, 1, 0, 2], [0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 2]], atol=1e-9)
    told = json.loads(paths["json"].read_text())["rests"]
    assert [each["stability"] for each in told] == [row["stability"] for row in rows]
    with np.load(paths["npz"]) as arrays:
        places = [list(arrays["coordinates"]).index(name) for name in ("A_x", "A_y", "B_x", "B_y")]
        np.testing.assert_allclose(arrays["positions"][:, places], table, atol=1e-15)
    assert (tmp_path / "rests.png").stat().st_size > 20_000


def test_rolling_of_a_lagrangian_is_that_of_the_file():
    """The sleigh by its Lagrangian and a constraint of velocities, going steadily: one rate, -m a u/(J + m a^2)."""
    a, m, inertia, u = 0.3, 2.0, 0.4, 1.5
    system = mechsim.lagrangian_system(
        lambda q, v, t: (
            m * ((v[0] - a * v[2] * jnp.sin(q[2])) ** 2 + (v[1] + a * v[2] * jnp.cos(q[2])) ** 2) / 2
            + inertia * v[2] ** 2 / 2
        ),
        ["x", "y", "phi"],
        velocity_constraints=lambda q, v, t: [-v[0] * jnp.sin(q[2]) + v[1] * jnp.cos(q[2])],
    )
    found = system.linearize({"x": 0.0, "y": 0.0, "phi": 0.0}, {"x": u}, coordinates=["phi", "y", "x"])
    assert len(found.states) == 5
    # Of the moment's flow: phi'' = -m a u phi'/(J + m a^2) alone tells how it turns.
    row = found.A[found.states.index("phi_dot")]
    assert row[found.states.index("phi_dot")] == pytest.approx(-m * a * u / (inertia + m * a**2), abs=1e-12)
