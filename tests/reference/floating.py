"""Random mechanisms that float: nothing holds them to the world, so whatever acts between their parts keeps momentum
and angular momentum. A base AB carries what is drawn from all joints and all forces between parts."""

from __future__ import annotations

from cmath import exp
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Generator = np.random.Generator


@dataclass
class Floating:
    """`parts`: points in the part's own frame, centroid, mass, inertia; `places`: where points are at first."""

    random: Generator
    fixed_point: str = ""  # the base turns about this point of it, or floats
    parts: dict[str, tuple[dict[str, complex], complex, float, float]] = field(default_factory=dict)
    particles: dict[str, float] = field(default_factory=dict)
    places: dict[str, complex] = field(default_factory=dict)
    sections: dict[str, dict[str, str]] = field(default_factory=dict)
    frames: dict[str, tuple[complex, complex]] = field(default_factory=dict)  # of each part: origin, direction
    collinear: list[str] = field(default_factory=list)
    count: int = 0  # how many things hang on the base
    hung: list[tuple[str, ...]] = field(default_factory=list)  # what hangs on the base: kind, then names

    def between(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def add_part(self, points: dict[str, complex], origin: complex, direction: complex) -> str:
        """A part with these points, the first at its origin."""
        name = "".join(points)
        centroid = complex(self.between(-0.2, 0.6), self.between(-0.3, 0.3))
        self.parts[name] = points, centroid, self.between(0.5, 2), self.between(0.05, 0.3)
        self.frames[name] = origin, direction
        self.places |= {point: origin + direction * local for point, local in points.items()}
        return name

    def say(self, section: str, name: str, value: str) -> None:
        self.sections.setdefault(section, {})[name] = value

    def text(self, tend: float = 1.0) -> str:
        lines = ["PartData:"]
        if self.fixed_point:
            lines.append(f"  Fixed: {{{self.fixed_point}: {_pair(self.places[self.fixed_point])}}}")
        lines.append("  Rigids:")
        for name, (points, centroid, mass, inertia) in self.parts.items():
            _, second, *others = points.values()
            corners = ", ".join([f"[{second.real!r}]", *map(_pair, others)])
            lines.append(f"    {name}: {{Geom: [{corners}], Dyna: [{_pair(centroid)}, {mass!r}, {inertia!r}]}}")
        if self.particles:
            lines.append(f"  Particles: {{{', '.join(f'{n}: {m!r}' for n, m in self.particles.items())}}}")
        lines += [f"  Collinear: [{', '.join(self.collinear)}]"] if self.collinear else []
        groups: dict[str, dict[str, dict[str, str]]] = {}
        for section, entries in self.sections.items():
            group, key = section.split(".")
            groups.setdefault(group, {})[key] = entries
        if "PartData" in groups:
            lines += [f"  {key}: {{{_entries(entries)}}}" for key, entries in groups.pop("PartData").items()]
        for group, keys in groups.items():
            if group == "Drives":
                lines.append(f"Drives: {{{_entries(keys['all'])}}}")
            else:
                lines += [f"{group}:", *(f"  {key}: {{{_entries(entries)}}}" for key, entries in keys.items())]
        moving = {name: place for name, place in self.places.items() if name != self.fixed_point}
        lines.append("Output: {reactions: all}")
        lines.append(f"ProblemData:\n  tend: {tend!r}")
        lines.append(f"  positions: {{{', '.join(f'{n}: {_pair(z)}' for n, z in moving.items())}}}")
        speeds = {name: complex(self.between(-1, 1), self.between(-1, 1)) for name in moving}
        lines.append(f"  velocities: {{{', '.join(f'{n}: {_pair(z)}' for n, z in speeds.items())}}}")
        lines.append("SolverParams: {Integration: {tol: 1e-12}}")
        return "\n".join(lines) + "\n"

    # --- what hangs on the base AB; each takes a letter of its own, so that points have different names

    def pinned(self, letter: str) -> None:
        """A rod on a new pin of the base, with a torque, spring, damper or friction in the pin."""
        pin, rod = self._pin(letter)
        self.hung.append(("pin", pin, rod))
        kind = self.random.integers(6)
        pair, half = f"{rod}-{self.base}", self.between(-1, 1)
        if kind == 0:
            self.say("AppliedForces.Torques", pair, f"{half!r}*sin(3*t) - 0.2*omega_{rod}+0.2*omega_{self.base}")
        elif kind == 1:
            self.say("AppliedForces.TorsionSprings", pair, f"[{self.between(1, 5)!r}, {half!r}, 0.1]")
        elif kind == 2:
            self.say("AppliedForces.JointDampers", pair, repr(self.between(0.1, 1)))
        elif kind == 3:
            self.say("AppliedForces.Friction", pair, f"{{mu: 0.4, v0: 0.1, r: {self.between(0.02, 0.1)!r}}}")
        elif kind == 4:
            self.say("AppliedForces.ConstTorques", pair, repr(half))
        else:
            turn = f"theta_{rod}-theta_{self.base}"
            _, ahead = self.frames[rod]
            _, along = self.frames[self.base]
            first = float(np.angle(ahead)) - float(np.angle(along))
            self.say("Drives.all", turn, f"{first!r} + 0.3*sin(2*t)")

    def slot(self, letter: str) -> None:
        """A rod with its end in a slot of the base, aside of its line, with or without friction."""
        origin, along = self.frames[self.base]
        offset = self.between(-0.4, 0.4)
        start = origin + along * complex(self.between(0.2, 1.2), offset)
        pin, end = f"C{letter}", f"D{letter}"
        rod = self.add_part({pin: 0j, end: complex(self.between(0.5, 1))}, start, exp(1j * self.between(-3, 3)))
        self.hung.append(("pin", pin, rod))
        name = f"{pin}-AB"
        self.say("Joints.Slots", name, f"[{offset!r}]")
        if self.random.random() < 0.7:
            self.say("AppliedForces.Friction", name, "{mu: 0.3, v0: 0.1}")

    def bead(self, letter: str) -> None:
        """A particle in a slot of the base, with friction of given load."""
        origin, along = self.frames[self.base]
        offset, bead = self.between(-0.4, 0.4), f"E{letter}"
        self.places[bead] = origin + along * complex(self.between(0.2, 1.2), offset)
        self.particles[bead] = self.between(0.5, 1)
        self.hung.append(("bead", bead))
        self.say("Joints.Slots", f"{bead}-AB", f"[{offset!r}]")
        self.say("AppliedForces.Friction", f"{bead}-AB", "{mu: 0.3, N: 2 + sin(t), v0: 0.1}")

    def slider(self, letter: str) -> None:
        """A block that slides on the base without turning against it, and a rod pinned to the block."""
        origin, along = self.frames[self.base]
        offset, angle = self.between(-0.4, 0.4), self.between(-1, 1)
        first, second, end = f"F{letter}", f"G{letter}", f"H{letter}"
        start = origin + along * complex(self.between(0.2, 1.2), offset)
        block = self.add_part({first: 0j, second: 0.3 + 0j}, start, along * exp(1j * angle))
        self.say("Joints.Sliders", f"{block}-AB", f"[{offset!r}, {angle!r}]")
        hinge = self.random.choice([first, second])
        rod = {hinge: 0j, end: complex(self.between(0.3, 1))}
        rod_name = self.add_part(rod, self.places[hinge], exp(1j * self.between(-3, 3)))
        self.hung.append(("slider", first, block, hinge, rod_name))

    def gears(self, letter: str) -> None:
        """Two wheels on the base that mesh, one of them driven by a torque against the base."""
        centres = self._base_points(2)
        apart = abs(self.places[centres[1]] - self.places[centres[0]])
        small = apart * self.between(0.2, 0.8)
        large = -(apart + small) if self.random.random() < 0.3 else apart - small
        wheels = [
            self.add_part({name: 0j, f"{rim}{letter}": 0.4 + 0j}, self.places[name], exp(1j * self.between(-3, 3)))
            for name, rim in zip(centres, "KL", strict=True)
        ]
        self.say("Joints.Gears", "-".join(wheels), f"[{small!r}, {large!r}, {self.base}]")
        torque = self.between(-2, 2)
        self.hung.append(("gears", *centres, *wheels, repr(small), repr(large), repr(torque)))
        self.say("AppliedForces.Torques", f"{wheels[0]}-{self.base}", repr(torque))
        if self.random.random() < 0.5:
            self.say("AppliedForces.Friction", f"{wheels[1]}-{self.base}", "{mu: 0.3, v0: 0.1, r: 0.05}")

    def rack(self, letter: str) -> None:
        """A pinion on the base as rack; a slot keeps its centre at the distance."""
        origin, along = self.frames[self.base]
        radius, centre = self.between(0.2, 0.5), f"M{letter}"
        start = origin + along * complex(self.between(0.2, 1.2), radius)
        pinion = self.add_part({centre: 0j, f"N{letter}": 0.3 + 0j}, start, exp(1j * self.between(-3, 3)))
        self.say("Joints.Racks", f"{pinion}-{self.base}", repr(radius))
        self.hung.append(("rack", centre, pinion, repr(radius)))
        self.say("Joints.Slots", f"{centre}-AB", f"[{radius!r}]")
        self.say("AppliedForces.Torques", f"{pinion}-{self.base}", f"{self.between(-2, 2)!r}")

    def wheel(self, letter: str) -> None:
        """A wheel that rolls on the base."""
        origin, along = self.frames[self.base]
        radius = self.between(0.2, 0.5) * self.random.choice([-1, 1])
        start = origin + along * complex(self.between(0.2, 1.2), radius)
        wheel = self.add_part({f"Q{letter}": 0j, f"R{letter}": 0.3 + 0j}, start, exp(1j * self.between(-3, 3)))
        self.say("Joints.Wheels", f"{wheel}-AB", repr(float(radius)))
        self.hung.append(("wheel", f"Q{letter}", wheel, repr(float(radius))))

    def tied(self, letter: str) -> None:
        """A particle tied to points of the base by springs, dampers, a rope, a drive, laws of their distance."""
        free, (pin,) = f"S{letter}", self._base_points(1)
        self.places[free] = self.places[pin] + complex(self.between(0.5, 1), self.between(0.5, 1))
        self.particles[free] = self.between(0.5, 1)
        length, kind = abs(self.places[free] - self.places[pin]), self.random.integers(6)
        distance = f"dist({pin},{free})"
        if kind == 0:
            self.say("PartData.Springs", f"{pin}{free}", f"{{k: 5, l: {length!r}, c: 0.3, law: 2*s**3}}")
        elif kind == 1:
            self.say("Joints.Ropes", f"{pin}{free}", repr(length))
        elif kind == 2:
            self.say("Drives.all", distance, f"{length!r} + 0.1*sin(3*t)")
        elif kind == 3:
            self.say("AppliedForces.Potentials", f"V{letter}", f"2*({distance} - {length!r})**2*(1 + 0.2*sin(t))")
            self.say("AppliedForces.Dampers", f"{pin}{free}", "0.4")
        elif kind == 4:
            self.say("AppliedForces.Dissipations", f"d{letter}", f"0.3*rate({pin},{free})**2")
            self.say("PartData.Springs", f"{pin}{free}", f"[8, {0.8 * length!r}, 0.3]")
        else:
            self.say("Joints.Holonomic", f"h{letter}", f"{distance} - {length!r}")

    def straight(self, letter: str) -> None:
        """A point of a rod on the line of two points of the base."""
        origin, along = self.frames[self.base]
        start = origin + along * self.between(0.3, 1.2)
        first = f"U{letter}"
        rod = {first: 0j, f"W{letter}": complex(self.between(0.5, 1))}
        self.hung.append(("pin", first, self.add_part(rod, start, exp(1j * self.between(-3, 3)))))
        self.collinear.append(f"AB{first}")

    # ---

    def __post_init__(self) -> None:
        spare = {f"P{k}": complex(self.between(-1, 2), self.between(-1.5, 1.5)) for k in range(1, 9)}
        origin, direction = complex(self.between(-1, 1), self.between(-1, 1)), exp(1j * self.between(-3, 3))
        self.base = self.add_part({"A": 0j, "B": complex(self.between(1, 2)), **spare}, origin, direction)
        self.spare = list(spare)

    def _base_points(self, count: int) -> list[str]:
        """Points of the base that nothing else uses."""
        return [self.spare.pop() for _ in range(count)]

    def _pin(self, letter: str) -> tuple[str, str]:
        (pin,) = self._base_points(1)
        end = complex(self.between(0.4, 1))
        return pin, self.add_part({pin: 0j, f"Y{letter}": end}, self.places[pin], exp(1j * self.between(-3, 3)))


KINDS: list[Callable[[Floating, str], None]] = [
    Floating.pinned, Floating.slot, Floating.bead, Floating.slider, Floating.gears, Floating.rack, Floating.wheel,
    Floating.tied, Floating.straight,
]  # fmt: skip


def floating(seed: int, fixed_point: str = "") -> Floating:
    """A base with two to four things on it."""
    random = np.random.default_rng(seed)
    made = Floating(random, fixed_point)
    made.count = int(random.integers(2, 5))
    for letter, kind in enumerate(random.choice(len(KINDS), made.count)):
        KINDS[kind](made, str(letter + 1))
    return made


def _pair(z: complex) -> str:
    return f"[{z.real!r}, {z.imag!r}]"


def _entries(entries: dict[str, str]) -> str:
    return ", ".join(f"{_quoted(name)}: {_quoted(value)}" for name, value in entries.items())


def _quoted(text: str) -> str:
    """A comma inside an expression is none of YAML's."""
    return f'"{text}"' if "(" in text and text[0] not in "[{" else text
