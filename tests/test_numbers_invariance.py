"""The same mechanism told differently moves the same: other units, names, order, place, direction, handedness, time."""

from cmath import rect
from dataclasses import dataclass, field

import numpy as np
import pytest

import mechsim
from mechsim.engine import State, integrate

# A linkage with all there is: rods, a plate, a spring with mass, a particle, gravity, a torque, a force. The motion is
# regular (it magnifies errors by less than 100 until then), so that two runs at 1e-14 agree to 1e-12 of the size.
END = 2.0
AGREE = 1e-12
PARTS = ("OA", "ABP", "CB")


@dataclass(frozen=True)
class Telling:
    """How the linkage is told: its plane shifted, mirrored, turned, and measured in units of 1/`unit` metre."""

    unit: float = 1.0
    turn: float = 0.0
    shift: complex = 0j
    mirrored: bool = False
    names: dict = field(default_factory=lambda: {name: name for name in "OABCPS"})
    parts: tuple = PARTS

    def vector(self, z):
        z = self.handed(complex(z)) * self.unit * rect(1, self.turn)
        return f"[{z.real!r}, {z.imag!r}]"

    def handed(self, z):
        return z.conjugate() if self.mirrored else z

    def point(self, z):
        return self.vector(z + self.shift)

    def local(self, x, y):
        return f"[{x * self.unit!r}, {(-y if self.mirrored else y) * self.unit!r}]"

    def name(self, letters):
        return "".join(self.names[letter] for letter in letters)

    def text(self):
        unit, sign = self.unit, -1 if self.mirrored else 1
        rods = {
            "OA": f"{{Geom: [[{unit!r}]], Dyna: [[{unit / 2!r}], 1, {unit**2 / 12!r}]}}",
            "ABP": f"{{Geom: [[{3.5 * unit!r}], {self.local(1.5, 1.0)}], "
            f"Dyna: [{self.local(1.6, 0.4)}, 3.5, {3 * unit**2!r}]}}",
            "CB": f"{{Geom: [[{2 * unit!r}]], Dyna: [{self.local(1.1, -0.1)}, 2, {0.7 * unit**2!r}]}}",
        }
        rigids = "\n".join(f"    {self.name(part)}: {rods[part]}" for part in self.parts)
        n = self.names
        return f"""
PartData:
  Fixed: {{{n["O"]}: {self.point(0)}, {n["C"]}: {self.point(3)}, {n["S"]}: {self.point(1 + 4j)}}}
  Rigids:
{rigids}
  Springs: {{{n["P"]}{n["S"]}: [30, {1.5 * unit!r}, 0.4]}}
  Particles: {{{n["P"]}: 0.5}}
AppliedForces:
  Gravity: {self.vector(-9.81j)}
  ConstTorques: {{{self.name("OA")}: {sign * 4 * unit**2!r}}}
  ConstForces: {{{n["B"]}: {self.vector(1 - 2j)}}}
ProblemData:
  tend: {END}
  positions: {{{n["A"]}: {self.point(1j)}, {n["B"]}: {self.point(3.4 + 2j)}}}
  angles: {{{self.name("OA")}: [{sign * np.pi / 2 + self.turn!r}, fixed]}}
  rates: {{{self.name("OA")}: [{sign * 5}, fixed]}}
"""

    def motion(self):
        return mechsim.simulate(self.text(), tol=1e-14)

    def points(self, motion, t=END):
        """A, B, P as complex numbers in metres, told back to the plain telling; then their velocities."""
        state, velocity = motion(t), motion.velocity(t)
        place = np.array([complex(*state[self.names[name]]) for name in "ABP"])
        speed = np.array([complex(*velocity[self.names[name]]) for name in "ABP"])
        back = rect(1 / self.unit, -self.turn)
        return np.concatenate([self.handed(place * back) - self.shift, self.handed(speed * back)])


@pytest.fixture(scope="module")
def plain():
    return Telling().motion()


TELLINGS = {
    "millimetres": Telling(unit=1000.0),
    "furlongs": Telling(unit=1 / 201.168),
    "turned": Telling(turn=0.7),
    "elsewhere": Telling(shift=1.5 - 2.25j),
    "mirrored": Telling(mirrored=True),
    "renamed": Telling(names=dict(zip("OABCPS", ("Z9", "Q", "a", "M1", "B22", "A"), strict=True))),
    "reordered": Telling(parts=("CB", "ABP", "OA")),
    "all at once": Telling(1000.0, 2.0, 3 + 1j, True, dict(zip("OABCPS", "ZYXWVU", strict=True)), ("ABP", "CB", "OA")),
}


@pytest.mark.parametrize("telling", TELLINGS.values(), ids=TELLINGS)
def test_another_telling_gives_the_same_motion(plain, telling):
    """Positions to 1e-12 of the size, velocities to that times the peak speed (8 m/s): rounding falls differently."""
    motion = telling.motion()
    expected, found = Telling().points(plain), telling.points(motion)
    np.testing.assert_allclose(found[:3], expected[:3], rtol=0, atol=4 * AGREE)
    np.testing.assert_allclose(found[3:], expected[3:], rtol=0, atol=8 * 4 * AGREE)
    assert abs(len(motion.t) - len(plain.t)) <= 2  # error weights do not know the unit either


def _state(solution, row):
    return {"t": solution.t[row], "positions": solution.q[row], "velocities": solution.v[row]}


def test_a_motion_runs_backwards_to_its_start(plain):
    """There and back, errors of both ways: some 1e-14 each, magnified by less than 100."""
    solution = plain.solution
    back = integrate(solution.system, solution.structure, State(**_state(solution, -1)), tend=0.0, tolerance=1e-14)
    assert back.status == "finished"
    assert back.t[0] == END and back.t[-1] == 0.0 and np.all(np.diff(back.t) < 0)
    np.testing.assert_allclose(back.q[-1], solution.q[0], rtol=0, atol=4 * AGREE)
    np.testing.assert_allclose(back.v[-1], solution.v[0], rtol=0, atol=8 * 4 * AGREE)
    times = np.linspace(0.1, 1.9, 7)
    for found, expected in zip(back.sample(times), solution.sample(times), strict=True):
        # multipliers too: like everything else to AGREE of their largest (1800 N here)
        np.testing.assert_allclose(found, expected, rtol=0, atol=AGREE * max(100.0, abs(expected).max()))


def test_reversed_velocities_retrace_the_motion(plain):
    """Nothing here depends on velocities but through squares, so q(-t) is a motion as well."""
    solution = plain.solution
    turned = State(0.0, solution.q[-1], -solution.v[-1])
    again = integrate(solution.system, solution.structure, turned, tend=END, tolerance=1e-14)
    np.testing.assert_allclose(again.q[-1], solution.q[0], rtol=0, atol=4 * AGREE)
    np.testing.assert_allclose(again.v[-1], -solution.v[0], rtol=0, atol=8 * 4 * AGREE)
