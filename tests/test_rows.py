"""Rows of kinds written down as formulas (model/rows.py) are those that JAX derives."""

from textwrap import dedent

import numpy as np
import pytest

from mechsim.kernel.system import System
from mechsim.lagrangian.formula import LEAVES, NUMBERS
from mechsim.model import build
from mechsim.model.book import Book
from mechsim.model.builder import _elements
from mechsim.model.layout import lay_out
from mechsim.model.rows import row_of
from mechsim.spec import parse

ALL_KINDS = """
    PartData:
      Fixed: {O: [0.1, 0.2], W: [3, 1]}
      Rigids:
        OAP: {Geom: [[2], [1, 0.5]], Dyna: [[0.7, 0.3], 3, 1.1]}
        AB: {Geom: [[1.5]], Dyna: [[0.6, -0.2], 2, 0.4]}
      Springs: {BW: {k: 5, l: 0.8, mu: 0.3}}
      Particles: {C: 1.2}
      Collinear: [ABC]
    AppliedForces: {Gravity: [0.5, -9.81], ConstTorques: {OAP: 1}}
    ProblemData: {tend: 1}
"""


def value(tree, known):
    if tree.operation in ("number", "p"):
        return tree.operands[-1]
    if tree.operation in LEAVES:
        return known[tree.operation][tree.operands[0]]
    return NUMBERS[tree.operation](*(value(operand, known) for operand in tree.operands))


@pytest.mark.parametrize("seed", range(3))
def test_rows_written_down_are_those_derived(seed):
    spec = parse(dedent(ALL_KINDS))
    layout, mechanism = lay_out(spec), build(spec)
    book, system = Book(layout, _elements(spec, layout)), System(mechanism)
    random = np.random.default_rng(seed)
    q, v, a = random.uniform(-1, 1, (3, system.n))
    lam = random.uniform(-1, 1, system.m)
    fixed = {-1 - k: constant for k, constant in enumerate(mechanism.constants)}
    known = {
        "x": dict(enumerate(q)) | fixed,
        "v": dict(enumerate(v)) | dict.fromkeys(fixed, 0.0),
        "a": dict(enumerate(a)),
        "m": dict(zip(mechanism.multipliers, lam, strict=True)),
    }
    derived = system.rows_of(set(range(len(book.elements))), 0.0, q, v, a, lam)
    assert {element.kind for element in book.elements} == {
        "planar_body", "turned_length", "length", "placement", "spring", "particle", "collinear",
    }  # fmt: skip
    for place, element in enumerate(book.elements):
        written = [value(row_of(place, slot, book), known) for slot in element.slots]
        np.testing.assert_allclose(written, derived[place], rtol=1e-12, atol=1e-12)
