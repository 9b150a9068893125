"""Laws, nonholonomic rows, accounts, switches and samplers, on hand-made mechanisms with closed forms."""

import hashlib
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from reference import SPECS

from mechsim.engine import State, integrate
from mechsim.errors import Mark
from mechsim.kernel.system import System
from mechsim.lagrangian import formula
from mechsim.lagrangian.law import Law, kind_of
from mechsim.model.mechanism import Element, Mechanism, Sampler, Switch, Variable
from mechsim.spec.expression import parse_expression
from mechsim.structure import analyse

LETTERS = "xvapm"


def tree(text):
    """The formula that a text over local symbols says."""
    expression = parse_expression(text, Mark("law", 1, 1))
    leaves = {f"{letter}{k}": formula.Formula(letter, (k,)) for letter in LETTERS for k in range(5)}
    return formula.formula(expression.evaluate({**leaves, "t": formula.TIME}, formula.FUNCTIONS))


def written(variables, **formulas):
    """A law by texts."""

    def read(given):
        if isinstance(given, dict):
            return {variable: tree(text) for variable, text in given.items()}
        return tree(given) if isinstance(given, str) else tuple(map(tree, given))

    plain = {name: given for name, given in formulas.items() if isinstance(given, int)}
    return Law(variables, **plain, **{name: read(given) for name, given in formulas.items() if name not in plain})


def march(laws, variables, q, v, *, constants=(), tend=1.0, tol=1e-14, kinds=(), switches=(), samplers=(), t0=0.0):
    """Integrate elements (law, slots, parameters, multiplier labels) and (kind, slots, parameters) from t0."""
    elements = [Element(law.name, law.name, slots, dict(p), labels) for law, slots, p, labels in laws]
    elements += [Element(kind, kind, slots, dict(p)) for kind, slots, p in kinds]
    mechanism = Mechanism(
        title="law",
        dimension=2,
        variables=tuple(Variable(name, name, kind, 1.0) for name, kind in variables),
        constants=tuple(constants),
        elements=tuple(elements),
        points={},
        parts=(),
        size=1.0,
        laws={law.name: law for law, *_ in laws},
        switches=tuple(switches),
        samplers=tuple(samplers),
    )
    system = System(mechanism)
    start = State(t0, np.array(q, float), np.array(v, float))
    solution = integrate(system, analyse(system), start, tend=tend, tolerance=tol)
    assert solution.status == "finished", solution.message
    return solution


def test_a_law_is_keyed_by_what_it_says():
    """In every process alike, whatever Python's hashes are: programs are kept on disk under this name."""
    law = written(
        3, parameters=1, potential="-p0*x0**2/(x1 - 1)", forces={2: "m0 - a1*sin(t)", 0: "v0"}, states=("x2",)
    )
    said = "[3, 1, '-p0*x0**2.0/(x1+-1.0)', None, [(0, 'v0'), (2, 'm0-a1*sin(t)')], (), (), 0, ('x2',), False, ()]"
    assert law.text == said and law.name == f"law_{hashlib.sha256(said.encode()).hexdigest()[:20]}"
    names = "from mechsim.model import build; from mechsim.spec import read; print(*build(read({!r})).laws)"
    program = names.format(str(SPECS / "forces" / "driven_slider_crank.yaml"))
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in "12"
    ]
    assert runs[0] == runs[1] and runs[0].startswith(b"law_")


def test_a_law_and_its_kind_are_pickled():
    law = written(2, parameters=1, potential="p0*x0**2/2", forces={1: "exp(-x1)"}, account=True)
    again = pickle.loads(pickle.dumps(law))
    assert again == law and again.name == law.name
    assert pickle.loads(pickle.dumps(kind_of(law))) == kind_of(law)


PARTICLE = {"mass": 1.0, "g_x": 0.0, "g_y": 0.0}
PLANE = [("x", "position"), ("y", "position")]


def test_damped_oscillator_has_its_closed_form_and_the_account_closes():
    law = written(variables=3, parameters=2, potential="p0*x0**2/2", dissipation="p1*v0**2/2", account=True)
    solution = march(
        [(law, (0, 1, 2), {"p0": 4.0, "p1": 0.4}, ())],
        [*PLANE, ("work", "state")],
        [1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        kinds=[("particle", (0, 1), PARTICLE)],
        tend=5.0,
    )
    decay, omega = 0.2, np.sqrt(4.0 - 0.04)
    exact = np.exp(-decay * 5) * (np.cos(omega * 5) + decay / omega * np.sin(omega * 5))
    assert solution.q[-1, 0] == pytest.approx(exact, abs=1e-13)  # some roundings of a value near 1
    kinetic, potential = solution.system.energies(solution.t, solution.q, solution.v)
    balance = kinetic + potential - solution.q[:, 2]
    assert np.ptp(balance) < 1e-13 * 2.0


def test_skate_is_nonholonomic_and_keeps_its_energy():
    """A knife edge of unit mass and inertia 0.5 on a plane: speed and turn rate are constant, the path a circle."""
    law = written(variables=3, nonholonomic=("v0*sin(x2) - v1*cos(x2)",))
    inertia = written(variables=1, parameters=1, nonholonomic=(), forces={0: "-p0*a0"})
    solution = march(
        [(law, (0, 1, 2), {}, ("skate",)), (inertia, (2,), {"p0": 0.5}, ())],
        [*PLANE, ("theta", "angle")],
        [0.0, 0.0, 0.0],
        [2.0, 0.0, 1.0],
        kinds=[("particle", (0, 1), PARTICLE)],
        tend=3.0,
    )
    radius = 2.0
    assert solution.q[-1] == pytest.approx([radius * np.sin(3.0), radius * (1 - np.cos(3.0)), 3.0], abs=1e-13)
    speed = np.hypot(solution.v[:, 0], solution.v[:, 1])
    assert np.ptp(speed) < 1e-13
    sideways = solution.v[:, 0] * np.sin(solution.q[:, 2]) - solution.v[:, 1] * np.cos(solution.q[:, 2])
    assert abs(sideways).max() < 1e-15


def test_a_drive_at_position_level_tells_its_force_and_work():
    """x = sin(2t) prescribed on a unit mass: the multiplier is -force, the account is the kinetic energy gained."""
    law = written(variables=2, constraints=("x0 - sin(2*t)",), account=True)
    solution = march(
        [(law, (0, 2), {}, ("drive",))],
        [*PLANE, ("work", "state")],
        [0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0],
        kinds=[("particle", (0, 1), PARTICLE)],
        tend=2.0,
    )
    assert solution.q[-1, 0] == pytest.approx(np.sin(4.0), abs=1e-15)
    assert -solution.lam[-1, 0] == pytest.approx(-4 * np.sin(4.0), abs=1e-12)
    gained = (solution.v[:, 0] ** 2 - 4.0) / 2
    assert abs(solution.q[:, 2] - gained).max() < 1e-13


def test_a_drive_at_speed_level():
    law = written(variables=1, nonholonomic=("v0 - cos(t)",))
    solution = march(
        [(law, (0,), {}, ("drive",))],
        PLANE,
        [0.0, 0.0],
        [1.0, 0.0],
        kinds=[("particle", (0, 1), PARTICLE)],
        tend=2.0,
    )
    assert solution.q[-1, 0] == pytest.approx(np.sin(2.0), abs=1e-14)


def test_friction_that_depends_on_a_reaction_is_found_by_newton():
    """A block on y = 0, friction 0.3 |N| with N the floor's own multiplier: x'' = -0.3 g."""
    law = written(variables=2, constraints=("x1",), forces={0: "-0.3*sqrt(m0**2 + 1e-20)"})
    solution = march(
        [(law, (0, 1), {}, ("floor",))],
        PLANE,
        [0.0, 0.0],
        [3.0, 0.0],
        kinds=[("particle", (0, 1), {"mass": 2.0, "g_x": 0.0, "g_y": -10.0})],
        tend=0.5,
    )
    assert solution.q[-1, 0] == pytest.approx(3.0 * 0.5 - 0.3 * 10 * 0.5**2 / 2, abs=1e-14)


def test_own_states_integrate_a_signal():
    """PI control of a free mass: x'' = -3 s - 4 x - 3 x', s' = x: a linear system with its matrix exponential."""
    from scipy.linalg import expm

    law = written(variables=2, forces={0: "-3*x1 - 4*x0 - 3*v0"}, states=("x0",))
    solution = march(
        [(law, (0, 2), {}, ())],
        [*PLANE, ("s", "state")],
        [1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        kinds=[("particle", (0, 1), PARTICLE)],
        tend=2.0,
    )
    exact = expm(2.0 * np.array([[0, 1, 0], [-4, -3, -3], [1, 0, 0]])) @ [1.0, 0.0, 0.0]
    assert solution.q[-1, [0, 2]] == pytest.approx(exact[[0, 2]], abs=1e-13)


def test_the_march_steps_exactly_on_switches():
    """A force of +1 until t = 0.7, then -2: two parabolas; a method that stepped over the break would miss by far."""
    law = written(variables=2, forces={0: "x1"})
    solution = march(
        [(law, (0, -1), {}, ())],
        PLANE,
        [0.0, 0.0],
        [0.0, 0.0],
        constants=[1.0],
        kinds=[("particle", (0, 1), PARTICLE)],
        switches=[Switch(0.7, {0: -2.0})],
        tend=1.5,
    )
    assert 0.7 in solution.t
    assert len(np.unique(solution.t)) == len(solution.t)
    rest = 1.5 - 0.7
    assert solution.q[-1, 0] == pytest.approx(0.7**2 / 2 + 0.7 * rest - 2 * rest**2 / 2, abs=1e-15)


def test_a_sampled_controller_holds_its_value():
    """u = -x - v sampled every 0.1 and held: the exact sampled-data recursion of a double integrator."""
    law = written(variables=2, forces={0: "x1"}, signals=("-x0 - v0",))
    solution = march(
        [(law, (0, -1), {}, ())],
        PLANE,
        [1.0, 0.0],
        [0.0, 0.0],
        constants=[0.0],
        kinds=[("particle", (0, 1), PARTICLE)],
        samplers=[Sampler(element=0, start=0.0, period=0.1, constants=(0,))],
        tend=3.0,
    )
    x, v = 1.0, 0.0
    for _ in range(30):
        u = -x - v
        x, v = x + 0.1 * v + 0.005 * u, v + 0.1 * u
    assert solution.q[-1, 0] == pytest.approx(x, abs=1e-14)
    assert solution.v[-1, 0] == pytest.approx(v, abs=1e-14)


def test_samples_between_steps_know_the_constants_of_their_time():
    """x = t until 0.5, then 0.5 + 3 (t - 0.5): a drive by a table; dense output is projected on the drive as it was."""
    law = written(variables=4, constraints=("x0 - x1 - x2*(t - x3)",))
    switch = Switch(0.5, {0: 0.5, 1: 3.0, 2: 0.5})
    solution = march(
        [(law, (0, -1, -2, -3), {}, ("drive",))],
        PLANE,
        [0.0, 0.0],
        [1.0, 0.0],
        constants=[0.0, 1.0, 0.0],
        kinds=[("particle", (0, 1), PARTICLE)],
        switches=[switch],
        tend=1.0,
    )
    times = np.array([0.1, 0.8, 0.3, 0.9])
    q, v, _ = solution.sample(times)
    assert q[:, 0] == pytest.approx(np.where(times < 0.5, times, 0.5 + 3 * (times - 0.5)), abs=1e-15)
    assert v[:, 0] == pytest.approx(np.where(times < 0.5, 1.0, 3.0), abs=1e-14)
    assert abs(solution.system_at(times).constraints(times, q)).max() < 1e-15


def test_a_force_too_flat_to_be_seen_ahead_is_not_stepped_over():
    """tanh(20 v) is 1 to the last bit and beyond at v = 1: its series says that the mass slows down evenly for ever.

    v' = -tanh(v/s) has sinh(v/s) = sinh(v0/s) exp(-t/s).
    """
    law = written(variables=1, parameters=1, forces={0: "-tanh(v0/p0)"})
    solution = march(
        [(law, (0,), {"p0": 0.05}, ())],
        PLANE,
        [0.0, 0.0],
        [1.0, 0.0],
        kinds=[("particle", (0, 1), PARTICLE)],
        tend=1.5,
    )
    exact = 0.05 * np.arcsinh(np.sinh(20.0) * np.exp(-20 * solution.t))
    assert solution.v[:, 0] == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize("width", [0.3, 0.1, 0.02])
def test_a_pulse_too_far_to_be_seen_is_not_stepped_over(width):
    """A mass at rest, pushed by a Gaussian at t = 5 of which nothing is left at t = 0: it gains sqrt(pi) width."""
    law = written(variables=1, parameters=1, forces={0: "exp(-((t - 5)/p0)**2)"})
    solution = march(
        [(law, (0,), {"p0": width}, ())],
        PLANE,
        [0.0, 0.0],
        [0.0, 0.0],
        kinds=[("particle", (0, 1), PARTICLE)],
        tend=10.0,
    )
    assert solution.v[-1, 0] == pytest.approx(np.sqrt(np.pi) * width, abs=1e-13)
