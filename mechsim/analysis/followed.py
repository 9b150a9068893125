"""What periodic motions are followed over: a parameter, or, where energy is conserved, energy or period themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from mechsim.analysis.formula import Formula
from mechsim.analysis.ring import ENERGY, PERIOD, Change, Linear, Ring, Unknowns, linear
from mechsim.analysis.subject import Subject
from mechsim.frozen import frozen


class Followed(ABC):
    """A quantity that periodic motions are followed over, from one value to another."""

    name: str
    span: float
    autonomous: bool
    conserved: bool  # energy

    @abstractmethod
    def opened(self, ring: Ring) -> Linear:
        """The motions of a ring, with derivatives by all that changes."""

    @abstractmethod
    def doubled(self) -> Followed:
        """The same for motions of twice the period."""

    @abstractmethod
    def value(self, found: Linear) -> float: ...

    @abstractmethod
    def slope(self, found: Linear, change: Change) -> float:
        """How much it changes."""


@frozen(slots=False, eq=False)
class OverParameter(Followed):
    """A parameter; the period follows it by a formula, where there is one."""

    name: str
    span: float
    autonomous: bool
    conserved: bool
    subject: Subject
    unknowns: Unknowns
    tolerance: float
    period: Formula | None
    multiple: int = 1

    def opened(self, ring: Ring) -> Linear:
        slope = 0.0
        if self.period is not None:
            period, slope = (self.multiple * each for each in self.period(ring.parameters[self.name]))
            ring = replace(ring, period=period)
        unknowns = replace(self.unknowns, parameter=self.name, unit=self.span, period_slope=slope)
        return linear(self.subject, ring, unknowns, self.tolerance)

    def doubled(self) -> OverParameter:
        return replace(self, multiple=2 * self.multiple)

    def value(self, found: Linear) -> float:
        return float(found.ring.parameters[self.name])

    def slope(self, found: Linear, change: Change) -> float:
        return change.parameter


@frozen(slots=False, eq=False)
class OverFamily(Followed):
    """Energy or period along a family of motions that conserve energy."""

    name: str
    span: float
    autonomous: bool
    conserved: bool
    subject: Subject
    unknowns: Unknowns
    tolerance: float

    def opened(self, ring: Ring) -> Linear:
        return linear(self.subject, ring, self.unknowns, self.tolerance)

    def doubled(self) -> OverFamily:
        return self

    def value(self, found: Linear) -> float:
        return found.arcs[0].energy if self.name == ENERGY else float(found.ring.period)

    def slope(self, found: Linear, change: Change) -> float:
        if self.name == PERIOD:
            return change.period
        first = found.arcs[0]
        steps = found.norm.coordinates(first.ways[0], change.states[0])
        return float(np.asarray(first.energies)[: len(steps)] @ steps)
