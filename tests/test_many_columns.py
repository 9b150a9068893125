"""Many motions as columns: ends, statuses, polynomials; and what they are does not depend on their company."""

from __future__ import annotations

import pickle
import warnings
from functools import cache

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS
from test_branch import FOUR_BAR as CRANK
from test_handle import FOUR_BAR, SWING, TABLE

import mechsim
from mechsim.errors import AssemblyError, MechsimError, SpecError
from mechsim.handle import many as many_module

TOL = 1e-9
PENDULUM = """
PhysicalParams: {l: 1, g: 9.81, th0: 1, push: 1}
PartData: {Fixed: {O: [0.5, 2]}, Rigids: {OA: {Geom: [[l]]}}, Particles: {A: 1}}
AppliedForces: {Gravity: [0, -g], Forces: {A: [push*sqrt(9 - t), 0]}}
ProblemData: {tend: 1, positions: {A: [0.5 + l*sin(th0), 2 - l*cos(th0)]}}
"""


@cache
def handle_of(text: str) -> mechsim.handle.MechanismHandle:
    return mechsim.mechanism(text)


def columns_of(motions: mechsim.handle.Motions, rows: np.ndarray | slice = slice(None)) -> list[np.ndarray]:
    own = [motions.t, motions.q, motions.v, motions.lam, motions.codes, motions.column("T"), motions.column("V")]
    return [column[rows] for column in (*own, *motions.statistics.values())]


def alike(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


LENGTHS = np.array([3.0, 3.2, 2.9, 3.4, 3.05, 0.0, 4.1, 2.2, -1.0, 3.3, np.nan, 3.15])
SWEPT = {"b": LENGTHS, "up": np.linspace(-2.0, 2.5, len(LENGTHS)), "d": "3 + 0.1*(b - 3)"}


@cache
def all_together() -> mechsim.handle.Motions:
    """Some have another structure, some no meaning, some start far from the file's own, or on its other side."""
    return handle_of(FOUR_BAR).simulate_many(SWEPT, tol=TOL, tend=0.4, keep="final")


@some_of(20)
@given(st.permutations(range(len(LENGTHS))), st.integers(1, len(LENGTHS)), st.integers(1, 5), st.integers(1, 2))
def test_order_company_chunks_and_threads_change_no_bit(
    order: list[int], size: int, at_once: int, threads: int
) -> None:
    whole, handle = all_together(), handle_of(FOUR_BAR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_module, "AT_ONCE", at_once)
        for first in range(0, len(order), size):
            chosen = np.array(order[first : first + size])
            some = {name: column if isinstance(column, str) else column[chosen] for name, column in SWEPT.items()}
            found = handle.simulate_many(some, tol=TOL, tend=0.4, keep="final", threads=threads)
            assert alike(columns_of(found), columns_of(whole, chosen))
            assert [found.message(k) for k in range(len(found))] == [whole.message(int(k)) for k in chosen]


def test_wide_sweeps_of_a_start_are_followed_alike_in_any_company() -> None:
    """Far from the file's own start, where strides along the constraints lead there."""
    handle = handle_of(PENDULUM)
    angles = np.linspace(-3.1, 3.1, 37)
    whole = handle.simulate_many({"th0": angles}, tol=TOL, tend=0.1, keep="final")
    assert whole.finished.all()
    for k in (0, 17, 36):
        one = handle.simulate_many({"th0": angles[k : k + 1]}, tol=TOL, tend=0.1, keep="final")
        assert alike(columns_of(one), columns_of(whole, slice(k, k + 1)))


def test_a_row_is_where_the_motion_of_simulate_ends() -> None:
    """Steps in lanes have other roundings: 1e-7 is the tolerance, a hundred times grown."""
    found = all_together()
    assert found.status[:5] == ("finished",) * 5 and found._group[2] < 0  # another part is the longest
    assert found.status[8] == "not_read" and found.status[10] == "not_read"
    for k in np.flatnonzero(found.finished):
        wanted = {name: column if isinstance(column, str) else float(column[k]) for name, column in SWEPT.items()}
        motion = handle_of(FOUR_BAR).simulate(parameters=wanted, tol=TOL, tend=0.4)
        assert np.abs(found.q[k] - motion.solution.q[-1]).max() < 1e-7
        assert found.lam[k] == pytest.approx(motion.solution.lam[-1], rel=1e-6, abs=1e-5)
        kinetic, potential = motion.system.energies(0.4, motion.solution.q[-1], motion.solution.v[-1])
        assert found.column("T")[k] == pytest.approx(kinetic, rel=1e-6)
        assert found.column("V")[k] == pytest.approx(potential, rel=1e-6)
        assert found.column("Q_x")[k] == pytest.approx(3 + 0.1 * (LENGTHS[k] - 3), rel=1e-15)


def test_columns_have_names() -> None:
    found = handle_of(PENDULUM).simulate_many({"l": [1.0, 1.5]}, tol=TOL, keep="final")
    assert found.coordinates[:2] == ("A_x", "A_y") and len(found.multipliers) == found.lam.shape[1]
    assert np.array_equal(found.column("A_x"), found.q[:, 0])
    assert np.array_equal(found.column("A_y_dot"), found.v[:, 1])
    assert np.array_equal(found.column(found.multipliers[0]), found.lam[:, 0])
    assert found.column("O_x").tolist() == [0.5, 0.5] and found.column("O_y_dot").tolist() == [0, 0]
    assert found.column("t").tolist() == [1, 1]
    assert found.parameters["l"].tolist() == [1.0, 1.5]
    assert np.array_equal(found.at_end("A"), found.q[:, :2])
    with pytest.raises(SpecError, match="no column A_z"):
        found.column("A_z")
    with pytest.raises(KeyError):
        found.at_end("Z")


def test_polynomials_of_all_are_one_after_the_other() -> None:
    """Also of those that were followed alone, here because their structure is another one."""
    handle = handle_of(SWING)
    found = handle.simulate_many({"c": [0.0, 0.5, 0.0], "l": [1.0, 1.0, 1.1]}, tol=TOL, tend=0.5)
    series = found.polynomials
    assert series.unknowns == (*found.coordinates, *found.multipliers)
    assert len(series.offsets) == 4 and series.offsets[-1] == len(series.begins) == len(series.coefficients)
    for k in range(3):
        motion, (times, coefficients) = found.motion(k), series.of(k)
        assert np.array_equal(times, motion.t)
        place, step = series.place("A_x"), len(times) // 2
        t = (times[step] + times[step + 1]) / 2
        x = np.polynomial.polynomial.polyval(t - times[step], coefficients[step, :, place])
        assert x == pytest.approx(motion(t)["A_x"], abs=1e-8)
    assert series.place("nobody") == -1
    with pytest.raises(MechsimError, match="not kept"):
        _ = handle.simulate_many({"l": [1.0, 1.1]}, tol=TOL, tend=0.1, keep="final").polynomials


def test_a_slice_and_what_is_pickled_are_the_same() -> None:
    found = all_together()
    part = found[2:5]
    assert found[5].message and found[4:6][1].message == found[5].message
    assert part.status == found.status[2:5] and part[1].t == found[3].t
    assert part[0].parameters == found[2].parameters and alike(columns_of(part), columns_of(found, slice(2, 5)))
    again = pickle.loads(pickle.dumps(found))
    assert alike(columns_of(again), columns_of(found))
    assert [case.message for case in again] == [case.message for case in found]
    assert np.array_equal(again.column("Q_x"), found.column("Q_x"), equal_nan=True)


def test_formulas_follow_the_columns() -> None:
    handle = handle_of(FOUR_BAR)
    lengths = np.array([3.0, 3.1, 3.2])
    found = handle.simulate_many({"b": lengths, "c": "b - 0.5"}, tol=TOL, tend=0.1, keep="final")
    numbers = handle.simulate_many({"b": lengths, "c": lengths - 0.5}, tol=TOL, tend=0.1, keep="final")
    assert alike(columns_of(found), columns_of(numbers))


def test_starts_as_columns() -> None:
    handle = handle_of(FOUR_BAR)
    motion = handle.simulate(tol=1e-12, tend=0.5)
    times = np.array([0.1, 0.2, 0.3])
    q, v, _ = motion.solution.sample(times)
    q[1] += 0.1  # this one is not consistent
    found = handle.simulate_many(start=(q, v), t0=0.0, tend=0.2, tol=TOL, keep="final")
    assert found.status == ("finished", "not_assembled", "finished")
    listed = handle.simulate_many(
        start=[(a, b) for a, b in zip(q, v, strict=True)], t0=0.0, tend=0.2, tol=TOL, keep="final"
    )
    assert alike(columns_of(found), columns_of(listed))
    assert np.abs(found.q[0] - motion.solution.sample([0.3])[0][0]).max() < 1e-7  # the tolerance, grown
    with pytest.raises(MechsimError, match=r"must be \(motions, "):
        handle.simulate_many(start=(q[:, :2], v))


@pytest.mark.parametrize("text", [FOUR_BAR, TABLE])
def test_no_motions_are_no_rows(text: str) -> None:
    found = handle_of(text).simulate_many([], keep="final")
    assert len(found) == 0 and found.q.shape == (0, len(found.coordinates)) and found.status == ()


def lost(action: str) -> tuple[mechsim.handle.Motions, list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter(action, mechsim.BranchWarning)
        wanted = {"turn": [1.1, 2 * np.pi, 1.2], "d": [3.0, 6.4, 3.1]}
        return handle_of(CRANK).simulate_many(wanted, tol=TOL, tend=0.1, keep="final"), said


def test_a_lost_branch_is_told_with_its_case() -> None:
    found, said = lost("always")
    assert found.finished.all()
    (told,) = [str(each.message) for each in said if issubclass(each.category, mechsim.BranchWarning)]
    assert found.remarked == [1] and found.remark(1) in told and found[1:].remarked == [0] and not found.remark(0)
    assert told.startswith("case 1 (turn = 6.28") and "d = 6.4" in told and "of the way to these parameters" in told


def test_a_lost_branch_that_is_an_error_ends_only_its_own_motion() -> None:
    found, _ = lost("error")
    assert found.status == ("finished", "not_followed", "finished")
    assert isinstance(found.error(1), AssemblyError) and "another branch" in found.message(1)
    with pytest.raises(AssemblyError):
        found.motion(1)


def test_numbers_of_all_equations_are_not_kept() -> None:
    """A million cases have to fit: what remains of each are its parameters and its end."""
    found = mechsim.mechanism(SPECS / "andrews.yaml").simulate_many(
        {"mom": np.linspace(0.03, 0.036, 32)}, tol=TOL, tend=1e-3, keep="final"
    )
    assert len(pickle.dumps((columns_of(found), found.parameters))) < 32 * 1000
    assert all(batch.many.sets is None and not batch.many.kept for batch in found._told)
