"""Kinds are written with vectors: the dimension is a number. Mechanisms of particles, rods and springs made by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mechsim.derive import cache, program_for
from mechsim.engine import integrate
from mechsim.initial import assemble
from mechsim.kernel.system import System
from mechsim.lagrangian import kind_named
from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import AXES, cross, dot, labels, left, square, turned, vector
from mechsim.model import build
from mechsim.model.axis import NORMAL, Axis, moments
from mechsim.model.geometry import (
    ASIDE,
    frame_towards,
    line_meets_sphere,
    moved,
    norm,
    spheres_meet,
    unit,
    upright_frame,
)
from mechsim.model.mechanism import Element, Mechanism, Part, Variable
from mechsim.model.origin import Origin
from mechsim.model.placement import guess_positions
from mechsim.result import Motion
from mechsim.spec import parse
from mechsim.spec.document import Number, Problem, StartValue
from mechsim.structure import analyse

GRAVITY = 9.80665
GENERAL = "length particle spring".split()
PLANAR = "collinear placement planar_body turned_length".split()
FACTS = dict.fromkeys(("title", "spec_path", "spec_text", "version"), "")


def in_space(points, fixed, rods=(), springs=(), mass=1.0, gravity=(0.0, 0.0, 0.0), size=1.0, further=()):
    """Particles at points, joined by rods and springs; `fixed` points by their places."""
    n = len(gravity)
    slots = {name: tuple(range(n * k, n * k + n)) for k, name in enumerate(points)}
    slots |= {name: tuple(range(-1 - n * k, -1 - n * k - n, -1)) for k, name in enumerate(fixed)}
    weight = dict(zip(labels("g", n), gravity, strict=True))
    elements = [
        Element(
            "length",
            a + b,
            slots[a] + slots[b],
            {"length": length},
            (f"l_{a}{b}",),
            origin=Origin("rigid", a + b, a + b),
        )
        for a, b, length in rods
    ]
    elements += [
        Element("spring", a + b, slots[a] + slots[b], {"stiffness": k, "length": length, "mass": 0.0, **weight})
        for a, b, k, length in springs
    ]
    elements += [
        Element("particle", name, slots[name], {"mass": mass, **weight}, origin=Origin("particle", name, name))
        for name in points
    ]
    return Mechanism(
        title="",
        dimension=n,
        variables=tuple(Variable(f"{name}_{axis}", name, "position", size) for name in points for axis in AXES[:n]),
        constants=tuple(float(x) for place in fixed.values() for x in place),
        elements=(*elements, *(Element(kind, "", sum((slots[p] for p in ps), ()), q) for kind, ps, q in further)),
        points=slots,
        parts=(*_rods(rods, n), *(Part(name, "particle", (name,)) for name in points)),
        size=size,
    )


def _rods(rods, dimension):
    rest = (0.0,) * (dimension - 1)
    return [Part(a + b, "rigid", (a, b), ((0.0, *rest), (length, *rest))) for a, b, length in rods]


def motion_of(mechanism, places, velocities, tend, tolerance=1e-15, kinds=None):
    """Start values are guesses for all coordinates."""

    def values(given):
        return {name: tuple(StartValue(Number(float(x), "", None), False) for x in xs) for name, xs in given.items()}

    times = (Number(0.0, "", None), Number(float(tend), "", None))
    problem = Problem(*times, values(places), values(velocities), {}, {})
    system = System(mechanism, kinds)
    start = assemble(mechanism, system, problem)
    structure = analyse(system, start.redundancy)
    solution = integrate(system, structure, start, tend=float(tend), tolerance=tolerance)
    assert solution.status == "finished"
    return Motion(solution, {**FACTS, "settings": {"tol": tolerance}}, ["all"])


def energy_error(motion):
    table = motion.trajectory
    energy = table["T"] + table["V"]
    return np.ptp(energy) / np.abs(table["T"]).max()


# --- vectors


@given(st.lists(st.tuples(*[st.floats(-10, 10)] * 2), min_size=1, max_size=4), st.floats(-5, 5))
def test_arithmetic_of_vectors_is_that_of_arrays(pairs, factor):
    a, b = vector(p for p, _ in pairs), vector(q for _, q in pairs)
    for found, expected in (
        (a + b, np.add(*zip(*pairs, strict=True)) if len(pairs) == 2 else np.array(list(a)) + list(b)),
        (a - b, np.array(list(a)) - list(b)),
        (-a, -np.array(list(a))),
        (a * factor, np.array(list(a)) * factor),
        (factor * a, factor * np.array(list(a))),
    ):
        assert list(found) == list(expected)
    assert dot(a, b) == pytest.approx(np.dot(list(a), list(b)), abs=1e-12)  # another order of summing
    assert square(a) == dot(a, a)


@given(*[st.complex_numbers(max_magnitude=10, allow_subnormal=False)] * 2)
def test_vectors_of_the_plane_are_complex_numbers(a, b):
    p, q = vector([a.real, a.imag]), vector([b.real, b.imag])
    assert complex(*turned(p, q)) == pytest.approx(a * b, abs=1e-13)
    assert complex(*left(p)) == 1j * a
    assert cross(p, q) == pytest.approx((a.conjugate() * b).imag, abs=1e-13)
    assert cross(p, q) == dot(left(p), q)


def test_vectors_of_different_dimensions_do_not_add():
    with pytest.raises(ValueError, match="zip"):
        vector([1.0, 2.0]) + vector([1.0, 2.0, 3.0])


# --- kinds


@pytest.mark.parametrize("name", GENERAL)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_points_expand_to_coordinates(name, dimension):
    kind = kind_named(name, dimension)
    declared = __import__(f"mechsim.lagrangian.{name}", fromlist=["kind"]).kind
    assert len(kind.variables) == dimension * len(declared.points)
    assert kind.dimension == dimension
    program = program_for(kind)
    assert {output.key for output in program.outputs if output.key[0] == "row"} == {
        ("row", row) for row in range(len(kind.variables) + kind.constraint_count)
    }


@pytest.mark.parametrize("name", PLANAR)
def test_kinds_of_the_plane_say_so(name):
    with pytest.raises(ValueError, match=f"{name} is a kind of the plane"):
        kind_named(name, 3)


def test_a_kind_without_a_dimension_is_not_derived():
    from mechsim.lagrangian.length import kind

    with pytest.raises(ValueError, match="no dimension yet"):
        program_for(kind)


def test_programs_of_different_dimensions_are_cached_apart():
    purposes = {cache._purpose(kind_named("length", dimension), frozenset(), False) for dimension in (1, 2, 3)}
    assert len(purposes) == 3


def test_a_kind_of_no_points_is_of_any_dimension():
    kind = Kind("angle", ("theta",), potential=lambda x, t, p: -x[0])
    assert kind.at(2) is kind.at(3) is kind


def test_functions_of_a_kind_see_vectors():
    seen = {}

    def constraints(x, t, p):
        seen["x"], seen["p"] = x, p.axis
        return [x[1] - x[0], dot(p.axis, x[0]) + x[2]]

    kind = Kind(
        "seen", ("s",), ("k",), ("a", "b"), ("axis",), constraints=constraints, constraint_vectors=1, constraint_count=1
    ).at(3)
    p = SimpleNamespace(k=0.0, axis_x=0.0, axis_y=0.0, axis_z=2.0)
    assert kind.constraints([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 0.0, p) == [3.0, 3.0, 3.0, 13.0]
    assert list(seen["p"]) == [0.0, 0.0, 2.0]
    assert kind.constraint_count == 4
    assert kind.variables == (*labels("a", 3), *labels("b", 3), "s")


# --- places


def three_places(dimension):
    component = st.floats(-3, 3).filter(lambda x: x == 0 or abs(x) > 1e-3)
    return st.lists(st.lists(component, min_size=dimension, max_size=dimension).map(vector), min_size=3, max_size=3)


places = st.integers(2, 3).flatmap(three_places)


@given(places)
def test_a_frame_points_where_it_should(given_places):
    arm, direction, _ = given_places
    assume(any(arm) and any(direction))
    frame = frame_towards(arm, direction)
    matrix = np.array([list(each) for each in frame])
    assert matrix @ matrix.T == pytest.approx(np.eye(len(arm)), abs=1e-9)  # half a turn in space is found to 1e-12
    assert np.linalg.det(matrix) == pytest.approx(1, abs=1e-9)
    assert list(unit(moved(frame, arm))) == pytest.approx(list(unit(direction)), abs=1e-6)


@given(places)
def test_spheres_and_lines_meet_where_they_should(given_places):
    centre, second, point = given_places
    apart, radius, other = norm(second - centre), norm(point - centre), norm(point - second)
    assume(apart > 0.1 and other > 0.1 and any(point))
    # Not so flat a triangle that the point is taken a little off the line.
    along = (apart**2 + radius**2 - other**2) / (2 * apart)
    assume(radius**2 - along**2 > (ASIDE * radius) ** 2 / 10 and abs(radius - other) < apart < radius + other)
    for place in spheres_meet(centre, radius, second, other, unit(point)):
        assert norm(place - centre) == pytest.approx(radius)
        assert norm(place - second) == pytest.approx(other)
    for place in line_meets_sphere(second, point, second, radius):
        assert norm(place - second) == pytest.approx(radius)
    frame = np.array([list(direction) for direction in upright_frame(unit(point))])
    assert frame @ frame.T == pytest.approx(np.eye(len(point)))


def test_rods_hang_and_close_in_space():
    """P hangs from O; Q, on two rods, stands at the lowest place it can have."""
    fixed = {"O": (0, 0, 1), "U": (-1, 2, 0), "V": (1, 2, 0)}
    rods = [("O", "P", 0.5), ("U", "Q", 2.0), ("V", "Q", 2.0)]
    mechanism = in_space(["P", "Q"], fixed, rods, gravity=(0, 0, -GRAVITY))
    mechanism = replace(mechanism, parts=tuple(_rods(rods, 3)))
    problem = Problem(Number(0.0, "", None), Number(1.0, "", None), {}, {}, {}, {})
    guess = guess_positions(mechanism, problem)
    assert np.linalg.norm(guess[:3] - (0, 0, 1)) == pytest.approx(0.5)
    assert guess[2] < 1 - 0.5 * 0.4  # fanned out by some 60 degrees at most
    assert guess[3:] == pytest.approx([0, 2, -np.sqrt(3)])


# --- motions in space


def test_conical_pendulum():
    """A rod at the angle alpha to the vertical turns at omega^2 = g / (l cos alpha)."""
    length, alpha = 1.3, 0.7
    mechanism = in_space(["P"], {"O": (0, 0, 0)}, rods=[("O", "P", length)], gravity=(0, 0, -GRAVITY), size=length)
    radius, height = length * np.sin(alpha), -length * np.cos(alpha)
    omega = np.sqrt(GRAVITY / (length * np.cos(alpha)))
    turns = 10 * 2 * np.pi / omega
    motion = motion_of(mechanism, {"P": (radius, 0, height)}, {"P": (0, radius * omega, 0)}, turns)
    times = np.linspace(0, turns, 57)
    angle = omega * times
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(57, height)], axis=-1)
    # Ten turns, 63 radians: roundings of omega and of the start grow with the time.
    assert motion(times)["P"] == pytest.approx(expected, abs=1e-12)
    assert energy_error(motion) < 1e-13
    # The rod pulls at the ground with m g / cos alpha, along itself; all forces of each part give its acceleration.
    pulled = motion.reaction("O", times)["OP"]
    assert pulled == pytest.approx(-GRAVITY / np.cos(alpha) * expected / length, rel=1e-11, abs=1e-11)
    assert motion.trajectory.certificate.reaction_balance < 1e-12
    assert motion.trajectory.labels[:7] == ("t", *(f"P_{axis}{dot}" for axis in "xyz" for dot in ("", "_dot")))
    assert [f"O_OP_F{axis}" in motion.trajectory.labels for axis in "xyzu"] == [True, True, True, False]


def test_spherical_pendulum_keeps_energy_and_angular_momentum():
    mechanism = in_space(["P"], {"O": (0, 0, 0)}, rods=[("O", "P", 1.0)], gravity=(0, 0, -GRAVITY))
    motion = motion_of(mechanism, {"P": (0.6, 0.0, -0.8)}, {"P": (0.8, 1.1, 0.6)}, 20)
    assert energy_error(motion) < 1e-12
    times = np.linspace(0, 20, 400)
    places, speeds = motion(times)["P"], motion.velocity(times)["P"]
    assert np.ptp(np.cross(places, speeds)[:, 2]) < 1e-12
    assert np.abs(np.linalg.norm(places, axis=1) - 1).max() < 1e-15 * 10


def test_a_spring_without_length_in_space_is_three_oscillators():
    start, speed, stiffness, mass = np.array([0.3, -0.8, 0.5]), np.array([1.0, 0.4, -0.7]), 7.0, 0.6
    mechanism = in_space(["P"], {"O": (0, 0, 0)}, springs=[("O", "P", stiffness, 0.0)], mass=mass)
    motion = motion_of(mechanism, {"P": start}, {"P": speed}, 10)
    times, w = np.linspace(0, 10, 101), np.sqrt(stiffness / mass)
    expected = np.outer(np.cos(w * times), start) + np.outer(np.sin(w * times), speed) / w
    assert motion(times)["P"] == pytest.approx(expected, abs=1e-13)
    assert energy_error(motion) < 1e-13


def test_a_constant_force_in_space():
    push = {"f_x": 1.0, "f_y": -2.0, "f_z": 3.0}
    force = Kind(
        "force", points=("p",), vectors=("f",), potential=lambda x, t, p: -dot(p.f, x[0]), cacheable=False
    )  # fmt: skip
    mechanism = in_space(["P"], {}, mass=2.0, further=[("force", ["P"], push)])
    motion = motion_of(mechanism, {"P": (0, 0, 0)}, {"P": (1, 0, 0)}, 4, kinds={"force": force})
    assert motion(4.0)["P"] == pytest.approx([4 + 0.5 * 16 / 2, -16 / 2, 1.5 * 16 / 2], abs=1e-13)


def test_points_that_coincide_move_as_one():
    """A constraint that is a vector: two particles on one place are one of twice the mass."""
    joint = Kind("coincidence", points=("a", "b"), constraints=lambda x, t, p: [x[1] - x[0]], constraint_vectors=1,
                 cacheable=False)  # fmt: skip
    mechanism = in_space(["P", "Q"], {"O": (0, 0, 0)}, springs=[("O", "P", 8.0, 0.0)], mass=1.0)
    element = Element("coincidence", "PQ", mechanism.points["P"] + mechanism.points["Q"], {}, ("x", "y", "z"))
    mechanism = replace(mechanism, elements=(*mechanism.elements, element))
    places = {"P": (1, 0, 0.5), "Q": (1, 0, 0.5)}
    motion = motion_of(mechanism, places, {"P": (0, 1, 0), "Q": (0, 1, 0)}, 5, kinds={"coincidence": joint})
    expected = [np.cos(2 * 5), np.sin(2 * 5) / 2, 0.5 * np.cos(2 * 5)]
    assert motion(5.0)["Q"] == pytest.approx(expected, abs=1e-13)


@settings(max_examples=4, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_a_planar_motion_in_any_plane_of_space(seed):
    """A double pendulum with a spring, turned and shifted at random, moves as it does in its plane."""
    random = np.random.default_rng(seed)
    frame, _ = np.linalg.qr(random.normal(size=(3, 3)))
    shift = random.normal(size=3)

    def embedded(place):
        return frame[:, :2] @ np.asarray(place)

    parts = {
        "rods": [("O", "P", 1.0), ("P", "Q", 0.7)],
        "springs": [("W", "Q", 30.0, 0.4)],
    }
    fixed = {"O": np.zeros(2), "W": np.array([1.2, 0.3])}
    gravity = np.array([0.0, -GRAVITY])
    start = {"P": np.array([0.6, -0.8]), "Q": np.array([0.6, -1.5])}
    speed = {"P": np.array([0.4, 0.3]), "Q": np.array([-0.3, 0.3])}
    planar = motion_of(in_space(["P", "Q"], fixed, gravity=gravity, **parts), start, speed, 1.0)
    lifted = in_space(
        ["P", "Q"],
        {name: embedded(place) + shift for name, place in fixed.items()},
        gravity=tuple(embedded(gravity)),
        **parts,
    )
    spatial = motion_of(
        lifted,
        {name: embedded(place) + shift for name, place in start.items()},
        {name: embedded(rate) for name, rate in speed.items()},
        1.0,
    )
    times = np.linspace(0, 1, 21)
    for name in ("P", "Q"):
        expected = planar(times)[name] @ frame[:, :2].T + shift
        assert spatial(times)[name] == pytest.approx(expected, abs=1e-12)
    assert energy_error(spatial) < 1e-12


# --- the axis of a turn


def test_in_the_plane_everything_turns_about_the_normal():
    arm, force = np.random.default_rng(3).standard_normal((2, 7, 2))
    moment = arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]
    assert np.array_equal(NORMAL.moment(arm, force), moment)
    assert np.array_equal(moments(arm, force), moment[:, None])
    assert np.array_equal(NORMAL.across(arm), np.stack([-arm[:, 1], arm[:, 0]], axis=1))
    assert NORMAL.components(2).tolist() == [1.0]


def test_in_space_an_axis_has_a_direction():
    arm, force, direction = np.random.default_rng(4).standard_normal((3, 7, 3))
    direction = direction[0] / np.linalg.norm(direction[0])
    axis = Axis(tuple(direction))
    assert np.array_equal(moments(arm, force), np.cross(arm, force))
    # Sums of three products in another order: some roundings of values of order one.
    np.testing.assert_allclose(axis.moment(arm, force), np.cross(arm, force) @ direction, rtol=0, atol=1e-14)
    np.testing.assert_allclose(axis.across(arm), np.cross(direction, arm), rtol=0, atol=1e-14)
    # What turns about an axis at the rate one does the work of the moment: virtual power.
    np.testing.assert_allclose((axis.across(arm) * force).sum(axis=1), axis.moment(arm, force), rtol=0, atol=1e-14)


def test_a_turn_angle_says_what_it_turns_about():
    mechanism = build(
        parse("""
        PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}
        ProblemData: {tend: 1, angles: {OA: 0.3}}
    """)
    )
    assert {variable.label: variable.axis for variable in mechanism.variables} == {
        "A_x": None, "A_y": None, "theta_OA": NORMAL
    }  # fmt: skip
