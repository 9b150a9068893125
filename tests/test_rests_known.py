"""Rests and modes with known answers: catenaries, loops, columns that buckle, what is damped; and what has none."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
import pytest
from jax import numpy as jnp
from scipy.optimize import brentq
from test_linearize import same_values

import mechsim
from mechsim.analysis.rest import Rest

G = 9.81


def chain(count: int, length: float, span: float) -> str:
    """Links between two points of one height; masses at their ends are those of a rope, a half at the last."""
    points = [f"P{k}" for k in range(1, count)]
    rods = ", ".join(f"{a}{b}: {length / count!r}" for a, b in zip(["A", *points], [*points, "B"], strict=True))
    places = ", ".join(
        f"{p}: [{span * k / count!r}, {-0.5 * math.sin(math.pi * k / count)!r}]" for k, p in enumerate(points, 1)
    )
    return f"""
PartData:
  Fixed: {{A: [], B: [{span!r}]}}
  Rods: {{{rods}}}
  Particles: {{{", ".join(f"{p}: {1 / count!r}" for p in points)}}}
AppliedForces: {{Gravity: [0, -{G}]}}
ProblemData: {{tend: 1, positions: {{{places}}}}}
"""


def test_chains_come_to_the_catenary():
    """y = a cosh(x/a) with 2 a sinh(span/(2 a)) = length: the sag of a chain is off by the square of its links."""
    length, span = 1.6, 1.0
    a = brentq(lambda a: 2 * a * math.sinh(span / (2 * a)) - length, 0.1, 5)
    sag = a * (math.cosh(span / (2 * a)) - 1)
    off = []
    for count in (6, 12):
        found = mechsim.mechanism(chain(count, length, span)).linearize(rest=True)
        lowest = found.positions[found.coordinates.index(f"P{count // 2}_y")]
        off.append(abs(-lowest - sag))
    assert off[1] < 0.003 and 3.5 < off[0] / off[1] < 4.5


@pytest.mark.parametrize(
    "load",
    [10.001, *(pytest.param(x, marks=pytest.mark.slow) for x in (9.0, 9.9, 9.999, 9.9999, 10.0001, 10.1, 12.0, 25.0))],
)
def test_a_sprung_column_buckles(load):
    """With k theta at its foot upright is stable below P l = k = 10; above it leans where k theta = P l sin(theta)."""
    handle = mechsim.mechanism(f"""
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[1]], Dyna: [[1], 1, 0.1]}}}}
AppliedForces: {{TorsionSprings: {{OA: [10, pi/2]}}, Forces: {{A: [0, -{load!r}]}}}}
ProblemData: {{tend: 1, positions: {{A: [0.1, 1]}}}}
""")
    found = handle.equilibria()
    place = found[0].linear.coordinates.index("theta_OA")
    leans = {round(rest.positions[place] - math.pi / 2, 7) + 0.0: rest for rest in found}
    assert len(leans) == len(found) and not any(rest.singular for rest in found)
    upright = leans[0.0]
    square = (load - 10) / 1.1  # of inertia about the foot
    same_values(upright.linear.eigenvalues, [np.sqrt(complex(square)), -np.sqrt(complex(square))], 1e-7)
    if load < 10:
        assert upright.stability == "stable" and set(leans) == {0.0}
        return
    angle = brentq(lambda x: 10 * x - load * math.sin(x), 1e-3, math.pi)
    assert upright.stability == "unstable"
    for side in (-1, 1):
        (rest,) = [each for lean, each in leans.items() if abs(lean - side * angle) < 1e-6]
        assert rest.stability == "stable"
        assert rest.positions[place] - math.pi / 2 == pytest.approx(side * angle, abs=1e-9)


@pytest.mark.parametrize(
    "load",
    [10.0001, *(pytest.param(x, marks=pytest.mark.slow) for x in (9.9, 9.9999, 10.000001, 10.001, 10.01, 10.1, 12.0))],
)
def test_rests_close_to_each_other_are_told_apart(load):
    """A column of one freedom at loads about its critical one, 10: where 10 x = P sin(x), upright stable below it and
    unstable above, and those that lean about sqrt(6 (P - 10)/P) aside. Forces are known to 1e-12 or so: poses too,
    divided by the stiffness."""
    found = sorted(column(load), key=lambda rest: rest.positions[0])
    lean = [brentq(lambda x: 10 * x - load * math.sin(x), 1e-6, 3, xtol=1e-15)] if load > 10 else []
    expected = [*(-x for x in lean), 0.0, *lean]
    np.testing.assert_allclose([rest.positions[0] for rest in found], expected, rtol=0, atol=1e-12 / abs(load - 10))
    assert [rest.stability for rest in found] == (["stable", "unstable", "stable"] if lean else ["stable"])
    assert not any(rest.singular for rest in found)


@pytest.mark.parametrize("load", [10.0, pytest.param(10 + 1e-12, marks=pytest.mark.slow)])
def test_one_rest_is_told_where_nobody_can_tell_whether_there_are_more(load):
    """At the critical load exactly linear terms do not decide; 1e-12 above it rests lie within 1e-6, closer than forces
    know."""
    (rest,) = column(load)
    assert rest.singular and rest.stability == "undecided" and abs(rest.positions[0]) < rest.within


def column(load: float) -> tuple[Rest, ...]:
    system = mechsim.lagrangian_system(
        lambda q, v, t, p: v[0] ** 2 / 2 - 5 * q[0] ** 2 - p.load * jnp.cos(q[0]), ["x"], parameters={"load": load}
    )
    return system.equilibria({"x": 0.1})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("roots", "told", "singular"),
    [
        ((-0.02, -0.01, 0.0, 0.01, 0.02), 5, ()),  # stiffnesses of 4e-8 and 6e-8, but forces are as small
        ((-1.0, 1 - 1e-5, 1 + 1e-5), 3, ()),  # about to vanish together
        ((-1.0, 1 - 1e-7, 1 + 1e-7), 2, (1.0,)),  # one of two that are nearer than forces of 1e-12 know
        ((0.5, 0.501, 0.502, -1.0, 2.0), 5, ()),
        ((-1.0, 1.0, 1.0), 2, (1.0,)),
    ],
)
def test_rests_of_a_force_of_known_zeros(roots, told, singular):
    """x'' = -(x - a)(x - b)...: a zero is a rest, stable where the force pulls back; none is neutral."""
    potential = np.polyint(np.poly(roots)).tolist()
    system = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2 - reduce(lambda total, factor: total * q[0] + factor, potential), ["x"]
    )
    found = sorted(system.equilibria({"x": 0.33}), key=lambda rest: rest.positions[0])
    assert len(found) == told and [rest.positions[0] for rest in found if rest.singular] == pytest.approx(
        singular, abs=3e-7
    )
    for rest in found:
        assert min(abs(rest.positions[0] - root) for root in roots) < max(1e-9, rest.within)
        assert not rest.neighbours
        if not rest.singular:
            pulls = np.polyval(np.polyder(np.poly(roots)), rest.positions[0]) > 0
            assert rest.stability == ("stable" if pulls else "unstable")


@pytest.mark.slow
def test_two_links_at_their_buckling_load_are_nearly_singular(tmp_path):
    """P = k (3 - sqrt(5))/2 of two links with springs k in both joints; before, no rest was found there."""
    from click.testing import CliRunner

    from mechsim.cli.main import cli

    text = """
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}, AB: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
AppliedForces: {TorsionSprings: {OA: [10, pi/2], AB-OA: [10, 0]}, Forces: {B: [0, -LOAD]}}
ProblemData: {tend: 1, positions: {A: [0.03, 1], B: [0.1, 2]}}
"""
    critical = 5 * (3 - math.sqrt(5))
    (rest,) = mechsim.mechanism(text.replace("LOAD", repr(critical))).equilibria()
    assert rest.singular and not rest.neighbours and rest.stability == "undecided"
    assert abs(rest.positions[rest.linear.coordinates.index("A_x")]) < rest.within
    found = mechsim.mechanism(text.replace("LOAD", repr(1.0001 * critical))).equilibria()
    assert sorted(rest.stability for rest in found) == ["stable", "stable", "unstable"]
    file = tmp_path / "column.yaml"
    file.write_text(text.replace("LOAD", repr(critical)))
    told = CliRunner().invoke(cli, ["equilibrium", str(file)])
    assert "rest 1 is nearly singular" in told.output


WELLS = """
PartData: {{Particles: {{P: 1}}}}
AppliedForces:
  Gravity: [0, 0]
  Potentials: {{wells: (P.x**2 - 1)**2 + (P.y**2 - 1)**2 - 0.2*P.x*P.y}}
ProblemData: {{tend: 1, positions: {{P: [{start}]}}}}
"""


@pytest.mark.parametrize("start", ["0.001, 0", "0, 0", "0.3, 0.2", "9, 7"])
def test_a_free_particle_has_its_rests_from_any_start(start):
    """Four wells, four saddles and a hill; its only size is where it starts, which may be far from all of them, or next
    to nothing."""
    found = mechsim.mechanism(WELLS.format(start=start)).equilibria()
    assert len(found) == 9
    assert sorted(rest.stability for rest in found) == ["stable"] * 4 + ["unstable"] * 5
    for rest in found:
        x, y = rest.positions
        assert abs(4 * x * (x**2 - 1) - 0.2 * y) + abs(4 * y * (y**2 - 1) - 0.2 * x) < 1e-12


def test_whole_turns_are_one_rest_unless_a_spring_feels_them():
    """A pendulum in its angle: down and up. Wound by a spring k phi, it rests where g sin phi = -k phi, five times for
    k = g/10: a turn on, another force acts."""

    def lagrangian(q, v, t, p):
        return 0.5 * v[0] ** 2 + p.g * jnp.cos(q[0]) - 0.5 * p.k * q[0] ** 2

    pendulum = mechsim.lagrangian_system(lagrangian, ["phi"], parameters={"g": 10.0, "k": 0.0})
    angles = [float(rest.positions[0]) for rest in pendulum.equilibria({"phi": 0.3})]
    assert np.abs(np.sort(np.abs(angles)) - [0, np.pi]).max() < 1e-12
    wound = sorted(float(rest.positions[0]) for rest in pendulum.equilibria({"phi": 0.3}, parameters={"k": 1.0}))
    one, other = (brentq(lambda phi: 10 * np.sin(phi) + phi, *sides, xtol=1e-14) for sides in ((3, 4), (5, 6)))
    assert len(wound) == 5 and np.abs(np.array(wound) - [-other, -one, 0, one, other]).max() < 1e-11


def test_damped_modes_in_points_and_in_angles():
    """A double pendulum with friction in the air and in its joints: the same four eigenvalues, two complex pairs."""
    text = f"""
PartData: {{Fixed: {{O: []}}, Rods: {{OA: 1, AB: 0.8}}, Particles: {{A: 1, B: 1.5}}}}
AppliedForces:
  Gravity: [0, -{G}]
  Forces: {{A: [-0.3*A.vx, -0.3*A.vy], B: [-0.4*B.vx, -0.4*B.vy]}}
ProblemData: {{tend: 1, positions: {{A: [0, -1], B: [0, -1.8]}}}}
"""
    system = mechsim.lagrangian_system(
        lambda q, v, t: (
            (2.5 * v[0] ** 2 + 1.5 * 0.64 * v[1] ** 2) / 2
            + 1.5 * 0.8 * v[0] * v[1] * jnp.cos(q[0] - q[1])
            + G * (2.5 * jnp.cos(q[0]) + 1.2 * jnp.cos(q[1]))
        ),
        ["a", "b"],
        forces=lambda q, v, t: [
            -0.7 * v[0] - 0.32 * v[1] * jnp.cos(q[0] - q[1]),
            -0.256 * v[1] - 0.32 * v[0] * jnp.cos(q[0] - q[1]),
        ],
    )
    found, own = mechsim.mechanism(text).linearize(), system.linearize({"a": 0.0, "b": 0.0})
    same_values(found.eigenvalues, own.eigenvalues, 1e-10)
    mass = np.array([[2.5, 1.2], [1.2, 0.96]])
    damping, stiffness = np.array([[0.7, 0.32], [0.32, 0.256]]), G * np.diag([2.5, 1.2])
    a = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(mass, stiffness), -np.linalg.solve(mass, damping)]])
    same_values(found.eigenvalues, np.linalg.eigvals(a), 1e-10)
    assert found.stability == "stable" and all(0 < mode.damping < 1 for mode in found.modes)


@pytest.mark.slow
def test_a_hanging_four_bar_in_both_closings():
    """Extremes of V on each branch, by a scan of the crank's angle: as many rests, stable where V is least."""
    text = """
PartData:
  Fixed: {O: [], P: [2, 0.3]}
  Rods: {OA: 0.6, AB: 2.1, PB: 1.3}
  Particles: {A: 1, B: 2}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0.6, 0], B: [2, SIDE]}}
"""

    def height(angle, side):
        a = 0.6 * np.array([np.cos(angle), np.sin(angle)])
        d = np.array([2, 0.3]) - a
        r = np.hypot(*d)
        along = (2.1**2 - 1.3**2 + r * r) / (2 * r)
        across = side * np.sqrt(2.1**2 - along**2)
        return a[1] + 2 * (a[1] + along * d[1] / r + across * d[0] / r)

    grid = np.linspace(0, 2 * math.pi, 20001)
    for side, guess in ((1, "1.5"), (-1, "-1")):
        energy = np.array([height(angle, side) for angle in grid[:-1]])
        before, after = np.roll(energy, 1), np.roll(energy, -1)
        lowest, highest = (
            int(np.sum(check)) for check in ((energy < before) & (energy < after), (energy > before) & (energy > after))
        )
        found = mechsim.mechanism(text.replace("SIDE", guess)).equilibria()
        kinds = [rest.stability for rest in found]
        assert (kinds.count("stable"), kinds.count("unstable")) == (lowest, highest)


# --- what has no rest, or none that is linear


@pytest.mark.parametrize(
    ("text", "asked", "words", "code"),
    [
        ("driven", ["equilibrium"], "the drive of theta_OA keeps moving", 3),
        ("driven", ["linearize", "--equilibrium"], "the drive of theta_OA keeps moving", 3),
        ("driven", ["linearize"], "nothing can move by itself", 2),
        ("falling", ["equilibrium"], "is something free to fall", 3),
        ("falling", ["linearize", "--equilibrium"], "no rest was found", 3),
        ("falling", ["equilibrium", "--steady"], "free to fall", 3),
        ("singular", ["linearize"], "singular position", 3),
        ("hanging", ["linearize", "--steady", "--at", "0.3"], "does not move steadily", 2),
        ("hanging", ["linearize", "--at", "nan"], "no time of the motion", 2),
        ("hanging", ["linearize", "--at", "-1"], "before the motion begins", 2),
        ("hanging", ["linearize", "--coordinates", "r="], "NAME=EXPR", 2),
        ("hanging", ["linearize", "--coordinates", "dist(O,A)"], "cannot move here", 2),
    ],
)
def test_what_cannot_be_is_told(text, asked, words, code, tmp_path, monkeypatch, capsys):
    from mechsim.cli.main import main

    rod = "PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: 1}}\nAppliedForces: {Gravity: [0, -9.81]}\n"
    start = "ProblemData: {tend: 1, positions: {A: [1, 0]}}\n"
    texts = {
        "hanging": rod + start,
        "driven": rod + "Drives: {theta_OA: 2*t}\n" + start,
        "falling": "PartData: {Rigids: {AB: {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}}}\nAppliedForces: {Gravity: [0, -9]}\n"
        "ProblemData: {tend: 1, positions: {A: [0, 0], B: [1, 0]}}\n",
        "singular": "PartData: {Fixed: {O: [], P: [2]}, Rods: {OA: 1, AB: 2, PB: 1}, Particles: {A: 1, B: 1}}\n"
        "ProblemData: {tend: 1, positions: {A: [1, 0], B: [3, 0]}}\n",
    }
    file = tmp_path / "it.yaml"
    file.write_text(texts[text])
    with pytest.raises(SystemExit) as ended:
        main([asked[0], str(file), *asked[1:]])
    assert ended.value.code == code
    assert words in capsys.readouterr().err
