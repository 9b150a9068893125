"""Plots and pages of sweeps: what is drawn is what the table says, gaps are marked, mistakes are named."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sweeps
from sweeps import axis, drawn, table_of

import mechsim
from mechsim.cli.main import main
from mechsim.render.options import Options
from mechsim.render.page.cases import thinned, write_sweep
from mechsim.render.page.packing import packed, patch_of
from mechsim.render.paper import sheet_of
from mechsim.render.sweeps import SweepOptions, panels_of, plot_sweep
from mechsim.render.swept import Swept
from mechsim.result.paths import OutputError


def gridded(*axes: dict[str, Any], draws: int = 1, status: Any = None) -> Any:
    """A sweep without a mechanism: y is the sum of all parameters, w the first of them."""
    values = [each["values"] for each in axes]
    points = np.array(np.meshgrid(*values, indexing="ij")).reshape(len(axes), -1)
    columns = {each["name"]: np.repeat(row, draws) for each, row in zip(axes, points, strict=True)}
    vary = list(axes)
    if draws > 1:
        vary.append(drawn("d"))
        columns["d"] = np.tile(np.random.default_rng(0).standard_normal(draws), points.shape[1])
    total = sum(columns.values())
    return table_of("", vary, columns, {"y": ("m", total), "w": ("m/s", columns[vary[0]["name"]])}, status)


def axes_of(table: Any, theme: str = "light", **wanted: Any) -> tuple[list[Any], list[str]]:
    """The panels, drawn on their sheet."""
    drawings, notes = panels_of(Swept(table), SweepOptions(**wanted))
    return sheet_of(["A sweep"], drawings, theme, None).axes, notes


def test_one_grid_is_a_curve_per_measure():
    found, notes = axes_of(gridded(axis("k", [3, 1, 2])))
    assert [panel.get_title(loc="left") for panel in found] == ["y", "w"] and notes == []
    line = found[0].lines[0]
    assert line.get_xdata().tolist() == [1, 2, 3] and line.get_ydata().tolist() == [
        1,
        2,
        3,
    ]  # in order, though given 3, 1, 2
    assert found[0].get_xlabel() == "k" and found[1].get_ylabel() == "m/s" and found[0].get_xscale() == "linear"


def test_a_geometric_grid_has_an_axis_of_logarithms():
    (panel, _), _ = axes_of(gridded(axis("k", [0.1, 1, 10], "log")))
    assert panel.get_xscale() == "log"
    assert panel.xaxis.get_major_formatter()(0.1, 0) == "0.1"


def test_a_second_grid_is_a_family_a_third_small_multiples():
    table = gridded(axis("k", [1, 2, 3]), axis("m", [10, 20]), axis("n", [100, 200]))
    found, _ = axes_of(table, x="k", y=("y",))
    assert len(found) == 2 and [len(panel.lines) for panel in found] == [2, 2]
    assert "n = 200" in found[1].get_title(loc="left")
    assert found[1].lines[1].get_ydata().tolist() == [221, 222, 223]
    assert [text.get_text() for text in found[0].get_legend().get_texts()] == ["m = 10", "m = 20"]
    many, _ = axes_of(gridded(axis("k", [1, 2]), axis("m", range(9))), x="k", y=("y",))
    assert many[0].get_legend() is None and len(many[0].child_axes) == 1  # a scale of colours


def test_two_grids_are_heat_maps_with_their_values():
    found, _ = axes_of(gridded(axis("k", [1, 2, 3]), axis("m", [10, 100], "log")))
    assert len(found) == 2
    values = np.asarray(found[0].collections[0].get_array()).reshape(2, 3)
    assert values.tolist() == [[11, 12, 13], [101, 102, 103]]
    assert found[0].get_yscale() == "log" and found[0].get_xlabel() == "k"
    assert found[0].get_xlim() == pytest.approx((0.5, 3.5))
    turned, _ = axes_of(gridded(axis("k", [1, 2, 3]), axis("m", [10, 100], "log")), x="m", y=("k",), z=("y",))
    assert np.asarray(turned[0].collections[0].get_array()).reshape(3, 2)[0].tolist() == [11, 101]


def test_small_heat_maps_of_one_measure_have_one_scale():
    """Else one colour would mean other values on each of them."""
    found, _ = axes_of(
        gridded(axis("k", [1, 2, 3]), axis("m", [10, 20, 30]), axis("n", [100, 500])), kind="heat", z=("y",)
    )
    assert [panel.collections[0].get_clim() for panel in found] == [(111, 533)] * 2


def test_failed_cases_are_gaps_with_a_cross():
    status = ["finished", "not_assembled", "finished"]
    found, _ = axes_of(gridded(axis("k", [1, 2, 3]), status=status))
    line, cross = found[0].lines
    assert np.isnan(line.get_ydata()[1]) and cross.get_marker() == "x" and cross.get_xdata().tolist() == [2]
    table = gridded(axis("k", [1, 2]), axis("m", [1, 2]), status=["finished"] * 3 + ["step_too_small"])
    heat, _ = axes_of(table)
    assert heat[0].lines[0].get_xydata().tolist() == [[2, 2]]
    assert "4 cases, 1 failed" in Swept(table).told
    assert "1 of 4 cases failed (step_too_small 1)" in Swept(table).notes[0]


def test_finished_cases_without_a_value_are_counted():
    table = gridded(axis("k", [1, 2, 3]))
    table.columns["y"][1] = np.nan
    assert Swept(table).notes == ["y: 1 of the 3 finished cases have no value"]


def test_draws_are_histograms_dots_and_shares():
    table = sweeps.table_of("", [drawn("k"), drawn("l")], *_drawn())
    found, _ = axes_of(table)
    titles = [panel.get_title(loc="left") for panel in found]
    assert titles == ["y", "y against l", "Share of the variance that each parameter explains alone"]  # l counts most
    assert sum(bar.get_height() for bar in found[0].patches) == 300
    assert len(found[1].lines[0].get_xdata()) == 300
    (shares,), _ = axes_of(table, kind="shares")
    assert [bar.get_width() for bar in shares.patches] == pytest.approx([0.1, 0.9], abs=0.1)  # 1 and 9 parts of 10


def _drawn() -> tuple[dict[str, np.ndarray], dict[str, tuple[str, np.ndarray]]]:
    k, l = np.random.default_rng(4).standard_normal((2, 300))
    return {"k": k, "l": l}, {"y": ("m", k + 3 * l)}


def test_draws_on_a_grid_are_bands():
    (panel, _), _ = axes_of(gridded(axis("k", [1, 2, 3]), draws=40))
    d = np.random.default_rng(0).standard_normal(40)
    assert panel.lines[0].get_ydata() == pytest.approx(np.array([1, 2, 3]) + np.median(d) + d.mean() * 0, abs=1e-12)
    assert len(panel.collections) == 2


def test_dots_put_many_columns_on_one_panel():
    """A bifurcation diagram: what a measure comes to, many times per value of a parameter."""
    k = np.linspace(0, 1, 20)
    found = {f"at(A_x, {n})": ("m", k * n) for n in range(6)}
    table = table_of("", [axis("k", k)], {"k": k}, found)
    (panel,), _ = axes_of(table, kind="dots", x="k", y=("at(A_x*",))
    assert len(panel.lines) == 6 and panel.lines[5].get_ydata()[-1] == 5
    assert panel.lines[0].get_markersize() < 3


def test_what_is_constant_but_for_rounding_is_a_straight_line():
    k = np.arange(5.0)
    table = table_of("", [axis("k", k)], {"k": k}, {"y": ("m", 2 + 1e-12 * k)})
    (panel,), _ = axes_of(table)
    assert np.diff(panel.get_ylim())[0] > 1


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"x": "kk"}, "did you mean 'k'"),
        ({"x": "k", "y": ("max(A_y)",)}, "measures y and w"),
        ({"kind": "heat"}, "needs two parameters on grids, but only k is"),
        ({"kind": "shares"}, "need draws"),
        ({"x": "y", "kind": "curves"}, "need a parameter on a grid"),
        ({"x": "k", "y": ("y",), "z": ("w",), "kind": "curves"}, "--z is for heat maps"),
    ],
)
def test_what_cannot_be_plotted_is_said(wanted, said):
    with pytest.raises(OutputError, match=re.escape(said)):
        axes_of(gridded(axis("k", [1, 2, 3])), **wanted)


def test_more_panels_than_a_sheet_holds_are_chosen_evenly():
    found, notes = axes_of(gridded(axis("k", range(9)), axis("m", range(9)), axis("n", range(8))), z=("y",))
    assert len(found) == 8 and notes == []
    found, notes = axes_of(gridded(axis("k", range(30)), axis("m", range(30)), axis("n", range(25))))
    assert len(found) == 12 and notes == ["not all values of n are drawn"]
    titles = [panel.get_title(loc="left") for panel in found[:6]]
    assert "n = 0)" in titles[0] and "n = 24)" in titles[-1]


# --- the command line, on sweeps of real mechanisms


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory):
    table = sweeps.pendulum(4, 3)
    return table, sweeps.saved(table, tmp_path_factory.mktemp("sweep") / "pendulum.parquet")


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words: Any) -> Any:
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words])
        captured = capsys.readouterr()
        return SimpleNamespace(code=left.value.code or 0, out=captured.out, err=captured.err)

    return run


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_forms_and_themes(command, pendulum, form, start, theme):
    done = command("plot", pendulum[1], "-o", f"out.{form}", "--theme", theme)
    assert done.code == 0 and "3 of 12 cases failed (not_read 3)" in done.err
    assert Path(f"out.{form}").read_bytes().startswith(start)


def test_the_same_sweep_gives_the_same_file(pendulum, tmp_path):
    written = [tmp_path / "a.png", tmp_path / "b.png"]
    for path in written:
        plot_sweep("pendulum", pendulum[0], path, SweepOptions(x="g", y=("final(A_x)",), size=(640, 480)))
    assert written[0].read_bytes() == written[1].read_bytes()


def test_options_of_the_other_kind_of_file_are_refused(command, pendulum):
    mechsim.simulate(sweeps.SPECS / "pendulum.yaml", tend=0.1).save("run.csv")
    assert "are for sweeps" in command("plot", "run.csv", "--x", "k").err
    assert "are for motions" in command("plot", pendulum[1], "--path", "A").err
    assert "name one file" in command("plot", pendulum[1], pendulum[1]).err
    done = command("plot", pendulum[1], "--x", "l", "--y", "final(A_z)")
    assert done.code == 2 and "did you mean 'final(A_x)'" in done.err and not Path("pendulum.png").exists()


def sweep_in(text: str, which: str = "sweep") -> dict:
    return json.loads(re.search(rf'<script type="application/json" id="{which}">(.*?)</script>', text, re.S)[1])


def restored(base: Any, patch: Any) -> Any:
    """What the page makes of a patch."""
    if isinstance(patch, list):
        return patch[0]
    copy = list(base) if isinstance(base, list) else dict(base)
    for key, inner in patch.items():
        place = int(key) if isinstance(base, list) else key
        copy[place] = restored(base[place], inner)
    return copy


def test_the_page_has_every_motion(command, pendulum):
    """A film of each case that has a motion, true to a fraction of a pixel: 16 bits of its range, and cubics."""
    table, path = pendulum
    assert command("open", path, "--no-browser", "-o", "page.html").code == 0
    text = Path("page.html").read_text()
    data, base = sweep_in(text), sweep_in(text, "film")
    assert [each["name"] for each in data["axes"]] == ["l", "g"] and data["total"] == 12
    filmed = {film["case"]: restored(base, film["patch"]) for film in data["films"]}
    finished = np.flatnonzero(np.asarray(table.status) == "finished").tolist()
    assert sorted(filmed) == finished and filmed[data["first"]] == base
    for number, film in filmed.items():
        steps = np.frombuffer(base64.b64decode(film["numbers"]), "<i2").reshape(-1, 2, film["count"])
        channel = next(column["channel"] for column in film["columns"] if column["label"] == "A_y")
        values = steps[channel, 0] * film["scales"][2 * channel] + film["offsets"][channel]
        times = np.linspace(film["start"], film["end"], film["count"])
        truth = mechsim.simulate(sweeps.SPECS / "pendulum.yaml", parameters=table.case(number), tend=2.0)(times)["A_y"]
        assert np.abs(values - truth).max() < np.ptp(truth) / 30000
    assert [data["shown"][k] for k in range(12) if k not in finished] == [-1] * 3
    assert data["reasons"] == ["not_read: it does not close"]
    assert len({json.dumps(film["bounds"]) for film in filmed.values()}) == 1  # one window for all


def test_a_page_with_room_for_few_films_shows_the_nearest(pendulum, tmp_path, monkeypatch):
    from mechsim.render.page import cases

    monkeypatch.setattr(cases, "MOST_FILMS", 3)
    notes = write_sweep(pendulum[0], tmp_path / "page.html", Options())
    assert any("the nearest one moves" in note for note in notes)
    assert any("forces and reactions are left out" in note for note in notes)
    data = sweep_in((tmp_path / "page.html").read_text())
    status = np.asarray(pendulum[0].status)
    assert all((index >= 0) == (status[k] == "finished") for k, index in enumerate(data["shown"]))
    own = {film["case"]: index for index, film in enumerate(data["films"])}
    assert all(data["shown"][case] == index for case, index in own.items())


def test_a_sweep_is_no_film(command, pendulum):
    done = command("animate", pendulum[1], "-o", "film.mp4")
    assert done.code == 2 and "a sweep is shown as a page" in done.err and "film.html" in done.err
    done = command("animate", pendulum[1])
    assert done.code == 0 and Path("pendulum.html").exists()


def test_a_sweep_of_which_nothing_moves_says_so(command, tmp_path):
    table = sweeps.simulated("pendulum.yaml", [axis("l", [-1, -2])], ("final(A_x)",), 1.0)
    done = command("open", sweeps.saved(table, tmp_path / "none.parquet"), "--no-browser")
    assert done.code == 2 and "no case of the sweep has a motion" in done.err


def test_names_of_a_hostile_file_are_no_markup(tmp_path):
    table = sweeps.simulated("pendulum.yaml", [axis("l", [1, 2])], ("final(A_x)",), 0.5)
    table.facts["measures"][0]["label"] = "</script><b>"
    table.columns["</script><b>"] = table.columns["final(A_x)"]
    write_sweep(table, tmp_path / "page.html", Options())
    text = (tmp_path / "page.html").read_text()
    assert "</script><b>" not in text and sweep_in(text)["columns"][-1]["label"] == "</script><b>"


@pytest.mark.parametrize("shape", [(7, 5, 1), (100, 3, 10), (1, 1, 500), (1000, 1000, 1)])
@pytest.mark.parametrize("most", [1, 20, 1000])
def test_thinned_cases_lie_on_a_grid(shape, most):
    cases = thinned(shape, most)
    assert 1 <= len(cases) <= most and len(set(cases)) == len(cases)
    places = np.unravel_index(cases, shape)
    assert np.prod([len(np.unique(each)) for each in places]) == len(cases)
    if np.prod(shape) <= most:
        assert cases.tolist() == list(range(np.prod(shape)))


def test_patches_restore_what_they_are_of():
    base = {"a": 1, "b": [{"x": 1, "y": [1, 2]}, {"x": 2}], "c": {"d": [1, 2]}, "e": None}
    other = {"a": 1, "b": [{"x": 1, "y": [1, 3]}, {"x": 2}], "c": {"d": []}, "e": {"f": 1}}
    assert restored(base, patch_of(base, other)) == other
    assert patch_of(base, base) == {}
    film = {"numbers": base64.b64encode(np.zeros(4, "<f4").tobytes()).decode(), "count": 2, "offsets": [1.0]}
    assert packed(film)["scales"] == [0.0, 0.0]  # what stands still has no scale to divide by
