"""`mechsim bench`: what it judges, accepts, refuses and writes; and every spec of ours against its Reference."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechsim.cli.main import main
from mechsim.study.regression import Accepted, Figures, Row, Value, counted, judged
from mechsim.study.regression_batch import accept, gather, read_book, write_book
from mechsim.study.regression_page import comparison, pairs
from mechsim.study.regression_report import Report, json_text, read_report
from mechsim.study.regression_runs import run_spec

SPECS = Path(__file__).parent.parent / "specs"
OURS = sorted(SPECS.rglob("*.yaml"))
Command = Callable[..., Any]

FALL = """\
PartData: {Particles: {A: 2}}
AppliedForces: {Gravity: [0, -10]}
ProblemData: {tend: 2, positions: {A: [[0, fixed], [0, fixed]]}, velocities: {A: [[3, fixed], [0, fixed]]}}
"""
GOOD = FALL + "Reference: {at: {2: {A_x: [6, 13], A_y: [-20, 13]}}, energy: 1e-12}\n"
WRONG = FALL + "Reference: {at: {2: {A_x: [6.001, 13], A_y: [-20, 13]}}}\n"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run `mechsim WORDS` in an empty folder; returns exit code, standard output and standard error.

    Specs are run here, not in processes of their own: other tests may have loaded JAX, after which none can be forked.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mechsim.study.regression_batch.run_all", lambda paths, *_: [run_spec(path) for path in paths])

    def run(*words: str) -> Any:
        with pytest.raises(SystemExit) as left:
            main(words)
        captured = capfd.readouterr()
        return SimpleNamespace(code=left.value.code or 0, out=captured.out, err=captured.err)

    return run


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# --- all of ours


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.relative_to(SPECS).with_suffix("").as_posix())
def test_our_specs_meet_their_references(path: Path) -> None:
    """The bars are a digit or more below what was found at five tolerances, so that other processors meet them too."""
    figures = run_spec(path)
    assert figures is not None, "every spec of ours has a Reference"
    assert (figures.status, figures.message, figures.missed) == ("finished", "", ())
    assert figures.values


def test_our_accepted_figures_are_those_of_all_our_specs() -> None:
    book = read_book(SPECS / "accepted.json")
    assert list(book) == [path.relative_to(SPECS).as_posix() for path in sorted(OURS, key=lambda p: p.as_posix())]
    assert all(figures.margin is not None and figures.margin > 0 for figures in book.values())


# --- judging


FOUND = Figures(
    "finished",
    values=(Value("A_x", 1.0, 12.0, 10.0), Value("B_x", 1.0, 15.0, 11.0)),
    energy=1e-15,
    steps=100,
    rejected=0,
)
KEPT = Accepted.of(FOUND)


def test_the_margin_is_that_of_the_value_nearest_to_its_bar() -> None:
    assert FOUND.worst is not None
    assert (FOUND.worst.column, FOUND.margin) == ("A_x", 2.0)
    assert Accepted(2.0, 100, 0, 1e-15) == KEPT


@pytest.mark.parametrize(
    ("figures", "verdict", "reason"),
    [
        (FOUND, "passed", ""),
        (replace(FOUND, steps=105), "passed", ""),
        (replace(FOUND, steps=106), "regressed", "106 steps, rejected ones included, where 100 were accepted"),
        (replace(FOUND, rejected=6), "regressed", "106 steps, rejected ones included, where 100 were accepted"),
        (replace(FOUND, steps=94), "better", "94 steps, rejected ones included, where 100 were accepted"),
        (replace(FOUND, energy=5e-14), "passed", ""),  # rounding, though fifty times as much
        (replace(FOUND, energy=2e-13), "regressed", "energy drifts by 2.0e-13, where 1.0e-15 was accepted"),
        (replace(FOUND, energy=float("nan")), "regressed", "energy drifts by nan, where 1.0e-15 was accepted"),
        (replace(FOUND, values=()), "regressed", "its Reference has no values any more"),
        (replace(FOUND, values=(Value("A_x", 1.0, 11.0, 10.0),)), "passed", ""),  # roundings differ by a digit
        (
            replace(FOUND, values=(Value("A_x", 1.0, 10.4, 10.0),)),
            "regressed",
            "0.4 digits beyond what is asked for, where 2.0 were accepted",
        ),
        (replace(FOUND, values=(Value("A_x", 1.0, 14.0, 10.0),)), "better", "4.0 digits beyond what is asked for"),
        (replace(FOUND, missed=("no",)), "failed", "no"),
        (Figures("stopped", "at t = 1"), "failed", "at t = 1"),
    ],
)
def test_verdicts_beside_what_was_accepted(figures: Figures, verdict: str, reason: str) -> None:
    row = judged("x.yaml", figures, KEPT)
    assert row.verdict == verdict
    assert (row.reasons[0] if row.reasons else "").startswith(reason)


def test_time_is_never_judged() -> None:
    assert judged("x.yaml", replace(FOUND, seconds=1e6, seconds_in_all=1e6), KEPT).verdict == "passed"


@given(steps=st.integers(1, 10**6), margin=st.floats(0, 16), energy=st.floats(0, 1e-3))
def test_what_was_accepted_passes_when_it_comes_again(steps: int, margin: float, energy: float) -> None:
    figures = Figures("finished", values=(Value("A_x", 1.0, margin, 0.0),), energy=energy, steps=steps, rejected=0)
    assert judged("x.yaml", figures, Accepted.of(figures)).verdict == "passed"


def test_books_are_sorted_and_have_one_line_for_each_spec(tmp_path: Path) -> None:
    book = tmp_path / "accepted.json"
    write_book(book, {"b.yaml": KEPT, "a/c.yaml": Accepted(None, 7, 1, 0.0)})
    assert read_book(book) == {"a/c.yaml": Accepted(None, 7, 1, 0.0), "b.yaml": KEPT}
    assert [line.strip().split(":")[0] for line in book.read_text().splitlines()[3:5]] == ['"a/c.yaml"', '"b.yaml"']
    assert str(tmp_path) not in book.read_text()


# --- the command


def test_a_good_spec_passes_once_it_is_accepted(command: Command) -> None:
    write("specs/deep/fall.yaml", GOOD)
    first = command("bench")
    assert (first.code, "new" in first.out, "if --update accepts it" in first.err) == (0, True, True)
    assert not Path("specs/accepted.json").exists()
    updated = command("bench", "--update")
    assert updated.code == 0
    assert "accepted, in specs/accepted.json:\n  deep/fall.yaml: new" in updated.out
    again = command("bench", "specs/deep")  # finds the book above
    assert again.code == 0
    assert re.search(r"specs/deep/fall +passed +16.0 of 13 +A_", again.out)
    assert again.out.endswith("1 passed\n")
    assert "accepted figures stay as they were" in command("bench", "--update").out


def test_a_missed_reference_fails_and_is_never_accepted(command: Command) -> None:
    write("specs/fall.yaml", GOOD)
    command("bench", "--update")
    before = Path("specs/accepted.json").read_text()
    write("specs/fall.yaml", WRONG)
    failed = command("bench", "--update")
    assert failed.code == 5
    assert "specs/fall.yaml: failed: A_x at t = 2 has 4.3 digits of 13 asked for: 6 instead of 6.00" in failed.err
    assert "what fails is never accepted: specs/fall.yaml" in failed.err
    assert Path("specs/accepted.json").read_text() == before


def test_what_is_worse_than_accepted_is_a_regression_until_it_is_accepted(command: Command) -> None:
    write("fall.yaml", GOOD)
    command("bench", ".", "--update")
    book = read_book(Path("accepted.json"))
    write_book(Path("accepted.json"), {"fall.yaml": replace(book["fall.yaml"], margin=9.9, rejected=0, steps=1)})
    worse = command("bench", ".")
    assert worse.code == 5
    assert "fall.yaml: regressed: 3.0 digits beyond what is asked for, where 9.9 were accepted" in worse.err
    updated = command("bench", ".", "--update")
    assert updated.code == 5  # this run; the next one passes
    assert "fall.yaml: margin 9.9 to 3.0" in updated.out
    assert command("bench", ".").code == 0


def test_a_spec_that_vanished_or_lost_its_reference_is_told(command: Command) -> None:
    write("specs/one.yaml", GOOD)
    write("specs/two.yaml", GOOD)
    write("specs/three.yaml", GOOD)
    command("bench", "--update")
    Path("specs/one.yaml").unlink()
    write("specs/two.yaml", FALL)
    gone = command("bench")
    assert gone.code == 5
    assert "specs/one.yaml: vanished: its file is gone" in gone.err
    assert "specs/two.yaml: vanished: it has no Reference any more" in gone.err
    assert command("bench", "specs/three.yaml").code == 0  # nobody asked for the others
    assert command("bench", "--update").code == 5
    assert list(read_book(Path("specs/accepted.json"))) == ["three.yaml"]
    assert command("bench").code == 0


def test_a_spec_that_cannot_be_read_or_run_is_a_row(command: Command) -> None:
    write("a_broken.yaml", GOOD.replace("Particles", "Partikels"))
    write("b_column.yaml", GOOD.replace("A_y: [-20", "work_x: [-20"))
    write("c_stops.yaml", GOOD.replace("Gravity: [0, -10]", "Forces: {A: [0, 1/(0.5 - t)]}"))
    write("d_apart.yaml", GOOD.replace("{Particles: {A: 2}}", "{Particles: {A: 2}, Fixed: {O: []}, Rods: {OA: 1}}"))
    write("e_good.yaml", GOOD)
    report = command("bench", "-o", "report.xml", "--jobs", "2")
    assert report.code == 5
    assert "a_broken.yaml:1:12: unknown key Partikels in PartData" in report.err
    assert "b_column.yaml:4:" in report.err
    assert "the integration stopped" in report.err
    assert "1 new, 4 failed" in report.out
    suite = ElementTree.parse("report.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("errors"), suite.get("failures")) == ("5", "4", "0")


KILLED = """
import os, signal, sys
from mechsim.study import regression_runs
run_spec = regression_runs.run_spec
def run(path):
    if "bad" in str(path):
        os.kill(os.getpid(), signal.SIGKILL)
    return run_spec(path)
regression_runs.run_spec = run
for figures in regression_runs.run_all(["bad.yaml", "good.yaml"], 2):
    print(figures.status, figures.message)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes are not forked, and run what is imported")
def test_a_process_that_is_killed_takes_nothing_with_it(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD)
    words = [sys.executable, "-c", KILLED]
    told = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert told == ["crashed its process was ended by SIGKILL; perhaps memory ran out", "finished "]


def test_results_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        text = GOOD.replace("-10", f"-1{ord(name) % 7}").replace("[-20, 13]", "[-20, 1]")
        (tmp_path / f"{name}.yaml").write_text(text)
    reports = []
    for jobs in ("1", "3"):
        words = [sys.executable, "-m", "mechsim", "bench", "--json", "--jobs", jobs]
        told = json.loads(subprocess.run(words, cwd=tmp_path, capture_output=True, text=True).stdout)
        for row in told["specs"].values():
            del row["seconds"], row["seconds_in_all"]
        reports.append(told)
    assert reports[0] == reports[1]
    assert list(reports[0]["specs"]) == ["a.yaml", "b.yaml", "c.yaml"]


def test_files_without_a_reference_are_listed_when_asked_for(command: Command) -> None:
    write("specs/plain.yaml", FALL)
    write("specs/other.yml", "services: {web: {image: x}}\n")
    write("specs/.hidden/fall.yaml", WRONG)
    write("specs/fall.yaml", GOOD)
    assert "plain" not in command("bench").out
    listed = command("bench", "-v").out
    assert "no Reference: specs/plain.yaml" in listed
    assert "no Reference: specs/other.yml" in listed
    assert ".hidden" not in listed
    assert "1 new; 2 without a Reference" in listed
    assert re.search(r"specs/fall +2 +A_y +16.0 +13", listed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "there is no file or folder nowhere"),
        (["."], "there is no mechanism file with a Reference"),
        (["plain.yml"], "none of these files has a Reference"),
        ([".", "-o", "report.txt"], "-o report.txt: a report ends in .json, .md, .xml, .html or .htm"),
        ([".", "-o", "no/where.json"], "cannot write"),
        ([".", "--jobs", "0"], "--jobs"),
        (["--compare", "a.json", "b.json"], "--compare needs one page to write: -o page.html"),
        (["--compare", "a.json", "b.json", "-o", "x.html"], "cannot read the report a.json: No such file"),
        (["specs", "--compare", "a.json", "b.json", "-o", "x.html"], "--compare runs nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(command: Command, words: list[str], said: str) -> None:
    if "plain.yml" in words:
        write("plain.yml", FALL)
    refused = command("bench", *words)
    assert refused.code == 2
    assert said in refused.err


def test_damaged_and_foreign_books_are_never_overwritten(command: Command) -> None:
    write("fall.yaml", GOOD)
    for text, said in (
        ("{}", "accepted.json is no file of accepted figures"),
        ('{"format": "mechsim accepted figures 1", <<<<<<< HEAD', "cannot read accepted figures"),
        ('{"format": "mechsim accepted figures 1", "specs": {"a.yaml": {}}}', "KeyError: 'steps'"),
        ('{"format": "mechsim accepted figures 2", "specs": {}}', "is no file of accepted figures"),
    ):
        write("accepted.json", text)
        refused = command("bench", "--update")
        assert refused.code == 2, text
        assert said in refused.err
        assert Path("accepted.json").read_text() == text


def test_two_places_with_books_of_their_own(command: Command) -> None:
    write("a/fall.yaml", GOOD)
    write("b/fall.yaml", GOOD)
    command("bench", "a", "b", "--update")
    assert list(read_book(Path("a/accepted.json"))) == list(read_book(Path("b/accepted.json"))) == ["fall.yaml"]
    assert "2 passed" in command("bench", "a", "b", "a/fall.yaml").out
    batch = gather(["a", "b"])
    assert accept(batch, []) == {}


# --- reports


def test_reports_by_their_endings(command: Command) -> None:
    write("specs/good.yaml", GOOD)
    write("specs/wrong.yaml", WRONG)
    words = [word for ending in ("xml", "md", "json", "html") for word in ("-o", f"report.{ending}")]
    assert command("bench", *words).code == 5
    suite = ElementTree.parse("report.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    good, wrong = suite
    assert (good.get("classname"), good.get("name"), good.find("failure")) == ("specs", "good.yaml", None)
    failure = wrong.find("failure")
    assert failure is not None and (failure.get("message") or "").startswith("A_x at t = 2 has 4.3 digits")
    markdown = Path("report.md").read_text()
    assert markdown.startswith("# mechsim bench: 1 new, 1 failed\n")
    assert "| specs/wrong.yaml | **failed** | 4.3 of 13 | A_x at 2 |" in markdown
    told = json.loads(Path("report.json").read_text())
    assert told["verdicts"] == {"new": 1, "failed": 1}
    assert told["specs"]["specs/good.yaml"]["margin"] == 3.0
    assert "specs/wrong.yaml" in Path("report.html").read_text()


def test_json_is_one_object(command: Command) -> None:
    write("specs/wrong.yaml", WRONG)
    found = command("bench", "--json")
    told = json.loads(found.out)
    assert (found.code, told["exit_code"], found.err) == (5, 5, "")
    assert told["specs"]["specs/wrong.yaml"]["verdict"] == "failed"


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = (judged("a.yaml", FOUND, KEPT), judged("b.yaml", Figures("stopped", "why"), None), Row("c.yaml", "vanished"))
    path = tmp_path / "report.json"
    path.write_text(json_text(Report(rows)))
    again = read_report(path)
    assert [(row.spec, row.verdict, row.figures) for row in again.rows] == [
        (row.spec, row.verdict, row.figures) for row in rows
    ]
    assert counted(again.rows) == {"passed": 1, "failed": 1, "vanished": 1}


# --- the page


class Page(HTMLParser):
    """Texts of the cells of every row, and whether anything is fetched."""

    def __init__(self, text: str):
        super().__init__()
        self.rows: list[list[str]] = []
        self.fetched: list[str] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.inside = tag in ("td", "th") or (self.inside and tag != "tbody")

    def handle_data(self, data: str) -> None:
        if self.inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def batch(**figures: Figures | None) -> Report:
    return Report(tuple(judged(f"{name}.yaml", each, None) for name, each in figures.items() if each is not None))


def test_the_page_shows_what_changed_first() -> None:
    slower = replace(FOUND, steps=150)
    old = batch(same=FOUND, slower=FOUND, faster=slower, gone=FOUND, mended=Figures("stopped", "why"))
    new = batch(same=FOUND, slower=slower, faster=FOUND, fresh=FOUND, mended=FOUND)
    assert {pair.spec: pair.change for pair in pairs(old, new)} == {
        "slower.yaml": "worse",
        "gone.yaml": "gone",
        "faster.yaml": "better",
        "mended.yaml": "better",
        "fresh.yaml": "new",
        "same.yaml": "same",
    }
    page = Page(comparison(old, new))
    assert page.fetched == []
    assert [row[0].split(".")[0] for row in page.rows[1:]] == ["slower", "gone", "faster", "mended", "fresh", "same"]
    slow = page.rows[1]
    assert "150 steps, rejected ones included; before 100" in slow[0]
    assert "100 → 150 +50 %" in slow[3]


def test_nothing_of_a_spec_can_break_out_of_the_page() -> None:
    evil = "<script>alert(1)</script>"
    text = comparison(batch(**{evil: FOUND}), batch(**{evil: replace(FOUND, title=evil, missed=(evil,))}))
    assert evil not in text
    assert text.count("<script>") == 1


def test_comparing_two_reports(command: Command) -> None:
    write("specs/good.yaml", GOOD)
    command("bench", "-o", "old.json")
    write("specs/more.yaml", GOOD)
    command("bench", "-o", "new.json")
    compared = command("bench", "--compare", "old.json", "new.json", "-o", "page.html")
    assert (compared.code, compared.out) == (0, "page.html: 2 specs: 1 new, 1 same\n")
    assert "old.json, mechsim" in Path("page.html").read_text()


# --- interrupted


@pytest.mark.skipif(sys.platform == "win32", reason="signals of processes")
def test_ctrl_c_ends_all_processes_and_writes_nothing(tmp_path: Path) -> None:
    """Two specs that take far longer than the test; the signal goes to the whole group, as a terminal does it."""
    long = (SPECS / "double_pendulum.yaml").read_text().replace("tend: 10", "tend: 1000000")
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(long)
    words = [sys.executable, "-m", "mechsim", "bench", ".", "-o", "report.json", "--update"]
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # tests may run in the background
    )
    _until(lambda: len(_group(process.pid)) >= 3)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "\ninterrupted\n")
    _until(lambda: not _group(process.pid))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.yaml", "b.yaml"]


def _group(number: int) -> list[str]:
    """Processes of a group that live."""
    told = subprocess.run(["ps", "-eo", "pgid=,stat=,pid="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in told.splitlines()]
    return [pid for group, state, pid in rows if group == str(number) and not state.startswith("Z")]


def _until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    for _ in range(int(seconds / 0.1)):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come to that")
