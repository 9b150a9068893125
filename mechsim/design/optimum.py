"""An optimum as it was found: what was chosen, what it is worth, which bounds hold it back, and how it was come to."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mechsim._version import __version__
from mechsim.design.course import Course
from mechsim.design.fitting import Quality
from mechsim.design.hamiltonian import Hamiltonian
from mechsim.design.sensitivities import check_file
from mechsim.design.shown import Shown
from mechsim.design.standing import Iteration
from mechsim.frozen import frozen
from mechsim.result.layout import Array
from mechsim.result.paths import replacing

FORMS = (".json", ".yaml", ".yml")
HEAD = "# mechsim optimize: "
SHORT = ("status", "goal", "before", "after", "iteration", "numbers")  # what a mechanism's file says of its search
FOUND = ("optimal", "acceptable")


@frozen(eq=False)
class Chosen:
    """A number that was chosen, between its bounds. `price` is by how much the goal would fall if the bound that holds
    it back gave way by one; `error` its standard error, of a fit."""

    name: str
    before: float
    after: float
    least: float
    most: float
    price: float
    held: str  # "least", "most" or ""
    error: float | None = None


@frozen(eq=False)
class Held:
    """A relation that must hold, by how much it is missed, and what the goal would fall by if it gave way by one;
    equations do so if their right side grows."""

    text: str
    value: float
    missed: float
    price: float

    @property
    def active(self) -> bool:
        return self.price != 0


@frozen(eq=False)
class InputCourse:
    """An input over intervals: each value holds until the next time, or goes straight to the next value (degree 1), or
    a cubic goes through four of them (degree 3), the last of which is the first of the next."""

    name: str
    times: Array
    values: Array
    degree: int

    @property
    def begins(self) -> Array:
        """Its values where intervals begin, and at the end if it is known there."""
        return self.values[:: max(self.degree, 1)]


@frozen(slots=False, eq=False)
class Optimum:
    """What is best: `chosen` numbers and what the `goal` is with them. The status is "optimal", "acceptable" (to fewer
    digits), "infeasible", "interrupted", "unfinished" (too many iterations) or "stopped", with the reason in
    `message`."""

    status: str
    message: str
    label: str
    before: float
    goal: float
    chosen: tuple[Chosen, ...]
    held: tuple[Held, ...]
    history: tuple[Iteration, ...]
    numbers: Array  # all, those of states too: what a search goes on from
    told: tuple[str, ...]
    evaluations: int
    seconds: float
    courses: Callable[[bool], Course]  # the motion before, or after
    inputs: tuple[InputCourse, ...] = ()  # those over intervals
    shown: tuple[Shown, ...] = ()  # for pictures
    hamiltonian: Hamiltonian | None = None  # of an optimal control
    quality: Quality | None = None  # of a fit
    text: str = ""  # the mechanism's file with what was chosen

    @property
    def found(self) -> bool:
        return self.status in FOUND

    @property
    def values(self) -> dict[str, float]:
        """What was chosen, by name."""
        return {each.name: each.after for each in self.chosen}

    @property
    def missed(self) -> float:
        """By how much relations are missed, at most."""
        return max((each.missed for each in self.held), default=0.0)

    @property
    def notes(self) -> tuple[str, ...]:
        return self.told

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints, and what a search goes on from."""
        return {
            "status": self.status,
            "message": self.message,
            "goal": self.label,
            "before": self.before,
            "after": self.goal,
            "chosen": [
                {
                    "name": each.name,
                    "before": each.before,
                    "after": each.after,
                    "least": _finite(each.least),
                    "most": _finite(each.most),
                    "held": each.held or None,
                    "price": each.price,
                    "error": None if each.error is None else _finite(each.error),
                }
                for each in self.chosen
            ],
            "inputs": {
                each.name: {"t": each.times.tolist(), "value": each.values.tolist(), "degree": each.degree}
                for each in self.inputs
            },
            "relations": [
                {"relation": each.text, "value": each.value, "missed": each.missed, "price": each.price}
                for each in self.held
            ],
            "fit": None if self.quality is None else {"rows": self.quality.rows, "left": self.quality.left},
            "hamiltonian": None if self.hamiltonian is None else self.hamiltonian.as_dict(),
            "history": [[each.number, each.goal, each.missed] for each in self.history],
            "notes": list(self.notes),
            "evaluations": self.evaluations,
            "seconds": self.seconds,
            "numbers": self.numbers.tolist(),
        }

    def save(self, path: str | Path) -> None:
        """Write .json, or as .yaml the mechanism's file with what was chosen; raises OutputError."""
        write_best(path, self.as_dict(), self.text)


def write_best(path: str | Path, told: dict[str, object], text: str) -> None:
    """What is best so far; a search may go on from it."""
    target = check_file(path, FORMS)
    with replacing(target) as temporary:
        if target.suffix.lower() == ".json":
            temporary.write_text(json.dumps({"version": __version__, **told}) + "\n", encoding="utf-8")
        else:
            short = {key: told[key] for key in SHORT if key in told}
            temporary.write_text(f"{text.rstrip()}\n{HEAD}{json.dumps(short)}\n", encoding="utf-8")


def numbers_in(text: str) -> Array:
    """Those that a search goes on from, in such a file. Raises ValueError, KeyError, TypeError."""
    lines = [line for line in text.splitlines() if line.startswith(HEAD)]
    facts = json.loads(lines[-1].removeprefix(HEAD) if lines else text)
    return np.array(facts["numbers"], dtype=float)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
