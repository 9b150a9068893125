"""Sweeps for tests, of real mechanisms: small grids and draws, with measures made by hand from their motions."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import mechsim
from mechsim.study.table import SweepTable

SPECS = Path(__file__).parent.parent / "specs"
ANDREWS = ("final(theta_OF)", "max(E_y)", "final(D_x)")
SAMPLES = 400  # of a motion, that a measure is taken from


def axis(name: str, values: Any, scale: str = "linear") -> dict[str, Any]:
    return {"name": name, "text": "", "kind": "grid", "scale": scale, "values": [float(value) for value in values]}


def drawn(name: str) -> dict[str, Any]:
    return {"name": name, "text": "normal", "kind": "draws", "scale": "linear", "values": None}


def table_of(
    spec: str,
    vary: list[dict[str, Any]],
    columns: dict[str, np.ndarray],
    measures: dict[str, tuple[str, np.ndarray]],
    status: Any = None,
    **facts: Any,
) -> SweepTable:
    """A table as a sweep writes it."""
    count = len(next(iter(columns.values())))
    status = np.array(["finished"] * count if status is None else status, object)
    text = (SPECS / spec).read_text() if spec else ""
    known = {
        "version": "0", "title": "A sweep", "spec_path": spec, "spec_text": text, "files": {},
        "settings": {"tol": 1e-9, "order": None, "t0": 0.0, "tend": 1.0, "overrides": {}},
        "vary": vary, "measures": [{"label": each, "text": each, "unit": unit} for each, (unit, _) in measures.items()],
        "draws": None, "latin": False, "seed": 0, "count": count,
    }  # fmt: skip
    message = np.array(["" if each == "finished" else "it does not close" for each in status], object)
    numbers = {name: values for name, (_, values) in measures.items()}
    steps = np.full(count, 20)
    own = {"case": np.arange(count), **columns, **numbers, "steps": steps, "status": status, "message": message}
    return SweepTable(own, {**known, **facts})


def simulated(spec: str, vary: list[dict[str, Any]], wanted: tuple[str, ...], tend: float, draws: int = 1,
              sigma: float = 0.02) -> SweepTable:  # fmt: skip
    """A sweep of a file: measures `max(A_y)`, `min(...)` and `final(...)`, from its motions."""
    handle = mechsim.mechanism(SPECS / spec)
    grids = [each["values"] for each in vary if each["values"] is not None]
    rng = np.random.default_rng(1)
    own = {each["name"]: handle.parameters[each["name"]] * (1 + sigma * rng.standard_normal(draws))
           for each in vary if each["values"] is None}  # fmt: skip
    rows = [(*point, k) for point in product(*grids) for k in range(draws)]
    columns = {}
    places = iter(range(len(grids)))
    for each in vary:
        if each["values"] is None:
            columns[each["name"]] = np.array([own[each["name"]][row[-1]] for row in rows])
        else:
            place = next(places)
            columns[each["name"]] = np.array([row[place] for row in rows])
    motions = handle.simulate_many(columns, tend=tend, tol=1e-9)
    unit = {"A": "m", "theta": "rad"}
    measures = {
        each: (unit.get(each.split("(")[1].split("_")[0], "m"), np.array([_measure(case, each) for case in motions]))
        for each in wanted
    }
    settings = {"tol": 1e-9, "order": None, "t0": 0.0, "tend": tend, "overrides": {}}
    title = handle.spec.title
    return table_of(spec, vary, columns, measures, motions.status, settings=settings, title=title,
                    draws=draws if own else None)  # fmt: skip


def _measure(case: Any, text: str) -> float:
    if not case.finished:
        return np.nan
    function, label = text.rstrip(")").split("(")
    motion = case.motion
    times = np.linspace(motion.t[0], motion.t[-1], SAMPLES)
    rate = label.endswith("_dot")
    values = motion.velocity(times)[label.removesuffix("_dot")] if rate else motion(times)[label]
    return float({"max": values.max, "min": values.min, "final": lambda: values[-1]}[function]())


def pendulum(lengths: int = 9, gravities: int = 7) -> SweepTable:
    """Two grids, one geometric; the shortest pendulums, of negative length, cannot be."""
    vary = [axis("l", np.linspace(-0.2, 1.4, lengths)), axis("g", np.geomspace(1, 100, gravities), "log")]
    return simulated("pendulum.yaml", vary, ("final(A_x)", "min(A_x)"), 2.0)


def andrews(draws: int = 40) -> SweepTable:
    return simulated("andrews.yaml", [drawn("mom"), drawn("c0")], ANDREWS, 0.03, draws)


def andrews_grid(moments: int = 9) -> SweepTable:
    return simulated("andrews.yaml", [axis("mom", np.linspace(0.025, 0.04, moments))], ANDREWS, 0.03)


def saved(table: SweepTable, path: Path) -> Path:
    """A .parquet as `mechsim sweep` writes it."""
    import pyarrow
    import pyarrow.parquet

    arrow = pyarrow.table({name: pyarrow.array(values) for name, values in table.columns.items()})
    pyarrow.parquet.write_table(arrow.replace_schema_metadata({"mechsim_sweep": json.dumps(dict(table.facts))}), path)
    return path
