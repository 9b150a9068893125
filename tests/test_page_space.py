"""The page of a mechanism in space, as far as Python writes it: what is told of parts, joints and the motion."""

from __future__ import annotations

import base64
import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import mechsim
from mechsim.errors import Mark
from mechsim.render.film import animate
from mechsim.render.frames import sample
from mechsim.render.options import Options
from mechsim.render.page.document import scripts
from mechsim.render.page.packing import packed
from mechsim.render.page.samples import Fineness, fineness_of, has_room
from mechsim.render.page.space import in_space
from mechsim.render.scene import scene_of
from mechsim.render.surfaces import pose_of, surface_of
from mechsim.spec.document import Solid
from mechsim.spec.number import Number

# A door on two fixed points, a rod on a ball at its corner, a spring from there to a fixed point above, a free end.
DOOR = """
Title: door
Dimension: 3
PartData:
  Fixed: {O: [], P: [0, 0, 1], Q: [1, 1, 2]}
  Rigids:
    OPA: {Geom: [[1], [0.5, 0.8]], Dyna: [[0.5, 0.3], 2, [0.2, 0.2, 0.4]]}
    AB: {Geom: [[0.7]], Dyna: [[0.3], 1, 0.1]}
    ABC: {Geom: [[0.7], [0.1, 0.4]], Dyna: [[0.3, 0.1], 1, [0.1, 0.1, 0.2]]}
  Springs: {AQ: [3, 0.5]}
  Particles: {B: 0.5}
AppliedForces: {Gravity: [0, 0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0.8, 0, 0.5], B: [1.5, 0, 0.5], C: [0.9, 0.4, 0.5]}}
"""


@pytest.fixture(scope="module")
def door():
    return mechsim.simulate(DOOR)


@pytest.fixture(scope="module")
def text(door, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "door.html"
    animate(door, path, Options())
    return path.read_text()


@pytest.fixture(scope="module")
def film(text):
    return json.loads(re.search(r'<script type="application/json" id="film">(.*?)</script>', text, re.S)[1])


def test_needs_nothing_for_solid_pictures(text):
    """The page is drawn in the browser, by a script of our own, from the one file."""
    assert "default-src 'none'" in text and "webgl2" in text
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == []
    assert len(text) < 400_000


def test_flat_pages_have_no_script_for_space(tmp_path):
    motion = mechsim.simulate("PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}}}\n"
                              "ProblemData: {tend: 1, positions: {A: [1, 0]}}")  # fmt: skip
    assert "renderer.js" not in scripts(scene_of(motion)) and "flat.js" in scripts(scene_of(motion))
    animate(motion, tmp_path / "page.html", Options())
    assert "webgl2" not in (tmp_path / "page.html").read_text()


def test_points_have_three_channels(film, door):
    assert film["dimension"] == 3
    point = next(each for each in film["points"] if each["name"] == "B")
    numbers = np.frombuffer(base64.b64decode(film["numbers"]), "<f4").reshape(-1, 2, film["count"]).astype(float)
    times = np.linspace(film["start"], film["end"], film["count"])
    for channel, values in zip(point["channels"], door(times)["B"].T, strict=True):
        assert numbers[channel, 0] + film["offsets"][channel] == pytest.approx(values, abs=1e-6)
    assert film["plots"][1] == ["C_x", "C_y", "C_z"]


def test_joints_have_their_symbols(film):
    """Two points in common are a hinge; one is a ball, unless a particle is there; ends of one part are marks."""
    assert sorted(sorted(hinge["points"]) for hinge in film["hinges"]) == [["A", "B"], ["O", "P"]]
    assert [ball["point"] for ball in film["balls"]] == ["Q"]
    assert [mark["point"] for mark in film["marks"]] == ["C"]
    assert [particle["point"] for particle in film["particles"]] == ["B"]
    assert {foot["point"]: foot["side"] for foot in film["feet"]} == {"O": -1, "P": 1, "Q": 1}
    assert [spring["points"] for spring in film["springs"]] == [["A", "Q"]]


def test_pieces_are_the_surface_of_the_part(film, door):
    """A bar of the page, stretched and swollen, is where the surface of the same part is."""
    scene = scene_of(door)
    part = next(part for part in scene.mechanism.parts if part.name == "AB")
    (piece,) = next(body for body in film["bodies"] if body["name"] == "AB")["pieces"]
    along = np.array(piece["axes"][6:]) / 2
    ends = np.array([np.array(piece["at"]) - along, np.array(piece["at"]) + along])
    assert sorted(ends[:, 0]) == pytest.approx([0, 0.7])
    vertices = surface_of(part, scene.size).vertices
    assert vertices[:, 0].max() == pytest.approx(0.7 + piece["swell"])


def test_the_picture_holds_the_motion(film, door):
    """No place of the motion is beyond the outermost ones in any direction, but for what lies between directions."""
    scene = scene_of(door)
    frames = sample(door, np.linspace(0, 1, 50), scene)
    cloud = np.array(film["cloud"])
    low, high = np.array(film["bounds"][:3]), np.array(film["bounds"][3:])
    for direction in np.random.default_rng(2).normal(size=(40, 3)):
        direction /= np.linalg.norm(direction)
        assert max((places @ direction).max() for places in frames.points.values()) < (cloud @ direction).max() + 0.01
    for places in frames.points.values():
        assert (places > low).all() and (places < high).all()


def test_shapes_of_parts_are_told_and_seen(door):
    """A part with a prism has a mesh, equal ones share it; a large box makes the picture larger."""
    here = Mark("", 1, 1)

    def numbers(*values):
        return tuple(Number(float(value), str(value), here) for value in values)

    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    outline = tuple(numbers(*corner) for corner in ((0, 0), (1, 0), (0, 1)))
    prism = Solid("prism", numbers(0.1), numbers(0, 0, 0), axes, outline)
    other = replace(prism, at=numbers(0, 0, 1))
    box = Solid("box", numbers(6, 0.1, 0.2), numbers(0, 0, 0), axes)
    scene = scene_of(door)
    shapes = {"OPA": (prism, other), "ABC": (box,)}
    parts = tuple(replace(part, solids=shapes.get(part.name, ())) for part in scene.mechanism.parts)
    shaped = replace(scene, mechanism=replace(scene.mechanism, parts=parts))
    frames = sample(door, np.linspace(0, 1, 20), scene)
    film, plain = in_space(shaped, frames), in_space(scene, frames)
    assert [piece["mesh"] for piece in film["bodies"][0]["pieces"]] == [0, 0] and len(film["meshes"]) == 1
    (piece,) = film["bodies"][2]["pieces"]
    assert piece["mesh"] == "box" and piece["axes"] == [6, 0, 0, 0, 0.1, 0, 0, 0, 0.2] and piece["swell"] == 0
    origin, turn = pose_of(parts[2], {name: frames.points[name] for name in "ABC"})
    corner = origin + turn @ np.array([3, 0.05, 0.1])
    assert (corner < np.array(film["bounds"][3:]) + 1e-9).all()
    assert film["bounds"][3] > plain["bounds"][3] + 1


def test_up_is_against_gravity(film):
    assert film["up"] == [0, 0, 1]
    scene = scene_of(mechsim.simulate(DOOR.replace("[0, 0, -9.81]", "[0, -9.81, 0]")))
    assert scene.up == pytest.approx([0, 1, 0])


def chain(count: int) -> str:
    names = ["O", *(f"P{k}" for k in range(1, count + 1))]
    rods = ", ".join(f"{a}{b}: {{Geom: [[0.1]], Dyna: [[0.05], 0.1, 1e-4]}}" for a, b in itertools.pairwise(names))
    places = ", ".join(f"{name}: [{0.06 * k:.3f}, {0.08 * k:.3f}, 0]" for k, name in enumerate(names) if k)
    return (
        f"Dimension: 3\nPartData: {{Fixed: {{O: []}}, Rigids: {{{rods}}}}}\n"
        f"ProblemData: {{tend: 0.1, positions: {{{places}}}}}\n"
    )


def test_many_parts_stay_below_the_limit(tmp_path):
    """100 rods leave no room for 600 numbers of reactions at each moment; many more leave room for 16 bits."""
    motion = mechsim.simulate(chain(100))
    notes = animate(motion, tmp_path / "chain.html", Options()).frames.notes
    assert any("reactions are left out" in note for note in notes)
    assert (tmp_path / "chain.html").stat().st_size < 3_000_000
    scene = scene_of(motion)
    assert not has_room(scene)
    many = replace(scene, mechanism=replace(scene.mechanism, variables=scene.mechanism.variables * 10))
    fewest = fineness_of(many, False).fewest
    assert 31 <= fewest < 241 and fewest * 2 * 3000 * 8 / 3 < 2_500_000
    assert fineness_of(scene, False) == Fineness(241, 400_000)


def test_numbers_in_16_bits_are_true_to_a_pixel(film):
    told = packed(film)
    steps = np.frombuffer(base64.b64decode(told["numbers"]), "<i2").reshape(-1, film["count"])
    exact = np.frombuffer(base64.b64decode(film["numbers"]), "<f4").reshape(-1, film["count"])
    gap = np.abs(steps * np.array(told["scales"])[:, None] - exact).max(axis=1)
    assert (gap <= 2e-5 * np.abs(exact).max(axis=1) + 1e-30).all()
