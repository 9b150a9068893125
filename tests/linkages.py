"""Random linkages that can be closed: points are drawn first, then lengths are measured. Guesses are another matter."""

from __future__ import annotations

from cmath import exp, phase
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Generator = np.random.Generator
GUESSES = ("zero", "line", "random", "absent", "padded")
APART = 0.15  # of the unit: points of one part are not nearer to each other than this


@dataclass
class Linkage:
    """A mechanism with one pose in which it closes. `held` are coordinates written `fixed`, `turned` turn angles."""

    unit: float = 1.0
    fixed: dict[str, complex] = field(default_factory=dict)
    moving: dict[str, complex] = field(default_factory=dict)
    parts: list[tuple[str, ...]] = field(default_factory=list)
    springs: list[tuple[str, str]] = field(default_factory=list)
    collinear: list[tuple[str, ...]] = field(default_factory=list)
    joints: dict[str, dict[str, str]] = field(default_factory=dict)
    held: list[tuple[str, int]] = field(default_factory=list)
    turned: list[tuple[str, ...]] = field(default_factory=list)

    def place(self, name: str) -> complex:
        return self.fixed[name] if name in self.fixed else self.moving[name]

    def local(self, points: tuple[str, ...]) -> list[complex]:
        """The points after the first in the frame of the first two."""
        first, second = self.place(points[0]), self.place(points[1])
        return [(self.place(name) - first) * exp(-1j * phase(second - first)) for name in points[1:]]

    def text(self, guesses: dict[str, complex]) -> str:
        lines = ["PartData:", f"  Fixed: {{{', '.join(f'{n}: {_pair(z)}' for n, z in self.fixed.items())}}}"]
        lines += ["  Rigids:"] if self.parts else []
        for points in self.parts:
            local = self.local(points)
            corners = [f"[{abs(local[0])!r}]", *map(_pair, local[1:])]
            middle, inertia = sum(local) / (1 + len(local)), self.unit**2 / 10
            lines.append(
                f"    {''.join(points)}: {{Geom: [{', '.join(corners)}], Dyna: [{_pair(middle)}, 1, {inertia!r}]}}"
            )
        lines += [f"  Springs: {{{', '.join(f'{a}{b}: [10, {self.unit!r}]' for a, b in self.springs)}}}"]
        lines += [f"  Collinear: [{', '.join(''.join(points) for points in self.collinear)}]"] if self.collinear else []
        lines += ["AppliedForces: {Gravity: }", "Joints:"] if self.joints else ["AppliedForces: {Gravity: }"]
        for kind, entries in self.joints.items():
            lines.append(f"  {kind}: {{{', '.join(f'{name}: {value}' for name, value in entries.items())}}}")
        lines += [f"ProblemData: {{tend: 1, positions: {{{self._positions(guesses)}}}, angles: {{{self._angles()}}}}}"]
        return "\n".join(lines) + "\n"

    def _positions(self, guesses: dict[str, complex]) -> str:
        entries = []
        for name, true in self.moving.items():
            held = [axis for point, axis in self.held if point == name]
            if name not in guesses and not held:
                continue
            guess = guesses.get(name, 0j)
            values = [repr(value) for value in (guess.real, guess.imag)]
            for axis in held:
                values[axis] = f"[{(true.real, true.imag)[axis]!r}, fixed]"
            entries.append(f"{name}: [{', '.join(values[: 1 + max(held)] if name not in guesses else values)}]")
        return ", ".join(entries)

    def _angles(self) -> str:
        turns = {"".join(points): phase(self.place(points[1]) - self.place(points[0])) for points in self.turned}
        return ", ".join(f"{name}: [{angle!r}, fixed]" for name, angle in turns.items())

    def guesses(self, mode: str, generator: Generator) -> dict[str, complex]:
        """zero: all at the origin; line: on the ground's line; random: anywhere; padded: only x; absent: none."""
        base = list(self.fixed.values())
        direction = base[1] - base[0] if len(base) > 1 else self.unit
        along = {name: generator.uniform(-1, 2) for name in self.moving}
        if mode == "zero":
            return dict.fromkeys(self.moving, 0j)
        if mode == "line":
            return {name: base[0] + along[name] * direction for name in self.moving}
        if mode == "random":
            return {name: complex(*generator.uniform(-2, 2, 2)) * self.unit for name in self.moving}
        if mode == "padded":
            return {name: complex(true.real) for name, true in self.moving.items()}
        return {}


def retold(linkage: Linkage, guesses: dict[str, complex], generator: Generator) -> tuple[str, dict[str, str]]:
    """The same linkage with other names, its parts and points in another order; and the new name of each point."""
    names = [*linkage.fixed, *linkage.moving]
    others = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    generator.shuffle(others)
    new = dict(zip(names, others, strict=False))
    table = str.maketrans(new)

    def shuffled(items: list) -> list:
        return [items[k] for k in generator.permutation(len(items))]

    def renamed(points: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new[name] for name in points)

    told = Linkage(
        unit=linkage.unit,
        fixed={new[name]: z for name, z in shuffled(list(linkage.fixed.items()))},
        moving={new[name]: z for name, z in shuffled(list(linkage.moving.items()))},
        parts=[renamed(points) for points in shuffled(linkage.parts)],
        springs=[renamed(points) for points in linkage.springs],
        collinear=[renamed(points) for points in linkage.collinear],
        joints={
            kind: {name.translate(table): value for name, value in entries.items()}
            for kind, entries in linkage.joints.items()
        },
        held=[(new[name], axis) for name, axis in linkage.held],
        turned=[renamed(points) for points in linkage.turned],
    )
    return told.text({new[name]: z for name, z in guesses.items()}), new


def _pair(z: complex) -> str:
    return f"[{z.real!r}, {z.imag!r}]"


class Sketch:
    """A linkage being drawn: names are handed out one by one, points are drawn apart from those given."""

    def __init__(self, generator: Generator):
        self.generator = generator
        self.linkage = Linkage(unit=float(10 ** generator.uniform(-3, 3)))
        letters = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        generator.shuffle(letters)  # nothing may depend on names
        self.names = iter(letters)
        self.level = self.chance(0.6)  # the ground along the x axis from the origin on, as people draw it

    def finished(self) -> Linkage:
        """Some stand far from the origin, where all guesses may be."""
        if self.chance(0.15) and "Curves" not in self.linkage.joints:
            shift = complex(*self.generator.standard_normal(2)) * self.linkage.unit * 10 ** self.generator.uniform(0, 3)
            for points in (self.linkage.fixed, self.linkage.moving):
                points.update({name: z + shift for name, z in points.items()})
        return self.linkage

    def _draw(self, apart_from: tuple[str, ...]) -> complex:
        while True:
            z = complex(*self.generator.uniform(-1, 1, 2)) * self.linkage.unit
            if all(abs(z - self.linkage.place(name)) > APART * self.linkage.unit for name in apart_from):
                return z

    def fixed(self, *apart_from: str) -> str:
        name = next(self.names)
        z = self._draw(apart_from)
        if self.level:
            z = abs(z) * (1 + len(self.linkage.fixed)) + 0j if self.linkage.fixed else 0j
        self.linkage.fixed[name] = z
        return name

    def moving(self, *apart_from: str) -> str:
        name = next(self.names)
        self.linkage.moving[name] = self._draw(apart_from)
        return name

    def on_line(self, a: str, b: str) -> str:
        """A moving point on the line of two others."""
        name = next(self.names)
        start, end = self.linkage.place(a), self.linkage.place(b)
        self.linkage.moving[name] = start + self.generator.uniform(-0.5, 1.5) * (end - start)
        return name

    def rod(self, *points: str) -> None:
        self.linkage.parts.append(points)

    def joint(self, kind: str, name: str, value: str) -> None:
        self.linkage.joints.setdefault(kind, {})[name] = value

    def chance(self, share: float = 0.5) -> bool:
        return bool(self.generator.random() < share)

    def any_of(self, names: list[str]) -> str:
        return names[int(self.generator.integers(len(names)))]

    def maybe_held(self, crank: tuple[str, str], share: float = 0.5) -> None:
        """The crank's angle, or one coordinate of its end, held as it is in the pose drawn."""
        if self.chance(share):
            if self.chance():
                self.linkage.turned.append(next(p for p in self.linkage.parts if p[:2] == crank))
            else:
                self.linkage.held.append((crank[1], int(self.generator.integers(2))))


def rod(sketch: Sketch) -> Linkage:
    """One rod, one coordinate of its end fixed: the guess of the other one is all that chooses."""
    o = sketch.fixed()
    a = sketch.moving(o)
    sketch.rod(o, a)
    sketch.linkage.held.append((a, int(sketch.generator.integers(2))))
    return sketch.linkage


def four_bar(sketch: Sketch) -> Linkage:
    """Grashof or not; the coupler may carry a point."""
    o = sketch.fixed()
    c = sketch.fixed(o)
    a = sketch.moving(o)
    b = sketch.moving(a, c)
    coupler = (a, b, sketch.moving()) if sketch.chance() else (a, b)
    sketch.rod(o, a)
    sketch.rod(*coupler)
    sketch.rod(c, b)
    sketch.maybe_held((o, a))
    return sketch.linkage


def slider_crank(sketch: Sketch) -> Linkage:
    """The end of the coupler slides on the ground, by each way to say so."""
    o, c = sketch.fixed(), sketch.fixed()
    d = sketch.fixed(c)
    a = sketch.moving(o)
    way = sketch.any_of(["Collinear", "Slots", "Pistons", "Sliders"])
    b = sketch.moving(a) if way in ("Slots", "Pistons") else sketch.on_line(c, d)
    linkage = sketch.linkage
    sketch.rod(o, a)
    sketch.rod(a, b)
    line = linkage.place(d) - linkage.place(c)
    offset = ((linkage.place(b) - linkage.place(c)) * line.conjugate()).imag / abs(line)
    if way == "Collinear":
        linkage.collinear.append((c, d, b))
    elif way == "Sliders":  # a block that slides without turning
        e = sketch.moving(b)
        sketch.rod(b, e)
        angle = phase((linkage.place(e) - linkage.place(b)) / line)
        sketch.joint("Sliders", f"{b}{e}-{c}{d}", f"[{offset!r}, {angle!r}]")
    else:
        sketch.joint(way, f"{b}-{c}{d}", f"[{offset!r}]" if way == "Slots" else f"[1, {offset!r}]")
    sketch.maybe_held((o, a))
    return linkage


def five_bar(sketch: Sketch) -> Linkage:
    o = sketch.fixed()
    d = sketch.fixed(o)
    a, c = sketch.moving(o), sketch.moving(d)
    b = sketch.moving(a, c)
    for ends in ((o, a), (a, b), (c, b), (d, c)):
        sketch.rod(*ends)
    sketch.maybe_held((o, a))
    sketch.maybe_held((d, c))
    return sketch.linkage


def six_bar(sketch: Sketch) -> Linkage:
    """Stephenson's: a dyad from the coupler point of a four-bar to the ground; or Watt's: from its rocker."""
    o = sketch.fixed()
    c = sketch.fixed(o)
    a = sketch.moving(o)
    b = sketch.moving(a, c)
    p = sketch.moving(a, b, c)
    f = sketch.fixed()
    e = sketch.moving(p, f)
    sketch.rod(o, a)
    sketch.rod(*((a, b, p) if sketch.chance() else (a, b)))
    sketch.rod(*((c, b) if p in sketch.linkage.parts[-1] else (c, b, p)))
    sketch.rod(p, e)
    sketch.rod(f, e)
    sketch.maybe_held((o, a))
    return sketch.linkage


def andrews(sketch: Sketch) -> Linkage:
    """Seven parts that meet in one point, a useful point with a spring, a crank."""
    o, a, b, c = sketch.fixed(), sketch.fixed(), sketch.fixed(), sketch.fixed()
    f = sketch.moving(o)
    e = sketch.moving(f, b, a)
    d = sketch.moving(b, e)
    g, h = sketch.moving(e, a), sketch.moving(e, a)
    for points in ((o, f), (f, e), (b, e, d), (e, g), (a, g), (h, e), (a, h)):
        sketch.rod(*points)
    sketch.linkage.springs.append((c, d))
    sketch.maybe_held((o, f), 0.7)
    return sketch.linkage


def dyads(sketch: Sketch) -> Linkage:
    """A crank, then dyads one after the other, each on two points that stand already."""
    o = sketch.fixed()
    known = [o, sketch.fixed(o), sketch.fixed(o)]
    a = sketch.moving(o)
    sketch.rod(o, a)
    known.append(a)
    for _ in range(int(sketch.generator.integers(1, 6))):
        first, second = (known[k] for k in sketch.generator.choice(len(known), 2, replace=False))
        if {first, second} <= set(sketch.linkage.fixed):
            first = a
        new = sketch.moving(first, second)
        useful = (sketch.moving(),) if sketch.chance(0.3) else ()
        sketch.rod(first, new, *useful)
        sketch.rod(second, new)
        known += [new, *useful]
    sketch.maybe_held((o, a))
    used = {name for points in sketch.linkage.parts for name in points}
    sketch.linkage.fixed = {name: z for name, z in sketch.linkage.fixed.items() if name in used}
    return sketch.linkage


def quick_return(sketch: Sketch) -> Linkage:
    """A pin on the crank slides in a slot of the lever."""
    o = sketch.fixed()
    c = sketch.fixed(o)
    a, b = sketch.moving(o, c), sketch.moving(c)
    sketch.rod(o, a)
    linkage = sketch.linkage
    if sketch.chance():
        b = sketch.on_line(c, a)
        while abs(linkage.place(b) - linkage.place(c)) < APART * linkage.unit:
            b = sketch.on_line(c, a)
        linkage.collinear.append((c, b, a))
    else:
        line = linkage.place(b) - linkage.place(c)
        offset = ((linkage.place(a) - linkage.place(c)) * line.conjugate()).imag / abs(line)
        sketch.joint("Slots", f"{a}-{c}{b}", f"[{offset!r}]")
    linkage.moving = {name: z for name, z in linkage.moving.items() if name in (a, b)}
    sketch.rod(c, b)
    sketch.maybe_held((o, a))
    return linkage


def arm(sketch: Sketch) -> Linkage:
    """Rods one after the other, a coordinate of each joint held: two places for every rod."""
    last = sketch.fixed()
    for _ in range(int(sketch.generator.integers(2, 5))):
        new = sketch.moving(last)
        sketch.rod(last, new)
        sketch.linkage.held.append((new, int(sketch.generator.integers(2))))
        last = new
    return sketch.linkage


def catenary(sketch: Sketch) -> Linkage:
    """A chain between two supports."""
    first = last = sketch.fixed()
    for _ in range(int(sketch.generator.integers(3, 12))):
        new = sketch.moving(last)
        sketch.rod(last, new)
        last = new
    sketch.rod(last, sketch.fixed(last, first))
    return sketch.linkage


def rope(sketch: Sketch) -> Linkage:
    """A rope from one crank over a fixed point to another crank."""
    o, p = sketch.fixed(), sketch.fixed()
    c = sketch.fixed(o, p)
    a = sketch.moving(o, c)
    b = sketch.moving(p, c)
    sketch.rod(o, a)
    sketch.rod(p, b)
    place = sketch.linkage.place
    length = abs(place(a) - place(c)) + abs(place(b) - place(c))
    sketch.joint("Ropes", f"{a}{c}{b}", repr(length))
    sketch.maybe_held((o, a))
    return sketch.linkage


def on_curve(sketch: Sketch) -> Linkage:
    """The coupler of a crank runs on a parabola through the point drawn."""
    o = sketch.fixed()
    a = sketch.moving(o)
    b = sketch.moving(a)
    sketch.rod(o, a)
    sketch.rod(a, b)
    z, bend = sketch.linkage.place(b), sketch.generator.uniform(0.2, 1) / sketch.linkage.unit
    sketch.joint("Curves", b, f"y - {z.imag!r} - {bend!r}*(x**2 - ({z.real!r})**2)")
    sketch.maybe_held((o, a))
    return sketch.linkage


def moving_guide(sketch: Sketch) -> Linkage:
    """A part slides along another one without turning against it, and both turn on the ground."""
    o = sketch.fixed()
    c = sketch.fixed(o)
    a, d = sketch.moving(o), sketch.moving(c)
    e = sketch.moving(d)
    sketch.rod(o, a)
    sketch.rod(c, d)
    sketch.rod(d, e)
    place = sketch.linkage.place
    line = place(a) - place(o)
    offset = ((place(d) - place(o)) * line.conjugate()).imag / abs(line)
    sketch.joint("Sliders", f"{d}{e}-{o}{a}", f"[{offset!r}, {phase((place(e) - place(d)) / line)!r}]")
    sketch.maybe_held((o, a))
    return sketch.linkage


FAMILIES: tuple[Callable[[Sketch], Linkage], ...] = (
    rod, four_bar, slider_crank, five_bar, six_bar, andrews, dyads, quick_return, arm, catenary, rope, on_curve,
    moving_guide,
)  # fmt: skip


def linkage(seed: int) -> tuple[Linkage, str, str]:
    """The linkage of this number, its text with guesses, and a name for reports."""
    drawn, guesses, name = drawn_with_guesses(seed)
    return drawn, drawn.text(guesses), name


def drawn_with_guesses(seed: int) -> tuple[Linkage, dict[str, complex], str]:
    generator = np.random.default_rng(seed)
    family = FAMILIES[seed % len(FAMILIES)]
    sketch = Sketch(generator)
    family(sketch)
    drawn = sketch.finished()
    mode = GUESSES[seed // len(FAMILIES) % len(GUESSES)]
    return drawn, drawn.guesses(mode, generator), f"{family.__name__}-{mode}-{seed}"
