"""The numbers of a file's mechanism as functions of some of its parameters, and the mechanism tuned to others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechsim.errors import SpecError
from mechsim.initial import Stage
from mechsim.initial.many import Asked
from mechsim.initial.start import Wishes, wishes
from mechsim.initial.warm import turned_back
from mechsim.kernel.numbers import Guards, Numbers, TunedSystem
from mechsim.kernel.system import System
from mechsim.lagrangian.vector import labels
from mechsim.model import build
from mechsim.model.mechanism import Mechanism
from mechsim.model.placement import placed
from mechsim.simulation import adjust
from mechsim.source import read
from mechsim.spec import parse
from mechsim.spec.document import MechSpec, Number, Problem
from mechsim.spec.living import Settling, Tape, nodes_in, settled

READINGS = 30  # of a file, at most, on the way to other parameters
SIGHTS = (0.0, 1e-4, 0.17, 0.36, 0.5, 0.69, 0.83, 1 - 1e-4)  # shares of a way; an odd number of turns shows at its ends

Times = tuple[float | None, float | None]  # t0 and tend, where they are not the file's


class Tuning:
    """A file read with some parameters living, and the equations it has as it stands, which are tuned to others."""

    def __init__(self, spec: MechSpec, system: System, names: tuple[str, ...], times: Times = (None, None)):
        tape = Tape(names)
        living = spec.as_this(parse(spec.text, spec.path, spec.overrides, spec.files, tape=tape, asked=spec.asked))
        living = adjust(living, t0=times[0], tend=times[1])
        self.names, self.like, self.mechanism = names, system, build(living, noted=False)
        problem: Problem = living.problem
        self._problem, self._mechanism = Settling(problem), Settling(self.mechanism)
        self._time = tape.number_of(problem.t0.value)
        asked = wishes(self.mechanism, problem)
        fixed = [(label, value) for label, value in zip(asked[0].labels, asked[0].values, strict=True) if value]
        self._fixed = {label: tape.number_of(value.number.value) for label, value in fixed if value.fixed}
        self._curved = [label for label, node in self._fixed.items() if not _straight(tape, node)]
        self.starting = np.array(sorted(nodes_in(_decides_start(self.mechanism, problem))), dtype=np.intp)
        guesses, placing = _guessed(tape, self.mechanism, problem, asked[0])
        rates = _written([0.0] * len(guesses), asked[1])
        self.numbers = Numbers(tape, self.mechanism, system, [*guesses, *rates])
        self._here = self.column(settled(living.parameters))
        further = self.numbers.further[: len(guesses)], self.numbers.further[len(guesses) :]
        self.asked = Asked(system, self.numbers, self._here[:, 0], self._time, *further, Guards(placing), *asked)
        self._nodes = {i: node[1] for i, node in enumerate(self.numbers.nodes) if node[0] == "parameter"}

    def column(self, parameters: Mapping[str, float | Number]) -> np.ndarray:
        return np.array([[float(parameters[name])] for name in self.names]).reshape(len(self.names), 1)

    def values(self, parameters: np.ndarray) -> np.ndarray | None:
        """The values of all nodes for a column of parameters; None where the file must be read again for these."""
        values = self.numbers.values(parameters)
        return values[:, 0].copy() if self.numbers.hold(values)[0] else None

    def parameters(self, values: np.ndarray) -> np.ndarray:
        """The columns of parameters that these values, (nodes, sets), are of; what nothing depends on stays as it is in
        the file."""
        found = np.repeat(self._here, values.shape[1], axis=1)
        for node, number in self._nodes.items():
            found[number] = values[node]
        return found

    def turning(self, values: np.ndarray) -> np.ndarray:
        """Of these values, (nodes, sets), the sets on the straight way to which a fixed value turns back."""
        if not self._curved:
            return np.zeros(values.shape[1], dtype=bool)
        nodes = [self._fixed[label] for label in self._curved]
        scales = self.like.scales[[self.like.labels.index(label) for label in self._curved]]
        way = self.parameters(values) - self._here
        with np.errstate(all="ignore"):
            seen = [self.numbers.values(self._here + share * way)[nodes] for share in SIGHTS]
            return turned_back([*seen, values[nodes]], scales)

    def system(self, values: np.ndarray) -> TunedSystem:
        return TunedSystem(self.like, self.numbers, values, self._mechanism)

    def problem(self, values: np.ndarray) -> Problem:
        problem: Problem = self._problem(lambda number: float(values[number.number]))
        return problem

    def stage(self, parameters: np.ndarray) -> Stage | None:
        """What the start of another is found on the way through; None where the file must be read again."""
        values = self.values(parameters)
        if values is None:
            return None
        fixed = {label: float(values[node]) for label, node in self._fixed.items()}
        return Stage(self.system(values).bilateral, float(values[self._time]), fixed)


class StraightWay:
    """The straight way from a file's own parameters to others. Where its tuning does not hold, as where another length
    becomes the longest, the file is read again there."""

    def __init__(self, tuning: Tuning, spec: MechSpec, end: np.ndarray, times: Times):
        self.begin, self.end = tuning.column(spec.parameters), end
        self.spec, self.times = spec, times
        self.tunings = [tuning]

    def __call__(self, share: float) -> Stage | None:
        parameters = self.end if share == 1 else self.begin + share * (self.end - self.begin)
        for tuning in reversed(self.tunings):
            if (stage := tuning.stage(parameters)) is not None:
                return stage
        return self._read_at(parameters) if len(self.tunings) <= READINGS else None

    def _read_at(self, parameters: np.ndarray) -> Stage | None:
        names = self.tunings[0].names
        try:
            spec = read(self.spec, dict(zip(names, parameters[:, 0].tolist(), strict=True)))
            spec = adjust(spec, t0=self.times[0], tend=self.times[1])
            self.tunings.append(Tuning(spec, System(build(spec)), names, self.times))
        except SpecError:
            return None
        return self.tunings[-1].stage(parameters)


def _straight(tape: Tape, number: int) -> bool:
    """Whether a node is surely as straight a function of the parameters as a sum of multiples of them."""
    name, *operands = tape.nodes[number]
    if name in ("value", "parameter"):
        return True
    constant = [tape.nodes[operand][0] == "value" for operand in operands]
    simple = name in ("add", "subtract") or (name == "multiply" and any(constant)) or (name == "divide" and constant[1])
    return simple and all(_straight(tape, operand) for operand in operands)


def _guessed(
    tape: Tape, mechanism: Mechanism, problem: Problem, asked: Wishes
) -> tuple[list[float], dict[tuple[str, int, int], bool]]:
    """Where all coordinates are first guessed to be, living, and the comparisons that have to hold for it. The order in
    which points are placed stays that of the file's own numbers."""
    guards, choices = tape.guards, tape.choices
    tape.guards, tape.choices = {}, {}
    try:
        return _written(placed(mechanism, problem).numbers(), asked), tape.guards
    except ArithmeticError:  # of a mechanism on the way to another, where centres of circles may fall together
        zero = tape.number_of(0.0)
        return _written([0.0] * len(mechanism.variables), asked), {("less", zero, zero): True}  # never holds
    finally:
        tape.guards, tape.choices = guards, choices


def _written(numbers: list[float], asked: Wishes) -> list[float]:
    """The numbers, with what is asked for in their places."""
    values = zip(asked.values, numbers, strict=True)
    return [number if value is None else value.number.value for value, number in values]


def _decides_start(mechanism: Mechanism, problem: Problem) -> list[object]:
    """All numbers that a start depends on: guesses, constraints, sizes, and where down is."""
    mechanism = mechanism.bilateral
    binding = [element.parameters for element in mechanism.elements if element.multipliers]
    down = [
        element.parameters.get(name, 0.0) for element in mechanism.elements for name in labels("g", mechanism.dimension)
    ]
    placing = [mechanism.variables, mechanism.constants, mechanism.parts, mechanism.guesses, mechanism.guides]
    return [problem, *placing, mechanism.size, binding, down]
