"""The language as one table: every section and key, its shape and meaning. It is the parser and the JSON Schema."""

from __future__ import annotations

from mechsim.errors import Fault, SpecError
from mechsim.spec import bonds, contacts, designing, events, functions, known, loads, motion
from mechsim.spec.animation import ANIMATION, SKELETON, SKELS
from mechsim.spec.document import NUMBER_FORMAT, SMALLEST_TOLERANCE, Number, StartValue
from mechsim.spec.expression import ARITY, IF
from mechsim.spec.inertia import Inertia
from mechsim.spec.joints import JOINTS
from mechsim.spec.names import POINT, point_of, points_of
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode, describe
from mechsim.spec.orientation import OrientationShape, SpinShape, spin_name
from mechsim.spec.parameters import PARAMETERS
from mechsim.spec.records import Entry, Field, ListOf, Named, Record, ShortOrLong
from mechsim.spec.repeat import Ranges
from mechsim.spec.shapes import FLAG, Between, Quantity, Reading, Schema, Text, Vector, Whole, Word, coordinates
from mechsim.spec.solids import DEFINITIONS, Dyna, Shapes
from mechsim.spec.sweeping import SWEEP

PART = f"({POINT})+"
BETWEEN = loads.BETWEEN


class Start:
    """An initial value: a guess, or `[value, fixed]`."""

    def read(self, node: Node, reading: Reading, label: str) -> StartValue:
        if not isinstance(node, ListNode):
            if isinstance(node, TextNode) and node.text == "fixed":
                hint = "it belongs into the brackets of its value: [[value, fixed], ...]"
                raise SpecError(Fault(f"{label}: `fixed` stands where a value should", node.mark, hint))
            return StartValue(Quantity().read(node, reading, label), False)
        word = node.items[1] if len(node.items) == 2 else None
        if not isinstance(word, TextNode) or word.text != "fixed":
            raise SpecError(Fault(f"{label}: a value in brackets must be [value, fixed]", node.mark))
        return StartValue(Quantity().read(node.items[0], reading, label), True)

    def schema(self) -> Schema:
        pair = {"type": "array", "prefixItems": [{"$ref": "#/$defs/expression"}, {"const": "fixed"}], "minItems": 2}
        return {"anyOf": [{"$ref": "#/$defs/expression"}, {**pair, "maxItems": 2}]}


class StartVector:
    """Initial values of a point's coordinates; missing ones are guessed zero, by the padding rule."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[StartValue, ...]:
        return coordinates(node, reading, label, Start().read, _guess)

    def schema(self) -> Schema:
        return {"type": "array", "items": Start().schema(), "maxItems": 3}


def _guess(number: Number) -> StartValue:
    return StartValue(number, False)


class Columns:
    """`[D: 2, E: 1]`: columns per coordinate, 1 for values, 2 for values and derivatives; a bare name means 2."""

    def read(self, node: Node, reading: Reading, label: str) -> dict[str, Entry]:
        items = node.items if isinstance(node, ListNode) else [node]
        pairs = [pair for item in items for pair in self._pairs(item, label)]
        return Named(Whole(1, 2), loads.torque_name, BETWEEN).read(DictNode(node.mark, pairs), reading, label)

    def _pairs(self, item: Node, label: str) -> list[tuple[TextNode, Node]]:
        if isinstance(item, DictNode):
            return item.entries
        if isinstance(item, TextNode) and not item.empty:
            return [(item, TextNode("2", item.mark))]
        hint = "write [D: 2, E: 1] or [D, E]"
        raise SpecError(Fault(f"{label} must hold names, not {describe(item)}", item.mark, hint))

    def schema(self) -> Schema:
        pairs = Named(Whole(1, 2), loads.torque_name, BETWEEN).schema()
        return {"anyOf": [pairs, {"type": "array", "items": {"anyOf": [pairs, {"type": "string"}]}}]}


DYNA = ShortOrLong(
    {
        "centroid": Field(Vector(), "local coordinates of the centre of mass", required=True),
        "mass": Field(Quantity(least=0), "mass, kg", required=True),
        "inertia": Field(Inertia(), "about the centroid, kg m^2; in space three or six numbers", required=True),
    }
)
RIGID = Record(
    {
        "Geom": Field(ListOf(Vector()), "local coordinates of the points after the first, in order", required=True),
        "Dyna": Field(
            Dyna(DYNA),
            "[centroid, mass, inertia], or shapes with density or mass; without it the part has no mass",
            may_be_empty=True,
        ),
        "Shapes": Field(Shapes(), "what it looks like, and with a density or mass, what it weighs", may_be_empty=True),
    }
)
SPRING = ShortOrLong(
    {
        "k": Field(Quantity(), "stiffness, N/m", required=True),
        "l": Field(Quantity(least=0), "rest length, m", required=True),
        "mu": Field(Quantity(least=0), "mass, kg, spread evenly; zero if omitted"),
        "c": Field(Quantity(least=0), "damping, N s/m; zero if omitted"),
    },
    loads.SPRING_LAW,
)
LENGTH = Quantity(least=0)
PART_DATA = Record(
    {
        "Fixed": Field(Named(Vector(), point_of, POINT), "points fixed in the world: {O: [x, y]}", may_be_empty=True),
        "Rigids": Field(Named(RIGID, points_of, PART), "rigid parts, named by their points", may_be_empty=True),
        "Springs": Field(Named(SPRING, points_of, PART), "springs: {AB: [k, l, mu, c]}", may_be_empty=True),
        "Rods": Field(Named(LENGTH, points_of, PART), "rods without mass: {AB: length}", may_be_empty=True),
        "Particles": Field(Named(Quantity(least=0), point_of, POINT), "particles: {B: mass}, kg", may_be_empty=True),
        "Collinear": Field(
            ListOf(Text(rf"^{PART}$", "points written together")),
            "points that stay on one line: [ABC, DEFG]",
            may_be_empty=True,
        ),
    }
)
FORCES = Record(
    {
        "Gravity": Field(
            loads.Gravity(),
            "acceleration of gravity [g_x, g_y], m/s^2; empty: [0, -9.80665], in space [0, 0, -9.80665]; or towards a "
            "point {mu: ..., centre: O}",
        ),
        "ConstTorques": Field(
            Named(loads.TorqueShape(Quantity()), loads.any_torque_name, loads.TORQUE),
            "constant torques, N m: on a part {OA: tau}, or between two {AB-OA: tau}; in space as Torques",
            may_be_empty=True,
        ),
        "ConstForces": Field(
            Named(Vector(), loads.force_name, rf"({PART}\.)?{POINT}"),
            "constant forces, N: in the world {A: [f_x, f_y]}, or in a part's frame {OA.A: [f_x, f_y]}",
            may_be_empty=True,
        ),
        **loads.FIELDS,
    }
)
PROBLEM = Record(
    {
        "t0": Field(Quantity(), "start time, s; 0 if omitted"),
        "tend": Field(events.End(), "end time, s: `tend: 10`; or at an event, `tend: [10, landed]`", required=True),
        "positions": Field(
            Named(StartVector(), point_of, POINT), "guesses or fixed values of points, m", may_be_empty=True
        ),
        "velocities": Field(Named(StartVector(), point_of, POINT), "guesses or fixed values, m/s", may_be_empty=True),
        "angles": Field(
            Named(Start(), loads.torque_name, BETWEEN),
            "turn angles, rad: of parts {OA: ...}; in space about an axis {OCD-OCE: ...}",
            may_be_empty=True,
        ),
        "rates": Field(Named(Start(), loads.torque_name, BETWEEN), "their rates, rad/s", may_be_empty=True),
        "orientations": Field(
            Named(OrientationShape(), points_of, PART),
            "how parts stand in space: {ABC: {euler: [zxz, a, b, c]}}, by axis and angle or quaternion; or "
            "[one of these, fixed]",
            may_be_empty=True,
        ),
        "spins": Field(
            Named(SpinShape(), spin_name, rf"({PART}\.)?{PART}"),
            "angular velocities in space, rad/s: {ABC: [x, y, z]}, about the part's own axes {ABC.ABC: [x, y, z]}",
            may_be_empty=True,
        ),
        "Branch": Field(Whole(1, 1000), "which way of closing, as `mechsim assemble --all` lists them"),
    }
)
FORMAT = Text(rf"^{NUMBER_FORMAT}$", "a number format such as '% .17e'")
SOLVER = Record(
    {
        "Mode": Field(Word({"solve": "solve"}), "what to do: solve"),
        "Integration": Field(
            Record(
                {
                    "tol": Field(
                        Between(SMALLEST_TOLERANCE, 1), "tolerance per step, relative to the size of the mechanism"
                    ),
                    "order": Field(Whole(3, 60), "order of the Taylor series; chosen from tol if omitted"),
                }
            ),
            "accuracy of the motion",
            may_be_empty=True,
        ),
        "Display": Field(
            Record({"signature": Field(FLAG, "show the signature matrix before the run")}),
            "what to show",
            may_be_empty=True,
        ),
        "OutFile": Field(
            Record(
                {
                    "tformat": Field(FORMAT, "format of times"),
                    "qformat": Field(FORMAT, "format of all other values"),
                    "points": Field(Columns(), "points to write, with columns per coordinate", may_be_empty=True),
                    "angles": Field(Columns(), "turn angles to write, with columns", may_be_empty=True),
                }
            ),
            "what is written for people",
            may_be_empty=True,
        ),
    }
)
DIMENSION = Whole(2, 3)
DOCUMENT = Record(
    {
        "Title": Field(Text(), "the name of the mechanism"),
        "Dimension": Field(DIMENSION, "2 or 3; 2 if omitted"),
        "PhysicalParams": Field(PARAMETERS, "names for numbers and expressions", may_be_empty=True),
        "Repeat": Field(Ranges(), "indices: keys that hold {i} repeat for i in first..last", may_be_empty=True),
        "PartData": Field(PART_DATA, "the parts: Fixed, Rigids, Springs, Particles, Collinear", required=True),
        **functions.SECTIONS,
        "AppliedForces": Field(FORCES, "gravity, torques, forces", may_be_empty=True),
        "Joints": Field(JOINTS, "sliders, slots, curves, ropes, gears, wheels, skates", may_be_empty=True),
        **motion.SECTIONS,
        **contacts.SECTIONS,
        **bonds.SECTIONS,
        **events.SECTIONS,
        "ProblemData": Field(PROBLEM, "the initial-value problem: t0, tend, positions, ...", required=True),
        "SolverParams": Field(SOLVER, "how to solve and what to write", may_be_empty=True),
        "Reference": Field(known.Section(), "answers known from elsewhere, for `mechsim bench`", may_be_empty=True),
        "Sweep": Field(SWEEP, "many runs: which parameters vary, what is measured", may_be_empty=True),
        **designing.SECTIONS,
        "Animation": Field(ANIMATION, "how to draw the motion", may_be_empty=True),
        "Skeleton": Field(SKELETON, "thickness of drawn parts; may stand inside Animation", may_be_empty=True),
        "Skels": Field(SKELS, "outlines of drawn parts; may stand inside Animation", may_be_empty=True),
    }
)


def schema() -> Schema:
    """A JSON Schema (draft 2020-12) of mechanism files, for editors: completion, hints, first checks."""
    names = ", ".join(ARITY).replace(IF, "if")
    expression = {"type": ["number", "string"], "description": f"a number or an expression; functions: {names}"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mechsim mechanism",
        **DOCUMENT.schema(),
        "$defs": {"expression": expression, **DEFINITIONS},
    }
