"""The interactive page in a real browser. Collected only when this folder is named: `make test-browser` does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mechsim
from mechsim.render.film import animate
from mechsim.render.options import Options

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"  # to be looked at, not only asserted

# As root Chromium has no sandbox to offer, and on a closed network it must not try to call home.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# WebGL without a graphics card: the processor draws, which is slow for pages that do not need it.
WEBGL = [*(flag for flag in FLAGS if flag != "--disable-gpu"), "--use-gl=angle", "--use-angle=swiftshader",
         "--enable-unsafe-swiftshader"]  # fmt: skip
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return None if any("browser" in argument for argument in config.args) else True


@pytest.fixture(scope="session")
def launch() -> Iterator[Callable[[list[str]], Any]]:
    """Start a Chromium with these flags; all end with the session."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "no Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        yield lambda flags: playwright.chromium.launch(executable_path=path, args=flags)


@pytest.fixture(scope="session")
def chromium(launch: Callable[[list[str]], Any]) -> Iterator[Any]:
    browser = launch(FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def motion() -> Any:
    return mechsim.simulate(ROOT / "specs" / "andrews.yaml")


@pytest.fixture(scope="session")
def film(motion: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the Andrews mechanism: a film of ten seconds."""
    path = tmp_path_factory.mktemp("page") / "andrews.html"
    animate(motion, path, Options())
    return path


class Visit:
    """One page opened in a context of its own, with everything it asked for and complained of."""

    def __init__(self, chromium: Any, path: Path, where: str, settings: dict[str, Any]):
        self.context = chromium.new_context(**settings)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri() + where)
        self.settle()

    def settle(self) -> None:
        """Wait until what was asked for has been drawn."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def ask(self, expression: str, argument: Any = None) -> Any:
        return self.page.evaluate(expression, argument)

    @property
    def time(self) -> float:
        return float(self.ask("mechsim.clock.time"))

    def picture(self) -> str:
        """The canvas as text, to see whether it has changed."""
        self.settle()
        return str(self.ask("document.getElementById('view').toDataURL()"))

    def screenshot(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


@pytest.fixture
def visit(chromium: Any, film: Path) -> Iterator[Callable[..., Visit]]:
    """Open the page (`visit()`, `visit("#t=0.01", PHONE)`); no visit may make the page complain or fetch anything."""
    visits: list[Visit] = []

    def opened(where: str = "#t=0.01", settings: dict[str, Any] = DESKTOP, path: Path = film) -> Visit:
        visits.append(Visit(chromium, path, where, settings))
        return visits[-1]

    yield opened
    for each in visits:
        assert each.complaints == []
        assert [url for url in each.requests if not url.startswith(("file:", "data:"))] == []
        each.context.close()
