"""Poses and modes as tables that films and pages draw: no motions of the mechanism, but what is seen of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np

from mechsim.analysis.flow import projected
from mechsim.analysis.linear import Linearised, Mode
from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.result.layout import Array, full_layout, wide_rows
from mechsim.result.trajectory import MODE, Facts, Trajectory
from mechsim.simulation import Prepared

FARTHEST = 0.25  # of its scale, that the coordinate moves which does so most
ROWS, PERIODS = 120, 3  # rows of a period, and periods
OF_ITS_OWN = 2.0  # seconds that stand for a period of what does not swing


@frozen(eq=False)
class Shown:
    """What is seen: a system, the same without redundant constraints, and what its files carry."""

    system: System
    independent: System
    facts: Facts

    @classmethod
    def of(cls, prepared: Prepared) -> Shown:
        return cls(prepared.system, prepared.independent, prepared.facts)


def motions_of_modes(
    shown: Shown, linear: Linearised, title: str, period: float | None = None
) -> tuple[Trajectory, ...]:
    """All modes, in their order; each swings once in a `period` instead of its own, if one is given."""
    named = (f"{title}: mode {number}, {mode.words} 1/s" for number, mode in enumerate(linear.modes, 1))
    words = named if period is None else (title for _ in linear.modes)
    return tuple(motion_of_mode(shown, linear, *each, period) for each in zip(linear.modes, words, strict=True))


def motion_of_mode(shown: Shown, linear: Linearised, mode: Mode, title: str, period: float | None = None) -> Trajectory:
    """Positions along the mode, small but large enough to be seen, each put back on the constraints; a mode that does
    not swing goes there and back."""
    own = 2 * pi / abs(mode.eigenvalue.imag) if mode.eigenvalue.imag else OF_ITS_OWN
    frequency = 2 * pi / (period or own)
    t = np.asarray(np.arange(PERIODS * ROWS + 1) * (2 * pi / frequency / ROWS), dtype=np.float64)
    shape = np.where(_states(shown.system), 0.0, mode.shape)
    shape = shape * FARTHEST / max(float(np.abs(shape / shown.system.scales[: len(shape)]).max()), 1e-300)
    swing = np.exp(1j * frequency * t)[:, None]
    still = np.zeros_like(linear.positions)
    period_of = linear.positions + (swing[:ROWS] * shape).imag
    once = np.array([projected(shown.independent, linear.t, pose, still)[0] for pose in period_of])
    # Rates of a periodic curve, exact as far as its harmonics go: what is drawn between rows follows both.
    harmonics = np.fft.fftfreq(ROWS, 1 / ROWS)[:, None] * (np.arange(ROWS) != ROWS // 2)[:, None]
    rates = np.fft.ifft(1j * frequency * harmonics * np.fft.fft(once, axis=0), axis=0).real
    rows = np.arange(len(t)) % ROWS
    q, v = once[rows], rates[rows]
    notes = ["a mode of the linearised motion, enlarged: no motion of the mechanism"]
    if period is not None:
        notes.append(f"a period takes {period:g} s here, whatever its frequency is")
    return _table(shown, t, (linear.t, q, v), title, notes)


def poses_in_turn(prepared: Prepared, poses: Sequence[Array], title: str) -> Trajectory:
    """Poses, one a second; one by itself lasts for a second."""
    q = np.array(poses if len(poses) > 1 else [*poses, *poses])
    note = "poses of the mechanism, one after the other: no motion of it"
    state = prepared.start.t, q, np.zeros_like(q)
    return _table(Shown.of(prepared), np.arange(len(q), dtype=np.float64), state, title, [note])


def _table(shown: Shown, t: Array, states: tuple[float, Array, Array], title: str, notes: Sequence[str]) -> Trajectory:
    (now, q, v), system = states, shown.system
    times = np.full(len(t), now)
    kinetic, potential = system.energies(times, q, v)  # what depends on time stands still
    layout, facts, drawn = full_layout(system.mechanism), shown.facts, system.mechanism.drawn
    table = layout.table(wide_rows(t, q, v, np.asarray(kinetic), np.asarray(potential)))
    lengths = tuple("m/s" if label.endswith("_dot") else "m" for label in drawn)
    return Trajectory(
        (*layout.labels, *drawn),
        (*layout.units, *lengths),
        np.concatenate([table, system.places(times, q, v)], axis=1) if drawn else table,
        title=title,
        spec_path=facts["spec_path"],
        spec_text=facts["spec_text"],
        settings={**facts["settings"], "t0": float(t[0]), "tend": float(t[-1])},
        version=facts["version"],
        status=MODE,
        notes=tuple(notes),
        drawing=facts.get("drawing", ""),
    )


def _states(system: System) -> np.ndarray:
    return np.array([variable.kind == "state" for variable in system.mechanism.variables])
