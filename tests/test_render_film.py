"""Films by what is in them: decoded again, counted, measured, looked up at known pixels; and every bad input."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import mechsim
from mechsim.cli.main import main
from mechsim.render import encode
from mechsim.render.film import _pieces, animate, prepare
from mechsim.render.flat import FlatPicture, render_frames
from mechsim.render.forces import Strength
from mechsim.render.options import Options
from mechsim.render.overlay import fitted
from mechsim.render.pen import Pen
from mechsim.render.still import grid
from mechsim.render.theme import THEMES
from mechsim.result.journal import OutputError

SPECS = Path(__file__).parent.parent / "specs"
SMALL = Options(size=(320, 180), fps=20, trace=())


@pytest.fixture(scope="module")
def pendulum():
    return mechsim.simulate(SPECS / "pendulum.yaml", tend=3.0)


@pytest.fixture(scope="module")
def results(pendulum, tmp_path_factory) -> Path:
    return pendulum.save(tmp_path_factory.mktemp("results") / "pendulum.csv")


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run `mechsim animate WORDS` in an empty folder; returns exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, name: str = "animate") -> Any:
        with pytest.raises(SystemExit) as left:
            main([name, *words])
        captured = capsys.readouterr()
        return SimpleNamespace(code=left.value.code or 0, out=captured.out, err=captured.err)

    return run


def decoded(path: Path) -> tuple[dict[str, Any], np.ndarray]:
    """Facts of a film and all of its frames."""
    reader = imageio_ffmpeg.read_frames(str(path))
    facts = next(reader)
    width, height = facts["size"]
    return facts, np.array([np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader])


def expect_rod(frames: np.ndarray, motion: Any, speed: float, fps: float, size: tuple[int, int], chosen: list[int]):
    """The rod is seen where the motion says, in its colour, and not 30 degrees beside."""
    film = prepare(motion, replace(SMALL, size=size, fps=fps, speed=speed))
    window = FlatPicture(film.scene, film.frames, film.options).window
    colour, background = (np.array(to_rgb(c)) * 255 for c in (THEMES["light"].parts[0], THEMES["light"].background))
    for index in chosen:
        middle = 0.5 * motion(index / fps * speed)["A"]  # the pixel is looked up by the motion itself, not by frames
        beside = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]]) @ middle
        for place, expected in ((middle, colour), (beside, background)):
            x, y = window.pixels(place)
            seen = frames[index][size[1] - 1 - int(y), int(x)].astype(float)
            # Codecs and the tint of a face change a colour by some per cent; rod and background differ by 100.
            assert np.abs(seen - expected).max() < 40, (index, seen, expected)


@pytest.mark.parametrize(("form", "codec"), [(".mp4", "h264"), (".webm", "vp9"), (".gif", "gif")])
def test_a_film_holds_the_motion_true_to_time(pendulum, tmp_path, form, codec):
    """60 frames are drawn in two pieces, where there are two processors, and joined without a gap."""
    target = tmp_path / f"film{form}"
    animate(pendulum, target, SMALL)
    facts, frames = decoded(target)
    assert len(frames) == 60
    assert facts["duration"] == pytest.approx(3.0, abs=0.02)
    assert facts["fps"] == pytest.approx(20)
    assert facts["codec"].startswith(codec)
    expect_rod(frames, pendulum, 1.0, 20, (320, 180), [0, 1, 11, 29, 30, 31, 45, 59])
    assert [each.name for each in tmp_path.iterdir()] == [target.name]


def test_mp4_plays_in_every_browser(pendulum, tmp_path):
    animate(pendulum, tmp_path / "film.mp4", replace(SMALL, stop=0.5))
    facts, _ = decoded(tmp_path / "film.mp4")
    assert facts["pix_fmt"].startswith("yuv420p")
    head = (tmp_path / "film.mp4").read_bytes()
    assert head.index(b"moov") < head.index(b"mdat")  # +faststart: it plays while it loads


def test_speed_and_range(pendulum, tmp_path):
    chosen = replace(SMALL, speed=0.1, start=1.0, stop=1.2)
    animate(pendulum, tmp_path / "slow.mp4", chosen)
    _, frames = decoded(tmp_path / "slow.mp4")
    assert len(frames) == 40  # 0.2 s at a tenth of the speed are 2 s


def test_an_odd_size_is_made_even(pendulum, tmp_path):
    animate(pendulum, tmp_path / "odd.mp4", replace(SMALL, size=(321, 181), stop=0.2))
    assert decoded(tmp_path / "odd.mp4")[0]["size"] == (320, 180)


@pytest.mark.parametrize("loop", [True, False])
def test_a_gif_repeats_if_asked(pendulum, tmp_path, loop):
    animate(pendulum, tmp_path / "film.gif", replace(SMALL, stop=0.3, loop=loop))
    assert (b"NETSCAPE2.0" in (tmp_path / "film.gif").read_bytes()) is loop


def test_a_frame_is_the_same_from_csv_and_from_series(pendulum, results):
    shots = [next(render_frames(*parts(prepare(source, SMALL)), 17)).astype(int).copy()
             for source in (pendulum, mechsim.load(results))]  # fmt: skip
    # The cubic is off by less than a hundredth of a pixel, which changes the shade of an edge a little.
    assert np.abs(shots[0] - shots[1]).max() <= 16


def parts(film: Any) -> tuple[Any, Any, Any]:
    return film.scene, film.frames, film.options


def test_frames_drawn_in_any_order_are_the_same(pendulum):
    film = prepare(pendulum, replace(SMALL, show=("params", "time", "energy", "forces"), trace=None))
    picture = FlatPicture(*parts(film))
    first = picture.draw(30).copy()
    picture.draw(7)
    assert np.array_equal(picture.draw(30), first)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_shown_in_both_themes(theme):
    motion = mechsim.simulate(SPECS / "andrews.yaml", tend=0.004)
    film = prepare(motion, replace(SMALL, theme=theme, show=("params", "time", "energy", "forces"), trace=("E",)))
    drawn = FlatPicture(*parts(film)).draw(len(film.frames) - 1)
    assert drawn.shape == (180, 320, 4)
    assert len(np.unique(drawn.reshape(-1, 4), axis=0)) > 200


def test_pieces_cover_all_frames():
    for count in (1, 23, 24, 100, 301):
        bounds = _pieces(count)
        assert bounds[0][0] == 0 and bounds[-1][1] == count
        assert all(one[1] == other[0] for one, other in pairwise(bounds))


def test_progress_is_told(pendulum, tmp_path):
    told: list[tuple[int, int]] = []
    animate(pendulum, tmp_path / "film.mp4", SMALL, lambda done, total: told.append((done, total)))
    assert told[-1] == (60, 60)
    assert sorted(told) == told


def test_a_program_with_threads_can_make_a_film(pendulum, tmp_path):
    """Then processes cannot be forked safely: they start afresh, and the film is handed to them."""
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    try:
        animate(pendulum, tmp_path / "film.mp4", SMALL)
    finally:
        over.set()
        other.join()
    assert len(decoded(tmp_path / "film.mp4")[1]) == 60


def test_forces_in_joints_are_drawn_at_their_usual_strength(pendulum):
    film = prepare(pendulum, replace(SMALL, show=("reactions",)))
    plain = prepare(pendulum, replace(SMALL, show=()))
    assert {arrow.point for arrow in film.frames.arrows} == {"O", "A"}
    strength = film.frames.arrows[0].strengths
    assert strength.max() == pytest.approx(3 * 9.81, rel=0.01)  # at the lowest point: weight, and twice it inwards
    assert strength.min() < Strength.of(film.frames, film.scene).force <= strength.max()
    assert not np.array_equal(FlatPicture(*parts(film)).draw(10), FlatPicture(*parts(plain)).draw(10))


def test_long_words_are_made_to_fit():
    pen = Pen(400, 100)
    assert fitted(pen, "short", 20, 300) == ("short", 20)
    words, size = fitted(pen, "a very long title " * 9, 20, 300)
    assert words.endswith("…") and size == 14
    assert pen.measure(words, size, "bold") <= 300


def test_rates_are_fractions():
    assert encode.rate(30) == "30/1"
    assert encode.rate(30000 / 1001) == "30000/1001"


# --- stills


def test_one_moment_and_a_contact_sheet(pendulum, tmp_path):
    from PIL import Image

    animate(pendulum, tmp_path / "one.png", replace(SMALL, frames=1, start=0.4))
    assert Image.open(tmp_path / "one.png").size == (320, 180)
    animate(pendulum, tmp_path / "many.png", replace(SMALL, frames=7))
    width, height = Image.open(tmp_path / "many.png").size
    assert 300 <= width <= 320 and 160 <= height <= 180
    assert [grid(count) for count in (1, 2, 4, 6, 7, 9)] == [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (3, 3)]


# --- the command


def test_the_command_says_what_it_made(command, results):
    done = command(str(results), "--size", "160x90", "--fps", "10")
    assert done.code == 0, done.err
    assert "pendulum.mp4: 3 s, 30 frames at 10 per second, real time" in done.out
    assert Path("pendulum.mp4").is_file()


def test_truncated_results_are_drawn_as_far_as_they_go(command, results, tmp_path):
    text = results.read_text()
    (tmp_path / "cut.csv").write_text(text[: int(0.6 * len(text))])
    done = command("cut.csv", "--size", "160x90", "--fps", "5")
    assert done.code == 0, done.err
    assert "cut short" in done.err and "did not come to its end" in done.err
    assert Path("cut.mp4").is_file()


def rows_of(results: Path) -> tuple[list[str], list[str]]:
    lines = results.read_text().splitlines(keepends=True)
    start = next(index for index, line in enumerate(lines) if line.startswith("t,")) + 1
    return lines[:start], [line for line in lines[start:] if not line.startswith("#")]


def test_a_row_of_nan_is_left_out_and_said(command, results, tmp_path):
    head, rows = rows_of(results)
    rows[3] = ",".join([rows[3].split(",")[0]] + ["nan"] * (rows[3].count(","))) + "\n"
    (tmp_path / "nan.csv").write_text("".join(head + rows))
    done = command("nan.csv", "-o", "nan.png", "--size", "160x90")
    assert done.code == 0, done.err
    assert "no numbers" in done.err


def test_a_single_row_has_no_motion_but_a_picture(command, results, tmp_path):
    head, rows = rows_of(results)
    (tmp_path / "one.csv").write_text("".join(head + rows[:1]))
    done = command("one.csv")
    assert done.code == 2
    assert "no motion to show" in done.err and ".png" in done.err
    assert not Path("one.mp4").exists()
    assert command("one.csv", "-o", "one.png", "--size", "160x90").code == 0


def test_no_rows(command, results, tmp_path):
    (tmp_path / "none.csv").write_text("".join(rows_of(results)[0]))
    done = command("none.csv")
    assert done.code == 2
    assert "no row" in done.err


def test_a_film_of_one_frame(command, results):
    done = command(str(results), "--speed", "1000", "-o", "one.mp4", "--size", "160x90")
    assert done.code == 0, done.err
    assert len(decoded(Path("one.mp4"))[1]) == 1


def test_columns_missing(command, results, tmp_path):
    head, rows = rows_of(results)
    head[-1] = head[-1].replace("A_y,", "Q_y,")
    (tmp_path / "odd.csv").write_text("".join(head + rows))
    done = command("odd.csv")
    assert done.code == 2
    assert "A_y" in done.err


FAULTS = [
    (["stranger.csv"], "no file of mechsim"),
    (["absent.csv"], "cannot read absent.csv"),
    (["spec.yaml"], "mechsim run spec.yaml"),
    (["RESULTS", "-o", "nowhere/film.mp4"], "folder nowhere does not exist"),
    (["RESULTS", "-o", "film.avi"], "'.avi' is not known"),
    (["RESULTS", "-o", "."], "it is a folder"),
    (["RESULTS", "--from", "5"], "nothing to show"),
    (["RESULTS", "--from", "2", "--to", "1"], "nothing to show"),
    (["RESULTS", "--trace", "Q"], "--trace names Q"),
    (["RESULTS", "--view", "1,2"], "--view 1,2"),
    (["RESULTS", "--size", "12"], "WIDTHxHEIGHT"),
    (["RESULTS", "--size", "99999x99999"], "8192"),
    (["RESULTS", "--speed", "0"], "is not a speed"),
    (["RESULTS", "--speed", "1e-9"], "frames"),
    (["RESULTS", "--show", "colour"], "choose from params"),
    (["RESULTS", "--fps", "60", "-o", "film.gif"], "a GIF cannot show 60"),
]


@pytest.mark.parametrize(("words", "said"), FAULTS)
def test_bad_input_is_explained_and_leaves_nothing(command, results, tmp_path, words, said):
    (tmp_path / "stranger.csv").write_text("a,b\n1,2\n")
    (tmp_path / "spec.yaml").write_text((SPECS / "pendulum.yaml").read_text())
    before = sorted(tmp_path.iterdir())
    done = command(*(str(results) if word == "RESULTS" else word for word in words))
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "script", ["exit 1", "head -c 1000 >/dev/null; echo 'codec exploded' >&2; exit 1", "cat >/dev/null; exit 1"]
)
def test_an_encoder_that_dies_leaves_the_older_film(command, results, tmp_path, monkeypatch, script):
    fake = tmp_path / "ffmpeg"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(fake))
    (tmp_path / "film.mp4").write_text("older")
    done = command(str(results), "-o", "film.mp4", "--size", "160x90")
    assert done.code == 2
    assert "the film encoder stopped" in done.err
    assert "codec exploded" in done.err or "exploded" not in script
    assert sorted(each.name for each in tmp_path.iterdir()) == ["ffmpeg", "film.mp4"]
    assert (tmp_path / "film.mp4").read_text() == "older"


def test_no_encoder_at_all(command, results, monkeypatch):
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "/no/such/ffmpeg")
    done = command(str(results), "--size", "160x90")
    assert done.code == 2
    assert "encoder" in done.err


def test_a_form_this_encoder_lacks():
    fault = encode.failure("Unknown encoder 'libvpx-vp9'\nError opening output", 1).faults[0]
    assert "cannot write that form" in fault.message and "mp4" in fault.hint


def test_a_drawing_process_that_is_killed(pendulum, tmp_path, monkeypatch):
    from mechsim.render import film

    monkeypatch.delitem(sys.modules, "jax", raising=False)  # with it, processes would not be forked
    monkeypatch.setattr(film, "render_frames", lambda *arguments: os._exit(9))  # forked processes inherit this
    with pytest.raises(OutputError, match="ended from outside"):
        animate(pendulum, tmp_path / "film.mp4", SMALL)
    assert not list(tmp_path.iterdir())
