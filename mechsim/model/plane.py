"""Where circles and lines of the plane meet, as complex numbers."""

from __future__ import annotations

ASIDE = 0.35  # of a radius: where figures do not meet, points a little off their line still have two sides


def circles_meet(centre: complex, radius: float, other_centre: complex, other_radius: float) -> tuple[complex, complex]:
    """Where two circles meet; if they do not, the points of the first nearest to that, a little off the line."""
    apart = other_centre - centre
    distance = abs(apart)
    along = (distance**2 + radius**2 - other_radius**2) / (2 * distance)
    along = max(-radius, min(radius, along))
    across = max(radius**2 - along**2, (ASIDE * radius) ** 2 / 10) ** 0.5
    return centre + apart / distance * complex(along, across), centre + apart / distance * complex(along, -across)


def line_meets_circle(start: complex, direction: complex, centre: complex, radius: float) -> tuple[complex, complex]:
    """Where a line meets a circle, farther along the line first; if it does not, its points nearest to that."""
    unit = direction / abs(direction)
    offset = (centre - start) * unit.conjugate()
    along = max(radius**2 - offset.imag**2, (ASIDE * radius) ** 2 / 10) ** 0.5
    return start + unit * (offset.real + along), start + unit * (offset.real - along)
