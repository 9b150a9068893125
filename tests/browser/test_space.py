"""The 3D view of the page: seen from all sides, true to the motion, hiding what is behind, cheap to draw."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from conftest import DESKTOP, PHONE, WEBGL

import mechsim
from mechsim.render.film import animate
from mechsim.render.options import Options
from mechsim.render.scene import scene_of
from mechsim.render.surfaces import pose_of

# Two bodies on hinges that are skew, the second with a ball on a spring.
HINGES = """
Title: Skew hinges
Dimension: 3
PartData:
  Fixed: {O: [0, -0.3, 0], P: [0, 0.3, 0], Q: [1.5, 1, 0.5]}
  Rigids:
    OPAB: {Geom: [[0.6], [0, 1], [0.6, 0.8, 0.3]], Dyna: [[0.3, 0.5], 2, [0.2, 0.1, 0.3]]}
    ABC: {Geom: [[0.7], [0.2, 0.9]], Dyna: [[0.3, 0.4], 1, [0.08, 0.05, 0.12]]}
  Springs: {CQ: [5, 0.8]}
  Particles: {C: 0.2}
AppliedForces: {Gravity: [0, 0, -9.81]}
ProblemData: {tend: 2, positions: {A: [1, -0.3, 0], B: [0.8, 0.3, 0.3], C: [1.8, 0, 0]}}
"""
# A plate in the plane of x and z, and behind it, seen from the front, a ball.
SCREEN = """
Dimension: 3
PartData:
  Fixed: {O: []}
  Rigids: {OAB: {Geom: [[1], [0, 1]], Dyna: [[0.3, 0.3], 1, [0.1, 0.1, 0.2]]}}
  Particles: {D: 1}
ProblemData: {tend: 1, positions: {A: [1, 0, 0], B: [0, 0, 1], D: [0.25, 0.8, 0.25]}}
"""
CHAIN = 100
ANGLES = "[mechsim.view.camera.azimuth, mechsim.view.camera.elevation]"
TARGET = "[...mechsim.view.camera.target]"
STILL = {**DESKTOP, "reduced_motion": "reduce"}


def chain_text(count: int) -> str:
    names = ["O", *(f"P{k}" for k in range(1, count + 1))]
    rods = ", ".join(f"{a}{b}: {{Geom: [[0.1]], Dyna: [[0.05], 0.1, 1e-4]}}" for a, b in itertools.pairwise(names))
    places = ", ".join(f"{name}: [{0.06 * k:.3f}, {0.08 * k:.3f}, 0]" for k, name in enumerate(names) if k)
    balls = ", ".join(f"{name}: 0.05" for name in names[10::10])
    return (
        f"Dimension: 3\nPartData: {{Fixed: {{O: []}}, Rigids: {{{rods}}}, Particles: {{{balls}}}}}\n"
        f"AppliedForces: {{Gravity: [0, 0, -9.81]}}\nProblemData: {{tend: 0.2, positions: {{{places}}}}}\n"
    )


@pytest.fixture(scope="module")
def chromium(launch):
    """The browser of this file has WebGL."""
    browser = launch(WEBGL)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def hinges():
    return mechsim.simulate(HINGES)


@pytest.fixture(scope="session")
def pages(hinges, tmp_path_factory):
    """Pages by name, each written once."""
    folder, written = tmp_path_factory.mktemp("space"), {}

    def page(name):
        if name not in written:
            texts = {"screen": lambda: SCREEN, "chain": lambda: chain_text(CHAIN)}
            motion = hinges if name == "hinges" else mechsim.simulate(texts[name]())
            written[name] = folder / f"{name}.html"
            animate(motion, written[name], Options())
        return written[name]

    return page


@pytest.fixture
def look(visit, pages):
    """Open a page in space at a time of its own."""

    def opened(name="hinges", where="#t=0.7", settings=STILL):
        return visit(where, settings, pages(name))

    return opened


def solids(page) -> str:
    """The picture of the solids as text: drawn and read at once, for the browser keeps it no longer."""
    return str(
        page.ask("""() => {
        mechsim.view.draw(mechsim.clock.time, mechsim.settings);
        return document.getElementById('solids').toDataURL();
    }""")
    )


def colour_at(page, x, y):
    """The colour of the solids at a place of the picture."""
    return page.ask(
        """([x, y]) => {
        mechsim.view.draw(mechsim.clock.time, mechsim.settings);
        const copy = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
        const pen = copy.getContext('2d');
        const ratio = mechsim.view.ratio;
        pen.drawImage(document.getElementById('solids'), -Math.round(x * ratio), -Math.round(y * ratio));
        return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    }""",
        [x, y],
    )


def drag(page, dx, dy, *, button="left", keys=()):
    box = page.page.locator("#view").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for key in keys:
        page.page.keyboard.down(key)
    page.page.mouse.move(x, y)
    page.page.mouse.down(button=button)
    page.page.mouse.move(x + dx, y + dy, steps=4)
    page.page.mouse.up(button=button)
    for key in keys:
        page.page.keyboard.up(key)
    page.settle()


def test_dragging_turns_the_picture(look):
    page = look()
    before, angles, target = solids(page), page.ask(ANGLES), page.ask(TARGET)
    drag(page, 80, 40)
    azimuth, elevation = page.ask(ANGLES)
    assert azimuth < angles[0] - 0.1 and elevation > angles[1] + 0.1  # what is near follows the hand
    assert page.ask(TARGET) == target
    assert solids(page) != before
    drag(page, -80, -40)
    assert page.ask(ANGLES) == pytest.approx(angles)
    assert solids(page) == before
    page.screenshot("space-desktop")


@pytest.mark.parametrize("how", [{"button": "right"}, {"keys": ["Shift"]}])
def test_right_button_and_shift_move_the_picture(look, how):
    page = look()
    angles, place = page.ask(ANGLES), page.ask("mechsim.view.camera.seen(mechsim.view.camera.target.slice())")
    target = page.ask(TARGET)
    drag(page, 50, -30, **how)
    assert page.ask(ANGLES) == angles
    seen = page.ask("place => mechsim.view.camera.seen(place)", target)
    assert seen[:2] == pytest.approx([place[0] + 50, place[1] - 30])


def test_wheel_zooms_at_the_pointer_and_a_double_click_fits(look):
    page = look()
    box = page.page.locator("#view").bounding_box()
    scale = page.ask("mechsim.view.camera.scale")
    # A place as far away as the target, 100 pixels to the right of it.
    place = page.ask("""() => {
        const { camera } = mechsim.view;
        return camera.target.map((value, axis) => value + (100 / camera.scale) * camera.right[axis]);
    }""")
    before = page.ask("place => mechsim.view.camera.seen(place)", place)
    page.page.mouse.move(box["x"] + before[0], box["y"] + before[1])
    page.page.mouse.wheel(0, -300)
    page.page.wait_for_function("scale => mechsim.view.camera.scale > 1.3 * scale", arg=scale)
    after = page.ask("place => mechsim.view.camera.seen(place)", place)
    assert after[:2] == pytest.approx(before[:2], abs=1.0)  # the pointer stands on whole pixels
    page.page.mouse.dblclick(box["x"] + 400, box["y"] + 300)
    assert page.ask("mechsim.view.camera.scale") == pytest.approx(scale)


def test_keys_turn_move_and_zoom(look):
    page = look()
    angles, target, scale = page.ask(ANGLES), page.ask(TARGET), page.ask("mechsim.view.camera.scale")
    page.press("Alt+ArrowLeft", "Alt+ArrowDown")
    turned = page.ask(ANGLES)
    assert turned[0] != angles[0] and turned[1] != angles[1] and page.ask(TARGET) == target
    page.press("Alt+Shift+ArrowLeft")
    assert page.ask(TARGET) != target and page.ask(ANGLES) == turned
    page.press("+")
    assert page.ask("mechsim.view.camera.scale") == pytest.approx(1.4 * scale)
    page.press("4")
    assert page.ask(ANGLES) == pytest.approx(angles)
    assert page.ask("mechsim.view.camera.scale") == pytest.approx(scale)


@pytest.mark.parametrize(
    "key, name, right, back",
    [("1", "Front", [1, 0, 0], [0, -1, 0]), ("2", "Side", [0, 1, 0], [1, 0, 0]), ("3", "Top", [1, 0, 0], [0, 0, 1])],
)
def test_faces(look, key, name, right, back):
    """Front, side and top are those of a drawing; keys and buttons do the same."""
    page = look()
    page.press(key)
    assert page.ask("mechsim.view.camera.right") == pytest.approx(right, abs=1e-12)
    assert page.ask("mechsim.view.camera.back") == pytest.approx(back, abs=1e-12)
    picture = solids(page)
    page.page.get_by_role("button", name="Reset", exact=True).click()
    assert solids(page) != picture
    page.page.get_by_role("button", name=name, exact=True).click()
    assert solids(page) == picture
    assert page.page.locator("#live").inner_text() == f"Seen from the {name.lower()}"


def test_turning_by_itself_ends(look):
    page = look(settings=DESKTOP)
    page.press("3")
    page.page.wait_for_function("() => mechsim.view.turning === null")
    assert page.ask(ANGLES) == pytest.approx([0, math.pi / 2])


def test_fingers_turn_move_and_pinch(look):
    page = look("hinges", "#t=0.7", PHONE)
    box = page.page.locator("#view").bounding_box()
    touch = page.context.new_cdp_session(page.page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def fingers(kind, *offsets):
        points = [{"x": x + dx, "y": y + dy, "id": i} for i, (dx, dy) in enumerate(offsets)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    angles, target, scale = page.ask(ANGLES), page.ask(TARGET), page.ask("mechsim.view.camera.scale")
    fingers("touchStart", (0, 0))
    for way in (20, 40, 60):
        fingers("touchMove", (way, way / 2))
    fingers("touchEnd")
    page.settle()
    turned = page.ask(ANGLES)
    assert turned[0] < angles[0] and turned[1] > angles[1]
    assert page.ask(TARGET) == target
    fingers("touchStart", (-30, 0), (30, 0))
    for reach in (40, 50, 60):
        fingers("touchMove", (-reach, 10), (reach, 10))
    fingers("touchEnd")
    page.settle()
    assert page.ask("mechsim.view.camera.scale") == pytest.approx(2 * scale, rel=0.03)
    assert page.ask(ANGLES) == turned
    assert page.ask(TARGET) != target
    page.screenshot("space-phone")


def test_what_is_behind_is_hidden(look):
    """A ball behind a plate is seen from behind only; the plate is blue, the ball is not."""
    page = look("screen", "#t=0.5")
    page.press("n", "t", "1")
    x, y = page.ask("mechsim.view.seen('D', 0.5)")
    red, _, blue = colour_at(page, x, y)
    assert blue > red + 40
    page.ask("mechsim.view.camera.look({ azimuth: Math.PI, elevation: 0 })")
    x, y = page.ask("mechsim.view.seen('D', 0.5)")
    red, _, blue = colour_at(page, x, y)
    assert abs(blue - red) < 40


def test_solids_are_lit_and_cast_shadows(look):
    """Above, the ball is brighter than below; on the floor is a place darker than the paper around it."""
    page = look("screen", "#t=0.5")
    page.press("n", "t")
    page.ask("mechsim.view.camera.look({ azimuth: Math.PI, elevation: 0.3 })")
    radius = page.ask("mechsim.view.film.data.particles[0].radius * mechsim.view.camera.scale")
    x, y = page.ask("mechsim.view.seen('D', 0.5)")
    assert sum(colour_at(page, x, y - 0.6 * radius)) > sum(colour_at(page, x, y + 0.6 * radius)) + 60
    fall = """() => {
        const { camera, stage } = mechsim.view;
        const ball = mechsim.film.position('D', 0.5);
        const upwards = (way) => way.reduce((sum, value, k) => sum + value * camera.up[k], 0);
        const [above, along] = [upwards(ball.map((value, k) => value - stage.middle[k])), upwards(stage.light)];
        return camera.seen(ball.map((value, k) => value - (above / along) * stage.light[k]));
    }"""
    page.ask("mechsim.view.camera.look({ azimuth: 0.5, elevation: 1.2 })")
    x, y, _ = page.ask(fall)
    assert sum(colour_at(page, x, y)) < 0.9 * 3 * 250


def test_poses_are_those_of_the_motion(look, hinges):
    """The page's frames of bodies, between samples, against those that Python finds from the motion itself."""
    page = look()
    parts = [part for part in scene_of(hinges).mechanism.parts if part.kind == "rigid"]
    for time in (0.1234, 0.777, 1.9):
        frames = page.ask("t => { mechsim.view.things.move(t); return [...mechsim.view.things.frames]; }", time)
        places = {name: hinges(np.array([time]))[name][0] for name in "ABC"}
        places |= {"O": np.array([0, -0.3, 0]), "P": np.array([0, 0.3, 0])}
        for part, frame in zip(parts, np.array(frames).reshape(-1, 4, 3), strict=True):
            origin, rotation = pose_of(part, places)
            assert frame[3] == pytest.approx(origin, abs=1e-3)
            turned = frame[:3].T
            assert turned == pytest.approx(rotation, abs=3e-3)  # a fraction of a pixel


def test_playing_moves_the_parts(look):
    page = look("hinges", "", DESKTOP)
    page.page.wait_for_function("() => mechsim.clock.time > 0.05")
    first, instances = page.time, page.ask("[...mechsim.view.things.instances]")
    page.page.wait_for_function("time => mechsim.clock.time > time + 0.2", arg=first)
    assert page.ask("[...mechsim.view.things.instances]") != instances
    page.press("k", "Home")
    start = solids(page)
    page.press("End")
    assert solids(page) != start


@pytest.mark.parametrize("settings", [DESKTOP, PHONE, {"viewport": {"width": 1280, "height": 500}}])
def test_whole_motion_is_seen_also_after_resizing(look, settings):
    page = look(settings=settings)
    inside = """() => {
        const { camera, film } = mechsim.view;
        const [x, y] = camera.middle;
        const moments = Array.from({ length: 60 }, (_, k) => film.start + (film.span * k) / 59);
        return film.data.points.every(({ name }) => moments.every((time) => {
            const [px, py] = camera.seen(film.position(name, time));
            return Math.abs(px - x) <= camera.free[0] + 1 && Math.abs(py - y) <= camera.free[1] + 1;
        }));
    }"""
    assert page.ask(inside)
    width = settings["viewport"]["width"]
    page.page.set_viewport_size({"width": max(360, width - 300), "height": 620})
    page.settle()
    assert page.ask(inside)
    ratio = settings.get("device_scale_factor", 1)
    sizes = page.ask("[...document.querySelectorAll('.stage canvas')].map(each => [each.width, each.clientWidth])")
    assert all(drawn == round(ratio * shown) for drawn, shown in sizes)


@pytest.mark.parametrize("name", ["Names", "Velocities", "Forces", "Reactions", "Centroids"])
def test_toggles_write_on_the_picture(look, name):
    page = look()
    before, behind = page.picture(), solids(page)
    page.page.get_by_role("button", name=name, exact=True).click()
    assert page.picture() != before
    assert solids(page) == behind


def test_traces_are_drawn_among_the_solids(look):
    page = look("hinges", "#t=1.5")
    traced = solids(page)
    page.press("t")
    assert solids(page) != traced
    x, y = page.ask("mechsim.view.seen('B', 1.5)")
    page.page.locator("#view").click(position={"x": x, "y": y})
    assert "B" in page.ask("[...mechsim.settings.traced]")


def test_colours_follow_the_theme(look):
    page = look()
    light = colour_at(page, 5, 5)
    page.press("d")
    assert sum(colour_at(page, 5, 5)) < sum(light) - 400
    page.screenshot("space-dark")


def test_work_of_a_picture_is_small(look):
    """100 rods with balls and joints: what a picture asks of the graphics processor, counted. All instances go there in
    one piece, and equal shapes are one call."""
    page = look("chain", "#t=0.1")
    assert page.ask("mechsim.film.data.bodies.length") == CHAIN
    calls = page.ask("""() => {
        const { gl } = mechsim.view.renderer;
        const counts = { all: 0, draws: 0, bytes: 0 };
        for (const name in gl) {
            if (typeof gl[name] !== 'function') continue;
            const own = gl[name];
            gl[name] = (...given) => {
                counts.all += 1;
                if (name.startsWith('draw')) counts.draws += 1;
                if (name.startsWith('buffer')) counts.bytes += given[2].byteLength;
                return own.apply(gl, given);
            };
        }
        mechsim.view.draw(0.15, mechsim.settings);
        return counts;
    }""")
    items = page.ask("mechsim.view.things.items.length")
    assert CHAIN < items < 4 * CHAIN
    assert calls["draws"] < 20
    assert calls["all"] < 150
    assert calls["bytes"] == 64 * items


def test_without_webgl_the_page_says_so(chromium, pages):
    """Plots and the clock work, and nothing is thrown."""
    context = chromium.new_context(**DESKTOP)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.add_init_script("""
        const own = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
            return kind === 'webgl2' ? null : own.call(this, kind, ...more);
        };
    """)
    page.goto(pages("hinges").as_uri() + "#t=0.5")
    assert "WebGL 2 is missing" in page.locator("#no-solids").inner_text()
    page.keyboard.press("End")
    page.wait_for_function("() => mechsim.clock.time === 2")
    assert page.locator("figure.plot").count() == 3
    assert errors == []
    context.close()


def test_a_lost_context_comes_back(look):
    page = look()
    before = solids(page)
    page.ask("""() => new Promise((done) => {
        const { gl } = mechsim.view.renderer;
        const loser = gl.getExtension('WEBGL_lose_context');
        const canvas = document.getElementById('solids');
        canvas.addEventListener('webglcontextlost', () => setTimeout(() => loser.restoreContext(), 0));
        canvas.addEventListener('webglcontextrestored', () => setTimeout(done, 0));
        loser.loseContext();
    })""")
    page.settle()
    assert solids(page) == before
    page.complaints.clear()  # the browser tells of the loss


@pytest.mark.parametrize("width", [320, 390, 760, 1280])
def test_nothing_overflows_or_overlaps(look, width):
    page = look("hinges", "#t=0.7", {"viewport": {"width": width, "height": 640}, "has_touch": width < 800})
    assert page.ask("document.documentElement.scrollWidth") <= width
    apart = page.ask("""() => {
        const [a, b] = ['.views', '.zoom'].map(name => document.querySelector(name).getBoundingClientRect());
        return a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    }""")
    assert apart
    for button in page.page.locator(".views button:visible").all():
        box = button.bounding_box()
        assert box["height"] >= 32 and box["width"] >= 32
