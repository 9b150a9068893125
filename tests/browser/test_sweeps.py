"""The page of a sweep: sliders and charts pick the case, and the case they pick is the one that moves."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import DESKTOP, PHONE

sys.path.insert(0, str(Path(__file__).parents[1]))

import sweeps

import mechsim
from mechsim.render.options import Options
from mechsim.render.page.cases import write_sweep

DARK = {**DESKTOP, "color_scheme": "dark"}


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    table = sweeps.pendulum(5, 4)
    path = tmp_path_factory.mktemp("sweep") / "pendulum.html"
    write_sweep(table, path, Options())
    return table, path


@pytest.fixture(scope="module")
def draws(tmp_path_factory):
    table = sweeps.andrews(60)
    path = tmp_path_factory.mktemp("sweep") / "andrews.html"
    write_sweep(table, path, Options())
    return table, path


def case(page):
    return page.ask("mechsim.sweep.case")


def test_sliders_pick_the_case_and_its_motion(visit, grid):
    """The pendulum of the case that the sliders say is drawn: its bob is where the motion has it, to what 16 bits and
    cubics between samples allow, a thousandth of the largest pendulum."""
    table, path = grid
    page = visit("#t=0.7", path=path)
    for l, g in ((4, 0), (3, 3), (2, 1)):
        for index, value in ((0, l), (1, g)):
            page.page.locator("#sliders input").nth(index).fill(str(value))
        page.settle()
        number = l * 4 + g
        assert case(page) == number
        motion = mechsim.simulate(sweeps.SPECS / "pendulum.yaml", parameters=table.case(number), tend=2.0)
        seen = page.ask("mechsim.film.position('A', 1.234)")
        assert np.abs(np.array(seen) - motion(1.234)["A"]).max() < 1.4e-3
        assert page.ask("mechsim.clock.time") == pytest.approx(0.7)
        told = page.page.locator("#case-measures dd").first.inner_text()
        said, unit = told.replace("\u2212", "-").split("\u00a0")
        metres = float(said) * {"m": 1, "mm": 1e-3, "\u00b5m": 1e-6}[unit]
        # Five digits, of numbers of 32 bits.
        assert metres == pytest.approx(table["final(A_x)"][number], rel=1e-4, abs=2e-7)
    page.screenshot("sweep-grid")


def test_a_case_that_failed_says_why(visit, grid):
    page = visit("#t=0.7&case=0", path=grid[1])
    assert page.page.locator("#no-motion").inner_text() == "There is no motion of this case. it does not close"
    assert page.page.locator("#case-status").inner_text() == "not read"
    assert page.page.locator("#plots").is_hidden()
    page.screenshot("sweep-failed")
    page.page.locator("#sliders input").first.fill("4")
    page.settle()
    assert page.page.locator("#no-motion").is_hidden() and page.page.locator("#plots").is_visible()


def test_a_click_into_a_map_picks_the_cell(visit, grid):
    page = visit("#t=0.7", path=grid[1])
    spot = page.ask("mechsim.charts[0].spot(18)")  # l is the last, g the third
    page.page.locator(".chart .cursor").first.click(position={"x": spot[0], "y": spot[1]})
    page.settle()
    assert case(page) == 18
    assert page.page.locator("#sliders input").nth(1).input_value() == "2"
    spot = page.ask("mechsim.charts[1].spot(14)")  # the curve along l
    page.page.locator(".chart .cursor").nth(1).click(position={"x": spot[0], "y": 60})
    page.settle()
    assert case(page) == 14


def test_a_click_into_dots_picks_the_draw(visit, draws):
    page = visit("#t=0.01", DARK, draws[1])
    spot = page.ask("mechsim.charts[0].spot(17)")
    page.page.locator(".chart .cursor").first.click(position={"x": spot[0], "y": spot[1]})
    page.settle()
    picked = case(page)
    there = page.ask("number => mechsim.charts[0].spot(number)", picked)
    assert np.hypot(there[0] - spot[0], there[1] - spot[1]) < 2  # the same dot, or one that covers it
    shown = dict(zip(page.page.locator("#case-drawn dt").all_inner_texts(),
                     page.page.locator("#case-drawn dd").all_inner_texts(), strict=True))  # fmt: skip
    assert float(shown["c0"]) == pytest.approx(float(draws[0]["c0"][picked]), rel=1e-5)
    header = page.page.locator(".top .parameters").inner_text()
    assert f"{float(draws[0]['mom'][picked]):.6g}" in header  # parameters in the heading are those of the case
    page.screenshot("sweep-draws-dark")


def test_keys_go_through_the_cases(visit, grid):
    page = visit("#t=0.7&case=14", path=grid[1])
    page.press(".")
    assert case(page) == 15
    assert page.page.locator("#live").inner_text().startswith("Case 15: l =")
    page.press(",", ",")
    assert case(page) == 13
    page.press("n")  # other keys do what they did
    assert not page.ask("mechsim.settings.names")
    page.page.locator("#sliders input").nth(1).focus()
    page.press("ArrowRight")  # on a slider arrows belong to it, and the time stays
    assert case(page) == 14 and page.time == pytest.approx(0.7)


def test_zoom_and_choices_stay_while_the_case_changes(visit, grid):
    page = visit("#t=0.7&case=14", path=grid[1])
    page.press("+", "v")
    before = page.ask("[mechsim.view.at.scale, mechsim.settings.velocities]")
    page.press(".")
    assert page.ask("[mechsim.view.at.scale, mechsim.settings.velocities]") == before


def test_charts_change_what_they_show(visit, grid):
    page = visit("#t=0.7", path=grid[1])
    chart = page.page.locator(".chart").first
    picture = "document.querySelector('.chart .curves').toDataURL()"
    before = page.ask(picture)
    chart.get_by_label("Measure").select_option("min(A_x)")
    page.settle()
    after = page.ask(picture)
    assert after != before
    chart.get_by_label("Parameters").select_option(label="g")
    page.settle()
    assert page.ask(picture) != after
    assert "min(A_x) against g" in chart.locator(".curves").get_attribute("aria-label")


def test_axes_stay_while_the_case_changes(visit, grid):
    page = visit("#t=0.7&case=14", path=grid[1])
    ends = "[mechsim.plots[1].y.low, mechsim.plots[1].y.high]"
    before = page.ask(ends)
    page.press(".", ".", ".", ".")
    assert page.ask(ends) == before


def test_a_phone_has_sliders_for_fingers(visit, grid):
    page = visit("#t=0.7", PHONE, grid[1])
    box = page.page.locator("#sliders input").first.bounding_box()
    assert box["height"] >= 44 and box["width"] > 150
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot("sweep-phone")


def test_a_motion_plays_on_in_another_case(visit, grid):
    page = visit("", path=grid[1])
    page.page.wait_for_function("() => mechsim.clock.playing && mechsim.clock.time > 0.02")
    page.press(".")
    assert page.ask("mechsim.clock.playing")


def test_no_sweep_no_sliders(visit):
    page = visit()
    assert page.page.locator(".case").is_hidden() and page.page.locator("#charts").is_hidden()
    assert page.ask("mechsim.sweep === null")
