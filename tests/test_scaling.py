"""Large files: time and memory grow with the size of a mechanism, not with its square."""

import sys
import time
from pathlib import Path

import pytest
from memory import peak

from mechsim.errors import SpecError
from mechsim.initial import assemble
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.model.extent import extent
from mechsim.spec import parse
from mechsim.spec.circles import ordered
from mechsim.structure import analyse

LIMIT = 3.0  # times what proportional growth would give: a square would give ten
BODY = "PartData: {Particles: {A: 1}}\nProblemData: {tend: 1, positions: {A: [1]}}\n"


def seconds(work, *arguments) -> float:
    began = time.process_time()
    work(*arguments)
    return time.process_time() - began


def grows_in_proportion(work, small: int, factor: int = 10) -> bool:
    """Whether `factor` times as much takes no more than LIMIT times `factor` as long; the best of some, for others may
    use the machine too."""
    work(10)  # imports
    short = max(min(seconds(work, small) for _ in range(2)), 0.01)
    return any(seconds(work, factor * small) < LIMIT * factor * short for _ in range(4))


# --- parameters


def chained(count: int) -> str:
    return "".join(f"  a{k}: a{k + 1} + 1\n" for k in range(count)) + f"  a{count}: 1\n"


PARAMETERS = {
    "a chain": chained,
    "a chain backwards": lambda n: "  a0: 1\n" + "".join(f"  a{k}: a{k - 1} + 1\n" for k in range(1, n)),
    "one circle": lambda n: "".join(f"  a{k}: a{(k + 1) % n}\n" for k in range(n)),
    "circles of one": lambda n: "".join(f"  a{k}: a{k}\n" for k in range(n)),
    "circles of two": lambda n: "".join(f"  a{k}: b{k}\n  b{k}: a{k}\n" for k in range(n)),
    "nothing defined": lambda n: "".join(f"  a{k}: b{k}\n" for k in range(n)),
    "names that are none": lambda n: "".join(f"  {k}x: 1\n" for k in range(n)),
    "one name": lambda n: "".join("  a: 1\n" for k in range(n)),
}


def read_parameters(text: str) -> list[str]:
    """The faults of a file with these parameters."""
    try:
        parse(f"PhysicalParams:\n{text}{BODY}", "f")
    except SpecError as error:
        return [str(fault) for fault in error.faults]
    return []


@pytest.mark.parametrize("case", PARAMETERS)
def test_parameters(case):
    assert grows_in_proportion(lambda count: read_parameters(PARAMETERS[case](count)), 300)


@pytest.mark.slow
def test_three_thousand_circles_and_twenty_thousand_in_a_chain():
    """A second or two; the limit is for a machine that is busy with other tests."""
    assert seconds(read_parameters, PARAMETERS["circles of two"](3000)) < 6
    assert seconds(read_parameters, chained(20_000)) < 8


def test_circles_are_told_all_at_once():
    faults = read_parameters("  c: c\n  x: y + c\n  y: x\n  a: b\n  b: a\n  d: a + x\n  e: 2\n")
    assert [fault.split(": ", 3)[3].split("\n")[0] for fault in faults] == ["c -> c", "x -> y -> x", "a -> b -> a"]
    (fault,) = read_parameters(PARAMETERS["one circle"](1000))
    assert "a0 -> a1 -> a2" in fault and "(1000 in all) -> a0" in fault and len(fault) < 300


def test_an_order_comes_after_what_it_uses():
    uses = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": [], "x": ["y"], "y": ["z"], "z": ["x", "a"], "u": ["x"]}
    order, circles = ordered(uses)
    assert circles == [["x", "y", "z"]] and set(order) == {"a", "b", "c", "d", "u"}
    assert all(order.index(used) < order.index(name) for name in "abc" for used in uses[name])


def test_too_many_faults_end_the_search():
    faults = read_parameters(PARAMETERS["nothing defined"](5000))
    assert len(faults) == 51 and "or more" in faults[-1]


# --- mechanisms


def rows(count: int, line: str) -> str:
    """The line for every k, indented as the entries of a section are; `{k+1}` and the like are counted on."""
    return "".join(
        "    " + line.replace("{k}", str(k)).replace("{k+1}", str(k + 1)).replace("{k+2}", str(k + 2)) + "\n"
        for k in range(count)
    )


def particles(count: int, parts: str = "", forces: str = "", more: str = "", fixed: str = "") -> str:
    ground = f"  Fixed:\n{fixed}" if fixed else ""
    body = f"PartData:\n{ground}  Particles:\n{rows(count, 'A{k}: 1')}{parts}{more}AppliedForces:\n  Gravity:\n{forces}"
    return f"{body}ProblemData:\n  tend: 0.01\n  positions:\n{rows(count, 'A{k}: [{k+1}, 0]')}"


def arms(count: int, forces: str) -> str:
    rods = rows(count, "OB{k}: {Geom: [[1]], Dyna: [[0.5], 1, 1]}")
    return f"PartData:\n  Fixed: {{O: []}}\n  Rigids:\n{rods}AppliedForces:\n{forces}ProblemData: {{tend: 0.01}}\n"


def large_part(count: int) -> str:
    geometry = ", ".join(f"[{k}, {k % 3}]" if k > 1 else "[1]" for k in range(1, count))
    name = "".join(f"B{k}" for k in range(count))
    body = f"    ? {name}\n    : {{Geom: [{geometry}], Dyna: [[1], 1, 1]}}\n"
    return f"PartData:\n  Rigids:\n{body}ProblemData: {{tend: 0.01}}\n"


MECHANISMS = {
    "springs": lambda n: particles(n, "  Springs:\n" + rows(n - 1, "A{k}A{k+1}: [1, 1, 0, 1]")),
    "dampers": lambda n: particles(
        n, "  Rods:\n" + rows(n - 1, "A{k}A{k+1}: 1"), "  Dampers:\n" + rows(n - 2, "A{k}A{k+2}: 1")
    ),
    "fixed points": lambda n: particles(
        n, "  Springs:\n" + rows(n, "A{k}F{k}: [1, 1]"), fixed=rows(n, "F{k}: [{k+1}, {k+2}]")
    ),
    "slots": lambda n: particles(
        n, more="Joints:\n  Slots:\n" + rows(n, "A{k}-OR: []"), fixed="    O: []\n    R: [1]\n"
    ),
    "forces": lambda n: particles(n, forces="  Forces:\n" + rows(n, "A{k}: [A{k}.vx, 0]")),
    "tables": lambda n: particles(
        n,
        forces="  Forces:\n" + rows(n, "A{k}: [f{k}, 0]"),
        more="Tables:\n" + rows(n, "f{k}: {points: [[0, 0], [1, 1]]}"),
    ),
    "turn angles": lambda n: arms(n, "  ConstTorques:\n" + rows(n, "OB{k}: 1")),
    "followers": lambda n: arms(n, "  ConstForces:\n" + rows(n, "OB{k}.B{k}: [1]")),
    "one large part": large_part,
}


def some(*quick: str):
    """All cases; those that are not quick only when there is time."""
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in MECHANISMS]


@pytest.mark.parametrize("case", some("springs", "fixed points"))
def test_reading_and_building(case):
    assert grows_in_proportion(lambda count: build(parse(MECHANISMS[case](count), "f")), 100)


@pytest.mark.parametrize("case", some("turn angles"))
def test_starting(case):
    """Equations, start and structure."""
    if case == "one large part":
        pytest.skip("its constraints all touch two points, which fills the sparse factorization")

    def work(count: int) -> None:
        spec = parse(MECHANISMS[case](count), "f")
        built = build(spec)
        start = assemble(built, System(built), spec.problem)
        analyse(start.system)

    assert grows_in_proportion(work, 100)


def test_the_extent_of_many_points_is_that_of_all_pairs():
    import numpy as np

    generator = np.random.default_rng(1)
    for count in (0, 1, 2, 31, 200):
        for cloud in (generator.normal(size=(count, 2)), generator.integers(0, 3, (count, 2)), np.zeros((count, 2))):
            places = [complex(x, y) for x, y in cloud]
            expected = max((abs(p - q) for p in places for q in places), default=0.0)
            assert extent(map(tuple, cloud.tolist())) == pytest.approx(expected, rel=1e-15)
    ring = 2 * np.pi * np.arange(3000) / 3000
    assert extent(zip(np.cos(ring), np.sin(ring), strict=True)) == pytest.approx(2, rel=1e-12)


# --- memory

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory as Linux tells it")


def chain(rods: int) -> str:
    """A chain a metre long, let go from the horizontal."""
    length = 1 / rods
    inertia = f"{{Geom: [[{length!r}]], Dyna: [[{length / 2!r}], {length!r}, {length**3 / 12!r}]}}"
    parts = "".join(f"    P{k}P{k + 1}: {inertia}\n" for k in range(rods))
    places = "".join(f"    P{k}: [{k * length!r}, 0]\n" for k in range(1, rods + 1))
    return (
        f"PartData:\n  Fixed: {{P0: []}}\n  Rigids:\n{parts}AppliedForces: {{Gravity: }}\n"
        f"ProblemData:\n  tend: 1e-5\n  positions:\n{places}"
    )


def peak_of_chain(folder: Path, rods: int) -> float:
    """The most memory that a run of a chain takes, in MB."""
    (folder / "chain.yaml").write_text(chain(rods))
    return peak(folder, "run", "chain.yaml", "-o", "out.csv", "--tol", "1e-6", "-q")


@pytest.mark.slow
@LINUX
def test_a_run_of_many_rods_takes_memory_in_proportion(tmp_path):
    """Measured: 17 kB a rod. One dense matrix of constraints by coordinates would be 256 MB for the longer chain."""
    assert peak_of_chain(tmp_path, 4000) - peak_of_chain(tmp_path, 500) < 3500 * 0.050


@LINUX
@pytest.mark.slow
def test_a_hundred_thousand_rods_within_four_gigabytes(tmp_path):
    """Measured: 2.1 GB."""
    assert peak_of_chain(tmp_path, 100_000) < 4000
