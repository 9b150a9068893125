"""The consistent start: known tables, known projections, messages a person can act on, and configurations."""

from __future__ import annotations

import signal
import sys
from math import hypot, pi

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

import mechsim
from mechsim.errors import AssemblyError
from mechsim.initial import Start, assemble, configurations
from mechsim.initial.assembly import moving_coordinates
from mechsim.initial.closure import position_closure, scales_of
from mechsim.initial.inertia import check_determined
from mechsim.initial.ipopt import Distance, minimise
from mechsim.kernel.system import System
from mechsim.model import Mechanism, build
from mechsim.spec import parse

# The tables print 17 digits; a double's rounding, amplified a little by the geometry, leaves this much.
TABLE = 1e-13

ANDREWS = """
Title: Andrews Squeezing Mechanism
Dimension: 2
PhysicalParams: { unit: 1, beta0: -0.0617138900142764496358948458001, rr: 7e-3*unit, d: 28e-3*unit, ss: 35e-3*unit,
  sc: 18e-3*unit, sd: 2e-2*unit, e: 2e-2*unit, zt: 4e-2*unit, zf: 2e-2*unit, u: 4e-2*unit }
PartData:
  Fixed: { O: [], A: [-0.06934*unit, -0.00227*unit], B: [-0.03635*unit, .03273*unit], C: [.014*unit, .072*unit] }
  Rigids:
    OF: { Geom: [[rr]], Dyna: [[92e-5*unit], 0.04325, 2.194e-6*unit**2] }
    FE: { Geom: [[d]], Dyna: [[115e-4*unit], 0.00365, 4.410e-7*unit**2] }
    BED: { Geom: [[ss], [sc, sd]], Dyna: [[1874e-5*unit, 1043e-5*unit], 0.02373, 5.255e-6*unit**2] }
    EG: { Geom: [[e]], Dyna: [[1421e-5*unit], 0.00706, 5.667e-7*unit**2] }
    AG: { Geom: [[zt]], Dyna: [[2308e-5*unit, 916e-5*unit], 0.07050, 1.169e-5*unit**2] }
    HE: { Geom: [[zf]], Dyna: [[zf-1421e-5*unit], 0.00706, 5.667e-7*unit**2] }
    AH: { Geom: [[u]], Dyna: [[1228e-5*unit, -449e-5*unit], 0.05498, 1.912e-5*unit**2] }
  Springs:
    CD: [ 4530, 7785e-5*unit ]
AppliedForces:
  ConstTorques: { OF: 33e-3*unit**2 }
ProblemData:
  t0: 0
  tend: 0.03
  positions:
    E: [-2e-02*unit, 1e-03*unit]
    F: [rr*cos(beta0), [rr*sin(beta0), fixed]]
    G: [-3e-02*unit, 1e-02*unit]
    H: [-3e-02*unit, -1e-02*unit]
"""
CRANK_HELD = ANDREWS.replace("[rr*sin(beta0), fixed]", "rr*sin(beta0)") + "  angles: { OF: [beta0, fixed] }\n"

MECHANISM1 = """
Title: Mechanism1
Dimension: 2
PhysicalParams: { l: 1, L: 0.58, m: 1, M: 1 }
PartData:
  Fixed: { A: [-L/2], B: [L/2] }
  Rigids:
    AC, BD, EF: { Geom: [[l]], Dyna: [[l/2], m, m*l**2/12] }
    CDE:
      Geom: [[l*sqrt(2)], [l/sqrt(2), -l/sqrt(2)]]
      Dyna: [[l/sqrt(2), -l/(3*sqrt(2))], M, M*l**2/9]
AppliedForces:
  Gravity:
ProblemData:
  t0: 0
  tend: 200
  positions: { C: [[-l/sqrt(2), fixed], -l], D: [l/sqrt(2), -l], F: [[0, fixed], -l*(1+1/sqrt(2))] }
  velocities: { C: [[2, fixed], 0], D: [2, 0], F: [[1, fixed], 0] }
"""

PENDULUM = """
Title: Pendulum
Dimension: 2
PartData:
  Fixed: { O: [] }
  Rigids:
    OA: { Geom: [[1]], Dyna: [[0.5], 1, 1/12] }
AppliedForces:
  Gravity:
ProblemData:
  t0: 0
  tend: 1
"""


def prepared(text: str, **overrides: str) -> tuple[Mechanism, System, Start]:
    spec = parse(text, overrides=overrides)
    mechanism = build(spec)
    system = System(mechanism)
    return mechanism, system, assemble(mechanism, system, spec.problem)


def values(text: str, **overrides: str) -> dict[str, float]:
    return {row.label: row.obtained for row in prepared(text, **overrides)[2].rows}


def failure(text: str) -> str:
    with pytest.raises(AssemblyError) as caught:
        prepared(text)
    return str(caught.value)


def all_of(text: str) -> list[Start]:
    spec = parse(text)
    mechanism = build(spec)
    return configurations(mechanism, System(mechanism), spec.problem)


TABLE_A1 = {
    "C_x": -7.07106781186547462e-01, "C_x_dot": 2.0, "C_y": -9.08857487776932649e-01,
    "C_y_dot": -9.17870594226585679e-01,
    "D_x": 7.07106781186547684e-01, "D_x_dot": 2.0, "D_y": -9.08857487776932538e-01, "D_y_dot": 9.17870594226586123e-01,
    "F_x": 0.0, "F_x_dot": 1.0, "F_y": -2.61596426896347944e00, "F_y_dot": 0.0,
}  # fmt: skip
TABLE_A2 = {
    "C_x": -7.07106781186547462e-01, "C_x_dot": -4.5, "C_y": -7.07106781186547573e-01,
    "C_y_dot": 4.49999999999999911e00,
    "D_x": 6.77443189298190029e-01, "D_x_dot": -5.54955604839201833e00, "D_y": -9.95241088811850139e-01,
    "D_y_dot": -5.43352205433924484e-01, "F_x": 0.0, "F_x_dot": 3.0, "F_y": -2.53074377172524434e00,
    "F_y_dot": 4.20048794745364340e00,
}  # fmt: skip
TABLE_A3 = {
    "E_x": -2.09600223463543393e-02, "E_y": 1.29516919370668642e-03, "F_x": 6.98667411545144529e-03,
    "F_y": -4.31723064568895491e-04, "G_x": -3.39972038858399814e-02, "G_y": 1.64619716749976851e-02,
    "H_x": -3.16331345074088999e-02, "H_y": -1.56188686683045412e-02, "theta_OF": -6.17138900142764485e-02,
}  # fmt: skip
MECHANISM1B = MECHANISM1.replace("A: [-L/2], B: [L/2]", "A: [], B: [L]").replace("m: 1, M: 1", "m: 2, M: 5")
MECHANISM1B = MECHANISM1B.replace("C: [[2, fixed]", "C: [[-4.5, fixed]").replace("F: [[1, fixed]", "F: [[3, fixed]")


@pytest.mark.parametrize(
    ("text", "table"),
    [(MECHANISM1, TABLE_A1), (MECHANISM1B, TABLE_A2), (ANDREWS, TABLE_A3)],
    ids=["1a", "1b", "andrews"],
)
def test_seed_tables(text: str, table: dict[str, float]) -> None:
    found = values(text)
    assert max(abs(found[label] - value) for label, value in table.items()) < TABLE


def test_andrews_starts_at_rest_exactly() -> None:
    _, _, start = prepared(ANDREWS)
    assert not np.any(start.velocities)


def test_millimetres_give_the_digits_of_metres() -> None:
    metres, millimetres = values(ANDREWS), values(ANDREWS, unit="1000")
    for label, value in metres.items():
        factor = 1 if "theta" in label else 1000
        # Rounding of lengths near 0.07 m, amplified by the geometry; no tolerance depends on the unit.
        assert abs(millimetres[label] / factor - value) < 1e-16 * 10


def large_or_zero(value: float) -> float:
    """Files may not have numbers below 1e-100."""
    return value if abs(value) > 1e-99 else 0.0


def test_fixed_values_are_held_to_the_bit_and_reported() -> None:
    _, _, start = prepared(MECHANISM1)
    rows = {row.label: row for row in start.rows}
    assert all(row.obtained == row.requested for row in start.rows if row.role == "fixed")
    assert [rows[label].role for label in ("C_x", "C_y", "E_x", "C_x_dot")] == ["fixed", "guess", "free", "fixed"]
    assert rows["E_x"].requested is None
    assert any("F_y" in note.message for note in start.notes)


@some_of(15)
@given(
    angle=st.floats(-3.1, 3.1).map(large_or_zero),
    radius=st.floats(0.2, 5.0),
    speed=st.floats(-3, 3).map(large_or_zero),
)
def test_nearest_point_of_a_circle_is_the_radial_one(angle: float, radius: float, speed: float) -> None:
    """Minimal distance has a known answer: for positions along the radius, for velocities along the tangent."""
    x, y = float(radius * np.cos(angle)), float(radius * np.sin(angle))
    text = PENDULUM + f"  positions: {{ A: [{x!r}, {y!r}] }}\n  velocities: {{ A: [{speed!r}, 1] }}\n"
    found = values(text)
    tangent = np.array([-np.sin(angle), np.cos(angle)])
    velocity = tangent * (tangent @ [speed, 1.0])
    # IPOPT stops at 1e-9; Newton's correction keeps the constraint, not the last digits of the distance.
    assert hypot(found["A_x"] - np.cos(angle), found["A_y"] - np.sin(angle)) < 1e-7
    assert hypot(found["A_x_dot"] - velocity[0], found["A_y_dot"] - velocity[1]) < 1e-7
    assert abs(hypot(found["A_x"], found["A_y"]) - 1.0) < 4e-16


def test_dead_point_is_reached_exactly() -> None:
    """Mechanism0 as printed holds A_x = L: a double root, whose last eight digits Newton's method cannot see."""
    found = values(PENDULUM + "  positions: { A: [[1, fixed], -1] }\n  velocities: { A: [1, 0] }\n")
    assert found["A_x"] == 1.0
    assert abs(found["A_y"]) < 1e-15
    assert abs(found["A_x_dot"]) < 1e-15


def test_fixed_velocity_against_a_dead_point_is_a_conflict() -> None:
    message = failure(PENDULUM + "  positions: { A: [[1, fixed], -1] }\n  velocities: { A: [[1, fixed], 0] }\n")
    assert "OA" in message and "A_x_dot = 1 (line 14)" in message


def test_too_many_fixed_values_are_named_with_lines() -> None:
    message = failure(MECHANISM1.replace("D: [l/sqrt(2), -l]", "D: [[l/sqrt(2), fixed], [-l, fixed]]"))
    assert "4 positions are fixed, but the mechanism has 2 degrees of freedom" in message
    assert all(label in message for label in ("C_x", "D_x", "D_y", "F_x", "line 17"))


def test_dependent_fixed_values_are_named_at_both_levels() -> None:
    text = MECHANISM1.replace("F: [[0, fixed]", "F: [0").replace("D: [l/sqrt(2), -l]", "D: [[l/sqrt(2), fixed], -l]")
    text = text.replace("F: [[1, fixed]", "F: [1").replace("D: [2, 0]", "D: [[2, fixed], 0]")
    message = failure(text)
    assert "fixed positions depend on each other: C_x" in message and "F_x" not in message
    assert "fixed velocities depend on each other: C_x_dot" in message


TRIANGLE = """
Title: Triangle
Dimension: 2
PartData:
  Fixed: { A: [], C: [3] }
  Rigids:
    AB: { Geom: [[1]], Dyna: [[0.5], 1, 0.1] }
    BC: { Geom: [[1]], Dyna: [[0.5], 1, 0.1] }
    BD: { Geom: [[1]], Dyna: [[0.5], 1, 0.1] }
ProblemData: { t0: 0, tend: 1 }
"""


def test_triangle_that_cannot_close_names_its_sides_and_the_gap() -> None:
    message = failure(TRIANGLE)
    assert "AB and BC cannot be closed together: a gap of about 1 remains" in message
    assert "BD" not in message
    assert "make AB or BC longer, or move the fixed points A and C" in message


def test_rod_too_long_is_told_from_rod_too_short() -> None:
    message = failure(TRIANGLE.replace("AB: { Geom: [[1]]", "AB: { Geom: [[5]]"))
    assert "make BC longer, or make AB shorter" in message


def test_fixed_value_out_of_reach_is_named_with_the_nearest_possible() -> None:
    message = failure(MECHANISM1.replace("C: [[-l/sqrt(2), fixed]", "C: [[-2, fixed]"))
    assert "AC and fixed C_x = -2 (line 17)" in message
    assert "nearest possible value is -1.29" in message
    assert "BD" not in message and "EF" not in message


def test_redundant_constraint_is_dropped_and_the_start_still_closes() -> None:
    """A parallelogram with a third, parallel rod: one of its constraints says nothing new."""
    text = """
Title: Parallelogram
Dimension: 2
PartData:
  Fixed: { A: [], B: [1], C: [2] }
  Rigids:
    AD, BE, CF: { Geom: [[1]], Dyna: [[0.5], 1, 0.1] }
    DFE: { Geom: [[2], [1]], Dyna: [[1], 1, 0.1] }
ProblemData:
  t0: 0
  tend: 1
  positions: { D: [0.5, [0.8, fixed]], E: [1.6, 0.9], F: [2.6, 0.9] }
  velocities: { D: [[1, fixed], 0] }
"""
    _, system, start = prepared(text)
    assert len(start.redundancy.rows) == 1
    # All constraints of the full system hold, those left out too: lengths near 1, so 1e-14 is rounding.
    assert np.max(np.abs(system.constraints(0.0, start.positions))) < 1e-14
    assert np.max(np.abs(system.constraint_rate(0.0, start.positions, start.velocities))) < 1e-14


def test_turn_angle_starts_within_one_turn_unless_fixed() -> None:
    wound = values(PENDULUM + "  angles: { OA: 7 }\n")["theta_OA"]
    assert -pi < wound <= pi
    assert abs(wound - (7 - 2 * pi)) < 1e-6
    assert values(PENDULUM + "  angles: { OA: [7, fixed] }\n")["theta_OA"] == 7.0


def test_andrews_closes_in_eight_ways_and_four_with_the_crank_held() -> None:
    printed, held = all_of(ANDREWS), all_of(CRANK_HELD)
    assert (len(printed), len(held)) == (8, 4)
    _, _, alone = prepared(ANDREWS)
    assert np.array_equal(printed[0].positions, alone.positions)
    # The same four closures for this crank angle; rounding of the crank's position is all that differs.
    for start in held:
        assert min(np.max(np.abs(start.positions - other.positions)) for other in printed) < 1e-14


def test_configurations_are_the_same_every_time_and_can_be_picked() -> None:
    spec = parse(CRANK_HELD)
    mechanism = build(spec)
    system = System(mechanism)
    first, second = (configurations(mechanism, system, spec.problem) for _ in range(2))
    assert all(np.array_equal(a.positions, b.positions) for a, b in zip(first, second, strict=True))
    assert np.array_equal(assemble(mechanism, system, spec.problem, branch=3).positions, first[2].positions)
    with pytest.raises(AssemblyError, match="branch 9 was asked for, but 4 configurations were found"):
        assemble(mechanism, system, spec.problem, branch=9)


def test_configurations_hold_what_nothing_fixes_and_say_so() -> None:
    found = all_of(PENDULUM + "  positions: { A: [0.6, -0.8] }\n")
    assert len(found) == 2
    assert any("kept the value of configuration 1" in note.message for note in found[0].notes)


def test_motion_without_mass_is_named() -> None:
    """The model refuses the plainest cases itself, so the check is called directly on a massless pendulum."""
    spec = parse(PENDULUM + "  positions: { A: [0.6, -0.8] }\n")
    mechanism = build(spec)
    system = System(mechanism)
    q, scales = np.array([0.6, -0.8]), scales_of(mechanism)
    closure = position_closure(system, 0.0, q, scales, moving_coordinates(mechanism))
    check_determined(mechanism, system, 0.0, closure, q)
    system.mass_matrix = lambda t, q: np.zeros((2, 2))  # type: ignore[method-assign,assignment,misc]
    with pytest.raises(AssemblyError, match=r"nothing with mass moves with A_x and A_y"):
        check_determined(mechanism, system, 0.0, closure, q)


def test_derivatives_given_to_ipopt() -> None:
    """Jacobian and Hessian of IPOPT's problem against central differences (error about 1e-9 of O(1) numbers)."""
    mechanism, system, start = prepared(ANDREWS)
    closure = position_closure(system, 0.0, start.positions, scales_of(mechanism), moving_coordinates(mechanism)[1:])
    weights = np.linspace(1, 2, system.n)
    distance = Distance(closure, start.positions, weights, [])
    rng = np.random.default_rng(3)
    y, multipliers, h = 0.01 * rng.standard_normal(system.n - 1), rng.standard_normal(system.m), 1e-5

    def gradient(y: np.ndarray) -> np.ndarray:
        rows, columns = distance.jacobianstructure()
        products = distance.jacobian(y) * multipliers[rows]
        return 0.5 * distance.gradient(y) + np.bincount(columns, products, minlength=len(y))

    def lagrangian(y: np.ndarray) -> float:
        return 0.5 * distance.objective(y) + multipliers @ distance.constraints(y)

    steps = h * np.eye(len(y))
    slopes = np.array([(lagrangian(y + s) - lagrangian(y - s)) / (2 * h) for s in steps])
    assert np.max(np.abs(slopes - gradient(y))) < 1e-8
    hessian = np.zeros((len(y), len(y)))
    np.add.at(hessian, distance.hessianstructure(), distance.hessian(y, multipliers, 0.5))
    hessian += np.tril(hessian, -1).T
    curvature = np.array([(gradient(y + s) - gradient(y - s)) / (2 * h) for s in steps])
    assert np.max(np.abs(curvature - hessian)) < 1e-8


def test_straight_four_bar_is_a_singular_position() -> None:
    """Three rods that just reach: a double root in two directions at once; half-found, it would look movable."""
    text = TRIANGLE.replace("AB: { Geom", "AB, BC, CD: { Geom").split("    BC:")[0].replace("C: [3]", "D: [3]")
    assert "singular position" in failure(text + "ProblemData: { t0: 0, tend: 1 }\n")


def test_rate_of_a_work_state_is_the_power_of_its_force() -> None:
    """A force (1, 2) in the frame of OA at a tip that moves across at speed 1 has power 2, exactly."""
    text = PENDULUM.replace("  Gravity:", "  Gravity:\n  ConstForces: { OA.A: [1, 2] }")
    _, system, start = prepared(text + "  positions: { A: [0.6, -0.8] }\n  velocities: { A: [[0.8, fixed], 0.6] }\n")
    assert start.velocities[system.labels.index("work_OA_A")] == pytest.approx(2.0, abs=1e-14)
    assert all("work" not in row.label for row in start.rows)


def test_large_chain_starts_quickly_by_the_sparse_way() -> None:
    """200 rods, every guess off by up to a rod's length: more coordinates than the dense solver takes."""
    rng = np.random.default_rng(4)
    rods = "".join(f"    P{i}P{i + 1}: {{ Geom: [[1]], Dyna: [[0.5], 1, 1/12] }}\n" for i in range(200))
    guesses = "".join(
        f"    P{i}: [{0.8 * i + 0.3 * dx:.4f}, {-0.6 * i + 0.3 * dy:.4f}]\n"
        for i, (dx, dy) in enumerate(rng.uniform(-1, 1, (200, 2)), 1)
    )
    text = f"Dimension: 2\nPartData:\n  Fixed: {{ P0: [] }}\n  Rigids:\n{rods}"
    text += f"ProblemData:\n  tend: 1\n  positions:\n{guesses}"
    _, system, start = prepared(text)
    # Coordinates near 200 are rounded at 2e-14, and so are the rods' lengths.
    assert np.max(np.abs(system.constraints(0.0, start.positions))) < 1e-12


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_rate_of_work_is_found_in_any_unit(unit: float) -> None:
    """The power of a following force is f.v, here 3*2 in units of mass times unit**2; exact but for roundings."""
    text = f"""
PhysicalParams: {{L: {unit}}}
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[L]], Dyna: [[L/2], 1, L**2/12]}}}}
AppliedForces: {{ConstForces: {{OA.A: [0, 3*L]}}}}
ProblemData: {{tend: 1, positions: {{A: [L, 0]}}, velocities: {{A: [0, [2*L, fixed]]}}}}
"""
    handle = mechsim.mechanism(text)
    _, velocities = handle.start()
    assert velocities[handle.coordinates.index("work_OA_A")] == pytest.approx(6 * unit**2, rel=1e-14)


def test_an_angle_that_looks_like_degrees_is_noted_and_a_large_gap_is_a_plain_percentage() -> None:
    rod = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}
ProblemData: {tend: 1, positions: {A: [2, 0]}, angles: {OA: [90, fixed]}}
"""
    problem = parse(rod)
    mechanism = build(problem)
    start = assemble(mechanism, System(mechanism), problem.problem)
    assert any("angles.OA is 90" in note.message and "radians" in note.message for note in start.notes)
    too_far = parse(rod.replace("A: [2, 0]", "A: [[2, fixed], 0]").replace(", angles: {OA: [90, fixed]}", ""))
    mechanism = build(too_far)
    with pytest.raises(AssemblyError, match=r"\(100% of the mechanism's size\)"):
        assemble(mechanism, System(mechanism), too_far.problem)


@pytest.mark.skipif(sys.platform == "win32", reason="needs setitimer")
def test_ctrl_c_within_ipopt_is_heard_when_it_has_ended() -> None:
    """An exception in a callback would pass through IPOPT's own frames, and now and then end the process."""
    mechanism, system, start = prepared(ANDREWS)
    closure = position_closure(system, 0.0, start.positions, scales_of(mechanism), moving_coordinates(mechanism)[1:])
    far = start.positions + np.random.default_rng(4).standard_normal(system.n)
    heard: list[int] = []

    def interrupt(*_: object) -> None:
        heard.append(1)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(20):
            signal.setitimer(signal.ITIMER_REAL, 3e-3)  # once
            with pytest.raises(KeyboardInterrupt):
                while True:
                    minimise(closure, far, np.ones(system.n), far)
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(heard) >= 20
