"""Impacts and events on the page: flashes where and when they were, jumps that are jumps, a list to jump to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mechsim
from mechsim.render.film import animate
from mechsim.render.options import Options

BALL = """
Title: Ball
PhysicalParams: {m: 2, g: 9.8}
PartData:
  Fixed: {O: [0, 1.2]}
  Particles: {P: m, Q: m}
AppliedForces: {Gravity: [0, -g]}
Contacts: {ground: {gap: P.y - 0.05*sin(7*t), e: 0.8}}
Stops: {"dist(O,Q)": {max: 1, e: 0}}
Events: {top: {when: P.vy, direction: down}}
ProblemData:
  tend: 4
  positions: {P: [[-1, fixed], [1, fixed]], Q: [[0.5, fixed], [1.2, fixed]]}
  velocities: {P: [[0.1, fixed], [0, fixed]]}
"""


@pytest.fixture(scope="module")
def ball() -> Any:
    return mechsim.simulate(BALL)


@pytest.fixture(scope="module")
def path(ball: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("events") / "ball.html"
    animate(ball, target, Options())
    return target


@pytest.fixture
def page(visit: Any, path: Path) -> Any:
    return visit("#t=0", path=path)


def first(ball: Any) -> Any:
    return next(event for event in ball.events if event.gap == "ground")


def test_values_jump_at_an_impact(page, ball):
    hit = first(ball).t
    before, after = page.ask(f"[{hit} - 1e-9, {hit}].map((t) => mechsim.film.velocity('P', t)[1])")
    assert after - before == pytest.approx(first(ball).impulse / 2, rel=1e-4)
    high = page.ask(f"mechsim.film.position('P', {hit})[1]")
    floor = page.ask("mechsim.film.data.fittings.find((each) => each.poses) !== undefined")
    assert floor and high == pytest.approx(ball(hit)["P"][1], abs=1e-4)


def test_a_flash_is_where_something_met(page, ball):
    hit = first(ball).t
    mark = "mechsim.view.screen(mechsim.view.flashes.rows.find((row) => row.name === 'ground').place)"
    page.ask(f"mechsim.clock.seek({hit} + 0.02)")
    page.settle()
    x, y = page.ask(mark)
    page.screenshot("events")
    shown = page.ask(f"mechsim.view.flashes.between({hit} - 0.01, {hit}).length")
    assert shown == 1
    red = f"[...mechsim.view.pen.getImageData({x - 14} * devicePixelRatio, {y - 14} * devicePixelRatio, 28, 28).data]"
    lit = page.ask(f"{red}.filter((value, k, all) => k % 4 === 0 && value > 150 && all[k + 1] < 120).length")
    assert lit > 20
    shown = page.picture()
    page.press("e")
    assert page.picture() != shown


def test_the_list_jumps_to_an_event(page, ball):
    page.page.click(".happened summary")
    rows = page.ask("[...document.querySelectorAll('#events button')].map((each) => each.textContent)")
    assert len(rows) == len(ball.events)
    number = next(k for k, row in enumerate(rows) if "ground" in row)
    page.page.click(f"#events li:nth-child({number + 1}) button")
    assert page.ask("mechsim.clock.time") == pytest.approx(first(ball).t, abs=1e-12)
    assert not page.ask("mechsim.clock.playing")
    assert page.ask("document.querySelectorAll('#ticks i').length") == min(len(ball.events), 300)


def test_keys_go_from_event_to_event(page, ball):
    times = sorted({event.t for event in ball.events})
    for expected in times[:2]:
        page.press("PageDown")
        assert page.ask("mechsim.clock.time") == pytest.approx(expected, abs=1e-12)
    page.press("PageUp")
    assert page.ask("mechsim.clock.time") == pytest.approx(times[0], abs=1e-12)


def test_a_rope_has_its_length(page):
    length = """(time) => {
      const [start, end] = ["O", "Q"].map((name) => mechsim.film.position(name, time));
      const rope = mechsim.film.data.fittings.find((each) => each.rope).rope;
      return [rope.length, Math.hypot(end[0] - start[0], end[1] - start[1])];
    }"""
    slack, taut = (page.ask(f"({length})({time})") for time in (0.05, 3.0))
    assert slack[0] == pytest.approx(1) and slack[1] < 0.9 and taut[1] == pytest.approx(1, abs=1e-4)
