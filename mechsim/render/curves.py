"""Curves that hold a point, as lines: F(x, y) = 0 by contouring, (x(s), y(s)) by sampling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mechsim.render.workshop import Workshop
from mechsim.result.layout import Array
from mechsim.spec.actions import Curve
from mechsim.spec.expression import CONSTANTS, MATH, Expression

FINENESS = 241  # lines of the grid, and points of a sampled curve: a few pixels apart
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    name: {"**": np.power, "abs": np.abs}.get(name) or getattr(np, name.replace("asin", "arcsin"), None)
    or getattr(np, name.replace("atan", "arctan").replace("acos", "arccos")) for name in MATH
}  # fmt: skip


def curve_lines(curve: Curve, shop: Workshop) -> list[Array]:
    """The curve as far as the motion's surroundings reach; none where it moves with time or with the mechanism."""
    if curve.implicit is not None:
        return _contours(curve.implicit, shop) if _stands_still(curve.implicit, shop, "xy") else []
    assert curve.parametric
    if not all(_stands_still(each, shop, "s") for each in curve.parametric):
        return []
    return _sampled(curve, shop)


def _stands_still(expression: Expression, shop: Workshop, own: str) -> bool:
    return set(expression.names) <= {*own, *shop.scene.parameters, *CONSTANTS}


def _values(expression: Expression, shop: Workshop, own: Mapping[str, Array]) -> Array:
    shape = next(iter(own.values())).shape
    with np.errstate(all="ignore"):
        values = expression.evaluate({**shop.scene.parameters, **own}, FUNCTIONS)
    return np.broadcast_to(np.asarray(values, float), shape)


def _contours(expression: Expression, shop: Workshop) -> list[Array]:
    from contourpy import contour_generator

    x, y = (np.linspace(low, high, FINENESS) for low, high in zip(*shop.box(), strict=True))
    grid = np.meshgrid(x, y)
    values = np.ma.masked_invalid(_values(expression, shop, {"x": grid[0], "y": grid[1]}))
    return [np.asarray(line) for line in contour_generator(x, y, values).lines(0.0)]


def _sampled(curve: Curve, shop: Workshop) -> list[Array]:
    """The piece that the point passes and as much again on either side, or a full turn, but nothing far away."""
    owners = [variable.owner for variable in shop.scene.mechanism.variables]
    passed = shop.frames.coordinates[:, owners.index(f"s_{curve.point}")]
    middle, half = (passed.max() + passed.min()) / 2, max(1.5 * float(np.ptp(passed)), np.pi)
    s = np.linspace(middle - half, middle + half, 3 * FINENESS)
    assert curve.parametric
    line = np.column_stack([_values(each, shop, {"s": s}) for each in curve.parametric])
    low, high = shop.box()
    near = np.all(np.isfinite(line) & (line >= low) & (line <= high), axis=1)
    pieces = np.split(line, np.flatnonzero(near[1:] != near[:-1]) + 1)
    return [piece for piece in pieces[0 if near[0] else 1 :: 2] if len(piece) > 1]
