"""Contacts and events in pictures: what is drawn is where and when it was, and what jumps is seen to jump."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mechsim
from mechsim.render import flashes, page
from mechsim.render.barriers import SlackRope, hanging
from mechsim.render.film import prepare, render_frames
from mechsim.render.fitting import poses
from mechsim.render.fittings import fittings_of
from mechsim.render.flat import FlatPicture
from mechsim.render.marks import marks_of
from mechsim.render.options import Options
from mechsim.render.page.data import film_of
from mechsim.render.plotted import Result
from mechsim.render.scene import scene_of
from mechsim.render.still import picture_of
from mechsim.result.files import load

SPECS = Path(__file__).parents[1] / "specs" / "contacts"
SMALL = Options(size=(320, 180), fps=20)
BALL = """
Title: Ball
PhysicalParams: {m: 2, g: 9.8}
PartData:
  Particles: {P: m}
AppliedForces: {Gravity: [0, -g]}
Contacts: {ground: {gap: %s, e: %s}}
Events: {top: {when: P.vy, direction: down}}
ProblemData:
  tend: %s
  positions: {P: [[0, fixed], [1, fixed]]}
  velocities: {P: [[0.5, fixed], [0, fixed]]}
"""
TETHER = """
PartData:
  Fixed: {O: []}
  Particles: {P: 1}
AppliedForces: {Gravity: [0, -9.81]}
Contacts: {P-O: {radius: 1, inside: yes, e: 0}}
ProblemData:
  tend: 1
  positions: {P: [[0.6, fixed], [0, fixed]]}
"""
LEVER = """
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0], 3, 1]}}
Stops: {theta_OA: {min: -0.5, max: 0.4, e: 0.5}}
ProblemData:
  tend: 1
  angles: {OA: [0, fixed]}
  rates: {OA: [2, fixed]}
"""


@pytest.fixture(scope="module")
def bouncing():
    return mechsim.simulate(BALL % ("P.y", 1, 2))


@pytest.fixture(scope="module")
def resting():
    return mechsim.simulate(BALL % ("P.y", 0.5, 3))


LONG = {"dominoes"}


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, marks=[pytest.mark.slow] if spec.stem in LONG else [], id=spec.stem)
        for spec in sorted(SPECS.glob("*.yaml"))
    ],
)
def test_every_kind_of_contact_is_drawn(spec):
    """Barriers and outlines of all kinds, with marks and forces of what meets there; in space from the front."""
    motion = mechsim.simulate(spec)
    film = prepare(motion, replace(SMALL, renderer="flat", show=("time", "events", "reactions")))
    first, last = next(render_frames(film, 0, 1)), next(render_frames(film, len(film.frames) - 1, len(film.frames)))
    assert first.shape == (180, 320, 4) and np.any(first != last)


def contact_fittings(motion):
    film = prepare(motion, SMALL)
    return film, [each for each in fittings_of(film.scene, film.frames) if each.kind == "contact"]


def test_marks_are_where_and_when_things_met(bouncing):
    scene = scene_of(bouncing)
    marks = marks_of(bouncing, scene)
    met = ~marks.named()
    assert np.array_equal(marks.t, bouncing.events.column("t"))
    assert marks.t[met][0] == pytest.approx(np.sqrt(2 / 9.8), rel=1e-12)
    assert np.allclose(marks.places[met], np.column_stack([0.5 * marks.t[met], np.zeros(met.sum())]), atol=1e-12)
    assert np.allclose(marks.pushes[met], [[0, 2 * 2 * np.sqrt(2 * 9.8)]], rtol=1e-9)
    assert np.isnan(marks.places[~met]).all()


def test_a_flash_is_drawn_at_the_place_from_the_time_on(bouncing, monkeypatch):
    drawn = []
    monkeypatch.setattr(flashes.Flashes, "_flash", lambda self, marks, number, fresh, seen: drawn.append(
        (number, fresh, seen(marks.places[number][None])[0])))  # fmt: skip
    film = prepare(bouncing, SMALL)
    picture = FlatPicture(film.scene, film.frames, film.options)
    first = int(np.flatnonzero(film.frames.t >= film.frames.marks.t[0])[0])
    picture.draw(first - 1)
    assert not drawn
    picture.draw(first)
    ((number, fresh, at),) = drawn
    assert number == 0 and 0.8 < fresh <= 1
    assert np.allclose(at, picture.window.pixels(np.array([0.5 * film.frames.marks.t[0], 0.0])))


def test_a_flash_is_seen_and_fades(bouncing):
    film = prepare(bouncing, SMALL)
    later = replace(film.frames, marks=replace(film.frames.marks, t=film.frames.marks.t + 99))
    shown, hidden = (FlatPicture(film.scene, frames, film.options) for frames in (film.frames, later))
    t, hit, speed = film.frames.t, marks_times(film)[0], film.options.speed
    moments = [int(np.argmin(np.abs(t - (hit + speed * age)))) for age in (0.06, 0.3, 0.9)]
    changed = [int((shown.draw(k) != hidden.draw(k)).any(axis=-1).sum()) for k in moments]
    assert changed[0] > 50 and changed[1] > 50 and changed[2] == 0


def marks_times(film):
    return film.frames.marks.t[~film.frames.marks.named()]


def test_no_events_are_drawn_where_nobody_wants_them(bouncing):
    assert prepare(bouncing, replace(SMALL, show=("time",))).frames.marks is None


def test_the_motion_has_both_sides_of_an_impact(bouncing):
    film = prepare(bouncing, SMALL)
    whole, t = film.frames.motion, marks_times(film)[0]
    before, after = np.searchsorted(whole.t, [np.nextafter(t, 0), t])
    assert whole.t[before] < whole.t[after] == t
    assert whole.velocities["P"][before, 1] == pytest.approx(-whole.velocities["P"][after, 1], rel=1e-12)
    assert abs(whole.points["P"][after, 1]) < 1e-12


def test_plots_have_a_vertical_jump(resting):
    trajectory = resting.trajectory
    result, _ = Result.of("ball", trajectory, "-")
    t, curves = result.energies()
    total, hit = curves["T"] + curves["V"], resting.events[0].t
    before, after = total[t < hit][-1], total[t >= hit][0]
    assert t[t >= hit][0] - t[t < hit][-1] < 1e-12
    along = 0.5 * 2 * 0.5**2  # which the floor does not touch
    assert after - along == pytest.approx((before - along) / 4, rel=1e-9)


def test_events_are_marked_in_plots(resting, bouncing):
    from matplotlib.figure import Figure

    from mechsim.render.panels import mark_events
    from mechsim.render.theme import THEMES

    for motion, named in ((resting, False), (bouncing, True)):
        axes = Figure().add_subplot()
        result, _ = Result.of("ball", motion.trajectory, "-")
        mark_events(axes, [result], THEMES["light"])
        told = sorted(path.vertices[0, 0] for lines in axes.collections for path in lines.get_paths())
        assert np.allclose(told, motion.events.column("t"))
        assert bool(axes.texts) == named


def test_a_floor_goes_with_its_gap():
    motion = mechsim.simulate(BALL % ("P.y - 0.1*sin(9*t)", 0.5, 1))
    film, (floor,) = contact_fittings(motion)
    origin, angle, _ = poses(floor, film.frames)
    assert np.allclose(origin[:, 1], 0.1 * np.sin(9 * film.frames.t), atol=1e-9) and np.allclose(angle, 0)
    assert not floor.stands_still(film.scene)
    assert max(stroke[:, 1].max() for stroke in floor.shapes) == 0  # hatched below, where the ball may not go


@pytest.mark.parametrize(
    "gap, along", [("P.y", (1, 0)), ("3 - P.x", (0, 1)), ("P.x + 3", (0, -1)), ("P.y + P.x + 9", (1, -1))]
)
def test_walls_are_hatched_on_the_far_side(gap, along):
    motion = mechsim.simulate(BALL % (gap, 0.5, 0.3))
    film, (wall,) = contact_fittings(motion)
    origin, angle, _ = poses(wall, film.frames)
    assert wall.stands_still(film.scene)
    assert np.allclose([np.cos(angle[0]), np.sin(angle[0])], np.array(along) / np.hypot(*along))
    here = {"P.x": origin[0, 0], "P.y": origin[0, 1]}
    value = eval(gap.replace("P.x", "x").replace("P.y", "y"), {"x": here["P.x"], "y": here["P.y"]})
    assert abs(value) < 1e-9


def test_points_at_one_wall_have_one_wall():
    _, walls = contact_fittings(mechsim.simulate(SPECS / "double_pendulum_wall.yaml", tend=0.5))
    assert len(walls) == 1


def test_a_level_that_is_no_line_is_a_curve():
    _, (bowl,) = contact_fittings(mechsim.simulate(BALL % ("P.y - P.x**2 - 0.5", 0.5, 0.3)))
    line = bowl.shapes[0]
    assert np.allclose(line[:, 1], line[:, 0] ** 2 + 0.5, atol=1e-3) and len(bowl.shapes) > 4


def test_a_rope_is_slack_and_then_taut():
    motion = mechsim.simulate(TETHER)
    film, fittings = contact_fittings(motion)
    rope = next(each for each in fittings if isinstance(each.moving, SlackRope))
    lengths = []
    for frame in range(len(film.frames)):
        (line,) = rope.lines(frame)
        lengths.append(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
    apart = np.linalg.norm(film.frames.points["P"], axis=1)
    assert np.allclose(lengths, 1.0, atol=1e-6) and apart[0] < 0.7 and apart[-1] == pytest.approx(1)
    assert rope.lines(0)[0][:, 1].min() < -0.2
    circle = next(each for each in fittings if not each.moving)
    assert len(circle.shapes) > 10 and np.allclose(np.hypot(*np.vstack(circle.shapes).T), 1)


def test_hanging_ends_where_it_is_tied():
    line = hanging(np.array([0.0, 0]), np.array([1.0, 0.5]), 2.0, np.array([0.0, 1]))
    assert np.allclose(line[[0, -1]], [[0, 0], [1, 0.5]])


def test_stops_stand_where_the_part_is_stopped():
    film, stops = contact_fittings(mechsim.simulate(LEVER))
    angles = [poses(stop, film.frames)[1][0] for stop in stops]
    assert np.allclose(sorted(angles), [-0.5, 0.4])
    sides = [
        float(stop.shapes[0][:, 1].mean()) for stop in sorted(stops, key=lambda each: poses(each, film.frames)[1][0])
    ]
    assert sides[0] < 0 < sides[1]
    assert film.frames.marks.places[0] @ [np.cos(0.4), np.sin(0.4)] > 0.1


@pytest.mark.parametrize("form", ["npz", "csv"])
def test_the_force_of_a_contact_that_lasts(resting, form, tmp_path):
    path = resting.trajectory.save(tmp_path / f"ball.{form}")
    film = prepare(load(path), replace(SMALL, show=("reactions", "events")))
    (arrow,) = film.frames.arrows
    rests = film.frames.t > resting.events[-1].t + 1e-9
    assert np.allclose(arrow.vectors[rests], [0, 2 * 9.8], atol=1e-9) and rests.any()
    assert not arrow.vectors[film.frames.t < 1].any()


def test_events_beside_a_csv_are_read(resting, tmp_path):
    told = load(resting.trajectory.save(tmp_path / "ball.csv")).events
    assert [(each.t, each.gap, each.kind, each.impulse) for each in told] == [
        (each.t, each.gap, each.kind, each.impulse) for each in resting.events
    ]
    (tmp_path / "ball.events.csv").write_text("not,a,table\n")
    assert load(tmp_path / "ball.csv").events is None


def test_events_of_another_run_are_not_drawn(resting, bouncing, tmp_path):
    path = bouncing.trajectory.save(tmp_path / "ball.csv")
    table = tmp_path / "ball.events.csv"
    table.write_text(table.read_text().replace("ground", "ceiling"))
    assert prepare(load(path), SMALL).frames.marks is None


def test_a_page_has_both_sides_of_every_impact(bouncing):
    film = prepare(bouncing, SMALL, page=True)
    data = film_of(film.scene, film.frames, bouncing.trajectory, film.options)
    hits = marks_of(bouncing, film.scene).t
    assert np.allclose([start for start, *_ in data["pieces"][1:]], hits)
    numbers = np.frombuffer(base64.b64decode(data["numbers"]), "<f4").reshape(-1, data["count"])
    channel = next(column["channel"] for column in data["columns"] if column["label"] == "P_y")
    first, interval = int(data["pieces"][1][1]), data["pieces"][1][2]
    rates = numbers[2 * channel + 1]
    assert rates[first - 1] / data["pieces"][0][2] == pytest.approx(-rates[first] / interval, rel=1e-4)
    rows = data["events"]["rows"]
    assert [row["kind"] for row in rows[:2]] == ["impact", "event"]
    assert rows[0]["place"] == pytest.approx([0.5 * hits[0], 0], abs=1e-4)


def test_a_page_of_many_impacts_is_small(tmp_path):
    motion = mechsim.simulate(BALL % ("P.y", 1, 300))
    film = prepare(motion, SMALL, page=True)
    page.write(film.scene, film.frames, motion, tmp_path / "page.html", film.options)
    assert len(motion.events) > 300
    assert (tmp_path / "page.html").stat().st_size < 3e6


def test_a_motion_without_events_has_one_piece():
    motion = mechsim.simulate(SPECS.parent / "pendulum.yaml")
    film = prepare(motion, SMALL, page=True)
    data = film_of(film.scene, film.frames, motion.trajectory, film.options)
    assert len(data["pieces"]) == 1 and data["events"] is None


SPACE = """
Dimension: 3
PartData:
  Fixed: {O: [0.3, 0, 0.3]}
  Particles: {P: 1, Q: 1}
AppliedForces: {Gravity: [0, 0, -9.8]}
Contacts: {floor: {gap: P.z, e: 0.8}, ground: {gap: Q.z, e: 0.6}, wall: {gap: 1.2 - P.x - 0.05*sin(6*t), e: 0.8},
           P-O: {radius: 0.3, e: 0.9}}
ProblemData:
  tend: 0.6
  positions: {P: [[-0.2, fixed], [0, fixed], [1.2, fixed]], Q: [[0.8, fixed], [0.6, fixed], [0.9, fixed]]}
  velocities: {P: [[0.5, fixed], [0.1, fixed], [0, fixed]]}
"""


def test_planes_and_balls_in_space():
    from mechsim.render.spatial_barriers import plates, rounds

    motion = mechsim.simulate(SPACE)
    film = prepare(motion, replace(SMALL, renderer="flat"))
    floor, wall = plates(film.scene, film.frames, np.eye(3))  # both points have one floor
    assert np.allclose(floor.normal, [0, 0, 1]) and np.allclose(floor.middle[:, 2], 0) and floor.stands
    assert np.allclose(wall.normal, [-1, 0, 0]) and not wall.stands
    assert np.allclose(wall.middle[:, 0], 1.2 - 0.05 * np.sin(6 * film.frames.t))
    (ball,) = rounds(film.scene, film.frames)
    assert ball.points == ("O",) and ball.radius == pytest.approx(0.3)
    marks = film.frames.marks
    struck = [number for number, event in enumerate(marks.events) if event.gap == "P-O"]
    away = marks.places[struck] - np.array([0.3, 0, 0.3])
    assert len(struck) and np.allclose(np.linalg.norm(away, axis=1), 0.3)
    assert np.allclose(np.cross(away, marks.pushes[struck]), 0, atol=1e-9)  # along the normal
    data = film_of(film.scene, film.frames, motion.trajectory, film.options)
    assert len(data["plates"]) == 2 and len(data["stones"]) == 1
    picture = picture_of(film, film.options)
    assert picture.draw(len(film.frames) - 1).any()


def test_a_part_with_shapes_has_their_outline():
    text = """
PartData:
  Rigids:
    AB: {Geom: [[0.4]], Dyna: [{plate: [0.8, 0.1], density: 5, at: A}, {plate: [0.1, 0.8], density: 5, at: A}]}
    CD: {Geom: [[1]], Dyna: {disc: 0.3, density: 5, at: D}}
ProblemData:
  tend: 0.1
  positions: {A: [[0, fixed], [0, fixed]], C: [[2, fixed], [0, fixed]]}
  angles: {AB: [0, fixed], CD: [0, fixed]}
"""
    cross, paddle = scene_of(mechsim.simulate(text)).parts
    assert len(cross.outline) == 12 and np.allclose(np.abs(cross.outline).max(axis=0), 0.4)
    assert np.allclose(np.abs(cross.outline).min(axis=1), 0.05)
    assert paddle.outline[:, 0].max() == pytest.approx(1.3) and paddle.outline[:, 0].min() < 0  # and a bar to it
