"""Generators and quantities that are asked for beside a file: signals of its expressions, which its motions tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mechsim.analysis.conserved import Watched
from mechsim.analysis.generators import Asked
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.model.layout import point_names
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array
from mechsim.source import telling
from mechsim.spec.asked import ASKED, Given
from mechsim.spec.document import MechSpec
from mechsim.spec.names import AXES, Coordinate, reference
from mechsim.spec.suggest import did_you_mean

OWN = {"E", "L", *(f"{letter}_{axis}" for letter in "pL" for axis in AXES)}  # what is tried in any case
Entry = tuple[str, int, str]  # a point, an axis, and how fast it goes along it


@frozen
class Questions:
    """What is asked about the motions of a file: generators, each with its entries, and quantities."""

    generators: Mapping[str, Sequence[Entry]]
    quantities: Mapping[str, str]

    @classmethod
    def of(cls, spec: MechSpec, generators: Given, quantities: Mapping[str, str]) -> Questions:
        """Raises SpecError."""
        for name in (*generators, *quantities):
            if name in OWN or (name in generators and name in quantities):
                message = f"there is another quantity that is called {name}"
                raise SpecError(Fault(message, hint="give this one a name of its own"))
        found = {name: tuple(_entries(spec, name, given)) for name, given in generators.items()}
        return cls(found, {name: str(text) for name, text in quantities.items()})

    def told_by(self, spec: MechSpec) -> MechSpec:
        """The file, with signals that answer. Raises SpecError."""
        signals = {self._signal(g, k): text for g, own in self._listed for k, (_, _, text) in enumerate(own)}
        signals |= {f"quantity_{k}": text for k, text in enumerate(self.quantities.values())}
        return told(spec, signals)

    def asked(self, mechanism: Mechanism) -> tuple[Asked, ...]:
        """The generators of the mechanism of that file."""
        found = []
        for (g, own), name in zip(self._listed, self.generators, strict=True):
            slots = tuple(mechanism.points[point][axis] for point, axis, _ in own)
            readouts = tuple((mechanism.readouts[self._signal(g, k)], 0) for k in range(len(own)))
            found.append(Asked(name, slots, readouts))
        return tuple(found)

    def watched(self, mechanism: Mechanism) -> tuple[Watched, ...]:
        return tuple(Watched(name, mechanism.readouts[f"quantity_{k}"]) for k, name in enumerate(self.quantities))

    @property
    def _listed(self) -> list[tuple[int, Sequence[Entry]]]:
        return list(enumerate(self.generators.values()))

    @staticmethod
    def _signal(generator: int, entry: int) -> str:
        return f"generator_{generator}_{entry}"


def not_met(spec: MechSpec, t: Array) -> tuple[str, ...]:
    """What claims about a motion at these times leave out: pieces of functions of time before and after it."""
    early, late = float(t[0]), float(t[-1])
    tables, pieces = spec.actions.tables, spec.actions.piecewise
    ends = [(each.name, time) for each in tables for time in each.times if not early <= time <= late]
    ends += [(each.name, time) for each in pieces for time in each.times[1:] if not early < time < late]
    names = dict.fromkeys(name for name, _ in ends)
    if not names:
        return ()
    return (f"claims are about t = {early:g} to {late:g}: {', '.join(names)} may be other than there before or after",)


def told(spec: MechSpec, signals: Mapping[str, str]) -> MechSpec:
    """The file with further signals; what is wrong with these has no place in it. Raises SpecError."""
    try:
        return telling(spec, signals)
    except SpecError as error:
        faults = [replace(fault, mark=None) if _is_asked(fault) else fault for fault in error.faults]
        raise SpecError(*dict.fromkeys(faults)) from None


def _is_asked(fault: Fault) -> bool:
    return fault.mark is not None and fault.mark.file == ASKED


def _entries(spec: MechSpec, name: str, given: object) -> Iterator[Entry]:
    """Of every point by a list, or of the point or part whose name it has; or of what a mapping names: points, parts by
    all their points, coordinates."""
    points = sorted(point_names(spec) | set(spec.fixed))
    parts = {part.name: part.points for part in spec.rigids} | {each.name: each.points for each in spec.springs}
    if isinstance(given, Sequence) and not isinstance(given, str):
        own = (name,) if name in points else parts.get(name, points)
        yield from _of_points(spec, name, own, given)
    elif isinstance(given, Mapping):
        for key, value in given.items():
            if key in parts or key in points:
                yield from _of_points(spec, f"{name}: {key}", parts.get(key, (key,)), value)
            else:
                yield _of_coordinate(spec, name, str(key), str(value), points)
    else:
        hint = "write NAME: [-y, x] for all points, or A: [-y, x] or A.x: -A.y for some"
        raise SpecError(Fault(f"the generator {name} tells nothing that moves", hint=hint))


def _of_points(spec: MechSpec, name: str, points: Sequence[str], given: object) -> Iterator[Entry]:
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != spec.dimension:
        example = "[-y, x]" if spec.dimension == 2 else "[-y, x, 0.1]"
        message = f"the generator {name} needs a list of {spec.dimension} expressions"
        raise SpecError(Fault(message, hint=f"how fast a point at x, y{', z' * (spec.dimension - 2)} goes: {example}"))
    for point in points:
        for axis, text in enumerate(given):
            own = re.sub(r"(?<![\w.])([xyz])(?![\w(])", rf"{point}.\1", str(text))
            yield point, axis, own


def _of_coordinate(spec: MechSpec, name: str, key: str, text: str, points: Sequence[str]) -> Entry:
    referred = reference(key)
    if isinstance(referred, Coordinate) and not referred.is_rate and referred.axis in AXES[: spec.dimension]:
        if referred.point in points:
            return referred.point, AXES.index(referred.axis), text
        hint = did_you_mean(referred.point, list(points))
        raise SpecError(Fault(f"the generator {name} moves {key}, but there is no point {referred.point}", hint=hint))
    hint = "it may move points (A: [-y, x]), parts (OAB: [-y, x]) and coordinates of points (A.x: -A.y); angles follow"
    raise SpecError(Fault(f"the generator {name} cannot move {key}", hint=hint))
