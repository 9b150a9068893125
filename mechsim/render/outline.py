"""Outlines of parts and the layers they lie in, so that neighbours can pass over one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.result.layout import Array

ARC = 10  # corners per quarter circle: smooth at any size a screen shows
MOST_LAYERS = 12  # a long chain needs no tower of layers


def outline_around(path: Array, skin: float, *, drawn: bool) -> Array:
    """The closed curve at distance `skin` around a part, counter-clockwise.

    Seed 001 section 5: by default a round-cornered region a little larger than the convex hull of the points. A
    path of the user's own (`drawn`) is followed as it is, and where it closes upon itself it encloses a plate.
    """
    import shapely

    skeleton = shapely.LineString(path) if len(np.unique(path, axis=0)) > 1 else shapely.Point(path[0])
    if not drawn:
        region = skeleton.convex_hull.buffer(skin, quad_segs=ARC)
    else:
        # Out and back again rounds the inner corners too, as a casting has them.
        region = shapely.Polygon(skeleton.buffer(2 * skin, quad_segs=ARC).exterior).buffer(-skin, quad_segs=ARC)
    region = shapely.Polygon(region.exterior).simplify(0.004 * skin)
    return np.array(shapely.geometry.polygon.orient(region).exterior.coords)[:-1]


def outline_of_shapes(
    regions: Sequence[Array], discs: Sequence[tuple[Array, float]], path: Array, skin: float
) -> Array:
    """The closed curve around polygons (k, 2) and discs (centre, radius), counter-clockwise, without the holes between
    them; what lies apart, and points of `path` outside, are joined to the rest by bars."""
    import shapely

    pieces = [shapely.Polygon(region).buffer(0) for region in regions]
    pieces += [shapely.Point(centre).buffer(radius, quad_segs=3 * ARC) for centre, radius in discs]
    whole = shapely.union_all(pieces)
    outside = [place for place in path if whole.distance(shapely.Point(place)) > skin]
    if outside or whole.geom_type != "Polygon":
        ends = [*outside, *(np.array(piece.centroid.coords[0]) for piece in getattr(whole, "geoms", [whole]))]
        bars = shapely.LineString([end for each in ends for end in (path[0], each, path[0])])
        whole = shapely.union_all([whole, bars.buffer(skin, quad_segs=ARC)])
    largest = max(getattr(whole, "geoms", [whole]), key=lambda piece: piece.area)
    return np.array(shapely.geometry.polygon.orient(shapely.Polygon(largest.exterior)).exterior.coords)[:-1]


def area(outline: Array) -> float:
    """The area inside a closed polygon (the shoelace formula)."""
    x, y = outline.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def layers_of(joined: Sequence[Sequence[str]], outlines: Sequence[Array]) -> list[int]:
    """A layer for each part: large parts below small ones, parts that share a point never in the same one."""
    layers = [0] * len(joined)
    load = [0] * max(1, min(MOST_LAYERS, len(joined)))
    taken: dict[str, set[int]] = {}
    for index in sorted(range(len(joined)), key=lambda i: -area(outlines[i])):
        occupied = set().union(*(taken.get(point, set()) for point in joined[index]))
        free = [layer for layer in range(len(load)) if layer not in occupied] or list(range(len(load)))
        layers[index] = min(free, key=lambda layer: (load[layer], layer))
        load[layers[index]] += 1
        for point in joined[index]:
            taken.setdefault(point, set()).add(layers[index])
    return layers


def inset(outline: Array, depth: float) -> Array:
    """The outline drawn in by `depth`, its largest piece where that parts it; the outline itself if nothing is left."""
    import shapely

    inner = shapely.Polygon(outline).buffer(-depth, quad_segs=ARC)
    pieces = [piece for piece in getattr(inner, "geoms", [inner]) if not piece.is_empty]
    if not pieces:
        return outline
    largest = max(pieces, key=lambda piece: piece.area)
    return np.array(shapely.geometry.polygon.orient(largest).exterior.coords)[:-1]


def hull(points: Array) -> Array:
    """The corners of the convex hull: what is drawn reaches as far as these do."""
    import shapely

    if len(points) < 4:
        return points
    return np.asarray(shapely.get_coordinates(shapely.MultiPoint(points).convex_hull))
