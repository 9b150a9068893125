"""What a picture says is true at the time printed: times, windows, rails, traces, scales, arrows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from examples import some_of
from hypothesis import assume, given
from hypothesis import strategies as st
from reference import SPECS
from reference.pictured import SPEED

import mechsim
from mechsim.render.film import prepare
from mechsim.render.fittings import fittings_of
from mechsim.render.flat import FlatPicture
from mechsim.render.forces import MOST_TIMES, USUAL, Strength
from mechsim.render.options import Options
from mechsim.render.pen import Pen
from mechsim.render.still import write_still
from mechsim.render.times import NEAR, decimals, frame_times, sheet_times

SMALL = Options(size=(640, 360), fps=20)
ALL = ("params", "time", "energy", "forces", "reactions")


@pytest.fixture(scope="module")
def slider() -> Any:
    return mechsim.simulate(SPEED)


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that pens write."""
    said: list[str] = []
    plain = Pen.text

    def text(self: Pen, x: float, y: float, words: str, *rest: Any, **more: Any) -> None:
        said.append(words)
        plain(self, x, y, words, *rest, **more)

    monkeypatch.setattr(Pen, "text", text)
    return said


# --- times


@given(st.floats(-1e4, 1e4), st.floats(1e-6, 1e6), st.integers(2, 40))
@some_of(300)
def test_a_sheet_prints_the_times_of_its_pictures(start: float, duration: float, count: int) -> None:
    stop = start + duration
    # A double holds 16 digits: times closer than that to each other have no digits of their own.
    assume(duration / count > 1e-9 * max(abs(start), abs(stop)))
    times = sheet_times(start, stop, count)
    assert times[0] >= start and times[-1] <= stop and (np.diff(times) > 0).all()
    assert np.abs(times - np.linspace(start, stop, count)).max() <= 1.001 * NEAR * duration / (count - 1)
    digits = decimals(times, 0.0)
    printed = np.array([float(f"{time:.{digits}f}") for time in times])
    assert np.abs(printed - times).max() <= 1e-12 * np.abs(times).max()
    assert digits <= max(0, 2.5 - np.log10(duration / (count - 1))) + 1  # and with no more digits than it takes


@given(st.floats(0, 1e3), st.floats(1e-4, 1e3), st.floats(1, 60))
@some_of(200)
def test_a_film_prints_times_near_those_of_its_frames(start: float, speed: float, fps: float) -> None:
    times = frame_times(start, start + 300 * speed / fps, speed, fps)
    digits = decimals(times)
    printed = [f"{time:.{digits}f}" for time in times]
    assert len(set(printed)) == len(printed)
    assert np.abs(np.array(printed, float) - times).max() <= 1.001 * max(NEAR * speed / fps, 1e-12 * times[-1])


@pytest.mark.parametrize(("choices", "count"), [({}, 6), ({"frames": 7}, 7), ({"frames": 1, "start": 0.123456}, 1)])
def test_the_times_in_a_picture_are_those_of_its_frames(slider, words, tmp_path, choices, count):
    film = prepare(slider, replace(SMALL, **choices), still=True)
    write_still(film, tmp_path / "x.png")
    printed = [float(each[4:-2]) for each in words if each.startswith("t = ")]
    assert len(printed) == count
    assert printed == pytest.approx(film.frames.t.tolist(), abs=1e-12)


# --- one moment


@pytest.mark.parametrize("choices", [{"start": 0.4}, {"start": 0.4, "stop": 0.4}, {}])
def test_one_moment_is_seen_as_one_of_the_whole_motion(slider, choices):
    """Window, rails, dashpots, scales and inset are those of the film; only where things are belongs to the moment."""
    one = prepare(slider, replace(SMALL, frames=1, show=ALL, **choices), still=True)
    film = prepare(slider, replace(SMALL, show=ALL))
    single, moving = (FlatPicture(each.scene, each.frames, each.options) for each in (one, film))
    assert len(one.frames) == 1 and one.frames.t[0] == choices.get("start", 0.0)
    assert single.window.scale == pytest.approx(moving.window.scale, rel=1e-3)
    assert single.window.shift == pytest.approx(moving.window.shift, abs=1)  # pixel
    assert single.measures.strength.force == pytest.approx(
        moving.measures.strength.force, rel=0.02
    )  # a quantile of other samples
    assert single.overlay.limits == pytest.approx(moving.overlay.limits, rel=1e-3)
    for own, other in zip(fittings_of(one.scene, one.frames), fittings_of(film.scene, film.frames), strict=True):
        assert own.name == other.name
        for shape, same in zip(own.shapes, other.shapes, strict=True):
            assert shape == pytest.approx(same, abs=1e-3)
    at = one.frames.t[0]
    assert one.frames.points["B"][0] == pytest.approx(slider(at)["B"], abs=1e-9)


def test_one_moment_has_its_trace_and_its_inset(slider):
    film = prepare(slider, replace(SMALL, frames=1, start=1.0, trace=("A",), show=("energy",)), still=True)
    picture = FlatPicture(film.scene, film.frames, film.options)
    drawn = picture.draw(0).copy()
    plain = replace(film.options, trace=())
    assert not np.array_equal(drawn, FlatPicture(film.scene, film.frames, plain).draw(0))
    curve = picture.overlay.curves["T"]
    assert np.ptp(curve[:, 0]) > 100 and np.ptp(curve[:, 1]) > 10  # pixels: a curve, not a dot
    t = film.frames.motion.t
    assert (t[0], t[-1]) == (0.0, 2.7)


def test_what_is_asked_for_is_the_whole(slider):
    film = prepare(slider, replace(SMALL, frames=1, start=1.0, stop=1.5), still=True)
    assert (film.frames.motion.t[0], film.frames.motion.t[-1]) == (1.0, 1.5)


def test_traces_stay_in_the_window_between_frames(slider):
    """A film so fast that its frames miss the turning points still shows all of a trace."""
    film = prepare(slider, replace(SMALL, speed=9.0, trace=("A", "B")))
    picture = FlatPicture(film.scene, film.frames, film.options)
    assert len(film.frames) == 6
    for way in picture.ways:
        assert (way.line >= 0).all() and (way.line <= SMALL.size).all()
    a = film.frames.motion.points["A"]
    assert a.min(axis=0) == pytest.approx([-1, -1], abs=1e-3) and a.max(axis=0) == pytest.approx([1, 1], abs=1e-3)


# --- arrows

MECHANISMS = ["andrews.yaml", "four_bar.yaml", "forces/driven_slider_crank.yaml", "forces/rolling_wheel.yaml",
              "forces/arm3_slider.yaml", "forces/friction_on_incline.yaml"]  # fmt: skip


@pytest.fixture(scope="module", params=[*MECHANISMS, "slider"])
def loaded(request: pytest.FixtureRequest) -> Any:
    motion = mechsim.simulate(SPEED if request.param == "slider" else SPECS / request.param)
    return prepare(motion, replace(SMALL, show=ALL, fps=4))


def test_arrows_are_true_to_scale_and_stay_in_the_picture(loaded):
    """Lengths in pixels over newtons are one number for all forces, applied or in joints, at all times."""
    picture = FlatPicture(loaded.scene, loaded.frames, loaded.options)
    checked = 0
    for arrow in loaded.frames.arrows:
        for index in range(0, len(loaded.frames), 5) if not arrow.is_torque else ():
            start, reach, broken = picture.arrows.reach(arrow, index)
            length = picture.measures.arrow * np.hypot(*arrow.vectors[index]) / picture.measures.strength.force
            assert broken == (length > MOST_TIMES * picture.measures.arrow)
            assert np.hypot(*reach) == pytest.approx(min(length, MOST_TIMES * picture.measures.arrow), rel=1e-9)
            assert np.cross([*reach, 0], [*arrow.vectors[index], 0])[2] == pytest.approx(0, abs=1e-6 * (1 + length))
            place = start + reach
            assert (place >= -0.5).all() and (place <= np.array(SMALL.size) + 0.5).all()
            checked += 1
    assert checked
    forces = [arrow.vectors for arrow in loaded.frames.motion.arrows if not arrow.is_torque]
    broken = np.any([picture.measures.strength.lengths(each)[1] for each in forces], axis=0)
    assert broken.mean() <= 1 - USUAL


def test_a_force_too_strong_to_be_drawn_is_broken_and_written(words):
    """A blow of 3 kN among forces of some newtons: the others stay to be seen, and nobody takes it for twice them."""
    text = """
PartData: {Fixed: {O: [], R: [1]}, Particles: {B: 1}, Springs: {OB: [10, 1]}}
Joints: {Slots: {B-OR: []}}
AppliedForces: {Forces: {B: [3000/cosh((t - 1)/0.01)**2, 0]}}
ProblemData: {tend: 3, positions: {B: [1.5]}}
"""
    film = prepare(mechsim.simulate(text), replace(SMALL, show=("forces",)))
    picture = FlatPicture(film.scene, film.frames, film.options)
    picture.draw(0)
    assert not [each for each in words if "kN" in each]
    blow = int(np.argmin(np.abs(film.frames.t - 1)))
    picture.draw(blow)
    newtons = 3000 / np.cosh((film.frames.t[blow] - 1) / 0.01) ** 2
    assert f"{newtons / 1000:.3g} kN" in words


def test_one_scale_on_one_picture(slider, words, tmp_path):
    for frames in (1, 6):
        words.clear()
        write_still(prepare(slider, replace(SMALL, frames=frames, show=ALL), still=True), tmp_path / "x.png")
        assert len([each for each in words if each.endswith(" N")]) == 1
        assert len([each for each in words if each.endswith(" N m")]) == 1
        assert len([each for each in words if each.endswith((" m", " cm", " mm")) and "N" not in each]) == 1


def test_the_scale_of_forces_is_as_long_as_it_says(slider, words, monkeypatch):
    """The arrow beside the words, drawn by the same pen, measured."""
    from mechsim.render import measures as module

    drawn: list[np.ndarray] = []
    monkeypatch.setattr(module, "_fill", lambda pen, theme, shape, x, y: drawn.append(shape))
    film = prepare(slider, replace(SMALL, show=("forces", "reactions")))
    picture = FlatPicture(film.scene, film.frames, film.options)
    (said,) = [each for each in words if each.endswith(" N")]
    assert np.ptp(drawn[0][:, 0]) == pytest.approx(
        float(said[:-2]) / picture.measures.strength.force * picture.measures.arrow
    )


def test_forces_that_are_rounding_are_no_arrows():
    """A rod turning about its centroid, without weight: its bearing feels nothing."""
    text = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[], 1, 1]}}}
ProblemData: {tend: 2, positions: {A: [1]}, rates: {OA: [3, fixed]}}
"""
    film = prepare(mechsim.simulate(text), replace(SMALL, show=("reactions",)))
    assert film.frames.arrows and max(arrow.strengths.max() for arrow in film.frames.arrows) < 1e-9
    strength = Strength.of(film.frames, film.scene)
    assert (strength.force, strength.torque) == (0.0, 0.0)


def test_forces_that_nothing_determines_are_not_drawn(slider, monkeypatch):
    """What comes out of a singular matrix does not obey the equations of motion, and is left out with a note."""
    from mechsim.engine.leading import Leading

    plain = Leading.__call__

    def broken(self: Any, points: Any) -> Any:
        accelerations, multipliers = plain(self, points)
        multipliers[points.t > 1] *= 1.5
        return accelerations, multipliers

    monkeypatch.setattr(Leading, "__call__", broken)
    film = prepare(slider, replace(SMALL, show=("reactions",)))
    for arrow in film.frames.arrows:
        assert np.isnan(arrow.vectors[film.frames.t > 1]).all() and np.isfinite(arrow.vectors[film.frames.t < 1]).all()
    assert any("do not determine" in note for note in film.frames.notes)
    FlatPicture(film.scene, film.frames, film.options).draw(len(film.frames) - 1)
