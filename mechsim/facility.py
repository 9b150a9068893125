"""The Lagrangian facility (seed 001 section 1.1): a user's own L(q, q', t) and constraints, in any coordinates.

    import mechsim

    pendulum = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1], ["x", "y"],
        constraints=lambda q, t: [q[0] ** 2 + q[1] ** 2 - 1])
    motion = pendulum.simulate({"x": 0.6, "y": -0.8}, tend=10)
    motion(3)["x"]

The functions are traced by JAX, so they may use arithmetic and `jax.numpy`; everything after that is the same solver.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from mechsim._version import __version__
from mechsim.errors import Fault, Mark, MechsimError
from mechsim.kernel.system import System
from mechsim.lagrangian.kind import Kind
from mechsim.model.mechanism import Element, Mechanism, Variable
from mechsim.result import Motion
from mechsim.spec.document import Number, Problem, StartValue

Function = Callable[..., Any]
DEFAULT_TOLERANCE = 1e-12
_numbers = itertools.count()


def lagrangian_system(
    lagrangian: Function,
    coordinates: Sequence[str],
    *,
    constraints: Function | None = None,
    forces: Function | None = None,
    parameters: Mapping[str, float] | None = None,
    title: str = "Lagrangian system",
) -> LagrangianSystem:
    """A mechanical system from its Lagrangian.

    lagrangian(q, v, t), constraints(q, t) -> list of scalars kept at zero, and forces(q, v, t) -> generalised force per
    coordinate take arrays in the order of `coordinates`. With `parameters`, each takes them as a last argument with
    attributes (`p.mass`); they can be changed without deriving again. Coordinates named `A_x, A_y, A_z` are also the
    point `A` of the result.
    """
    names = tuple(coordinates)
    if len(set(names)) != len(names) or not names:
        raise MechsimError(Fault(f"coordinates must have different names, but are {', '.join(names) or 'none'}"))
    if "t" in names:
        raise MechsimError(Fault("no coordinate can be called t, for that is the time"))
    if odd := [name for name in names if not name.isidentifier()]:
        hint = "letters, digits and _, as in Python: they become names of columns"
        raise MechsimError(Fault(f"{odd[0]!r} is no name for a coordinate", hint=hint))
    values = dict(parameters or {})
    with_parameters = bool(values)
    state: list[Any] = [np.full(len(names), 0.5), np.full(len(names), 0.5), 0.0]
    more = [SimpleNamespace(**values)] if values else []
    _tried(lagrangian, "lagrangian(q, v, t)", [*state, *more])
    count = _count(_tried(constraints, "constraints(q, t)", [state[0], 0.0, *more]), "constraints(q, t)")
    if forces and _count(_tried(forces, "forces(q, v, t)", [*state, *more]), "forces(q, v, t)") != len(names):
        raise MechsimError(Fault(f"forces(q, v, t) must return {len(names)} values, one per coordinate"))
    kind = Kind(
        name=f"lagrangian-{next(_numbers)}",
        variables=names,
        parameters=tuple(values),
        lagrangian=_adapted(lagrangian, with_parameters),
        constraints=_adapted(constraints, with_parameters) if constraints else None,
        constraint_count=count,
        force=_adapted(forces, with_parameters) if forces else None,
        cacheable=False,
    )
    return LagrangianSystem(kind, values, title)


def _adapted(function: Function, with_parameters: bool) -> Function:
    """Kinds always take parameters; a user's function only if there are any."""
    return function if with_parameters else lambda *arguments: function(*arguments[:-1])


def _tried(function: Function | None, name: str, arguments: list[Any]) -> Any:
    """What a user's function returns for plain arrays. JAX would answer a wrong index with some other entry."""
    if function is None:
        return []
    try:
        return function(*arguments)
    except (IndexError, TypeError) as error:
        raise MechsimError(Fault(f"{name} cannot be called: {error}")) from error


def _count(values: Any, name: str) -> int:
    if not hasattr(values, "__len__"):
        raise MechsimError(Fault(f"{name} must return a list, even of one scalar"))
    return len(values)


class LagrangianSystem:
    """A user's Lagrangian with its equations; `system` gives residuals, mass matrix and more at any state."""

    def __init__(self, kind: Kind, parameters: Mapping[str, float], title: str, scales: Sequence[float] | None = None):
        self.kind = kind
        self.parameters = dict(parameters)
        self.title = title
        self.mechanism = _mechanism(kind, parameters, title, scales or [1.0] * len(kind.variables))
        self.system = _derived(self.mechanism, kind)

    def simulate(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float] | None = None,
        *,
        tend: float,
        t0: float = 0.0,
        tol: float = DEFAULT_TOLERANCE,
        order: int | None = None,
        fixed: Sequence[str] = (),
        scales: Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Motion:
        """The motion from t0 to tend. Start values are guesses, made consistent with the constraints.

        A coordinate named in `fixed` keeps its start values exactly. `scales` is the size an error of a coordinate is
        judged by; by default the size of its start value, or 1 where that is zero. `parameters` replace some.
        """
        from mechsim.engine import integrate
        from mechsim.initial import assemble
        from mechsim.simulation import CutShort, failure, setting_faults
        from mechsim.structure import analyse

        if faults := setting_faults(tol, order, t0, tend):
            raise MechsimError(*faults)
        problem = _problem(self, positions, velocities or {}, set(fixed), t0, tend)
        prepared = self._with(positions, scales or {}, parameters or {})
        start = assemble(prepared.mechanism, prepared.system, problem)
        structure = analyse(start.system, start.redundancy)
        self._check_inertia(structure.march_variable_offsets)
        solution = integrate(start.system, structure, start, tend=tend, tolerance=tol, order=order)
        settings: dict[str, Any] = {"tol": tol, "order": order, "t0": t0, "tend": tend, "overrides": {}, "branch": None}
        facts = {"title": self.title, "spec_path": "", "spec_text": "", "version": __version__, "settings": settings}
        motion = Motion(solution, facts)
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        if solution.status != "finished":
            raise CutShort(failure(solution), motion)
        return motion

    def _with(
        self, positions: Mapping[str, float], scales: Mapping[str, float], parameters: Mapping[str, float]
    ) -> LagrangianSystem:
        """The same equations with scales for this start and perhaps other parameters."""
        self._check(scales, self.kind.variables, "scales")
        self._check(parameters, self.kind.parameters, "parameters")
        sizes = [float(scales.get(name) or abs(positions.get(name, 0.0)) or 1.0) for name in self.kind.variables]
        changed = LagrangianSystem.__new__(LagrangianSystem)
        changed.kind, changed.title, changed.parameters = self.kind, self.title, {**self.parameters, **parameters}
        changed.mechanism = _mechanism(self.kind, changed.parameters, self.title, sizes)
        changed.system = self.system.rebuilt(changed.mechanism)
        return changed

    def _check_inertia(self, offsets: Any) -> None:
        """A coordinate without inertia has no velocity to start with: its equation would be one of balance."""
        massless = [name for name, offset in zip(self.kind.variables, offsets, strict=False) if offset == 0]
        if massless:
            hint = "give it a mass, or eliminate it by its balance of forces"
            raise MechsimError(Fault(f"the Lagrangian gives no inertia to {', '.join(massless)}", hint=hint))

    def _check(self, given: Mapping[str, Any], known: Sequence[str], what: str) -> None:
        for name in given:
            if name not in known:
                raise MechsimError(Fault(f"{what} names {name!r}, but there are only {', '.join(known) or 'none'}"))


def _derived(mechanism: Mechanism, kind: Kind) -> System:
    """The equations; what JAX cannot trace is said in words."""
    try:
        return System(mechanism, {kind.name: kind})
    except Exception as error:
        if not type(error).__module__.startswith("jax"):
            raise
        hint = "use jax.numpy instead of numpy or math, and jax.numpy.where instead of if"
        raise MechsimError(Fault(f"JAX cannot trace the functions of {mechanism.title}", hint=hint)) from error


def _mechanism(kind: Kind, parameters: Mapping[str, float], title: str, scales: Sequence[float]) -> Mechanism:
    labels = tuple(f"C_{i}" for i in range(kind.constraint_count))
    element = Element(kind.name, title, tuple(range(len(kind.variables))), dict(parameters), labels)
    variables = tuple(
        Variable(name, name, "position", scale) for name, scale in zip(kind.variables, scales, strict=True)
    )
    return Mechanism(title, 3, variables, (), (element,), _points(kind.variables), (), max(scales))


def _points(names: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Coordinates A_x, A_y (and A_z) as the point A; any other coordinate as a point of its own."""
    points: dict[str, tuple[int, ...]] = {}
    for name in names:
        stem = name[:-2]
        axes = [f"{stem}_{axis}" for axis in "xyz" if f"{stem}_{axis}" in names]
        grouped = name in axes and len(axes) > 1
        points[stem if grouped else name] = tuple(names.index(n) for n in (axes if grouped else [name]))
    return points


def _problem(
    system: LagrangianSystem,
    positions: Mapping[str, float],
    velocities: Mapping[str, float],
    fixed: set[str],
    t0: float,
    tend: float,
) -> Problem:
    names = system.kind.variables
    for what, given in (("positions", positions), ("velocities", velocities), ("fixed", dict.fromkeys(fixed, 0.0))):
        system._check(given, names, what)

    def values(given: Mapping[str, float]) -> dict[str, tuple[StartValue | None, ...]]:
        def one(name: str) -> StartValue | None:
            return StartValue(_number(name, given[name]), name in fixed) if name in given else None

        return {point: tuple(one(names[slot]) for slot in slots) for point, slots in system.mechanism.points.items()}

    return Problem(_number("t0", t0), _number("tend", tend), values(positions), values(velocities), {}, {})


def _number(name: str, value: float) -> Number:
    return Number(float(value), repr(float(value)), Mark(name, 1, 1))
