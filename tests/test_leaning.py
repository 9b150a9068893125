"""Rests that lean on contacts, against statics by hand."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from reference import SPECS
from scipy.optimize import brentq, minimize

import mechsim
from mechsim import simulation
from mechsim.analysis.leaning import leaning_rest
from mechsim.cli.main import cli
from mechsim.errors import AssemblyError

EXACT = 1e-10  # of loads and places: one linear system each
G = 9.81

BALL = """
PhysicalParams: {r: 0.2, m: 2, a: 0.5, b: 0.9}
PartData: {Particles: {C: m}}
AppliedForces: {Gravity: [0, -9.81]}
Contacts:
  left: {gap: "C.x*sin(a) + C.y*cos(a) - r", e: 0.3}
  right: {gap: "-C.x*sin(b) + C.y*cos(b) - r", e: 0.3}
ProblemData: {tend: 1, positions: {C: [[0.1, fixed], [1, fixed]]}}
"""
LADDER = """
PhysicalParams: {l: 2, m: 10, k: 500}
PartData:
  Fixed: {O: [], X: [1], Y: [0, 1]}
  Rigids: {AB: {Geom: [[l]], Dyna: [[l/2], m, m*l**2/12]}}
  Springs: {OA: [k, 0.6]}
AppliedForces: {Gravity: [0, -9.81]}
Contacts: {A-OX: [0], B-YO: [0]}
ProblemData: {tend: 1, positions: {A: [[0.7, fixed], [0.02, fixed]], B: [[0.05, fixed], 1.8]}}
"""
ROUGH = """
PhysicalParams: {{l: 2, m: 10, mu: {mu!r}}}
PartData:
  Fixed: {{O: [], X: [1], Y: [0, 1]}}
  Rigids: {{AB: {{Geom: [[l]], Dyna: [[l/2], m, m*l**2/12]}}}}
AppliedForces: {{Gravity: [0, -9.81]}}
Contacts: {{A-OX: {{e: 0, mu: mu}}, B-YO: {{e: 0, mu: mu}}}}
ProblemData: {{tend: 1, positions: {{A: [[1, fixed], [0, fixed]], B: [[0, fixed], 1.8]}}}}
"""
CHAIN = """
PhysicalParams: {N: 8, l: 2/N, m: 1/N, d: 0.5}
Repeat: {i: 1..N, k: 1..N-1}
PartData:
  Fixed: {P0: [], "P{N}": [1.2, 0], F: [0, -d], G: [1, -d]}
  Rigids:
    P{i-1}P{i}: {Geom: [[l]], Dyna: {rod: , mass: m}}
AppliedForces: {Gravity: [0, -9.81]}
Contacts:
  P{k}-FG: [0]
ProblemData:
  tend: 1
  positions:
    P{k}: [1.2*k/N, -0.38*sin(pi*k/N)]
"""


def leaning(source):
    """The rest alone that it sinks to."""
    found = leaning_rest(simulation.prepare(mechsim.source.read(source)))
    assert found is None or found.leaning
    return found


def place(rest, name: str) -> float:
    return rest.positions[rest.linear.coordinates.index(name)]


def test_ball_between_two_walls():
    """By the law of sines; it is held, so nothing swings."""
    found = leaning(BALL)
    a, b = 0.5, 0.9
    assert found.loads["left"] == pytest.approx(2 * G * math.sin(b) / math.sin(a + b), rel=EXACT)
    assert found.loads["right"] == pytest.approx(2 * G * math.sin(a) / math.sin(a + b), rel=EXACT)
    assert found.stability == "stable" and len(found.linear.eigenvalues) == 0
    corner = np.linalg.solve([[math.sin(a), math.cos(a)], [-math.sin(b), math.cos(b)]], [0.2, 0.2])
    np.testing.assert_allclose([place(found, "C_x"), place(found, "C_y")], corner, atol=EXACT)


def test_ladder_on_a_smooth_floor_held_by_a_spring():
    """The wall pushes with m g cot(angle)/2, the floor with the weight, the spring as much as the wall."""
    handle, found = mechsim.mechanism(LADDER), leaning(LADDER)
    foot, top = place(found, "A_x"), place(found, "B_y")
    assert place(found, "B_x") == pytest.approx(0, abs=EXACT) and place(found, "A_y") == pytest.approx(0, abs=EXACT)
    wall = 10 * G * foot / top / 2
    assert found.loads["B-YO"] == pytest.approx(wall, rel=EXACT)
    assert found.loads["A-OX"] == pytest.approx(10 * G, rel=EXACT)
    assert 500 * (foot - 0.6) == pytest.approx(wall, rel=EXACT)
    assert found.stability == "stable"
    # What the foot feels in all: the floor's push and the spring's pull.
    np.testing.assert_allclose(handle.reactions_at(found, "A")["AB"], [-wall, 10 * G], rtol=1e-9)


@pytest.mark.parametrize("mu", [0.27, 0.26])
def test_rough_ladder(mu):
    """At 60 degrees it stays if mu >= tan(15 degrees) = 0.26795; else it slides, and rests elsewhere."""
    found = leaning(ROUGH.format(mu=mu))
    stays = abs(place(found, "A_x") - 1) < EXACT
    assert stays == (mu > math.tan(math.radians(15)))
    if stays:
        assert found.sticks and set(found.loads) == {"A-OX", "B-YO"}


@pytest.mark.parametrize("mu", [0.36, 0.37])
def test_on_a_slope(mu):
    """A particle stays where it is put if mu >= tan(slope)."""
    text = f"""
PhysicalParams: {{mu: {mu}, a: atan(0.365)}}
PartData: {{Fixed: {{O: [], S: [cos(a), sin(a)]}}, Particles: {{P: 1}}}}
AppliedForces: {{Gravity: [0, -9.81]}}
Contacts: {{P-OS: {{e: 0, mu: mu}}}}
ProblemData: {{tend: 1, positions: {{P: [[2, fixed], [2*tan(a), fixed]]}}}}
"""
    found = leaning(text)
    if mu < 0.365:
        assert found is None
        return
    assert place(found, "P_x") == pytest.approx(2, abs=EXACT)
    assert found.loads["P-OS"] == pytest.approx(G / math.sqrt(1 + 0.365**2), rel=EXACT)


def test_chain_that_lies_partly_on_the_floor():
    """Its potential is least among all chains above the floor: against an optimiser that knows only that."""
    found = leaning(CHAIN)
    n, length = 8, 0.25

    def points(x):
        inner = x.reshape(-1, 2)
        return np.vstack([[0, 0], inner, [1.2, 0]])

    def potential(x):
        y = points(x)[:, 1]
        return float((y[:-1] + y[1:]).sum()) / 2

    start = np.array([[1.2 * k / n, -0.45 * math.sin(math.pi * k / n)] for k in range(1, n)]).ravel()
    rules = [
        {"type": "eq", "fun": lambda x: (np.diff(points(x), axis=0) ** 2).sum(axis=1) - length**2},
        {"type": "ineq", "fun": lambda x: x.reshape(-1, 2)[:, 1] + 0.5},
    ]
    known = minimize(potential, start, constraints=rules, method="SLSQP", options={"ftol": 1e-15, "maxiter": 2000})
    own = np.array([[place(found, f"P{k}_x"), place(found, f"P{k}_y")] for k in range(1, n)])
    np.testing.assert_allclose(own, known.x.reshape(-1, 2), atol=1e-5)  # the optimiser's digits
    assert found.stability == "stable"
    # What lies in the middle bears its own weight, and the floor with both ends all of it.
    middle = [name for name in found.loads if name not in (min(found.loads), max(found.loads))]
    for name in middle:
        assert found.loads[name] == pytest.approx(G / n, rel=1e-9)
    ends = [
        mechsim.mechanism(CHAIN).reactions_at(found, point)[part][1] for point, part in (("P0", "P0P1"), ("P8", "P7P8"))
    ]
    assert sum(found.loads.values()) + sum(ends) == pytest.approx(G, rel=1e-9)


@pytest.mark.slow
def test_block_by_its_outline():
    found = leaning(SPECS / "contacts" / "housner_block.yaml")
    assert found.loads["AB-OQ"] == pytest.approx(G, rel=1e-9) and place(found, "theta_AB") == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_block_that_rocks_until_it_lies():
    found = leaning(SPECS / "contacts" / "rocking_block.yaml")
    assert found is not None and sum(found.loads.values()) > 0


def test_what_never_comes_to_rest_is_told():
    falls = """
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -9.81]}
Contacts: {wall: {gap: P.x, e: 0}}
ProblemData: {tend: 1, positions: {P: [[1, fixed], [1, fixed]]}}
"""
    with pytest.raises(mechsim.AssemblyError, match="no rest was found"):
        mechsim.mechanism(falls).equilibria()


@pytest.mark.slow
def test_command(tmp_path):
    spec, table = tmp_path / "ladder.yaml", tmp_path / "rests.csv"
    spec.write_text(LADDER, encoding="utf-8")
    words = ["equilibrium", str(spec), "--reactions", "A", "-o", str(table)]
    said = CliRunner().invoke(cli, words, catch_exceptions=False).stdout
    assert "contact A-OX" in said and "98.1" in said
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert float(rows[0]["contact_A_OX"]) == pytest.approx(98.1, rel=1e-9)
    assert float(rows[0]["A_AB_Fy"]) == pytest.approx(98.1, rel=1e-9)
    found = json.loads(CliRunner().invoke(cli, [*words[:2], "--json"], catch_exceptions=False).stdout)
    assert found["rests"][0]["loads"]["A-OX"] == pytest.approx(98.1, rel=1e-9)


FLOOR = """
PartData:
  Fixed: {O: [], X: [1], Y: [0, 0.5]}
  Particles: {P: 1}
  Springs: {YP: [20, 0.2]}
AppliedForces: {Gravity: [0, -9.81], Forces: {P: ["3*cos(t)", "-2*t"]}}
Contacts: {P-OX: {e: 0}}
ProblemData: {tend: 1, positions: {P: [0.3, 0.1]}}
"""


def test_forces_of_time_are_those_of_the_start_however_long_it_sinks():
    """On the floor the spring's pull sideways balances 3 N: 20 x (1 - 0.2/l) = 3 with l^2 = x^2 + 1/4."""

    def pull(x, height=0.5):
        length = math.hypot(x, height)
        return 20 * (1 - 0.2 / length) * np.array([x, height])

    x = brentq(lambda x: pull(x)[0] - 3, 0, 1, xtol=1e-15)
    rest = mechsim.mechanism(FLOOR).equilibria()[0]
    assert rest.linear.t == 0 and rest.positions[:2] == pytest.approx([x, 0], abs=EXACT)
    assert rest.loads["P-OX"] == pytest.approx(9.81 - pull(x)[1], rel=EXACT)


def test_what_leans_has_a_linear_motion_as_long_as_its_contacts_stay_closed():
    """The particle slides on the floor: its stiffness is the slope of the pull, 20 (1 - 0.2/l + 0.2 x^2/l^3)."""
    handle = mechsim.mechanism(FLOOR)
    rest, found = handle.equilibria()[0], handle.linearize(rest=True)
    x = rest.positions[0]
    length = math.hypot(x, 0.5)
    stiffness = 20 * (1 - 0.2 / length + 0.2 * x**2 / length**3)
    assert found.leaning == ("P-OX",) and found.stability == rest.stability == "stable"
    assert sorted(found.eigenvalues.imag) == pytest.approx([-math.sqrt(stiffness), math.sqrt(stiffness)], rel=1e-9)


def test_the_load_of_a_contact_that_gives_way_is_an_output():
    """N = k d^1.5 by depth d: dN/dy = -1.5 k sqrt(d)."""
    text = """
PartData: {Fixed: {F: [-1], G: [1]}, Particles: {P: 1}}
AppliedForces: {Gravity: [0, -9.81]}
Contacts: {P-FG: {stiffness: 1e5, damping: 0}}
ProblemData: {tend: 1, positions: {P: [0, 0.1]}}
"""
    found = mechsim.mechanism(text).linearize(rest=True, outputs=["contact_P_FG"])
    depth = (9.81 / 1e5) ** (2 / 3)
    place = found.states.index("P_y")
    assert found.C[0][place] == pytest.approx(-1.5e5 * math.sqrt(depth), rel=1e-9)


BOUNCING = """
PartData: {%s Particles: {P: 1}}
AppliedForces: {Gravity: [0, -9.81]}
Contacts: {%s}
ProblemData: {tend: 5, positions: {P: [[2, fixed], [2, fixed]]}}
"""


def test_what_bounces_for_ever_has_its_rest() -> None:
    """In what it sinks through nothing bounces."""
    (rest,) = mechsim.mechanism(BOUNCING % ("", "ground: {gap: P.y, e: 1}")).equilibria()
    assert rest.loads["ground"] == pytest.approx(9.81)


def test_what_slides_has_no_rest() -> None:
    """On a slope of one half that friction of 0.4 does not hold."""
    with pytest.raises(AssemblyError, match="no rest was found: it did not come to one when it sank"):
        mechsim.mechanism(BOUNCING % ("Fixed: {O: [], A: [10, 5]},", "P-OA: {e: 0, mu: 0.4}")).equilibria()
