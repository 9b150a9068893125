"""`mechsim check` tells one story: what it says may be fixed is accepted, and its numbers are those of the start."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from linkages import linkage

from mechsim import simulation
from mechsim.cli.main import main
from mechsim.errors import Mark
from mechsim.initial import assemble
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.spec import parse, read
from mechsim.spec.document import MechSpec, Number, Problem, StartValue
from mechsim.structure import Choice, freedom

SPECS = sorted((Path(__file__).parent.parent / "specs").rglob("*.yaml"))
SEEDS = range(0, 130, 6)


def held(values: dict[str, float], labels: list[str], mechanism: Any, points: Any, parts: Any) -> tuple[Any, Any]:
    """Start values as the file has them, but guesses, except that these labels are fixed at these values."""
    by_point = {name: [_loose(value) for value in given] for name, given in points.items()}
    by_part = {name: _loose(value) for name, value in parts.items()}
    for variable in mechanism.variables:
        if variable.label in labels:
            fixed = StartValue(Number(values[variable.label], "", Mark("", 1, 1)), True)
            if variable.kind == "angle":
                by_part[variable.owner] = fixed
            else:
                size = len(mechanism.points[variable.owner])
                given = by_point.setdefault(variable.owner, [None] * size)
                given += [None] * (size - len(given))
                given["xyz".index(variable.label[-1])] = fixed
    return {name: tuple(given) for name, given in by_point.items()}, by_part


def _loose(value: StartValue | None) -> StartValue | None:
    return replace(value, fixed=False) if value else None


def picked(choices: tuple[Choice, ...], generator: np.random.Generator) -> list[str]:
    """Some of the labels, as many of each choice as it says."""
    return [
        choice.labels[k]
        for choice in choices
        for k in generator.choice(len(choice.labels), choice.count, replace=False)
    ]


def accepted(spec: MechSpec, tries: int) -> None:
    """Whatever is picked of what may be fixed, at the values of the start, gives the same start."""
    mechanism = build(spec)
    system = System(mechanism)
    start = assemble(mechanism, system, spec.problem)
    found = freedom(system, start.t, start.positions, start.velocities)
    assert found is not None
    labels = [variable.label for variable in mechanism.variables]
    positions = dict(zip(labels, map(float, start.positions), strict=True))
    velocities = dict(zip(labels, map(float, start.velocities), strict=True))
    for seed in range(tries):
        generator = np.random.default_rng(seed)
        problem: Problem = spec.problem
        where, turned = held(
            positions, picked(found.position_choices, generator), mechanism, problem.positions, problem.angles
        )
        how, turning = held(
            velocities, picked(found.velocity_choices, generator), mechanism, problem.velocities, problem.rates
        )
        again = assemble(
            mechanism,
            system,
            replace(problem, positions=where, angles=turned, velocities=how, rates=turning),
        )
        moving = [k for k, variable in enumerate(mechanism.variables) if variable.kind != "state"]
        scales = np.array([variable.scale for variable in mechanism.variables])
        # fixed values are held to the bit; the others follow, amplified by 1/0.02 at most per part
        np.testing.assert_allclose((again.velocities / scales)[moving], (start.velocities / scales)[moving], atol=1e-6)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_what_may_be_fixed_is_accepted(path: Path) -> None:
    accepted(read(path), 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_may_be_fixed_is_accepted_of_random_linkages(seed: int) -> None:
    accepted(parse(linkage(seed)[1]), 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(104, 604))
def test_what_may_be_fixed_is_accepted_of_many_linkages(seed: int) -> None:
    accepted(parse(linkage(seed)[1]), 3)


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], tuple[str, dict[str, Any]]]:
    """What `mechsim check` prints about a text, and its JSON."""

    def run(text: str) -> tuple[str, dict[str, Any]]:
        path = tmp_path / "file.yaml"
        path.write_text(text)
        shown = []
        for words in (["check", str(path)], ["check", str(path), "--json"]):
            with pytest.raises(SystemExit) as left:
                main(words)
            assert not left.value.code
            shown.append(capsys.readouterr().out)
        return shown[0], json.loads(shown[1])

    return run


FOUR_BAR = """
PartData:
  Fixed: {{O: [], C: [3]}}
  Rigids:
    OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
    AB: {{Geom: [[3.5]], Dyna: [[1.75], 3.5, 3.57]}}
    CB: {{Geom: [[2]], Dyna: [[1], 2, 2/3]}}
AppliedForces: {{Gravity: , JointDampers: {{OA: 0.1}}}}
{}
ProblemData: {{tend: 2, positions: {{A: [0.5, 0.9], B: [3, 2]}}}}
"""


@pytest.mark.parametrize(
    ("drive", "words", "positions", "velocities"),
    [
        ("", "1 degree of freedom\n", 1, 1),
        ("Drives: {theta_OA: 1 + 5*t}", "1 degree of freedom, driven by theta_OA\n", 0, 0),
        ("Drives: {omega_OA: 5}", "1 degree of freedom, driven by omega_OA\n", 1, 0),
        ("Joints: {Holonomic: {f: B.x - 3.3 - 0.1*sin(t)}}", "1 degree of freedom, driven by f\n", 0, 0),
    ],
    ids=["free", "driven", "driven speed", "prescribed"],
)
def test_a_driven_mechanism_has_its_freedom_and_is_said_to_be_driven(
    drive: str, words: str, positions: int, velocities: int, told: Any
) -> None:
    text, found = told(FOUR_BAR.format(drive))
    assert words in text and "cannot move" not in text
    assert "OA, AB and CB share 1 degree of freedom" in text
    assert "coordinates, " in text and "integral" in text  # work of the damper is no coordinate
    assert (found["freedom"]["own"], found["freedom"]["positions"], found["freedom"]["velocities"]) == (
        1, positions, velocities,
    )  # fmt: skip
    assert bool(found["may_fix"]) == bool(positions) and bool(found["may_fix_velocities"]) == bool(velocities)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_tableau_counts_the_start_values_that_check_names(path: Path) -> None:
    prepared = simulation.prepare(read(path))
    found = freedom(prepared.system, prepared.start.t, prepared.start.positions, prepared.start.velocities)
    assert found is not None
    states = sum(variable.kind == "state" for variable in prepared.mechanism.variables)
    assert found.positions + found.velocities + states == prepared.structure.total_dof
    assert found.positions == prepared.structure.dof
    assert sum(choice.count for choice in found.position_choices) == found.positions
    assert sum(choice.count for choice in found.velocity_choices) == found.velocities


def test_what_a_file_asks_of_its_motions_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that is wrong in Sweep, Tolerances and Optimize at once, each with its place."""
    target = tmp_path / "asked.yaml"
    target.write_text("""
PhysicalParams: {l: 1, m: 2}
PartData: {Fixed: {O: []}, Rods: {OA: l}, Particles: {A: m}}
ProblemData: {tend: 2, positions: {A: [l, 0]}}
Sweep: {vary: {l: "1:2:3"}, measure: [mex(A_x)]}
Tolerances: {l: -3}
Optimize: {vary: {l: [2, 0.5], m: [1, 3, 7]}, minimise: max(B_x), subject: ["max(A_x) < 3", periodic, "1 > 2 > f"]}
""")
    with pytest.raises(SystemExit, match="2"):
        main(["check", str(target)])
    told = capsys.readouterr().err
    places = [line.split(": error: ")[0] for line in told.splitlines() if ": error: " in line]
    assert places == [f"{target}:{place}" for place in ("5:39", "6:17", "7:23", "7:36", "7:61", "7:112")]
