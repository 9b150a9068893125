"""Ctrl-C ends what takes long with what is known by then: points, branches and starts that were found are kept."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from reference import SPECS

from mechsim.analysis import sections
from mechsim.analysis.basins import basins
from mechsim.analysis.cut import Cut, Wanted
from mechsim.analysis.following import Over, follow
from mechsim.analysis.periodic import wanted_of
from mechsim.handle import MechanismHandle
from mechsim.handle.subject import FileSubject
from mechsim.simulation import read

DYNAMICS = SPECS / "dynamics"


def subject(name):
    return FileSubject(MechanismHandle(read(str(DYNAMICS / name))), None)


def after(count):
    """An observer during whose call Ctrl-C comes."""
    calls = []

    def observe(*told):
        calls.append(told)
        if len(calls) == count:
            raise KeyboardInterrupt

    return observe


def test_basins_keep_the_starts_that_have_settled():
    starts = {"A_x": np.linspace(-1.2, 1.2, 5), "A_y": np.linspace(-1, 1, 4)}
    found = basins(subject("magnetic_pendulum.yaml"), starts, 100.0, observer=after(24))
    whole = basins(subject("magnetic_pendulum.yaml"), starts, 100.0)
    assert (found.status, whole.status) == ("interrupted", "finished")
    assert found.tend == pytest.approx(100 * 24 / 40) and "it was interrupted" in found.notes[0]
    known = found.labels >= 0
    assert 0 < known.sum() < known.size
    ends = [
        [each.attractors[k].positions if k >= 0 else [9, 9] for k in each.labels.ravel()] for each in (found, whole)
    ]
    assert np.array(ends[0])[known.ravel()] == pytest.approx(np.array(ends[1])[known.ravel()], abs=1e-9)


def test_a_branch_is_kept_as_far_as_it_was_followed():
    wanted = wanted_of("2*pi/w", 1, 100.0, 100.0, ())
    over = Over("w", 0.5, 2.5)
    found = follow(subject("duffing.yaml"), wanted, over, tolerance=1e-9, observer=after(6))
    whole = follow(subject("duffing.yaml"), wanted, over, tolerance=1e-9)
    assert (found.status, whole.status) == ("interrupted", "finished")
    assert found.notes == ("the branch was left: it was interrupted",)
    values = found.branches[0].column("value")
    assert len(values) == 6 and list(values) == list(whole.branches[0].column("value")[:6])


@pytest.mark.parametrize("cut", [Cut(period="2*pi/w"), Cut(expression="A_x")])
def test_points_that_were_found_are_kept(cut):
    wanted = Wanted(cut, 200, vary={"w": np.array([0.7, 0.9])})
    found = sections.poincare(subject("duffing.yaml"), wanted, 100.0, observer=after(4))
    whole = sections.poincare(subject("duffing.yaml"), wanted, 100.0)
    assert (found.status, whole.status) == ("interrupted", "finished") and len(whole) == 400
    for motion in (0, 1):
        rows = found.of(motion)
        assert 0 < len(rows) < 200 and np.array_equal(rows, whole.of(motion)[: len(rows)])


def test_a_diagram_has_the_values_before():
    wanted = Wanted(Cut(period="2*pi/w"), 3, vary={"w": np.linspace(0.6, 1.0, 6)}, over="w", follow="up")
    found = sections.poincare(subject("duffing.yaml"), wanted, 100.0, observer=after(4))
    assert found.status == "interrupted" and len(found) == 12
    assert found["w"] == pytest.approx(np.repeat(np.linspace(0.6, 1.0, 6)[:4], 3))


INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests may run where it is ignored
from mechsim.analysis.lanes import Lanes
advance, calls = Lanes.advance, []
def advanced(self, *given, **named):
    calls.append(given)
    if len(calls) == 5:
        os.kill(os.getpid(), signal.SIGINT)
    return advance(self, *given, **named)
Lanes.advance = advanced
sys.argv = ["mechsim", *{words!r}]
from mechsim.__main__ import main
sys.exit(main())
"""


def test_the_command_writes_what_it_has(tmp_path):
    output = tmp_path / "section.csv"
    asked = ["poincare", str(DYNAMICS / "duffing.yaml"), "--period", "2*pi/w", "--points", "900"]
    words = [*asked, "--json", "-o", str(output)]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(words=words)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 130, done.stderr
    found = json.loads(done.stdout)
    rows = [line for line in output.read_text().splitlines() if not line.startswith("#")]
    assert found["status"] == "interrupted" and 0 < found["points"] == len(rows) - 1 < 900
