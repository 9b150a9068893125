"""Parts made of shapes: their mass, centroid and inertia against closed forms, exact integrals, sums and turns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial.legendre import leggauss
from scipy.spatial.transform import Rotation

import mechsim
from mechsim.cli.main import main
from mechsim.errors import SpecError
from mechsim.spec import parse
from mechsim.spec.document import Rigid

GEOM = {2: "[[2], [0, 1]]", 3: "[[2], [0, 1], [0.3, 0.4, 0.5]]"}
NAMES = {2: "OAB", 3: "OABC"}


def decimals(low: float, high: float) -> st.SearchStrategy[float]:
    return st.integers(round(low * 1000), round(high * 1000)).map(lambda n: n / 1000)


SIZE = decimals(0.05, 3)
PLACE = st.tuples(*[decimals(-2, 2)] * 3)
ANGLES = st.tuples(*[decimals(-3, 3)] * 3)


def file(dyna: str, dimension: int = 3, params: str = "r: 0.5") -> str:
    return f"""
Dimension: {dimension}
PhysicalParams: {{{params}}}
PartData:
  Fixed: {{O: []}}
  Rigids:
    {NAMES[dimension]}: {{Geom: {GEOM[dimension]}, Dyna: {dyna}}}
AppliedForces: {{Gravity: }}
ProblemData: {{tend: 1}}
"""


def part(dyna: str, dimension: int = 3) -> Rigid:
    return parse(file(dyna, dimension)).rigids[0]


def weighed(dyna: str, dimension: int = 3) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centroid, and the inertia as a matrix (in the plane one number)."""
    found = part(dyna, dimension)
    assert found.by_solids
    inertia = np.array([float(number) for number in found.inertia])
    if dimension == 3:
        xx, yy, zz, xy, xz, yz = inertia
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return float(found.mass), np.array([float(number) for number in found.centroid]), inertia


def agree(one, other, close=1e-12) -> None:
    for a, b in zip(map(np.ravel, one), map(np.ravel, other), strict=True):
        assert a == pytest.approx(b, rel=close, abs=close * max(1e-3, float(np.abs(b).max())))


# --- exact integrals: Gauss's rule is exact for polynomials, equal steps are for sines and cosines

GAUSS = leggauss(6)
TURN = 2 * np.pi * (np.arange(12) + 0.5) / 12


def line(a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    return (a + b) / 2 + (b - a) / 2 * GAUSS[0], (b - a) / 2 * GAUSS[1]


def grid(*axes) -> tuple[list[np.ndarray], np.ndarray]:
    places = np.meshgrid(*(axis[0] for axis in axes), indexing="ij")
    weights = np.meshgrid(*(axis[1] for axis in axes), indexing="ij")
    return [each.ravel() for each in places], np.prod([each.ravel() for each in weights], axis=0)


CIRCLE = (TURN, np.full(12, 2 * np.pi / 12))


def cloud(shape: str, *sizes: float) -> tuple[np.ndarray, np.ndarray]:
    """Places and weights that integrate quadratics over the body exactly, about its centre of mass."""
    if shape == "box":
        (x, y, z), w = grid(*(line(-size / 2, size / 2) for size in sizes))
    elif shape == "rod":
        (z,), w = grid(line(-sizes[0] / 2, sizes[0] / 2))
        x = y = 0 * z
    elif shape == "cylinder":
        (r, a, z), w = grid(line(0, sizes[0]), CIRCLE, line(-sizes[1] / 2, sizes[1] / 2))
        x, y, w = r * np.cos(a), r * np.sin(a), w * r
    elif shape == "sphere":
        (r, c, a), w = grid(line(0, sizes[0]), line(-1, 1), CIRCLE)
        s = np.sqrt(1 - c**2)
        x, y, z, w = r * s * np.cos(a), r * s * np.sin(a), r * c, w * r**2
    elif shape == "ring":
        (r, a, b), w = grid(line(0, sizes[1]), CIRCLE, CIRCLE)
        out = sizes[0] + r * np.cos(b)
        x, y, z, w = out * np.cos(a), out * np.sin(a), r * np.sin(b), w * r * out
    else:
        (u, r, a), w = grid(line(0, 1), line(0, 1), CIRCLE)  # cone: u from the tip
        radius, height = sizes
        x, y, z = u * radius * r * np.cos(a), u * radius * r * np.sin(a), height * (0.75 - u)
        w = w * r * (u * radius) ** 2 * height
    return np.stack([x, y, z], axis=1), w


def of_cloud(places: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    mass = weights.sum()
    centre = weights @ places / mass
    away = places - centre
    second = np.einsum("n,ni,nj->ij", weights, away, away)
    return mass, centre, np.trace(second) * np.eye(3) - second


@some_of(25)
@given(st.sampled_from(["rod", "cylinder", "cone", "ring"]), SIZE, SIZE, PLACE, PLACE)
def test_round_bodies_are_their_integrals(shape: str, a: float, b: float, at, along) -> None:
    if np.linalg.norm(along) < 1e-3:
        return
    sizes = [a] if shape == "rod" else [a + b, min(a, b)] if shape == "ring" else [a, b]
    places, weights = cloud(shape, *sizes)
    z = np.array(along) / np.linalg.norm(along)
    x = np.cross(z, [1, 0, 0] if abs(z[0]) < 0.7 else [0, 1, 0])
    x /= np.linalg.norm(x)
    turn = np.stack([x, np.cross(z, x), z], axis=1)
    found = weighed(f"{{{shape}: {sizes}, density: 3, at: {list(at)}, along: {list(along)}}}")
    agree(found, of_cloud(places @ turn.T + at, 3 * weights))


@some_of(25)
@given(SIZE, SIZE, SIZE, PLACE, ANGLES, st.sampled_from(["zxz", "xyz", "zyx", "yxy", "yzx"]))
def test_a_turned_box_is_its_integral(a: float, b: float, c: float, at, angles, sequence: str) -> None:
    places, weights = cloud("box", a, b, c)
    turn = Rotation.from_euler(sequence.upper(), angles)  # capitals: each about the axis as it then stands
    found = weighed(f"{{box: [{a}, {b}, {c}], density: 3, at: {list(at)}, turn: {{{sequence}: {list(angles)}}}}}")
    agree(found, of_cloud(turn.apply(places) + at, 3 * weights))


def test_closed_forms() -> None:
    assert weighed("{box: [1, 2, 3], mass: 12, at: O}")[2] == pytest.approx(np.diag([13.0, 10.0, 5.0]))
    assert weighed("{sphere: 0.5, mass: 2}")[2] == pytest.approx(np.diag([0.2] * 3))
    assert weighed("{sphere: r, density: 3}")[0] == pytest.approx(np.pi / 2)
    assert weighed("{rod: , mass: 3}")[2] == pytest.approx(np.diag([0.0, 1.0, 1.0]))
    assert weighed("{cylinder: [1, 3], mass: 4}")[2] == pytest.approx(np.diag([2.0, 4.0, 4.0]))
    assert weighed("{ring: [2, 1], mass: 8}")[2] == pytest.approx(np.diag([38.0, 21.0, 21.0]))
    assert weighed("{cone: [1, 2], mass: 10, at: O}")[2] == pytest.approx(np.diag([3.0, 3.0, 3.0]))
    assert weighed("{rod: , mass: 3}", 2)[2] == pytest.approx(1.0)
    assert weighed("{disc: 2, mass: 3}", 2)[2] == pytest.approx(6.0)
    assert weighed("{plate: [3, 4], mass: 12, turn: 1}", 2)[2] == pytest.approx(25.0)
    assert weighed("{polygon: OAB, mass: 36}", 2)[2] == pytest.approx(36 * (4 + 1) / 18)


def test_places_that_need_not_be_said() -> None:
    """Along the line of the part and in its middle; a cone stands on its first point."""
    for shape in ("rod: ", "rod: 0.3", "cylinder: 0.1", "cylinder: [0.1, 0.3]", "box: [2, 1, 1]", "sphere: 1"):
        assert weighed(f"{{{shape}, mass: 1}}")[1] == pytest.approx([1, 0, 0])
    assert weighed("{cone: 0.1, mass: 1}")[1] == pytest.approx([0.5, 0, 0])
    assert weighed("{cone: [0.1, 1], mass: 1}")[1] == pytest.approx([0.25, 0, 0])
    assert weighed("{cone: 0.1, mass: 1, from: A, to: B}")[1] == pytest.approx([1.5, 0.25, 0])
    assert weighed("{rod: , mass: 1, from: B, to: C}")[1] == pytest.approx([0.15, 0.7, 0.25])
    assert weighed("{prism: OAB, thickness: 1, mass: 1}")[1] == pytest.approx([2 / 3, 1 / 3, 0])
    assert weighed("{disc: 1, mass: 1, at: B}", 2)[1] == pytest.approx([0, 1])


def test_from_to_is_along() -> None:
    one = weighed("{cylinder: 0.1, density: 2, from: [1, 1, 1], to: [2, 3, -1]}")
    agree(one, weighed("{cylinder: [0.1, 3], density: 2, at: [1.5, 2, 0], along: [1, 2, -2]}"))


@some_of(20)
@given(SIZE, SIZE, SIZE, decimals(0.1, 0.9), PLACE)
def test_a_box_cut_in_two_has_the_sum(a: float, b: float, c: float, share: float, at) -> None:
    x, y, z = at
    left, right = share * a, (1 - share) * a
    whole = f"{{box: [{a}, {b}, {c}], density: 7, at: [{x}, {y}, {z}]}}"
    halves = (
        f"[{{box: [{left}, {b}, {c}], density: 7, at: [{x - right / 2}, {y}, {z}]}},"
        f" {{box: [{right}, {b}, {c}], density: 7, at: [{x + left / 2}, {y}, {z}]}}]"
    )
    agree(weighed(whole), weighed(halves))


@some_of(20)
@given(decimals(0.05, 0.4), decimals(0.05, 0.4), decimals(0.3, 2))
def test_what_is_cut_out_and_put_back_is_the_whole(x: float, r: float, thick: float) -> None:
    hole = f"cylinder: [{r}, {thick}]"
    cut = f"{{box: [2, 2, {thick}], density: 5, at: O, holes: [{{{hole}, at: [{x}, 0.1]}}]}}"
    plug = f"{{{hole}, density: 5, at: [{x}, 0.1], along: [0, 0, 1]}}"
    agree(weighed(f"[{cut}, {plug}]"), weighed(f"{{box: [2, 2, {thick}], density: 5, at: O}}"))


@some_of(20)
@given(ANGLES, PLACE, SIZE, SIZE)
def test_turning_changes_no_principal_moment(angles, at, width: float, thick: float) -> None:
    outline = f"prism: [[0, 0], [{width}, 0], [1.3, 1.2], [0, 0.7]], thickness: {thick}, density: 3"
    holes = f"holes: [{{cylinder: {min(width, 0.7) / 6}, at: [{min(width, 0.7) / 4}, 0.3]}}]"
    mass, centre, inertia = weighed(f"{{{outline}, {holes}}}")
    turn = Rotation.from_euler("ZXZ", angles)
    turned = weighed(f"{{{outline}, {holes}, at: {list(at)}, turn: {{zxz: {list(angles)}}}}}")
    matrix = turn.as_matrix()
    agree(turned, (mass, turn.apply(centre) + at, matrix @ inertia @ matrix.T))
    assert np.linalg.eigvalsh(turned[2]) == pytest.approx(np.linalg.eigvalsh(inertia))


@some_of(25)
@given(st.integers(3, 9), st.randoms(use_true_random=False), st.booleans(), decimals(-50, 50))
def test_a_polygon_is_the_sum_of_its_triangles(n: int, random, backwards: bool, away: float) -> None:
    """About a point inside, which no corner hides from it: exact by the rule of three midpoints."""
    turns = [(random.uniform(0, 0.8) + i) * 2 * np.pi / n for i in range(n)]
    radii = [random.uniform(0.5, 2) for _ in turns]
    corners = [(round(away + r * np.cos(a), 6), round(r * np.sin(a), 6)) for a, r in zip(turns, radii, strict=True)]
    if any((b - a) % (2 * np.pi) > 3 for a, b in zip(turns, turns[1:] + turns[:1], strict=True)):
        return
    places, weights = [], []
    middle = np.array([away, 0.0])
    for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
        a, b = np.array(a), np.array(b)
        area = ((a - middle)[0] * (b - middle)[1] - (a - middle)[1] * (b - middle)[0]) / 2
        for p, q in ((a, b), (b, middle), (middle, a)):
            places.append((p + q) / 2)
            weights.append(area / 3)
    mass, centre, inertia = of_cloud(np.pad(places, ((0, 0), (0, 1))), np.array(weights))
    shown = [list(map(float, corner)) for corner in (corners[::-1] if backwards else corners)]
    found = weighed(f"{{polygon: {shown}, density: 1}}", 2)
    agree(found, (mass, centre[:2], inertia[2, 2]), 1e-11)


def test_the_plane_is_space_seen_from_above() -> None:
    flat = "thickness: 0.2, density: 3, holes: [{HOLE: 0.1, at: [0.3, 0.2]}]"
    for plane, space in (
        (f"{{polygon: OAB, {flat}}}".replace("HOLE", "disc"), f"{{prism: OAB, {flat}}}".replace("HOLE", "cylinder")),
        ("{disc: 1, density: 2, thickness: 3, at: B}", "{cylinder: [1, 3], along: [0, 0, 1], density: 2, at: B}"),
        ("{plate: [1, 2], density: 2, thickness: 3}", "{box: [1, 2, 3], density: 2}"),
        ("{rod: , density: 2, from: A, to: B}", "{rod: , density: 2, from: A, to: B}"),
    ):
        one, other = weighed(plane, 2), weighed(space)
        agree(one, (other[0], other[1][:2], other[2][2, 2]))
    areal, solid = weighed("{disc: 1, density: 6}", 2), weighed("{disc: 1, density: 2, thickness: 3}", 2)
    agree(areal, solid)


def test_mass_in_the_place_of_density_is_that_of_what_is_left() -> None:
    one = weighed("{plate: [2, 1], mass: 3, holes: [{disc: 0.4}, {plate: [0.1, 0.1], at: [0.8, 0.3]}]}", 2)
    assert one[0] == 3
    density = 3 / (2 - 0.16 * np.pi - 0.01)
    agree(
        one,
        weighed(
            f"{{plate: [2, 1], density: {density}, holes: [{{disc: 0.4}}, {{plate: [0.1, 0.1], at: [0.8, 0.3]}}]}}", 2
        ),
    )


def test_a_rod_in_space_may_be_thick_if_it_is_the_same_all_about() -> None:
    text = file("{cylinder: 0.1, mass: 2}").replace("OABC", "OA").replace(GEOM[3], "[[2]]")
    rod = parse(text).rigids[0]
    across = 2 * (0.01 / 4 + 4 / 12)
    assert [float(number) for number in rod.inertia] == pytest.approx([0, across, across, 0, 0, 0])
    with pytest.raises(SpecError, match=r"OA has the inertia .* which is not the same all about its line"):
        parse(text.replace("cylinder: 0.1", "box: [2, 1, 0.5]"))


def test_solids_are_what_pictures_need() -> None:
    found = part(
        "{prism: [[0], [1], [1, 1], [0, 1]], thickness: 0.2, mass: 1, at: [0, 0, 3], "
        "turn: {x: pi/2}, holes: [{cylinder: 0.1, at: [0.3, 0.5]}, {prism: [[0.5, 0.4], [0.8, 0.4], [0.6, 0.8]]}]}"
    )
    (solid,) = found.solids
    assert solid.shape == "prism" and [float(n) for n in solid.at] == pytest.approx([0.5, 0, 3.5])
    assert np.array(solid.axes) == pytest.approx(np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]))
    assert [[float(n) for n in corner] for corner in solid.outline][2] == pytest.approx([0.5, 0.5])
    round_hole, triangle = solid.holes
    assert [np.hypot(float(x) + 0.2, float(y)) for x, y in round_hole] == pytest.approx([0.1] * 48)
    assert [float(n) for n in triangle[0]] == pytest.approx([0, -0.1])
    assert [each.shape for each in solid.cut] == ["cylinder", "prism"]
    assert [float(n) for n in solid.cut[0].at] == pytest.approx([0.3, 0, 3.5])
    picture = part("[[1], 2, [1, 1, 1]], Shapes: [{sphere: 1, at: B}, {ring: [1, 0.1], along: [0, 0, 1]}]")
    assert [each.shape for each in picture.solids] == ["sphere", "ring"] and float(picture.mass) == 2
    assert not picture.by_solids


# --- parameters stay alive

LIVING = """
Dimension: DIM
PhysicalParams: {a: 1, r: 0.1, rho: 3, tilt: 0.3, d: 0.2}
PartData:
  Fixed: {O: []}
  Rigids:
    OAB:
      Geom: [[a], [0.2, a/2]]
      Dyna:
SHAPES
AppliedForces: {Gravity: }
ProblemData: {tend: 0.5, positions: {A: [1]}}
"""
FLAT = """
      - {plate: [a, 2*r], density: rho, turn: tilt, at: [a/2, d], holes: [{disc: r/2, at: [r]}]}
      - {polygon: [[0], [a], [a, a/3], [r, a/4]], mass: rho, holes: [{polygon: [[0.5, 0.1], [0.6, 0.1], [0.5, d]]}]}
      - {rod: , density: rho, from: A, to: B}
"""
SOLID = """
      - {box: [a, 2*r, r], density: rho, turn: {zxz: [tilt, 1, a]}, at: [a/2, d, r], holes: [{sphere: r/3}]}
      - {prism: OAB, thickness: r, mass: rho, holes: [{cylinder: r/4, at: [0.3*a, 0.1*a]}]}
      - {cylinder: r, density: rho, from: A, to: [0, r, a], holes: [{cylinder: r/2}]}
      - {cone: [r, d], mass: rho, along: [tilt, -1, a]}
      - {ring: [a, r], density: rho, at: B}
"""


@pytest.mark.parametrize("wanted", [{"a": 1.1}, {"r": 0.12, "tilt": -0.2}, {"rho": 5, "d": 0.25}])
@pytest.mark.parametrize("dimension", [2, 3])
def test_other_sizes_give_the_file_read_anew(dimension: int, wanted: dict[str, float]) -> None:
    text = LIVING.replace("DIM", str(dimension)).replace("SHAPES", FLAT if dimension == 2 else SOLID)
    handle = mechsim.mechanism(text)
    one = handle.with_parameters(**wanted).simulate(tol=1e-10)
    other = mechsim.simulate(text, parameters=wanted, tol=1e-10)
    times = np.linspace(0, 0.5, 7)
    assert one.solution.sample(times)[0] == pytest.approx(other.solution.sample(times)[0], abs=1e-9)


# --- what is told


def test_check_shows_the_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "box.yaml"
    path.write_text(file("{box: [1, 2, 3], mass: 12, at: [1, 0.5]}"))
    with pytest.raises(SystemExit) as ended:
        main(["check", str(path)])
    assert ended.value.code in (0, None)
    shown = capsys.readouterr().out
    assert "by shape" in shown and "OABC: 12 kg, centroid [1, 0.5, 0]" in shown
    assert "inertia [13, 10, 5, 0, 0, 0] kg m^2" in shown and "principal moments [5, 10, 13] kg m^2" in shown
    with pytest.raises(SystemExit):
        main(["check", "--json", str(path)])
    found = json.loads(capsys.readouterr().out)["weights"]["OABC"]
    assert found["principal"] == pytest.approx([5, 10, 13]) and found["mass"] == 12


FAULTS_IN_SPACE = [
    ("{box: [1, 2], mass: 1}", "Dyna.box has 2 of the sizes [x, y, z]"),
    ("{box: [1, -2, 1], mass: 1}", "the y of PartData.Rigids.OABC.Dyna.box is -2, but must be above zero"),
    ("{sphere: 0, mass: 1}", "the radius of PartData.Rigids.OABC.Dyna.sphere is 0, but must be above zero"),
    ("{sphere: r - 1, mass: 1}", "is r - 1 = -0.5, but must be above zero"),
    ("{ring: [1, 2], mass: 1}", "has the radius 2, more than that of the ring"),
    ("{box: [1, 1, 1], density: -1}", "Dyna.density is -1, but must not be negative"),
    ("{box: [1, 1, 1], density: 1, mass: 1}", "has both density and mass"),
    ("{box: [1, 1, 1]}", "has neither density nor mass"),
    ("{boxx: [1, 1, 1], density: 1}", "unknown key boxx"),
    ("{density: 1}", "names no shape"),
    ("{box: [1, 1, 1], sphere: 1, density: 1}", "is box and sphere at once"),
    ("{disc: 1, mass: 1}", "in space there is no disc"),
    ("{polygon: OAB, mass: 1}", "in space there is no polygon"),
    ("{box: [1, 1, 1], mass: 1, along: [1]}", "a box has no along"),
    ("{cylinder: [1, 1], mass: 1, along: []}", "Dyna.along is a direction, but has the length zero"),
    ("{cylinder: 1, mass: 1, from: A, to: A}", "begins where it ends"),
    ("{cylinder: 1, mass: 1, from: A}", "has from, but no to"),
    ("{cylinder: [1, 1], mass: 1, from: O, to: A}", "has its length twice"),
    ("{cylinder: 1, mass: 1, from: A, to: D}", "OABC has no point D"),
    ("{box: [1, 1, 1], mass: 1, turn: 1}", "Dyna.turn must name its axes, but is `1`"),
    ("{box: [1, 1, 1], mass: 1, turn: {zqz: [1, 2, 3]}}", "`zqz` is no sequence of axes"),
    ("{box: [1, 1, 1], mass: 1, turn: {zxz: [1, 2]}}", "has 2 angles, but names 3 axes"),
    ("{prism: OAB, mass: 1}", "a prism needs a thickness"),
    ("{prism: OAB, mass: 1, thickness: 0}", "the thickness of PartData.Rigids.OABC.Dyna.prism is 0"),
    ("{prism: OAC, mass: 1, thickness: 1}", "the corner C of PartData.Rigids.OABC.Dyna.prism is not in the xy plane"),
    ("{prism: OA, mass: 1, thickness: 1}", "has 2 corners, it needs three or more"),
    ("{prism: [[0], [1], [0, 1, 2]], mass: 1, thickness: 1}", "a corner of PartData.Rigids.OABC.Dyna.prism has 3"),
    ("{sphere: 1, mass: 1, holes: [{sphere: 0.5, at: [0.6]}]}", "Dyna.holes.sphere is not within its sphere"),
    ("{cylinder: 1, mass: 1, holes: [{cylinder: 0.5, at: [0.501]}]}", "is not within its cylinder"),
    ("{cone: [1, 1], mass: 1, holes: [{sphere: 0.6}]}", "is not within its cone"),
    ("{box: [1, 1, 1], mass: 1, holes: [{box: [1, 1, 1], turn: {z: 0.1}}]}", "is not within its box"),
    ("{box: [1, 1, 1], mass: 1, holes: [{sphere: 0.3}, {sphere: 0.1, at: [0.3]}]}", "overlaps hole 1 of its box"),
    ("{box: [1, 1, 1], mass: 1, holes: [{sphere: 0.3, at: A}]}", "is placed at A"),
    ("{box: [1, 1, 1], mass: 1, holes: [{sphere: 0.3, density: 1}]}", "unknown key density"),
    ("{box: [1, 1, 1], mass: 1, holes: [{rod: 0.3}]}", "a rod cannot be a hole"),
    ("[[1], 1, [1, 1, 1]], Shapes: {sphere: 1, mass: 1}", "what OABC weighs is said by Dyna and by"),
    ("[[1], 1, [1, 1, 1]], Shapes: 3", "Shapes must be a shape, not `3`"),
]
FAULTS_IN_THE_PLANE = [
    ("{box: [1, 1, 1], mass: 1}", "in the plane there is no box"),
    ("{plate: [1, 1], mass: 1, turn: {z: 1}}", "Dyna.turn must be one angle in the plane"),
    (
        "{polygon: [[0], [1], [0, 1], [1, 1]], mass: 1}",
        "the edge from (1, 0) to (0, 1) meets the edge from (1, 1) to (0, 0)",
    ),
    ("{polygon: [[0], [2], [1]], mass: 1}", "crosses itself"),
    ("{polygon: [[0], [1], [0, 1], [0]], mass: 1}", "corners 4 and 1 of PartData.Rigids.OAB.Dyna.polygon are the same"),
    ("{polygon: [[0], [1], [1], [0, 1]], mass: 1}", "corners 2 and 3 of PartData.Rigids.OAB.Dyna.polygon are the same"),
    ("{polygon: [[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]], mass: 1}", "the corners of PartData.Rigids.OAB.Dyna.polygon"),
    ("{plate: [2, 2], mass: 1, holes: [{plate: [2, 2]}]}", "the holes of PartData.Rigids.OAB.Dyna.plate leave nothing"),
    ("{polygon: OAB, at: A, mass: 1}", "has points of the part for corners, and `at`"),
    ("{polygon: OAX, mass: 1}", "OAB has no point X"),
    ("{polygon: OAB, mass: 1, holes: [{disc: 0.2, at: [1, 0.5]}]}", "Dyna.holes.disc is not within its polygon"),
    ("{polygon: OAB, mass: 1, holes: [{polygon: [[0.1, 0.1], [3, 0.1], [0.1, 0.2]]}]}", "is not within its polygon"),
    ("{plate: [2, 2], mass: 1, holes: [{disc: 0.5}, {disc: 0.5, at: [0.9]}]}", "is not within its plate"),
    ("{plate: [4, 2], mass: 1, holes: [{disc: 0.5}, {disc: 0.5, at: [0.9]}]}", "overlaps hole 1 of its plate"),
    ("{plate: [4, 4], mass: 1, holes: [{plate: [3, 1]}, {plate: [1, 3]}]}", "overlaps hole 1 of its plate"),
    ("{plate: [4, 4], mass: 1, holes: [{disc: 1}, {plate: [1, 0.1], at: [1.4]}]}", "overlaps hole 1 of its plate"),
]


@pytest.mark.parametrize(
    ("dyna", "message", "dimension"),
    [(*each, 3) for each in FAULTS_IN_SPACE] + [(*each, 2) for each in FAULTS_IN_THE_PLANE],
)
def test_bad_shapes_are_told(dyna: str, message: str, dimension: int) -> None:
    with pytest.raises(SpecError) as caught:
        part(dyna, dimension)
    first = caught.value.faults[0]
    assert message in first.message and len(caught.value.faults) == 1
    assert first.mark is not None and first.mark.line == 7 and first.mark.column > 20


@pytest.mark.parametrize(
    "dyna",
    [
        "{plate: [4, 4], mass: 1, holes: [{disc: 1}, {plate: [1, 0.1], at: [1.5]}, {disc: 0.5, at: [0, 1.5]}]}",
        "{disc: 1, mass: 1, holes: [{disc: 0.5, at: [0.3, 0.4]}]}",  # it touches the rim
        "{plate: [2, 2], mass: 1, holes: [{polygon: [[-1, -1], [1, -1], [-1, 1]]}]}",  # and here edges
    ],
)
def test_holes_may_touch(dyna: str) -> None:
    assert part(dyna, 2).by_solids


def test_thousands_of_corners_are_read_in_no_time() -> None:
    corners = [[np.cos(a), np.sin(a)] for a in np.linspace(0, 2 * np.pi, 2000, endpoint=False)]
    shown = ", ".join(f"[{x:.12f}, {y:.12f}]" for x, y in corners)
    mass, _, inertia = weighed(f"{{polygon: [{shown}], density: 1}}", 2)
    assert mass == pytest.approx(np.pi, rel=1e-5) and inertia == pytest.approx([np.pi / 2], rel=1e-5)


@pytest.mark.parametrize(
    ("along", "x", "y"),
    [
        ("[1]", [0, 0, -1], [0, 1, 0]),
        ("[0, 1]", [1, 0, 0], [0, 0, -1]),
        ("[0, 0, 1]", [1, 0, 0], [0, 1, 0]),
        ("[0, 0, -1]", [1, 0, 0], [0, -1, 0]),
    ],
)
def test_holes_are_placed_along_the_parts_axes_swung_to_that_of_the_shape(
    along: str, x: list[int], y: list[int]
) -> None:
    """As docs/language.md says: the centroid moves away from the hole."""
    for at, direction in (("[0.2, 0]", x), ("[0, 0.2]", y)):
        hole = f"holes: [{{cylinder: 0.1, at: {at}}}]"
        _, centre, _ = weighed(f"{{cylinder: [0.5, 1], mass: 3, at: [0, 0, 0], along: {along}, {hole}}}")
        np.testing.assert_allclose(centre, -0.2 * 0.01 / 0.24 * np.array(direction), atol=1e-15)
