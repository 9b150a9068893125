"""diffrax on many pendulums: Dopri8 under vmap and jit on hand-made ODEs, in double precision."""

from __future__ import annotations

from collections.abc import Callable

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from bench.pendulums import END, main, rates


def prepare(problem: str, tolerance: float) -> Callable[[np.ndarray], np.ndarray]:
    jax.config.update("jax_enable_x64", True)
    term = diffrax.ODETerm(lambda t, y, _: jnp.stack(rates(problem, y, jnp)))
    control = diffrax.PIDController(rtol=tolerance, atol=tolerance)
    settings = {"stepsize_controller": control, "saveat": diffrax.SaveAt(t1=True), "max_steps": 100_000}

    def end(y: jax.Array) -> jax.Array:
        return diffrax.diffeqsolve(term, diffrax.Dopri8(), 0.0, END, 1e-3, y, **settings).ys[0]

    all_ends = jax.jit(jax.vmap(end))
    return lambda starts: np.asarray(all_ends(jnp.asarray(starts)).block_until_ready())


if __name__ == "__main__":
    main("diffrax vmap", "hand-made ODE, compiled", prepare)
