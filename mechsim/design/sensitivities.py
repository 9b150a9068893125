"""Sensitivities as they were found: derivatives of measures, and of quantities along the motion."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mechsim._version import __version__
from mechsim.design.tolerances import Budget
from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.result.layout import Array
from mechsim.result.paths import SIGNATURE, OutputError, check_folder, explained, real_path, replacing

FORMS = (".csv", ".npz", ".json")


@frozen(eq=False)
class Curve:
    """A quantity at times of the motion, both sides of what jumps, and its derivatives, (times, names)."""

    label: str
    unit: str
    values: Array
    derivatives: Array


@frozen(slots=False, eq=False)
class Sensitivity:
    """Derivatives of measures `labels`, (measures, names), by the names `by`, whose values are `given`; and of `curves`
    at `times`. `budget` tells what tolerances make of them."""

    by: tuple[str, ...]
    given: Array
    labels: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    derivatives: Array
    times: Array
    curves: tuple[Curve, ...]
    budget: Budget | None
    told: tuple[str, ...]
    statistics: dict[str, float]

    def derivative(self, measure: str, by: str) -> float:
        """`found.derivative("max(A_y)", "l")`."""
        return float(self.derivatives[_place(measure, self.labels), _place(by, self.by)])

    def curve(self, quantity: str, by: str) -> Array:
        """Of a quantity along the motion, at `times`."""
        place = _place(quantity, tuple(each.label for each in self.curves))
        return self.curves[place].derivatives[:, _place(by, self.by)]

    @property
    def relative(self) -> Array:
        """By what share measures change per share of what they are differentiated by, (measures, names)."""
        with np.errstate(all="ignore"):
            return self.derivatives * self.given / self.values[:, None]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know before they use the numbers."""
        still = [name for place, name in enumerate(self.by) if self._is_still(place)]
        told = [f"nothing here changes with {', '.join(still)}"] if still else []
        return (*self.told, *told, *(self.budget.notes if self.budget else ()))

    def _is_still(self, place: int) -> bool:
        curves = any(each.derivatives[:, place].any() for each in self.curves)
        return not curves and not self.derivatives[:, place].any()

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints."""
        return {
            "by": {
                name: None if np.isnan(value) else value
                for name, value in zip(self.by, self.given.tolist(), strict=True)
            },
            "measures": [
                {"measure": label, "unit": unit, "value": value, "derivatives": dict(zip(self.by, row, strict=True))}
                for label, unit, value, row in zip(
                    self.labels, self.units, self.values.tolist(), self.derivatives.tolist(), strict=True
                )
            ],
            "tolerances": None if self.budget is None else self.budget.as_dict(),
            "notes": list(self.notes),
            "statistics": self.statistics,
        }

    def save(self, path: str | Path) -> None:
        """Write to .json (measures), .csv (curves, or else measures) or .npz (all); raises OutputError."""
        target = check_file(path, FORMS)
        with replacing(target) as temporary:
            if target.suffix.lower() == ".npz":
                with open(temporary, "wb") as stream:
                    np.savez(stream, allow_pickle=False, **self._arrays())
            else:
                text = json.dumps(self.as_dict(), indent=1) if target.suffix.lower() == ".json" else self._csv()
                temporary.write_text(text, encoding="utf-8")

    def _arrays(self) -> dict[str, np.ndarray]:
        found = {key: getattr(self, key) for key in ("given", "values", "derivatives")}
        found |= {"by": np.array(self.by), "measures": np.array(self.labels), "t": self.times}
        found["curves"] = np.array([each.label for each in self.curves])
        for key in ("values", "derivatives") if self.curves else ():
            found[f"curve_{key}"] = np.stack([getattr(each, key) for each in self.curves])
        return found

    def _csv(self) -> str:
        told = {key: value for key, value in self.as_dict().items() if key != "statistics"}
        lines = [f"{SIGNATURE.decode()}{__version__}", f"# sensitivity: {json.dumps(told)}"]
        rows = self._curve_rows() if self.curves else self._measure_rows()
        return "\n".join([*lines, *(",".join(row) for row in rows)]) + "\n"

    def _curve_rows(self) -> list[list[str]]:
        names, columns = ["t"], [self.times]
        for each in self.curves:
            names += [each.label, *(f"d({each.label})/d({name})" for name in self.by)]
            columns += [each.values, *each.derivatives.T]
        return [
            [_quoted(name) for name in names],
            *([repr(value) for value in row] for row in np.column_stack(columns).tolist()),
        ]

    def _measure_rows(self) -> list[list[str]]:
        head = ["measure", "value", *(f"d/d({name})" for name in self.by)]
        table = np.column_stack([self.values, self.derivatives]).tolist()
        return [head, *([_quoted(label), *map(repr, row)] for label, row in zip(self.labels, table, strict=True))]


def _place(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise KeyError(f"{name!r} is not among {', '.join(names) or 'nothing'}")
    return names.index(name)


def _number(value: float) -> float | None:
    """For JSON, which has no NaN."""
    return None if np.isnan(value) else value


def _quoted(text: str) -> str:
    """A cell of a CSV."""
    return f'"{text}"' if "," in text else text


def check_file(path: str | Path, forms: tuple[str, ...]) -> Path:
    """The path that something can be written to, by its ending, or an OutputError that says why not."""
    with explained(path):
        target = real_path(path)
        if target.suffix.lower() not in forms:
            said = f"the ending {target.suffix!r}" if target.suffix else "a name without ending"
            raise OutputError(Fault(f"cannot write {path}: {said} is not known", hint=f"use one of {', '.join(forms)}"))
        if target.is_dir():
            raise OutputError(Fault(f"cannot write {path}: it is a folder", hint=f"name a file in it: {path}/out.csv"))
        check_folder(target, path)
    return target
