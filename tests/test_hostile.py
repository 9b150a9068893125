"""Files made to break us: an error of ours or a result, never `unexpected`."""

import contextlib
import io
import signal
import sys
from pathlib import Path

import hostile
import numpy as np
import pytest

import mechsim
from mechsim.cli.main import main
from mechsim.render.film import animate
from mechsim.render.options import Options
from mechsim.render.plot import PlotOptions, plot

PATIENCE = 4.0  # seconds; a stiff mechanism may take days, and is interrupted as a person would


@contextlib.contextmanager
def interrupted_after(seconds: float):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again and again: JAX swallows what comes in its callbacks
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # from here on none is raised
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def command(*words: str) -> tuple[int, str]:
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said), interrupted_after(PATIENCE):
            main([*words])
    except SystemExit as left:
        return int(left.code or 0), said.getvalue()
    except KeyboardInterrupt:  # just before or after what hears it
        signal.setitimer(signal.ITIMER_REAL, 0)
        return 130, ""
    raise AssertionError("main always leaves")


def try_extreme(seed: int, *commands: tuple[str, ...]) -> None:
    Path("extreme.yaml").write_text(hostile.extreme(seed))
    for words in commands:
        code, said = command(words[0], "extreme.yaml", *words[1:])
        assert code in (0, 2, 3, 4, 130) and "unexpected" not in said, (seed, words, said)
        assert "Warning" not in said, (seed, words, said)


RUN = ("run", "-o", "out.csv")
ALL = (RUN, ("check",), ("run", "-o", "out.csv", "--samples", "7", "--reactions", "all"), ("open", "--no-browser"))

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGALRM")


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_extreme_numbers(first, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in range(first, first + 10):
        try_extreme(seed, RUN)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1400, 20))
def test_many_extreme_numbers(first, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in range(first, first + 20):
        try_extreme(seed, *ALL)


@pytest.mark.parametrize("value", ["1e76", "-1e100", "1e308", "1e-101", "5e-324"])
@pytest.mark.parametrize("where", ["l", "m", "Geom", "tend", "position", "table"])
def test_numbers_beyond_bounds_are_told_with_their_place(where, value):
    text = """
PhysicalParams: {l: 1, m: 1}
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[GEOM]], Dyna: [[0.5], m, 1/12]}}
Tables: {f: {points: [[0, TABLE], [1, 1]]}}
ProblemData: {tend: TEND, positions: {A: [POSITION, 0]}}
"""
    places = {"GEOM": "l", "TEND": "1", "POSITION": "1", "TABLE": "0"}
    if where in ("l", "m"):
        text = text.replace(f"{where}: 1", f"{where}: {value}")
    else:
        places[where.upper()] = value
    for name, written in places.items():
        text = text.replace(name, written)
    with pytest.raises(mechsim.SpecError, match=r":\d+:\d+: error: .*too (large|small) to compute with"):
        mechsim.simulate(text)


# --- results


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The text of some results, and their arrays."""
    folder, root = tmp_path_factory.mktemp("results"), Path(__file__).parent.parent / "specs"
    found = []
    for name in ("forces/four_bar_driven.yaml", "pendulum.yaml", "forces/arm3_pid.yaml"):
        motion = mechsim.simulate(root / name, tend=0.3)
        text = motion.save(folder / "out.csv").read_text()
        with np.load(motion.save(folder / "out.npz")) as arrays:
            found.append((text, dict(arrays)))
    return found


def try_results(results, seed: int) -> None:
    text, arrays = results[seed % len(results)]
    name = Path("odd.csv" if seed % 2 else "odd.npz")
    if seed % 2:
        name.write_text(hostile.odd_csv(text, seed), encoding="utf-8", errors="surrogatepass")
    else:
        np.savez(name, **hostile.odd_arrays(arrays, seed))
    try:
        trajectory = mechsim.load(name)
    except mechsim.MechsimError:
        return
    for draw in (
        lambda: animate(trajectory, "film.png", Options(size=(320, 180), frames=2)),
        lambda: animate(trajectory, "film.html", Options()),
        lambda: plot([("odd", trajectory)], "plot.png", PlotOptions()),
    ):
        with contextlib.suppress(mechsim.MechsimError):
            draw()


def test_damaged_results(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in range(20):
        try_results(results, seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", [20, 70, *range(1000, 2000, 50)])
def test_many_damaged_results(first, results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in range(first, first + 50):
        try_results(results, seed)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('"overrides": {}', '"overrides": [1]', "its setting overrides is no dictionary of texts"),
        ('"tol": 1e-14', '"tol": "tight"', "its setting tol is no number to compute with"),
        ("# settings: {", "# settings: 3 #{", "cannot read the header's settings"),
        ('# title: "', '# title: [] #"', "cannot read the header's title"),
        ('"energy_drift": ', '"energy_drift": "none", "x": ', "a figure of its certificate is no number"),
        ("\nt,A_x,", "\nt,t,", "it has two columns called t"),
        ("\nt,A_x,", "\nt,A x,", "'A x' is no name of a column"),
    ],
)
def test_what_is_wrong_with_a_header_is_said(before, after, words, results, tmp_path):
    text = results[1][0]
    assert before in text
    (tmp_path / "odd.csv").write_text(text.replace(before, after, 1))
    with pytest.raises(mechsim.MechsimError) as caught:
        mechsim.load(tmp_path / "odd.csv")
    assert words in str(caught.value)
