"""The energy account: T + V less what forces and drives gave and dampers took is constant, whatever acts."""

import numpy as np
import pytest
from reference import SPECS

import mechsim
from mechsim.result import accounts, balances, load

CLOSED = 1e-13  # of the largest term: rounding of the sum, and of the tolerance 1e-14 over some hundred steps

PENDULUM = """
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}}
AppliedForces:
  Gravity: [0, -9.81]
  {loads}
{more}
ProblemData: {{tend: 3, angles: {{OA: {angle}}}, positions: {{A: [1, 0]}}}}
"""


def pendulum(loads="", more="", angle="0", **settings):
    return mechsim.simulate(PENDULUM.format(loads=loads, more=more, angle=angle), tol=1e-14, **settings)


def balance(trajectory, labels):
    return trajectory["T"] + trajectory["V"] - sum(trajectory[label] for label in labels)


@pytest.mark.parametrize(
    ("loads", "label", "source"),
    [
        ("JointDampers: {OA: 0.3}", "work_damper_OA", "dissipation"),
        ("Torques: {OA: 2*sin(3*t)}", "work_OA", "force"),
        ("Forces: {OA.A: [0, 1.5]}", "work_OA_A", "force"),
        ("ConstForces: {OA.A: [0, 1.5]}", "work_OA_A", "force"),
        ("Drag: {A: [0.1, 0.2, 0.01]}", "work_drag_A", "force"),
        ("Potentials: {wave: A.x*sin(t)}", "work_wave", "force"),
    ],
)
def test_every_load_keeps_its_account(loads, label, source):
    motion = pendulum(loads)
    account = {each.label: each for each in accounts(motion.mechanism)}
    assert [each for each in account if account[each].source == source] == [label]
    trajectory = motion.trajectory
    total = balance(trajectory, [label])
    assert np.ptp(total) <= CLOSED * motion.certificate.largest_energy
    assert motion.certificate.energy_drift <= CLOSED
    assert np.ptp(trajectory[label]) > 0.01  # it is not idle
    assert trajectory.units[trajectory.labels.index(label)] == "J"


def test_damper_takes_the_integral_of_its_power():
    """An integral of c omega^2 by Gauss's rule on every step, from dense output: the same to rounding."""
    motion = pendulum("JointDampers: {OA: 0.3}")
    nodes, weights = np.polynomial.legendre.leggauss(12)
    taken = 0.0
    for begin, end in zip(motion.t[:-1], motion.t[1:], strict=True):
        times = (begin + end) / 2 + (end - begin) / 2 * nodes
        rates = motion.velocity(times)["theta_OA"]
        taken += (end - begin) / 2 * (weights * 0.3 * rates**2).sum()
    assert balances(motion.mechanism, motion.solution.q)["work_damper_OA"] == pytest.approx(-taken, abs=1e-13)


def test_drive_work_is_the_energy_gained_and_the_integral_of_its_power():
    motion = pendulum(more="Drives: {theta_OA: sin(2*t)}")
    trajectory = motion.trajectory
    assert np.ptp(balance(trajectory, ["work_drive_theta_OA"])) <= CLOSED * motion.certificate.largest_energy
    # The drive's torque by hand: I theta'' + m g l/2 cos(theta), with I = 1/3 about the pivot.
    t = trajectory.t
    torque = -4 * np.sin(2 * t) / 3 + 9.81 / 2 * np.cos(np.sin(2 * t))
    np.testing.assert_allclose(trajectory["drive_theta_OA"], torque, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trajectory["drive_theta_OA_power"], torque * 2 * np.cos(2 * t), rtol=0, atol=1e-11)
    units = dict(zip(trajectory.labels, trajectory.units, strict=True))
    assert (units["drive_theta_OA"], units["drive_theta_OA_power"], units["H"]) == ("N m", "W", "J")


def test_drive_of_a_point_and_of_a_speed():
    """A mass moved along x = t^2 at position level, and along y at the speed 3t: forces 2m and 3m."""
    text = """
PartData: {Particles: {A: 2}}
Drives: {A.x: t**2, A.vy: 3*t}
ProblemData: {tend: 1, positions: {A: [0, 0]}}
"""
    trajectory = mechsim.simulate(text, tol=1e-14).trajectory
    np.testing.assert_allclose(trajectory["drive_A_x"], 4.0, atol=1e-13)
    assert trajectory.units[trajectory.labels.index("drive_A_x")] == "N"
    speed = next(label for label in trajectory.labels if label.startswith("drive_A_vy"))
    np.testing.assert_allclose(trajectory[speed], 6.0, atol=1e-13)
    np.testing.assert_allclose(trajectory[f"{speed}_power"], 18.0 * trajectory.t, atol=1e-12)


def test_piecewise_loads_keep_the_account_on_every_row():
    """Constants of the mechanism change at breaks of a table; rows before and after are judged by their own."""
    more = "Tables: {push: {points: [[0, 0], [1, 2], [2, -1], [3, 0]], kind: linear}}"
    motion = pendulum("Torques: {OA: push}", more)
    assert motion.certificate.energy_drift <= CLOSED
    sampled = motion.sampled(np.linspace(0, 3, 50))
    assert sampled.certificate.energy_drift <= CLOSED
    assert sampled.certificate.velocity_residual <= 1e-12


def test_a_driven_table_is_met_on_every_row():
    """A drive through a cubic table: position and velocity residuals know which piece holds."""
    more = """Tables: {way: {points: [[0, 0], [1, 0.5], [2, -0.3], [3, 0.4]], kind: cubic}}
Drives: {theta_OA: way}"""
    motion = pendulum(more=more, reactions=["O"])
    for table in (motion.trajectory, motion.sampled(np.linspace(0, 3, 50))):
        assert table.certificate.position_residual <= 1e-13
        assert table.certificate.velocity_residual <= 1e-12
        assert table.certificate.energy_drift <= CLOSED
        np.testing.assert_allclose(table["OA_M"], table["drive_theta_OA"], atol=1e-10)


def test_sampled_controllers_hold_their_constants_in_tables():
    more = "Controllers: {theta_OA: {target: 0.5, kp: 30, kd: 4, period: 0.05}}"
    motion = pendulum(more=more, reactions=["O"])
    assert motion.certificate.energy_drift <= CLOSED
    torque = motion.trajectory["OA_M"]
    # What holds from one sampling time to the next: the last torque is the one computed at t = 2.95.
    state, rate = motion(2.95)["theta_OA"], motion.velocity(2.95)["theta_OA"]
    assert torque[-1] == pytest.approx(30 * (0.5 - state) - 4 * rate, abs=1e-10)


def test_integral_of_a_controller_is_no_work():
    more = "Controllers: {theta_OA: {target: 0.5, kp: 30, kd: 4, ki: 5}}"
    motion = pendulum(more=more)
    assert motion.certificate.energy_drift <= CLOSED
    assert [each.label for each in accounts(motion.mechanism)] == ["work_control_theta_OA"]
    trajectory = motion.trajectory
    assert trajectory.units[trajectory.labels.index("int_theta_OA")] == ""


def test_hamiltonian_is_kept_where_energy_is_not():
    """The bead on a hoop that spins at w (seed 002), in its own Lagrangian: H is constant, T + V of the bead is not."""
    w, radius, g = 7.0, 0.5, 9.81
    hoop = mechsim.lagrangian_system(
        lambda q, v, t: (radius * v[0]) ** 2 / 2 + (w * radius * _sin(q[0])) ** 2 / 2 + g * radius * _cos(q[0]),
        ["theta"],
    )
    motion = hoop.simulate({"theta": 1.0}, tend=5.0, tol=1e-14)
    trajectory = motion.trajectory
    assert np.ptp(trajectory["H"]) <= CLOSED * np.abs(trajectory["H"]).max() * 10  # some hundred steps of 1e-15
    theta, rate = trajectory["theta"], trajectory["theta_dot"]
    energy = ((radius * rate) ** 2 + (w * radius * np.sin(theta)) ** 2) / 2 - g * radius * np.cos(theta)
    assert np.ptp(energy) > 1.0


def _sin(x):
    import jax.numpy as jnp

    return jnp.sin(x)


def _cos(x):
    import jax.numpy as jnp

    return jnp.cos(x)


def test_gyroscopic_terms_count_in_the_hamiltonian_only():
    """L with a term linear in v: T + V as split there drifts, H does not, and the certificate judges H."""
    system = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 + 1.5 * (q[0] * v[1] - q[1] * v[0]) - (q[0] ** 2 + q[1] ** 2) / 2,
        ["x", "y"],
    )
    motion = system.simulate({"x": 1.0, "y": 0.0}, {"x": 0.2, "y": 0.5}, tend=5.0, tol=1e-14)
    assert motion.certificate.energy_drift <= CLOSED


def test_the_summary_names_the_accounts(tmp_path, monkeypatch, capsys):
    from mechsim.cli.main import main

    monkeypatch.chdir(tmp_path)
    loads = "JointDampers: {OA: 0.3}, Torques: {OA: 1}"
    text = PENDULUM.format(loads="\n  ".join(loads.split(", ")), more="Drives: {A.y: sin(t)}", angle="0")
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(SystemExit) as left:
        main(["run", "p.yaml", "--tend", "1"])
    shown = capsys.readouterr().out
    assert left.value.code in (0, None), shown
    for words in ("drives gave", "forces gave", "dampers took", "work_drive_A_y", "work_damper_OA", "less all work"):
        assert words in shown
    assert "work_OA" in load("p.csv").labels


JUMPING = {
    "step": "Tables: {k: {kind: step, points: [[0, s], [0.7, 3*s], [1.9, -1]]}}",
    "piecewise": "Piecewise: {k: [[0, s], [0.7, s*(2 + t)], [1.9, -1]]}",
    "linear": "Tables: {k: {kind: linear, points: [[0, s], [0.7, 3*s], [3, -1]]}}",
}
WELL = "Potentials: {well: k*A.y**2, other: k*A.x}"
WORK = ("work_well", "work_other")


def jumping(kind, **settings):
    text = PENDULUM.format(loads=WELL, more=JUMPING[kind] + "\nPhysicalParams: {s: 2}", angle=0)
    return mechsim.mechanism(text).simulate(tol=1e-14, **settings)


@pytest.mark.parametrize("keep", ["polynomials", "table"])
@pytest.mark.parametrize("kind", JUMPING)
def test_a_potential_that_jumps_is_accounted_for_on_both_sides(kind, keep):
    motion = jumping(kind, keep=keep)
    assert motion.certificate.energy_drift <= CLOSED and motion.certificate.doubts() == ()
    sides = motion.both_sides()
    assert np.ptp(balance(sides, WORK)) <= CLOSED * motion.certificate.largest_energy
    at_jump = np.flatnonzero(sides["t"] == 0.7)
    gained, put_in = (np.diff(sides[name][at_jump]) for name in ("work_well", "V"))
    assert len(gained) == 1
    if kind == "step":
        height, way = motion.both_sides()["A_y"][at_jump[0]], motion.both_sides()["A_x"][at_jump[0]]
        assert gained[0] == pytest.approx(4 * height**2, rel=1e-12)
        assert put_in[0] == pytest.approx(4 * height**2 + 4 * way, rel=1e-12)


def test_accounts_jump_between_their_sides_wherever_they_are_asked():
    motion = jumping("step")
    times = np.array([0.2, 0.7, 1.1, 1.9, 2.5])
    for side in ("before", "after"):
        assert np.ptp(balance(motion.sampled(times, side), WORK)) <= CLOSED * motion.certificate.largest_energy
    before, after = (motion(0.7, side)["work_well"] for side in ("before", "after"))
    assert after - before == pytest.approx(4 * motion(0.7)["A"][1] ** 2, rel=1e-12)


@pytest.mark.parametrize("stop", [0.4, 0.7, 1.3])
def test_accounts_that_jump_go_on(stop):
    """In a motion that is stopped, on a jump or elsewhere, and in a component."""
    text = PENDULUM.format(loads=WELL, more=JUMPING["step"] + "\nPhysicalParams: {s: 2}", angle=0)
    handle = mechsim.mechanism(text)
    whole = handle.simulate(tol=1e-14)
    first = handle.simulate(tol=1e-14, tend=stop)
    second = handle.simulate(tol=1e-14, start=first, tend=3.0)
    component = handle.begin(tol=1e-14, tend=3.0)
    component.advance(to=stop)
    snapshot = component.snapshot()
    component.advance(to=3.0)
    component.restore(snapshot)
    component.advance(to=3.0)
    for name in WORK:
        assert second(3.0)[name] == pytest.approx(whole(3.0)[name], abs=1e-12)
        assert component.output(name) == pytest.approx(whole(3.0)[name], abs=1e-12)
    assert np.ptp(balance(second.both_sides(), WORK)) <= CLOSED * whole.certificate.largest_energy


def test_gains_of_accounts_are_differentiated():
    h = 1e-4
    motion = jumping("step", tangents=["s"])
    times = np.array([0.3, 0.7, 1.5, 2.9])
    below, above = (jumping("step", parameters={"s": 2 + sign * h}) for sign in (-1, 1))
    for name in ("work_well", "work_other", "A_x"):
        quotient = (above(times)[name] - below(times)[name]) / (2 * h)
        assert np.allclose(motion.derivative("s", times)[name], quotient, rtol=1e-6, atol=1e-7)


def test_rows_written_on_the_way_have_what_accounts_gained(tmp_path, monkeypatch):
    from mechsim.cli.main import main

    monkeypatch.chdir(tmp_path)
    text = PENDULUM.format(loads=WELL, more=JUMPING["step"] + "\nPhysicalParams: {s: 2}", angle=0)
    (tmp_path / "p.yaml").write_text(text)
    for words in ([], ["--samples", "31"]):
        with pytest.raises(SystemExit) as left:
            main(["run", "p.yaml", "-o", "out.csv", "-q", "--tol", "1e-14", *words])
        assert left.value.code in (0, None)
        found = load("out.csv")
        assert np.ptp(balance(found, WORK)) <= CLOSED * found.certificate.largest_energy
        assert found.certificate.energy_drift <= CLOSED


@pytest.mark.parametrize(
    ("parts", "loads", "label"),
    [
        ("  Springs: {RA: {k: 1, l: 1, energy: (3 + sin(t))*s**2}}", "", "work_spring_RA"),
        ("", "TorsionSprings: {OA: {k: 1, rest: 0, energy: (3 + sin(t))*s**2}}", "work_torsion_OA"),
    ],
)
def test_an_energy_of_a_spring_that_depends_on_time_is_accounted_for(parts, loads, label):
    text = PENDULUM.format(loads=loads, more="", angle=1)
    if parts:
        text = text.replace("O: []", "O: [], R: [3]").replace("AppliedForces", parts + "\nAppliedForces")
    motion = mechsim.simulate(text, tol=1e-14)
    assert [each.label for each in accounts(motion.mechanism)] == [label]
    assert motion.certificate.energy_drift <= CLOSED


def test_without_accounts_the_equations_are_the_same():
    """What exponents are found by (analysis/lyapunov.py): nothing depends on an account."""
    whole = mechsim.simulate(SPECS / "forces" / "arm3_pid.yaml", tend=0.01).system  # its controllers have integrals
    bare = whole.unaccounted
    kept = np.delete(np.arange(whole.n), whole.accounts)
    assert len(whole.accounts) == 6
    assert len(bare.accounts) == 0
    assert bare.labels == tuple(np.delete(whole.labels, whole.accounts))
    rng = np.random.default_rng(3)
    q, v, a, lam = (rng.standard_normal(size) for size in (whole.n, whole.n, whole.n, whole.m))
    residuals = whole.residuals(0.7, q, v, a, lam)
    np.testing.assert_array_equal(
        bare.residuals(0.7, q[kept], v[kept], a[kept], lam), np.delete(residuals, whole.accounts)
    )
    assert bare.unaccounted is bare


def test_contacts_keep_their_accounts():
    system = mechsim.simulate(SPECS / "contacts" / "bouncing_particle.yaml", tend=0.01).system
    assert len(system.accounts)
    assert system.unaccounted is system
