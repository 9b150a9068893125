"""What a file says never commands the terminal: titles, names, values and file names are shown, not obeyed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechsim.errors import Fault, Mark, printable
from mechsim.result.csvtext import row_format
from mechsim.result.paths import OutputError
from mechsim.spec import parse

SPECS = Path(__file__).parent.parent / "specs"
# Colours, a new window title, a cleared screen, one-byte commands, a bell, overwriting, writing turned around.
EVIL = "\x1b[31m\x1b]0;owned\x07\x1b[2J\x9b31m\r\b\x7f\u202e\u2066"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ESCAPED = EVIL.encode("unicode_escape").decode().replace("\\x", "\\x")
PENDULUM = """
Title: "TITLE"
PhysicalParams: {l: 1}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[l]], Dyna: [[0.5], 1, 1/12]}}}
AppliedForces: {Gravity: }
ProblemData: {tend: 0.1, rates: {OA: 1}}
"""


@given(st.text())
def test_what_is_printable_is_on_one_line_and_commands_nothing(text):
    shown = printable(text)
    assert not FORBIDDEN.search(shown) and "\n" not in shown and "\t" not in shown
    shown.encode()  # nor does it hold what cannot be written
    assert printable(shown) == shown
    if text.isprintable():
        assert shown == text


def test_faults_are_printable_wherever_they_are_shown():
    fault = Fault(f"no {EVIL}", Mark(f"{EVIL}.yaml", 1, 2), f"say {EVIL}")
    assert not FORBIDDEN.search(str(fault))


def quoted(text: str) -> str:
    return "".join(f"\\U{ord(letter):08x}" for letter in text)


EVIL_SPECS = {
    "title": PENDULUM.replace("TITLE", quoted(EVIL)),
    "key": PENDULUM + f'"{quoted(EVIL)}": 1\n',
    "value": PENDULUM.replace("{l: 1}", f'{{l: "{quoted(EVIL)}"}}'),
    "name": PENDULUM.replace("{l: 1}", f'{{l: 1, "{quoted(EVIL)}": 2}}'),
    "point": PENDULUM.replace("Fixed: {O: []}", f'Fixed: {{O: [], "{quoted(EVIL)}": []}}'),
    "word": PENDULUM + f'SolverParams: {{Mode: "{quoted(EVIL)}"}}\n',
    "format": PENDULUM + f'SolverParams: {{OutFile: {{qformat: "{quoted(EVIL)}"}}}}\n',
    "file": PENDULUM + f'Tables: {{f: {{file: "{quoted(EVIL)}"}}}}\n',
    "signal": PENDULUM + f'Output: {{signals: ["{quoted(EVIL)}"]}}\n',
    "drive": PENDULUM + f'Drives: {{"{quoted(EVIL)}": 1}}\n',
    "branch": PENDULUM.replace("tend: 0.1", f'tend: 0.1, Branch: "{quoted(EVIL)}"'),
    "tag": PENDULUM.replace('"TITLE"', "!!evil%1b%5b31m x"),
    "raw": PENDULUM.replace("TITLE", EVIL),
}


@pytest.mark.parametrize("text", EVIL_SPECS.values(), ids=EVIL_SPECS.keys())
@pytest.mark.parametrize("command", ["run", "check", "assemble"])
def test_a_file_commands_nothing(command, text, tmp_path, monkeypatch, capsys):
    from mechsim.cli.main import main

    monkeypatch.chdir(tmp_path)
    Path("evil.yaml").write_text(text)
    with pytest.raises(SystemExit) as left:
        main([command, "evil.yaml", *(["-o", "out.csv"] if command == "run" else [])])
    shown = capsys.readouterr()
    assert not FORBIDDEN.search(shown.out + shown.err) and "unexpected" not in shown.err
    assert left.value.code == (0 if "title" in text.lower() and "\\U" in text.split("\n")[1] else 2)


def test_names_of_files_command_nothing(tmp_path):
    """With a terminal, where colours are on: the only commands are our own colours."""
    name = "\x1b]0;owned\x07\x1b[2J.yaml"
    (tmp_path / name).write_text(EVIL_SPECS["title"])
    for words in (["run", name], ["run", name, "-o", f"{name}.csv"], ["check", name], ["run", f"no{name}"], [name],
                  ["animate", f"{name}.csv", "-o", f"{name}.png"], ["plot", f"{name}.csv"], ["run", "--tol", name],
                  ["run", name, "--set", name], ["open", name, "--no-browser"]):  # fmt: skip
        shown = in_a_terminal([sys.executable, "-m", "mechsim", *words], tmp_path)
        ours = re.sub(r"\x1b\[[\d;]*m", "", shown)  # bold, red and the like
        assert not FORBIDDEN.search(ours.replace("\r\n", "\n")), words
        assert "unexpected" not in shown


def in_a_terminal(words, folder) -> str:
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end has closed
            break
        said += piece
    process.wait()
    os.close(ours)
    return said.decode(errors="replace")


def test_json_says_it_too(tmp_path, monkeypatch, capsys):
    from mechsim.cli.main import main

    monkeypatch.chdir(tmp_path)
    Path("evil.yaml").write_text(EVIL_SPECS["title"])
    with pytest.raises(SystemExit):
        main(["run", "evil.yaml", "--json"])
    shown = capsys.readouterr().out
    assert not FORBIDDEN.search(shown) and json.loads(shown)["title"] == EVIL


BAD_FORMATS = [
    "%g\n",
    "%g,",
    ",%g",
    "%g %g",
    "%s",
    "%r",
    "%d",
    "%c",
    "%x",
    "%",
    "%%",
    "%g%%",
    "1",
    "",
    "x%g",
    "%(t)g",
    "%*g",
]
BAD_FORMATS += [
    "%999g",
    "%.999f",
    "%g\r",
    "%g\u2028",
    "%ld",
    "%a",
    "'%g'",
    "%g\t",
    '"%g"',
    "%#%",
    "%.g.",
    "\n%g",
    "%5.3",
]
GOOD_FORMATS = ["%g", "%.17g", "% .17e", "%+12.4E", "%-8.3f", "%#.5G", "%012.3f", "%.0f", "%F"]


@pytest.mark.parametrize("key", ["tformat", "qformat"])
@pytest.mark.parametrize("text", BAD_FORMATS + GOOD_FORMATS)
def test_a_format_prints_one_number_and_nothing_else(key, text):
    spec = PENDULUM + f"SolverParams: {{OutFile: {{{key}: {json.dumps(text)}}}}}\n"
    formats = ("%g", text) if key == "qformat" else (text, "%g")
    if text in GOOD_FORMATS:
        parse(spec)
        assert len((row_format(3, *formats) % (1.5, -2e300, 3)).split(",")) == 3
        return
    with pytest.raises(Exception, match=f"{key}.*must be a number format|OutFile.{key}"):
        parse(spec)
    with pytest.raises(OutputError, match=key):
        row_format(3, *formats)
