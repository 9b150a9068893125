"""What limits steps: vibrations and decays with known rates, and whose they are."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path

import pytest

import mechsim
from mechsim.cli.main import main
from mechsim.result.pace import Pace, pace

# A particle on a stiff spring beside a pendulum on a soft one.
TEXT = """
PhysicalParams: {k: 100, c: 0, friction: 0}
PartData:
  Fixed: {O: [], P: [5], Q: [9]}
  Springs: {OA: {k: k, l: 1, c: c}, PB: {k: 30, l: 1}}
  Particles: {A: 1, B: 4}
Joints: {Slots: {B-PQ: []}}
AppliedForces:
  Gravity: [0, -9.81]
  Friction: {B-PQ: {mu: friction, N: 10, v0: 1e-3}}
ProblemData: {tend: 1, positions: {A: [[1, fixed], [0, fixed]], B: [6]}}
"""
SPACE = """
Dimension: 3
PhysicalParams: {k: 1e6}
PartData:
  Fixed: {O: [], P: [0, 0, 1], E: [1]}
  Rigids: {OPA: {Geom: [[1], [0, 0.5]], Dyna: [[0, 0.2], 2, [0.3, 0.1, 0.3]]}}
AppliedForces: {Gravity: [0, -9.81], TorsionSprings: {OPA-OPE: [k, 0]}}
ProblemData: {tend: 1, angles: {OPA-OPE: [1e-3, fixed]}}
"""


def found(text: str, **parameters: float) -> Pace:
    motion = mechsim.simulate(text, parameters=parameters)
    assert motion.certificate is not None
    limit = pace(motion.solution, motion.certificate.steps)
    assert limit is not None
    return limit


def test_a_stiff_spring_is_named_with_its_period() -> None:
    limit = found(TEXT, k=1e6)
    assert limit.limit == "spring OA"
    assert abs(limit.rate.imag) == pytest.approx(1e3, rel=1e-3)
    assert limit.words == "limited by spring OA: a vibration with a period of 6.28 ms"


def test_a_strong_damper_is_named_with_its_time_constant() -> None:
    limit = found(TEXT, k=100, c=2000)
    assert limit.limit == "spring OA" and limit.rate.real == pytest.approx(-2000, rel=1e-3)
    assert limit.words == "limited by spring OA: a decay with a time constant of 500 us"


def test_friction_is_named_where_it_is_fastest() -> None:
    limit = found(TEXT, friction=0.9)
    assert limit.limit == "friction B-PQ"
    assert limit.rate.real == pytest.approx(-0.9 * 10 / 1e-3 / 4, rel=0.05)  # mu N / (v0 m) at rest


def test_a_driven_mechanism_is_limited_by_its_motion() -> None:
    """Nothing of it is free to vibrate."""
    path = Path(__file__).parent.parent / "specs" / "forces" / "four_bar_driven.yaml"
    assert found(path.read_text()).words.startswith("as long as the motion itself allows")


def test_a_top_is_limited_by_its_spin() -> None:
    limit = found((Path(__file__).parent.parent / "specs" / "space" / "gyroscope.yaml").read_text())
    assert limit.words == "limited by part OAB: a swing or turn with a period of 41.9 ms"


def test_a_torsion_spring_in_space_has_its_frequency() -> None:
    """About the axis the inertia is I_xx + m d^2."""
    limit = found(SPACE)
    assert limit.limit == "torsion spring OPA_OPE"
    assert abs(limit.rate) == pytest.approx(sqrt(1e6 / (0.3 + 2 * 0.04)), rel=1e-4)


def test_a_run_of_many_steps_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "stiff.yaml"
    path.write_text(TEXT.replace("k: 100,", "k: 1e8,"))
    shown = []
    for words in ([], ["--json"]):
        with pytest.raises(SystemExit) as left:
            main(["run", str(path), "-o", str(tmp_path / "out.csv"), *words])
        assert not left.value.code
        shown.append(capsys.readouterr().out)
    assert "limited by spring OA: a vibration with a period of 628 us" in shown[0]
    told = json.loads(shown[1])["pace"]
    assert told["limited_by"] == "spring OA" and abs(told["rate"]["imag"]) == pytest.approx(1e4, rel=1e-3)
