"""The inertia of a rigid body in space as coefficients of the kind `spatial_body`.

In its frame the reference points stand at a = (0, 0, 0), b = (length, 0, 0) and c = (x, y, 0).
"""

from __future__ import annotations

from collections.abc import Sequence

from mechsim.frozen import frozen

Place = Sequence[float]
ROUNDING = 1e-14  # of all inertia: a second moment that is smaller is none


@frozen
class Triangle:
    """The reference points b and c in the frame of a body: what expresses its axes by d = b - a and e = c - a."""

    length: float
    x: float
    y: float

    def shares(self, place: Place) -> tuple[float, float, float]:
        """xi, eta and zeta of a place: it is xi d + eta e + zeta d x e, seed 001 (3.11)."""
        x, y, z = place
        eta = y / self.y
        return (x - eta * self.x) / self.length, eta, z / (self.length * self.y)


def body_parameters(triangle: Triangle, mass: float, centroid: Place, inertia: Place) -> dict[str, float]:
    """Parameters of `spatial_body`; `inertia` is about the centroid: xx, yy, zz, xy, xz, yz of its matrix."""
    second = _second_moments(mass, centroid, inertia)
    xi, eta, zeta = triangle.shares(centroid)
    dd, ee, de = _in_plane(triangle, second)
    length, x, y = triangle.length, triangle.x, triangle.y
    return {
        "mass": mass,
        "xi": xi,
        "eta": eta,
        "zeta": zeta,
        "aa": mass - 2 * mass * xi - 2 * mass * eta + dd + ee + 2 * de,
        "bb": dd,
        "cc": ee,
        "ab": mass * xi - dd - de,
        "ac": mass * eta - ee - de,
        "bc": de,
        "dn": (second["xz"] - second["yz"] * x / y) / (length**2 * y),
        "en": second["yz"] / (length * y**2),
        "twist": second["zz"] / (length * y) ** 2,
    }


def _second_moments(mass: float, centroid: Place, inertia: Place) -> dict[str, float]:
    """The integrals of x x, x y and so on over the mass, about the first reference point."""
    (cx, cy, cz), (xx, yy, zz, xy, xz, yz) = centroid, inertia
    found = {
        "xx": (yy + zz - xx) / 2 + mass * cx**2,
        "yy": (xx + zz - yy) / 2 + mass * cy**2,
        "zz": (xx + yy - zz) / 2 + mass * cz**2,
        "xy": mass * cx * cy - xy,
        "xz": mass * cx * cz - xz,
        "yz": mass * cy * cz - yz,
    }
    # Of a flat body some are zero but for a rounding, which must not become terms of equations.
    small = ROUNDING * (xx + yy + zz + mass * (cx**2 + cy**2 + cz**2))
    return {name: value if value > small or value < -small else 0.0 for name, value in found.items()}


def _in_plane(triangle: Triangle, second: dict[str, float]) -> tuple[float, float, float]:
    """Of |d'|^2, |e'|^2 and d' . e'. What lies above the plane adds to both axes: see `spatial_body`."""
    along, across = second["xx"] + second["zz"], second["yy"] + second["zz"]
    length, slope, y = triangle.length, triangle.x / triangle.length, triangle.y
    ee = across / y**2
    de = second["xy"] / (length * y) - slope * ee
    dd = along / length**2 - 2 * slope * second["xy"] / (length * y) + slope**2 * ee
    return dd, ee, de
