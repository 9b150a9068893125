"""What plots and insets show is there: residuals of every constraint, signals and not rounding; and what cannot be
shown is said."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS
from reference.pictured import SPEED

import mechsim
from mechsim.render.film import animate, prepare
from mechsim.render.forces import Strength
from mechsim.render.options import Options
from mechsim.render.overlay import Overlay
from mechsim.render.panels import LEAST_TOP
from mechsim.render.pen import Pen
from mechsim.render.plot import PlotOptions, _figure, _panels
from mechsim.render.plotted import Result, constraint_residuals
from mechsim.render.sizes import LEAST_NOISE, Sizes
from mechsim.render.still import picture_of

SMALL = Options(size=(640, 360), fps=20)
ALL = ("params", "time", "energy", "forces", "reactions")

REST = """
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 7, positions: {A: [[0, fixed], -1]}}
"""


@pytest.fixture(scope="module")
def slider() -> Any:
    return mechsim.simulate(SPEED)


@pytest.fixture(scope="module")
def rest() -> Any:
    return mechsim.simulate(REST)


# --- residuals


@pytest.mark.parametrize("source", [SPEED, SPECS / "forces/rolling_wheel.yaml", SPECS / "forces/chaplygin_sleigh.yaml"])
def test_constraints_of_velocities_have_residuals_too(source):
    motion = mechsim.simulate(source)
    result, _ = Result.of("a", motion.trajectory, "-")
    positions, rates, _ = constraint_residuals(result)
    assert np.isfinite(rates).all() and rates.max() <= 3 * max(motion.certificate.velocity_residual, 1e-16)
    only_velocities = not (motion.system.levels == 2).any()
    assert (positions is None) == only_velocities
    faster = {label: 1.001 * values if label.endswith("_dot") else values for label, values in result.columns.items()}
    if source == SPEED:  # a thousandth too fast is what the panel then shows, over the peak speed
        worst = constraint_residuals(replace(result, columns=faster))[1].max()
        crank = 4 * 1e-3  # of the drive, as the speed of an angle; the peak is that of a point
        assert worst == pytest.approx(crank * 3 / motion.certificate.peak_speed, rel=0.3)


# --- rounding


@given(st.floats(1e-9, 1e9), st.floats(-3, 3), st.floats(0, 0.9), st.integers(0, 2**32 - 1))
@some_of(300)
def test_an_axis_is_scaled_by_the_size_not_by_the_noise(size: float, place: float, share: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    sizes = Sizes({"m": size})
    noise = place * size + share * LEAST_NOISE * size * random.uniform(-0.5, 0.5, 50)
    low, high, changes = sizes.limits("m", noise)
    assert not changes
    assert high - low >= 0.99 * size and low <= noise.min() and high >= noise.max()
    signal = place * size + 1e-9 * (1 + abs(place)) * size * np.sin(np.arange(50))
    low, high, changes = sizes.limits("m", signal)
    assert changes and (low, high) == (signal.min(), signal.max())


def noisy(motion: Any, amplitude: float) -> Any:
    """The results of a motion with rounding of the given size, relative to each column's own scale of 1."""
    random = np.random.default_rng(7)
    table = np.repeat(motion.trajectory.table, 40, axis=0)
    table = table + amplitude * random.normal(size=table.shape)
    table[:, 0] = np.linspace(0, 7, len(table))
    return replace(motion.trajectory, table=table, polynomials=None)


PLOTS = {
    "overview": PlotOptions(),
    "columns": PlotOptions(columns=("A_x", "A_y", "A_x_dot", "T", "V")),
    "phase": PlotOptions(phase=(("A_x", "A_x_dot"), ("A_y", "V"))),
    "path": PlotOptions(path=("A",)),
}


@pytest.mark.parametrize("kind", PLOTS)
def test_no_panel_shows_rounding_as_a_signal(rest, kind):
    """Columns that are constant but for 1e-15: on any axis they take no more than a thousandth of it."""
    results = [Result.of(name, noisy(rest, 1e-15), dash)[0] for name, dash in (("a", "-"), ("b", "--"))]
    figure = _figure(results, _panels(results, PLOTS[kind]), PLOTS[kind])
    assert figure.axes
    for axes in figure.axes:
        if axes.get_yscale() == "log":  # errors: a shade says how far rounding reaches, and the axis goes far above it
            assert axes.get_ylim()[1] >= LEAST_TOP * 0.99
            assert any(text.get_text().strip() == "rounding" for text in axes.texts)
            continue
        curves = [line for line in axes.lines if len(line.get_xdata()) > 1]
        assert curves
        for line in curves:
            assert np.ptp(line.get_ydata()) < 1e-3 * np.ptp(axes.get_ylim())
            low, high = axes.get_ylim()
            assert low <= min(line.get_ydata()) and max(line.get_ydata()) <= high
        if kind in ("phase", "path"):
            assert all(np.ptp(line.get_xdata()) < 1e-3 * np.ptp(axes.get_xlim()) for line in curves)


def test_no_inset_shows_rounding_as_a_signal():
    """Without weight and at rest, T and V are zero but for rounding: two flat lines."""
    motion = mechsim.simulate(REST.replace("[0, -9.81]", "[0, 0]"))
    film = prepare(motion, replace(SMALL, show=("energy",)))
    rounding = 1e-17 * np.random.default_rng(3).normal(size=(2, len(film.frames.motion)))
    whole = replace(film.frames.motion, energies={"T": np.abs(rounding[0]), "V": rounding[1]})
    overlay = Overlay(film.scene, replace(film.frames, whole=whole), film.options, Pen(*SMALL.size), bare=False)
    for curve in overlay.curves.values():
        assert np.ptp(curve[:, 1]) < 1e-3  # pixels


def test_a_true_signal_is_still_shown():
    """A small swing is a signal: its axis is as long as it is."""
    motion = mechsim.simulate(REST.replace("[0, fixed]", "[1e-6, fixed]"))
    result, _ = Result.of("a", motion.trajectory, "-")
    (axes,) = _figure([result], _panels([result], PlotOptions(columns=("A_x",))), PlotOptions(columns=("A_x",))).axes
    assert np.ptp(axes.get_ylim()) == pytest.approx(2e-6 * 1.1, rel=0.02)


# --- what else there is to say


def test_a_force_is_no_place():
    """Columns `drive_D_x` are newtons: not in the panel of positions, and nothing is scaled by them."""
    text = """
PartData: {Particles: {D: 1e6}}
Drives: {D: [cos(t), sin(t)]}
ProblemData: {tend: 6, positions: {D: [1]}}
"""
    motion = mechsim.simulate(text)
    result, _ = Result.of("a", motion.trajectory, "-")
    figure = _figure([result], _panels([result], PlotOptions()), PlotOptions())
    (axes,) = [axes for axes in figure.axes if axes.get_title(loc="left") == "x"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["D_x"]
    scene = prepare(motion, SMALL).scene
    assert scene.fleshoutwid < 0.2  # a part is slim beside the motion, which is two metres wide
    assert motion.trajectory.points == ("D",)


def test_curves_left_out_are_said_and_none_are_alike():
    from mechsim.render.panels import colour_of
    from mechsim.render.theme import THEMES

    motion = mechsim.simulate(SPECS / "forces/arm10.yaml", tend=0.05)
    result, _ = Result.of("a", motion.trajectory, "-")
    titles = [
        axes.get_title(loc="left") for axes in _figure([result], _panels([result], PlotOptions()), PlotOptions()).axes
    ]
    assert any("the first 9 of 10" in title for title in titles)
    for theme in THEMES.values():
        colours = [colour_of(theme, number) for number in range(18)]
        assert min(np.abs(np.subtract(a, b)).max() for a, b in pairwise(sorted(colours))) > 0.003


def test_a_signal_without_a_value_leaves_the_picture_alone(slider):
    trajectory = slider.trajectory
    table = np.column_stack([trajectory.table, np.full(len(trajectory), np.nan)])
    odd = replace(trajectory, labels=(*trajectory.labels, "ratio"), units=(*trajectory.units, ""), table=table)
    film = prepare(odd, SMALL)
    assert film.frames.notes == ()
    assert np.array_equal(film.frames.points["B"], prepare(trajectory, SMALL).frames.points["B"])


def test_rows_too_far_apart_are_said(slider):
    near, far = (slider.sampled(np.linspace(0, 2.7, count)) for count in (200, 9))
    assert prepare(replace(near, polynomials=None), SMALL).frames.notes == ()
    (note,) = prepare(replace(far, polynomials=None), SMALL).frames.notes
    assert "rows are far apart" in note and ".npz" in note
    assert prepare(far, SMALL).frames.notes == ()  # series tell all


def test_columns_that_are_missing_are_said(slider):
    trajectory = slider.trajectory
    keep = [index for index, label in enumerate(trajectory.labels) if not label.startswith("theta_")]
    labels, units = (tuple(each[k] for k in keep) for each in (trajectory.labels, trajectory.units))
    bare = replace(trajectory, labels=labels, units=units, table=trajectory.table[:, keep], polynomials=None)
    film = prepare(bare, replace(SMALL, show=ALL))
    assert film.frames.arrows == () and any("theta_OA" in note for note in film.frames.notes)
    # Without an angle the energy of a torque cannot be computed: the table's own is shown.
    t = film.frames.motion.t
    assert np.interp(trajectory.t[3:8], t, film.frames.motion.energies["V"]) == pytest.approx(
        trajectory["V"][3:8], abs=0.05 * np.ptp(trajectory["V"])
    )
    result, _ = Result.of("a", bare, "-")
    assert constraint_residuals(result)[2] == ["theta_OA"]
    figure = _figure([result], _panels([result], PlotOptions()), PlotOptions())
    assert any("lacks the columns" in text.get_text() for axes in figure.axes for text in axes.texts)


def test_rates_that_are_guessed_are_said_where_they_matter():
    """A viscous pivot needs the rate of its angle, the energy of a rod does not."""
    text = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}
AppliedForces: {Gravity: , LOAD}
SolverParams: {OutFile: {angles: [OA: 1]}}
ProblemData: {tend: 1, positions: {A: [1]}}
"""
    for load, count in (("JointDampers: {OA: 0.3}", 1), ("ConstTorques: {OA: 2}", 0)):
        trajectory = mechsim.simulate(text.replace("LOAD", load)).trajectory
        keep = [index for index, label in enumerate(trajectory.labels) if label != "theta_OA_dot"]
        labels, units = (tuple(each[k] for k in keep) for each in (trajectory.labels, trajectory.units))
        bare = replace(trajectory, labels=labels, units=units, table=trajectory.table[:, keep], polynomials=None)
        notes = prepare(bare, replace(SMALL, show=("energy", "forces"))).frames.notes
        assert len([note for note in notes if "theta_OA" in note]) == count


def test_a_sheet_is_drawn_in_every_size(slider, tmp_path):
    from PIL import Image

    for size in ((200, 120), (640, 360), (1280, 720)):
        animate(slider, tmp_path / "x.png", replace(SMALL, size=size, show=ALL))
        width, height = Image.open(tmp_path / "x.png").size
        assert size[0] - 8 <= width <= size[0] and size[1] - 8 <= height <= size[1]
    film = prepare(slider, replace(SMALL, show=ALL), still=True)
    assert picture_of(film, film.options).measures.strength == Strength.of(film.frames, film.scene)
