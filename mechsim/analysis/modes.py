"""The motion of a mode as a table that films and pages draw: small, but large enough to be seen."""

from __future__ import annotations

from math import pi

import numpy as np

from mechsim.analysis.flow import projected
from mechsim.analysis.linear import Linearised, Mode
from mechsim.result.layout import full_layout, wide_rows
from mechsim.result.trajectory import MODE, Trajectory
from mechsim.simulation import Prepared

FARTHEST = 0.25  # of its scale, that the coordinate moves which does so most
ROWS, PERIODS = 120, 3  # rows of a period, and periods
OF_ITS_OWN = 2.0  # seconds that stand for a period of what does not swing


def motion_of_mode(prepared: Prepared, linear: Linearised, mode: Mode, title: str) -> Trajectory:
    """Positions along the mode, each put back on the constraints; a mode that does not swing goes there and back."""
    frequency = abs(mode.eigenvalue.imag) or 2 * pi / OF_ITS_OWN
    t = np.asarray(np.arange(PERIODS * ROWS + 1) * (2 * pi / frequency / ROWS), dtype=np.float64)
    shape = np.where(_states(prepared), 0.0, mode.shape)
    shape = shape * FARTHEST / max(float(np.abs(shape / prepared.system.scales[: len(shape)]).max()), 1e-300)
    swing = np.exp(1j * frequency * t)[:, None]
    q, v = linear.positions + (swing * shape).imag, (1j * frequency * swing * shape).imag
    system = prepared.system
    along = np.full(len(t), linear.t)  # what depends on time stands still
    on_constraints = [projected(prepared.independent, linear.t, *state) for state in zip(q, v, strict=True)]
    q, v = (np.array(each) for each in zip(*on_constraints, strict=True))
    kinetic, potential = system.energies(along, q, v)
    layout = full_layout(prepared.mechanism)
    facts = prepared.facts
    return Trajectory(
        layout.labels,
        layout.units,
        layout.table(wide_rows(t, q, v, np.asarray(kinetic), np.asarray(potential))),
        title=title,
        spec_path=facts["spec_path"],
        spec_text=facts["spec_text"],
        settings={**facts["settings"], "t0": float(t[0]), "tend": float(t[-1])},
        version=facts["version"],
        status=MODE,
        notes=("a mode of the linearised motion, enlarged: no motion of the mechanism",),
    )


def _states(prepared: Prepared) -> np.ndarray:
    return np.array([variable.kind == "state" for variable in prepared.mechanism.variables])
