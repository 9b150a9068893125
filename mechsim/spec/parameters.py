"""PhysicalParams: expressions that may use each other in any order, as long as they do not run in a circle."""

from __future__ import annotations

from collections.abc import Container, Mapping

from mechsim.errors import OVERRIDES_FILE, Fault, Mark, SpecError
from mechsim.spec.circles import ordered, shown
from mechsim.spec.document import Number
from mechsim.spec.expression import Expression, normal_name, parse_expression, undefined
from mechsim.spec.nodes import DictNode, Node, TextNode, describe
from mechsim.spec.number import within_bounds
from mechsim.spec.records import Named
from mechsim.spec.shapes import Reading, Schema
from mechsim.spec.suggest import did_you_mean, listed


class AsExpression:
    """Reads to an Expression: its value has to wait until all parameters are known."""

    def read(self, node: Node, reading: Reading, label: str) -> Expression:
        if not isinstance(node, TextNode) or node.empty:
            raise SpecError(Fault(f"{label} must be a number or expression, not {describe(node)}", node.mark))
        return parse_expression(node.text, node.at(0))

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/expression"}


def check_parameter_name(name: str, mark: Mark) -> None:
    """Raises SpecError for a name that no expression could use."""
    from keyword import iskeyword

    if not name.isidentifier():
        hint = "a parameter is a letter followed by letters, digits and _"
        raise SpecError(Fault(f"`{name}` is not a name for a parameter", mark, hint))
    if iskeyword(name) or name == "fixed":
        raise SpecError(Fault(f"{name} is a reserved word", mark, f"call it {name}_"))


PARAMETERS = Named(AsExpression(), check_parameter_name, r"[^\W\d]\w*")


def resolve(
    node: Node | None, overrides: Mapping[str, str], reading: Reading, inputs: Container[str] = ()
) -> dict[str, Number]:
    """Evaluate all parameters into `reading.environment`; those that cannot be are put into `reading.broken`. `inputs`
    are names that are no parameters, though a person may take them for such."""
    entries = reading.attempt(PARAMETERS.read, node or DictNode(Mark("", 1, 1), []), reading, "PhysicalParams") or {}
    expressions: dict[str, Expression] = {}
    for entry in entries.values():
        name = normal_name(entry.name)
        if entry.value is None:
            reading.broken.add(name)
        elif name in expressions:
            reading.fault(f"PhysicalParams defines {name} twice", entry.mark)
        else:
            expressions[name] = entry.value
    _override(expressions, overrides, reading, inputs)
    _refuse_undefined(expressions, reading)
    order, circles = ordered({name: [n for n in e.names if n in expressions] for name, e in expressions.items()})
    for circle in circles:
        message = f"parameters depend on each other in a circle: {shown(circle)}"
        hint = f"give one of them a value that does not use {circle[0]}"
        reading.fault(message, expressions[circle[0]].mark, hint)
    reading.broken.update(expressions.keys() - set(order))
    for name in order:
        _evaluate(name, expressions[name], reading)
    values = reading.environment
    reading.needs.update({name: expression.names for name, expression in expressions.items()})
    return {name: Number(values[name], e.text, e.mark) for name, e in expressions.items() if name in values}


def _parameters_there(expressions: Mapping[str, Expression]) -> str:
    return f"the file has the parameters {listed(expressions)}" if expressions else "the file has no PhysicalParams"


def _override(
    expressions: dict[str, Expression], overrides: Mapping[str, str], reading: Reading, inputs: Container[str]
) -> None:
    for name, text in overrides.items():
        if name not in expressions and name not in reading.broken:
            message, hint = f"there is no parameter {name}", did_you_mean(name, expressions)
            if name in inputs:
                message, hint = (
                    f"{name} is an input, not a parameter",
                    f"let it start from one: Inputs: {{{name}: {name}0}}",
                )
            reading.fault(message, Mark(OVERRIDES_FILE, 1, 1), hint or _parameters_there(expressions))
            continue
        # as if the text `NAME=EXPR` were a file of its own
        expression = reading.attempt(parse_expression, str(text), Mark(OVERRIDES_FILE, 1, len(name) + 2))
        if expression is not None:
            expressions[name] = expression
            reading.broken.discard(name)


def _refuse_undefined(expressions: dict[str, Expression], reading: Reading) -> None:
    known = expressions.keys() | reading.broken
    for name, expression in expressions.items():
        faults = undefined(expression, known)
        if faults:
            reading.record(faults)
            reading.broken.add(name)


def _value(name: str, expression: Expression, reading: Reading) -> float:
    value: float = expression.evaluate(reading.environment)
    if reading.tape is not None:
        value = reading.tape.value_of(name, value)
    return within_bounds(value, f"PhysicalParams.{name}", lambda: f"{value:g}", expression.mark)


def _evaluate(name: str, expression: Expression, reading: Reading) -> None:
    needs_broken = any(used in reading.broken for used in (name, *expression.names))
    value = None if needs_broken else reading.attempt(_value, name, expression, reading)
    if value is None:
        reading.broken.add(name)
    else:
        reading.environment[name] = value
