"""What parts in space look like: closed surfaces with normals outwards, as large as they should be, where they are."""

from __future__ import annotations

import numpy as np
import pytest

from mechsim.errors import Mark
from mechsim.model.mechanism import Part
from mechsim.render.surfaces import hull_edges, hull_of, pose_of, prism, surface_of
from mechsim.spec.document import Solid
from mechsim.spec.number import Number

HERE = Mark("", 1, 1)
SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))
TURN = np.linalg.qr(np.array([[1.0, 2, 3], [0, 1, 4], [5, 6, 0]]))[0]


def numbers(values):
    return tuple(Number(float(value), str(value), HERE) for value in values)


def part_of(*geometry, solids=()):
    names = tuple("OABCDEFGHIJK"[: len(geometry)])
    return Part("part", "rigid", names, tuple(tuple(map(float, corner)) for corner in geometry), tuple(solids))


def solid(shape, *sizes, at=(1, 2, 3), axes=TURN.T, outline=(), holes=()):
    outline, holes = tuple(map(numbers, outline)), tuple(tuple(map(numbers, hole)) for hole in holes)
    return Solid(shape, numbers(sizes), numbers(at), tuple(map(tuple, axes)), outline, holes)


def assert_closed(surface):
    """Every side of a triangle has a neighbour the other way round, once vertices at one place are one."""
    scale = np.ptp(surface.vertices, axis=0).max()
    _, number = np.unique(np.round(surface.vertices / scale, 9), axis=0, return_inverse=True)
    corners = number.ravel()[surface.triangles]
    sides = np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    assert (sides[:, 0] != sides[:, 1]).all()
    forward, count = np.unique(sides, axis=0, return_counts=True)
    backward, other = np.unique(sides[:, ::-1], axis=0, return_counts=True)
    assert (forward == backward).all() and (count == other).all()


def assert_outward(surface):
    """Normals are of length one, and on the outer side of their triangles."""
    assert np.linalg.norm(surface.normals, axis=1) == pytest.approx(1)
    a, b, c = np.moveaxis(surface.vertices[surface.triangles], 1, 0)
    face = np.cross(b - a, c - a)
    assert (np.einsum("mk,mck->mc", face, surface.normals[surface.triangles]) > 0).all()


def times_inside(surface, point):
    """How often the surface goes around a point, by the solid angles of its triangles (van Oosterom and Strackee)."""
    a, b, c = np.moveaxis(surface.vertices[surface.triangles] - point, 1, 0)
    x, y, z = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    products = [np.einsum("ij,ij->i", *pair) for pair in ((a, b), (b, c), (c, a))]
    angles = 2 * np.arctan2(volume, x * y * z + products[0] * z + products[1] * x + products[2] * y)
    return angles.sum() / (4 * np.pi)


RING = 2 * np.pi**2 * 2 * 0.3**2
SOLIDS = [
    (solid("box", 1, 2, 3), 6, 1e-12),
    (solid("cylinder", 0.5, 2), 0.5 * np.pi, 0.01),
    (solid("sphere", 0.7), 4 / 3 * np.pi * 0.7**3, 0.02),
    (solid("ring", 2, 0.3), RING, 0.03),
    (solid("cone", 0.5, 3), 0.25 * np.pi, 0.01),
    (solid("prism", 0.5, outline=SQUARE), 2, 1e-12),
    (solid("prism", 0.5, outline=SQUARE[::-1]), 2, 1e-12),
    (solid("prism", 2, outline=((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))), 6, 1e-12),
    (solid("prism", 1, outline=SQUARE, holes=[[(0.1, 0.1), (0.4, 0.1), (0.4, 0.6), (0.1, 0.6)],
                                              [(-0.8, -0.8), (-0.8, -0.3), (-0.3, -0.8)]]), 4 - 0.15 - 0.125, 1e-12),
]  # fmt: skip


@pytest.mark.parametrize("shape, volume, rounding", SOLIDS)
def test_shapes_are_closed_and_as_large_as_they_are(shape, volume, rounding):
    surface = surface_of(part_of((0, 0, 0), (1, 0, 0), solids=[shape]), 1.0)
    assert_closed(surface)
    assert_outward(surface)
    assert surface.volume() == pytest.approx(volume, rel=rounding)  # round ones are inscribed


@pytest.mark.parametrize("shape, volume, rounding", SOLIDS[:6])
def test_shapes_are_about_their_centre_of_mass(shape, volume, rounding):
    surface = surface_of(part_of((0, 0, 0), (1, 0, 0), solids=[shape]), 1.0)
    a, b, c = np.moveaxis(surface.vertices[surface.triangles], 1, 0)
    six_volumes = np.einsum("ij,ij->i", a, np.cross(b, c))
    centre = (six_volumes[:, None] * (a + b + c)).sum(axis=0) / 4 / six_volumes.sum()
    assert centre == pytest.approx([1, 2, 3], abs=0.01)


def test_shapes_stand_along_their_axes():
    """The cone's height is along the third of its axes, its tip three quarters of it above the centre of mass."""
    surface = surface_of(part_of((0, 0, 0), (1, 0, 0), solids=[solid("cone", 0.5, 4)]), 1.0)
    height = (surface.vertices - [1, 2, 3]) @ TURN[:, 2]
    assert (height.min(), height.max()) == pytest.approx((-1, 3))


def test_many_holes():
    """A plate with a grid of round holes, which ears are cut from over bridges."""
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    hole = 0.1 * np.column_stack([np.cos(angle), np.sin(angle)])
    holes = [hole + np.array([x, y]) for x in (-0.6, 0, 0.6) for y in (-0.6, 0, 0.6)]
    surface = prism(np.array(SQUARE, float), holes, 1.0)
    assert_closed(surface)
    assert_outward(surface)
    assert surface.volume() == pytest.approx(4 - 9 * 0.01 * 6 * np.sin(np.pi / 6))
    assert len(surface.edges) == 4 * 3 + 9 * 12 * 2  # corners of the square are sharp, those of round holes not


@pytest.mark.parametrize(
    "geometry",
    [
        [(0, 0, 0)],
        [(0, 0, 0), (2, 0, 0)],
        [(0, 0, 0), (-2, 0, 0), (1, 0, 0)],
        [(0, 0, 0), (1, 0, 0), (0, 1, 0)],
        [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0)],
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.2, 0.2, 0.2)],
    ],
)
def test_parts_of_points_alone(geometry):
    """Closed, outward, and around every point, but no thicker than a bar beyond them."""
    surface = surface_of(part_of(*geometry), 1.0)
    assert_closed(surface)
    assert_outward(surface)
    places = np.array(geometry, float)
    assert all(times_inside(surface, place) > 0.5 for place in places)
    assert (surface.vertices.min(axis=0) > places.min(axis=0) - 0.08).all()
    assert (surface.vertices.max(axis=0) < places.max(axis=0) + 0.08).all()


def test_a_plate_is_thin_and_a_frame_leaves_sight():
    """Volumes by hand: a triangle of bars with a plate; a tetrahedron has six bars and nothing between them."""
    radius = 0.032
    plate = surface_of(part_of((0, 0, 0), (1, 0, 0), (0, 1, 0)), 1.0)
    bars = np.pi * radius**2 * (2 + np.sqrt(2)) + 3 * 4 / 3 * np.pi * radius**3
    assert plate.volume() == pytest.approx(bars + 0.5 * 0.7 * radius, rel=0.02)
    frame = surface_of(part_of((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), 1.0)
    assert frame.volume() == pytest.approx(np.pi * radius**2 * 3 * (1 + np.sqrt(2)) + 8 * np.pi * radius**3, rel=0.03)


def test_hulls():
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    assert len(hull_edges(cube)) == 12
    assert len(hull_edges(np.vstack([cube, [[0.5, 0.5, 0.5], [0.5, 0.5, 0]]]))) == 12
    assert hull_of(np.array([[0, 0], [1, 0], [2, 0], [2, 2], [1, 0.5], [0, 2]], float)) == [0, 2, 3, 5]


def turns(count):
    """Rotations in general position."""
    matrices = np.linalg.qr(np.random.default_rng(3).normal(size=(count, 3, 3)))[0]
    matrices[:, :, 0] *= np.linalg.det(matrices)[:, None]
    return matrices


@pytest.mark.parametrize(
    "geometry",
    [
        [(0, 0, 0), (1, 0, 0), (0.3, 1, 0)],
        [(0, 0, 0), (2, 0, 0), (-1, 0, 0), (0.5, 0.1, 0)],
        [(0, 0, 0), (2, 0, 0), (0.5, 0.1, 0), (1, 2, 3)],
    ],
)
def test_poses_of_bodies(geometry):
    rotation, origin = turns(7), np.random.default_rng(4).normal(size=(7, 3))
    part = part_of(*geometry)
    places = origin[:, None] + np.einsum("tij,pj->tpi", rotation, np.array(geometry, float))
    found = pose_of(part, {name: places[:, k] for k, name in enumerate(part.points)})
    assert found[0] == pytest.approx(origin)
    assert found[1] == pytest.approx(rotation)


def test_poses_of_rods_and_points():
    """A rod's points are where they are; its frame is right-handed at any place, also for a single moment."""
    part = part_of((0, 0, 0), (2, 0, 0), (-1, 0, 0))
    along = turns(9)[:, :, 0]
    _, rotation = pose_of(part, {"O": np.zeros((9, 3)), "A": 2 * along, "B": -along})
    assert rotation[:, :, 0] == pytest.approx(along)
    assert np.linalg.det(rotation) == pytest.approx(1)
    assert rotation @ np.swapaxes(rotation, 1, 2) == pytest.approx(np.broadcast_to(np.eye(3), (9, 3, 3)))
    _, single = pose_of(part, {"O": np.zeros(3), "A": np.array([0, 0, 2.0]), "B": np.array([0, 0, -1.0])})
    assert single[:, 0] == pytest.approx([0, 0, 1])
    _, still = pose_of(part_of((0, 0, 0)), {"O": np.ones((4, 3))})
    assert still.shape == (4, 3, 3)
