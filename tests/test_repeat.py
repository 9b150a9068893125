"""Repeat: what one entry stands for is what one would write by hand, wherever it stands, and costs no more."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechsim
from mechsim.errors import Mark, SpecError
from mechsim.kernel.graph import transversal
from mechsim.spec import parse

CHAIN = """\
Dimension: 2
PhysicalParams: {N: 4, l: 0.5, m: 1}
Repeat: {i: 1..N}
PartData:
  Fixed: {P0: []}
  Rigids:
    P{i-1}P{i}: {Geom: [[l]], Dyna: [[l/2], m*i, m*l**2/12]}
  Particles: {"P{N}": 3}
AppliedForces: {Gravity: }
ProblemData:
  tend: 1
  positions:
    P{i}: [i*l, 0]
"""


def written_out(count: int) -> str:
    rods = "".join(f"    P{i - 1}P{i}: {{Geom: [[l]], Dyna: [[l/2], m*{i}, m*l**2/12]}}\n" for i in range(1, count + 1))
    places = "".join(f"    P{i}: [{i}*l, 0]\n" for i in range(1, count + 1))
    text = CHAIN.replace("Repeat: {i: 1..N}\n", "").replace('"P{N}"', f"P{count}")
    text = text.replace(next(line for line in text.splitlines(True) if "P{i-1}" in line), rods)
    return text.replace("    P{i}: [i*l, 0]\n", places)


def bare(value: Any) -> Any:
    """Without texts and places."""
    if is_dataclass(value):
        skipped = ("text", "mark", "path", "overrides", "unused")
        return {f.name: bare(getattr(value, f.name)) for f in fields(value) if f.name not in skipped}
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items()}
    if hasattr(value, "tree"):  # an expression
        return type(value).__name__, value.names
    return [bare(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("count", [1, 4, 30])
def test_a_chain_is_what_one_would_write(count: int) -> None:
    one, other = (parse(text, overrides={"N": str(count)}) for text in (CHAIN, written_out(count)))
    assert bare(one) == bare(other)


def test_it_moves_like_that_too() -> None:
    one, other = (mechsim.simulate(text, tend=0.3) for text in (CHAIN, written_out(4)))
    assert np.array_equal(one.solution.q, other.solution.q)


EVERYWHERE = """\
Dimension: 2
PhysicalParams: {N: 3, M: 2, l: 1}
Repeat: {i: 1..N, j: 1..M}
Inputs:
  push{i}: i
Signals:
  lean{i}: theta_O{i}A{i} + i*t
Tables:
  table{i}: {points: [[0, i], [1, 2*i]]}
PartData:
  Fixed:
    O{i}: [3*i]
    Q{i}: [3*i, -1]
    R{i}: [3*i + 1, -1]
  Rigids:
    O{i}A{i}, A{i}B{i}: {Geom: [[i*l]], Dyna: {rod: , mass: i}}
  Springs:
    B{i}C{10*i+j}: {k: 10*i + j, l: l, law: i*s*v}
  Particles:
    C{10*i+j}: j
  Collinear: ["Q{i}R{i}B{i}"]
AppliedForces:
  Gravity:
  Forces:
    C{10*i+j}: ["push{i}*j", "-C{10*i+j}.vy"]
  Torques:
    O{i}A{i}: lean{i} + table{i} - i*omega_O{i}A{i}
Joints:
  Holonomic:
    even{j}: C{10+j}.x - C{20+j}.x - j
Output: {reactions: ["A{i}"], signals: ["lean{i}"]}
ProblemData:
  tend: 1
  positions:
    A{i}: [[3*i + i*l, fixed]]
    C{10*i+j}: [3*i, -j]
  rates:
    O{i}A{i}: i
SolverParams:
  OutFile:
    points: ["A{i}", "B{i}": 1]
    angles: ["O{i}A{i}": 2]
Reference:
  at:
    1: {"A{N}_x": [1, 2]}
Animation:
  Skels:
    O{i}A{i}: {path: "O{i}XA{i}O{i}", newpts: [X, [i/2, 0.1]]}
"""


def test_it_works_in_every_section() -> None:
    spec = parse(EVERYWHERE)
    names = [part.name for part in spec.rigids]
    assert names == ["O1A1", "A1B1", "O2A2", "A2B2", "O3A3", "A3B3"]
    assert [spring.name for spring in spec.springs] == [f"B{i}C{10 * i + j}" for i in (1, 2, 3) for j in (1, 2)]
    assert [float(spring.stiffness) for spring in spec.springs] == [11, 12, 21, 22, 31, 32]
    assert [float(particle.mass) for particle in spec.particles] == [1, 2] * 3
    assert [line.points for line in spec.collinear] == [(f"Q{i}", f"R{i}", f"B{i}") for i in (1, 2, 3)]
    assert spec.output.reactions == ("A1", "A2", "A3") and spec.output.signals == ("lean1", "lean2", "lean3")
    assert spec.solver.outfile.points == {"A1": 2, "A2": 2, "A3": 2, "B1": 1, "B2": 1, "B3": 1}
    assert spec.problem.positions["A2"][0].number.value == 8 and spec.problem.positions["A2"][0].fixed
    assert spec.reference is not None and spec.reference.values[0].column == "A3_x"
    assert spec.animation["Skels"]["O2A2"]["path"] == "O2XA2O2"
    assert not spec.unused
    mechsim.mechanism(EVERYWHERE)


def test_expressions_of_state_know_the_index() -> None:
    """The torque grows with i, and no other number tells it."""
    text = """
Repeat: {i: 1..3}
PartData:
  Fixed: {"O{i}": [i]}
  Rigids:
    O{i}A{i}: {Geom: [[1]], Dyna: [[], 1, 1]}
AppliedForces:
  Torques:
    O{i}A{i}: i*cos(t) - (2 - i)
ProblemData: {tend: 1, angles: {"O{i}A{i}": 0}}
"""
    motion = mechsim.simulate(text)
    for i in (1, 2, 3):
        wanted = i * (1 - np.cos(1)) - (2 - i) / 2
        column = motion.solution.sample(np.array([1.0]))[0]
        assert np.abs(column - wanted).min() < 1e-11


def test_places_are_those_of_the_template() -> None:
    spec = parse(CHAIN, "x.yaml")
    assert {part.mark for part in spec.rigids} == {Mark("x.yaml", 7, 5)}
    assert {part.mass.mark for part in spec.rigids} == {Mark("x.yaml", 7, 45)}
    assert {place[0].number.mark for place in spec.problem.positions.values()} == {Mark("x.yaml", 13, 12)}
    with pytest.raises(SpecError) as caught:
        parse(CHAIN.replace("[i*l, 0]", "[i*l + i/(i - 3), 0]"), "x.yaml")
    assert str(caught.value.faults[0]) == "x.yaml:13:18: error: division by zero in `i/(i - 3)`"


def test_the_number_is_a_parameter_and_may_be_set() -> None:
    handle = mechsim.mechanism(CHAIN)
    longer = handle.with_parameters(N=6).simulate(tend=0.1)
    assert longer.solution.q.shape[1] == 12
    stretched = handle.with_parameters(l=0.7).simulate(tend=0.2, tol=1e-10)
    anew = mechsim.simulate(CHAIN, parameters={"l": 0.7}, tend=0.2, tol=1e-10)
    assert stretched.solution.sample(np.array([0.2]))[0] == pytest.approx(
        anew.solution.sample(np.array([0.2]))[0], abs=1e-9
    )


def changed(old: str, new: str, more: str = "") -> str:
    assert old in CHAIN
    return CHAIN.replace(old, new, 1) + more


FAULTS = [
    (changed("1..N", "N..1"), "3:13", "Repeat.i runs backwards, from 4 to 1"),
    (changed("1..N", "1..N/3"), "3:16", "Repeat.i: N/3 is 1.33333, but must be a whole number"),
    (changed("1..N", "1..K"), "3:16", "K is not defined"),
    (changed("1..N", "1-N"), "3:13", "Repeat.i must be a range first..last, not `1-N`"),
    (changed("{i: 1..N}", "[1, 2]"), "3:9", "Repeat must be a dictionary, not a list"),
    (changed("i: 1..N", "m: 1..N"), "3:10", "the index m is a parameter already"),
    (changed("i: 1..N", "t: 1..N"), "3:10", "the index t is the time already"),
    (changed("i: 1..N", "i: 1..N, 2j: 1..2"), "3:19", "`2j` is not a name for a parameter"),
    (changed("", "", "Signals: {i: 3}\n"), "3:10", "the index i is a name in Signals already"),
    (changed("P{i-1}P{i}:", "P{i-1}P{k}:"), "7:13", "k is not defined"),
    (changed("P{i-1}P{i}:", "P{i-1}P{i/2}:"), "7:13", "`P{i-1}P{i/2}`: i/2 is 0.5 for i = 1, but must be a whole"),
    (changed("P{i-1}P{i}:", "P{i-1P{i}:"), "7:5", "`P{i-1P{i}` has a brace without its partner"),
    (changed("P{i-1}P{i}:", "P{i-i}P{1}:"), "7:5", "the key P0P1 stands twice: for i = 1 and for i = 2 (and 2 more"),
    (
        changed("Rigids:", "Rigids:\n    P2P3: {Geom: [[l]]}"),
        "8:5",
        "the key P2P3 stands twice: in line 7 and for i = 3",
    ),
    (changed("P{i-1}P{i}:", "P{i-2}P{i}:"), "7:5", "`P-1P1` is not a name of points"),
    (changed("tend: 1", "tend: '{i}'"), "11:9", "{i} stands here, but nothing repeats it"),
    (changed("tend: 1", "tend: i"), "11:9", "i is not defined"),
    (
        changed("m*i", "m*(i-3)"),
        "7:45",
        "PartData.Rigids.P0P1.Dyna.mass is m*(i-3) = -2, but must not be negative (and 1",
    ),
    (changed("Repeat: {i: 1..N}\n", ""), "6:5", "`P{i-1}P{i}` is not a name of points"),
    (changed('{"P{N}": 3}', "{P{N}: 3}"), "8:16", "this is not YAML: did not find expected ',' or '}'"),
    (changed("", "", "Output: {reactions: [P{i}]}\n"), "14:23", "this is not YAML: did not find expected ',' or ']'"),
]


@pytest.mark.parametrize(("text", "place", "message"), FAULTS, ids=[each[2][:40] for each in FAULTS])
def test_slips_are_told_where_they_stand(text: str, place: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse(text, "x.yaml")
    first = caught.value.faults[0]
    assert f"{first.mark}: {first.message}".startswith(f"x.yaml:{place}: {message}")


def test_hints_say_what_to_write() -> None:
    for text, hint in (
        (changed('{"P{N}": 3}', "{P{N}: 3}"), 'inside braces and brackets, quote what holds braces: "P{N}"'),
        (changed("Repeat: {i: 1..N}\n", ""), "to repeat it, say for which numbers: Repeat: {i: 1..N}"),
        (changed("P{i-1}P{i}:", "P{i-1}P{k}:"), "braces hold indices of Repeat (i) and parameters"),
    ):
        with pytest.raises(SpecError) as caught:
            parse(text)
        assert caught.value.faults[0].hint == hint


def test_too_many_are_refused_before_they_are_made() -> None:
    begun = time.process_time()
    with pytest.raises(SpecError, match=r"a run would need about 4\.\de\+07 GB of memory"):
        parse(CHAIN, overrides={"N": "10**12"})
    assert time.process_time() - begun < 1


@pytest.mark.slow
def test_a_hundred_thousand_may_be_made() -> None:
    spec = parse(CHAIN.replace("m*i", "m"), overrides={"N": "100000"})
    assert len(spec.rigids) == 100_000 and spec.rigids[-1].name == "P99999P100000"


def test_a_file_without_repeat_may_hold_braces_in_its_title() -> None:
    assert parse(written_out(2).replace("Dimension: 2", "Title: a {b} c")).title == "a {b} c"
    assert parse(CHAIN.replace("Dimension: 2", "Title: a {i} c")).title == "a {i} c"


# --- cost


def _matching(rods: int) -> float:
    """Seconds for the transversal of a chain whose masses couple neighbours: rows of points, then of lengths."""
    entries = [(k, other, 2) for k in range(rods) for other in (k - 1, k, k + 1) if 0 <= other < rods]
    entries += [(k, rods + other, 0) for k in range(rods) for other in (k, k + 1) if other < rods]
    entries += [(rods + k, other, 0) for k in range(rods) for other in (k - 1, k) if other >= 0]
    rows, columns, values = (np.array(each) for each in zip(*entries, strict=True))
    begun = time.process_time()
    assert np.all(transversal(2 * rods, rows, columns, values) >= 0)
    return time.process_time() - begun


def test_matching_a_chain_takes_time_in_proportion() -> None:
    """It was quadratic: 18 s for 8,000 rods in space."""
    assert _matching(40_000) < 3


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [2, 3])
def test_two_thousand_rods_from_shell_to_prompt(tmp_path: Path, dimension: int) -> None:
    """Measured: 2.3 and 2.5 s of processor time; others may be at work here, so that is what counts."""
    inertia = "[0, m*l**2/12, m*l**2/12]" if dimension == 3 else "m*l**2/12"
    text = CHAIN.replace("Dimension: 2", f"Dimension: {dimension}").replace("m*i, m*l**2/12", f"m, {inertia}")
    path = tmp_path / "chain.yaml"
    path.write_text(text.replace("N: 4, l: 0.5", "N: 2000, l: 0.01").replace("tend: 1", "tend: 0.01"))
    words = [sys.executable, "-m", "mechsim", "run", str(path), "-q", "-o", str(tmp_path / "out.csv")]
    subprocess.run([*words, "--set", "N=3"], check=True)  # programs are derived once
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 10
