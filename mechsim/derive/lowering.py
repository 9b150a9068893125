"""From a jaxpr to the scalar graph: arrays become NumPy arrays of graph nodes, one rule per primitive.

A primitive that is not known here is an error that names it, never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from mechsim.derive.graph import Graph
from mechsim.derive.program import FUNCTIONS
from mechsim.errors import Fault, MechsimError

Array = np.ndarray  # of dtype object, holding graph nodes; or of numbers, for values known while lowering

# Primitives that only move entries. The common ones are done by NumPy at once; the rest by running the primitive on
# entry numbers instead of entries, which is right for any of them but compiles code for each new shape.
MOVES = frozenset("dynamic_slice gather unstack tile rev expand_dims dynamic_update_slice scatter".split())
CALLS = frozenset("jit pjit closed_call core_call remat checkpoint custom_jvp_call custom_vjp_call custom_lin".split())
IDENTITIES = frozenset("convert_element_type stop_gradient reduce_precision optimization_barrier copy".split())
SINGLE = [np.dtype(name) for name in ("float32", "float16", "complex64")]
UNARY = {name: name for name in FUNCTIONS} | {"sqrt": "root"}


def _slice(a: Array, start_indices: Any, limit_indices: Any, strides: Any) -> list[Array]:
    steps = strides or (1,) * a.ndim
    return [a[tuple(slice(*s) for s in zip(start_indices, limit_indices, steps, strict=True))]]


def _pad(a: Array, fill: Array, padding_config: Any) -> list[Array]:
    shape = [
        low + high + n + max(n - 1, 0) * inner for n, (low, high, inner) in zip(a.shape, padding_config, strict=True)
    ]
    padded = np.full(shape, fill[()], dtype=a.dtype)
    if any(low < 0 or high < 0 for low, high, _ in padding_config):
        raise MechsimError("the function uses a negative padding, which is not supported here")
    places = tuple(
        slice(low, size - high, inner + 1) for size, (low, high, inner) in zip(shape, padding_config, strict=True)
    )
    padded[places] = a
    return [padded]


def _broadcast(a: Array, shape: Any, broadcast_dimensions: Any, **_: Any) -> list[Array]:
    expanded = a.reshape(
        [a.shape[broadcast_dimensions.index(i)] if i in broadcast_dimensions else 1 for i in range(len(shape))]
    )
    return [np.broadcast_to(expanded, shape)]


NUMPY_MOVES: dict[str, Callable[..., list[Array]]] = {
    "broadcast_in_dim": _broadcast,
    "reshape": lambda a, new_sizes, **_: [a.reshape(new_sizes)],
    "squeeze": lambda a, dimensions: [a.squeeze(tuple(dimensions))],
    "transpose": lambda a, permutation: [a.transpose(permutation)],
    "slice": _slice,
    "pad": _pad,
    "concatenate": lambda *arrays, dimension: [np.concatenate(arrays, axis=dimension)],
    "stack": lambda *arrays, axis=0, **_: [np.stack(arrays, axis=axis)],
    "split": lambda a, sizes, axis: np.split(a, np.cumsum(sizes)[:-1].astype(int), axis=axis),
    "copy": lambda a, **_: [a],
}
NUMPY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "eq": np.equal,
    "ne": np.not_equal,
    "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "add_any": np.add,
}  # fmt: skip


def lower(closed: ClosedJaxpr, graph: Graph, arguments: list[Array]) -> list[Array]:
    """The outputs of a traced function as arrays of graph nodes."""
    with jax.enable_x64(True):
        return _Lowering(graph).run(closed.jaxpr, closed.consts, arguments)


class _Lowering:
    def __init__(self, graph: Graph):
        self.graph = graph

    def run(self, jaxpr: Any, constants: Any, arguments: list[Array]) -> list[Array]:
        values: dict[Any, Array] = dict(zip(jaxpr.constvars, map(np.asarray, constants), strict=True))
        values.update(zip(jaxpr.invars, arguments, strict=True))

        def read(atom: Any) -> Array:
            return np.asarray(atom.val) if isinstance(atom, Literal) else values[atom]

        for equation in jaxpr.eqns:
            results = self._equation(equation, [read(atom) for atom in equation.invars])
            values.update(zip(equation.outvars, results, strict=True))
        return [self.nodes(read(atom)) for atom in jaxpr.outvars]

    def nodes(self, array: Array) -> Array:
        """An array of numbers as an array of graph nodes."""
        if array.dtype == object:
            return array
        lifted = np.empty(array.shape, dtype=object)
        for index in np.ndindex(array.shape):
            lifted[index] = self.graph.value(float(array[index]))
        return lifted

    def _equation(self, equation: Any, inputs: list[Array]) -> list[Array]:
        name = equation.primitive.name
        _refuse_single_precision(equation)
        if name in NUMPY_MOVES:
            lifted = [self.nodes(x) for x in inputs] if any(x.dtype == object for x in inputs) else inputs
            return NUMPY_MOVES[name](*lifted, **equation.params)
        if all(x.dtype != object for x in inputs) and name not in CALLS:
            return self._numbers(equation, inputs)
        if name in CALLS:
            return self._call(equation, inputs)
        if name in MOVES:
            return self._move(equation, inputs)
        if name in IDENTITIES:
            return [inputs[0]]
        rule = getattr(self, f"_{name}", None)
        if rule is not None:
            return [rule(*inputs, **equation.params)]
        if name in UNARY:
            return [self._map(lambda x: self.graph.function(UNARY[name], x), inputs[0])]
        raise MechsimError(f"the function uses {name!r}, which cannot be expanded in a Taylor series here")

    def _numbers(self, equation: Any, inputs: list[Array]) -> list[Array]:
        """An equation whose operands are all known numbers."""
        name = equation.primitive.name
        if name in NUMPY_FUNCTIONS:
            return [np.asarray(NUMPY_FUNCTIONS[name](*inputs))]
        if name == "convert_element_type":
            return [inputs[0].astype(equation.params["new_dtype"])]
        if name == "iota":
            shape, dimension = equation.params["shape"], equation.params["dimension"]
            return [np.indices(shape)[dimension].astype(equation.params["dtype"])]
        result = equation.primitive.bind(*inputs, **equation.params)
        return [np.asarray(r) for r in (result if equation.primitive.multiple_results else [result])]

    def _call(self, equation: Any, inputs: list[Array]) -> list[Array]:
        inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
        if isinstance(inner, ClosedJaxpr) or hasattr(inner, "consts"):
            return self.run(inner.jaxpr, inner.consts, inputs)
        return self.run(inner, [], inputs)

    def _move(self, equation: Any, inputs: list[Array]) -> list[Array]:
        """Run the primitive on entry numbers; entries that are integer operands (indices) stay what they are."""
        entries: list[Any] = []
        numbered = []
        for array, atom in zip(inputs, equation.invars, strict=True):
            if np.issubdtype(atom.aval.dtype, np.floating):
                flat = self.nodes(array).reshape(-1)
                numbers = np.arange(len(entries), len(entries) + flat.size, dtype=np.float64).reshape(array.shape)
                entries.extend(flat)
                numbered.append(numbers)
            else:
                numbered.append(array)
        result = equation.primitive.bind(*numbered, **equation.params)
        results = result if equation.primitive.multiple_results else [result]
        table = np.array(entries, dtype=object)
        return [np.asarray(table[np.asarray(r).astype(int)], dtype=object) for r in results]

    def _map(self, function: Callable[..., int], *arrays: Array) -> Array:
        lifted = np.broadcast_arrays(*(self.nodes(a) for a in arrays))
        result = np.empty(lifted[0].shape, dtype=object)
        for index in np.ndindex(result.shape):
            result[index] = function(*(a[index] for a in lifted))
        return result

    # --- one method per primitive, found by name

    def _add(self, a: Array, b: Array) -> Array:
        return self._map(self.graph.add, a, b)

    _add_any = _add

    def _sub(self, a: Array, b: Array) -> Array:
        return self._map(self.graph.subtract, a, b)

    def _mul(self, a: Array, b: Array, **_: Any) -> Array:
        return self._map(self.graph.multiply, a, b)

    def _div(self, a: Array, b: Array) -> Array:
        return self._map(self.graph.divide, a, b)

    def _neg(self, a: Array) -> Array:
        return self._map(self.graph.negate, a)

    def _square(self, a: Array) -> Array:
        return self._map(lambda x: self.graph.power(x, 2.0), a)

    def _rsqrt(self, a: Array, **_: Any) -> Array:
        return self._map(lambda x: self.graph.power(x, -0.5), a)

    def _integer_pow(self, a: Array, y: int) -> Array:
        return self._map(lambda x: self.graph.power(x, float(y)), a)

    def _pow(self, a: Array, b: Array) -> Array:
        def power(x: int, y: int) -> int:
            exponent = self.graph.literal(y)
            if exponent is not None:
                return self.graph.power(x, exponent)
            logarithm = self.graph.function("log", x)
            return self.graph.function("exp", self.graph.multiply(y, logarithm))

        return self._map(power, a, b)

    def _atan2(self, y: Array, x: Array) -> Array:
        return self._map(lambda a, b: self.graph.function("atan2", a, b), y, x)

    def _select_n(self, which: Array, *cases: Array) -> Array:
        if which.dtype == object:
            raise MechsimError("the function chooses between cases by its state, which has no Taylor series here")
        lifted = np.broadcast_arrays(*(self.nodes(case) for case in cases))
        return np.choose(np.broadcast_to(which, lifted[0].shape).astype(int), lifted).astype(object)

    def _reduce_sum(self, a: Array, axes: tuple[int, ...], **_: Any) -> Array:
        moved = np.moveaxis(self.nodes(a), axes, range(len(axes)))
        rest = moved.shape[len(axes) :]
        rows = moved.reshape((-1, *rest))
        total = np.full(rest, self.graph.zero, dtype=object)
        for row in rows:
            total = self._add(total, np.asarray(row, dtype=object))
        return total

    def _dot_general(self, a: Array, b: Array, dimension_numbers: Any, **_: Any) -> Array:
        (contract_a, contract_b), (batch_a, batch_b) = dimension_numbers
        a, b = self.nodes(a), self.nodes(b)
        free_a = [i for i in range(a.ndim) if i not in (*contract_a, *batch_a)]
        free_b = [i for i in range(b.ndim) if i not in (*contract_b, *batch_b)]
        left = a.transpose([*batch_a, *free_a, *contract_a])
        right = b.transpose([*batch_b, *free_b, *contract_b])
        batch = [a.shape[i] for i in batch_a]
        contract = [a.shape[i] for i in contract_a]
        left = left.reshape(*batch, *(a.shape[i] for i in free_a), *([1] * len(free_b)), *contract)
        right = right.reshape(*batch, *([1] * len(free_a)), *(b.shape[i] for i in free_b), *contract)
        product = self._mul(left, right)
        return self._reduce_sum(product, tuple(range(product.ndim - len(contract), product.ndim)))


def _refuse_single_precision(equation: Any) -> None:
    """JAX makes numbers of 7 digits unless told otherwise, also those that a user's function takes from outside."""
    for atom in equation.invars:
        if atom.aval.dtype in SINGLE:
            hint = "make it inside the function, or by numpy"
            raise MechsimError(
                Fault(f"the function uses a constant of type {atom.aval.dtype}, with few digits", hint=hint)
            )


def trace(function: Callable[..., Any], *shapes: tuple[int, ...]) -> ClosedJaxpr:
    """The jaxpr of a function of double arrays with these shapes."""
    with jax.enable_x64(True):
        return jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(s, np.float64) for s in shapes))
