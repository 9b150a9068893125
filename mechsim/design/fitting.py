"""Fits: parameters by which the motion comes nearest to measured columns, and how well these tell them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mechsim.design.course import Course, Measurable
from mechsim.design.goals import Samples
from mechsim.design.sizes import Sizes
from mechsim.errors import Fault, Mark, MechsimError, SpecError
from mechsim.frozen import frozen
from mechsim.measure.quantities import Inside, Quantity
from mechsim.measure.reading import Reader
from mechsim.result.given import read_numbers
from mechsim.result.layout import Array

TIME = "t"
ROUND = 1e-12  # of the motion: it may end before the last row by as much
DEPENDENT = 1e-10  # of the largest: singular values of the Jacobian below this tell nothing


@frozen(slots=False, eq=False)
class Fit(Samples):
    """Measured columns at times: (columns, times), NaN where nothing was measured. Each column counts in units of its
    own spread, so that metres and radians may stand side by side."""

    path: str
    names: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    times: Array
    wanted: Array

    def samples(self, course: Course, extras: Array) -> tuple[list[Quantity], Array, Array, Array]:
        latest = float(self.times.max())
        if latest - course.end > ROUND * (latest - course.begin):
            raise MechsimError(Fault(f"{course.ending}, before what was measured at t = {latest:.6g}"))
        times = np.broadcast_to(self.times, self.wanted.shape)
        return list(self.quantities), times, self.wanted, np.broadcast_to(self.weights[:, None], self.wanted.shape)

    def rates_of(self, number: int, place: Inside) -> Array:
        return np.zeros(place.shares.shape[1])  # its times are those of the file

    def size(self, sizes: Sizes) -> float:
        """Columns count in their own spread, so each row is as large as one."""
        return float(np.isfinite(self.wanted).sum())

    @property
    def weights(self) -> Array:
        spread = np.nanstd(self.wanted, axis=1)
        size = np.nanmax(np.abs(self.wanted), axis=1)
        return 1.0 / np.where(spread > 1e-9 * size, spread, np.where(size > 0, size, 1.0))

    @property
    def owners(self) -> np.ndarray:
        """The column of each residual."""
        columns = np.broadcast_to(np.arange(len(self.names))[:, None], self.wanted.shape)
        return columns[np.isfinite(self.wanted)]


@frozen(eq=False)
class Quality:
    """How good a fit is: by column the root mean square of what is left, in the column's own unit; standard errors of
    what was chosen, infinite where the data do not tell it, NaN where a bound holds it."""

    path: str
    rows: int
    left: dict[str, float]
    errors: Array


def fit_of(path: str | Path, subject: Measurable, span: tuple[float, float], reader: Reader) -> Fit:
    """The columns of a CSV file, called as those of results, with a column t. Raises SpecError with places."""

    def refused(title: str) -> tuple[str, str] | None:
        if title == TIME or subject.names.meaning(title) is not None:
            return None
        return f"the title {title!r} is no column of the motion", subject.names.hint(title)

    nothing = "there are no measured rows", "the first line names columns, t,A_x,A_y; each further line is a time"
    titles, table = read_numbers(path, refused, nothing, holes=True)
    place = Mark(str(path), 1, 1)
    if TIME not in titles or len(titles) < 2:
        raise SpecError(Fault("a fit needs a column t, and one that was measured", place))
    times = table[:, titles.index(TIME)]
    if np.isnan(times).any():
        raise SpecError(Fault("a row has no time", place))
    outside = times[(times < span[0]) | (times > span[1])]
    if len(outside):
        message = f"the time {outside[0]:g} is outside of the motion, which is from {span[0]:g} to {span[1]:g}"
        raise SpecError(Fault(message, place, "let it end later: --tend, or leave such rows out"))
    names = tuple(title for title in titles if title != TIME)
    wanted = np.array([table[:, titles.index(name)] for name in names])
    if np.isnan(wanted).all(axis=1).any():
        raise SpecError(Fault("a column has no numbers", place))
    mark = Mark("fit", 1, 1)
    return Fit(str(path), names, tuple(reader.quantity(name, mark) for name in names), times, wanted)


def quality_of(fit: Fit, residuals: Array, jacobian: Array, free: Array) -> Quality:
    """By the Jacobian of the residuals, of those numbers that are `free`.

    Errors of a column are taken to be independent and equally large: they are as large as what is left says.
    """
    owners, weights = fit.owners, fit.weights
    count, own = len(residuals), jacobian[:, free]
    spare = max(count - own.shape[1], 1) / count
    squares = np.array([np.mean(residuals[owners == k] ** 2) for k in range(len(fit.names))])
    left = {name: float(np.sqrt(squares[k]) / weights[k]) for k, name in enumerate(fit.names)}
    errors = np.full(jacobian.shape[1], np.nan)
    _, sizes, ways = np.linalg.svd(own, full_matrices=False)
    known = sizes > DEPENDENT * sizes.max(initial=0.0)
    inverse = (ways[known].T / sizes[known] ** 2) @ ways[known]
    spread = own.T @ (own * (squares / spare)[owners][:, None])
    found = np.sqrt(np.maximum(np.diag(inverse @ spread @ inverse), 0.0))
    lost = (np.abs(ways[~known]) > 1e-6).any(axis=0)
    errors[free] = np.where(lost, np.inf, found)
    return Quality(fit.path, fit.wanted.shape[1], left, errors)
