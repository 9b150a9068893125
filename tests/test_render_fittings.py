"""Fittings: every joint, damper and motor of the language is something to see, in the right place and frame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import mechsim
from mechsim.render import sample, scene_of
from mechsim.render.film import animate, prepare
from mechsim.render.fitting import ACCENT, Fitting, poses
from mechsim.render.fittings import fittings_of
from mechsim.render.flat import FlatPicture
from mechsim.render.frames import Frames
from mechsim.render.options import Options
from mechsim.render.scene import Scene
from mechsim.render.theme import THEMES
from mechsim.render.window import reach

SPECS = Path(__file__).parent.parent / "specs" / "forces"

PARTS = """
PartData:
  Fixed: {O: [], R: [1], U: [0, -1], W: [1, -1], S: [4, 2], T: [3, 2]}
  Rods: {OA: 1, AB: 3}
  Rigids:
    CD: {Geom: [[0.5]], Dyna: [[], 2, 0.25]}
  Particles: {A: 1, B: 1, P: 1, Q: 1, E: 1, F: 1}
  Springs: {BC: [10, 1, 0, 0.5]}
Joints:
  Slots: {B-OR: []}
  Curves:
    P: (x - 5)**2 + y**2 - 1
    Q: {x: 5 + 2*cos(s), y: 2*sin(s), s: 0.5}
  Wheels: {CD-UW: 0.5}
  Ropes: {ESTF: 4}
AppliedForces:
  Gravity:
  TorsionSprings: {AB-OA: [0.1, 0]}
  JointDampers: {CD: 0.1}
  Dampers: {UB: 0.3}
Controllers: {theta_OA: {target: 1, kp: 3, kd: 1}}
ProblemData:
  tend: 1
  positions: {A: [0, 1], B: [2.8], C: [3, -0.5], P: [5, -1], Q: [6.8, 0.9], E: [4, 0.5], F: [3, 0.5]}
"""
GEARS = """
PartData:
  Fixed: {O: [], R: [4], G: [0, 8], K: [0, 7], L: [1, 7]}
  Rigids:
    OS: {Geom: [[1]], Dyna: [[], 1, 0.5]}
    OC: {Geom: [[2]], Dyna: [[1], 0.5, 0.1]}
    CP: {Geom: [[1]], Dyna: [[], 1, 0.5]}
    OR: {Geom: [[4]]}
    GH: {Geom: [[1]], Dyna: [[], 1, 0.5]}
    DE: {Geom: [[4]], Dyna: [[2], 3, 4]}
Joints:
  Gears: {OS-CP: [1, 1, OC], CP-OR: [1, -3, OC]}
  Sliders: {DE-KL: []}
  Racks: {GH-DE: 1}
Drives: {theta_OC: t, "dist(K,E)": 2 + 0.1*t}
ProblemData: {tend: 2, positions: {D: [-2, 7], E: [2, 7]}, angles: {OS: 0, OC: 0, CP: 0, GH: 0}}
"""


def drawn(text: str | Path, **choices: Any) -> tuple[Scene, Frames, tuple[Fitting, ...]]:
    motion = mechsim.simulate(text, **choices)
    scene = scene_of(motion)
    frames = sample(motion, np.linspace(0, motion.t[-1], 50), scene)
    return scene, frames, fittings_of(scene, frames)


@pytest.fixture(scope="module")
def parts():
    return drawn(PARTS)


@pytest.fixture(scope="module")
def gears():
    return drawn(GEARS)


def corners(fitting: Fitting, frames: Frames) -> np.ndarray:
    """All corners of a fitting in the world, over all frames."""
    origin, angle, stretch = poses(fitting, frames)
    own = np.vstack(fitting.shapes)
    turned = (np.outer(stretch, own[:, 0]) + 1j * own[:, 1]) * np.exp(1j * angle)[:, None] + (origin @ (1, 1j))[:, None]
    return np.column_stack([turned.real.ravel(), turned.imag.ravel()])


def of(built, kind: str) -> list[Fitting]:
    return [fitting for fitting in built[2] if fitting.kind == kind]


def test_every_kind_of_joint_is_seen(parts, gears):
    kinds = {fitting.kind for fitting in (*parts[2], *gears[2])}
    assert kinds == {
        "slot", "slider", "curve", "wheel", "rope", "gear", "rack", "damper", "torsion spring", "joint damper",
        "drive", "controller",
    }  # fmt: skip


def test_all_of_it_is_in_view(parts, gears):
    for built in (parts, gears):
        low, high = reach(built[0], built[1])
        for fitting in built[2]:
            places = corners(fitting, built[1])
            assert np.isfinite(places).all()
            assert (places >= low).all() and (places <= high).all()


def test_a_wheel_turns_about_its_centre_and_touches_its_line(parts):
    _, frames, _ = parts
    road, disc, _ = of(parts, "wheel")
    assert (disc.at, disc.along) == ("C", ("C", "D"))
    assert np.hypot(*disc.shapes[0].T) == pytest.approx(0.5)
    lowest = corners(disc, frames).reshape(50, -1, 2)[..., 1].min(axis=1)
    assert lowest == pytest.approx(-1, abs=1e-3)  # a polygon of 120 corners misses the circle by 3e-4 of its radius
    line = road.shapes[0] + frames.points["U"][0]
    assert line[:, 1] == pytest.approx(-1)
    assert line[0, 0] < frames.points["C"][:, 0].min() - 0.4 and line[1, 0] > frames.points["C"][:, 0].max() + 0.4


def test_a_rail_is_as_long_as_it_is_used(parts):
    _, frames, _ = parts
    band = next(fitting for fitting in of(parts, "slot") if fitting.paint.face and fitting.height < -0.5)
    along = band.shapes[0][:, 0]
    assert along.min() < frames.points["B"][:, 0].min() and along.max() > frames.points["B"][:, 0].max()
    assert parts[0].footings == ("O", "U", "S", "T")  # R and W only mark lines: no bracket


def test_curves_pass_through_their_points(parts):
    """Contours of a grid of 241 lines and chords of a sampled circle stray by less than a thousandth of the size."""
    for fitting, centre, radius in zip(of(parts, "curve"), ((5, 0), (5, 0)), (1, 2), strict=True):
        for line in fitting.shapes:
            assert np.hypot(*(line - centre).T) == pytest.approx(radius, abs=2e-3)


def test_a_curve_that_moves_is_drawn_as_it_is_at_each_frame():
    """Against the formulas of the file, written here again: by time, by a table in pieces, by another point."""
    text = """
Tables: {lift: {points: [[0, 0], [1, 0.4], [2, 0.1]]}}
PartData: {Fixed: {O: []}, Particles: {P: 1, Q: 1, R: 1}, Springs: {OR: [10, 1]}}
Joints:
  Curves:
    P: y - 0.1*sin(x - t)
    Q: {x: s, y: 2 + lift*s**2, s: 0.5}
    R: (x - P.x)**2 + y**2 - 4
ProblemData: {tend: 2, positions: {P: [1, 0.08], Q: [0.5, 2], R: [3]}, velocities: {P: [0.5], Q: [0.3]}}
"""
    _, frames, fittings = drawn(text)
    times, heights = [0, 1, 2], [0, 0.4, 0.1]
    laws = {
        "curve of P": lambda x, y, k: y - 0.1 * np.sin(x - frames.t[k]),
        "curve of Q": lambda x, y, k: y - 2 - np.interp(frames.t[k], times, heights) * x**2,
        "curve of R": lambda x, y, k: np.hypot(x - frames.points["P"][k, 0], y) - 2,
    }
    found = {fitting.name: fitting for fitting in fittings if fitting.kind == "curve"}
    assert set(found) == set(laws)
    for name, law in laws.items():
        for k in (0, 17, 40, 49):
            lines = found[name].lines(k)
            assert lines
            for line in lines:
                # Chords of a grid of 241 lines over some six metres stray by a tenth of a millimetre or so.
                assert np.abs(law(*line.T, k)).max() < 2e-3
            place = frames.points[name[-1]][k]
            assert min(np.hypot(*(line - place).T).min() for line in lines) < 0.03  # it passes its point, to a corner


def test_a_rope_runs_from_point_to_point(parts):
    _, frames, _ = parts
    lines = [fitting for fitting in of(parts, "rope") if fitting.stretched]
    assert [line.along for line in lines] == [("E", "S"), ("S", "T"), ("T", "F")]
    ends = corners(lines[2], frames).reshape(50, 2, 2)
    assert ends[:, 0] == pytest.approx(frames.points["T"]) and ends[:, 1] == pytest.approx(frames.points["F"])


def test_a_piston_stays_in_its_cylinder(parts):
    _, frames, _ = parts
    names = {fitting.name for fitting in of(parts, "damper")}
    assert names == {"damper UB", "damper BC"}
    barrel, _, rod = (fitting for fitting in of(parts, "damper") if fitting.name == "damper UB")
    length = np.hypot(*(frames.points["B"] - frames.points["U"]).T) if not rod.stretched else np.ones(50)
    head = length - rod.shapes[0][-1, 0]  # measured from U
    assert (head > barrel.shapes[0][:, 0].min()).all() and (head < barrel.shapes[0][:, 0].max()).all()


def test_motors_and_springs_sit_at_their_joints(parts, gears):
    assert {fitting.at for fitting in of(parts, "controller")} == {"O"}
    assert {fitting.at for fitting in of(parts, "torsion spring")} == {"A"}
    assert {fitting.at for fitting in of(parts, "joint damper")} == {"C"}
    drives = of(gears, "drive")
    assert {fitting.at for fitting in drives} == {"O", "K", "E"}  # a badge, and a ram from K to E
    assert all(fitting.colour == ACCENT for fitting in drives)


def test_dampers_without_damping_are_left_out():
    assert drawn(SPECS / "bead_on_hoop.yaml", tend=0.1)[2] == ()


def test_teeth_of_one_gear_stand_in_the_gaps_of_the_other(gears):
    """Along the line of centres the two edges keep apart or just touch, whatever the gears have turned."""
    _, frames, _ = gears
    sun, planet = (
        next(f for f in of(gears, "gear") if f.name == name and f.paint.face) for name in ("gear OS", "gear CP")
    )
    for frame in (0, 17, 33, 49):
        edges = [corners(gear, frames).reshape(50, -1, 2)[frame] @ (1, 1j) for gear in (sun, planet)]
        centres = [frames.points[name][frame] @ (1, 1j) for name in "OC"]
        way = (centres[1] - centres[0]) / abs(centres[1] - centres[0])
        radii = [
            abs(edge - centre)[np.argmin(abs(np.angle((edge - centre) / direction)))]
            for edge, centre, direction in zip(edges, centres, (way, -way), strict=True)
        ]
        assert sum(radii) < 2 + 0.025  # a tooth is 0.05 high above the pitch circle; on a gap it finds as much room


def test_a_blade_points_where_it_may_go():
    _, frames, found = drawn(SPECS / "chaplygin_sleigh.yaml", tend=3)
    (blade,) = found
    assert (blade.kind, blade.at, blade.along) == ("skate", "A", ("A", "B"))
    _, angle, _ = poses(blade, frames)
    across = frames.velocities["A"] @ (1, 1j) * np.exp(-1j * angle)
    assert np.abs(across.imag).max() < 1e-9


def test_collinear_points_of_a_part_make_a_groove():
    text = """
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[2]], Dyna: [[1], 1, 1]}}
  Particles: {C: 1}
  Collinear: [OAC]
AppliedForces: {Gravity: }
ProblemData: {tend: 0.5, positions: {A: [2], C: [1]}}
"""
    (groove,) = drawn(text)[2]
    assert (groove.kind, groove.at, groove.along) == ("collinear", "O", ("O", "A"))
    assert groove.height > 0


def test_rods_are_thinner_than_parts_with_mass(parts):
    widths = {part.name: np.ptp(part.outline[:, 1]) for part in parts[0].parts}
    assert widths["AB"] < 0.7 * widths["CD"]


def test_the_page_knows_them_too(parts, tmp_path):
    motion = mechsim.simulate(PARTS)
    path = tmp_path / "page.html"
    animate(motion, path, Options())
    text = path.read_text()
    for name in ("wheel CD on UW", "rope ESTF", "curve of P", "controller of theta_OA"):
        assert f'"name":"{name}"' in text


def test_a_wheel_is_seen_where_it_rolls(tmp_path):
    """Pixels of the decoded film: the disc in its light colour, the spoke in the full one, nothing outside."""
    motion = mechsim.simulate(SPECS / "rolling_wheel.yaml", tend=0.6)
    options = Options(size=(640, 360), fps=10, speed=1.0, trace=())
    animate(motion, tmp_path / "wheel.mp4", options)
    reader = imageio_ffmpeg.read_frames(str(tmp_path / "wheel.mp4"))
    width, height = next(reader)["size"]
    pictures = [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]
    film = prepare(motion, replace(options))
    window = FlatPicture(film.scene, film.frames, film.options).window
    theme = THEMES["light"]
    paper, full = (255 * np.array(to_rgb(colour)) for colour in (theme.background, theme.parts[0]))
    light = 0.58 * paper + 0.42 * full
    for index, picture in enumerate(pictures):
        state = motion(index / 10)
        spoke = state["P"] - state["C"]  # of the length of the radius
        across = np.array([-spoke[1], spoke[0]])
        for offset, expected in (
            (0.5 * spoke, full),
            (-0.6 * spoke, light),
            (0.6 * across, light),
            (1.2 * across, paper),
        ):
            x, y = window.pixels(state["C"] + offset)
            seen = picture[height - 1 - int(y), int(x)].astype(float)
            # Codecs and the tint of a face change a colour by some per cent; the three differ by 60 and more.
            assert np.abs(seen - expected).max() < 28, (index, offset, seen, expected)


@pytest.mark.parametrize("radii", [(1e6, 1), (1, 1e6), (1e6, -2e6), (1e-6, 1e6), (90, 1), (24, 1)])
def test_a_gear_has_no_more_teeth_than_can_be_seen(radii):
    """What is drawn of a pair does not grow with the ratio of its radii."""
    text = f"""
PartData:
  Fixed: {{O: [], P: [{radii[0] + radii[1]!r}]}}
  Rigids: {{OA: {{Geom: [[1]], Dyna: [[], 1, 0.5]}}, PB: {{Geom: [[1]], Dyna: [[], 1, 0.5]}}}}
Joints: {{Gears: {{OA-PB: [{radii[0]!r}, {radii[1]!r}]}}}}
AppliedForces: {{Torques: {{OA: 1}}}}
ProblemData: {{tend: 1}}
"""
    motion = mechsim.simulate(text)
    scene = scene_of(motion.trajectory)
    frames = sample(motion.trajectory, np.linspace(0, 1, 3), scene)
    drawn = sum(len(line) for fitting in fittings_of(scene, frames) for line in fitting.shapes)
    assert drawn < 100_000
