"""Degrees of freedom: may these values be fixed, which coordinates would hold a pose, do drives agree?"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mechsim.errors import AssemblyError, Fault, Mark
from mechsim.initial.closure import Closure
from mechsim.initial.levenberg import approach
from mechsim.initial.start import Array, Indices, Wishes
from mechsim.kernel.linear import null_space
from mechsim.model.mechanism import Element, Mechanism

RANK_TOLERANCE = 1e-9  # of scaled equations; true ranks leave gaps of many decades around it
NULL_SPACE_LIMIT = 400  # coordinates; beyond, a null space costs seconds
NAMED = 1e-3  # entries of a null vector below this share of its largest are not worth naming


def check_fixed(closure: Closure, guess: Array, levels: tuple[Wishes, ...]) -> None:
    """Raise for more fixed values than degrees of freedom, or for fixed values that depend on each other.

    `closure` has every coordinate free. Judged at a closed pose near the guess; a dependence must also show at a
    second pose, because at a dead point (a rod held at its horizontal end) independent values look dependent; and at
    poses that have the fixed values, if there are such: a kite that folds can move in two ways.
    """
    count = max(len(level.fixed) for level in levels)
    large = len(closure.free) > NULL_SPACE_LIMIT  # there a contradiction shows when solving
    if count == 0 or (large and count <= len(closure.free) - len(closure.rows)):
        return
    faults: list[Fault] = []
    for held in ((), levels[0].fixed):
        for seed in (None, 2, 3):
            pose = _pose_near(closure.holding(held), guess, seed)
            if pose is None:
                continue
            possible = motions(closure.rescaled(pose), pose)
            found = [fault for level in levels for fault in _faults(level, closure.free, possible)]
            if not found:
                return
            faults = faults or found
        if not faults:
            return
    raise AssemblyError(*faults)


def _pose_near(closure: Closure, guess: Array, seed: int | None) -> Array | None:
    """A closed pose near the guess; with a seed, near a place beside it. None: not closed."""
    start = guess
    if seed is not None:
        noise = np.random.default_rng(seed).standard_normal(len(guess))
        start = guess.copy()
        start[closure.free] += (0.05 * closure.scales * noise)[closure.free]
    pose = approach(closure, start)
    # Perhaps the parts cannot close at all; the conflict report says more about that.
    return pose if np.max(np.abs(closure.residual(pose)), initial=0.0) <= 1e-8 else None


def motions(closure: Closure, x: Array) -> Array:
    """An orthonormal basis of the null space of the scaled Jacobian, one column per degree of freedom."""
    return null_space(closure.dense_jacobian(x), relative=RANK_TOLERANCE)


def _faults(level: Wishes, free: Indices, motions: Array) -> list[Fault]:
    fixed, freedom = level.fixed, motions.shape[1]
    if not fixed:
        return []
    places = [int(np.flatnonzero(free == index)[0]) for index in fixed]
    left, values, _ = np.linalg.svd(motions[places])
    names = [level.named(index) for index in fixed]
    if len(fixed) > freedom:
        return [_too_many(level, names, freedom)]
    if values[-1] > 1e-7:  # singular values are cosines here, so an absolute bound is right
        return []
    vector = np.abs(left[:, -1])
    chosen = [k for k in range(len(fixed)) if vector[k] > NAMED * vector.max()]
    return [_dependent(level, [fixed[k] for k in chosen])]


def _too_many(level: Wishes, names: list[str], freedom: int) -> Fault:
    degrees = "1 degree" if freedom == 1 else f"{freedom} degrees"
    return Fault(
        f"{len(names)} {_plural(level)} are fixed, but the mechanism has {degrees} of freedom: {joined(names)}",
        _mark(level, level.fixed[-1]),
        f"remove `fixed` from {len(names) - freedom} of them; without it a value is a guess",
    )


def _dependent(level: Wishes, chosen: list[int]) -> Fault:
    names = joined([level.named(index) for index in chosen])
    if len(chosen) == 1:
        return Fault(
            f"{names} cannot be fixed: the constraints already decide it",
            _mark(level, chosen[0]),
            "remove `fixed` and leave it a guess",
        )
    return Fault(
        f"fixed {_plural(level)} depend on each other: {names}",
        _mark(level, chosen[-1]),
        "each follows from the others; remove `fixed` from one of them",
    )


def check_drives(mechanism: Mechanism, closure: Closure, guess: Array) -> None:
    """Raise if drives prescribe the same freedom twice; `closure` is one that cannot be met, all coordinates free."""
    words, mark = drives_in_words(mechanism, closure, guess)
    if words:
        hint = "remove one of them: a degree of freedom follows one drive"
        raise AssemblyError(Fault(f"{words} contradict each other", mark, hint))


def drives_in_words(mechanism: Mechanism, closure: Closure, guess: Array) -> tuple[str, Mark | None]:
    """`2 drives, 1 degree of freedom: ...`, if so, and where the last of them stands; judged where everything else
    closes, and beside that."""
    drives = drive_rows(mechanism)
    shared = [_shared_drives(closure, guess, drives, seed) for seed in (None, 2)] if len(drives) > 1 else [None]
    if shared[0] is None or shared[-1] is None:
        return "", None
    chosen, freedom = shared[-1]  # at a dead point, which the guess may be, a drive that moves nothing would be alone
    names = joined([_with_line(drives[row]) for row in chosen])
    degrees = "1 degree" if freedom == 1 else f"{freedom} degrees"
    return f"{len(chosen)} drives, {degrees} of freedom: {names}", drives[chosen[-1]].mark


def _with_line(element: Element) -> str:
    return f"the {element.owner} (line {element.mark.line})" if element.mark else f"the {element.owner}"


def drive_rows(mechanism: Mechanism) -> dict[int, Element]:
    """The element of every constraint that is a drive."""
    return {row: element for row, element in enumerate(mechanism.binding) if element.is_drive}


def _shared_drives(
    closure: Closure, guess: Array, drives: Collection[int], seed: int | None
) -> tuple[list[int], int] | None:
    """Drives of which each follows from the others, and how many freedoms they move; None if there are none."""
    driven = closure.rows[np.isin(closure.rows, list(drives))]
    others = closure.restricted(closure.free, closure.rows[~np.isin(closure.rows, driven)])
    pose = _pose_near(others, guess, seed) if len(driven) > 1 else None
    if pose is None:
        return None
    basis = motions(others.rescaled(pose), pose)
    moved = closure.restricted(closure.free, driven).rescaled(pose).dense_jacobian(pose) @ basis
    left, values, _ = np.linalg.svd(moved)
    rank = int(np.sum(values > 1e-7))
    if rank == len(driven):
        return None
    shares = np.max(np.abs(left[:, rank:]), axis=1)
    chosen = [k for k in range(len(driven)) if shares[k] > NAMED]
    return sorted(int(driven[k]) for k in chosen), int(np.linalg.matrix_rank(moved[chosen], 1e-7))


def _plural(level: Wishes) -> str:
    return "positions" if level.quantity == "position" else "velocities"


def _mark(level: Wishes, index: int) -> Mark | None:
    value = level.values[index]
    return value.number.mark if value else None


def holding_coordinates(closure: Closure, x: Array, preferred: Indices) -> list[int]:
    """Coordinates which, held, leave no motion: one per degree of freedom left, the `preferred` ones first.

    Greedy pivoting on the rows of the null space: each choice takes the coordinate that moves most in what is left.
    """
    basis = motions(closure.rescaled(x), x)
    favour = np.where(np.isin(closure.free, preferred), 10.0, 1.0)
    chosen: list[int] = []
    while basis.shape[1]:
        sizes = favour * np.linalg.norm(basis, axis=1)
        pivot = int(np.argmax(sizes))
        chosen.append(int(closure.free[pivot]))
        _, _, right = np.linalg.svd(basis[pivot : pivot + 1])
        basis = basis @ right[1:].T
    return chosen


def joined(names: list[str], word: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
