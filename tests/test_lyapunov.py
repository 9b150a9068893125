"""Lyapunov exponents against closed forms, an independent integration, the literature, and each other."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from reference import SPECS
from scipy.integrate import solve_ivp

import mechsim
from mechsim.analysis import lyapunov as analysis
from mechsim.analysis.exponents import Exponents, errors_of
from mechsim.cli.main import cli
from mechsim.errors import IntegrationError, MechsimError, SpecError
from mechsim.simulation import adjust, prepare
from mechsim.source import read

GRAVITY = 9.81


def hanging(count: int) -> list[float]:
    """The start of seed 000, eq. 90: angles from the vertical."""
    return [math.radians(75.0), *[0.0] * (count - 1)]


def chain(angles: list[float]) -> str:
    """The N-pendulum of seed 000 as a file: point masses on massless rods."""
    points = "ABCDEF"[: len(angles)]
    rods = ", ".join(f"{a}{b}: {{Geom: [[1]]}}" for a, b in zip("O" + points, points, strict=False))
    x, y = (np.cumsum(parts).tolist() for parts in (np.sin(angles), -np.cos(angles)))
    places = ", ".join(f"{point}: [[{a!r}, fixed], {b!r}]" for point, a, b in zip(points, x, y, strict=True))
    masses = ", ".join(f"{point}: 1" for point in points)
    return f"""
PartData: {{Fixed: {{O: []}}, Rigids: {{{rods}}}, Particles: {{{masses}}}}}
AppliedForces: {{Gravity: [0, -{GRAVITY}]}}
ProblemData: {{tend: 1, positions: {{{places}}}}}
"""


def chain_of_angles(angles: list[float]):
    """The same by its Lagrangian, seed 000 eq. 84 to 86."""
    import jax.numpy as jnp

    def lagrangian(q, v, t):
        across = up = height = energy = 0.0
        for angle, rate in zip(q, v, strict=True):
            across, up, height = across + rate * jnp.cos(angle), up + rate * jnp.sin(angle), height - jnp.cos(angle)
            energy += (across**2 + up**2) / 2 - GRAVITY * height
        return energy

    start = {f"angle_{number}": angle for number, angle in enumerate(angles)}
    return mechsim.lagrangian_system(lagrangian, list(start)), start


def driven_pendulum(damping: float, drive: float, frequency: float, shift: float):
    """th'' = -damping th' - sin th + drive sin(frequency t + shift)"""
    import jax.numpy as jnp

    return mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2 + jnp.cos(q[0]),
        ["angle"],
        forces=lambda q, v, t: [-damping * v[0] + drive * jnp.sin(frequency * t + shift)],
    )


def assert_agree(one: Exponents, other: Exponents) -> None:
    """Within three standard deviations of their difference: 0.3 % of such comparisons would fail by chance, were these
    not fixed by start and seed, up to roundings that machines have of their own."""
    assert np.all(np.abs(one.values - other.values) <= 3 * np.hypot(one.errors, other.errors))


# --- closed forms


def test_overdamped_oscillator():
    """x'' + 3 x' + 2 x = 0 has exponents -1 and -2. After 20 s directions differ from those of its eigenvectors by
    exp(-20): what is left are errors of the tolerance, 1e-9 a step."""
    system = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2 - q[0] ** 2, ["x"], forces=lambda q, v, t: [-3 * v[0]]
    )
    found = system.lyapunov({"x": 1.0}, tend=60.0, transient=20.0)
    assert found.values == pytest.approx([-1.0, -2.0], rel=0, abs=1e-7)
    assert found.kaplan_yorke == 0.0
    assert found.dimension == 2  # the account of work is no state


def test_damped_oscillator():
    """Both exponents are the real part of the eigenvalues; as tangents turn, an average over a time T is off by less
    than 1/T. Their sum is the divergence, -c/m, at any moment."""
    found = mechsim.mechanism(SPECS / "forces" / "damped_oscillator.yaml").lyapunov(tend=50.0)
    values = mechsim.mechanism(SPECS / "forces" / "damped_oscillator.yaml").parameters
    rate = values["c"] / values["m"]
    assert found.values == pytest.approx([-rate / 2] * 2, rel=0, abs=1 / 50)
    assert found.sum == pytest.approx(-rate, rel=0, abs=1e-8)
    assert not found.conservative


@pytest.mark.slow
def test_floquet_exponents_of_a_shaken_pendulum():
    """At rest below a pivot that shakes it up and down: tangents obey Mathieu's equation, whose exponents are those of
    its monodromy. Averages over whole periods, when directions have settled, have errors of the tolerance only."""
    import jax.numpy as jnp

    stiffness, depth, period = 1.0, 0.6, math.pi

    def mathieu(t, y):
        return np.concatenate([y[2:], -(stiffness + depth * np.cos(2 * t)) * y[:2]])

    monodromy = solve_ivp(mathieu, (0, period), [1, 0, 0, 1], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    expected = math.log(np.abs(np.linalg.eigvals(monodromy.reshape(2, 2))).max()) / period
    assert expected > 0.1
    system = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2 + (stiffness + depth * jnp.cos(2 * t)) * jnp.cos(q[0]), ["angle"]
    )
    found = system.lyapunov({"angle": 0.0}, tend=60 * period, transient=30 * period, scales={"angle": 1.0})
    assert found.values == pytest.approx([expected, -expected], rel=0, abs=1e-7)


def test_integrals_of_controllers_are_states_and_accounts_of_work_are_none():
    """Three angles, their rates and three integrals; six accounts are not counted."""
    found = mechsim.mechanism(SPECS / "forces" / "arm3_pid.yaml").lyapunov(tend=0.5)
    assert found.dimension == len(found.values) == 9


# --- an independent integration


def textbook(t, y):
    """The double pendulum of unit rods and masses with tangents in columns, by complex steps."""
    y = y.reshape(4, -1)

    def rates(z):
        a, b, da, db = z
        s, c = np.sin(a - b), np.cos(a - b)
        matrix = np.array([[2, c], [c, 1]])
        right = [-s * db**2 - 2 * GRAVITY * np.sin(a), s * da**2 - GRAVITY * np.sin(b)]
        return np.array([da, db, *np.linalg.solve(matrix, right)])

    step = 1e-30
    changes = [rates(y[:, 0] + 1j * step * column).imag / step for column in y[:, 1:].T]
    return np.column_stack([rates(y[:, 0]), *changes]).ravel()


def test_spectrum_against_a_variational_equation_of_scipy():
    """The same directions and inner product, one QR decomposition after 10 s: the logarithms are sums of those of all
    stretches. Tangents grow by some 1e2, errors of tolerances 1e-11 and 1e-12 with them and with the condition."""
    system, start = chain_of_angles(hanging(2))
    tend, tolerance = 10.0, 1e-11
    asked = system._asked(start, {}, (), (0.0, tend))
    problem = system._prepared(asked, {}, system._scales({"angle_0": 1.0, "angle_1": 1.0}), tolerance)
    run = analysis._Run(problem[0], problem[1], problem[2], 18, tolerance, tend)
    run.begin(4)
    directions = run.course.march.tangent_coefficients(False)[:2].reshape(4, 4)
    found = run.averaged(0.0, lambda t: None)
    begun = np.column_stack([[*hanging(2), 0, 0], directions])
    end = solve_ivp(textbook, (0, tend), begun.ravel(), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    lengths = np.diag(np.linalg.qr(run.weights.reshape(4, 1) * end.reshape(4, 5)[:, 1:])[1])
    expected = np.sort(np.log(np.abs(lengths)) / tend)[::-1]
    assert found.values == pytest.approx(expected, rel=0, abs=1e-7)


def test_orthonormal_directions_of_the_kernel_are_those_of_qr():
    problem = prepare(adjust(read(chain(hanging(2))), tend=1.0))
    run = analysis._Run(problem.system, problem.structure, problem.start, 14, 1e-10, 1.0)
    run.begin(4)
    run.course.march.advance(1.0, 20, 1.0, False)

    def state():
        return (run.course.march.tangent_coefficients(False)[:2] * run.weights[:, :, None])[run.weights > 0]

    before = state()
    logarithms = run.course.march.orthonormalise_tangents(run.weights)
    q, r = np.linalg.qr(before)
    assert logarithms == pytest.approx(np.log(np.abs(np.diag(r))), rel=0, abs=1e-13)
    assert state() == pytest.approx(q * np.sign(np.diag(r)), rel=0, abs=1e-13)


# --- the literature


@pytest.mark.parametrize(
    ("damping", "drive", "frequency", "shift", "expected"),
    [
        # Sprott, Chaos and Time-Series Analysis (2003), appendix A: 0.1400, -0.1900.
        (0.05, 0.6, 0.7, 0.0, 0.1413),
        # Baker and Gollub, Chaotic Dynamics (1990): q = 2, g = 1.5, omega = 2/3.
        (0.5, 1.5, 2 / 3, math.pi / 2, 0.1121),
    ],
    ids=["Sprott", "Baker and Gollub"],
)
def test_driven_pendulums(damping, drive, frequency, shift, expected):
    """`expected` is by Benettin's method with heyoka over 2e6 time units, to 3e-4 (shared/reference). Three standard
    deviations of ours; the sum of exponents is the divergence and has errors of the tolerance only."""
    found = driven_pendulum(damping, drive, frequency, shift).lyapunov({"angle": 0.0}, tend=8000.0, transient=50.0)
    assert abs(found.values[0] - expected) <= 3 * found.errors[0]
    assert found.errors[0] < 0.1 * expected
    assert found.sum == pytest.approx(-damping, rel=0, abs=1e-8)
    assert found.kaplan_yorke == pytest.approx(1 + found.values[0] / abs(found.values[1]))
    assert not found.notes


def test_one_pendulum_has_no_exponents():
    """Its period depends on its energy, so tangents grow like t, and averages fall like log(t) / t. Seed 000,
    table 1, is at 3e-5."""
    handle = mechsim.mechanism(chain(hanging(1)))
    short, long = handle.lyapunov(tend=200.0), handle.lyapunov(tend=2000.0)
    assert short.zero.all() and "zero within its error" in short.notes[0]
    assert long.zero.all() and np.all(np.abs(long.values) < 0.2 * np.abs(short.values))
    assert long.values[0] < math.log(10 * 2000) / 2000


def test_two_pendulums():
    """Seed 000, table 1, has 0.1, one digit. Exponents come in pairs, and two are zero, for the energy and along the
    motion. Volumes are kept in positions and momenta and not in our norm, so a bounded number over the time is left."""
    found = mechsim.mechanism(chain(hanging(2))).lyapunov(tend=1500.0)
    assert abs(found.values[0] - 0.1) <= 0.05 + 3 * found.errors[0]
    assert found.conservative and found.kaplan_yorke == 4.0
    assert found.zero.tolist() == [False, True, True, False]
    assert abs(found.sum) < 5 / 1500 and found.unpaired < 10 / 1500


def test_points_and_angles_have_the_same_exponents():
    """The same motion with constraints and without: other coordinates, other inner products. From high up, where a
    motion soon forgets how it began."""
    angles = [2.5, 2.0]
    found = mechsim.mechanism(chain(angles)).lyapunov(tend=200.0)
    system, start = chain_of_angles(angles)
    assert_agree(found, system.lyapunov(start, tend=200.0))
    assert found.errors[0] < 0.15 * found.values[0]


def fixed_steps(count: int, tend: float, step: float) -> tuple[float, float, float]:
    """The largest exponent with its error, and by how much the energy changed: Dormand and Prince's formula of fifth
    order at fixed steps, as seed 000 has it, with one tangent by complex steps."""
    numbers = count - np.arange(count)
    masses = np.minimum.outer(numbers, numbers)

    def rates(y):
        angles, speeds = y[:count], y[count:]
        apart = angles[:, None] - angles
        forces = -(masses * np.sin(apart)) @ speeds**2 - GRAVITY * numbers * np.sin(angles)
        return np.concatenate([speeds, np.linalg.solve(masses * np.cos(apart), forces)])

    def energy(y):
        angles, speeds = y[:count].real, y[count:].real
        return speeds @ (masses * np.cos(angles[:, None] - angles)) @ speeds / 2 - GRAVITY * numbers @ np.cos(angles)

    tableau = [
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
    tiny = 1e-30
    y = np.array([*hanging(count), *[0.0] * count]) + 1j * tiny * np.random.default_rng(0).standard_normal(2 * count)
    begun, logarithms = energy(y), []
    for _ in range(round(tend / step)):
        stages = [rates(y)]
        for row in tableau:
            end = y + step * sum(factor * stage for factor, stage in zip(row, stages, strict=True))
            stages.append(rates(end)) if len(stages) < 6 else None
        length = np.linalg.norm(end.imag) / tiny
        logarithms.append(math.log(length))
        y = end.real + 1j * end.imag / length
    local = np.array(logarithms[1:])[-len(logarithms) // 64 * 64 + 64 :, None] / step
    return float(local.mean()), float(errors_of(local, tend)[0]), float(energy(y) - begun)


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 4, 5, 6])
def test_chains_against_fixed_steps(count):
    """The scheme of seed 000 with a step of 0.01 s, at which the energy is kept to 0.05 J, agrees. Its table 1 (0.8,
    1.4, 2.2, 3.1) is of a step of 0.05 s, at which it is not kept: see docs/analysis.md."""
    found = mechsim.mechanism(chain(hanging(count))).lyapunov(tend=2000.0)
    value, error, drift = fixed_steps(count, 200.0, 0.01)
    assert abs(drift) < 0.05
    assert abs(found.values[0] - value) <= 3 * math.hypot(found.errors[0], error)
    assert found.unpaired < 10 / 2000
    assert found.zero.tolist() == [number in (count - 1, count) for number in range(2 * count)]


def test_the_largest_exponents_are_the_first_of_all():
    """Only the directions that are asked for go along; the motion is the same until it is chaotic."""
    handle = mechsim.mechanism(chain([2.5, 2.0]))
    whole, first = handle.lyapunov(tend=100.0), handle.lyapunov(tend=100.0, n=2)
    assert len(first.values) == 2 and first.dimension == 4 and not first.complete
    assert np.all(np.abs(whole.values[:2] - first.values) <= 3 * np.hypot(whole.errors[:2], first.errors))
    assert first.unpaired is None


# --- errors of averages, and runs that end early


@pytest.mark.parametrize("memory", [0.0, 0.8])
def test_errors_of_noise_with_memory(memory):
    """x' = memory x + noise: the mean of n values has the standard deviation 1 / (1 - memory) / sqrt(n). Blocks say so,
    a fifth too much on average, for the largest of five estimates counts; one in 20 says less than 0.7 of it."""
    rng = np.random.default_rng(2)
    values = rng.standard_normal((1024, 200))
    for number in range(1, 1024):
        values[number] += memory * values[number - 1]
    ratio = errors_of(values, 1e9) * (1 - memory) * math.sqrt(1024)
    assert 1.0 < np.mean(ratio) < 1.3
    assert np.quantile(ratio, 0.05) > 0.7


def test_an_interrupted_run_keeps_its_averages():
    problem = prepare(adjust(read(chain([2.5, 2.0])), tend=100.0))

    def interrupt(t: float) -> None:
        if t > 50.0:
            raise KeyboardInterrupt

    settings = {"tend": 100.0, "observer": interrupt}
    found = analysis.lyapunov(problem.system, problem.structure, problem.start, **settings)
    assert found.status == "interrupted" and 49.0 < found.times[-1] < 51.0
    assert found.values[0] > 0 and "interrupted at t = " in found.notes[0]


def test_runs_that_are_too_short_say_so():
    found = mechsim.mechanism(chain(hanging(3))).lyapunov(tend=15.0)
    assert len(found.notes) == 1 and "too short" in found.notes[0]


def test_breaks_of_functions_are_stepped_on():
    """A pendulum that hangs, with a damping that is switched on at t = 10: the sum is its mean with the other sign."""
    text = """
Piecewise: {c: [[0, 0], [10, 2]]}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]]}}, Particles: {A: 1}}
AppliedForces: {Gravity: [0, -9.81], Torques: {OA: -c*omega_OA}}
ProblemData: {tend: 20, positions: {A: [[0, fixed], -1]}}
"""
    found = mechsim.mechanism(text).lyapunov()
    assert found.sum == pytest.approx(-1.0, rel=0, abs=1e-8)


# --- what is refused


def test_refusals():
    pendulum = mechsim.mechanism(chain(hanging(1)))
    with pytest.raises(SpecError, match="there are 2 exponents, not 3"):
        pendulum.lyapunov(tend=1.0, n=3)
    with pytest.raises(SpecError, match="there are 2 exponents, not 0"):
        pendulum.lyapunov(tend=1.0, n=0)
    with pytest.raises(SpecError, match="is not after t = 2, where the transient of 2 ends"):
        pendulum.lyapunov(tend=1.0, transient=2.0)
    with pytest.raises(SpecError, match="transient"):
        pendulum.lyapunov(tend=1.0, transient=-1.0)
    with pytest.raises(SpecError, match="is not after t0"):
        pendulum.lyapunov(tend=-1.0)
    with pytest.raises(IntegrationError, match="redundant constraints"):
        mechsim.mechanism(SPECS / "space" / "door.yaml").lyapunov(tend=1.0)
    with pytest.raises(SpecError, match="there are no exponents"):
        mechsim.mechanism(SPECS / "forces" / "four_bar_driven.yaml").lyapunov(tend=1.0)
    with pytest.raises(SpecError, match="there are no exponents"):
        mechsim.mechanism(SPECS / "space" / "tripod.yaml").lyapunov(tend=1.0)
    system, start = chain_of_angles(hanging(2))
    with pytest.raises(MechsimError, match="transient must be a number"):
        system.lyapunov(start, tend=1.0, transient=math.nan)
    with pytest.raises(MechsimError, match="is not after t0"):
        system.lyapunov(start, tend=0.0)


def test_sampled_controllers_are_refused():
    text = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]]}}, Particles: {A: 1}}
Controllers: {theta_OA: {target: 0.5, kp: 3, kd: 1, period: 0.01}}
ProblemData: {tend: 20, positions: {A: [[0, fixed], -1]}}
"""
    with pytest.raises(IntegrationError, match="sampled"):
        mechsim.mechanism(text).lyapunov()


# --- the command line


def test_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = str(SPECS / "double_pendulum.yaml")
    words = ["lyapunov", spec, "--tend", "30", "-o", "averages.csv", "--plot", "averages.png"]
    told = CliRunner().invoke(cli, words)
    assert told.exit_code == 0, told.output
    assert "exponent" in told.output and "of opposite sign" in told.output and "averages.png" in told.output
    lines = (tmp_path / "averages.csv").read_text().split("\n")
    assert lines[2] == "t,lambda_1,lambda_2,lambda_3,lambda_4" and lines[-2].startswith("30.0,")
    assert (tmp_path / "averages.png").stat().st_size > 5000


def test_command_as_json_and_npz(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = str(SPECS / "double_pendulum.yaml")
    told = CliRunner().invoke(
        cli, ["lyapunov", spec, "--tend", "30", "--n", "1", "--transient", "5", "-o", "averages.npz", "--json"]
    )
    found = json.loads(told.output)
    assert found["status"] == "finished" and len(found["exponents"]) == 1 and found["begun"] == 5.0
    with np.load(tmp_path / "averages.npz") as arrays:
        assert arrays["running"].shape == (analysis.LAPS, 1)
        assert arrays["running"][-1] == pytest.approx(found["exponents"], rel=1e-15)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--n", "0"], "--n"),
        (["--transient", "-1"], "--transient"),
        (["-o", "averages.parquet"], "averages go to other files"),
        (["--plot", "averages.txt"], "'.txt' is not known"),
        (["--tend", "1", "--transient", "2"], "transient of 2 ends"),
        (["--tol", "2"], "tolerance"),
    ],
)
def test_wrong_words(words, said, tmp_path, monkeypatch, capsys):
    from mechsim.cli.main import main

    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["lyapunov", str(SPECS / "pendulum.yaml"), *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
