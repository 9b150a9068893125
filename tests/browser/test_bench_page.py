"""The page that compares two batches: columns sort, cards choose, everything fits, and nothing is fetched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import DESKTOP, PHONE, SCREENSHOTS

from mechsim.study.regression import Figures, Value, judged
from mechsim.study.regression_page import comparison
from mechsim.study.regression_report import Report

FOUND = Figures(
    "finished", title="A", values=(Value("A_x", 1.0, 12.0, 10.0),), energy=1e-15, steps=100, rejected=0, seconds=0.01
)


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    old = {"a": FOUND, "b": replace(FOUND, steps=90), "c": FOUND}
    new = {"a": FOUND, "b": FOUND, "c": replace(FOUND, values=(Value("A_x", 1.0, 15.0, 10.0),)), "d": FOUND}
    reports = [Report(tuple(judged(f"specs/{k}.yaml", f, None) for k, f in each.items())) for each in (old, new)]
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(comparison(*reports), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "settings", [DESKTOP, {**DESKTOP, "color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"]
)
def test_sorting_and_choosing(chromium, compared, settings, request):
    context = chromium.new_context(**settings)
    page = context.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: requests.append(asked.url))
    page.goto(compared.as_uri())

    def shown():
        return page.eval_on_selector_all("tbody tr:not([hidden]) .spec", "all => all.map(each => each.textContent[6])")

    assert shown() == ["b", "c", "d", "a"]  # worse, better, new, same
    page.click("thead button:text('spec')")
    assert shown() == ["a", "b", "c", "d"]
    page.click("thead button:text('digits')")
    page.click("thead button:text('digits')")
    assert shown()[0] == "c"
    assert page.get_attribute("thead th:nth-child(3)", "aria-sort") == "descending"
    page.click(".card.worse")
    page.click(".card.new")
    assert sorted(shown()) == ["b", "d"]
    page.click(".card.worse")
    page.click(".card.new")
    assert len(shown()) == 4
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"bench-{request.node.callspec.id}.png")
    # Only the table may be wider than the window, and scrolls by itself.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (complaints, requests) == ([], [compared.as_uri()])
    context.close()
