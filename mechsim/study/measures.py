"""A stand-in: `final`, `final(x)` and `max(x)` of coordinates, until the measures are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechsim.errors import Fault, Mark, SpecError
from mechsim.model import build
from mechsim.result import Motion
from mechsim.spec.document import MechSpec


@dataclass(frozen=True, slots=True)
class Measures:
    labels: tuple[str, ...]
    units: tuple[str, ...]
    keep: str
    wishes: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, texts: Sequence[str], spec: MechSpec) -> Measures:
        variables = [v.label for v in build(spec).variables]
        labels, wishes, faults = [], [], []
        for k, text in enumerate(texts, 1):
            found = re.fullmatch(r"(final|max)\((\w+)\)", text.replace(" ", ""))
            if text == "final":
                for name in variables:
                    labels += [name, f"{name}_dot"]
                    wishes += [("final", name), ("final_dot", name)]
            elif found and found[2] in variables:
                labels.append(text)
                wishes.append((found[1], found[2]))
            else:
                faults.append(Fault(f"`{text}` is no measure", Mark(f"--measure {k}", 1, 1)))
        if faults:
            raise SpecError(*faults)
        keep = "polynomials" if any(w == "max" for w, _ in wishes) else "final"
        return cls(tuple(labels), ("",) * len(labels), keep, tuple(wishes))

    def of_many(self, many) -> tuple[np.ndarray, list[str]]:  # type: ignore[no-untyped-def]
        values = np.full((len(many), len(self.labels)), np.nan)
        for column, (what, name) in enumerate(self.wishes):
            if what == "max":
                for k in range(len(many)):
                    if many[k].finished:
                        values[k, column] = self.of_motion(many[k].motion)[0][column]
            else:
                values[:, column] = many.at_end(name, "velocities" if what == "final_dot" else "positions")
        return values, [""] * len(many)

    def of_motion(self, motion: Motion) -> tuple[np.ndarray, str]:
        found = []
        for what, name in self.wishes:
            if what == "max":
                found.append(motion(np.linspace(motion.solution.t[0], motion.solution.t[-1], 2001))[name].max())
            else:
                state = motion.velocity if what == "final_dot" else motion
                found.append(state(motion.solution.t[-1])[name])
        return np.array(found), ""
