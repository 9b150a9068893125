"""Random smooth expressions, evaluated in JAX (to derive) and in complex NumPy (to know the answer)."""

import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st

from mechsim.kernel.system import System
from mechsim.model.mechanism import Element, Mechanism, Variable


class ComplexNumbers:
    """What NumPy calls these functions, and the one it does not continue into the complex plane."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def arctan2(y, x):
        return -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y))


# Each takes a namespace and operands of moderate size and returns a value of moderate size, so that expressions of any
# depth stay smooth. The tame part 2 + sin(u) is what makes logarithms, roots and quotients safe.
UNARY = {
    "exp": lambda m, u: m.exp(0.5 * m.sin(u)),
    "log": lambda m, u: m.log(2 + m.sin(u)),
    "sin": lambda m, u: m.sin(u),
    "cos": lambda m, u: m.cos(u + 0.2),
    "tan": lambda m, u: m.tan(0.6 * m.sin(u)),
    "sinh": lambda m, u: m.sinh(m.sin(u)),
    "cosh": lambda m, u: m.cosh(m.cos(u)),
    "tanh": lambda m, u: m.tanh(0.5 * u),
    "asin": lambda m, u: m.arcsin(0.5 * m.sin(u)),
    "acos": lambda m, u: m.arccos(0.5 * m.cos(u)),
    "atan": lambda m, u: m.arctan(m.sin(u)),
    "power": lambda m, u: (2 + m.sin(u)) ** 1.7,
    "negative power": lambda m, u: (2 + m.sin(u)) ** -2.5,
    "root": lambda m, u: m.sqrt(2 + m.cos(u)),
    "ratio": lambda m, u: 1.5 / (2 + m.sin(u)),
    "square": lambda m, u: 0.3 * u**2,
    "power of two": lambda m, u: 2.0 ** m.sin(u),
    "cube": lambda m, u: 0.1 * u**3,
    "scale": lambda m, u: -0.7 * u,
    "shift": lambda m, u: u + 0.4,
}
BINARY = {
    "add": lambda m, u, w: u + w,
    "subtract": lambda m, u, w: u - w,
    "multiply": lambda m, u, w: 0.5 * u * w,
    "divide": lambda m, u, w: u / (2 + m.sin(w)),
    "atan2": lambda m, u, w: m.arctan2(m.sin(u), 1.5 + m.sin(w)),
}


def expressions(names):
    """Expression trees over named variables: a name, or (operation, operands...)."""
    return st.recursive(
        st.sampled_from(names),
        lambda inner: (
            st.tuples(st.sampled_from(sorted(UNARY)), inner) | st.tuples(st.sampled_from(sorted(BINARY)), inner, inner)
        ),
        max_leaves=4,
    )


def value(tree, module, **variables):
    if isinstance(tree, str):
        return variables[tree]
    name, *operands = tree
    operation = UNARY.get(name) or BINARY[name]
    return operation(module, *(value(operand, module, **variables) for operand in operands))


_namespace = [jnp]  # the last one is in use


def traced(tree, **variables):
    """The expression as JAX sees it; as complex NumPy sees it inside `in_complex_numbers`."""
    return value(tree, _namespace[-1], **variables)


def in_complex_numbers(function):
    """The function with `traced` expressions in it, evaluated in complex NumPy."""

    def evaluated(*arguments):
        _namespace.append(ComplexNumbers())
        try:
            return function(*arguments)
        finally:
            _namespace.pop()

    return evaluated


def series(function, point, degrees, radius=0.25, count=128):
    """Taylor coefficients of an analytic function by Cauchy's integral over a circle: right to 1e-16 radius^-n."""
    angles = 2 * np.pi * np.arange(count) / count
    values = function(point + radius * np.exp(1j * angles)) * np.ones(count)
    return (np.fft.fft(values) / count).real[:degrees] / radius ** np.arange(degrees)


def system_of(kind, lanes, parameters=(), constants=(), slots=None):
    """Several elements of one kind, each with its own variables unless `slots` says otherwise."""
    count, states = len(kind.variables), kind.state_count
    kinds = ["angle"] * (count - states) + ["state"] * states
    variables = tuple(Variable(f"{name}{i}", f"{name}{i}", what, 1.0) for i in range(lanes)
                      for name, what in zip(kind.variables, kinds, strict=True))  # fmt: skip
    elements = tuple(
        Element(
            kind.name,
            f"{kind.name}{i}",
            tuple(slots[i]) if slots else tuple(range(i * count, (i + 1) * count)),
            {name: values[i] for name, values in zip(kind.parameters, parameters, strict=True)},
            tuple(f"c{j}_{i}" for j in range(kind.constraint_count)),
        )
        for i in range(lanes)
    )
    mechanism = Mechanism(kind.name, 2, variables, tuple(constants), elements, {}, (), 1.0)
    return System(mechanism, {kind.name: kind})
