"""The solid picture: meshes and cameras without VTK, and pictures where the extra `solid` is installed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

import mechsim
from mechsim.render import sample, scene_of
from mechsim.render.bodies import Levels, level_of, rgb, seen_points
from mechsim.render.camera import Frame, Shot, fitted, shots, views_of
from mechsim.render.forces import with_arrows
from mechsim.render.frames import with_whole
from mechsim.render.mesh import Mesh, ball, coil, cone, pin, prism, soft_shape
from mechsim.render.options import Options
from mechsim.render.outline import outline_around
from mechsim.render.polygon import counter_clockwise, cross, inset, triangles_of, width_that_fits
from mechsim.render.theme import THEMES
from mechsim.result.journal import OutputError

SIZE = (320, 180)  # pixels: large enough to tell parts from background, small enough to be quick

SQUARE = np.array([[0.0, 0], [2, 0], [2, 1], [0, 1]])
ANGLE = np.array([[0.0, 0], [2, 0], [2, 0.4], [0.4, 0.4], [0.4, 2], [0, 2]])

# Two bars that cross at right angles, each turning about an end of its own; BC is listed last.
CROSSED = """
Title: Crossed
PartData:
  Fixed: {O: [0, 0], B: [1, -1]}
  Rigids:
    OA: {Geom: [[2]], Dyna: [[1], 1, 1]}
    BC: {Geom: [[2]], Dyna: [[1], 1, 1]}
  Springs: {AC: [0.01, 1]}
ProblemData:
  tend: 1
  positions: {A: [2, [0, fixed]], C: [[1, fixed], 1]}
  rates: {OA: [0.2, fixed], BC: [0.1, fixed]}
"""


def is_closed(mesh: Mesh) -> bool:
    """Every edge belongs to one triangle in each direction."""
    faces = mesh.joined[mesh.faces]
    edges = Counter(map(tuple, np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).tolist()))
    return all(count == 1 and edges[(end, start)] == 1 for (start, end), count in edges.items())


def area_of(outline: np.ndarray) -> float:
    return float(cross(outline, np.roll(outline, -1, axis=0)).sum() / 2)


# ---- meshes


@pytest.mark.parametrize("outline", [SQUARE, SQUARE[::-1], ANGLE], ids=["square", "clockwise", "angle"])
@pytest.mark.parametrize("bevel", [0.0, 0.05, 0.3])
def test_prism_is_closed_and_faces_outwards(outline: np.ndarray, bevel: float) -> None:
    mesh = prism(outline, -0.1, 0.3, bevel)
    whole = abs(area_of(outline)) * 0.4
    assert is_closed(mesh)
    assert 0.7 * whole < mesh.volume() <= whole * (1 + 1e-12)  # a bevel takes material away, but not much
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-12)  # a few roundings
    assert mesh.points[:, 2].min() == pytest.approx(-0.1, abs=1e-12)
    assert mesh.points[:, 2].max() == pytest.approx(0.3, abs=1e-12)


def test_prism_without_bevel_has_the_volume_of_area_times_height() -> None:
    assert prism(ANGLE, 0, 0.5, 0).volume() == pytest.approx(0.5 * area_of(ANGLE), rel=1e-14)


@given(st.integers(0, 2**32 - 1), st.integers(5, 40))
@some_of(60)
def test_any_star_shaped_outline_makes_a_closed_prism(seed: int, corners: int) -> None:
    random = np.random.default_rng(seed)
    angle = np.sort(random.uniform(0, 2 * np.pi, corners))
    angle = np.linspace(0, 2 * np.pi, corners, endpoint=False) + 0.5 * (angle - angle.mean()) / corners
    outline = random.uniform(0.3, 1, corners)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    triangles = outline[triangles_of(outline)]
    pieces = cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]) / 2
    assert len(triangles) == corners - 2
    assert (pieces >= 0).all()  # none is turned over, and together they cover the inside exactly once:
    assert pieces.sum() == pytest.approx(area_of(outline), rel=1e-12)
    mesh = prism(outline, 0, 1, 0.02)
    assert is_closed(mesh)
    assert mesh.volume() > 0


def test_outline_of_a_drawn_part_makes_a_closed_prism() -> None:
    arms = np.array([[0.0, 0], [1, 0.2], [0, 0], [-0.5, 0.9], [0, 0], [-0.4, -1]])
    mesh = prism(outline_around(arms, 0.06, drawn=True), 0, 0.05, 0.03)
    assert is_closed(mesh)
    assert mesh.volume() > 0


def test_inset_moves_every_edge_by_the_distance() -> None:
    np.testing.assert_allclose(inset(SQUARE, 0.1), [[0.1, 0.1], [1.9, 0.1], [1.9, 0.9], [0.1, 0.9]], atol=1e-15)


def test_bevel_is_narrowed_to_what_fits() -> None:
    assert width_that_fits(SQUARE, 0.3) == 0.3
    assert width_that_fits(SQUARE, 0.6) == 0.3  # more than half of the narrow side: halved


def test_repeated_corners_are_dropped() -> None:
    assert len(counter_clockwise(np.repeat(SQUARE, 2, axis=0))) == 4


@pytest.mark.parametrize(
    ("mesh", "volume"),
    [
        (pin(1.0, 0, 1, 0.0), np.pi),
        (ball(1.0), 4 / 3 * np.pi),
        (cone(3.0, 1.0), np.pi),
        (coil(10.0, 8, 0.5, 0.05), np.pi * 0.05**2 * np.hypot(8, 8 * np.pi)),
    ],
    ids=["pin", "ball", "cone", "coil"],
)
def test_round_bodies_are_closed_and_nearly_as_large_as_round_ones(mesh: Mesh, volume: float) -> None:
    assert is_closed(mesh)
    assert mesh.volume() == pytest.approx(volume, rel=0.2)  # 6 corners in the circle of a wire lose 17% of its area


def test_coil_reaches_from_end_to_end() -> None:
    points = coil(3.0, 6, 0.4, 0.05).points
    assert points[:, 0].min() == pytest.approx(0, abs=0.051)
    assert points[:, 0].max() == pytest.approx(3, abs=0.051)
    assert np.hypot(points[:, 1], points[:, 2]).max() == pytest.approx(0.45, abs=0.01)


def test_soft_shape_fades_across_its_outline() -> None:
    points, faces, strength = soft_shape(SQUARE, 0.2)
    assert strength[faces].min() == 0 and strength[faces].max() == 1
    assert points[strength == 1].min() == pytest.approx(0.1)
    assert points[strength == 0].min() == pytest.approx(-0.1)


# ---- cameras


def test_views_are_matlabs() -> None:
    above = Shot(0, 90, np.zeros(3), 1)
    np.testing.assert_allclose(above.axes, np.eye(3), atol=1e-15)  # x to the right, y up: view(2)
    front = Shot(0, 0, np.zeros(3), 1)
    np.testing.assert_allclose(front.position, [0, -1, 0], atol=1e-15)
    np.testing.assert_allclose(front.axes[1], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(Shot(90, 0, np.zeros(3), 1).position, [1, 0, 0], atol=1e-15)


@given(st.floats(-180, 180), st.floats(-90, 90), st.integers(0, 10**6))
@some_of(40)
def test_everything_is_inside_the_box_and_reaches_its_edge(azimuth: float, elevation: float, seed: int) -> None:
    seen = np.random.default_rng(seed).normal(size=(30, 3)) * (3, 2, 0.2) + (10, -5, 1)
    box = (40.0, 60.0, 900.0, 640.0)
    shot = fitted((azimuth, elevation), seen, Frame.of((1280, 720), box))
    pixels = shot.pixels(seen, (1280, 720))
    gaps = np.concatenate([pixels.min(axis=0) - box[:2], box[2:] - pixels.max(axis=0)])
    assert gaps.min() == pytest.approx(0, abs=0.01)  # pixels: the fit is a fixed-point iteration that contracts fast
    # Centred in the direction that is not full; the last rounds still move it by less than a pixel.
    np.testing.assert_allclose(gaps[:2], gaps[2:], atol=1)


def test_camera_moves_from_view_to_view_and_keeps_all_in_view() -> None:
    seen = np.random.default_rng(1).normal(size=(40, 3)) * (3, 1, 0.1)
    frame = Frame.of((1280, 720), (36, 66, 1244, 636))
    path = shots(views_of("0,30:90,30:90,80"), seen, frame, 61)
    assert [(round(s.azimuth, 6), round(s.elevation, 6)) for s in (path[0], path[30], path[60])] == [
        (0, 30),
        (90, 30),
        (90, 80),
    ]
    turns = np.diff([shot.azimuth for shot in path])
    assert (turns >= 0).all() and turns.max() < 6  # softly: at most pi/2 times the 3 degrees of an even move
    for shot in path:
        pixels = shot.pixels(seen, (1280, 720))
        assert (pixels >= (35.9, 65.9)).all() and (pixels <= (1244.1, 636.1)).all()


@pytest.mark.parametrize("text", ["", "5", "a,b", "0,30:", "0,30,4", "nan,3", "0;30"])
def test_bad_views_are_explained(text: str) -> None:
    with pytest.raises(OutputError, match="no direction of view") as caught:
        views_of(text)
    assert "azimuth,elevation" in str(caught.value)


def test_missing_pyvista_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    from mechsim.render import solid

    monkeypatch.setattr(solid, "find_spec", lambda name: None)
    with pytest.raises(OutputError, match="pyvista") as caught:
        solid.require_solid()
    assert 'pip install "mechsim[solid]"' in str(caught.value)


# ---- pictures


@pytest.fixture(scope="module")
def crossed(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("solid") / "crossed.yaml"
    path.write_text(CROSSED)
    motion = mechsim.simulate(path, tol=1e-8)
    scene = scene_of(motion)
    frames = sample(motion, np.linspace(0, 1, 7), scene)
    return scene, with_whole(frames, motion, scene, 0, 1)


@pytest.fixture
def draw(crossed):
    pytest.importorskip("pyvista", reason="the extra `solid` is not installed")
    from mechsim.render.solid import SolidPicture

    def picture(index: int = 0, **chosen):
        scene, frames = crossed
        frames = with_arrows(frames, scene, chosen.get("show", ()))
        drawn = SolidPicture(scene, frames, Options(**{"size": SIZE, "speed": 1.0, "show": (), "trace": (), **chosen}))
        pixels = drawn.draw(index).copy()
        shot = drawn.shots[index]
        drawn.close()
        return pixels, shot

    return picture


def colour_at(pixels: np.ndarray, shot: Shot, place: tuple[float, float, float]) -> np.ndarray:
    x, y = shot.pixels(np.array([place]), SIZE)[0]
    return pixels[SIZE[1] - 1 - int(y), int(x), :3] / 255


def hue_distance(colour: np.ndarray, wanted: tuple[float, float, float]) -> float:
    """How far apart two colours are when light and shade are left out of account."""
    return float(np.linalg.norm(colour / np.linalg.norm(colour) - np.array(wanted) / np.linalg.norm(wanted)))


@pytest.mark.parametrize("view", ["0,90", "-20,50", "40,30"])
@pytest.mark.parametrize("index", [0, 6])
def test_parts_are_where_the_motion_has_them(crossed, draw, view: str, index: int) -> None:
    scene, frames = crossed
    pixels, shot = draw(index, view=view)
    assert pixels.shape == (SIZE[1], SIZE[0], 4)
    for part in scene.parts:
        start, end = (frames.points[name][index] for name in part.points)
        place = (*(0.7 * start + 0.3 * end), Levels.of(scene).part(part.layer)[1])
        # Light changes how bright a part is, not its hue; the other part's hue is 0.5 away.
        assert hue_distance(colour_at(pixels, shot, place), rgb(THEMES["light"].parts[part.colour])) < 0.12


def test_the_higher_part_hides_the_lower_one(crossed, draw) -> None:
    scene, _ = crossed
    pixels, shot = draw(0, view="0,90")
    upper = max(scene.parts, key=lambda part: part.layer)
    crossing = (1.0, 0.0, Levels.of(scene).part(upper.layer)[1])
    assert len({part.layer for part in scene.parts}) == 2
    assert hue_distance(colour_at(pixels, shot, crossing), rgb(THEMES["light"].parts[upper.colour])) < 0.12


def test_a_piece_of_a_film_is_as_in_the_whole_film(crossed, draw) -> None:
    from mechsim.render.solid import render_frames

    options = Options(size=SIZE, speed=1.0, trace=("A",), view="0,80:40,40")
    whole = [frame.copy() for frame in render_frames(*crossed, options)]
    piece = [frame.copy() for frame in render_frames(*crossed, options, 3, 5)]
    assert len(whole) == 7 and len(piece) == 2
    np.testing.assert_array_equal(piece[0], whole[3])
    np.testing.assert_array_equal(piece[1], whole[4])
    assert (whole[0] != whole[6]).any()


def test_missing_opengl_is_explained(draw, monkeypatch: pytest.MonkeyPatch) -> None:
    from mechsim.render import solid

    # Without EGL and a display VTK takes its last resort, OSMesa; here neither is found.
    monkeypatch.setattr(solid, "is_there", lambda *libraries: False)
    monkeypatch.setenv("VTK_DEFAULT_OPENGL_WINDOW", "vtkOSOpenGLRenderWindow")
    with pytest.raises(OutputError, match="OpenGL"):
        draw()


def test_themes_traces_arrows_and_words_are_drawn(crossed, draw) -> None:
    light, _ = draw()
    dark, _ = draw(theme="dark")
    np.testing.assert_allclose(light[0, 0, :3] / 255, rgb(THEMES["light"].background), atol=1 / 255)
    np.testing.assert_allclose(dark[0, 0, :3] / 255, rgb(THEMES["dark"].background), atol=1 / 255)
    plain, _ = draw(6)
    for chosen in ({"trace": ("A",)}, {"show": ("time",)}, {"show": ("forces",)}):
        more, _ = draw(6, **chosen)
        assert (more != plain).any()


def test_one_frame_and_a_still_mechanism_can_be_drawn(crossed, draw) -> None:
    from mechsim.render.solid import render_frames

    scene, frames = crossed
    first = replace(
        frames,
        t=frames.t[:1],
        points={name: path[:1] for name, path in frames.points.items()},
        velocities={name: path[:1] for name, path in frames.velocities.items()},
        whole=None,
        poses={name: (origin[:1], angle[:1]) for name, (origin, angle) in frames.poses.items()},
    )
    assert len(list(render_frames(scene, first, Options(size=SIZE, speed=1.0)))) == 1


def test_what_is_seen_holds_all_points(crossed) -> None:
    scene, frames = crossed
    seen = seen_points(scene, frames)
    for path in frames.points.values():
        assert (path >= seen[:, :2].min(axis=0)).all() and (path <= seen[:, :2].max(axis=0)).all()
    assert seen[:, 2].max() >= max(level_of(scene, name) for name in frames.points)


# ---- in space

LEANING = """
Title: Leaning
Dimension: 3
PartData:
  Fixed: {O: []}
  Rigids:
    OAB: {Geom: [[1], [0.2, 0.8]], Dyna: [[0.5, 0.3], 1, [0.1, 0.1, 0.2]]}
    AC: {Geom: [[1]]}
  Particles: {C: 1}
  Springs: {BC: [1, 1]}
AppliedForces: {Gravity: [0, 0, -9.81]}
ProblemData:
  tend: 1
  positions: {A: [0.8, [0, fixed], [0.6, fixed]], B: [0, 0.8, 0], C: [1, 0.5, 1]}
"""


@pytest.fixture(scope="module")
def leaning(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("solid") / "leaning.yaml"
    path.write_text(LEANING)
    motion = mechsim.simulate(path, tol=1e-8)
    scene = scene_of(motion)
    frames = sample(motion, np.linspace(0, 1, 7), scene)
    return scene, with_whole(frames, motion, scene, 0, 1)


@pytest.fixture
def draw_space(leaning, draw):
    from mechsim.render.solid import SolidPicture

    def picture(index: int = 0, **chosen):
        scene, frames = leaning
        frames = with_arrows(frames, scene, chosen.get("show", ()))
        options = Options(**{"size": SIZE, "speed": 1.0, "show": (), "trace": (), "renderer": "solid", **chosen})
        drawn = SolidPicture(scene, frames, options)
        pixels, shot = drawn.draw(index).copy(), drawn.shots[index]
        drawn.close()
        return pixels, shot

    return picture


@pytest.mark.parametrize("view", ["iso", "front", "side", "top", "60,35"])
@pytest.mark.parametrize("index", [0, 6])
def test_bodies_in_space_are_where_the_motion_has_them(leaning, draw_space, view: str, index: int) -> None:
    scene, frames = leaning
    pixels, shot = draw_space(index, view=view)
    for name in frames.points:
        seen = shot.pixels(frames.points[name][[index]], SIZE)[0]
        assert (seen > 0).all() and (seen < SIZE).all()
    # What is nearest to the camera at a point of the particle is the particle, or something before it.
    radius = scene.particles[0].radius
    place = frames.points["C"][index] + 0.9 * radius * shot.axes[2]
    hidden = hue_distance(colour_at(pixels, shot, tuple(place)), rgb(THEMES["light"].trace[0])) > 0.12
    assert not hidden or _something_is_before(frames, shot, index)


def _something_is_before(frames, shot: Shot, index: int) -> bool:
    """Whether a part, or the spring that ends there, passes between the particle and the camera."""
    depth = {name: float(path[index] @ shot.axes[2]) for name, path in frames.points.items()}
    return any(depth[name] > depth["C"] for name in ("A", "B", "O"))


def test_a_piece_of_a_film_in_space_is_as_in_the_whole_film(leaning, draw) -> None:
    from mechsim.render.solid import render_frames

    options = Options(size=SIZE, speed=1.0, trace=("C",), view="orbit", renderer="solid")
    whole = [frame.copy() for frame in render_frames(*leaning, options)]
    piece = [frame.copy() for frame in render_frames(*leaning, options, 3, 5)]
    np.testing.assert_array_equal(piece[0], whole[3])
    np.testing.assert_array_equal(piece[1], whole[4])
    assert (whole[0] != whole[6]).any()


def test_floor_shadows_traces_and_arrows_in_space_are_drawn(leaning, draw_space) -> None:
    light, _ = draw_space(3)
    np.testing.assert_allclose(light[0, 0, :3] / 255, rgb(THEMES["light"].background), atol=1 / 255)
    below, _ = draw_space(3, view="-37.5,-20")  # from below there is no floor
    low = light[-20:, :, :3].astype(int).sum(axis=2)
    assert low.min() < 0.97 * low.max()  # a shadow, or a line of the floor
    assert np.ptp(below[-3:, :3, :3].astype(int)) <= np.ptp(below[0, 0, :3].astype(int)) + 1
    for chosen in ({"trace": ("C",)}, {"show": ("time",)}, {"show": ("forces",)}, {"show": ("reactions",)}):
        more, _ = draw_space(3, **chosen)
        assert (more != light).any()
