"""Files that are right: the listings in specs/, every example of the language page, the schema, and speed of import."""

import json
import math
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
import yaml

from mechsim.spec import parse, read, schema
from mechsim.spec.document import Number

ROOT = Path(__file__).parent.parent
SPECS = sorted((ROOT / "specs").glob("*.yaml"))
EXAMPLES = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "language.md").read_text(), re.DOTALL)


def floats(numbers):
    return [number.value for number in numbers]


def start(values):
    return [(value.number.value, value.fixed) for value in values]


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_spec_is_read(path):
    spec = read(path)
    assert spec.path == str(path) and spec.text == path.read_text() and spec.title


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_of_the_language_page_is_read(text):
    spec = parse(text)
    assert spec.rigids or spec.springs


def test_mechanism0():
    spec = read(ROOT / "specs/mechanism0.yaml")
    (rod,) = spec.rigids
    assert rod.points == ("O", "A") and [floats(place) for place in rod.geometry] == [[0, 0], [1, 0]]
    assert (floats(rod.centroid), rod.mass.value, rod.inertia[0].value) == ([0.5, 0], 1, 1 / 12)
    assert floats(spec.fixed["O"].coordinates) == [0, 0]
    assert (spec.springs[0].stiffness.value, spec.springs[0].length.value, spec.springs[0].mass.value) == (1000, 1, 0.5)
    assert floats(spec.gravity) == [0, -9.80665]
    assert start(spec.problem.positions["A"]) == [(1, True), (-1, False)]
    assert start(spec.problem.positions["B"]) == [(2, False), (-(2 + 0.1 * -9.80665 / 1000), False)]
    assert spec.problem.t0.value == 0 and spec.problem.tend.value == 1


def test_mechanism1_parts_under_one_key_stay_in_order():
    spec = read(ROOT / "specs/mechanism1a.yaml")
    assert [rigid.name for rigid in spec.rigids] == ["AC", "BD", "EF", "CDE"]
    assert [rigid.mark.column for rigid in spec.rigids[:3]] == [5, 9, 13]
    half = 1 / math.sqrt(2)
    assert [floats(place) for place in spec.rigids[3].geometry] == [[0, 0], [math.sqrt(2), 0], [half, -half]]
    assert start(spec.problem.velocities["C"]) == [(2, True), (0, False)]


def test_andrews():
    spec = read(ROOT / "specs/andrews.yaml")
    assert [rigid.name for rigid in spec.rigids] == ["OF", "FE", "BED", "EG", "AG", "HE", "AH"]
    assert spec.parameters["e"].value == 0.02 and spec.gravity is None
    assert (spec.springs[0].length.value, spec.springs[0].mass.value) == (0.07785, 0)
    assert [(torque.part, torque.against, torque.torque.value) for torque in spec.torques] == [("OF", None, 0.033)]
    assert (spec.solver.tolerance, spec.solver.order) == (1e-14, 17)
    assert spec.solver.outfile.points == dict.fromkeys("DEFGH", 2) and spec.solver.outfile.angles == {"OF": 1}
    assert spec.solver.outfile.time_format == "% .17e" and spec.problem.velocities == {}
    assert spec.animation["view"] == [-5, 27] and spec.animation["physParamsToShow"] == ["beta0", "c0", "mom"]
    assert spec.animation["Skels"]["BED"] == {"path": "XBXEXDX", "newpts": {"X": [0.01874, 0.01043]}}


def test_skeleton_beside_animation_means_the_same_as_inside():
    text = (ROOT / "specs/andrews.yaml").read_text()
    head, tail = text.split("  Skeleton:")
    beside = head + "Skeleton:" + tail.replace("\n  ", "\n")
    assert parse(beside).animation == parse(text).animation


def test_own_specs_are_the_reference_problems():
    """Lengths, masses and start of the reference problems; equal exactly, except inertias, which are rounded once."""
    four_bar = read(ROOT / "specs/four_bar.yaml")
    assert [rigid.geometry[1][0].value for rigid in four_bar.rigids] == [1, 3.5, 2]
    assert [rigid.mass.value for rigid in four_bar.rigids] == [1, 3.5, 2]
    assert [12 * rigid.inertia[0].value for rigid in four_bar.rigids] == pytest.approx([1, 3.5**3, 8], rel=1e-15)
    assert (four_bar.problem.angles["OA"].number.value, four_bar.problem.rates["OA"].number.value) == (math.pi / 2, 5)
    double = read(ROOT / "specs/double_pendulum.yaml")
    assert start(double.problem.positions["A"]) == [(1, False), (0, True)]
    assert start(double.problem.positions["B"]) == [(1, True), (1, False)]
    assert sum(rigid.mass.value * 9.81 * y for rigid, y in zip(double.rigids, (0, 0.5), strict=True)) == 4.905
    pendulum = read(ROOT / "specs/pendulum.yaml")
    assert pendulum.rigids[0].mass.value == 0 and pendulum.particles[0].mass.value == 1
    assert floats(pendulum.gravity) == [0, -9.81]


MINIMAL = "PartData: {Rigids: {%s}, %s}\nProblemData: {tend: 1}\n%s"
ROD = "{Geom: [[1]], Dyna: [[0.5], 1, 1]}"


def test_parts_named_like_yaml_booleans():
    spec = parse(MINIMAL % (f"ON: {ROD}, NO: {ROD}", "", ""))
    assert [rigid.points for rigid in spec.rigids] == [("O", "N"), ("N", "O")]


def test_forces_and_torques_in_all_forms():
    forces = "AppliedForces: {ConstTorques: {OA: 1, AB-OA: 2}, ConstForces: {A: [3], AB.B: [4, 5]}}"
    spec = parse(MINIMAL % (f"OA: {ROD}, AB: {ROD}", "Fixed: {O: []}", forces))
    assert [(t.part, t.against, t.torque.value) for t in spec.torques] == [("OA", None, 1), ("AB", "OA", 2)]
    assert [(f.point, f.part, floats(f.force)) for f in spec.forces] == [("A", None, [3, 0]), ("B", "AB", [4, 5])]


def test_overrides_replace_expressions_and_may_use_other_parameters():
    spec = read(ROOT / "specs/mechanism0.yaml", {"L": "2*l", "l": "3"})
    assert spec.parameters["L"].value == 6 and spec.overrides == {"L": "2*l", "l": "3"}
    assert spec.parameters["L"].mark.file == "<parameters>"


def test_aliases_are_allowed():
    spec = parse(MINIMAL % (f"OA: &rod {ROD}, AB: *rod", "", ""))
    assert spec.rigids[1].mass.value == 1


def test_every_number_knows_its_place():
    text = (ROOT / "specs/andrews.yaml").read_text()
    spec = parse(text, "andrews.yaml")
    lines = text.splitlines()
    numbers = [number for number in walk(spec) if number.text != "0"]  # padding has no text in the file
    assert len(numbers) > 60
    for number in numbers:
        assert lines[number.mark.line - 1][number.mark.column - 1 :].startswith(number.text)


def walk(value):
    if isinstance(value, Number):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from walk(getattr(value, field.name))
    elif isinstance(value, dict | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from walk(item)


TYPES = {"object": dict, "array": list, "string": str, "number": int | float, "integer": int, "null": type(None)}


def allowed(value, rule):
    """Whether `value` satisfies `rule`: as much of JSON Schema as ours uses, so that no library is needed."""
    if "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in rule and not any(allowed(value, option) for option in rule["anyOf"]):
        return False
    if ("const" in rule and value != rule["const"]) or ("enum" in rule and value not in rule["enum"]):
        return False
    kinds = rule.get("type", list(TYPES))
    if not any(isinstance(value, TYPES[kind]) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        return False
    if isinstance(value, dict):
        return allowed_dict(value, rule)
    if isinstance(value, list):
        return allowed_list(value, rule)
    return "pattern" not in rule or re.search(rule["pattern"], value) is not None


def allowed_dict(value, rule):
    known = rule.get("properties", {})
    patterns = rule.get("patternProperties", {})
    if any(name not in value for name in rule.get("required", [])):
        return False
    for key, item in value.items():
        rules = [known[key]] if key in known else [r for pattern, r in patterns.items() if re.search(pattern, key)]
        if not rules and not rule.get("additionalProperties", True):
            return False
        if not all(allowed(item, r) for r in rules):
            return False
    return True


def allowed_list(value, rule):
    if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", math.inf):
        return False
    rules = rule.get("prefixItems", [])[: len(value)]
    rules = rules + [rule.get("items", {})] * (len(value) - len(rules))
    return all(allowed(item, r) for item, r in zip(value, rules, strict=True))


@pytest.mark.parametrize("text", [*(path.read_text() for path in SPECS), *EXAMPLES])
def test_schema_allows_what_the_parser_allows(text):
    document = json.loads(json.dumps(yaml.safe_load(text)))  # keys are text in JSON: times of a Reference too
    assert json.loads(json.dumps(schema()))["$schema"]
    assert allowed(document, schema())
    assert not allowed({**document, "Titel": "x"}, schema())
    assert not allowed({**document, "PartData": {**document["PartData"], "Fixed": {"0": []}}}, schema())


def test_reading_imports_nothing_heavy():
    """Start-up matters: reading a file needs neither numpy nor pydantic (0.17 s of import, measured)."""
    code = "import sys, mechsim.spec; print(sorted({'numpy', 'jax', 'pydantic', 'cyipopt'} & set(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert output.strip() == "[]"
