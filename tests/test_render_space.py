"""Pictures of mechanisms in space: poses, joints by their symbols, views, projections, shadows, forces, plots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mechsim
from mechsim.render import sample, scene_of
from mechsim.render.couplings import named_joints
from mechsim.render.film import animate, prepare
from mechsim.render.floor import Floor, fading
from mechsim.render.forces import with_arrows
from mechsim.render.frames import Frames, with_whole
from mechsim.render.hardware import things_of
from mechsim.render.joints import joints_of
from mechsim.render.mesh import ball, bar, hose, prism
from mechsim.render.options import Options
from mechsim.render.placements import moved, spanning, turned_along
from mechsim.render.plot import PlotOptions, plot
from mechsim.render.poses import all_placed, placed, pose, shortest_turn
from mechsim.render.projected import ProjectedPicture
from mechsim.render.scene import Scene
from mechsim.render.shade import SIDE, Shade
from mechsim.render.sketch import Sketch
from mechsim.render.space import SpaceSet, fine_times, fine_way
from mechsim.render.spatial_arrows import pointers
from mechsim.render.theme import THEMES
from mechsim.render.things import Kit, Thing
from mechsim.render.views import NAMED, check_view, spatial_views, turned_upright, upright
from mechsim.result.journal import OutputError

SIZE = (320, 180)

# A body that turns on two fixed points, another on a line of the first, a rod on that, and a ball at its end.
SWING = """
Title: Swing
Dimension: 3
PartData:
  Fixed: {A: [0, 0, 0], B: [0, 0.6, 0]}
  Rigids:
    ABCD: {Geom: [[0.6], [0.1, 1.0], [0.5, 0.8]], Dyna: [[0.3, 0.6, 0], 1, [0.1, 0.05, 0.15]]}
    CDE: {Geom: [["sqrt(0.2)"], [0.2, 0.9]], Dyna: [[0.2, 0.4, 0], 1, [0.05, 0.02, 0.06]]}
    EF: {Geom: [[0.5]]}
  Particles: {F: 0.3}
  Springs: {FB: [2, 1]}
AppliedForces:
  Gravity: [0, 0, -9.81]
  ConstForces: {F: [0, 1, 0]}
ProblemData:
  tend: 0.5
  positions: {C: [1, 0.1, 0], D: [0.8, 0.5, 0], E: [1.5, 0.8, 0.4], F: [1.6, 1.2, 0.2]}
"""

TOP = """
Dimension: 3
PartData:
  Fixed: {O: []}
  Rigids: {OAB: {Geom: [[1], [0, 1]], Dyna: [[0, 1], 15, [0.234375, 0.46875, 0.234375]]}}
AppliedForces: {Gravity: [0, GY, GZ]}
ProblemData:
  tend: 0.2
  positions: {A: [1, [0, fixed], [0, fixed]], B: [0, 1, [0, fixed]]}
  velocities: {A: [0, -4.61538, -150], B: [4.61538, 0, 0]}
"""


def motion_of(text: str, folder: Path):
    path = folder / "spec.yaml"
    path.write_text(text)
    return mechsim.simulate(path, tol=1e-8)


@pytest.fixture(scope="module")
def swing(tmp_path_factory: pytest.TempPathFactory):
    return motion_of(SWING, tmp_path_factory.mktemp("space"))


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory):
    return motion_of(TOP.replace("GY", "0").replace("GZ", "-9.81"), tmp_path_factory.mktemp("space"))


def framed(motion, count: int = 5) -> tuple[Scene, Frames]:
    scene = scene_of(motion)
    t = motion.trajectory.t
    frames = sample(motion, np.linspace(t[0], t[-1], count), scene)
    return scene, with_whole(frames, motion, scene, float(t[0]), float(t[-1]))


def things(scene: Scene, frames: Frames) -> list[Thing]:
    return things_of(Kit(scene, frames, THEMES["light"]))


# ---- poses and placements


def test_a_pose_in_space_is_that_of_the_points(swing) -> None:
    scene, frames = framed(swing)
    for body in scene.parts:
        where = frames.poses[body.name]
        for index in range(len(frames)):
            corners = placed(body.local, where, index)
            for name, corner in zip(body.points, corners, strict=True):
                np.testing.assert_allclose(corner, frames.points[name][index], atol=1e-7)  # as far as parts are rigid
            np.testing.assert_allclose(all_placed(body.local, where)[index], corners, atol=1e-14)
            assert np.linalg.det(where[1][index]) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_points_on_a_line_have_a_pose_too(count: int) -> None:
    local = np.outer(np.arange(count), [1.0, 0, 0])
    world = np.stack([np.outer(np.arange(count), way) for way in np.vstack([np.eye(3), -np.eye(3)])]) + 0.5
    origin, turn = pose(local, world)
    np.testing.assert_allclose(origin[:, None] + local @ turn.transpose(0, 2, 1), world, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(turn), 1, atol=1e-12)


def test_the_shortest_turn_carries_one_vector_to_the_other() -> None:
    random = np.random.default_rng(3)
    start, end = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in random.normal(size=(2, 40, 3)))
    end[0], end[1] = -start[0], start[1]
    turn = shortest_turn(start, end)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", turn, start), end, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(turn), 1, atol=1e-12)
    angle = np.arccos(np.clip((np.trace(turn, axis1=1, axis2=2) - 1) / 2, -1, 1))
    np.testing.assert_allclose(angle, np.arccos(np.clip((start * end).sum(axis=1), -1, 1)), atol=1e-6)


def test_what_spans_two_points_reaches_from_one_to_the_other() -> None:
    start, end = np.zeros((3, 3)), np.array([[1.0, 0, 0], [0, 2, 0], [-1, 0, 1]])
    ends = moved(np.array([[0.0, 0, 0], [5.0, 0, 0]]), spanning(start, end, 5.0))
    np.testing.assert_allclose(ends[:, 0], start, atol=1e-12)
    np.testing.assert_allclose(ends[:, 1], end, atol=1e-12)


def test_a_thing_along_a_way_does_not_spin_about_it() -> None:
    angle = np.linspace(0, 1.5, 200)
    turns = turned_along(np.column_stack([np.cos(angle), np.sin(angle), np.zeros(200)]))
    np.testing.assert_allclose(turns[:, 2, 2], turns[0, 2, 2], atol=1e-9)  # in a plane the normal stays what it is


# ---- joints and things


def test_joints_are_told_by_what_parts_share(swing) -> None:
    scene, _ = framed(swing)
    found = {(joint.kind, frozenset(joint.points), joint.parts) for joint in joints_of(scene)}
    assert found == {
        ("hinge", frozenset("AB"), ("", "ABCD")),
        ("hinge", frozenset("CD"), ("ABCD", "CDE")),
        ("ball", frozenset("E"), ("CDE", "EF")),
    }


def test_everything_of_the_file_is_drawn_as_a_closed_solid(swing) -> None:
    scene, frames = framed(swing)
    drawn = things(scene, frames)
    names = {thing.name for thing in drawn}
    assert {"ABCD", "CDE", "EF", "F", "FB", "E", "hinge CD", "ground A", "ground B"} <= names
    for thing in drawn:
        assert thing.mesh.volume() > 0
        assert thing.matrices.shape == (len(frames), 4, 4)
        assert np.isfinite(thing.matrices).all()
    hinges = [thing.colour for thing in drawn if thing.name == "hinge CD"]
    assert {THEMES["light"].parts[0], THEMES["light"].parts[1]} <= set(hinges)  # knuckles of both parts


NAMED_JOINTS = {
    "hinge": ("Hinges: {AB-AE: []}", "AEFG", ", E: [1.2, 0.2, 0.4]"),
    "universal": ("Universals: {AB-AE: []}", "AEFG", ", E: [0.1, 1, 1]"),
    "cylinder": ("Cylinders: {EF-AB: []}", "EFGH", ", E: [0.4, 0.2, 0.3], F: [1.5, 0.2, 0.4], G: [0.5, 1, 0.3]"),
    "prism": ("Sliders: {EFG-ABC: []}", "EFGH", ", E: [0.4, 0.2, 0.3], F: [1.5, 0.2, 0.4], G: [0.5, 1, 0.3]"),
    "screw": ("Screws: {EFG-ABC: 0.3}", "EFGH", ", E: [0.4, 0.2, 0.3], F: [1.5, 0.2, 0.4], G: [0.5, 1, 0.3]"),
    "plane": ("Planes: {EFG-ABC: [0.1]}", "EFGH", ", E: [0.4, 0.2, 0.3], F: [1.5, 0.2, 0.4], G: [0.5, 1, 0.3]"),
}


@pytest.mark.parametrize("sort", NAMED_JOINTS)
def test_joints_that_are_named_have_symbols_at_their_places(sort: str, tmp_path: Path) -> None:
    joints, name, guesses = NAMED_JOINTS[sort]
    text = f"""
Dimension: 3
PartData:
  Rigids:
    ABCD: {{Geom: [[1], [0.2, 0.9], [0.3, 0.1, 0.8]], Dyna: [[0.3, 0.25, 0.2], 2, [0.5, 0.6, 0.7]]}}
    {name}: {{Geom: [[1.1], [-0.1, 0.8], [0.4, 0.3, -0.7]], Dyna: [[0.2, 0.3, -0.1], 3, [0.9, 0.8, 1]]}}
Joints: {{{joints}}}
ProblemData:
  tend: 0.1
  positions: {{A: [0.1, 0.2, 0.3], B: [1, 0.2, 0.4], C: [0.2, 1, 0.2]{guesses}}}
"""
    scene, frames = framed(motion_of(text, tmp_path), 2)
    kit = Kit(scene, frames, THEMES["light"])
    symbols = list(named_joints(kit))
    assert symbols
    clouds = np.vstack([moved(thing.mesh.points, thing.matrices)[0] for thing in symbols])
    for point in "A" if name.startswith("A") else "EF":  # the symbol is around the points that the joint holds
        place = frames.points[point][0]
        assert (clouds.min(axis=0) < place).all() and (place < clouds.max(axis=0)).all()


# ---- views


@pytest.mark.parametrize(
    ("view", "right", "up"), [("front", 0, 2), ("side", 1, 2), ("top", 0, 1)], ids=["front", "side", "top"]
)
def test_views_have_their_axes(swing, view: str, right: int, up: int) -> None:
    scene, frames = framed(swing)
    picture = ProjectedPicture(scene, frames, Options(size=SIZE, speed=1.0, renderer="flat", view=view))
    np.testing.assert_allclose(picture.axes[:2], np.eye(3)[[right, up]], atol=1e-15)


def test_the_usual_view_is_three_quarters_and_a_file_may_choose(swing) -> None:
    scene, _ = framed(swing)
    assert spatial_views(scene, Options(renderer="solid")) == (NAMED["iso"],)
    assert spatial_views(replace(scene, view=(10.0, 20.0)), Options(renderer="solid")) == ((10.0, 20.0),)
    assert spatial_views(scene, Options(view="front:30,20")) == (NAMED["front"], (30.0, 20.0))
    orbit = spatial_views(scene, Options(view="orbit"))
    assert orbit[1][0] - orbit[0][0] == 360


@pytest.mark.parametrize("view", ["upside", "1,2,3,4", "front:", "front,iso"])
def test_views_that_are_none_are_explained(swing, view: str) -> None:
    scene, _ = framed(swing)
    with pytest.raises(OutputError) as caught:
        check_view(scene, Options(view=view, renderer="solid"))
    assert "front, side, top, iso" in caught.value.faults[0].hint


def test_the_flat_picture_makes_no_move(swing) -> None:
    scene, _ = framed(swing)
    with pytest.raises(OutputError, match="move"):
        check_view(scene, Options(view="orbit", renderer="flat"))


@pytest.mark.parametrize("renderer", ["flat", "solid"])
def test_the_plane_is_seen_from_no_side(tmp_path: Path, renderer: str) -> None:
    scene = scene_of(mechsim.simulate(Path(__file__).parent.parent / "specs" / "pendulum.yaml", tend=0.1))
    with pytest.raises(OutputError) as caught:
        check_view(scene, Options(view="front", renderer=renderer))
    assert "plane" in caught.value.faults[0].message and "X0,X1,Y0,Y1" in caught.value.faults[0].hint


def test_gravity_is_down_in_every_picture(top, tmp_path: Path) -> None:
    straight = scene_of(top)
    np.testing.assert_array_equal(upright(straight), np.eye(3))
    scene, frames = framed(motion_of(TOP.replace("GY", "-9.81").replace("GZ", "0"), tmp_path), 3)
    np.testing.assert_allclose(upright(scene) @ [0, 1, 0], [0, 0, 1], atol=1e-12)
    turned = turned_upright(scene, frames)
    np.testing.assert_allclose(turned.points["A"], frames.points["A"] @ upright(scene).T, atol=1e-12)
    body = scene.parts[0]
    np.testing.assert_allclose(placed(body.local, turned.poses["OAB"], 2)[1], turned.points["A"][2], atol=1e-7)


# ---- flat pictures


def test_a_sketch_of_a_cube_has_its_outline_and_edges() -> None:
    cube = prism(np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]]), -1, 1, 0.0)
    covered, outline, edges = Sketch.of(cube).paths(cube.points[:, :2])
    assert np.ptp(covered.vertices, axis=0).tolist() == [2, 2]
    assert len(outline.vertices) == 2 * 4 and len(edges.vertices) == 0
    slanted = cube.points[:, :2] + 0.3 * cube.points[:, 2:]
    _, outline, edges = Sketch.of(cube).paths(slanted)
    assert len(outline.vertices) == 2 * 6 and len(edges.vertices) == 2 * 3  # a hexagon, and a corner in it


def test_points_are_inside_the_flat_picture_and_parts_at_their_places(swing) -> None:
    scene, frames = framed(swing)
    for view in NAMED:
        options = Options(size=(640, 360), speed=1.0, view=view, renderer="flat", trace=(), show=())
        picture = ProjectedPicture(scene, frames, options)
        for path in picture.frames.motion.points.values():
            seen = picture._seen(path)
            assert (seen > 0).all() and (seen < (640, 360)).all()
        pixels = picture.draw(4)
        where = picture._seen(frames.points["F"][4][None])[0]
        paper = np.array([int(THEMES["light"].background[place : place + 2], 16) for place in (1, 3, 5)])
        assert np.abs(pixels[359 - int(where[1]), int(where[0]), :3] - paper).max() > 50  # the particle, or a rod on it


def test_a_nearer_thing_hides_a_farther_one(swing) -> None:
    scene, frames = framed(swing)
    near = ProjectedPicture(scene, frames, Options(size=SIZE, view="front", renderer="flat", trace=(), show=()))
    order = sorted(near.looks, key=lambda look: near._nearness(look, 0))
    depths = [near._nearness(look, 0) for look in order]
    assert depths == sorted(depths)
    ends = [look.thing.name for look in order]
    assert ends.index("ground A") > ends.index("ground B")  # B is behind A, at a larger y


def test_stills_and_films_of_projections_are_written(swing, tmp_path: Path) -> None:
    options = Options(size=SIZE, renderer="flat", view="top", show=("time", "forces", "reactions", "energy"))
    film = animate(swing, tmp_path / "sheet.png", replace(options, frames=2))
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")
    assert {arrow.label for arrow in film.frames.arrows} >= {"F on F", "on ABCD at A"}


# ---- forces


def test_arrows_of_forces_reach_as_far_as_they_are_strong(swing) -> None:
    scene, frames = framed(swing)
    frames = with_arrows(frames, scene, ("forces",))
    from mechsim.render.forces import Strength

    strength = Strength.of(frames, scene)
    pushed = next(arrow for arrow in frames.arrows if arrow.label == "F on F")
    np.testing.assert_allclose(pushed.vectors, np.tile([0, 1, 0], (len(frames), 1)), atol=1e-12)
    drawn = [thing for thing in pointers(frames, THEMES["light"], strength, 0.5) if thing.name == "F on F"]
    tip = max(moved(thing.mesh.points, thing.matrices)[0][:, 1].max() for thing in drawn)
    assert tip - frames.points["F"][0, 1] == pytest.approx(0.5 / strength.force, rel=0.03)  # but for its blunt point


def test_a_torque_in_space_turns_about_its_vector(tmp_path: Path) -> None:
    text = TOP.replace("GY", "0").replace("GZ", "-9.81").replace("AppliedForces: {", "AppliedForces: {TORQUE, ")
    motion = motion_of(text.replace("TORQUE", "ConstTorques: {OAB: [1, 2, 3]}"), tmp_path)
    scene, frames = framed(motion, 3)
    arrow = next(arrow for arrow in with_arrows(frames, scene, ("forces",)).arrows if arrow.is_torque)
    np.testing.assert_allclose(arrow.vectors, np.tile([1, 2, 3], (3, 1)), atol=1e-5)  # parts are rigid to the tolerance
    np.testing.assert_allclose(arrow.strengths, np.sqrt(14), atol=1e-5)


# ---- floor, shadows, traces


def test_a_shadow_falls_away_from_the_light() -> None:
    still = np.tile(np.eye(4), (1, 1, 1))
    still[0, 2, 3] = 1.0
    seen = np.array([[-2.0, -2, 0], [2, 2, 2]])
    shade = Shade.of([Thing("ball", ball(0.3), still, "#000000")], seen, 0.0, np.array([-1.0, 0, 1]))
    dark = shade.draw(0).astype(float)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    middle = [float((dark * each).sum() / dark.sum()) for each in (columns, rows)]
    place = (np.array(middle) + 0.5) / SIDE * 2 * shade.half - shade.half + shade.centre[:2]
    np.testing.assert_allclose(place, [1.0, 0.0], atol=2 * shade.half / SIDE)
    cell = (2 * shade.half / SIDE) ** 2
    assert dark.sum() / 255 * cell == pytest.approx(np.pi * 0.3**2 * np.sqrt(2), rel=0.1)  # an ellipse, of few corners


def test_what_is_bent_throws_its_own_shadow() -> None:
    still = np.tile(np.eye(4), (1, 1, 1))
    corner = np.array([[0.0, 0], [2, 0], [2, 0.4], [0.4, 0.4], [0.4, 2], [0, 2]])
    thing = Thing("angle", prism(corner, 0, 0.1, 0.0), still, "#000000")
    shade = Shade.of([thing], np.array([[-1.0, -1, 0], [3, 3, 0.5]]), 0.0, np.array([0.0, 0, 1]))
    cell = (2 * shade.half / SIDE) ** 2
    assert shade.draw(0).sum() / 255 * cell == pytest.approx(0.4 * 2 + 0.4 * 1.6, rel=0.05)


def test_the_floor_is_below_everything_and_fades(swing) -> None:
    scene, frames = framed(swing)
    space = SpaceSet(scene, frames, THEMES["light"], Options(renderer="solid"))
    floor: Floor = space.floor
    for path in frames.motion.points.values():
        assert (path[:, 2] > floor.centre[2]).all()
        assert (np.linalg.norm(path[:, :2] - floor.centre[:2], axis=1) < floor.radius).all()
    assert fading(np.array([0.0, 0.3, 1.0, 2.0])).tolist() == [1, 1, 0, 0]
    points, faces = floor._lines()
    a, b, c = np.moveaxis(points[faces], 1, 0)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()  # all of it faces up


def test_the_camera_sees_all_solids(swing) -> None:
    scene, frames = framed(swing)
    space = SpaceSet(scene, frames, THEMES["light"], Options(renderer="solid"))
    low, high = space.seen.min(axis=0), space.seen.max(axis=0)
    for thing in things(scene, frames):
        cloud = moved(thing.mesh.points, thing.matrices).reshape(-1, 3)
        least = 0.01 * np.ptp(space.seen, axis=0).max()  # the outermost in sixty directions
        assert (cloud > low - least).all() and (cloud < high + least).all()


def test_a_trace_is_finer_than_the_motion_is_sampled(top) -> None:
    _, frames = framed(top)
    times, way = fine_times(frames.motion), fine_way(frames.motion, "A")
    assert len(times) == len(way) == 4 * (len(frames.motion) - 1) + 1
    np.testing.assert_allclose(np.linalg.norm(way, axis=1), 1, atol=1e-4)  # by cubics, on a sphere


def test_a_hose_follows_a_path_that_stands_still_at_times() -> None:
    path = np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
    points = hose(path, 0.1, 6).reshape(5, 6, 3)
    assert np.isfinite(points).all()
    np.testing.assert_allclose(np.linalg.norm(points - path[:, None], axis=2), 0.1, atol=1e-12)


def test_a_bar_is_closed_and_lies_along_x() -> None:
    mesh = bar(1.0, 3.0, 0.2, 0.0, 200)
    assert mesh.volume() == pytest.approx(2 * np.pi * 0.2**2, rel=1e-3)
    assert mesh.points[:, 0].min() == 1.0 and mesh.points[:, 0].max() == 3.0


# ---- choices and plots


def test_space_is_solid_unless_asked_otherwise(swing, monkeypatch: pytest.MonkeyPatch) -> None:
    from mechsim.render import solid

    monkeypatch.setattr(solid, "require_solid", lambda: None)
    assert prepare(swing, Options()).options.renderer == "solid"
    assert prepare(swing, Options(renderer="flat")).options.renderer == "flat"


def test_plots_have_z_and_paths_from_three_sides(swing, tmp_path: Path) -> None:
    trajectory = swing.trajectory
    plot([("a", trajectory)], tmp_path / "all.svg", PlotOptions())
    text = (tmp_path / "all.svg").read_text()
    assert "<!-- z" in text and "<!-- Energies" in text
    plot([("a", trajectory)], tmp_path / "path.svg", PlotOptions(path=("F",)))
    text = (tmp_path / "path.svg").read_text()
    for words in ("front view", "top view", "side view", "z / m"):
        assert words in text


def test_a_curve_in_space_is_a_wire_that_its_point_runs_on(tmp_path: Path) -> None:
    text = """
Dimension: 3
PartData: {Particles: {P: 1}}
Joints: {Curves: {P: {x: cos(s), y: sin(s), z: -0.2*s, s: 0.5}}}
AppliedForces: {Gravity: }
ProblemData: {tend: 1, positions: {P: [0.877, 0.479, -0.1]}}
"""
    scene, frames = framed(motion_of(text, tmp_path), 3)
    wire = next(thing for thing in things(scene, frames) if thing.name == "curve of P")
    points = moved(wire.mesh.points, wire.matrices)[0]
    for place in frames.points["P"]:
        assert np.linalg.norm(points - place, axis=1).min() < 0.05
