"""The film in the page: true to the motion, true to time, and obedient to its buttons and keys."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechsim.render.page.samples import SMOOTH

EXTENT = 0.1  # metres, about: the width of the Andrews mechanism
SPEED = 1 / 333  # 0.03 s in about ten: the page plays at one part in a whole number


def test_ten_second_film_is_small(film):
    assert film.stat().st_size < 3_000_000  # the limit of the issue


def test_points_between_samples_are_where_the_motion_has_them(visit, motion):
    """Times lie between samples; the page may be off by what its own sampling allows, and by 32-bit rounding."""
    times = np.random.default_rng(1).uniform(0, 0.03, 50)
    page = visit()
    for name in "DEFGH":
        seen = np.array(
            page.ask("([name, times]) => times.map(t => mechsim.film.position(name, t))", [name, times.tolist()])
        )
        assert np.abs(seen - motion(times)[name]).max() < SMOOTH * EXTENT
    seen = np.array(page.ask("times => times.map(t => mechsim.film.velocity('F', t))", times.tolist()))
    # The derivative of a cubic has one order less: a thousandth of the peak speed, some 10 m/s.
    assert np.abs(seen - motion.velocity(times)["F"]).max() < 1e-2


def test_parts_stay_rigid_between_samples(visit):
    """The placed points of a part keep their distance to rounding, and are near the interpolated ones."""
    page = visit()
    gap, stretch = page.ask("""() => {
        let [gap, stretch] = [0, 0];
        for (const body of mechsim.film.data.bodies) {
            for (let t = 0.0001; t < 0.03; t += 0.00037) {
                const pose = mechsim.film.pose(body, t);
                stretch = Math.max(stretch, Math.abs(Math.hypot(pose.cos, pose.sin) - 1));
                body.points.forEach((name, i) => {
                    const [u, v] = body.local[i];
                    const [x, y] = mechsim.film.position(name, t);
                    const [px, py] = [pose.x + pose.cos * u - pose.sin * v, pose.y + pose.sin * u + pose.cos * v];
                    gap = Math.max(gap, Math.hypot(px - x, py - y));
                });
            }
        }
        return [gap, stretch];
    }""")
    assert stretch < 1e-12
    assert gap < 2 * SMOOTH * EXTENT  # two ends, each as far off as sampling allows


def test_a_joint_is_drawn_where_it_is(visit, motion):
    """The pin of F is light inside a dark rim: read off a row of pixels through the place the motion gives."""
    page = visit("#t=0.0123")
    page.press("n", "t")  # names and traces off
    page.ask("() => mechsim.view.zoom(6, ...mechsim.view.seen('F', mechsim.clock.time))")
    page.press("c", "c")  # draws again
    at, unit = page.ask("mechsim.view.at"), page.ask("mechsim.view.unit")
    x, y = motion(0.0123)["F"]
    here = [at["x"] + at["scale"] * x, at["y"] - at["scale"] * y]
    row = page.ask(
        """([x, y, reach]) => [...document.getElementById('view').getContext('2d')
            .getImageData(Math.round(x), Math.round(y), reach, 1).data].filter((_, place) => place % 4 === 0)""",
        [*here, math.ceil(unit)],
    )
    light = [place for place, red in enumerate(row) if red > 200]
    assert min(light) == pytest.approx(0.34 * 0.52 * unit, abs=1.5)  # the dark middle of the pin ends, to a pixel
    assert max(light) == pytest.approx(0.52 * unit - 1.5, abs=1.5)  # its rim begins, half a line and a pixel earlier


def test_plays_true_to_time(visit):
    """The film's clock against the browser's: 30 ms of motion take 10 s. Pictures come 60 times a second at best."""
    page = visit("")
    assert page.page.get_by_role("button", name="Pause").is_visible()  # it plays by itself
    read = "() => [performance.now() / 1000, mechsim.clock.time]"
    page.page.wait_for_timeout(200)
    began, start = page.ask(read)
    page.page.wait_for_timeout(1000)
    ended, stop = page.ask(read)
    assert (stop - start) / (ended - began) == pytest.approx(SPEED, rel=0.1)  # a late picture at either end


def test_play_pause_and_steps(visit):
    page = visit()
    play = page.page.get_by_role("button", name="Play", exact=True)
    page.press("Space")
    page.page.wait_for_timeout(300)
    page.press("Space")
    assert play.is_visible()
    stopped = page.time
    assert stopped > 0.01
    page.press("ArrowRight")
    assert page.time == pytest.approx(stopped + SPEED / 30)  # one picture of a 30 Hz film
    page.press("Shift+ArrowLeft")
    assert page.time == pytest.approx(stopped - 9 * SPEED / 30)
    page.press("End")
    assert page.time == pytest.approx(0.03)
    page.press("Home")
    assert page.time == 0
    page.page.get_by_role("button", name="One step forward").click()
    assert page.time == pytest.approx(SPEED / 30)
    page.page.get_by_role("button", name="One step back").click()
    assert page.time == 0
    play.click()
    assert page.page.get_by_role("button", name="Pause").is_visible()


def test_scrubbing(visit):
    page = visit()
    slider = page.page.get_by_role("slider", name="Time")
    slider.fill("5000")
    assert page.time == pytest.approx(0.015)
    page.settle()
    assert slider.get_attribute("aria-valuetext").replace("\u00a0", " ") == "t = 15 ms"
    assert page.page.locator("#clock-text").inner_text().startswith("15.00")
    slider.focus()
    page.press("ArrowRight")  # the slider's own key, one step of its ten thousand
    assert page.time == pytest.approx(0.015 + 0.03 / 10_000)


def test_speed_and_repeat(visit):
    page = visit()
    page.press("]")
    assert page.ask("mechsim.clock.speed") == pytest.approx(2 * SPEED)
    page.press("[", "[")
    assert page.ask("mechsim.clock.speed") == pytest.approx(SPEED / 2)
    page.page.get_by_role("combobox", name="Speed").select_option(index=6)
    assert page.ask("mechsim.clock.speed") == pytest.approx(10 * SPEED)
    page.page.get_by_role("button", name="Repeat").click()
    page.press("End", "Home")
    page.ask("document.activeElement.blur()")
    page.press("Space")
    page.page.wait_for_timeout(1400)  # the whole film at ten times its speed is one second
    assert page.time == pytest.approx(0.03)  # it played once, and stays at its end
    assert not page.ask("mechsim.clock.playing")


def test_still_for_those_who_want_no_motion(visit):
    page = visit("", {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"})
    page.page.wait_for_timeout(200)
    assert page.time == 0
