"""Whatever acts between parts acts at one place, on both: floating mechanisms keep momentum and angular momentum, and
forces in all joints are those of Newton and Euler, written here for each part anew."""

import re

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference.floating import floating

import mechsim

# Steps to 1e-12 of the size add up over some 50 of them; roundings stay below.
KEPT = 1e-10
# Accelerations by differences of velocities over STEP are good to STEP**4 times fifth derivatives of up to 1e4.
STEP = 2e-4
CLOSE = 2e-8


class Moving:
    """A motion in complex numbers."""

    def __init__(self, made, motion):
        self.made, self.motion = made, motion

    def point(self, name, t):
        return complex(*self.motion(t)[name])

    def velocity(self, name, t):
        return complex(*self.motion.velocity(t)[name])

    def part(self, name, t):
        """Centroid, its velocity, direction and rate of turning."""
        points, centroid, _, _ = self.made.parts[name]
        first, second = list(points)[:2]
        bar = self.point(second, t) - self.point(first, t)
        along = bar / abs(bar)
        rate = ((self.velocity(second, t) - self.velocity(first, t)) / bar).imag
        arm = centroid * along
        return self.point(first, t) + arm, self.velocity(first, t) + 1j * rate * arm, along, rate

    def accelerations(self, name, t):
        """Of centroid and turning."""
        states = {k: self.part(name, t + k * STEP) for k in (-2, -1, 1, 2)}
        return tuple(
            (8 * (states[1][i] - states[-1][i]) - (states[2][i] - states[-2][i])) / (12 * STEP) for i in (1, 3)
        )

    def force(self, point, key, t):
        return complex(*self.motion.reaction(point, t)[key])


def momentum(moving, t):
    """Momentum, angular momentum about the origin, and their size."""
    total, spin, size = 0j, 0.0, 0.0
    for name, (_, _, mass, inertia) in moving.made.parts.items():
        place, speed, _, rate = moving.part(name, t)
        total += mass * speed
        spin += mass * cross(place, speed) + inertia * rate
        size += 2 * mass * abs(speed) + inertia * abs(rate)
    for name, mass in moving.made.particles.items():
        place, speed = moving.point(name, t), moving.velocity(name, t)
        total, spin, size = total + mass * speed, spin + mass * cross(place, speed), size + 2 * mass * abs(speed)
    for name, value in moving.made.sections.get("PartData.Springs", {}).items():
        mass = float(value.strip("[]").split(",")[2]) if value.startswith("[") else 0.0
        a, b = re.findall(r"[A-Z]\d*", name)
        middle, speed = (f(a, t) / 2 + f(b, t) / 2 for f in (moving.point, moving.velocity))
        stretch, rate = (f(b, t) - f(a, t) for f in (moving.point, moving.velocity))
        total, spin = total + mass * speed, spin + mass * (cross(middle, speed) + cross(stretch, rate) / 12)
    return total, spin, size


def cross(arm, force):
    return (arm.conjugate() * force).imag


def check_momentum(seed):
    made = floating(seed)
    motion = mechsim.simulate(made.text())
    moving = Moving(made, motion)
    total, spin, _ = momentum(moving, 0.0)
    for t in (0.35, 0.7, 1.0):
        later, spin_later, size = momentum(moving, t)
        assert abs(later - total) < KEPT * size and abs(spin_later - spin) < KEPT * size, seed
    # Mass times acceleration is of the forces' size, and each is good to some hundred roundings.
    assert motion.certificate.reaction_balance < 1e-11, seed
    assert not motion.certificate.doubts(), seed


@some_of(40)
@given(st.integers(0, 2**32 - 1))
def test_momentum_and_angular_momentum_are_kept(seed):
    check_momentum(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_many_keep_momentum_and_angular_momentum(first):
    for seed in range(first, first + 100):
        check_momentum(seed)


# --- forces in all joints


class Ledger:
    """Forces that act on the base, found from what hangs on it: each with its place, and torques."""

    def __init__(self, moving, t):
        self.moving, self.t = moving, t
        self.forces, self.torque, self.largest = [], 0.0, 1.0

    def needed(self, name):
        """The force and the torque about the centroid that a part needs for its motion; and the centroid."""
        _, _, mass, inertia = self.moving.made.parts[name]
        acceleration, turning = self.moving.accelerations(name, self.t)
        place, *_ = self.moving.part(name, self.t)
        return mass * acceleration, inertia * turning, place

    def same(self, found, wanted, what):
        self.largest = max(self.largest, abs(wanted))
        assert abs(found - wanted) < CLOSE * self.largest, (what, self.t, found, wanted)

    def passed_on(self, place, force, torque=0.0):
        """The base feels the opposite."""
        self.forces.append((place, -force))
        self.torque -= torque

    def hang(self, kind, *names):
        getattr(self, f"hang_{kind}")(*names)

    def hang_pin(self, pin, rod):
        force, moment, centre = self.needed(rod)
        place = self.moving.point(pin, self.t)
        self.same(self.moving.force(pin, rod, self.t), force, f"{rod} at {pin}")
        self.same(self.moving.force(pin, self.moving.made.base, self.t), -force, f"base at {pin}")
        self.passed_on(place, force, moment - cross(place - centre, force))

    def hang_bead(self, bead):
        velocity = [self.moving.velocity(bead, self.t + k * STEP) for k in (-2, -1, 1, 2)]
        before, near, after, far = velocity
        force = self.moving.made.particles[bead] * (8 * (after - near) - (far - before)) / (12 * STEP)
        self.same(self.moving.force(bead, self.moving.made.base, self.t), -force, f"base at {bead}")
        self.passed_on(self.moving.point(bead, self.t), force)

    def hang_slider(self, first, block, hinge, rod):
        """The rod needs its force in the hinge; the guide gives what both need, and a torque."""
        base = self.moving.made.base
        rod_force, _, _ = self.needed(rod)
        block_force, block_moment, centre = self.needed(block)
        guide = rod_force + block_force
        place, joint = self.moving.point(first, self.t), self.moving.point(hinge, self.t)
        torque = block_moment - cross(place - centre, guide) + cross(joint - centre, rod_force)
        self.same(self.moving.force(hinge, rod, self.t), rod_force, f"{rod} at {hinge}")
        on_block = guide - rod_force if hinge == first else guide
        self.same(self.moving.force(first, block, self.t), on_block, f"{block} at {first}")
        self.same(self.moving.force(first, base, self.t), -guide, f"base at {first}")
        self.same(float(self.moving.motion.torque(block, self.t)), torque, f"torque on {block}")
        self.passed_on(place, guide, torque)

    def hang_gears(self, first, second, wheel, other, small, large, torque):
        """Of the first wheel the torque is known, so its teeth are; they push the second one back."""
        base, radii = self.moving.made.base, (float(small), float(large))
        a, b = (self.moving.point(name, self.t) for name in (first, second))
        along = (b - a) / sum(radii)
        force, moment, centre = self.needed(wheel)
        about_axle = moment - cross(a - centre, force)
        teeth = 1j * along * (about_axle - float(torque)) / radii[0]
        touch = a + radii[0] * along
        label = f"gear_{wheel}_{other}"
        self.same(self.moving.force(first, f"{label}_{wheel}", self.t), teeth, "teeth")
        self.same(self.moving.force(second, f"{label}_{other}", self.t), -teeth, "teeth of the other")
        self.same(self.moving.force(first, wheel, self.t), force - teeth, f"{wheel} at {first}")
        other_force, other_moment, other_centre = self.needed(other)
        self.same(self.moving.force(second, other, self.t), other_force + teeth, f"{other} at {second}")
        self.same(self.moving.force(first, base, self.t), teeth - force, f"base at {first}")
        self.same(self.moving.force(second, base, self.t), -teeth - other_force, f"base at {second}")
        self.same(float(self.moving.motion.torque(wheel, self.t)), float(torque), f"torque on {wheel}")
        free = other_moment - cross(b - other_centre, other_force + teeth) + cross(touch - other_centre, teeth)
        self.same(float(self.moving.motion.torque(other, self.t)), free, f"torque on {other}")
        self.passed_on(a, force - teeth, float(torque))
        self.passed_on(b, other_force + teeth, free)

    def hang_rack(self, centre, pinion, radius):
        """The torque on the pinion is what its teeth leave over."""
        base, force, moment, middle = self.moving.made.base, *self.needed(pinion)
        _, _, along, _ = self.moving.part(base, self.t)
        hub = self.moving.point(centre, self.t)
        touch = hub - 1j * along * float(radius)
        torque = float(self.moving.motion.torque(pinion, self.t))
        about_hub = moment - cross(hub - middle, force) - torque
        teeth = along * about_hub / cross(touch - hub, along)
        label = f"rack_{pinion}_{base}"
        self.same(self.moving.force(centre, f"{label}_{pinion}", self.t), teeth, "teeth")
        self.same(self.moving.force(centre, f"{label}_{base}", self.t), -teeth, "teeth of the rack")
        self.same(self.moving.force(centre, pinion, self.t), force - teeth, f"{pinion} at {centre}")
        self.same(self.moving.force(centre, base, self.t), teeth - force, f"base at {centre}")
        self.passed_on(touch, teeth)
        self.passed_on(hub, force - teeth, torque)

    def hang_wheel(self, centre, wheel, radius):
        base, force, moment, middle = self.moving.made.base, *self.needed(wheel)
        _, _, along, _ = self.moving.part(base, self.t)
        touch = self.moving.point(centre, self.t) - 1j * along * float(radius)
        label = f"wheel_{wheel}_AB"
        self.same(moment, cross(touch - middle, force), "nothing turns the wheel but what it rolls on")
        self.same(self.moving.force(centre, f"{label}_{wheel}", self.t), force, "wheel")
        self.same(self.moving.force(centre, f"{label}_{base}", self.t), -force, "what it rolls on")
        self.passed_on(touch, force)


def check_forces(seed, pivot):
    """What hangs on the base tells what the base must feel; its pivot takes the rest. Only where nothing is tied to the
    base, for springs and ropes are not in the ledger."""
    made = floating(seed, pivot)
    motion = mechsim.simulate(made.text())
    moving = Moving(made, motion)
    tied = len(made.hung) < made.count
    for t in (0.25, 0.6):
        ledger = Ledger(moving, t)
        for entry in made.hung:
            ledger.hang(*entry)
        check_friction(moving, t)
        if tied:
            continue
        force, moment, centre = ledger.needed(made.base)
        rest = force - sum(push for _, push in ledger.forces)
        turned = moment - sum(cross(place - centre, push) for place, push in ledger.forces) - ledger.torque
        if pivot:
            ledger.same(moving.force(pivot, made.base, t), rest, "pivot")
            turned -= cross(moving.point(pivot, t) - centre, rest)
        else:
            ledger.same(0.0, rest, "nothing else acts on the base")
        ledger.same(0.0, turned, "nothing else turns the base")
    assert motion.certificate.reaction_balance < 1e-11, seed


def check_friction(moving, t):
    """Friction has the load that the joint shows: mu N tanh(v/v0) against the sliding. The corner of |N| is rounded
    over 1e-6 of a typical force, which loads of a hundredth of that would feel by 5e-9 of them."""
    base = moving.made.base
    place, speed, along, rate = moving.part(base, t)
    for name, value in moving.made.sections.get("AppliedForces.Friction", {}).items():
        numbers = {key: float(number) for key, number in re.findall(r"(\w+): ([0-9.e+-]+)[,}]", value)}
        if "N" in value:
            continue
        first = name.split("-")[0]
        if "r" in numbers:
            pin = next(iter(moving.made.parts[first][0]))
            load, torque = moving.force(pin, first, t), float(moving.motion.torque(first, t))
            turning = moving.part(first, t)[3] - rate
            wanted = -numbers["mu"] * abs(load) * numbers["r"] * np.tanh(turning / numbers["v0"])
            assert torque == pytest.approx(wanted, abs=1e-8 * max(1, abs(load))), (name, t)
        else:
            push = -moving.force(first, base, t) / along  # on the pin, along and across the slot
            here = moving.point(first, t)
            material = speed + 1j * rate * (here - place)
            sliding = ((moving.velocity(first, t) - material) / along).real
            wanted = -numbers["mu"] * abs(push.imag) * np.tanh(sliding / numbers["v0"])
            assert push.real == pytest.approx(wanted, abs=1e-8 * max(1, abs(push))), (name, t)


@some_of(25)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["", "A", "B", "P1"]))
def test_forces_in_all_joints(seed, pivot):
    check_forces(seed, pivot)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 400, 50))
def test_forces_in_all_joints_of_many(first):
    for seed in range(first, first + 50):
        check_forces(seed, ("", "A", "B", "P1")[seed % 4])
