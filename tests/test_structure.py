"""Structure: the signature method, the seed's tableau, shared freedoms, redundant constraints."""

from math import cos, pi, sin
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechsim import spec
from mechsim.errors import AssemblyError
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.model.placement import guess_positions
from mechsim.structure import NO_REDUNDANCY, analyse, describe_sharing, redundancy, sharing, tableau
from mechsim.structure.positions import project

SPECS = Path(__file__).parent.parent / "specs"


def signed(matrix, labels=None):
    """A system that is nothing but its signature matrix; None stands for minus infinity."""
    entries = [(i, j, order) for i, row in enumerate(matrix) for j, order in enumerate(row) if order is not None]
    columns = [np.array(column) for column in zip(*entries, strict=True)]
    names = labels or [f"x{k}" for k in range(len(matrix))]
    return SimpleNamespace(signature=lambda: columns, labels=names, least_offsets=lambda: np.zeros(len(names), int))


def system_of(text):
    """The system of a spec (its times filled in), and a consistent position near its guesses."""
    read = spec.parse(dedent(text) + ("" if "ProblemData" in text else "ProblemData: {t0: 0, tend: 1}\n"))
    system = System(build(read))
    return system, project(system, 0.0, guess_positions(system.mechanism, read.problem))


def place(system, **points):
    q = np.zeros(system.n)
    for name, position in points.items():
        q[list(system.mechanism.points[name])] = position
    return q


# --- offsets, index, degrees of freedom


def test_the_simple_pendulum_is_the_textbook_case():
    structure = analyse(signed([[2, None, 0], [None, 2, 0], [0, 0, None]]))  # (1.5) of seed 001
    assert structure.equation_offsets.tolist() == [0, 0, 2]
    assert structure.variable_offsets.tolist() == [2, 2, 0]
    assert (structure.index, structure.total_dof, structure.dof) == (3, 2, 1)
    assert len(structure.blocks) == 1


def test_an_ode_has_index_zero_and_an_output_beside_it_index_one():
    assert analyse(signed([[1]])).index == 0
    assert analyse(signed([[1, None], [1, 0]])).index == 1


@st.composite
def signatures(draw):
    """Square signature matrices with a transversal (the diagonal, shuffled)."""
    size = draw(st.integers(1, 5))
    order = st.one_of(st.none(), st.integers(0, 2))
    matrix = [draw(st.lists(order, min_size=size, max_size=size)) for _ in range(size)]
    for i, j in enumerate(draw(st.permutations(range(size)))):
        matrix[i][j] = draw(st.integers(0, 2))
    return matrix


@given(signatures())
def test_offsets_are_the_smallest_that_fit(matrix):
    structure = analyse(signed(matrix))
    c, d = structure.equation_offsets, structure.variable_offsets
    slack = {(i, j): d[j] - c[i] - s for i, row in enumerate(matrix) for j, s in enumerate(row) if s is not None}
    assert min(slack.values()) >= 0
    assert c.min() == 0  # in the smallest offsets some equation is never differentiated
    assert all(slack[i, j] == 0 for i, j in enumerate(structure.assignment))  # so the transversal is a highest one
    # Smallest: lowering any c_i alone, or with the equations it is tied to, must break something. An equation is held
    # at c_i > 0 by another variable's entry: follow "tied" entries down to an equation with c = 0.
    tied = {i: {k for k in range(len(c)) if slack.get((k, structure.assignment[i])) == 0} for i in range(len(c))}
    held = {i for i in tied if c[i] == 0}
    for _ in c:
        held |= {i for i in tied if tied[i] & held}
    assert held == set(tied)


@given(signatures())
def test_blocks_need_only_the_blocks_before_them(matrix):
    structure = analyse(signed(matrix))
    c, d = structure.equation_offsets, structure.variable_offsets
    known = set()
    for block in structure.blocks:
        known |= {int(structure.assignment[i]) for i in block}
        used = {j for i in block for j, s in enumerate(matrix[i]) if s is not None and d[j] - c[i] == s}
        assert used <= known
    assert sorted(np.concatenate(structure.blocks)) == list(range(len(matrix)))


def test_a_singular_structure_names_equations_and_variables():
    system = signed([[2, None, None], [2, None, None], [0, 0, 0]], ["A_x", "A_y", "B_x"])
    with pytest.raises(AssemblyError, match="too few for A_y, B_x, too many in A_x, A_y"):
        analyse(system)


def test_five_thousand_variables_are_analysed():
    count = 1667  # two coordinates and a length per bob of a chain
    x, y, lam = 2 * np.arange(count), 2 * np.arange(count) + 1, 2 * count + np.arange(count)
    pairs = [(x, x, 2), (y, y, 2), (x, lam, 0), (y, lam, 0), (x[:-1], lam[1:], 0), (y[:-1], lam[1:], 0)]
    pairs += [(column, row, order) for row, column, order in pairs[2:]]
    rows, columns = (np.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
    orders = np.concatenate([np.full(len(row), order) for row, _, order in pairs])
    labels = [f"x{k}" for k in range(3 * count)]
    least = np.zeros(len(labels), int)
    structure = analyse(
        SimpleNamespace(signature=lambda: (rows, columns, orders), labels=labels, least_offsets=lambda: least)
    )
    assert (structure.index, structure.dof) == (3, count)


# --- the tableau


def test_the_tableau_of_mechanism0_is_that_of_the_seed():
    system, _ = system_of((SPECS / "mechanism0.yaml").read_text())
    lines = tableau(system, analyse(system)).splitlines()
    rows = [" ".join(line.replace("*", "").split()) for line in lines]
    assert rows[2] == "0 1 2 3 4 5 6 c_i"
    assert rows[4:11] == [
        "0 2 0 2 0 0 - - 0 A_x",
        "1 0 2 0 2 0 - - 0 A_y",
        "2 2 0 2 0 - - - 0 B_x",
        "3 0 2 0 2 - - - 0 B_y",
        "4 0 0 - - - - - 2 l_OA",
        "5 1 1 1 1 - 0 - 0 T",
        "6 0 0 0 0 - - 0 0 V",
    ]
    assert rows[12:] == ["d_j 2 2 2 2 0 0 0", "A_x A_y B_x B_y l_OA T V", "Index = 3, DOF = 6"]
    assert sum(line.count("*") for line in lines) == 7


@pytest.mark.parametrize(
    ("name", "dof", "index"),
    [("mechanism1a", 2, 3), ("andrews", 1, 3), ("double_pendulum", 2, 3), ("four_bar", 1, 3), ("mechanism0", 3, 3)],
)
def test_degrees_of_freedom_of_the_specs(name, dof, index):
    system, _ = system_of((SPECS / f"{name}.yaml").read_text())
    structure = analyse(system)
    assert (structure.dof, structure.total_dof, structure.index) == (dof, 2 * dof, index)


def test_an_integrated_work_is_no_mechanical_freedom():
    system, _ = system_of(
        """
        PartData:
          Fixed: {O: []}
          Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1]}}
        AppliedForces: {ConstForces: {OA.A: [0, 1]}}
        """
    )
    structure = analyse(system)
    assert (structure.dof, structure.total_dof) == (1, 3)


def test_a_large_tableau_is_listed_and_cut():
    rods = ", ".join(f"P{k}P{k + 1}: {{Geom: [[1]], Dyna: [[0], 1, 1]}}" for k in range(100))
    system, _ = system_of(f"PartData: {{Fixed: {{P0: []}}, Rigids: {{{rods}}}}}\n")
    lines = tableau(system, analyse(system)).splitlines()
    assert len(lines) < 120
    assert lines[-2:] == ["  ... and 202 more equations", "Index = 3, DOF = 200"]


# --- who shares which freedom


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mechanism1a", "AC, BD and CDE share 1 degree of freedom; EF has 1"),
        ("andrews", "OF, FE, BED, EG, AG, HE and AH share 1 degree of freedom"),
        ("mechanism0", "OA has 1 degree of freedom; AB has 2"),
        ("double_pendulum", "OA has 1 degree of freedom; AB has 1"),
    ],
)
def test_freedoms_in_mechanism_words(name, words):
    system, q = system_of((SPECS / f"{name}.yaml").read_text())
    assert describe_sharing(sharing(system, 0.0, q)) == words


def test_a_truss_cannot_move_but_what_hangs_on_it_can():
    system, q = system_of(
        """
        PartData:
          Fixed: {A: [], B: [1]}
          Rigids: {"AC, BC, CD": {Geom: [[1]], Dyna: [[0.5], 1, 1]}}
          Particles: {P: 1}
        """
    )
    words = describe_sharing(sharing(system, 0.0, q))
    assert words == "CD has 1 degree of freedom; P has 2; AC and BC cannot move"


# --- redundant constraints


PARALLELOGRAM = """
    PartData:
      Fixed: {A: [], B: [2]%s}
      Rigids:
        "AC, BD%s": {Geom: [[1]], Dyna: [[0.5], 1, 1]}
        CD%s: {Geom: [[2]%s], Dyna: [[1], 1, 1]}
    """


def test_a_third_parallel_rod_is_redundant_wherever_it_stands():
    text = PARALLELOGRAM % (", E: [1]", "", "F", ", [1]") + "    EF: {Geom: [[1]], Dyna: [[0.5], 1, 1]}\n"
    system, _ = system_of(text)
    for angle in (0.3, 1.2, 2.5):
        x, y = cos(angle), sin(angle)
        q = place(system, C=(x, y), D=(x + 2, y), F=(x + 1, y))
        found = redundancy(system, 0.0, q)
        assert [system.labels[system.n + k] for k in found.rows] == ["l_EF"]
        # Any two of the three rods would do.
        assert {"l_AC", "l_BD", "l_EF"} <= {system.labels[system.n + k] for k in found.spare}
        assert analyse(system, found).dof == 1


def test_a_change_point_is_not_redundancy():
    system, _ = system_of(PARALLELOGRAM % ("", "", "", ""))
    flat = redundancy(system, 0.0, place(system, C=[1, 0], D=[3, 0]))
    assert flat.rows == flat.spare == () and len(flat.singular) == 1
    assert redundancy(system, 0.0, place(system, C=[0, 1], D=[2, 1])) == NO_REDUNDANCY


def test_an_extreme_position_is_neither():
    """A crank in line with its coupler stops the rocker for a moment, but the constraints stay independent."""
    system, _ = system_of((SPECS / "andrews.yaml").read_text())
    read = spec.read(SPECS / "andrews.yaml")
    q = project(system, 0.0, guess_positions(system.mechanism, read.problem))
    assert redundancy(system, 0.0, q) == NO_REDUNDANCY


def test_many_constraints_take_the_sparse_way():
    rods = ", ".join(f"P{k}P{k + 1}: {{Geom: [[1]], Dyna: [[0], 1, 1]}}" for k in range(400))
    read = spec.parse(f"PartData: {{Fixed: {{P0: []}}, Rigids: {{{rods}}}}}\nProblemData: {{t0: 0, tend: 1}}\n")
    system = System(build(read))
    assert redundancy(system, 0.0, guess_positions(system.mechanism, read.problem)) == NO_REDUNDANCY


def test_the_nearest_consistent_position_satisfies_the_constraints():
    system, _ = system_of(PARALLELOGRAM % ("", "", "", ""))
    q = project(system, 0.0, place(system, C=[0.1, 1.2], D=[2, 0.9]))
    # Newton converges quadratically, so the last step leaves rounding.
    assert np.abs(system.constraints(0.0, q)).max() < 1e-14
    assert np.angle(complex(*q[:2])) == pytest.approx(pi / 2, abs=0.2)  # near where it was put
