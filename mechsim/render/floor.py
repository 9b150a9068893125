"""The floor under a mechanism in space: lines that fade into the background, and shadows between them."""

from __future__ import annotations

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.measures import nice_below
from mechsim.render.mesh import ribbon, ribbon_faces
from mechsim.render.polygon import Faces
from mechsim.render.shade import Shade
from mechsim.render.stage import Ink, Stage
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

TINT = 0.13  # how much of the colour of edges its lines have
LINES = 5  # on either side of the middle, at least
LINE_WIDTH = 0.0016  # half of it, of the floor's radius
FADE = (0.45, 1.0)  # of the radius: where the floor begins to fade, and where it ends
PIECES = 48  # of a line
UNDER = 0.6  # of the way to the outermost points
LIFT = 1e-4  # of the radius: of shadows above the lines


@frozen
class Floor:
    """A round floor about `centre` (3,)."""

    centre: Array
    radius: float

    @classmethod
    def under(cls, seen: Array, margin: float) -> Floor:
        """Below all points seen (k, 3), with room around them for shadows."""
        low, high = seen.min(axis=0), seen.max(axis=0)
        centre = np.array([*((low + high) / 2)[:2], low[2] - margin])
        reach = np.linalg.norm(seen[:, :2] - centre[:2], axis=1).max()
        return cls(centre, float(1.3 * reach + 0.6 * (high[2] - low[2]) + margin))

    def footprint(self, seen: Array) -> Array:
        """Places on the floor under the points seen, drawn in a little: where shadows are looked for."""
        under = self.centre[:2] + UNDER * (seen[:, :2] - self.centre[:2])
        return np.column_stack([under, np.full(len(seen), self.centre[2])])

    def build(self, stage: Stage, theme: Theme, shade: Shade) -> None:
        """Into the stage: two sheets that are not lit, seen only from above."""
        from mechsim.render.pen import mix

        points, faces = self._lines()
        stage.add_sheet(points + self.centre, faces, self._ink(points, mix(theme.background, theme.edge, TINT)))
        self._add_shadows(stage, theme, shade)

    def _ink(self, points: Array, colour: tuple[float, float, float]) -> Ink:
        """A colour that fades towards the rim."""
        away = np.linalg.norm(points[:, :2], axis=1) / self.radius
        return np.column_stack([
            np.tile(np.round(255 * np.array(colour)), (len(points), 1)), np.round(255 * fading(away))
        ]).astype(np.uint8)  # fmt: skip

    def _lines(self) -> tuple[Array, Faces]:
        """Parallels to x and y at round places, as narrow bands of short pieces so that they can fade."""
        along = np.linspace(-1, 1, PIECES)
        step = nice_below(self.radius / LINES)
        bands: list[Array] = []
        faces: list[Faces] = []
        for axis in (0, 1):
            low, high = ((self.centre[1 - axis] + side * self.radius) / step for side in (-1, 1))
            for place in step * np.arange(np.ceil(low), np.floor(high) + 1) - self.centre[1 - axis]:
                half = np.sqrt(max(self.radius**2 - place**2, 0.0))
                line = np.zeros((len(along), 3))
                line[:, axis], line[:, 1 - axis] = half * along, place
                faces.append(ribbon_faces(len(along)) + 2 * len(along) * len(bands))
                bands.append(ribbon(line, LINE_WIDTH * self.radius))
        return np.vstack(bands), np.vstack(faces)

    def _add_shadows(self, stage: Stage, theme: Theme, shade: Shade) -> None:
        square = shade.half * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        strength = min(1.0, 2.2 * theme.shadow_strength)
        rgb = [int(theme.shadow[place : place + 2], 16) for place in (1, 3, 5)]
        lifted = square + shade.centre + (0, 0, LIFT * self.radius)
        stage.add_picture(lifted, rgb, lambda frame: strength * shade.draw(frame).astype(float))


def fading(away: Array) -> Array:
    """From 1 in the middle softly to 0 at the rim."""
    share = np.clip((away - FADE[0]) / (FADE[1] - FADE[0]), 0, 1)
    return np.asarray(1 - share**2 * (3 - 2 * share))
