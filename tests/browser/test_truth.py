"""What the page says is true: curves that move, one scale for all forces, no rounding as a signal, true times."""

from __future__ import annotations

import numpy as np
import pytest

import mechsim
from mechsim.render.film import animate
from mechsim.render.options import Options

CURVES = """
Tables: {lift: {points: [[0, 0], [1, 0.4], [2, 0.1]]}}
PartData: {Fixed: {O: []}, Particles: {P: 1, Q: 1, R: 1}, Springs: {OR: [10, 1]}}
Joints:
  Curves:
    P: y - 0.1*sin(x - t)
    Q: {x: s, y: 2 + lift*s**2, s: 0.5}
    R: (x - P.x)**2 + y**2 - 4
ProblemData: {tend: 2, positions: {P: [1, 0.08], Q: [0.5, 2], R: [3]}, velocities: {P: [0.5], Q: [0.3]}}
"""
REST = """
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 7, positions: {A: [[1e-17, fixed], -1]}}
"""
FAR = """
PartData:
  Fixed: {O: [3e6, -2e6]}
  Rigids: {OA: {Geom: [[0.2]], Dyna: [[0.1], 1, 1/300]}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 3, positions: {A: [3000000.2, -2e6]}}
"""


def paged(text: str, tmp_path, **choices):
    motion = mechsim.simulate(text)
    path = tmp_path / "page.html"
    animate(motion, path, Options(**choices))
    return motion, path


def test_curves_are_where_their_formulas_have_them(visit, tmp_path):
    """At times between samples. The grid has 120 cells over some six metres: a chord strays by less than 2 mm."""
    motion, path = paged(CURVES, tmp_path)
    page = visit("#t=1", path=path)
    laws = {
        "curve of P": lambda x, y, t: y - 0.1 * np.sin(x - t),
        "curve of Q": lambda x, y, t: y - 2 - np.interp(t, [0, 1, 2], [0, 0.4, 0.1]) * x**2,
        "curve of R": lambda x, y, t: np.hypot(x - motion(t)["P_x"], y) - 2,
    }
    ask = """([name, time]) => mechsim.view.fittings.find(each => each.name === name).track.lines(time)"""
    for name, law in laws.items():
        for time in (0.0, 0.777, 1.0005, 1.9):
            lines = [np.array(line) for line in page.ask(ask, [name, time])]
            assert sum(map(len, lines)) > 20
            assert max(np.abs(law(*line.T, time)).max() for line in lines) < 2e-3
    before = page.picture()
    page.press("ArrowRight")
    assert page.picture() != before
    page.screenshot("curves")


def test_forces_and_reactions_have_one_scale(visit):
    """One key for both, and nothing that could scale one of them alone."""
    page = visit("#t=0.0123")
    page.press("f", "r")
    assert page.ask("mechsim.film.data.strength.force") > 0
    own = page.ask(
        "['forces', 'reactions'].flatMap(name => mechsim.film.data[name].flatMap(each => Object.keys(each)))"
    )
    assert set(own) == {"point", "arm", "label", "colour", "ring", "channels"}
    page.ask("""() => {
        const written = [];
        const write = mechsim.view.write.bind(mechsim.view);
        mechsim.view.write = (text, ...rest) => { written.push(text); write(text, ...rest); };
        window.written = written;
    }""")
    page.press("c")
    keys = [text for text in page.ask("window.written") if text.endswith("\u00a0N")]
    assert len(keys) == 1
    page.screenshot("forces")


def test_arrows_that_are_shown_are_in_view(visit):
    page = visit("#t=0.0123")
    page.press("f", "r", "v")
    outside = page.ask("""() => {
        const { film, view } = mechsim;
        let worst = 0;
        for (let t = film.start; t <= film.end; t += film.span / 100) {
            for (const arrow of [...film.data.forces, ...film.data.reactions]) {
                if (arrow.channels.length < 2) continue;
                const [x, y] = view.seen(arrow.point, t);
                const [u, v] = arrow.channels.map(c => film.at(c, t) * view.arrowLength() / film.data.strength.force);
                worst = Math.max(worst, -(x + u), x + u - view.width, -(y - v), y - v - view.height);
            }
        }
        return worst;
    }""")
    assert outside <= 1  # pixel


def test_rounding_is_a_straight_line(visit, tmp_path):
    page = visit("#t=1", path=paged(REST, tmp_path)[1])
    spans = page.ask("mechsim.plots.map(plot => [plot.y.low, plot.y.high])")
    assert [high - low for low, high in spans] == pytest.approx([4.905 * 1.12, 1.12, 1 / 7], rel=1e-3)
    texts = page.page.locator("figure.plot").nth(2).locator("output").all_inner_texts()
    assert [text.replace("\u00a0", " ") for text in texts] == ["0 m/s", "0 m/s"]


def test_small_motion_far_away_is_not_lost(visit, tmp_path):
    """Two thousand kilometres from the origin 32 bits alone would know no more than a quarter of a metre."""
    motion, path = paged(FAR, tmp_path)
    page = visit("#t=1", path=path)
    times = np.linspace(0.05, 2.95, 23)
    seen = np.array(page.ask("times => times.map(t => mechsim.film.position('A', t))", times.tolist()))
    assert np.abs(seen - motion(times)["A"]).max() < 1e-4  # metres: what sampling allows of 0.4 m


def test_a_picture_that_stands_has_its_own_time(visit):
    page = visit("#t=0.0123457")
    assert page.page.locator("#clock-text").inner_text().startswith("12.34570")


@pytest.mark.parametrize("low, high", [(0, 1e-5), (1e5, 1e5 + 3), (-2e-9, 7e-9), (0, 12), (123456.7, 123456.9)])
def test_no_two_marks_of_an_axis_read_alike(visit, tmp_path, low, high):
    page = visit()
    texts = page.ask(
        """([low, high]) => {
            const plot = mechsim.plots[0];
            const column = { ...mechsim.film.data.columns[1], size: 0, unit: "" };
            plot.find = () => column;
            mechsim.film.samples = () => [low, high];
            plot.layOut();
            return plot.y.marks(5).map(mark => [mark.value, mark.text]);
        }""",
        [low, high],
    )
    assert len(texts) >= 2 and len({text for _, text in texts}) == len(texts)
    for value, text in texts:
        assert float(text.replace("\u2212", "-")) == pytest.approx(value, abs=1e-3 * (high - low))
