"""The engine: unusual structures against exact motions, long chains, endings, interrupts, dense output."""

import threading
from dataclasses import replace
from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest
from reference import SPECS
from reference.expressions import system_of

import mechsim
from mechsim.engine import LARGEST_ORDER, SMALLEST_ORDER, State, integrate, order_for
from mechsim.engine.leading import planned
from mechsim.kernel.system import System
from mechsim.lagrangian.kind import Kind
from mechsim.simulation import CutShort, adjust, follow, prepare
from mechsim.source import read
from mechsim.structure import analyse


def started(t=0.0, positions=(), velocities=()):
    return State(t, np.array(positions, float), np.array(velocities, float))


# --- unusual structures


def test_a_jet_that_turns_with_its_rod():
    """A force f across the end of a rod of inertia J about its pin turns it by f L t^2 / (2 J), and W = f L theta."""
    length, inertia, force = 1.3, 2.0, 0.9
    motion = mechsim.simulate(f"""
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[{length}]], Dyna: [[], 3, {inertia}]}}}}
AppliedForces: {{ConstForces: {{OA.A: [0, {force}]}}}}
ProblemData: {{tend: 8, positions: {{A: [{length}, [0, fixed]]}}, rates: {{OA: [0, fixed]}}}}
SolverParams: {{Integration: {{tol: 1e-14}}}}
""")
    for t in (1.0, 3.3, 8.0):
        turned = force * length / inertia * t**2 / 2  # 18.7 rad at the end
        state = motion(t)
        np.testing.assert_allclose(state["A"], length * np.array([np.cos(turned), np.sin(turned)]), rtol=0, atol=1e-13)
        # The work is a state: it is integrated, not projected, and gains rounding of each of some hundred steps.
        assert state["work_OA_A"] == pytest.approx(force * length * turned, rel=1e-14, abs=1e-14)
        assert state["theta_OA"] == pytest.approx(turned, rel=1e-14, abs=1e-14)
    assert motion.certificate.energy_drift <= 1e-14


PARALLELOGRAM = """
PartData:
  Fixed: {{O: [], Q: [2], R: [1]}}
  Rigids:
    OA: {{Geom: [[1]], Dyna: [[0.5], {mass}, {mass}/12]}}
    QB: {{Geom: [[1]], Dyna: [[0.5], {mass}, {mass}/12]}}
    ABC: {{Geom: [[2], [1]], Dyna: [[1], 4, 1]}}
    {third}
AppliedForces: {{Gravity: }}
ProblemData:
  tend: 5
  positions: {{A: [[0.6, fixed], -0.8], B: [2.6, -0.8], C: [1.6, -0.8]}}
  velocities: {{A: [[1, fixed], 0.75]}}
SolverParams: {{Integration: {{tol: 1e-14}}}}
"""


def test_a_redundant_bar_moves_as_if_its_mass_sat_on_the_others():
    """All cranks of a parallelogram turn alike, so three of mass 1 are two of mass 1.5; one constraint is too many."""
    third = "RC: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}"
    three = mechsim.simulate(PARALLELOGRAM.format(mass=1.0, third=third))
    two = mechsim.simulate(PARALLELOGRAM.format(mass=1.5, third="").replace(", R: [1]", ""))
    assert len(three.solution.structure.redundancy.rows) == 1
    times = np.linspace(0.0, 5.0, 11)
    for point in "ABC":
        np.testing.assert_allclose(three(times)[point], two(times)[point], rtol=0, atol=1e-12)
        np.testing.assert_allclose(three.velocity(times)[point], two.velocity(times)[point], rtol=0, atol=1e-11)
    # The constraint that rests holds by itself.
    residuals = three.system.constraints(three.t, three.solution.q)
    assert np.abs(residuals).max() <= 1e-13


def test_springs_in_series_through_a_point_without_mass():
    """Two springs with a massless joint act as one of stiffness k1 k2/(k1 + k2) and of both lengths.

    The joint is algebraic: its rows have no inertia, and stage 0 finds it by Newton's iteration. (The spec's check
    refuses it, since it is determined only while the springs are taut; so the particle there is taken away by hand.)
    """
    text = """
PartData:
  Fixed: {O: []}
  Springs: SPRINGS
  Particles: PARTICLES
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 6, positions: {B: [0.6, -2.2]}}
"""
    stiffness, end = 30 * 60 / (30 + 60), 6.0
    one = mechanism_of(text.replace("SPRINGS", f"{{OB: [{stiffness}, 1.5]}}").replace("PARTICLES", "{B: 1.2}"))
    two = mechanism_of(
        text.replace("SPRINGS", "{OA: [30, 0.6], AB: [60, 0.9]}").replace("PARTICLES", "{A: 1, B: 1.2}"), lighter="A"
    )
    single = march(one, started(0.0, [0.6, -2.2], [0.5, 0.0]), end)
    double = march(two, started(0.0, [0.2, -1.0, 0.6, -2.2], [0.0, 0.0, 0.5, 0.0]), end)
    times = np.linspace(0.0, end, 13)
    b, speed, _ = single.sample(times)
    q, v, _ = double.sample(times)
    np.testing.assert_allclose(q[:, 2:], b, rtol=0, atol=1e-11)
    np.testing.assert_allclose(v[:, 2:], speed, rtol=0, atol=1e-10)
    # The joint lies on the line OB, where both springs pull alike.
    length = np.linalg.norm(b, axis=1, keepdims=True)
    assert length.min() > 1.5  # taut all the time
    share = (0.6 + stiffness / 30 * (length - 1.5)) / length
    np.testing.assert_allclose(q[:, :2], share * b, rtol=0, atol=1e-11)


def mechanism_of(text, lighter=""):
    """The mechanism of a text, without the particle at `lighter`."""
    mechanism = mechsim.mechanism(text).mechanism
    kept = tuple(e for e in mechanism.elements if not (e.kind == "particle" and e.owner == lighter))
    return replace(mechanism, elements=kept)


def march(mechanism, start, end):
    system = System(mechanism)
    solution = integrate(system, analyse(system), start, tend=end, tolerance=1e-14)
    assert solution.status == "finished"
    return solution


def test_a_lagrangian_that_depends_on_time():
    """L = e^{gt} (x'^2/2 - w^2 x^2/2 + a x cos bt): the damped and driven oscillator x'' + g x' + w^2 x = a cos bt.

    Its exact motion is elementary. Errors are damped away, so 1e-13 is rounding of a few steps.
    """
    g, w, a, b = 0.3, 2.0, 1.7, 1.1

    def kinetic(x, v, t, p):
        return jnp.exp(p.g * t) * v[0] ** 2 / 2

    def potential(x, t, p):
        return jnp.exp(p.g * t) * (p.w**2 * x[0] ** 2 / 2 - p.a * x[0] * jnp.cos(p.b * t))

    kind = Kind("driven", ("x",), ("g", "w", "a", "b"), kinetic=kinetic, potential=potential, cacheable=False)
    system = system_of(kind, 1, [[g], [w], [a], [b]])
    solution = integrate(system, analyse(system), started(0.0, [1.0], [0.0]), tend=20.0, tolerance=1e-14)
    t = solution.t
    steady = a / (w**2 - b**2 + 1j * g * b)  # the driven motion is steady e^{ibt}, its real part
    root = -g / 2 + 1j * np.sqrt(w**2 - g**2 / 4)
    # x = Re(steady e^{ibt} + free e^{root t}) with x(0) = 1, x'(0) = 0
    real = 1 - steady.real
    free = real + 1j * ((1j * b * steady).real + real * root.real) / root.imag
    exact = (steady * np.exp(1j * b * t) + free * np.exp(root * t)).real
    np.testing.assert_allclose(solution.q[:, 0], exact, rtol=0, atol=1e-13)


# --- long chains


def chain(count, tend):
    points = [f"P{i}" for i in range(count + 1)]
    rods = "\n".join(f"    {a}{b}: *rod" for a, b in pairwise(points[1:]))
    places = ", ".join(f"{p}: [{0.8 * i / count}, {-0.6 * i / count}]" for i, p in enumerate(points) if i)
    return f"""
PartData:
  Fixed: {{P0: []}}
  Rigids:
    P0P1: &rod {{Geom: [[{1 / count!r}]], Dyna: [[{0.5 / count!r}], {1 / count!r}, {1 / 12 / count**3!r}]}}
{rods}
AppliedForces: {{Gravity: }}
ProblemData: {{tend: {tend}, positions: {{{places}}}}}
"""


def test_a_chain_of_fifty_rods_stays_accurate():
    """Sparse elimination of 150 unknowns with few fresh pivot choices: energy, constraints, and a dense solve agree."""
    motion = mechsim.simulate(chain(50, 0.5), tol=1e-13)
    certificate, solution = motion.certificate, motion.solution
    assert certificate.energy_drift <= 1e-12
    assert certificate.position_residual <= 1e-13 and certificate.velocity_residual <= 1e-12
    # Condition numbers of a chain grow with the cube of its length, which leaves a dense solve about 10 digits.
    _, multipliers = solution.system.accelerations(solution.t[-1], solution.q[-1], solution.v[-1])
    scale = np.abs(multipliers).max()
    np.testing.assert_allclose(solution.lam[-1], multipliers, rtol=0, atol=1e-9 * scale)
    assert solution.statistics["pivot_choices"] <= len(solution.t)


# --- endings


def test_a_collapse_ends_the_motion_at_its_time():
    """x'' = -1/x^2 from rest at 1 reaches 0 at t = pi / sqrt 8, infinitely fast: steps shrink away."""
    kind = Kind(
        "collapse",
        ("x",),
        kinetic=lambda x, v, t, p: v[0] ** 2 / 2,
        potential=lambda x, t, p: -1 / x[0],
        cacheable=False,
    )
    system = system_of(kind, 1)
    solution = integrate(system, analyse(system), started(0.0, [1.0], [0.0]), tend=2.0, tolerance=1e-12)
    assert solution.status in ("step_too_small", "not_finite")
    assert "at t = " in solution.message
    assert np.all(np.isfinite(solution.q)) and np.all(np.isfinite(solution.v))
    assert solution.t[-1] == pytest.approx(np.pi / np.sqrt(8), abs=1e-10)


def test_a_motion_that_breaks_off_is_an_error_that_keeps_it():
    """The pendulum wants steps of 0.06 s, which vanish beside t = 1e16, where times are 2 s apart."""
    with pytest.raises(CutShort, match="the step size fell below") as caught:
        mechsim.simulate(SPECS / "pendulum.yaml", t0=1e16, tend=1e16 + 100)
    assert caught.value.exit_code == 4
    assert caught.value.motion.t.tolist() == [1e16]
    assert caught.value.motion.solution.q.tolist() == [[1.0, 0.0]]


FLAT = """
PartData:
  Fixed: {O: [], C: [2]}
  Rigids:
    OA, CB: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[2]], Dyna: [[1], 2, 2/3]}
ProblemData: {tend: 10, positions: {A: [0.6, 0.8], B: [2.6, 0.8]}, angles: {OA: [1, fixed]}, rates: {OA: [-1, fixed]}}
"""


def test_a_linkage_at_its_change_point_ends_with_a_status_or_passes():
    """A flat parallelogram may unfold in two ways; at that very point the constraints are dependent."""
    solution = follow(prepare(read(FLAT)))
    assert solution.status in ("finished", "singular", "not_projected", "step_too_small", "not_finite")
    assert np.all(np.isfinite(solution.q)) and len(solution.t) == len(solution.q)
    assert (solution.t[-1] == 10.0) == (solution.status == "finished")
    # Until the change point at t = 1 the crank turns at an even rate: nothing pulls.
    before = solution.t < 0.9
    angle = solution.system.labels.index("theta_OA")
    np.testing.assert_allclose(solution.q[before, angle], 1 - solution.t[before], rtol=0, atol=1e-11)


def test_an_interrupt_in_the_observer_keeps_what_was_computed():
    rows = []

    def observer(batch):
        rows.append(len(batch.t))
        if sum(rows) > 100:
            raise KeyboardInterrupt

    prepared = prepare(read(SPECS / "andrews.yaml"))
    solution = integrate(
        prepared.system, prepared.structure, prepared.start, tend=1.0, tolerance=1e-14, order=17, observer=observer
    )
    assert solution.status == "interrupted"
    assert len(solution.t) == sum(rows) > 100
    assert solution.t[-1] < 1.0
    assert np.all(np.isfinite(solution.q))
    inside = np.linspace(0.0, solution.t[-2], 5)
    assert np.all(np.isfinite(solution.sample(inside)[0]))


# --- what an observer sees, and dense output


def test_batches_are_the_solution_in_order():
    batches = []
    prepared = prepare(read(SPECS / "andrews.yaml"))
    solution = follow(prepared, observer=batches.append)
    for name in ("t", "q", "v", "lam"):
        seen = np.concatenate([getattr(batch, name) for batch in batches])
        assert np.array_equal(seen, getattr(solution, name))
    assert batches[0].t[0] == 0.0 and batches[-1].t[-1] == 0.03
    assert solution.coefficients.shape == (len(solution.t) - 1, 21, 19)  # order 17 and offset 2: degrees 0..18


def test_dense_output_meets_the_steps():
    """A sample at a step's end is the next step's polynomial at 0 (or the last one's at its end), projected."""
    solution = follow(prepare(read(SPECS / "andrews.yaml")))
    q, v, multipliers = solution.sample(solution.t)
    np.testing.assert_allclose(q, solution.q, rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(v, solution.v, rtol=1e-13, atol=1e-12 * np.abs(solution.v).max())
    np.testing.assert_allclose(multipliers, solution.lam, rtol=0, atol=1e-11 * np.abs(solution.lam).max())
    # Between steps: as good as the steps of another, finer march.
    finer = follow(prepare(adjust(read(SPECS / "andrews.yaml"), tol=1e-16)))
    times = np.linspace(0.0, 0.03, 77)
    scales = solution.system.scales[: solution.system.n]
    for found, expected, scale in zip(solution.sample(times)[:2], finer.sample(times)[:2], (1.0, 1000.0), strict=True):
        assert np.abs((found - expected) / scales).max() <= 1e-12 * scale


def test_steps_alone_cost_no_memory_and_have_no_dense_output():
    solution = follow(prepare(read(SPECS / "pendulum.yaml")), keep="steps")
    assert solution.coefficients is None
    with pytest.raises(ValueError, match="only the table was kept"):
        solution.sample([1.0])


def test_a_motion_of_no_duration_is_its_start():
    system = System(mechsim.mechanism(SPECS / "pendulum.yaml").mechanism)
    solution = integrate(system, analyse(system), started(2.0, [0.6, -0.8], [0.8, 0.6]), tend=2.0, tolerance=1e-12)
    assert solution.status == "finished"
    assert solution.t.tolist() == [2.0] and solution.q.tolist() == [[0.6, -0.8]]


def test_marches_in_several_threads_share_nothing():
    """The kernel releases the interpreter lock; two marches at once give the bits that one alone gives."""
    prepared = [prepare(read(SPECS / name)) for name in ("andrews.yaml", "mechanism1b.yaml")] * 2
    alone = [follow(p) for p in prepared]
    together = [None] * len(prepared)

    def run(index):
        together[index] = follow(prepared[index])

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(prepared))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one.q, other.q) and np.array_equal(one.lam, other.lam)


def test_no_tolerance_asks_for_an_order_beyond_the_kernel():
    prepared = prepare(read(SPECS / "pendulum.yaml"))
    plan = planned(prepared.system, prepared.structure)
    for exponent in range(1, 324):
        assert SMALLEST_ORDER <= order_for(float(f"1e-{exponent}"), plan) <= LARGEST_ORDER
