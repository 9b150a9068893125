"""The interactive page without a browser: its data, its text, and `mechsim open`."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest

import mechsim
from mechsim.cli.main import main
from mechsim.render.film import animate, prepare
from mechsim.render.forces import with_arrows
from mechsim.render.frames import sample
from mechsim.render.options import Options
from mechsim.render.page.data import bounds
from mechsim.render.page.samples import interpolation_gap, smooth_samples
from mechsim.render.scene import scene_of

SPECS = Path(__file__).parents[1] / "specs"


@pytest.fixture(scope="module")
def andrews():
    return mechsim.simulate(SPECS / "andrews.yaml")


def film_in(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="film">(.*?)</script>', text, re.S)[1])


def written(motion, tmp_path, **choices) -> str:
    path = tmp_path / "page.html"
    animate(motion, path, Options(**choices))
    return path.read_text()


def test_numbers_come_back(andrews, tmp_path):
    """Packed as 32-bit floats: seven digits of values, and slopes per sample that are the velocities."""
    film = film_in(written(andrews, tmp_path))
    numbers = np.frombuffer(base64.b64decode(film["numbers"]), "<f4").reshape(-1, 2, film["count"]).astype(float)
    times = np.linspace(film["start"], film["end"], film["count"])
    channel = next(column["channel"] for column in film["columns"] if column["label"] == "F_x")
    assert numbers[channel, 0] + film["offsets"][channel] == pytest.approx(andrews(times)["F_x"], rel=1e-6, abs=1e-9)
    rates = numbers[channel, 1] / (times[1] - times[0])
    assert rates == pytest.approx(andrews.velocity(times)["F_x"], rel=1e-6, abs=1e-5)


def test_columns_are_those_of_the_table(andrews, tmp_path):
    labels = [column["label"] for column in film_in(written(andrews, tmp_path))["columns"]]
    assert set(andrews.trajectory.labels) | {"T+V"} == set(labels)


def test_window_of_time_and_choices(andrews, tmp_path):
    film = film_in(
        written(andrews, tmp_path, start=0.01, stop=0.02, speed=0.002, trace=("E",), theme="dark", loop=False)
    )
    assert (film["start"], film["end"]) == pytest.approx((0.01, 0.02))
    assert film["speed"] == 0.002
    assert film["traced"] == ["E"]
    assert film["theme"] == "dark"
    assert film["loop"] is False


def test_samples_are_dense_enough(andrews):
    """The gap that cubics leave is judged, then halving the interval is repeated: fourth order, so it ends soon."""
    scene = scene_of(andrews)
    frames = smooth_samples(andrews.trajectory, scene, 0.0, 0.03)
    assert interpolation_gap(frames) < 3e-4 * 0.11
    coarse = sample(andrews, np.linspace(0, 0.03, 31), scene)
    assert interpolation_gap(coarse) > 3e-4 * 0.11


def test_a_motion_too_long_for_a_page_is_said(andrews, tmp_path, monkeypatch):
    """Where a page may not hold enough moments, it says by how much it is off between them."""
    from mechsim.render.page import samples

    assert animate(andrews, tmp_path / "page.html", Options()).frames.notes == ()
    monkeypatch.setattr(samples, "FEWEST_SAMPLES", 21)
    monkeypatch.setattr(samples, "MOST_NUMBERS", 1000)
    (note,) = animate(andrews, tmp_path / "page.html", Options()).frames.notes
    assert "the page holds 21 moments" in note and "--to" in note
    assert note in (tmp_path / "page.html").read_text()


def test_bounds_hold_every_outline(andrews):
    scene = scene_of(andrews)
    frames = sample(andrews, np.linspace(0, 0.03, 100), scene)
    left, bottom, right, top = bounds(scene, frames, None)
    for name, place in frames.points.items():
        assert (place > [left, bottom]).all() and (place < [right, top]).all(), name
    assert bounds(scene, frames, "-1,1,-2,0") == pytest.approx([-1, -2, 1, 0])


def test_nothing_of_the_mechanism_file_is_markup(tmp_path):
    title = "</script><script>alert(1)</script>&{{film}}"
    text = (SPECS / "pendulum.yaml").read_text()
    motion = mechsim.simulate(re.sub("(?m)^Title:.*$", f"Title: '{title}'", text))
    page = written(motion, tmp_path)
    assert "<script>alert" not in page
    assert film_in(page)["title"] == title
    assert page.count("<script") == 2


def test_page_asks_for_nothing(andrews, tmp_path):
    page = written(andrews, tmp_path)
    assert "default-src 'none'" in page
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page) == []
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page) == []


def reaction(motion, label, times):
    scene = scene_of(motion)
    frames = sample(motion, times, scene)
    return next(arrow.vectors for arrow in reactions_of(scene, frames) if arrow.label == label)


def reactions_of(scene, frames):
    return with_arrows(frames, scene, ("reactions",)).arrows


def test_reaction_carries_the_pendulum():
    """Newton at the centroid of a uniform rod: the pivot gives m (a - g). Both sides are exact: rounding only."""
    text = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[2]], Dyna: [[1], 3, 1]}}}
AppliedForces: {Gravity: [0, -10]}
ProblemData: {tend: 2, positions: {A: [2, 0]}}
"""
    motion = mechsim.simulate(text)
    times = np.linspace(0.1, 1.9, 7)
    x, y = motion(times)["A"].T / 2
    u, v = motion.velocity(times)["A"].T / 2
    spin = x * v - y * u  # the centroid moves on a circle of radius 1
    turn = -10 * 3 * x / (1 + 3)  # torque of gravity over the inertia about O
    acceleration = np.stack([-(spin**2) * x - turn * y, -(spin**2) * y + turn * x], axis=1)
    expected = 3 * (acceleration - [0, -10])
    assert reaction(motion, "on OA at O", times) == pytest.approx(expected, abs=1e-9)


def test_reactions_are_equal_and_opposite(andrews, tmp_path):
    """At a joint of rigid parts alone the forces cancel; at D the spring's pull takes their place. Peak: 334 N."""
    scene = scene_of(andrews)
    frames = sample(andrews, np.linspace(0, 0.03, 50), scene)
    arrows = reactions_of(scene, frames)
    for joint in "FEGH":
        total = sum(arrow.vectors for arrow in arrows if arrow.point == joint)
        assert np.abs(total).max() < 1e-8
    along = scene.ground["C"] - frames.points["D"]
    length = np.hypot(*along.T)[:, None]
    pull = 4530 * (length - 7785e-5) * along / length
    assert reaction(andrews, "on BED at D", frames.t) == pytest.approx(pull, abs=1e-8)


def test_reactions_without_series_are_solved_for(andrews, tmp_path):
    """A CSV has no Taylor series: rows at the steps are exact, so there both ways agree to the solver's digits."""
    andrews.save(tmp_path / "out.csv")
    times = andrews.t[3:60:8]
    loaded = mechsim.load(tmp_path / "out.csv")
    exact, solved = (reaction(each, "on OF at O", times) for each in (andrews, loaded))
    assert solved == pytest.approx(exact, abs=1e-5 * 334)


def test_redundant_constraints_hide_reactions():
    """A parallelogram with a third rod: its multipliers are not unique, so no arrow may claim a force."""
    text = """
PartData:
  Fixed: {A: [], B: [1], C: [2]}
  Rigids: {"AD, BE, CF": {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}, DFE: {Geom: [[2], [1]], Dyna: [[1], 1, 0.1]}}
AppliedForces:
  Gravity:
ProblemData: {tend: 1, positions: {D: [0.5, -0.9], E: [1.5, -0.9], F: [2.5, -0.9]}}
"""
    motion = mechsim.simulate(text)
    film = prepare(motion, Options(show=("reactions",)))
    assert film.frames.arrows == ()
    assert any("redundant" in note for note in film.frames.notes)


def test_reactions_know_drives_tables_and_slots():
    """The same forces as `Motion.reaction`, from the table alone: one code computes both. Peak: about 60 N."""
    text = """
Piecewise: {push: [[0, 5], [0.4, 20], [0.8, -3*t]]}
PartData:
  Fixed: {O: [], R: [1]}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}, AB: {Geom: [[3]], Dyna: [[1.5], 3, 27/12]}}
  Particles: {B: 2}
Joints: {Slots: {B-OR: []}}
AppliedForces: {Gravity: , Forces: {B: [push, 0]}}
Drives: {theta_OA: pi/2 + 5*t}
ProblemData: {tend: 1, positions: {A: [0, 1], B: [2.8]}}
"""
    motion = mechsim.simulate(text)
    times = np.linspace(0.05, 0.95, 19)
    for label, point, part in (("on OA at O", "O", "OA"), ("on AB at B", "B", "AB")):
        expected = motion.reaction(point, times)[part]
        assert reaction(motion, label, times) == pytest.approx(expected, abs=1e-8)


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(words)
    return int(left.value.code or 0)


def test_open_writes_the_page_and_says_where(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shown: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda address: bool(shown.append(address)) or True)
    assert run("open", str(SPECS / "pendulum.yaml")) == 0
    assert "pendulum.html" in capsys.readouterr().out
    assert shown == [(tmp_path / "pendulum.html").as_uri()]
    assert run("open", str(SPECS / "pendulum.yaml"), "--no-browser") == 0  # a page of ours may be replaced
    assert len(shown) == 1


def test_open_takes_results_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mechsim.simulate(SPECS / "pendulum.yaml").save("swing.npz")
    assert run("open", "swing.npz", "--no-browser") == 0
    assert (tmp_path / "swing.html").is_file()
    assert run("open", "swing.npz", "--no-browser", "--tend", "3") == 2


@pytest.mark.parametrize(
    "words, said",
    [
        (("missing.yaml",), "missing.yaml"),
        (("pendulum.yaml", "-o", "page.mp4"), ".html"),
        (("pendulum.yaml", "-o", "none/page.html"), "does not exist"),
        (("pendulum.yaml",), "not written by mechsim"),
    ],
)
def test_open_refuses_with_reasons(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.yaml").write_text((SPECS / "pendulum.yaml").read_text())
    (tmp_path / "pendulum.html").write_text("my own page")
    assert run("open", *words, "--no-browser") == 2
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pendulum.html", "pendulum.yaml"]
    assert (tmp_path / "pendulum.html").read_text() == "my own page"
