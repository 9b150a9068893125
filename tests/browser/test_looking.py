"""The page as people use it: looking around, choosing what is shown, plots, colours, phones, screen readers."""

from __future__ import annotations

import itertools

import pytest
from conftest import DESKTOP, PHONE

import mechsim
from mechsim.render.film import animate
from mechsim.render.options import Options

DARK = {**DESKTOP, "color_scheme": "dark"}


def test_wheel_zooms_at_the_pointer(visit):
    page = visit()
    box = page.page.locator("#view").bounding_box()
    spot = [200, 150]
    world = (
        "([x, y]) => [(x - mechsim.view.at.x) / mechsim.view.at.scale, (mechsim.view.at.y - y) / mechsim.view.at.scale]"
    )
    before, scale = page.ask(world, spot), page.ask("mechsim.view.at.scale")
    page.page.mouse.move(box["x"] + spot[0], box["y"] + spot[1])
    page.page.mouse.wheel(0, -300)
    page.page.wait_for_function("scale => mechsim.view.at.scale > 1.3 * scale", arg=scale)
    assert page.ask(world, spot) == pytest.approx(before)
    page.page.mouse.dblclick(box["x"] + 400, box["y"] + 400)
    page.settle()
    assert page.ask("mechsim.view.at.scale") == pytest.approx(scale)


def test_dragging_moves_the_picture(visit):
    page = visit()
    box = page.page.locator("#view").bounding_box()
    before = page.ask("[mechsim.view.at.x, mechsim.view.at.y]")
    page.page.mouse.move(box["x"] + 300, box["y"] + 300)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 350, box["y"] + 270, steps=4)
    page.page.mouse.up()
    page.settle()
    assert page.ask("[mechsim.view.at.x, mechsim.view.at.y]") == pytest.approx([before[0] + 50, before[1] - 30])
    page.press("Alt+ArrowLeft", "0")
    assert page.ask("[mechsim.view.at.x, mechsim.view.at.y]") == pytest.approx(before)


def test_two_fingers_zoom(visit):
    page = visit("#t=0.01", PHONE)
    box = page.page.locator("#view").bounding_box()
    scale = page.ask("mechsim.view.at.scale")
    touch = page.context.new_cdp_session(page.page)

    def fingers(kind, *offsets):
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        points = [{"x": middle[0] + dx, "y": middle[1], "id": i} for i, dx in enumerate(offsets)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", -30, 30)
    for reach in (40, 50, 60):
        fingers("touchMove", -reach, reach)
    fingers("touchEnd")
    page.settle()
    assert page.ask("mechsim.view.at.scale") == pytest.approx(2 * scale, rel=0.02)  # touches are whole pixels


def test_keys_zoom(visit):
    page = visit()
    scale = page.ask("mechsim.view.at.scale")
    page.press("+")
    assert page.ask("mechsim.view.at.scale") == pytest.approx(1.4 * scale)
    page.press("-", "-")
    assert page.ask("mechsim.view.at.scale") == pytest.approx(scale / 1.4)
    page.press("0")
    assert page.ask("mechsim.view.at.scale") == pytest.approx(scale)


def test_whole_motion_stays_in_view(visit):
    for settings in (DESKTOP, PHONE):
        page = visit("#t=0.01", settings)
        inside = page.ask("""() => {
            const { film, view } = mechsim;
            const [top, bottom] = [view.room.top, view.height - view.room.bottom];
            for (let t = film.start; t <= film.end; t += film.span / 200) {
                for (const point of film.data.points) {
                    const [x, y] = view.seen(point.name, t);
                    if (x < 0 || x > view.width || y < top || y > bottom) return false;
                }
            }
            return true;
        }""")
        assert inside


@pytest.mark.parametrize("key, name", [("n", "Names"), ("t", "Traces"), ("v", "Velocities"), ("f", "Forces"),
                                       ("c", "Centroids"), ("r", "Reactions")])  # fmt: skip
def test_toggles_change_the_picture(visit, key, name):
    page = visit()
    button = page.page.get_by_role("button", name=name, exact=True)
    pressed, picture = button.get_attribute("aria-pressed"), page.picture()
    page.press(key)
    assert button.get_attribute("aria-pressed") != pressed
    changed = page.picture()
    assert changed != picture
    assert page.page.locator("#live").inner_text().startswith(name)
    button.click()
    assert page.picture() == picture


def test_clicking_a_point_traces_it(visit):
    page = visit("#t=0.02")
    x, y = page.ask("mechsim.view.seen('H', mechsim.clock.time)")
    page.page.locator("#view").click(position={"x": x, "y": y})
    assert "H" in page.ask("[...mechsim.settings.traced]")
    page.page.get_by_text("Points", exact=True).click()
    box = page.page.get_by_role("checkbox", name="H")
    assert box.is_checked()
    box.uncheck()
    assert "H" not in page.ask("[...mechsim.settings.traced]")


def test_plots_follow_the_film(visit):
    page = visit()
    figure = page.page.locator("figure.plot").first
    values = figure.locator("output").all_inner_texts()
    cursor = "document.querySelector('.cursor').toDataURL()"
    before = page.ask(cursor)
    page.press("End")
    assert figure.locator("output").all_inner_texts() != values
    assert page.ask(cursor) != before
    box = figure.locator(".cursor").bounding_box()
    page.page.mouse.click(box["x"] + 50 + 0.5 * (box["width"] - 62), box["y"] + 80)  # the middle of the axis
    assert page.time == pytest.approx(0.015, abs=0.03 / box["width"])  # a pixel


def test_columns_are_chosen(visit):
    page = visit()
    page.page.get_by_role("button", name="Add a plot").click()
    figure = page.page.locator("figure.plot").last
    assert page.ask("document.activeElement.getAttribute('aria-label')") == "Add a curve"
    figure.get_by_label("Add a curve").select_option("F_x_dot")
    figure.get_by_label("Horizontal axis").select_option("F_x")
    assert figure.get_by_role("img", name="F_x_dot against F_x").is_visible()
    drawn = "document.querySelectorAll('.curves')[3].toDataURL()"
    before = page.ask(drawn)
    figure.get_by_role("button", name="Remove the curve F_x_dot").click()
    page.settle()
    assert page.ask(drawn) != before
    count = page.page.locator("figure.plot").count()
    figure.get_by_role("button", name="Remove plot").click()
    assert page.page.locator("figure.plot").count() == count - 1


def test_colours_follow_the_system_and_the_button(visit):
    page = visit("#t=0.01", DARK)
    assert page.ask("document.documentElement.dataset.theme") == "dark"
    page.press("d")
    assert page.ask("document.documentElement.dataset.theme") == "light"
    page.page.emulate_media(color_scheme="light")
    page.page.get_by_role("button", name="Dark colours").click()
    assert page.ask("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"


@pytest.mark.parametrize("settings", [DESKTOP, DARK])
def test_text_is_readable(visit, settings):
    """WCAG 2: a contrast of 4.5 for text, of 3 for what marks a control or a curve."""
    page = visit("#t=0.01", settings)
    contrast = """([front, back]) => {
        const style = getComputedStyle(document.documentElement);
        const light = (name) => {
            const hex = style.getPropertyValue(name).trim();
            const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255)
                .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
        };
        const [a, b] = [light(front), light(back)];
        return Math.max(a, b) / Math.min(a, b);
    }"""
    texts = [("--ink", "--paper"), ("--muted", "--paper"), ("--muted", "--panel"), ("--on-accent", "--accent")]
    marks = [(f"--curve-{i}", "--paper") for i in range(6)] + [("--velocity", "--paper"), ("--force", "--paper")]
    for pairs, least in ((texts, 4.5), (marks, 3.0)):
        for pair in pairs:
            assert page.ask(contrast, list(pair)) > least, pair


@pytest.mark.parametrize("width", [320, 390, 760, 844, 1280])
def test_nothing_overflows(visit, width):
    page = visit("#t=0.01", {"viewport": {"width": width, "height": 640}, "has_touch": width < 800})
    assert page.ask("document.documentElement.scrollWidth") <= width
    play = page.page.get_by_role("button", name="Play", exact=True).bounding_box()
    assert play["y"] + play["height"] <= 640  # at hand without scrolling
    overlaps = page.ask("""() => {
        const boxes = [...document.querySelectorAll('.transport > *')].map(each => each.getBoundingClientRect());
        return boxes.some((a, i) => boxes.some((b, j) => i < j && a.left < b.right - 1 && b.left < a.right - 1
            && a.top < b.bottom - 1 && b.top < a.bottom - 1));
    }""")
    assert not overlaps


def test_fingers_find_the_buttons(visit):
    page = visit("#t=0.01", PHONE)
    for button in page.page.locator("button:visible, summary:visible").all():
        box = button.bounding_box()
        assert box["height"] >= 32 and box["width"] >= 32, button.inner_text()


def test_everything_has_a_name_and_focus_goes_in_order(visit):
    page = visit()
    nameless = page.ask("""() => [...document.querySelectorAll('button, select, input, canvas[role=img], dialog')]
        .filter(each => !(each.getAttribute('aria-label') || each.getAttribute('aria-labelledby') || each.labels?.length
            || each.textContent.trim())).map(each => each.outerHTML)""")
    assert nameless == []
    seen = []
    for _ in range(20):
        page.press("Tab")
        seen.append(page.ask("document.activeElement.id || document.activeElement.textContent.trim()"))
    order = ["theme", "help-open", "view", "Names", "Traces", "zoom-in", "step-back", "play", "scrub", "speed", "loop"]
    places = [seen.index(name) for name in order]
    assert all(a < b for a, b in itertools.pairwise(places))


def test_help(visit):
    page = visit()
    page.press("?")
    assert page.page.get_by_role("dialog", name="Keys").is_visible()
    before = page.time
    page.press("Escape", "ArrowRight")
    assert not page.page.get_by_role("dialog").is_visible()
    assert page.time > before


def test_hostile_title_is_only_text(visit, tmp_path):
    title = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 1'>{{film}} <!-- & \\"
    text = f"""
Title: "{title.replace(chr(92), chr(92) * 2)}"
PartData:
  Fixed: {{O: []}}
  Rigids: {{OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}}
AppliedForces:
  Gravity:
ProblemData: {{tend: 4, positions: {{A: [1]}}}}
"""
    path = tmp_path / "title.html"
    animate(mechsim.simulate(text), path, Options())
    page = visit("#t=1", path=path)
    assert page.page.get_by_role("heading", level=1).inner_text() == title
    assert page.page.title() == " ".join(title.split())
    assert page.ask("window.broken") is None


def test_notes_are_told(visit, motion, tmp_path):
    """A motion cut short says so on its page."""
    motion.save(tmp_path / "whole.csv")
    text = (tmp_path / "whole.csv").read_text()
    (tmp_path / "cut.csv").write_text(text[: int(0.8 * len(text))])
    path = tmp_path / "cut.html"
    film = animate(mechsim.load(tmp_path / "cut.csv"), path, Options())
    assert film.frames.notes
    assert film.frames.notes[0] in visit("#t=0.01", path=path).page.locator(".notes").first.inner_text()


def test_screenshots(visit):
    """For people to look at: build/screenshots."""
    visit("#t=0.0125", DESKTOP).screenshot("desktop")
    visit("#t=0.0125", PHONE).screenshot("phone")
    everything = visit("#t=0.0135", DARK)
    everything.press("v", "f", "c")
    everything.screenshot("dark")
    helping = visit("#t=0.0135", {**PHONE, "color_scheme": "dark"})
    helping.press("?")
    helping.screenshot("phone-help")
