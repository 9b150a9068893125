"""Bad files: each slip gives exactly this first line, at this place. The lines are the interface, so they are exact."""

import pytest
from examples import some_of
from hypothesis import example, given
from hypothesis import strategies as st

from mechsim.errors import SpecError
from mechsim.spec import parse, read

GOOD = """\
Title: Rod
PhysicalParams: {L: 2, m: 3}
PartData:
  Fixed: {O: []}
  Rigids:
    OA: {Geom: [[L]], Dyna: [[L/2], m, m*L**2/12]}
AppliedForces:
  Gravity:
ProblemData:
  tend: 1
  positions: {A: [L, 0]}
"""
BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def part(text):
    return changed("AppliedForces", f"  {text}\nAppliedForces")


def forces(text):
    return changed("Gravity:", text)


def solver(text):
    return GOOD + f"SolverParams: {{{text}}}\n"


# Place (line:column), then what is said.
WHOLE_FILES = [
    ("", "1:1 the file is empty"),
    ("# only a comment\n", "1:1 the file is empty"),
    ("hello", "1:1 the file holds `hello`, not sections"),
    ("[1, 2]", "1:1 the file holds a list, not sections"),
    ("a: b: c", "1:5 this is not YAML: mapping values are not allowed in this context"),
    ("a: [1, 2", "2:1 this is not YAML: did not find expected ',' or ']'"),
    ("\tTitle: x", "1:1 this is not YAML: found character that cannot start any token"),
    ("Title: x\nPart\x00", "2:5 the character U+0000 does not belong in a text file"),
    ("a: *x", "1:4 alias *x stands for nothing complete"),
    ("a: &a [*a]", "1:8 alias *a stands for nothing complete"),
    (BOMB, "6:14 aliases add more than 400000 values to the file"),
    ("Title: !!python/object:os.system x", "1:8 the tag !!python/object:os.system is not allowed"),
    ("Title: !!python/object/apply:os.system ['x']", "1:8 the tag !!python/object/apply:os.system is not allowed"),
    ("Title: !own x", "1:8 the tag !own is not allowed"),
    ("Title: a\n---\nTitle: b", "2:1 a second document starts here"),
    ("? [a]\n: b", "1:3 a key must be a word, not a list"),
    ("[" * 5000, "1:31 lists or dictionaries are nested more than 30 deep"),
    ("Title: x\n", "1:1 the file lacks PartData"),
    ("PartData:\nProblemData: {tend: 1}\n", "1:10 PartData must be a dictionary, not nothing"),
    ("PartData: {}\nProblemData: {tend: 1}\n", "1:11 PartData has no parts"),
]
PARAMETERS = [
    ("L: m, m: L", "2:21 parameters depend on each other in a circle: L -> m -> L"),
    ("L: L, m: 3", "2:21 parameters depend on each other in a circle: L -> L"),
    ("L: [2], m: 3", "2:21 PhysicalParams.L must be a number or expression, not a list"),
    ("L: , m: 3", "2:18 PhysicalParams.L has no value"),
    ("2L: 2, m: 3", "2:18 `2L` is not a name for a parameter"),
    ("lambda: 1, L: 2, m: 3", "2:18 lambda is a reserved word"),
    ("fixed: 1, L: 2, m: 3", "2:18 fixed is a reserved word"),
    ("L: 1/0, m: 3", "2:21 division by zero in `1/0`"),
    ("L: 2*k, m: 3", "2:23 k is not defined"),
    ("L: 2, m: 3, m: 4", "2:30 the key m stands twice"),
]
CHANGES = [
    ("Title: Rod", "Titel: Rod", "1:1 unknown key Titel"),
    ("Title: Rod", "Title: Rod\nTitle: Bar", "2:1 the key Title stands twice"),
    ("Title: Rod", "Title: [a]", "1:8 Title must be text, not a list"),
    ("Title: Rod", "Dimension: 4", "1:12 Dimension is 4, but must be a whole number from 2 to 3"),
    ("{L: 2, m: 3}", "3", "2:17 PhysicalParams must be a dictionary, not `3`"),
    ("O: []", "0: []", "4:11 `0` is not a name of points"),
    ("O: []", "O: [], P: []", "4:18 the fixed point P is on no part"),
    ("O: []", "O: 1", "4:14 PartData.Fixed.O must be a list of coordinates, not `1`"),
    ("O: []", "O: [1, 2, 3]", "4:21 PartData.Fixed.O has 3 coordinates, but the dimension is 2"),
    ("{O: []}", "[O]", "4:10 PartData.Fixed must be a dictionary, not a list"),
    ("    OA:", "    O_A:", "6:5 `O_A` is not a name of points"),
    ("    OA:", "    OAA:", "6:5 the name OAA holds the point A twice"),
    ("    OA:", "    OA, AB, OA:", "6:13 PartData.Rigids defines OA twice"),
    ("    OA:", "    OAB:", "6:5 Geom of OAB places 1 points, but must place A and B"),
    ("    OA:", "    O:", "6:5 the rigid part O has one point, it needs two or more"),
    ("[[L]]", "[[0]]", "6:18 the reference points O and A of OA coincide"),
    ("[[L]]", "[[-L]]", "6:18 A of OA lies at (-2, 0), not on the positive x axis"),
    ("[[L]]", "[[L, 1]]", "6:18 A of OA lies at (2, 1), not on the positive x axis"),
    ("[[L]]", "[L]", "6:17 PartData.Rigids.OA.Geom must be a list of coordinates, not `L`"),
    ("[[L]]", "L", "6:16 PartData.Rigids.OA.Geom must be a list, not `L`"),
    ("Geom: [[L]], ", "", "6:9 PartData.Rigids.OA lacks Geom"),
    ("Geom", "Gem", "6:10 unknown key Gem in PartData.Rigids.OA"),
    (", m*L**2/12", "", "6:29 PartData.Rigids.OA.Dyna has 2 of the values [centroid, mass, inertia]"),
    (" m, ", " -m, ", "6:37 PartData.Rigids.OA.Dyna.mass is -m = -3, but must not be negative"),
    ("m*L**2/12", "-1", "6:40 PartData.Rigids.OA.Dyna.inertia is -1, but must not be negative"),
    ("m*L**2/12", "m*K**2/12", "6:42 K is not defined"),
    ("m*L**2/12", "__import__('os')", "6:40 there is no function __import__"),
    ("m*L**2/12", "nan", "6:40 nan is not defined"),
    ("m*L**2/12", "1e400", "6:40 `1e400` is too large for a number"),
    ("m*L**2/12", "m/(L-2)", "6:40 division by zero in `m/(L-2)`"),
    ("tend: 1", "tend: 0", "10:9 tend is 0, but must be later than t0, which is 0"),
    ("tend: 1", "tend: L-m", "10:9 tend is L-m = -1, but must be later than t0, which is 0"),
    ("tend: 1", "t0: 0", "10:3 ProblemData lacks tend"),
    ("[L, 0]", "[L, fixed]", "11:22 ProblemData.positions.A: `fixed` stands where a value should"),
    ("[L, 0]", "[[L, fix]]", "11:19 ProblemData.positions.A: a value in brackets must be [value, fixed]"),
    ("[L, 0]", "[1, 2, 3]", "11:25 ProblemData.positions.A has 3 coordinates, but the dimension is 2"),
    ("A: [L, 0]", "B: [L]", "11:15 positions uses the point B, which no part has"),
    ("A: [L, 0]", "O: [L]", "11:15 positions gives the point O, which is fixed in the world"),
    ("positions", "position", "11:3 unknown key position in ProblemData"),
    ("positions: {A: [L, 0]}", "angles: {OB: 1}", "11:12 angles uses OB, which is no rigid part"),
    ("positions: {A: [L, 0]}", "Branch: 0", "11:11 ProblemData.Branch is 0, but must be a whole number from 1 to 1000"),
]
ADDITIONS = [
    (part("Springs: {AA: [1, 1]}"), "7:13 the name AA holds the point A twice"),
    (part("Springs: {ABC: [1, 1]}"), "7:13 the spring ABC has 3 points, it needs two ends"),
    (part("Springs: {OA: [1, 1]}"), "7:13 OA is a rigid part already"),
    (
        part("Springs: {AB: [1]}"),
        "7:17 PartData.Springs.AB has 1 of the values [k, l, mu, c], where mu and c may be left out",
    ),
    (part("Springs: {AB: {k: 1}}"), "7:17 PartData.Springs.AB lacks l"),
    (part("Springs: {AB: {k: 1, l: 1, q: 1}}"), "7:30 unknown key q in PartData.Springs.AB"),
    (part("Springs: {AB: [1, -1]}"), "7:21 PartData.Springs.AB.l is -1, but must not be negative"),
    (part("Springs: {AB, BC: [1, 1]}"), "7:13 PartData.Springs.AB has no value"),
    (part("Particles: {B: -1}"), "7:18 PartData.Particles.B is -1, but must not be negative"),
    (part("Particles: {BC: 1}"), "7:15 `BC` names 2 points, not one"),
    (part("Collinear: [OAB]"), "7:15 Collinear OAB uses the point B, which no part has"),
    (part("Collinear: [OA]"), "7:15 Collinear OA has 2 points, it needs three or more"),
    (part("Collinear: OAB"), "7:14 PartData.Collinear must be a list, not `OAB`"),
    (forces("Gravity: 9.81"), "8:12 AppliedForces.Gravity must be a list of coordinates, not `9.81`"),
    (forces("ConstTorques: {OB: 1}"), "8:18 ConstTorques.OB uses OB, which is no rigid part"),
    (forces("ConstTorques: {OA-OA: 1}"), "8:18 ConstTorques.OA-OA acts between OA and itself"),
    (forces("ConstForces: {B: [1]}"), "8:17 ConstForces.B uses the point B, which no part has"),
    (forces("ConstForces: {O: [1]}"), "8:17 ConstForces.O acts on O, which is fixed and cannot move"),
    (forces("ConstForces: {OB.A: [1]}"), "8:17 ConstForces.OB.A uses OB, which is no rigid part"),
    (solver("Mode: fast"), "12:22 SolverParams.Mode is `fast`, but must be solve"),
    (
        solver("Integration: {tol: 0}"),
        "12:35 SolverParams.Integration.tol is 0, but must be at least 1e-16 and below 1",
    ),
    (
        solver("Integration: {tol: 1e-120}"),
        "12:35 SolverParams.Integration.tol is 1e-120, but must be at least 1e-16 and below 1",
    ),
    (
        solver("Integration: {order: 2.5}"),
        "12:37 SolverParams.Integration.order is 2.5, but must be a whole number from 3 to 60",
    ),
    (
        solver("OutFile: {tformat: '%s'}"),
        "12:35 SolverParams.OutFile.tformat is `%s`, but must be a number format such as '% .17e'",
    ),
    (solver("OutFile: {points: [B: 2]}"), "12:35 OutFile.points uses the point B, which no part has"),
    (
        solver("OutFile: {points: [A: 3]}"),
        "12:38 SolverParams.OutFile.points.A is 3, but must be a whole number from 1 to 2",
    ),
    (solver("OutFile: {angles: [OB: 2]}"), "12:35 OutFile.angles uses OB, which is no rigid part"),
    (
        GOOD + "Animation: {physParamsToShow: [$x]}\n",
        "12:32 Animation.physParamsToShow names the parameter x, which is not defined",
    ),
    (GOOD + "Animation: {Skels: {AB: {path: AB}}}\n", "12:21 Skels draws AB, which is no part"),
    (GOOD + "Skels: {OA: {path: OXA}}\n", "12:9 the path of OA runs through X, which is not on it"),
]
CASES = [
    *WHOLE_FILES,
    *((changed("L: 2, m: 3", new), line) for new, line in PARAMETERS),
    *((changed(old, new), line) for old, new, line in CHANGES),
    *ADDITIONS,
]


def faults(text, **overrides):
    with pytest.raises(SpecError) as caught:
        parse(text, "f", overrides)
    return caught.value.faults


@pytest.mark.parametrize(("text", "line"), CASES, ids=[line for _, line in CASES])
def test_first_line(text, line):
    place, _, message = line.partition(" ")
    assert str(faults(text)[0]).splitlines()[0] == f"f:{place}: error: {message}"


def test_the_good_file_is_good():
    assert parse(GOOD).title == "Rod"


def test_all_faults_come_at_once_in_the_order_of_the_file():
    text = changed("Title", "Titel").replace("[[L]]", "[[0]]").replace("tend: 1", "tend: x").replace("A: [L", "B: [L")
    assert [fault.mark.line for fault in faults(text)] == [1, 6, 10, 11]


def test_one_slip_in_a_parameter_is_one_fault():
    assert len(faults(changed("L: 2", "L: 2 +"))) == 1


def test_one_slip_in_data_shared_by_several_parts_is_one_fault():
    text = changed("    OA:", "    OA, AB, BC:").replace("[[L/2], m", "[[L/2], -m")
    assert len(faults(text)) == 1


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        ({"mm": "1"}, "<parameters>:1:1: error: there is no parameter mm"),
        ({"m": "1/0"}, "<parameters>:1:3: error: division by zero in `1/0`"),
        ({"m": "2*L2"}, "<parameters>:1:5: error: L2 is not defined"),
        ({"m": "L", "L": "m"}, "<parameters>:1:3: error: parameters depend on each other in a circle: L -> m -> L"),
        ({"m": "2 3"}, "<parameters>:1:5: error: `2 3` is not an expression"),
    ],
)
def test_overrides(overrides, line):
    assert str(faults(GOOD, **overrides)[0]).splitlines()[0] == line


def test_hints_name_the_nearest_word():
    assert faults(changed("Title", "Titel"))[0].hint == "did you mean Title?"
    assert faults(GOOD, mm="1")[0].hint == "did you mean m?"
    assert faults(changed("O: []", "0: []"))[0].hint == "did you mean the letter O?"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (changed("m: 3", 'm: "0,5"'), "decimals have a point: 0.5"),
        (changed("[L, 0]", "[0; 1]"), "numbers of a list are separated by commas: [0, 1]"),
        (GOOD + "Tables: {f: {kind: spline, points: [[0, 1], [1, 2], [2, 3], [3, 5]]}}\n", "did you mean cubic?"),
    ],
)
def test_hints_for_what_people_write_elsewhere(text, hint):
    assert hint in faults(text)[0].hint


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "{}:1:1: error: the file is empty"),
        (b"\x7fELF\x00\x01", "{}:1:1: error: the character U+007F does not belong in a text file"),
        (b"Title: \xff\n", "{}:1:8: error: the byte 0xff is not text"),
        (b"a" * 40_000_001, "error: {} is larger than 40 MB: this cannot be a mechanism file"),
    ],
)
def test_files_that_are_no_text(tmp_path, content, line):
    path = tmp_path / "f.yaml"
    path.write_bytes(content)
    with pytest.raises(SpecError) as caught:
        read(path)
    assert str(caught.value).splitlines()[0] == line.format(path)


def test_files_that_cannot_be_opened(tmp_path):
    for path in (tmp_path / "none.yaml", tmp_path, "\0"):
        with pytest.raises(SpecError, match="cannot read"):
            read(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "f.yaml"
    path.write_bytes(GOOD.replace("\n", "\r\n").replace("Rod", "Stäbchen").encode(encoding))
    assert read(path).title == "Stäbchen"


@given(st.text(max_size=200))
@example("\r[")  # lines end in more ways than one
@some_of(300)
def test_any_text_is_refused_with_a_fault(text):
    assert faults(text)


@given(st.data())
@some_of(400)
def test_a_damaged_file_gives_a_mechanism_or_a_fault(data):
    """Never another exception: a piece of a good file is replaced by a piece of text."""
    start = data.draw(st.integers(0, len(GOOD)))
    stop = data.draw(st.integers(start, min(len(GOOD), start + 12)))
    piece = data.draw(st.one_of(st.text(alphabet="{}[]:,-.*&!|>'\"# \nAOL019e", max_size=8), st.text(max_size=5)))
    try:
        parse(GOOD[:start] + piece + GOOD[stop:])
    except SpecError as error:
        assert error.faults


@pytest.mark.parametrize("given", ["9.81", "-9.81"])
def test_gravity_as_a_number_is_not_advised_to_act_sideways(given: str) -> None:
    text = f"PartData: {{}}\nAppliedForces: {{Gravity: {given}}}\nProblemData: {{tend: 1}}\n"
    with pytest.raises(SpecError) as refused:
        parse(text)
    assert any(fault.hint == "write [0, -9.81], where +y is upward" for fault in refused.value.faults)
