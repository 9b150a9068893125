"""Matrices, transfer functions and Bode plots: by textbooks, and as python-control reads them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from test_linearize import cart, closed_cart, same_values

import mechsim
from mechsim.cli.main import cli
from mechsim.errors import SpecError

W = np.array([0.1, 1.0, 7.0, 40.0])


@pytest.fixture(scope="module")
def found():
    return mechsim.mechanism(cart(up=True)).linearize(outputs=["A_x", "lean"])


def test_transfer_functions_are_those_of_the_textbook(found):
    """To the cart: (s^2 - g/l)/(M (s^4 + ...)); numerators as of its own matrices, by determinants."""
    a, _ = closed_cart(up=True)
    above, below = found.transfer("A_x", "push")
    np.testing.assert_allclose(below, np.poly(a), rtol=0, atol=1e-10)
    expected = [0, 0, 1 / 2, 0, -9.81 / 0.8 / 2]  # of the cart's push, M = 2, l = 0.8
    np.testing.assert_allclose(above, expected, rtol=0, atol=1e-11)
    answer = np.polyval(above, 1j * W) / np.polyval(below, 1j * W)
    np.testing.assert_allclose(answer, found.response(W)[:, 0, 0], rtol=1e-10)
    with pytest.raises(SpecError, match="there is no output A_y"):
        found.transfer("A_y", "push")
    with pytest.raises(SpecError, match="there is no input pull"):
        found.transfer("lean", "pull")


def test_direct_feedthrough():
    """A signal that has the input itself: D is not zero, and the numerator as long as the denominator."""
    text = (
        cart(up=False).replace("lean: ", "felt: '2*push - A.x', lean: ").replace("signals: [lean]", "signals: [felt]")
    )
    found = mechsim.mechanism(text).linearize()
    assert found.outputs == ("felt",) and pytest.approx(np.array([[2.0]]), abs=1e-12) == found.D
    above, below = found.transfer("felt", "push")
    assert above[0] == pytest.approx(2.0) and below[0] == 1.0


def test_python_control_reads_the_file(tmp_path: Path, found):
    control = pytest.importorskip("control")
    spec, path = tmp_path / "cart.yaml", tmp_path / "cart.npz"
    spec.write_text(cart(up=True))
    words = ["linearize", str(spec), "--outputs", "A_x,lean", "-o", str(path)]
    assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    with np.load(path) as file:
        names = {key: list(file[key]) for key in ("states", "inputs", "outputs")}
        plant = control.ss(file["A"], file["B"], file["C"], file["D"], **names)
    same_values(plant.poles(), found.eigenvalues, 1e-10)
    assert plant.input_labels == ["push"] and plant.output_labels == ["A_x", "lean"]
    for w, expected in zip(W, found.response(W), strict=True):
        np.testing.assert_allclose(plant(1j * w), expected[:, 0] if plant(1j * w).ndim == 1 else expected, rtol=1e-10)
    own = control.tf(*(part.tolist() for part in found.transfer("lean", "push")))
    for w, expected in zip(W, found.response(W), strict=True):
        assert own(1j * w) == pytest.approx(expected[1, 0], rel=1e-9)


def test_bode_plots_and_json(tmp_path: Path):
    spec, picture = tmp_path / "cart.yaml", tmp_path / "bode.png"
    spec.write_text(cart(up=False))
    words = ["linearize", str(spec), "--plot", str(picture), "--json"]
    told = json.loads(CliRunner().invoke(cli, words, catch_exceptions=False).stdout)
    assert picture.stat().st_size > 20_000
    (only,) = told["transfer"]
    assert (only["output"], only["input"]) == ("lean", "push")
    assert len(only["denominator"]) == 5 and only["denominator"][0] == 1.0
