"""Every example of the pages about Python and about what it is asked for, and of the README, runs in one session."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "page",
    [
        "docs/python.md",
        "docs/studies.md",
        "docs/analysis.md",
        "docs/dynamics.md",
        "docs/optimization.md",
        "docs/design.md",
        "README.md",
    ],
)
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    session: dict[str, Any] = {}
    assert examples
    for example in examples:
        exec(compile(example, page, "exec"), session)
        for expression, value in re.findall(r"^(\S.*?)  # (-?\d[\d.]*|True)\b", example, re.MULTILINE):
            _, _, digits = value.partition(".")
            said = float(value == "True" or value)
            # as many digits as the page shows
            assert float(eval(expression, session)) == pytest.approx(said, abs=0.51 * 10 ** -len(digits)), expression


def test_the_session_gives_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mechsim

    monkeypatch.chdir(tmp_path)
    motion = mechsim.simulate(str(ROOT / "specs" / "andrews.yaml"), tend=0.001)
    assert motion.certificate.doubts() == ()
    table = mechsim.load(motion.save("out.npz"))
    assert "Title: Andrews" in table.spec_text and "Trajectory of 'Andrews" in repr(table)
