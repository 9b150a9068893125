"""Many motions of one handle at once: each is that of `simulate`, and one that fails is an entry."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from reference import SPECS
from test_handle import FOUR_BAR, SWING, TABLE

import mechsim
from mechsim.errors import AssemblyError, IntegrationError, MechsimError, SpecError
from mechsim.handle import many as many_module

TOL = 1e-11
# Steps in lanes have other roundings: results differ as those of two good runs do, by errors of the tolerance grown by
# the motion itself; relative to lengths of about 1 in these mechanisms.
ALIKE = 1e-8
ANDREWS = mechsim.mechanism(SPECS / "andrews.yaml")
BAR = mechsim.mechanism(FOUR_BAR)
DAMPED = """
PartData: {Fixed: {R: [1]}, Particles: {B: 1}}
AppliedForces: {Dampers: {RB: 0.3}}
ProblemData: {tend: 1, positions: {B: [0, 0.5]}}
"""
SPRUNG = """
Title: a mass on a spring, pushed by what has values for a while only
PhysicalParams: {k: 30, end: 9, push: 1}
PartData: {Fixed: {O: []}, Particles: {A: 1}, Springs: {OA: {k: k, l: 1}}}
AppliedForces: {Forces: {A: [push*sqrt(end - t), 0]}}
ProblemData: {tend: 1, positions: {A: [1.2, 0.1]}}
"""


def same(one: Any, other: Any) -> bool:
    a, b = one.motion.solution, other.motion.solution
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("t", "q", "v", "lam", "coefficients"))


def is_that_of_simulate(case: Any, motion: mechsim.Motion) -> bool:
    times = np.linspace(motion.t[0], motion.t[-1], 7)
    ours, theirs = case.motion.solution.sample(times), motion.solution.sample(times)
    return case.finished and case.t == motion.t[-1] and bool(np.abs(ours[0] - theirs[0]).max() < ALIKE)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The starts of motions that went in lanes."""
    seen: list[Any] = []
    original = many_module.integrate_many

    def noted(system: Any, structure: Any, starts: Any, **settings: Any) -> Any:
        seen.extend(starts)
        return original(system, structure, starts, **settings)

    monkeypatch.setattr(many_module, "integrate_many", noted)
    return seen


def test_each_is_the_motion_of_simulate_from_the_same_start(started: list[Any]) -> None:
    lengths, sides = np.linspace(3.0, 3.2, 9), np.linspace(2.4, 2.6, 9)
    motions = BAR.simulate_many({"b": lengths, "c": sides, "a": 1.01}, tol=TOL)
    assert len(started) == len(motions) == 9
    for k, case in enumerate(motions):
        wanted = {"b": lengths[k], "c": sides[k], "a": 1.01}
        assert case.parameters == wanted
        assert is_that_of_simulate(case, BAR.simulate(parameters=wanted, tol=TOL))
        alone = BAR._run(wanted).prepared.start
        assert np.array_equal(started[k].positions, alone.positions)
        assert np.array_equal(started[k].velocities, alone.velocities)


def test_a_case_has_all_that_a_motion_has() -> None:
    case = ANDREWS.simulate_many([{"mom": 0.03}, {"mom": "0.02 + 0.015"}], tol=TOL, tend=0.01)[1]
    motion = ANDREWS.simulate(parameters={"mom": 0.035}, tol=TOL, tend=0.01)
    assert case.motion.facts == motion.facts
    assert case.motion.certificate.energy_drift == pytest.approx(motion.certificate.energy_drift, abs=1e-9)
    assert case.motion.mechanism.constants == motion.mechanism.constants
    assert case.positions is not None and case.velocities is not None
    assert np.abs(case.positions["F"] - motion(0.01)["F"]).max() < ALIKE
    assert case.positions["O"].tolist() == motion(0.01)["O"].tolist()
    assert case.velocities["O"].tolist() == [0, 0]


def test_threads_change_no_bit() -> None:
    parameters = {"mom": np.linspace(0.03, 0.036, 40)}
    one, two = (ANDREWS.simulate_many(parameters, tol=1e-9, tend=0.01, threads=threads) for threads in (1, 2))
    assert all(same(a, b) for a, b in zip(one, two, strict=True))
    assert np.array_equal(one.at_end("F"), two.at_end("F"))


def test_one_that_cannot_be_assembled_is_an_entry_among_the_others() -> None:
    lengths = [3.0, 3.05, 30.0, 3.1]
    motions = BAR.simulate_many({"b": lengths}, tol=TOL)
    assert motions.status == ("finished", "finished", "not_assembled", "finished")
    assert motions[2].message and isinstance(motions[2].error, AssemblyError)
    with pytest.raises(AssemblyError):
        _ = motions[2].motion
    others = BAR.simulate_many({"b": [3.0, 3.05, 3.1]}, tol=TOL)
    assert all(same(motions[k], other) for k, other in zip((0, 1, 3), others, strict=True))
    assert np.isnan(motions.at_end("B")[2]).all() and np.isfinite(motions.at_end("B")[[0, 1, 3]]).all()


@pytest.mark.parametrize("keep", ["polynomials", "table", "final"])
def test_one_that_ends_early_is_an_entry_with_its_status(keep: str) -> None:
    """The force has no values after `end`."""
    motions = mechsim.mechanism(SPRUNG).simulate_many({"end": [9.0, 0.5, 8.0]}, tol=TOL, keep=keep)
    assert [case.finished for case in motions] == [True, False, True]
    broken = motions[1]
    assert broken.status != "finished" and broken.message and isinstance(broken.error, IntegrationError)
    assert 0.4 < broken.t <= 0.5
    assert np.isnan(motions.at_end("A")[1]).all()
    if keep != "final":
        assert broken.motion.t[-1] == broken.t  # what there is of it


def test_parameters_that_change_the_structure_are_noticed() -> None:
    handle = mechsim.mechanism(SWING)  # without damping; a zero is not in the equations
    motions = handle.simulate_many({"c": [0.0, 0.5, 0.0, 2.0]}, tol=TOL)
    for k, damping in enumerate((0.0, 0.5, 0.0, 2.0)):
        assert is_that_of_simulate(motions[k], handle.simulate(parameters={"c": damping}, tol=TOL))


def test_what_is_not_for_lanes_is_followed_as_simulate_does() -> None:
    handle = mechsim.mechanism(TABLE)
    motions = handle.simulate_many({"k": [1.0, 0.5]}, tol=TOL, threads=2)
    for case, k in zip(motions, (1.0, 0.5), strict=True):
        other = handle.simulate(parameters={"k": k}, tol=TOL)
        assert np.array_equal(case.motion.solution.q, other.solution.q)


def test_starts_and_ends_of_their_own() -> None:
    first = BAR.simulate(tol=TOL, tend=0.5)
    state = first(0.2), first.velocity(0.2)
    motions = BAR.simulate_many(start=[None, first, None], tend=[0.3, 0.8, 0.6], tol=TOL)
    assert [case.t for case in motions] == [0.3, 0.8, 0.6]
    wanted = [BAR.simulate(tend=0.3, tol=TOL), BAR.simulate(start=first, tend=0.8, tol=TOL)]
    assert all(is_that_of_simulate(case, motion) for case, motion in zip(motions, wanted, strict=False))
    later = BAR.simulate_many({"up": [2.0, 2.0]}, start=state, t0=0.2, tend=0.4, tol=TOL)
    assert all(is_that_of_simulate(case, BAR.simulate(start=state, t0=0.2, tend=0.4, tol=TOL)) for case in later)


def test_a_start_or_an_end_that_is_wrong_is_told_by_its_case() -> None:
    apart = BAR.start()[0] + 0.1, BAR.start()[1]
    motions = BAR.simulate_many(start=[None, apart, None], tend=[0.3, 0.3, -1.0], tol=TOL)
    assert motions.status == ("finished", "not_assembled", "not_read")
    assert "not consistent" in motions[1].message and "tend" in motions[2].message


def test_a_handle_with_parameters_has_them_in_all_cases() -> None:
    longer = BAR.with_parameters(b=3.1)
    motions = longer.simulate_many({"c": [2.5, 2.6]}, tol=TOL)
    assert is_that_of_simulate(motions[1], BAR.simulate(parameters={"b": 3.1, "c": 2.6}, tol=TOL))


def test_only_ends_are_kept_where_that_is_wished() -> None:
    motions = BAR.simulate_many({"b": [3.0, 3.1]}, tol=TOL, keep="final")
    full = BAR.simulate_many({"b": [3.0, 3.1]}, tol=TOL)
    assert np.array_equal(motions.at_end("B"), full.at_end("B"))
    assert np.array_equal(motions.at_end("B", of="velocities"), full.at_end("B", of="velocities"))
    with pytest.raises(MechsimError, match="kept"):
        _ = motions[0].motion


def test_what_is_wrong_with_all_is_raised() -> None:
    with pytest.raises(SpecError, match="nothing"):
        BAR.simulate_many({"nothing": [1.0, 2.0]})
    with pytest.raises(MechsimError, match="2 of b"):
        BAR.simulate_many({"b": [3.0, 3.1], "c": [2.5, 2.5, 2.5]})
    with pytest.raises(MechsimError, match="3 tend"):
        BAR.simulate_many({"b": [3.0, 3.1]}, tend=[1, 2, 3])
    with pytest.raises(MechsimError, match="keep"):
        BAR.simulate_many({"b": [3.0, 3.1]}, keep="all")
    for threads in (0, -1, 1.5, None):
        with pytest.raises(MechsimError, match=r"threads=.* is not a whole number from 1 on"):
            BAR.simulate_many({"b": [3.0, 3.1]}, threads=threads)  # type: ignore[arg-type]
    for tend in ("x", [[1.0]]):
        with pytest.raises(MechsimError, match="tend must be a number, or one for each motion"):
            BAR.simulate_many({"b": [3.0, 3.1]}, tend=tend)


def test_no_case_is_no_motion() -> None:
    for none in (BAR.simulate_many([]), BAR.simulate_many({"b": []}), BAR.simulate_many(tend=[])):
        assert len(none) == 0 and none.at_end("A").shape == (0, 2) and none.column("t").shape == (0,)


def test_dampers_whose_ends_meet_are_told() -> None:
    handle = mechsim.mechanism(DAMPED)
    states = [((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)), ((0.0, 0.5, 0.0), (1.0, 0.0, 0.0))]
    many = handle.simulate_many(start=states)
    assert many.status == ("not_finite", "finished") and "at its start" in many.message(0)
    with pytest.raises(IntegrationError):
        handle.simulate(start=states[0])


def test_cases_can_be_pickled() -> None:
    motions = BAR.simulate_many({"b": [3.0, 30.0]}, tol=TOL, tend=0.2)
    again = pickle.loads(pickle.dumps(motions))
    assert again.status == motions.status and again[1].message == motions[1].message
    assert same(again[0], motions[0])
    assert np.array_equal(again.at_end("B"), motions.at_end("B"), equal_nan=True)
