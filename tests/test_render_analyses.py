"""Pictures of analyses: axes have names and units, words above panels do not collide, axes are as long as what they
show."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import mechsim
from mechsim.analysis.section import Section
from mechsim.analysis.turning import in_one_piece
from mechsim.render import basins, optimum, orbits, paper, rests, sections
from mechsim.render.labels import MINUS, named, tell_unit
from mechsim.render.panels import legend

SPECS = Path(__file__).parent.parent / "specs"


@pytest.fixture
def sheets(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are drawn, instead of their files."""
    drawn: list[Figure] = []
    for module in (basins, orbits, optimum, rests, sections):
        monkeypatch.setattr(module, "write_sheet", lambda figure, path: drawn.append(figure))
    return drawn


def sheet(*drawn: Any, **size: Any) -> Figure:
    return paper.sheet_of(["A title"], list(drawn), "light", **({"size": None} | size))


def test_names_and_units():
    assert named("A_x", "m") == "A_x / m"
    assert named("A_x_dot", "m/s") == "A_x_dot / (m/s)"
    assert named("L", "kg m^2/s") == "L / (kg m²/s)"
    assert (named("g", ""), named("", "J")) == ("g", "J")


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("A_x / m", "A_x / (10⁻⁷ m)"),
        ("v / (m/s)", "v / (10⁻⁷ m/s)"),
        ("m", "m / 10⁻⁷"),  # a parameter
        ("H less its mean", "H less its mean / 10⁻⁷"),
        ("", "10⁻⁷"),
    ],
)
def test_powers_of_ten_stand_in_labels(label, told):
    def panel(axes, theme):
        axes.plot([0, 1], [0, 4e-7])
        axes.set_ylabel(label)

    figure = sheet(panel)
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[0]
    assert axes.get_ylabel() == told
    assert not axes.yaxis.get_offset_text().get_visible()
    assert max(float(text.get_text().replace(MINUS, "-")) for text in axes.get_yticklabels()) < 10


def test_powers_of_ten_stand_before_units():
    def panel(axes, theme):
        axes.plot([0, 1], [0, 4e7])
        tell_unit(axes, "kg m^2/s")

    assert sheet(panel).axes[0].get_ylabel() == "10⁷ kg m²/s"


def words_of(axes):
    """Boxes of the title and the legend."""
    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    title = next(child for child in axes.get_children() if getattr(child, "get_text", str)() == axes.get_title("left"))
    return title.get_window_extent(renderer), axes.get_legend().get_window_extent(renderer)


@pytest.mark.parametrize("count", [1, 3, 9])
@pytest.mark.parametrize("title", ["power", "the power of all that moves the mechanism, by what gives it " * 2])
def test_titles_and_legends_do_not_collide(count, title):
    def panel(axes, theme):
        for number in range(count):
            axes.plot([0, 1], [0, number], label=f"theta_AB-theta_OA {number}")
        axes.set_title(title)
        legend(axes)

    figure = sheet(panel, panel)
    for axes in figure.axes:
        above, below = words_of(axes)
        assert not above.overlaps(below)
        for box in (above, below):
            assert axes.bbox.x0 - 1 <= box.x0 and box.x1 <= axes.bbox.x1 + 1
            assert axes.bbox.y1 <= box.y0 and box.y1 <= figure.bbox.height
    names = [text.get_text()[-1] for text in figure.axes[0].get_legend().get_texts()]
    assert sorted(names) == list("012345678")[:count]


def test_long_headings_are_made_to_fit():
    title, panels = "A mechanism with a very long title " * 9, [lambda axes, theme: None]
    figure = paper.sheet_of([title], panels, "light", (640, 400), remark="12 rests, 1 more")
    renderer = FigureCanvasAgg(figure).get_renderer()
    heading, remark = (text.get_window_extent(renderer) for text in figure.texts)
    assert heading.x1 < remark.x0 and heading.x0 > 0 and remark.x1 < figure.bbox.width


def test_long_numbers_below_an_axis_stand_apart():
    def panel(axes, theme):
        axes.plot([1.0663728, 1.0663729], [0, 1])

    figure = sheet(panel, size=(500, 300))
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.get_xticklabels() if text.get_text()]
    low, high = axes.bbox.x0 - 1, axes.bbox.x1 + 1
    seen = sorted((box.x0, box.x1) for box in boxes if low <= (box.x0 + box.x1) / 2 <= high)
    assert len(seen) > 1 and all(right[0] > left[1] for left, right in pairwise(seen))


def test_basins_tell_units(sheets):
    wells = mechsim.mechanism(SPECS / "dynamics" / "double_well.yaml")
    found = wells.basins({"A_x": [-1.2, 1.2], "A_x_dot": [0.0, 0.1]}, period="2*pi/w", tend=100)
    basins.plot_basins("wells", found, "x.png")
    axes = sheets[0].axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("A_x / m", "A_x_dot / (m/s)")


def test_responses_tell_units(sheets):
    duffing = mechsim.mechanism(SPECS / "dynamics" / "duffing.yaml")
    orbits.plot_branches("duffing", duffing.response("w", 0.5, 0.6, "A_x", since=100), "x.png")
    labels = [axes.get_ylabel() for axes in sheets[0].axes]
    assert labels == ["max(A_x) / m", "min(A_x) / m", "amplitude(A_x) / m", "phase(A_x) / rad"]


def test_optima_tell_units(sheets):
    pendulum = mechsim.mechanism(SPECS / "pendulum.yaml")
    found = pendulum.optimize({"l": (0.5, 2)}, squares=["first(-A_x) - 0.7"], subject=["max(A_x) <= 1.9"], tend=2)
    optimum.plot_optimum("pendulum", found, "x.png")
    units = {axes.get_title("left"): axes.get_ylabel() for axes in sheets[0].axes}
    assert units["A_x"] == "m"


def test_angles_are_drawn_in_one_piece():
    angles = np.array([-3.0, -1.0, 2.5, 3.1])
    assert np.ptp(in_one_piece(angles)) < 3 < np.ptp(angles)
    around = np.linspace(-3.1, 3.1, 50)
    assert in_one_piece(around) is around  # there is no room to part them at
    assert in_one_piece(np.array([0.1])) == 0.1


def section_of(labels, units, table):
    return Section("at the event hit", labels, units, table, np.zeros(len(table), dtype=int), {}, labels[:2])


def test_sections_do_not_blow_up_rounding(sheets):
    table = np.array([[0.25, -1.0], [0.25 + 1e-15, 1.0]])
    sections.plot_section("hits", section_of(("A_x", "A_x_dot"), ("m", "m/s"), table), "x.png")
    axes = sheets[0].axes[0]
    low, high = axes.get_xlim()
    assert low < 0.2 and high > 0.3
    assert axes.get_xlabel() == "A_x / m"


def test_sections_at_contacts_are_drawn_by_what_changes():
    wall = mechsim.mechanism(SPECS / "contacts" / "pendulum_wall.yaml")
    found = wall.poincare(event="wall", points=5)
    assert found.axes == ("t", "A_x_dot")  # the pendulum is always at the wall
    ground = mechsim.mechanism(SPECS / "contacts" / "bouncing_particle.yaml")
    assert ground.poincare(event="ground", points=5).axes == ("P_y", "P_y_dot")  # always the same


def test_rests_have_titles_that_fit(sheets, tmp_path, monkeypatch):
    from mechsim.cli.main import main

    with pytest.raises(SystemExit) as left:
        main(["equilibrium", str(SPECS / "double_pendulum.yaml"), "--plot", str(tmp_path / "rests.png")])
    assert not left.value.code
    figure = sheets[0]
    figure.canvas.draw()
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [
        child.get_window_extent(renderer)
        for axes in figure.axes
        for child in axes.get_children()
        if axes.get_title("left") and getattr(child, "get_text", str)() == axes.get_title("left")
    ]
    assert len(boxes) == 5
    assert all(box.x0 > 0 and box.x1 < figure.bbox.width for box in boxes)
    assert not any(a.overlaps(b) for number, a in enumerate(boxes) for b in boxes[:number])
