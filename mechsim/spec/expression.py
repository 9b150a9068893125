"""Expressions: text to a whitelisted tree, evaluated by walking it. Nothing is ever handed to Python's `eval`.

The tree does not know floats: `Expression.evaluate` takes the values of names and a table of functions, so the
same expression can be evaluated with `math` here, or with time and state traced by JAX elsewhere.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import unicodedata
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.living import aware
from mechsim.spec.suggest import did_you_mean

# Longer or deeper than any formula a person writes; low enough that neither Python's parser nor our walk overflows.
MAX_LENGTH = 1000
MAX_DEPTH = 120

# The key of power is "**", because a traced value needs another power than a float does.
MATH: Mapping[str, Callable[..., Any]] = {
    "**": aware("pow"),
    "abs": abs,
    "sign": lambda x: 1.0 if x > 0 else -1.0 if x < 0 else 0.0,
    "min": lambda a, b: a if a < b else b,
    "max": lambda a, b: a if a > b else b,
    "iF": lambda condition, a, b: a if condition > 0 else b,
    **{name: aware(name) for name in "sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh".split()},
}
# Functions that switch at zero: exactly, where they are of what moves (model/quantities.py). `if` is no name of Python.
IF = "iF"
SWITCHING = ("abs", "sign", "min", "max", IF)
ARITY = {name: {"atan2": 2, "min": 2, "max": 2, IF: 3}.get(name, 1) for name in MATH if name != "**"}
COUNTS = {1: "one argument", 2: "two arguments", 3: "three arguments"}
CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e}  # a parameter of the same name wins

BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}

# Functions of two points, and attributes of one, that stand for quantities of the mechanism where state may enter.
DISTANCES = ("dist", "rate")
# What people reach for, and the smooth form that a Taylor series can follow.
SMOOTH_FORMS: Mapping[str, str] = {
    "fabs": "abs(x)",
    **dict.fromkeys(("sgn", "signum"), "sign(x)"),
    **dict.fromkeys(("step", "heaviside", "if_", "where"), "if(x, 1, 0)"),
    **dict.fromkeys(("floor", "ceil", "round", "mod", "fmod"), "a function of time in Tables or Piecewise"),
}

NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# What Python may warn of, in a text that we refuse anyway: `1if`, a string. To be deaf to it takes time.
ODD = re.compile(r"""[\d.][A-Za-z_]|["'\\]""")
# Python refuses 010; people and other YAML tools write it. Zeros are blanked, so that columns stay.
CONDITION = re.compile(r"(?<![\w.])if(?=\s*\()")
LEADING_ZEROS = re.compile(r"(?<![\w.])(?<![eE][+-])0+(?=\d)")


class Expression(NamedTuple):
    """A parsed expression. `names` are the names it needs a value for, constants included, in order of appearance.

    Where state may enter, `A.x`, `dist(A,B)` and the like are names too, written just so.
    """

    text: str
    mark: Mark
    tree: ast.expr
    names: tuple[str, ...]

    def evaluate(self, environment: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] = MATH) -> Any:
        """The value, given that of every name that is no constant. Raises SpecError at the column of the culprit."""
        return self._value(self.tree, environment, functions)

    def place(self, name: str) -> Mark:
        """Where `name` first stands."""
        return next(self.at(node) for node in _nodes(self.tree) if name_of(node) == name)

    def unsmooth(self, changing: Callable[[str], bool]) -> Mark | None:
        """Where a function switches by something that changes: by a name for which `changing` holds."""
        for node in _nodes(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SWITCHING:
                names = [name_of(part) for argument in node.args for part in ast.walk(argument)]
                if any(name is not None and changing(name) for name in names):
                    return self.at(node)
        return None

    def _value(self, node: ast.expr, environment: Mapping[str, Any], functions: Mapping[str, Any]) -> Any:
        if isinstance(node, ast.Constant):
            return self._checked(node, float, node.value)
        name = name_of(node)
        if name is not None:
            return environment[name] if name in environment else CONSTANTS[name]
        operands = [self._value(child, environment, functions) for child in operands_of(node)]
        return self._checked(node, _operation(node, functions), *operands)

    def _checked(self, node: ast.expr, function: Callable[..., Any], *operands: Any) -> Any:
        try:
            value = function(*operands)
        except ZeroDivisionError:
            raise SpecError(Fault(f"division by zero in {self.shown(node)}", self.at(node))) from None
        except OverflowError:
            raise self._overflow(node) from None
        except ValueError:
            shown = ", ".join(f"{float(operand):.6g}" if isinstance(operand, float) else "this" for operand in operands)
            message = f"{self.shown(node)} is not defined for {shown}"
            raise SpecError(Fault(message, self.at(node))) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise self._overflow(node)
        return value

    def _overflow(self, node: ast.expr) -> SpecError:
        hint = "the largest double is about 1.8e308"
        return SpecError(Fault(f"{self.shown(node)} is too large for a number", self.at(node), hint))

    def shown(self, node: ast.expr) -> str:
        """A node of the tree as it was written, in quotes."""
        return f"`{ast.get_source_segment(_readable(self.text), node) or self.text.strip()}`".replace(f"{IF}(", "if(")

    def at(self, node: ast.expr) -> Mark:
        """Where a node of the tree stands."""
        text = _readable(self.text)
        shift = len(self.text) - len(self.text.lstrip())
        # ast counts UTF-8 bytes, editors count characters
        column = len(text.encode()[: node.col_offset].decode(errors="ignore"))
        return Mark(self.mark.file, self.mark.line, self.mark.column + shift + column)


def parse_expression(
    text: str,
    mark: Mark,
    state: bool = False,
    further: Mapping[str, int] = {},
    bindings: Mapping[str, int] = {},
    switches: bool = True,
) -> Expression:
    """Parse `text`, which stands at `mark`; `state`: quantities of the mechanism may be used; `further` functions, with
    their numbers of arguments, may be too; `bindings`: names that stand for whole numbers; `switches`: sign, min, max
    and if are known. Raises SpecError when it is no expression of the language."""
    if len(text) > MAX_LENGTH:
        hint = "name its pieces in PhysicalParams"
        raise SpecError(Fault(f"an expression of {len(text)} characters is too long", mark, hint))
    try:
        tree = _parsed(_readable(text))
    except SyntaxError as error:
        brackets = error.msg if error.msg.startswith(("'", "unmatched")) else ""  # "'(' was never closed"
        raise _syntax_fault(text, mark, error.offset, brackets) from None
    except ValueError:  # characters that no source text may hold
        raise _syntax_fault(text, mark, 1) from None
    except (RecursionError, MemoryError):
        raise _too_deep(mark) from None
    expression = Expression(text, mark, _Binder(bindings).visit(tree) if bindings else tree, ())
    arity = ARITY if switches else {name: count for name, count in ARITY.items() if name not in SWITCHING[1:]}
    names = _allowed_names(expression, state, {**arity, **further})
    return Expression(text, mark, expression.tree, tuple(dict.fromkeys(names)))


class _Binder(ast.NodeTransformer):
    """Puts numbers in the places of names; not in those of points, as in `dist(i,B)` or `i.x`."""

    def __init__(self, bindings: Mapping[str, int]):
        self.bindings = bindings

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.bindings:
            return node
        value = self.bindings[node.id]
        number = ast.copy_location(ast.Constant(abs(value)), node)
        return number if value >= 0 else ast.copy_location(ast.UnaryOp(ast.USub(), number), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if name_of(node) is None:
            node.args = [self.visit(argument) for argument in node.args]
        return node


def _parsed(text: str) -> ast.expr:
    if not ODD.search(text):
        return ast.parse(text, mode="eval").body
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def undefined(expression: Expression, known: Collection[str]) -> list[Fault]:
    """A fault for each name of the expression that is neither known nor a constant."""
    missing = [name for name in expression.names if name not in known and name not in CONSTANTS]
    return [_undefined_fault(expression, name, known) for name in missing]


def normal_name(name: str) -> str:
    """The name as Python's parser will report it (it folds compatible letters: `ℓ` becomes `l`)."""
    return unicodedata.normalize("NFKC", name)


def _readable(text: str) -> str:
    text = CONDITION.sub(IF, text.replace("\n", " "))
    return LEADING_ZEROS.sub(lambda zeros: " " * len(zeros[0]), text).lstrip()


def _nodes(tree: ast.expr) -> list[ast.expr]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.expr)]


def name_of(node: ast.AST) -> str | None:
    """The name that a node is: `L`, `A.x` or `dist(A,B)`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DISTANCES:
        return f"{node.func.id}({','.join(argument.id for argument in node.args if isinstance(argument, ast.Name))})"
    return None


def operands_of(node: ast.expr) -> list[ast.expr]:
    """Of a node that is no reference."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return [node.operand] if isinstance(node, ast.UnaryOp) else list(getattr(node, "args", []))


def _operation(node: ast.expr, functions: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    if isinstance(node, ast.BinOp):
        return functions["**"] if isinstance(node.op, ast.Pow) else BINARY[type(node.op)]
    if isinstance(node, ast.UnaryOp):
        return UNARY[type(node.op)]
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return functions[node.func.id]


def _allowed_names(expression: Expression, state: bool, arity: Mapping[str, int]) -> list[str]:
    """The names in the tree; raises SpecError at the first node that the language does not have."""
    names = []
    level = [expression.tree]
    for _ in range(MAX_DEPTH):
        below: list[ast.expr] = []
        for node in level:
            fault = _refusal(expression, node, state, arity)
            if fault:
                raise SpecError(fault)
            name = name_of(node)
            if name is not None:
                names.append(name)
            else:
                below += operands_of(node)
        if not below:
            return names
        level = below
    raise _too_deep(expression.mark)


def _refusal(expression: Expression, node: ast.expr, state: bool, arity: Mapping[str, int]) -> Fault | None:
    """Why this node is not in the language, or None."""
    if state and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return None
    if isinstance(node, ast.Constant):
        known = isinstance(node.value, int | float) and not isinstance(node.value, bool)
    elif isinstance(node, ast.BinOp):
        known = type(node.op) in BINARY or isinstance(node.op, ast.Pow)
    elif isinstance(node, ast.Call):
        return _call_refusal(expression, node, state, arity)
    else:
        known = isinstance(node, ast.Name) or (isinstance(node, ast.UnaryOp) and type(node.op) in UNARY)
    if known:
        return None
    hint = "powers are written **" if isinstance(getattr(node, "op", None), ast.BitXor) else _LANGUAGE
    if isinstance(node, ast.Tuple) and re.fullmatch(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*", expression.text):
        hint = f"decimals have a point: {expression.text.strip().replace(',', '.')}"
    if isinstance(node, ast.IfExp | ast.Compare | ast.BoolOp):
        hint = "write if(x, a, b): a where x > 0, else b; or a function of time in Tables or Piecewise"
    return Fault(f"{expression.shown(node)} is not allowed in an expression", expression.at(node), hint)


def _call_refusal(expression: Expression, node: ast.Call, state: bool, arity: Mapping[str, int]) -> Fault | None:
    place = expression.at(node)
    if not isinstance(node.func, ast.Name):
        return Fault(f"{expression.shown(node)} is not allowed in an expression", place, _LANGUAGE)
    name = node.func.id
    if state and name in DISTANCES:
        points = len(node.args) == 2 and not node.keywords and all(isinstance(a, ast.Name) for a in node.args)
        return None if points else Fault(f"{expression.shown(node)}: {name} takes two points, as {name}(A,B)", place)
    if name not in arity:
        smooth = f"write {SMOOTH_FORMS[name]}" if name in SMOOTH_FORMS else ""
        hint = smooth or did_you_mean(name.replace(IF, "if"), [*arity, *(DISTANCES if state else ())]) or _LANGUAGE
        return Fault(f"there is no function {name.replace(IF, 'if')}", place, hint)
    if len(node.args) != arity[name] or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        return Fault(f"{expression.shown(node)}: {name} takes {COUNTS[arity[name]]}", place)
    return None


def _undefined_fault(expression: Expression, name: str, known: Collection[str]) -> Fault:
    hint = did_you_mean(name, [*known, *CONSTANTS])
    if not hint:
        hint = f"{name} is a function: {name}(...)" if name in ARITY else "define it in PhysicalParams"
    return Fault(f"{name} is not defined", expression.place(name), hint)


def _syntax_fault(text: str, mark: Mark, offset: int | None, hint: str = "") -> SpecError:
    shift = len(text) - len(text.lstrip())
    column = mark.column + shift + (offset - 1 if offset else len(text.strip()))  # no offset: it ends too early
    shown = text if len(text) <= 60 else text[:57] + "..."
    if text.count("(") != text.count(")"):
        hint = f"a {')' if text.count('(') > text.count(')') else '('} is missing"
    if _SEVERAL.search(text):
        hint += ', or inside braces or brackets: quote what holds a comma, "dist(A,B)"'
    if re.search(r"(?<![\w.])[\d.]+(?![eE][+-]?\d)[A-Za-z_(]", text):
        hint = "write the multiplication: 2*L"
    if ";" in text:
        hint = "numbers of a list are separated by commas: [0, 1]"
    return SpecError(Fault(f"`{shown}` is not an expression", Mark(mark.file, mark.line, column), hint))


# A function of several arguments whose first comma ended the text: YAML splits what is not quoted there.
_SEVERAL = re.compile(rf"\b({'|'.join(['if', *DISTANCES, *(name for name in ARITY if ARITY[name] > 1)])})\([^(),]*$")


def _too_deep(mark: Mark) -> SpecError:
    return SpecError(Fault("the expression is nested too deeply", mark, "name its pieces in PhysicalParams"))


_LANGUAGE = "expressions have numbers, parameters, + - * / **, pi, and functions such as sqrt, sin, atan2"
