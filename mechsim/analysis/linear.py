"""Linearised motion: x' = A x + B u, y = C x + D u near a state, its eigenvalues and modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import inf, pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechsim.analysis.charts import Charted, charted
from mechsim.analysis.flow import Flow, Local
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.result.layout import Array
from mechsim.spec.suggest import did_you_mean

Complex = NDArray[np.complex128]
CLOSED = 1e-9  # of the largest rate of a row: what coordinates that are left out may change in it
# Beside the largest eigenvalue: a real part below this is zero. Eigenvalues that are double, as those of a free
# coordinate, are known to the root of roundings only.
UNDAMPED = 1e-7
ROUNDED = 1e-13  # of the terms of a difference: what is less is none
SLOWEST = 1e-7  # beside the rate at which forces move things, or of 1/s without any: what is slower does not happen
# Matrices are known to so much of their size; eigenvalues by how they depend on them, double ones to the root of it.
PRECISION, DOUBLES = 1e-14, 1e-8
EPSILON = 1e-16  # of the largest: eigenvalues are found no better
UNSURE = 100.0  # times that: an eigenvalue that is no larger is zero


@frozen(eq=False, slots=False)
class Mode:
    """An eigenvalue, 1/s, and how coordinates move in it, those of all points, the largest as 1. For a pair of complex
    ones the upper one stands for both."""

    eigenvalue: complex
    shape: Complex  # of all coordinates
    undamped: bool  # its real part is zero to what can be told

    @property
    def frequency(self) -> float:
        """In hertz, as it swings; 0 of what does not."""
        return abs(self.eigenvalue.imag) / (2 * pi)

    @property
    def damping(self) -> float:
        """The damping ratio: 0 without any, 1 where it just does not swing; negative of what grows."""
        size = abs(self.eigenvalue)
        return 0.0 if self.undamped or size == 0 else -self.eigenvalue.real / size

    @property
    def words(self) -> str:
        """The eigenvalue, or the pair, as a person reads it."""
        real, imaginary = self.eigenvalue.real, self.eigenvalue.imag
        parts = [] if self.undamped and imaginary else [f"{0.0 if self.undamped else real:.8g}"]
        return " ".join([*parts, *([f"± {abs(imaginary):.8g}i"] if imaginary else [])])

    @property
    def time(self) -> float:
        """In which it decays or grows by e."""
        return inf if self.undamped or self.eigenvalue.real == 0 else 1 / abs(self.eigenvalue.real)


@frozen(eq=False, slots=False)
class Linearised:
    """x' = A x + B u, y = C x + D u: x are changes of `states`, u of `inputs`, y of `outputs`.

    `rest`: whether the mechanism is at rest there; else this is the flow at one moment of a motion, and eigenvalues
    belong to the coordinates chosen as much as to the mechanism.
    """

    t: float
    positions: Array
    velocities: Array
    coordinates: tuple[str, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    A: Array
    B: Array
    C: Array
    D: Array
    shapes: Array  # of all coordinates, for each state
    rest: bool
    reads_time: bool
    steady: str = ""  # of a steady motion: what carries it along; then this is as seen by who is carried too
    neighbours: int = 0  # directions in which other steady motions lie, apart from those seen from elsewhere
    least: bool = False  # of a steady motion: its energy in that frame is least there, and nothing gives any
    leaning: tuple[str, ...] = ()  # of a rest: contacts that are closed there, and stay so
    pace: float = 0.0  # 1/s, at which forces there move things; 0 where there are none
    verdict: str = ""  # of a rest: its stability, by more than its modes
    roundings: Array | None = None  # of A: what each entry may be off, if more is known than its largest

    @cached_property
    def eigenvalues(self) -> Complex:
        return np.asarray([mode.eigenvalue for mode in self.all_modes])

    @property
    def modes(self) -> tuple[Mode, ...]:
        """One of each pair, slow ones first, those that do not swing before them."""
        return tuple(mode for mode in self.all_modes if mode.eigenvalue.imag >= 0)

    @cached_property
    def all_modes(self) -> tuple[Mode, ...]:
        """Of pairs both."""
        values, vectors, unsure = self._eigen
        values = np.where(np.abs(values) <= unsure, 0.0, values)
        largest = np.abs(values).max(initial=0.0)
        slowest_first = np.lexsort([values.real, np.round(np.abs(values.imag) / (largest or 1.0), 9)])
        modes = []
        for k in slowest_first:
            shape = self.shapes @ vectors[:, k]
            top = shape[np.argmax(np.abs(shape))] if np.abs(shape).max(initial=0.0) > 0 else 1.0
            undamped = bool(abs(values[k].real) <= max(UNDAMPED * abs(values[k]), unsure[k]))
            modes.append(Mode(complex(values[k]), shape / top, undamped))
        return tuple(modes)

    @cached_property
    def _eigen(self) -> tuple[Complex, Complex, Array]:
        values, vectors, off = _eigen(self.A, self.roundings)
        return values, vectors, UNSURE * off

    @property
    def lost(self) -> float:
        """Modes that are slower than this are lost in roundings, 1/s; 0 where none is."""
        values, _, unsure = self._eigen
        return float(unsure[np.abs(values) <= unsure].max(initial=0.0))

    @property
    def slowest(self) -> float:
        """What is slower than this does not happen, 1/s."""
        return SLOWEST * (self.pace or 1.0)

    @property
    def stability(self) -> str:
        """Of small changes, but for those to other steady motions: "stable", all die out, or the energy of a steady
        motion is least, or the potential of a rest; "unstable", some grow; "neutral", a rest that may be moved to
        others beside it; "undecided", some do neither grow nor die out, so that linear terms do not tell; "not told"
        of one moment of a motion, whose eigenvalues depend on coordinates."""
        if not self.rest and not self.steady:
            return "not told"
        return self.verdict or self.stability_by_modes

    @property
    def stability_by_modes(self) -> str:
        modes = sorted(self.all_modes, key=lambda mode: abs(mode.eigenvalue))[self.neighbours :]
        if any(not mode.undamped and mode.eigenvalue.real > 0 for mode in modes):
            return "unstable"
        return "undecided" if any(mode.undamped for mode in modes) and not self.least else "stable"

    def response(self, frequencies: ArrayLike) -> Complex:
        """H(i w) = C (i w - A)^-1 B + D at frequencies w in rad/s, (frequencies, outputs, inputs)."""
        w = np.atleast_1d(np.asarray(frequencies, dtype=float))
        unit = np.eye(len(self.A))
        found = [self.C @ np.linalg.solve(1j * each * unit - self.A, self.B) + self.D for each in w]
        return np.array(found, dtype=complex).reshape(len(w), *self.D.shape)

    def transfer(self, output: str, input: str) -> tuple[Array, Array]:
        """The transfer function from an input to an output as two polynomials in s, numerator and denominator, highest
        powers first: det(s - A) is the one, and det(s - A + b c) less that the other. Raises SpecError."""
        for name, known, word in ((output, self.outputs, "output"), (input, self.inputs, "input")):
            if name not in known:
                raise SpecError(Fault(f"there is no {word} {name}", hint=did_you_mean(name, list(known))))
        i, j = self.outputs.index(output), self.inputs.index(input)
        below = np.real(np.poly(self.A))
        changed = np.real(np.poly(self.A - np.outer(self.B[:, j], self.C[i])))
        above = changed - below + self.D[i, j] * below
        noise = ROUNDED * np.abs([below, changed]).max(axis=0)
        return np.where(np.abs(above) > noise, above, 0.0), below

    def as_arrays(self) -> dict[str, np.ndarray]:
        """What an NPZ file has of it."""
        names = {
            name: np.array(getattr(self, name), dtype=str) for name in ("states", "inputs", "outputs", "coordinates")
        }
        numbers = {name: getattr(self, name) for name in ("A", "B", "C", "D", "positions", "velocities", "eigenvalues")}
        return {**numbers, **names, "t": np.array(self.t)}


def _eigen(matrix: Array, roundings: Array | None) -> tuple[Complex, Complex, Array]:
    """Eigenvalues and vectors, and by how much each eigenvalue may be off: for roundings of the entries that it depends
    on, so that what is stiff says nothing of what is soft beside it, and for those of the method. What does not know of
    each other is looked at by itself."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(matrix)
    values, vectors, off = np.zeros(count, complex), np.zeros((count, count), complex), np.zeros(count)
    cleaned = matrix if roundings is None else np.where(np.abs(matrix) > roundings, matrix, 0.0)
    numbers = connected_components(coo_array(cleaned), directed=False)[1] if count else np.zeros(0)
    for number in np.unique(numbers):
        own = np.flatnonzero(numbers == number)
        block = np.ix_(own, own)
        noise = None if roundings is None else roundings[block]
        values[own], vectors[block], off[own] = _eigen_of_block(cleaned[block], noise)
    return values, vectors, off


def _eigen_of_block(cleaned: Array, roundings: Array | None) -> tuple[Complex, Complex, Array]:
    from scipy.linalg import eig, matrix_balance

    with np.errstate(invalid="ignore"):  # SciPy takes scales for places, which are of no use here
        balanced, (scales, _) = matrix_balance(cleaned, permute=False, separate=True)
    values, left, right = eig(balanced, left=True)  # vectors of length 1
    size = np.linalg.norm(balanced, 2)
    off = np.full_like(cleaned, PRECISION * size) if roundings is None else roundings * scales / scales[:, None]
    apart = np.maximum(np.abs(np.einsum("ik,ik->k", left.conj(), right)), 1e-300)
    moved = _along(left, off, right) / apart
    most = DOUBLES * (size if roundings is None else _along(left, np.abs(balanced), right))
    return values, scales[:, None] * right, np.maximum(np.minimum(moved, most), EPSILON * size)


def _along(left: Complex, matrix: Array, right: Complex) -> Array:
    """The most that entries of these sizes do to each eigenvalue."""
    return np.asarray(np.einsum("ik,ij,jk->k", np.abs(left), matrix, np.abs(right)))


def linearised(
    flow: Flow,
    t: float,
    q: Array,
    v: Array,
    coordinates: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    functions: Mapping[str, str] | None = None,
) -> Linearised:
    """The motion near a state. `coordinates` describe it: as many as there are freedoms, or fewer where these move by
    themselves, whatever the others are; those in `functions` are signals, by their names there. Raises SpecError,
    AssemblyError."""
    known = tuple(flow.system.mechanism.inputs)
    inputs = known if inputs is None else tuple(inputs)
    for name in inputs:
        if name not in known:
            raise SpecError(
                Fault(f"there is no input {name}", hint=did_you_mean(name, list(known)) or _no_inputs(known))
            )
    local = flow.at(t, q, v, inputs)
    _refuse_driving(local)
    told = dict(functions or {})
    chart = charted(local, coordinates, told)
    return _in_chart(local, chart, _outputs(local, chart, told, outputs))


def _refuse_driving(local: Local) -> None:
    """Raise for inputs that move what constraints hold: rates of these inputs would act as well as they themselves."""
    for name in _driving(local):
        message = f"the input {name} moves a drive: its rates act too, so there is no x' = A x + B u with it"
        hint = "leave it out (--inputs NAMES of the others), or let a force or torque be the input"
        raise SpecError(Fault(message, hint=hint))


def _driving(local: Local) -> list[str]:
    """Inputs that move what constraints hold."""
    held = np.delete(np.arange(local.flow.system.n), local.flow.states)  # rates of states may be anything
    places = range(sum(local.freedoms), local.moved[0].shape[1])
    moving = [any(np.any(changes[held, place]) for changes in local.moved[:2]) for place in places]
    return [name for name, moves in zip(local.inputs, moving, strict=True) if moves]


def linear_rest(local: Local) -> Linearised:
    """The motion near a rest, by all inputs that move no drive."""
    flow, known = local.flow, tuple(local.flow.system.mechanism.inputs)
    driving = _driving(flow.at(local.t, local.q, 0 * local.v, known)) if known else []
    return linearised(flow, local.t, local.q, 0 * local.v, inputs=[name for name in known if name not in driving])


def _no_inputs(known: Sequence[str]) -> str:
    return "" if known else "the section Inputs of a file names them"


def _in_chart(local: Local, chart: Charted, names: tuple[str, ...]) -> Linearised:
    """The matrices A P = F of all directions P, and B from those of inputs."""
    q, count = local.moved[0].copy(), sum(local.freedoms)
    q[local.flow.system.accounts] = 0.0  # they add up work, and nothing moves with them
    states, rates = chart.states, chart.rates
    back: Array = np.asarray(np.linalg.pinv(states[:, :count]), dtype=float)
    matrix = rates[:, :count] @ back
    _require_closed(local, chart, rates[:, :count] - matrix @ states[:, :count], rates[:, :count])
    known = dict(zip(chart.names, states, strict=True))
    rows = [known[name] if name in known else _changes(local, name) for name in names]
    told = np.stack(rows) if rows else np.zeros((0, q.shape[1]))
    read = told[:, :count] @ back
    own = told[:, :count] - read @ states[:, :count]
    if names and not np.abs(own).max(initial=0.0) <= CLOSED * max(1e-300, np.abs(told[:, :count]).max(initial=0.0)):
        worst = names[int(np.argmax(np.abs(own).max(axis=1)))]
        message = f"the output {worst} depends on coordinates that are left out"
        raise SpecError(Fault(message, hint="leave it out too, or choose more coordinates"))
    return Linearised(
        local.t,
        local.q.copy(),
        local.v.copy(),
        local.flow.labels,
        chart.names,
        local.inputs,
        names,
        matrix,
        rates[:, count:] - matrix @ states[:, count:],
        read,
        told[:, count:] - read @ states[:, count:],
        q[:, :count] @ back,
        local.is_rest,
        local.flow.reads_time,
        pace=local.flow.pace,
        roundings=_roundings(local, chart, back),
    )


def _roundings(local: Local, chart: Charted, back: Array) -> Array:
    """What entries of the matrix may be off: shares of what is largest in each row, as positions and as velocities, and
    in those of coordinates that constraints link with it."""
    places, count = local.freedoms[0], sum(local.freedoms)
    parts = [slice(None, places), slice(places, count)]
    return np.asarray(
        PRECISION * sum(np.outer(_row_sizes(local, chart, part), np.abs(back[part]).sum(axis=0)) for part in parts)
    )


def _row_sizes(local: Local, chart: Charted, part: slice) -> Array:
    """Of rates of states along some directions."""
    flow = local.flow
    scales, own = flow.system.scales[: flow.system.n], np.abs(chart.rates[:, part]).max(axis=1, initial=0.0)
    known: dict[str, float] = {}
    for suffix, moved in (("", local.moved[1]), ("_dot", local.moved[2])):
        sizes = scales * flow.widened(np.abs(moved[:, part]).max(axis=1, initial=0.0) / scales)
        known |= {f"{label}{suffix}": float(size) for label, size in zip(flow.labels, sizes, strict=True)}
    largest = float(own.max(initial=0.0))
    return np.maximum(own, [known.get(name, largest) for name in chart.names])


def _require_closed(local: Local, chart: Charted, off: Array, rates: Array) -> None:
    largest = max(float(np.abs(rates).max(initial=0.0)), 1e-300)
    if not np.abs(off).max(initial=0.0) <= CLOSED * largest:
        names = ", ".join(chart.coordinates)
        message = f"the motion of {names} depends on coordinates that are left out"
        flow, accounts = local.flow, set(local.flow.system.accounts.tolist())
        states = [flow.labels[place] for place in flow.states if place not in accounts]
        own = [label for label in states if label not in chart.coordinates]
        lacking = f", such as {', '.join(own)} of a controller" if own else ""
        raise SpecError(Fault(message, hint=f"choose more{lacking}, or none, and they are chosen for you"))


def _outputs(
    local: Local, chart: Charted, functions: Mapping[str, str], outputs: Sequence[str] | None
) -> tuple[str, ...]:
    """Those asked for; else the file's signals, or the coordinates of the chart."""
    labels = local.flow.labels
    signals = [name for name in local.flow.system.mechanism.readouts if name not in functions.values()]
    if outputs is None:
        return tuple(signals) or chart.names
    known = [*signals, *labels, *(f"{label}_dot" for label in labels), *chart.names]
    for name in outputs:
        if name not in known:
            hint = did_you_mean(name, known) or "a signal of the file is one if `Output: {signals: [...]}` names it"
            raise SpecError(Fault(f"there is no output {name}", hint=hint))
    return tuple(outputs)


def _changes(local: Local, name: str) -> Array:
    """Of an output along all directions."""
    labels = local.flow.labels
    if name in local.flow.system.mechanism.readouts:
        return local.signal_changes(name)
    if name in labels:
        return local.moved[0][labels.index(name)]
    return local.moved[1][labels.index(name.removesuffix("_dot"))]
