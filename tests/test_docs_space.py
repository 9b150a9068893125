"""Every example of docs/space.md runs, keeps its energy account and balances its parts."""

import re
from pathlib import Path

import pytest

import mechsim

PAGE = (Path(__file__).parent.parent / "docs" / "space.md").read_text()
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES, ids=[text.splitlines()[0].removeprefix("Title: ") for text in EXAMPLES])
def test_an_example_runs(text):
    certificate = mechsim.simulate(text, reactions=["all"]).certificate
    # Tolerance 1e-12 a step, up to some hundred steps.
    assert certificate.energy_drift < 1e-11
    assert certificate.position_residual < 1e-13
    assert certificate.reaction_balance < 1e-10
