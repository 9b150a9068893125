"""Derivatives of measures, and what tolerances make of them: against closed forms and an ODE of one's own in complex
numbers (a step of 1e-25 off the real axis, so no digits are lost), also across impacts; and bad input."""

from __future__ import annotations

import cmath
import json
import math
import re

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.integrate import solve_ivp

import mechsim
from mechsim.cli.main import cli, main
from mechsim.errors import MechsimError, SpecError
from mechsim.result.paths import OutputError
from tests.complex_events import STEP, Event, Mode, follow

# What is asked for. Steps are followed to 1e-14, so that derivatives of motions of a few seconds are left with 1e-11 or
# less, and those of DOP853 at 3e-14 likewise.
DIGITS = 1e-9

PENDULUM = """
Title: Damped pendulum
PhysicalParams: {l: 0.8, m: 1.3, g: 9.81, c: 0.4, begin: 0.9, spin: 0.5, s: 2}
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[l]], Dyna: [[l], m, 0]}}
AppliedForces:
  Gravity: [0, -g]
  Torques: {OA: -c*omega_OA}
ProblemData:
  tend: 2.3
  angles: {OA: [begin - pi/2, fixed]}
  velocities: {A: [[l*spin*cos(begin), fixed]]}
SolverParams: {Integration: {tol: 1e-14}}
"""
VALUES = {"l": 0.8, "m": 1.3, "g": 9.81, "c": 0.4, "begin": 0.9, "spin": 0.5, "tend": 2.3}


def rate(values):
    """The angle from the bottom, its rate, and the integral of A_x and of A_x squared."""
    l, m, g, c = (values[name] for name in ("l", "m", "g", "c"))

    def of(t, y):
        x = l * np.sin(y[0])
        return np.array([y[1], -g / l * np.sin(y[0]) - c / (m * l * l) * y[1], x, x * x])

    return of


def stopped(values, guard):
    """The state where a guard falls through zero for the first time, and that time."""
    modes = {"on": Mode(rate(values), [Event(guard, lambda t, y: y, "off")]), "off": Mode(lambda t, y: 0 * y)}
    return follow(modes, "on", [values["begin"], values["spin"], 0, 0], 2.3)


def ended(values, tend=None):
    """Its end, at a time that may be complex, as the rest of a time that is real."""
    tend = values["tend"] if tend is None else tend

    def of(t, y):
        return tend * rate(values)(t, y)

    return follow({"on": Mode(of)}, "on", [values["begin"], values["spin"], 0, 0], 1.0)[0]


def highest(values):
    """Where A_x is largest."""
    return values["l"] * np.sin(stopped(values, lambda t, y: y[1])[0][0])


MEASURES = {
    "final(A_x)": lambda p: p["l"] * np.sin(ended(p)[0]),
    "at(theta_OA, 1.1)": lambda p: ended(p, 1.1)[0] - np.pi / 2,
    "max(A_x)": highest,
    "time_of_max(A_x)": lambda p: stopped(p, lambda t, y: y[1])[1][0],
    "integral(A_x)": lambda p: ended(p)[2],
    "mean(A_x)": lambda p: ended(p)[2] / p["tend"],
    "rms(A_x)": lambda p: np.sqrt(ended(p)[3] / p["tend"]),
    "first(-A_x)": lambda p: stopped(p, lambda t, y: np.sin(y[0]))[1][0],
    "max(A_x)**2/l + tend*g": lambda p: highest(p) ** 2 / p["l"] + p["tend"] * p["g"],
    "at(A_x, tend/2)": lambda p: p["l"] * np.sin(ended(p, p["tend"] / 2)[0]),
    "start(A_x)": lambda p: p["l"] * np.sin(p["begin"]),
}


def slopes(function, values):
    """(value, derivatives) of a function of complex parameters."""
    found = [function({**values, name: value + 1j * STEP}) for name, value in values.items()]
    return found[0].real, np.array([each.imag / STEP for each in found])


@pytest.fixture(scope="module")
def pendulum():
    return mechsim.mechanism(PENDULUM).sensitivity(list(MEASURES), list(VALUES))


@pytest.mark.parametrize("measure", MEASURES)
def test_measures_have_the_derivatives_of_an_ode_in_complex_numbers(pendulum, measure):
    value, expected = slopes(MEASURES[measure], VALUES)
    place = pendulum.labels.index(measure)
    assert pendulum.values[place] == pytest.approx(value, abs=1e-11)
    np.testing.assert_allclose(pendulum.derivatives[place], expected, rtol=DIGITS, atol=DIGITS)


def test_a_start_is_differentiated_by_its_coordinates_too(pendulum):
    """By the angle at the start as by the parameter that sets it."""
    spun = PENDULUM.replace("velocities: {A: [[l*spin*cos(begin), fixed]]}", "rates: {OA: [spin, fixed]}")
    found = mechsim.mechanism(spun).sensitivity(["final(A_x)"], ["theta_OA", "theta_OA_dot"])
    for name, parameter in (("theta_OA", "begin"), ("theta_OA_dot", "spin")):
        expected = pendulum.derivative("final(A_x)", parameter)
        assert found.derivative("final(A_x)", name) == pytest.approx(expected, abs=DIGITS)


@pytest.mark.parametrize("more", ["", ", [0.4, 0.3]"], ids=["plain", "with a point more"])
def test_what_is_fixed_stays_so_whatever_points_there_are(more):
    """The derivative by a coordinate that is fixed is that by the parameter that gives it, by rates too, in the order
    that is asked for; a point without mass changes nothing."""
    text = f"""
PhysicalParams: {{a: 0.3, b: -0.5, w: 2}}
PartData:
  Fixed: {{O: []}}
  Rigids:
    OA: {{Geom: [[0.8]], Dyna: [[0.4, 0.1], 1.5, 0.1]}}
    AB: {{Geom: [[1.1]{more}], Dyna: [[0.6], 2.1, 0.2]}}
AppliedForces: {{Gravity: [0, -9.81]}}
ProblemData: {{tend: 0.4, angles: {{OA: [a, fixed], AB: [b, fixed]}}, rates: {{OA: [0, fixed], AB: [w, fixed]}}}}
"""
    text = text.replace("AB: {Geom", "ABC: {Geom").replace("AB: [", "ABC: [") if more else text
    part = "ABC" if more else "AB"
    by = ["b", f"theta_{part}", "tend", f"theta_{part}_dot", "w", "theta_OA", "a"]
    found = mechsim.mechanism(text).sensitivity(["final(theta_OA)", "final(B_x)"], by)
    assert found.by == tuple(by)
    columns = dict(zip(by, found.derivatives.T, strict=True))
    for own, parameter in ((f"theta_{part}", "b"), (f"theta_{part}_dot", "w"), ("theta_OA", "a")):
        np.testing.assert_allclose(columns[own], columns[parameter], rtol=1e-11)


def test_guesses_follow_a_coordinate_to_what_is_nearest_to_them_again():
    """A guess that is far off: the constraints bend, which a least change of the start would not know of."""
    text = """
PhysicalParams: {a: 0.7}
PartData:
  Fixed: {O: []}
  Rigids:
    OA: {Geom: [[0.8]], Dyna: [[0.4, 0.1], 1.5, 0.1]}
    AB: {Geom: [[1.1]], Dyna: [[0.6], 2.1, 0.2]}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 0.2, angles: {OA: [a, fixed]}, positions: {B: [2.5, 1.5]}}
"""
    found = mechsim.mechanism(text).sensitivity("final(B_x)", ["a", "theta_OA"])
    assert found.derivatives[0, 1] == pytest.approx(found.derivatives[0, 0], rel=1e-9)
    assert abs(found.derivatives[0, 0]) > 0.01


def test_a_lagrangian_s_fixed_coordinates_stay_too():
    system = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2 + (v[1] + v[0]) ** 2 - (q[0] * q[1]) ** 2, ["x", "y"]
    )
    motion = system.simulate({"x": 1.0, "y": 0.5}, tend=0.5, fixed=["x", "y"], tangents=["x"])
    assert motion.derivative("x", 0.0)["y"] == pytest.approx(0, abs=1e-14)
    assert motion.derivative("x", 0.0)["x"] == 1


def test_a_coordinate_that_fixed_ones_decide_is_refused():
    with pytest.raises(SpecError, match="decide theta_OA_dot at the start, with what is fixed") as caught:
        mechsim.mechanism(PENDULUM).sensitivity("final(A_x)", ["theta_OA_dot"])
    assert "fixed are theta_OA, A_x_dot" in str(caught.value)


def test_a_quarter_of_a_period_has_the_derivatives_of_an_elliptic_integral():
    """sqrt(l/g) K(sin(begin/2)), by the arithmetic-geometric mean in complex numbers."""

    def quarter(values):
        a, b = 1.0 + 0j, cmath.cos(values["begin"] / 2)
        for _ in range(8):
            a, b = (a + b) / 2, cmath.sqrt(a * b)
        return cmath.sqrt(values["l"] / values["g"]) * math.pi / (2 * a)

    values = {"l": 0.8, "g": 9.81, "begin": 0.9}
    handle = mechsim.mechanism(PENDULUM, {"c": 0, "spin": 0})
    found = handle.sensitivity("first(-A_x)", list(values))
    value, expected = slopes(quarter, values)
    assert found.values[0] == pytest.approx(value, abs=1e-13)
    np.testing.assert_allclose(found.derivatives[0], expected, rtol=1e-10)


def test_curves_are_derivatives_at_all_times(pendulum):
    found = mechsim.mechanism(PENDULUM).sensitivity(curves=["A_x", "omega_OA"], by=["l", "begin", "c"])
    assert found.times[0] == 0 and found.times[-1] == 2.3
    places = np.linspace(0, len(found.times) - 1, 5).astype(int)[1:]
    for name in found.by:
        for place in places:
            values = {**VALUES, name: VALUES[name] + 1j * STEP}
            end = ended(values, found.times[place])
            expected = (values["l"] * np.sin(end[0])).imag / STEP, end[1].imag / STEP
            here = found.curve("A_x", name)[place], found.curve("omega_OA", name)[place]
            assert here == pytest.approx(expected, abs=DIGITS)


# --- impacts

HOPPER = """
PhysicalParams: {m: 1.2, k: 9, c: 0.3, g: 9.81, e: 0.7, h: 1.1}
PartData: {Particles: {P: m}}
AppliedForces:
  Gravity: [0, -g]
  Forces: {P: [0, -k*P.y - c*P.vy]}
Contacts: {floor: {gap: P.y + 0.2, e: e}}
ProblemData: {tend: 2.2, positions: {P: [[0, fixed], [h, fixed]]}}
SolverParams: {Integration: {tol: 1e-14}}
"""


def hopped(values, tend):
    """Height, speed, integral of the height, and the times of impacts."""

    def of(t, y):
        pull = values["k"] * y[0] + values["c"] * y[1]
        return np.array([y[1], -values["g"] - pull / values["m"], y[0]])

    def back(t, y):
        return np.array([y[0], -values["e"] * y[1], y[2]])

    modes = {"on": Mode(of, [Event(lambda t, y: y[0] + 0.2, back, "on")])}
    return follow(modes, "on", [values["h"], 0, 0], tend)


def falling(values):
    """The speed at which it strikes for the first time."""
    first = hopped(values, 1.0)[1][0]

    def of(t, y):
        pull = values["k"] * y[0] + values["c"] * y[1]
        return first * np.array([y[1], -values["g"] - pull / values["m"]])

    return follow({"on": Mode(of)}, "on", [values["h"], 0], 1.0)[0][1]


HOPS = {
    "final(P_y)": lambda p: hopped(p, 2.2)[0][0],
    "at(P_y, 1.1)": lambda p: hopped(p, 1.1)[0][0],
    "at(P_y_dot, 1.6)": lambda p: hopped(p, 1.6)[0][1],
    "integral(P_y)": lambda p: hopped(p, 2.2)[0][2],
    "integral(P_y_dot)": lambda p: hopped(p, 2.2)[0][0] - p["h"],  # of what jumps, at times that move
    "min(P_y_dot)": lambda p: falling(p),  # just before the first impact
    "first_event(contact_floor)": lambda p: hopped(p, 2.2)[1][0],
    "last_event(contact_floor)": lambda p: hopped(p, 2.2)[1][-1],
}


def test_derivatives_go_on_across_impacts():
    values = {"m": 1.2, "k": 9, "c": 0.3, "g": 9.81, "e": 0.7, "h": 1.1}
    assert len(hopped(values, 2.2)[1]) >= 3
    found = mechsim.mechanism(HOPPER).sensitivity(list(HOPS), list(values))
    for place, function in enumerate(HOPS.values()):
        value, expected = slopes(function, values)
        assert found.values[place] == pytest.approx(value, abs=1e-11)
        np.testing.assert_allclose(found.derivatives[place], expected, rtol=DIGITS, atol=DIGITS)


# --- tolerances

LENGTHS = {"a": 0.35, "b": 1.1, "c": 0.85, "d": 1.05, "px": 0.5, "py": 0.35}


def coupler(values, t):
    """The point P of the linkage in specs/design/four_bar_points.yaml: B is where two circles meet."""
    a, b, c, d, px, py = (values[name] for name in LENGTHS)
    A = a * cmath.cos(0.5 + 2 * math.pi * t), a * cmath.sin(0.5 + 2 * math.pi * t)
    across = d - A[0], -A[1]
    apart = cmath.sqrt(across[0] ** 2 + across[1] ** 2)
    along = (b * b - c * c + apart**2) / (2 * apart)
    up = cmath.sqrt(b * b - along**2)
    u = across[0] / apart, across[1] / apart
    B = A[0] + along * u[0] - up * u[1], A[1] + along * u[1] + up * u[0]
    w = (B[0] - A[0]) / b, (B[1] - A[1]) / b
    return A[0] + px * w[0] - py * w[1], A[1] + px * w[1] + py * w[0]


@pytest.fixture(scope="module")
def linkage():
    return mechsim.mechanism("specs/design/four_bar_points.yaml")


def test_tolerances_of_a_four_bar_are_those_of_its_triangles(linkage):
    sizes = {"a": 1e-4, "b": 2e-4, "c": 1e-4, "d": "0.02%", "px": 3e-4, "py": 1e-4}
    numbers = {**sizes, "d": 0.0002 * LENGTHS["d"]}
    found = linkage.sensitivity(["at(P_x, 0.37)", "at(P_y, 0.8)"], tolerances=sizes, tend=1)
    budget = found.budget
    for place, (axis, t) in enumerate(((0, 0.37), (1, 0.8))):
        value, expected = slopes(lambda p, axis=axis, t=t: coupler(p, t)[axis], LENGTHS)
        assert found.values[place] == pytest.approx(value, abs=1e-12)
        np.testing.assert_allclose(found.derivatives[place], expected, rtol=DIGITS, atol=DIGITS)
        parts = np.abs(expected) * np.array(list(numbers.values()))
        assert budget.worst[place] == pytest.approx(parts.sum(), rel=DIGITS)
        assert budget.likely[place] == pytest.approx(math.hypot(*parts), rel=DIGITS)
        assert budget.ranked(place) == np.argsort(-parts).tolist()
        # The corners are motions of their own: where all lengths are off as badly as they may be.
        for side, sign in enumerate((-1, 1)):
            off = {k: LENGTHS[k] + sign * np.sign(expected[i]) * numbers[k] for i, k in enumerate(LENGTHS)}
            assert budget.corners[place, side] == pytest.approx(coupler(off, t)[axis].real, abs=1e-11)
    assert not found.notes and budget.shares.sum(axis=1) == pytest.approx(1)


def test_tolerances_within_which_a_measure_bends_are_told(linkage):
    found = linkage.sensitivity("at(P_y, 0.8)", tolerances={"c": 0.25, "a": 0.1})
    assert any("bent within the tolerances" in note for note in found.notes)
    found = linkage.sensitivity("at(P_y, 0.8)", tolerances={"c": 0.8})
    assert any("there is no such motion" in note for note in found.notes)


def test_a_file_has_tolerances_of_its_own():
    text = PENDULUM + "Tolerances: {l: 0.001, g: 1%}\n"
    found = mechsim.mechanism(text).sensitivity("final(A_x)")
    assert found.by == ("l", "g") and found.budget.tolerances.tolist() == pytest.approx([0.001, 0.0981])


# --- Lagrangians


def test_a_lagrangian_has_the_same(pendulum):
    from jax import numpy as jnp

    system = mechsim.lagrangian_system(
        lambda q, v, t, p: p.m * p.l**2 * v[0] ** 2 / 2 + p.m * p.g * p.l * jnp.cos(q[0]),
        ["angle"],
        forces=lambda q, v, t, p: [-p.c * v[0]],
        parameters={name: VALUES[name] for name in ("l", "m", "g", "c")},
    )
    measures = {"final(l*sin(angle))": "final(A_x)", "max(l*sin(angle))": "max(A_x)", "first(-angle)": "first(-A_x)"}
    by = {"l": "l", "m": "m", "g": "g", "c": "c", "angle": "begin", "angle_dot": "spin", "tend": "tend"}
    found = system.sensitivity(
        {"angle": 0.9}, {"angle": 0.5}, tend=2.3, tol=1e-14, measures=list(measures), by=list(by)
    )
    for measure, other in measures.items():
        for name, same in by.items():
            expected = pendulum.derivative(other, same)
            assert found.derivative(measure, name) == pytest.approx(expected, abs=DIGITS), (measure, name)


# --- what should be known


def test_what_nothing_changes_with_is_told():
    found = mechsim.mechanism(PENDULUM).sensitivity("max(A_x)", ["l", "s"])
    assert found.notes == ("nothing here changes with s",)


def test_peaks_of_one_height_are_told():
    """Without damping every swing is as high as the last."""
    handle = mechsim.mechanism(PENDULUM, {"c": 0, "spin": 0})
    found = handle.sensitivity("max(A_x)", ["l", "begin"], tend=6)
    assert found.derivative("max(A_x)", "begin") == pytest.approx(0.8 * math.cos(0.9), rel=1e-9)


def test_what_cannot_be_differentiated_is_left_out_of_all_and_told():
    found = mechsim.mechanism("specs/contacts/geneva.yaml").sensitivity("final(T)", tend=0.1)
    assert len(found.by) > 1 and any("is not known" in note for note in found.notes)
    with pytest.raises(SpecError, match="is not known"):
        mechsim.mechanism("specs/contacts/geneva.yaml").sensitivity("final(T)", [*found.by, "q"], tend=0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measures": "max(A_z)"}, r"A_z"),
        ({"measures": "A_x"}, "A_x"),
        ({"by": "length"}, "length"),
        ({"measures": "max(A_x)", "tolerances": {"L": 1}}, "there is no parameter L that could have a tolerance"),
        ({"measures": "max(A_x)", "tolerances": {"l": -1}}, "must be above 0"),
        ({"measures": "max(A_x)", "tolerances": {"l": "a lot"}}, "a lot"),
        ({"measures": "first(A_x - 5)"}, "first"),
        ({"measures": "at(A_x, 7)"}, "7"),
        ({"measures": "max(A_x)", "tend": -1}, "tend"),
        ({"curves": "max(A_x)"}, "max"),
        ({"measures": 5}, "a measure must be text, not 5"),
        ({"measures": "max(A_x)", "by": [5]}, "must be text, not 5"),
        ({"measures": "max(A_x)", "tolerances": {5: 1}}, "must be text, not 5"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, message):
    with pytest.raises(MechsimError, match=message) as caught:
        mechsim.mechanism(PENDULUM).sensitivity(**arguments)
    assert all(fault.message for fault in caught.value.faults)


# --- the command


def run(*words):
    found = CliRunner().invoke(cli, ["sensitivity", *map(str, words)], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found


@pytest.fixture
def fails(capfd):
    def refused(*words):
        with pytest.raises(SystemExit) as left:
            main(["sensitivity", *map(str, words)])
        return left.value.code, capfd.readouterr().err

    return refused


def test_the_command_prints_a_table_json_and_files(tmp_path):
    spec = tmp_path / "pendulum.yaml"
    spec.write_text(PENDULUM)
    found = run(spec, "--measure", "max(A_x)", "--by", "l,g", "--tolerance", "l=0.001,g=1%")
    assert "max(A_x) / m" in found.output and "root sum square" in found.output and "at worst" in found.output
    told = json.loads(run(spec, "--measure", "max(A_x)", "--by", "l,g", "--json").stdout)
    assert set(told["measures"][0]["derivatives"]) == {"l", "g"}
    curves, arrays, picture = (tmp_path / name for name in ("curves.csv", "all.npz", "bars.png"))
    found = run(spec, "--curve", "A_x", "--by", "l", "-o", curves, "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    titles, *rows = [line for line in curves.read_text().splitlines() if not line.startswith("#")]
    assert titles == "t,A_x,d(A_x)/d(l)" and float(rows[-1].split(",")[0]) == 2.3
    run(spec, "--measure", "max(A_x)", "--by", "l", "-o", arrays)
    with np.load(arrays) as file:
        assert file["derivatives"].shape == (1, 1) and file["by"].tolist() == ["l"]


def test_the_command_refuses_in_words(fails, tmp_path):
    spec = tmp_path / "pendulum.yaml"
    spec.write_text(PENDULUM)
    for words, code, message in (
        (("--by", "lenght"), 2, "lenght"),
        (("--tolerance", "l"), 2, "NAME=TOL"),
        (("--tolerance", "l=1,l=2"), 2, "two tolerances"),
        (("-o", "out.txt"), 2, "the ending '.txt' is not known"),
        (("-o", tmp_path / "nowhere" / "x.csv"), 2, "nowhere"),
        (("-o", tmp_path), 2, "a name without ending"),
        (("--tend", "0"), 2, "tend"),
    ):
        found = fails(spec, *words)
        assert found[0] == code and message in found[1], (words, found)
        assert not re.search(r"unexpected|bug of mechsim|Traceback", found[1])


def test_files_that_cannot_be_written_are_told(pendulum, tmp_path):
    with pytest.raises(OutputError, match="is not known"):
        pendulum.save(tmp_path / "out.txt")
    with pytest.raises(OutputError):
        pendulum.save(tmp_path / "nowhere" / "out.csv")


@pytest.mark.parametrize("tend", [0.9, 1.1, 1.2, 1.6, 2.0, 2.3, 3.3])
def test_corners_of_what_is_integrated_have_no_slope_and_need_none(tend):
    """A pendulum's |x| has a corner wherever it passes the middle; by an ODE in the angle and its tangent, short
    steps."""
    pendulum = """
PhysicalParams: {l: 0.8, g: 9.81}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[l]], Dyna: [[l/2], 1, l**2/12]}}}
AppliedForces: {Gravity: [0, -g]}
ProblemData: {tend: TEND, angles: {OA: [-0.7, fixed]}}
""".replace("TEND", repr(tend))

    def rates(t, state):
        angle, speed, angle_l, speed_l, _, _ = state
        factor = -1.5 * 9.81 / 0.8
        bend = -factor * math.sin(angle) * angle_l - factor / 0.8 * math.cos(angle)
        x, x_l = 0.8 * math.cos(angle), math.cos(angle) - 0.8 * math.sin(angle) * angle_l
        return [speed, factor * math.cos(angle), speed_l, bend, abs(x), math.copysign(1.0, x) * x_l]

    steps = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12, "max_step": 5e-4}  # a corner costs the square of a step
    state = solve_ivp(rates, (0, tend), [-0.7, 0, 0, 0, 0, 0], **steps).y[:, -1]
    found = mechsim.mechanism(pendulum).sensitivity("integral(abs(A_x))", by=["l"], tol=1e-12)
    assert found.values[0] == pytest.approx(state[4], abs=2e-6)
    assert found.derivatives[0, 0] == pytest.approx(state[5], abs=5e-6)


def test_what_makes_a_motion_doubtful_is_told_with_what_comes_of_it():
    """A spring with a rest length that passes through length zero along a line: its force turns round at once, which no
    step is made for; the run says that energy drifts, and so do derivatives and optima."""
    handle = mechsim.mechanism("""
PartData: {Fixed: {O: [], R: [1]}, Springs: {OA: [8, 0.5]}}
Joints: {Pistons: {A-OR: [1]}}
PhysicalParams: {x: 0.6}
ProblemData: {positions: {A: [[x, fixed]]}, velocities: {A: [[-3, fixed]]}, tend: 0.4}
""")
    notes = handle.sensitivity("final(A_x)", by=["x"]).notes
    assert any("energy drifted" in note for note in notes)
    told = handle.optimize({"x": (0.5, 0.7)}, "final(A_x)").told
    assert any("energy drifted" in note for note in told)


def test_bounds_that_are_none_are_refused_in_words():
    handle = mechsim.mechanism(PENDULUM)
    with pytest.raises(SpecError, match=r"vary is 'final.A_x.', but must give bounds by name"):
        handle.optimize("final(A_x)")


@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_a_barrier_beside_its_line(offset):
    """A ball falls from 1 onto a line that is as far from its points; closed form, by a complex step."""
    text = f"""
PhysicalParams: {{r: {offset}}}
PartData: {{Fixed: {{F: [-1], G: [1]}}, Particles: {{P: 1}}}}
AppliedForces: {{Gravity: [0, -9.81]}}
Contacts: {{P-FG: {{e: 0.5, offset: r}}}}
ProblemData: {{tend: 0.6, positions: {{P: [[0, fixed], [1, fixed]]}}}}
"""
    down = cmath.sqrt(2 * (1 - offset - 1e-25j) / 9.81)
    late = 0.6 - down
    height = offset + 1e-25j + 0.5 * 9.81 * down * late - 9.81 / 2 * late * late
    found = mechsim.mechanism(text).sensitivity("final(P_y)", "r")
    assert found.values[0] == pytest.approx(height.real, abs=1e-10)  # the motion's tolerance
    assert found.derivatives[0, 0] == pytest.approx(height.imag / 1e-25, abs=1e-9)


def test_spins_of_parts_are_measures():
    """A free body of inertia 1, 1, 2: its spin goes round its third axis with that one's rate (Euler)."""
    handle = mechsim.mechanism("""
Dimension: 3
PhysicalParams: {a: 0.7, w: 2, r: 0.8}
PartData: {Fixed: {O: []}, Rigids: {OAB: {Geom: [[r], [0.3, r]], Dyna: [[0], 1, [1, 1, 2]]}}}
Output: {orientations: {OAB: quaternion}}
ProblemData:
  tend: 1.1
  orientations: {OAB: [{euler: [zxz, 0.3, 0.7, 0.2]}, fixed]}
  spins: {OAB.OAB: [[a, 0, w], fixed]}
SolverParams: {Integration: {tol: 1e-12}}
""")
    own = ["final(OAB_OAB_wx)", "final(OAB_OAB_wy)", "final(OAB_OAB_wz)"]
    found = handle.sensitivity([*own, "final(sqrt(OAB_wx**2 + OAB_wy**2 + OAB_wz**2))"], ["a", "w", "r"])
    c, s, size = math.cos(2.2), math.sin(2.2), math.hypot(0.7, 2)
    assert found.values == pytest.approx([0.7 * c, 0.7 * s, 2, size], abs=1e-10)  # the motion's tolerance, and room
    known = [[c, -0.77 * s, 0], [s, 0.77 * c, 0], [0, 1, 0], [0.7 / size, 2 / size, 0]]
    assert found.derivatives == pytest.approx(np.array(known), abs=1e-9)
    assert found.units[0] == "rad/s"
    with pytest.raises(SpecError, match="how a part stands is no measure"):
        handle.sensitivity("final(OAB_qw)", "a")
