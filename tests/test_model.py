"""The model: QR reduction of a rigid body, MechSpec to Mechanism, first guesses."""

from itertools import pairwise
from math import cos, hypot, pi, sin, sqrt
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mechsim import spec
from mechsim.errors import SpecError
from mechsim.model import build, rigid
from mechsim.model.placement import guess_positions

SPECS = Path(__file__).parent.parent / "specs"
COORDINATE = st.floats(-10, 10, allow_subnormal=False)


def parse(text):
    """A spec from its PartData and forces; times are filled in."""
    text = dedent(text)
    if "ProblemData" not in text:
        text += "ProblemData: {}\n"
    return spec.parse(text.replace("ProblemData: {", "ProblemData: {t0: 0, tend: 1, "))


def mechanism(text):
    return build(parse(text))


def labels(built):
    return [variable.label for variable in built.variables]


def elements(built, kind):
    return [element for element in built.elements if element.kind == kind]


def of_sort(built, sort):
    return [element for element in built.elements if element.origin.sort == sort]


# --- the QR reduction (seed 001 section 3)


@st.composite
def bodies(draw):
    """Points of a body in 2D or 3D whose RPs are well apart from a common plane, and a rigid motion."""
    n = draw(st.sampled_from([2, 3]))
    points = np.array(draw(st.lists(st.tuples(*[COORDINATE] * n), min_size=n + 1, max_size=n + 4)))
    assume(np.linalg.svd(points[1:n] - points[0])[1].min() > 0.1)
    rotation = np.linalg.qr(np.array(draw(st.lists(st.tuples(*[COORDINATE] * n), min_size=n, max_size=n))))[0]
    rotation[:, 0] *= np.sign(np.linalg.det(rotation))
    return n, points, rotation, np.array(draw(st.tuples(*[COORDINATE] * n)))


@given(bodies())
def test_any_rigid_motion_is_recovered_from_the_reference_points(body):
    n, points, rotation, shift = body
    moved = points @ rotation.T + shift
    _, triangle, useful = rigid.reduce(points, n)
    # Coordinates reach 40 and the triangle's condition 400 (3D: squared by the cross product): 1e-16 times these.
    assert rigid.place(triangle, useful, moved[:n]) == pytest.approx(moved[n:], abs=2e-9)


@given(bodies())
def test_reduction_is_a_rotation_times_a_triangle_with_positive_diagonal(body):
    n, points, _, _ = body
    rotation, triangle, useful = rigid.reduce(points, n)
    upper = np.vstack([triangle, np.zeros(n - 1)])
    # An orthogonal factor and a backward-stable product: a few units of rounding of coordinates up to 20.
    assert np.linalg.det(rotation) == pytest.approx(1, abs=1e-13)
    assert rotation.T @ rotation == pytest.approx(np.eye(n), abs=1e-13)
    assert rotation @ np.hstack([upper, useful]) == pytest.approx((points[1:] - points[0]).T, abs=1e-13)
    assert (np.diagonal(triangle) > 0).all()
    assert np.array_equal(triangle, np.triu(triangle))


@given(bodies())
def test_the_complex_form_in_2d_is_the_reduction(body):
    n, points, rotation, shift = body
    a, b, c = (complex(*point[:2]) for point in points[:3])
    assume(n == 2)
    xi = complex(*rigid.placement_ratio(*points[:3]))
    # c is at most 30 from a, b at least 0.1: xi up to 300, so 1e-16 * 300 * 30.
    assert a + xi * (b - a) == pytest.approx(c, abs=1e-12)
    moved = points @ rotation.T + shift
    sides = rigid.placement_coefficients(*points[:3])
    # Each product is at most 30 * 40 (3.22).
    assert sum(complex(*side) * complex(*x) for side, x in zip(sides, moved[:3], strict=True)) == pytest.approx(
        0, abs=1e-11
    )


def test_the_cross_product_in_four_dimensions_is_the_last_column_of_a_rotation():
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    rotation[:, 0] *= np.linalg.det(rotation)
    # Corollary 2.3, to the rounding of a 4 x 4 determinant of unit vectors.
    assert rigid.cross_product(rotation[:, :3]) == pytest.approx(rotation[:, 3], abs=1e-14)


def test_reference_points_on_one_line_in_3d_are_refused():
    with pytest.raises(rigid.NotInGeneralPosition):
        rigid.reduce([[0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 0, 1]], 3)


# --- MechSpec to Mechanism


def test_mechanism1_has_the_coordinates_and_constraints_of_the_seed():
    built = build(spec.read(SPECS / "mechanism1a.yaml"))
    assert labels(built) == ["C_x", "C_y", "D_x", "D_y", "E_x", "E_y", "F_x", "F_y"]
    assert set(built.multipliers) == {"l_AC", "l_BD", "l_CDE", "E_x,CD", "E_y,CD", "l_EF"}
    (placement,) = elements(built, "placement")
    side = 1 / sqrt(2)  # c = (-1-i) l/sqrt(2), d = (-1+i) l/sqrt(2), e = l sqrt(2) in section 4.5
    expected = {"a_x": -side, "a_y": -side, "b_x": -side, "b_y": side, "c_x": 2 * side, "c_y": 0}
    assert placement.parameters == pytest.approx(expected, abs=1e-15)  # rounding of one square root
    assert built.size == pytest.approx(sqrt(2), rel=1e-15)


def test_andrews_has_the_crank_angle_as_last_coordinate_with_two_constraints_for_it():
    built = build(spec.read(SPECS / "andrews.yaml"))
    assert labels(built)[-3:] == ["H_x", "H_y", "theta_OF"]
    assert built.multipliers[-2:] == ("F_x,OF", "F_y,OF")  # parts in the order of their names
    (turned,) = elements(built, "turned_length")
    assert turned.slots == (*built.points["O"], *built.points["F"], 10)
    (torque,) = of_sort(built, "torque")
    assert torque.slots == (10,)
    assert list(torque.parameters.values()) == [0.033]


def test_a_slot_below_zero_is_a_constant_of_the_world():
    built = mechanism(
        """
        PartData:
          Fixed: {O: [1, 2], Q: [3, 4]}
          Rigids: {OA: {Geom: [[5]], Dyna: [[2], 1, 1]}}
          Springs: {AQ: [1, 1]}
        """
    )
    constants = [[built.constants[-1 - slot] for slot in built.points[name]] for name in "OQ"]
    assert constants == [[1, 2], [3, 4]]
    (body,) = elements(built, "planar_body")
    assert body.parameters == {"mass": 1, "spin": 1 / 25, "xi_x": 2 / 5, "xi_y": 0, "g_x": 0, "g_y": 0}


def test_lexicographic_order_of_points_and_of_turn_angles():
    built = mechanism(
        """
        PartData:
          Fixed: {O: []}
          Rigids: {"OB10, B10B2": {Geom: [[1]], Dyna: [[0], 1, 1]}}
        AppliedForces: {ConstTorques: {OB10: 1, B10B2-OB10: 2}}
        """
    )
    assert labels(built) == ["B10_x", "B10_y", "B2_x", "B2_y", "theta_B10B2", "theta_OB10"]
    assert [(e.owner, *e.parameters.values()) for e in of_sort(built, "torque")] == [
        ("OB10", 1),
        ("B10B2", 2),
        ("OB10", -2),
    ]


def test_a_part_held_at_both_ends_adds_no_length_but_places_its_useful_points():
    built = mechanism(
        """
        PartData:
          Fixed: {A: [], B: [2]}
          Rigids: {ABC: {Geom: [[2], [1, 1]], Dyna: [[1], 3, 1]}, CD: {Geom: [[1]], Dyna: [[1], 1, 1]}}
        """
    )
    assert built.multipliers == ("C_x,AB", "C_y,AB", "l_CD")
    assert [element.owner for element in elements(built, "planar_body")] == ["CD"]


def test_springs_and_particles_on_fixed_points_add_nothing():
    built = mechanism(
        """
        PartData:
          Fixed: {A: [], B: [2]}
          Springs: {AB: [1, 1], BC: [1, 1]}
          Particles: {A: 1, C: 1}
        AppliedForces: {ConstForces: {C: [0, 1]}}
        """
    )
    assert [(element.origin.sort, element.owner) for element in built.elements] == [
        ("spring", "BC"),
        ("particle", "C"),
        ("force", "C"),
    ]


def test_a_force_in_a_parts_frame_integrates_its_work():
    built = mechanism(
        """
        PartData:
          Fixed: {O: []}
          Rigids: {OAP: {Geom: [[2], [1, 1]], Dyna: [[1], 3, 1]}}
        AppliedForces: {ConstForces: {OAP.P: [3, 4]}}
        """
    )
    assert labels(built) == ["A_x", "A_y", "P_x", "P_y", "work_OAP_P"]
    assert built.variables[-1].kind == "state"
    assert built.variables[-1].scale == 5 * 2  # newtons times metres
    (force,) = of_sort(built, "force")
    assert set(force.slots) == {*built.points["O"], 0, 1, 2, 3, 4}
    assert force.slots[-1] == 4
    assert sorted(force.parameters.values()) == [2, 3, 4]  # its components, and the length of the part
    assert force.origin.part == "OAP"


def test_collinear_points_span_their_line_by_two_that_cannot_meet():
    built = mechanism(
        """
        PartData:
          Fixed: {O: []}
          Rigids: {AB: {Geom: [[1]], Dyna: [[0], 1, 1]}}
          Particles: {C: 1, D: 1}
          Collinear: [OCABD]
        """
    )
    joints = elements(built, "collinear")
    assert [joint.slots[:4] for joint in joints] == [built.points["A"] + built.points["B"]] * 3
    assert built.multipliers == ("l_AB", "col_OAB", "col_CAB", "col_ABD")


def test_size_and_scales_follow_the_units():
    text = (SPECS / "andrews.yaml").read_text()
    metres = build(spec.parse(text))
    others = {"beta0", "c0", "mom", *(f"{letter}{k}" for letter in "mi" for k in range(1, 8))}
    values = {name: number.text for name, number in spec.parse(text).parameters.items() if name not in others}
    big = build(spec.parse(text, overrides={name: f"1024*({value})" for name, value in values.items()}))
    assert big.size == 1024 * metres.size  # exact, for the factor is a power of two
    assert [v.scale for v in big.variables[:-1]] == [1024 * v.scale for v in metres.variables[:-1]]
    assert big.variables[-1].scale == 1


# --- faults only the model sees


FAULTS = {
    "does not fit": """
        PartData:
          Fixed: {A: [], B: [2.5]}
          Rigids: {ABC: {Geom: [[2], [1, 1]], Dyna: [[1], 3, 1]}}
        """,
    "wrong side": """
        PartData:
          Fixed: {A: [], B: [2], C: [1, -1]}
          Rigids: {ABCD: {Geom: [[2], [1, 1], [1]], Dyna: [[1], 3, 1]}}
        """,
    "point B is undetermined": """
        PartData:
          Fixed: {O: []}
          Rigids: {OA: {Geom: [[1]], Dyna: [[0], 1, 1]}, AB: {Geom: [[1]]}}
        """,
    "point A is undetermined": """
        PartData:
          Fixed: {O: []}
          Springs: {OA: [1, 1], AB: [1, 1]}
          Particles: {B: 1}
        """,
    "at the same place": """
        PartData:
          Fixed: {O: [], Q: []}
          Particles: {B: 1}
          Collinear: [OBQ]
        """,
    "not on a line in part ABC": """
        PartData:
          Rigids: {ABC: {Geom: [[2], [1, 1]], Dyna: [[1], 3, 1]}}
          Particles: {D: 1}
          Collinear: [ABDC]
        """,
    "nothing can move": """
        PartData:
          Fixed: {A: [], B: [2]}
          Rigids: {AB: {Geom: [[2]], Dyna: [[1], 3, 1]}}
        """,
    "has no turn angle: both": """
        PartData:
          Fixed: {A: [], B: [2]}
          Rigids: {AB: {Geom: [[2]], Dyna: [[1], 3, 1]}, BC: {Geom: [[1]], Dyna: [[1], 3, 1]}}
        ProblemData: {angles: {AB: 1}}
        """,
}


@pytest.mark.parametrize("message", FAULTS)
def test_faults_name_what_and_where(message):
    with pytest.raises(SpecError, match=message) as caught:
        mechanism(FAULTS[message])
    assert all(fault.mark and fault.hint for fault in caught.value.faults)


def test_all_faults_are_reported_together():
    with pytest.raises(SpecError) as caught:
        mechanism(
            """
            PartData:
              Fixed: {A: [], B: [2], C: [5]}
              Rigids: {'AB, BC': {Geom: [[1]], Dyna: [[1], 3, 1]}, CD: {Geom: [[1]], Dyna: [[1], 3, 1]}}
            """
        )
    assert len(caught.value.faults) == 2


# --- first guesses


def guess(text):
    given = parse(text) if "Title" not in text else spec.parse(text)
    built = build(given)
    return dict(zip(labels(built), guess_positions(built, given.problem), strict=True))


def test_given_guesses_are_kept_and_a_useful_point_follows_its_part():
    q = guess((SPECS / "mechanism1a.yaml").read_text())
    assert (q["C_x"], q["C_y"]) == (-1 / sqrt(2), -1)
    # The guessed C and D are exactly sqrt(2) apart, so E is where the rigid triangle has it, to rounding.
    assert (q["E_x"], q["E_y"]) == pytest.approx((0, -1 - 1 / sqrt(2)), abs=1e-15)


def test_a_turn_angle_is_its_parts_direction_unless_given():
    text = """
        PartData:
          Fixed: {O: []}
          Rigids: {OA: {Geom: [[1]], Dyna: [[0], 1, 1]}}
        AppliedForces: {ConstTorques: {OA: 1}}
        """
    assert guess(text + "ProblemData: {positions: {A: [-1, -0.0]}}\n")["theta_OA"] == pi
    given = guess(text + "ProblemData: {angles: {OA: [7, fixed]}}\n")
    assert given["theta_OA"] == 7
    assert (given["A_x"], given["A_y"]) == pytest.approx((cos(7), sin(7)), abs=1e-15)  # one rounding each


def test_without_guesses_loops_close_and_points_stand_apart():
    q = guess(
        """
        PartData:
          Fixed: {A: [], B: [3]}
          Rigids: {AC: {Geom: [[1]]}, CD: {Geom: [[3]]}, BD: {Geom: [[2]]}, "DE, DF": {Geom: [[1]]}}
          Springs: {EG: [10, 0.5]}
          Particles: {C: 1, D: 1, E: 1, F: 1, G: 1, H: 1}
        AppliedForces: {Gravity: }
        """
    )
    points = {name: complex(q[f"{name}_x"], q[f"{name}_y"]) for name in "CDEFGH"} | {"A": 0, "B": 3}
    rods = {"AC": 1, "CD": 3, "BD": 2, "DE": 1, "DF": 1, "EG": 0.5}
    # Circles met and parts hung in closed form: rounding only.
    assert {rod: abs(points[rod[0]] - points[rod[1]]) for rod in rods} == pytest.approx(rods, rel=1e-14)
    assert min(abs(p - q) for k, p in points.items() for j, q in points.items() if j < k) > 0.05
    assert points["G"].imag < points["E"].imag  # springs hang down


def test_one_given_coordinate_chooses_the_side():
    text = """
        PartData:
          Fixed: {A: [], B: [2]}
          Rigids: {"AC, BC": {Geom: [[1.5]]}}
          Particles: {C: 1}
        ProblemData: {positions: {C: [1, %s]}}
        """
    assert guess(text % "0.9")["C_y"] == 0.9
    free = guess((text % "0").replace("ProblemData: {positions: {C: [1, 0]}}", ""))
    assert hypot(free["C_x"], free["C_y"]) == pytest.approx(1.5, rel=1e-14)  # a circle met, to rounding


def test_points_of_a_collinear_joint_start_on_its_line():
    q = guess(
        """
        PartData:
          Fixed: {O: [], Q: [1, 1]}
          Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1]}, "AB, CD": {Geom: [[3]], Dyna: [[1], 1, 1]}}
          Collinear: [OQB, OQCD]
        """
    )
    # A circle met by a line, in closed form: rounding of lengths of 3.
    assert q["B_x"] == pytest.approx(q["B_y"], abs=1e-15)
    assert hypot(q["B_x"] - q["A_x"], q["B_y"] - q["A_y"]) == pytest.approx(3, abs=1e-14)
    assert (q["C_x"], q["D_x"]) == pytest.approx((q["C_y"], q["D_y"]), abs=1e-14)
    assert hypot(q["C_x"] - q["D_x"], q["C_y"] - q["D_y"]) == pytest.approx(3, abs=1e-14)


def test_a_long_chain_is_placed_at_once():
    rods = ", ".join(f"P{k}P{k + 1}: {{Geom: [[1]], Dyna: [[0], 1, 1]}}" for k in range(300))
    q = guess(f"PartData: {{Fixed: {{P0: []}}, Rigids: {{{rods}}}}}\n")
    places = [complex(q.get(f"P{k}_x", 0), q.get(f"P{k}_y", 0)) for k in range(301)]
    # Sums of up to 300 unit steps keep each step to 300 roundings.
    assert [abs(b - a) for a, b in pairwise(places)] == pytest.approx([1] * 300, abs=1e-12)
