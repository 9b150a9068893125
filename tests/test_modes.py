"""Modes as films and on a page, of files and of Lagrangians that say what to draw."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from jax import numpy as jnp
from reference import SPECS

import mechsim
from mechsim.analysis.modes import FARTHEST, PERIODS, ROWS
from mechsim.cli.main import cli
from mechsim.render.film import animate
from mechsim.render.options import Options
from mechsim.render.page.modes import write_modes

SPEC = SPECS / "double_pendulum.yaml"


def pendulums(draw: bool = True):
    """Two pendulums and a spring between them, by angles."""
    points = {
        "O": (0, 0),
        "P": (1, 0),
        "A": ("sin(a)", "-cos(a)"),
        "B": ("1 + sin(b)", "-cos(b)"),
    }
    return mechsim.lagrangian_system(
        lambda q, v, t: (v @ v) / 2 + 9.81 * (jnp.cos(q[0]) + jnp.cos(q[1])) - 2 * (jnp.sin(q[1]) - jnp.sin(q[0])) ** 2,
        ["a", "b"],
        draw={"points": points, "parts": ["OA", "PB"], "springs": ["AB"]} if draw else None,
        title="Two pendulums",
    )


def test_shapes_stay_on_the_constraints_and_rates_are_theirs():
    """Rods keep their lengths; a cubic between rows has what rows have, to the fourth power of their step."""
    handle = mechsim.mechanism(SPEC)
    found = handle.linearize(rest=True)
    for motion, mode in zip(handle.mode_motions(found), found.modes, strict=True):
        a, b = motion["A"], motion["B"]
        np.testing.assert_allclose(np.hypot(*a.T), 1, rtol=1e-12)
        np.testing.assert_allclose(np.hypot(*(b - a).T), 1, rtol=1e-12)
        assert motion.t[-1] == pytest.approx(PERIODS / mode.frequency) and len(motion) == PERIODS * ROWS + 1
        step, x, rate = motion.t[1], motion["B_x"], motion["B_x_dot"]
        middle = (x[:-2] + x[2:]) / 2 - step * (rate[2:] - rate[:-2]) / 4  # of a cubic over two steps
        np.testing.assert_allclose(middle, x[1:-1], rtol=0, atol=1e-5 * FARTHEST)


def test_modes_of_a_lagrangian_can_be_drawn(tmp_path):
    system = pendulums()
    found = system.linearize({"a": 0.0, "b": 0.0})
    slow, fast = system.mode_motions(found)
    np.testing.assert_allclose(slow["A"] - slow["B"], np.broadcast_to([-1, 0], (len(slow), 2)), atol=1e-12)  # in step
    np.testing.assert_allclose(fast["A_x"], 1 - fast["B_x"], atol=1e-12)  # against each other
    np.testing.assert_allclose(np.hypot(*fast["A"].T), 1, rtol=1e-12)
    fast.save(tmp_path / "fast.csv")
    again = mechsim.load(tmp_path / "fast.csv")
    animate(again, tmp_path / "fast.png", Options())
    assert (tmp_path / "fast.png").stat().st_size > 10_000
    write_modes((slow, fast), found.modes, tmp_path / "modes.html")
    assert "Two pendulums" in (tmp_path / "modes.html").read_text()


def test_a_lagrangian_without_a_drawing_has_tables_alone(tmp_path):
    system = pendulums(draw=False)
    motion = system.mode_motions(system.linearize({"a": 0.0, "b": 0.0}))[1]
    np.testing.assert_allclose(motion["a"], -motion["b"], atol=1e-12)
    with pytest.raises(mechsim.MechsimError, match="do not carry the mechanism"):
        animate(motion, tmp_path / "no.png", Options())


def test_command_writes_films_and_a_page(tmp_path):
    page, picture = tmp_path / "modes.html", tmp_path / "second.png"
    words = ["linearize", str(SPEC), "--equilibrium", "--motion", "2", str(picture), "--modes", str(page)]
    said = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert said.exit_code == 0 and picture.stat().st_size > 10_000
    data = json.loads(re.search(r'<script[^>]*id="sweep"[^>]*>(.*?)</script>', page.read_text(), re.S)[1])
    assert data["word"] == "Mode" and data["total"] == 2 and data["axes"][0]["values"] == [1, 2]
    assert [column["label"] for column in data["columns"]][:3] == ["mode", "frequency", "damping ratio"]
    assert "whatever its frequency is" in page.read_text()
    assert CliRunner().invoke(cli, [*words[:-1], str(tmp_path / "modes.mp4")]).exit_code != 0
