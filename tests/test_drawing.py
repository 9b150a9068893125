"""What is drawn of a user's Lagrangian: points as expressions, parts between them, films and pages of them."""

import json
import pickle

import numpy as np
import pytest
from jax import numpy as jnp

import mechsim
from mechsim.render.film import animate
from mechsim.render.frames import sample
from mechsim.render.options import Options
from mechsim.render.plot import PlotOptions, plot
from mechsim.render.scene import scene_of

PENDULUM = {"points": {"O": (0, 0), "A": ("l*sin(theta)", "-l*cos(theta)")}, "parts": ["OA"], "particles": ["A"]}


def energy(q, v, t, p):
    return p.l**2 * v[0] ** 2 / 2 + 9.81 * p.l * jnp.cos(q[0])


def pendulum(draw=PENDULUM):
    return mechsim.lagrangian_system(energy, ["theta"], parameters={"l": 1.5}, draw=draw, title="Pendulum")


def elastic(draw):
    """A mass on a spring in the plane, in its own coordinates."""
    return mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1] - 20 * (jnp.sqrt(q[0] ** 2 + q[1] ** 2) - 1) ** 2,
        ["A_x", "A_y"],
        draw=draw,
    )


@pytest.fixture(scope="module")
def swing():
    return pendulum().simulate({"theta": 1}, tend=3)


def test_the_points_are_columns_with_their_rates(swing):
    theta, omega = swing(1.3)["theta"], swing.velocity(1.3)["theta"]
    row = swing.sampled([1.3])
    assert swing(1.3)["A"] == pytest.approx(row["A"][0], abs=1e-15) and "A" in list(swing(1.3))
    assert swing.velocity(np.array([0.5, 1.3]))["A"][1, 0] == pytest.approx(row["A_x_dot"][0], abs=1e-15)
    assert row["A"][0] == pytest.approx([1.5 * np.sin(theta), -1.5 * np.cos(theta)], abs=1e-14)
    assert row["A_x_dot"][0] == pytest.approx(1.5 * np.cos(theta) * omega, abs=1e-13)
    assert row["A_y_dot"][0] == pytest.approx(1.5 * np.sin(theta) * omega, abs=1e-13)
    assert dict(zip(row.labels, row.units, strict=True))["A_x_dot"] == "m/s"


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_results_carry_what_is_drawn(swing, tmp_path, ending):
    loaded = mechsim.load(swing.save(tmp_path / f"swing.{ending}"))
    scene = scene_of(loaded)
    assert [part.name for part in scene.parts] == ["OA"]
    assert list(scene.ground) == list(scene.footings) == ["O"]
    assert scene.parts[0].local[1] == pytest.approx([1.5, 0])
    frames = sample(loaded, np.linspace(0, 3, 50), scene)
    assert frames.points["A"] == pytest.approx(swing.sampled(np.linspace(0, 3, 50))["A"], abs=2e-3)


def test_other_parameters_draw_another_length(swing):
    longer = pendulum().simulate({"theta": 1}, tend=1, parameters={"l": 2.0})
    assert scene_of(longer).parts[0].local[1] == pytest.approx([2, 0])


@pytest.mark.parametrize("name", ["film.gif", "sheet.png", "page.html"])
def test_films_and_pages_are_made(swing, tmp_path, name):
    options = Options(size=(160, 120), fps=5.0, show=("energy", "forces"))
    film = animate(swing, tmp_path / name, options)
    assert (tmp_path / name).stat().st_size > 500
    assert film.frames.motion.energies["T"].max() == pytest.approx(swing.trajectory["T"].max(), rel=0.02)
    assert film.frames.notes == ("forces are not drawn: of a Lagrangian only the points are told",)


def test_plots_show_the_points(swing, tmp_path):
    notes = plot([("swing", swing.trajectory)], tmp_path / "plot.png", PlotOptions(path=("A",)))
    assert notes == ()


def test_the_page_needs_no_forces(swing, tmp_path):
    assert not animate(swing, tmp_path / "page.html", Options()).frames.notes


def test_coordinates_that_are_a_point_need_no_expression():
    motion = elastic({"points": {"O": (0, 0)}, "springs": ["OA"]}).simulate({"A_x": 0.3, "A_y": -1.2}, tend=2)
    scene = scene_of(motion)
    assert [(spring.name, spring.points) for spring in scene.springs] == [("OA", ("O", "A"))]
    assert scene.springs[0].length == pytest.approx(np.hypot(0.3, 1.2))
    assert "A_x" in motion.trajectory.labels and motion.trajectory.labels.count("A_x") == 1
    assert sample(motion, np.array([0.7]), scene).points["A"][0] == pytest.approx(motion(0.7)["A"], abs=1e-5)


def test_what_changes_its_length_is_told():
    with pytest.warns(mechsim.DrawingWarning, match="the part OA is drawn stiff, but O and A are from"):
        elastic({"points": {"O": (0, 0)}, "parts": ["OA"]}).simulate({"A_x": 0.3, "A_y": -1.2}, tend=2)


def test_a_point_may_be_a_function_and_may_move_with_time():
    draw = {
        "points": {"O": ("0.1*sin(t)", 0), "A": lambda q, t, p: (p.l * jnp.sin(q[0]), -p.l * jnp.cos(q[0]))},
        "springs": ["OA"],
    }
    motion = pendulum(draw).simulate({"theta": 1}, tend=2)
    row = motion.sampled([1.5])
    assert row["O"][0] == pytest.approx([0.1 * np.sin(1.5), 0], abs=1e-15)
    assert row["O_x_dot"][0] == pytest.approx(0.1 * np.cos(1.5), abs=1e-15)
    assert row["A_x"][0] == pytest.approx(1.5 * np.sin(motion(1.5)["theta"]), abs=1e-14)
    scene_of(motion)


def test_in_space():
    """A spherical pendulum with a square plate at its end, in angles."""
    across = ("r*sin(a)*cos(b) - 0.3*sin(b)", "r*sin(a)*sin(b) + 0.3*cos(b)", "-r*cos(a)")
    system = mechsim.lagrangian_system(
        lambda q, v, t, p: p.r**2 * (v[0] ** 2 + jnp.sin(q[0]) ** 2 * v[1] ** 2) / 2 + 9.81 * p.r * jnp.cos(q[0]),
        ["a", "b"],
        parameters={"r": 1.0},
        draw={
            "points": {"O": (0, 0, 0), "A": ("r*sin(a)*cos(b)", "r*sin(a)*sin(b)", "-r*cos(a)"), "B": across},
            "parts": ["OAB"],
        },
    )
    motion = system.simulate({"a": 1}, {"b": 2}, tend=1)
    scene = scene_of(motion, drawn=False)
    assert scene.dimension == 3 and set(scene.mechanism.points) == {"O", "A", "B"}
    assert motion.sampled([0.5])["B"].shape == (1, 3)
    found = sample(motion, np.array([0.5]), scene)
    assert found.points["B"][0] == pytest.approx(motion.sampled([0.5])["B"][0], abs=1e-4)
    geometry = json.loads(motion.trajectory.drawing.split("Rigids: ")[1].split("\n")[0])["OAB"]["Geom"]
    assert geometry[0] == pytest.approx([1, 0, 0]) and geometry[1] == pytest.approx([1, 0.3, 0])


def test_a_motion_with_a_drawing_can_be_pickled(swing):
    again = pickle.loads(pickle.dumps(swing))
    assert again.sampled([1.0])["A"] == pytest.approx(swing.sampled([1.0])["A"])
    assert scene_of(again).parts


def test_without_a_drawing_the_hint_says_how(tmp_path):
    motion = mechsim.lagrangian_system(energy, ["theta"], parameters={"l": 1.0}).simulate({"theta": 1}, tend=1)
    with pytest.raises(mechsim.MechsimError, match="do not carry") as caught:
        animate(motion, tmp_path / "x.gif", Options())
    assert "lagrangian_system(draw=...)" in caught.value.faults[0].hint


FAULTS = [
    ({"points": {"A": ("l*sin(thta)", 0)}}, "A_x of draw, 'l*sin(thta)': thta is not defined", "did you mean theta?"),
    ({"points": {"A": ("l*sin(theta", 0)}}, "A_x of draw, 'l*sin(theta': ", ""),
    ({"points": {"A": (0, 0), "B": (0, 0, 1)}}, "draw: B has 3 coordinates, but A has 2", ""),
    ({"points": {"A": (0, 1, 2, 3)}}, "draw: A must have 2 coordinates, or 3 in space", ""),
    ({"points": {"A": "theta"}}, "draw: A must have 2 coordinates, or 3 in space", ""),
    ({"points": {"tip": (0, 0)}}, "'tip' is no name for a point of draw", "a letter and digits"),
    (
        {"points": {"A": (0, 0)}, "parts": ["AB"]},
        "parts of draw: AB has the point B, which is not drawn",
        "there are A",
    ),
    ({"points": {"A": (0, 0)}, "parts": ["A"]}, "parts of draw: A needs two points or more", ""),
    ({"points": {"A": (0, 0)}, "parts": "A"}, "parts of draw must be a list of names", ""),
    ({"points": {"A": (0, 0), "B": (1, 0), "C": (2, 0)}, "springs": ["ABC"]}, "the spring ABC has 3 points", ""),
    ({"points": {"A": (0, 0)}, "particles": ["B"]}, "particles of draw has B, which is not drawn", ""),
    ({"point": {"A": (0, 0)}}, "draw has point, which is not known", "did you mean points?"),
    ({"parts": []}, "draw names no points", ""),
    ({"points": {"A": ("abs(theta)", 0)}}, "abs has no rate at zero", "sqrt"),
    ({"points": {"A": lambda q, t, p: (q[0],)}}, "draw: A has 1 coordinates, but must have 2, or 3 in space", ""),
    ({"points": {"A": lambda q: (q[0], 0)}}, "A of draw(q, t) cannot be called", "parameters last"),
    ("OA", "draw must be a mapping", ""),
]


@pytest.mark.parametrize(("draw", "message", "hint"), FAULTS, ids=[fault[1][:40] for fault in FAULTS])
def test_what_cannot_be_drawn_is_refused_at_once(draw, message, hint):
    with pytest.raises(mechsim.MechsimError) as caught:
        pendulum(draw)
    assert message in caught.value.faults[0].message
    assert hint in caught.value.faults[0].hint


def test_a_point_has_no_column_that_a_coordinate_has():
    with pytest.raises(mechsim.MechsimError, match="A would have the column A_x, a coordinate"):
        elastic({"points": {"A": ("A_x", "A_y")}})


def test_a_part_without_length_is_refused_before_the_motion():
    draw = {"points": {"O": (0, 0), "A": ("sin(theta)", 0)}, "parts": ["OA"]}
    with pytest.raises(mechsim.MechsimError, match="the first two points of the part OA are one at the start"):
        pendulum(draw).simulate({"theta": 0}, tend=1)


def test_a_spring_may_begin_without_length(tmp_path):
    draw = {"points": {"O": (0, 0), "A": ("sin(theta)", 0)}, "springs": ["OA"]}
    motion = pendulum(draw).simulate({"theta": 0}, {"theta": 1}, tend=1)
    animate(motion, tmp_path / "sheet.png", Options(size=(160, 120)))
