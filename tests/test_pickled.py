"""Motions and what belongs to them are pickled, and one motion may be read from several threads."""

import gc
import pickle
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from reference import SPECS
from test_continued import CRANKS, PARALLELOGRAM, SAMPLED, TABLE

import mechsim

LAWS = """
PartData: {Fixed: {O: []}, Particles: {B: 2}, Springs: {OB: {k: 100, l: 1, c: 8, law: 3*s + 0.5*v}}}
AppliedForces: {Potentials: {cushion: 20*(B.x - 1)**2/2}, Forces: {B: [sin(t), 0]}}
Signals: {stretch: 'dist(O,B) - 1'}
Output: {signals: [stretch]}
ProblemData: {tend: 1, positions: {B: [1.2, 0.1]}}
"""
CASES = {
    "table": TABLE,
    "sampled": SAMPLED,
    "laws": LAWS,
    "cranks": CRANKS,
    "parallelogram": PARALLELOGRAM,
    "andrews": SPECS / "andrews.yaml",
    "driven": SPECS / "forces" / "driven_slider_crank.yaml",
}


def simulated(name):
    return mechsim.simulate(CASES[name], reactions=["all"])


def same(one, other):
    times = np.linspace(one.t[0], one.t[-1], 9)
    return (
        one.trajectory.labels == other.trajectory.labels
        and np.array_equal(one.trajectory.table, other.trajectory.table, equal_nan=True)
        and np.array_equal(one.sampled(times).table, other.sampled(times).table, equal_nan=True)
        and replace(one.certificate, seconds=0) == replace(other.certificate, seconds=0)
    )


@pytest.mark.parametrize("name", CASES)
def test_a_motion_is_pickled(name):
    motion = simulated(name)
    assert same(motion, pickle.loads(pickle.dumps(motion)))
    assert motion.signals(0.01) is not None and motion.trajectory.table.size  # what was asked before changes nothing
    again = pickle.loads(pickle.dumps(motion))
    assert same(motion, again) and same(motion, pickle.loads(pickle.dumps(again)))
    assert len(again.solution.segments) == len(motion.solution.segments)


def test_a_pickled_motion_is_read_by_another_process(tmp_path):
    motion = simulated("laws")
    (tmp_path / "motion").write_bytes(pickle.dumps(motion))
    words = "import pickle, sys; motion = pickle.load(open('motion', 'rb')); print(motion(0.3)['B'].tolist())"
    words += "; print(motion.certificate.energy_drift)"
    ended = subprocess.run([sys.executable, "-c", words], cwd=tmp_path, capture_output=True, text=True)
    assert ended.stdout.split("\n")[:2] == [repr(motion(0.3)["B"].tolist()), repr(motion.certificate.energy_drift)]


def test_a_pickled_motion_goes_on():
    from mechsim.engine import integrate

    motion = simulated("sampled")
    again = pickle.loads(pickle.dumps(motion))
    ends = []
    for each in (motion.solution, again.solution):
        rest = integrate(each.system, each.structure, each.ending, tend=2.5, tolerance=each.tolerance)
        ends.append(np.concatenate([rest.t, rest.q.ravel(), rest.v.ravel()]))
    assert np.array_equal(*ends)


# --- the Lagrangian facility


def pendulum(q, v, t, p):
    return p.m * v[0] ** 2 / 2 + p.m * 9.81 * jnp.cos(q[0])


def brake(q, v, t, p):
    return [-p.c * v[0]]


def system(lagrangian, forces):
    return mechsim.lagrangian_system(lagrangian, ["a"], parameters={"m": 2.0, "c": 0.1}, forces=forces)


@pytest.mark.parametrize("inline", [False, True])
def test_a_users_lagrangian_is_pickled(inline):
    """Its equations are, so that its motion can be read and simulated again; its functions, where Python can."""
    friction = (lambda q, v, t, p: [-p.c * v[0]]) if inline else brake
    made = system(pendulum, friction)
    motion = made.simulate({"a": 1.0}, tend=2.0)
    assert same(motion, pickle.loads(pickle.dumps(motion)))
    again = pickle.loads(pickle.dumps(made))
    assert same(made.simulate({"a": 0.5}, tend=1.0), again.simulate({"a": 0.5}, tend=1.0))
    if inline:  # a parameter of zero has equations of its own
        with pytest.raises(mechsim.MechsimError, match=r"function .*lambda.* was lost when its system was pickled"):
            again.simulate({"a": 0.5}, tend=1.0, parameters={"c": 0.0})
    else:
        zero = {"c": 0.0}
        assert same(
            made.simulate({"a": 0.5}, tend=1.0, parameters=zero), again.simulate({"a": 0.5}, tend=1.0, parameters=zero)
        )


# --- threads


@pytest.mark.parametrize("name", ["sampled", "table", "andrews", pytest.param("cranks", marks=pytest.mark.slow)])
def test_one_motion_is_read_from_several_threads(name):
    """What a thread reads is bitwise what it would read alone: samples with constants of different times, forces."""
    motion = simulated(name)
    point = motion.mechanism.parts[0].points[0]
    first, last = motion.t[[0, -1]]
    rng = np.random.default_rng(3)
    questions = [np.sort(rng.uniform(first, last, 40)) for _ in range(24)]

    def ask(times):
        reaction = np.concatenate(list(motion.reaction(point, times).values()))
        return np.concatenate([motion.sampled(times).table.ravel(), reaction.ravel(), motion(times[3]).values_array])

    alone = [ask(times) for times in questions]
    again = [ask(times) for times in reversed(questions)]
    assert all(np.array_equal(one, other) for one, other in zip(alone, reversed(again), strict=True))
    fresh = pickle.loads(pickle.dumps(motion))
    motion = fresh
    with ThreadPoolExecutor(8) as pool:
        for one, other in zip(alone, pool.map(ask, questions), strict=True):
            assert np.array_equal(one, other)


def test_a_motion_that_nobody_needs_is_freed_at_once():
    """Polynomials are large, and a sweep makes many motions: nothing may wait for the collector of cycles."""
    motion = simulated("sampled")
    assert motion(0.3)["A"] is not None and motion.reaction("O", 0.3) and motion.trajectory.table.size
    gc.collect()
    gc.disable()
    try:
        left = weakref.ref(motion.solution)
        del motion
        assert left() is None
    finally:
        gc.enable()
