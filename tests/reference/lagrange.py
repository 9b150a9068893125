"""Motions that do not come from mechsim: Lagrange's equations in minimal coordinates, and cubics of energy."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

jax.config.update("jax_enable_x64", True)


def followed(rates: Callable, start: np.ndarray, times: np.ndarray) -> np.ndarray:
    """States at `times` of an ODE from t = 0, a column for each; DOP853 as tight as it can be."""
    span = (0.0, float(times[-1]))
    found = solve_ivp(rates, span, start, "DOP853", t_eval=times, rtol=1e-13, atol=1e-13, dense_output=False)
    assert found.success, found.message
    return found.y


def lagrangian_motion(lagrangian: Callable, q: list[float], v: list[float], times: np.ndarray) -> np.ndarray:
    """q at `times`, then v: M v' = dL/dq - (dp/dq) v - dp/dt for L(q, v, t) and p = dL/dv."""

    def rates(t, state):
        q, v = jnp.split(state, 2)
        momentum = jax.grad(lagrangian, 1)
        mass = jax.jacfwd(momentum, 1)(q, v, t)
        turning = jax.jvp(lambda q, t: momentum(q, v, t), (q, t), (v, jnp.ones_like(t)))[1]
        return jnp.concatenate([v, jnp.linalg.solve(mass, jax.grad(lagrangian)(q, v, t) - turning)])

    compiled = jax.jit(rates)
    return followed(lambda t, state: np.asarray(compiled(t, state)), np.array([*q, *v], float), times)


def oscillation(cubic: list[float], start: float, times: np.ndarray) -> np.ndarray:
    """u(t) of u'^2 = c3 u^3 + c2 u^2 + c1 u + c0, c3 > 0, between its two lower roots, from the one that is nearest
    to `start`."""
    low, high, top = np.sort(np.roots(cubic).real)
    m = (high - low) / (top - low)
    phase = np.sqrt(cubic[0] * (top - low)) / 2 * np.asarray(times)
    if abs(start - high) < abs(start - low):
        phase = phase + ellipk(m)
    return low + (high - low) * ellipj(phase, m)[0] ** 2


def integral(rate: Callable, times: np.ndarray) -> np.ndarray:
    """The integral of rate(t) from 0 to each time: Gauss-Legendre of 12 points between neighbours of a fine grid."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    edges = np.unique(np.concatenate([np.linspace(0.0, times[-1], 400), times]))
    half = np.diff(edges)[:, None] / 2
    within = edges[:-1, None] + half * (nodes + 1)
    sums = np.concatenate([[0.0], np.cumsum((rate(within) * weights * half).sum(axis=1))])
    return np.interp(times, edges, sums)
