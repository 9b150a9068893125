"""Expressions: the same values as Python's floats, and a clear fault for everything else."""

import math

import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

from mechsim.errors import Mark, SpecError
from mechsim.spec.expression import MATH, parse_expression

HERE = Mark("f", 1, 1)
PARAMETERS = {"L": 2.5, "m": -0.75, "e": 0.02, "d": 3.0}


def value(text, environment=PARAMETERS):
    return parse_expression(text, HERE).evaluate(environment)


def first_line(text):
    with pytest.raises(SpecError) as caught:
        value(text)
    return str(caught.value).splitlines()[0]


def numerals():
    floats = st.floats(min_value=0, allow_infinity=False, allow_nan=False)
    return st.one_of(st.integers(0, 10**6).map(lambda i: str(float(i))), floats.map(repr))


def formulas():
    leaves = st.one_of(numerals(), st.sampled_from(sorted(PARAMETERS)))

    def larger(inner):
        binary = st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        power = st.tuples(inner, inner).map(lambda t: f"({t[0]})**({t[1]})")
        call = st.tuples(st.sampled_from(["sqrt", "sin", "exp", "log", "atan", "abs"]), inner)
        return st.one_of(binary, power, inner.map(lambda i: f"-{i}"), call.map(lambda t: f"{t[0]}({t[1]})"))

    return st.recursive(leaves, larger, max_leaves=12)


@given(formulas())
@some_of(300)
def test_same_value_as_python(text):
    """Bit for bit: both do the same IEEE operations in the same order."""
    try:
        expected = eval(text, {"__builtins__": {}}, {**MATH, **PARAMETERS})
    except (ArithmeticError, ValueError, TypeError):  # TypeError: a complex power went into a function
        expected = math.nan
    if isinstance(expected, complex) or not math.isfinite(expected):
        assert ": error: " in first_line(text)
    else:
        try:
            assert value(text) == expected
        except SpecError as error:
            # Python lets an infinity vanish again (1/inf), and the size of a complex power be real (abs((-1)**2.5));
            # we report where they arose.
            assert "too large" in str(error) or "is not defined for -" in str(error)


@given(st.text(max_size=60))
@some_of(300)
def test_any_text_gives_a_number_or_a_fault(text):
    try:
        assert math.isfinite(value(text, dict.fromkeys(parse_expression(text, HERE).names, 1.0)))
    except SpecError as error:
        assert error.faults


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("010", 10.0),
        ("1e-14", 1e-14),
        (".5", 0.5),
        ("  2 * L ", 5.0),
        ("2**-1", 0.5),
        ("-2**2", -4.0),
        ("2**3**2", 512.0),
        ("e", 0.02),
        ("pi", math.pi),
        ("atan2(1, -1)", math.atan2(1, -1)),
        ("010*2 + 1e+010", 20 + 1e10),
        ("7/2", 3.5),
    ],
)
def test_values(text, expected):
    assert value(text) == expected


def test_constant_e_unless_a_parameter_takes_its_name():
    assert value("e", {}) == math.e


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1/(L-2.5)", "f:1:1: error: division by zero in `1/(L-2.5)`"),
        ("L + 1/0", "f:1:5: error: division by zero in `1/0`"),
        ("sqrt(m)", "f:1:1: error: `sqrt(m)` is not defined for -0.75"),
        ("log(0)", "f:1:1: error: `log(0)` is not defined for 0"),
        ("m**0.5", "f:1:1: error: `m**0.5` is not defined for -0.75, 0.5"),
        ("9**9**9**9", "f:1:4: error: `9**9**9` is too large for a number"),
        ("1e400", "f:1:1: error: `1e400` is too large for a number"),
        ("9" * 400, f"f:1:1: error: `{'9' * 400}` is too large for a number"),
        ("1e200*1e200", "f:1:1: error: `1e200*1e200` is too large for a number"),
        ("exp(1e3)", "f:1:1: error: `exp(1e3)` is too large for a number"),
        ("2L", "f:1:1: error: `2L` is not an expression"),
        ("L +", "f:1:4: error: `L +` is not an expression"),
        ("", "f:1:1: error: `` is not an expression"),
        ("L^2", "f:1:1: error: `L^2` is not allowed in an expression"),
        ("L % 2", "f:1:1: error: `L % 2` is not allowed in an expression"),
        ("L // 2", "f:1:1: error: `L // 2` is not allowed in an expression"),
        ("__import__('os')", "f:1:1: error: there is no function __import__"),
        ("L.real", "f:1:1: error: `L.real` is not allowed in an expression"),
        ("[L]", "f:1:1: error: `[L]` is not allowed in an expression"),
        ("lambda: 1", "f:1:1: error: `lambda: 1` is not allowed in an expression"),
        ("(x := 1)", "f:1:2: error: `x := 1` is not allowed in an expression"),
        ("True", "f:1:1: error: `True` is not allowed in an expression"),
        ("1j", "f:1:1: error: `1j` is not allowed in an expression"),
        ("sin(1, 2)", "f:1:1: error: `sin(1, 2)`: sin takes one argument"),
        ("atan2(*L)", "f:1:1: error: `atan2(*L)`: atan2 takes two arguments"),
        ("sinus(1)", "f:1:1: error: there is no function sinus"),
        ("L + 2*sqrt(m)", "f:1:7: error: `sqrt(m)` is not defined for -0.75"),
        ("-" * 900 + "1", "f:1:1: error: the expression is nested too deeply"),
        ("1" + "+1" * 300, "f:1:1: error: the expression is nested too deeply"),
        ("1" + "+1" * 600, "f:1:1: error: an expression of 1201 characters is too long"),
    ],
)
def test_faults(text, line):
    assert first_line(text) == line


def test_names_in_order_of_appearance_and_functions_are_none():
    assert set(parse_expression("b*sin(a) + b + pi", HERE).names) == {"a", "b", "pi"}


def test_another_table_of_functions_traces_the_same_tree():
    """What a later room does with JAX: names and operations of its own."""

    class Traced(str):
        def __mul__(self, other):
            return Traced(f"mul({self},{other})")

    functions = {"sin": lambda x: Traced(f"sin({x})"), "**": lambda x, y: Traced(f"pow({x},{y})")}
    traced = parse_expression("sin(t)*q**2", HERE).evaluate({"t": Traced("t"), "q": Traced("q")}, functions)
    assert traced == "mul(sin(t),pow(q,2.0))"
