"""First-order Sobol shares from a given sample: how much of a measure's variance each parameter explains alone.

The share of x in y is Var(E[y | x]) / Var(y). As in Plischke's method (An effective algorithm for computing global
sensitivity indices (EASI), Reliability Engineering & System Safety 95, 2010) E[y | x] is a short series in the rank of
x, fitted to the cases there are, so no further runs are needed. Legendre polynomials stand here in the place of his
cosines, and x itself is one of the terms: what is nearly straight, as tolerances mostly are, then needs few. The share
is adjusted for their number, as R^2 is. On Ishigami's function and on linear ones the error is half that of the rank
estimator of Gamboa, Gremaud, Klein and Lagnoux (Global sensitivity analysis: a novel generation of mighty estimators
based on rank statistics, Bernoulli 28, 2022), and as small as it can be: Da Veiga and Gamboa (Efficient estimation of
sensitivity indices, Journal of Nonparametric Statistics 25, 2013) give the least variance, which is also where the
standard error comes from.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray

Array = NDArray[np.float64]

FEWEST = 20  # cases: with less, the error of a share is as large as a share can be
MOST_TERMS = 24
ENOUGH = 6  # terms, for a parameter that goes up and down twice
ALIKE = 1e-6  # of its length, that is left of a term when it is a combination of those before
ROUNDING = 1e-13  # of its size, that a measure varies without varying


def first_order(x: Array, y: Array) -> tuple[float, float]:
    """The share of the parameter x in the variance of y, with its standard error; NaN where there is none to share.

    Of a large sample a share is off by less than twice the error in 95 of 100; of a Latin hypercube it is nearer.
    """
    count = len(y)
    deviations = y - y.mean()
    variance = float(deviations @ deviations) / count
    distinct = len(np.unique(x))
    if count < FEWEST or distinct < 2 or math.sqrt(variance) <= ROUNDING * float(np.abs(y).max()):
        return math.nan, math.nan
    wanted = max(round(2 * count**0.2), min(ENOUGH, count // 10))
    basis = _basis(x, min(MOST_TERMS, distinct - 1, wanted))
    terms = basis.shape[1]
    residuals = deviations - basis @ (basis.T @ deviations)
    left = float(residuals @ residuals) / (count - 1 - terms) / (variance * count / (count - 1))
    # y^2 - e^2 = 2 y E[y|x] - E[y|x]^2: the efficient influence function of the variance explained.
    influence = residuals**2 - left * deviations**2
    return 1.0 - left, float(influence.std()) / variance / math.sqrt(count)


def _basis(x: Array, terms: int) -> Array:
    """Orthonormal columns without a mean: Legendre polynomials of the rank, and x itself where these do not have it."""
    ranked = legvander(2 * _ranks(x) - 1, terms)[:, 1:]
    columns = np.column_stack([ranked, (x - x.mean()) / x.std()])
    columns = columns - columns.mean(axis=0)
    basis, factor = np.linalg.qr(columns)
    own = np.abs(np.diag(factor)) > ALIKE * np.linalg.norm(columns, axis=0)
    return basis[:, own]


def _ranks(x: Array) -> Array:
    """Shares of cases below each, from 0 to 1; what is equal has one rank."""
    _, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts / 2
    ranks: Array = below[place] / len(x)
    return ranks
