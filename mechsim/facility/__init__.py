"""The Lagrangian facility (seed 001 section 1.1): a user's own L(q, q', t) and constraints, in any coordinates.

    import mechsim

    pendulum = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1], ["x", "y"],
        constraints=lambda q, t: [q[0] ** 2 + q[1] ** 2 - 1])
    motion = pendulum.simulate({"x": 0.6, "y": -0.8}, tend=10)
    motion(3)["x"]

The functions are traced by JAX, so they may use arithmetic and `jax.numpy`; everything after that is the same solver.
"""

from mechsim.facility.system import LagrangianSystem, lagrangian_system

__all__ = ["LagrangianSystem", "lagrangian_system"]
