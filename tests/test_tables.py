"""Tables and piecewise functions of time: the same whatever the run, against scipy and plain Python; long ones too."""

import math
import os
import socket
import time
from textwrap import dedent

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline, PchipInterpolator

import mechsim
from mechsim.errors import SpecError
from mechsim.lagrangian.formula import evaluated, symbol
from mechsim.model import build
from mechsim.spec import parse, read
from mechsim.spec.expression import MATH

CART = dedent("""
    PartData: {Fixed: {O: [], R: [1]}, Particles: {A: 1}}
    Joints: {Slots: {A-OR: []}}
    Output: {signals: [f]}
""")


def signal(section: str, t0: float, tend: float, times: np.ndarray) -> np.ndarray:
    """The function f of the section at `times`, in a run from t0 to tend."""
    text = f"{CART}{section}\nProblemData: {{t0: {t0!r}, tend: {tend!r}, positions: {{A: [1]}}}}\n"
    return mechsim.simulate(text).signals(times)["f"]


def followed(section: str, t0: float, tend: float, times: np.ndarray) -> list[float]:
    """The same by walking through the switches of the model: equations need not be derived for each new form."""
    text = f"{CART}{section}\nProblemData: {{t0: {t0!r}, tend: {tend!r}, positions: {{A: [1]}}}}\n"
    mechanism = build(parse(text))
    element = mechanism.elements[mechanism.readouts["f"]]
    (formula,) = mechanism.laws[element.kind].signals
    found = []
    for t in times:
        constants = dict(enumerate(mechanism.constants))
        for switch in mechanism.switches:
            constants.update(switch.values if switch.time <= t else {})
        names = {f"x{k}": constants[-1 - slot] for k, slot in enumerate(element.slots) if slot < 0}
        given = {**names, **element.parameters, "t": float(t)}
        found.append(evaluated(formula, lambda leaf, given=given: given[symbol(leaf)], MATH))
    return found


def table(points: list[tuple[float, float]], *more: str) -> str:
    rows = ", ".join(f"[{t!r}, {value!r}]" for t, value in points)
    return f"Tables: {{f: {{{', '.join([f'points: [{rows}]', *more])}}}}}"


def held(spline, points):
    """The spline inside its table, the first and last values outside."""
    first, last = points[0], points[-1]

    def value(t: np.ndarray) -> np.ndarray:
        return np.where(t < first[0], first[1], np.where(t > last[0], last[1], spline(np.clip(t, first[0], last[0]))))

    return value


INDEPENDENT = {
    "kind: cubic": lambda t, y: CubicSpline(t, y, bc_type="not-a-knot"),
    "kind: cubic, ends: not-a-knot": lambda t, y: CubicSpline(t, y, bc_type="not-a-knot"),
    "kind: cubic, ends: natural": lambda t, y: CubicSpline(t, y, bc_type="natural"),
    "kind: cubic, ends: clamped": lambda t, y: CubicSpline(t, y, bc_type="clamped"),
    "kind: pchip": PchipInterpolator,
    "kind: linear": lambda t, y: lambda at: np.interp(at, t, y),
}
GAPS = st.lists(st.floats(0.1, 2), min_size=4, max_size=8)


@pytest.mark.parametrize("keys", INDEPENDENT)
@some_of(8)
@given(gaps=GAPS, seed=st.integers(0, 1000), before=st.floats(-1, 1), after=st.floats(-1, 1))
def test_a_table_is_the_same_in_every_run(keys, gaps, seed, before, after):
    """Runs that begin before the table or within it, and end within it or after it, see the spline of its points."""
    times = np.cumsum(gaps)
    points = list(zip(times.tolist(), np.random.default_rng(seed).uniform(-1, 1, len(times)).tolist(), strict=True))
    t0, tend = float(times[0] + before * gaps[0] / 2), float(times[-1] + after * gaps[-1] / 2)
    at = np.linspace(t0, tend, 50)
    expected = held(INDEPENDENT[keys](times, [value for _, value in points]), points)(at)
    # Splines of values up to 1 over gaps that differ twentyfold reach 1e2; some roundings of that.
    assert signal(table(points, keys), t0, tend, at) == pytest.approx(expected, abs=1e-12)


def test_ends_are_of_cubic_tables():
    for kind in ("linear", "pchip", "step"):
        with pytest.raises(SpecError, match=f"ends are for kind: cubic, this one is {kind}"):
            parse(CART + table([(0, 0), (1, 1), (2, 0), (3, 1)], f"kind: {kind}", "ends: natural"))
    with pytest.raises(SpecError, match="3 points, but cubic needs 4"):
        parse(CART + table([(0, 0), (1, 1), (2, 0)], "kind: cubic"))
    for ends in ("natural", "clamped"):
        at = np.linspace(0, 1, 5)
        expected = CubicSpline([0, 1], [0, 1], bc_type=ends)(at)
        assert signal(table([(0, 0), (1, 1)], "kind: cubic", f"ends: {ends}"), 0, 1, at) == pytest.approx(expected)


DRIVEN = "Drives: {A.x: 1 + f}\n"


def test_a_drive_that_outlasts_its_table_must_end_level():
    """The spline's last slope is 2: held from there on, the speed would jump, and no force can do that."""
    points = [(0, 0), (1, 0.5), (2, 2), (3, 4)]
    problem = "ProblemData: {tend: 4, positions: {A: [1]}}\n"
    with pytest.raises(SpecError, match=r"the speed jumps from [\d.]+ to 0 at t = 3\n.*ends: clamped"):
        build(parse(CART + DRIVEN + table(points, "kind: cubic") + "\n" + problem))
    motion = mechsim.simulate(CART + DRIVEN + table(points, "kind: cubic", "ends: clamped") + "\n" + problem)
    assert motion(4.0)["A_x"] == pytest.approx(5, abs=1e-12)
    assert motion.velocity(3.5)["A_x"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("points", "noted"),
    [
        ([(0, 0), (1, 0), (1.01, 1), (2, 1)], True),  # slopes of 100 between level stretches
        ([(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1)], False),  # a tenth: what splines do at a step
        ([(k, math.sin(k)) for k in range(7)], False),
        ([(0, 1), (1, 1), (2, 1), (3, 1)], False),  # a constant has no range to leave
    ],
)
def test_a_spline_that_swings_far_out_is_noted(points, noted):
    problem = "ProblemData: {tend: 2, positions: {A: [1]}}\n"
    notes = build(parse(f"{CART}{table(points, 'kind: cubic')}\n{problem}")).notes
    assert len(notes) == noted
    if noted:
        low, high = (bound(value for _, value in points) for bound in (min, max))
        spline = CubicSpline(*zip(*points, strict=True))
        at = np.linspace(points[0][0], points[-1][0], 10_001)
        beyond = np.maximum(spline(at) - high, low - spline(at))
        told = float(notes[0].message.split(" swings to ")[1].split()[0])
        # Sixteen looks per interval find the extreme of a cubic to 1/32 of the interval: a few parts in a thousand.
        assert told == pytest.approx(spline(at)[np.argmax(beyond)], rel=1e-2) and "pchip" in notes[0].message
    assert not build(parse(f"{CART}{table(points, 'kind: pchip')}\n{problem}")).notes


def test_the_note_is_shown(tmp_path, capsys, monkeypatch):
    from mechsim.cli.main import main

    monkeypatch.chdir(tmp_path)
    text = table([(0, 0), (1, 0), (1.01, 1), (2, 1)], "kind: cubic")
    (tmp_path / "cart.yaml").write_text(f"{CART}{text}\nProblemData: {{tend: 2, positions: {{A: [1]}}}}\n")
    with pytest.raises(SystemExit) as left:
        main(["run", "cart.yaml"])
    assert left.value.code == 0 and "note: table f swings to" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["cubic", "pchip"])
def test_a_table_beyond_all_numbers_is_refused(kind):
    tiny = 1e-99
    points = [(0, -7e74), (tiny, 7e74), (2 * tiny, -7e74), (3 * tiny, 7e74), (1, 0)]
    with pytest.raises(SpecError, match="cannot be followed"):
        build(parse(f"{CART}{table(points, f'kind: {kind}')}\nProblemData: {{tend: 1, positions: {{A: [1]}}}}\n"))


# --- Piecewise


PIECES = st.sampled_from(
    ["{a}", "{a}*t", "{a}*t + {b}", "sin({a}*t)", "{a}*t**2 - {b}", "{a}/({b} + 7)", "exp(-t)*{a}", "(t - {a})**3", "t"]
)


@some_of(25)
@given(
    pieces=st.lists(st.tuples(PIECES, st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=12),
    start=st.floats(-1, 6).map(lambda t: round(t, 3)),
)
def test_pieces_are_what_they_say(pieces, start):
    """Whatever forms come in whatever order, and wherever the run begins."""
    texts = [form.format(a=f"({a})", b=f"({b})") for form, a, b in pieces]
    rows = ", ".join(f"[{0.5 * k}, {text}]" for k, text in enumerate(texts))
    tend = start + 3.1
    at = np.linspace(start, tend, 41)
    at = at[np.abs(at * 2 - np.round(at * 2)) > 1e-6]  # at a break itself both pieces are right
    number = np.clip(np.floor(at / 0.5), 0, len(texts) - 1).astype(int)
    names = {"sin": math.sin, "exp": math.exp}
    expected = [eval(texts[k], names | {"t": float(t)}) for t, k in zip(at, number, strict=True)]
    found = followed(f"Piecewise: {{f: [{rows}]}}", start, tend, at)
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-13)  # values reach 1e3 and are added to zeros


def test_pieces_in_a_run():
    rows = "[0, t], [0.5, 2], [1, sin(t)], [1.5, 3*t], [2, 1 - t], [2.5, sin(2*t)]"
    at = np.linspace(0, 3, 61) + 0.01
    pieces = [lambda t: t, lambda t: 2, math.sin, lambda t: 3 * t, lambda t: 1 - t, lambda t: math.sin(2 * t)]
    expected = [pieces[int(t / 0.5)](t) for t in at[:-1]]
    found = signal(f"Piecewise: {{f: [{rows}]}}", 0, 3, at[:-1])
    assert found == pytest.approx(expected, abs=1e-14)  # a few roundings


def test_pieces_that_differ_in_numbers_only_share_their_formula():
    def mechanism(count: int):
        rows = ", ".join(f"[{0.1 * k}, {k + 2}*sin({k + 2}*t) + {k + 1}]" for k in range(count))
        text = f"Piecewise: {{f: [{rows}]}}\nProblemData: {{tend: 100, positions: {{A: [1]}}}}"
        return build(parse(CART + text))

    few, many = mechanism(2), mechanism(50)
    assert few.laws == many.laws and len(few.constants) == len(many.constants)
    assert len(many.switches) == 49


def test_too_many_forms_are_refused():
    rows = ", ".join(f"[{k}, t**{k + 2}]" for k in range(120))
    with pytest.raises(SpecError, match=r"Piecewise\.f has more than 100 pieces of different form"):
        build(parse(f"{CART}Piecewise: {{f: [{rows}]}}\nProblemData: {{tend: 1, positions: {{A: [1]}}}}\n"))


def long_function(kind: str, count: int) -> str:
    values = ((10 * k / count, math.sin(k), math.cos(k)) for k in range(count))
    if kind == "piecewise":
        return "Piecewise:\n  f:\n" + "".join(f"    - [{t!r}, {a!r}*t + {b!r}]\n" for t, a, b in values)
    rows = "".join(f"    - [{t!r}, {a!r}]\n" for t, a, _ in values)
    return f"Tables:\n  f:\n    kind: {kind}\n    points:\n{rows}"


@pytest.mark.parametrize("kind", ["piecewise", "linear", "cubic"])
def test_the_cost_of_a_long_function_grows_with_its_length(kind):
    """Ten times the rows take ten times the time; the factor 4 allows for a busy machine, not for a square."""

    def seconds(count: int) -> float:
        text = f"{CART}{long_function(kind, count)}ProblemData: {{tend: 10, positions: {{A: [1]}}}}\n"
        began = time.process_time()
        mechanism = build(parse(text))
        assert len(mechanism.switches) == count - 1 and len(mechanism.constants) < 12
        return time.process_time() - began

    seconds(100)  # imports
    assert seconds(6000) < 4 * 10 * max(seconds(600), 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["piecewise", "linear", "cubic"])
def test_twenty_thousand_rows(kind):
    text = f"{CART}{long_function(kind, 20_000)}AppliedForces: {{Forces: {{A: [f, 0]}}}}\n"
    motion = mechsim.simulate(text + "ProblemData: {tend: 10, positions: {A: [1]}}\n")
    assert len(motion.t) >= 20_000 and motion.certificate.energy_drift < 1e-11  # roundings of 20,000 steps


def test_chained_signals_are_built_or_refused():
    def mechanism(count: int):
        chain = "".join(f"  s{k}: s{k - 1} + t\n" for k in range(1, count))
        text = f"Signals:\n  s0: t\n{chain}AppliedForces: {{Forces: {{A: [s{count - 1}, 0]}}}}\n"
        return build(parse(CART + "Tables: {f: {points: [[0, 0], [1, 1]]}}\n" + text + "ProblemData: {tend: 1}\n"))

    mechanism(100)
    for count in (300, 3000):
        with pytest.raises(SpecError, match=r"the formula of signal s119 is nested 120 deep"):
            mechanism(count)


# --- tables in files


def cam(folder, name: str = "lift.csv"):
    place = folder / "cam.yaml"
    place.write_text(f'{CART}Tables: {{f: {{file: "{name}"}}}}\nProblemData: {{tend: 1, positions: {{A: [1]}}}}\n')
    return place


def fault_of(place, **settings):
    with pytest.raises(SpecError) as caught:
        read(place, **settings)
    (fault,) = caught.value.faults
    return fault


NUMBER = st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-99).map(repr)  # others are faults themselves


@some_of(60)
@given(
    cells=st.tuples(NUMBER, NUMBER),
    damaged=st.integers(0, 1),
    slip=st.sampled_from(["O.5", "1.2.3", "1,5", "", "--1", "1e", "x", "1 2", "nan", "0x10", "1_000"]),
    titles=st.sampled_from(["", "t,f\n", '"time [s]", "lift [m]"\n', "# note\nt,x1\n"]),
)
def test_a_slip_in_the_first_row_is_no_title(cells, damaged, slip, titles, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cam")
    row = [*cells]
    row[damaged] = slip
    (folder / "lift.csv").write_text(f"{titles}{row[0]},{row[1]}\n5000,1\n6000,2\n")
    fault = fault_of(cam(folder))
    assert fault.mark.file.endswith("lift.csv") and fault.mark.line == 1 + titles.count("\n")
    assert len(slip) < 2 or slip not in fault.message


@pytest.mark.parametrize("first", ["O,l", "l.5,O", "1,x", "x,1", "nan,nan", ".,."])
def test_letters_typed_for_digits_are_no_titles(first, tmp_path):
    (tmp_path / "lift.csv").write_text(f"{first}\n5000,1\n6000,2\n")
    assert fault_of(cam(tmp_path)).mark.line == 1


@pytest.mark.parametrize("titles", ["", "t,l\n", "time, lift\n", "# measured\n\nt [s],x1\n", '"t","f"\r\n'])
def test_one_line_of_titles_is_skipped(titles, tmp_path):
    (tmp_path / "lift.csv").write_text(f"{titles}0,1\n5,2\n")
    assert read(cam(tmp_path)).actions.tables[0].times == (0, 5)
    if titles:
        (tmp_path / "lift.csv").write_text(f"{titles}a,b\n0,1\n5,2\n")
        assert "is not a number" in fault_of(cam(tmp_path)).message


SECRET = "password=correct horse battery staple"


@pytest.mark.parametrize(
    "content", [f"{SECRET}\n", f"{SECRET},{SECRET}\n1,2\n3,4\n", f"0,1\n{SECRET},2\n", f"0,1\n2,{SECRET}\n"]
)
def test_nothing_of_a_file_is_shown(content, tmp_path):
    (tmp_path / "lift.csv").write_text(content)
    try:
        read(cam(tmp_path))
    except SpecError as error:
        assert not any(word in str(error) for word in SECRET.split())


def special(folder, kind: str) -> str:
    """Something in the folder that is no regular file; its name."""
    place = folder / kind
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "socket":
        here = os.getcwd()
        os.chdir(folder)  # a socket's path may have a hundred characters only
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(kind)
        os.chdir(here)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    elif kind == "loop":
        place.symlink_to(place)
    return kind


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "device", "loop", "missing"])
def test_only_regular_files_are_read(kind, tmp_path):
    """A pipe would wait for ever, a device never end."""
    fault = fault_of(cam(tmp_path, special(tmp_path, kind)), tables_from=["/dev"])
    assert fault.message.startswith(f"cannot read {kind}: ") and fault.mark.line > 1


@pytest.mark.parametrize("name", [r"lift\0.csv", "n" * 300 + ".csv", "/".join(["d"] * 3000), ""])
def test_names_that_no_file_has(name, tmp_path):
    assert fault_of(cam(tmp_path, name)).message.startswith("cannot read ")


@pytest.mark.parametrize(
    "content", ["0," + "1" * 500_000 + "\n1,2\n", "0,1\n" + "x" * 1_000_000, "0,1\n1,2\n" * 4_000_001]
)
def test_huge_fields_and_files(content, tmp_path):
    (tmp_path / "lift.csv").write_text(content)
    assert len(fault_of(cam(tmp_path)).message) < 200


def test_a_table_is_read_from_the_folder_of_its_mechanism_or_below(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, inside / "deep", outside):
        folder.mkdir()
        (folder / "lift.csv").write_text("0,1\n5,2\n")
    (inside / "link.csv").symlink_to("../out/lift.csv")
    (inside / "folder").symlink_to("../out")
    (inside / "harmless.csv").symlink_to("deep/lift.csv")
    (tmp_path / "inner").mkdir()  # its name only begins as the folder's does
    (tmp_path / "inner" / "lift.csv").write_text("0,1\n5,2\n")
    for name in ("lift.csv", "deep/lift.csv", "./deep/../lift.csv", "harmless.csv", f"{inside}/lift.csv"):
        assert read(cam(inside, name)).actions.tables[0].times == (0, 5)
    for name in ("../out/lift.csv", f"{outside}/lift.csv", "link.csv", "folder/lift.csv", "../inner/lift.csv"):
        fault = fault_of(cam(inside, name))
        assert fault.message == f"cannot read {name}: it is outside the folder of the mechanism file"
        assert "--tables-from" in fault.hint
    for name in ("../out/lift.csv", "link.csv", "folder/lift.csv"):
        assert read(cam(inside, name), tables_from=[outside]).actions.tables[0].times == (0, 5)
    assert "outside" in fault_of(cam(inside, "../nothing.csv")).message  # nor is it told whether it exists


def test_folders_are_allowed_by_option_and_argument(tmp_path, monkeypatch, capsys):
    from mechsim.cli.main import main

    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "lift.csv").write_text("0,1\n5,2\n")
    place = cam(inside, "../out/lift.csv")
    monkeypatch.chdir(tmp_path)
    for words in (["run"], ["check"], ["assemble"], ["open", "--no-browser"]):
        for allowed, code in (([], 2), (["--tables-from", "out"], 0)):
            with pytest.raises(SystemExit) as left:
                main([*words, str(place), *allowed])
            assert (left.value.code or 0) == code
            assert ("outside the folder" in capsys.readouterr().err) == (code == 2)
    assert mechsim.simulate(place, tables_from="out").signals(0.0)["f"] == 1
    assert mechsim.mechanism(place, tables_from=[outside]).coordinates


def test_results_of_anybody_read_no_file(tmp_path):
    """A header may hold any text: what it names is not looked for, not even beside it."""
    from mechsim.render.scene import spec_of
    from mechsim.result import OutputError

    (tmp_path / "lift.csv").write_text("0,1\n5,2\n")
    motion = mechsim.simulate(cam(tmp_path))
    motion.save(tmp_path / "out.csv")
    text = (tmp_path / "out.csv").read_text()
    assert spec_of(mechsim.load(tmp_path / "out.csv")).actions.tables
    for name in ("lift.csv", "/etc/passwd", "/dev/zero", str(tmp_path / "lift.csv")):
        forged = text.replace('"lift.csv": ', '"other.csv": ').replace(
            '#|Tables: {f: {file: "lift.csv"', f'#|Tables: {{f: {{file: "{name}"'
        )
        (tmp_path / "forged.csv").write_text(forged)
        with pytest.raises(OutputError, match="these results do not carry it"):
            spec_of(mechsim.load(tmp_path / "forged.csv"))
