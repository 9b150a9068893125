"""The scene and its sampling: shapes as the file asks, motion between rows without straight lines, faults named."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import mechsim
from mechsim.render import sample, scene_of, span
from mechsim.render.frames import hermite, placed, pose, with_whole
from mechsim.render.options import Options, default_speed, speed_text, traced
from mechsim.render.outline import area, inset, layers_of, outline_around
from mechsim.render.times import frame_times
from mechsim.render.window import reach, window_of
from mechsim.result.journal import OutputError

SPECS = Path(__file__).parent.parent / "specs"


@pytest.fixture(scope="module")
def andrews():
    return mechsim.simulate(SPECS / "andrews.yaml").trajectory


@pytest.fixture(scope="module")
def double_pendulum():
    return mechsim.simulate(SPECS / "double_pendulum.yaml", tend=3).trajectory


def without_series(trajectory):
    """As a CSV has it: rows alone."""
    return replace(trajectory, polynomials=None)


def test_scene_of_andrews_obeys_its_animation_section(andrews):
    scene = scene_of(andrews)
    assert scene.title == "Andrews Squeezing Mechanism"
    assert scene.parameters_to_show[1:] == (("c0", 4530.0), ("mom", 0.033))
    assert scene.view == (-5.0, 27.0)
    assert (scene.zscale, scene.fleshoutwid) == (0.0005, 0.0015)
    assert {body.name for body in scene.parts} == {"OF", "FE", "BED", "EG", "AG", "HE", "AH"}
    assert set(scene.ground) == {"O", "A", "B", "C"}
    assert [spring.points for spring in scene.springs] == [("C", "D")]
    bent = next(body for body in scene.parts if body.name == "AG")
    corner = np.array([0.02308, 0.00916])  # Y of the path YAYGY
    assert np.allclose(bent.path[0], corner)
    # The corner's outer side lies on the outline; rounding by arcs of 9 degrees costs less than 1 % of the radius.
    distance = np.hypot(*(bent.outline - corner).T).min()
    assert distance == pytest.approx(0.0015, rel=0.01)


def test_parts_that_meet_lie_in_different_layers(andrews):
    scene = scene_of(andrews)
    for one in scene.parts:
        for other in scene.parts:
            if one is not other and set(one.points) & set(other.points):
                assert one.layer != other.layer


def test_layers_of_a_long_chain_stay_few():
    chain = [(f"P{k}", f"P{k + 1}") for k in range(100)]
    layers = layers_of(chain, [outline_around(np.array([[0.0, 0], [1, 0]]), 0.1, drawn=False)] * 100)
    assert max(layers) < 12
    assert all(one != other for one, other in pairwise(layers))


def test_outline_of_a_rod_is_a_capsule():
    outline = outline_around(np.array([[0.0, 0], [2, 0]]), 0.1, drawn=False)
    # Arcs of ten chords per quarter miss 0.4 % of the circle's area; simplification as much again.
    assert area(outline) == pytest.approx(2 * 0.2 + np.pi * 0.01, rel=0.005)
    assert np.abs(outline[:, 1]).max() == pytest.approx(0.1, rel=1e-3)


def test_outline_of_points_on_one_place_is_a_disc():
    assert area(outline_around(np.zeros((3, 2)), 1.0, drawn=False)) == pytest.approx(np.pi, rel=0.01)


def test_inset_of_a_thin_part_does_not_vanish():
    outline = outline_around(np.array([[0.0, 0], [2, 0]]), 0.1, drawn=False)
    assert area(inset(outline, 0.03)) < area(outline)
    assert np.array_equal(inset(outline, 1.0), outline)


def test_series_and_hermite_agree_and_keep_parts_rigid(andrews):
    scene = scene_of(andrews)
    times = np.linspace(*span(andrews), 301)
    exact, cubic = sample(andrews, times, scene), sample(without_series(andrews), times, scene)
    # Steps are about 3e-4 s at rates below 1e3 rad/s: h^4/384 of the fourth derivative is some 1e-5 of the size.
    for name in exact.points:
        assert np.abs(exact.points[name] - cubic.points[name]).max() < 1e-5 * scene.size
    for body in scene.parts:
        for index in (0, 150, 300):
            corners = placed(body.local, cubic.poses[body.name], index)
            truth = np.array([exact.points[point][index] for point in body.points])
            assert np.abs(corners - truth).max() < 1e-5 * scene.size
            assert np.hypot(*(corners[1] - corners[0])) == pytest.approx(body.local[1, 0], rel=1e-12)


def test_points_between_rows_are_on_no_straight_line(double_pendulum):
    scene = scene_of(double_pendulum)
    rows = without_series(replace(double_pendulum, table=double_pendulum.table[::8]))  # rows far apart
    times = np.linspace(0, 3, 400)
    length = np.hypot(*sample(rows, times, scene).points["A"].T)
    chord = np.hypot(*[np.interp(times, rows.t, rows[label]) for label in ("A_x", "A_y")])
    assert np.abs(length - 1).max() < 0.2 * np.abs(chord - 1).max()


def test_pose_counts_turns_on():
    angle = np.linspace(0, 20, 200)
    world = np.stack([np.zeros((200, 2)), np.column_stack([np.cos(angle), np.sin(angle)])], axis=1)
    assert np.allclose(pose(np.array([[0.0, 0], [1, 0]]), world)[1], angle, atol=1e-12)


def test_hermite_is_exact_for_cubics():
    t, times = np.array([0.0, 1.0, 3.0]), np.linspace(0, 3, 50)
    values, rates = hermite(t, t**3 - t, 3 * t**2 - 1, times)
    assert np.allclose(values, times**3 - times, atol=1e-12)
    assert np.allclose(rates, 3 * times**2 - 1, atol=1e-12)


def test_the_whole_motion_passes_through_the_frames(double_pendulum):
    scene = scene_of(double_pendulum)
    frames = with_whole(sample(double_pendulum, np.linspace(0, 3, 31), scene), double_pendulum, scene, 0, 3)
    assert len(frames.motion) >= 4 * len(frames)
    rows = np.searchsorted(frames.motion.t, frames.t)
    assert np.array_equal(frames.motion.points["B"][rows], frames.points["B"])


def test_rows_without_numbers_are_left_out_and_said(double_pendulum):
    broken = double_pendulum.table.copy()
    broken[5, 3] = np.nan
    frames = sample(without_series(replace(double_pendulum, table=broken)), np.linspace(0, 3, 20))
    assert all(np.isfinite(places).all() for places in frames.points.values())
    assert any("1 row" in note and "row 6" in note for note in frames.notes)


def test_time_that_goes_back_is_left_out(double_pendulum):
    table = np.vstack([double_pendulum.table[:10], double_pendulum.table[4:]])
    frames = sample(without_series(replace(double_pendulum, table=table)), np.linspace(0, 3, 20))
    assert any("6 rows" in note for note in frames.notes)


def test_missing_velocities_are_made_good_and_said(double_pendulum):
    keep = [index for index, label in enumerate(double_pendulum.labels) if not label.endswith("_dot")]
    labels = tuple(double_pendulum.labels[index] for index in keep)
    bare = replace(double_pendulum, labels=labels, table=double_pendulum.table[:, keep], polynomials=None)
    times = np.linspace(0, 3, 100)
    frames, truth = sample(bare, times), sample(double_pendulum, times)
    assert any("no velocities" in note for note in frames.notes)
    # Slopes from neighbours are of second order: good to a percent of the size at these steps.
    assert np.abs(frames.points["B"] - truth.points["B"]).max() < 0.02


def test_missing_columns_are_named(double_pendulum):
    keep = [index for index, label in enumerate(double_pendulum.labels) if label != "B_y"]
    labels = tuple(double_pendulum.labels[index] for index in keep)
    bare = replace(double_pendulum, labels=labels, table=double_pendulum.table[:, keep], polynomials=None)
    with pytest.raises(OutputError, match="B_y"):
        sample(bare, np.array([0.0]))


def test_no_rows_is_an_error(double_pendulum):
    with pytest.raises(OutputError, match="no row"):
        span(replace(double_pendulum, table=double_pendulum.table[:0]))


def test_the_whole_motion_is_in_view(andrews):
    scene = scene_of(andrews)
    frames = sample(andrews, np.linspace(*span(andrews), 200), scene)
    window = window_of(scene, frames, None, (40, 60, 1240, 640))
    for body in scene.parts:
        for index in range(0, 200, 7):
            seen = window.pixels(placed(body.outline, frames.poses[body.name], index))
            assert (seen >= [39.9, 59.9]).all() and (seen <= [1240.1, 640.1]).all()
    low, high = reach(scene, frames)
    assert (low < high).all()


@pytest.mark.parametrize("view", ["1,2,3", "a,b,c,d", "1,0,0,1", "nan,1,0,1", "0,30"])
def test_a_view_that_is_no_window_is_refused(andrews, view):
    scene = scene_of(andrews)
    with pytest.raises(OutputError, match="--view"):
        window_of(scene, sample(andrews, np.array([0.0]), scene), view, (0, 0, 10, 10))


def test_speed_is_chosen_by_the_motion():
    assert len(frame_times(0, 0.03, default_speed(0.03), 30)) == 300  # ten seconds of film
    assert default_speed(10) == 1.0
    assert 10 <= 200 / default_speed(200) <= 40
    assert speed_text(0.003) == "1/333 of real time"
    assert speed_text(1.0) == "real time"
    assert speed_text(10.0).startswith("10")


def test_frames_are_true_to_time():
    times = frame_times(1.0, 4.0, 0.5, 20)
    assert times[0] == 1.0
    assert np.allclose(np.diff(times), 0.5 / 20, rtol=1e-12)
    assert len(times) == 120


def test_free_ends_leave_a_trace(double_pendulum, andrews):
    assert traced(scene_of(double_pendulum), Options()) == ("B",)
    assert traced(scene_of(andrews), Options(trace=("E",))) == ("E",)
    with pytest.raises(OutputError, match="Q"):
        traced(scene_of(andrews), Options(trace=("Q",)))


def test_parameters_of_the_run_are_those_drawn():
    motion = mechsim.simulate(SPECS / "pendulum.yaml", parameters={"l": 2.0}, tend=0.1)
    assert scene_of(motion).parts[0].local[1, 0] == 2.0


def test_results_without_a_mechanism_say_so(andrews):
    with pytest.raises(OutputError, match="do not carry the mechanism"):
        scene_of(replace(andrews, spec_text=""))
    with pytest.raises(OutputError, match="damaged"):
        scene_of(replace(andrews, spec_text="Title: [1"))
