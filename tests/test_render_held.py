"""Constants that change along a motion (tables, piecewise functions, sampled controllers): every picture evaluates the
mechanism with those that held at its time. Expected values are computed here from the file's own formulas."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

import mechsim
from mechsim.cli.main import main
from mechsim.engine import Segments
from mechsim.model import build
from mechsim.render import sample, scene_of, span
from mechsim.render.dynamics import Dynamics
from mechsim.render.film import prepare
from mechsim.render.forces import with_arrows
from mechsim.render.options import Options
from mechsim.render.page.data import film_of
from mechsim.render.plotted import Result, constraint_residuals, energy_drift
from mechsim.render.scene import spec_of
from mechsim.spec import parse

G = 9.80665
CRANK = [[0, 1.57], [0.5, 2.2], [1.2, 4.0], [2, 7.0], [3, 7.8]]
LIFT = [[0, 0], [1, 3], [2, -2], [3, 1]]
DRIVEN = f"""
Tables:
  crank: {{points: {CRANK}, kind: cubic}}
  lift: {{points: {LIFT}}}
PartData:
  Fixed: {{O: [], C: [3]}}
  Rigids:
    OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
    AB: {{Geom: [[3.5]], Dyna: [[1.75], 3.5, 3.57]}}
    CB: {{Geom: [[2]], Dyna: [[1], 2, 2/3]}}
AppliedForces:
  Gravity:
  Potentials: {{well: lift*B.y}}
Drives: {{theta_OA: crank}}
ProblemData: {{tend: 3, positions: {{A: [0, 1], B: [3, 2]}}}}
"""
PUSHED = """
Tables: {stiff: {points: [[0, 20], [1, 60], [2.2, 5]], kind: step}}
Piecewise: {push: [[0, 0], [0.7, 12], [1.5, -8*sin(5*t)], [2.5, 0]]}
PartData:
  Fixed: {O: [], R: [1]}
  Particles: {B: 2}
  Springs: {OB: {k: 100, l: 1, c: 8, law: 3*s + 0.5*v}}
Joints: {Slots: {B-OR: []}}
AppliedForces:
  Potentials: {cushion: stiff*(B.x - 1)**2/2}
  Forces: {B: [push, 0]}
  Friction: {B-OR: [0.2, 10, 0.01]}
ProblemData: {tend: 3, positions: {B: [1.2]}}
"""
PERIOD = 0.05
SAMPLED = f"""
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}}
AppliedForces: {{Gravity: }}
Controllers: {{theta_OA: {{target: 0.8, kp: 20, kd: 6, ki: 4, period: {PERIOD}}}}}
ProblemData: {{tend: 2, positions: {{A: [1]}}}}
"""


@pytest.fixture(scope="module")
def motions() -> dict[str, Any]:
    return {
        "driven": mechsim.simulate(DRIVEN),
        "pushed": mechsim.simulate(PUSHED),
        "sampled": mechsim.simulate(SAMPLED),
    }


def stored(motion: Any, form: str, folder: Path) -> Any:
    """The same results as a Motion, or after a file."""
    if form == "motion":
        return motion
    return mechsim.load(motion.save(folder / f"results.{form}"))


FORMS = ["motion", "npz", "csv", "parquet"]
# Between rows a table without series is interpolated: positions are good to 1e-5, velocities to a thousandth or so.
NEAR = {"motion": 1e-9, "npz": 1e-9, "csv": 5e-3, "parquet": 5e-3}


@pytest.mark.parametrize("form", FORMS)
def test_energies_are_those_of_the_tables_at_their_time(motions, tmp_path, form):
    motion = motions["driven"]
    scene = scene_of(stored(motion, form, tmp_path))
    frames = sample(stored(motion, form, tmp_path), np.linspace(0, 3, 61), scene)
    a, b = motion(frames.t)["A"], motion(frames.t)["B"]
    c = np.array([3.0, 0.0])
    expected = G * (1 * a[:, 1] / 2 + 3.5 * (a + b)[:, 1] / 2 + 2 * (b + c)[:, 1] / 2)
    expected += np.interp(frames.t, *np.transpose(LIFT)) * b[:, 1]
    found = Dynamics(scene, frames).energies(frames)
    assert found["V"] == pytest.approx(expected, abs=NEAR[form] * 100)
    u, v = motion.velocity(frames.t)["A"], motion.velocity(frames.t)["B"]
    kinetic = 0.5 * (np.sum(u**2, axis=1) / 3)  # a uniform rod about its end: m l^2 / 3
    way, turning = b - a, v - u
    spin = (way[:, 0] * turning[:, 1] - way[:, 1] * turning[:, 0]) / 3.5**2
    kinetic += 0.5 * 3.5 * np.sum((u + v) ** 2, axis=1) / 4 + 0.5 * 3.57 * spin**2
    kinetic += 0.5 * (2 * 4 / 12 + 2) * np.sum(v**2, axis=1) / 4
    assert found["T"] == pytest.approx(kinetic, abs=NEAR[form] * 60)


@pytest.mark.parametrize("form", FORMS)
def test_insets_and_pages_show_those_energies(motions, tmp_path, form):
    """At the rows all results have the table's own V: what the inset of a film and the page draw there is the same."""
    results = stored(motions["driven"], form, tmp_path)
    table = motions["driven"].trajectory
    film = prepare(results, Options(size=(320, 180), show=("energy",)))
    whole = film.frames.motion
    drawn = np.interp(table.t, whole.t, whole.energies["V"])  # straight between moments: a hundredth of a joule
    assert drawn == pytest.approx(table["V"], abs=0.02)
    page = film_of(film.scene, film.frames, getattr(results, "trajectory", results), film.options)
    (column,) = [each for each in page["columns"] if each["label"] == "V"]
    numbers = np.frombuffer(base64.b64decode(page["numbers"]), "<f4").reshape(-1, 2, page["count"])
    values = numbers[column["channel"], 0] + page["offsets"][column["channel"]]
    times = np.linspace(page["start"], page["end"], page["count"])
    assert np.interp(table.t, times, values) == pytest.approx(table["V"], abs=0.02)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["driven", "pushed", "sampled"])
def test_residuals_of_a_plot_are_those_of_the_certificate(motions, tmp_path, name, form):
    trajectory = motions[name].trajectory if form == "motion" else stored(motions[name], form, tmp_path)
    result, _ = Result.of(name, trajectory, "-")
    positions, rates, lacking = constraint_residuals(result)
    assert lacking == []
    certificate = motions[name].certificate
    # The certificate judges all rows by a few gradients, the plot by those nearby: they may differ by a small factor.
    assert positions.max() <= 3 * max(certificate.position_residual, 1e-16)
    assert rates.max() <= 3 * max(certificate.velocity_residual, 1e-16)
    if name != "pushed":  # a potential in steps gives energy at each step, which no account has
        assert energy_drift(result).max() == pytest.approx(certificate.energy_drift, rel=1e-6, abs=1e-17)


@given(
    kind=st.sampled_from(["linear", "step", "cubic"]),
    values=st.lists(st.floats(-5, 5).filter(lambda x: x == 0 or abs(x) > 1e-99), min_size=4, max_size=8),
    gaps=st.lists(st.floats(0.1, 0.6), min_size=8, max_size=8),
    start=st.floats(-1, 0.5).filter(lambda x: x == 0 or abs(x) > 1e-99),
)
@some_of(25)
def test_any_table_is_evaluated_at_the_time_drawn(
    kind: str, values: list[float], gaps: list[float], start: float
) -> None:
    """V = table(t) x by a table of any kind, from a run that may begin or end inside it; as a CSV tells it, by rows."""
    times = start + np.cumsum([0.0, *gaps])[: len(values)]
    points = [[float(t), value] for t, value in zip(times, values, strict=True)]
    motion = mechsim.simulate(f"""
Tables: {{pull: {{points: {points}, kind: {kind}}}}}
PartData: {{Fixed: {{O: []}}, Particles: {{B: 2}}, Springs: {{OB: [50, 1]}}}}
AppliedForces: {{Potentials: {{well: pull*B.x}}}}
ProblemData: {{tend: 1.5, positions: {{B: [1.2, 0.3]}}}}
""")
    rows = replace(motion.trajectory, polynomials=None, segments=None)
    scene = scene_of(rows)
    # At its own times every table has its own values, whatever is between; a linear and a step one have no secrets.
    inside = [float(t) for t in times if 0 < t < 1.5]
    t = np.array(inside if kind == "cubic" else np.linspace(0.011, 1.487, 40))
    if not len(t):
        return
    frames = sample(rows, t, scene)
    place = motion(t)["B"]
    held = np.interp(t, times, values)
    if kind == "step":
        held = np.array(values)[np.maximum(np.searchsorted(times, t, side="right") - 1, 0)]
    expected = held * place[:, 0] + 25 * (np.hypot(*place.T) - 1) ** 2
    # Cubics between rows miss a place by 1e-4 m or so, where the force is some ten newtons.
    assert Dynamics(scene, frames).energies(frames)["V"] == pytest.approx(expected, abs=5e-3)


def expected_push(t: np.ndarray) -> np.ndarray:
    pieces = [t < 0.7, t < 1.5, t < 2.5]
    return np.select(pieces, [np.zeros_like(t), np.full_like(t, 12), -8 * np.sin(5 * t)], 0.0)


@pytest.mark.parametrize("form", FORMS)
def test_forces_are_what_their_laws_exert(motions, tmp_path, form):
    """A spring with damping and a further law, a potential with a table in steps, a force in pieces, friction."""
    motion = motions["pushed"]
    results = stored(motion, form, tmp_path)
    scene = scene_of(results)
    frames = with_arrows(sample(results, np.linspace(0.03, 2.97, 50), scene), scene, ("forces",))
    found = {(arrow.label, arrow.point): arrow.vectors[:, 0] for arrow in frames.arrows}
    x, v, t = motion(frames.t)["B_x"], motion.velocity(frames.t)["B_x"], frames.t
    stretch, stiff = x - 1, np.select([t < 1, t < 2.2], [20.0, 60.0], 5.0)
    pull = 100 * stretch + 8 * v + 3 * stretch + 0.5 * v
    expected = {
        ("OB on B", "B"): -pull,
        ("OB on O", "O"): pull,  # at the fixed end as much, the other way
        ("cushion on B", "B"): -stiff * stretch,
        ("B on B", "B"): None,
    }
    assert set(found) == set(expected)
    close = {"abs": 1e-8 if form in ("motion", "npz") else 0.05}
    for key, values in expected.items():
        if values is not None:
            assert found[key] == pytest.approx(values, **close), key
    forces = [arrow.vectors[:, 0] for arrow in frames.arrows if arrow.label == "B on B"]
    friction = -2 * np.tanh(v / 0.01)
    assert sum(forces) == pytest.approx(expected_push(t) + friction, abs=1e-7 if form in ("motion", "npz") else 0.3)


def held_torque(motion: Any, t: np.ndarray) -> np.ndarray:
    """The controller of SAMPLED, written again: at every sampling time from the motion itself, held in between."""
    times = PERIOD * np.arange(round(2 / PERIOD) + 1)
    errors = 0.8 - motion(times)["theta_OA"]
    outputs = 20 * errors + 4 * PERIOD * np.cumsum(errors) - 6 * motion.velocity(times)["theta_OA"]
    return outputs[np.searchsorted(times, t, side="right") - 1]


@pytest.mark.parametrize("form", FORMS)
def test_what_a_sampled_controller_held_is_known_or_found_again(motions, tmp_path, form):
    motion = motions["sampled"]
    results = stored(motion, form, tmp_path)
    scene = scene_of(results)
    frames = with_arrows(sample(results, np.linspace(0.011, 1.987, 67), scene), scene, ("forces", "reactions"))
    (torque,) = [arrow for arrow in frames.arrows if arrow.is_torque]
    # At the rows all digits are there; the file's reader computes the outputs again from them.
    assert torque.vectors == pytest.approx(held_torque(motion, frames.t), abs=1e-9)
    reaction = next(arrow for arrow in frames.arrows if arrow.label == "on OA at O")
    expected = motion.reaction("O", frames.t)["OA"]
    assert reaction.vectors == pytest.approx(expected, abs=1e-7 if form in ("motion", "npz") else 0.2)
    assert frames.notes == ()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_what_is_not_in_the_results_is_not_drawn_and_said(motions, tmp_path, form):
    """Rows that miss the sampling times cannot tell what the controller saw; energies do not depend on it."""
    rows = motions["sampled"].sampled(np.linspace(0, 2, 151))
    results = mechsim.load(rows.save(tmp_path / f"rows.{form}"))
    film = prepare(results, Options(show=("energy", "forces", "reactions")))
    assert film.frames.arrows == ()
    for words in ("reactions are not drawn", "force of the controller of theta_OA is not drawn", ".npz"):
        assert any(words in note for note in film.frames.notes), words
    whole = film.frames.motion
    expected = G * motions["sampled"](whole.t)["A_y"] / 2
    # A cubic between rows does not see the jump of acceleration at a sampling time: 2e-5 m of 1 m.
    assert whole.energies["V"] == pytest.approx(expected, abs=1e-3)


def test_the_terminal_says_what_is_not_drawn(motions, tmp_path, capsys):
    motions["sampled"].sampled(np.linspace(0, 2, 151)).save(tmp_path / "rows.csv")
    with pytest.raises(SystemExit) as left:
        main(["animate", str(tmp_path / "rows.csv"), "-o", str(tmp_path / "x.png"), "--show", "reactions"])
    assert not left.value.code
    assert "note: reactions are not drawn" in capsys.readouterr().err


def test_a_change_belongs_to_the_step_before_it():
    mechanism = build(parse(PUSHED))
    segments = Segments.of_tables(mechanism, 0.0, 3.0)
    place = next(place for place in range(len(segments.numbers)) if 60.0 in segments.values[:, place])
    before, after = (segments.values[segments.at([0.0, 0.5, 1.0, 1.5], side), place] for side in ("before", "after"))
    assert before.tolist() == [20, 20, 20, 60]
    assert after.tolist() == [20, 20, 60, 60]


def test_an_npz_keeps_the_segments(motions, tmp_path):
    kept, known = (stored(motions["sampled"], "npz", tmp_path).segments, motions["sampled"].trajectory.segments)
    for name in ("starts", "numbers", "values"):
        assert np.array_equal(getattr(kept, name), getattr(known, name))


@pytest.mark.parametrize("damage", ["numbers + 99", "numbers - 99", "numbers + 0.5", "numbers[1:]", "numbers[:0]"])
def test_segments_that_do_not_fit_the_mechanism_are_not_believed(motions, damage):
    trajectory = motions["driven"].trajectory
    segments = trajectory.segments
    broken = replace(segments, numbers=eval(damage, {"numbers": segments.numbers}))
    found = scene_of(replace(trajectory, segments=broken)).segments
    at = found.at(np.array([0.3, 2.5]))
    assert np.array_equal(found.values[at], segments.values[segments.at(np.array([0.3, 2.5]))])


def test_times_of_the_run_are_those_of_its_tables(tmp_path):
    """The file says tend: 3; a run to t = 2 has other breaks, and its results are drawn with those."""
    motion = mechsim.simulate(DRIVEN, tend=2.0)
    results = mechsim.load(motion.save(tmp_path / "short.csv"))
    spec = spec_of(results)
    assert float(spec.problem.tend) == 2.0 and span(results) == (0.0, 2.0)
    positions, _, _ = constraint_residuals(Result.of("short", results, "-")[0])
    assert positions.max() < 1e-14  # rows are projected on the constraints
