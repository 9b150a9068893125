"""A whole problem in complex numbers of extended precision, one of its parameters a little off the real axis.

The imaginary part of the end over that little is the derivative, without a difference of nearly equal numbers (W.
Squire, G. Trapp, Using complex variables to estimate derivatives of real functions). Nothing of the tangents' own way
is used: not the dual series of the kernel, nor the linear systems of initial/sensitivity.py, nor the derivatives of the
numbers' program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from mechsim.derive.program import CONSTANT_FUNCTIONS
from mechsim.engine.leading import planned
from mechsim.initial.assembly import moving_coordinates
from mechsim.initial.nearest import weights_of
from mechsim.initial.start import Wishes, wishes
from mechsim.kernel.evaluate import evaluate
from mechsim.kernel.linear import dense
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.plan import Plan
from mechsim.kernel.twin import Twin
from mechsim.model import build
from mechsim.model.placement import placed
from mechsim.simulation import Prepared, adjust
from mechsim.spec import parse
from mechsim.spec.living import Living, Tape, settled

STEP = 1e-30  # its square is nothing beside 1
COMPLEX = np.clongdouble
ORDER = 24  # of series in extended precision, over the steps of a march in doubles: nothing is left to be seen
ITERATIONS = 40  # of Newton's method with a matrix of doubles that knows no second derivatives by velocities


def angle(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """atan2 just beside the real axis."""
    turned = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
    return COMPLEX(np.arctan2(y.real, x.real) + 1j * turned)


def evaluated(nodes: list, parameter: complex) -> np.ndarray:
    """All nodes of a tape."""
    functions = {**CONSTANT_FUNCTIONS, "atan2": angle, "hypot": lambda a, b: np.sqrt(a * a + b * b)}
    values = np.zeros(len(nodes), dtype=COMPLEX)
    for place, (name, *arguments) in enumerate(nodes):
        if name in ("value", "parameter"):
            values[place] = arguments[0] if name == "value" else parameter
        else:
            values[place] = functions[name](*values[arguments])
    return values


@dataclass(frozen=True)
class Bent:
    """A prepared problem, one of its parameters bent off the real axis."""

    problem: Prepared
    name: str

    @cached_property
    def _read(self):
        spec, tape = self.problem.spec, Tape((self.name,))
        living = parse(spec.text, spec.path, spec.overrides, spec.files, tape=tape)
        living = adjust(living, tend=float(spec.problem.tend))
        mechanism = build(living, noted=False)
        numbers = Numbers(tape, mechanism, self.problem.system)
        value = float(spec.parameters[self.name])
        return (
            mechanism,
            living.problem,
            numbers,
            evaluated(numbers.nodes, COMPLEX(value) + COMPLEX(1j) * COMPLEX(STEP)),
        )

    def of(self, number: float) -> complex:
        return self._read[3][number.number] if isinstance(number, Living) else COMPLEX(number)

    @cached_property
    def tables(self) -> list[np.ndarray]:
        _, _, numbers, values = self._read
        return [values[table] for table in numbers.tables]

    @cached_property
    def constants(self) -> np.ndarray:
        return self._read[3][self._read[2].constants]

    @cached_property
    def plan(self) -> Plan:
        plan = planned(self.problem.system, self.problem.structure)
        matrix = np.zeros(len(plan.matrix_rows), dtype=COMPLEX)
        for entries, group, constant, members in plan.matrix_sources:
            np.add.at(matrix, entries, self.tables[group][constant, members])
        return replace(
            plan,
            constants=np.append(self.constants, 0),
            blocks=tuple(block.tuned(self.tables) for block in plan.blocks),
            jacobian_blocks=tuple(block.tuned(self.tables) for block in plan.jacobian_blocks),
            matrix_constant=matrix,
        )

    # --- values at a point

    def _outputs(self, names, t, q, v, constants):
        """(group, key, value) of outputs; a constant of the mechanism counts from the end, as in kernel/outputs.py."""
        tails = (constants[::-1], np.zeros(len(constants), dtype=COMPLEX))
        derivatives = [np.concatenate([x, tail]) for x, tail in zip((q, v), tails, strict=True)]
        for group, table in zip(self.problem.system.groups, self.tables, strict=True):
            program = group.program.restrict(lambda key: key[0] in names)
            inputs = [
                np.full(group.lanes, t, dtype=COMPLEX)
                if source.kind == "time"
                else derivatives[source.order][group.variables[source.index]]
                for source in program.inputs
            ]
            for output, value in zip(program.outputs, evaluate(program, table, inputs), strict=True):
                yield group, output.key, np.broadcast_to(value, group.lanes)

    def _missed(self, name, t, q, v):
        total = np.zeros(self.problem.system.m + 1, dtype=COMPLEX)
        for group, key, value in self._outputs((name,), t, q, v, self.constants):
            np.add.at(total, group.multipliers[key[1]], value)
        return total[:-1]

    def _gradients(self, names, t, q, v):
        system = self.problem.system
        total = np.zeros((system.m + 1, system.n + 1), dtype=COMPLEX)
        for group, key, value in self._outputs(names, t, q, v, self.constants):
            row = group.multipliers[key[1] + (group.kind.constraint_count if key[0] == "slope" else 0)]
            column = group.variables[key[2]]
            np.add.at(total, (np.where(row < 0, system.m, row), np.where(column < 0, system.n, column)), value)
        return total[:-1, :-1]

    def signals(self, element, t, q, v, constants):
        place = next(group for group in self.problem.system.groups if element in group.elements)
        lane = place.elements.index(element)
        found = self._outputs(("signal",), t, q, v, constants)
        return [value[lane] for group, _, value in found if group is place]

    # --- the start: a stationary distance on the constraints

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities."""
        mechanism, asked, _, _ = self._read
        system, start = self.problem.system, self.problem.start
        wanted, t, still = wishes(mechanism, asked), start.t, np.zeros(system.n, dtype=COMPLEX)
        rows = np.flatnonzero(system.levels == 2)

        def held(q, v):
            return self._missed("constraint", t, q, still)[rows], self._gradients(("gradient",), t, q, still)[rows]

        def bending(q, lam):
            every = np.zeros(system.m)
            every[rows] = lam
            lower = dense(system.constraint_hessian(t, q, every), system.n, system.n)
            return lower + np.tril(lower, -1).T

        q = self._nearest(start.positions, self._places(wanted[0], asked), wanted[0], held, bending)
        target = np.array([0 if value is None else self.of(value.number.value) for value in wanted[1].values], COMPLEX)

        def moving(v, _):
            return self._missed("rate", t, q, v), self._gradients(("gradient", "slope"), t, q, v)

        none = np.zeros((system.n, system.n))
        return q, self._nearest(start.velocities, target, wanted[1], moving, lambda v, mu: none)

    def _places(self, asked: Wishes, problem) -> np.ndarray:
        """What positions are nearest to."""
        mechanism = self._read[0]
        plain = placed(settled(mechanism), settled(problem)).coordinates()
        target = np.array(
            [
                self.of(mechanism.guesses.get(index, here)) if value is None else self.of(value.number.value)
                for index, (value, here) in enumerate(zip(asked.values, plain, strict=True))
            ],
            dtype=COMPLEX,
        )
        parts = {part.name: part for part in mechanism.parts}
        for index, variable in enumerate(mechanism.variables):
            if variable.kind == "angle" and asked.values[index] is None and index not in mechanism.guesses:
                ends = [mechanism.points[name][:2] for name in parts[variable.owner].points[:2]]
                (ax, ay), (bx, by) = ([target[s] if s >= 0 else self.constants[-1 - s] for s in end] for end in ends)
                target[index] = angle(by - ay, bx - ax)
        return target

    def _nearest(self, x, target, asked: Wishes, constrained, bending) -> np.ndarray:
        system = self.problem.system
        free = np.setdiff1d(moving_coordinates(system.mechanism), asked.fixed)
        cost = weights_of(asked.guessed, system.n) / self._read[3][self._read[2].scales] ** 2
        held = np.setdiff1d(moving_coordinates(system.mechanism), free)
        x = x.astype(COMPLEX)
        x[held] = target[held]
        missed, gradients = constrained(x, None)
        lam = np.linalg.lstsq(gradients[:, free].T.real.astype(float), -(cost * (x - target))[free].real.astype(float))[
            0
        ]
        lam = lam.astype(COMPLEX)
        for _ in range(ITERATIONS):
            missed, gradients = constrained(x, None)
            pull = (cost * (x - target))[free] + gradients[:, free].T @ lam
            plain, across = x.real.astype(float), gradients[:, free].real.astype(float)
            upper = (np.diag(cost.real.astype(float)) + bending(plain, lam.real.astype(float)))[np.ix_(free, free)]
            matrix = np.block([[upper, across.T], [across, np.zeros((len(across),) * 2)]])
            step = solved(matrix, np.concatenate([pull, missed]))
            x[free] -= step[: len(free)]
            lam = lam - step[len(free) :]
        return x

    # --- the motion

    def end(self, times: np.ndarray) -> np.ndarray:
        """Positions and velocities, (2, n), at the last of the times of steps."""
        system, twin = self.problem.system, Twin(self.plan, ORDER, COMPLEX)
        mechanism, size = self._read[0], self.plan.size
        state = np.zeros((int(self.plan.variable_offsets.max()), size), dtype=COMPLEX)
        for derivative, values in enumerate(self.start()[: len(state)]):
            state[derivative, : system.n] = values
        constants = self.constants.copy()
        switches = sorted(mechanism.switches, key=lambda switch: switch.time)
        counts = [0] * len(mechanism.samplers)
        for t, after in pairwise(times):
            while switches and switches[0].time <= t:
                for number, value in switches.pop(0).values.items():
                    constants[number] = self.of(value)
            for number, sampler in enumerate(mechanism.samplers):
                if sampler.start + counts[number] * sampler.period <= t + 1e-9 * sampler.period:
                    q, v = (state[k, : system.n] for k in range(2))
                    constants[list(sampler.constants)] = self.signals(sampler.element, t, q, v, constants)
                    counts[number] += 1
            twin.x[0, size:-1] = constants
            twin.set_state(t, state)
            state = horner(twin.expand(), np.longdouble(after) - np.longdouble(t), len(state))
        return state[:2, : system.n]


def solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Both parts by themselves: they are of other sizes."""
    parts = []
    for part in (right.real, right.imag):
        size = float(np.abs(part).max()) or 1.0
        parts.append(np.linalg.solve(matrix, (part / size).astype(float)).astype(np.longdouble) * size)
    return parts[0] + COMPLEX(1j) * parts[1]


def horner(coefficients: np.ndarray, step: np.longdouble, count: int) -> np.ndarray:
    result = np.zeros((count, coefficients.shape[1]), dtype=COMPLEX)
    for derivative in range(count):
        for n in reversed(range(derivative, len(coefficients))):
            result[derivative] = result[derivative] * step + coefficients[n] * math.perm(n, derivative)
    return result
