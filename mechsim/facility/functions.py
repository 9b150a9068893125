"""A user's functions as an element kind: each is called once with plain numbers, to see what it returns; then JAX
traces it."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from mechsim.errors import Fault, MechsimError
from mechsim.frozen import frozen
from mechsim.lagrangian.kind import Kind

Function = Callable[..., Any]
_numbers = itertools.count()

TRACEABLE = (
    "use jax.numpy instead of numpy and math, and a smooth function, such as tanh, instead of `if`: nothing may depend "
    "on a comparison of values"
)


@frozen(slots=False)
class Functions:
    """What a user gives of a system; see `lagrangian_system`."""

    lagrangian: Function
    constraints: Function | None = None
    velocity_constraints: Function | None = None
    forces: Function | None = None
    reactive_forces: Function | None = None
    places: Function | None = None  # of points that are only drawn, in the form of a user's function
    place_count: int = 0


def kind_of(functions: Functions, coordinates: Sequence[str], parameters: Mapping[str, float]) -> Kind:
    """The kind with these functions; with an account of work if energy is not kept without one."""
    count, velocity_count = _checked(functions, len(coordinates), parameters)
    functions = replace(
        functions,
        constraints=functions.constraints if count else None,
        velocity_constraints=functions.velocity_constraints if velocity_count else None,
    )
    kind = Kind(
        name=f"lagrangian-{next(_numbers)}",
        variables=tuple(coordinates),
        parameters=tuple(parameters),
        constraint_count=count,
        nonholonomic_count=velocity_count,
        reactive=functions.reactive_forces is not None,
        place_count=functions.place_count,
        cacheable=False,
        **_adapted(functions, len(coordinates), bool(parameters)),
    )
    return replace(kind, variables=(*coordinates, _work(coordinates)), account=True) if _works(kind) else kind


def _works(kind: Kind) -> bool:
    """Whether something does work that no potential knows of."""
    from mechsim.derive import depends_on_time

    return bool(kind.force or kind.nonholonomic) or said(lambda: depends_on_time(kind))


def _work(coordinates: Sequence[str]) -> str:
    names = itertools.chain(["work"], (f"work_{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in coordinates)


def _adapted(functions: Functions, n: int, with_parameters: bool) -> dict[str, Any]:
    """As kinds call them: with all local variables, the account of work too, and always with parameters."""
    single = {
        "lagrangian": functions.lagrangian,
        "constraints": functions.constraints,
        "nonholonomic": functions.velocity_constraints,
        "places": functions.places,
    }
    adapted: dict[str, Any] = {
        name: Adapted(Given((function,), n, with_parameters)) for name, function in single.items() if function
    }
    if functions.forces or functions.reactive_forces:
        adapted["force"] = Force(Given((functions.forces, functions.reactive_forces), n, with_parameters))
    return adapted


@frozen(slots=False)
class Given:
    """Functions of a user, of n coordinates, and of parameters if there are any."""

    functions: tuple[Function | None, ...]
    n: int
    with_parameters: bool

    def call(self, number: int, moving: Sequence[Any], others: Sequence[Any], p: Any) -> Any:
        """What one of them gives for positions and velocities of all variables, and others; nothing if it is absent."""
        function = self.functions[number]
        more = (p,) if self.with_parameters else ()
        return function(*(each[: self.n] for each in moving), *others, *more) if function else None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "functions": tuple(function and _portable(function) for function in self.functions)}


@frozen(slots=False)
class Adapted:
    """A function of (q, v, t) or (q, t)."""

    given: Given

    def __call__(self, *arguments: Any) -> Any:
        *moving, t, p = arguments
        return self.given.call(0, moving, [t], p)


@frozen(slots=False)
class Force:
    """Forces, then those that depend on multipliers; the account of work feels none."""

    given: Given

    def __call__(self, x: Any, v: Any, t: Any, p: Any, a: Any = None, lam: Any = None) -> list[Any]:
        found = [self.given.call(0, (x, v), [t], p), self.given.call(1, (x, v), [t, lam], p)]
        none = [0.0] * self.given.n
        total = [one + other for one, other in zip(*(none if each is None else each for each in found), strict=True)]
        return total + [0.0] * (len(x) - self.given.n)


@frozen(slots=False)
class Lost:
    """In place of a function that was not pickled. What was derived from it is there; only new equations need it."""

    name: str

    def __call__(self, *arguments: Any) -> Any:
        message = f"the function {self.name} was lost when its system was pickled, and other equations need it"
        hint = "define it by `def` at the top of a module: functions inside others and lambdas cannot be pickled"
        raise MechsimError(Fault(message, hint=hint))


def _portable(function: Function) -> Function:
    """The function, if it can be pickled."""
    try:
        pickle.dumps(function)
    except Exception:  # what cannot be pickled raises what it likes
        return Lost(getattr(function, "__qualname__", repr(function)))
    return function


def said(traced: Callable[[], Any]) -> Any:
    """What a call that traces the user's functions gives; what JAX cannot trace is said in words."""
    try:
        return traced()
    except MechsimError:
        raise
    except Exception as error:
        first = str(error).strip().partition("\n")[0]
        message = f"JAX cannot trace the functions: {type(error).__name__}: {first}"
        raise MechsimError(Fault(message, hint=TRACEABLE)) from error


# --- what they return


def _checked(functions: Functions, n: int, parameters: Mapping[str, float]) -> tuple[int, int]:
    """How many constraints there are, of positions and of velocities. Raises if a function is not as it should be."""
    more = [SimpleNamespace(**{name: np.float64(value) for name, value in parameters.items()})] if parameters else []
    # Entries that differ, so that what is singular where coordinates are equal or zero has a value.
    q, v, t = np.linspace(0.4, 0.6, n), np.linspace(0.7, 0.5, n), np.float64(0.3)
    _number(called(functions.lagrangian, "lagrangian(q, v, t)", [q, v, t, *more]), "lagrangian(q, v, t)")
    rows = _length(functions.constraints, "constraints(q, t)", [q, t, *more])
    velocity_rows = _length(functions.velocity_constraints, "velocity_constraints(q, v, t)", [q, v, t, *more])
    multipliers = np.linspace(0.8, 0.9, rows + velocity_rows)
    forces = {
        "forces(q, v, t)": (functions.forces, [q, v, t, *more]),
        "reactive_forces(q, v, t, lam)": (functions.reactive_forces, [q, v, t, multipliers, *more]),
    }
    for name, (function, arguments) in forces.items():
        if function and (found := _length(function, name, arguments)) != n:
            raise MechsimError(Fault(f"{name} returns {found} values, but must return {n}, one per coordinate"))
    return rows, velocity_rows


def called(function: Function, name: str, arguments: list[Any]) -> Any:
    """What a user's function returns for plain arrays. JAX would answer a wrong index with some other entry."""
    if not callable(function):
        raise MechsimError(Fault(f"{name} must be a function, but is {function!r}"))
    try:
        with np.errstate(all="ignore"):
            return function(*arguments)
    except Exception as error:
        taken = "" if len(arguments) == name.count(",") + 1 else ", and parameters last"
        message = f"{name} cannot be called: {type(error).__name__}: {error}"
        raise MechsimError(Fault(message, hint=f"it takes {name.partition('(')[2][:-1]}{taken}")) from error


def _length(function: Function | None, name: str, arguments: list[Any]) -> int:
    if function is None:
        return 0
    values = called(function, name, arguments)
    if not hasattr(values, "__len__") or isinstance(values, str | Mapping):
        raise MechsimError(Fault(f"{name} must return a list of numbers, even of one, but returns {_shown(values)}"))
    for index, value in enumerate(values):
        _number(value, f"entry {index} of {name}")
    return len(values)


def _number(value: Any, name: str) -> None:
    """Raise unless it is one real number."""
    try:
        array = np.asarray(value)
    except Exception:  # whatever it is, it is no number
        array = np.asarray(None)
    if array.shape != () or array.dtype.kind not in "fiu":
        raise MechsimError(Fault(f"{name} must be one real number, but is {_shown(value)}"))


def _shown(value: Any) -> str:
    shape = np.shape(value) if hasattr(value, "shape") else ()
    return f"an array of shape {shape}" if shape else repr(value)[:60]
